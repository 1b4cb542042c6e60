"""The dates of a quote, and the event to which it gives a date or a place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from kiwiresearch.kin.firewall.attribution import (
    TOKEN,
    Token,
    can_name_subject,
    cues_on_line,
    governs,
    holder_violation,
    is_verb,
    leading_name,
    owner_violation,
    statement_violation,
    tokens_before,
    trailing_name,
)
from kiwiresearch.kin.firewall.quote import SourceQuote
from kiwiresearch.kin.firewall.violations import Code
from kiwiresearch.kin.language import ENGLISH, FamilyCue
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.text.when import DateMention, dates_in
from kiwiresearch.text.words import fold

RangeEnd = Literal["", "first", "last"]
DateFit = Literal["same", "coarser", "finer", "no"]

CELL = re.compile(r"[^\t\n]+")
BRACKET = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class QuotedDate:
    """A date of a text: `text[start:end]`; of a range also its two ends, each on its own."""

    start: int
    end: int
    when: DateRange
    part: RangeEnd = ""


def quoted_dates(text: str) -> list[QuotedDate]:
    """All readings of the dates of a text: as it stands, cell by cell, and in brackets the two sides of a dash."""
    # '21 September? 1327': the sign goes, and what stands behind it is one letter further off than it says.
    plain = text.replace("?", "")
    found = [told for dated in dates_in(plain) for told in _readings(plain, dated)]
    for cell in CELL.finditer(plain) if "\t" in plain else ():
        found += [_moved(told, cell.start()) for dated in dates_in(cell[0]) for told in _readings(cell[0], dated)]
    for bracket in BRACKET.finditer(blank_inner_brackets(plain)):
        found += [_moved(told, bracket.start()) for told in _sides(bracket[0])]
    return list(dict.fromkeys(found))


def blank_inner_brackets(text: str) -> str:
    """The text with brackets inside brackets blanked, every other sign in its place."""
    kept, depth = [], 0
    for sign in text:
        depth += sign == "("
        kept.append(" " if depth > 1 else sign)
        depth -= sign == ")" and depth > 0
    return "".join(kept)


def _moved(told: QuotedDate, by: int) -> QuotedDate:
    return replace(told, start=told.start + by, end=told.end + by)


def _sides(bracket: str) -> Iterator[QuotedDate]:
    for sign in ENGLISH.range_sign.finditer(bracket):
        if sign[0].strip() == "or":
            continue
        start = max(bracket.rfind(stop, 0, sign.start()) for stop in "(;") + 1
        end = next((at for at, char in enumerate(bracket) if at >= sign.end() and char in ";)"), len(bracket))
        halves = bracket[start : sign.start()], bracket[sign.end() : end]
        era = ENGLISH.check_era.search(halves[1])
        alone = f"{halves[0]} {era[0]}" if era and not ENGLISH.check_era.search(halves[0]) else halves[0]
        yield from (QuotedDate(start + one.start, sign.start(), one.when, "first") for one in _dates_of(alone)[-1:])
        yield from (QuotedDate(sign.end() + one.start, end, one.when, "last") for one in _dates_of(halves[1])[:1])


def _dates_of(half: str) -> list[DateMention]:
    """The dates of one side of a dash; a number of three figures alone is a year there."""
    found = dates_in(half)
    year = ENGLISH.few_figures.fullmatch(half)
    return found or (
        [DateMention(0, len(half), one.when) for one in dates_in(f"{year[1]}AD {year[2]}")] if year else []
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


def _first(halves: tuple[str, str], whole: DateRange) -> Iterator[DateRange]:
    """The first half on its own; an era behind the second half is that of the first as well."""
    era = ENGLISH.check_era.search(halves[1])
    alone = f"{halves[0]} {era[0]}" if era and not ENGLISH.check_era.search(halves[0]) else halves[0]
    yield from (dated.when for dated in dates_in(alone))
    if era and alone != halves[0] and era[0].upper().startswith(("AD", "CE")):
        yield from (dated.when for dated in dates_in(halves[0]))
    if whole.precision == "day" and not whole.qualifier:
        yield replace(whole, latest=whole.earliest, lasts=False)


def _last(halves: tuple[str, str], whole: DateRange) -> Iterator[DateRange]:
    yield from (dated.when for dated in dates_in(halves[1]))
    if whole.precision == "day" and not whole.qualifier:
        yield replace(whole, earliest=whole.latest, lasts=False)
    if whole.precision == "year" and halves[1].isdigit():
        # '1756-91': the century stands before the first year only.
        yield from (dated.when for dated in dates_in(str(whole.last_year)))


def date_fit(told: DateRange, claimed: DateRange) -> DateFit:
    """Whether a claimed date is the one told, says less, or says more."""
    spans = (told.earliest, told.latest), (claimed.earliest, claimed.latest)
    if spans[0] == spans[1]:
        if told.qualifier == claimed.qualifier:
            return "same"
        return "coarser" if claimed.qualifier == "about" and not told.qualifier else "finer"
    if told.qualifier in ("before", "after") or claimed.qualifier in ("before", "after"):
        return "finer" if told.qualifier and _holds(told.reach(), spans[1]) else "no"
    if _holds(spans[1], spans[0]):
        if claimed.lasts or claimed.precision not in ("month", "season", "year", "decade"):
            return "no"
        return "coarser" if claimed.qualifier or not told.qualifier else "finer"
    return "finer" if _holds(spans[0], spans[1]) else "no"


def _holds(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


CLAUSE_END = re.compile(r"(?:(?<![^\W_])[a-z]{3,}|[\d)\"'”]|\w{5,})[.!?;]\s")
LONGEST_ALIAS = 200
COLUMNS = ("birth", "death")
JUST_BEHIND = 16
"""'5 June 1723 (baptised)': a cue so near behind a date tells more than the label of its row."""


def event_violation(cited: SourceQuote, start: int, end: int, event: str) -> Code | None:
    """Why what stands at `words[start:end]` does not belong to this event of the subject; nothing if it does."""
    kinds = cited.kinds_at(start)
    if kinds:
        return _misplaced_in_row(cited, start, end, event, kinds)
    part = lifespan_part(cited, start) or column_part(cited, start)
    if part:
        return None if part == event else "HF_014"
    cue = _governing(cited, start, end)
    if cue is None or cue.kind != event:
        return "HF_014"
    return "HF_014" if _wrong_holder(cited, cue) else None


def event_statement_violation(cited: SourceQuote, start: int, end: int) -> Code | None:
    """Why running text does not state the event that a date or place stands with; rows and lifespans do."""
    if cited.kinds_at(start) or lifespan_part(cited, start) or column_part(cited, start):
        return None
    cue = _governing(cited, start, end)
    return (
        statement_violation(cited, cue, start, end, is_told=cue.word not in cited.table.words["nouns"]) if cue else None
    )


def _wrong_holder(cited: SourceQuote, cue: FamilyCue) -> Code | None:
    if cue.word not in cited.table.words["nouns"]:
        return None if cue.kind == "marriage" else holder_violation(cited, cue.start, is_verb=True)
    behind = TOKEN.findall(cited.words[cue.end : cue.end + 40])[:2]
    if behind[:1] == ["to"]:
        return "HF_043"
    if behind[:1] == ["of"]:
        return None if fold(behind[-1]) in cited.own_names else "HF_043"
    return owner_violation(cited, cue.start) or (None if _is_told_alone(cited, cue) else "HF_043")


def _is_told_alone(cited: SourceQuote, cue: FamilyCue) -> bool:
    """Whether a noun names an event and no thing: 'birth in 1930', not 'birth announcement in 1930'."""
    behind = cited.words[cue.end :].lstrip()
    return not behind or not behind[0].isalpha() or behind.split()[0].lower() in cited.table.words["at"]


def _misplaced_in_row(cited: SourceQuote, start: int, end: int, event: str, kinds: frozenset[str]) -> Code | None:
    line_start, line_end = cited.line_of(start)
    behind = cited.words[end : min(line_end, end + JUST_BEHIND)]
    before = cited.words[max(line_start, start - JUST_BEHIND) : start]
    near = [*_bracketed(cited, before), *_bracketed(cited, behind)]
    told = {cue.kind for cue in near if cue.kind in ("birth", "baptism", "death", "burial", "marriage")}
    if told:
        return None if event in told else "HF_014"
    if event == "baptism" and "birth" in kinds:
        return None if any(cue.kind == "baptism" for cue in cited.table.events.found_in(cited.words)) else "HF_014"
    if event == "marriage" and kinds & {"spouse", "partner", "marriage"}:
        return None
    return None if event in kinds else "HF_014"


def _bracketed(cited: SourceQuote, text: str) -> list[FamilyCue]:
    """The cues that stand first or last behind an opening bracket: '(baptised 1 May 1800)', '(baptised)'."""
    return [cue for cue in cited.table.events.found_in(text) if "(" in text[: cue.start][-3:]]


def _governing(cited: SourceQuote, start: int, end: int) -> FamilyCue | None:
    """The cue that a date or place stands with: the nearest before it with no other verb between, else just behind."""
    cues = cues_on_line(cited, start, cited.table.events.found_in)
    before = [cue for cue in cues if cue.end <= start]
    if before and _reaches(cited, cited.words[before[-1].end : start]):
        return before[-1]
    line_start, line_end = cited.line_of(start)
    behind = next((cue for cue in cues if cue.start >= end), None)
    if behind is None or is_bracket_open(cited.words[line_start:line_end], start - line_start):
        return None
    gap = cited.words[end : behind.start]
    if behind.word in cited.table.words["nouns"] or quoted_dates(gap) or CLAUSE_END.search(gap):
        return None
    return behind if _leads_up(cited, gap) else None


def is_bracket_open(line: str, at: int) -> bool:
    """Whether a bracket is open: what stands in it does not belong to what follows it."""
    return line.count("(", 0, at) > line.count(")", 0, at)


def _reaches(cited: SourceQuote, gap: str) -> bool:
    """Whether a cue still governs what stands behind this gap."""
    return gap.count(")") == gap.count("(") and governs(cited, gap, CLAUSE_END)


def _leads_up(cited: SourceQuote, gap: str) -> bool:
    """Whether a date before a cue goes with it: 'On 1 May 1800, at Kew, Mary was born'; names and small words only."""
    words = cited.table.words
    small = words["auxiliaries"] | words["pronouns"] | words["particles"] | words["places"]
    for match in TOKEN.finditer(gap):
        word = match[0]
        if word[0].islower() and word.lower() not in small:
            return False
    return True


def lifespan_part(cited: SourceQuote, start: int) -> str:
    """'birth' or 'death' for what stands before or behind the dash of a lifespan that follows the subject's name."""
    line_start, line_end = cited.line_of(start)
    line = blank_inner_brackets(cited.words[line_start:line_end])
    at = start - line_start
    opened, closed = line.rfind("(", 0, at), line.find(")", at)
    if opened < 0 or closed < 0 or line.find(")", opened, at) >= 0:
        return ""
    inside = line[opened + 1 : closed]
    if not _follows_name(cited, line_start + opened, line[closed + 1 : closed + LONGEST_ALIAS]):
        return ""
    part = _part_in(inside, at - opened - 1)
    before = cited.table.events.found_in(inside[inside.rfind(";", 0, at - opened - 1) + 1 : at - opened - 1])
    # '(born Ann Bell, 1 May 1800 – 3 June 1850)' tells of a death without its word.
    is_plain = not before or (part == "death" and {cue.kind for cue in before} <= {"birth", "baptism"})
    return part if is_plain else ""


def column_part(cited: SourceQuote, start: int) -> str:
    """'birth' or 'death' for a date in the first or second cell behind the subject's name in a row of a table."""
    line_start, line_end = cited.line_of(start)
    cells = cited.words[line_start:line_end].split("\t")
    if not 1 < len(cells) <= len(COLUMNS) + 1 or not _is_name_of(cited, cells[0], line_start):
        return ""
    at = cited.words.count("\t", line_start, start)
    dates = [quoted_dates(cell) for cell in cells[1:]]
    return COLUMNS[at - 1] if at > 0 and all(dates) else ""


def _is_name_of(cited: SourceQuote, cell: str, start: int) -> bool:
    run = [Token(match[0], start + match.start()) for match in TOKEN.finditer(cell)]
    return bool(run) and can_name_subject(cited, run, is_first=True)


def _follows_name(cited: SourceQuote, opened: int, behind: str) -> bool:
    """Whether a bracket stands behind the subject's name, or behind one of which the next words say so."""
    parts = tokens_before(cited, opened)
    is_kin = (part.text in cited.table.kin.kinds for part in parts)
    if any(is_kin) or any(is_verb(cited, part.text) for part in parts):
        return False
    run, before = trailing_name(cited, [part for part in parts if part.text != ","])
    if (
        not run
        or can_name_subject(cited, run, is_first=not before)
        or can_name_subject(cited, leading_name(cited, parts), is_first=True)
    ):
        return True
    tokens = [Token(match[0], match.start()) for match in TOKEN.finditer(behind)]
    named = [at for at, part in enumerate(tokens) if part.small in cited.table.words["naming"]]
    return bool(named) and any(set(part.bare.split()) & cited.own_names for part in tokens[named[0] :])


def _part_in(inside: str, at: int) -> str:
    """On which side of the dash between two dates an offset of a bracket stands."""
    middle = _middle(inside)
    if middle < 0:
        return ""
    first = inside.rfind(";", 0, middle) + 1
    behind = inside.find(";", middle)
    if at < first or 0 <= behind <= at:
        return ""
    return "birth" if at < middle else "death"


@cache
def _middle(inside: str) -> int:
    """The dash of a lifespan: the first that has a date on each side."""
    told = quoted_dates(inside)
    for dash in ENGLISH.check_dash.finditer(inside):
        has_before = any(one.end <= dash.start() + 1 for one in told)
        has_behind = any(one.start >= dash.end() - 1 for one in told)
        is_open = any(one.when.lasts and one.start < dash.start() < one.end for one in told)
        is_near = has_before and (inside[dash.end() :].lstrip() or "0")[0].isdigit()
        if (has_before and has_behind) or is_open or is_near:
            return dash.start()
    return -1
