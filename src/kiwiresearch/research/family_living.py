"""Who is taken for living, and what the user says to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.tree import PersonId

if TYPE_CHECKING:
    from kiwiresearch.research.family import Case

KEY = "living_overrides"
REASONS = "living_reasons"


def set_living(case: Case, person: PersonId, status: str, why: str) -> None:
    """Note what the user says of a person; it wins over every rule until the user says otherwise."""
    known = next((one for one in get_args(Living) if one == status), None)
    if known is None:
        raise BadUsage(f"{status!r} says nothing of a life.", remedy=f"Use one of: {', '.join(get_args(Living))}.")
    store = case.store
    with store.step("user"):
        store.set_state(KEY, {**(store.state(KEY) or {}), person: known})
        store.set_state(REASONS, {**(store.state(REASONS) or {}), person: why})
        store.set_living(person, known, {"why": why, "by": "user"})
        case.decide()


def living_record(case: Case, person: PersonId) -> dict[str, Any]:
    """What is thought of a person, and why."""
    known = case.known()
    verdict = known.verdicts[person]
    by_user = person in case.overrides
    reasons = case.store.state(REASONS) or {}
    why = f"The user says so: {reasons.get(person, '')}" if by_user else f"{verdict.why[:1].upper()}{verdict.why[1:]}"
    return {
        "id": person,
        "name": known.tree.persons[person].name,
        "living": verdict.status,
        "why": why.rstrip(".: "),
        "by_user": by_user,
    }
