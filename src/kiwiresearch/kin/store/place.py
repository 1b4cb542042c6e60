"""Where a case is kept: a file, or a database on a PostgreSQL server, and how each is opened."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.pool import NullPool

from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken, RunDamaged, RunNotFound
from kiwiresearch.kin.store.problems import BACKUP
from kiwiresearch.store.place import ADDRESSES, file_engine, nameable, server_engine, server_url


@dataclass(frozen=True, slots=True)
class Place:
    """A file or an address; `name` is what messages call it, without a password."""

    name: str
    path: Path | None = None
    address: str = ""

    @classmethod
    def of(cls, where: Path | str) -> Place:
        if isinstance(where, Path) or "://" not in where:
            path = Path(where).expanduser()
            return cls(str(path), path)
        if not where.startswith(ADDRESSES):
            raise BadUsage(
                f"{where.partition('://')[0]!r} is no kind of database a case can be kept in.",
                remedy="Give a file, or an address that begins with postgresql://.",
            )
        url = server_url(where)
        return cls(nameable(url), None, url.render_as_string(hide_password=False))

    def engine(self, busy_s: float, begin: Callable[[], str]) -> Engine:
        """An engine that begins transactions as `begin` says; nothing is opened yet."""
        if self.path is None:
            return server_engine(self.address, busy_s=busy_s, pool=NullPool)
        return file_engine(self.path, busy_s=busy_s, begin=lambda _: begin(), loads=self._json, pool=NullPool)

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as problem:
            raise RunDamaged(
                f"The case {self.name!r} is damaged: {text[:40]!r} is not what it wrote.", remedy=BACKUP
            ) from problem

    def check_there(self) -> None:
        """A file that is missing would be made by opening it."""
        if self.path is not None and not self.path.is_file():
            raise RunNotFound(f"There is no case at {self.name!r}.", remedy="Start one with 'kiwiresearch kin start'.")

    @contextmanager
    def made(self) -> Iterator[Place]:
        """A place beside this one to make a case at; it comes here only when it is whole."""
        if self.path is None:
            yield self
            return
        if self.path.exists():
            raise self.taken()
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            _make_folder(self.path.parent)
            yield Place(self.name, part)
            if not _moved_new(part, self.path):
                raise self.taken()
        except OSError as problem:
            raise CannotWrite(
                f"The case {self.name!r} cannot be written: {problem.strerror}.",
                remedy="Check the folder's permissions and the space on the disk.",
            ) from problem
        finally:
            for left in (part, part.with_name(f"{part.name}-journal")):
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)

    def taken(self) -> FolderTaken:
        return FolderTaken(
            f"There is something at {self.name!r} already.", remedy="Open it, or start the case at another place."
        )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:
        raise NotADirectoryError(problem.errno, "a file is where its folder should be") from problem


def _moved_new(part: Path, target: Path) -> bool:
    """Move a file to where none is; False if one came to be there."""
    try:
        os.link(part, target)  # unlike a rename, it never takes the place of a file
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        part.rename(target)
    return True
