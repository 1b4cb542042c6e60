from __future__ import annotations

import json
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.bulk.bulk_book import METADATA, TABLES, id_of, number_of, read_here, tables_here
from tests.bulk.deadly_worker import run_deadly_worker

from kiwiresearch.bulk import process_engine
from kiwiresearch.bulk.batch import BulkWork, EntryReader, FinishedBatch, pack_batch
from kiwiresearch.bulk.finished_folder import BulkManifest, open_folder
from kiwiresearch.bulk.process_engine import by_processes
from kiwiresearch.bulk.run import BulkProgress, write_book
from kiwiresearch.bulk.tables import RowTally, from_parquet, page_tally
from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken, KiwiError
from kiwiresearch.system import FileLock
from kiwiresearch.zim.book_writer import write_book as write_zim

Filled = Callable[..., BulkManifest]
Digests = dict[str, tuple[int, str]]


@pytest.fixture
def fill(harrow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Filled:
    """Works through the book in this process; the rest is as always."""
    monkeypatch.setattr("kiwiresearch.bulk.run.by_processes", read_here)

    def start(out: str = "out", what: tuple[str, ...] = TABLES, **options: object) -> BulkManifest:
        given = {"version": "1.2.3"} | options
        return write_book(harrow, what, tmp_path / out, **given).manifest  # type: ignore[arg-type]

    return start


def digests(manifest: BulkManifest) -> Digests:
    return {name: (table.rows, table.digest) for name, table in manifest.tables.items()}


@pytest.fixture(scope="module")
def whole(harrow: Path, tmp_path_factory: pytest.TempPathFactory) -> Digests:
    """The digests of the whole book, done at once."""
    return digests(tables_here(harrow, TABLES, tmp_path_factory.mktemp("whole") / "out", version="1.2.3"))


class Stop(Exception):
    """Somebody has had enough."""


def stop_after(count: int) -> Callable[[BulkProgress], None]:
    reports: list[BulkProgress] = []

    def tell(progress: BulkProgress) -> None:
        reports.append(progress)
        if len(reports) == count:
            raise Stop

    return tell


def test_rows_do_not_depend_on_batches(fill: Filled) -> None:
    """One batch, many and uneven ones give the same rows and digests."""
    at_once = fill("at once", batch=500)
    assert digests(fill("five", batch=5)) == digests(at_once)
    assert digests(fill("one", batch=1)) == digests(at_once)
    assert at_once.tables["pages"].rows == 14
    assert len(at_once.tables["pages"].shards) == 1


def test_rows_do_not_depend_on_processes(harrow: Path, tmp_path: Path, whole: Digests) -> None:
    """Two real processes give what one does, and every shard opens as the table it is of."""
    archive_work = write_book_with_processes(harrow, tmp_path / "both")
    assert digests(archive_work) == whole
    folder = open_folder(tmp_path / "both")
    for name, table in archive_work.tables.items():
        assert sum(1 for file in folder.shards(name) for _ in from_parquet(name, file)) == table.rows


def write_book_with_processes(harrow: Path, out: Path) -> BulkManifest:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kiwiresearch.bulk.run.by_processes", by_processes)
        return write_book(harrow, TABLES, out, version="1.2.3", workers=2, batch=4).manifest


def test_the_manifest_names_book_and_version(fill: Filled, harrow: Path) -> None:
    """It names the book, its checksum, the version and the tables, and has nothing that differs between two runs."""
    first, second = fill("first"), fill("second")
    assert first == second
    assert (first.book.id, first.book.title, first.book.file) == (id_of(harrow), METADATA["Title"], "harrow.zim")
    assert (first.version, first.what, first.book.date) == ("1.2.3", TABLES, "2026-01-01")
    assert len(first.book.checksum) == 32


def test_the_fingerprint_is_of_what_rows_depend_on(fill: Filled) -> None:
    """Other tables or another version give another one; batches do not."""
    first = fill("first", ("pages",))
    assert fill("second", ("pages",), batch=2).fingerprint == first.fingerprint
    assert fill("third", ("links",)).fingerprint != first.fingerprint
    assert fill("fourth", ("pages",), version="1.2.4").fingerprint != first.fingerprint


def test_titles_alone_read_no_page(fill: Filled) -> None:
    """A page that cannot be read still has its title, and only what is not a page is an error."""
    manifest = fill("titles", ("titles",))
    assert (manifest.tables["titles"].rows, manifest.tables["errors"].rows) == (17, 2)


def test_a_finished_folder_is_left_as_it_is(fill: Filled, tmp_path: Path) -> None:
    """The same command says that there is nothing to do, and does nothing."""
    first = fill(batch=3)
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.parquet")}
    assert fill(batch=3, tell=stop_after(1)) == first
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.parquet")} == before


def test_a_stopped_run_continues(fill: Filled, whole: Digests, tmp_path: Path) -> None:
    """Batches that were finished are not done again, even when another size is asked for, and the rows are the same."""
    with pytest.raises(Stop):
        fill(batch=3, tell=stop_after(2))
    assert not (tmp_path / "out" / "manifest.json").exists()
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("*.parquet")}
    reports: list[BulkProgress] = []
    assert digests(fill(batch=5, tell=reports.append)) == whole
    assert all(file.stat().st_mtime_ns == time for file, time in kept.items())
    assert reports[0] == BulkProgress(6, 19, 6, reports[0].errors)
    assert reports[-1] == BulkProgress(19, 19, 6, 2)


def test_a_batch_whose_shard_was_changed_is_done_again(fill: Filled, whole: Digests, tmp_path: Path) -> None:
    """What is not as it was written does not count as done."""
    with pytest.raises(Stop):
        fill(batch=3, tell=stop_after(2))
    shard = tmp_path / "out" / "pages" / "000001.parquet"
    shard.write_bytes(shard.read_bytes()[:-1])
    assert digests(fill(batch=3)) == whole


def test_a_line_that_lacks_a_table_counts_as_not_done(fill: Filled, whole: Digests, tmp_path: Path) -> None:
    """A batch is done when all of its tables are, also those without rows."""
    with pytest.raises(Stop):
        fill(batch=3, tell=stop_after(3))
    journal = tmp_path / "out" / ".kiwiresearch" / "done.jsonl"
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    del lines[1]["shards"]["claims"]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    reports: list[BulkProgress] = []
    assert digests(fill(batch=3, tell=reports.append)) == whole
    assert reports[0].resumed == 6


def test_a_batch_that_lacks_a_table_is_refused(
    fill: Filled, whole: Digests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is kept, whichever engine has lost the rest."""

    def halved(work: BulkWork, numbers: list[int], _: int) -> Iterator[FinishedBatch]:
        for number in numbers:
            made = pack_batch(number, EntryReader(work.file, work.book, work.tables).rows(work.ids(number)))
            yield FinishedBatch(number, made.shards[:2])
            yield FinishedBatch(number, made.shards[2:])

    with monkeypatch.context() as patch:
        patch.setattr("kiwiresearch.bulk.run.by_processes", halved)
        with pytest.raises(KiwiError, match="Batch 0 does not have all of its tables"):
            fill()
    assert not list((tmp_path / "out").rglob("*.parquet"))
    assert digests(fill()) == whole


def test_a_torn_line_counts_as_not_done(fill: Filled, whole: Digests, tmp_path: Path) -> None:
    """A journal that ends in the middle of a line, or has nonsense, costs those batches and nothing else."""
    with pytest.raises(Stop):
        fill(batch=3, tell=stop_after(3))
    journal = tmp_path / "out" / ".kiwiresearch" / "done.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(
        lines[0] + b'{"number":"x","shards":{}}\n[1]\n{"number":1,"shards":3}\n\xff\n' + lines[1] + lines[2][:-9]
    )
    (tmp_path / "out" / "pages" / ".000002.parquet.12345678").write_bytes(b"half")
    assert digests(fill(batch=3)) == whole
    assert not list((tmp_path / "out" / "pages").glob(".*"))


@pytest.mark.parametrize(
    ("what", "version", "expected"),
    [(("pages",), "1.2.3", "other tables of this book"), (TABLES, "2.0.0", "another version of kiwiresearch")],
)
@pytest.mark.parametrize("started", [True, False], ids=["started", "finished"])
def test_other_rows_in_the_same_folder_are_refused(
    fill: Filled, what: tuple[str, ...], version: str, expected: str, started: bool
) -> None:
    """A folder that was started or finished for other rows stays as it is, and the error says what it has."""
    if started:
        with pytest.raises(Stop):
            fill(batch=3, tell=stop_after(1))
    else:
        fill()
    with pytest.raises(FolderTaken, match=expected):
        fill(what=what, version=version)


def test_another_book_in_the_same_folder_is_refused(fill: Filled, tmp_path: Path) -> None:
    """Two books are never mixed."""
    fill()
    write_zim(tmp_path / "other.zim", [], metadata=METADATA | {"Title": "Other"}, index=False)
    with pytest.raises(FolderTaken, match="another book, 'Harrow book' \\(2026-01-01\\)"):
        write_book(tmp_path / "other.zim", TABLES, tmp_path / "out", version="1.2.3")


def test_a_folder_of_somebody_else_is_refused(fill: Filled, tmp_path: Path) -> None:
    """Nothing is written into it, not even a lock."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("Dear")
    with pytest.raises(FolderTaken, match=r"do not belong to a bulk folder\. Choose another folder with --out\.$"):
        fill()
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["letter.txt"]


def test_a_file_in_place_of_the_folder_is_refused(fill: Filled, tmp_path: Path) -> None:
    """A file is not a folder."""
    (tmp_path / "out").write_text("Dear")
    with pytest.raises(FolderTaken, match=r"is not a folder\. Choose another folder with --out\.$"):
        fill()


def test_two_at_once_are_refused(fill: Filled, tmp_path: Path) -> None:
    """The second one gets the error that another process is at work."""
    with pytest.raises(Stop):
        fill(batch=3, tell=stop_after(1))
    lock = FileLock(tmp_path / "out" / ".kiwiresearch" / "lock")
    assert lock.acquire()
    with pytest.raises(FolderTaken, match="Another process"):
        fill()
    lock.release()
    fill()


def test_a_plan_that_cannot_be_read_is_refused(fill: Filled, tmp_path: Path) -> None:
    """Nothing of it is overwritten, whichever program wrote it."""
    (tmp_path / "out" / ".kiwiresearch").mkdir(parents=True)
    (tmp_path / "out" / ".kiwiresearch" / "plan.json").write_text('{"book": 3}')
    with pytest.raises(FolderTaken, match="unfinished work that cannot be read"):
        fill()


def test_a_manifest_that_cannot_be_used_is_refused(fill: Filled, tmp_path: Path) -> None:
    """A damaged folder is not written over."""
    fill()
    (tmp_path / "out" / "manifest.json").write_text("{}")
    with pytest.raises(FolderTaken, match="a manifest that cannot be used"):
        fill()


def test_a_full_disk_is_reported_and_continued_from(fill: Filled, whole: Digests, tmp_path: Path) -> None:
    """A file that does not fit any more ends the work with what to do; what was finished stays."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, before[1]))
    try:
        with pytest.raises(CannotWrite, match="Free up disk space, then start again"):
            fill(batch=3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not list((tmp_path / "out").rglob("*.parquet.*"))
    assert digests(fill(batch=3)) == whole


def test_a_book_without_articles_has_tables_without_rows(tmp_path: Path) -> None:
    """Every table can be opened, whatever is in the book."""
    write_zim(tmp_path / "empty.zim", [], metadata=METADATA, index=False)
    manifest = tables_here(tmp_path / "empty.zim", TABLES, tmp_path / "out", version="1")
    assert {table.rows for table in manifest.tables.values()} == {0}
    assert all(open_folder(tmp_path / "out").shards(name) for name in manifest.tables)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"engine": "dask"}, "Unknown engine 'dask'"),
        ({"address": "10.0.0.1:6379"}, "--address works only with --engine ray"),
        ({"workers": -1}, "--workers cannot be -1"),
        ({"workers": 100_000}, "--workers cannot be 100000"),
        ({"batch": 100_001}, "--batch cannot be 100001"),
    ],
)
def test_invalid_options_are_refused(fill: Filled, tmp_path: Path, options: dict[str, object], expected: str) -> None:
    """Before anything is written."""
    with pytest.raises(BadUsage, match=expected):
        fill(**options)
    assert not (tmp_path / "out").exists()


def test_a_process_that_dies_of_a_page_costs_that_page_alone(
    harrow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its batch is done by another process, and the page becomes a row in errors, however many such pages there are."""
    numbers = {path: number_of(harrow, path) for path in ("Plain_1", "Plain_4")}
    monkeypatch.setenv("BULK_DEADLY_ENTRIES", " ".join(map(str, numbers.values())))
    monkeypatch.setattr(process_engine, "run_worker", run_deadly_worker)
    manifest = write_book(harrow, ("pages",), tmp_path / "out", version="1", workers=1).manifest
    result = [row for file in open_folder(tmp_path / "out").shards("errors") for row in from_parquet("errors", file)]
    for path, number in numbers.items():
        assert (number, path, "read", "The process that was reading it crashed.") in result
    assert manifest.tables["pages"].rows == 12


def test_a_process_that_always_dies_ends_the_work_with_a_reason(
    harrow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says how to continue, and nothing hangs."""
    monkeypatch.setenv("BULK_DEADLY_ENTRIES", "start")
    monkeypatch.setattr(process_engine, "run_worker", run_deadly_worker)
    with pytest.raises(KiwiError, match=r"crashed \(exit code -9\).*fewer --workers"):
        write_book(harrow, ("pages",), tmp_path / "out", version="1", workers=1)


def test_tallies_can_be_added_in_any_order() -> None:
    """The digest of a table is the same from whatever parts it is made, and differs where a row does."""
    one, two, three = (page_tally([(n, "a", n + 1)]) for n in range(3))
    assert (one + two) + three == three + (two + one)
    assert (one + two).digest != (one + three).digest
    assert RowTally() + one == one
    assert page_tally([(1, "a"), (1, "b")]) != page_tally([(1, "b"), (1, "a")])


def test_the_manifest_is_written_as_it_is_read(fill: Filled, tmp_path: Path) -> None:
    """The record of a folder comes back the same."""
    manifest = fill()
    assert open_folder(tmp_path / "out").manifest == manifest
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes()) == json.loads(json.dumps(manifest.record()))
    shutil.copytree(tmp_path / "out", tmp_path / "moved")
    assert open_folder(tmp_path / "moved").manifest == manifest
