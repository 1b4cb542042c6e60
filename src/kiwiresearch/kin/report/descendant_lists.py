"""The people of a report in order, and ancestors and descendants as nested lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.document import Branch, Line, Span, line_of
from kiwiresearch.kin.report.labels import display_name, lifespan
from kiwiresearch.kin.report.shapes.couples import Couples, tie_note, union_phrase
from kiwiresearch.kin.tree import PersonId, Tree


def people_in_order(couples: Couples, seeds: Sequence[PersonId]) -> tuple[PersonId, ...]:
    """All people of the tree, each once; those not connected to the seeds come last, by name."""
    tree = couples.tree
    found = dict.fromkeys(seed for seed in seeds if seed in tree.persons)
    line = list(found)
    # The list grows while it is read: breadth-first, so close relatives come before distant ones.
    for person in line:
        for relative in _relatives(couples, person):
            if relative in tree.persons and relative not in found:
                found[relative] = None
                line.append(relative)
    rest = sorted(set(tree.persons) - found.keys(), key=lambda item: (display_name(tree, item), item))
    return (*found, *rest)


def _relatives(couples: Couples, person: PersonId) -> Iterator[PersonId]:
    yield from couples.parents(person)
    yield from couples.partners(person)
    yield from couples.children(person)
    yield from couples.tree.siblings(person)


MAX_BRANCHES = 400


@dataclass(frozen=True, slots=True)
class DescendantRow:
    """A person in a nested list."""

    person: PersonId
    depth: int
    note: str = ""
    partner_of: PersonId = ""
    """Whose partner it is, if the line is a partner's."""
    is_repeat: bool = False
    only_partner: PersonId = ""
    """The only partner, on the same line."""


def ancestors_in_words(tree: Tree, root: PersonId) -> tuple[Branch, ...]:
    """The pedigree as a list; repeated people are not expanded again."""
    couples = Couples(tree)
    found: list[Branch] = []
    seen: set[PersonId] = set()
    waiting: list[tuple[PersonId, int, str]] = [(root, 0, "")]
    while waiting and len(found) < MAX_BRANCHES:
        person, depth, note = waiting.pop()
        again = person in seen
        found.append(Branch(depth, _line(tree, person, note, again=again)))
        seen.add(person)
        parents = () if again else couples.parents(person)
        waiting += [(parent, depth + 1, tie_note(couples.ties.get((parent, person)))) for parent in reversed(parents)]
    return (*found, *_left_out_note(len(waiting)))


def descendants_in_words(tree: Tree, root: PersonId) -> tuple[Branch, ...]:
    """The descendants as a list, with rings before the names of partners."""
    rows = descendant_rows(tree, root)
    found = [Branch(row.depth, _descendant(tree, row)) for row in rows[:MAX_BRANCHES]]
    return (*found, *_left_out_note(len(rows) - len(found)))


def _descendant(tree: Tree, row: DescendantRow) -> Line:
    if row.partner_of:
        return line_of(f"{_sign(tree, row.partner_of, row.person)} ", *_line(tree, row.person, row.note, again=False))
    line = _line(tree, row.person, row.note, again=row.is_repeat)
    if row.only_partner:
        partner = Span(display_name(tree, row.only_partner), foreign=True)
        return (*line, *line_of(f" {_sign(tree, row.person, row.only_partner)} ", partner))
    return line


def _sign(tree: Tree, person: PersonId, partner: PersonId) -> str:
    """Rings for couples, 'with' for people who only have a child together."""
    return "⚭" if partner in tree.spouses(person) else "with"


def descendant_rows(tree: Tree, root: PersonId) -> list[DescendantRow]:
    """A person and all descendants; nobody is expanded twice.

    An only partner is on the person's line; several have a line each, with their children below it.
    """
    couples = Couples(tree)
    found: list[DescendantRow] = []
    seen: set[PersonId] = set()
    waiting = [DescendantRow(root, 0)]
    while waiting:
        row = waiting.pop()
        if row.partner_of or row.person in seen:
            found.append(replace(row, is_repeat=not row.partner_of))
            continue
        seen.add(row.person)
        partners = couples.partners(row.person)
        several = len(partners) > 1
        found.append(replace(row, only_partner="" if several else "".join(partners)))
        below: list[DescendantRow] = []
        for union in couples.unions(row.person):
            own = several and bool(union.partner)
            if own:
                below.append(DescendantRow(union.partner, row.depth + 1, union_phrase(union.tie), row.person))
            ties = ((child, couples.ties.get((row.person, child))) for child in union.children)
            below += [DescendantRow(child, row.depth + 1 + own, tie_note(tie)) for child, tie in ties]
        # A stack, so that each branch is listed to its end, the eldest first.
        waiting += reversed(below)
    return found


def _line(tree: Tree, person: PersonId, note: str, *, again: bool) -> Line:
    about = "; ".join(part for part in (lifespan(tree, person), note, "listed above" if again else "") if part)
    return line_of(Span(display_name(tree, person), foreign=True), f" ({about})" if about else "")


def _left_out_note(left: int) -> tuple[Branch, ...]:
    return (Branch(0, line_of(f"{left:,} more people are not listed here.")),) if left else ()
