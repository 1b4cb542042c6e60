"""Programs with version 1 of the protocol's official client use our tools; tests/mcp has the newest client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.clients.conftest import Server, installed

pytestmark = pytest.mark.clients

PROGRAM = Path(__file__).with_name("talk_mcp_1.py")
NAMES = {"ask", "search", "read_section", "claims", "books"}


def talk(*words: str, **environment: str) -> dict[str, str]:
    """What the tools say to the program."""
    command = [str(installed("mcp-1") / "python"), str(PROGRAM), *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, str] = json.loads(done.stdout)
    return said


def check(said: dict[str, str]) -> None:
    assert set(json.loads(said["names"])) >= NAMES
    assert said["ask"].startswith("The books answer this")
    assert "Sunset is the daily disappearance" in said["read"]
    assert "No page is named 'No such page at all'." in said["missing"]


def test_an_older_program_starts_us(tmp_path: Path, sample_zim: Path) -> None:
    """Over standard input and output."""
    command = (sys.executable, "-m", "kiwiresearch", "mcp", "--book", str(sample_zim))
    check(talk(*command, KIWIRESEARCH_HOME=str(tmp_path)))


def test_an_older_program_reaches_us_by_address(open_server: Server) -> None:
    """Over streamable HTTP, where links lead to the server's reader."""
    said = talk(f"{open_server.address}/mcp")
    check(said)
    assert f"{open_server.address}/read/" in said["ask"]
