"""Family research over HTTP: cases on a real server, worked on by real processes, read and decided upon."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.web.family_server import SEED, Families
from tests.web.servers import StreamEvent, stream_events

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CASE_FILE
from kiwiresearch.cases.record_builder import (
    CachedCase,
    conflict_records,
    evidence_records,
    summary_record,
    timeline_records,
)
from kiwiresearch.cases.registry import MAX_OPEN_CASES, CaseRegistry
from kiwiresearch.cases.repository import case_id_of
from kiwiresearch.cases.review import living_record, merges_record
from kiwiresearch.errors import CannotWrite
from kiwiresearch.kin.privacy.redaction import PRIVACY_MODES
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.locks_and_schemas import locked_folder
from kiwiresearch.kin.tree import Tree
from kiwiresearch.web import family_files

GEDCOM = (
    "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
    "0 @I1@ INDI\n1 NAME Ida /Marlow/\n1 SEX F\n1 BIRT\n2 DATE 3 MAR 1801\n1 DEAT\n2 DATE 1870\n"
    "0 @I2@ INDI\n1 NAME Otto /Marlow/\n1 FAMC @F1@\n1 DEAT\n2 DATE 1890\n"
    "0 @F1@ FAM\n1 WIFE @I1@\n1 CHIL @I2@\n0 TRLR\n"
)
A_FILE = {"Content-Type": "application/octet-stream"}
FORMS = ("gedcom", "gedcom7", "gdz", "gedcomx", "json", "markdown", "html", "csv")


@pytest.fixture(scope="module")
def client(there: Families) -> Iterator[httpx2.Client]:
    """A client of the owner's."""
    with there.served(family_owner=True) as client:
        yield client


@pytest.fixture
def copied(there: Families) -> Iterator[tuple[str, Path]]:
    """A case of a test's own, to be changed: its address and its folder."""
    folder = there.folder / "copied"
    shutil.copytree(CaseRegistry(there.folder).folder(there.done), folder)
    yield f"/api/family/{case_id_of(folder)}", folder
    shutil.rmtree(folder)


def followed(client: httpx2.Client, reply: httpx2.Response) -> list[StreamEvent]:
    """All events of a job, to its end."""
    assert reply.status_code == 202, reply.text
    assert reply.headers["location"] == reply.json()["url"]
    with client.stream("GET", reply.json()["events"]) as stream:
        return list(stream_events(stream.iter_lines()))


def people(client: httpx2.Client, url: str) -> dict[str, str]:
    return {one["name"]: one["id"] for one in client.get(f"{url}/people").json()["people"]}


def test_a_person_comes_with_facts_and_quotes(there: Families, client: httpx2.Client) -> None:
    """A person comes with every fact, its quotes, and an address where they are marked."""
    url = f"/api/family/{there.done}"
    ids = people(client, url)
    assert next(iter(ids)) == SEED
    assert len(ids) == client.get(url).json()["people"] == len(client.get(f"{url}/tree").json()["people"])
    found = client.get(f"{url}/people", params={"q": "wendover", "limit": 2, "offset": 1}).json()
    assert (len(found["people"]), found["total"]) == (2, 6)
    person = client.get(f"{url}/people/{ids[SEED]}").json()
    born = next(one for one in person["facts"] if one["field"] == "birth_date" and one["preferred"])
    assert (born["value"], born["status"]) == ("12 May 1850", "verified")
    [*_, quote] = born["evidence"]
    page = client.get(quote["read"], headers={"Accept": "text/html"}, follow_redirects=True)
    assert "<mark" in page.text
    assert {one["name"] for one in person["parents"]} == {"Josiah Wendover", "Ann Pell"}
    line = client.get(f"{url}/people/{ids[SEED]}/line", params={"of": "descendants"}).json()["rows"]
    assert [row["depth"] for row in line][:2] == [0, 1]
    kin = client.get(f"{url}/relation", params={"first": ids[SEED], "second": ids["Ann Pell"]}).json()
    assert kin["relation"] == "mother"
    assert client.get(f"{url}/verify").json()["holds"] is True
    assert [row["what"] for row in client.get(f"{url}/timeline", params={"limit": 1}).json()["rows"]] == ["birth"]


def test_families_leave_as_files(there: Families, client: httpx2.Client) -> None:
    """Each format is what the command line writes; files hide the living also for the owner, unless asked otherwise.

    Pictures and reports can do nothing in a browser.
    """
    url = f"/api/family/{there.done}"
    with Case.open(CaseRegistry(there.folder).folder(there.done)) as case:
        for form in FORMS:
            reply = client.get(f"{url}/export/{form}")
            assert reply.content == case.export_file(form, "public"), form  # type: ignore[arg-type]
            assert reply.headers["content-disposition"].startswith('attachment; filename="family.')
            assert "sandbox" in reply.headers["content-security-policy"]
            assert reply.headers["x-audit-head"] == case.store.head
    assert "Nora" in client.get(f"{url}/export/csv", params={"privacy": "owner"}).text
    seed = people(client, url)[SEED]
    for what in ("ancestors", "descendants"):
        picture = client.get(f"{url}/people/{seed}/picture", params={"of": what, "generations": 2})
        assert picture.headers["content-type"] == "image/svg+xml"
        assert picture.text.startswith("<?xml")
        assert SEED.split()[0] in picture.text
    ann = people(client, url)["Ann Pell"]
    assert client.get(f"{url}/people/{ann}/picture").status_code == 404


def test_the_owner_decides(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Merges are accepted, rejected and undone, lives are known better, sources are switched on and off."""
    url, folder = copied
    ids = people(client, url)
    pairs = [(ids["Ann Pell"], ids["Clara Holt"]), (ids["Josiah Wendover"], ids["Ralph Wendover"])]
    with Case.open(folder) as case, case.store.step("test"):
        values = {"similarity_score": 0.8, "merge_rationale": "why", "why_not_merge": "why not"}
        rows = [{**values, "candidate_pair": list(pair), "recommended_action": "review"} for pair in pairs]
        case.store.set_state("proposals", rows)
    waiting = {
        frozenset(m["id"] for m in one["members"]): one for one in client.get(f"{url}/merges").json()["to_review"]
    }
    first, second = (waiting[frozenset(pair)] for pair in pairs)
    assert (first["why"], first["why_not"]) == ("why", "why not")
    made = client.post(f"{url}/merges/{first['id']}/accept", json={"why": "one grave"}).json()["merges"]
    assert [one["decided_by"] for one in made] == ["user"]
    assert {one["name"] for one in made[0]["members"]} == {"Ann Pell", "Clara Holt"}, "as each record called them"
    with Case.open(folder) as case:
        assert [one.why_not_split for one in case.store.merges.all()] == ["one grave"]
    assert "Clara Holt" not in people(client, url) or "Ann Pell" not in people(client, url)
    undone = client.post(f"{url}/merges/{made[0]['id']}/undo", json={"why": "two people"}).json()
    assert undone == {"undone": [made[0]["id"]]}
    assert people(client, url) == ids
    with Case.open(folder) as case, case.store.step("test"):
        case.store.set_state("proposals", rows)
    left = client.post(f"{url}/merges/{second['id']}/reject", json={"why": "no"}).json()
    assert second["id"] not in {one["id"] for one in left["to_review"]}
    apart = {frozenset(m["id"] for m in one["members"]): one for one in left["kept_apart"]}
    assert {pair: one["why"] for pair, one in apart.items()} == dict(
        zip(map(frozenset, pairs), ("two people", "no"), strict=True)
    )
    public = client.get(f"{url}/merges", params={"privacy": "public"}).json()["kept_apart"]
    assert [one["why"] for one in public] == ["", ""], "what the owner says may name people no mask knows"
    back = f"{url}/merges/{apart[frozenset(pairs[1])]['id']}/take-back"
    assert [one["why"] for one in client.post(back, json={"why": "a mistake"}).json()["kept_apart"]] == ["two people"]
    assert client.post(back).status_code == 404
    with Case.open(folder) as case:
        assert "allow_link" in {row.action_type for row in case.store.audit()}
        assert case.store.verify_audit() == ()
    nora = client.put(f"{url}/people/{ids['Nora Wendover']}/living", json={"status": "deceased", "why": "a letter"})
    assert nora.json()["living"] == "deceased"
    assert "Nora" in client.get(f"{url}/export/csv").text
    for on in (True, False):
        rows = client.put(f"{url}/plugins/wikidata", json={"on": on}).json()["plugins"]
        assert {one["id"] for one in rows if one["on"]} == {"wikipedia", *(["wikidata"] if on else [])}


@pytest.mark.skipif(os.name != "posix", reason="this system has no signals")
def test_a_family_file_is_taken_in(there: Families, client: httpx2.Client) -> None:
    """A GEDCOM file that is sent begins a case, whatever it is called; nothing but the case is left of it."""
    result = followed(client, client.post("/api/family/import?name=..%2Fmarlow.ged", content=GEDCOM, headers=A_FILE))
    assert result[-1].name == "done", result
    assert result[-1].data["story"].startswith("2 people, 2 of them new")
    url = result[-1].data["case"]
    assert set(people(client, url)) == {"Ida Marlow", "Otto Marlow"}
    [report] = client.get(f"{url}/imports").json()["imports"]
    assert (report["file"], report["people"], report["left"], report["problems"]) == ("marlow.ged", 2, [], [])
    with there.served() as stranger:
        assert stranger.get(f"{url}/imports").json() == {"imports": []}
    assert {file.name for file in (there.folder / "marlow").iterdir()} <= {
        CASE_FILE,
        f"{CASE_FILE}-wal",
        f"{CASE_FILE}-shm",
        ".lock",
    }
    shutil.rmtree(there.folder / "marlow")


@pytest.mark.skipif(os.name != "posix", reason="this system has no signals")
def test_nothing_is_left_of_a_file_that_cannot_be_read(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """A damaged package is noticed only by the job, which ends with an error and keeps no copy."""
    url, folder = copied
    before = {file.relative_to(folder) for file in folder.rglob("*")}
    damaged = b"PK\x03\x04" + b"damaged" * 20
    result = followed(client, client.post(f"{url}/import?name=nora.gdz", content=damaged, headers=A_FILE))
    assert (result[-1].name, "cannot be unpacked" in str(result[-1].data)) == ("failed", True), result
    left = {file.relative_to(folder) for file in folder.rglob("*")} - before
    assert {path.suffix or path.name for path in left} <= {".lock", ".sqlite-wal", ".sqlite-shm"}


def test_a_file_that_is_not_a_family_file_is_refused(
    there: Families, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not GEDCOM, of another kind or too large is refused while it arrives; nothing of it is kept."""
    before = sorted(there.folder.iterdir())
    url = "/api/family/import"
    assert client.post(url, content=b"MZ\x90\0" * 999, headers=A_FILE).status_code == 400
    assert client.post(url, content=b"", headers=A_FILE).status_code == 400
    assert client.post(url, json={}).status_code == 415
    assert client.post(f"/api/family/{'0' * 12}/import", content=GEDCOM, headers=A_FILE).status_code == 404
    monkeypatch.setattr(family_files, "MAX_FILE_BYTES", 1_000_000)
    parts = (b"0 HEAD\n" + b"x" * 65_536 for _ in range(20))
    large = client.post(url, content=parts, headers=A_FILE)
    assert (large.status_code, large.headers["content-type"]) == (413, "application/problem+json")
    assert sorted(there.folder.iterdir()) == before


def test_a_case_has_one_writer(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """While another program works on a case it can be read and edited, but not researched or imported into."""
    url, folder = copied
    person = people(client, url)["Ann Pell"]
    with locked_folder(folder):
        for reply in (
            client.post(f"{url}/run"),
            client.put(f"{url}/plugins/wikidata", json={"on": True}),
            client.post(f"{url}/import", content=GEDCOM, headers=A_FILE),
        ):
            assert (reply.status_code, reply.json()["detail"]) == (409, "Another program is using this case.")
        assert client.get(f"{url}/people").status_code == 200
        living = client.put(f"{url}/people/{person}/living", json={"status": "living", "why": "x"})
        assert living.status_code == 200


def test_a_case_that_cannot_be_read(there: Families, client: httpx2.Client) -> None:
    """It is listed with what is wrong, the others are as they were, and asking for it is an error with a remedy."""
    folder = there.folder / "broken"
    folder.mkdir()
    (folder / CASE_FILE).write_bytes(b"no database at all, but long enough to look at" * 100)
    rows = {one["id"]: one for one in client.get("/api/family").json()["cases"]}
    assert "is not a case" in rows[case_id_of(folder)]["problem"]
    assert rows[there.done]["people"] == 9
    reply = client.get(f"/api/family/{case_id_of(folder)}/people")
    assert (reply.status_code, reply.headers["content-type"]) == (500, "application/problem+json")
    assert reply.json()["remedy"]
    assert str(there.place) not in reply.text
    shutil.rmtree(folder)


def test_changes_by_other_programs_are_seen(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """What the command line does to a case shows at once, however often it was read before."""
    url, folder = copied
    assert client.get(url).json()["people"] == 9
    with Case.open(folder) as case:
        case.store.add_person("new", "Somebody New")
    assert client.get(url).json()["people"] == 10


def test_a_tree_is_read_once_for_many_pages(copied: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pages show a case, its tree is read once, and once more after something was rejected."""
    read: list[bool] = []
    tree_of = CaseStore.tree

    def counted(store: CaseStore, *, with_discarded: bool = False) -> Tree:
        read.append(with_discarded)
        return tree_of(store, with_discarded=with_discarded)

    def looked_at(folder: Path) -> list[bool]:
        read.clear()
        with CachedCase.open(folder) as case:
            for mode in PRIVACY_MODES:
                merges_record(case, case.tree(mode), case.mask(mode))
                summary_record(case, mode)
                timeline_records(case, mode)
                conflict_records(case, mode)
                for one in case.tree(mode).persons:
                    evidence_records(case, one, None, mode)
            living_record(case, case.seeds()[0])
        return list(read)

    monkeypatch.setattr(CaseStore, "tree", counted)
    _, folder = copied
    with Case.open(folder) as case:
        assert case.store.has_no_discarded()
        fact = tree_of(case.store).facts[0]
    assert looked_at(folder) == [False]
    with Case.open(folder) as case:
        case.store.set_status(fact.id, "rejected", "test")
        assert not case.store.has_no_discarded()
    assert sorted(looked_at(folder)) == [False, True]


def test_the_case_worked_on_last_comes_first(tmp_path: Path) -> None:
    """A list of cases begins with the one that was changed last, whatever its name."""
    with contextlib.closing(CaseRegistry(tmp_path)) as cases:
        first, second = cases.start_empty("Ann Pell"), cases.start_empty("Clara Holt")
        for at, folder in enumerate(("clara-holt", "ann-pell")):
            os.utime(tmp_path / folder / CASE_FILE, (1_000_000 + at, 1_000_000 + at))
        with cases.reading(second):
            assert cases.ids() == (first, second), "to read a case is no work on it"
        os.utime(tmp_path / "clara-holt" / CASE_FILE, (2_000_000, 2_000_000))
        assert cases.ids() == (second, first)


def test_a_folder_of_cases_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The folder of the cases is named; the case's own is not, as it has the name of a person."""
    (tmp_path / "cases").write_text("no folder")
    with contextlib.closing(CaseRegistry(tmp_path / "cases")) as cases, pytest.raises(CannotWrite) as caught:
        cases.start_empty("Ann Pell")
    assert f"The folder of a case in {str(tmp_path / 'cases')!r} cannot be written" in str(caught.value)
    assert "ann-pell" not in str(caught.value)


def test_no_folder_no_cases(tmp_path: Path) -> None:
    """Without a folder there are no cases; only a few of many cases are kept open."""
    assert CaseRegistry(tmp_path / "none").ids() == ()
    with contextlib.closing(CaseRegistry(tmp_path)) as cases:
        cases.start_empty("Ann Pell")
        for number in range(MAX_OPEN_CASES + 1):
            shutil.copytree(tmp_path / "ann-pell", tmp_path / f"copy-{number}")
        for one in cases.ids():
            with cases.reading(one) as case:
                assert case.tree("public").persons == {}
        assert len(cases._open_cases) == MAX_OPEN_CASES


@pytest.mark.parametrize(
    "path",
    [
        "..", "%2e%2e", "..%2fhome", "edmund-wendover", "linked", "0" * 12, "{done}/people/nobody",
        "{done}/people/..%2fx", "{done}/people/nobody/line",
        "{done}/people/nobody/picture", "{done}/relation?first=a&second=b", "import",
    ],
)  # fmt: skip
def test_nothing_but_cases_is_served(there: Families, client: httpx2.Client, path: str) -> None:
    """No id leads out of the folder of the cases, neither by dots nor by links nor by the name of a folder."""
    linked = there.folder / "linked"
    with contextlib.suppress(FileExistsError):
        linked.symlink_to(CaseRegistry(there.folder).folder(there.done))
    for name in (path.replace("{done}", there.done), case_id_of(linked)):
        reply = client.get(f"/api/family/{name}")
        assert (reply.status_code, reply.headers["content-type"]) == (404, "application/problem+json"), reply.text


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "", {"names": []}, 422), ("POST", "", {"names": [""]}, 422), ("POST", "", {"names": "Ann"}, 422),
        ("POST", "", {"names": ["Nobody Whosoever"]}, 404), ("POST", "", {"names": ["?!"]}, 400),
        ("POST", "", {"names": ["Ann"], "generations": 99}, 422), ("POST", "", {"names": ["Ann"], "out": "/x"}, 422),
        ("POST", "/{done}/run", {"steps": -1}, 422), ("POST", "/{done}/run", {"steps": True}, 422),
        ("POST", "/{done}/merges/nobody/accept", None, 404), ("POST", "/{done}/merges/nobody/undo", {}, 404),
        ("PUT", "/{done}/people/nobody/living", {"status": "living", "why": "x"}, 404),
        ("PUT", "/{done}/people/nobody/living", {"status": "asleep", "why": "x"}, 422),
        ("PUT", "/{done}/plugins/nobody", {"on": True}, 404), ("PUT", "/{done}/plugins/wikipedia", {"on": False}, 400),
        ("PUT", "/{done}/plugins/wikidata", {"on": True, "endpoint": "file:///x"}, 400),
        ("GET", "/{done}/export/pdf", None, 422), ("GET", "/{done}/people?privacy=all", None, 422),
    ],
)  # fmt: skip
def test_a_request_that_makes_no_sense(
    there: Families, client: httpx2.Client, method: str, path: str, body: Any, status: int
) -> None:
    """Bad input is refused with what to do about it, and leaves no folder behind."""
    before = sorted(there.folder.iterdir())
    reply = client.request(method, f"/api/family{path.replace('{done}', there.done)}", json=body)
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json"), reply.text
    assert sorted(there.folder.iterdir()) == before
