"""Sentences of a page with a gap for a year, a number or a name, and sentences that are true or false."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256

from kiwiresearch.export.worksheet_facts import FactSheet, WorksheetFact
from kiwiresearch.export.worksheet_patterns import pattern
from kiwiresearch.export.worksheet_question import (
    GAP,
    QuestionKind,
    WorksheetQuestion,
    gives_away,
    question_of,
    share_roots,
)
from kiwiresearch.text import words_in

MAX_COUNTED = 12
"""A sentence may list up to this many things it counts, which would give the number away."""
MAX_CHARS_FOR_TWO = 60
"""Only a sentence up to this length asks for 'one' or 'two': in a longer one, such a gap is easy to guess."""
MAX_GAP_CHARS = 170
MAX_NUMBERS = 2
"""A sentence with more numbers is a table in words."""
NOT_NUMBERS = frozenset(["one", "a", "an", "the", "half", "quarter", "dozen", "single", "double", "several", "many"])
NEAR_YEARS = 9
MIN_DOUBLED = 4
"""The smallest number that is doubled to make a false statement."""
MIN_TERM_USES = 4
PARTICLES = frozenset(["van", "von", "der", "den", "de", "da", "di", "du", "des", "la", "le", "el", "al", "bin", "ibn"])


def date_gap(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """The sentence with a gap for its only year."""
    year = pattern("year")
    years = [found for mention in fact.claim.dates for found in year.finditer(fact.text, mention.start, mention.end)]
    if len(re.findall(r"\d[\d,.]*", fact.text)) > MAX_NUMBERS:
        return None
    if len(fact.claim.dates) != 1 or len(years) != 1 or len(year.findall(fact.text)) != 1:
        return None
    # 'By 1915' is true of later years too; '(1915)' says nothing.
    if re.search(r"(?:\(|\b[Bb]y|\b[Ss]ince) $|\($", fact.text[: years[0].start()]):
        return None
    return _gap("date", fact, years[0].start(), years[0].end(), "year")


def number_gap(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """The sentence with a gap for a number; its unit, or what is counted, stays."""
    text = fact.text
    if len(re.findall(r"\d[\d,.]*", text)) > MAX_NUMBERS:
        return None
    for measure in fact.claim.measures:
        quantity = measure.quantity
        found = pattern("number").search(text, quantity.start, quantity.end)
        if quantity.is_open or quantity.is_range or quantity.converted or found is None or not _is_number(found[0]):
            continue
        if re.search(r"\.\d\d", found[0]) or any(
            mention.start <= found.start() < mention.end for mention in fact.claim.dates
        ):
            continue
        rest = text[found.end() :]
        is_name = any(word[0].isupper() for word in quantity.counted_words.split())
        counts_list = quantity.high <= MAX_COUNTED and not quantity.unit and pattern("list_follows").search(rest)
        is_easy = quantity.high <= 2 and not quantity.unit and len(text) > MAX_CHARS_FOR_TWO
        # Within a bracket, or after a sign that belongs to the number: '(about 5 km)', '$5'.
        if re.search(r"[(<>≥≤~±$€£][^)]*$", text[: found.start()]) or is_easy:
            continue
        if is_name or counts_list or found.start() == 0 or rest[:1] in ("-", "‑") or _repeats(found[0], text):
            continue
        # A bracket right after a measure has the same in another unit; 'three and a half' is not three.
        if re.match(r"[^.]{0,25}\(| and a\b", rest):
            continue
        return _gap("number", fact, found.start(), found.end(), "number")
    return None


def _is_number(word: str) -> bool:
    return (word.lower() not in NOT_NUMBERS and not word.isupper()) or word[0].isdigit()


def truth_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """A sentence as it is, or with another year or number.

    Which of them is chosen by a hash of the sentence, so that it is reproducible.
    """
    if fact.text.startswith("There "):
        return None
    gap = date_gap(fact, sheet)
    if gap and pattern("single_year").search(gap.prompt.partition(GAP)[0]):
        other = _other_year(int(gap.answer), fact, sheet)
    else:
        gap = number_gap(fact, sheet)
        if gap is None or not gap.answer.isdecimal() or pattern("open_ended").search(gap.prompt.partition(GAP)[0]):
            return None
        other = str(int(gap.answer) * 2)
        if int(gap.answer) < MIN_DOUBLED or gap.prompt.partition(GAP)[2].startswith((" percent", "%")):
            return None
    is_true = bool(_digest(fact.text)[0] & 1)
    prompt = gap.prompt.replace(GAP, gap.answer if is_true else other)
    return WorksheetQuestion("truth", prompt, gap.answer, fact.claim, is_true=is_true)


def _other_year(year: int, fact: WorksheetFact, sheet: FactSheet) -> str:
    """A year of another fact that could be believed, else one ten years away."""
    years = {
        int(found[0])
        for other in sheet.facts
        for mention in other.claim.dates
        for found in pattern("year").finditer(other.text, mention.start, mention.end)
    }
    near = sorted(item for item in years if 2 < abs(item - year) <= NEAR_YEARS) or [year - 10]
    return str(near[_digest(fact.text)[1] % len(near)])


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()


def name_gap(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """The sentence with a gap for a name or a term that its page links to, or the longest of them."""
    text = fact.text
    shown = [word.lower() for word in words_in(f"{sheet.topic} {sheet.named} {fact.claim.page_title}")]
    linked = sorted(dict.fromkeys(fact.claim.names), key=lambda item: (-len(item), item))
    for name in (*linked, *_proper_names(text), *_key_terms(text, sheet)):
        found = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w'’-])", text)
        if found is None or len(name) < 4 or re.search(r"\d", name):
            continue
        before, after = text[: found.start()], text[found.end() :]
        if _is_poor_name(name, before, after) or share_roots([word.lower() for word in words_in(name)], shown):
            continue
        # A part of a longer name: 'the Bank for International Settlements'.
        if name not in linked and re.match(r" (?:of|for|in|to|from|on|with)(?: the)? [A-Z]", after):
            continue
        return _gap("name", fact, found.start(), found.end(), "")
    return None


def _is_poor_name(name: str, before: str, after: str) -> bool:
    """Whether a name is guessed at once, has other right answers, or is only part of one."""
    if pattern("part_of_name").fullmatch(name) or gives_away(name, f"{before} {after}"):
        return True
    if pattern("common_name").search(name) if name[0].isupper() else pattern("ordinary").search(name) or len(name) < 8:
        return True
    if re.fullmatch(r"[\w-]+ic", name) and re.match(r" [a-z]", after):
        return True
    # Neither an article nor a bracket with another form of the name may give it away.
    if (
        re.search(r"(?:\ban?|\(|\b[A-Z][\w’'-]*) $|\($|[/-]$", before)
        or after.startswith((" (", ")", "/", "-", ".."))
        or not before
    ):
        return True
    # One of several things in an enumeration, or the name of a smaller place: 'Shrewsbury, Shropshire, England'.
    if re.search(r"(?:, | (?:and|or) (?:the )?)$", before) or re.match(r"(?:,| and| or)(?: the)? [A-Z]", after):
        return True
    # Nor may a synonym follow it: 'the sugar, glucose.'
    return re.match(r", (?:[\w-]+ ?){1,3}[,.]| [A-Z]| [a-z]{3,}(?:a|um|us|is|ax|ae|i)\b|\$", after) is not None


def _proper_names(text: str) -> Iterator[str]:
    """Whole names: the word before one is in lower case."""
    for found in pattern("capitalised").finditer(text):
        *earlier, before = text[: found.start()].split()
        is_whole = before.islower() and before not in PARTICLES
        if before == "of":
            is_whole = bool(earlier) and earlier[-1].islower()
        if is_whole:
            yield found[0]


@lru_cache(maxsize=4)
def _uses(words: str) -> Mapping[str, int]:
    return Counter(words_in(words.lower()))


def _key_terms(text: str, sheet: FactSheet) -> Iterator[str]:
    """Technical nouns of a sentence that the pages use again and again: 'the asthenosphere'."""
    uses = _uses(sheet.all_text)
    for found in reversed(list(pattern("term").finditer(text))):
        if uses.get(found[0], 0) >= MIN_TERM_USES:
            yield found[0]


def _gap(kind: QuestionKind, fact: WorksheetFact, start: int, end: int, hint: str) -> WorksheetQuestion | None:
    if fact.claim.is_row or len(fact.text) > MAX_GAP_CHARS:
        return None
    return question_of(kind, f"{fact.text[:start]}{GAP}{fact.text[end:]}", fact.text[start:end], fact, hint)


def _repeats(number: str, text: str) -> bool:
    return len(re.findall(rf"(?<![\w.,]){re.escape(number)}(?![\w]|[.,]\d)", text, re.IGNORECASE)) != 1
