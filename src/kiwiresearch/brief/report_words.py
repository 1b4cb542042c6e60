"""The fixed words of a brief: headings, what stands in place of an empty part, and kinds in plain words."""

from __future__ import annotations

from typing import Literal

from kiwiresearch.brief.brief import PartKey

Section = PartKey | Literal["bibliography", "gathering", "metadata"]

HEADINGS: dict[Section, str] = {
    "summary": "Executive Summary",
    "body": "Findings",
    "definitions": "Key Concepts & Definitions",
    "timeline": "Timeline / Historical Development",
    "mechanisms": "Mechanisms / Explanations",
    "actors": "Key Actors",
    "disputes": "Competing Views & Disputes",
    "numbers": "Numbers & Quantitative Claims",
    "gaps": "What Wikipedia Doesn’t Settle Yet",
    "bibliography": "Bibliography",
    "gathering": "How the sources were gathered",
    "metadata": "Run Metadata",
}

NOTHING: dict[Section, str] = {
    "summary": "Nothing on the pages read could be proved to be about the topic.",
    "definitions": "No further definitions were found on the pages read.",
    "mechanisms": "No further causes or explanations were found on the pages read.",
    "disputes": "No opposing views or contradicting values were recognised on the pages read.",
    "numbers": "No numbers beyond those above were found on the pages read.",
    "gaps": "No open questions were found on the pages read.",
    "bibliography": "No page was read.",
}
"""What is said of a part that every brief has, where there is nothing to say."""

ALONE = "Views without the other side"
ONE_SIDE = "Of these the sources give one side only."

KINDS = {
    "different year": "The values are of different years.",
    "different scope": "The values are not of the same thing or area.",
    "unit or rounding": "The difference is one of units or rounding.",
    "estimate range": "The values are estimates whose ranges differ.",
    "contradiction": "The pages contradict each other.",
}
"""Kinds of disagreement."""

GAPS = {
    "open": "What the pages call open",
    "concept": "Central concepts of which little is said",
    "hedged": "Much hedging, few references",
    "missing page": "Pages that the book lacks",
    "introductions only": "Pages of which the book has only the introduction",
}
"""Kinds of gaps, in the order in which they are told."""

OF_THE_BOOK = frozenset({"missing page", "introductions only"})
"""Gaps that a fuller book would close."""

NOT_KNOWLEDGE = "This is missing from the book; it is no gap in knowledge."


def kind_in_words(kind: str) -> str:
    """A kind of disagreement, with the reason that may stand behind it, as sentences."""
    name, _, why = kind.partition(":")
    known = KINDS.get(name.strip().casefold())
    return f"{known} {_sentence(why)}".strip() if known else _sentence(kind)


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", "…")) else ".")
