"""GEDCOM packages (.gdz): a zip file with `gedcom.ged` and the pictures and documents that it refers to."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.conversion import MEDIA_TYPES, OTHER_MEDIA_TYPE

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_MEMBERS = 5_000
MAX_MEDIA_BYTES = 20 * 1024 * 1024
"""A larger picture or document is left out."""
MAX_ALL_MEDIA_BYTES = 256 * 1024 * 1024
MAX_RATIO = 200
"""A member that grows more than this when it is unpacked is not accepted as a picture."""
MAX_NAME_CHARS = 200
GEDCOM_MEMBER = "gedcom.ged"
ZIP_START = b"PK\x03\x04"
EXPORT_AGAIN = "Export it from your family tree program as GEDCOM 5.5.1 or 7."
SAME_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all members, so that the same family gives the same bytes."""


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A picture or document, by the name that the GEDCOM file calls it."""

    name: str
    media_type: str
    content: bytes


def media_type_by_name(name: str) -> str:
    return MEDIA_TYPES.get(name.rpartition(".")[2].lower(), OTHER_MEDIA_TYPE)


def is_safe_name(name: str) -> bool:
    """Whether a name is that of a file inside a package, and could not be one outside of it."""
    path = PurePosixPath(name)
    has_odd_characters = any(ord(char) < ord(" ") or char in '\\:*?"<>|' for char in name)
    return bool(
        name
        and len(name) <= MAX_NAME_CHARS
        and not has_odd_characters
        and not path.is_absolute()
        and path.parts
        and ".." not in path.parts
        and name == str(path)
    )


def unpack_gedcom(path: Path) -> bytes:
    """The tree file of a package; no more than the limit is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(GEDCOM_MEMBER) as member:
            return member.read(MAX_FILE_BYTES + 1)
    except KeyError as problem:
        raise BadUsage(f"{path.name!r} does not contain {GEDCOM_MEMBER!r}.", remedy=EXPORT_AGAIN) from problem
    except UNREADABLE_PACKAGE_ERRORS as problem:
        raise BadUsage(
            f"{path.name!r} cannot be unpacked: it is damaged or protected by a password.", remedy=EXPORT_AGAIN
        ) from problem


UNREADABLE_PACKAGE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    RuntimeError,
    NotImplementedError,
    EOFError,
    ValueError,
)


def unpack_media(path: Path, wanted: Iterable[str]) -> tuple[tuple[MediaFile, ...], tuple[str, ...]]:
    """The files of a package that its tree refers to, and why others of them are left out."""
    found: list[MediaFile] = []
    problems: list[str] = []
    left = MAX_ALL_MEDIA_BYTES
    with zipfile.ZipFile(path) as archive:
        members = {item.filename: item for item in archive.infolist()[:MAX_MEMBERS]}
        for name in dict.fromkeys(wanted):
            item = members.get(name) or members.get(unquote(name))
            if item is None:
                continue
            fault = _fault(item, left)
            if not fault:
                try:
                    with archive.open(item) as member:
                        # One byte more than stated is enough to notice that the statement is false.
                        content = member.read(item.file_size + 1)
                    fault = "" if len(content) == item.file_size else "its size is not the one that is stated"
                except UNREADABLE_PACKAGE_ERRORS:
                    fault = "it is damaged or protected by a password"
            if fault:
                problems.append(f"The file {name[:80]!r} of the package was left out: {fault}.")
                continue
            left -= len(content)
            found.append(MediaFile(name, media_type_by_name(name), content))
    return tuple(found), tuple(problems)


def _fault(item: zipfile.ZipInfo, left: int) -> str:
    """Why a member is not unpacked; empty if it is."""
    if not is_safe_name(item.filename) or stat.S_ISLNK(item.external_attr >> 16):
        return "its name is not that of a file in the package"
    if item.file_size > min(MAX_MEDIA_BYTES, left):
        return f"it is larger than {MAX_MEDIA_BYTES // 2**20} MB, or all files together are too large"
    if item.file_size > MAX_RATIO * max(item.compress_size, 1):
        return "it is packed too tightly to be a picture or a document"
    return ""


def gedcom_package(text: str, media: Iterable[MediaFile] = ()) -> bytes:
    """A package with a tree of version 7 and the files that it refers to; the same input gives the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        _add(archive, GEDCOM_MEMBER, text.encode("utf-8", "replace"), zipfile.ZIP_DEFLATED)
        for file in sorted({file.name: file for file in media}.values(), key=lambda file: file.name):
            if is_safe_name(file.name) and file.name != GEDCOM_MEMBER:
                _add(archive, file.name, file.content, zipfile.ZIP_STORED)
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, method: int) -> None:
    item = zipfile.ZipInfo(name, SAME_TIME)
    item.compress_type = method
    item.external_attr = 0o644 << 16
    archive.writestr(item, content)
