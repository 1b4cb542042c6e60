"""Many inputs at once: JSON lines in, JSON lines out, in the same order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.ask import AskOptions
from kiwiresearch.claims import claims_of_text
from kiwiresearch.claims.conflicts import compare_texts
from kiwiresearch.cli.options import print_json
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.search import SearchOptions
from kiwiresearch.workspace import AnsweredRow, Asker, Finder, answer_row, query_in_row, search_record

QUERY_KEYS = ("query", "question", "claim")


def each_query(source: str, finder: Finder, options: SearchOptions) -> int:
    """Search for the query in each row."""
    finder.check(options)
    return print_each(
        source, "query", QUERY_KEYS, lambda query: search_record(finder.find(query, options), finder), {"hits": []}
    )


def print_each(
    source: str, name: str, keys: tuple[str, ...], result: Callable[[str], object], empty: Mapping[str, object]
) -> int:
    """Print the result for the words of each row; a bad row gives `empty` with an error, and exit code 1."""

    def answer(number: int, line: str) -> AnsweredRow:
        words = ""
        try:
            words = query_in_row(line, number, keys)
            return AnsweredRow(plain(result(words)))
        except KiwiError as problem:
            return AnsweredRow({name: words, **empty, "error": str(problem)}, failed=True)

    return _print_rows(source, answer)


def _print_rows(source: str, answer: Callable[[int, str], AnsweredRow]) -> int:
    """Print a JSON line for each row; the exit code is 1 if one failed."""
    failed = False
    for number, line in rows_of(source):
        row = answer(number, line)
        print_json(row.record)
        failed = failed or row.failed
    return int(failed)


def rows_of(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a file or of standard input that are not blank, with their numbers."""
    from kiwiresearch.system import expand_user

    if source == "-":
        yield from ((number, line) for number, line in enumerate(sys.stdin, start=1) if line.strip())
        return
    try:
        # Programs on Windows begin a file with a byte order mark.
        with expand_user(source).open(encoding="utf-8-sig", errors="replace") as stream:
            yield from ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise BadUsage(
            f"Could not read the file {source!r}: {reason}.", remedy="Enter a file with one JSON object per line."
        ) from problem


def each_question(source: str, asker: Asker, finder: Finder, options: AskOptions) -> int:
    """Answer each row; bad rows are handled as in `print_each`."""
    single = replace(options, turns=())
    return _print_rows(source, lambda number, line: answer_row(line, number, asker, finder.citation_url, single))


MAX_BYTES = 2**24
"""Larger than any article."""


def text_in(source: str) -> str:
    """The text of a file, or of standard input."""
    from kiwiresearch.system import expand_user

    try:
        raw = _standard_input() if source == "-" else _beginning(expand_user(source))
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        remedy = "Enter the path of a text file."
        raise BadUsage(f"Could not read the file {source!r}: {reason}.", remedy=remedy) from problem
    if len(raw) > MAX_BYTES:
        raise BadUsage(f"The file {source!r} is too large.", remedy=f"Use a file of {MAX_BYTES // 2**20} MB or less.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Reported in the same way as a NUL, which is not text either.
        text = "\0"
    if "\0" in text:
        raise BadUsage(f"The file {source!r} is not UTF-8 text.", remedy="Save it as plain text in UTF-8 first.")
    if not text.strip():
        raise BadUsage(f"The file {source!r} is empty.", remedy="Enter a file that contains text.")
    return text


def _beginning(path: Path) -> bytes:
    """Enough of a file to see whether it is too large."""
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _standard_input() -> bytes:
    raw = getattr(sys.stdin, "buffer", None)
    return bytes(raw.read(MAX_BYTES + 1)) if raw is not None else sys.stdin.read().encode("utf-8", "replace")


def each_text(source: str, wanted: str) -> int:
    """Print the claims of each row's text; bad rows are handled as in `print_each`."""

    def claims(row: _Row) -> object:
        return claims_of_text(row.words("text"), row.title()).of_type(wanted).record()

    return _each_row(source, claims, {"title": "", "book": "", "path": "", "claims": [], "hedges": [], "is_cut": False})


def each_pair(source: str) -> int:
    """Print whether the texts of each row contradict each other; bad rows are handled as in `print_each`."""
    empty = {"conflict": False, "kind": None, "a_quote": "", "b_quote": "", "why": ""}

    def comparison(row: _Row) -> object:
        found = compare_texts(row.words("a"), row.words("b"), row.title())
        return {name: getattr(found, name) for name in empty}

    return _each_row(source, comparison, empty)


def _each_row(source: str, result: Callable[[_Row], object], empty: Mapping[str, object]) -> int:
    def answer(number: int, line: str) -> AnsweredRow:
        try:
            return AnsweredRow(plain(result(_Row.read(line, number))))
        except KiwiError as problem:
            return AnsweredRow({**empty, "error": str(problem)}, failed=True)

    return _print_rows(source, answer)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of texts: its number in the file, and its JSON object."""

    number: int
    values: Mapping[str, object]

    @classmethod
    def read(cls, line: str, number: int) -> _Row:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise BadUsage(
                f"Line {number} is not JSON: {problem}.", remedy="Write one JSON object per line."
            ) from problem
        if not isinstance(values, dict):
            raise BadUsage(f"Line {number} is not a JSON object.", remedy="Write one JSON object per line.")
        return cls(number, values)

    def words(self, key: str) -> str:
        words = self.values.get(key)
        if not isinstance(words, str) or not words.strip():
            raise BadUsage(f"Line {self.number} has no {key!r}.", remedy=f"Add the key {key!r} with some text.")
        return words

    def title(self) -> str:
        title = self.values.get("title")
        if title is None:
            return ""
        if not isinstance(title, str):
            raise BadUsage(f"The title on line {self.number} is not text.", remedy="Use text, or remove the title.")
        return title
