"""Files of a finished run, read as values and cached until they change."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kiwiresearch.brief.brief import Brief, Images, brief_from_record, pictures_from_record
from kiwiresearch.claims.claim import Claim, claim_from_record
from kiwiresearch.errors import KiwiError
from kiwiresearch.export.findings import is_claim
from kiwiresearch.text.dates.ranges import ENDLESS
from kiwiresearch.workspace.file_cache import FileStamp, file_stamp
from kiwiresearch.zim.archive import EntryRef

T = TypeVar("T")

MAX_CACHED_FILES = 24
"""How many files are kept as they were read, those that were asked for last."""


class FileCache:
    """What files said, as long as they do not change; the ones that nobody asked for lately are forgotten."""

    def __init__(self, most: int = MAX_CACHED_FILES) -> None:
        self._most = most
        self._known: OrderedDict[tuple[Path, str], tuple[FileStamp, Any]] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, file: Path, read: Callable[[Path], T]) -> T:
        """What `read` made of the file; it is asked again only when the file has changed."""
        key, stamp = (file, f"{read.__module__}.{read.__qualname__}"), file_stamp(file.stat())
        with self._changing:
            known = self._known.get(key)
            if known is not None and known[0] == stamp:
                self._known.move_to_end(key)
                found: T = known[1]
                return found
        made = read(file)
        with self._changing:
            self._known[key] = stamp, made
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


FILE_CACHE = FileCache()
"""One for all parts of the desk: they show the same runs."""


BRIEF = "brief.json"
GRAPH = "graph.json"
PICTURES = "pictures.json"

DAMAGE_ERRORS = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, KiwiError)
"""What reading a file raises that is not as a run writes it."""


@dataclass(frozen=True, slots=True)
class BookOfRun:
    """A book that a run was made from."""

    id: str
    name: str
    title: str
    date: str
    language: str


@dataclass(frozen=True, slots=True)
class PageOfRun:
    """A page that a run took, in its turn."""

    number: int
    """Its place among the pages, from 1."""
    ref: EntryRef
    title: str
    language: str
    depth: int
    points: float
    why: str
    """In English, as the run says it."""
    opening: str
    claims: int


def read_brief(file: Path) -> Brief:
    found = brief_from_record(json.loads(file.read_text(encoding="utf-8")))
    if not all(abs(day) < ENDLESS for moment in found.timeline for day in (moment.earliest, moment.latest)):
        raise ValueError("a moment is within time")
    return found


def read_images(file: Path) -> Images:
    return pictures_from_record(json.loads(file.read_text(encoding="utf-8")))


def read_claims(file: Path) -> Mapping[str, Claim]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        found = [claim_from_record(json.loads(line)) for line in stream]
    if not all(map(is_claim, found)):
        raise TypeError("a claim has words, and a place in a page")
    return {claim.id: claim for claim in found}


def read_graph(file: Path) -> Mapping[str, Any]:
    found = json.loads(file.read_text(encoding="utf-8"))
    if not all(isinstance(found[name], list) for name in ("nodes", "edges")):
        raise TypeError("a graph has nodes and edges")
    return dict(found)
