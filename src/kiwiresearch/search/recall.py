"""Which pages of a book may answer a query: several cheap sources, none of which reads a page.

1. Titles that stand in the query, word for word or in another number, joined or split.
2. Titles that share rare words with it.
3. The book's own suggestions.
4. Full text: each rare word alone and rare words together, as the book's index
   wants every word it is given. A page counts by the rarity of the words that led
   to it and by its place in their lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from kiwiresearch.search.open_book import OpenBook, PeerTitles
from kiwiresearch.search.query import ROMAN, Query, Term
from kiwiresearch.text.languages import language_words, roots, spellings
from kiwiresearch.text.words import fold, words_in

LIST_DECAY = 15
PAIRED_WORDS = 8
SUBSET_DECAY = 60
FIRST = 2
LONGER = 3
"""The first companies, which are most of the query, are followed further down their lists."""

ENOUGH = 60
FROM_TEXT = 60
"""Pages of the full text whose titles are looked at."""

LISTED_SHARE = 3.5
"""What a place in a word's list counts beside words held together."""

BY_TITLE_WORDS = 16
SUGGESTED = 10
SUGGESTED_WORDS = 5
SUGGESTED_RARE = 3


@dataclass(frozen=True, slots=True)
class SearchCandidate:
    """A page that may be meant, and what speaks for it before it is read."""

    path: str
    title: str
    aliases: frozenset[str] = frozenset()
    """Other names that led here."""
    listed: float = 0.0
    """Rarity of its words in the query, by its place in their lists."""
    shared: float = 0.0
    """Rarity of the words it is known to hold all together."""


@dataclass(slots=True)
class _Gathered:
    """What the sources say, path by path."""

    titles: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, set[str]] = field(default_factory=dict)
    listed: dict[str, float] = field(default_factory=dict)
    shared: dict[str, float] = field(default_factory=dict)

    def by_title(self, path: str, name: str, *, alias: bool) -> None:
        if alias:
            self.aliases.setdefault(path, set()).add(name)
        else:
            self.titles[path] = name

    def paths(self) -> set[str]:
        """All that titles led to, and the best of full text."""
        text = self.listed.keys() | self.shared.keys()
        worth = {path: LISTED_SHARE * self.listed.get(path, 0.0) + self.shared.get(path, 0.0) for path in text}
        best = sorted(worth, key=lambda path: (-worth[path], path))[:FROM_TEXT]
        return self.titles.keys() | self.aliases.keys() | set(best)


def recall(book: OpenBook, query: Query) -> list[SearchCandidate]:
    """The candidates of a query, by their paths; the start page, which names everything, only by its own title."""
    found = _Gathered()
    _named(book, query, found)
    _abbreviated(book, query, found)
    _title_words(book, query, found)
    _suggested(book, query, found)
    _single_words(book, query, found)
    _words_together(book, query, found)
    paths = sorted(found.paths())
    book.prefetch_titles(path for path in paths if path not in found.titles)
    return [
        SearchCandidate(
            path,
            found.titles.get(path) or book.title(path),
            frozenset(found.aliases.get(path, ())),
            found.listed.get(path, 0.0),
            found.shared.get(path, 0.0),
        )
        for path in paths
        if path != book.book.main_page or fold(book.title(path)) == fold(query.core)
    ]


def _named(book: OpenBook, query: Query, found: _Gathered) -> None:
    """Titles that stand in the query."""
    phrases = list(filter(None, dict.fromkeys([fold(query.text), fold(query.core), *query.phrases()])))
    if isinstance(book.titles, PeerTitles):
        book.titles.prefetch(spelling for phrase in phrases for spelling in _numbers(phrase))
    for phrase in phrases:
        if book.titles is not None:
            for spelling in _numbers(phrase):
                for row in book.titles.joined(spelling):
                    found.by_title(row.path, row.title, alias=row.alias)
        elif not book.is_served:  # where each would be a request, suggestions serve instead
            _by_spelling(book, phrase, found)


def _abbreviated(book: OpenBook, query: Query, found: _Gathered) -> None:
    """Titles that an abbreviation in the query stands for: 'WW2', 'NYC'."""
    known = language_words(query.language)
    for word in words_in(query.core):
        if word.lower() in known.stop_words and not word.isupper():
            continue  # 'who' is a question, 'WHO' is not
        paths = (_titled(book, title) for title in known.abbreviated.get(fold(word), ()))
        path = next(filter(None, paths), None)
        if path:
            found.by_title(path, word.upper(), alias=True)


def _titled(book: OpenBook, title: str) -> str | None:
    if book.titles is not None:
        rows = book.titles.exact(title)
        return rows[0].path if rows else None
    return None if book.is_served else book.archive.by_title(title)


def _by_spelling(book: OpenBook, phrase: str, found: _Gathered) -> None:
    """Without a title index: the spellings that titles usually have."""
    for spelling in _numbers(phrase):
        for title in dict.fromkeys(
            (spelling[:1].upper() + spelling[1:], spelling.title(), spelling, _with_regnal_number(spelling))
        ):
            path = book.archive.by_title(title) or book.archive.resolve(title.replace(" ", "_"))
            if path:
                found.by_title(path, title, alias=True)


def _with_regnal_number(spelling: str) -> str:
    """'louis xiv' as titles have it."""
    head, _, last = spelling.rpartition(" ")
    return f"{head.title()} {last.upper()}".strip()


def _numbers(phrase: str) -> list[str]:
    """The phrase, and the same with its last word in another number or spelling, or a figure in Roman letters."""
    head, _, last = phrase.rpartition(" ")
    forms = {last, *roots(last), *spellings(last), ROMAN.get(last, last)}
    if not last.endswith("s"):
        forms.add(f"{last}s")
    return [f"{head} {form}".strip() for form in sorted(forms, key=lambda form: (form != last, form))]


def _spelt(phrase: str) -> list[str]:
    """The phrase with its last word in other spellings."""
    head, _, last = phrase.rpartition(" ")
    return [f"{head} {form}".strip() for form in spellings(last)]


def _title_words(book: OpenBook, query: Query, found: _Gathered) -> None:
    if book.titles is None:
        return
    weights = {form: 1.0 for word in query.content for form in roots(word)}
    for row in book.titles.by_words(weights, BY_TITLE_WORDS):
        found.by_title(row.path, row.title, alias=row.alias)


def _suggested(book: OpenBook, query: Query, found: _Gathered) -> None:
    """The book's own suggestions, for what may be the beginning of a title."""
    texts = [query.core] if len(query.terms) <= SUGGESTED_WORDS else []
    if texts and not book.is_served:  # where each would be a request
        texts += _spelt(query.core)
    if book.titles is None:
        texts += [term.word for term in _rarest(book, query.terms)[:SUGGESTED_RARE]]
    for text in dict.fromkeys(texts):
        for match in book.archive.suggest(text, SUGGESTED):
            found.by_title(match.path, match.title, alias=False)
            if match.alias:
                found.by_title(match.path, match.alias, alias=True)


def _rarest(book: OpenBook, terms: Iterable[Term]) -> list[Term]:
    """Words the book has, the rarest first."""
    known = [term for term in terms if book.frequency(term.word)]
    return sorted(known, key=lambda term: (-book.rarity(term.word), term.place))


def _single_words(book: OpenBook, query: Query, found: _Gathered) -> None:
    for term in _rarest(book, query.terms)[: book.effort.words]:
        rarity = book.rarity(term.word)
        for place, path in enumerate(book.pages_with(term.word, book.effort.pages)):
            found.listed[path] = found.listed.get(path, 0.0) + rarity / (1 + place / LIST_DECAY)


def _words_together(book: OpenBook, query: Query, found: _Gathered) -> None:
    """Two and more of the words, the rarest company first; none that holds a company no page has."""
    words = {term.word: book.rarity(term.word) for term in _rarest(book, query.terms)[:PAIRED_WORDS]}
    nowhere: list[set[str]] = []
    tried = 0
    for some, worth in _word_groups(words):
        if tried >= book.effort.word_groups or len(found.shared) >= ENOUGH:
            break
        if any(empty <= set(some) for empty in nowhere):
            continue
        pages = book.pages_with(" ".join(some), book.effort.group_pages * (LONGER if tried < FIRST else 1))
        tried += 1
        if not pages:
            nowhere.append(set(some))
        for place, path in enumerate(pages):
            found.shared[path] = max(found.shared.get(path, 0.0), worth / (1 + place / SUBSET_DECAY))


def _word_groups(words: dict[str, float]) -> list[tuple[tuple[str, ...], float]]:
    """All companies of two and more words, with what they are worth together."""
    some = [company for size in range(2, len(words) + 1) for company in combinations(words, size)]
    return sorted(((c, sum(words[word] for word in c)) for c in some), key=lambda row: (-row[1], row[0]))
