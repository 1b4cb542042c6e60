"""Sixty questions as people ask them about the 2007 Schools selection, with answers that were judged by reading them.

The questions (`labels/ordinary_questions.jsonl`) were written before any answer was seen. Ten have no answer in the
book, and several are misspelt. `labels/ordinary_verdicts.jsonl` has the answer that was judged for each question, and
the verdict on it.

python -m evals.ordinary          print each answer, with its verdict if it is still the one that was judged
python -m evals.ordinary --lines  print rows for the file of verdicts, to be judged
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
MAX_SENTENCE_CHARS = 160


def ask_questions() -> Iterator[tuple[dict[str, Any], Answer]]:
    """Ask each question; yields its row and the answer."""
    settings = AskSettings()
    book = OpenBook(LibzimArchive(SHARED_DATA / "zims" / "schools-2007.zim"))
    context = AskContext((book,), settings, PageCache(settings), reader=shared_reader())
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row, answer_by_rule(context, row["question"], AskOptions(with_model=False)).answer


def summary_of(answer: Answer) -> dict[str, str]:
    """What a reader sees first of an answer."""
    if not answer.grounded:
        return {"confidence": "", "headline": "", "sentence": ""}
    headline = next((part.words for part in body_parts(answer) if isinstance(part, Headline)), "")
    sentence = " ".join(answer.lines[0].text.split())
    return {
        "confidence": Confidence.of(answer.confidence).level,
        "headline": headline,
        "sentence": sentence[:MAX_SENTENCE_CHARS],
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.ordinary")
    parser.add_argument("--lines", action="store_true", help="print rows for the file of verdicts")
    options = parser.parse_args(arguments)
    verdicts = {}
    if VERDICTS.is_file():
        rows = [json.loads(line) for line in VERDICTS.read_text(encoding="utf-8").splitlines()]
        verdicts = {row["question"]: row for row in rows}
    counts: Counter[str] = Counter()
    for row, answer in ask_questions():
        summary = summary_of(answer)
        if options.lines:
            print(json.dumps({"question": row["question"], **summary, "verdict": ""}, ensure_ascii=False), flush=True)
            continue
        judged = verdicts.get(row["question"], {})
        is_same = all(judged.get(name) == value for name, value in summary.items())
        verdict = judged.get("verdict", "not judged") if is_same else "not judged"
        counts[f"{verdict}, {summary['confidence'] or 'refused'}"] += 1
        print(f"{verdict}: {row['question']} -> {summary}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count:3} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
