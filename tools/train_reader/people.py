"""Questions that people asked, and our own, each with the passages that the product would read for it.

People's questions and answers are a list in the wheel of a search toolkit. A passage is right if it has the words of
the answer; training lets the model choose among several. Nothing that is used for evaluation is trained on: pages with
shared questions are left out, and the list has questions only of the training part of Natural Questions, which has none
of the shared rows, and of the training pages of the SQuAD book.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import json
import zipfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from tools.train_reader.examples import JUDGED_TEXTS, QUESTIONS, ours, squad
from tools.train_reader.gather import article_paths
from tools.train_reader.passage import Passage, load
from tools.train_reader.split import drawn, plain, questioned, squad_part

from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.reranker import reader_text, stretches_to_read
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

JAR = "pyserini/resources/jars/anserini-0.14.1-fatjar.jar"
LIST = "topics-and-qrels/topics.dpr.nq.dev.txt"
LIST_SUM = "95ab55300a28f079302502da5fe48b0e4ced4b25e111fa03d08cb1ba361834c1"
MAX_ALIAS = 60
SCHOOLS, SQUAD = "schools-2007.zim", "squad.zim"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, where it comes from, and what may answer it."""

    source: Literal["nq", "ours", "squad"]
    question: str
    answers: tuple[str, ...]


def asked(wheel: Path) -> list[Asked]:
    """The questions of the list, in a mixed order that is always the same."""
    with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read(JAR))) as jar:
        content = jar.read(LIST)
    if (have := sha256(content).hexdigest()) != LIST_SUM:
        raise SystemExit(f"{LIST!r} in {str(wheel)!r} has the sum {have}, not {LIST_SUM}.")
    rows = csv.reader(io.StringIO(content.decode()), delimiter="\t")
    found = [Asked("nq", row[0].strip(), _short(ast.literal_eval(row[1]))) for row in rows]
    return sorted(found, key=lambda one: drawn(one.question, "people"))


def _short(answers: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in answers if len(one) <= MAX_ALIAS)


@cache
def _desk(shared: Path, book: str) -> AskContext:
    settings = AskSettings()
    return AskContext((OpenBook(LibzimArchive(shared / "zims" / book)),), settings, PageCache(settings))


@cache
def _barred(shared: Path, book: str) -> frozenset[str]:
    """Titles of the pages of a book that may not be trained on."""
    schools = questioned(shared / "qa" / "schools")
    paths = article_paths(LibzimArchive(shared / "zims" / SQUAD))
    judging = [path for path in paths if book != SQUAD or squad_part(path, schools) != "train"]
    return schools | {plain(path) for path in judging}


def found_for(one: Asked, shared: Path) -> str:
    """A question and its passages as a line; empty if no passage may be used."""
    book = SQUAD if one.source == "squad" else SCHOOLS
    desk, barred = _desk(shared, book), _barred(shared, book)
    question = read_question(one.question)
    evidence = desk.retriever(question).retrieve()
    passages = []
    for stretch in stretches_to_read(question, evidence.units):
        page = stretch.segmented.page
        if plain(page.title) not in barred and plain(page.ref.path) not in barred:
            text = reader_text(stretch)
            passages.append(asdict(Passage(one.source, text.title, text.heading, text.units)))
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
    of_squad = [Asked("squad", one.question, (one.answer,)) for one in squad(given.folder / "squad.jsonl", passages)]
    lines = map(json.loads, JUDGED_TEXTS.read_text(encoding="utf-8").splitlines())
    ordinary = [Asked("ours", row["question"], ()) for row in lines if row["question"]]
    rows = [one for some in (asked(given.wheel), own, of_squad, ordinary) for one in some[: given.most]]
    out_file = given.folder / "searched.jsonl"
    with ProcessPoolExecutor(given.processes) as pool, out_file.open("w", encoding="utf-8") as out:
        for line in pool.map(found_for, rows, [given.shared] * len(rows), chunksize=16):
            if line:
                out.write(line + "\n")
                out.flush()


if __name__ == "__main__":
    main()
