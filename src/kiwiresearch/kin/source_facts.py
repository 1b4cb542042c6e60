"""What a source says about a person, before anybody has decided whether to believe it."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.tree import FieldName, Method, Qualifier, Sex
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.zim.archive import EntryRef


@dataclass(frozen=True, slots=True)
class Snippet:
    """Words of a source, as they stand there: `text[start:end] == words`."""

    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """One value of one field, with the words of the source that say it.

    `value` stands in the snippet letter for letter, but for dates, whose value is
    EDTF, re-derivable from the snippet, and for 'sex'.
    """

    field: FieldName
    value: str
    snippet: Snippet
    method: Method
    confidence: float
    when: DateRange | None = None
    """The date of a date; of a spouse, when they married."""
    until: DateRange | None = None
    """Of a spouse, when the marriage ended."""
    qualifier: Qualifier = ""
    target: str = ""
    """The path of the page about that relative, where the source links to one."""
    locator: str = ""
    """Where in the source: a section, or the label of a row."""
    rationale: str = ""
    """Which rule read it, for the proof."""
    relative_facts: tuple[ExtractedFact, ...] = ()
    """Of a relative, what the same place says about them: when they lived, and who their parents were."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Something worth looking for; never a fact."""

    type: str
    text: str
    evidence_hint: str
    priority: float
    suggested_queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonReading:
    """A page as family research reads it; `is_person` is false for lists, namesakes, fiction, families, animals."""

    ref: EntryRef
    title: str
    is_person: bool
    why: str
    """What told."""
    name: str = ""
    sex: Sex = ""
    facts: tuple[ExtractedFact, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
