"""The process that builds a title index in the background: `python -m kiwiresearch.search.title_child`."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from kiwiresearch.errors import KiwiError
from kiwiresearch.search.title_build import build_titles, titles_file
from kiwiresearch.zim.libzim import LibzimArchive


def main(arguments: list[str]) -> None:
    source, folder = arguments
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)
    with contextlib.suppress(KiwiError):  # nobody listens; the next search tries again
        archive = LibzimArchive(Path(source))
        build_titles(archive, titles_file(Path(folder), archive.book))


if __name__ == "__main__":
    main(sys.argv[1:])
