"""When people lived: the dates in brackets behind a name, in the lead, in lists and in tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.extract.name_lists import Span
from kiwiresearch.kin.extract.subject import PageSubject
from kiwiresearch.kin.language import ENGLISH, Pattern, regex
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.page.doc import Cell, Link, PageDoc
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.text.when import dates_in

OLDEST = 122
DOUBT = regex.compile(r"(?<=[\p{L}\d])\?(?= \d)")


@dataclass(frozen=True, slots=True)
class Lifespan:
    """Both ends of a life, where the words gave them."""

    birth: DateRange | None = None
    death: DateRange | None = None
    is_baptism: bool = False

    @property
    def is_plausible(self) -> bool:
        if not self.birth or not self.death:
            return True
        years = (self.death.latest - self.birth.earliest) / 365.25
        return 0 <= years <= OLDEST + 20 * (self.birth.qualifier != "" or self.birth.precision not in ("day", "year"))


def date_in(text: str, language: str, *, last: bool = False) -> DateRange | None:
    """The first or last date of a few words; a bare '849' counts as well where nothing else does."""
    plain = DOUBT.sub("", text)
    found = [dated for dated in dates_in(plain, language) if not dated.when.lasts or dated.when.qualifier]
    if found:
        return found[-1 if last else 0].when
    if regex.fullmatch(r"\s*\d{2,4}\s*(?:BC|AD)?\s*", text):
        lent = dates_in(f"in {text.strip()}", language)
        return lent[0].when if lent else None
    return None


def brackets_in(text: str) -> Iterator[Span]:
    """The outermost brackets, without their signs."""
    depth = start = 0
    for at, sign in enumerate(text):
        if sign == "(":
            depth += 1
            if depth == 1:
                start = at + 1
        elif sign == ")" and depth:
            depth -= 1
            if not depth:
                yield Span(start, at)


def lifespan_in(words: str, language: str) -> Lifespan | None:
    """What a bracket says of birth and death; None where it speaks of something else."""
    for part in regex.split(r";", words):
        found = _read(part, language)
        if found and (found.birth or found.death) and found.is_plausible:
            return found
    return None


def _year_in(text: str, language: str) -> DateRange | None:
    """The year of a date whose day cannot be read: 'September 5/ 6, 1566'."""
    years = regex.findall(r"(?<![\d/])\d{3,4}(?![\d/])", text)
    lent = dates_in(f"in {years[0]}", language) if len(years) == 1 else []
    return lent[0].when if lent else None


def _read(part: str, language: str) -> Lifespan | None:
    if ENGLISH.reign.search(part):
        return None
    for dash in ENGLISH.dash.finditer(part):
        left, right = part[: dash.start()], part[dash.end() :]
        first = date_in(left, language, last=True)
        second = date_in(right, language) or (_year_in(right, language) if first else None)
        if not second:
            continue
        era = ENGLISH.era_after.search(right)
        if first and era and not ENGLISH.era.search(left):
            first = date_in(f"{left.strip()} {era[1]}", language, last=True)
        if first:
            return Lifespan(first, second, bool(ENGLISH.baptised.search(left)))
        if ENGLISH.unknown.search(left) and not ENGLISH.died.search(left):
            return Lifespan(None, second)
    died = ENGLISH.died.search(part)
    if died and ENGLISH.born.search(part, 0, died.start()):
        return Lifespan(date_in(part[: died.start()], language), date_in(part[died.start() :], language))
    only = date_in(part, language)
    if not only:
        return None
    if ENGLISH.died.search(part):
        return Lifespan(None, only)
    if ENGLISH.baptised.search(part):
        return Lifespan(only, None, is_baptism=True)
    return Lifespan(only) if ENGLISH.born.search(part) or ENGLISH.open_end.search(part) else None


LATEST_BRACKET = 420
"""The bracket with the dates stands within so many characters from the start of the lead."""
EXACT_LEAD_CONFIDENCE = 0.9
LEAD_CONFIDENCE = 0.75
NAME_CONFIDENCE = 0.9


def lead_facts(page: PageDoc, subject: PageSubject) -> Iterator[ExtractedFact]:
    """Name, sex, and the dates in brackets."""
    text = page.text
    named = text.find(subject.name, subject.opening.start, subject.opening.end) if subject.opening.end else -1
    if named >= 0:
        there = Span(named, named + len(subject.name))
        yield ExtractedFact(
            "name",
            subject.name,
            snippet_at(page, there),
            "lead",
            NAME_CONFIDENCE,
            rationale="the name that opens the lead",
        )
    if subject.sex and subject.sex_from.end:
        because = "the pronouns of the lead"
        yield ExtractedFact(
            "sex", subject.sex, snippet_at(page, subject.sex_from), "lead", EXACT_LEAD_CONFIDENCE, rationale=because
        )
    found = opening_lifespan(page, subject)
    if not found:
        return
    lifespan, span = found
    first = "baptism_date" if lifespan.is_baptism else "birth_date"
    for field, when in ((first, lifespan.birth), ("death_date", lifespan.death)):
        if when:
            sure = EXACT_LEAD_CONFIDENCE if when.precision == "day" and not when.qualifier else LEAD_CONFIDENCE
            yield ExtractedFact(
                field,  # type: ignore[arg-type]  # one of two names of fields
                when.edtf(),
                snippet_at(page, span),
                "lead",
                sure,
                when,
                rationale="the dates in brackets behind the name in the lead",
            )


def opening_lifespan(page: PageDoc, subject: PageSubject) -> tuple[Lifespan, Span] | None:
    """The dates in brackets behind the name, and the words from the name to the closing bracket."""
    start, end = subject.opening
    head = page.text[start : min(end, start + 3 * LATEST_BRACKET)]
    for bracket in brackets_in(head):
        before = regex.sub(r"\([^()]*(?:\([^()]*\))*[^()]*\)", " ", head[: bracket.start - 1])
        if bracket.start > LATEST_BRACKET or ENGLISH.stating_verb.search(before):
            return None
        lifespan = lifespan_in(head[bracket.start : bracket.end], page.language)
        if lifespan:
            return lifespan, Span(start, start + bracket.end + 1)
    return None


def snippet_at(page: PageDoc, span: Span) -> Snippet:
    """Some words of the page, as they stand there."""
    return Snippet(span.start, span.end, page.text[span.start : span.end])


def link_target(links: Iterable[Link], span: Span) -> str:
    """The page that the first link within these words leads to."""
    return next((link.target for link in links if link.in_text and span.start <= link.start < span.end), "")


LISTED_CONFIDENCE = 0.75
BRACKET = regex.compile(r"\s*\((?P<inside>[^()\n]{3,80})\)")
ONLY_DATE = regex.compile(r"[\s\d\p{L}.,/–-]{4,40}")


def dates_after_name(page: PageDoc, name: Span, stop: int) -> tuple[ExtractedFact, ...]:
    """The life in the bracket right behind a name: 'John (12 July 1905 – 18 January 1919)'."""
    found = BRACKET.match(page.text, name.end, stop)
    if not found or ENGLISH.about_others.search(found["inside"]):
        return ()
    life = lifespan_in(found["inside"], page.language)
    if life is None:
        return ()
    quoted = Span(name.start, found.end())
    dates: list[tuple[FieldName, DateRange | None]] = [
        ("baptism_date" if life.is_baptism else "birth_date", life.birth),
        ("death_date", life.death),
    ]
    return tuple(_date(page, field, when, quoted, "the dates behind the name") for field, when in dates if when)


def dates_in_row(page: PageDoc, header: Sequence[Cell], row: Sequence[Cell]) -> tuple[ExtractedFact, ...]:
    """The dates in the columns 'Birth' and 'Death' right behind the name."""
    return tuple(_dates_in(page, header, row)) if len(row) == len(header) else ()


def _dates_in(page: PageDoc, header: Sequence[Cell], row: Sequence[Cell]) -> Iterator[ExtractedFact]:
    columns: tuple[tuple[FieldName, Pattern], ...] = (
        ("birth_date", ENGLISH.birth_column),
        ("death_date", ENGLISH.death_column),
    )
    for (field, head), title, cell in zip(columns, header[1:], row[1:], strict=False):
        words = page.text[cell.start : cell.end]
        if not head.fullmatch(page.text[title.start : title.end].strip()) or not ONLY_DATE.fullmatch(words):
            return
        when = date_in(words, page.language)
        if when is not None:
            yield _date(page, field, when, Span(row[0].start, cell.end), "a column of the table")


def _date(page: PageDoc, field: FieldName, when: DateRange, quoted: Span, because: str) -> ExtractedFact:
    return ExtractedFact(
        field, when.edtf(), snippet_at(page, quoted), "prose", LISTED_CONFIDENCE, when=when, rationale=because
    )
