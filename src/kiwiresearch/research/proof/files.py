"""The files of a run, held against its manifest, and the manifest against itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from kiwiresearch.errors import RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.manifest import MANIFEST, read_manifest
from kiwiresearch.research.proof.ledger import Ledger
from kiwiresearch.research.seal import SEAL, seal_of

BRIEF, CLAIMS, CORPUS, GRAPH = "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json"
PICTURES = "pictures.json"
REPORT, REPORT_PAGE, LOG, TIMINGS = "report.md", "report.html", "run.log", "timings.json"
OUTPUTS = (BRIEF, CLAIMS, CORPUS, GRAPH, REPORT, REPORT_PAGE, LOG)
BY_MODEL = "claims_by_model"
NOT_MADE_FROM = frozenset(
    {"fingerprint", "outputs", "understood", "pages", "claims", BY_MODEL, "sentences_by_model", SEAL}
)
"""Fields of a manifest that tell what came out; all others tell what the run was made from."""
MOST_BYTES = 2**29
"""No file of a run is larger, and none is read that is."""


def prove_manifest(folder: Path, ledger: Ledger) -> dict[str, Any] | None:
    """The manifest, as it stands; None if it cannot be read. Without one there is no run, which is an error."""
    try:
        raw = _content(folder / MANIFEST) if (folder / MANIFEST).is_file() else b""
        if isinstance(raw, str):
            ledger.fail(MANIFEST, raw)
            return None
        manifest = read_manifest(folder)
    except RunDamaged:
        ledger.fail(MANIFEST, "it is not as a run writes it")
        return None
    with ledger.proving("files"):
        _prove_document(MANIFEST, manifest, raw, ledger)
        made_from = {name: value for name, value in manifest.items() if name not in NOT_MADE_FROM}
        told = canonical_json(made_from).encode("utf-8", "replace")
        if manifest["fingerprint"] != "sha256:" + sha256(told).hexdigest()[:32]:
            ledger.fail(MANIFEST, "its fingerprint is not that of the topic, settings and books it names")
    return manifest


def prove_files(folder: Path, manifest: Mapping[str, Any], ledger: Ledger) -> dict[str, bytes]:
    """The outputs that can be read, each held against its size and hash."""
    outputs: Mapping[str, Mapping[str, Any]] = manifest["outputs"]
    for name in sorted(set(OUTPUTS) - set(outputs)):
        ledger.fail(MANIFEST, f"it does not name the output {name!r}")
    found = {}
    for name in sorted({*OUTPUTS, *outputs}):
        raw = _content(folder / name)
        if isinstance(raw, str):
            ledger.fail(name, raw)
            continue
        found[name] = raw
        if name in outputs:
            with ledger.proving("files"):
                _prove_output(name, raw, outputs[name], ledger)
    return found


def prove_timings(folder: Path, manifest: Mapping[str, Any], ledger: Ledger) -> None:
    """The timings say nothing of the topic, but nobody shall have edited them either."""
    raw = _content(folder / TIMINGS)
    if isinstance(raw, str):
        ledger.fail(TIMINGS, raw)
        return
    with ledger.at(TIMINGS).guarding("it is not as a run writes it"), ledger.proving("files"):
        timings = document(raw)
        _prove_document(TIMINGS, timings, raw, ledger)
        if len(timings["seconds_by_page"]) + timings["pages_kept"] != manifest.get("pages"):
            ledger.fail(TIMINGS, "it does not tell of as many pages as the manifest")


def document(raw: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    found = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 (what reads it knows one error)
    return found


class Row(NamedTuple):
    """A line of a file of JSON lines."""

    line: int
    raw: bytes
    value: dict[str, Any]


def rows_of(file: str, raw: bytes, ledger: Ledger) -> list[Row]:
    """The lines that are JSON objects; the others have failed."""
    *lines, rest = raw.split(b"\n")
    if rest:
        ledger.fail(file, "its last line has no end", line=len(lines) + 1)
    found = []
    for number, line in enumerate(lines, start=1):
        with ledger.at(file, number).guarding("it is no JSON object"):
            found.append(Row(number, line, document(line)))
    return found


def written(value: Any) -> bytes:
    """How a run writes JSON."""
    return canonical_json(value).encode("utf-8", "replace")


def _content(file: Path) -> bytes | str:
    """The bytes of a file, or why they cannot be had."""
    try:
        if not file.is_file():  # a pipe would never end
            return "it is no file" if file.exists() or file.is_symlink() else "it is missing"
        size = file.stat().st_size
        if size > MOST_BYTES:
            return f"it has {size:,} bytes, which is more than a run writes"
        return file.read_bytes()
    except OSError as problem:
        return f"it cannot be read: {problem.strerror}"


def _prove_output(name: str, raw: bytes, told: Mapping[str, Any], ledger: Ledger) -> None:
    if len(raw) != told.get("bytes"):
        ledger.fail(name, f"it has {len(raw):,} bytes, and the manifest says {told.get('bytes')!r}")
    if sha256(raw).hexdigest() != told["sha256"]:
        ledger.fail(name, "it was changed: its SHA-256 is not the manifest's")


def _prove_document(name: str, found: Mapping[str, Any], raw: bytes, ledger: Ledger) -> None:
    """Its seal, and that every byte of it is as a run writes it."""
    if SEAL not in found:
        ledger.fail(name, "it has no seal")
    elif found[SEAL] != seal_of(found):
        ledger.fail(name, "it was changed: its seal is broken")
    if raw != (canonical_json(found, indent=2) + "\n").encode("utf-8", "replace"):
        ledger.fail(name, "it was changed: it is not written as a run writes it")


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")
