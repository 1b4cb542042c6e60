"""Rows that somebody else wrote into: each is damaged alone, says so, and can be removed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.store.stores import LAPSED_S, LEASE_S, changed, opened

from kiwiresearch.errors import StoreDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.store.job_row import JobRow
from kiwiresearch.store.store import Store

WRONG = [
    ("request", "'{'"),
    ("request", "'[1]'"),
    ("report", f"'{'9' * 5_000}'"),
    ("losses", "'[1]'"),
    ("losses", """'[{"why": "\\ud800"}]'"""),
    ("report", """'{"story": "\\ud800"}'"""),
]
WRONG_IN_FILES = [
    ("request", "CAST(X'ff41' AS TEXT)"),
    ("user", "X'ff41'"),
    ("priority", "'first'"),
    ("attempt", "'often'"),
    ("attempt", str(2**63 - 1)),
]


def row_of(store: Store, job_id: str) -> JobRow:
    found = store.jobs.get(job_id)
    assert found is not None
    return found


def wrongs(store: Store) -> list[tuple[str, str]]:
    return WRONG if store.is_server else WRONG + WRONG_IN_FILES


def test_a_damaged_row_stops_no_other_job(store: Store, store_url: str) -> None:
    """It is listed with what is wrong with it, fails when its turn comes, and can be removed; the next job is taken."""
    for column, value in wrongs(store):
        store.jobs.add("torn", "research", {"topic": "Comet"})
        store.jobs.add("whole", "research", {"topic": "Galaxy"})
        changed(store_url, f"UPDATE kiwi_job SET \"{column}\" = {value} WHERE id = 'torn-1'")
        assert {row.id: row.damage for row in store.jobs.all()} == {
            "whole-1": "",
            "torn-1": f"its {column!r} was changed",
        }
        taken = store.leases.lease_next("w", ["research"], lease_s=LEASE_S)
        assert taken is not None
        assert taken.id == "whole-1"
        failed = row_of(store, "torn-1")
        assert failed.state == "failed"
        assert f"'torn-1' in the store is damaged: its {column!r}" in failed.report["problem"]
        assert failed.report["remedy"].endswith("kiwiresearch jobs remove torn-1")
        assert store.jobs.counts() == (0, 1)
        store.jobs.end(taken.holder, taken.id, "done", {})
        store.jobs.remove("torn-1")
        store.jobs.remove(taken.id)


def test_a_state_that_there_is_not_is_damage(store: Store, store_url: str) -> None:
    """A job in it is listed and can be removed, and is not put in line again by accident."""
    store.jobs.add("x", "research", {})
    changed(store_url, "UPDATE kiwi_job SET state = 'asleep'")
    [row] = store.jobs.all()
    assert (row.state, row.damage) == ("failed", "its state 'asleep' is unknown")
    with pytest.raises(StoreDamaged, match="'x-1' in the store is damaged: its state 'asleep' is unknown"):
        store.jobs.restart("x-1")
    store.jobs.remove("x-1")
    assert store.jobs.all() == []


def test_a_running_job_goes_on_with_a_damaged_row(store: Store, store_url: str) -> None:
    """Its worker keeps it, reports and ends it: only earlier reports are lost."""
    store.jobs.add("x", "research", {"topic": "Galaxy"})
    job = store.leases.lease_next("w", ["research"], lease_s=LEASE_S)
    assert job is not None
    changed(store_url, "UPDATE kiwi_job SET report = '[]', losses = '{', request = '{'")
    assert store.leases.renew(job.holder, job.id, lease_s=LEASE_S) == "held"
    store.jobs.report_progress(job.holder, job.id, {"pages": 3})
    store.jobs.add_events(job.holder, job.id, 1, [{"event": "page"}])
    store.jobs.end(job.holder, job.id, "done", {"story": "Well."})
    assert row_of(store, job.id).report == {"pages": 3, "story": "Well."}


def test_jobs_are_taken_back_from_the_dead_beside_damaged_rows(store: Store, store_url: str) -> None:
    """A row of a dead worker waits again, whatever is in it, and so does that of the next one."""
    for _ in range(2):
        store.jobs.add("x", "research", {"topic": "Galaxy"})
        store.leases.lease_next("w", ["research"], lease_s=LAPSED_S)
    halves = """report = '1', losses = '[{"why": "\\ud800"}]'"""
    more = "" if store.is_server else ", lease_until = 'long', tries = 'few', worker = X'ff'"
    changed(store_url, f"UPDATE kiwi_job SET {halves}{more} WHERE id = 'x-1'")
    if not store.is_server:
        changed(store_url, f"UPDATE kiwi_job SET tries = {2**63 - 1} WHERE id = 'x-2'")
    assert sorted(row.id for row in store.leases.expire(max_lost_starts=9)) == ["x-1", "x-2"]
    assert store.jobs.counts() == (2, 0)


def test_events_hosts_rows_of_the_audit_and_limits_are_damaged_one_by_one(store: Store, store_url: str) -> None:
    """An event is reported as damaged, a host is silent until it announces itself, the audit names the row's number.

    Whose limits cannot be read has no others instead: that would be more than was meant for them.
    """
    store.jobs.add("x", "research", {})
    job = store.leases.lease_next("w", ["research"], lease_s=LEASE_S)
    assert job is not None
    store.jobs.add_events(job.holder, job.id, 1, [{"event": "page"}] * 3)
    for name in ("a", "b", "c"):
        store.hosts.announce(name, "http://host", [{"id": "1"}])
        store.audit.add("now", name, "host", "looked")
    store.users.add("Ann", "reader", made_at="now", limits={"queued": 1})
    changed(store_url, "UPDATE kiwi_event SET \"row\" = '7' WHERE number = 2")
    changed(store_url, "UPDATE kiwi_host SET books = '{}' WHERE name = 'b'")
    changed(store_url, "UPDATE kiwi_audit SET details = '[' WHERE seq = 2")
    changed(store_url, "UPDATE kiwi_user SET limits = '[]'")
    data = [json.loads(canonical_json(row)) for _, _, row in store.jobs.events(job.id)]
    assert [row["event"] for row in data] == ["page", "damaged", "page"]
    assert [(len(row.books), row.seen_at > 0) for row in store.hosts.all()] == [(1, True), (0, False), (1, True)]
    store.hosts.announce("b", "http://host", [{"id": "1"}])
    assert [len(row.books) for row in store.hosts.all()] == [1, 1, 1]
    shown = [json.loads(canonical_json(asdict(row))) for row in store.audit.rows()]
    assert [row["details"] for row in shown] == [{}, {"damaged": True}, {}]
    broken = store.audit.first_problem()
    assert broken is not None
    assert broken.seq == 2
    with pytest.raises(StoreDamaged, match="the limits of the user 'Ann'"):
        store.users.get("Ann")


def test_bytes_that_are_not_text_are_reported_as_a_change(tmp_path: Path) -> None:
    """Bytes in a row of the audit are a change of that row, and an invalid head or secret is damage, with a message."""
    url = f"sqlite:///{tmp_path}/store.sqlite"
    with opened(url) as store:
        for name in ("a", "b"):
            store.audit.add("now", name, "host", "looked")
        changed(url, "UPDATE kiwi_audit SET subject = X'ff00' WHERE seq = 2")
        assert [row.subject for row in store.audit.rows()] == ["", ""]
        broken = store.audit.first_problem()
        assert broken is not None
        assert (broken.seq, broken.text) == (2, "row 2 was changed")
        changed(url, "UPDATE kiwi_audit_head SET hash = X'ff'")
        with pytest.raises(StoreDamaged, match="the end of the audit log is not valid"):
            store.audit.add("now", "c", "host", "looked")
        store.hosts.announce("a", "http://host", [])
        changed(url, "UPDATE kiwi_host SET seen_at = 9e999")
        assert [row.seen_at for row in store.hosts.all()] == [0.0]
        assert store.keys.key("peers")
        changed(url, "UPDATE kiwi_store SET value = CAST(X'ff41' AS TEXT) WHERE name = 'secret'")
        with pytest.raises(StoreDamaged, match="its secret"):
            store.keys.key("peers")


def test_a_line_of_notes_may_be_anything_in_a_file(tmp_path: Path) -> None:
    """Text that somebody put there by hand is returned unchanged; the reader finds that it is not a note."""
    url = f"sqlite:///{tmp_path}/store.sqlite"
    with opened(url) as store:
        with store.notes.appending("run-1") as append:
            append(b"first")
            append(b"second")
        changed(url, "UPDATE kiwi_note SET line = 'Grüße' WHERE number = 1")
        assert store.notes.lines("run-1") == ["Grüße".encode(), b"second"]
