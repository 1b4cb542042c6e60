"""The commands about users and the audit: what they make is shown once, what is wrong is told."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from kiwiresearch.cli.start import run


@pytest.fixture(autouse=True)
def _home(home: Path) -> Path:
    return home


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command that succeeds says."""
    assert run(words) == 0, capsys.readouterr()
    return capsys.readouterr().out


def test_the_first_owner_is_made_at_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty list says how to begin; the token is shown once, and is nowhere in the store."""
    assert "users add NAME --role owner" in said(capsys, "users", "list")
    made = json.loads(said(capsys, "users", "add", "olga", "--role", "owner", "--label", "desk", "--json"))
    assert made["token"].startswith("kiwi_")
    listed = said(capsys, "users", "list")
    assert "olga  owner" in listed
    assert made["token"] not in listed
    assert made["token_id"] in listed


def test_no_token_is_kept(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """The file of the store has the hash of a token alone."""
    made = json.loads(said(capsys, "users", "add", "olga", "--role", "owner", "--json"))
    files = [file for file in (home / "state").rglob("*") if file.is_file()]
    assert files
    assert all(made["token"].encode() not in file.read_bytes() for file in files)


def test_a_user_is_changed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    """Role, limits and tokens change; a user who is removed is gone with all tokens."""
    said(capsys, "users", "add", "olga", "--role", "owner")
    said(capsys, "users", "add", "rita")
    assert "rita is researcher now." in said(capsys, "users", "role", "rita", "researcher")
    assert "questions_a_day 3" in said(capsys, "users", "limit", "rita", "questions_a_day=3", "queued=1")
    assert "questions_a_day" not in said(capsys, "users", "limit", "rita", "questions_a_day=")
    token = json.loads(said(capsys, "users", "token", "rita", "--label", "library PC", "--json"))
    said(capsys, "users", "revoke", "rita", token["token_id"])
    listed = json.loads(said(capsys, "users", "list", "--json"))["users"]
    rita = next(user for user in listed if user["name"] == "rita")
    assert (rita["role"], rita["limits"]) == ("researcher", {"queued": 1})
    assert [one["id"] for one in rita["tokens"] if one["revoked_at"]] == [token["token_id"]]
    assert len(rita["tokens"]) == 2
    role = said(capsys, "users", "role", "rita", "reader", "--json")
    limits = said(capsys, "users", "limit", "rita", "running=3", "--json")
    assert (json.loads(role), json.loads(limits)) == (
        {"name": "rita", "role": "reader"},
        {"name": "rita", "limits": {"queued": 1, "running": 3}},
    )
    assert json.loads(said(capsys, "users", "remove", "rita", "--json")) == {"removed": "rita"}
    assert "rita" not in said(capsys, "users", "list")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", "olga"], "already"),
        (["add", ""], "cannot be the name"),
        (["add", "x\ny"], "cannot be the name"),
        (["add", "x  y"], "single spaces"),
        (["add", "x", "--role", "boss"], "is no role"),
        (["add", "x", "--label", "x" * 200], "label"),
        (["add", "a/b"], "cannot be the name"),
        (["add", ".."], "cannot be the name"),
        (["role", "nobody", "reader"], "no user"),
        (["role", "olga", "reader"], "only owner"),
        (["remove", "olga"], "only owner"),
        (["remove", "nobody"], "no user"),
        (["limit", "olga", "foo=1"], "no limit"),
        (["limit", "olga", "queued"], "is no limit"),
        (["limit", "olga", "queued=-1"], "is no limit"),
        (["token", "nobody"], "no user"),
        (["token", "olga", "--label", "x" * 200], "label"),
        (["revoke", "olga", "0000"], "no token"),
    ],
)
def test_what_cannot_be_is_told(capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    """A slip ends with a sentence and changes nothing."""
    said(capsys, "users", "add", "olga", "--role", "owner")
    before = said(capsys, "users", "list", "--json")
    assert run(["users", *words]) == 2
    assert told in capsys.readouterr().err
    assert said(capsys, "users", "list", "--json") == before


def test_the_audit_tells_of_each_change_and_is_proved(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """Rows by action and time; the chain holds, until somebody touches a row."""
    said(capsys, "users", "add", "olga", "--role", "owner")
    said(capsys, "users", "add", "rita")
    rows = [json.loads(line) for line in said(capsys, "audit", "--json").splitlines()]
    assert [(row["subject"], row["details"]["what"]) for row in rows] == [
        ("olga", "added"),
        ("olga", "token"),
        ("rita", "added"),
        ("rita", "token"),
    ]
    assert said(capsys, "audit", "--since", "2999-01-01") == ""
    assert said(capsys, "audit", "--user", "nobody") == ""
    assert "user added  olga" in said(capsys, "audit", "--action", "user")
    told = said(capsys, "audit", "--check")
    assert "whole" in told
    head = json.loads(said(capsys, "audit", "--check", "--json"))["head"]
    assert head in told
    said(capsys, "users", "token", "rita")
    assert "whole" in said(capsys, "audit", "--check", "--head", head)
    assert run(["audit", "--check", "--head", "0" * 63 + "1"]) == 1
    assert "written anew" in capsys.readouterr().err
    assert run(["audit", "--head", head]) == 2
    assert "--check" in capsys.readouterr().err
    assert run(["audit", "--check", "--head", head[:4]]) == 2
    assert "Give all 64 characters" in capsys.readouterr().err
    with sqlite3.connect(home / "state" / "store.sqlite") as store:
        store.execute("DELETE FROM kiwi_audit WHERE seq = 2")
    store.close()
    assert run(["audit", "--check"]) == 1
    assert "row 2" in capsys.readouterr().err
    assert run(["audit", "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["holds"] is False


def test_an_audit_without_rows_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing at all, and nothing of what was asked for, are told apart; and the way to switch users on is named."""
    assert run(["audit"]) == 0
    assert "below [serve]" in capsys.readouterr().err
    assert run(["users", "add", "olga", "--role", "owner"]) == 0
    assert "until 'users = true' stands below [serve]" in capsys.readouterr().err
    assert run(["audit", "--user", "nobody"]) == 0
    assert capsys.readouterr().err == "Nothing like that was written down.\n"


def test_a_date_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """--since wants a date."""
    assert run(["audit", "--since", "yesterday"]) == 2
    assert "is no date" in capsys.readouterr().err
