"""Many inputs at once: JSON lines in, JSON lines out, in the same order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.claims.conflicts.compare import compare_texts
from kiwiresearch.claims.page_claims import claims_of_text
from kiwiresearch.cli.options import print_json
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.search.find import SearchOptions
from kiwiresearch.workspace.asker import Asker, answer_row, query_in_row
from kiwiresearch.workspace.finder import Finder, search_record

QUERY_KEYS = ("query", "question", "claim")


def each_query(source: str, finder: Finder, options: SearchOptions) -> int:
    """Search for each row; for a bad row a line says so, and the exit code is 1 at the end."""
    finder.check(options)
    failed = False
    for number, line in rows_of(source):
        text = ""
        try:
            text = query_in_row(line, number, QUERY_KEYS)
            print_json(search_record(finder.find(text, options), finder))
        except KiwiError as problem:
            failed = True
            print_json({"query": text, "hits": [], "error": str(problem)})
    return 1 if failed else 0


def rows_of(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a file or of standard input that are not blank, with their numbers."""
    if source == "-":
        yield from ((number, line) for number, line in enumerate(sys.stdin, start=1) if line.strip())
        return
    try:
        with Path(source).expanduser().open(encoding="utf-8-sig", errors="replace") as stream:
            yield from ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    except (OSError, RuntimeError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise BadUsage(
            f"The file {source!r} cannot be read: {reason}.", remedy="Give a file of JSON lines."
        ) from problem


def each_question(source: str, asker: Asker, finder: Finder, options: AskOptions) -> int:
    """Answer each row; bad rows as above."""
    failed = False
    for number, line in rows_of(source):
        row = answer_row(line, number, asker, finder.citation_url, replace(options, turns=()))
        print_json(row.record)
        failed = failed or row.failed
    return 1 if failed else 0


MAX_BYTES = 2**24
"""Larger than any article."""


def text_in(source: str) -> str:
    """The words of a file, or of standard input."""
    try:
        raw = _standard_input() if source == "-" else _beginning(Path(source).expanduser())
    except (OSError, RuntimeError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise BadUsage(f"The file {source!r} cannot be read: {reason}.", remedy="Give a file of text.") from problem
    if len(raw) > MAX_BYTES:
        raise BadUsage(f"The text {source!r} is too long.", remedy=f"Give at most {MAX_BYTES // 2**20} MB at once.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise BadUsage(f"The file {source!r} is no text in UTF-8.", remedy="Save it as plain text first.")
    if not text.strip():
        raise BadUsage(f"The file {source!r} is empty.", remedy="Give a file that holds some sentences.")
    return text


def _beginning(path: Path) -> bytes:
    """Enough of a file to see whether it is too long."""
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _standard_input() -> bytes:
    raw = getattr(sys.stdin, "buffer", None)
    return bytes(raw.read(MAX_BYTES + 1)) if raw is not None else sys.stdin.read().encode("utf-8", "replace")


def each_text(source: str, wanted: str) -> int:
    """Print the claims of each row's text; bad rows as above."""
    failed = False
    for number, line in rows_of(source):
        try:
            row = _json_row(line, number)
            found = claims_of_text(_words(row, "text", number), _title(row, number))
            print_json(found.of_type(wanted).record())
        except KiwiError as problem:
            failed = True
            print_json({"title": "", "book": "", "path": "", "claims": [], "hedges": [], "error": str(problem)})
    return 1 if failed else 0


def each_pair(source: str) -> int:
    """Print whether the texts of each row contradict each other; bad rows as above."""
    failed = False
    for number, line in rows_of(source):
        result: dict[str, Any] = {"conflict": False, "kind": None, "a_quote": "", "b_quote": "", "why": ""}
        try:
            row = _json_row(line, number)
            found = compare_texts(_words(row, "a", number), _words(row, "b", number), _title(row, number))
            result = {name: getattr(found, name) for name in result}
        except KiwiError as problem:
            failed = True
            result["error"] = str(problem)
        print_json(result)
    return 1 if failed else 0


def _json_row(line: str, number: int) -> dict[str, Any]:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise BadUsage(f"Line {number} is no JSON: {problem}.", remedy="Write one JSON object a line.") from problem
    if not isinstance(row, dict):
        raise BadUsage(f"Line {number} is no JSON object.", remedy="Write one JSON object a line.")
    return row


def _words(row: dict[str, Any], key: str, number: int) -> str:
    if not isinstance(row.get(key), str) or not row[key].strip():
        raise BadUsage(f"Line {number} has no {key!r}.", remedy=f"Give it some words under the key {key!r}.")
    return str(row[key])


def _title(row: dict[str, Any], number: int) -> str:
    title = row.get("title")
    if title is None:
        return ""
    if not isinstance(title, str):
        raise BadUsage(f"The title of line {number} is no text.", remedy="Give it words, or leave it out.")
    return title
