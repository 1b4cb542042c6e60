"""Which event a quote gives a date or a place to."""

from __future__ import annotations

import re
from functools import cache

from kiwiresearch.kin.firewall.cited import Cited
from kiwiresearch.kin.firewall.cues import Cue
from kiwiresearch.kin.firewall.dates import flat, told_dates
from kiwiresearch.kin.firewall.holders import (
    TOKEN,
    Part,
    agrees,
    first_run,
    name_run,
    not_owned,
    parts_before,
    stranger,
)
from kiwiresearch.kin.firewall.stated import unstated
from kiwiresearch.kin.firewall.violation import Code
from kiwiresearch.text.fold import fold

SENTENCE_END = re.compile(r"(?:(?<![^\W_])[a-z]{3,}|[\d)\"'”]|\w{5,})[.!?;]\s")
DASH = re.compile(r"[–—‒−]|(?<=[\s\d])-|-(?=\s)|\s(?:to|until)\s")
LONGEST_ALIAS = 200
COLUMNS = ("birth", "death")
JUST_BEHIND = 16
"""'5 June 1723 (baptised)': a cue so near behind a date tells more than the label of its row."""


def misplaced(cited: Cited, start: int, end: int, event: str) -> Code | None:
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


def untold(cited: Cited, start: int, end: int) -> Code | None:
    """Why running text does not state the event that a date or place stands with; rows and lifespans do."""
    if cited.kinds_at(start) or lifespan_part(cited, start) or column_part(cited, start):
        return None
    cue = _governing(cited, start, end)
    return unstated(cited, cue, start, end, is_told=cue.word not in cited.table.words["nouns"]) if cue else None


def _wrong_holder(cited: Cited, cue: Cue) -> Code | None:
    if cue.word not in cited.table.words["nouns"]:
        return None if cue.kind == "marriage" else stranger(cited, cue.start, is_verb=True)
    behind = TOKEN.findall(cited.words[cue.end : cue.end + 40])[:2]
    if behind[:1] == ["to"]:
        return "HF_043"
    if behind[:1] == ["of"]:
        return None if fold(behind[-1]) in cited.own_names else "HF_043"
    return not_owned(cited, cue.start) or (None if _is_told_alone(cited, cue) else "HF_043")


def _is_told_alone(cited: Cited, cue: Cue) -> bool:
    """Whether a noun names an event and no thing: 'birth in 1930', not 'birth announcement in 1930'."""
    behind = cited.words[cue.end :].lstrip()
    return not behind or not behind[0].isalpha() or behind.split()[0].lower() in cited.table.words["at"]


def _misplaced_in_row(cited: Cited, start: int, end: int, event: str, kinds: frozenset[str]) -> Code | None:
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


def _bracketed(cited: Cited, text: str) -> list[Cue]:
    """The cues that stand first or last behind an opening bracket: '(baptised 1 May 1800)', '(baptised)'."""
    return [cue for cue in cited.table.events.found_in(text) if "(" in text[: cue.start][-3:]]


def _governing(cited: Cited, start: int, end: int) -> Cue | None:
    """The cue that a date or place stands with: the nearest before it with no other verb between, else just behind."""
    line_start, line_end = cited.line_of(start)
    line = cited.words[line_start:line_end]
    cues = cited.table.events.found_in(line)
    at = start - line_start
    before = [cue for cue in cues if cue.end <= at]
    for cue in reversed(before):
        if _reaches(cited, line[cue.end : at]):
            return Cue(cue.kind, cue.start + line_start, cue.end + line_start, cue.word)
        break
    behind = [cue for cue in cues if cue.start >= end - line_start]
    if behind and not before_blocks(line, at):
        cue = behind[0]
        if cue.word in cited.table.words["nouns"]:
            return None
        gap = line[end - line_start : cue.start]
        if not told_dates(gap) and not SENTENCE_END.search(gap) and _leads_up(cited, gap):
            return Cue(cue.kind, cue.start + line_start, cue.end + line_start, cue.word)
    return None


def before_blocks(line: str, at: int) -> bool:
    """Whether a bracket is open: what stands in it does not belong to what follows it."""
    return line.count("(", 0, at) > line.count(")", 0, at)


def _reaches(cited: Cited, gap: str) -> bool:
    """Whether a cue still governs what stands behind this gap."""
    if SENTENCE_END.search(gap) or gap.count(")") != gap.count("("):
        return False
    return not any(_is_verb(cited, match[0], auxiliaries=False) for match in TOKEN.finditer(gap))


def _leads_up(cited: Cited, gap: str) -> bool:
    """Whether a date before a cue goes with it: 'On 1 May 1800, at Kew, Mary was born'; names and small words only."""
    words = cited.table.words
    small = words["auxiliaries"] | words["pronouns"] | words["particles"] | words["places"]
    for match in TOKEN.finditer(gap):
        word = match[0]
        if word[0].islower() and word.lower() not in small:
            return False
    return True


def _is_verb(cited: Cited, word: str, *, auxiliaries: bool) -> bool:
    words, small = cited.table.words, word.lower()
    if auxiliaries and small in words["auxiliaries"]:
        return False
    if small in words["verbs"]:
        return True
    return word[0].islower() and small.endswith("ed") and len(small) > 4 and small not in words["no_verbs"]


def lifespan_part(cited: Cited, start: int) -> str:
    """'birth' or 'death' for what stands before or behind the dash of a lifespan that follows the subject's name."""
    line_start, line_end = cited.line_of(start)
    line = flat(cited.words[line_start:line_end])
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


def column_part(cited: Cited, start: int) -> str:
    """'birth' or 'death' for a date in the first or second cell behind the subject's name in a row of a table."""
    line_start, line_end = cited.line_of(start)
    cells = cited.words[line_start:line_end].split("\t")
    if not 1 < len(cells) <= len(COLUMNS) + 1 or not _is_name_of(cited, cells[0], line_start):
        return ""
    at = cited.words.count("\t", line_start, start)
    dates = [told_dates(cell) for cell in cells[1:]]
    return COLUMNS[at - 1] if at > 0 and all(dates) else ""


def _is_name_of(cited: Cited, cell: str, start: int) -> bool:
    run = [Part(match[0], start + match.start()) for match in TOKEN.finditer(cell)]
    return bool(run) and agrees(cited, run, is_first=True)


def _follows_name(cited: Cited, opened: int, behind: str) -> bool:
    """Whether a bracket stands behind the subject's name, or behind one of which the next words say so."""
    parts = parts_before(cited, opened)
    is_kin = (part.text in cited.table.kin.kinds for part in parts)
    if any(is_kin) or any(_is_verb(cited, part.text, auxiliaries=False) for part in parts):
        return False
    run, before = name_run(cited, [part for part in parts if part.text != ","])
    if not run or agrees(cited, run, is_first=not before) or agrees(cited, first_run(cited, parts), is_first=True):
        return True
    tokens = [Part(match[0], match.start()) for match in TOKEN.finditer(behind)]
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
    told = told_dates(inside)
    for dash in DASH.finditer(inside):
        has_before = any(one.end <= dash.start() + 1 for one in told)
        has_behind = any(one.start >= dash.end() - 1 for one in told)
        is_open = any(one.when.lasts and one.start < dash.start() < one.end for one in told)
        is_near = has_before and (inside[dash.end() :].lstrip() or "0")[0].isdigit()
        if (has_before and has_behind) or is_open or is_near:
            return dash.start()
    return -1
