"""What may be about living people, or what users asked, is not readable by other accounts of the machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kiwiresearch.cases.case_location import FolderLocation
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.workspace.workspace import open_workspace


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="this system has other permissions")
def test_families_and_the_state_of_the_program_are_private(home: Path, tmp_path: Path) -> None:
    """Their folders and files are for their user alone, under the usual umask."""
    before = os.umask(0o022)
    try:
        state = open_workspace().folders.state
        case = tmp_path / "families" / "elm" / "case.sqlite"
        CaseStore.create(case, {}, lambda: "2026-01-01T00:00:00Z").close()
    finally:
        os.umask(before)
    assert (_mode(state), _mode(case.parent), _mode(case)) == (0o700, 0o700, 0o600)


@pytest.mark.skipif(os.name != "posix", reason="this system has other permissions")
def test_pictures_of_a_family_are_private(tmp_path: Path) -> None:
    """A file that is attached to a family is for its user alone, even in a folder that all may open."""
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"png")
    picture.chmod(0o644)
    before = os.umask(0o022)
    try:
        FolderLocation(tmp_path).add_upload("0123456789abcdef", picture, "file")
    finally:
        os.umask(before)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (_mode(folder), _mode(folder / "file")) == (0o700, 0o600)
