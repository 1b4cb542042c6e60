"""Splits a topic into its subject and the requested aspect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.search import Hit, Query
from kiwiresearch.text import (
    TITLE_QUALIFIER,
    are_related_forms,
    fold,
    language_words,
    stemmer,
    without_qualifier,
    words_in,
)
from kiwiresearch.zim import EntryRef

WHOLE_TOPIC, OWNER, AFTER_PREPOSITION, ONLY_AN_ASPECT = 10.0, 3.0, 1.5, -3.0
"""Points for a part of the topic as its subject, in addition to one per word: it is the full topic, it owns something
('Jupiter's …'), it follows a preposition ('… of Japan'), or it only names an aspect ('history')."""

MAX_HITS, MAX_EXTRA_WORDS = 5, 2
"""The title of one of the first hits may be the topic with a few extra words: 'Late Bronze Age collapse'."""
SPACES = r"\W+"
RELATED_WORD = 0.9
"""Points for a word that is nearly a title: 'Sikh' for Sikhism."""


class TopicSubject(NamedTuple):
    """The subject of a topic (its head) and the requested aspect, both as text."""

    head: str
    aspect: str = ""
    topic_pages: tuple[Hit, ...] = ()
    """Pages about it, most likely first: several if its name has several senses, or two books have it."""
    other_pages: tuple[Hit, ...] = ()
    """Pages about other things the topic names: 'Slavery' in 'Slavery in the United States', 'Bear' in 'polar bear'."""
    is_head_in_topic: bool = True
    """Whether the topic names it; otherwise it is what the search found first."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the topic that is the title of a page, or nearly: its first and last word by number."""

    first: int
    last: int
    hits: tuple[Hit, ...]
    points: float

    def overlaps(self, other: _Part) -> bool:
        return self.first <= other.last and other.first <= self.last


def read_subject(
    query: Query,
    hits: Sequence[Hit],
    search: Callable[[str], Sequence[Hit]],
    opening_of: Callable[[Hit], str],
) -> TopicSubject:
    """Split a topic by the titles in it; `hits` are the search results for the full topic.

    `search` is used for an owner alone, who may rank low among them: 'Napoleon's invasion of Russia'. `opening_of`
    gives the first sentences of a page in lower case, which may have other names of its subject.
    """
    hits = [hit for hit in hits if not is_disambiguation_hit(hit)]
    titled = [*_parts(query, hits), *_parts_by_opening(query, hits[:MAX_HITS], opening_of)]
    owners = [term.word for term in query.terms if _bonus(query, term.place, term.place) == OWNER]
    hits = (*hits, *(hit for owner in owners for hit in search(owner) if not is_disambiguation_hit(hit)))
    parts = [*titled, *_near_parts(query, hits, titled)]
    parts.sort(key=lambda part: (-part.points, part.first))
    # The best part only names an aspect ('history'), for which the first hit is the better guess.
    if not parts or parts[0].points <= ONLY_AN_ASPECT + 1:
        return _by_search(query, hits)
    head = parts[0]
    others = [part for part in parts[1:] if not part.overlaps(head) and part.points >= 1]
    wider = _with_words_before(query, head)
    if wider != head.first:  # the books have no page 'polar bear', and 'Bear' covers more than the topic
        narrow = _Part(wider, head.last, (), 0.0)
        return TopicSubject(_written(query, wider, head.last), _rest(query, narrow), (), _best_pages([head, *others]))
    aspect = _rest(query, head)
    return TopicSubject(head.hits[0].title, aspect, head.hits, _best_pages(others) if aspect else ())


def is_disambiguation_hit(hit: Hit) -> bool:
    """Whether a page only lists what its title may mean."""
    return any(term.signal == "disambiguation page" for term in hit.score.terms)


def _by_search(query: Query, hits: Sequence[Hit]) -> TopicSubject:
    """The subject of a topic without a title in it: a page with a longer title, or else the first hit."""
    stem_of = stemmer(query.language)
    stems = {term.stem for term in query.terms}
    for hit in hits[:MAX_HITS]:
        words = [stem_of(word) for word in fold(hit.title).split()]
        if stems <= set(words) and len(words) <= len(stems) + MAX_EXTRA_WORDS:
            return TopicSubject(hit.title, "", (hit,))
    if not hits or len(query.terms) == 1:  # other pages may mention what no page is about
        return TopicSubject(query.core, "", (), tuple(hits[:1]), is_head_in_topic=False)
    return TopicSubject(hits[0].title, query.core, (hits[0],), is_head_in_topic=False)


def _best_pages(parts: Sequence[_Part]) -> tuple[Hit, ...]:
    """The best page of each part."""
    return tuple({part.hits[0].ref: part.hits[0] for part in parts}.values())


def _parts(query: Query, hits: Sequence[Hit]) -> Iterator[_Part]:
    """The parts of a topic that are titles or aliases of pages."""
    stem_of = stemmer(query.language)
    stems = [stem_of(word) for word in query.words]
    found: dict[tuple[int, int], dict[EntryRef, Hit]] = {}
    for hit in hits:
        for name in dict.fromkeys((hit.title, hit.alias)):
            words = [stem_of(word) for word in fold(without_qualifier(name)).split()]
            for first in range(len(stems) - len(words) + 1) if words else ():
                if stems[first : first + len(words)] == words:
                    found.setdefault((first, first + len(words) - 1), {})[hit.ref] = hit
    for (first, last), same in found.items():
        plain = tuple(hit for hit in same.values() if not TITLE_QUALIFIER.search(hit.title))
        points = _points(query, first, last)
        if plain or points >= WHOLE_TOPIC:  # 'how vaccines work' does not name 'Work (thermodynamics)'
            yield _Part(first, last, plain or tuple(same.values()), points)


def _parts_by_opening(query: Query, hits: Sequence[Hit], opening_of: Callable[[Hit], str]) -> Iterator[_Part]:
    """The longest part of a topic that is another name of a page's subject: 'also known as the First World War'."""
    cue = language_words(query.language).also_named
    places = [term.place for term in query.terms]
    spans = [(first, last) for first in places for last in places if first < last]
    for first, last in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        words = map(re.escape, map(fold, query.words[first : last + 1]))
        name = re.compile(rf"\b{SPACES.join(words)}\b")
        for hit in hits:
            opening = opening_of(hit)
            for found in name.finditer(opening):
                # Only the part of the sentence before the name: 'also known as' must introduce it.
                sentence = opening[opening.rfind(". ", 0, found.start()) + 1 : found.start()]
                if cue.search(sentence):
                    yield _Part(first, last, (hit,), _points(query, first, last))
                    return


def _near_parts(query: Query, hits: Sequence[Hit], titled: Sequence[_Part]) -> Iterator[_Part]:
    """Words of the topic that are nearly titles: 'Sikh', 'volcanic', or 'Gandhi' after a preposition."""
    starts = {part.first for part in titled if part.points > ONLY_AN_ASPECT + 1}
    words = {term.place: fold(term.word) for term in query.terms}
    for term in query.terms:
        word, bonus = fold(term.word), _bonus(query, term.place, term.place)
        is_modifier = bonus < OWNER and term.place + 1 in starts
        if is_modifier or _is_aspect(query, [term.word]):  # 'African' of 'African elephants'
            continue
        for hit in hits:
            names = fold(hit.title).split()
            # 'of the First World War' does not name the 'First Macedonian War'.
            is_whole = bonus == OWNER or words.get(term.place + 1, word) in names
            is_name = bonus >= AFTER_PREPOSITION and word in names and is_whole
            if (len(names) == 1 and are_related_forms(word, names[0])) or is_name:
                yield _Part(term.place, term.place, (hit,), RELATED_WORD + bonus)
                break


def _points(query: Query, first: int, last: int) -> float:
    inside = sum(first <= term.place <= last for term in query.terms)
    points = inside + _bonus(query, first, last)
    if inside == len(query.terms):
        points += WHOLE_TOPIC
    elif _is_aspect(query, query.words[first : last + 1]):
        points += ONLY_AN_ASPECT
    return points


def _bonus(query: Query, first: int, last: int) -> float:
    if f"{words_in(query.core)[last]}'s " in query.core.replace("’", "'"):
        return OWNER
    earlier = max((term.place for term in query.terms if term.place < first), default=-1)
    follows_preposition = not language_words(query.language).linking.isdisjoint(query.words[earlier + 1 : first])
    return AFTER_PREPOSITION if follows_preposition else 0.0


def _is_aspect(query: Query, words: Sequence[str]) -> bool:
    aspects = language_words(query.language).aspects.values()
    return all(any(fold(word) in aspect.naming_words for aspect in aspects) for word in words)


def _with_words_before(query: Query, head: _Part) -> int:
    """The index of the first word of a subject that ends with the title: 'polar' before 'bear'."""
    places = {term.place: term.word for term in query.terms}
    first = head.first
    follows_preposition = AFTER_PREPOSITION <= _bonus(query, first, head.last) < OWNER
    while first - 1 in places and not follows_preposition and not _is_aspect(query, [places[first - 1]]):
        before = query.words[: first - 1]
        # 'Predicting eruptions' asks for an aspect; 'polar bear habitat' names a kind of bear.
        if before[-1:] and before[-1] in places.values():
            break
        if not before and head.last == max(places):
            break
        first -= 1
    return first


def _written(query: Query, first: int, last: int) -> str:
    return " ".join(words_in(query.core)[first : last + 1])


def _rest(query: Query, head: _Part) -> str:
    """The rest of the topic as it was written, without stop words at its ends."""
    places = {term.place for term in query.terms}
    pieces = []
    for side in (range(head.first), range(head.last + 1, len(query.words))):
        terms = [place for place in side if place in places]
        if terms:
            pieces.append(_written(query, terms[0], terms[-1]))
    return ", ".join(pieces)
