"""The audit says who did what, keeps people's words only if the setting asks for it, and detects changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from tests.web.guarded_server import TOKEN, guarded
from tests.web.server_with_users import UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT, http_client, running_server, server_context, stream_events

from kiwiresearch.errors import CannotWrite
from kiwiresearch.store.audit import AuditRow
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.audit import AuditLog, record_policy
from kiwiresearch.web.guard.server_token import MAX_WRONG_TOKENS_PER_MINUTE_OVERALL
from kiwiresearch.web.guard.setup import open_accounts
from kiwiresearch.workspace.users import utc_now
from kiwiresearch.workspace.workspace import store_of
from kiwiresearch.zim.policy import Policy

QUESTION = "Why is the sky orange at sunset?"
OURS = {"Sec-Fetch-Site": "same-origin"}
FORM = OURS | {"Content-Type": "application/x-www-form-urlencoded"}


def row_after(
    people: UserServer, seq: int, action: str, user: str | None = None, subject: str | None = None
) -> AuditRow:
    """The first such row behind a place: those of runs are written when the answer has gone."""
    found: list[AuditRow] = []

    def is_there() -> bool:
        rows = people.store.audit.rows(seq, 1_000, action=action, user=user)
        found[:] = [row for row in rows if subject in (None, row.subject)]
        return bool(found)

    until(is_there, f"no row tells of {action!r}")
    return found[0]


def until(holds: Callable[[], bool], otherwise: str) -> None:
    """Wait for a thread of the server, however busy the machine is."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)


def end_of(people: UserServer) -> int:
    rows = people.store.audit.rows(limit=1, newest_first=True)
    return rows[0].seq if rows else 0


@pytest.fixture
def remy(people: UserServer) -> Iterator[httpx2.Client]:
    with people.client("remy") as client:
        yield client


def test_a_question_is_noted_without_its_words(people: UserServer, remy: httpx2.Client) -> None:
    """That somebody asked is written down, and not what."""
    seq = end_of(people)
    remy.post("/api/ask", json={"question": QUESTION})
    row = row_after(people, seq, "ask", "remy")
    assert (row.user, row.host, row.outcome, row.subject) == ("remy", "127.0.0.1", "done", "")
    assert "orange" not in json.dumps(dict(row.details))


def test_a_request_is_recorded_before_its_response_ends(people: UserServer, remy: httpx2.Client) -> None:
    """The row is there before the response is complete, also for a long stream and a response without a body."""
    seq = end_of(people)
    with remy.stream("POST", "/api/ask", json={"question": QUESTION, "stream": True}):
        assert [row.action for row in people.store.audit.rows(seq, 10, user="remy")] == ["ask"]
    seq = end_of(people)
    remy.post("/api/ask", json={"question": ""})
    assert [row.outcome for row in people.store.audit.rows(seq, 10, user="remy")] == ["failed"]
    with people.client("rita") as client:
        client.request("DELETE", "/api/users/nobody")
    assert [row.outcome for row in people.store.audit.rows(seq, 10, user="rita")] == ["refused"]


def test_research_is_noted_from_its_beginning_to_its_end(people: UserServer, remy: httpx2.Client) -> None:
    """Who started a run, which one, and how it ended; an export and a stop as well."""
    seq = end_of(people)
    made = remy.post("/api/research", json={"topic": "Sunset", "max_pages": 2}).json()
    with remy.stream("GET", made["events"]) as stream:
        assert list(stream_events(stream.iter_lines()))[-1].name == "done"
    assert row_after(people, seq, "research", "remy", made["id"]).outcome == "done"
    ended = row_after(people, seq, "ended", "remy", made["id"])
    assert (ended.user, ended.subject, ended.outcome) == ("remy", made["id"], "done")
    remy.get(f"/api/runs/{made['id']}/export/bibtex")
    assert row_after(people, seq, "export", "remy", made["id"]).outcome == "done"
    remy.post(f"/api/research/{made['id']}/cancel")
    assert row_after(people, seq, "stop", "remy", made["id"]).outcome == "done"


def test_logging_in_is_noted_and_so_is_failing_to(people: UserServer) -> None:
    """A successful login is recorded by name; a failed one by the address alone."""
    seq = end_of(people)
    with people.browser("rita"):
        row = row_after(people, seq, "login", "rita")
    assert (row.user, row.outcome) == ("rita", "done")
    with people.browser() as browser:
        browser.post("/login", data={"token": "kiwi_" + "z" * 32})
    row = row_after(people, row.seq, "login", "")
    assert (row.user, row.outcome) == ("", "refused")


def test_a_refusal_is_noted(people: UserServer) -> None:
    """A refused request is recorded with its user, even if allowed use is not."""
    seq = end_of(people)
    with people.client("rita") as client:
        client.get("/api/users")
        client.post("/api/research", json={"topic": "Sunset"})
    row = row_after(people, seq, "refused", "rita")
    assert (row.user, row.details["way"]) == ("rita", "GET /api/users")
    assert row_after(people, seq, "research", "rita").outcome == "refused"


def test_a_tool_of_a_model_is_noted_as_our_own_routes_are(people: UserServer, remy: httpx2.Client) -> None:
    """A question that came by MCP counts as one; a reader's run by MCP is refused."""
    seq = end_of(people)
    params = {"name": "ask", "arguments": {"question": QUESTION}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    assert remy.post("/mcp", json=body, headers=headers).status_code == 200
    assert row_after(people, seq, "ask", "remy").outcome == "done"
    params = {"name": "research", "arguments": {"topic": "Sunset"}}
    with people.client("rita") as client:
        assert client.post("/mcp", json=body | {"params": params}, headers=headers).status_code == 403
    assert row_after(people, seq, "research", "rita").outcome == "refused"


def test_research_started_by_a_tool_belongs_to_its_user(people: UserServer, remy: httpx2.Client) -> None:
    """Research that a model asks for is in the queue under the name of the user who runs the model."""
    params = {"name": "research", "arguments": {"topic": "Moon phases of a tool", "max_pages": 1, "wait_s": 0}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    remy.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})
    made = next(row for row in people.store.jobs.all() if row.request.get("topic") == "Moon phases of a tool")
    assert made.user == "remy"


def test_changes_to_users_are_noted_with_who_made_them(people: UserServer) -> None:
    """An owner who makes a user is named in the row."""
    seq = end_of(people)
    with people.client("olga") as client:
        assert client.post("/api/users", json={"name": "temp"}).status_code == 201
        assert client.delete("/api/users/temp").status_code == 204
    rows = people.store.audit.rows(seq, 10, action="user")
    assert [(row.user, row.subject, row.details["what"]) for row in rows] == [
        ("olga", "temp", "added"),
        ("olga", "temp", "removed"),
    ]


def test_searches_and_pages_are_not_noted(people: UserServer) -> None:
    """What somebody reads is nobody's business."""
    seq = end_of(people)
    with people.client("rita") as client:
        client.get("/api/search?q=sunset&fast=true")
        client.get("/api/page?title=Sunset")
    with people.client("olga") as client:
        client.get("/api/audit")
    last = row_after(people, seq, "audit")
    assert people.store.audit.rows(seq, 100, user="rita", before=last.seq) == []


def test_owners_read_the_audit_page_by_page(people: UserServer, remy: httpx2.Client) -> None:
    """Rows come newest first, by user and action, and the chain is proved."""
    remy.post("/api/ask", json={"question": QUESTION})
    with people.client("olga") as client:
        first = client.get("/api/audit?limit=2").json()
        then = client.get(f"/api/audit?limit=2&before={first['before']}").json()
        assert first["rows"][-1]["seq"] == then["rows"][0]["seq"] + 1
        mine = client.get("/api/audit?user=remy&action=ask").json()["rows"]
        assert {(row["user"], row["action"]) for row in mine} == {("remy", "ask")}
        assert client.get("/api/audit?since=3000-01-01").json()["rows"] == []
        assert client.get("/api/audit/check").json()["holds"] is True


def test_a_check_compares_with_an_earlier_head(people: UserServer) -> None:
    """A check knows the head of an earlier one; a head that no row has shows that rows were rewritten."""
    with people.client("olga") as client, people.browser("olga") as browser:
        head = client.get("/api/audit/check").json()["head"]
        people.store.audit.add("2026-01-01T00:00:00+00:00", "x", "y", "note")
        again = client.get("/api/audit/check", params={"head": f" {head} "}).json()
        assert (again["holds"], again["row"], again["why"]) == (True, None, "")
        assert again["head"] != head
        shown = browser.get(f"/audit?check=1&head={head}").text
        assert "The audit log is intact" in shown
        assert "The entry with the fingerprint you noted is there." in shown
        wrong = client.get(f"/api/audit/check?head={'ab' * 32}").json()
        assert wrong["holds"] is False
        assert "rewritten" in wrong["why"]
        assert client.get(f"/api/audit/check?head={'x' * 101}").status_code == 422
        output = browser.get(f"/audit?check=1&head={'ab' * 32}").text
        assert "No entry has the fingerprint you noted." in output
        assert f'value="{"ab" * 32}"' in output
        assert "The audit log is intact" not in output


@pytest.mark.parametrize("since", ["tomorrow", "2026-13-01", "0001-01-01T00:00+14:00"])
def test_an_invalid_date_in_the_audit_filter_is_explained(people: UserServer, since: str) -> None:
    """A date that does not exist is an error on the page, which keeps what was typed."""
    with people.client("olga") as client, people.browser("olga") as browser:
        answer = client.get("/api/audit", params={"since": since})
        assert answer.status_code == 400
        assert "is not a date" in answer.json()["detail"]
        shown = browser.get("/audit", params={"since": since})
        assert shown.status_code == 400
        assert "This is not a valid date." in shown.text
        assert f'value="{since}"' in shown.text


@pytest.mark.parametrize("since", ["2999-01-01", "2998-12-31T23:00:00-01:00", "2999-01-01T01:00:00+01:00"])
def test_a_moment_may_be_written_in_many_ways(people: UserServer, since: str) -> None:
    """A day, and a moment anywhere on earth, are found among those of the rows, also where a '+' became a space."""
    row = people.store.audit.add("2999-01-01T00:00:00+00:00", "x", "y", "note", "late")
    with people.client("olga") as client:
        for way in (f"since={since}", urlencode({"since": since})):
            assert row in {one["seq"] for one in client.get(f"/api/audit?action=note&{way}").json()["rows"]}


def test_words_are_kept_where_the_settings_say_so(tmp_path: Path) -> None:
    """With `audit_words` the audit has the question, from every way in."""
    with user_server(tmp_path, **NO_RATE_LIMIT, KIWIRESEARCH_SERVE_AUDIT_WORDS="yes") as people:
        seq = end_of(people)
        turns = [{"role": "user", "content": QUESTION}]
        params = {"name": "ask", "arguments": {"question": QUESTION}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        with people.client("rita") as client, people.browser("rita") as browser:
            ways: list[Callable[[], httpx2.Response]] = [
                lambda: client.post("/api/ask", json={"question": QUESTION}),
                lambda: client.get(f"/api/ask?q={QUESTION}"),
                lambda: client.post("/v1/chat/completions", json={"model": "kiwiresearch", "messages": turns}),
                lambda: client.post("/mcp", json=call, headers={"Accept": "application/json, text/event-stream"}),
                lambda: browser.get(f"/ask?q={QUESTION}"),
            ]
            for ask in ways:
                assert ask().status_code == 200
                row = row_after(people, seq, "ask")
                assert row.subject == QUESTION
                seq = row.seq


def test_an_audit_without_users_is_kept_if_it_is_wanted(context: ServerContext) -> None:
    """A desk of one user keeps one only where its settings say so; it names an address and nobody."""
    serve = replace(context.workspace.settings.serve, audit=True)
    with guarded(context, serve) as port, http_client(f"http://127.0.0.1:{port}") as client:
        client.post("/api/ask", json={"question": QUESTION})
        rows = client.get("/api/audit?action=ask").json()["rows"]
    assert rows[0]["user"] == ""


def test_a_new_policy_is_noted_once(tmp_path: Path) -> None:
    """When a server starts with another policy than before, the audit records it; otherwise it does not."""
    with server_context(tmp_path) as context:
        logbook = AuditLog(store_of(context.workspace).audit, utc_now)
        for policy in (Policy(), Policy(hidden=("Beer",)), Policy(hidden=("Beer",)), Policy()):
            record_policy(logbook, policy)
        assert len(logbook.audit.rows(action="profile")) == 2
        assert open_accounts(context.workspace).audit_log is None


@pytest.mark.parametrize("body", [b"{", b"[]", b"[1]", b'{"params": 1}', b'{"method": "tools/call", "params": []}'])
def test_strange_bodies_do_no_harm(people: UserServer, body: bytes) -> None:
    """A body that is not a tool call is passed on unchanged."""
    with people.client("rita") as client:
        answer = client.post("/mcp", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code < 500
        assert client.post("/api/ask", content=body, headers={"Content-Type": "application/json"}).status_code == 422


@pytest.mark.parametrize("problem", [CannotWrite("The disk is full."), TypeError("a damaged row")], ids=str)
def test_an_audit_that_cannot_be_written_is_reported_in_the_log(
    people: UserServer,
    remy: httpx2.Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    problem: Exception,
) -> None:
    """With a full disk the row is lost, not the response, and the log says so; the same with a damaged row."""

    def full(*_: object, **__: object) -> int:
        raise problem

    monkeypatch.setattr(people.store.audit, "add", full)
    assert remy.post("/api/ask", json={"question": QUESTION}).status_code == 200
    until(lambda: "audit log could not be written" in caplog.text, "the log tells nothing")


def test_wrong_tokens_do_not_fill_the_audit(tmp_path: Path) -> None:
    """Failing to log in is noted as often as it may be tried, and no more."""
    with user_server(tmp_path, **NO_RATE_LIMIT) as people, people.browser() as browser:
        codes = [browser.post("/login", data={"token": "kiwi_" + "z" * 32}).status_code for _ in range(14)]
        assert 429 in codes
        tried = codes.count(401)
        until(lambda: len(people.store.audit.rows(action="login")) >= tried, "a try is not noted")
        with people.browser("rita"):
            row_after(people, 0, "login", "rita")
        assert len(people.store.audit.rows(action="login")) == tried + 1


def test_wrong_tokens_of_programs_are_noted(tmp_path: Path) -> None:
    """A program with a wrong token is noted, as often as it may try; not what it asked, and not who sends no token."""
    with user_server(tmp_path, **NO_RATE_LIMIT) as people, people.client() as client:
        assert client.get("/api/search?q=secret").status_code == 401
        assert people.store.audit.rows(action="login") == []
        wrong = {"Authorization": "Bearer kiwi_" + "z" * 32}
        codes = [client.get("/api/search?q=secret", headers=wrong).status_code for _ in range(14)]
        rows = people.store.audit.rows(action="login")
        assert len(rows) == codes.count(401) == 10
        assert {(row.user, row.host, row.outcome) for row in rows} == {("", "127.0.0.1", "refused")}
        assert "secret" not in str(rows)


def test_wrong_tokens_of_a_server_with_one_token_are_noted(tmp_path: Path) -> None:
    """A server with one token and an audit notes wrong ones, as often as they may be tried."""
    with (
        server_context(tmp_path, KIWIRESEARCH_SERVE_TOKEN=TOKEN, KIWIRESEARCH_SERVE_AUDIT="true") as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        codes = [client.get("/api/books", headers={"Authorization": "Bearer wrong"}).status_code for _ in range(14)]
        assert codes == [401] * 10 + [429] * 4
        client.get("/api/books", headers={"Authorization": "Basic wrong"})
        rows = store_of(context.workspace).audit.rows(action="login")
        assert (len(rows), {row.outcome for row in rows}) == (10, {"refused"})


def test_naming_other_addresses_does_not_help_to_guess(tmp_path: Path) -> None:
    """A program on this machine may name any address; together they may try only so often. Right tokens are let in."""
    with user_server(tmp_path, **NO_RATE_LIMIT) as people, people.client() as client, people.client("rita") as rita:
        wrong = {"Authorization": "Bearer kiwi_" + "z" * 32}
        codes = [
            client.get("/api/books", headers=wrong | {"X-Forwarded-For": f"192.0.2.{number}"}).status_code
            for number in range(MAX_WRONG_TOKENS_PER_MINUTE_OVERALL + 20)
        ]
        assert 429 in codes[MAX_WRONG_TOKENS_PER_MINUTE_OVERALL:]
        assert len(people.store.audit.rows(action="login", limit=1_000)) == codes.count(401)
        assert rita.get("/api/books", headers={"X-Forwarded-For": "192.0.2.250"}).status_code == 200


def test_a_question_that_took_too_long_is_noted_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that is stopped was not answered, and does not count against the questions of the user."""
    go_on = threading.Event()
    with user_server(tmp_path, KIWIRESEARCH_SERVE_REQUEST_TIMEOUT_S="1") as people, people.client("remy") as client:
        monkeypatch.setattr(type(people.context.asker), "events", lambda *_: iter(go_on.wait, None))
        try:
            assert client.post("/api/ask", json={"question": QUESTION}).status_code == 503
            row = row_after(people, 0, "ask", "remy")
        finally:
            go_on.set()
        assert row.outcome == "failed"


@pytest.mark.parametrize("way", ["GET /api/ask", "POST /ask/stream"])
def test_any_number_of_fields_does_no_harm(people: UserServer, way: str) -> None:
    """A question among hundreds of fields is answered or refused, and no longer counted as on its way."""
    method, path = way.split()
    fields = [("x", str(number)) for number in range(1_500)] + [("q", QUESTION)]
    seq = end_of(people)
    with people.browser("remy") as browser:
        sent: dict[str, Any] = {"params": fields, "headers": OURS}
        if method == "POST":
            sent = {"content": urlencode(fields), "headers": FORM}
        people.register.set_limits("remy", {"questions_a_day": 100_000})
        try:
            answer = browser.request(method, path, **sent)
        finally:
            people.register.set_limits("remy", {"questions_a_day": None})
    assert answer.status_code < 500
    row_after(people, seq, "ask", "remy")
