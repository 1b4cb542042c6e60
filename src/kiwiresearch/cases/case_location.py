"""Where one case is stored: a folder, or a schema of the store's database."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError
from kiwiresearch.kin.store import LOCK, locked_folder
from kiwiresearch.system import expand_user, make_private_folder, write_pieces_atomically
from kiwiresearch.workspace import file_stamp, folder_name

if TYPE_CHECKING:
    from kiwiresearch.kin.store import CaseSchemas
    from kiwiresearch.store import RunFiles
    from kiwiresearch.workspace import Workspace


CASES_FOLDER = Path("cases")
CASE_FILE = "case.sqlite"
SIDE_FILE_ENDINGS = ("-wal", "-shm")
"""Suffixes of SQLite's companion files."""
START_HINT = "To start one: kiwiresearch kin start 'NAME'"


def new_case_folder(name: str, *, cases: Path = CASES_FOLDER) -> Path:
    """The folder for a new case of this name."""
    if not any(char.isalnum() for char in name):
        raise BadUsage("A case needs a name.", remedy="Example: kiwiresearch kin start 'Charles Darwin'")
    return cases / folder_name(name)


def find_case_folder(wanted: str = "", *, cases: Path = CASES_FOLDER) -> Path:
    """The folder of a case: the named one, or else the only or most recently changed one."""
    if wanted:
        for folder in (checked_folder(wanted), cases / wanted):
            if _is_file(folder / CASE_FILE):
                return folder
        raise BadUsage(f"No case was found in {wanted!r}.", remedy=START_HINT)
    found = sorted(case_folders(cases), key=lambda folder: (last_changed(folder), folder.name))
    if not found:
        raise BadUsage("There are no cases in this folder yet.", remedy=START_HINT)
    return found[-1]


def case_folders(cases: Path = CASES_FOLDER) -> list[Path]:
    """The folders below `cases` that contain a case."""
    try:
        return sorted(file.parent for file in cases.glob(f"*/{CASE_FILE}"))
    except OSError:
        return []


def plugins_folder(workspace: Workspace) -> Path:
    """The folder with the user's own plugins."""
    named = workspace.settings.kin.plugins
    return checked_folder(named) if named else workspace.folders.config / "plugins"


def checked_folder(name: str) -> Path:
    """The folder the user named; raises if it cannot be one."""
    if not name.strip() or any(ord(char) < ord(" ") for char in name):
        what = "contains a control character" if name.strip() else "is empty"
        raise BadUsage(f"The folder name {what}.", remedy="Example: --case cases/darwin")
    return expand_user(name)


@contextmanager
def starting_in(folder: Path) -> Iterator[None]:
    """Lock the folder while a case is started in it; if that fails, remove a folder created for it."""
    is_new = not folder.exists()
    try:
        with locked_folder(folder):
            yield
    except BaseException:
        # A case that was completed stays, even if the caller failed afterwards.
        if is_new and not _is_file(folder / CASE_FILE):
            with suppress(OSError):  # something else has been put into it
                (folder / LOCK).unlink(missing_ok=True)
                folder.rmdir()
        raise


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def last_changed(folder: Path) -> int:
    """When the case was last written: the time of its file or of its write-ahead log, which readers leave empty."""
    times = [0]
    with suppress(OSError):
        times.append((folder / CASE_FILE).stat().st_mtime_ns)
    with suppress(OSError):
        log = (folder / f"{CASE_FILE}-wal").stat()
        # Opening a case for reading creates an empty log, which does not count as a change.
        times += [log.st_mtime_ns] if log.st_size else []
    return max(times)


UPLOAD_PREFIX = "upload-"


def _ignore() -> None:
    """Do nothing."""


class CaseLocation(Protocol):
    """Where one case is stored."""

    @property
    def title(self) -> str:
        """The owner's name for the case, which may be that of a living person."""

    @property
    def folder(self) -> Path:
        """The folder for its files on this machine."""

    @property
    def exports(self) -> Path:
        """The folder for its exports."""

    @property
    def database(self) -> Path | str:
        """Its database."""

    def discard(self) -> None:
        """Remove the case."""

    def exclusive(self) -> AbstractContextManager[object]:
        """Lock the case; raises while another process works on it."""

    def stamp(self) -> Hashable:
        """A value that changes whenever the case changes."""

    def touch(self) -> None:
        """Record that the case is being worked on now."""

    def add_upload(self, digest: str, file: Path, name: str) -> bool:
        """Store an uploaded file until a job imports it; False if it is stored already."""

    def opened_upload(self, digest: str) -> AbstractContextManager[Path | None]:
        """An uploaded file, on this machine's disk while it is read; None if it no longer exists."""

    def drop_upload(self, digest: str) -> None:
        """Delete an uploaded file."""

    def without_names(self, text: str) -> str:
        """A message about the case that does not reveal whose it is."""

    def with_title(self, text: str) -> str:
        """A message about the case with the owner's name for it."""


@dataclass(frozen=True, slots=True)
class FolderLocation:
    """A case in a folder: one database file and its lock."""

    folder: Path
    name: str = ""
    """The title, if it is not the folder's name."""
    touch: Callable[[], None] = _ignore

    @property
    def title(self) -> str:
        return self.name or str(self.folder)

    @property
    def exports(self) -> Path:
        return CASES_FOLDER / self.name if self.name else self.folder

    @property
    def database(self) -> Path:
        return self.folder / CASE_FILE

    def discard(self) -> None:
        for ending in ("", *SIDE_FILE_ENDINGS):
            self.database.with_name(f"{CASE_FILE}{ending}").unlink(missing_ok=True)

    def exclusive(self) -> AbstractContextManager[object]:
        return locked_folder(self.folder)

    def stamp(self) -> Hashable:
        """Count the write-ahead log too: the newest changes may be only there."""
        found = []
        for ending in ("", SIDE_FILE_ENDINGS[0]):
            with suppress(OSError):
                status = self.database.with_name(f"{CASE_FILE}{ending}").stat()
                if status.st_size:
                    found.append(file_stamp(status))
        return tuple(found)

    def add_upload(self, digest: str, file: Path, name: str) -> bool:
        folder = _upload_folder(self.folder, digest)
        is_new = not folder.exists()
        try:
            make_private_folder(folder)
            (folder / name).touch(mode=0o600)  # it may show or name people who may be living
            shutil.copyfile(file, folder / name)
        except OSError:
            if is_new:
                self.drop_upload(digest)
            raise
        return is_new

    @contextmanager
    def opened_upload(self, digest: str) -> Iterator[Path | None]:
        folder = _upload_folder(self.folder, digest)
        yield next(iter(sorted(folder.iterdir())), None) if folder.is_dir() else None

    def drop_upload(self, digest: str) -> None:
        shutil.rmtree(_upload_folder(self.folder, digest), ignore_errors=True)

    def without_names(self, text: str) -> str:
        """Name the folder of all cases, since the case's own folder is named after a person."""
        folder = self.folder
        within = text.replace(f"The folder {str(folder)!r}", f"The folder of a case in {str(folder.parent)!r}")
        return within.replace(str(self.database), CASE_FILE).replace(str(folder), "its folder")

    def with_title(self, text: str) -> str:
        return text.replace(str(self.database), self.name).replace(str(self.folder), self.name) if self.name else text


@dataclass(frozen=True, slots=True)
class SchemaLocation:
    """A case in a schema of a PostgreSQL database; its folder contains only what can be restored from there."""

    schemas: CaseSchemas
    files: RunFiles
    schema: str
    title: str
    folder: Path
    touch: Callable[[], None] = _ignore

    @property
    def exports(self) -> Path:
        return CASES_FOLDER / self.title

    @property
    def database(self) -> str:
        return self.schemas.address(self.schema)

    def discard(self) -> None:
        """Remove the case and the uploaded files that wait to be imported."""
        self.schemas.drop(self.schema)
        self.files.remove_all(self._upload_id(""))

    def exclusive(self) -> AbstractContextManager[object]:
        from kiwiresearch.kin.store import CaseStore

        return CaseStore.open(self.database, str, for_changes=True)

    def stamp(self) -> Hashable:
        return self.schemas.revision(self.schema)

    def add_upload(self, digest: str, file: Path, name: str) -> bool:
        is_new = not self.files.names(self._upload_id(digest))
        if is_new:
            self.files.put("", self._upload_id(digest), {name: file})
        return is_new

    @contextmanager
    def opened_upload(self, digest: str) -> Iterator[Path | None]:
        """Copy the file from the store to disk while it is read: any machine may get the job."""
        name = next(iter(self.files.names(self._upload_id(digest))), None)
        if name is None:
            yield None
            return
        file = _upload_folder(self.folder, digest) / Path(name).name
        try:
            _save_upload(file, self.files.pieces(self._upload_id(digest), name))
            yield file
        finally:
            shutil.rmtree(file.parent, ignore_errors=True)
            with suppress(OSError):  # it contains another file
                self.folder.rmdir()

    def drop_upload(self, digest: str) -> None:
        self.files.remove(self._upload_id(digest))

    def _upload_id(self, digest: str) -> str:
        """The id of the file in the store; it cannot be the id of a run."""
        return f"upload.{self.schema}.{digest}"

    def without_names(self, text: str) -> str:
        return self._with_name(text, self.schema)

    def with_title(self, text: str) -> str:
        return self._with_name(text, self.title)

    def _with_name(self, text: str, name: str) -> str:
        from kiwiresearch.store import Address

        return text.replace(Address.parse(self.database, "case").name, name)


def _upload_folder(folder: Path, digest: str) -> Path:
    return folder / f"{UPLOAD_PREFIX}{digest}"


def _save_upload(file: Path, pieces: Iterable[bytes]) -> None:
    try:
        write_pieces_atomically(file, pieces)
    except OSError as problem:
        raise CannotWrite(
            f"The uploaded file cannot be saved on the server: {problem.strerror or problem}.",
            remedy="Free up disk space for the folder that holds the cases, then try again.",
        ) from problem


def location_of(where: Path | CaseLocation) -> CaseLocation:
    """The location itself, or that of a folder."""
    return FolderLocation(where) if isinstance(where, Path) else where


@contextmanager
def rewording_errors(reword: Callable[[str], str]) -> Iterator[None]:
    """Reword the messages of errors raised within this context."""
    try:
        yield
    except KiwiError as problem:
        problem.message, problem.remedy = reword(problem.message), reword(problem.remedy)
        # `str(problem)` uses the arguments, so the old message must not stay there.
        problem.args = (problem.message,)
        raise
