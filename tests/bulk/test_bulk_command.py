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
Told = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.usefixtures("home")


def test_a_book_is_written_told_and_proved(kiwi: Told, sample_zim: Path, tmp_path: Path) -> None:
    """The command says what it wrote and where; again it says that it was finished; and its check holds."""
    out = tmp_path / "out"
    code, shown, _ = kiwi("bulk", "--book", sample_zim, "--out", out, "--workers", 1)
    assert code == 0
    assert "claims" in shown
    assert shown.endswith(f"Manifest: {out / 'manifest.json'}\n")
    code, shown, _ = kiwi("bulk", "--book", sample_zim, "--out", out, "--json")
    told = json.loads(shown)
    assert (code, told["was_finished"], told["version"], told["folder"]) == (0, True, __version__, str(out))
    assert told["tables"]["pages"]["rows"] == told["tables"]["titles"]["rows"] - redirects(out)
    code, shown, _ = kiwi("bulk", "--check", out)
    assert (code, "all as written" in shown) == (0, True)
    (out / "links" / "000000.parquet").write_bytes(b"")
    code, shown, complaint = kiwi("bulk", "--check", out)
    assert (code, "damaged" in shown, "make it again" in complaint) == (1, True, True)
    code, shown, _ = kiwi("bulk", "--check", out, "--json")
    assert (code, json.loads(shown)["holds"]) == (1, False)
    code, shown, complaint = kiwi("bulk", "--book", sample_zim, "--out", out)
    assert (code, shown, "0 bytes" in complaint, "Remove the folder" in complaint) == (1, "", True, True)


def redirects(out: Path) -> int:
    from kiwiresearch.bulk.finished_folder import open_folder
    from kiwiresearch.bulk.tables import from_parquet

    return sum(bool(row[3]) for file in open_folder(out).shards("titles") for row in from_parquet("titles", file))


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "A book and a folder are needed."),
        (("--book", "sample"), 2, "A book and a folder are needed."),
        (("--book", "sample", "--out", "x", "--what", "poems"), 2, "There is no table 'poems'."),
        (("--book", "sample", "--out", "x", "--engine", "steam"), 2, "There is no engine 'steam'."),
        (("--book", "nobody", "--out", "x"), 1, "There is no book 'nobody'"),
        (("--book", "http://127.0.0.1:1", "--out", "x"), 1, "A kiwix-serve does not list the articles"),
        (("--check", "x", "--out", "y"), 2, "--check goes alone."),
        (("--check", "x"), 1, "no finished bulk folder"),
    ],
)
def test_bad_input_is_told_and_writes_nothing(
    kiwi: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, told: str
) -> None:
    """No traceback, no folder."""
    monkeypatch.chdir(tmp_path)
    found, shown, complaint = kiwi("bulk", *words)
    assert (found, shown) == (code, "")
    assert told in complaint
    assert not (tmp_path / "x").exists()


def test_ctrl_c_says_how_to_go_on(
    kiwi: Told, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        code, _, complaint = kiwi("bulk", "--book", sample_zim, "--out", out, "--what", "pages", "--batch", 4)
    assert code == 130
    again = f"kiwiresearch bulk --book {sample_zim} --what pages --out {out}"
    assert complaint.endswith(f"The batches that were finished are kept. To go on: {again}\n")
    assert kiwi(*again.split()[1:], "--workers", 1)[0] == 0
    assert kiwi("bulk", "--check", out)[0] == 0


def test_progress_tells_rate_and_time_left() -> None:
    """What was done before it went on does not count as speed."""
    rate = Rate(100.0)
    assert rate.line(BulkProgress(500, 2_500, 500, 1), 100.0) == "500 of 2,500 entries, 1 error"
    told = rate.line(BulkProgress(1_500, 2_500, 500, 0), 110.0)
    assert told == "1,500 of 2,500 entries, 100 a second, 10 s left, 0 errors"


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "0 s"), (119, "119 s"), (720, "12 min"), (11_100, "3 h 5 min")])
def test_durations_are_told_as_people_say_them(seconds: float, told: str) -> None:
    """Seconds, minutes, hours."""
    assert duration(seconds) == told


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
