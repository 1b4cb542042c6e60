"""Ancestors and descendants in words: a list in which each generation stands deeper than the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kiwiresearch.kin.report.descendants import partners_in_order, ties_of_couples, union_children
from kiwiresearch.kin.report.document import Branch, Line, Span, words
from kiwiresearch.kin.report.pedigree import parents_in_order, tie_note, ties_by_child
from kiwiresearch.kin.report.words import lifespan, name_of, year_words
from kiwiresearch.kin.tree import PersonId, Relationship, Tree

MOST_BRANCHES = 400


@dataclass(frozen=True, slots=True)
class Row:
    """A person on a line of their own."""

    person: PersonId
    depth: int
    note: str = ""
    partner_of: PersonId = ""
    """Whose partner it is, if the line is a partner's."""
    again: bool = False
    beside: PersonId = ""
    """The only partner, on the same line."""


def ancestors_in_words(tree: Tree, root: PersonId) -> tuple[Branch, ...]:
    """The pedigree as a list; who was listed already is not gone into again."""
    ties = ties_by_child(tree)
    found: list[Branch] = []
    seen: set[PersonId] = set()
    waiting: list[tuple[PersonId, int, str]] = [(root, 0, "")]
    while waiting and len(found) < MOST_BRANCHES:
        person, depth, note = waiting.pop()
        again = person in seen
        found.append(Branch(depth, _line(tree, person, note, again=again)))
        seen.add(person)
        parents = () if again else parents_in_order(tree, person)
        waiting += [(one, depth + 1, tie_note(ties.get((one, person)))) for one in reversed(parents)]
    return (*found, *_cut(len(waiting)))


def descendants_in_words(tree: Tree, root: PersonId) -> tuple[Branch, ...]:
    """The descendants as a list, partners with rings before their names."""
    rows = lines_down(tree, root)
    found = [Branch(row.depth, _descendant(tree, row)) for row in rows[:MOST_BRANCHES]]
    return (*found, *_cut(len(rows) - len(found)))


def _descendant(tree: Tree, row: Row) -> Line:
    if row.partner_of:
        return words(f"{_sign(tree, row.partner_of, row.person)} ", *_line(tree, row.person, row.note, again=False))
    line = _line(tree, row.person, row.note, again=row.again)
    if row.beside:
        partner = Span(name_of(tree, row.beside), foreign=True)
        return (*line, *words(f" {_sign(tree, row.person, row.beside)} ", partner))
    return line


def _sign(tree: Tree, person: PersonId, partner: PersonId) -> str:
    """Rings for those who are told to be a couple, 'with' for those who only have a child together."""
    return "⚭" if partner in tree.spouses(person) else "with"


def lines_down(tree: Tree, root: PersonId) -> list[Row]:
    """A person and all descendants; who was met is not gone into again.

    An only partner stands beside the person; of several each has a line, and below it their children.
    """
    ties, couples = ties_by_child(tree), ties_of_couples(tree)
    found: list[Row] = []
    seen: set[PersonId] = set()
    waiting = [Row(root, 0)]
    while waiting:
        row = waiting.pop()
        if row.partner_of or row.person in seen:
            found.append(replace(row, again=not row.partner_of))
            continue
        seen.add(row.person)
        partners = partners_in_order(tree, row.person, couples)
        several = len(partners) > 1
        found.append(replace(row, beside="" if several else "".join(partners)))
        below: list[Row] = []
        for other in ("", *partners):
            own = several and bool(other)
            if own:
                wed = _wed(couples.get(frozenset((row.person, other))))
                below.append(Row(other, row.depth + 1, wed, row.person))
            children = union_children(tree, row.person, other)
            below += [Row(one, row.depth + 1 + own, tie_note(ties.get((row.person, one)))) for one in children]
        waiting += reversed(below)
    return found


def _wed(tie: Relationship | None) -> str:
    if tie is None or not tie.start:
        return ""
    return f"{'m.' if tie.kind == 'spouse_of' else 'from'} {year_words(tie.start)}"


def _line(tree: Tree, person: PersonId, note: str, *, again: bool) -> Line:
    about = "; ".join(part for part in (lifespan(tree, person), note, "listed above" if again else "") if part)
    return words(Span(name_of(tree, person), foreign=True), f" ({about})" if about else "")


def _cut(left: int) -> tuple[Branch, ...]:
    return (Branch(0, words(f"{left:,} more lines of the family are left out here.")),) if left else ()
