"""A batch of questions as a job: an answer is a step, and no question is asked twice."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.ask.settings import MODES
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.asking import Asker
from kiwiresearch.research.batch_rows import answered
from kiwiresearch.research.job import AskBatchWish
from kiwiresearch.research.job_places import ANSWERS, GROWING
from kiwiresearch.research.manifest import HIDDEN
from kiwiresearch.research.part import Part, writing

if TYPE_CHECKING:
    from kiwiresearch.research.job_order import Order
    from kiwiresearch.research.job_work import Tell
    from kiwiresearch.research.work_kept import KeptWork


def answer_all(order: Order, wish: AskBatchWish, tell: Tell, kept: KeptWork | None) -> dict[str, Any]:
    """Answer what is not answered yet, into a file with one line for each question, as `ask --batch` writes them."""
    from kiwiresearch.research.job_work import opened

    is_in_store = kept is not None and kept.bring()
    if (order.out / ANSWERS).is_file():
        if kept is not None:
            _hand_in(order, kept, is_in_store=is_in_store)  # killed just before or after it was
        return {"pages": _count(wish)}
    hidden = order.out / HIDDEN
    with writing(order.out):
        hidden.mkdir(parents=True, exist_ok=True)
    part = Part(hidden / GROWING)
    try:
        before = _whole_lines(part)
        with opened(order, tell) as finder:
            asker = Asker(finder, order.settings.ask)
            mode = next(mode for mode in MODES if mode == wish.mode)
            ask = AskWish(mode, wish.passages, with_model=wish.model)
            tell(event="stage", stage="answering")
            rows = [(number, row) for number, row in enumerate(wish.rows, start=1) if row.strip()]
            for count, (number, row) in enumerate(rows[before:], start=before + 1):
                told = answered(row, number, asker, finder.link, ask).record
                part.append((canonical_json(told) + "\n").encode("utf-8", "replace"))
                if kept is not None:
                    kept.copy()
                tell(event="answer", order=count, question=told["question"], grounded=told["grounded"])
        part.sync()
    finally:
        part.close()
    with writing(order.out):
        (hidden / GROWING).replace(order.out / ANSWERS)
        hidden.rmdir()
    story = _story(order.out / ANSWERS, len(rows))
    if kept is not None:
        _hand_in(order, kept, is_in_store=False)
    return {"pages": len(rows), "kept": before, "story": story}


def _hand_in(order: Order, kept: KeptWork, *, is_in_store: bool) -> None:
    """Have the answers in the store alone: there they are read."""
    if not is_in_store:
        kept.finish([ANSWERS])
    shutil.rmtree(order.out, ignore_errors=True)


def _story(answers: Path, rows: int) -> str:
    """How many questions there were, and how many lines were none."""
    failed = answers.read_bytes().count(b'"error":')  # within a text the quotation marks would be escaped
    if failed:
        return f"{rows - failed:,} of {rows:,} questions were answered; 'error' says what is wrong with the others."
    return f"{rows:,} questions were answered." if rows != 1 else "1 question was answered."


def _count(wish: AskBatchWish) -> int:
    return sum(1 for row in wish.rows if row.strip())


def _whole_lines(part: Part) -> int:
    """How many answers there are from before; half a line, of which a kill made an end, is cut off."""
    text = Path(part.path).read_bytes()
    part.cut(text.rfind(b"\n") + 1)
    return text.count(b"\n")
