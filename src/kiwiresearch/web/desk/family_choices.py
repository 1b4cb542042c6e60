"""Whom a form lets choose from: the people of a case, the nearest to its beginning first."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.privacy.redact import Mode, RedactedTree
from kiwiresearch.kin.report.people import in_order
from kiwiresearch.kin.report.words import lifespan
from kiwiresearch.kin.tree import PersonId
from kiwiresearch.research.family_seen import SeenCase

MOST_CHOICES = 500
"""A list of more is found faster by name."""


@dataclass(frozen=True, slots=True)
class OnePerson:
    """A person by name and years."""

    id: PersonId
    name: str
    lived: str


@dataclass(frozen=True, slots=True)
class People:
    """Those whom a list shows, and how many it does not."""

    shown: tuple[OnePerson, ...]
    left_out: int


def ids_in_order(found: SeenCase, tree: RedactedTree) -> tuple[PersonId, ...]:
    """Everybody, those first whom the case began with, be they kept back or not, then who is nearest to them."""
    seeds = found.seeds()
    if not all(seed in tree.persons for seed in seeds):
        # Who is '[LIVING-3]' in a text is 'living-3' in the tree.
        kept = {person: mark.strip("[]").lower() for mark, person in found.mask(tree.mode).people.items()}
        seeds = tuple(kept.get(seed, seed) for seed in seeds)
    return in_order(tree, [seed for seed in seeds if seed in tree.persons])


def people_of(found: SeenCase, mode: Mode, chosen: PersonId = "") -> People:
    """The people of a case as far as the mode allows; the one who is chosen is always among them."""
    tree = found.tree(mode)
    ids = ids_in_order(found, tree)
    kept = list(dict.fromkeys([*ids[:MOST_CHOICES], *(one for one in (chosen,) if one in tree.persons)]))
    shown = (OnePerson(one, tree.persons[one].name, lifespan(tree, one)) for one in kept)
    return People(tuple(shown), len(ids) - len(kept))
