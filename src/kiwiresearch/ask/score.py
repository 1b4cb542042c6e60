"""The score of a sentence or row for a question, and how likely the best ones answer it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.ask.answer_kind import gives_reason, is_not_the_most, kind_match
from kiwiresearch.ask.page_units import SegmentedPage
from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.ask.word_matches import NearbyWords, WeightedWord, WordMatches
from kiwiresearch.search.query import Score
from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.words import plain_lower

MIN_LABEL = 0.3
"""A label of which less than this is asked for is of something else."""

MAX_SCORED = 60
"""Of a page, so many units that hold the most words are weighed in full."""


class ScoredUnit(NamedTuple):
    """A unit of a page and all that can be said of it, by name."""

    read: SegmentedPage
    unit: int
    passage: int
    parts: Mapping[str, float]
    total: float
    answer_span: tuple[int, int] | None = None
    """Where in its text the reading model sees the answer best; None where it has no words, or was not asked."""
    matches: WordMatches | None = None
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
            score = score.plus(name, value * unit_weights()[name])
        return score


@cache
def unit_weights() -> Mapping[str, float]:
    """What each part is worth."""
    text = (files("kiwiresearch.ask") / "data" / "weights.toml").read_text(encoding="utf-8")
    return {name: float(worth) for name, worth in tomllib.loads(text)["unit"].items()}


SimilarityFunction = Callable[[Sequence[str]], Sequence[float]]
"""How near texts are to the question in meaning, where an embedder is switched on."""


def with_page_nearness(units: Sequence[ScoredUnit], nearness: float) -> list[ScoredUnit]:
    """Units of one page, with how near the page is to the best one."""
    worth = unit_weights()
    beside = {"page": nearness, "first page": float(nearness >= 1.0)}
    more = _total(beside, worth)
    beside = {name: value for name, value in beside.items() if value}
    return [one._replace(parts={**one.parts, **beside}, total=one.total + more) for one in units]


def unscored_unit(read: SegmentedPage, number: int) -> ScoredUnit:
    """A unit that was chosen by what it says, not by its words."""
    passage = next(place for place, (first, end) in enumerate(read.spans) if first <= number < end)
    return ScoredUnit(read, number, passage, {}, 0.0)


def with_reader_score(one: ScoredUnit, said: Mapping[str, float], words: tuple[int, int] | None) -> ScoredUnit:
    """A unit with what the reading model says of it."""
    return one._replace(parts={**one.parts, **said}, total=one.total + _total(said, unit_weights()), answer_span=words)


def score_units(
    read: SegmentedPage, question: Question, weights: Sequence[WeightedWord], likeness: SimilarityFunction | None = None
) -> list[ScoredUnit]:
    """The units of a page that hold words of the question."""
    held = WordMatches.find_on(read, weights, question.language)
    asked = held.asked_share
    rows = sorted(((held.words(number), number) for number in held.candidates()), key=lambda row: (-row[0].sum, row[1]))
    worth = unit_weights()
    found = []
    for row, number in rows[:MAX_SCORED]:
        parts = _parts(read, number, row, question, held) | {"asked": asked}
        found.append(ScoredUnit(read, number, held.passage_of[number], parts, _total(parts, worth), matches=held))
    if likeness is not None and found:
        likes = likeness([f"{read.page.title}. {one.text}" for one in found])
        found = [_with_likeness(one, like, worth) for one, like in zip(found, likes, strict=True)]
    return found


def score_other_unit(one: ScoredUnit, number: int, question: Question) -> ScoredUnit:
    """Another unit of the same page, which has too few of the question's words to be weighed with the others."""
    held = one.matches
    if held is None:
        return unscored_unit(one.read, number)
    parts = _parts(one.read, number, held.words(number), question, held)
    parts |= {name: one.parts[name] for name in PAGE_FEATURES if name in one.parts}
    return one._replace(unit=number, passage=held.passage_of[number], parts=parts, total=_total(parts, unit_weights()))


PAGE_FEATURES = ("asked", "page", "first page")
"""Parts that all units of a page have alike."""


def _with_likeness(one: ScoredUnit, like: float, worth: Mapping[str, float]) -> ScoredUnit:
    parts = {**one.parts, "meaning": max(0.0, float(like))}
    return one._replace(parts=parts, total=_total(parts, worth))


def _total(parts: Mapping[str, float], worth: Mapping[str, float]) -> float:
    return sum(value * worth[name] for name, value in parts.items())


def _parts(
    read: SegmentedPage, number: int, words: NearbyWords, question: Question, held: WordMatches
) -> dict[str, float]:
    unit = read.units[number]
    text = read.text(unit)
    # Rows answer neither how nor why, unless the row itself gives a cause: 'Cause of death'.
    is_unfit = unit.kind in ("box", "row") and question.kind in ("reason", "manner")
    is_unfit = is_unfit and not gives_reason(text, question.language)
    kind = 0.0 if is_unfit else kind_match(text, question)
    size = len(text.split())
    is_sentence = unit.kind == "sentence"
    label = _label(read, number, held, question) if unit.kind == "box" and not is_unfit else 0.0
    parts = {
        "words": words.own,
        "title words": words.title,
        "words beside it": words.adjacent,
        "words around it": words.around,
        "heading words": words.heading,
        "names missing": words.missing,
        "unknown words": words.unknown,
        "asked nearby": words.asked_nearby,
        "words together": held.adjacent_share(unit.start, unit.end),
        "kind of answer": max(kind - 0.5, 0.0) * 2,
        "not the kind": max(0.5 - kind, 0.0) * 2,
        "not the most": float(is_not_the_most(text, question)),
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


def _label(read: SegmentedPage, number: int, held: WordMatches, question: Question) -> float:
    """What of the question, its subject left aside, the label of a row has; less where it says more than is asked."""
    unit = read.units[number]
    text = read.text(unit)
    end = text.find("\t")
    label = f"{read.contexts[read.context_of[number]] if read.context_of[number] else ''} {text[: max(end, 0)]}"
    stem_of = stemmer(question.language)
    known = {stem for word in held.weights for stem in (word.stem, *map(stem_of, word.others))}
    silent = question_words(question.language).neutral_label_words
    stems = {stem_of(word) for word in WORD.findall(plain_lower(label)) if word not in silent}
    share = len(stems & known) / len(stems) if stems else 0.0
    if share < MIN_LABEL:
        return 0.0
    asked = [word for word, titled in zip(held.weights, held.in_title, strict=True) if not titled]
    told = [word for word in asked if word.stem in stems or any(stem_of(other) in stems for other in word.others)]
    return share * sum(word.weight for word in told) / sum(word.weight for word in asked) if told else 0.0


WORD = re.compile(r"[^\W\d_]+")


ALL_WORDS = 0.98
FAR_AHEAD = 8.0
"""A page whose best sentence is this much better than any of another page is as far ahead as can be."""

MIN_ASKED = 0.05
"""A page that has nothing of what is asked, beside its own title, does not hold the answer."""

LITTLE_ASKED = 0.35
"""Nor does one that has no more of it than this, and nothing of that near its best sentence."""


class Strength(NamedTuple):
    """Both as shares of questions, from 0 to 1."""

    page_confidence: float = 0.0
    """The page of the best sentence is the right one, and has the answer."""
    answer_confidence: float = 0.0
    """The sentences that would be shown hold it."""
    coverage: float = 0.0
    """Of the question's words, how much stands in the best sentence, beside it, or in title and heading."""


NO_EVIDENCE = Strength()


@cache
def _curve_weights() -> Mapping[str, Mapping[str, float]]:
    text = (files("kiwiresearch.ask") / "data" / "weights.toml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, float]] = tomllib.loads(text)
    return found


def strength_of(
    units: Sequence[ScoredUnit], question: Question, *, with_meaning: bool, named: bool = False
) -> Strength:
    """By the best unit and what stands around it; nothing where there is none."""
    if not units:
        return NO_EVIDENCE
    found = features(units, question, named=named)
    curves = ("held_meaning", "right_meaning") if with_meaning else ("held", "right")
    held, right = (_curve(found, _curve_weights()[curve]) for curve in curves)
    if _lacks_what_is_asked(units[0].parts):
        held = 0.0
    return Strength(held, right, found["words nearby"])


def _lacks_what_is_asked(best: Mapping[str, float]) -> bool:
    """Whether the best sentence is only about the same subject, as the first one of a page mostly is."""
    on_page = best.get("asked", 0.0)
    return on_page < MIN_ASKED or (on_page < LITTLE_ASKED and not best.get("asked nearby"))


def _curve(found: Mapping[str, float], worth: Mapping[str, float]) -> float:
    return 1 / (1 + math.exp(-sum(value * worth.get(name, 0.0) for name, value in found.items())))


def reader_confidence(units: Sequence[ScoredUnit], question: Question, by_words: Strength) -> float:
    """How often answers are right that the reading model chose."""
    return _curve(reader_features(units, question, by_words), _curve_weights()["right_reader"])


def reader_features(units: Sequence[ScoredUnit], question: Question, by_words: Strength) -> dict[str, float]:
    """What tells right answers from wrong ones where the passages were read: few signs, of words and of meaning."""
    best = units[0].parts
    here = (units[0].read.page.ref, units[0].passage)
    others = [one.total for one in units if (one.read.page.ref, one.passage) != here]
    words = features(units, question, named=False)
    return {name: words[name] for name in WORD_FEATURES} | {
        "relevance": _bounded(best["relevance"]),
        "passage answers": _bounded(best["passage answers"]),
        "ahead of other passages": min(units[0].total - max(others), FAR_AHEAD) / FAR_AHEAD if others else 1.0,
        "asks why": float(question.kind == "reason"),
        "held by words": by_words.page_confidence,
        "right by words": by_words.answer_confidence,
    }


WORD_FEATURES = ("always", "words and title", "words nearby", "names missing", "unknown words", "not the kind")
MAX_LOGIT = 8.0


def _bounded(logit: float) -> float:
    return max(-MAX_LOGIT, min(logit, MAX_LOGIT))


def features(units: Sequence[ScoredUnit], question: Question, *, named: bool) -> dict[str, float]:
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
    is_full = near >= ALL_WORDS
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
        "all words": float(covered >= ALL_WORDS),
        "all words nearby": float(is_full),
        "all words in the lead": float(covered >= ALL_WORDS and best.get("lead", 0.0) > 0),
        "ahead": 0.0 if is_full else ahead,
        "ahead with all words": ahead if is_full else 0.0,
        "few words": float(len(question.terms) <= 2),
        "meaning": best.get("meaning", 0.0),
    }
