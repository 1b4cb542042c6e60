"""A folder of exported files that knows which of them it wrote: another export renews those, and nothing else."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from kiwiresearch.disk import write_whole
from kiwiresearch.errors import CannotWrite
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.export.packing import Made

RECORD = ".kiwiresearch-export.json"
MOST_BYTES = 2**24

Hashes = Mapping[str, frozenset[str]]
"""What each file was when an export wrote it, by its name."""


def write_folder(folder: Path, files: Sequence[Made]) -> tuple[Path, ...]:
    """Write the files, and take away those of an earlier export that are not among them.

    A file that somebody else wrote, or changed since, is never written over and never taken away.
    """
    before = _read(folder)
    made = {file.name: frozenset({_hash(file.content)}) for file in files}
    known = _by_any_capitals(before, made)
    for file in files:
        _refuse_a_strangers(folder / file.name, known[file.name], is_recorded=bool(before))
    # Both are known while it is written: whoever was interrupted can begin again.
    _write_record(folder, known)
    for file in files:
        write_whole(folder / file.name, file.content)
    _take_away(folder, known, made)
    _write_record(folder, made)
    return tuple(folder / file.name for file in files)


def _by_any_capitals(before: Hashes, made: Hashes) -> Hashes:
    """What each file may be; where capitals do not matter to the system, both names are the same file."""
    ours: dict[str, frozenset[str]] = {}
    for name, hashes in (*before.items(), *made.items()):
        ours[name.casefold()] = ours.get(name.casefold(), frozenset()) | hashes
    return {name: ours[name.casefold()] for name in (*before, *made)}


def _refuse_a_strangers(place: Path, hashes: frozenset[str], *, is_recorded: bool) -> None:
    if not (place.exists() or place.is_symlink()) or _is_ours(place, hashes):
        return
    if is_recorded:
        raise CannotWrite(
            f"The file {str(place)!r} is not as an export wrote it: it may hold words of yours.",
            remedy="Move it away, or name another folder with --out.",
        )
    raise CannotWrite(
        f"The file {str(place)!r} is of no export that the folder has a record of: it may hold words of yours, "
        "or come from an older version, which kept no record.",
        remedy="Move the folder away, or name another one with --out.",
    )


def _take_away(folder: Path, known: Hashes, made: Iterable[str]) -> None:
    # Where capitals do not matter to the system, a name that differs in them alone is the new file.
    new = {name.casefold() for name in made}
    for name, hashes in known.items():
        place = folder / name
        if name.casefold() not in new and _is_ours(place, hashes):
            place.unlink()
            with contextlib.suppress(OSError):  # others have files in it
                place.parent.rmdir()


def _is_ours(place: Path, hashes: frozenset[str]) -> bool:
    return place.is_file() and not place.is_symlink() and _hash(place.read_bytes()) in hashes


def _hash(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def _read(folder: Path) -> Hashes:
    """What the folder knows; nothing where its record is missing, or was made by somebody else."""
    record = folder / RECORD
    try:
        if record.is_symlink() or record.stat().st_size > MOST_BYTES:
            return {}
        rows = json.loads(record.read_text(encoding="utf-8"))["files"].items()
        return {name: frozenset(map(str, hashes)) for name, hashes in rows if _is_within(folder, name)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _is_within(folder: Path, name: str) -> bool:
    """Whether a name stays in the folder, whatever links are on its way."""
    plain = PurePosixPath(name)
    if plain.is_absolute() or ".." in plain.parts or not plain.parts:
        return False
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _write_record(folder: Path, hashes: Hashes) -> None:
    rows = {name: sorted(some) for name, some in hashes.items()}
    write_whole(folder / RECORD, canonical_json({"files": rows}, indent=2) + "\n")
