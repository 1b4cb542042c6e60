"""The journal: whatever happens to its file, what is read from it is a beginning of what was written."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwiresearch.runs.journal import Journal, header_of

HEADER = {"fingerprint": "f1", "topic": "Stone"}
ROWS: list[dict[str, Any]] = [{"page": f"Größe {n}", "score": n / 7, "why": ["a\n", None]} for n in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "steps"


def written(path: Path, rows: Sequence[dict[str, Any]], header: dict[str, Any] = HEADER) -> bytes:
    journal = Journal(path, header)
    for row in rows:
        journal.append(row)
    journal.close()
    return path.read_bytes()


def read(path: Path) -> list[dict[str, Any]]:
    journal = Journal(path, HEADER)
    journal.close()
    return list(journal.rows)


@pytest.fixture(scope="module")
def whole() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        yield written(Path(folder) / "steps", ROWS)


def test_steps_come_back(path: Path) -> None:
    """The steps of before are there, and those of now go behind them."""
    written(path, ROWS[:4])
    journal = Journal(path, {"fingerprint": "another"})
    assert (journal.header, list(journal.rows), journal.is_new) == (HEADER, ROWS[:4], False)
    journal.append(ROWS[4])
    assert (len(journal), list(journal.rows)) == (5, ROWS[:4])
    journal.close()
    assert read(path) == ROWS[:5]


def test_a_new_journal_knows_whose_it_is(path: Path) -> None:
    """The header is written at once, and is not a step."""
    journal = Journal(path, HEADER)
    assert (journal.header, journal.rows, len(journal), journal.is_new) == (HEADER, (), 0, True)
    assert header_of(path) == HEADER
    journal.close()


def test_a_step_is_written_at_once(path: Path) -> None:
    """A step is the system's as soon as it was taken, so that a kill cannot take it back."""
    journal = Journal(path, HEADER)
    for number, row in enumerate(ROWS):
        journal.append(row)
        assert len(path.read_bytes().splitlines()) == number + 2
    journal.close()


def test_going_on_gives_the_same_bytes(path: Path, whole: bytes) -> None:
    """A journal written in three goes is the journal written in one."""
    for start in (0, 2, 4):
        written(path, ROWS[start : start + 2])
    assert path.read_bytes() == whole


def test_steps_can_be_taken_back(path: Path, whole: bytes) -> None:
    """A journal that was cut goes on from there as if the rest had never been."""
    written(path, [*ROWS[:2], {"wrong": 1}, {"wrong": 2}])
    journal = Journal(path, HEADER)
    journal.append({"wrong": 3})
    journal.truncate(2)
    assert (list(journal.rows), len(journal)) == (ROWS[:2], 2)
    for row in ROWS[2:]:
        journal.append(row)
    with pytest.raises(ValueError, match="6 is not between 0 and 5"):
        journal.truncate(6)
    journal.close()
    assert path.read_bytes() == whole


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=4))
def test_rows_come_back_exactly(rows: list[dict[str, Any]]) -> None:
    """Every row is the same when it is read, down to the last bit of a number and half a surrogate pair."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "steps"
        written(path, rows)
        assert repr([sorted(row.items()) for row in read(path)]) == repr([_plain(row) for row in rows])


def _plain(row: dict[str, Any]) -> list[tuple[str, Any]]:
    """A row with the keys of all that is in it in order, as JSON is written."""

    def ordered(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: ordered(value[key]) for key in sorted(value)}
        return [ordered(one) for one in value] if isinstance(value, list) else value

    return [(key, ordered(row[key])) for key in sorted(row)]


@pytest.mark.parametrize("number", [0.1, -0.0, 1e22, 5e-324, 1.7976931348623157e308, 2 / 3, math.inf])
def test_numbers_come_back_exactly(path: Path, number: float) -> None:
    """A score is the same float when a run goes on, so that it chooses the same page."""
    written(path, [{"score": number}])
    assert read(path)[0]["score"].hex() == number.hex()


def test_a_tail_torn_off_anywhere_costs_one_step(path: Path, whole: bytes) -> None:
    """Cut at any byte, the journal has the steps that were whole, and goes on to the same bytes."""
    ends = [end for end in range(len(whole) + 1) if whole[:end].endswith(b"\n")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = max(sum(end <= size for end in ends) - 1, 0)
        assert read(path) == ROWS[:kept], size
        assert written(path, ROWS[kept:]) == whole, size


@settings(max_examples=60)
@given(st.data())
def test_a_garbled_byte_is_noticed(whole: bytes, data: st.DataObject) -> None:
    """With any byte changed to any other, the steps before it are kept and those from it on are not."""
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    kept = max(whole[:at].count(b"\n") - 1, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "steps"
        path.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
        assert read(path) == ROWS[:kept]
        assert written(path, ROWS[kept:]) == whole


@settings(max_examples=60)
@given(st.data())
def test_rubbish_at_the_end_is_cut_off(whole: bytes, data: st.DataObject) -> None:
    """After a power cut the end of a file may have anything; no step comes of it."""
    size = data.draw(st.integers(0, len(whole)))
    rubbish = data.draw(st.binary(max_size=50) | st.integers(1, 5_000).map(bytes))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "steps"
        path.write_bytes(whole[:size] + rubbish)
        rows = read(path)
        assert rows == ROWS[: len(rows)]
        assert written(path, ROWS[len(rows) :]) == whole


def _swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


def _dropped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], *lines[3:]]


def _repeated(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[1], *lines[2:]]


@pytest.mark.parametrize(("change", "kept"), [(_swapped, 1), (_dropped, 1), (_repeated, 1)])
def test_lines_stay_in_their_order(path: Path, whole: bytes, change: Any, kept: int) -> None:
    """Complete lines in the wrong place are not steps."""
    path.write_bytes(b"".join(change(whole.splitlines(keepends=True))))
    assert read(path) == ROWS[:kept]


def test_lines_of_another_journal_are_noticed(path: Path, tmp_path: Path, whole: bytes) -> None:
    """The end of one run's journal does not fit the beginning of another's, even where their steps are the same."""
    other = written(tmp_path / "other", ROWS, {"fingerprint": "f2", "topic": "Stone"}).splitlines(keepends=True)
    path.write_bytes(b"".join([*whole.splitlines(keepends=True)[:3], *other[3:]]))
    assert read(path) == ROWS[:2]


@pytest.mark.parametrize("content", [b"", b"\n", b"\0" * 4096, b"{}\n", b"0123456789abcdef {}\n", bytes(range(256))])
def test_a_file_that_is_not_a_journal_is_replaced(path: Path, content: bytes) -> None:
    """A file without a good first line has no header, and is started again."""
    path.write_bytes(content)
    assert header_of(path) is None
    journal = Journal(path, HEADER)
    journal.close()
    assert (journal.is_new, journal.rows) == (True, ())
    assert header_of(path) == HEADER


def test_no_journal_has_no_header(path: Path) -> None:
    """Asking makes no file."""
    assert header_of(path) is None
    assert not path.exists()
    path.write_text("a file")
    assert header_of(path / "steps") is None
