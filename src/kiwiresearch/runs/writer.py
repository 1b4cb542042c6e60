"""Writes a run: chooses and locks its folder, and puts all outputs in place at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from kiwiresearch.errors import CannotWrite, FolderTaken, RunError
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.journal import GrowingFile, Journal, header_of, reporting_write_errors
from kiwiresearch.runs.manifest import MANIFEST, WORK_FOLDER, Manifest, OutputRecord, file_digest, read_manifest, sealed
from kiwiresearch.runs.unfinished_run import (
    STAGING,
    STEPS,
    OpenWork,
    foreign_files,
    holds_unfinished,
    names_in_folder,
    open_work,
    refuse_other_run,
    remove_leftovers,
    remove_work,
    take_lock,
)
from kiwiresearch.system import numbered
from kiwiresearch.workspace import folder_name

FolderState = Literal["new", "unfinished", "finished"]


class RunWriter:
    """Writes a run: journal, corpus and claims while it is in progress, its outputs at the end.

    A step first appends its lines to `corpus` and `claims`, then its row to `journal`. A row that added lines has
    `corpus_size`, the size of the corpus after it, and `corpus_sha`, a hash of what it added; likewise for the claims.
    Opening cuts all three files back to the last step whose lines are complete.

    `state` is "new" if no run was started here, "unfinished" if one was, and "finished" if nothing is left to do:
    a finished run has no journal. `journal.rows` are the earlier steps, without the header.
    """

    def __init__(
        self,
        path: Path,
        state: FolderState,
        header: Mapping[str, str],
        work: OpenWork | None,
        made: Sequence[Path] = (),
    ) -> None:
        self.path = path
        self._made = made
        self.state: FolderState = state
        self._header = header
        self._work = work

    @classmethod
    def open(cls, path: Path | str, fingerprint: str, topic: str) -> RunWriter:
        """A writer for the folder, which is created if necessary and stays locked until the writer is closed."""
        folder, made = _create_folder(path)
        header = {"fingerprint": fingerprint, "topic": topic}
        with reporting_write_errors(folder):
            if _is_finished(folder, header):
                remove_leftovers(folder)
                return cls(folder, "finished", header, None)
            with ExitStack() as undo:
                lock = take_lock(folder)
                undo.callback(lock.release)
                # Another process may have finished this run between our first check and the lock.
                if _is_finished(folder, header):
                    remove_work(folder, lock)
                    return cls(folder, "finished", header, None)
                work = open_work(folder, header, lock)
                if _manifest(folder):  # left by a run that lost an output and is being redone
                    (folder / MANIFEST).unlink()
                # Everything worked: the lock is kept until `close`.
                undo.pop_all()
        return cls(folder, "new" if work.journal.is_new else "unfinished", header, work, made)

    @property
    def journal(self) -> Journal:
        return self._at_work().journal

    @property
    def corpus(self) -> GrowingFile:
        return self._at_work().parts["corpus"]

    @property
    def claims(self) -> GrowingFile:
        return self._at_work().parts["claims"]

    def finish(
        self, files: Mapping[str, str], manifest: Mapping[str, Any], beside: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Put all outputs in place, the manifest last, and remove the journal.

        The manifest gets the topic, the outputs with their hashes and, unless it has another, the fingerprint; files
        in `beside` are written too, but not hashed. No file is put in place before all of them are on disk.
        """
        work = self._at_work()
        staging = self.path / WORK_FOLDER / STAGING
        with reporting_write_errors(self.path):
            try:
                staging.mkdir(exist_ok=True)
                outputs = {
                    f"{name}.jsonl": _write_and_hash(staging / f"{name}.jsonl", part.chunks())
                    for name, part in work.parts.items()
                }
                outputs |= {name: _write_and_hash(staging / name, [_bytes(text)]) for name, text in files.items()}
                own = {"topic": self._header["topic"], "outputs": outputs}
                record = sealed(dict(self._header) | dict(manifest) | own)
                others = {name: _write_and_hash(staging / name, [_bytes(text)]) for name, text in beside.items()}
                last = {
                    MANIFEST: _write_and_hash(staging / MANIFEST, [_bytes(canonical_json(record, indent=2) + "\n")])
                }
                _refuse_to_overwrite(self.path, outputs | last)
                work.journal.sync()
                for part in work.parts.values():
                    part.sync()
                _put(staging, outputs | others, self.path)
                _put(staging, last, self.path)
            finally:
                shutil.rmtree(staging, ignore_errors=True)
        self.state = "finished"
        self._end(work)

    def close(self) -> None:
        """Release the folder. A run without any step removes everything it created, including folders."""
        if self._work is None:
            return
        work, self._work = self._work, None
        with contextlib.suppress(OSError):
            if not len(work.journal) and names_in_folder(self.path) <= {WORK_FOLDER}:
                self._end(work)
                _remove_created(self._made)
        work.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _at_work(self) -> OpenWork:
        if self._work is None:
            raise ValueError(f"nothing is open of the run in {str(self.path)!r}, which is {self.state}")
        return self._work

    def _end(self, work: OpenWork) -> None:
        self._work = None
        work.journal.close()  # before they are removed: not every system can remove an open file
        for part in work.parts.values():
            part.close()
        remove_work(self.path, work.lock)


def _create_folder(path: Path | str) -> tuple[Path, list[Path]]:
    """The folder, and those of it and its parents that had to be created, innermost first."""
    what = "a folder cannot have this name"
    made: list[Path] = []
    try:
        if str(path):
            folder = Path(path)
            made = [item for item in (folder, *folder.parents) if not item.exists()]
            folder.mkdir(parents=True, exist_ok=True)
            return folder, made
    except (FileExistsError, NotADirectoryError):
        what = "a file already has this name, or the name of a folder above it"
    except OSError as problem:
        what = str(problem.strerror or problem)
    except ValueError:  # a NUL, or half a surrogate pair
        pass
    _remove_created(made)
    raise CannotWrite(f"The folder {str(path)[:200]!r} cannot be created: {what}.", remedy="Choose another folder.")


def _remove_created(made: Sequence[Path]) -> None:
    """Remove folders that were created for nothing, unless they are no longer empty."""
    for folder in made:
        with contextlib.suppress(OSError, ValueError):
            folder.rmdir()


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except RunError:
        return None


def _is_finished(folder: Path, header: Mapping[str, str]) -> bool:
    """Whether this run is finished here; FolderTaken if the folder has something else in it."""
    # The order matters, since another process may start or finish the same run at the same time: its journal appears
    # before an old manifest disappears, and its manifest appears before the journal disappears.
    others = names_in_folder(folder) - {WORK_FOLDER}
    begun = holds_unfinished(folder, header)
    manifest = _manifest(folder)
    if manifest is None:
        if others and not begun and not holds_unfinished(folder, header):
            raise foreign_files(folder, min(others))
        return False
    refuse_other_run(folder, manifest.record, header, "a finished")
    bad = manifest.damaged_outputs(folder)
    for name in bad:
        if _is_there(folder / name):
            raise FolderTaken(
                f"The file {str(folder / name)!r} was changed after the run finished.",
                remedy="Move it, or choose another folder.",
            )
    return not bad


def _refuse_to_overwrite(folder: Path, outputs: Mapping[str, OutputRecord]) -> None:
    for name, output in outputs.items():
        if _is_there(folder / name) and file_digest(folder / name) != output["sha256"]:
            raise FolderTaken(
                f"The file {str(folder / name)!r} does not belong to this run and would be overwritten.",
                remedy="Move it, then start again. The run resumes where it stopped.",
            )


def _is_there(file: Path) -> bool:
    return file.is_symlink() or file.exists()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _write_and_hash(file: Path, chunks: Iterable[bytes]) -> OutputRecord:
    """Write a file to the disk; returns its hash and size."""
    size, seen = 0, sha256()
    with file.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)
            seen.update(chunk)
            size += len(chunk)
        stream.flush()
        os.fsync(stream.fileno())
    return {"sha256": seen.hexdigest(), "bytes": size}


def _put(staging: Path, names: Iterable[str], folder: Path) -> None:
    for name in names:
        (staging / name).replace(folder / name)
    # Where the system allows it, sync the folder too, so that the new names survive a power cut.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


RUNS_FOLDER = Path("runs")


def choose_run_folder(
    topic: str, fingerprint: str, today: str, *, runs: Path = RUNS_FOLDER, resume: bool = False
) -> Path:
    """`runs/2026-01-31_bronze-age-collapse`, with a number appended if that is another run's.

    A run to resume may have any date; the newest is tried first.
    """
    name = folder_name(topic)
    if resume:
        earlier = sorted(runs.glob(f"*_{name}*"), reverse=True) if runs.is_dir() else []
        for folder in earlier:
            if is_unfinished(folder) and fingerprint_of_folder(folder) == fingerprint:
                return folder
    folders = map(runs.joinpath, numbered(f"{today}_{name}"))
    return next(folder for folder in folders if fingerprint_of_folder(folder) in ("", fingerprint))


def is_unfinished(folder: Path) -> bool:
    try:
        return (folder / WORK_FOLDER / STEPS).is_file()
    except OSError:  # a loop of symbolic links
        return False


def holds_run(folder: Path) -> bool:
    """Whether a run was started or finished there."""
    return bool(fingerprint_of_folder(folder))


def fingerprint_of_folder(folder: Path) -> str:
    """The fingerprint of the run in a folder; empty if there is none."""
    try:
        header = header_of(folder / WORK_FOLDER / STEPS) or read_manifest(folder).record
    except (OSError, RunError):
        return ""
    return str(header.get("fingerprint", ""))
