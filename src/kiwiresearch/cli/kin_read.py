"""The commands that show what a case knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from kiwiresearch.cli.kin import AnyCase, Privacy, a_case, mode_of, seed_or, shown_person
from kiwiresearch.cli.options import AsJson

Person = Annotated[
    str, typer.Argument(help="A name, the title of a page, or the beginning of an id.", metavar="[PERSON]")
]
OnePerson = Annotated[str, typer.Argument(help="A name, a title, or the beginning of an id.", metavar="PERSON")]


def show(person: Person = "", *, case: AnyCase = "", privacy: Privacy = "", json: AsJson = False) -> None:
    """Show everybody, or one person with the family next to them."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.kin.kinship import Family
    from kiwiresearch.research.family_told import people_named, people_records, person_record

    mode = mode_of(privacy, as_json=json)
    with a_case(case) as found:
        if not person:
            rows = people_records(found, mode, people_named(found, mode))
            stop = found.store.state("stop") or {}
            if json:
                out.document({"people": rows, "stop": stop.get("reason", "")})
            else:
                kin_lines.people(found, rows, stop)
            return
        tree = found.tree(mode)
        one = shown_person(found, person, tree)
        seed = next((seed for seed in found.seeds() if seed in tree.persons and seed != one), None)
        row = person_record(tree, one, Family(tree).kinship(seed, one).words if seed else "")
        if json:
            out.document(row)
        else:
            kin_lines.person(row, tree.persons[seed].name if seed else "")


def tree(
    person: Person = "",
    *,
    down: Annotated[bool, typer.Option("--down", help="Descendants instead of ancestors.")] = False,
    case: AnyCase = "",
    privacy: Privacy = "",
    json: AsJson = False,
) -> None:
    """Show the ancestors of a person, or the descendants, as a list that goes deeper."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.research.family_told import branch_records

    with a_case(case) as found:
        shown = found.tree(mode_of(privacy, as_json=json))
        rows = branch_records(shown, seed_or(found, person, shown), down=down)
        if json:
            out.document({"direction": "down" if down else "up", "people": rows})
        else:
            kin_lines.branches(rows)


def evidence(
    person: OnePerson,
    field: Annotated[str, typer.Argument(help="Such as 'birth_date', 'father' or 'Born'.", metavar="[FIELD]")] = "",
    *,
    case: AnyCase = "",
    privacy: Privacy = "",
    json: AsJson = False,
) -> None:
    """Show each value of a person with the words that say so, where they stand, and what became of it."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.research.family_told import checked_field, evidence_records

    wanted = checked_field(field) if field else None
    mode = mode_of(privacy, as_json=json)
    with a_case(case) as found:
        shown = found.tree(mode)
        one = shown_person(found, person, shown)
        rows = evidence_records(found, one, wanted, mode)
        if json:
            out.document({"id": one, "name": shown.persons[one].name, "assertions": rows})
        else:
            kin_lines.evidence(shown.persons[one].name, rows)


def conflicts(*, case: AnyCase = "", privacy: Privacy = "", json: AsJson = False) -> None:
    """Show where sources do not agree, what speaks for which value, and what would settle it."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.research.family_told import conflict_records

    with a_case(case) as found:
        rows = conflict_records(found, mode_of(privacy, as_json=json))
        if json:
            out.document({"conflicts": rows})
        else:
            kin_lines.conflicts(rows)


def timeline(*, case: AnyCase = "", privacy: Privacy = "", json: AsJson = False) -> None:
    """Show the events of the family in the order of time, with ages."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.research.family_told import timeline_records

    with a_case(case) as found:
        rows = timeline_records(found, mode_of(privacy, as_json=json))
        if json:
            out.document({"events": rows})
        else:
            kin_lines.events(rows)


def log(*, case: AnyCase = "", privacy: Privacy = "", json: AsJson = False) -> None:
    """Show what was searched where, and what was not found; the latter proves nothing."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.research.family_told import log_records

    with a_case(case) as found:
        rows = log_records(found, mode_of(privacy, as_json=json))
        if json:
            out.document({"searches": rows})
        else:
            kin_lines.searches(rows)


def relation(
    first: Annotated[str, typer.Argument(help="A name, a title, or the beginning of an id.", metavar="A")],
    second: Annotated[str, typer.Argument(help="The other person.", metavar="B")],
    *,
    case: AnyCase = "",
    privacy: Privacy = "",
    json: AsJson = False,
) -> None:
    """Say what B is to A, and how the two are tied."""
    from kiwiresearch.cli import kin_lines
    from kiwiresearch.cli import show as out
    from kiwiresearch.research.family_told import relation_record

    mode = mode_of(privacy, as_json=json)
    with a_case(case) as found:
        shown = found.tree(mode)
        pair = shown_person(found, first, shown), shown_person(found, second, shown)
        row = relation_record(found, *pair, mode)
        if json:
            out.document(row)
        else:
            kin_lines.relation(row)


COMMANDS: dict[str, Callable[..., None]] = {
    "show": show,
    "tree": tree,
    "evidence": evidence,
    "conflicts": conflicts,
    "timeline": timeline,
    "log": log,
    "relation": relation,
}
