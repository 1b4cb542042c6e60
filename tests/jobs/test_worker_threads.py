"""The threads of a worker: whatever one of them waits for, the leases of its jobs are renewed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.codec import plain
from kiwiresearch.errors import KiwiError
from kiwiresearch.jobs import worker
from kiwiresearch.jobs.job import Job, ResearchRequest
from kiwiresearch.jobs.process import JobSpec
from kiwiresearch.jobs.worker import Worker, WorkerContext
from kiwiresearch.jobs.worker_state import Listeners, WorkerLock
from kiwiresearch.store.job_row import JobRow
from kiwiresearch.store.store import Store, open_store

SOON_S = 30.0
WISH = plain(ResearchRequest("Sky", max_pages=1))


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path, engine: str) -> Iterator[Store]:
    """An empty store of an engine."""
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    if engine == "postgresql":
        database: Callable[[], str] = request.getfixturevalue("postgres_server")
        url = database()
    with open_store(url, is_shared_store=True, clock=time.monotonic) as found:
        yield found


class Line:
    """Work whose first job never gets further than its order, and whose queue a test can make hang."""

    def __init__(self) -> None:
        self.has_started, self.over = threading.Event(), threading.Event()
        self.is_to_hang, self.hangs, self.go_on = threading.Event(), threading.Event(), threading.Event()

    def work(self, *, inside: bool) -> WorkerContext:
        return WorkerContext(
            self._order, self._fits_inside if inside else self._fits_before, lambda: "2026-11-16T08:00:00"
        )

    def end(self) -> None:
        for event in (self.go_on, self.over):
            event.set()

    def _order(self, _: JobRow, __: Job) -> JobSpec:
        self.has_started.set()
        assert self.over.wait(SOON_S)
        raise KiwiError("The test is over.")

    def _fits_before(self) -> Callable[[JobRow], bool]:
        self._hang()
        return lambda _: True

    def _fits_inside(self) -> Callable[[JobRow], bool]:
        def fits(_: JobRow) -> bool:
            self._hang()
            return True

        return fits

    def _hang(self) -> None:
        if self.is_to_hang.is_set():
            self.hangs.set()
            assert self.go_on.wait(SOON_S)


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch, store: Store) -> threading.Event:
    """Is set whenever a lease was renewed that is still the worker's own; workers look all the time."""
    result = threading.Event()
    renew = store.leases.renew

    def watched(*names: str, **more: Any) -> str:
        held = renew(*names, **more)
        if held == "held":
            result.set()
        return held

    monkeypatch.setattr(store.leases, "renew", watched)
    monkeypatch.setattr(worker, "RENEW_S", 0.0)
    monkeypatch.setattr(worker, "POLL_S", 0.01)
    return result


@pytest.mark.parametrize("engine", ["sqlite"])
def test_an_idle_worker_asks_nothing(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker without jobs leaves the database of its machine alone; a job queued in its process starts at once."""
    monkeypatch.setattr(worker, "POLL_S", 0.01)
    monkeypatch.setattr(worker, "RENEW_S", 0.0)
    asked = threading.Event()
    counts = store.jobs.counts

    def watched(*names: str) -> Any:
        asked.set()
        return counts(*names)

    monkeypatch.setattr(store.jobs, "counts", watched)
    line = Line()
    working = Worker(store, line.work(inside=False), WorkerLock(tmp_path), Listeners(), max_running=2, grace_s=0.1)
    try:
        asked.clear()
        assert not asked.wait(0.3), "an idle worker asks the database"
        store.jobs.add("first", "research", WISH)
        working.lease_jobs()
        assert line.has_started.wait(SOON_S)
    finally:
        line.end()
        working.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_job_of_another_program_is_found(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that another program or host has queued is found by looking from time to time."""
    monkeypatch.setattr(worker, "IDLE_POLL_S" if not store.is_server else "SHARED_POLL_S", 0.05)
    line = Line()
    working = Worker(store, line.work(inside=False), WorkerLock(tmp_path), Listeners(), max_running=2, grace_s=0.1)
    try:
        store.jobs.add("first", "research", WISH)
        assert line.has_started.wait(SOON_S)
    finally:
        line.end()
        working.close()


@pytest.mark.parametrize(("engine", "inside"), [("sqlite", False), ("postgresql", False), ("postgresql", True)])
def test_a_lease_that_hangs_stops_no_renewal(
    store: Store, renewed: threading.Event, tmp_path: Path, inside: bool
) -> None:
    """While somebody waits to know whether a job can be done here, the leases of those that are worked on go on.

    On a server also while that somebody keeps all others from claiming; a file has one writer.
    """
    line = Line()
    store.jobs.add("first", "research", WISH)
    working = Worker(store, line.work(inside=inside), WorkerLock(tmp_path), Listeners(), max_running=2, grace_s=0.1)
    try:
        assert line.has_started.wait(SOON_S)
        line.is_to_hang.set()
        store.jobs.add("second", "research", WISH)
        assert line.hangs.wait(SOON_S)
        for _ in range(3):
            renewed.clear()
            assert renewed.wait(SOON_S), "nobody renews a lease while a claim hangs"
        assert [row.id for row in store.jobs.all(states=("running",))] == ["first-1"]
    finally:
        line.end()
        working.close()
    assert store.jobs.counts()[1] == 0
