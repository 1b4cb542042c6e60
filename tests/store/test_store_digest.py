"""The same work leaves the same content on every engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.store.stores import LEASE_S, opened

from kiwiresearch.store.store import CaseEntry, Store

AT = "2026-01-01T00:00:00+00:00"


def worked_on(store: Store) -> list[str]:
    """Do some of everything, with times that are passed in; give the digest after each step."""
    seen = [store.digest()]

    def then(_: object) -> None:
        seen.append(store.digest())

    for number in range(6):
        request = {"topic": f"Ærø {number}", "nul": "\0", "share": 0.1 + 0.2}
        then(store.jobs.add("x", "research", request, user=f"u{number % 2}", asked_at=AT))
    for number, state in enumerate(("done", "failed", "cancelled")):
        job = store.leases.lease_next("w", ["research"], lease_s=LEASE_S)
        assert job is not None
        store.jobs.add_events(job.holder, job.id, 1, [{"order": number}])
        store.unfinished_files.append(job.holder, job.id, {"steps": (0, b"line\n" * 9), "corpus": (0, bytes(9))})
        store.unfinished_files.append(job.holder, job.id, {"steps": (7, b"cut")})
        store.run_files.put(job.holder, job.id, {"brief.md": "Ærø".encode(), "corpus": bytes(2_000_000)})
        store.jobs.end(job.holder, job.id, state, {"pages": number}, ended_at=AT)
    store.users.add("Ann", "owner", made_at=AT, limits={"running": 1})
    for subject in ("a", "é", "🪁"):
        then(store.audit.add(AT, "Ann", "host", "ask", subject, "ok", {"n": 1.5}))
    with store.notes.appending("x-1") as append:
        append(b"\xff\n")
    store.hosts.announce("north", "http://north", [{"id": "b"}])
    then(store.cases.add(CaseEntry("c", "Ann", "case_c", AT, AT)))
    store.run_files.remove("x-2")
    store.jobs.remove("x-4")
    then("all that was removed")
    return seen


def test_the_same_work_gives_the_same_digest_on_both_engines(
    tmp_path: Path, postgres_server: Callable[[], str]
) -> None:
    """Content for content: only the times at which the store itself was asked for the time differ."""
    with opened(f"sqlite:///{tmp_path}/store.sqlite") as file, opened(postgres_server()) as server:
        one, other = worked_on(file), worked_on(server)
    assert one == other
    assert len(set(one)) == len(one)
