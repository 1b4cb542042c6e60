"""A case as it is at one moment, for who reads it again and again; what a server tells of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kiwiresearch.kin.loop.progress import Progress
from kiwiresearch.kin.privacy.hidden import Hidden
from kiwiresearch.kin.privacy.mask import Mask
from kiwiresearch.kin.privacy.redact import RedactedTree
from kiwiresearch.kin.report.words import lifespan
from kiwiresearch.research.family import Case, Found

if TYPE_CHECKING:
    from kiwiresearch.kin.privacy.redact import Mode
    from kiwiresearch.kin.tree import Tree


class SeenCase(Case):
    """A case that is only read: whatever takes long is worked out once."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._trees: dict[tuple[Mode, bool], RedactedTree] = {}
        self._masks: dict[Mode, Mask] = {}
        self._known: dict[bool, Hidden] = {}
        self._made: dict[tuple[Callable[[Tree], Any], Mode], Any] = {}

    def known(self, *, everything: bool = False) -> Hidden:
        if everything not in self._known:
            self._known[everything] = super().known(everything=everything)
        return self._known[everything]

    @cached_property
    def _all_stand(self) -> bool:
        return self.store.all_stand()

    def tree(self, mode: Mode = "owner", *, everything: bool = False) -> RedactedTree:
        key = mode, everything and not self._all_stand
        if key not in self._trees:
            self._trees[key] = super().tree(mode, everything=key[1])
        return self._trees[key]

    def made_of(self, tell: Callable[[Tree], Found], mode: Mode) -> Found:
        key = tell, mode
        if key not in self._made:
            self._made[key] = super().made_of(tell, mode)
        found: Found = self._made[key]
        return found

    def mask(self, mode: Mode) -> Mask:
        if mode not in self._masks:
            self._masks[mode] = super().mask(mode)
        return self._masks[mode]


def summary_record(case: Case, mode: Mode) -> dict[str, Any]:
    """A case in a few figures."""
    tree, mask = case.tree(mode), case.mask(mode)
    progress, stop = Progress.of(case.store), case.store.state("stop") or {}
    return {
        "title": case.title(mode),
        "seeds": [{"id": one, "name": tree.persons[one].name} for one in case.seeds() if one in tree.persons],
        "people": len(tree.persons),
        "kept_back": len(tree.hidden),
        "facts": len(tree.facts),
        "ties": len(tree.relationships),
        "sources": len(tree.sources),
        "generations": case.settings.generations,
        "budget": case.settings.budget,
        "steps": progress.iterations,
        "fetched": progress.fetches,
        "waiting": sum(case.store.sizes().values()),
        "stop": str(stop.get("reason", "")),
        "why": mask.text(str(stop.get("words", ""))),
    }


def graph_record(tree: Tree) -> dict[str, Any]:
    """Everybody and all ties, for a program that draws them."""
    return {
        "people": [
            {
                "id": one.id,
                "name": one.name,
                "sex": one.sex,
                "living": one.living,
                "lived": lifespan(tree, one.id),
                "confidence": one.confidence,
            }
            for one in tree.persons.values()
        ],
        "ties": [
            {
                "id": tie.id,
                "kind": tie.kind,
                "first": tie.first,
                "second": tie.second,
                "qualifier": tie.qualifier,
                "status": tie.status,
                "confidence": tie.confidence,
            }
            for tie in tree.relationships
        ],
    }
