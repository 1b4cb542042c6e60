"""Research, families and questions that are deleted or archived, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.desk.conftest import finished
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.servers import http_client, stream_events

from kiwiresearch.jobs.archive_and_trash import RemovedItem
from kiwiresearch.workspace.output_folders import runs_folder


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerServer]:
    with owner_server(tmp_path_factory.mktemp("aside")) as made:
        yield made


@pytest.fixture(scope="module")
def run(desk: OwnerServer) -> str:
    """A finished run of this browser; a test that deletes it puts it back."""
    started = desk.browser.post("/research", data={"topic": "Bronze Age collapse", "max_pages": "2"})
    job = started.headers["location"].rpartition("/")[2]
    with http_client(desk.address) as client, client.stream("GET", f"/api/research/{job}/events") as stream:
        assert list(stream_events(stream.iter_lines()))[-1].name == "done"
    return job


def lists(desk: OwnerServer, run: str) -> set[str]:
    """Where a run is listed."""
    found = {path for path in ("/", "/research") if f"/runs/{run}" in desk.browser.get(path).text}
    with http_client(desk.address) as client:
        for path in ("/api/runs", "/api/research"):
            found |= {path} if run in client.get(path).text else set()
    return found


def undo_of(text: str) -> str:
    found = re.search(r'id="set-aside".*?action="([^"]+)"', text, re.DOTALL)
    assert found is not None
    return found[1]


EVERYWHERE = {"/", "/research", "/api/runs", "/api/research"}


def test_deleted_research_is_gone_everywhere_and_comes_back(desk: OwnerServer, run: str) -> None:
    """Its files move to the trash, byte for byte; Undo moves them back."""
    folder = runs_folder(desk.context.workspace) / run
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    assert lists(desk, run) == EVERYWHERE
    reply = desk.send(f"/archive/run/{run}/delete")
    assert "“Bronze Age collapse” was deleted." in reply.text
    assert not folder.exists()
    assert lists(desk, run) == set()
    assert desk.browser.get(f"/runs/{run}").status_code == 404
    assert desk.browser.get(f"/research/{run}").status_code == 404
    assert "Bronze Age collapse" in desk.browser.get("/archive").text
    restored = desk.send(undo_of(reply.text)).text
    assert "“Bronze Age collapse” was restored." in restored
    assert 'id="set-aside"' in restored
    assert "/restore" not in restored
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before
    assert lists(desk, run) == EVERYWHERE


def test_a_list_that_cannot_be_read_is_not_replaced(desk: OwnerServer, run: str) -> None:
    """Nothing is moved, and what was deleted before can still be found."""
    desk.send(undo_of(desk.send(f"/archive/run/{run}/archive").text))  # writes the list
    trash = next(desk.home.rglob("items.json"))
    before = trash.read_bytes()
    trash.write_bytes(b"{")
    try:
        reply = desk.send(f"/archive/run/{run}/delete")
        assert reply.status_code >= 400
        assert "cannot be read" in reply.text
        assert trash.read_bytes() == b"{"
        assert (runs_folder(desk.context.workspace) / run).is_dir()
    finally:
        trash.write_bytes(before)


def test_archived_research_is_hidden_from_lists_and_can_be_opened(desk: OwnerServer, run: str) -> None:
    reply = desk.send(f"/archive/run/{run}/archive")
    assert "“Bronze Age collapse” was archived." in reply.text
    assert lists(desk, run) == {"/api/runs", "/api/research"}
    assert desk.browser.get(f"/runs/{run}").status_code == 200
    assert f"/runs/{run}" in desk.browser.get("/archive").text
    desk.send(undo_of(reply.text))
    assert lists(desk, run) == EVERYWHERE


def test_the_trash_is_emptied_by_the_owner(desk: OwnerServer) -> None:
    """What is emptied cannot be restored, and its job is gone as well."""
    with http_client(desk.address) as client:
        run = finished(client, topic="Sunset", max_pages=1)
    desk.send(f"/archive/run/{run}/delete")
    assert "Deleted forever." in desk.send("/archive/empty").text
    assert "The trash is empty." in desk.browser.get("/archive").text
    assert desk.send(f"/archive/run/{run}/restore").status_code == 404
    assert lists(desk, run) == set()
    assert not (desk.home / "state" / "trash" / "run" / run).exists()


def test_old_deleted_runs_are_removed_by_themselves(desk: OwnerServer, tmp_path: Path) -> None:
    """After thirty days, and not before; what has no readable date stays."""
    from kiwiresearch.web.runs import make_jobs

    jobs = make_jobs(desk.context)
    try:
        trash = jobs.removed
        for name, at in (("old-1", "2020-01-01T00:00:00+00:00"), ("new-1", trash._now()), ("odd-1", "yesterday")):
            (desk.home / "state" / "trash" / "run" / name).mkdir(parents=True)
            trash._list.put(RemovedItem("run", name, "deleted", at, name, name))
        trash.purge_old()
        assert trash.ids("run", "deleted") == {"new-1", "odd-1"}
        assert not (desk.home / "state" / "trash" / "run" / "old-1").exists()
        trash.purge(trash.items("deleted"))
    finally:
        jobs.close()


@pytest.mark.parametrize("wanted", ["..", "no-such-run-1", ".trash", "%2e%2e%2fcache"])
def test_an_id_leads_nowhere_else(desk: OwnerServer, run: str, wanted: str) -> None:
    assert desk.send(f"/archive/run/{wanted}/delete").status_code == 404
    assert desk.send(f"/archive/family/{wanted}/delete").status_code == 404


def test_a_family_is_deleted_archived_and_comes_back(desk: OwnerServer) -> None:
    case = (
        desk.browser.post("/api/family", json={"names": ["Albert Einstein"]}).headers["Location"].removeprefix("/api")
    )
    wanted = case.rpartition("/")[2]
    reply = desk.send(f"/archive/family/{wanted}/delete")
    assert "The family was deleted." in reply.text
    assert desk.browser.get(case).status_code == 404
    assert "Untitled family" in desk.browser.get("/archive").text
    assert "Einstein" not in desk.browser.get("/archive").text
    desk.send(undo_of(reply.text))
    assert desk.browser.get(case).status_code == 200
    reply = desk.send(f"/archive/family/{wanted}/archive")
    assert f'href="{case}"' not in reply.text
    desk.send(undo_of(reply.text))
    assert f'href="{case}"' in desk.browser.get("/family").text


def test_questions_are_deleted_and_come_back(desk: OwnerServer) -> None:
    """One of them, or all; what was asked since stays on top."""
    for question in ("When was Einstein born?", "Why is the sky blue?"):
        desk.browser.get("/ask", params={"q": question})

    def asked() -> list[str]:
        return re.findall(r"data-live[^>]*>([^<]+)</a>", desk.browser.get("/").text)

    assert asked() == ["Why is the sky blue?", "When was Einstein born?"]
    reply = desk.send("/questions/delete", q="Why is the sky blue?")
    assert "The question was deleted." in reply.text
    assert asked() == ["When was Einstein born?"]
    assert undo_of(reply.text) == "/questions/restore"
    desk.send("/questions/restore")
    assert asked() == ["When was Einstein born?", "Why is the sky blue?"]
    desk.send("/questions/forget")
    assert asked() == []
    desk.browser.get("/ask", params={"q": "What is a sunset?"})
    desk.send("/questions/restore")
    assert asked() == ["What is a sunset?", "When was Einstein born?", "Why is the sky blue?"]


@pytest.mark.parametrize("language", ["fr", "es"])
def test_the_page_is_there_in_each_language(desk: OwnerServer, language: str) -> None:
    assert f'<html lang="{language}"' in desk.browser.get("/archive", headers={"Accept-Language": language}).text
