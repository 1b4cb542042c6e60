from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kiwiresearch.bulk.run import BulkProgress
from kiwiresearch.bulk.tables import TABLES
from kiwiresearch.cli import progress
from kiwiresearch.cli.progress import Rate, duration
from kiwiresearch.version import __version__

DOCS = Path(__file__).parents[2] / "docs"
RunCommand = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.usefixtures("home")

PAGES = {f"Town_{n}": f"<p><b>Town {n}</b> is a town on the river Elm, founded in {1200 + n}.</p>" for n in range(6)}


@pytest.fixture
def towns(a_book: Callable[..., Path]) -> Path:
    """A book of a few pages, one of which has two names."""
    return a_book(PAGES, {"Elmton": "Town_1"}, index=False)


def test_a_book_is_written_reported_and_verified(kiwi: RunCommand, towns: Path, tmp_path: Path) -> None:
    """The command says what it wrote and where; again it says that it was finished; and its check passes."""
    out = tmp_path / "out"
    code, shown, _ = kiwi("bulk", "--book", towns, "--out", out, "--workers", 1)
    assert code == 0
    assert "claims" in shown
    assert shown.endswith(f"Manifest: {out / 'manifest.json'}\n")
    code, shown, _ = kiwi("bulk", "--book", towns, "--out", out, "--json")
    data = json.loads(shown)
    assert (code, data["was_finished"], data["version"], data["folder"]) == (0, True, __version__, str(out))
    assert data["tables"]["pages"]["rows"] == data["tables"]["titles"]["rows"] - redirects(out)
    code, shown, _ = kiwi("bulk", "--check", out)
    assert (code, "no damage found" in shown) == (0, True)
    (out / "links" / "000000.parquet").write_bytes(b"")
    code, shown, complaint = kiwi("bulk", "--check", out)
    assert (code, "damage found" in shown, "Delete the folder" in complaint) == (1, True, True)
    code, shown, _ = kiwi("bulk", "--check", out, "--json")
    assert (code, json.loads(shown)["holds"]) == (1, False)
    code, shown, complaint = kiwi("bulk", "--book", towns, "--out", out)
    assert (code, shown, "0 bytes" in complaint, "Delete the folder" in complaint) == (1, "", True, True)


def redirects(out: Path) -> int:
    from kiwiresearch.bulk.finished_folder import open_folder
    from kiwiresearch.bulk.tables import from_parquet

    return sum(bool(row[3]) for file in open_folder(out).shards("titles") for row in from_parquet("titles", file))


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        ((), 2, "--book and --out are both required."),
        (("--book", "sample"), 2, "--book and --out are both required."),
        (("--book", "sample", "--out", "x", "--what", "poems"), 2, "Unknown table 'poems'."),
        (("--book", "sample", "--out", "x", "--engine", "steam"), 2, "Unknown engine 'steam'."),
        (("--book", "nobody", "--out", "x"), 1, "No book named 'nobody'"),
        (("--book", "http://127.0.0.1:1", "--out", "x"), 1, "kiwix-serve cannot list all pages"),
        (("--check", "x", "--out", "y"), 2, "--check cannot be combined with --book or --out."),
        (("--check", "x"), 1, "No finished bulk folder"),
    ],
)
def test_bad_input_is_reported_and_writes_nothing(
    kiwi: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, expected: str
) -> None:
    """No traceback, no folder."""
    monkeypatch.chdir(tmp_path)
    found, shown, complaint = kiwi("bulk", *words)
    assert (found, shown) == (code, "")
    assert expected in complaint
    assert not (tmp_path / "x").exists()


def test_ctrl_c_says_how_to_go_on(
    kiwi: RunCommand, towns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with 130, keeps what is finished, and the command it names goes on."""

    @contextmanager
    def impatient() -> Iterator[Callable[[BulkProgress], None]]:
        def stop(_: BulkProgress) -> None:
            raise KeyboardInterrupt

        yield stop

    out = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "bulk_display", impatient)
        code, _, complaint = kiwi("bulk", "--book", towns, "--out", out, "--what", "pages", "--batch", 4)
    assert code == 130
    again = f"kiwiresearch bulk --book {towns} --what pages --out {out}"
    assert complaint.endswith(f"Finished batches are saved. To continue: {again}\n")
    assert kiwi(*again.split()[1:], "--workers", 1)[0] == 0
    assert kiwi("bulk", "--check", out)[0] == 0


def test_progress_shows_rate_and_time_left() -> None:
    """What was done before it went on does not count as speed."""
    rate = Rate(100.0)
    assert rate.line(BulkProgress(500, 2_500, 500, 1), 100.0) == "500 of 2,500 entries, 1 error"
    result = rate.line(BulkProgress(1_500, 2_500, 500, 0), 110.0)
    assert result == "1,500 of 2,500 entries, 100 per second, 10 s left, 0 errors"


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.2, "0 s"), (119, "119 s"), (720, "12 min"), (11_100, "3 h 5 min")]
)
def test_durations_are_written_as_people_say_them(seconds: float, expected: str) -> None:
    """Seconds, minutes, hours."""
    assert duration(seconds) == expected


def test_every_column_is_in_the_reference() -> None:
    """docs/reference/bulk-tables.md has a section for each table, with its columns in their order."""
    text = (DOCS / "reference" / "bulk-tables.md").read_text(encoding="utf-8")
    sections = {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}
    for table, columns in TABLES.items():
        rows = [line for line in sections[f"`{table}`"].splitlines() if line.startswith("| `")]
        assert rows == [
            f"| `{column.name}` | {column.kind}{', optional' if column.optional else ''} | {column.meaning} |"
            for column in columns
        ]
