"""The order in which people stand in a report: the seeds, then who is nearest to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiwiresearch.kin.report.descendants import Couples, partners_in_order, ties_of_couples, union_children
from kiwiresearch.kin.report.pedigree import parents_in_order
from kiwiresearch.kin.report.words import name_of
from kiwiresearch.kin.tree import PersonId, Tree


def in_order(tree: Tree, seeds: Sequence[PersonId]) -> tuple[PersonId, ...]:
    """All people of the tree, each once; those without a tie to the seeds by name at the end."""
    couples = ties_of_couples(tree)
    found = dict.fromkeys(seed for seed in seeds if seed in tree.persons)
    line = list(found)
    for person in line:
        for one in _next_to(tree, person, couples):
            if one in tree.persons and one not in found:
                found[one] = None
                line.append(one)
    rest = sorted(set(tree.persons) - found.keys(), key=lambda one: (name_of(tree, one), one))
    return (*found, *rest)


def _next_to(tree: Tree, person: PersonId, couples: Couples) -> Iterator[PersonId]:
    yield from parents_in_order(tree, person)
    partners = partners_in_order(tree, person, couples)
    yield from partners
    for partner in (*partners, ""):
        yield from union_children(tree, person, partner)
    yield from tree.children(person)
    yield from tree.siblings(person)
