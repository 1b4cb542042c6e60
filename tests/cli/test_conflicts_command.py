"""`kiwiresearch conflicts`: whether texts contradict each other, and where the pages of a run do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.brief.briefs import bronze_age
from tests.verify.verified_runs import a_finished_run

from kiwiresearch.api import open_shelf
from kiwiresearch.brief.brief import brief_record
from kiwiresearch.claims.conflicts.comparison import compare_texts
from kiwiresearch.ids import canonical_json

RunCommand = Callable[..., tuple[int, str, str]]
FIELDS = {"conflict", "kind", "a_quote", "b_quote", "why"}
BORN = {"a": "Margarete Voss was born in 1411.", "b": "Margarete Voss was born in 1463.", "title": "Margarete Voss"}
LONG = {"a": "The Salt road was 118 km long.", "b": "The Salt road was 186 km long."}
ALIKE = {"a": "Lubmin was founded in 1243.", "b": "Founded in 1243, Lubmin is a harbour town."}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_finished_run(tmp_path_factory.mktemp("conflicts"))


@pytest.fixture
def run(finished: Path, home: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def a_file(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["plain", "json"])
def test_each_pair_gets_a_line(kiwi: RunCommand, home: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    """Whether the two contradict each other, of which kind that is, and both sentences, in order (R69, R139)."""
    code, out, err = kiwi("conflicts", "--pairs", a_file(tmp_path, BORN, ALIKE, LONG), *form)
    first, second, third = rows(out)
    assert (code, err) == (0, "")
    assert first.keys() == second.keys() == FIELDS
    assert (first["conflict"], first["kind"]) == (True, "contradiction")
    assert (first["a_quote"], first["b_quote"]) == (BORN["a"], BORN["b"])
    assert first["why"]
    assert second == {"conflict": False, "kind": None, "a_quote": "", "b_quote": "", "why": ""}
    assert (third["conflict"], third["a_quote"]) == (True, LONG["a"])
    assert not home.exists()


@pytest.mark.parametrize(
    "line",
    [
        "no JSON", "{", "[]", "3", "null", "{}", '{"a": "It rains."}', '{"b": "It rains."}', '{"a": "", "b": "Rain."}',
        '{"a": 3, "b": "Rain."}', '{"a": "Rain.", "b": ["Rain."]}', '{"a": "Rain.", "b": "Rain.", "title": {}}',
        "[" * 5000,
    ],
)  # fmt: skip
def test_a_bad_row_says_so_and_the_rest_goes_on(kiwi: RunCommand, home: Path, tmp_path: Path, line: str) -> None:
    """A row that cannot be used gets a line with the reason and its number; the exit code is 1."""
    (tmp_path / "pairs.jsonl").write_text(f"{json.dumps(BORN)}\n{line}\n{json.dumps(ALIKE)}\n")
    code, out, err = kiwi("conflicts", "--pairs", tmp_path / "pairs.jsonl")
    found = rows(out)
    assert (code, err) == (1, "")
    assert [row["conflict"] for row in found] == [True, False, False]
    assert "ine 2 " in found[1]["error"]
    assert "error" not in found[0] | found[2]


def test_the_contradictions_of_a_run(kiwi: RunCommand, run: Path) -> None:
    """Each is shown with what it is about, its kind, and both sides with their places; JSON has the quotes too."""
    brief = bronze_age()
    (run / "brief.json").write_text(canonical_json(brief_record(brief)))
    code, out, err = kiwi("conflicts", run, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    disputes = [one for one in brief.disputes if one.difference]
    assert [one["about"] for one in found["conflicts"]] == [one.about for one in disputes] != []
    shown = kiwi("conflicts", run)[1]
    for one in found["conflicts"]:
        assert f"{one['about']} ({one['kind']}" in shown
        assert all(f"   • {side['text']} ({side['place']})" in shown for side in one["sides"])
        assert all(side["quote"] and side["claim"].startswith("sha256:") for side in one["sides"])


def test_a_run_without_contradictions_says_so(kiwi: RunCommand, run: Path) -> None:
    """One line says that there are none."""
    brief = json.loads((run / "brief.json").read_text()) | {"disputes": []}
    (run / "brief.json").write_text(json.dumps(brief))
    code, out, _ = kiwi("conflicts", run)
    assert (code, out) == (0, "No contradictions found between the pages of this run.\n")
    assert json.loads(kiwi("conflicts", run, "--json")[1])["conflicts"] == []


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 99_999, b"null", None])
def test_a_brief_that_cannot_be_read_is_reported(kiwi: RunCommand, run: Path, content: bytes | None) -> None:
    """A brief that was edited or is gone is an error with one sentence."""
    (run / "brief.json").unlink()
    if content is not None:
        (run / "brief.json").write_bytes(content)
    code, out, err = kiwi("conflicts", run)
    assert (code, out) == (1, "")
    assert "brief.json' cannot be read: " in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "Enter a run, or give a file with --pairs FILE."),
        (["run", "--pairs", "a.jsonl"], 2, "Enter a run, or give a file with --pairs FILE."),
        ([""], 2, "The folder name is empty."),
        (["nowhere"], 1, "The folder 'nowhere' was not found."),
        (["--pairs", "none.jsonl"], 2, "Could not read the file 'none.jsonl': No such file or directory."),
        (["--pairs", "."], 2, "Could not read the file '.': Is a directory."),
    ],
)
def test_invalid_arguments_are_explained(
    kiwi: RunCommand,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    message: str,
) -> None:
    """The error is on standard error, and nothing else is written."""
    monkeypatch.chdir(tmp_path)
    found, out, err = kiwi("conflicts", *words)
    assert (found, out) == (code, "")
    assert message in err


def test_a_program_can_compare_texts(finished: Path, home: Path) -> None:
    """`find_conflicts` of a shelf is the same comparison."""
    with open_shelf([finished.parent / "road.zim"]) as shelf:
        found = shelf.find_conflicts(BORN["a"], BORN["b"], title=BORN["title"])
    assert found == compare_texts(BORN["a"], BORN["b"], BORN["title"])
    assert found.conflict
