"""Candidates for a query in one book, from several cheap sources; no page is read.

1. Titles that occur in the query, word for word, singular or plural, as one word or two.
2. Titles that share rare words with it.
3. The book's own suggestions.
4. Full text: each rare word alone, and rare words together, since the book's index finds only pages with every
   word it is given. A page is weighted by how rare the words are and how high it ranks in their lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from kiwiresearch.search.open_book import OpenBook, PeerTitles
from kiwiresearch.search.query import ROMAN, Query, QueryTerm
from kiwiresearch.text import fold, language_words, roots, spellings, words_in

LIST_DECAY = 15
"""The rank at which a page of a single word's list counts half."""

PAIRED_WORDS = 8
"""Groups are made of this many of the rarest words."""

SUBSET_DECAY = 60
"""The rank at which a page of a group's list counts half."""

FIRST_GROUPS = 2
FIRST_GROUP_FACTOR = 3
"""The lists of the first groups, which have most of the query, are read this many times further."""

MAX_GROUP_PAGES = 60
"""No further groups are searched once this many pages have been found by groups."""

MAX_FROM_TEXT = 60
"""How many pages found by full text become candidates."""

SINGLE_WORD_WEIGHT = 3.5
"""The weight of ranks for a single word, relative to words found together."""

MAX_BY_TITLE_WORDS = 16
MAX_SUGGESTED = 10
MAX_SUGGESTED_WORDS = 5
MAX_SUGGESTED_RARE = 3


@dataclass(frozen=True, slots=True)
class SearchCandidate:
    """A page that may match, and the evidence for it before it is read."""

    path: str
    title: str
    aliases: frozenset[str] = frozenset()
    """Other names by which it was found."""
    listed: float = 0.0
    """The rarity of the query words on it, weighted by its rank in their lists."""
    shared: float = 0.0
    """The rarity of the words that were found together on it."""


@dataclass(slots=True)
class _Gathered:
    """The candidates found so far, by path."""

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
        """All pages found by title, and the best found by full text."""
        text = self.listed.keys() | self.shared.keys()
        worth = {path: SINGLE_WORD_WEIGHT * self.listed.get(path, 0.0) + self.shared.get(path, 0.0) for path in text}
        best = sorted(worth, key=lambda path: (-worth[path], path))[:MAX_FROM_TEXT]
        return self.titles.keys() | self.aliases.keys() | set(best)


def find_candidates(book: OpenBook, query: Query) -> list[SearchCandidate]:
    """The candidates by path. The main page mentions everything, so it counts only if found by its own title."""
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
    """Titles that occur in the query."""
    phrases = filter(None, dict.fromkeys([fold(query.text), fold(query.core), *query.phrases()]))
    forms = [form for phrase in phrases for form in _word_forms(phrase)]
    if isinstance(book.titles, PeerTitles):
        book.titles.prefetch(forms)
    for form in forms:
        if book.titles is not None:
            for row in book.titles.ignoring_spaces(form):
                found.by_title(row.path, row.title, alias=row.alias)
        elif not book.is_served:  # on a server each would cost a request; suggestions have to suffice
            _by_capitalization(book, form, found)


def _abbreviated(book: OpenBook, query: Query, found: _Gathered) -> None:
    """Titles that an abbreviation in the query is short for: 'WW2', 'NYC'."""
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


def _by_capitalization(book: OpenBook, phrase: str, found: _Gathered) -> None:
    """Without a title index: tries the capitals that titles usually have."""
    head, _, last = phrase.rpartition(" ")
    regnal = f"{head.title()} {last.upper()}".strip()  # 'Louis XIV'
    for title in dict.fromkeys((phrase[:1].upper() + phrase[1:], phrase.title(), phrase, regnal)):
        path = book.archive.by_title(title) or book.archive.resolve(title.replace(" ", "_"))
        if path:
            found.by_title(path, title, alias=True)


def _word_forms(phrase: str) -> list[str]:
    """The phrase, and forms of it with its last word in singular or plural, another spelling, or as a Roman numeral."""
    head, _, last = phrase.rpartition(" ")
    forms = {last, *roots(last), *spellings(last), ROMAN.get(last, last)}
    if not last.endswith("s"):
        forms.add(f"{last}s")
    return [f"{head} {form}".strip() for form in sorted(forms, key=lambda form: (form != last, form))]


def _title_words(book: OpenBook, query: Query, found: _Gathered) -> None:
    if book.titles is None:
        return
    weights = {form: 1.0 for word in query.content for form in roots(word)}
    for row in book.titles.by_words(weights, MAX_BY_TITLE_WORDS):
        found.by_title(row.path, row.title, alias=row.alias)


def _suggested(book: OpenBook, query: Query, found: _Gathered) -> None:
    """The book's own suggestions, for what may be the start of a title."""
    texts = [query.core] if len(query.terms) <= MAX_SUGGESTED_WORDS else []
    if texts and not book.is_served:  # on a server each would cost a request
        head, _, last = query.core.rpartition(" ")
        texts += [f"{head} {form}".strip() for form in spellings(last)]
    if book.titles is None:
        texts += [term.word for term in _rarest(book, query.terms)[:MAX_SUGGESTED_RARE]]
    for text in dict.fromkeys(texts):
        for match in book.archive.suggest(text, MAX_SUGGESTED):
            found.by_title(match.path, match.title, alias=False)
            if match.alias:
                found.by_title(match.path, match.alias, alias=True)


def _rarest(book: OpenBook, terms: Iterable[QueryTerm]) -> list[QueryTerm]:
    """The words that the book has, the rarest first."""
    known = [term for term in terms if book.frequency(term.word)]
    return sorted(known, key=lambda term: (-book.rarity(term.word), term.place))


def _single_words(book: OpenBook, query: Query, found: _Gathered) -> None:
    for term in _rarest(book, query.terms)[: book.effort.words]:
        rarity = book.rarity(term.word)
        for rank, path in enumerate(book.pages_with(term.word, book.effort.pages)):
            # BM25 in parts: the book's index ranks the pages of one word, and the rarities add up over the words.
            found.listed[path] = found.listed.get(path, 0.0) + rarity / (1 + rank / LIST_DECAY)


def _words_together(book: OpenBook, query: Query, found: _Gathered) -> None:
    """Groups of two or more words, rarest first; if no page has a group, larger groups containing it are skipped."""
    words = {term.word: book.rarity(term.word) for term in _rarest(book, query.terms)[:PAIRED_WORDS]}
    on_no_page: list[set[str]] = []
    tried = 0
    for group, rarity in _word_groups(words):
        if tried >= book.effort.word_groups or len(found.shared) >= MAX_GROUP_PAGES:
            break
        # As in the Apriori algorithm: if no page has a group, no page has a larger one.
        if any(empty <= set(group) for empty in on_no_page):
            continue
        pages = book.pages_with(
            " ".join(group), book.effort.group_pages * (FIRST_GROUP_FACTOR if tried < FIRST_GROUPS else 1)
        )
        tried += 1
        if not pages:
            on_no_page.append(set(group))
        for rank, path in enumerate(pages):
            # The best group counts alone: a page with three words is in the lists of all their pairs too.
            found.shared[path] = max(found.shared.get(path, 0.0), rarity / (1 + rank / SUBSET_DECAY))


def _word_groups(words: dict[str, float]) -> list[tuple[tuple[str, ...], float]]:
    """All groups of two or more words with their total rarity, rarest first."""
    groups = [group for size in range(2, len(words) + 1) for group in combinations(words, size)]
    rows = [(group, sum(words[word] for word in group)) for group in groups]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
