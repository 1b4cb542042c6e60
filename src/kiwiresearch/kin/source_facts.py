"""What a source says about a person, before it is checked."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.tree import FieldName, Method, Qualifier, Sex
from kiwiresearch.text.dates import DateRange
from kiwiresearch.zim import EntryRef


@dataclass(frozen=True, slots=True)
class Snippet:
    """A quote from a source: `text[start:end] == words`."""

    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A value of a field, with the quote that states it.

    The snippet contains `value` verbatim, except for dates, whose EDTF can be derived
    from the snippet, and for 'sex'.
    """

    field: FieldName
    value: str
    snippet: Snippet
    method: Method
    confidence: float
    when: DateRange | None = None
    """The date; for a spouse, when they married."""
    until: DateRange | None = None
    """For a spouse, when the marriage ended."""
    qualifier: Qualifier = ""
    target: str = ""
    """The path of the relative's own page, if the source links to one."""
    locator: str = ""
    """The section of the source, or the label of a row."""
    rationale: str = ""
    """The rule that read it, shown with the fact."""
    relative_facts: tuple[ExtractedFact, ...] = ()
    """What the same passage says about a relative: when they lived, and who their parents were."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A guess worth a search; never a fact."""

    type: str
    text: str
    evidence_hint: str
    priority: float
    suggested_queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonReading:
    """The content of a page; `is_person` is false for lists, namesakes, fiction, families and animals."""

    ref: EntryRef
    title: str
    is_person: bool
    why: str
    """The reason for `is_person`."""
    name: str = ""
    sex: Sex = ""
    facts: tuple[ExtractedFact, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
