"""What a server shows of families: nothing of people who may be living, unless its owner asks."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request
from tests.cli.kin_book import LIVING, SECRETS
from tests.kin.privacy_scan import find_leaks
from tests.web.family_server import LIVING_SEED, Families
from tests.web.guarded_server import TOKEN, guarded
from tests.web.servers import http_client, stream_events

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CASE_FILE
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.cases.repository import case_id_of
from kiwiresearch.errors import BadSettings, RunDamaged
from kiwiresearch.jobs.family_work import work_on_case
from kiwiresearch.jobs.job import FamilyRequest, Job, request_from_record
from kiwiresearch.jobs.process import JobSpec
from kiwiresearch.kin.privacy.redaction import PRIVACY_MODES
from kiwiresearch.kin.store.locks_and_schemas import locked_folder
from kiwiresearch.web.guard.identity import FamilyAccess
from kiwiresearch.web.problems import Refused
from kiwiresearch.web.server import check_serve_settings
from kiwiresearch.workspace.settings import ServeSettings

ASKED = {
    "form": ("gedcom", "gedcom7", "gdz", "gedcomx", "json", "markdown", "html", "csv"),
    "of": ("ancestors", "descendants"),
}
ATTACHED = "0f0f"
"""The id of a file, which nobody but the owner gets."""
DECISIONS: tuple[tuple[str, str, Any], ...] = (
    ("POST", "merges/x/accept", None),
    ("POST", "merges/x/reject", {}),
    ("POST", "merges/x/take-back", {}),
    ("POST", "merges/x/undo", {}),
    ("PUT", "people/living-1/living", {"status": "deceased", "why": "I say so"}),
    ("PUT", "plugins/wikidata", {"on": True}),
    ("POST", "edits", {"kind": "add_person", "name": "Zoe Marlow"}),
    ("POST", "edits/x/undo", {}),
    ("POST", "edits/x/redo", None),
)


@pytest.fixture(scope="module")
def client(there: Families) -> Iterator[httpx2.Client]:
    """A client of a server as it is unless somebody sets it otherwise."""
    with there.served() as client:
        yield client


def addresses(client: httpx2.Client, case: str) -> Iterator[str]:
    """Every address at which something of a case can be read, for everybody in it."""
    people = [one["id"] for one in client.get(f"/api/family/{case}/people").json()["people"]]
    paths = client.get("/openapi.json").json()["paths"]
    for path in (path for path, methods in paths.items() if path.startswith("/api/family/{case}") and "get" in methods):
        known = path.replace("{case}", case)
        found = [known.replace("{person}", one) for one in people] if "{person}" in known else [known]
        found = [one.replace("{form}", form) for one in found for form in ASKED["form"]] if "{form}" in known else found
        if path.endswith(("/line", "/picture")):
            found = [f"{one}?of={of}" for one in found for of in ASKED["of"]]
        elif path.endswith("/relation"):
            found = [f"{known}?first={people[0]}&second={one}" for one in people]
        found = [one.replace("{attachment}", ATTACHED) for one in found]
        assert "{" not in "".join(found), path
        yield from found


def all_of(reply: httpx2.Response) -> bytes:
    """A reply with its headers, as the client gets it."""
    return b"\n".join([*(f"{name}: {value}".encode() for name, value in reply.headers.items()), reply.content])


def leaked(there: Families, case: str, content: bytes) -> list[object]:
    with Case.open(CaseRegistry(there.folder).folder(case)) as found:
        seen = find_leaks(
            content,
            found.store.tree(),
            "public",
            found.year,
            years_after_death=found.settings.years_after_death,
            overrides=found.store.living_overrides,
        )
    by_eye = [secret for secret in (*SECRETS, "nora") if secret.encode() in content]
    return [*seen, *by_eye]


def test_no_response_shows_the_living(there: Families, client: httpx2.Client) -> None:
    """No response about cases with living people shows them, be it data, a file, a picture or an error (R435)."""
    for case in (there.done, there.started):
        urls = ["/api/family", *addresses(client, case), f"/api/family/{case}/people/nobody"]
        fields = {url: client.get(url) for url in urls}
        assert {reply.status_code for reply in fields.values()} == {200, 404}
        assert len(fields) > 20
        if leaked(there, case, b"\n".join(map(all_of, fields.values()))):
            assert {url: wrong for url, reply in fields.items() if (wrong := leaked(there, case, all_of(reply)))} == {}


@pytest.mark.skipif(os.name != "posix", reason="this system has no signals")
def test_a_case_is_started_and_continued(there: Families, client: httpx2.Client) -> None:
    """A case is started and worked on by jobs, like research; another of the same name is separate.

    If it is somebody living, the name is in no answer, no event and no file of a job (R435).
    """
    started = client.post("/api/family", json={"names": [LIVING_SEED], "generations": 1, "budget": 50})
    assert started.status_code == 201, started.text
    case = started.json()
    assert started.headers["location"] == case["url"] == f"/api/family/{case['id']}"
    assert (case["title"], case["generations"], case["budget"], case["steps"]) == ("[LIVING-1]", 1, 50, 1)
    asked = client.post(f"{case['url']}/run", json={"steps": 1})
    with client.stream("GET", asked.json()["events"]) as stream:
        lines = list(stream.iter_lines())
    *result, last = stream_events(lines)
    assert [one.data["order"] for one in result if one.data["event"] == "step"] == [1]
    job = client.get(asked.json()["url"]).json()
    assert (last.name, last.data) == ("done", job)
    assert (job["pages"], job["case"], job["run"], job["resumable"]) == (1, case["url"], "", False)
    assert client.get("/api/research", params={"case": case["id"]}).json() == {"jobs": [job], "total": 1}
    answers = [started, asked, *map(client.get, ("/api/research", job["url"], "/api/family", case["url"]))]
    assert answers[-1].json()["steps"] == 2
    folder = there.folder / "nora-wendover-2"
    with locked_folder(folder):
        answers.append(client.post(f"{case['url']}/run"))
    assert answers[-1].status_code == 409
    files = [file.read_bytes() for file in (there.place / "home" / "state").glob("store.sqlite*")]
    assert any(job["id"].encode() in file for file in files)
    shutil.rmtree(folder)
    assert leaked(there, there.started, b"\n".join([*map(all_of, answers), *files, "\n".join(lines).encode()])) == []


def test_a_broken_case_of_the_living_names_nobody(there: Families, client: httpx2.Client) -> None:
    """Neither the server nor the process of a job says whose case it is that cannot be read."""
    folder = there.folder / "nora-wendover-the-second"
    folder.mkdir()
    (folder / CASE_FILE).write_bytes(b"broken " * 1000)
    url = f"/api/family/{case_id_of(folder)}"
    result = list(map(client.get, (url, f"{url}/export/html", "/api/family")))
    assert [one.status_code for one in result] == [500, 500, 200]
    desk, request = there.context.workspace, FamilyRequest(case_id_of(folder))
    with pytest.raises(RunDamaged) as problem:
        work_on_case(JobSpec(desk.folders, desk.settings, (), True, request, folder), request, lambda **_: None)
    shutil.rmtree(folder)
    assert leaked(there, there.started, b"\n".join([*map(all_of, result), str(problem.value).encode()])) == []


def test_a_fault_names_nobody(there: Families, caplog: pytest.LogCaptureFixture) -> None:
    """What the log has of a fault of the program is where it is, and nothing that it says."""

    def fault(app: FastAPI) -> None:
        @app.get("/api/family/fault/here")
        def broken() -> None:
            raise ValueError(LIVING_SEED)

    with guarded(there.context, there.settings(), fault) as port, http_client(f"http://127.0.0.1:{port}") as client:
        reply = client.get("/api/family/fault/here")
    assert reply.status_code == 500
    assert reply.json()["id"] in caplog.text
    assert "ValueError" in caplog.text
    assert leaked(there, there.started, (reply.text + caplog.text).encode()) == []


def test_only_the_owner_sees_more_and_decides(there: Families, client: httpx2.Client) -> None:
    """No parameter shows hidden people; a server of the owner shows the living, and can be asked for less."""
    url = f"/api/family/{there.done}"
    for privacy in ("owner", "private"):
        for path in ("", "/people", "/tree", "/export/json", "/timeline"):
            reply = client.get(f"{url}{path}", params={"privacy": privacy})
            assert (reply.status_code, reply.headers["content-type"]) == (403, "application/problem+json")
    for method, path, body in DECISIONS:
        assert client.request(method, f"{url}/{path}", json=body).status_code == 403, path
    for path in ("/api/family/import", f"{url}/import"):
        sent = client.post(path, content="0 HEAD\n0 TRLR\n", headers={"Content-Type": "application/octet-stream"})
        assert sent.status_code == 403
    sent = client.post(f"{url}/people/x/attachments", content="a", headers={"Content-Type": "application/octet-stream"})
    assert sent.status_code == 403
    with there.served(family_owner=True) as owner:
        values = {mode: owner.get(f"{url}/people", params={"privacy": mode}).text for mode in PRIVACY_MODES}
        assert owner.get(f"{url}/people").text == values["owner"]
    assert [[name in values[mode] for name in LIVING] for mode in PRIVACY_MODES] == [
        [True] * 2,
        [True] * 2,
        [False] * 2,
        [False] * 2,
    ]
    assert values["exclude"].count('"id"') < values["public"].count('"id"')


def test_a_token_is_asked_for_first(there: Families) -> None:
    """With a token, the owner's server shows nothing at all without it, and everything with it."""
    with there.served(family_owner=True, token=TOKEN) as client:
        url = f"/api/family/{there.done}/people"
        assert client.get(url).status_code == 401
        assert LIVING[0] in client.get(url, headers={"Authorization": f"Bearer {TOKEN}"}).text
    with there.served(token=TOKEN) as client:
        assert LIVING[0] not in client.get(url, headers={"Authorization": f"Bearer {TOKEN}"}).text


@pytest.mark.parametrize(
    ("serve", "client", "is_stranger", "is_owner"),
    [
        (ServeSettings(family_owner=True), "127.0.0.1", None, True),
        (ServeSettings(family_owner=True), "::1", None, True),
        (ServeSettings(family_owner=True), "192.168.0.7", None, False),
        (ServeSettings(family_owner=True), "", None, False),
        (ServeSettings(family_owner=True, token=TOKEN), "192.168.0.7", False, True),
        (ServeSettings(family_owner=True, token=TOKEN), "127.0.0.1", True, False),
        (ServeSettings(family_owner=True, token=TOKEN), "127.0.0.1", None, False),
        (ServeSettings(token=TOKEN), "127.0.0.1", False, False),
    ],
)
def test_the_owner_is_recognized_by_token_or_machine(
    serve: ServeSettings, client: str, is_stranger: bool | None, is_owner: bool
) -> None:
    """With a token, only the token counts; without one, only requests from this machine."""
    scope: dict[str, Any] = {"type": "http", "headers": [], "client": (client, 1) if client else None, "state": {}}
    if is_stranger is not None:
        scope["state"]["is_stranger"] = is_stranger
    access = FamilyAccess(serve)
    assert access.may_see_living(Request(scope)) is is_owner
    if not is_owner:
        with pytest.raises(Refused):
            access.privacy_mode(Request(scope), "owner")


@pytest.mark.parametrize("more", [{"public_url": "https://desk.school.lan"}, {"hosts": ("desk.school.lan",)}])
def test_a_server_that_others_reach_is_not_the_owners(more: dict[str, Any]) -> None:
    """A server that others reach by a name needs a token for that: behind a proxy all requests seem to be local."""
    with pytest.raises(BadSettings, match="no token is set"):
        check_serve_settings(ServeSettings(family_owner=True, **more))
    check_serve_settings(ServeSettings(family_owner=True, token=TOKEN, **more))
    check_serve_settings(ServeSettings(family_owner=True))


def test_responses_match_their_description(there: Families, client: httpx2.Client) -> None:
    """Each response about a case has the fields that the OpenAPI names, and no others."""
    described = client.get("/openapi.json").json()
    schemas, checked = described["components"]["schemas"], 0
    for url in addresses(client, there.done):
        reply = client.get(url)
        path = _path_of(url, described["paths"])
        content = described["paths"][path]["get"]["responses"]["200"]["content"]
        if "application/json" in content and "schema" in content["application/json"] and reply.status_code == 200:
            _fits(reply.json(), content["application/json"]["schema"], schemas, url)
            checked += 1
    assert checked > 20


def _path_of(url: str, paths: dict[str, Any]) -> str:
    parts = url.partition("?")[0].split("/")
    return next(
        path
        for path in paths
        if len(path.split("/")) == len(parts)
        and all(a == b or a.startswith("{") for a, b in zip(path.split("/"), parts, strict=True))
    )


def _fits(value: Any, schema: dict[str, Any], schemas: dict[str, Any], where: str) -> None:
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = next((one for one in schema["anyOf"] if one.get("type") != "null"), {}) if value is not None else {}
        _fits(value, schema, schemas, where)
    elif "properties" in schema:
        names = set(schema["properties"])
        assert set(value) <= names, where
        assert set(schema.get("required", ())) <= set(value), where
        for name, inner in value.items():
            _fits(inner, schema["properties"][name], schemas, f"{where} {name}")
    elif schema.get("type") == "array":
        for one in value:
            _fits(one, schema["items"], schemas, where)
    elif schema.get("type") in ("string", "integer", "boolean"):
        assert isinstance(value, {"string": str, "integer": int, "boolean": bool}[schema["type"]]), (where, value)


def test_a_job_of_a_case_is_kept_without_names(there: Families) -> None:
    """What is written down of a job says which case it works on by its id alone."""
    job = Job("family-1", FamilyRequest(there.started, 3, False, "abc"))
    text = json.dumps(job.record())
    assert request_from_record(json.loads(text)["request"]) == job.request
    assert leaked(there, there.started, text.encode()) == []
