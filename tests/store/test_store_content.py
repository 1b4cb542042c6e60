"""Parts, files and notes: byte for byte, all or none, and checked when they are read."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.stores import LEASE_S, Opener, changed, opened

from kiwiresearch.errors import CannotWrite, RunNotFound, StoreDamaged
from kiwiresearch.store import runs
from kiwiresearch.store.store import Store

LARGE = bytes(range(256)) * 10_000
"""More than two pieces."""


def holder(store: Store) -> str:
    """A worker that has started the job x-1."""
    store.jobs.add("x", "research", {})
    job = store.leases.lease_next("w", ["research"], lease_s=LEASE_S)
    assert job is not None
    return job.holder


def part(store: Store, name: str = "steps") -> bytes:
    return b"".join(store.unfinished_files.read("x-1", name))


def test_parts_grow_by_what_is_appended(store: Store, another: Opener) -> None:
    """Several files at once, in pieces of any size, come back byte for byte on another host."""
    who = holder(store)
    store.unfinished_files.append(who, "x-1", {"steps": (0, b"one\n"), "corpus": (0, LARGE)})
    store.unfinished_files.append(who, "x-1", {"steps": (4, b"two\n"), "claims": (0, b"")})
    store.unfinished_files.append(who, "x-1", {"corpus": (len(LARGE), b"\0end")})
    other = another()
    assert other.unfinished_files.sizes("x-1") == {"steps": 8, "corpus": len(LARGE) + 4}
    assert (part(other), part(other, "corpus")) == (b"one\ntwo\n", LARGE + b"\0end")
    assert (part(other, "claims"), other.unfinished_files.sizes("y-1")) == (b"", {})
    store.unfinished_files.drop("x-1")
    assert (other.unfinished_files.sizes("x-1"), part(other)) == ({}, b"")


def test_a_write_cuts_off_everything_after_its_start(store: Store) -> None:
    """A write before the end takes away what was there from its start on."""
    who = holder(store)
    for start in (0, 1, 2**20 - 1, 2**20, 2**20 + 1, len(LARGE) - 1):
        store.unfinished_files.append(who, "x-1", {"steps": (0, LARGE)})
        store.unfinished_files.append(who, "x-1", {"steps": (start, b"new")})
        assert part(store) == LARGE[:start] + b"new"
        store.unfinished_files.append(who, "x-1", {"steps": (start, b"")})
        assert store.unfinished_files.sizes("x-1").get("steps", 0) == start
        assert part(store) == LARGE[:start]


def test_a_gap_is_refused_and_nothing_of_the_write_is_kept(store: Store) -> None:
    """Bytes beyond the end would hide what is missing, so no file of that write grows."""
    who = holder(store)
    with pytest.raises(ValueError, match="has 0 bytes"):
        store.unfinished_files.append(who, "x-1", {"corpus": (0, b"kept?"), "steps": (5, b"late")})
    assert store.unfinished_files.sizes("x-1") == {}


Write = tuple[int, bytes]


@settings(max_examples=12)
@given(writes=st.lists(st.tuples(st.integers(0, 12), st.binary(max_size=9)), max_size=8))
def test_parts_are_like_a_file_that_is_cut_and_appended_to(
    tmp_path_factory: pytest.TempPathFactory, writes: list[Write]
) -> None:
    """After any writes the bytes are those of a file that was treated the same way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "PIECE_BYTES", 4)
        with opened(f"sqlite:///{tmp_path_factory.mktemp('law')}/store.sqlite") as store:
            who, file = holder(store), b""
            for start, content in writes:
                start = min(start, len(file))
                file = file[:start] + content
                store.unfinished_files.append(who, "x-1", {"steps": (start, content)})
                assert (part(store), store.unfinished_files.sizes("x-1").get("steps", 0)) == (file, len(file))


BOMB = zlib.compress(b"\0" * 2**24)


def test_damaged_rows_are_noticed(store: Store, store_url: str) -> None:
    """Bytes that are not what was written are never handed out as if they were, nor do they fill the memory."""
    who = holder(store)
    store.unfinished_files.append(who, "x-1", {"steps": (0, b"one\n")})
    store.run_files.put(who, "x-1", {"steps": b"one\n"})
    for row in (b"", b"\0", BOMB):
        for table in ("kiwi_part", "kiwi_piece"):
            changed(store_url, f"UPDATE {table} SET packed = {_literal(row, store)}")
        with pytest.raises(StoreDamaged, match="'steps' of the job"):
            part(store)
        with pytest.raises(StoreDamaged, match="'steps' of the run"):
            store.run_files.read("x-1", "steps")


def _literal(row: bytes, store: Store) -> str:
    return f"decode('{row.hex()}', 'hex')" if store.is_server else f"x'{row.hex()}'"


@pytest.mark.parametrize(
    "harm",
    ["DELETE FROM kiwi_piece WHERE number = 1", "UPDATE kiwi_file SET sha256 = 'x'", "UPDATE kiwi_file SET size = 5"],
)
def test_a_file_that_is_not_whole_is_refused(store: Store, store_url: str, harm: str) -> None:
    """A missing piece, or one too few, is noticed by the hash of the whole."""
    store.run_files.put("", "run-1", {"corpus.jsonl": LARGE})
    changed(store_url, harm)
    with pytest.raises(StoreDamaged, match=r"'corpus\.jsonl' of the run 'run-1'"):
        store.run_files.read("run-1", "corpus.jsonl")


def test_the_files_of_a_run_come_back_as_they_were_put(store: Store, another: Opener, tmp_path: Path) -> None:
    """Given as bytes or as paths, small, large or empty, with the hash of each."""
    (tmp_path / "corpus.jsonl").write_bytes(LARGE)
    files: dict[str, bytes | Path] = {"a/brief.md": b"# Galaxy", "empty": b"", "corpus": tmp_path / "corpus.jsonl"}
    store.run_files.put("", "galaxy-1", files)
    other = another()
    wanted = {"a/brief.md": b"# Galaxy", "corpus": LARGE, "empty": b""}
    assert {name: other.run_files.read("galaxy-1", name) for name in other.run_files.names("galaxy-1")} == wanted
    assert other.run_files.names("galaxy-1") == {name: sha256(one).hexdigest() for name, one in wanted.items()}
    assert [len(piece) for piece in other.run_files.pieces("galaxy-1", "corpus")] == [2**20, 2**20, len(LARGE) - 2**21]


def test_a_run_that_is_put_again_has_a_revision_that_no_run_had(store: Store) -> None:
    """A client with a copy sees that it is old, even if the run was removed in between."""
    store.run_files.put("", "a-1", {"one": b"1", "two": b"2"})
    store.run_files.put("", "b-1", {})
    store.run_files.put("", "a-1", {"one": b"3"})
    assert (store.run_files.runs(), list(store.run_files.names("a-1"))) == ([("a-1", 3), ("b-1", 2)], ["one"])
    store.run_files.remove("a-1")
    assert (store.run_files.revision("a-1"), store.run_files.names("a-1")) == (None, {})
    with pytest.raises(RunNotFound):
        store.run_files.read("a-1", "one")
    store.run_files.put("", "a-1", {"one": b"1"})
    assert store.run_files.revision("a-1") == 4


def test_the_later_put_of_a_run_wins(store: Store, store_url: str) -> None:
    """Two at once leave the files of one of them, complete, and nothing of the other."""

    class Slow(_Files):
        def __getitem__(self, name: str) -> bytes:
            if name == "b":
                store.run_files.put("", "a-1", {"a": b"later", "c": b"later"})
            return b"earlier"

    store.run_files.put("", "a-1", Slow())
    assert (store.run_files.runs(), list(store.run_files.names("a-1"))) == ([("a-1", 2)], ["a", "c"])
    assert store.run_files.read("a-1", "c") == b"later"
    assert changed(store_url, "DELETE FROM kiwi_piece") == 2


@pytest.mark.parametrize("keep_id", [False, True])
def test_removing_a_run_leaves_a_new_put_alone(store: Store, store_url: str, keep_id: bool) -> None:
    """The old files go, and the new ones are complete."""
    store.run_files.put("", "a-1", {"a": b"old"})

    class Slow(_Files):
        def __getitem__(self, name: str) -> bytes:
            if name == "b":
                assert changed(store_url, "UPDATE kiwi_piece SET number = number") > 1, "some of it is there already"
                store.run_files.remove("a-1", keep_id=keep_id)
                assert store.run_files.runs() == []
            return LARGE * 2

    store.run_files.put("", "a-1", Slow())
    assert [store.run_files.read("a-1", name) for name in store.run_files.names("a-1")] == [LARGE * 2] * 2
    assert (store.run_files.revision("a-1"), store.run_files.was_removed("a-1")) == (2, False)
    store.run_files.remove("a-1")
    assert changed(store_url, "DELETE FROM kiwi_piece") == 0


def test_the_id_of_a_removed_run_can_be_kept(store: Store) -> None:
    """Then no other job gets it, and a client of the run can distinguish "removed" from "missing"."""
    for number in (1, 2):
        store.run_files.put("", f"a-{number}", {"a": b"old"})
        store.run_files.remove(f"a-{number}", keep_id=number == 1)
    store.run_files.remove("a-3", keep_id=True)
    assert [store.run_files.was_removed(f"a-{number}") for number in (1, 2, 3)] == [True, False, False]
    assert (store.run_files.runs(), store.run_files.revision("a-1"), store.run_files.names("a-1")) == ([], None, {})
    assert [store.jobs.add("a", "research", {}).id for _ in range(2)] == ["a-2", "a-3"]


class _Files(Mapping[str, bytes | Path]):
    """Two files, the second of which cannot be read."""

    def __getitem__(self, name: str) -> bytes:
        if name == "b":
            raise OSError("cannot be read")
        return LARGE * 2

    def __iter__(self) -> Iterator[str]:
        return iter("ab")

    def __len__(self) -> int:
        return 2


def test_all_files_of_a_run_are_put_or_none(store: Store, store_url: str) -> None:
    """If one of them cannot be read, the run stays as it was."""
    store.run_files.put("", "a-1", {"a": b"old"})
    with pytest.raises(OSError, match="cannot be read"):
        store.run_files.put("", "a-1", _Files())
    assert store.run_files.read("a-1", "a") == b"old"
    assert changed(store_url, "DELETE FROM kiwi_piece") == 1


MUCH = """
import resource, sys, time
from pathlib import Path
from kiwiresearch.store.store import open_store
with open_store(sys.argv[1], is_shared_store=True, clock=time.time) as store:
    store.run_files.put("", "warm-1", {"x": b"x" * 2**21})
    list(store.run_files.pieces("warm-1", "x"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    store.run_files.put("", "large-1", {"corpus": Path(sys.argv[2])})
    for piece in store.run_files.pieces("large-1", "corpus"):
        pass
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_large_run_needs_little_memory(store_url: str, tmp_path: Path) -> None:
    """A file of 32 MiB is put and read a piece at a time."""
    file = tmp_path / "corpus"
    with file.open("wb") as stream:
        for number in range(32):
            stream.write(sha256(bytes([number])).digest() * 2**15)
    done = subprocess.run(
        [sys.executable, "-c", MUCH, store_url, str(file)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 16 * 1024, "KiB more than before"


FULL = """
import os, resource, sys, time
from kiwiresearch.errors import KiwiError
from kiwiresearch.store.store import open_store
with open_store(sys.argv[1], is_shared_store=True, clock=time.time) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    try:
        store.run_files.put("", "large-1", {"small": b"x", "z": os.urandom(2_000_000)})
    except KiwiError as problem:
        print(type(problem).__name__, problem.message)
"""


def test_a_full_disk_gives_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    """When no more can be written, the write is taken back and the store stays whole."""
    url = f"sqlite:///{tmp_path}/store.sqlite"
    with opened(url) as store:
        store.run_files.put("", "small-1", {"x": b"x"})
    done = subprocess.run([sys.executable, "-c", FULL, url], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("CannotWrite "), done
    with opened(url) as store:
        assert [run for run, _ in store.run_files.runs()] == ["small-1"]
        assert store.run_files.read("small-1", "x") == b"x"
    assert changed(url, "DELETE FROM kiwi_piece") == 1


def test_notes_are_lines_in_the_order_of_their_writing(store: Store, another: Opener) -> None:
    """Any bytes are kept as they are, run by run, and are there for others when the block ends."""
    with store.notes.appending("a-1") as append:
        append(b'{"note": 1}\n')
        append(b"\xff\x00 no text")
        assert another().notes.lines("a-1") == []
    with another().notes.appending("b-1") as append:
        append(b"")
    assert store.notes.lines("a-1") == [b'{"note": 1}\n', b"\xff\x00 no text"]
    assert store.notes.lines("b-1") == [b""]
    store.notes.remove("a-1")
    assert (store.notes.lines("a-1"), store.notes.lines("b-1")) == ([], [b""])


def test_notes_of_a_block_that_fails_are_not_kept(store: Store) -> None:
    """Nothing of it is there, and the next can write."""

    def fails() -> None:
        with store.notes.appending("a-1") as append:
            append(b"one")
            raise RuntimeError("changed its mind")

    with pytest.raises(RuntimeError, match="changed its mind"):
        fails()
    with store.notes.appending("a-1") as append:
        append(b"two")
    assert store.notes.lines("a-1") == [b"two"]


def test_a_run_has_only_so_many_notes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a size no more are taken, and those that are there stay."""
    monkeypatch.setattr(runs, "MAX_NOTE_BYTES", 10)

    def write(line: bytes) -> None:
        with store.notes.appending("a-1") as append:
            append(line)

    write(b"12345")
    write("ééx".encode())
    with pytest.raises(CannotWrite, match="too many"):
        write(b"1")
    assert store.notes.lines("a-1") == [b"12345", "ééx".encode()]
