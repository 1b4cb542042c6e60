"""The process that writes a book beside the work: `python -m kiwiresearch.zim.build_child TARGET`.

libzim speaks to the terminal while it writes, and whoever silences it silences all of
the process. What the book is to hold comes as one JSON document on standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from kiwiresearch.zim.build import NewPage, write_book

MODULE = "kiwiresearch.zim.build_child"


def build_request(pages: Sequence[NewPage], metadata: Mapping[str, str], *, language: str, main_path: str) -> bytes:
    """What the process has to be told."""
    rows = [[page.path, page.title, b64encode(page.content).decode(), page.mimetype, page.is_article] for page in pages]
    told = {"pages": rows, "metadata": dict(metadata), "language": language, "main_path": main_path}
    return json.dumps(told).encode()


def main(arguments: list[str]) -> None:
    (target,) = arguments
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)
    told = json.loads(sys.stdin.buffer.read())
    pages = [
        NewPage(path, title, b64decode(content), mimetype, is_article=is_article)
        for path, title, content, mimetype, is_article in told["pages"]
    ]
    write_book(Path(target), pages, metadata=told["metadata"], language=told["language"], main_path=told["main_path"])


if __name__ == "__main__":
    main(sys.argv[1:])
