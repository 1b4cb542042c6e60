"""Ancestors and descendants in words: a list in which each generation stands deeper than the one before."""

from __future__ import annotations

from kiwiresearch.kin.report.descendants import union_children
from kiwiresearch.kin.report.document import Branch, Line, Span, words
from kiwiresearch.kin.report.pedigree import parents_in_order, tie_note, ties_by_child
from kiwiresearch.kin.report.words import lifespan, name_of
from kiwiresearch.kin.tree import PersonId, Tree

MOST_BRANCHES = 400


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
    """The descendants as a list, partners with a cross before their names."""
    ties = ties_by_child(tree)
    found: list[Branch] = []
    seen: set[PersonId] = set()
    waiting: list[tuple[PersonId, int, str]] = [(root, 0, "")]
    while waiting and len(found) < MOST_BRANCHES:
        person, depth, note = waiting.pop()
        again = person in seen
        partners = [name_of(tree, one) for one in tree.spouses(person) if one in tree.persons]
        line = _line(tree, person, note, again=again)
        if partners and not again:
            line = (*line, *words(" ⚭ ", Span(", ".join(partners), foreign=True)))
        found.append(Branch(depth, line))
        if again:
            continue
        seen.add(person)
        others = dict.fromkeys(p for c in tree.children(person) for p in tree.parents(c) if p != person)
        children = [one for other in ("", *others) for one in union_children(tree, person, other)]
        waiting += [
            (one, depth + 1, tie_note(ties.get((person, one)))) for one in reversed(list(dict.fromkeys(children)))
        ]
    return (*found, *_cut(len(waiting)))


def _line(tree: Tree, person: PersonId, note: str, *, again: bool) -> Line:
    about = "; ".join(part for part in (lifespan(tree, person), note, "listed above" if again else "") if part)
    return words(Span(name_of(tree, person), foreign=True), f" ({about})" if about else "")


def _cut(left: int) -> tuple[Branch, ...]:
    return (Branch(0, words(f"{left:,} more lines of the family are left out here.")),) if left else ()
