"""How strong evidence is: fitted curves for whether the page holds the answer, and whether it is shown.

The first decides how far the search goes. The second is the confidence that is shown: how often answers with
such evidence were right. It has a curve for words alone, and one for what the reading model says beside them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.ask.question import Question
from kiwiresearch.ask.weighing import Weighed

ALL = 0.98
FAR_AHEAD = 8.0
"""A page whose best sentence is this much better than any of another page is as far ahead as can be."""

LEAST_ASKED = 0.05
"""A page that has nothing of what is asked, beside its own title, does not hold the answer."""

LITTLE_ASKED = 0.35
"""Nor does one that has no more of it than this, and nothing of that near its best sentence."""


class Strength(NamedTuple):
    """Both as shares of questions, from 0 to 1."""

    held: float = 0.0
    """The page of the best sentence is the right one, and has the answer."""
    right: float = 0.0
    """The sentences that would be shown hold it."""
    covered: float = 0.0
    """Of the question's words, how much stands in the best sentence, beside it, or in title and heading."""


NOTHING = Strength()


@cache
def _table() -> Mapping[str, Mapping[str, float]]:
    text = (files("kiwiresearch.ask") / "data" / "weights.toml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, float]] = tomllib.loads(text)
    return found


def strength_of(units: Sequence[Weighed], question: Question, *, with_meaning: bool, named: bool = False) -> Strength:
    """By the best unit and what stands around it; nothing where there is none."""
    if not units:
        return NOTHING
    found = signs(units, question, named=named)
    curves = ("held_meaning", "right_meaning") if with_meaning else ("held", "right")
    held, right = (_curve(found, _table()[curve]) for curve in curves)
    if _says_nothing_of_it(units[0].parts):
        held = 0.0
    return Strength(held, right, found["words nearby"])


def _says_nothing_of_it(best: Mapping[str, float]) -> bool:
    """Whether the best sentence is only about the same subject, as the first one of a page mostly is."""
    on_page = best.get("asked", 0.0)
    return on_page < LEAST_ASKED or (on_page < LITTLE_ASKED and not best.get("asked nearby"))


def _curve(found: Mapping[str, float], worth: Mapping[str, float]) -> float:
    return 1 / (1 + math.exp(-sum(value * worth.get(name, 0.0) for name, value in found.items())))


def right_when_read(units: Sequence[Weighed], question: Question, by_words: Strength) -> float:
    """How often answers are right that the reading model chose."""
    return _curve(read_signs(units, question, by_words), _table()["right_reader"])


def read_signs(units: Sequence[Weighed], question: Question, by_words: Strength) -> dict[str, float]:
    """What tells right answers from wrong ones where the passages were read: few signs, of words and of meaning."""
    best = units[0].parts
    here = (units[0].read.page.ref, units[0].passage)
    others = [one.total for one in units if (one.read.page.ref, one.passage) != here]
    words = signs(units, question, named=False)
    return {name: words[name] for name in OF_WORDS} | {
        "relevance": _bounded(best["relevance"]),
        "passage answers": _bounded(best["passage answers"]),
        "ahead of other passages": min(units[0].total - max(others), FAR_AHEAD) / FAR_AHEAD if others else 1.0,
        "asks why": float(question.kind == "reason"),
        "held by words": by_words.held,
        "right by words": by_words.right,
    }


OF_WORDS = ("always", "words and title", "words nearby", "names missing", "unknown words", "not the kind")
MOST_LOGIT = 8.0


def _bounded(logit: float) -> float:
    return max(-MOST_LOGIT, min(logit, MOST_LOGIT))


def signs(units: Sequence[Weighed], question: Question, *, named: bool) -> dict[str, float]:
    """What tells right answers from wrong ones: how much of the question is there, how near, and who else has it."""
    best = units[0].parts
    own = best.get("words", 0.0)
    covered = own + best.get("title words", 0.0)
    near = covered + best.get("words beside it", 0.0) + best.get("heading words", 0.0)
    passage = near + best.get("words around it", 0.0)
    others = [
        one.total
        for one in units
        if one.read.page.title != units[0].read.page.title and one.parts.get("not the kind", 0.0) < 1.0
    ]
    ahead = min(max(units[0].total - max(others), 0.0), FAR_AHEAD) / FAR_AHEAD if others else 1.0
    is_full = near >= ALL
    return {
        "always": 1.0,
        "words": min(own, 1.0),
        "words and title": min(covered, 1.0),
        "words nearby": min(near, 1.0),
        "words in passage": min(passage, 1.0),
        "names missing": best.get("names missing", 0.0),
        "unknown words": best.get("unknown words", 0.0),
        "words together": best.get("words together", 0.0),
        "kind of answer": best.get("kind of answer", 0.0),
        "not the kind": best.get("not the kind", 0.0),
        "reason given": float(question.kind == "reason") * best.get("kind of answer", 0.0) * min(near, 1.0) ** 2,
        "no reason": float(question.kind == "reason") * best.get("not the kind", 0.0),
        "named": float(named),
        "box label": best.get("box label", 0.0),
        "all words": float(covered >= ALL),
        "all words nearby": float(is_full),
        "all words in the lead": float(covered >= ALL and best.get("lead", 0.0) > 0),
        "ahead": 0.0 if is_full else ahead,
        "ahead with all words": ahead if is_full else 0.0,
        "few words": float(len(question.terms) <= 2),
        "meaning": best.get("meaning", 0.0),
    }
