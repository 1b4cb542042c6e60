"""The commands about users and the audit: secrets are shown once, and mistakes are explained."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import sqlite3
import subprocess
from pathlib import Path

import pytest
from tests.cli.processes import SCRIPT

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
    assert "rita now has the role 'researcher'." in said(capsys, "users", "role", "rita", "researcher")
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
    ("words", "expected"),
    [
        (["add", "olga"], "already"),
        (["add", ""], "not allowed as a user name"),
        (["add", "x\ny"], "not allowed as a user name"),
        (["add", "x  y"], "single spaces"),
        (["add", "x", "--role", "boss"], "Unknown role"),
        (["add", "x", "--label", "x" * 200], "label"),
        (["add", "a/b"], "not allowed as a user name"),
        (["add", ".."], "not allowed as a user name"),
        (["role", "nobody", "reader"], "No user"),
        (["role", "olga", "reader"], "only owner"),
        (["remove", "olga"], "only owner"),
        (["remove", "nobody"], "No user"),
        (["limit", "olga", "foo=1"], "Unknown limit"),
        (["limit", "olga", "queued"], "is not a valid limit"),
        (["limit", "olga", "queued=-1"], "is not a valid limit"),
        (["token", "nobody"], "No user"),
        (["token", "olga", "--label", "x" * 200], "label"),
        (["revoke", "olga", "0000"], "no token"),
        (["link", "nobody"], "No user"),
        (["link", "olga", "--valid", "year"], "Choose one of: hour, day, week"),
        (["password", "nobody", "--generate"], "No user"),
        (["password", "olga", "--remove"], "no password"),
        (["password", "olga", "--remove", "--generate"], "together"),
    ],
)
def test_invalid_arguments_are_explained(capsys: pytest.CaptureFixture[str], words: list[str], expected: str) -> None:
    """A mistake ends with a sentence and changes nothing."""
    said(capsys, "users", "add", "olga", "--role", "owner")
    before = said(capsys, "users", "list", "--json")
    assert run(["users", *words]) == 2
    assert expected in capsys.readouterr().err
    assert said(capsys, "users", "list", "--json") == before


def test_a_link_is_printed_once_listed_and_revoked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts with the address of the server; the list shows until when it works, and not its secret."""
    said(capsys, "users", "add", "olga", "--role", "owner")
    assert run(["users", "link", "olga"]) == 0
    printed = capsys.readouterr()
    assert "Sign-in link" in printed.out
    assert "http://127.0.0.1:8321/link/" in printed.out
    assert "It works once and expires at 20" in printed.err
    assert "set 'users = true'" in printed.err
    monkeypatch.setenv("KIWIRESEARCH_SERVE_PUBLIC_URL", "https://books.school.example")
    made = json.loads(said(capsys, "users", "link", "olga", "--valid", "week", "--json"))
    assert made["link"].startswith("https://books.school.example/link/")
    listed = said(capsys, "users", "list")
    assert f"{made['link_id']}  sign-in link  created" in listed
    assert f"valid until {made['expires_at']}" in listed
    assert made["link"].rpartition("/")[2] not in listed
    assert "Revoked sign-in link" in said(capsys, "users", "revoke", "olga", made["link_id"])
    assert "sign-in link" not in said(capsys, "users", "list")


def test_the_audit_lists_each_change_and_is_verified(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    """Rows by action and time; the chain is intact until somebody changes a row."""
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
    text = said(capsys, "audit", "--check")
    assert "complete and unchanged" in text
    head = json.loads(said(capsys, "audit", "--check", "--json"))["head"]
    assert head in text
    said(capsys, "users", "token", "rita")
    assert "complete and unchanged" in said(capsys, "audit", "--check", "--head", head)
    assert run(["audit", "--check", "--head", "0" * 63 + "1"]) == 1
    assert "rewritten" in capsys.readouterr().err
    assert run(["audit", "--head", head]) == 2
    assert "--check" in capsys.readouterr().err
    assert run(["audit", "--check", "--head", head[:4]]) == 2
    assert "Enter all 64 characters" in capsys.readouterr().err
    with sqlite3.connect(home / "state" / "store.sqlite") as store:
        store.execute("DELETE FROM kiwi_audit WHERE seq = 2")
    store.close()
    assert run(["audit", "--check"]) == 1
    assert "row 2" in capsys.readouterr().err
    assert run(["audit", "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["holds"] is False


def test_an_audit_without_rows_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty audit and an empty selection have different messages; and the output says how to switch users on."""
    assert run(["audit"]) == 0
    assert "under [serve]" in capsys.readouterr().err
    assert run(["users", "add", "olga", "--role", "owner"]) == 0
    assert "until you set 'users = true' under [serve]" in capsys.readouterr().err
    assert run(["audit", "--user", "nobody"]) == 0
    assert capsys.readouterr().err == "No matching rows.\n"


def test_an_invalid_date_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """--since needs a date."""
    assert run(["audit", "--since", "yesterday"]) == 2
    assert "is not a date" in capsys.readouterr().err


def test_a_password_is_set_and_removed(
    capsys: pytest.CaptureFixture[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read from standard input in a script, or generated and shown once; no file, list or audit has it."""
    said(capsys, "users", "add", "olga", "--role", "owner")
    monkeypatch.setattr("sys.stdin", io.StringIO("sun over the sea\n"))
    assert said(capsys, "users", "password", "olga") == "Set the password of olga.\n"
    made = json.loads(said(capsys, "users", "password", "olga", "--generate", "--json"))
    listed = said(capsys, "users", "list")
    assert "password set 20" in listed
    audit = said(capsys, "audit")
    assert audit.count("user password  olga") == 2
    files = [file.read_bytes() for file in (home / "state").rglob("*") if file.is_file()]
    for secret in ("sun over the sea", made["password"]):
        assert secret not in listed + audit
        assert all(secret.encode() not in content for content in files)
    assert "Removed" in said(capsys, "users", "password", "olga", "--remove")
    assert "password set" not in said(capsys, "users", "list")


def test_a_password_is_typed_without_echo(home: Path) -> None:
    """It is asked for twice on a terminal, and never seen there."""
    environment = os.environ | {"KIWIRESEARCH_HOME": str(home)}
    assert run(["users", "add", "olga", "--role", "owner"]) == 0
    ours, theirs = pty.openpty()
    command = [SCRIPT, "users", "password", "olga"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        for asked in (b"New password for olga: ", b"Confirm password: "):
            while asked not in shown:
                assert select.select([ours], [], [], 60)[0], shown
                shown += os.read(ours, 4096)
            os.write(ours, b"sun over the sea\n")
        while b"Set the password" not in shown:
            shown += os.read(ours, 4096)
        process.wait(60)
    os.close(ours)
    assert process.returncode == 0
    assert b"sun over" not in shown
