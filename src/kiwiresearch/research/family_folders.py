"""Where cases of family research are as folders, and who may write in one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.alone import LOCK, alone_in
from kiwiresearch.research.topics import folder_name

if TYPE_CHECKING:
    from kiwiresearch.research.desk import Desk

__all__ = ["LOCK", "alone_in"]

CASES = Path("cases")
FILE = "case.sqlite"
BESIDE = ("-wal", "-shm")
"""The endings of the files that a case has beside its own."""
BEGIN = "Begin one: kiwiresearch kin start 'NAME'"


def folder_for(name: str, *, cases: Path = CASES) -> Path:
    """Where a case of that name goes."""
    if not any(char.isalnum() for char in name):
        raise BadUsage("A case begins with a name.", remedy="Such as: kiwiresearch kin start 'Charles Darwin'")
    return cases / folder_name(name)


def folder_of(wanted: str = "", *, cases: Path = CASES) -> Path:
    """The folder of a case: the one named, else the only or last changed one."""
    if wanted:
        for folder in (checked_folder(wanted), cases / wanted):
            if _is_file(folder / FILE):
                return folder
        raise BadUsage(f"There is no case in {wanted!r}.", remedy=BEGIN)
    found = sorted(all_cases(cases), key=lambda folder: (changed(folder), folder.name))
    if not found:
        raise BadUsage("There is no case here yet.", remedy=BEGIN)
    return found[-1]


def all_cases(cases: Path = CASES) -> list[Path]:
    """The folders below `cases` that hold a case."""
    try:
        return sorted(file.parent for file in cases.glob(f"*/{FILE}"))
    except OSError:
        return []


def plugins_of(desk: Desk) -> Path:
    """Where a user's own plugins are."""
    named = desk.settings.kin.plugins
    return checked_folder(named) if named else desk.folders.config / "plugins"


def checked_folder(name: str) -> Path:
    """The folder that a user named; refused where it cannot be one."""
    if not name.strip() or any(ord(char) < ord(" ") for char in name):
        what = "holds a control character" if name.strip() else "is empty"
        raise BadUsage(f"The name of the folder {what}.", remedy="Such as: --case cases/darwin")
    try:
        return Path(name).expanduser()
    except RuntimeError as problem:  # '~name' of nobody
        raise BadUsage(f"There is no home for {name!r}.", remedy="Name a folder.") from problem


@contextmanager
def new_in(folder: Path) -> Iterator[None]:
    """Let nobody else begin a case there meanwhile; a folder that was made for one goes again if none is begun."""
    is_new = not folder.exists()
    try:
        with alone_in(folder):
            yield
    except BaseException:
        if is_new and not _is_file(folder / FILE):
            with suppress(OSError):  # something else is in it by now
                (folder / LOCK).unlink(missing_ok=True)
                folder.rmdir()
        raise


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def changed(folder: Path) -> int:
    """When the case was last written: its newest words stand in the log beside it; who only reads leaves that empty."""
    times = [0]
    with suppress(OSError):
        times.append((folder / FILE).stat().st_mtime_ns)
    with suppress(OSError):
        log = (folder / f"{FILE}-wal").stat()
        times += [log.st_mtime_ns] if log.st_size else []
    return max(times)
