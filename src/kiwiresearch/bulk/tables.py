"""The tables of a whole book: what each is called, which columns it has, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from kiwiresearch.errors import BadUsage

Kind = Literal["number", "text", "flag", "decimal"]
Value = int | str | bool | float | None
Row = tuple[Value, ...]
"""The values of one row, in the order of its table's columns."""


class Column(NamedTuple):
    """A column; one that is optional has no value where the page tells none."""

    name: str
    kind: Kind
    meaning: str
    optional: bool = False


FIRST = (
    Column("entry", "number", "the number of the entry in its book"),
    Column("path", "text", "the path of the page in its book"),
)
NUMBER = Column("number", "number", "the place of the row among those of its page, from 0")
DATE = (
    Column("earliest", "number", "the first day that its first date may mean, as a Julian day number", optional=True),
    Column("latest", "number", "the last such day", optional=True),
    Column("edtf", "text", "the same date in EDTF; empty without one"),
)
PLACE = (
    Column("quote", "text", "the words of the page that say so"),
    Column("start", "number", "where these words begin in the page's text"),
    Column("end", "number", "where they end"),
)

TABLES: Mapping[str, tuple[Column, ...]] = {
    "titles": (
        *FIRST,
        Column("title", "text", "the title of the article or redirect"),
        Column("redirect_to", "text", "the path of the article that a redirect ends at; empty for an article"),
    ),
    "pages": (
        *FIRST,
        Column("title", "text", "the title of the page"),
        Column("kind", "text", "article, disambiguation, list, or redirect for a page that only leads elsewhere"),
        Column("chars", "number", "how many characters its text has"),
        Column("words", "number", "how many words"),
        Column("sections", "number", "how many headings"),
        Column("references", "number", "how many references"),
        Column("links", "number", "how many links to pages of the book, repeated ones included"),
        Column("infobox", "flag", "whether it has a box of facts"),
        Column("stub", "flag", "whether it is, or looks like, a stub"),
        Column("disputed", "flag", "whether its editors dispute it"),
        Column("citation_needed", "number", "how many places are marked so"),
        Column("lead", "text", "its first sentences, at most 500 characters"),
        Column("text_sha", "text", "a hash of its text, tagged with the algorithm"),
    ),
    "links": (
        *FIRST,
        NUMBER,
        Column("target", "text", "the path that the link ends at after redirects; empty if the book lacks it"),
        Column("href_title", "text", "the title that the link names"),
        Column("section", "text", "the heading of the section of the first such link; empty in the lead"),
        Column("place", "text", "where it stands: lead, body, list, table, infobox, see also, navigation …"),
        Column("count", "number", "how many links of the page end there"),
    ),
    "claims": (
        *FIRST,
        NUMBER,
        Column("claim_id", "text", "the id of the claim, the same in every run"),
        Column("claim_type", "text", "definition, causal, numeric, timeline, comparative, disputed or quote"),
        Column("subject", "text", "what it is about"),
        Column("claim", "text", "what it says, in words that stand alone"),
        *PLACE,
        Column("section", "text", "the heading of its section; empty in the lead"),
        Column("anchor", "text", "the anchor of its section"),
        Column("confidence", "decimal", "how likely it is right, from 0 to 1"),
        Column("hedged", "flag", "whether its words hold back"),
        Column("disputed", "flag", "whether it tells of a dispute, or the page marks it as disputed"),
        *DATE,
        Column("value", "decimal", "the first number it measures; of a range, the lower end", optional=True),
        Column("unit", "text", "the unit of that number; empty for a plain number"),
        Column("what", "text", "what that number measures"),
        Column("record", "text", "the whole claim as JSON, as `claims.jsonl` of a run has it"),
    ),
    "people": (
        *FIRST,
        NUMBER,
        Column("name", "text", "the person that the page is about"),
        Column("field", "text", "birth_date, death_place, father, spouse, child …"),
        Column("value", "text", "what the page says: words of the quote, or a date in EDTF"),
        *PLACE,
        Column("method", "text", "how it was read: infobox, lead or prose"),
        Column("confidence", "decimal", "how far it is trusted, from 0 to 1"),
        Column("qualifier", "text", "biological, adoptive, step, half, disputed …; mostly empty"),
        *DATE,
        Column(
            "target",
            "text",
            "the path of the page that the value links to: the relative's, or the place's; empty if there is none",
        ),
    ),
    "errors": (
        *FIRST,
        Column("what", "text", "the table that lacks its rows; 'read' where the entry itself cannot be read"),
        Column("problem", "text", "what is wrong"),
    ),
}
"""Rows are sorted by entry, then by number."""

CHOICES = tuple(name for name in TABLES if name != "errors")
"""What can be asked for; errors are told whatever is."""


def checked_what(wanted: Iterable[str]) -> tuple[str, ...]:
    """The tables that somebody asks for, each once and in their own order."""
    names = {name.strip().lower() for name in wanted if name.strip()}
    unknown = sorted(names - set(CHOICES))
    if unknown:
        raise BadUsage(f"There is no table {unknown[0]!r}.", remedy=f"The tables are: {', '.join(CHOICES)}.")
    if not names:
        raise BadUsage("No table is wanted.", remedy=f"Name some of them: {', '.join(CHOICES)}.")
    return tuple(name for name in CHOICES if name in names)
