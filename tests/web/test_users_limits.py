"""Limits are counted for each user: what is too much is refused with when to come again, and others go on."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import update
from tests.store.stores import changed
from tests.web.server_with_users import UserServer
from tests.web.servers import http_client, stream_events

from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage
from kiwiresearch.jobs.assignment import may_start_job
from kiwiresearch.jobs.job import ResearchRequest
from kiwiresearch.store.store import Store, open_store
from kiwiresearch.store.tables import JOB
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.guard.identity import CURRENT_VISITOR, Visitor
from kiwiresearch.workspace.setting_values import LimitSettings, UserLimits, checked_limits, user_limits

SEARCH = "/api/suggest?q=sun"
NUMBERS = itertools.count(1)


@contextlib.contextmanager
def limited(
    people: UserServer, role: str = "researcher", name: str = "", **limits: int | None
) -> Iterator[httpx2.Client]:
    """A client of a user with limits of their own, who is gone after the test."""
    user = people.register.add(name or f"lena {next(NUMBERS)}", role).name
    people.register.set_limits(user, limits)
    try:
        with http_client(people.address) as client:
            client.headers["Authorization"] = f"Bearer {people.register.new_token(user).text}"
            yield client
    finally:
        people.register.remove(user)


def test_requests_are_counted_by_user_and_not_by_address(people: UserServer) -> None:
    """A user who asks too often must wait; another user of the same address does not."""
    with limited(people, requests_a_minute=3) as client:
        answers = [client.get(SEARCH) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        with people.client("rita") as other:
            assert other.get(SEARCH).status_code == 200


def test_questions_of_a_day_are_counted(people: UserServer) -> None:
    """After the last question of the day the next is refused until midnight; searches go on."""
    with limited(people, "reader", questions_a_day=2) as client:
        for _ in range(2):
            assert client.get("/api/ask?q=Why is the sky blue?").status_code == 200
        refused = client.get("/api/ask?q=Why is the sky blue?")
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 86_400
        assert "2 questions today" in refused.json()["detail"]
        turns = [{"role": "user", "content": "Why?"}]
        assert client.post("/v1/chat/completions", json={"model": "kiwiresearch", "messages": turns}).status_code == 429
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
        assert client.post("/mcp", json=call).status_code == 429
        assert client.get("/ask").status_code == 200  # the page with the empty box asks nothing
        assert client.get(SEARCH).status_code == 200


def test_a_batch_cannot_exceed_the_questions_of_a_day(people: UserServer) -> None:
    """A user with a limit on questions cannot ask them as a batch."""
    with limited(people, questions_a_day=2) as client:
        batch = {"kind": "ask", "questions": ["Why?"] * 3}
        assert client.post("/api/jobs", json=batch).status_code == 403


def test_runs_that_wait_are_limited(people: UserServer) -> None:
    """No more runs of a user wait than may; they can stop one that waits, and begin another."""
    with limited(people, name="lena", running=1, queued=1) as client:
        started = [client.post("/api/research", json={"topic": "Sunset", "max_pages": 40}) for _ in range(4)]
        codes = [answer.status_code for answer in started]
        try:
            assert codes[0] == 202
            assert codes[-1] == 429
            assert "retry-after" in started[-1].headers
            assert people.store.jobs.counts("lena")[1] <= 1
        finally:
            for answer in started:
                if answer.status_code == 202:
                    assert client.post(f"/api/research/{answer.json()['id']}/cancel").status_code == 202


def test_pages_of_a_run_are_limited(people: UserServer) -> None:
    """A request for more pages than allowed is refused; without a number, the allowed number is used."""
    with limited(people, max_pages=3) as client:
        refused = client.post("/api/research", json={"topic": "Sunset", "max_pages": 4})
        assert refused.status_code == 403
        assert "3 pages" in refused.json()["detail"]
        made = client.post("/api/research", json={"topic": "Sunset"})
        assert made.json()["max_pages"] == 3
        client.post(f"/api/research/{made.json()['id']}/cancel")


def test_only_the_maker_or_an_owner_changes_a_run(people: UserServer) -> None:
    """Runs are everybody's to see; stopping and going on with them is not."""
    with people.client("remy") as remy, people.client("ruth") as ruth, people.client("olga") as olga:
        made = remy.post("/api/research", json={"topic": "Sunset", "max_pages": 30}).json()["id"]
        assert ruth.get(f"/api/research/{made}").json()["id"] == made
        assert ruth.post(f"/api/research/{made}/cancel").status_code == 403
        assert olga.post(f"/api/research/{made}/cancel").status_code == 202
        assert ruth.post(f"/api/research/{made}/resume").status_code == 403
        assert people.store.jobs.get(made).user == "remy"  # type: ignore[union-attr]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'store.sqlite'}", is_shared_store=False, clock=lambda: 1_000.0) as store:
        yield store


def test_runs_at_once_are_limited_where_they_are_taken(store: Store) -> None:
    """A worker takes no run of a user who has all that may be worked on; others' it takes."""
    settings = LimitSettings(researcher_running=1)
    store.users.add("remy", "researcher", made_at="")
    store.users.add("olga", "owner", made_at="")
    for user in ("remy", "remy", "olga", "olga", ""):
        store.jobs.add("x", "research", {}, user=user)

    def fits(row: object) -> bool:
        return may_start_job(store, settings, row.user)  # type: ignore[attr-defined]

    taken = [store.leases.lease_next("w", ["research"], lease_s=60, can_do=fits) for _ in range(5)]
    assert sorted(row.user for row in taken if row) == ["", "olga", "olga", "remy"]


def test_limits_that_cannot_be_read_keep_nobody_else_waiting(store: Store, tmp_path: Path) -> None:
    """Whose limits are damaged waits, for they could be given more than was meant; the others' runs are taken."""
    for user in ("remy", "ruth"):
        store.users.add(user, "researcher", made_at="")
        store.jobs.add("x", "research", {}, user=user)
    changed(f"sqlite:///{tmp_path / 'store.sqlite'}", "UPDATE kiwi_user SET limits = '[]' WHERE name = 'remy'")
    taken = store.leases.lease_next(
        "w", ["research"], lease_s=60, can_do=lambda row: may_start_job(store, LimitSettings(), row.user)
    )
    assert taken is not None
    assert taken.user == "ruth"


def test_limits_are_those_of_the_role_but_for_ones_own() -> None:
    """What a user's own limits say counts; what cannot be a limit, in a database of others, is passed over."""
    settings = LimitSettings(reader_questions_a_day=5)
    assert user_limits(settings, "reader", {}).questions_a_day == 5
    assert user_limits(settings, "reader", {"questions_a_day": 9}).questions_a_day == 9
    assert user_limits(settings, "reader", {"questions_a_day": "x", "queued": -1, "foo": 1}) == UserLimits(
        settings.reader_requests_a_minute, 5
    )
    assert user_limits(settings, "owner", {}).max_pages == 0


@pytest.mark.parametrize("own", [{"foo": 1}, {"queued": -1}, {"queued": 10**9}, {"queued": "5"}, {"queued": True}])
def test_an_invalid_limit_is_refused(own: dict[str, int]) -> None:
    """A mistake is reported, and nothing is set."""
    with pytest.raises(BadUsage):
        checked_limits(own)


def test_questions_of_a_batch_are_for_who_asked_them(people: UserServer) -> None:
    """Runs are everybody's to see; what somebody asked is theirs alone. An owner can stop it without seeing it."""
    with people.client("remy") as remy, people.client("ruth") as ruth, people.client("olga") as olga:
        made = remy.post("/api/jobs", json={"kind": "ask", "questions": ["What is a comet?"], "model": False})
        job = made.json()["id"]
        with remy.stream("GET", made.json()["events"]) as stream:
            assert list(stream_events(stream.iter_lines()))[-1].name == "done"
        for path in (f"/api/jobs/{job}/answers", made.json()["events"], f"/research/{job}", f"/research/{job}/news"):
            assert ruth.get(path).status_code == 403, path
            assert remy.get(path, follow_redirects=True).status_code != 403, path
            assert olga.get(path, follow_redirects=True).status_code == 403, path
        assert "comet" not in olga.get("/api/research").text + olga.get("/research").text
        assert olga.post(f"/api/research/{job}/cancel").status_code != 403


ASKED = "q=Why is the sky blue?"


@pytest.mark.parametrize(
    "place",
    [
        f"/ask?{ASKED}&live=false",
        f"/ask?{ASKED}&live=true&live=off",
        f"/ask?{ASKED}&question=%20",
        f"/api/ask?{ASKED}&question=%20",
    ],
)
def test_no_spelling_leads_round_the_questions_of_a_day(people: UserServer, place: str) -> None:
    """Whatever is in its address, a question that is answered is counted."""
    with limited(people, "reader", questions_a_day=1) as client:
        answers = [client.get(place).status_code for _ in range(2)]
        assert answers in ([200, 429], [422, 422]), answers


def test_a_page_whose_script_asks_is_not_counted_as_a_question(people: UserServer) -> None:
    """The script asks in a moment, and that is counted."""
    with limited(people, "reader", questions_a_day=1) as client:
        assert [client.get(f"/ask?{ASKED}&live=true").status_code for _ in range(3)] == [200] * 3
        assert client.get(f"/ask?{ASKED}").status_code == 200


@pytest.mark.parametrize("end", ["%0A", "%0D", "%00", "%7F"])
def test_an_address_with_control_characters_leads_nowhere(people: UserServer, end: str) -> None:
    """A line end after an address does not bypass the limits and the audit."""
    params = {"name": "ask", "arguments": {"question": "Why?"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    with limited(people, "reader", questions_a_day=1) as client:
        answer = client.post(f"/mcp{end}", json=call, headers=headers)
        assert answer.status_code == 404
        assert "control characters" in answer.json()["detail"]
        assert client.post(f"/login{end}", json={}).status_code == 404


def test_a_question_that_is_not_answered_is_not_counted(people: UserServer) -> None:
    """A request that is refused, or cannot be answered, does not count against the questions of the day."""
    with limited(people, "reader", "lisa", questions_a_day=2) as client:
        for number in range(1, 4):
            assert client.post("/api/ask", json={"question": ""}).status_code == 422
            _until_noted(people, "lisa", number)
        codes = [client.get(f"/api/ask?{ASKED}").status_code for _ in range(4)]
        assert codes == [200, 200, 429, 429]
        people.register.set_limits("lisa", {"questions_a_day": 3})
        assert client.get(f"/api/ask?{ASKED}").status_code == 200


def _until_noted(people: UserServer, name: str, rows: int) -> None:
    """Wait until what a user did is written down, which is when the answer has gone."""
    end = time.monotonic() + 60
    while len(people.store.audit.rows(user=name)) < rows:
        assert time.monotonic() < end, "it is not written down"
        time.sleep(0.02)


def test_a_new_user_is_not_the_old_one_of_that_name(people: UserServer) -> None:
    """Questions and batches of somebody who was removed are not for who comes next under that name."""
    with limited(people, name="lola") as client:
        made = client.post("/api/jobs", json={"kind": "ask", "questions": ["What is a comet?"], "model": False}).json()
        with client.stream("GET", made["events"]) as stream:
            assert list(stream_events(stream.iter_lines()))[-1].name == "done"
        assert client.get(f"/api/jobs/{made['id']}/answers").status_code == 200
    with limited(people, name="lola") as client, people.client("olga") as olga:
        assert client.get(f"/api/jobs/{made['id']}/answers").status_code == 403
        assert olga.get(f"/api/jobs/{made['id']}/answers").status_code == 403
    questions = QuestionHistory(people.context.workspace)
    for since, latest in (("2026-01-01", ("Why?",)), ("2026-01-02", ())):
        token = CURRENT_VISITOR.set(Visitor("lena", "reader", since=since))
        try:
            if latest:
                questions.add("Why?", "")
            assert questions.latest(5, "") == latest
        finally:
            CURRENT_VISITOR.reset(token)


def test_role_and_limits_change_together_or_not_at_all(people: UserServer) -> None:
    """If the role is refused the limits stay, and the other way round: over the API and by the form."""
    with people.client("olga") as olga, people.browser("olga") as browser:
        before = olga.get("/api/users/olga").json()
        for change in ({"role": "reader", "limits": {"queued": 7}}, {"role": "king", "limits": {"queued": 7}}):
            assert olga.put("/api/users/olga", json=change).status_code in (400, 422)
        assert browser.post("/people/olga", data={"role": "reader", "queued": "7"}).status_code == 400
        assert olga.put("/api/users/rita", json={"role": "owner", "limits": {"foo": 7}}).status_code in (400, 422)
        assert olga.get("/api/users/rita").json()["role"] == "reader"
        after = olga.get("/api/users/olga").json()
        assert (after["role"], after["limits"]) == (before["role"], before["limits"])


def test_a_model_may_ask_for_the_state_of_anothers_run(people: UserServer) -> None:
    """A user who may not resume an interrupted run can see its state."""
    made = people.store.jobs.add("20260101-000000-stands", "research", plain(ResearchRequest("Sunset")), user="remy")
    people.store.jobs.cancel(made.id)
    with people.store.users._db.writing() as connection:
        connection.execute(update(JOB).where(JOB.c.id == made.id).values(state="interrupted"))
    params = {"name": "research", "arguments": {"id": made.id, "wait_s": 0}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with people.client("ruth") as ruth:
        result = ruth.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})
    assert "is interrupted" in result.text, result.text
