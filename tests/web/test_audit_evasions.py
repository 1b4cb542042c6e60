"""Ways past the audit and the limits that somebody may try: none of them leads there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import SimpleNamespace
from urllib.parse import quote

import anyio
import pytest
from starlette.types import Message, Scope
from tests.web.server_with_users import UNLIMITED, UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT, http_client

from kiwiresearch.web.guard.audit import MAX_SUBJECT, AuditLog, AuditRecorder, asked_words
from kiwiresearch.web.guard.roles import requires_role
from kiwiresearch.workspace.users import utc_now

ASKED = "Why is the sky blue?"
UNKEPT = ["\0", "\ud800", "\x1b[31m", "\r\n99  2026-11-16  olga  -  login  -  done"]
"""What no store keeps, what commands a terminal, and what looks like another row."""
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserServer]:
    """A server whose audit keeps the words of questions."""
    more = {"KIWIRESEARCH_SERVE_AUDIT_WORDS": "yes"}
    with user_server(tmp_path_factory.mktemp("wordy"), **NO_RATE_LIMIT, **UNLIMITED, **more) as people:
        yield people


def rows_of(people: UserServer, user: str, number: int) -> list[str]:
    """What the audit has of the questions of a user, as soon as there are so many: they follow the answers."""
    until = time.monotonic() + 20
    while len(rows := people.store.audit.rows(user=user, action="ask", limit=100)) < number:
        assert time.monotonic() < until, f"{len(rows)} of {number} questions are in the audit"
    return [row.subject for row in rows]


def test_no_character_keeps_a_question_out_of_the_audit(wordy: UserServer) -> None:
    """Whatever is in a question, it is written down in one line, and counts among those of the day."""
    wordy.register.add("eve", "reader", {"questions_a_day": len(UNKEPT)})
    token = wordy.register.new_token("eve")
    with http_client(wordy.address) as eve:
        eve.headers["Authorization"] = f"Bearer {token.text}"
        for number, sign in enumerate(UNKEPT, start=1):
            body = json.dumps({"question": f"{ASKED} {sign}"})
            assert eve.post("/api/ask", content=body, headers=JSON).status_code == 200
            subject = rows_of(wordy, "eve", number)[-1]
            assert subject.startswith(ASKED)
            assert subject.isprintable()
        assert eve.get(f"/api/ask?q={quote(ASKED)}").status_code == 429
    assert wordy.store.audit.first_problem() is None


def test_a_nul_in_an_address_keeps_no_question_out_of_the_audit(wordy: UserServer) -> None:
    """The same for what is asked by an address."""
    with wordy.client("rita") as rita:
        assert rita.get(f"/api/ask?q={quote(ASKED)}%00").status_code == 200
    assert rows_of(wordy, "rita", 1) == [ASKED]


def test_a_name_in_an_address_cannot_forge_an_audit_row(wordy: UserServer) -> None:
    """A run whose name looks like the rest of a row is recorded by a name that does not."""
    with wordy.client("rita") as rita:
        assert rita.get("/api/runs/x%20%20-%20%20done%E2%80%AE%C2%85/export/epub").status_code == 404
    until = time.monotonic() + 20
    while not (rows := wordy.store.audit.rows(user="rita", action="export", limit=100)):
        assert time.monotonic() < until
    assert [row.subject for row in rows] == ["x - done"]


def test_a_server_error_is_recorded_as_failed(wordy: UserServer) -> None:
    """A request that ended with a fault of the program failed, and does not count as a question of the day."""

    async def broken(*_: object) -> None:
        raise RuntimeError("a fault")

    async def body() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def unheard(_: Message) -> None:
        raise AssertionError("nothing is sent")

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/ask",
        "headers": [],
        "query_string": b"",
        "state": {},
        "client": ("10.1.2.3", 1),
        "route": SimpleNamespace(path="/api/ask", endpoint=requires_role("reader", "ask")(lambda: None)),
    }
    recorded = AuditRecorder(broken, audit_log=AuditLog(wordy.store.audit, utc_now))
    with pytest.raises(RuntimeError, match="a fault"):
        anyio.run(recorded, scope, body, unheard)
    rows = [row for row in wordy.store.audit.rows(action="ask", limit=100) if row.host == "10.1.2.3"]
    assert [(row.outcome, row.details["status"]) for row in rows] == [("failed", 500)]


def test_words_are_cut_where_the_audit_ends_them() -> None:
    """A question that goes on and on takes no more room than others."""
    scope = {"headers": [], "query_string": b"q=" + b"x" * 100_000}
    assert asked_words(scope, b"") == "x" * MAX_SUBJECT


def test_a_page_number_of_the_audit_that_is_too_large_is_refused(wordy: UserServer) -> None:
    """A number that is too large for the store is an invalid request."""
    with wordy.client("olga") as olga:
        for before in (2**63, 10**30):
            assert olga.get(f"/api/audit?before={before}").status_code == 422
