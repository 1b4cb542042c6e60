"""The titles of a book on another host: its index there is asked, and says what one here would say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kiwiresearch.search.title_words import Correction
from kiwiresearch.search.titles import TitleRow, Titles
from kiwiresearch.text.fold import fold
from kiwiresearch.zim.guarded import BESIDES
from kiwiresearch.zim.peer import PeerArchive, at_most, count, text
from kiwiresearch.zim.peer_calls import Call, Limit, NotACall, Way

MOST_ROWS = 1_024


def _rows(rows: Sequence[TitleRow]) -> tuple[Any, bytes]:
    return [[row.path, row.title, row.alias] for row in rows], b""


def _by_words(titles: Titles, wanted: list[Any], limit: int) -> tuple[Any, bytes]:
    if all(isinstance(word, str) for word in wanted):
        return _rows(titles.by_words(wanted, limit))
    try:
        weights = {str(word): float(weight) for word, weight in wanted}
    except (TypeError, ValueError, OverflowError) as problem:
        raise NotACall("these are no words with weights") from problem
    return _rows(titles.by_words(weights, limit))


def _correct(titles: Titles, word: str, limit: int) -> tuple[Any, bytes]:
    return [[one.word, one.distance, one.count] for one in titles.correct(word, limit)], b""


WAYS: Mapping[str, Way] = {
    "titles.joined": Way((str,), lambda titles, title: _rows(titles.joined(title))),
    "titles.prefix": Way((str, Limit), lambda titles, words, limit: _rows(titles.prefix(words, limit))),
    "titles.by_words": Way((list, Limit), _by_words),
    "titles.correct": Way((str, Limit), _correct),
    "titles.frequency": Way((str,), lambda titles, word: (titles.frequency(word), b"")),
}
"""What can be asked of a book's title index."""


class PeerTitles:
    """A title index on the host that has its book."""

    def __init__(self, archive: PeerArchive, rows: int, *, complete: bool) -> None:
        self._archive = archive
        self.rows = rows
        self.complete = complete
        self._hides: Callable[[str, str], bool] | None = None

    def leave_out(self, hides: Callable[[str, str], bool]) -> None:
        """Offer no row whose title and path are hidden here; the other host may hide others."""
        self._hides = hides

    def exact(self, title: str) -> tuple[TitleRow, ...]:
        wanted = fold(title)
        return tuple(row for row in self.joined(title) if fold(row.title) == wanted)

    def joined(self, title: str) -> tuple[TitleRow, ...]:
        return self._shown(self._archive.ask(_joined(title)), MOST_ROWS)

    def ahead(self, titles: Iterable[str]) -> None:
        """Ask at once for titles that will be looked up one by one."""
        self._archive.ahead(map(_joined, titles))

    def prefix(self, text: str, limit: int) -> tuple[TitleRow, ...]:
        return self._shown(self._archive.ask(_listed("titles.prefix", text, self._most(limit))), limit)

    def by_words(self, wanted: Mapping[str, float] | Sequence[str], limit: int) -> tuple[TitleRow, ...]:
        words = tuple(wanted.items() if isinstance(wanted, Mapping) else wanted)
        return self._shown(self._archive.ask(_listed("titles.by_words", words, self._most(limit))), limit)

    def correct(self, word: str, limit: int = 5) -> tuple[Correction, ...]:
        return self._archive.ask(Call("titles.correct", (word, limit), at_most(limit, _corrections)))

    def frequency(self, word: str) -> int:
        return self._archive.ask(Call("titles.frequency", (word,), lambda value, _: count(value)))

    def close(self) -> None:
        """Nothing is held open."""

    def _most(self, limit: int) -> int:
        return limit + BESIDES if self._hides and limit > 0 else limit

    def _shown(self, rows: tuple[TitleRow, ...], limit: int) -> tuple[TitleRow, ...]:
        hides = self._hides
        return tuple(row for row in rows if not hides or not hides(row.title, row.path))[: max(limit, 0)]


def far_titles(archive: PeerArchive) -> PeerTitles | None:
    """The title index of a book on another host; None where it has none there."""
    if archive.titles_there is None:
        return None
    rows, complete = archive.titles_there
    return PeerTitles(archive, rows, complete=complete)


def _joined(title: str) -> Call[tuple[TitleRow, ...]]:
    return Call("titles.joined", (title,), at_most(MOST_ROWS, _title_rows))


def _listed(name: str, wanted: Any, limit: int) -> Call[tuple[TitleRow, ...]]:
    return Call(name, (wanted, limit), at_most(max(limit, 0), _title_rows))


def _title_rows(value: Any) -> tuple[TitleRow, ...]:
    return tuple(_row(*row) for row in value)


def _row(path: Any, title: Any, alias: Any) -> TitleRow:
    if type(alias) is not bool:
        raise TypeError("alias or not")
    return TitleRow(text(path), text(title), alias)


def _corrections(value: Any) -> tuple[Correction, ...]:
    return tuple(Correction(text(word), count(distance), count(titles)) for word, distance, titles in value)
