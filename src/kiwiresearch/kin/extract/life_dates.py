"""Lifespans: the dates in brackets after a name, in the lead, in lists and in tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.extract.name_lists import TextSpan
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, Pattern, regex, sex_by_kin
from kiwiresearch.kin.names import name_words, sex_of_name
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.page import Cell, Link, PageDoc
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, dates_in

MAX_AGE = 122
"""A longer time is not a lifespan; `plausibility.OLDEST_AGE` says how the top ages differ."""
DOUBT = regex.compile(r"(?<=[\p{L}\d])\?(?= \d)")
"""The question mark in '21 September? 1327'."""


@dataclass(frozen=True, slots=True)
class Lifespan:
    """Birth and death, as far as they are given."""

    birth: DateRange | None = None
    death: DateRange | None = None
    is_baptism: bool = False

    @property
    def is_plausible(self) -> bool:
        if not self.birth or not self.death:
            return True
        years = (self.death.latest - self.birth.earliest) / 365.25
        # An uncertain birth may be off by a decade or two.
        is_vague = self.birth.qualifier != "" or self.birth.precision not in ("day", "year")
        return 0 <= years <= MAX_AGE + 20 * is_vague

    @property
    def dates(self) -> list[tuple[FieldName, DateRange]]:
        """The dates with the fields they are for."""
        first: FieldName = "baptism_date" if self.is_baptism else "birth_date"
        ends: tuple[tuple[FieldName, DateRange | None], ...] = ((first, self.birth), ("death_date", self.death))
        return [(field, when) for field, when in ends if when]


def date_in(text: str, language: str, *, last: bool = False) -> DateRange | None:
    """The first or last date in a few words; a bare number such as '849' counts if there is nothing else."""
    plain = DOUBT.sub("", text)
    found = [dated for dated in dates_in(plain, language) if not dated.when.lasts or dated.when.qualifier]
    if found:
        return found[-1 if last else 0].when
    # '849' and '43 BC' as a whole; '849 men' is not a date.
    if regex.fullmatch(r"\s*\d{2,4}\s*(?:BC|AD)?\s*", text):
        return _year(text.strip(), language)
    return None


def _year(number: str, language: str) -> DateRange | None:
    """A bare number read as a year: only 'in 849' is recognised as a date."""
    found = dates_in(f"in {number}", language)
    return found[0].when if found else None


def brackets_in(text: str) -> Iterator[TextSpan]:
    """The contents of the outermost brackets."""
    depth = start = 0
    for at, sign in enumerate(text):
        if sign == "(":
            depth += 1
            if depth == 1:
                start = at + 1
        elif sign == ")" and depth:
            depth -= 1
            if not depth:
                yield TextSpan(start, at)


def lifespan_in(words: str, language: str) -> Lifespan | None:
    """The birth and death that a bracket gives; None if it is about something else."""
    for part in regex.split(r";", words):
        found = _read(part, language)
        if found and (found.birth or found.death) and found.is_plausible:
            return found
    return None


def _year_in(text: str, language: str) -> DateRange | None:
    """The year of a date whose day cannot be read: 'September 5/ 6, 1566'."""
    years = regex.findall(r"(?<![\d/])\d{3,4}(?![\d/])", text)
    return _year(years[0], language) if len(years) == 1 else None


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
        # '63 – 14 BC': the era stands only after the second year.
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


MAX_BRACKET_START = 420
"""How far from the start of the lead the bracket with the dates may begin."""
# For a day without 'about' and the like; the lower one is for all other dates of the lead.
EXACT_LEAD_CONFIDENCE = 0.9
LEAD_DATE_CONFIDENCE = 0.75


def lead_facts(page: PageDoc, subject: ArticlePerson) -> Iterator[ExtractedFact]:
    """Name, sex, and the dates in brackets."""
    text = page.text
    named = text.find(subject.name, subject.opening.start, subject.opening.end) if subject.opening.end else -1
    if named >= 0:
        snippet = snippet_at(page, TextSpan(named, named + len(subject.name)))
        because = "the name at the start of the introduction"
        yield ExtractedFact("name", subject.name, snippet, "lead", EXACT_LEAD_CONFIDENCE, rationale=because)
    if subject.sex and subject.sex_from.end:
        snippet = snippet_at(page, subject.sex_from)
        because = "the pronouns in the introduction"
        yield ExtractedFact("sex", subject.sex, snippet, "lead", EXACT_LEAD_CONFIDENCE, rationale=because)
    found = opening_lifespan(page, subject)
    if not found:
        return
    lifespan, span = found
    because = "the dates after the name in the introduction"
    for field, when in lifespan.dates:
        sure = EXACT_LEAD_CONFIDENCE if when.precision == "day" and not when.qualifier else LEAD_DATE_CONFIDENCE
        yield ExtractedFact(field, when.edtf(), snippet_at(page, span), "lead", sure, when, rationale=because)


def opening_lifespan(page: PageDoc, subject: ArticlePerson) -> tuple[Lifespan, TextSpan] | None:
    """The lifespan in brackets after the name, and the span from the name to the closing bracket."""
    start, end = subject.opening
    head = page.text[start : min(end, start + 3 * MAX_BRACKET_START)]
    for bracket in brackets_in(head):
        # After 'was', a bracket is about what the sentence says, and not about the name.
        before = regex.sub(r"\([^()]*(?:\([^()]*\))*[^()]*\)", " ", head[: bracket.start - 1])
        if bracket.start > MAX_BRACKET_START or ENGLISH.stating_verb.search(before):
            return None
        lifespan = lifespan_in(head[bracket.start : bracket.end], page.language)
        if lifespan:
            return lifespan, TextSpan(start, start + bracket.end + 1)
    return None


def snippet_at(page: PageDoc, span: TextSpan) -> Snippet:
    """A span of the page as a snippet."""
    return Snippet(span.start, span.end, page.text[span.start : span.end])


def link_target(links: Iterable[Link], span: TextSpan) -> str:
    """The target of the first link within a span."""
    return next((link.target for link in links if link.in_text and span.start <= link.start < span.end), "")


def name_target(page: PageDoc, name: TextSpan) -> str:
    """The target of the link of a name itself: only titles stand before it in the name.

    In 'Elizabeth of York, wife of [Henry VII]' and 'Emma [Wedgwood]' the link is about somebody or something else.
    """
    found = next((link for link in page.links if link.in_text and name.start <= link.start < name.end), None)
    before = page.text[name.start : found.start].split() if found else []
    is_own = not before or (fold(before[-1]) in name_words().honorifics and "," not in "".join(before))
    return found.target if found and is_own else ""


SEXED_FIELDS = ("spouse", "partner", "child", "sibling")


def sex_facts(field: FieldName, name: str, quote: Snippet) -> tuple[ExtractedFact, ...]:
    """The sex of a relative, if the word for the relative in the quote implies it: 'his wife', 'two sons'."""
    sex = sex_by_kin(quote.words, field) if field in SEXED_FIELDS else ""
    if not sex or sex_of_name(name) not in ("", sex):
        return ()
    return (ExtractedFact("sex", sex, quote, "prose", LISTED_CONFIDENCE, rationale="the word for the relative"),)


LISTED_CONFIDENCE = 0.75
# ' (12 July 1905 – 1919)' without brackets inside, on one line.
BRACKET = regex.compile(r"\s*\((?P<inside>[^()\n]{3,80})\)")
# '12 July 1905, Aue', but not '1905 (disputed)' or '1905; 1906'.
DATE_AND_PLACE = regex.compile(r"[\s\d\p{L}.,/’'–-]{4,60}")


def dates_after_name(page: PageDoc, name: TextSpan, stop: int) -> tuple[ExtractedFact, ...]:
    """The lifespan in the bracket right after a name: 'John (12 July 1905 – 18 January 1919)'."""
    found = BRACKET.match(page.text, name.end, stop)
    if found and not regex.search(r"\d", found["inside"]):
        found = BRACKET.match(page.text, found.end(), stop) or found  # 'Ann (Lady of Aue) (1830–1890)'
    if not found:
        return _birth_after_name(page, name, stop)
    if ENGLISH.about_others.search(found["inside"]):
        return ()
    life = lifespan_in(found["inside"], page.language)
    if life is None:
        return ()
    quoted = TextSpan(name.start, found.end())
    return tuple(_date(page, field, when, quoted, "the dates after the name") for field, when in life.dates)


def _birth_after_name(page: PageDoc, name: TextSpan, stop: int) -> tuple[ExtractedFact, ...]:
    """The birth right after a name: 'John, born in 1888', 'John. Born circa 1888'."""
    born = ENGLISH.born_after_name.match(page.text, name.end, stop)
    for dated in dates_in(page.text[born.end() : stop], page.language)[:1] if born else ():
        if dated.start == 0 and not dated.when.lasts:
            quoted = TextSpan(name.start, (born.end() if born else 0) + dated.end)
            return (_date(page, "birth_date", dated.when, quoted, "the birth after the name"),)
    return ()


def dates_in_row(page: PageDoc, header: Sequence[Cell], row: Sequence[Cell]) -> Iterator[ExtractedFact]:
    """The dates in the columns 'Birth' and 'Death' right after the name."""
    if len(row) != len(header):
        return
    columns: tuple[tuple[FieldName, Pattern], ...] = (
        ("birth_date", ENGLISH.birth_column),
        ("death_date", ENGLISH.death_column),
    )
    for (field, head), title, cell in zip(columns, header[1:], row[1:], strict=False):
        words = page.text[cell.start : cell.end]
        # Only the columns right after the name: further right, a date may be that of a marriage.
        if not head.fullmatch(page.text[title.start : title.end].strip()):
            return
        when = date_in(words, page.language) if DATE_AND_PLACE.fullmatch(words) else None
        if when is not None:
            yield _date(page, field, when, TextSpan(row[0].start, cell.end), "a column of a table")


def _date(page: PageDoc, field: FieldName, when: DateRange, quoted: TextSpan, because: str) -> ExtractedFact:
    return ExtractedFact(
        field, when.edtf(), snippet_at(page, quoted), "prose", LISTED_CONFIDENCE, when=when, rationale=because
    )
