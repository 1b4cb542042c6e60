"""Users sign in with a name and a password: set by an owner, changed by themselves, and guessed by nobody."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator

import httpx2
import pytest
from tests.web.server_with_users import UserServer
from tests.web.servers import browser_client

from kiwiresearch.errors import LimitReached
from kiwiresearch.store import passwords as hashing
from kiwiresearch.store.passwords import Cost, PasswordHash
from kiwiresearch.store.store import open_store
from kiwiresearch.web.guard import passwords as password_checks
from kiwiresearch.web.guard.passwords import PasswordCheck
from kiwiresearch.workspace.users import Actor, UserRegister, utc_now

RIGHT, NEW = "sun over the sea", "moon over the hill"
SLIP = r"<bdi>([^<]+)</bdi></strong></dd>\s*<dt>[^<]+</dt><dd><code[^>]*>([^<]+)</code>"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that take no time: what they cost is tested with the store."""
    cost = Cost(16, 1, 1)
    monkeypatch.setattr(hashing, "COST", cost)
    monkeypatch.setattr(password_checks, "COST", cost)
    monkeypatch.setattr(password_checks, "NO_PASSWORD", PasswordHash(cost, b"0" * 16, b""))


@pytest.fixture
def pia(people: UserServer) -> Iterator[str]:
    """A reader with a password and no token; tests of limits have names of their own."""
    people.register.add("pia", "reader")
    people.register.set_password("pia", RIGHT)
    yield "pia"
    people.register.remove("pia")


@contextlib.contextmanager
def signed_in(people: UserServer, name: str, password: str) -> Iterator[httpx2.Client]:
    with browser_client(people.address) as browser:
        answer = browser.post("/login", data={"name": name, "password": password, "next": "/find"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/find"), answer.text
        yield browser


def is_in(browser: httpx2.Client) -> bool:
    return browser.get("/").status_code == 200


def sign_in(people: UserServer, name: str, password: str) -> httpx2.Response:
    with browser_client(people.address) as browser:
        return browser.post("/login", data={"name": name, "password": password})


def test_a_name_and_a_password_let_in_until_signing_out(people: UserServer, pia: str) -> None:
    """The session is a cookie like that of a token; spaces around the name do not matter."""
    with signed_in(people, f" {pia} ", RIGHT) as browser:
        assert browser.get("/api/me").json()["name"] == pia
        assert browser.get("/people").status_code == 403
        address = browser.get("/api/search?q=sunset&fast=true").json()["hits"][0]["url"]
        assert browser.get(address).status_code == 200
        assert browser.post("/logout").headers["location"] == "/login"
        assert not is_in(browser)


def test_letters_of_a_name_may_be_typed_in_any_way(people: UserServer) -> None:
    """A list from another system may write an accent as a letter of its own; it is the same name."""
    apart, together = "Jose\u0301", "Jos\xe9"
    (made,) = people.register.add_class(apart).passwords
    assert sign_in(people, together, made.password).status_code == 303
    assert sign_in(people, apart, made.password).status_code == 303
    people.register.remove(together)


def test_capital_letters_of_a_name_do_not_matter(people: UserServer) -> None:
    """Unless two names differ in nothing else: then each is found as it is written, and nothing between them."""
    made = {one.name: one.password for one in people.register.add_class("Ben Carter\nanna\nAnna\nZOË").passwords}
    try:
        for typed in ("Ben Carter", " ben  carter ", "BEN CARTER"):
            with signed_in(people, typed, made["Ben Carter"]) as ben:
                assert ben.get("/api/me").json()["name"] == "Ben Carter"
        assert sign_in(people, "zoë", made["ZOË"]).status_code == 303
        for name in ("anna", "Anna"):
            with signed_in(people, name, made[name]) as anna:
                assert anna.get("/api/me").json()["name"] == name
        assert {sign_in(people, "ANNA", made[name]).status_code for name in ("anna", "Anna")} == {401}
        assert sign_in(people, "anna", made["Anna"]).status_code == 401
    finally:
        for name in made:
            people.register.remove(name)


def test_accents_of_a_name_do_not_matter(people: UserServer) -> None:
    """Unless two names differ in nothing else."""
    made = {one.name: one.password for one in people.register.add_class("Chloé Dubois\nZoe\nZoé").passwords}
    try:
        for typed in ("Chloe Dubois", "chloe dubois", "CHLOÉ DUBOIS"):
            with signed_in(people, typed, made["Chloé Dubois"]) as chloe:
                assert chloe.get("/api/me").json()["name"] == "Chloé Dubois"
        for name in ("Zoe", "Zoé"):
            with signed_in(people, name, made[name]) as zoe:
                assert zoe.get("/api/me").json()["name"] == name
        assert {sign_in(people, "Zoë", made[name]).status_code for name in ("Zoe", "Zoé")} == {401}
    finally:
        for name in made:
            people.register.remove(name)


def test_a_password_is_nowhere_to_be_read(
    people: UserServer, pia: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in the audit, which says who set it and who signed in; not in the log, a page, an address or the store."""
    caplog.set_level(logging.DEBUG)
    with people.browser("olga") as olga, signed_in(people, pia, RIGHT) as browser:
        olga.post(f"/people/{pia}/password", data={"password": NEW})
        wrong = browser.post("/login", data={"name": pia, "password": RIGHT + "!"})
        refused = olga.post(f"/people/{pia}/password", data={"password": "ab cd"})
        too_long = olga.post(f"/people/{pia}/password", data={"password": RIGHT * 100})
    assert (wrong.status_code, refused.status_code, too_long.status_code) == (401, 400, 422)
    rows = people.store.audit.rows(limit=1_000, newest_first=True)
    assert ("login", pia) in {(row.action, row.user) for row in rows}
    (last, *_) = (row for row in rows if row.details.get("what") == "password")
    assert (last.user, last.subject, last.details) == ("olga", pia, {"what": "password"})
    output = [caplog.text, capfd.readouterr().err, str(rows), wrong.text, too_long.text, str(wrong.headers)]
    assert not [text for text in output if RIGHT in text or NEW in text]
    assert "ab cd" not in refused.text
    row = people.store.users.password_of(pia)
    assert row
    assert NEW not in str(row)


def test_an_unknown_name_gets_the_same_answer(people: UserServer, pia: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same page, status and work for a wrong password, an unknown name, and a user who has none."""
    hashed: list[str] = []
    real = hashing._derived

    def watched(password: str, cost: Cost, salt: bytes) -> bytes:
        hashed.append(password)
        return real(password, cost, salt)

    monkeypatch.setattr(hashing, "_derived", watched)
    answers = [sign_in(people, name, "not this one") for name in (pia, "nobody", "rita", "no\0body")]
    assert {answer.status_code for answer in answers} == {401}
    assert hashed == ["not this one"] * 4
    pages = {re.sub(r'value="[^"]*"', "", answer.text) for answer in answers[:3]}
    assert len(pages) == 1


def test_an_owner_sets_and_removes_a_password(people: UserServer, pia: str) -> None:
    """A generated one is shown once; each change ends the sessions of the password before."""
    with people.browser("olga") as olga:
        with signed_in(people, pia, RIGHT) as before:
            shown = olga.post(f"/people/{pia}/password")
            made = re.search(r"<code>([a-z]{4}-[a-z]{4}-[a-z]{4})</code>", shown.text)
            assert made
            assert not is_in(before)
        assert sign_in(people, pia, RIGHT).status_code == 401
        assert made[1] not in olga.get(f"/people/{pia}").text
        changed = olga.post("/language", data={"language": "en", "back": f"/people/{pia}/password"})
        assert olga.get(changed.headers["location"]).headers["location"] == f"/people/{pia}"
        with signed_in(people, pia, made[1]) as browser:
            assert olga.post(f"/people/{pia}/password/remove").status_code == 303
            assert not is_in(browser)
        assert "no password" in olga.post(f"/people/{pia}/password/remove").text
        assert is_in(olga)


def test_an_owner_who_sets_their_own_password_stays_signed_in(people: UserServer) -> None:
    people.register.add("otto", "owner")
    people.register.set_password("otto", RIGHT)
    try:
        with signed_in(people, "otto", RIGHT) as otto, signed_in(people, "otto", RIGHT) as elsewhere:
            assert otto.post("/people/otto/password", data={"password": NEW}).status_code == 303
            assert (is_in(otto), is_in(elsewhere)) == (True, False)
            assert "cannot be the same as the name" in add_and_set(otto, "long name", "Long Name").text
    finally:
        people.register.remove("otto")
        people.register.remove("long name")


def add_and_set(owner: httpx2.Client, name: str, password: str) -> httpx2.Response:
    """What an owner sees who adds a user with a generated password, and then chooses one."""
    added = owner.post("/people", data={"name": name, "way": "password"})
    assert f"New password for {name}" in added.text
    return owner.post(f"/people/{name}/password", data={"password": password})


def test_users_change_their_own_password(people: UserServer, pia: str) -> None:
    """The current one is needed; other browsers are signed out, this one is not."""
    with signed_in(people, pia, RIGHT) as here, signed_in(people, pia, RIGHT) as there:

        def change(current: str, new: str, again: str) -> httpx2.Response:
            return here.post("/password", data={"current": current, "new": new, "again": again})

        assert "current password is not correct" in change("not this one", NEW, NEW).text
        assert "are not the same" in change(RIGHT, NEW, NEW + "!").text
        assert "8 to 200 characters" in change(RIGHT, "short", "short").text
        assert is_in(there)
        done = change(RIGHT, NEW, NEW)
        assert (done.status_code, done.headers["location"]) == (303, "/password?saved=1")
        assert "was changed" in here.get("/password?saved=1").text
        assert (is_in(here), is_in(there)) == (True, False)
    with people.browser("rita") as rita:
        page = rita.get("/password").text
        assert "do not have a password yet" in page
        assert 'name="current"' not in page


def test_programs_manage_passwords(people: UserServer, pia: str) -> None:
    """The API sets, generates, removes and changes; it says when a password was set, and never what it is."""
    with people.client("olga") as olga, people.client("rita") as rita:
        made = olga.put(f"/api/users/{pia}/password", json={}).json()
        assert sign_in(people, pia, made["password"]).status_code == 303
        chosen = olga.put(f"/api/users/{pia}/password", json={"password": NEW})
        assert chosen.json() == {"name": pia, "password": None}
        assert olga.get(f"/api/users/{pia}").json()["password_at"]
        assert olga.put(f"/api/users/{pia}/password", json={"password": "short"}).status_code == 400
        assert rita.put(f"/api/users/{pia}/password", json={}).status_code == 403
        own = {"Authorization": f"Bearer {people.register.new_token(pia).text}"}
        change = {"current": NEW, "new": RIGHT}
        with people.client() as client:
            assert client.put("/api/me/password", json=change, headers=own).status_code == 204
            refused = client.put("/api/me/password", json=change, headers=own)
        assert (refused.status_code, refused.json()["detail"]) == (400, "The current password is not correct.")
        assert olga.delete(f"/api/users/{pia}/password").status_code == 204
        assert olga.get(f"/api/users/{pia}").json()["password_at"] == ""


def test_after_many_wrong_passwords_a_name_must_wait(people: UserServer, pia: str) -> None:
    """After ten wrong passwords a name must wait, even with the right one; others at that address can sign in."""
    people.register.add("lia", "reader")
    people.register.set_password("lia", RIGHT)
    try:
        with browser_client(people.address) as browser:
            browser.headers["Accept-Language"] = "fr"
            for _ in range(10):
                assert browser.post("/login", data={"name": "lia", "password": "wrong one"}).status_code == 401
            limited = browser.post("/login", data={"name": "lia", "password": RIGHT})
        assert limited.status_code == 429
        wait_s = int(limited.headers["retry-after"])
        assert 0 < wait_s <= 60
        assert re.search(rf"Réessayez dans {wait_s}\s+seconde", limited.text)
        assert RIGHT not in limited.text
        assert sign_in(people, pia, RIGHT).status_code == 303
    finally:
        people.register.remove("lia")


@pytest.fixture
def check(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PasswordCheck, list[float]]]:
    """A password check with a clock that a test moves, and a class of thirty."""
    file = tmp_path_factory.mktemp("door") / "store.sqlite"
    now = [0.0]
    with open_store(f"sqlite:///{file}", is_shared_store=True, clock=lambda: 1_000.0) as store:
        register = UserRegister(store, utc_now, Actor())
        for number in range(30):
            register.add(f"pupil {number}", "reader")
        register.set_password("pupil 7", RIGHT)
        yield PasswordCheck(store, clock=lambda: now[0]), now


def test_a_class_behind_one_address_is_not_locked_out(check: tuple[PasswordCheck, list[float]]) -> None:
    """Thirty who mistype three times each, and one who is at the limit, leave the others in; then a minute frees it."""
    passwords, now = check
    for number in range(30):
        for _ in range(3):
            assert passwords.find(f"pupil {number}", "wrong one", "192.0.2.7") is None
    for _ in range(7):
        passwords.find("pupil 3", "wrong one", "192.0.2.7")
    for _ in range(50):  # a name that waits uses up nothing of its address
        with pytest.raises(LimitReached):
            passwords.find("pupil 3", "wrong one", "192.0.2.7")
    for _ in range(200):
        assert passwords.find("pupil 7", RIGHT, "192.0.2.7") is not None
    assert passwords.find("pupil 3", "wrong one", "192.0.2.8") is None
    now[0] += 60
    assert passwords.find("pupil 3", "wrong one", "192.0.2.7") is None


def test_other_capitals_and_accents_do_not_allow_more_attempts(check: tuple[PasswordCheck, list[float]]) -> None:
    passwords, _ = check
    for name in ("pupil 7", "Pupil 7", "PUPÍL 7", "pÜPIL 7", "puPil 7") * 2:
        assert passwords.find(name, "wrong one", "192.0.2.7") is None
    with pytest.raises(LimitReached):
        passwords.find("pupIL 7", "wrong one", "192.0.2.7")


@pytest.mark.parametrize("what", ["name", "address"])
def test_guessing_wide_is_stopped_too(check: tuple[PasswordCheck, list[float]], what: str) -> None:
    """A hundred for one address with many names, and for one name from many addresses."""
    passwords, now = check
    tries = [("pupil 7", f"192.0.2.{n}") if what == "name" else (f"name {n}", "192.0.2.7") for n in range(101)]
    for name, client in tries[:100]:
        assert passwords.find(name, "wrong one", client) is None
    with pytest.raises(LimitReached) as limited:
        passwords.find(tries[100][0], "wrong one", tries[100][1])
    assert limited.value.retry_after_s == pytest.approx(6)
    now[0] += 6
    assert passwords.find(tries[100][0], "wrong one", tries[100][1]) is None


def test_an_old_hash_is_renewed_at_sign_in(
    check: tuple[PasswordCheck, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the cost is raised, passwords get it as they are used, and sessions stay."""
    passwords, _ = check
    before = passwords.find("pupil 7", RIGHT, "192.0.2.7")
    for module in (hashing, password_checks):
        monkeypatch.setattr(module, "COST", Cost(32, 1, 1))
    passwords.find("pupil 7", RIGHT, "192.0.2.7")
    after = passwords.find("pupil 7", RIGHT, "192.0.2.7")
    assert before
    assert after
    assert (after.id, before.hash.cost.n, after.hash.cost.n) == (before.id, 16, 32)


def test_a_class_gets_a_sheet_of_passwords(people: UserServer) -> None:
    """One line, one user of the chosen role; who is there already is left alone, and one bad name adds nobody."""
    before = {user.name for user in people.register.all()}
    with people.browser("olga") as olga:
        refused = olga.post("/class-list", data={"names": "Ana\nBen/Kim"})
        assert refused.status_code == 400
        assert "Ana\nBen/Kim" in refused.text
        assert {user.name for user in people.register.all()} == before
        try:
            sheet = olga.post("/class-list", data={"names": "Ana\r\n  Zoë   Kim \r\n\r\nAna\r\nrita\r\n"})
            slips = dict(re.findall(SLIP, sheet.text))
            assert list(slips) == ["Ana", "Zoë Kim"]
            assert "already exist" in sheet.text
            assert not people.register.password_times().get("rita")
            with signed_in(people, "Zoë Kim", slips["Zoë Kim"]) as zoe:
                assert zoe.get("/api/me").json()["role"] == "reader"
            again = olga.post("/class-list", data={"names": "Ana\nolga", "renew": "true"}).text
            assert len(re.findall(r"<code>[a-z-]+</code>", again)) == 1
            assert slips["Ana"] not in again
            assert not people.register.password_times("olga")  # only readers get another
            other = {"names": "Max\nAna", "role": "researcher", "renew": "true"}
            for _ in range(2):  # who is there already with this role gets another password, readers do not
                sheet = olga.post("/class-list", data=other)
                assert [name for name, _ in re.findall(SLIP, sheet.text)] == ["Max"]
            assert people.register.get("Max").role == "researcher"
            assert olga.post("/class-list", data={"names": "Eva", "role": "owner"}).status_code >= 400
            assert people.store.users.get("Eva") is None
        finally:
            for name in {user.name for user in people.register.all()} - before:
                people.register.remove(name)
    with people.browser("remy") as remy:
        assert remy.post("/class-list", data={"names": "Max"}).status_code == 403
