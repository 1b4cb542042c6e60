"""Where one case is kept: in a folder, or in a schema of the store's database."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.disk import write_pieces
from kiwiresearch.errors import CannotWrite, KiwiError
from kiwiresearch.kin.store.alone import alone_in
from kiwiresearch.research.family_folders import BESIDE, CASES, FILE
from kiwiresearch.research.remembered import stamp_of

if TYPE_CHECKING:
    from kiwiresearch.kin.store.schemas import Schemas
    from kiwiresearch.store.files import Files

UPLOAD = "upload-"


def _unheard() -> None:
    """Nobody wants to know."""


class CasePlace(Protocol):
    """Where one case is."""

    @property
    def title(self) -> str:
        """What its owner calls it: it may be the name of somebody who lives."""

    @property
    def folder(self) -> Path:
        """Where this machine keeps files for it."""

    @property
    def exports(self) -> Path:
        """Where files go that its owner has written of it."""

    @property
    def where(self) -> Path | str:
        """Its database."""

    def discard(self) -> None:
        """Remove the case."""

    def alone(self) -> AbstractContextManager[object]:
        """Let nobody else work on it meanwhile; refused where somebody does."""

    def stamp(self) -> Hashable:
        """By what a change of the case is noticed."""

    def worked_on(self) -> None:
        """Note that it is worked on now."""

    def keep_file(self, digest: str, file: Path, name: str) -> bool:
        """Keep a file that was sent to the case until a job takes it in; False if it was kept already."""

    def kept_file(self, digest: str) -> AbstractContextManager[Path | None]:
        """A file that was kept, on this machine's disk for as long as it is read; None where it is gone."""

    def drop_file(self, digest: str) -> None:
        """Keep a file no longer."""

    def nameless(self, text: str) -> str:
        """A message about it, without whose case it is."""

    def named(self, text: str) -> str:
        """A message about it, as its owner calls it."""


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A case in a folder, as a file that only its lock is beside."""

    folder: Path
    name: str = ""
    """What it is called where the folder's name says nothing."""
    worked_on: Callable[[], None] = _unheard

    @property
    def title(self) -> str:
        return self.name or str(self.folder)

    @property
    def exports(self) -> Path:
        return CASES / self.name if self.name else self.folder

    @property
    def where(self) -> Path:
        return self.folder / FILE

    def discard(self) -> None:
        for ending in ("", *BESIDE):
            self.where.with_name(f"{FILE}{ending}").unlink(missing_ok=True)

    def alone(self) -> AbstractContextManager[object]:
        return alone_in(self.folder)

    def stamp(self) -> Hashable:
        """Its newest words stand in the log beside it."""
        found = []
        for ending in ("", BESIDE[0]):
            with suppress(OSError):
                status = self.where.with_name(f"{FILE}{ending}").stat()
                if status.st_size:
                    found.append(stamp_of(status))
        return tuple(found)

    def keep_file(self, digest: str, file: Path, name: str) -> bool:
        folder = _sent_to(self.folder, digest)
        is_new = not folder.exists()
        try:
            folder.mkdir(exist_ok=True)
            shutil.copyfile(file, folder / name)
        except OSError:
            if is_new:
                self.drop_file(digest)
            raise
        return is_new

    @contextmanager
    def kept_file(self, digest: str) -> Iterator[Path | None]:
        folder = _sent_to(self.folder, digest)
        yield next(iter(sorted(folder.iterdir())), None) if folder.is_dir() else None

    def drop_file(self, digest: str) -> None:
        shutil.rmtree(_sent_to(self.folder, digest), ignore_errors=True)

    def nameless(self, text: str) -> str:
        """The folder of all cases is named in place of the case's own, which has the name of a person."""
        folder = self.folder
        within = text.replace(f"The folder {str(folder)!r}", f"The folder of a case in {str(folder.parent)!r}")
        return within.replace(str(self.where), FILE).replace(str(folder), "its folder")

    def named(self, text: str) -> str:
        return text.replace(str(self.where), self.name).replace(str(self.folder), self.name) if self.name else text


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A case in a schema of a PostgreSQL database: what is on this machine's disk can be made anew."""

    schemas: Schemas
    files: Files
    schema: str
    title: str
    folder: Path
    worked_on: Callable[[], None] = _unheard

    @property
    def exports(self) -> Path:
        return CASES / self.title

    @property
    def where(self) -> str:
        return self.schemas.address(self.schema)

    def discard(self) -> None:
        """Remove it with the files that were sent to it and wait to be taken in."""
        self.schemas.drop(self.schema)
        self.files.remove_all(self._sent(""))

    def alone(self) -> AbstractContextManager[object]:
        from kiwiresearch.kin.store.case import CaseStore

        return CaseStore.open(self.where, str, alone_s=0.0)

    def stamp(self) -> Hashable:
        return self.schemas.revision(self.schema)

    def keep_file(self, digest: str, file: Path, name: str) -> bool:
        is_new = not self.files.names(self._sent(digest))
        if is_new:
            self.files.put("", self._sent(digest), {name: file})
        return is_new

    @contextmanager
    def kept_file(self, digest: str) -> Iterator[Path | None]:
        """Any machine may have the job: the file is written to the disk of the one that has, and is the store's."""
        name = next(iter(self.files.names(self._sent(digest))), None)
        if name is None:
            yield None
            return
        file = _sent_to(self.folder, digest) / Path(name).name
        try:
            _write(file, self.files.pieces(self._sent(digest), name))
            yield file
        finally:
            shutil.rmtree(file.parent, ignore_errors=True)
            with suppress(OSError):  # it holds another file
                self.folder.rmdir()

    def drop_file(self, digest: str) -> None:
        self.files.remove(self._sent(digest))

    def _sent(self, digest: str) -> str:
        """What the store calls the file: no run has such an id."""
        return f"upload.{self.schema}.{digest}"

    def nameless(self, text: str) -> str:
        return self._called(text, self.schema)

    def named(self, text: str) -> str:
        return self._called(text, self.title)

    def _called(self, text: str, name: str) -> str:
        from kiwiresearch.kin.store.place import Place

        return text.replace(Place.of(self.where).name, name)


def _sent_to(folder: Path, digest: str) -> Path:
    return folder / f"{UPLOAD}{digest}"


def _write(file: Path, pieces: Iterable[bytes]) -> None:
    try:
        write_pieces(file, pieces)
    except OSError as problem:
        raise CannotWrite(
            f"The file that was sent cannot be written to this machine's disk: {problem.strerror or problem}.",
            remedy="Make room in the folder of the cases.",
        ) from problem


def place_of(where: Path | CasePlace) -> CasePlace:
    """The place that a folder is."""
    return FolderPlace(where) if isinstance(where, Path) else where


@contextmanager
def retold(tell: Callable[[str], str]) -> Iterator[None]:
    """What goes wrong is told in other words."""
    try:
        yield
    except KiwiError as problem:
        problem.message, problem.remedy = tell(problem.message), tell(problem.remedy)
        problem.args = (problem.message,)
        raise
