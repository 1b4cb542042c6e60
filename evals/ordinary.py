"""Sixty questions as people ask them, of the 2007 Schools selection: asked by the product, judged by reading.

The questions (`labels/ordinary_questions.jsonl`) were written before any answer was seen; ten have no answer in the
book, and several are misspelt. The verdict on each answer is in `labels/ordinary_verdicts.jsonl`,
for the answer that was given then.

python -m evals.ordinary          each question with its answer, and whether it is the one that was judged
python -m evals.ordinary --lines  rows for the file of verdicts, to be judged
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evals.asked import answer_by_rule
from evals.data import SHARED_DATA
from evals.labelled import LABELS
from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.presentation import Confidence, Headline, body_parts
from kiwiresearch.ask.settings import AskOptions, AskSettings
from kiwiresearch.reader.reader import shared_reader
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive

QUESTIONS = LABELS / "ordinary_questions.jsonl"
VERDICTS = LABELS / "ordinary_verdicts.jsonl"
SHOWN = 160


def answers() -> Iterator[tuple[dict[str, Any], Answer]]:
    """Each question with the product's answer."""
    settings = AskSettings()
    book = OpenBook(LibzimArchive(SHARED_DATA / "zims" / "schools-2007.zim"))
    desk = AskContext((book,), settings, PageCache(settings), reader=shared_reader())
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row, answer_by_rule(desk, row["question"], AskOptions(with_model=False)).answer


def told(answer: Answer) -> dict[str, str]:
    """What a person sees first of an answer."""
    if not answer.grounded:
        return {"confidence": "", "headline": "", "sentence": ""}
    headline = next((part.words for part in body_parts(answer) if isinstance(part, Headline)), "")
    sentence = " ".join(answer.lines[0].text.split())
    return {"confidence": Confidence.of(answer.confidence).level, "headline": headline, "sentence": sentence[:SHOWN]}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.ordinary")
    parser.add_argument("--lines", action="store_true", help="rows for the file of verdicts")
    options = parser.parse_args(arguments)
    judged = {}
    if VERDICTS.is_file():
        rows = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
        judged = {row["question"]: row for row in rows}
    counts: Counter[str] = Counter()
    for row, answer in answers():
        shown = told(answer)
        if options.lines:
            print(json.dumps({"question": row["question"], **shown, "verdict": ""}, ensure_ascii=False), flush=True)
            continue
        before = judged.get(row["question"], {})
        is_same = all(before.get(name) == value for name, value in shown.items())
        verdict = before.get("verdict", "not judged") if is_same else "not judged"
        counts[f"{verdict}, {shown['confidence'] or 'refused'}"] += 1
        print(f"{verdict}: {row['question']} -> {shown}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:3} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
