"""GEDCOM packages are read within limits, and hold nothing outside of themselves."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from kiwiresearch.kin.gedcom import package
from kiwiresearch.kin.gedcom.package import MediaFile, gedcom_package, is_safe_name, unpack_media


def a_package(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "tree.gdz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../a.png", "a/../../b.png", "a\\b.png", "C:a.png", "a\n.png", "./a.png", "x" * 300]
)
def test_names_outside_a_package_are_refused(name: str) -> None:
    """A path that could lead out of a folder is no name of a picture."""
    assert not is_safe_name(name)
    assert is_safe_name("media/Großmutter 1.png")


def test_only_wanted_files_are_unpacked(tmp_path: Path) -> None:
    """Files that the tree does not refer to stay packed; a name may be written as an address."""
    path = a_package(tmp_path, {"a b.png": b"1", "unknown.png": b"2"})
    found, problems = unpack_media(path, ["a%20b.png", "missing.png"])
    assert found == (MediaFile("a%20b.png", "image/png", b"1"),)
    assert problems == ()


def test_files_beyond_the_limits_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is too large, packed too tightly or a link is left out with the reason; the others are read."""
    monkeypatch.setattr(package, "MAX_MEDIA_BYTES", 50_000)
    monkeypatch.setattr(package, "MAX_RATIO", 50)
    members = {"large.png": bytes(range(256)) * 400, "bomb.png": b"0" * 40_000, "good.png": b"fine"}
    path = a_package(tmp_path, members)
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    found, problems = unpack_media(path, [*members, "link.png"])
    assert [file.name for file in found] == ["good.png"]
    assert [problem.partition(": ")[2].split(",")[0] for problem in problems] == [
        "it is larger than 0 MB",
        "it is packed too tightly to be a picture or a document.",
        "its name is not that of a file in the package.",
    ]


def test_all_files_together_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files that are each allowed are not, once they are too much together."""
    monkeypatch.setattr(package, "MAX_ALL_MEDIA_BYTES", 5)
    path = a_package(tmp_path, {"a.png": b"1234", "b.png": b"5678"})
    assert [file.name for file in unpack_media(path, ["a.png", "b.png"])[0]] == ["a.png"]


def test_a_package_is_the_same_each_time(tmp_path: Path) -> None:
    """The tree and its files give the same bytes; a file with an unsafe name is not packed."""
    media = [MediaFile("b.png", "image/png", b"2"), MediaFile("a.png", "image/png", b"1"), MediaFile("../c", "", b"3")]
    content = gedcom_package("0 HEAD\r\n", media)
    assert content == gedcom_package("0 HEAD\r\n", media[::-1])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == ["gedcom.ged", "a.png", "b.png"]
