"""Passwords: which are allowed, and what is stored of them."""

from __future__ import annotations

import re

import pytest

from kiwiresearch.errors import BadUsage, StoreDamaged
from kiwiresearch.store import passwords
from kiwiresearch.store.passwords import COST, NO_PASSWORD, Cost, PasswordHash, check_password, readable_password


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> Cost:
    """A hash that takes no time, for tests of everything else."""
    cost = Cost(16, 1, 1)
    monkeypatch.setattr(passwords, "COST", cost)
    return cost


def test_a_hash_has_its_parameters_and_a_salt() -> None:
    """As costly as is advised; the same password never has the same hash, and nothing else matches."""
    first, second = PasswordHash.of("sun over the sea"), PasswordHash.of("sun over the sea")
    assert str(first).startswith("scrypt$32768$8$1$")
    assert str(first) != str(second)
    assert PasswordHash.parse(str(first)).matches("sun over the sea")
    assert not first.matches("sun over the see")


def test_parameters_can_be_raised(cheap: Cost) -> None:
    """A hash is repeated as it was made, whatever new ones cost."""
    old = str(PasswordHash.of("sun over the sea"))
    passwords.COST = Cost(32, 1, 1)
    assert PasswordHash.parse(old).cost == cheap
    assert PasswordHash.parse(old).matches("sun over the sea")
    assert PasswordHash.of("sun over the sea").cost != cheap


@pytest.mark.usefixtures("cheap")
def test_accents_may_be_typed_in_any_way() -> None:
    """A Mac composes an accent from two characters, Windows has one; wide digits of a phone are digits."""
    assert PasswordHash.of("cafe\u0301 noir").matches("café noir")
    assert PasswordHash.of("passwort１２").matches("passwort12")
    assert not PasswordHash.of("Cafe noir").matches("cafe noir")


def test_an_unknown_name_takes_as_much_work() -> None:
    """The check for a missing password costs the same, and no text matches it."""
    assert NO_PASSWORD.cost == COST
    assert not NO_PASSWORD.matches("")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("short12", "not allowed"),
        ("x" * 201, "not allowed"),
        ("line\nbreaks", "not allowed"),
        ("half \ud800 a character", "not allowed"),
        ("ROSA Luxemburg", "same as the name"),
    ],
)
def test_a_refused_password_is_not_quoted(text: str, message: str) -> None:
    with pytest.raises(BadUsage, match=message) as caught:
        check_password(text, "rosa luxemburg")
    assert text not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["12345678", "x" * 200, "ein Satz mit Leerzeichen", "пароль из слов", "🥝🥝🥝🥝🥝🥝🥝🥝"]
)
def test_any_letters_are_allowed(text: str) -> None:
    check_password(text, "rosa")


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "x",
        "md5$16$1$1$AAAA$AAAA",
        "scrypt$15$8$1$AAAA$" + "A" * 43 + "=",
        f"scrypt${2**40}$8$1$AAAA$" + "A" * 43 + "=",
        "scrypt$16$8$99$AAAA$" + "A" * 43 + "=",
        "scrypt$16$8$1$AAAA$AAAA",
        "scrypt$16$8$1$%%%%$" + "A" * 43 + "=",
    ],
)
def test_a_damaged_hash_matches_no_password(stored: str) -> None:
    """A changed row cannot make the server use up its memory either."""
    with pytest.raises(StoreDamaged, match="hash of a password"):
        PasswordHash.parse(stored)


def test_generated_passwords_can_be_read_aloud() -> None:
    """Letters that look alike are not used, and no two are the same."""
    made = [readable_password() for _ in range(500)]
    assert all(re.fullmatch(r"([bdfgkmnrstvz][aeiou]){2}(-([bdfgkmnrstvz][aeiou]){2}){2}", one) for one in made)
    assert len(set(made)) == 500
    assert not any(passwords.UNWANTED.fullmatch(group) for one in made for group in one.split("-"))
    for one in made:
        check_password(one, "rosa")
