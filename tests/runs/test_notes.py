"""Notes beside a run: nothing written is lost, and the run stays what it was."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verify.verified_runs import a_finished_run, proved

from kiwiresearch.errors import BadUsage, CannotWrite, NoteChanged, RunNotFound
from kiwiresearch.export.brief_files import note_as_text
from kiwiresearch.ids import BookId
from kiwiresearch.runs import note_file
from kiwiresearch.runs.note_file import LOCK, NOTES
from kiwiresearch.runs.notes import (
    MAX_REASON,
    WHOLE_RUN,
    NoteOpinion,
    NoteTarget,
    add_note,
    change_note,
    plain_text,
    read_notes,
    set_gone,
)
from kiwiresearch.system import FileLock
from kiwiresearch.zim.archive import EntryRef

CLAIM = NoteTarget("claim", "sha256:1")
AGREE = NoteOpinion("agree")
DOUBT = NoteOpinion("doubt", "The page names no source.")
NOW = "2026-03-04T05:06:07+00:00"
LATER = "2026-03-05T05:06:07+00:00"


def test_a_run_without_notes_has_none(tmp_path: Path) -> None:
    """Reading makes no file."""
    assert read_notes(tmp_path).notes == ()
    assert list(tmp_path.iterdir()) == []


def test_a_note_reads_as_it_was_written(tmp_path: Path) -> None:
    """Its target, verdict, words and time come back, in the order in which notes were made."""
    page = NoteTarget.of_page(EntryRef(BookId("b-1"), "Salt_road"))
    first = add_note(
        tmp_path, CLAIM, NoteOpinion("correct", "Misprint:\r\n118", "It is 118 km long."), now=NOW, about="x"
    )
    second = add_note(tmp_path, page, AGREE, now=NOW)
    third = add_note(tmp_path, WHOLE_RUN, DOUBT, now=LATER)
    assert read_notes(tmp_path).notes == (first, second, third)
    assert first.reason == "Misprint:\n118"
    assert page.id == "zim://b-1/Salt_road"
    assert read_notes(tmp_path).notes_on(page) == (second,)


def test_a_note_sent_twice_is_one(tmp_path: Path) -> None:
    """A double click makes no second note; the same words on another day do."""
    assert add_note(tmp_path, CLAIM, DOUBT, now=NOW) == add_note(tmp_path, CLAIM, DOUBT, now=NOW)
    assert len(read_notes(tmp_path).notes) == 1
    add_note(tmp_path, CLAIM, DOUBT, now=LATER)
    assert len(read_notes(tmp_path).notes) == 2


OF_NOBODY = (
    '{"about":"Salt was carried.","changed":"","correction":"","id":"note-fb6701033bad909a3d056dc6",'
    '"made":"2026-03-04T05:06:07+00:00","reason":"The page names no source.",'
    '"target":{"id":"sha256:1","kind":"claim"},"verdict":"doubt"}\n'
)


def test_a_note_of_nobody_names_nobody(tmp_path: Path) -> None:
    """Without users, a note is written and shown without an author."""
    note = add_note(tmp_path, CLAIM, DOUBT, now=NOW, about="Salt was carried.")
    assert (tmp_path / NOTES).read_text(encoding="utf-8") == OF_NOBODY
    assert note_as_text(note) == "Doubted (2026-03-04): The page names no source."


def test_a_note_keeps_its_author(tmp_path: Path) -> None:
    """A user who changes it is named beside it, until its author does; two who say the same have a note each."""
    notes = [add_note(tmp_path, CLAIM, DOUBT, now=NOW, author=name) for name in ("Ada", "Ben")]
    assert read_notes(tmp_path).notes == tuple(notes)
    changed = change_note(tmp_path, notes[0].id, AGREE, now=LATER, editor="Olga")
    assert (changed.author, changed.editor) == ("Ada", "Olga")
    assert note_as_text(changed) == "Agreed by Ada (2026-03-05, edited by Olga)."
    again = change_note(tmp_path, notes[0].id, DOUBT, now=LATER, editor="Ada")
    assert read_notes(tmp_path).notes == (again, notes[1])
    assert (again.author, again.editor) == ("Ada", "")
    unnamed = change_note(tmp_path, notes[0].id, AGREE, now=LATER)
    assert (unnamed.author, unnamed.editor) == ("Ada", "?"), "what nobody signed is not told as the author's own"


def test_a_changed_note_keeps_its_name_place_and_first_time(tmp_path: Path) -> None:
    """The last change is shown."""
    note = add_note(tmp_path, CLAIM, DOUBT, now=NOW, about="Salt was carried.")
    add_note(tmp_path, WHOLE_RUN, AGREE, now=NOW)
    change_note(tmp_path, note.id, AGREE, now=LATER)
    found = read_notes(tmp_path).notes
    assert (found[0].id, found[0].verdict, found[0].reason) == (note.id, "agree", "")
    assert (found[0].made, found[0].changed, found[0].about) == (NOW, LATER, "Salt was carried.")


def test_of_two_changes_at_once_only_one_is_written(tmp_path: Path) -> None:
    """Both have seen the same version, and neither can cross the other between looking and writing."""
    note = add_note(tmp_path, CLAIM, AGREE, now=NOW)

    def change(number: int) -> bool:
        try:
            change_note(tmp_path, note.id, NoteOpinion("doubt", f"Reason {number}"), now=LATER, seen=note.version)
        except NoteChanged:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(change, range(8))) == 1
    assert len((tmp_path / NOTES).read_text(encoding="utf-8").splitlines()) == 2


def test_a_deleted_note_can_be_restored(tmp_path: Path) -> None:
    """Deleting is a line too: the words stay in the file."""
    note = add_note(tmp_path, CLAIM, DOUBT, now=NOW)
    set_gone(tmp_path, note.id, now=LATER, gone=True)
    assert read_notes(tmp_path).notes == ()
    assert read_notes(tmp_path).gone == (note,)
    set_gone(tmp_path, note.id, now=LATER, gone=False)
    assert read_notes(tmp_path).notes == (note,)
    assert len((tmp_path / NOTES).read_text(encoding="utf-8").splitlines()) == 3


def test_a_note_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """Nothing is written for it."""
    with pytest.raises(RunNotFound, match="note 'note-1' was not found"):
        set_gone(tmp_path, "note-1", now=NOW, gone=True)
    assert not (tmp_path / NOTES).exists()


WRONG = [
    ("agree?", "", "", "agree, doubt or correct"),
    ("doubt", " \n", "", "reason"),
    ("correct", "why", "", "correct wording"),
    ("correct", "", "words", "reason"),
    ("agree", "x" * (MAX_REASON + 1), "", "2,000"),
    ("correct", "why", "x" * (MAX_REASON + 1), "2,000"),
]


@pytest.mark.parametrize(("verdict", "reason", "correction", "expected"), WRONG)
def test_an_opinion_says_why(verdict: str, reason: str, correction: str, expected: str) -> None:
    """Only who agrees may be silent."""
    with pytest.raises(BadUsage, match=expected):
        NoteOpinion(verdict, reason, correction)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "name"), [("claim", ""), ("run", "x"), ("book", "x"), ("page", "x" * 5_000)])
def test_a_note_is_about_something_of_the_run(kind: str, name: str) -> None:
    with pytest.raises(BadUsage, match="a claim, a page or the whole run"):
        NoteTarget(kind, name)  # type: ignore[arg-type]


@given(st.text(max_size=60))
def test_any_words_come_back(words: str) -> None:
    """Whatever is typed can be written and read, but for characters that no text has."""
    kept = plain_text(words)
    assert plain_text(kept) == kept
    kept.encode("utf-8")


DAMAGE = [
    b"{}\n",
    b"not json\n",
    b'{"id": 1}\n',
    b'{"gone": true, "id": "never made"}\n',
    b"[[[[\n",
    b"\xff\xfe\n",
    b'{"about":"","changed":"","correction":"","id":"n","made":"","reason":"","target":{"id":"","kind":"run"},'
    b'"verdict":"praise"}\n',
]


@pytest.mark.parametrize("line", DAMAGE)
def test_damaged_lines_are_reported_and_cost_no_other_note(tmp_path: Path, line: bytes) -> None:
    """Whatever is in a line, the notes before and behind it are read."""
    one = add_note(tmp_path, CLAIM, DOUBT, now=NOW)
    with (tmp_path / NOTES).open("ab") as stream:
        stream.write(line)
    other = add_note(tmp_path, CLAIM, DOUBT, now=LATER)
    found = read_notes(tmp_path)
    assert found.notes == (one, other)
    assert found.damaged == (2,)


def test_a_torn_line_takes_no_other_with_it(tmp_path: Path) -> None:
    """After a power cut the next note begins on a line of its own."""
    one = add_note(tmp_path, CLAIM, DOUBT, now=NOW)
    with (tmp_path / NOTES).open("ab") as stream:
        stream.write(b'{"about":"half a no')
    other = add_note(tmp_path, CLAIM, DOUBT, now=LATER)
    assert read_notes(tmp_path).notes == (one, other)


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight threads and another process write at the same time, and every note is there."""
    program = (
        "import sys; from pathlib import Path; from kiwiresearch.runs.notes import *\n"
        "for n in range(40): add_note(Path(sys.argv[1]), NoteTarget('run'), NoteOpinion('doubt', f'p{n}'), now='then')"
    )
    other = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    with ThreadPoolExecutor(8) as pool:
        for n in range(80):
            pool.submit(add_note, tmp_path, WHOLE_RUN, NoteOpinion("doubt", f"t{n}"), now=NOW)
    assert other.wait() == 0
    found = read_notes(tmp_path)
    assert {note.reason for note in found.notes} == {f"p{n}" for n in range(40)} | {f"t{n}" for n in range(80)}
    assert found.damaged == ()


def test_a_file_that_cannot_be_locked_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_file, "TIMEOUT_S", 0.05)
    lock = FileLock(tmp_path / LOCK)
    assert lock.acquire()
    try:
        with pytest.raises(CannotWrite, match="Try again"):
            add_note(tmp_path, CLAIM, AGREE, now=NOW)
    finally:
        lock.release()


@pytest.mark.parametrize("name", [NOTES, LOCK])
def test_a_link_leads_no_note_out_of_the_run(tmp_path: Path, name: str) -> None:
    """A run from elsewhere may have anything: nothing is written or read through a link."""
    outside, run = tmp_path / "outside", tmp_path / "run"
    run.mkdir()
    (run / name).symlink_to(outside)
    with pytest.raises(CannotWrite, match="is not a regular file"):
        add_note(run, CLAIM, AGREE, now=NOW)
    assert not outside.exists()
    assert read_notes(run).notes == ()


def test_notes_that_fill_their_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notes that are there stay as they are."""
    note = add_note(tmp_path, CLAIM, AGREE, now=NOW)
    monkeypatch.setattr(note_file, "MAX_BYTES", (tmp_path / NOTES).stat().st_size + 10)
    with pytest.raises(CannotWrite, match="too many"):
        add_note(tmp_path, CLAIM, AGREE, now=LATER)
    assert read_notes(tmp_path).notes == (note,)


def test_a_run_with_notes_is_still_proved(tmp_path: Path) -> None:
    """Notes are not part of the run: its manifest, its seal and its proof are the same as before."""
    run = a_finished_run(tmp_path)
    add_note(run, WHOLE_RUN, DOUBT, now=NOW)
    assert proved(run).holds
    assert NOTES not in (run / "manifest.json").read_text(encoding="utf-8")
