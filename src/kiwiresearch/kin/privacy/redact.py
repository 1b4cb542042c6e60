"""A tree as others may see it: what would tell about the living is left out, or made less exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.privacy.generalise import private_tree
from kiwiresearch.kin.privacy.hidden import Hidden, hidden_in
from kiwiresearch.kin.privacy.living import LivingVerdict
from kiwiresearch.kin.privacy.public import public_tree
from kiwiresearch.kin.tree import PersonId, Tree

Mode = Literal["owner", "private", "public", "exclude"]
"""From showing all to leaving the living out; `public` is what exports use unless told otherwise."""
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class RedactedTree(Tree):
    """A tree that may leave the program: a writer that takes this type cannot be handed another."""

    mode: Mode = "public"
    year: int = 0
    hidden: tuple[PersonId, ...] = ()
    """Those who are kept back, by the ids they have in this tree."""


def redacted(
    tree: Tree,
    mode: Mode,
    year: int,
    *,
    years_after_death: int = 0,
    overrides: Mapping[PersonId, Living] | None = None,
) -> RedactedTree:
    """The tree as the mode allows it to be seen, as of a year.

    | mode    | of people who are living, or may be                                       |
    | ------- | ------------------------------------------------------------------------- |
    | owner   | everything                                                                |
    | private | names and ties; dates by decade, places by state and country, no contacts |
    | public  | that there is somebody, of which sex, and the ties                        |
    | exclude | nothing                                                                   |
    """
    checked(mode)
    if isinstance(tree, RedactedTree) and tree.mode != "owner":
        if MODES.index(tree.mode) >= MODES.index(mode):
            return tree
        return without(Hidden(tree, year, _as_before(tree)), mode)
    return without(hidden_in(tree, year, years_after_death=years_after_death, overrides=overrides), mode)


def without(hidden: Hidden, mode: Mode) -> RedactedTree:
    """The same for a tree of which it is known who is kept back."""
    checked(mode)
    tree, year = hidden.tree, hidden.year
    kept = [one for one in sorted(tree.persons) if hidden.hides(one)]
    if mode == "owner":
        return _redacted(tree, mode, year, kept)
    if mode == "private":
        return _redacted(private_tree(hidden), mode, year, kept)
    pseudonyms = [] if mode == "exclude" else sorted(map(hidden.pseudonym, kept))
    return _redacted(public_tree(hidden, exclude=mode == "exclude"), mode, year, pseudonyms)


def checked(mode: str) -> None:
    if mode not in MODES:
        raise BadSettings(f"{mode!r} is no privacy mode.", remedy=f"Use one of {', '.join(MODES)}.")


def _redacted(tree: Tree, mode: Mode, year: int, hidden: list[PersonId]) -> RedactedTree:
    return RedactedTree(tree.persons, tree.relationships, tree.facts, tree.sources, mode, year, tuple(hidden))


def _as_before(tree: RedactedTree) -> dict[PersonId, LivingVerdict]:
    """A tree that has been redacted no longer shows why somebody is dead: what was found then holds."""
    kept = set(tree.hidden)
    return {one: LivingVerdict("living" if one in kept else "deceased", "as found before") for one in tree.persons}
