"""Exercises over several sentences: match terms with their meanings, and put events in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple, TypeVar

from kiwiresearch.claims import Claim
from kiwiresearch.export.sentence_filter import is_clear
from kiwiresearch.export.worksheet_facts import FactSheet
from kiwiresearch.export.worksheet_patterns import pattern
from kiwiresearch.export.worksheet_question import share_roots
from kiwiresearch.text import words_in

T = TypeVar("T")

MIN_PAIRS, MAX_PAIRS = 3, 6
MIN_EVENTS, MAX_EVENTS = 4, 6
MAX_MEANING = 170
MAX_EVENT = 150


class TermMeaning(NamedTuple):
    """A term and what it means, in the words of its page."""

    term: str
    meaning: str
    claim: Claim


class DatedEvent(NamedTuple):
    """An event without its date, and the date as its page writes it."""

    text: str
    when: str
    claim: Claim


@dataclass(frozen=True, slots=True)
class Matching:
    """Terms in alphabetical order, and meanings in another."""

    pairs: tuple[TermMeaning, ...]
    meanings: tuple[TermMeaning, ...]

    def letter(self, pair: TermMeaning) -> str:
        return chr(ord("A") + self.meanings.index(pair))


@dataclass(frozen=True, slots=True)
class Ordering:
    """Events as they happened, and as they are printed."""

    events: tuple[DatedEvent, ...]
    printed: tuple[DatedEvent, ...]


def matching(sheet: FactSheet) -> Matching | None:
    """An exercise of three to six definitions; none that has its term in its meaning."""
    if not sheet.is_english:
        return None
    found: dict[str, TermMeaning] = {}
    for claim in sheet.definitions:
        pair = _pair(claim)
        if (
            pair
            and pair.term.casefold() != sheet.topic.casefold()
            and pair.term.casefold() not in found
            and not _alike(pair, found.values())
        ):
            found[pair.term.casefold()] = pair
    pairs = sorted(list(found.values())[:MAX_PAIRS], key=lambda pair: pair.term.casefold())
    if len(pairs) < MIN_PAIRS:
        return None
    return Matching(tuple(pairs), _mixed(pairs, [pair.meaning for pair in pairs]))


def _pair(claim: Claim) -> TermMeaning | None:
    found = pattern("definition").fullmatch(claim.text)
    title = claim.page_title
    if (
        found is None
        or claim.depends_on
        or pattern("he_or_she").search(found["what"])
        or pattern("pointers").search(claim.text)
    ):
        return None
    # The term is the title, so that it is spelled as a heading: 'Bronze', 'Mycenaean Greece'.
    subject = found["term"].removeprefix("The ").removeprefix("A ").removeprefix("An ")
    if subject.casefold().rstrip("s") != title.casefold().rstrip("s"):
        return None
    # '… a city in the U.S' gets back the full stop that the pattern took for the end of the sentence.
    meaning = found["what"] + ("." if re.search(r"\.[A-Z]$", found["what"]) else "")
    if re.search(r"\b(?:and|but) (?:has|have|is|was|are|were)\b", meaning):
        return None
    terms = [word.lower() for word in words_in(title)]
    if len(meaning) > MAX_MEANING or share_roots(terms, [word.lower() for word in words_in(meaning)]):
        return None
    if not any(meaning in quote.text for quote in claim.quotes):
        return None
    return TermMeaning(title, meaning, claim)


def _alike(pair: TermMeaning, others: Iterable[TermMeaning]) -> bool:
    """Whether a meaning would fit another term too: it begins with the same words."""
    return any(pair.meaning.split()[:4] == other.meaning.split()[:4] for other in others)


def ordering(sheet: FactSheet) -> Ordering | None:
    """An exercise of four to six events whose dates do not overlap."""
    if not sheet.is_english:
        return None
    found = sorted(
        (event for claim in sheet.events if (event := _event(claim))),
        key=lambda event: (event.claim.dates[0].when.earliest, event.claim.id),
    )
    events: list[DatedEvent] = []
    for event in found:
        when = event.claim.dates[0].when
        if not events or events[-1].claim.dates[0].when.possible_days()[1] < when.possible_days()[0]:
            events.append(event)
    if len(events) < MIN_EVENTS:
        return None
    # Spread over the whole time, the first and the last among them.
    count = min(len(events), MAX_EVENTS)
    events = [events[round(n * (len(events) - 1) / (count - 1))] for n in range(count)]
    return Ordering(tuple(events), _mixed(events, [event.text for event in events]))


def _event(claim: Claim) -> DatedEvent | None:
    """An event whose date stands at the beginning or the end of its sentence, so that it can be taken out."""
    text = claim.text
    if len(claim.dates) != 1 or claim.depends_on or claim.dates[0].when.qualifier in ("before", "after"):
        return None
    start, end, when = claim.dates[0]
    if when.lasts or len(pattern("year").findall(text)) > 1:
        return None
    before, after = text[:start], text[end:]
    if pattern("leading_date").fullmatch(before):
        rest = after.lstrip(" ,")
        plain = f"{rest[:1].upper()}{rest[1:]}"
    elif (
        after == "."
        and not pattern("clauses").search(before)
        and (pattern("tail").search(before.rstrip()) or pattern("date_word").match(text, start))
    ):
        plain = pattern("tail").sub("", before.rstrip()).rstrip(" ,") + "."
    else:
        return None
    # 'The city is known …' describes no event, and 'The war lasted until.' has lost its date.
    if re.search(r"\b(?:is|are|has|have|had)\b|\b(?:beginning|starting|until|from|since|as|early)\.$", plain):
        return None
    if "(" in plain or not plain[0].isalpha() or pattern("for_class").search(plain):
        return None
    if (
        not 25 <= len(plain) <= MAX_EVENT
        or pattern("openers").match(plain)
        or not is_clear(claim)
        or pattern("pointers").search(plain)
    ):
        return None
    if pattern("year").search(plain) or pattern("dated").search(plain) or not plain.endswith("."):
        return None
    answer = text[start:end]
    return DatedEvent(plain, answer, claim) if any(answer in quote.text for quote in claim.quotes) else None


def _mixed(items: Sequence[T], keys: Sequence[str]) -> tuple[T, ...]:
    """The items in an order that looks random but is always the same, and never the one they came in."""
    order = sorted(range(len(items)), key=lambda n: sha256(keys[n].encode("utf-8", "replace")).digest())
    mixed = [items[n] for n in order]
    return tuple(mixed if mixed != list(items) else [*mixed[1:], mixed[0]])
