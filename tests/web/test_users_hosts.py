"""Users of a store that several hosts share, on both engines: in at one is in at all, and out at one is out at all."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.errors import LimitReached
from kiwiresearch.store.store import Store, open_store
from kiwiresearch.web.guard.identity import COOKIE
from kiwiresearch.web.guard.users import UserAuthenticator
from kiwiresearch.workspace.other_hosts import OtherHosts
from kiwiresearch.workspace.setting_values import LimitSettings
from kiwiresearch.workspace.users import Actor, UserRegister, utc_now


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """The same store, open on two hosts."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    else:
        server: Callable[[], str] = request.getfixturevalue("postgres_server")
        url = server()
    with contextlib.ExitStack() as opened:
        first, second = (
            opened.enter_context(open_store(url, is_shared_store=True, clock=lambda: 1_000.0)) for _ in range(2)
        )
        yield first, second


def user_authenticator(store: Store) -> UserAuthenticator:
    return UserAuthenticator(store, LimitSettings(), utc_now)


def shown(**headers: str) -> dict[str, Any]:
    """A request for a page with these headers."""
    sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "GET", "path": "/", "headers": sent, "client": ("192.0.2.7", 1)}


def test_one_login_opens_every_host(stores: tuple[Store, Store]) -> None:
    """A cookie that one host gave is known by the other, until the token behind it is revoked at either."""
    here, there = map(user_authenticator, stores)
    register = UserRegister(stores[0], utc_now, Actor())
    register.add("rita", "reader")
    token = register.new_token("rita")
    cookie = here.cookie_for(token.text, "192.0.2.7")
    assert cookie is not None
    known = there.visitor_of(shown(Cookie=f"{COOKIE}={cookie}"))
    assert known is not None
    assert (known.name, known.role) == ("rita", "reader")
    by_header = there.visitor_of(shown(Authorization=f"Bearer {token.text}"))
    assert by_header == known
    assert there.by_credential(known.credential) == known
    UserRegister(stores[1], utc_now, Actor()).revoke("rita", token.id)
    assert here.visitor_of(shown(Cookie=f"{COOKIE}={cookie}")) is None
    assert here.visitor_of(shown(Authorization=f"Bearer {token.text}")) is None
    assert here.by_credential(known.credential) is None


def test_an_unknown_role_gives_no_access(stores: tuple[Store, Store]) -> None:
    """A row that another program wrote into the store gives no access."""
    store = stores[0]
    store.users.add("eve", "reader", made_at="")
    token = store.users.new_token("eve", made_at="")
    from sqlalchemy import update

    from kiwiresearch.store.tables import USER

    with store.users._db.writing() as connection:
        connection.execute(update(USER).where(USER.c.name == "eve").values(role="emperor"))
    assert user_authenticator(store).visitor_of(shown(Authorization=f"Bearer {token.text}")) is None


@pytest.mark.parametrize("cookie", ["", "x", "0" * 16, "0" * 80, "é" * 40, "' OR 1=1 --", "\\udcff"])
def test_strange_cookies_give_no_access(stores: tuple[Store, Store], cookie: str) -> None:
    """Whatever a browser sends, it does not become a user."""
    assert user_authenticator(stores[0]).by_cookie(cookie) is None


def test_wrong_tokens_are_counted_for_each_address(stores: tuple[Store, Store]) -> None:
    """Ten attempts a minute for an address, by header and by form together; other addresses are not limited."""
    authenticator = UserAuthenticator(stores[0], LimitSettings(), utc_now, clock=lambda: 5.0)
    for number in range(5):
        assert authenticator.cookie_for("nonsense", "192.0.2.7") is None
        assert authenticator.visitor_of(shown(Authorization=f"Bearer kiwi_{number:032}")) is None
    with pytest.raises(LimitReached) as refused:
        authenticator.cookie_for("nonsense", "192.0.2.7")
    assert refused.value.retry_after_s > 0
    assert authenticator.cookie_for("nonsense", "192.0.2.8") is None


def test_a_cookie_grows_old(stores: tuple[Store, Store]) -> None:
    """After thirty days a browser is asked again, and nobody can make a cookie younger."""
    register = UserRegister(stores[0], utc_now, Actor())
    register.add("rita", "reader")
    token = register.new_token("rita")
    moment = ["2026-01-01T00:00:00+00:00"]
    authenticator = UserAuthenticator(stores[0], LimitSettings(), lambda: moment[0])
    cookie = authenticator.cookie_for(token.text, "192.0.2.7")
    assert cookie is not None
    moment[0] = "2026-01-30T00:00:00+00:00"
    assert authenticator.by_cookie(cookie) is not None
    moment[0] = "2026-02-01T00:00:00+00:00"
    assert authenticator.by_cookie(cookie) is None
    younger = f"{token.id}{int(cookie[16:26], 16) + 86_400:010x}{cookie[26:]}"
    assert authenticator.by_cookie(younger) is None


def test_keys_between_hosts_cannot_sign_cookies(stores: tuple[Store, Store]) -> None:
    """Somebody who listens between two hosts gets their key, but cannot sign a cookie with it."""
    register = UserRegister(stores[0], utc_now, Actor())
    register.add("olga", "owner")
    token = register.new_token("olga")
    authenticator = user_authenticator(stores[0])
    cookie = authenticator.cookie_for(token.text, "192.0.2.7")
    assert cookie is not None
    started = cookie[:26]

    def signed(key: str, words: str) -> str:
        return hmac.new(key.encode(), words.encode(), sha256).hexdigest()

    shown_to_peers = OtherHosts(stores[0], "")
    shown_to_peers.refresh()
    for key in (shown_to_peers._secret, stores[0].keys.secret()):
        assert authenticator.by_cookie(started + signed(key, f"cookie {started}")) is None
    assert started + signed(stores[0].keys.key("door"), f"cookie {started}") == cookie
