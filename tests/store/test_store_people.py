"""People, their tokens, the audit of what they did, hosts and cases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.stores import Opener, changed, opened

from kiwiresearch.errors import BadUsage
from kiwiresearch.store.passwords import COST, PasswordHash
from kiwiresearch.store.store import CaseEntry, Store
from kiwiresearch.store.users import TokenRow, UserRow, Users

A_HASH = PasswordHash(COST, b"0" * 16, b"1" * 32)
NOW, LATER = "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"


def test_users_have_a_role_and_limits_of_their_own(store: Store, another: Opener) -> None:
    """What is set for a user is there for every host."""
    made = store.users.add("Ann", "reader", made_at=NOW, limits={"requests_a_minute": 30})
    assert made == UserRow("Ann", "reader", {"requests_a_minute": 30}, NOW)
    store.users.add("bob", "owner", made_at=NOW)
    assert another().users.set_role("Ann", "researcher").role == "researcher"
    store.users.set_limits("Ann", {"running": 2})
    assert another().users.all() == [
        UserRow("Ann", "researcher", {"running": 2}, NOW),
        UserRow("bob", "owner", {}, NOW),
    ]
    store.users.remove("Ann")
    assert (store.users.get("Ann"), store.users.get("bob")) == (None, UserRow("bob", "owner", {}, NOW))


def test_invalid_users_are_refused(store: Store) -> None:
    """No second user of a name, no unknown role or name, no name that looks like another."""
    store.users.add("Ann", "reader", made_at=NOW)
    with pytest.raises(BadUsage, match="already"):
        store.users.add("Ann", "owner", made_at=NOW)
    for name in ("", " ", " Ann", "A  nn", "A\nnn", "x" * 101, "\u202eAnn", "a/b", "/", ".", ".."):
        with pytest.raises(BadUsage, match="not allowed as a user name"):
            store.users.add(name, "reader", made_at=NOW)
    with pytest.raises(BadUsage, match="Unknown role 'king'"):
        store.users.set_role("Ann", "king")
    for nobody in (store.users.remove, lambda name: store.users.new_token(name, made_at=NOW)):
        with pytest.raises(BadUsage, match="No user"):
            nobody("Bob")
    assert store.users.all() == [UserRow("Ann", "reader", {}, NOW)]


def test_a_token_is_valid_until_it_is_revoked(store: Store, another: Opener) -> None:
    """Each token is independent; a revoked one is refused, on any host, from then on."""
    store.users.add("Ann", "reader", made_at=NOW)
    first, second = (store.users.new_token("Ann", label=label, made_at=NOW) for label in ("laptop", "phone"))
    assert first.text != second.text
    for token in (first, second):
        row = store.users.find_token(token.text)
        assert (row and row.id, store.users.by_credential(token.id)) == (token.id, store.users.get("Ann"))
    store.users.note_use(first.id, at=LATER)
    store.users.revoke(first.id, at=LATER)
    store.users.revoke(first.id, at="2027")
    other = another().users
    assert (other.by_credential(first.id), other.find_token(first.text)) == (None, None)
    assert other.find_token(second.text) == TokenRow(second.id, "Ann", "phone", NOW, "", "")
    assert {row.label: (row.used_at, row.revoked_at) for row in other.tokens("Ann")} == {
        "laptop": (LATER, LATER),
        "phone": ("", ""),
    }
    with pytest.raises(BadUsage, match="No token"):
        store.users.revoke("nothing", at=NOW)


def test_a_removed_user_is_out_at_once(store: Store) -> None:
    """Tokens go with their user, and one who comes later under that name is somebody else: also to the jobs."""
    store.users.add("Ann", "researcher", made_at=NOW)
    token = store.users.new_token("Ann", made_at=NOW)
    for user in ("Ann", "Bob"):
        store.jobs.add("x", f"of {user}", {}, user=user)
    store.users.remove("Ann")
    store.users.add("Ann", "reader", made_at=LATER)
    assert (store.users.by_credential(token.id), store.users.find_token(token.text)) == (None, None)
    assert store.users.tokens() == []
    assert {row.kind: row.user for row in store.jobs.all()} == {"of Ann": "", "of Bob": "Bob"}


@pytest.mark.parametrize("way", ["remove", "demote"])
def test_one_owner_always_remains(store: Store, another: Opener, way: str) -> None:
    """Two owners who take the role from each other at the same moment leave one of them."""
    for name in ("Ann", "Bob"):
        store.users.add(name, "owner", made_at=NOW)
    together = threading.Barrier(2)

    def take(people: Users, name: str) -> str:
        together.wait(30)
        try:
            people.remove(name) if way == "remove" else people.set_role(name, "reader")
        except BadUsage as problem:
            return problem.message
        return ""

    with ThreadPoolExecutor(2) as threads:
        result = sorted(threads.map(take, (store.users, another().users), ("Ann", "Bob")))
    assert (result[0], "only owner" in result[1]) == ("", True)
    assert sum(user.role == "owner" for user in store.users.all()) == 1


def test_an_invalid_token_is_refused(store: Store) -> None:
    """Whatever a stranger sends, nobody is found and nothing breaks."""
    store.users.add("Ann", "owner", made_at=NOW)
    store.users.new_token("Ann", made_at=NOW)
    for text in ("", "kiwi_", "x" * 10_000, "a\0b", "\ud800", "' OR 1=1 --"):
        assert store.users.find_token(text) is None


def test_no_token_can_be_read_from_the_store(tmp_path: Path) -> None:
    """Only a hash of it is kept: its text is nowhere in the file."""
    with opened(f"sqlite:///{tmp_path}/store.sqlite") as store:
        store.users.add("Ann", "owner", made_at=NOW)
        token = store.users.new_token("Ann", made_at=NOW)
        assert len(token.text.removeprefix("kiwi_")) >= 32
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"Ann" in kept
    assert token.text.removeprefix("kiwi_").encode() not in kept


def did(store: Store, number: int = 5) -> None:
    for one in range(1, number + 1):
        user = "ann" if one % 2 else "bob"
        store.audit.add(f"2026-01-0{one}", user, "10.0.0.1", "ask", f"q{one}", "ok", {"pages": one, "é": None})


def test_the_audit_says_who_did_what_in_order(store: Store) -> None:
    """Rows can be read from a number, backwards, and of one user, action or time."""
    did(store)
    rows = store.audit.rows()
    assert [row.seq for row in rows] == [1, 2, 3, 4, 5]
    first = rows[0]
    assert (first.at, first.user, first.host, first.action) == ("2026-01-01", "ann", "10.0.0.1", "ask")
    assert (first.subject, first.outcome, first.details) == ("q1", "ok", {"pages": 1, "é": None})
    assert [row.seq for row in store.audit.rows(2, 2)] == [3, 4]
    assert [row.seq for row in store.audit.rows(user="ann", newest_first=True)] == [5, 3, 1]
    assert [row.seq for row in store.audit.rows(before=5, limit=2, newest_first=True)] == [4, 3]
    assert [row.seq for row in store.audit.rows(since="2026-01-04")] == [4, 5]
    assert store.audit.rows(action="login") == []
    assert store.audit.first_problem() is None


HARMS = [
    ("UPDATE kiwi_audit SET subject = 'other' WHERE seq = 3", 3, "changed"),
    ("UPDATE kiwi_audit SET details = '{}' WHERE seq = 2", 2, "changed"),
    ("UPDATE kiwi_audit SET \"user\" = 'bob' WHERE seq = 1", 1, "changed"),
    ("DELETE FROM kiwi_audit WHERE seq = 2", 2, "missing"),
    ("DELETE FROM kiwi_audit WHERE seq = 5", 5, "missing"),
    ("DELETE FROM kiwi_audit", 1, "missing"),
    ("DELETE FROM kiwi_audit_head", 1, "was inserted"),
    ("UPDATE kiwi_audit SET seq = seq + 10 WHERE seq > 3", 4, "moved to 14"),
    ("UPDATE kiwi_audit SET hash = prev_hash WHERE seq = 4", 4, "changed"),
    ("UPDATE kiwi_audit SET prev_hash = hash WHERE seq = 4", 4, "changed"),
]


def test_no_row_of_the_audit_is_touched_unseen(store: Store, store_url: str) -> None:
    """The first row that was changed, removed or moved is named."""
    for harm, seq, why in HARMS:
        did(store)
        changed(store_url, harm)
        broken = store.audit.first_problem()
        assert broken is not None, harm
        assert (broken.seq, why in broken.text) == (seq, True), (harm, broken)
        for table in ("kiwi_audit", "kiwi_audit_head"):
            changed(store_url, f"DELETE FROM {table}")


def test_an_empty_audit_is_whole(store: Store) -> None:
    """Nothing was done, so nothing is broken."""
    assert (store.audit.first_problem(store.audit.head()), store.audit.rows()) == (None, [])


def test_a_rewritten_audit_is_detected(store: Store, store_url: str) -> None:
    """Somebody who noted its head sees that another audit is in its place, however consistent that is."""
    did(store, 3)
    noted = store.audit.head()
    did(store, 2)
    assert store.audit.first_problem(noted) is None
    for table in ("kiwi_audit", "kiwi_audit_head"):
        changed(store_url, f"DELETE FROM {table}")
    did(store, 2)
    assert store.audit.first_problem() is None
    broken = store.audit.first_problem(noted)
    assert broken is not None
    assert "rewritten" in broken.text


def test_hosts_announce_themselves_and_leave(store: Store, another: Opener) -> None:
    """What a host said last counts, with the time by the clock of the store."""
    other = another()
    store.hosts.announce("north", "http://north:8421", [{"id": "b1"}])
    other.hosts.announce("south", "http://south:8421", [])
    store.hosts.announce("north", "http://north:9000", [{"id": "b1"}, {"id": "b2", "title": "Ærø"}])
    north, south = other.hosts.all()
    assert (north.name, north.url, north.books) == (
        "north",
        "http://north:9000",
        ({"id": "b1"}, {"id": "b2", "title": "Ærø"}),
    )
    assert south.seen_at <= north.seen_at <= store.now()
    other.hosts.leave("north")
    other.hosts.leave("nobody")
    assert [host.name for host in store.hosts.all()] == ["south"]


def test_all_hosts_of_a_store_share_a_secret_that_others_have_not(
    store: Store, another: Opener, tmp_path: Path
) -> None:
    """It is made once, and each store has its own."""
    secret = store.keys.secret()
    assert another().keys.secret() == store.keys.secret() == secret
    with opened(f"sqlite:///{tmp_path}/another.sqlite") as elsewhere:
        assert elsewhere.keys.secret() != secret
    assert len(secret) >= 32
    keys = {store.keys.key("peers"), store.keys.key("door")}
    assert len(keys) == 2
    assert secret not in keys
    assert another().keys.key("peers") in keys


def test_cases_are_known_by_an_id(store: Store, another: Opener) -> None:
    """Where a case is and how it is called can be looked up on every host; an id is taken once."""
    one = CaseEntry("c2", "Ann Smith", "case_c2", NOW, NOW)
    assert store.cases.add(one)
    assert not store.cases.add(CaseEntry("c2", "Somebody else", "elsewhere", LATER, LATER))
    store.cases.add(CaseEntry("c1", "Bob", "case_c1", NOW, NOW))
    other = another().cases
    other.note_change("c2", at=LATER)
    assert store.cases.get("c2") == CaseEntry("c2", "Ann Smith", "case_c2", NOW, LATER)
    assert [case.id for case in other.all()] == ["c1", "c2"]
    other.remove("c2")
    assert (store.cases.get("c2"), len(store.cases.all())) == (None, 1)


def test_a_password_lets_its_user_in_until_it_is_replaced(store: Store, another: Opener) -> None:
    """Each new password has an id of its own, so that the sessions of the one before end, on any host."""
    store.users.add("Ann", "reader", made_at=NOW)
    first, second = (store.users.set_password("Ann", A_HASH, made_at=at) for at in (NOW, LATER))
    other = another().users
    assert (other.by_credential(first.id), other.by_credential(second.id)) == (None, store.users.get("Ann"))
    assert other.password_of("Ann") == second
    assert other.password_times() == {"Ann": LATER}
    renewed = replace(A_HASH, salt=b"another salt 123")
    other.renew_hash(second.id, renewed)
    assert store.users.password_of("Ann") == replace(second, hash=renewed)
    assert (store.users.remove_password("Ann"), store.users.remove_password("Ann")) == (True, False)
    assert (other.by_credential(second.id), other.password_of("Ann")) == (None, None)
    with pytest.raises(BadUsage, match="No user"):
        store.users.set_password("Bob", A_HASH, made_at=NOW)


def test_a_new_user_of_a_name_does_not_get_the_old_password(store: Store) -> None:
    """A user who is removed takes their password with them."""
    for name in ("Ann", "Bob"):
        store.users.add(name, "owner", made_at=NOW)
    gone = store.users.set_password("Ann", A_HASH, made_at=NOW)
    store.users.remove("Ann")
    store.users.add("Ann", "reader", made_at=LATER)
    assert (store.users.by_credential(gone.id), store.users.password_of("Ann")) == (None, None)
