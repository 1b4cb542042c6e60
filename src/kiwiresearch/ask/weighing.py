"""How well a sentence or a row answers a question: shares of the question's words, each with a name and a weight."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.ask.held import Held, Weighted, Words
from kiwiresearch.ask.kinds import falls_short, gives_reason, holds_kind
from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.ask.reading import ReadPage
from kiwiresearch.search.hit import Score
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import level

LEAST_LABEL = 0.3
"""A label of which less than this is asked for is of something else."""

LOOKED_AT = 60
"""Of a page, so many units that hold the most words are weighed in full."""


class Weighed(NamedTuple):
    """A unit of a page and all that can be said of it, by name."""

    read: ReadPage
    unit: int
    passage: int
    parts: Mapping[str, float]
    total: float
    words: tuple[int, int] | None = None
    """Where in its text the reading model sees the answer best; None where it has no words, or was not asked."""
    held: Held | None = None
    """Where the question's words stand on its page; None where words did not choose it."""

    @property
    def text(self) -> str:
        return self.read.text(self.read.units[self.unit])

    @property
    def place(self) -> tuple[str, str, int]:
        """What makes the order total where totals are equal."""
        ref = self.read.page.ref
        return ref.book, ref.path, self.read.units[self.unit].start

    def score(self) -> Score:
        """The total with its terms."""
        score = Score()
        for name, value in self.parts.items():
            score = score.plus(name, value * table()[name])
        return score


@cache
def table() -> Mapping[str, float]:
    """What each part is worth."""
    text = (files("kiwiresearch.ask") / "data" / "weights.toml").read_text(encoding="utf-8")
    return {name: float(worth) for name, worth in tomllib.loads(text)["unit"].items()}


Likeness = Callable[[Sequence[str]], Sequence[float]]
"""How near texts are to the question in meaning, where an embedder is switched on."""


def nearer(units: Sequence[Weighed], nearness: float) -> list[Weighed]:
    """Units of one page, with how near the page is to the best one."""
    worth = table()
    beside = {"page": nearness, "first page": float(nearness >= 1.0)}
    more = _total(beside, worth)
    beside = {name: value for name, value in beside.items() if value}
    return [one._replace(parts={**one.parts, **beside}, total=one.total + more) for one in units]


def row_of(read: ReadPage, number: int) -> Weighed:
    """A unit that was chosen by what it says, not by its words."""
    passage = next(place for place, (first, end) in enumerate(read.spans) if first <= number < end)
    return Weighed(read, number, passage, {}, 0.0)


def with_reader(one: Weighed, said: Mapping[str, float], words: tuple[int, int] | None) -> Weighed:
    """A unit with what the reading model says of it."""
    return one._replace(parts={**one.parts, **said}, total=one.total + _total(said, table()), words=words)


def weigh(
    read: ReadPage, question: Question, weights: Sequence[Weighted], likeness: Likeness | None = None
) -> list[Weighed]:
    """The units of a page that hold words of the question."""
    held = Held.on(read, weights, question.language)
    asked = held.asked
    rows = sorted(((held.words(number), number) for number in held.candidates()), key=lambda row: (-row[0].sum, row[1]))
    worth = table()
    found = []
    for row, number in rows[:LOOKED_AT]:
        parts = _parts(read, number, row, question, held) | {"asked": asked}
        found.append(Weighed(read, number, held.passage_of[number], parts, _total(parts, worth), held=held))
    if likeness is not None and found:
        likes = likeness([f"{read.page.title}. {one.text}" for one in found])
        found = [_with_likeness(one, like, worth) for one, like in zip(found, likes, strict=True)]
    return found


def weigh_another(one: Weighed, number: int, question: Question) -> Weighed:
    """Another unit of the same page, which has too few of the question's words to be weighed with the others."""
    held = one.held
    if held is None:
        return row_of(one.read, number)
    parts = _parts(one.read, number, held.words(number), question, held)
    parts |= {name: one.parts[name] for name in OF_PAGE if name in one.parts}
    return one._replace(unit=number, passage=held.passage_of[number], parts=parts, total=_total(parts, table()))


OF_PAGE = ("asked", "page", "first page")
"""Parts that all units of a page have alike."""


def _with_likeness(one: Weighed, like: float, worth: Mapping[str, float]) -> Weighed:
    parts = {**one.parts, "meaning": max(0.0, float(like))}
    return one._replace(parts=parts, total=_total(parts, worth))


def _total(parts: Mapping[str, float], worth: Mapping[str, float]) -> float:
    return sum(value * worth[name] for name, value in parts.items())


def _parts(read: ReadPage, number: int, words: Words, question: Question, held: Held) -> dict[str, float]:
    unit = read.units[number]
    text = read.text(unit)
    # Rows answer neither how nor why, unless the row itself gives a cause: 'Cause of death'.
    is_unfit = unit.kind in ("box", "row") and question.kind in ("reason", "manner")
    is_unfit = is_unfit and not gives_reason(text, question.language)
    kind = 0.0 if is_unfit else holds_kind(text, question)
    size = len(text.split())
    is_sentence = unit.kind == "sentence"
    label = _label(read, number, held, question) if unit.kind == "box" and not is_unfit else 0.0
    parts = {
        "words": words.own,
        "title words": words.title,
        "words beside it": words.beside,
        "words around it": words.around,
        "heading words": words.heading,
        "names missing": words.missing,
        "unknown words": words.unknown,
        "asked nearby": words.asked,
        "words together": held.together(unit.start, unit.end),
        "kind of answer": max(kind - 0.5, 0.0) * 2,
        "not the kind": max(0.5 - kind, 0.0) * 2,
        "not the most": float(falls_short(text, question)),
        "lead": float(unit.section == 0),
        "first sentence": float(is_sentence and number == held.first),
        "caption": float(unit.kind == "caption"),
        "table row": float(unit.kind == "row"),
        "box row": float(unit.kind == "box"),
        "box label": label,
        "short": max(0, 8 - size) / 8 if is_sentence else 0.0,
        "long": max(0, size - 40) / 40,
    }
    return {name: value for name, value in parts.items() if value}


def _label(read: ReadPage, number: int, held: Held, question: Question) -> float:
    """What of the question, its subject left aside, the label of a row has; less where it says more than is asked."""
    unit = read.units[number]
    text = read.text(unit)
    end = text.find("\t")
    label = f"{read.contexts[read.context_of[number]] if read.context_of[number] else ''} {text[: max(end, 0)]}"
    stem_of = stemmer(question.language)
    known = {stem for word in held.weights for stem in (word.stem, *map(stem_of, word.others))}
    silent = question_words(question.language).whole
    stems = {stem_of(word) for word in WORD.findall(level(label)) if word not in silent}
    share = len(stems & known) / len(stems) if stems else 0.0
    if share < LEAST_LABEL:
        return 0.0
    asked = [word for word, titled in zip(held.weights, held.titled, strict=True) if not titled]
    told = [word for word in asked if word.stem in stems or any(stem_of(other) in stems for other in word.others)]
    return share * sum(word.weight for word in told) / sum(word.weight for word in asked) if told else 0.0


WORD = re.compile(r"[^\W\d_]+")
