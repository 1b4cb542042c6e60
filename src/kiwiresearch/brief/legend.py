"""What a reader of a report needs to know: its labels and its settings, in the words of the web interface."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.brief.support import SUPPORT_LEVELS
from kiwiresearch.document import Block, LineList, Paragraph, Span, line_of
from kiwiresearch.messages import FALLBACK, catalogue_in


def legend() -> Iterator[Block]:
    """What support, hedging and confidence mean."""
    catalogue = catalogue_in(FALLBACK)
    yield _explained("support")
    yield LineList(
        tuple(
            line_of(Span(label, strong=True), f": {catalogue(f'legend.sureness.{label}')}") for label in SUPPORT_LEVELS
        )
    )
    yield Paragraph(line_of(catalogue("legend.running")))
    yield _explained("hedged")
    yield _explained("confidence")


def _explained(term: str) -> Paragraph:
    catalogue = catalogue_in(FALLBACK)
    return Paragraph(line_of(Span(catalogue(f"legend.terms.{term}"), strong=True), f": {catalogue(f'legend.{term}')}"))


CODED_SETTINGS = frozenset({"crawl strategy", "vectors"})
"""Settings whose values are names that the catalogue explains."""


def setting_row(row: tuple[str, str]) -> tuple[str, str]:
    """A setting and its value for readers."""
    catalogue, (name, value) = catalogue_in(FALLBACK), row
    shown = catalogue.named("brief.set_to", value) if name in CODED_SETTINGS else value
    return catalogue.named("brief.setting", name), shown
