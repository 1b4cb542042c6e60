"""Families in the store: the same cases in folders, in an explicit file and on a PostgreSQL server."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete
from tests.cli.kin_book import LIVING, family_book

from kiwiresearch.cases import case as family
from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CaseLocation
from kiwiresearch.cases.imports import import_gedcom
from kiwiresearch.cases.registry import CaseRegistry, open_registry
from kiwiresearch.cases.repository import MAX_SECONDS_BEFORE_LOCK, NEW_PREFIX
from kiwiresearch.cases.review import proposed_merges
from kiwiresearch.errors import BadUsage, FolderTaken, KiwiError, NothingFound, RunDamaged
from kiwiresearch.jobs.family_work import work_on_case
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.process import JobSpec
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.kin.gedcom import MediaFile, gedcom_package
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.store import case as case_module
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.locks_and_schemas import LOCK, CaseSchemas
from kiwiresearch.kin.store.tables import AUDIT_HEAD
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace

RunCommand = Callable[..., tuple[int, str, str]]
KINDS = ("folder", "sqlite", "postgresql")
NOW = "2026-01-01T00:00:00Z"
SEED = "Edmund Wendover"
HEAD = "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
GEDCOM = (
    f"{HEAD}0 @I1@ INDI\n1 NAME Josiah /Wendover/\n1 SEX M\n1 BIRT\n2 DATE 4 JUN 1815\n1 DEAT\n2 DATE 9 MAY 1885\n"
    "0 @I2@ INDI\n1 NAME Tobias /Wendover/\n1 BIRT\n2 DATE 1 JAN 1845\n1 DEAT\n2 DATE 1 FEB 1900\n1 FAMC @F1@\n"
    "0 @F1@ FAM\n1 HUSB @I1@\n1 CHIL @I2@\n0 TRLR\n"
)
TWO_STEPS = """
import json, sys
from kiwiresearch.cli.kin import opened_case
with opened_case("edmund-wendover", writing=True, books=[]) as case:
    steps = case.steps()
    for _ in range(2):
        print(json.dumps({"event": next(steps).what}), flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return family_book(tmp_path_factory.mktemp("book"))


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


@pytest.fixture
def url_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """The URL of a new store of a kind; none for folders."""

    def make(kind: str) -> str:
        if kind == "folder":
            return ""
        if kind == "sqlite":
            return f"sqlite:///{tmp_path / 'kiwi.sqlite'}"
        database: Callable[[], str] = request.getfixturevalue("postgres_server")
        return database()

    return make


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, url_of: Callable[[str], str]) -> str:
    return url_of(request.param)


@pytest.fixture(params=KINDS[1:])
def store_url(request: pytest.FixtureRequest, url_of: Callable[[str], str]) -> str:
    return url_of(request.param)


@pytest.fixture
def here(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands are given."""
    (tmp_path / "place").mkdir()
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "place"


def a_desk(home: Path, url: str) -> Workspace:
    return open_workspace({"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_STORE": url})


@contextlib.contextmanager
def all_cases(home: Path, url: str) -> Iterator[CaseRegistry]:
    with contextlib.closing(open_registry(a_desk(home, url))) as cases:
        yield cases


@contextlib.contextmanager
def finding(desk: Workspace, book: Path) -> Iterator[Finder]:
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        yield finder


def test_cases_are_cases_wherever_they_are(url: str, tmp_path: Path) -> None:
    """Started, read, changed, listed by the last change and named by ids that name nobody, on every kind of store."""
    with all_cases(tmp_path / "home", url) as cases:
        assert cases.ids() == ()
        first, second = cases.start_empty("Nora Wendover"), cases.start_empty("Nora Wendover")
        assert set(cases.ids()) == {first, second}
        assert [Path(cases.location(one).title).name for one in (first, second)] == ["nora-wendover", "nora-wendover-2"]
        assert cases.find("nora-wendover-2") == second
        before = cases.summary(first, "public")
        with cases.reading(first) as seen:
            assert seen.tree().persons == {}
        with cases.opened_exclusively(first) as case:
            case.store.add_person("a", "Nora Wendover")
            with pytest.raises(FolderTaken, match=r"^Another program is using this case\. Wait"):
                cases.require_free(first)
            with pytest.raises(FolderTaken, match=r"^Another program"), cases.opened_exclusively(first):
                pass
            cases.require_free(second)
        cases.require_free(first)
        assert cases.ids() == (first, second), "the one that was changed last"
        assert (before.people, cases.summary(first, "public").people) == (0, 1)
        with cases.reading(first) as seen:
            assert list(seen.tree().persons) == ["a"]
        for odd in ("nora-wendover", "0" * 12, "..", "a\0b", first[:-1]):
            with pytest.raises(NothingFound):
                cases.location(odd)


def test_a_state_alone_is_seen(url: str, tmp_path: Path) -> None:
    """What another process changes in a case is seen at once, also what the audit log does not record."""
    with all_cases(tmp_path / "home", url) as cases:
        one = cases.start_empty("Ann Pell")
        assert cases.summary(one, "owner").stop == ""
        with Case.open(cases.location(one)) as case:
            case.store.set_state("stop", {"reason": "budget_exhausted", "words": "Enough."})
        assert cases.summary(one, "owner").stop == "budget_exhausted"


def test_the_same_steps_give_the_same_digest(
    url_of: Callable[[str], str], book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A family started, researched, imported into, merged and unmerged has the same rows on every kind of store."""
    monkeypatch.setattr(family, "now", lambda: NOW)
    (tmp_path / "tree.ged").write_text(GEDCOM)

    def digest(kind: str) -> str:
        desk = a_desk(tmp_path / kind, url_of(kind))
        with contextlib.closing(open_registry(desk)) as cases, finding(desk, book) as finder:
            one = cases.start(CaseSettings(seeds=(SEED,), budget=3), finder)
            with cases.opened_exclusively(one) as case:
                case.finder = finder
                assert [took.what for took in case.steps()][-1] == "stop"
                import_gedcom(case.store, tmp_path / "tree.ged")
                case.reevaluate()
                waiting = proposed_merges(case)
                assert waiting, "the file tells of somebody the book knows"
                # Not as an edit, whose hash is salted.
                pair = waiting[0].pair
                made = case.store.merges.merge(*pair, rationale="a", why_not_split="b", why_not_merge="c")
                case.store.merges.undo(made, why="two people")
                assert (case.store.verify_audit(), case.store.verify_rows()) == ((), ())
                return case.store.fingerprint()

    assert len({digest(kind) for kind in KINDS}) == 1


def test_commands_say_the_same(
    kiwi: RunCommand, here: Path, url_of: Callable[[str], str], book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line prints the same of a family in folders and in stores; only its name is a folder there."""
    monkeypatch.setattr(family, "now", lambda: NOW)

    def outputs(kind: str) -> list[tuple[int, str]]:
        monkeypatch.setenv("KIWIRESEARCH_STORE", url_of(kind))
        monkeypatch.setenv("KIWIRESEARCH_HOME", str(here / f"home-{kind}"))
        (here / "tree.ged").write_text(GEDCOM)
        rows = [
            kiwi("kin", "start", SEED, "--book", book, "--budget", "2"),
            kiwi("kin", "start", SEED, "--book", book),
            kiwi("kin", "run", "--json"),
            kiwi("kin", "import", "tree.ged", "--case", "edmund-wendover"),
            kiwi("kin", "show"),
            kiwi("kin", "show", "--json"),
            kiwi("kin", "merges", "--json", "--case", "edmund-wendover"),
            kiwi("kin", "log"),
            kiwi("kin", "export", "--to", "json", "--out", "out.json"),
            # The log has a salted hash of each change, so its fingerprint would differ after this.
            kiwi("kin", "living", "Hugh Wendover", "--set", "deceased", "--why", "a stone"),
            kiwi("kin", "cases"),
            kiwi("kin", "show", "--case", "nobody"),
            kiwi("kin", "plugins", "on", "wikidata", "--json"),
        ]
        assert (here / "out.json").stat().st_size
        return [(code, out.replace("cases/edmund-wendover", "edmund-wendover")) for code, out, _ in rows]

    plain = outputs("folder")
    assert [code for code, _ in plain] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
    for kind in KINDS[1:]:
        assert outputs(kind) == plain, kind
    assert {one.name for one in (here / "cases").iterdir()} == {"edmund-wendover"}, "that of the folder alone"


def test_no_message_says_whose_case_it_is_(url_of: Callable[[str], str], tmp_path: Path) -> None:
    """Neither the schema nor what a server says of a case has the name that its owner gave it, nor its address."""
    with all_cases(tmp_path / "home", url_of("postgresql")) as cases:
        one = cases.start_empty(LIVING[0])
        location = cases.location(one)
        assert "nora" not in str(location.database)
        location.discard()
        with pytest.raises(RunDamaged) as caught, cases.reading(one):
            pass
    assert "is not a case" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("nora", "postgresql", "search_path"))


def test_an_incomplete_case_is_not_in_the_store(store_url: str, book: Path, tmp_path: Path) -> None:
    """A case whose people are not found is not created, and the remains of a killed process go with the next one."""
    desk = a_desk(tmp_path / "home", store_url)
    with contextlib.closing(open_registry(desk)) as cases, finding(desk, book) as finder:
        with pytest.raises(NothingFound):
            cases.start(CaseSettings(seeds=("Zebulon Quux",)), finder)
        left = cases.root / f"{NEW_PREFIX}killed"
        Case.empty(left, CaseSettings()).close()
        # Killed before it had a file; the other is perhaps just being made.
        killed, beginning = (cases.root / f"{NEW_PREFIX}{name}" for name in ("early", "now"))
        for folder in (killed, beginning):
            folder.mkdir()
            (folder / LOCK).touch()
        before = killed.stat().st_mtime - MAX_SECONDS_BEFORE_LOCK - 1
        os.utime(killed, (before, before))
        assert cases.ids() == ()
        cases.start_empty("Ann Pell")
        assert list(cases.root.iterdir()) == [beginning]


def test_the_media_of_an_import_move_with_the_case(kiwi: RunCommand, here: Path, store_url: str) -> None:
    """Pictures of an imported package are exported from the store and from the folder it is moved out to."""
    lines = GEDCOM.replace("1 SEX M\n", "1 SEX M\n1 OBJE\n2 FILE portrait.png\n2 FORM png\n", 1)
    package = here / "family.gdz"
    package.write_bytes(gedcom_package(lines, [MediaFile("portrait.png", "image/png", b"\x89PNG picture")]))
    assert kiwi("kin", "import", package, "--case", "cases/wendover")[0] == 0

    def media(case: str) -> list[str]:
        assert kiwi("kin", "export", "--to", "gdz", "--out", "out.gdz", "--case", case, "--privacy", "owner")[0] == 0
        with zipfile.ZipFile(here / "out.gdz") as file:
            return [name for name in file.namelist() if name.endswith(".png")]

    assert media("cases/wendover") == ["portrait.png"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_STORE", store_url)
        assert kiwi("kin", "move", "cases/wendover")[0] == 0
        assert media("wendover") == ["portrait.png"]
        assert kiwi("kin", "move", "wendover", "--to", "back")[0] == 0
    assert media("back") == ["portrait.png"]


def test_a_case_moves_and_stays_the_same(kiwi: RunCommand, here: Path, store_url: str, book: Path) -> None:
    """From a folder into the store and out again it is the same row by row; nobody goes on with the file it left."""
    assert kiwi("kin", "start", SEED, "--book", book)[0] == 0
    shown = kiwi("kin", "show", "--json", "--case", "edmund-wendover")[1]
    with CaseStore.open(here / "cases/edmund-wendover/case.sqlite", str) as case:
        before = case.fingerprint()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_STORE", store_url)
        code, out, _ = kiwi("kin", "move", "cases/edmund-wendover")
        assert (code, out.splitlines()[:2]) == (
            0,
            ["Case: edmund-wendover", f"Checked: every row is the same in both places. Fingerprint: {before}"],
        )
        assert [one.name for one in (here / "cases/edmund-wendover").iterdir() if one.name != ".lock"] == [
            "moved-case.sqlite"
        ]
        assert kiwi("kin", "show", "--json", "--case", "edmund-wendover")[1] == shown
        assert kiwi("kin", "verify", "--book", book)[0] == 0
        assert json.loads(kiwi("kin", "move", "edmund-wendover", "--to", "back", "--json")[1])["fingerprint"] == before
        assert kiwi("kin", "cases")[1] == "No cases yet. Start one: kiwiresearch kin start 'NAME'\n"
        assert "The store has no case named 'back'." in kiwi("kin", "show", "--case", "back")[2]
        assert kiwi("kin", "show", "--json", "--case", "./back")[1] == shown, (
            "a path is a folder's, also beside a store"
        )
    assert kiwi("kin", "show", "--json", "--case", "back")[1] == shown


def test_an_invalid_move_is_refused(
    kiwi: RunCommand, here: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a store, onto another case, of no case, or with a copy that differs: an error, and everything stays."""
    copied = case_module.copy_rows

    def lossy(source: CaseDatabase, target: CaseDatabase) -> None:
        copied(source, target)
        target.run(delete(AUDIT_HEAD))

    Case.empty(here / "cases/ann", CaseSettings()).close()
    assert "No store is set up." in kiwi("kin", "move", "ann")[2]
    monkeypatch.setenv("KIWIRESEARCH_STORE", store_url)
    assert "No case was found in 'bob'." in kiwi("kin", "move", "bob")[2]
    with monkeypatch.context() as patch:
        patch.setattr(case_module, "copy_rows", lossy)
        assert "The copy of the case was not identical" in kiwi("kin", "move", "ann")[2]
    assert kiwi("kin", "cases")[1] == "No cases yet. Start one: kiwiresearch kin start 'NAME'\n"
    with CaseStore.open(here / "cases/ann/case.sqlite", str, for_changes=True):
        assert "Another command is working on the case in 'cases/ann'." in kiwi("kin", "move", "ann")[2]
    assert kiwi("kin", "move", "ann")[0] == 0
    Case.empty(here / "cases/ann", CaseSettings()).close()
    assert "The store already has a case named 'ann'." in kiwi("kin", "move", "cases/ann")[2]
    assert "The folder 'cases/ann' already contains a case." in kiwi("kin", "move", "ann", "--to", "cases/ann")[2]
    aside = here / "cases/ann/moved-case.sqlite"
    before = aside.read_bytes()
    assert kiwi("kin", "move", "cases/ann", "--name", "Ann Pell")[0] == 0
    assert aside.read_bytes() == before, "what was set aside before stays"
    assert aside.with_name("moved-case-2.sqlite").exists()
    assert kiwi("kin", "cases")[1] == "ann-pell: 0 people\nann: 0 people\n"
    monkeypatch.setattr(case_module, "copy_rows", lossy)
    assert "The copy of the case was not identical" in kiwi("kin", "move", "ann", "--to", "out")[2]
    assert not (here / "out").exists()
    assert kiwi("kin", "show", "--case", "ann")[0] == 0


def test_a_list_for_programs_names_nobody_who_lives(
    kiwi: RunCommand, here: Path, store_url: str, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list on the terminal is its owner's; as JSON it may be handed on."""
    monkeypatch.setenv("KIWIRESEARCH_STORE", store_url)
    assert kiwi("kin", "start", LIVING[0], "--book", book)[0] == 0
    assert kiwi("kin", "cases")[1].startswith("nora-wendover: ")
    [row] = json.loads(kiwi("kin", "cases", "--json")[1])["cases"]
    assert (row["people"] > 0, row["problem"]) == (True, "")
    assert "nora" not in row["case"]


def test_a_case_is_removed_only_if_it_is_meant(
    kiwi: RunCommand, here: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a second word; then nothing is left, and the name is free. A folder is its owner's own."""
    assert "To delete a case in a folder, delete the folder." in kiwi("kin", "remove", "ann", "--yes")[2]
    monkeypatch.setenv("KIWIRESEARCH_STORE", store_url)
    with all_cases(here / "home", store_url) as cases:
        location = cases.location(cases.start_empty("ann"))
        assert "add --yes" in kiwi("kin", "remove", "ann")[2]
        for nothing in ("", " "):
            for words in (("remove", nothing, "--yes"), ("move", nothing), ("move", nothing, "--to", "out")):
                code, _, err = kiwi("kin", *words)
                assert (code, "The case name is empty." in err) == (2, True), words
        assert len(cases.ids()) == 1
        with Case.open(location, for_changes=True):
            code, _, err = kiwi("kin", "remove", "ann", "--yes")
            assert (code, "Another command is working on the case" in err) == (1, True)
        assert kiwi("kin", "remove", "ann", "--yes")[0] == 0
        assert (cases.ids(), location.stamp()) == ((), "" if "postgresql" in store_url else ())
        assert "The store has no case named 'ann'." in kiwi("kin", "remove", "ann", "--yes")[2]
        half = cases.location(cases.start_empty("bob"))
        half.discard()
        assert "bob: " in kiwi("kin", "cases")[1]
        assert json.loads(kiwi("kin", "remove", "bob", "--yes", "--json")[1])["removed"]
        assert cases.ids() == ()


def test_a_file_that_was_sent_reaches_any_host(url_of: Callable[[str], str], tmp_path: Path) -> None:
    """A family file sent to one host is taken in by a job on another; nothing but the case is left of it."""
    url = url_of("postgresql")
    sent = tmp_path / "sent"
    sent.write_text(GEDCOM)
    with all_cases(tmp_path / "one", url) as cases:
        one = cases.start_empty("marlow")
        assert cases.location(one).add_upload("abc", sent, "marlow.ged")
        assert not cases.location(one).add_upload("abc", sent, "marlow.ged")
    other = a_desk(tmp_path / "two", url)
    request = FamilyRequest(one, upload="abc")
    with contextlib.closing(open_registry(other)) as cases:
        folder = cases.folder(one)
        order = JobSpec(other.folders, other.settings, (), True, request, folder)
        result = work_on_case(order, request, lambda **_: None)
        assert result.story.startswith("2 people, 2 of them new")
        assert not folder.exists()
        with cases.location(one).opened_upload("abc") as kept:
            assert kept is None
        with pytest.raises(KiwiError, match="The family file was not found"):
            work_on_case(order, request, lambda **_: None)
        digest = hashlib.sha256(sent.read_bytes()).hexdigest()[:16]
        again = work_on_case(order, FamilyRequest(one, upload=digest), lambda **_: None)
        assert again.story == "The file was imported before."


@pytest.mark.parametrize("sent", [b"PK\x03\x04 torn", b"0 HEAD\n"])
def test_a_file_that_cannot_be_read_is_not_kept(store_url: str, tmp_path: Path, sent: bytes) -> None:
    """Reading it again would not help; the error does not say its name."""
    file = tmp_path / "sent"
    file.write_bytes(sent)
    desk = a_desk(tmp_path / "home", store_url)
    with contextlib.closing(open_registry(desk)) as cases:
        one = cases.start_empty("Nora Wendover")
        location = cases.location(one)
        location.add_upload("abc", file, "Nora Wendover.zip")
        request = FamilyRequest(one, upload="abc")
        with pytest.raises(BadUsage, match=r"^The file (cannot be unpacked|is not a GEDCOM file)") as caught:
            work_on_case(
                JobSpec(desk.folders, desk.settings, (), True, request, location.folder), request, lambda **_: None
            )
        assert "Nora" not in str(caught.value)
        with location.opened_upload("abc") as kept:
            assert kept is None
        assert location.folder.exists() == store_url.startswith("sqlite")


@pytest.mark.parametrize("gone", ["case", "moved", "job"])
def test_a_file_that_was_sent_goes_with_its_case_or_its_job(
    kiwi: RunCommand, here: Path, store_url: str, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """A family file that was never taken in does not outlive the case, nor the last job that was to do so."""
    monkeypatch.setenv("KIWIRESEARCH_STORE", store_url)
    (here / "sent").write_text(HEAD)
    desk = a_desk(here.parent / "home", store_url)
    with contextlib.closing(JobQueue(desk, (), now=str, limits=QueueLimits(running=0))) as jobs:
        location = jobs.cases.location(jobs.cases.start_empty("ann"))
        location.add_upload("abc", here / "sent", "ann.ged")
        first = jobs.start(FamilyRequest(jobs.cases.find("ann"), upload="abc"))
        jobs.cancel(first.id)
        second = jobs.start(FamilyRequest(jobs.cases.find("ann"), upload="abc"))
        jobs.cancel(second.id)
        if gone == "job":
            jobs.remove(first.id)
            with location.opened_upload("abc") as kept:
                assert kept is not None, "the other job may go on"
            jobs.remove(second.id)
        else:
            words = ("remove", "ann", "--yes") if gone == "case" else ("move", "ann", "--to", "out")
            assert kiwi("kin", *words)[0] == 0
        with location.opened_upload("abc") as kept:
            assert kept is None
        assert jobs.store.run_files.runs() == []
        if gone != "job":
            jobs.remove(first.id)
            assert [job.id for job in jobs.all()] == [second.id]


def test_nobody_waits_while_a_case_is_started(store_url: str, tmp_path: Path) -> None:
    """While the first pages of a case are read, other cases are shown, and another host puts its own into the store."""
    with all_cases(tmp_path / "one", store_url) as cases, all_cases(tmp_path / "two", store_url) as others:
        ann = cases.start_empty("Ann Pell")
        seen: list[object] = []

        def meanwhile() -> None:
            seen.append(cases.summary(ann, "owner").people)
            others.start_empty("Bob Pell")

        def make(location: CaseLocation) -> None:
            reader = threading.Thread(target=meanwhile, daemon=True)
            reader.start()
            reader.join(20)
            assert seen == [0]
            assert not reader.is_alive()
            Case.empty(location, CaseSettings()).close()

        cases._start("Cid Pell", make)
        assert len(cases.ids()) == 3


def test_two_cases_come_into_the_store_at_once(url_of: Callable[[str], str]) -> None:
    """On a server who makes one case does not wait for who makes another."""
    schemas = CaseSchemas(url_of("postgresql"))
    one, other = (schemas.address(schemas.schema(f"{number:012x}")) for number in (1, 2))

    def fill(database: CaseDatabase) -> None:
        CaseDatabase.create_and_fill(other, str, lambda second: second._insert_case({}), busy_s=0.2)
        database._insert_case({})

    CaseDatabase.create_and_fill(one, str, fill, busy_s=0.2)
    for where in (one, other):
        CaseDatabase.open(where, str, busy_s=0.2).close()


def test_hosts_share_cases_and_wait_for_each_other(
    kiwi: RunCommand, here: Path, url_of: Callable[[str], str], book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one host works on a case another reads it, and must wait to write; when the first is killed it continues.

    No step that was done is done again, and the family in the end is that of one who was never disturbed.
    """
    own = here / "own.zim"
    own.write_bytes(book.read_bytes())
    whole = _events(kiwi, own)
    monkeypatch.setenv("KIWIRESEARCH_STORE", url_of("postgresql"))
    assert kiwi("kin", "start", SEED, "--book", own, "--budget", "5")[0] == 0
    first = os.environ | {"KIWIRESEARCH_HOME": str(here / "first")}
    command, pipe = [sys.executable, "-c", TWO_STEPS], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=first) as process:
        assert process.stdout is not None
        done = [json.loads(process.stdout.readline()) for _ in range(2)]
        monkeypatch.setenv("KIWIRESEARCH_HOME", str(here / "second"))
        assert "edmund-wendover" in kiwi("kin", "cases")[1]
        assert kiwi("kin", "show")[0] == 0
        code, _, err = kiwi("kin", "run")
        assert (code, "Another command is working on the case 'edmund-wendover'. Wait" in err) == (1, True)
        process.kill()
    own.unlink()
    assert kiwi("books", "add", book)[0] == 0
    with all_cases(here / "second", os.environ["KIWIRESEARCH_STORE"]) as cases:
        Case.open(cases.location(cases.ids()[0]), for_changes=True, wait_s=20.0).close()
    code, out, _ = kiwi("kin", "run", "--json")
    rest = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(done) + len(rest) == len(whole.events)
    assert [one["event"] for one in done + rest] == [one["event"] for one in whole.events]
    assert kiwi("kin", "show", "--json")[1] == whole.shown
    assert kiwi("kin", "verify")[0] == 0


class _Whole:
    """The output of a case that nobody disturbed."""

    def __init__(self, events: list[dict[str, object]], shown: str) -> None:
        self.events = events
        self.shown = shown


def _events(kiwi: RunCommand, book: Path) -> _Whole:
    assert kiwi("kin", "start", SEED, "--book", book, "--budget", "5")[0] == 0
    events = [json.loads(line) for line in kiwi("kin", "run", "--json")[1].splitlines()]
    return _Whole(events, kiwi("kin", "show", "--json")[1])


def test_hosts_begin_cases_at_once(url_of: Callable[[str], str], tmp_path: Path) -> None:
    """Two hosts that start a case of the same name at the same time get separate cases."""
    url = url_of("postgresql")
    started: list[str] = []

    def begin(number: int) -> None:
        with all_cases(tmp_path / str(number), url) as cases:
            started.append(cases.start_empty("Ann Pell"))

    hosts = [threading.Thread(target=begin, args=(number,)) for number in range(4)]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join()
    with all_cases(tmp_path / "home", url) as cases:
        assert set(cases.ids()) == set(started)
        assert {cases.location(one).title for one in started} == {"ann-pell", *(f"ann-pell-{n}" for n in (2, 3, 4))}


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("postgresql://me:secret@127.0.0.1:1/x", "cannot be reached"),
        ("mysql://x", "'mysql' is not a supported kind of database"),
        ("sqlite:///", "'sqlite:///' is not a valid address of a file"),
    ],
)
def test_a_store_that_cannot_be_used_is_reported(
    kiwi: RunCommand, here: Path, monkeypatch: pytest.MonkeyPatch, url: str, problem: str
) -> None:
    """A command on a case says what is wrong with the store, and not its password."""
    monkeypatch.setenv("KIWIRESEARCH_STORE", url)
    for words in (("kin", "cases"), ("kin", "show"), ("kin", "move", "x")):
        code, out, err = kiwi(*words)
        assert (code > 0, out) == (True, "")
        assert "secret" not in err
        assert "Traceback" not in err
    assert problem in kiwi("kin", "cases")[2]


def test_a_case_goes_on_where_its_books_are(url_of: Callable[[str], str], book: Path, tmp_path: Path) -> None:
    """A job for a case that names its books is left to a host that has them; one without any takes in a file."""
    url = url_of("postgresql")
    with_book, without = (a_desk(tmp_path / name, url) for name in ("with", "without"))
    with shelf_of(with_book, [str(book)]) as shelf:
        books = tuple(shelf.books)
    with finding(with_book, book) as finder, contextlib.closing(open_registry(with_book)) as cases:
        named = tuple(one.id for one in books)
        case = cases.start(CaseSettings(seeds=(SEED,), books=named), finder)
    with (
        contextlib.closing(JobQueue(without, (), now=str, limits=QueueLimits(running=0))) as poor,
        contextlib.closing(JobQueue(with_book, books, now=str, limits=QueueLimits(running=0))) as rich,
    ):
        job = poor.start(FamilyRequest(case, 1))
        assert (poor.can_do(job.id), rich.can_do(job.id)) == (False, True)
        poor.cancel(job.id)
        sent = poor.start(FamilyRequest(case, upload="abc"))
        assert (poor.can_do(sent.id), rich.can_do(sent.id)) == (True, True)
        poor.cancel(sent.id)
