"""The manifest of a finished run: read with clear errors, and compared with the files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.runs.manifest import read_manifest
from kiwiresearch.runs.writer import RunWriter


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    with RunWriter.open(path, "f1", "Stone") as writer:
        writer.corpus.append(b"{}\n")
        writer.claims.append(b"[]\n[]\n")
        writer.finish({"report.md": "# Stone\n", "run.log": ""}, {"version": "1"})
    return path


def test_a_manifest_says_what_was_written(run: Path) -> None:
    """It names the run, and every output with its size and hash."""
    manifest = read_manifest(run)
    assert (manifest.fingerprint, manifest.topic, manifest.version) == ("f1", "Stone", "1")
    assert {name: output["bytes"] for name, output in manifest.outputs.items()} == {
        "claims.jsonl": 6,
        "corpus.jsonl": 3,
        "report.md": 8,
        "run.log": 0,
    }
    assert manifest.damaged_outputs(run) == []


def test_damage_is_named(run: Path) -> None:
    """An output that is missing, changed, or no file any more is found."""
    (run / "corpus.jsonl").write_bytes(b"[]\n")
    (run / "report.md").unlink()
    assert read_manifest(run).damaged_outputs(run) == ["corpus.jsonl", "report.md"]
    (run / "report.md").mkdir()
    assert read_manifest(run).damaged_outputs(run) == ["corpus.jsonl", "report.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(run: Path) -> None:
    """A pipe in the place of an output or of the manifest does not make the program hang."""
    (run / "report.md").unlink()
    os.mkfifo(run / "report.md")
    assert read_manifest(run).damaged_outputs(run) == ["report.md"]
    (run / "manifest.json").unlink()
    os.mkfifo(run / "manifest.json")
    with pytest.raises(RunNotFound):
        read_manifest(run)


def test_no_run_is_distinguished_from_an_unfinished_one(tmp_path: Path) -> None:
    """If there is nothing to read, the error says why and what to do."""
    with pytest.raises(RunNotFound, match=r"The folder '.*none' was not found\. Enter the folder"):
        read_manifest(tmp_path / "none")
    with pytest.raises(RunNotFound, match="was not found"):
        read_manifest(tmp_path / "with\0nul")
    with pytest.raises(RunNotFound, match="does not contain a run"):
        read_manifest(tmp_path)
    with RunWriter.open(tmp_path / "run", "f1", "Stone") as writer:
        writer.journal.append({"step": 1})
    with pytest.raises(RunNotFound, match=r"is not finished\. Start it again"):
        read_manifest(tmp_path / "run")


GOOD = {"fingerprint": "f1", "outputs": {"run.log": {"sha256": "0", "bytes": 0}}}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"name": "an app", "icons": []}',
        GOOD | {"fingerprint": 7},
        GOOD | {"outputs": ["run.log"]},
        GOOD | {"outputs": {"run.log": "0"}},
        GOOD | {"outputs": {"run.log": {"sha256": 0}}},
        GOOD | {"outputs": {"../run.log": {"sha256": "0"}}},
        GOOD | {"outputs": {"..": {"sha256": "0"}}},
        GOOD | {"outputs": {"/etc/passwd": {"sha256": "0"}}},
        GOOD | {"outputs": {"": {"sha256": "0"}}},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_manifest_that_is_not_ours_is_reported(tmp_path: Path, content: Any) -> None:
    """What a run did not write is damaged, not a traceback, and points at no file elsewhere."""
    (tmp_path / "manifest.json").write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(RunDamaged, match=r"manifest.json' is damaged or was changed"):
        read_manifest(tmp_path)


def test_bytes_that_are_not_text_are_reported(tmp_path: Path) -> None:
    """A manifest of zeros, as a power cut may leave, is damaged."""
    for content in (b"\0" * 500, b"\xff\xfe{}"):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(RunDamaged):
            read_manifest(tmp_path)
