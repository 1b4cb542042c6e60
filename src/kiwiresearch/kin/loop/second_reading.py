"""What a model adds to a record that was read by rule: values it can point at, doubts, and guesses to follow."""

from __future__ import annotations

from dataclasses import replace

from kiwiresearch.kin.agents.verifier_by_model import VerifierInput, verify_by_model
from kiwiresearch.kin.extract.by_model import read_residue
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.firewall.violation import Violation
from kiwiresearch.kin.loop.verifying import Checked, Verified, checked
from kiwiresearch.kin.privacy.living import OLDEST
from kiwiresearch.llm.model import Model

LIVED = 110
DEATHS = frozenset({"death_date", "burial_date"})


def is_long_past(record: Verified, year: int) -> bool:
    """Whether nobody can be alive whom the person of a record knew.

    A page names children and grandchildren of whom the tree may know nothing yet,
    so that no mask would hide them.
    """
    for one in record.kept:
        when = one.fact.when
        if when and one.fact.field in DEATHS and when.last_year < year - OLDEST:
            return True
        if when and one.fact.field == "birth_date" and when.last_year < year - OLDEST - LIVED:
            return True
    return False


def read_again(record: Verified, model: Model) -> Verified:
    """The record with what a model found; each value has passed the firewall, and none of the rules' is lost."""
    notes: list[str] = []
    facts = record.facts
    page = record.fetched.page
    if page is not None:
        residue = read_residue(page, record.read, model)
        facts = (*facts, *(checked(one, record.fetched, record.read) for one in residue.facts))
        notes += [f"not taken: {one.reason}" for one in residue.refused]
        notes += [residue.note] if residue.note else []
    # What a model found itself it cannot bear out.
    doubtful = tuple(one.fact for one in facts if one.status == "unverified" and one.fact.method != "model")
    given = VerifierInput(record.fetched.source.url, record.fetched.text, doubtful)
    heard = verify_by_model(given, model, lambda fact: not _violations(fact, record))
    agreed = {(str(one.field), one.value): one for one in heard.borne_out}
    return replace(
        record,
        facts=tuple(_agreed(one, agreed) for one in facts),
        hypotheses=(*record.hypotheses, *heard.hypotheses),
        notes=(*notes, *heard.flags),
    )


def _agreed(one: Checked, agreed: dict[tuple[str, str], Extracted]) -> Checked:
    """A value that waited for a second opinion and got one; it is no surer for that than it was."""
    fact = agreed.get((one.fact.field, one.fact.value))
    return replace(one, fact=fact, status="verified") if fact and one.status == "unverified" else one


def _violations(fact: Extracted, record: Verified) -> tuple[Violation, ...]:
    read = record.read
    return check(fact, record.fetched.text, read.name or read.title, read.sex)
