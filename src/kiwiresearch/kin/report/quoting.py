"""The words of sources as a proof shows them: each once, with the number of its source and its class of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kiwiresearch.kin.report.document import Line, Quoted, Span, words
from kiwiresearch.kin.report.words import METHODS, evidence_words, one_line
from kiwiresearch.kin.tree import Evidence, Source, SourceId, Tree

SOURCE = "source"
"""What the anchors of the sources begin with."""
TOLD_BY_RULE = ("infobox", "lead", "prose")
"""Where the rule that read a value says itself on which part of the page."""


def source_title(source: Source) -> str:
    return one_line(source.title) or one_line(source.name) or one_line(source.url)


def numbered(sources: Mapping[SourceId, Source]) -> dict[SourceId, int]:
    """The numbers by which a report cites its sources, in the order of its list of them."""
    order = sorted(sources.values(), key=lambda one: (one.name, one.title, one.id))
    return {source.id: number for number, source in enumerate(order, start=1)}


class Quoting:
    """The quotes of a tree."""

    def __init__(self, tree: Tree) -> None:
        self._sources = tree.sources
        self._numbers = numbered(tree.sources)

    def cite(self, evidence: Evidence) -> Line:
        """Where it stands, for a reader."""
        source = self._sources.get(evidence.source)
        if source is None:
            return words("a source that is not shown")
        number = self._numbers[evidence.source]
        where = f", at “{one_line(evidence.locator)}”" if evidence.locator else ""
        return words(
            Span(source_title(source), foreign=True), f"{where}, ", Span(f"source {number}", f"#{SOURCE}-{number}")
        )

    def class_of(self, evidence: Iterable[Evidence]) -> str:
        """The class of evidence, where several quotes share one; each says its own where they differ or are alone."""
        some = _different(evidence)
        classes = {evidence_words(one, self._sources.get(one.source)) for one in some}
        return classes.pop() if len(some) > 1 and len(classes) == 1 else ""

    def quotes(self, evidence: Iterable[Evidence], says: str = "", shared: str = "") -> tuple[Quoted, ...]:
        """The quotes, each with its place, its class unless that is `shared`, and what it says, if not the same."""
        found = []
        for one in _different(evidence):
            kind = evidence_words(one, self._sources.get(one.source))
            rule = one_line(one.rationale)
            method = "" if rule and one.method in TOLD_BY_RULE else METHODS[one.method]
            notes = (says, "" if kind == shared else kind, method, rule)
            found.append(Quoted(one.snippet, self.cite(one), tuple(filter(None, notes))))
        return tuple(found)


def _different(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Evidence without what repeats the same words of the same place, in the order of the source."""
    met: dict[tuple[str, str, str], Evidence] = {}
    for one in evidence:
        met.setdefault((one.source, " ".join(one.snippet.split()), one.locator), replace(one, id=""))
    return sorted(met.values(), key=lambda one: (one.source, one.start))
