"""A parsed query, and scored hits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.codec import Record
from kiwiresearch.text import LEADING_ARTICLE, LanguageWords, fold, language_words, stemmer, words_in
from kiwiresearch.zim import EntryRef

MAX_PHRASE_WORDS = 8
"""Longer titles are found by their words."""

MAX_WORDS = 60
MAX_CHARS = 2_000
"""How much of a very long query is searched."""

MAX_FRAMES = 4
INITIALS_END = re.compile(r"(?:[^\W\d_]{1,2}\.){2,}$")


ROMAN = {
    str(number): letters
    for number, letters in enumerate(
        ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi"), start=1
    )
}
"""Numbers as titles spell them: 'World War II', 'Louis XIV'."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A content word of a query, its stem, and its place among all words of the query."""

    word: str
    stem: str
    place: int


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    text: str
    unframed: str
    """Without framing: 'everyone keeps talking about', 'please'."""

    core: str
    """Also without question phrases: 'what is', 'tell me about'."""

    language: str
    definitional: bool
    words: tuple[str, ...]
    """All words, folded, in order."""

    terms: tuple[QueryTerm, ...]
    content: tuple[str, ...]
    """The content words, folded, each once."""

    focus: tuple[QueryTerm, ...] = ()
    """The user's hint, which decides between senses."""

    is_corrected: bool = False
    """Whether it is a correction of what was typed."""

    def phrases(self) -> list[str]:
        """Sequences of words that may be a title, longest first; none starts or ends with a stop word."""
        places = sorted({term.place for term in self.terms})
        spans = [
            (first, last)
            for first in places
            for last in places
            if first <= last < first + MAX_PHRASE_WORDS  # 'Treaty of Versailles' keeps its 'of'
        ]
        spans.sort(key=lambda span: (span[0] - span[1], span[0]))
        return list(dict.fromkeys(" ".join(self.words[first : last + 1]) for first, last in spans))


def parse_query(text: str, language: str = "eng", focus: str = "") -> Query:
    """Parse a query with the word lists of its language."""
    text = " ".join(text.split())[:MAX_CHARS]
    known = language_words(language)
    unframed = _without_framing(text, known)
    core, definitional = _core(unframed, known)
    written = words_in(core)[:MAX_WORDS]
    terms = _terms(written, language, known, shouted=not any(char.islower() for char in unframed))
    return Query(
        text=text,
        unframed=unframed,
        core=core,
        language=language,
        definitional=definitional,
        words=tuple(fold(word) for word in written),
        terms=terms,
        content=tuple(dict.fromkeys(word for term in terms for word in fold(term.word).split())),
        focus=_terms(words_in(focus)[:MAX_WORDS], language, known, shouted=False) if focus.strip() else (),
    )


def _without_framing(text: str, known: LanguageWords) -> str:
    """The text without its framing, unless that is all there is."""
    rest = text
    for _ in range(MAX_FRAMES):
        lowered = _lowered(rest)
        frame = max((f for f in known.framing if lowered.startswith(f)), key=len, default="")
        if not frame or not (frame.endswith(",") or lowered[len(frame) :][:1] in (" ", ",")):
            break
        rest = rest[len(frame) :].lstrip(" ,")
    return rest if any(char.isalnum() for char in rest) else text


def _core(text: str, known: LanguageWords) -> tuple[str, bool]:
    """The subject of a definitional question, and whether the text is one."""
    bare = text.rstrip(" ?!")
    # 'What is the U.S.A.?' keeps its last full stop.
    bare = bare if INITIALS_END.search(bare) else bare.rstrip(" ?!.")
    if _opening(bare, known.treatises):
        return bare, True
    opening = _opening(bare, known.definitional)
    rest = LEADING_ARTICLE.sub("", bare[len(opening) :].lstrip(" ,:"))
    return (rest, True) if opening and rest else (bare or text, False)


def _opening(text: str, phrases: Sequence[str]) -> str:
    """The longest of the phrases that a text starts with."""
    lowered = _lowered(text)
    found = [phrase for phrase in phrases if lowered.startswith(phrase) and not lowered[len(phrase) :][:1].isalnum()]
    return max(found, key=len, default="")


def _lowered(text: str) -> str:
    """Lower case, with plain apostrophes."""
    return text.lower().replace("’", "'")


def _terms(written: list[str], language: str, known: LanguageWords, *, shouted: bool) -> tuple[QueryTerm, ...]:
    """The content words; if there are none, all words, as in 'The Who'."""
    stem_of = stemmer(language)
    pairs = [(place, word) for place, word in enumerate(written) if fold(word)]
    content = [(place, word) for place, word in pairs if not _is_stop_word(word, known, shouted=shouted)] or pairs
    terms: dict[str, QueryTerm] = {}
    for place, word in content:
        stem = stem_of(word)
        terms.setdefault(stem, QueryTerm(_lowered(word), stem, place))
    return tuple(terms.values())


def _is_stop_word(word: str, known: LanguageWords, *, shouted: bool) -> bool:
    """Whether a word is a stop word, and not a name in capitals: 'IT', 'WHO', 'US'."""
    is_name = len(word) > 1 and word.isupper() and not shouted
    return _lowered(word) in known.stop_words and not is_name


@dataclass(frozen=True, slots=True)
class ScoreTerm(Record):
    """A term of a score: its name, which is `signal` in JSON and in files of runs, and its points."""

    signal: str
    points: float


@dataclass(frozen=True, slots=True)
class Score:
    """A sum that remembers its terms, so that every rank can be explained."""

    terms: tuple[ScoreTerm, ...] = ()

    @property
    def total(self) -> float:
        return round(sum(term.points for term in self.terms), 2)

    def plus(self, signal: str, points: float) -> Score:
        """The score with one more term, unless that term is zero."""
        # Rounded at once, so that the total is the sum of what is shown.
        points = round(float(points), 2)
        return Score((*self.terms, ScoreTerm(signal, points))) if points else self

    def __add__(self, other: Score) -> Score:
        return Score(self.terms + other.terms)

    def __str__(self) -> str:
        return f"{points_text(self.total)} ({score_terms_text(self.terms) or 'no signal'})"


def score_terms_text(terms: Sequence[ScoreTerm]) -> str:
    """The terms of a score as text: 'exact title +20, list page -10'."""
    return ", ".join(f"{term.signal} {'+' if term.points > 0 else ''}{points_text(term.points)}" for term in terms)


def points_text(points: float) -> str:
    """Points with two decimals, without trailing zeros."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that a search found."""

    ref: EntryRef
    title: str
    score: Score
    snippet: str = ""
    alias: str = ""
    """Another name of the page, if it was found by that."""

    copies: tuple[EntryRef, ...] = ()
    """The same article in other books."""

    def record(self, book: str) -> HitRecord:
        """The hit for JSON, with the name of its book."""
        return HitRecord(
            book,
            self.ref.book,
            self.ref.path,
            self.title,
            self.alias,
            self.snippet,
            self.score.total,
            self.score.terms,
            tuple(PagePlace(ref.book, ref.path) for ref in self.copies),
        )


@dataclass(frozen=True, slots=True)
class PagePlace(Record):
    """A page by its book and path."""

    book_id: str
    path: str


@dataclass(frozen=True, slots=True)
class HitRecord(Record):
    """A page that a search found."""

    book: str
    book_id: str
    path: str
    title: str
    alias: str
    """The other name that led here, if its title did not."""
    snippet: str
    score: float
    lines: tuple[ScoreTerm, ...]
    """How the score is calculated."""
    copies: tuple[PagePlace, ...]
    """The same article in other books."""


def sorted_hits(hits: list[Hit]) -> list[Hit]:
    """Best first; equal scores by book and path, so that the order is always the same."""
    return sorted(hits, key=lambda hit: (-hit.score.total, hit.ref))
