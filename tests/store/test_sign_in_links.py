"""Sign-in links in a store: used once, within their time, and ended by a new password."""

from __future__ import annotations

import re

import pytest
from tests.store.stores import Opener, changed, crowd

from kiwiresearch.errors import BadUsage
from kiwiresearch.store.passwords import COST, PasswordHash
from kiwiresearch.store.sign_in_links import SECRET_SHAPE, NewLink
from kiwiresearch.store.store import Store

MADE, LATER, EXPIRES, PAST = (f"2026-11-18T{hour}:00:00+00:00" for hour in (10, 11, 12, 13))
HASH = PasswordHash(COST, b"0" * 16, b"1" * 32)


def a_link(store: Store, name: str = "ann", made_at: str = MADE) -> NewLink:
    return store.links.new(name, made_at=made_at, expires_at=EXPIRES, forget_before="2026-10-18T10:00:00+00:00")


@pytest.fixture(autouse=True)
def _users(store: Store) -> None:
    for name in ("ann", "bob"):
        store.users.add(name, "reader", made_at=MADE)


def test_a_link_is_used_once(store: Store, another: Opener) -> None:
    """Looking at it changes nothing; the first use gets it, on whichever host, and its id is a session from then on."""
    link = a_link(store)
    assert SECRET_SHAPE.fullmatch(link.secret)
    for _ in range(2):
        found = store.links.get(link.secret, at=LATER)
        assert found is not None
        assert (found.id, found.user, found.used_at) == (link.id, "ann", "")
    assert store.users.by_credential(link.id) is None
    used = another().links.use(link.secret, at=LATER)
    assert used is not None
    assert (used.id, used.used_at) == (link.id, LATER)
    assert store.links.use(link.secret, at=LATER) is None
    assert store.links.get(link.secret, at=LATER) is None
    assert store.users.by_credential(link.id) == store.users.get("ann")


def test_of_many_at_once_one_gets_it(store: Store, store_url: str) -> None:
    """Six processes use the same link at the same moment."""
    link = a_link(store)
    lines = crowd(6, store_url, f"say(store.links.use({link.secret!r}, at={LATER!r}) is not None)")
    assert sorted(lines) == ["False"] * 5 + ["True"]


def test_a_link_ends_when_its_time_is_over(store: Store) -> None:
    link = a_link(store)
    assert store.links.get(link.secret, at=EXPIRES) is None
    assert store.links.use(link.secret, at=PAST) is None
    assert store.links.of("ann", at=PAST) == []
    assert [row.id for row in store.links.of("ann", at=LATER)] == [link.id]


def test_a_new_password_or_none_ends_links_and_their_sessions(store: Store) -> None:
    """So does the removal of the user; the links of others stay."""
    other = a_link(store, "bob")
    for end in (
        lambda: store.users.set_password("ann", HASH, made_at=LATER),
        lambda: store.users.remove_password("ann"),
        lambda: store.users.remove("ann"),
    ):
        used = store.links.use(a_link(store).secret, at=LATER)
        waiting = a_link(store)
        assert used is not None
        end()
        assert store.links.get(waiting.secret, at=LATER) is None
        assert store.users.by_credential(used.id) is None
        assert store.links.of("ann", at=LATER) == []
    store.users.add("ann", "reader", made_at=LATER)
    assert store.links.of("ann", at=LATER) == []
    assert store.links.get(other.secret, at=LATER) is not None


def test_a_new_link_replaces_one_that_was_not_used(store: Store) -> None:
    """The session of a used one stays, until no cookie can be as old; what expired is forgotten, whoever had it."""
    first = a_link(store)
    store.links.use(first.secret, at=LATER)
    second, bobs = a_link(store), a_link(store, "bob")
    third = a_link(store)
    assert store.links.get(second.secret, at=LATER) is None
    assert {row.id for row in store.links.of("ann", at=LATER)} == {first.id, third.id}
    store.links.new("ann", made_at=PAST, expires_at="2026-11-19", forget_before=PAST)
    assert store.users.by_credential(first.id) is None
    assert store.links.of("bob", at=LATER) == []
    assert bobs.id


def test_a_secret_is_stored_nowhere(store: Store, store_url: str) -> None:
    link = a_link(store)
    assert changed(store_url, f"UPDATE kiwi_link SET sha256 = sha256 WHERE sha256 LIKE '%{link.secret}%'") == 0
    assert changed(store_url, "UPDATE kiwi_link SET sha256 = sha256 WHERE length(sha256) = 64") == 1
    assert link.secret not in repr(store.links.of("ann", at=LATER))


@pytest.mark.parametrize(
    "secret", ["", "x", "bako-midu-tero", "bako-midu-tero-nasi-fuvo-gedi\n", "bäko-midu", "é" * 29]
)
def test_what_is_no_secret_finds_nothing(store: Store, secret: str) -> None:
    a_link(store)
    assert store.links.get(secret, at=LATER) is None
    assert store.links.use(secret, at=LATER) is None


def test_a_link_is_revoked_by_its_id_and_user(store: Store) -> None:
    link = a_link(store)
    for name, wanted in (("bob", link.id), ("ann", "0000")):
        with pytest.raises(BadUsage, match=re.escape(repr(wanted))):
            store.links.revoke(name, wanted)
    store.links.revoke("ann", link.id)
    assert store.links.get(link.secret, at=LATER) is None
    with pytest.raises(BadUsage, match="No user"):
        a_link(store, "nobody")
