"""What a killed worker had put of the files of a run: it goes with the job's next change, and whole runs stay."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.store.stores import LEASE_S, changed

from kiwiresearch.store.store import Store

KILLED = """
import sys, time
from collections.abc import Mapping
from kiwiresearch.store.store import open_store

class Files(Mapping):
    def __getitem__(self, name):
        if name == "b":
            print("putting", flush=True)
            sys.stdin.read()
        return bytes(2**20) * 5
    def __iter__(self):
        return iter("ab")
    def __len__(self):
        return 2

store = open_store(sys.argv[1], is_shared_store=True, clock=time.time)
job = store.leases.lease_next("killed", ["research"], lease_s=60.0)
store.run_files.put(job.holder, job.id, Files())
"""
LEFT = "INSERT INTO kiwi_piece SELECT run_id, revision + 50, name, number, packed FROM kiwi_piece"


def pieces(url: str) -> int:
    return changed(url, "UPDATE kiwi_piece SET number = number")


def claimed(store: Store) -> str:
    job = store.leases.lease_next("w", ["research"], lease_s=LEASE_S)
    assert job is not None
    return job.holder


def test_remains_of_a_killed_worker_are_removed_with_its_job(store: Store, store_url: str) -> None:
    """After kill -9 in the middle of a put nothing of it stays, and the next worker's files are complete."""
    store.jobs.add("x", "research", {})
    command = [sys.executable, "-c", KILLED, store_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        assert worker.stdout.readline() == "putting\n"
        worker.kill()
    assert pieces(store_url) == 4
    (back,) = store.leases.expire(max_lost_starts=3, is_dead=lambda worker: worker == "killed")
    assert (back.state, pieces(store_url)) == ("queued", 0)
    store.run_files.put(claimed(store), "x-1", {"a": b"whole"})
    assert store.run_files.read("x-1", "a") == b"whole"


Ending = Callable[[Store, str], object]


@pytest.mark.parametrize(
    "ending",
    [
        lambda store, who: store.jobs.end(who, "x-1", "done", {}),
        lambda store, who: store.jobs.end(who, "x-1", "failed", {}),
        lambda store, who: store.leases.requeue(who, "x-1", "stopped"),
        lambda store, who: store.leases.requeue_killed(who, "x-1", max_lost_starts=1),
    ],
    ids=["done", "failed", "given back", "lost"],
)
def test_no_end_of_a_job_leaves_half_a_run(store: Store, store_url: str, ending: Ending) -> None:
    """However a job ends, what never became whole goes; what did stays, and so does what others are putting."""
    store.jobs.add("x", "research", {})
    who = claimed(store)
    for name in ("x-1", "x-2"):
        store.run_files.put("", name, {"a": b"whole"})
    changed(store_url, LEFT)
    ending(store, who)
    assert store.run_files.read("x-1", "a") == b"whole"
    assert pieces(store_url) == 3, "of x-2, whose job is another, both are there"


def test_a_job_that_is_removed_leaves_no_half_of_a_run(store: Store, store_url: str) -> None:
    """Also what a worker of before left behind goes with its job."""
    store.jobs.add("x", "research", {})
    store.run_files.put("", "x-1", {"a": b"whole"})
    changed(store_url, LEFT)
    store.jobs.remove("x-1")
    assert (pieces(store_url), store.run_files.read("x-1", "a")) == (1, b"whole")


def test_all_that_begins_so_goes_whole_or_not(store: Store, store_url: str) -> None:
    """Files that were sent to a case go with it, those of others stay, and signs in a name mean themselves."""
    for name in ("upload.case_1.a", "upload.case_1.b", "upload.caseX1.a"):
        store.run_files.put("", name, {"a.ged": b"0 HEAD"})
    changed(store_url, LEFT)
    changed(store_url, "DELETE FROM kiwi_run WHERE id = 'upload.case_1.b'")
    store.run_files.remove_all("upload.case_1.")
    assert [run for run, _ in store.run_files.runs()] == ["upload.caseX1.a"]
    assert pieces(store_url) == 2
