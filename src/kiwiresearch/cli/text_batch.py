"""Texts from files: one text, or many in JSON lines, answered in the same order."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kiwiresearch.claims.conflicts.compare import compare_texts
from kiwiresearch.cli import show
from kiwiresearch.cli.batch import rows_of
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.research.claiming import claims_of_text

MOST_BYTES = 2**24
"""Larger than any article; a text like that is no text somebody wrote."""


def text_in(source: str) -> str:
    """The words of a file, or of standard input."""
    try:
        raw = _standard_input() if source == "-" else _file(Path(source).expanduser())
    except (OSError, RuntimeError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise BadUsage(f"The file {source!r} cannot be read: {reason}.", remedy="Give a file of text.") from problem
    if len(raw) > MOST_BYTES:
        raise BadUsage(f"The text {source!r} is too long.", remedy=f"Give at most {MOST_BYTES // 2**20} MB at once.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise BadUsage(f"The file {source!r} is no text in UTF-8.", remedy="Save it as plain text first.")
    if not text.strip():
        raise BadUsage(f"The file {source!r} is empty.", remedy="Give a file that holds some sentences.")
    return text


def _file(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(MOST_BYTES + 1)


def _standard_input() -> bytes:
    raw = getattr(sys.stdin, "buffer", None)
    return bytes(raw.read(MOST_BYTES + 1)) if raw is not None else sys.stdin.read().encode("utf-8", "replace")


def each_text(source: str, wanted: str) -> int:
    """The claims of each row's text; a row that cannot be used says so, and makes the exit code 1."""
    failed = False
    for number, line in rows_of(source):
        try:
            row = _row(line, number)
            found = claims_of_text(_words(row, "text", number), _title(row, number))
            show.document(found.of_type(wanted).record())
        except KiwiError as problem:
            failed = True
            show.document({"title": "", "book": "", "path": "", "claims": [], "hedges": [], "error": str(problem)})
    return 1 if failed else 0


def each_pair(source: str) -> int:
    """Whether the texts of each row contradict each other; bad rows as above."""
    failed = False
    for number, line in rows_of(source):
        told: dict[str, Any] = {"conflict": False, "kind": None, "a_quote": "", "b_quote": "", "why": ""}
        try:
            row = _row(line, number)
            found = compare_texts(_words(row, "a", number), _words(row, "b", number), _title(row, number))
            told = {name: getattr(found, name) for name in told}
        except KiwiError as problem:
            failed = True
            told["error"] = str(problem)
        show.document(told)
    return 1 if failed else 0


def _row(line: str, number: int) -> dict[str, Any]:
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
