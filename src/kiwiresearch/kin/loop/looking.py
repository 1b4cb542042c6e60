"""Asking the sources of a case for one person, Tier 0 first, with a line for the research log from each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.errors import HostAway, KiwiError, SourceRefused, SourceResting
from kiwiresearch.kin.loop.verifying import Verified, verified
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.source import Fetched, PersonQuery, SourceOf
from kiwiresearch.kin.tree import Person
from kiwiresearch.text.when import DateRange

HINT = re.compile(r"\s*\([^()]*\)\s*$")
Outcome = Literal["found", "known", "nothing", "not asked", "no answer"]


@dataclass(frozen=True, slots=True)
class Target:
    """Whom to look for; `person` is what the tree has of them, and tells whether they may be asked for outside."""

    name: str
    person: Person | None = None
    address: str = ""
    """Of their own page, where it is known."""
    source: str = ""
    """The only source to ask; all of them where it is empty."""

    def query(self) -> PersonQuery:
        person = self.person
        name = HINT.sub("", self.name)
        if person is None:
            return PersonQuery(name)
        return PersonQuery(
            name, birth_year=year_of(person.birth), death_year=year_of(person.death), living=person.living
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of the question to one source."""

    source: str
    outcome: Outcome
    why: str = ""

    @property
    def logged_as(self) -> str:
        """The source as the research log names it: with the reason, where it was not asked or did not answer."""
        return f"{self.source} ({self.outcome}: {self.why})" if self.why else self.source


@dataclass(frozen=True, slots=True)
class Looked:
    """The record that was looked for, where there is one, and what each source said."""

    record: Verified | None = None
    source: SourceOf | None = None
    answers: tuple[Answer, ...] = ()
    rests_s: float | None = None
    """How long a source wants to be left alone that has not been asked yet."""

    @property
    def is_known(self) -> bool:
        """Whether a source has the record, and the case as well."""
        return any(one.outcome == "known" for one in self.answers)

    def words(self, new: int) -> str:
        """What came of it, in a sentence that names nobody."""
        if self.record:
            return f"1 record, {new} new statements."
        return "Known already." if self.is_known else "Searched, not found."

    @property
    def searched(self) -> tuple[str, ...]:
        """Sources that looked and have nothing."""
        return tuple(one.source for one in self.answers if one.outcome == "nothing")


def year_of(when: DateRange | None) -> int | None:
    """The year of a date that leaves no other."""
    return when.first_year if when and when.first_year == when.last_year else None


def is_local(source: SourceOf) -> bool:
    """Whether a source is on this machine, and may be asked about anybody at any time."""
    return isinstance(source, BookSource)


def look(
    sources: Sequence[SourceOf],
    target: Target,
    fits: Callable[[Verified], bool],
    is_known: Callable[[Fetched], bool],
) -> Looked:
    """The first record that is about the person; no source is asked that need not be."""
    answers: list[Answer] = []
    rests_s: float | None = None
    for source in sources:
        if target.source not in ("", source.id):
            continue
        try:
            record, is_old = _found(source, target, fits, is_known)
        except SourceResting as problem:
            rests_s = max(rests_s or 0.0, problem.after_s)
            answers.append(Answer(source.id, "no answer", "resting"))
            continue
        except SourceRefused as problem:
            answers.append(Answer(source.id, "not asked", problem.step))
            continue
        except HostAway:
            raise
        except KiwiError as problem:
            answers.append(Answer(source.id, "no answer", _reason(problem)))
            continue
        if is_old:
            return Looked(answers=(*answers, Answer(source.id, "known")))
        if record:
            return Looked(record, source, (*answers, Answer(source.id, "found")))
        answers.append(Answer(source.id, "nothing"))
    return Looked(answers=tuple(answers), rests_s=rests_s)


def _found(
    source: SourceOf, target: Target, fits: Callable[[Verified], bool], is_known: Callable[[Fetched], bool]
) -> tuple[Verified | None, bool]:
    """A new record of a source, or that it has one which the case has read already."""
    if target.address:
        if not is_local(source) and (target.person is None or target.person.living != "deceased"):
            raise SourceRefused(
                f"The source {source.id!r} is not asked about somebody who may be alive.", step="privacy"
            )
        fetched: Sequence[Fetched] = [source.fetch(target.address)]
    else:
        fetched = source.find(target.query())
    is_old = False
    for one in fetched:
        record = verified(one)
        if record is None or not record.read.is_person or not (target.address or fits(record)):
            continue
        if not is_known(one):
            return record, False
        is_old = True
    return None, is_old


def _reason(problem: KiwiError) -> str:
    """What kind of failure it was; the message may name somebody."""
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(problem).__name__).lower()
    return words.removeprefix("source ")
