"""The title index of a book: titles by name, by prefix and by words, and corrections of typos."""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

from rapidfuzz.distance import OSA

from kiwiresearch.errors import IndexStale
from kiwiresearch.search.alphabetical_titles import LAST, AlphabeticalTitles, RunQuery, TitleRow
from kiwiresearch.text import fold, without_spaces
from kiwiresearch.zim import Book

INDEX_VERSION = "1"
"""The version of the tables and of the folding; an index of another version is rebuilt."""


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """Which book an index was built from, and how much of it."""

    version: str
    book: str
    entries: int
    rows: int
    complete: bool
    head: str
    """The prefix of most paths of the book, before the title."""

    def fits(self, book: Book) -> bool:
        return (self.version, self.book, self.entries) == (INDEX_VERSION, book.id, book.entries)


def read_stamp(connection: sqlite3.Connection) -> IndexStamp:
    values = dict(connection.execute("SELECT name, value FROM stamp").fetchall())
    return IndexStamp(
        version=str(values["version"]),
        book=str(values["book"]),
        entries=int(values["entries"]),
        rows=int(values["rows"]),
        complete=bool(int(values["complete"])),
        head=str(values["head"]),
    )


def damaged_index(book: Book, problem: Exception) -> IndexStale:
    return IndexStale(f"The title index of {book.title!r} is damaged: {problem}.", remedy=rebuild_hint(book))


def rebuild_hint(book: Book) -> str:
    return f"Rebuild it with 'kiwiresearch books index {book.name}'."


MIN_FOR_ONE_TYPO = 4
"""Words with fewer letters are not corrected."""

MIN_FOR_TWO_TYPOS = 6
"""Words with fewer letters may have only one typo."""

MAX_LETTERS = 32
MIN_RIGHT_LETTERS = 3
"""How many letters at one end must be right if there are two typos; words are indexed by these."""

MAX_PER_LENGTH = 600
"""How many of the most common words with the same start and length are compared."""

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзиклмнопрстуфхцчшщъыьэюяієґћђљњџј",
    "αβγδεζηθικλμνξοπρστυφχψω",
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of titles, how many typos away it is, and how many titles have it."""

    word: str
    distance: int
    count: int


def corrections(run_query: RunQuery, word: str, limit: int) -> tuple[Correction, ...]:
    """Corrections of a folded word that may have typos: fewest typos first, then the most common."""
    if not MIN_FOR_ONE_TYPO <= len(word) <= MAX_LETTERS or not word.isalpha():
        return ()
    found = _one_edit_away(run_query, word)
    if len(found) < limit and len(word) >= MIN_FOR_TWO_TYPOS:
        found |= {other: hit for other, hit in _two_edits_away(run_query, word).items() if other not in found}
    found.pop(word, None)
    ranked = sorted(found.values(), key=lambda hit: (hit.distance, -hit.count, hit.word))
    return tuple(ranked[: max(limit, 0)])


def one_edit_variants(word: str) -> Iterator[str]:
    """Every spelling that is one typo away: a letter missing, added, wrong or misplaced."""
    letters = next((alphabet for alphabet in ALPHABETS if set(word) <= set(alphabet)), "")
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
            rest = head + tail[1:]
            for place in range(len(word)):  # 'Ghandi': the letter belongs elsewhere
                yield rest[:place] + tail[0] + rest[place:]
        for letter in letters:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]


def _one_edit_away(run_query: RunQuery, word: str) -> dict[str, Correction]:
    tried = sorted(set(one_edit_variants(word)))
    marks = ",".join("?" * len(tried))
    rows = run_query(f"SELECT word, count FROM words WHERE word IN ({marks})", tried)  # noqa: S608
    return {other: Correction(other, 1, count) for other, count in rows if len(other) >= MIN_RIGHT_LETTERS}


def _two_edits_away(run_query: RunQuery, word: str) -> dict[str, Correction]:
    found = {}
    # The expressions must be those of the indexes `heads` and `tails`, or SQLite reads the whole table.
    for piece, ends in (
        (word[:MIN_RIGHT_LETTERS], f"substr(word, 1, {MIN_RIGHT_LETTERS})"),
        (word[-MIN_RIGHT_LETTERS:], f"substr(word, -{MIN_RIGHT_LETTERS})"),
    ):
        for size in range(len(word) - 2, len(word) + 3):
            sql = f"SELECT word, count FROM words WHERE {ends} = ? AND length(word) = ? ORDER BY count DESC LIMIT ?"  # noqa: S608
            for other, count in run_query(sql, (piece, size, MAX_PER_LENGTH)):
                # Optimal string alignment: like Levenshtein, with two swapped neighbours as one typo.
                distance = OSA.distance(word, other, score_cutoff=2)
                if distance <= 2:
                    found[other] = Correction(other, distance, count)
    return found


MAX_SAME_KEY = 256
"""How many titles with the same spelling, or the same prefix, are read."""

MAX_WORDS = 24
PAIRED_WORDS = 5
"""The rarest words of a query are also looked up in pairs."""

MAX_ALL_ROWS = 200
"""Words that together have no more titles than this are looked up with all of them."""

MAX_FEW_ROWS = 40
"""For commoner words and for pairs, only this many of the shortest titles are taken."""

MAX_COST_US = 20_000.0
"""The time for a search of words together; if it would take longer, the most common words are left out."""

SEEK_US = 3.0
STEP_US = 0.04
"""The time to find a title in the list of a word, and to step to the next one, in microseconds."""


class TitleLookup(Protocol):
    """A title index, in a file here or on another host."""

    @property
    def rows(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    def set_filter(self, hides: Callable[[str, str], bool]) -> None: ...
    def exact(self, title: str) -> tuple[TitleRow, ...]: ...
    def ignoring_spaces(self, title: str) -> tuple[TitleRow, ...]: ...
    def prefix(self, text: str, limit: int) -> tuple[TitleRow, ...]: ...
    def by_words(self, wanted: Mapping[str, float] | Sequence[str], limit: int) -> tuple[TitleRow, ...]: ...
    def correct(self, word: str, limit: int = 5) -> tuple[Correction, ...]: ...
    def frequency(self, word: str) -> int: ...
    def close(self) -> None: ...


class TitleIndex:
    """The title index of a book; several threads may use it."""

    def __init__(self, connection: sqlite3.Connection, stamp: IndexStamp, book: Book) -> None:
        self._connection = connection
        self._stamp = stamp
        self._book = book
        self._lock = threading.Lock()
        self._hides: Callable[[str, str], bool] = lambda _title, _path: False

    def set_filter(self, hides: Callable[[str, str], bool]) -> None:
        """Leave out rows whose title and path are hidden; the file has them all."""
        self._hides = hides

    @property
    def rows(self) -> int:
        return self._stamp.rows

    @property
    def complete(self) -> bool:
        """Whether it has all titles of the book, not just the first ones."""
        return self._stamp.complete

    def exact(self, title: str) -> tuple[TitleRow, ...]:
        """Pages with this title, ignoring case, accents and punctuation."""
        wanted = fold(title)
        return tuple(row for row in self.ignoring_spaces(title) if fold(row.title) == wanted)

    def ignoring_spaces(self, title: str) -> tuple[TitleRow, ...]:
        """Pages with this title, ignoring spaces too: 'open ai' finds 'OpenAI', and the reverse."""
        wanted = fold(title)
        sql = f"SELECT {COLUMNS} FROM names JOIN titles USING (id) WHERE key = ? ORDER BY id LIMIT ?"  # noqa: S608
        rows = [self._row(found) for found in self._query(sql, (without_spaces(wanted), MAX_SAME_KEY))]
        return self._visible_unique(sorted(rows, key=lambda row: (fold(row.title) != wanted, row.alias, row.path)))

    def prefix(self, text: str, limit: int) -> tuple[TitleRow, ...]:
        """Pages whose titles start like this: of the first in the alphabet, the shortest."""
        wanted = fold(text)
        key = without_spaces(wanted)
        if not key or limit < 1:
            return ()
        sql = f"SELECT {COLUMNS} FROM names JOIN titles USING (id) WHERE key >= ? AND key < ? ORDER BY key, id LIMIT ?"  # noqa: S608
        found = self._query(sql, (key, key + LAST, max(MAX_SAME_KEY, 2 * limit)))
        ranked = []
        for row in map(self._row, found):
            folded = fold(row.title)
            ranked.append((not folded.startswith(wanted), len(folded), row.alias, folded, row.path, row))
        return self._visible_unique(row for *_, row in sorted(ranked, key=lambda rank: rank[:-1]))[:limit]

    def by_words(self, wanted: Mapping[str, float] | Sequence[str], limit: int) -> tuple[TitleRow, ...]:
        """Pages whose titles have some of the words; rare words count most.

        The best is a title with all the words and no others. Weights, if given, are multiplied by the rarity.
        """
        asked = _split(wanted)
        counts = self._counts(asked)
        weights = {word: asked[word] * self._rarity(counts[word]) for word in asked if word in counts}
        heaviest = sorted(weights, key=lambda word: (-weights[word], word))[:MAX_WORDS]
        if not heaviest or limit < 1:
            return ()
        rows = self._rows(self._candidates(heaviest, counts))
        total = math.fsum(asked[word] * self._rarity(counts.get(word, 1)) for word in asked)
        return self._ranked(rows, weights, total)[:limit]

    def correct(self, word: str, limit: int = 5) -> tuple[Correction, ...]:
        """Words of titles that may be meant by a word with typos."""
        return corrections(self._query, fold(word), limit)

    def frequency(self, word: str) -> int:
        """How many titles have the word."""
        folded = fold(word)
        return self._counts([folded]).get(folded, 0)

    @property
    def in_order(self) -> AlphabeticalTitles:
        return AlphabeticalTitles(self._query, self._row, self._hides)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _candidates(self, heaviest: Sequence[str], counts: Mapping[str, int]) -> set[int]:
        """The ids of candidates: titles with several words, with any rare word, and the shortest of the rest."""
        found = self._together(heaviest, counts)
        rare: list[str] = []
        for word in heaviest:
            if sum(counts[other] for other in rare) + counts[word] <= MAX_ALL_ROWS:
                rare.append(word)
            elif len(found) < 10 * MAX_FEW_ROWS:
                found.update(self._match([word]))
        if rare:
            found.update(self._match(rare, " OR ", MAX_ALL_ROWS))
        return found

    def _together(self, heaviest: Sequence[str], counts: Mapping[str, int]) -> set[int]:
        """Titles with as many of the words, or pairs of them, as fit into the time limit."""
        words = tuple(heaviest)
        while len(words) > 1 and _cost(words, counts) > MAX_COST_US:
            words = words[:-1]
        if len(words) < 2:
            return set()
        left = MAX_COST_US - _cost(words, counts)
        found = set(self._match(words, " AND "))
        if len(heaviest) > 2 and len(found) < MAX_FEW_ROWS:
            for pair in combinations(heaviest[:PAIRED_WORDS], 2):
                cost = _cost(pair, counts)
                if pair != words and cost <= left:
                    left -= cost
                    found.update(self._match(pair, " AND "))
        return found

    def _match(self, some: Sequence[str], operator: str = "", rows: int = MAX_FEW_ROWS) -> list[int]:
        # Quoted for FTS5, which would read 'c++' or 'not' as syntax; folded words have no quotation marks.
        query = operator.join(f'"{word}"' for word in some)
        # The table `held` is the full-text index of the folded titles.
        sql = "SELECT rowid FROM held WHERE held MATCH ? ORDER BY rowid LIMIT ?"
        return [number for (number,) in self._query(sql, (query, rows))]

    def _ranked(self, rows: Collection[TitleRow], weights: Mapping[str, float], total: float) -> tuple[TitleRow, ...]:
        titles = {row: set(fold(row.title).split()) for row in rows}
        known = sorted(set().union(*titles.values()))
        counts = self._counts(known)
        rarity = {word: self._rarity(counts.get(word, 1)) for word in known}
        ranked = []
        for row, title_words in titles.items():
            matched = title_words & weights.keys()
            share = math.fsum(weights[word] for word in matched) / total
            own = math.fsum(rarity[word] for word in matched) / math.fsum(rarity[word] for word in title_words)
            ranked.append((-round(share * (1 + own) / 2, 9), row.alias, row.path, row.title, row))
        return self._visible_unique(row for *_, row in sorted(ranked, key=lambda rank: rank[:-1]))

    def _visible_unique(self, rows: Iterable[TitleRow]) -> tuple[TitleRow, ...]:
        """The rows without hidden pages, and each page only under its first title."""
        found: dict[str, TitleRow] = {}
        for row in rows:
            if not self._hides(row.title, row.path):
                found.setdefault(row.path, row)
        return tuple(found.values())

    def _rarity(self, count: int) -> float:
        return math.log(1 + self.rows / count)

    def _counts(self, some: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        listed = list(some)
        # SQLite limits the variables of a statement.
        for start in range(0, len(listed), 500):
            part = listed[start : start + 500]
            marks = ",".join("?" * len(part))
            found.update(self._query(f"SELECT word, count FROM words WHERE word IN ({marks})", part))  # noqa: S608
        return found

    def _rows(self, numbers: Collection[int]) -> list[TitleRow]:
        # Our own ids, and not words of a user, so they may be written into the statement.
        listed = ",".join(map(str, sorted(numbers)))
        sql = f"SELECT {COLUMNS} FROM titles WHERE id IN ({listed}) ORDER BY id"  # noqa: S608
        return [self._row(found) for found in self._query(sql, ())]

    def _row(self, found: tuple[Any, ...]) -> TitleRow:
        title, path, alias = found
        return TitleRow(self._stamp.head + title.replace(" ", "_") if path is None else path, title, bool(alias))

    def _query(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection.execute(sql, values).fetchall()
        # A closed connection or a wrong statement is a bug, and not damage of the file.
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError as problem:
            raise damaged_index(self._book, problem) from problem


COLUMNS = "title, path, alias"


def open_titles(file: Path, book: Book) -> TitleIndex | None:
    """The title index of a book; None without a file, IndexStale if it is damaged or of another book."""
    if not file.is_file():
        return None
    try:
        # Immutable: the file is only ever replaced as a whole, so SQLite needs no locks and no journal.
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
    except sqlite3.Error as problem:
        raise damaged_index(book, problem) from problem
    try:
        stamp = read_stamp(connection)
        (pages,), (size,) = connection.execute("PRAGMA page_count"), connection.execute("PRAGMA page_size")
        # A truncated file opens without an error, and fails only when a missing page is read.
        if pages[0] * size[0] != file.stat().st_size:
            raise sqlite3.DatabaseError("the file is cut short")
    except (sqlite3.Error, ValueError, TypeError, KeyError) as problem:
        connection.close()
        raise damaged_index(book, problem) from problem
    if not stamp.fits(book):
        connection.close()
        raise IndexStale(
            f"The title index {file.name!r} was built from a different file than {book.source!r}, "
            "or by another version of kiwiresearch.",
            remedy=rebuild_hint(book),
        )
    return TitleIndex(connection, stamp, book)


def _cost(together: Sequence[str], counts: Mapping[str, int]) -> float:
    """The time to find each title of the rarest word in the other lists, or to step through all lists if faster."""
    sizes = [counts[word] for word in together]
    return min(min(sizes) * (len(sizes) - 1) * SEEK_US, sum(sizes) * STEP_US)


def _split(wanted: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """The folded words with their weights; one that folds to several words shares its weight among them."""
    given = wanted.items() if isinstance(wanted, Mapping) else ((word, 1.0) for word in wanted)
    found: dict[str, float] = {}
    for text, weight in given:
        parts = fold(text).split()
        for part in parts:
            found[part] = found.get(part, 0.0) + weight / len(parts)
    return {word: weight for word, weight in found.items() if weight > 0}
