"""Whether a file can be trusted: found out before it is used, and remembered."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from kiwiresearch import system
from kiwiresearch.errors import BookDamaged, KiwiError, NotABook
from kiwiresearch.system import FileLock
from kiwiresearch.zim import integrity
from kiwiresearch.zim.files import parts_of
from kiwiresearch.zim.integrity import FileCheck, FileChecks, FileState, probe
from kiwiresearch.zim.shelf import Opener
from kiwiresearch.zim.sources import BookLocation

INVALID = {
    "bad_mimetype_in_dirent": BookDamaged,
    "invalid_checksumpos": NotABook,
    "invalid_mimelistpos": NotABook,
    "nonsorted_dirent_table": NotABook,
    "outofbounds_clusterptrpos": NotABook,
    "outofbounds_first_direntptr": NotABook,
    "outofbounds_first_title_entry": BookDamaged,
    "outofbounds_last_direntptr": NotABook,
    "outofbounds_titleptrpos": NotABook,
    "outofbounds_urlptrpos": NotABook,
    "smaller_than_header": NotABook,
}


@pytest.fixture(autouse=True)
def _no_cached_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process looks at each file, also where other tests have seen the same bytes."""
    monkeypatch.setattr(integrity, "probe", probe)


@pytest.fixture
def file_checks(tmp_path: Path) -> FileChecks:
    return FileChecks(tmp_path / "checks")


@pytest.fixture
def sound(sample_zim: Path, tmp_path: Path) -> Path:
    file = tmp_path / "sound.zim"
    shutil.copyfile(sample_zim, file)
    return file


@pytest.fixture
def flipped(sound: Path) -> Path:
    """A book with one byte changed in the middle of its content."""
    data = bytearray(sound.read_bytes())
    data[len(data) // 3] ^= 0xFF
    file = sound.with_name("flipped.zim")
    file.write_bytes(data)
    return file


def _one_sentence(problem: KiwiError, file: Path) -> bool:
    message = problem.message
    return repr(str(file)) in message and message.endswith(".") and "\n" not in message


@pytest.mark.parametrize("name", INVALID)
def test_damaged_files_are_reported_in_one_sentence(shared_data: Path, file_checks: FileChecks, name: str) -> None:
    """Every deliberately damaged file is refused by name, with a reason and a remedy."""
    file = shared_data / "zims" / "invalid" / f"zims.invalid.{name}.zim"
    with pytest.raises(INVALID[name]) as caught:
        Opener(file_checks).open(BookLocation(str(file)))
    assert _one_sentence(caught.value, file)
    assert caught.value.remedy
    assert caught.value.exit_code == 1


def test_no_damaged_file_is_left_out(shared_data: Path) -> None:
    """The table above is about all damaged files there are."""
    files = (shared_data / "zims" / "invalid").glob("*.zim")
    assert {file.stem.removeprefix("zims.invalid.") for file in files} == INVALID.keys()


@pytest.mark.parametrize("kind", ["empty", "text", "folder", "missing", "cut in half", "one byte short", "header only"])
def test_a_file_that_is_not_a_book_is_reported_in_one_sentence(sound: Path, file_checks: FileChecks, kind: str) -> None:
    """An empty file, a text, a folder, a missing file and a book cut short each give one sentence."""
    file = sound.with_name("given.zim")
    whole = sound.read_bytes()
    if kind == "folder":
        file.mkdir()
    elif kind != "missing":
        contents = {
            "empty": b"",
            "text": b"Not a book at all.",
            "cut in half": whole[: len(whole) // 2],
            "one byte short": whole[:-1],
            "header only": whole[:80],
        }
        file.write_bytes(contents[kind])
    with pytest.raises(KiwiError) as caught:
        Opener(file_checks).open(BookLocation(str(file)))
    assert _one_sentence(caught.value, file)
    assert caught.value.remedy
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("size", [60, 80, 2_000, -1])
def test_an_interrupted_download_is_called_incomplete(sound: Path, file_checks: FileChecks, size: int) -> None:
    """A book that ends before its checksum is called incomplete, whatever libzim says about it."""
    file = sound.with_name("part.zim")
    file.write_bytes(sound.read_bytes()[:size])
    for _ in range(2):  # also when the result is remembered
        with pytest.raises(NotABook, match="is incomplete"):
            Opener(file_checks).open(BookLocation(str(file)))


def test_flipped_byte_is_found(flipped: Path, file_checks: FileChecks) -> None:
    """One changed byte, which libzim opens without a word, is found before any page is read; a user may insist."""
    assert file_checks.of(flipped) == FileCheck("damaged", "its bytes do not match its checksum")
    with pytest.raises(BookDamaged, match="is damaged: its bytes do not match its checksum") as caught:
        Opener(file_checks).open(BookLocation(str(flipped)))
    assert "KIWIRESEARCH_ALLOW_DAMAGED=1" in caught.value.remedy
    reports: list[str] = []
    archive = Opener(file_checks, allow_damaged=True, say=reports.append).open(BookLocation(str(flipped)))
    assert archive.book.title == "kiwiresearch sample book"
    archive.close()
    assert reports == [
        f"The ZIM file {str(flipped)!r} is damaged: its bytes do not match its checksum."
        " Reading it anyway, because 'allow_damaged' is set."
    ]


def test_unopenable_file_stays_closed_though_the_user_insists(sound: Path, file_checks: FileChecks) -> None:
    """What libzim cannot open cannot be read, whatever the user asks."""
    os.truncate(sound, 1000)
    with pytest.raises(NotABook):
        Opener(file_checks, allow_damaged=True).open(BookLocation(str(sound)))


def test_verdict_is_remembered(sound: Path, file_checks: FileChecks, tmp_path: Path) -> None:
    """A file is looked at once: what is written down about it is believed the next time, if it can be read."""
    assert file_checks.known(parts_of(sound)) is None
    assert file_checks.of(sound) == FileCheck("sound")
    assert file_checks.known(parts_of(sound)) == FileCheck("sound")
    (note,) = (tmp_path / "checks").glob("*.json")
    note.write_text(json.dumps({"state": "damaged", "reason": "as written"}), encoding="utf-8")
    assert file_checks.of(sound) == FileCheck("damaged", "as written")
    for broken in ("", "{}", "[]", "{", "null", '{"state": "sound"}'):
        note.write_text(broken, encoding="utf-8")
        assert file_checks.known(parts_of(sound)) is None, broken


def test_verdict_is_renewed_when_the_file_changes(sound: Path, flipped: Path, file_checks: FileChecks) -> None:
    """Another size or another time makes a file one that was never seen."""
    assert file_checks.of(sound).state == "sound"
    os.utime(sound, (1_000_000_000, 1_000_000_000))
    assert file_checks.known(parts_of(sound)) is None
    shutil.copyfile(flipped, sound)
    assert file_checks.of(sound).state == "damaged"


@pytest.fixture
def nothing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as large."""
    monkeypatch.setattr(integrity, "MAX_IMMEDIATE_CHECK_BYTES", 0)


@pytest.mark.usefixtures("nothing_at_once")
@pytest.mark.parametrize(
    ("kind", "state", "reason"),
    [("sound", "sound", ""), ("flipped", "damaged", "its bytes do not match its checksum")],
)
def test_large_files_are_checked_in_the_background(
    request: pytest.FixtureRequest, file_checks: FileChecks, kind: str, state: FileState, reason: str
) -> None:
    """A large file is used at once, the user is informed, and a separate process writes the result."""
    file: Path = request.getfixturevalue(kind)
    reports: list[str] = []
    Opener(file_checks, say=reports.append).open(BookLocation(str(file))).close()
    assert reports == [f"{file.name!r} has not been checked for damage yet. The check is running in the background."]
    assert system.RUNNING.pop().wait(timeout=60) == 0
    assert file_checks.known(parts_of(file)) == FileCheck(state, reason)


def test_one_check_at_a_time(sound: Path, file_checks: FileChecks, tmp_path: Path) -> None:
    """While a check of a file is under way no second one starts."""
    file_checks.of(sound)
    (note,) = (tmp_path / "checks").glob("*.json")
    note.unlink()
    lock = FileLock(note.with_suffix(".lock"))
    assert lock.acquire() is True
    assert file_checks.check_in_background(sound) is False
    file_checks.run_check(sound)
    assert file_checks.known(parts_of(sound)) is None
    lock.release()
    file_checks.run_check(sound)
    assert file_checks.known(parts_of(sound)) == FileCheck("sound")


def test_check_now_checks_whatever_is_known(flipped: Path, file_checks: FileChecks, tmp_path: Path) -> None:
    """A check that the user asks for looks at the file, not at the note."""
    opener = Opener(file_checks)
    assert opener.check(BookLocation(str(flipped))).state == "damaged"
    (note,) = (tmp_path / "checks").glob("*.json")
    note.write_text(json.dumps({"state": "sound", "reason": ""}), encoding="utf-8")
    assert file_checks.of(flipped).state == "sound"
    assert opener.check(BookLocation(str(flipped))).state == "damaged"
    assert file_checks.of(flipped).state == "damaged"


def test_split_book_is_checked_as_a_whole(sound: Path, file_checks: FileChecks) -> None:
    """All parts of a split book count: a change in the last is seen."""
    data = sound.read_bytes()
    parts = [sound.with_name(f"split.zima{letter}") for letter in "abc"]
    third = len(data) // 3 + 1
    for number, part in enumerate(parts):
        part.write_bytes(data[number * third : (number + 1) * third])
    assert file_checks.of(parts[0]) == FileCheck("sound")
    last = bytearray(parts[2].read_bytes())
    last[100] ^= 1
    parts[2].write_bytes(last)
    os.utime(parts[2], (1_000_000_000, 1_000_000_000))
    assert file_checks.of(parts[0]).state == "damaged"


def test_probe_leaves_nothing_on_the_terminal(flipped: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The child that opens unknown files keeps what it and libzim say to itself, and checks only if asked."""
    assert probe(flipped, check=False) == FileCheck("unchecked")
    assert capfd.readouterr() == ("", "")


def test_an_interrupted_check_does_not_condemn_a_file(
    sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the child dies of something else, the file is refused for now and looked at again the next time."""
    file_checks = FileChecks(tmp_path / "checks")
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", shutil.which("false"))
        assert file_checks.of(sample_zim).state == "unopenable"
    assert file_checks.of(sample_zim).state == "sound"


def test_a_slow_disk_does_not_condemn_a_file(sample_zim: Path) -> None:
    """A check that takes too long says so, and is not a lasting result."""
    file_check = integrity.probe(sample_zim, check=False, timeout_s=0.001)
    assert (file_check.state, file_check.is_conclusive) == ("unopenable", False)
