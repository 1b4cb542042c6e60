"""The dates of a quote, and the event to which it gives a date or a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from kiwiresearch.kin.firewall.attribution import (
    TOKEN,
    PrecedingToken,
    can_name_subject,
    cues_on_line,
    governs,
    is_verb,
    leading_name,
    owner_violation,
    statement_violation,
    subject_violation,
    tokens_before,
    trailing_name,
)
from kiwiresearch.kin.firewall.quote import SourceQuote
from kiwiresearch.kin.firewall.violations import Code
from kiwiresearch.kin.language import ENGLISH, FamilyCue
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateMention, DateRange, dates_in

RangeEnd = Literal["", "first", "last"]
DateFit = Literal["same", "coarser", "finer", "no"]

CELL = re.compile(r"[^\t\n]+")
BRACKETED_TEXT = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class QuotedDate:
    """A date of a text, `text[start:end]`, or one end of a range."""

    start: int
    end: int
    when: DateRange
    part: RangeEnd = ""


def quoted_dates(text: str) -> list[QuotedDate]:
    """All readings of the dates in a text: as written, cell by cell, and both sides of a dash in brackets."""
    # '21 September? 1327' is read without its question mark; later offsets are one too small, which is harmless.
    plain = text.replace("?", "")
    found = [quoted_date for dated in dates_in(plain) for quoted_date in _readings(plain, dated)]
    for cell in CELL.finditer(plain) if "\t" in plain else ():
        found += [
            _moved(quoted_date, cell.start())
            for dated in dates_in(cell[0])
            for quoted_date in _readings(cell[0], dated)
        ]
    for bracket in BRACKETED_TEXT.finditer(blank_inner_brackets(plain)):
        found += [_moved(quoted_date, bracket.start()) for quoted_date in _sides(bracket[0])]
    return list(dict.fromkeys(found))


def blank_inner_brackets(text: str) -> str:
    """The text with brackets inside brackets blanked; all offsets stay the same."""
    signs, depth = [], 0
    for sign in text:
        depth += sign == "("
        signs.append(" " if depth > 1 else sign)
        depth -= sign == ")" and depth > 0
    return "".join(signs)


def _moved(quoted: QuotedDate, by: int) -> QuotedDate:
    return replace(quoted, start=quoted.start + by, end=quoted.end + by)


def _sides(bracket: str) -> Iterator[QuotedDate]:
    """The date before and the date after each dash of a bracket."""
    for sign in ENGLISH.range_sign.finditer(bracket):
        if sign[0].strip() == "or":
            continue
        start = max(bracket.rfind(stop, 0, sign.start()) for stop in "(;") + 1
        end = next((at for at, char in enumerate(bracket) if at >= sign.end() and char in ";)"), len(bracket))
        halves = bracket[start : sign.start()], bracket[sign.end() : end]
        first = _with_era(*halves)
        yield from (
            QuotedDate(start + mention.start, sign.start(), mention.when, "first") for mention in _dates_of(first)[-1:]
        )
        yield from (
            QuotedDate(sign.end() + mention.start, end, mention.when, "last") for mention in _dates_of(halves[1])[:1]
        )


def _with_era(first: str, second: str) -> str:
    """The first half of a range with the era that only its second half gives: '43 – 17 BC'."""
    era = ENGLISH.check_era.search(second)
    return f"{first} {era[0]}" if era and not ENGLISH.check_era.search(first) else first


def _dates_of(half: str) -> list[DateMention]:
    """The dates on one side of a dash, where a bare number of three digits is a year."""
    found = dates_in(half)
    year = ENGLISH.few_figures.fullmatch(half)
    return found or (
        [DateMention(0, len(half), mention.when) for mention in dates_in(f"{year[1]}AD {year[2]}")] if year else []
    )


def _readings(text: str, dated: DateMention) -> Iterator[QuotedDate]:
    words = text[dated.start : dated.end]
    if not dated.when.lasts or ENGLISH.either.search(words):
        yield QuotedDate(dated.start, dated.end, dated.when)
    if not dated.when.lasts:
        return
    for sign in ENGLISH.range_sign.finditer(words):
        middle = dated.start + sign.start(), dated.start + sign.end()
        halves = words[: sign.start()], words[sign.end() :]
        if all(halves):
            yield from (QuotedDate(dated.start, middle[0], when, "first") for when in _first(halves, dated.when))
            yield from (QuotedDate(middle[1], dated.end, when, "last") for when in _last(halves, dated.when))


def _first(halves: tuple[str, str], full: DateRange) -> Iterator[DateRange]:
    alone = _with_era(*halves)
    yield from (dated.when for dated in dates_in(alone))
    if alone != halves[0] and alone.removeprefix(f"{halves[0]} ").upper().startswith(("AD", "CE")):
        yield from (dated.when for dated in dates_in(halves[0]))
    if full.precision == "day" and not full.qualifier:
        yield replace(full, latest=full.earliest, lasts=False)


def _last(halves: tuple[str, str], full: DateRange) -> Iterator[DateRange]:
    yield from (dated.when for dated in dates_in(halves[1]))
    if full.precision == "day" and not full.qualifier:
        yield replace(full, earliest=full.latest, lasts=False)
    if full.precision == "year" and halves[1].isdigit():
        # '1756-91': only the first year has its century.
        yield from (dated.when for dated in dates_in(str(full.last_year)))


def date_fit(quoted: DateRange, claimed: DateRange) -> DateFit:
    """Whether a claimed date is the quoted one, says less, or says more."""
    spans = (quoted.earliest, quoted.latest), (claimed.earliest, claimed.latest)
    if spans[0] == spans[1]:
        if quoted.qualifier == claimed.qualifier:
            return "same"
        return "coarser" if claimed.qualifier == "about" and not quoted.qualifier else "finer"
    # An open date has no span to compare: 'before 1850' proves no year, and 1850 does not prove 'before 1850'.
    if quoted.qualifier in ("before", "after") or claimed.qualifier in ("before", "after"):
        return "finer" if quoted.qualifier and _contains(quoted.possible_days(), spans[1]) else "no"
    if _contains(spans[1], spans[0]):
        if claimed.lasts or claimed.precision not in ("month", "season", "year", "decade"):
            return "no"
        return "coarser" if claimed.qualifier or not quoted.qualifier else "finer"
    return "finer" if _contains(spans[0], spans[1]) else "no"


def _contains(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


# `STRICT_SENTENCE_END` of `attribution`, and semicolons, but not line ends.
CLAUSE_END = re.compile(r"(?:(?<![^\W_])[a-z]{3,}|[\d)\"'”]|\w{5,})[.!?;]\s")
# How far after a lifespan the text may say whose it is: 'Ann Lee (1800–1850), known as Nan Hay'.
MAX_ALIAS = 200
COLUMNS = ("birth", "death")
MAX_NOTE_GAP = 16
"""'5 June 1723 (baptised)': a cue this close to a date outweighs the label of its row."""


def event_violation(quote: SourceQuote, start: int, end: int, event: str) -> Code | None:
    """Why `words[start:end]` does not belong to this event of the subject; None if it does."""
    kinds = quote.kinds_at(start)
    if kinds:
        return _misplaced_in_row(quote, start, end, event, kinds)
    part = lifespan_part(quote, start) or column_part(quote, start)
    if part:
        return None if part == event else "HF_014"
    cue = _governing(quote, start, end)
    if cue is None or cue.kind != event:
        return "HF_014"
    return "HF_014" if _wrong_holder(quote, cue) else None


def event_statement_violation(quote: SourceQuote, start: int, end: int) -> Code | None:
    """Why running text does not state the event of a date or place; rows and lifespans always do."""
    if quote.kinds_at(start) or lifespan_part(quote, start) or column_part(quote, start):
        return None
    cue = _governing(quote, start, end)
    if cue is None:
        return None
    return statement_violation(quote, cue, start, end, asserts=cue.word not in quote.table.words["nouns"])


def _wrong_holder(quote: SourceQuote, cue: FamilyCue) -> Code | None:
    if cue.word not in quote.table.words["nouns"]:
        return None if cue.kind == "marriage" else subject_violation(quote, cue.start, is_verb=True)
    after = TOKEN.findall(quote.words[cue.end : cue.end + 40])[:2]
    if after[:1] == ["to"]:
        return "HF_043"
    if after[:1] == ["of"]:
        return None if fold(after[-1]) in quote.own_names else "HF_043"
    # 'birth in 1930' is an event, 'birth announcement in 1930' is not.
    rest = quote.words[cue.end :].lstrip()
    is_event = not rest or not rest[0].isalpha() or rest.split()[0].lower() in quote.table.words["at"]
    return owner_violation(quote, cue.start) or (None if is_event else "HF_043")


def _misplaced_in_row(quote: SourceQuote, start: int, end: int, event: str, kinds: frozenset[str]) -> Code | None:
    line_start, line_end = quote.line_of(start)
    after = quote.words[end : min(line_end, end + MAX_NOTE_GAP)]
    before = quote.words[max(line_start, start - MAX_NOTE_GAP) : start]
    near = [*_bracketed(quote, before), *_bracketed(quote, after)]
    noted = {cue.kind for cue in near if cue.kind in ("birth", "baptism", "death", "burial", "marriage")}
    if noted:
        return None if event in noted else "HF_014"
    # Boxes give baptisms in the row of the birth, with the word 'baptised' beside the date.
    if event == "baptism" and "birth" in kinds:
        return None if any(cue.kind == "baptism" for cue in quote.table.events.found_in(quote.words)) else "HF_014"
    if event == "marriage" and kinds & {"spouse", "partner", "marriage"}:
        return None
    return None if event in kinds else "HF_014"


def _bracketed(quote: SourceQuote, text: str) -> list[FamilyCue]:
    """The cues right after an opening bracket: '(baptised 1 May 1800)', '(baptised)'."""
    return [cue for cue in quote.table.events.found_in(text) if "(" in text[: cue.start][-3:]]


def _governing(quote: SourceQuote, start: int, end: int) -> FamilyCue | None:
    """The cue a date or place belongs to: the nearest before it with no other verb between, else the next after it."""
    cues = cues_on_line(quote, start, quote.table.events.found_in)
    before = [cue for cue in cues if cue.end <= start]
    gap = quote.words[before[-1].end : start] if before else ""
    # A cue in a bracket does not govern what follows the bracket, nor the other way round.
    if before and gap.count(")") == gap.count("(") and governs(quote, gap, CLAUSE_END):
        return before[-1]
    line_start, line_end = quote.line_of(start)
    after = next((cue for cue in cues if cue.start >= end), None)
    if after is None or is_bracket_open(quote.words[line_start:line_end], start - line_start):
        return None
    gap = quote.words[end : after.start]
    if after.word in quote.table.words["nouns"] or quoted_dates(gap) or CLAUSE_END.search(gap):
        return None
    return after if _leads_up(quote, gap) else None


def is_bracket_open(line: str, at: int) -> bool:
    """Whether a bracket is open there: its content does not belong to what follows it."""
    return line.count("(", 0, at) > line.count(")", 0, at)


def _leads_up(quote: SourceQuote, gap: str) -> bool:
    """Whether only names and function words are between a date and its cue: 'On 1 May 1800, at Kew, Mary was born'."""
    words = quote.table.words
    function_words = words["auxiliaries"] | words["pronouns"] | words["particles"] | words["places"]
    return all(not word[0].islower() or word.lower() in function_words for word in TOKEN.findall(gap))


def lifespan_part(quote: SourceQuote, start: int) -> str:
    """'birth' or 'death': the side of the dash in the lifespan after the subject's name; empty elsewhere."""
    line_start, line_end = quote.line_of(start)
    line = blank_inner_brackets(quote.words[line_start:line_end])
    at = start - line_start
    opened, closed = line.rfind("(", 0, at), line.find(")", at)
    if opened < 0 or closed < 0 or line.find(")", opened, at) >= 0:
        return ""
    inside = line[opened + 1 : closed]
    if not _follows_name(quote, line_start + opened, line[closed + 1 : closed + MAX_ALIAS]):
        return ""
    part = _part_in(inside, at - opened - 1)
    before = quote.table.events.found_in(inside[inside.rfind(";", 0, at - opened - 1) + 1 : at - opened - 1])
    # '(born Ann Bell, 1 May 1800 – 3 June 1850)' gives a death without the word for it.
    is_plain = not before or (part == "death" and {cue.kind for cue in before} <= {"birth", "baptism"})
    return part if is_plain else ""


def column_part(quote: SourceQuote, start: int) -> str:
    """'birth' or 'death' for a date in the first or second cell after the subject's name in a table row."""
    line_start, line_end = quote.line_of(start)
    cells = quote.words[line_start:line_end].split("\t")
    if not 1 < len(cells) <= len(COLUMNS) + 1 or not _is_name_of(quote, cells[0], line_start):
        return ""
    at = quote.words.count("\t", line_start, start)
    dates = [quoted_dates(cell) for cell in cells[1:]]
    return COLUMNS[at - 1] if at > 0 and all(dates) else ""


def _is_name_of(quote: SourceQuote, cell: str, start: int) -> bool:
    run = [PrecedingToken(match[0], start + match.start()) for match in TOKEN.finditer(cell)]
    numerals = quote.table.words["numerals"]
    # 'Max, Duke of Aue' in a table is a child of Max IV who has his name.
    is_namesake = "," in cell and quote.own_names & numerals and not any(part.bare in numerals for part in run)
    return bool(run) and not is_namesake and can_name_subject(quote, run, is_first=True)


def _follows_name(quote: SourceQuote, opened: int, after: str) -> bool:
    """Whether a bracket follows the subject's name, or a name that the next words say is the subject's."""
    parts = tokens_before(quote, opened)
    is_kin = (part.text in quote.table.kin.kinds for part in parts)
    if any(is_kin) or any(is_verb(quote, part.text) for part in parts):
        return False
    run, before = trailing_name(quote, [part for part in parts if part.text != ","])
    if (
        not run
        or can_name_subject(quote, run, is_first=not before)
        or can_name_subject(quote, leading_name(quote, parts), is_first=True)
    ):
        return True
    tokens = [PrecedingToken(match[0], match.start()) for match in TOKEN.finditer(after)]
    named = [at for at, part in enumerate(tokens) if part.lowered in quote.table.words["naming"]]
    return bool(named) and any(set(part.bare.split()) & quote.own_names for part in tokens[named[0] :])


def _part_in(inside: str, at: int) -> str:
    """The side of the dash between two dates that an offset of a bracket is on."""
    middle = _middle(inside)
    if middle < 0:
        return ""
    first = inside.rfind(";", 0, middle) + 1
    after = inside.find(";", middle)
    if at < first or 0 <= after <= at:
        return ""
    return "birth" if at < middle else "death"


@cache
def _middle(inside: str) -> int:
    """The dash of a lifespan: the first that has a date on each side."""
    dates = quoted_dates(inside)
    for dash in ENGLISH.check_dash.finditer(inside):
        has_before = any(quoted_date.end <= dash.start() + 1 for quoted_date in dates)
        has_after = any(quoted_date.start >= dash.end() - 1 for quoted_date in dates)
        is_open = any(
            quoted_date.when.lasts and quoted_date.start < dash.start() < quoted_date.end for quoted_date in dates
        )
        is_near = has_before and (inside[dash.end() :].lstrip() or "0")[0].isdigit()
        if (has_before and has_after) or is_open or is_near:
            return dash.start()
    return -1
