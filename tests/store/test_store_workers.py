"""Workers as real processes: each job is done once, and what one of them leaves behind another takes up."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.stores import LAPSED_S, LEASE_S, crowd, opened

from kiwiresearch.store.store import Store

CLAIMING = """
while job := store.leases.lease_next(f"w{me}", ["research"], lease_s=60):
    store.unfinished_files.append(job.holder, job.id, {"steps": (0, f"w{me} {job.id}".encode())})
    store.jobs.add_events(job.holder, job.id, job.attempt, [{"by": me}])
    store.run_files.put(job.holder, job.id, {"out": b"x"})
    store.jobs.end(job.holder, job.id, "done", {"by": me})
    say(me, job.id)
"""


def test_many_workers_do_each_job_exactly_once(store_url: str) -> None:
    """Each job is claimed by one worker, done and ended; nothing is done twice or left out."""
    with opened(store_url) as store:
        ids = [store.jobs.add("x", "research", {}, user=f"u{number % 3}").id for number in range(24)]
        lines = [line.split() for line in crowd(4, store_url, CLAIMING)]
        assert Counter(job for _, job in lines) == Counter(ids)
        for who, job_id in lines:
            job = store.jobs.get(job_id)
            assert job is not None
            assert (job.state, job.attempt, job.report) == ("done", 1, {"by": int(who)})
            assert b"".join(store.unfinished_files.read(job_id, "steps")) == f"w{who} {job_id}".encode()
        assert len(store.run_files.runs()) == len(ids)


def test_threads_of_one_process_share_a_store(store: Store) -> None:
    """Each gets a connection of its own, so no job is claimed twice there either."""
    ids = {store.jobs.add("x", "research", {}).id for _ in range(24)}

    def work(me: int) -> list[str]:
        done = []
        while job := store.leases.lease_next(f"w{me}", ["research"], lease_s=LEASE_S):
            store.jobs.report_progress(job.holder, job.id, {"by": me})
            store.jobs.end(job.holder, job.id, "done", {})
            done.append(job.id)
        return done

    with ThreadPoolExecutor(8) as pool:
        found = [job_id for done in pool.map(work, range(8)) for job_id in done]
    assert Counter(found) == Counter(ids)


ADDING = """
for number in range(6):
    store.jobs.add("x", "research", {"by": me})
    store.audit.add("now", f"u{me}", "", "add", str(number))
    with store.notes.appending("run") as append:
        append(f"{me} {number}".encode())
"""


def test_many_writers_at_once_lose_nothing(store_url: str) -> None:
    """Ids and turns are given out once, the chain of the audit is intact, and every note is in its writer's order."""
    crowd(4, store_url, ADDING)
    with opened(store_url) as store:
        jobs = store.jobs.all()
        assert sorted(int(job.id.partition("-")[2]) for job in jobs) == list(range(1, 25))
        assert sorted(job.turn for job in jobs) == list(range(1, 25))
        assert (store.audit.first_problem(), len(store.audit.rows())) == (None, 24)
        lines = [line.decode().split() for line in store.notes.lines("run")]
        for me in "0123":
            assert [number for who, number in lines if who == me] == [str(number) for number in range(6)]


HOLDING = """
import sys, time
from kiwiresearch.store.store import open_store
store = open_store(sys.argv[1], is_shared_store=True, clock=time.time)
job = store.leases.lease_next("dies", ["research"], lease_s=float(sys.argv[2]))
store.unfinished_files.append(job.holder, job.id, {"steps": (0, b"one\\n")})
with store._database.writing() as connection:
    connection.exec_driver_sql("UPDATE kiwi_job SET report = '{\\"half\\": 1}'")
    print(job.id, flush=True)
    sys.stdin.read()
"""


def test_the_job_of_a_killed_worker_goes_on_elsewhere(store_url: str) -> None:
    """After kill -9 in the middle of a write, whole writes are there, half ones are not, and another takes the job."""
    with opened(store_url) as store:
        store.jobs.add("x", "research", {})
        command = [sys.executable, "-c", HOLDING, store_url, str(LAPSED_S)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "x-1\n"
            process.send_signal(signal.SIGKILL)
            process.wait()
        if store.is_server:  # the server notices in its own time that the connection is gone
            with store._database.writing() as connection:
                connection.exec_driver_sql("SELECT id FROM kiwi_job FOR UPDATE")
        lost = store.leases.expire(max_lost_starts=3)
        if not lost:  # the file's clock is the test's own
            lost = store.leases.expire(max_lost_starts=3, is_dead=lambda worker: worker == "dies")
        assert [(job.id, job.state, job.report) for job in lost] == [("x-1", "queued", {})]
        taken = store.leases.lease_next("lives", ["research"], lease_s=LEASE_S)
        assert taken is not None
        assert b"".join(store.unfinished_files.read("x-1", "steps")) == b"one\n"
        store.unfinished_files.append(taken.holder, "x-1", {"steps": (4, b"two\n")})
        store.jobs.end(taken.holder, "x-1", "done", {})


Step = tuple[str, int]
WAYS = ["add", "claim", "add", "claim", "end", "give back", "lose", "cancel"]
STEPS = st.lists(st.tuples(st.sampled_from(WAYS), st.integers(0, 5)), min_size=8, max_size=24)


def _walk(store: Store, steps: list[Step]) -> None:
    """Do some steps with three users and two workers, and check the invariants after each."""
    starts: dict[str, int] = {}
    for number, (step, which) in enumerate(steps):
        jobs = {job.id: job for job in store.jobs.all()}
        running = sorted(job.id for job in jobs.values() if job.state == "running")
        chosen = jobs[running[which % len(running)]] if running else None
        if step == "add":
            store.jobs.add("x", "research", {}, user=f"u{which % 3}", priority=which // 3)
        elif step == "claim":
            lease_s = LAPSED_S if which == 5 else LEASE_S * 1_000
            found = store.leases.lease_next(f"w{which % 2}", ["research"], lease_s=lease_s)
            waiting = [job for job in jobs.values() if job.state == "queued"]
            counts = Counter(jobs[one].user for one in running)
            order = [(-job.priority, counts[job.user], starts.get(job.user, -1), job.turn, job.id) for job in waiting]
            assert (found.id if found else None) == (min(order)[-1] if order else None)
            if found:
                starts[found.user] = number
        elif step == "lose":
            store.leases.expire(max_lost_starts=2)
        elif step == "cancel" and jobs:
            store.jobs.cancel(sorted(jobs)[which % len(jobs)])
        elif step == "end" and chosen:
            store.jobs.end(chosen.holder, chosen.id, "done", {})
        elif step == "give back" and chosen:
            store.leases.requeue(chosen.holder, chosen.id, "stopped")


def _check(before: Store) -> None:
    states = Counter(job.state for job in before.jobs.all())
    assert before.jobs.counts() == (states["queued"], states["running"])


@settings(max_examples=12)
@given(steps=STEPS)
def test_the_next_job_is_always_the_one_the_rules_name(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    """Whatever happened before: highest priority, fewest running, longest without a start, earliest turn."""
    folder: Path = tmp_path_factory.mktemp("law")
    with opened(f"sqlite:///{folder}/store.sqlite") as store:
        _walk(store, steps)
        _check(store)


@settings(max_examples=5)
@given(steps=STEPS)
def test_the_rules_are_the_same_on_a_server(postgres_server: Callable[[], str], steps: list[Step]) -> None:
    """The same law on PostgreSQL."""
    with opened(postgres_server()) as store:
        _walk(store, steps)
        _check(store)
