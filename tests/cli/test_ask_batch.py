"""Many questions at once: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCommand = Callable[..., tuple[int, str, str]]
Batch = Callable[..., tuple[int, list[dict[str, Any]]]]
KEYS = {"question", "route", "grounded", "answer", "citations", "passages", "pages", "conflicts"}
EINSTEIN = '{"question": "When was Einstein born?"}'
CURLING = '{"question": "Who wins the world cup in curling?"}'


@pytest.fixture
def batch(home: Path, tmp_path: Path, kiwi: RunCommand, sample_zim: Path) -> Batch:
    """Runs a batch of these lines; returns the exit code and the rows that came out."""

    def start(content: str | bytes, *options: object) -> tuple[int, list[dict[str, Any]]]:
        file = tmp_path / "rows.jsonl"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        code, out, err = kiwi("ask", "--batch", file, "-b", sample_zim, *options)
        assert err == ""
        return code, [json.loads(line) for line in out.splitlines()]

    return start


def test_each_row_gets_a_line_with_the_promised_keys(batch: Batch) -> None:
    """Rows come out in order, answered or refused; a refusal is not a failure of the batch."""
    code, rows = batch(f"{EINSTEIN}\n{CURLING}\n{EINSTEIN}\n")
    assert code == 0
    assert [row["grounded"] for row in rows] == [True, False, True]
    assert rows[0] == rows[2]
    for row in rows:
        assert set(row) >= KEYS
        for cited in row["citations"]:
            assert set(cited) >= {"book", "path", "title", "section", "anchor", "quote"}
        for passage in row["passages"]:
            assert set(passage) >= {"path", "section", "text"}
        assert all(isinstance(path, str) for path in row["pages"])
    assert rows[0]["pages"][0] == "Albert_Einstein"
    assert rows[1]["route"] == "none"


def test_a_row_is_answered_as_it_would_be_alone(batch: Batch, kiwi: RunCommand, sample_zim: Path) -> None:
    """The document of a row is the one that --json gives for its question."""
    _, rows = batch(f"{EINSTEIN}\n{CURLING}\n")
    alone = [kiwi("ask", json.loads(row)["question"], "-b", sample_zim, "--json")[1] for row in (EINSTEIN, CURLING)]
    assert rows == [json.loads(out) for out in alone]


BAD = (
    "no JSON", "{", "[]", "3", '"tide"', "null", "{}", '{"question": ""}', '{"question": "  "}', '{"question": 5}',
    '{"question": null}', '{"question": ["tide"]}', '{"text": "tide"}', '{"question": "?!"}', "[" * 5000,
    json.dumps({"question": "why " * 2_000}),
)  # fmt: skip


def test_a_bad_row_says_so_and_the_rest_goes_on(batch: Batch) -> None:
    """A row that cannot be used gets a line with the reason and the same keys; the exit code is 1."""
    code, (first, *bad, last) = batch("\n".join((EINSTEIN, *BAD, EINSTEIN)))
    assert code == 1
    assert len(bad) == len(BAD)
    for row in bad:
        assert set(row) >= KEYS | {"error"}
        assert (row["grounded"], row["route"], row["citations"]) == (False, "none", [])
        assert row["error"]
    assert first == last
    assert first["grounded"]
    assert "error" not in first


def test_options_apply_to_all_rows(batch: Batch) -> None:
    """Page, mode and passages are those of the command."""
    code, rows = batch(f"{EINSTEIN}\n{EINSTEIN}\n", "--page", "Albert Einstein", "-k", 1, "--mode", "quiz")
    assert code == 0
    assert [(row["route"], row["mode"], len(row["passages"])) for row in rows] == [("page", "quiz", 1)] * 2


def test_a_page_that_is_not_there_fails_each_row(batch: Batch) -> None:
    """Each row says what is missing."""
    code, rows = batch(f"{EINSTEIN}\n", "--page", "Nowhere")
    assert code == 1
    assert "No page named 'Nowhere'" in rows[0]["error"]
