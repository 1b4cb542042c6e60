"""The queue: whose turn it is, which worker has a job, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.store.stores import LAPSED_S, LEASE_S, SECONDS, Opener, opened

from kiwiresearch.errors import BadUsage, LeaseLost, RunNotFound, WrongJobState
from kiwiresearch.store import job_row, jobs, leases
from kiwiresearch.store.job_row import JobRow
from kiwiresearch.store.store import Store

ALL = ("research", "ask", "bulk", "kin")


def started(store: Store, worker: str = "w", **more: Any) -> str:
    """The id of the job that a worker gets next; empty if there is none."""
    job = store.leases.lease_next(worker, ALL, lease_s=LEASE_S, **more)
    return job.id if job else ""


def line(store: Store) -> list[str]:
    """The jobs in the order in which they are started."""
    return list(iter(lambda: started(store), ""))


def job_of(store: Store, job_id: str) -> JobRow:
    found = store.jobs.get(job_id)
    assert found is not None
    return found


def running_job(store: Store, *, lease_s: float = LEASE_S, worker: str = "w") -> JobRow:
    """A job that a worker has started."""
    store.jobs.add("x", "research", {"topic": "Galaxy"})
    job = store.leases.lease_next(worker, ALL, lease_s=lease_s)
    assert job is not None
    return job


def test_a_new_job_waits_under_the_first_id_that_is_free(store: Store) -> None:
    """Ids are the name and a number that no job, no run and nobody else has."""
    store.run_files.put("", "galaxy-2", {"brief.md": b"x"})
    ids = [store.jobs.add("galaxy", "research", {}, is_taken=lambda one: one == "galaxy-4").id for _ in range(3)]
    assert ids == ["galaxy-1", "galaxy-3", "galaxy-5"]
    store.jobs.remove("galaxy-3")
    assert store.jobs.add("galaxy", "research", {}).id == "galaxy-3"
    assert store.jobs.add("galaxy_", "research", {}).id == "galaxy_-1"
    assert store.jobs.add("Galaxy", "research", {}).id == "Galaxy-1"


def test_a_job_is_kept_as_it_was_asked_for(store: Store, another: Opener) -> None:
    """Request, user and priority come back as they were given, for every process."""
    request = {"topic": "Ærø 🪁", "depth": None, "books": ["a", "b"], "critic": False, "share": 0.1}
    made = store.jobs.add("x", "ask", request, user="Ann", priority=-3, asked_at="2026-01-01T00:00:00+00:00")
    assert another().jobs.get("x-1") == made
    assert (made.state, made.turn, made.attempt, made.report, made.losses) == ("queued", 1, 0, {}, ())
    assert another().jobs.get("x-2") is None


def test_the_first_job_is_started_first(store: Store) -> None:
    """Jobs of one user and one priority are started in the order of their turns, and listed in reverse."""
    ids = [store.jobs.add(name, "research", {}).id for name in ("c", "a", "b")]
    assert [job.id for job in store.jobs.all()] == ids[::-1]
    assert line(store) == ids
    assert store.jobs.counts() == (0, 3)


def test_urgent_jobs_go_first(store: Store) -> None:
    """The priority decides first, for all users and times."""
    for name, priority in (("low", -1), ("usual", 0), ("high", 5), ("higher", 6)):
        store.jobs.add(name, "research", {}, priority=priority, user=name)
    assert line(store) == ["higher-1", "high-1", "usual-1", "low-1"]


def test_users_take_turns_however_much_one_of_them_asks_for(store: Store) -> None:
    """The user with the fewest running jobs is next, then the one who waited longest for a start."""
    for name in ("ann", "ann", "ann", "ann", "bob", "bob", "cid"):
        store.jobs.add(name, "research", {}, user=name)
    assert line(store) == ["ann-1", "bob-1", "cid-1", "ann-2", "bob-2", "ann-3", "ann-4"]


def test_shares_are_fair_over_time(store: Store) -> None:
    """One worker alone serves users in turn, though nobody ever has a job running when it asks."""
    for name in ("ann", "ann", "ann", "bob", "bob"):
        store.jobs.add(name, "research", {}, user=name)
    order = []
    while job_id := started(store):
        order.append(job_id)
        store.jobs.end("w", job_id, "done", {})
    assert order == ["ann-1", "bob-1", "ann-2", "bob-2", "ann-3"]


def test_a_worker_takes_only_what_it_can_do(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds that it does not know and jobs that do not fit stay for others, at their place."""
    monkeypatch.setattr(leases, "CANDIDATES_PER_READ", 5)
    for number in range(12):
        store.jobs.add("far", "research", {"number": number})
    store.jobs.add("near", "research", {"number": 7_000})
    store.jobs.add("kin", "kin", {"number": 7_000})
    assert started(store, can_do=lambda job: job.request["number"] == 7_000) == "near-1"
    assert store.leases.lease_next("w", ("ask",), lease_s=LEASE_S) is None
    assert store.leases.lease_next("w", ("kin",), lease_s=LEASE_S, can_do=lambda job: False) is None
    assert started(store) == "far-1"
    assert store.jobs.counts() == (12, 2)


def test_a_leased_job_says_who_has_it(store: Store) -> None:
    """The row that a worker gets has its name, its attempt and the time of the start."""
    job = running_job(store)
    assert (job.state, job.worker, job.attempt, job.holder) == ("running", "w", 1, "w#1")
    assert job.started_at.startswith("20")
    assert job == job_of(store, job.id)


def test_reports_of_a_job_are_merged(store: Store) -> None:
    """A later value replaces only an earlier one of the same name."""
    job = running_job(store)
    store.jobs.report_progress("w", job.id, {"pages": 1, "kept": 2})
    store.jobs.report_progress(job.holder, job.id, {"pages": 3})
    store.jobs.end(job.holder, job.id, "done", {"story": "It was long."}, ended_at="2026-01-01")
    ended = job_of(store, job.id)
    assert ended.report == {"pages": 3, "kept": 2, "story": "It was long."}
    assert (ended.state, ended.ended_at, ended.worker) == ("done", "2026-01-01", "w")


def test_a_job_ends_once(store: Store) -> None:
    """A worker that ends it a second time has lost it, and the first report stays."""
    job = running_job(store)
    store.jobs.end("w", job.id, "done", {"story": "first"})
    with pytest.raises(LeaseLost):
        store.jobs.end("w", job.id, "failed", {"story": "second"})
    assert (job_of(store, job.id).state, job_of(store, job.id).report) == ("done", {"story": "first"})
    with pytest.raises(BadUsage, match="A job cannot end as"):
        store.jobs.end("w", job.id, "running", {})


def test_a_lease_that_is_renewed_does_not_lapse(store: Store) -> None:
    """Only the job of a worker that did not report back goes back in line."""
    job, other = running_job(store, lease_s=LAPSED_S), running_job(store, worker="v")
    assert store.leases.renew("w", job.id, lease_s=LEASE_S) == "held"
    assert store.leases.expire(max_lost_starts=3) == []
    assert store.leases.renew("v", job.id, lease_s=LEASE_S) == "lost"
    assert store.leases.renew("w", "nobody-1", lease_s=LEASE_S) == "lost"
    assert store.leases.renew("v", other.id, lease_s=LEASE_S) == "held"


def test_a_lost_job_is_taken_over_with_the_reason(store: Store, another: Opener) -> None:
    """Another worker continues at its old place, and it is recorded who lost it, when and why."""
    job = running_job(store, lease_s=LAPSED_S)
    later = store.jobs.add("y", "research", {})
    (reaped,) = another().leases.expire(max_lost_starts=3)
    assert (reaped.id, reaped.state, reaped.turn) == (job.id, "queued", job.turn)
    assert [(loss["worker"], loss["why"]) for loss in reaped.losses] == [("w", job_row.LEASE_EXPIRED)]
    assert reaped.losses[0]["at"].startswith("20")
    taken = another().leases.lease_next("v", ALL, lease_s=LEASE_S)
    assert taken is not None
    assert (taken.id, taken.attempt, taken.worker) == (job.id, 2, "v")
    assert job_of(store, later.id).state == "queued"


def test_a_worker_known_to_be_dead_is_not_waited_for(store: Store) -> None:
    """If the host knows that the process is gone, the lease need not lapse."""
    job = running_job(store)
    assert store.leases.expire(max_lost_starts=3, is_dead=lambda worker: worker == "v") == []
    (reaped,) = store.leases.expire(max_lost_starts=3, is_dead=lambda worker: worker == "w")
    assert (reaped.id, reaped.losses[0]["why"]) == (job.id, "the process of its worker ended")


def test_a_job_that_is_lost_too_often_fails_with_the_reasons(store: Store) -> None:
    """After so many lost starts it is not tried again until somebody resumes it, and then they are counted from 0."""
    job = running_job(store, lease_s=LAPSED_S)
    store.leases.requeue("w", job.id, "the worker was stopped")
    store.leases.lease_next("w", ALL, lease_s=LAPSED_S)
    for left in (2, 1, 0):
        (lost,) = store.leases.expire(max_lost_starts=3)
        assert lost.state == ("queued" if left else "failed")
        store.leases.lease_next("w", ALL, lease_s=LAPSED_S)
    failed = job_of(store, job.id)
    assert failed.report["problem"].startswith("It failed 3 times (")
    assert failed.report["problem"].count("did not report back") == 3
    assert "stopped" not in failed.report["problem"]
    assert failed.ended_at
    again = store.jobs.restart(job.id)
    assert (again.state, again.report, again.ended_at, len(again.losses)) == ("queued", {}, "", 4)
    store.leases.lease_next("w", ALL, lease_s=LAPSED_S)
    assert [one.state for one in store.leases.expire(max_lost_starts=3)] == ["queued"]


def test_a_job_whose_process_is_killed_is_tried_only_so_often(store: Store) -> None:
    """It waits again with the reason, and the last try is its end."""
    store.jobs.add("x", "research", {})
    for state in ("queued", "failed"):
        row = store.leases.lease_next("w", ("research",), lease_s=60)
        assert row is not None
        assert store.leases.requeue_killed(row.holder, row.id, max_lost_starts=2).state == state
    failed = store.jobs.get("x-1")
    assert failed is not None
    assert [one["why"] for one in failed.losses] == ["its process was killed"] * 2
    assert failed.report["problem"].startswith("It failed 2 times (")
    with pytest.raises(LeaseLost):
        store.leases.requeue_killed("w", "x-1", max_lost_starts=2)


def test_a_job_that_is_given_back_has_lost_no_try(store: Store) -> None:
    """A worker that stops puts its job in line at the old place, however often that happens."""
    store.jobs.add("x", "research", {})
    store.jobs.add("y", "research", {})
    for _ in range(5):
        assert started(store) == "x-1"
        store.leases.requeue("w", "x-1", "the worker was stopped")
        assert store.leases.expire(max_lost_starts=1) == []
    job = job_of(store, "x-1")
    assert (job.state, job.turn, job.attempt) == ("queued", 1, 5)
    assert {loss["why"] for loss in job.losses} == {"the worker was stopped"}


WRITES: dict[str, Callable[[Store, str, str], None]] = {
    "tell": lambda store, holder, job: store.jobs.report_progress(holder, job, {"pages": 9}),
    "end": lambda store, holder, job: store.jobs.end(holder, job, "done", {}),
    "give back": lambda store, holder, job: store.leases.requeue(holder, job, "x"),
    "events": lambda store, holder, job: store.jobs.add_events(holder, job, 1, [{"a": 1}]),
    "append": lambda store, holder, job: store.unfinished_files.append(holder, job, {"steps": (0, b"zombie")}),
    "files": lambda store, holder, job: store.run_files.put(holder, job, {"brief.md": b"zombie"}),
}


@pytest.mark.parametrize("now_with", ["in line", "another", "itself again", "done"])
def test_a_worker_given_up_for_dead_writes_nothing(store: Store, now_with: str) -> None:
    """Whatever became of the job since, a write of who had it before is refused and leaves no trace."""
    zombie = running_job(store, lease_s=LAPSED_S)
    store.leases.expire(max_lost_starts=3)
    if now_with != "in line":
        worker = "w" if now_with == "itself again" else "v"
        taken = store.leases.lease_next(worker, ALL, lease_s=LEASE_S)
        assert taken is not None
        if now_with == "done":
            store.jobs.end(taken.holder, taken.id, "done", {})
    before = store.digest()
    for write in WRITES.values():
        with pytest.raises(LeaseLost, match="has taken over"):
            write(store, zombie.holder, zombie.id)
    assert store.leases.renew(zombie.holder, zombie.id, lease_s=LEASE_S) == "lost"
    assert store.digest() == before


def test_cancelling_ends_what_waits_and_asks_what_runs(store: Store) -> None:
    """A waiting job is cancelled at once, a running one is notified when it renews, and an ended one stays."""
    job = running_job(store)
    waiting = store.jobs.add("y", "research", {})
    assert store.jobs.cancel(waiting.id).state == "cancelled"
    assert started(store) == ""
    asked = store.jobs.cancel(job.id)
    assert (asked.state, asked.stop_wanted) == ("running", True)
    assert store.leases.renew("w", job.id, lease_s=LEASE_S) == "stop"
    store.jobs.end("w", job.id, "cancelled", {})
    assert store.jobs.cancel(job.id).state == "cancelled"
    with pytest.raises(RunNotFound):
        store.jobs.cancel("nobody-1")


@pytest.mark.parametrize("end", ["lost", "given back"])
def test_a_job_that_was_to_stop_does_not_come_back(store: Store, end: str) -> None:
    """If its worker dies or stops before it is notified, the job is cancelled and not started again."""
    job = running_job(store, lease_s=LAPSED_S)
    store.jobs.cancel(job.id)
    if end == "lost":
        store.leases.expire(max_lost_starts=3)
    else:
        store.leases.requeue("w", job.id, "the worker was stopped")
    ended = job_of(store, job.id)
    assert (ended.state, bool(ended.ended_at)) == ("cancelled", True)
    assert not store.jobs.restart(job.id).stop_wanted


def test_a_job_is_started_again_at_a_new_turn(store: Store) -> None:
    """What ended before it was done can go on, behind all others; what is done or open cannot."""
    job = running_job(store)
    with pytest.raises(WrongJobState, match="queued or running"):
        store.jobs.restart(job.id)
    store.jobs.end("w", job.id, "failed", {"problem": "No room.", "remedy": "Make some.", "pages": 4})
    store.jobs.add("y", "research", {})
    again = store.jobs.restart(job.id)
    assert (again.state, again.turn, again.report, again.attempt) == ("queued", 3, {"pages": 4}, 1)
    assert line(store) == ["y-1", job.id]
    store.jobs.end("w", job.id, "done", {})
    with pytest.raises(WrongJobState, match="is done"):
        store.jobs.restart(job.id)


def test_a_removed_job_leaves_nothing(store: Store) -> None:
    """Its row, events and parts go; while it runs it cannot be removed."""
    job = running_job(store)
    store.unfinished_files.append("w", job.id, {"steps": (0, b"one\n")})
    store.jobs.add_events("w", job.id, 1, [{"order": 1}])
    with pytest.raises(WrongJobState, match="is running"):
        store.jobs.remove(job.id)
    store.jobs.end("w", job.id, "failed", {})
    store.jobs.remove(job.id)
    assert (store.jobs.all(), store.jobs.events(job.id), store.unfinished_files.sizes(job.id)) == ([], [], {})
    with pytest.raises(RunNotFound):
        store.jobs.remove(job.id)


def test_jobs_are_listed_and_counted_by_user_and_state(store: Store) -> None:
    """A user's jobs can be distinguished from those of others, and open ones from those that ended."""
    for user in ("ann", "ann", "bob"):
        store.jobs.add(user, "research", {}, user=user)
    store.jobs.end("w", started(store), "done", {})
    started(store)
    assert [job.id for job in store.jobs.all() if job.user == "ann"] == ["ann-2", "ann-1"]
    assert [job.id for job in store.jobs.all(states=("queued", "running"))] == ["bob-1", "ann-2"]
    assert (store.jobs.counts("ann"), store.jobs.counts("bob"), store.jobs.counts()) == ((1, 0), (0, 1), (1, 1))


def test_events_are_numbered_within_an_attempt_and_read_on_from_a_place(store: Store) -> None:
    """A client that has some of them gets the rest, over several attempts."""
    job = running_job(store, lease_s=LAPSED_S)
    store.jobs.add_events("w", job.id, 1, [{"order": 1}, {"order": 2}])
    store.jobs.add_events("w", job.id, 1, [])
    store.leases.expire(max_lost_starts=3)
    store.leases.lease_next("v", ALL, lease_s=LEASE_S)
    store.jobs.add_events("v", job.id, 2, [{"order": 3}])
    assert store.jobs.events(job.id) == [(1, 1, {"order": 1}), (1, 2, {"order": 2}), (2, 1, {"order": 3})]
    assert store.jobs.events(job.id, (1, 1)) == [(1, 2, {"order": 2}), (2, 1, {"order": 3})]
    assert store.jobs.events(job.id, (2, 1)) == []


def test_only_the_latest_events_are_kept(store: Store) -> None:
    """A job that talks for days does not fill the store; numbers go on."""
    job = running_job(store)
    for start in (0, 700):
        store.jobs.add_events("w", job.id, 1, [{"order": start + number} for number in range(700)])
    kept = store.jobs.events(job.id)
    assert (len(kept), kept[0], kept[-1]) == (1_000, (1, 401, {"order": 400}), (1, 1_400, {"order": 1_399}))


def test_events_of_jobs_that_ended_long_ago_are_dropped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that runs for years keeps those of its latest jobs, and of all that have not ended."""
    monkeypatch.setattr(jobs, "MAX_JOBS_WITH_EVENTS", 2)
    for state in ("done", "running", "failed", "done", "running"):
        job = running_job(store)
        store.jobs.add_events(job.holder, job.id, 1, [{"order": 1}])
        if state != "running":
            store.jobs.end(job.holder, job.id, state, {})
    assert [bool(store.jobs.events(f"x-{number}")) for number in range(1, 6)] == [False, True, False, True, True]


def test_losses_do_not_pile_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that is given back again and again keeps only the latest losses."""
    monkeypatch.setattr(job_row, "MAX_STORED_LOSSES", 3)
    store.jobs.add("x", "research", {})
    for number in range(5):
        store.leases.lease_next("w", ALL, lease_s=LEASE_S)
        store.leases.requeue("w", "x-1", str(number))
    assert [loss["why"] for loss in job_of(store, "x-1").losses] == ["2", "3", "4"]


def test_giving_back_does_not_push_out_the_reasons_of_tries(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that waited for long, and was lost before and after, keeps all reasons for failures."""
    monkeypatch.setattr(job_row, "MAX_STORED_LOSSES", 3)
    store.jobs.add("x", "research", {})
    for left in (2, 1, 0):
        store.leases.lease_next("w", ALL, lease_s=LAPSED_S)
        (lost,) = store.leases.expire(max_lost_starts=3)
        for _ in range(5 if left else 0):
            store.leases.lease_next("w", ALL, lease_s=LEASE_S)
            store.leases.requeue("w", "x-1", "a host is away")
    assert lost.state == "failed"
    assert lost.report["problem"].count("did not report back") == 3
    assert [loss["why"] == "a host is away" for loss in lost.losses] == [False, False, True, True, True, False]


def test_leases_are_judged_by_the_clock_of_the_store(store: Store, store_url: str) -> None:
    """On a server hosts with wrong clocks agree; in a file the clock that was passed in counts."""
    job = running_job(store, lease_s=LEASE_S)
    with opened(store_url) as other:
        for _ in range(int(LEASE_S) + 1):
            next(SECONDS)
        lost = other.leases.expire(max_lost_starts=3)
    assert [one.id for one in lost] == ([] if store.is_server else [job.id])
