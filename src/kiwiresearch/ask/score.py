"""The score of a sentence or row for a question, and evidence: the best ones, and how likely they are to answer it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.ask.answer import ExaminedPage, Route, YesNo
from kiwiresearch.ask.answer_match import gives_reason, is_beside_the_place, is_not_the_most, kind_match
from kiwiresearch.ask.page_units import SegmentedPage
from kiwiresearch.ask.question import Question, question_words
from kiwiresearch.ask.word_matches import NearbyWords, WeightedWord, WordMatches
from kiwiresearch.search import Score, Sense
from kiwiresearch.text import plain_lower, stemmer

WORD = re.compile(r"[^\W\d_]+")
TAB = "\t"
MIN_LABEL = 0.3
"""If the question has a smaller share of a label's words, the row is about something else."""

MAX_SCORED = 60
"""How many units of a page are fully scored: those with the most question words."""


class ScoredUnit(NamedTuple):
    """A unit of a page, and its features for a question."""

    segmented: SegmentedPage
    unit: int
    passage: int
    features: Mapping[str, float]
    total: float
    answer_span: tuple[int, int] | None = None
    """The best answer in its text according to the reading model; None if it found none, or was not used."""
    matches: WordMatches | None = None
    """Where the question's words occur on its page; None if it was not chosen by words."""

    @property
    def text(self) -> str:
        return self.segmented.text(self.segmented.units[self.unit])

    @property
    def sort_key(self) -> tuple[str, str, int]:
        """The order of units with equal totals."""
        ref = self.segmented.page.ref
        return ref.book, ref.path, self.segmented.units[self.unit].start

    def score(self) -> Score:
        """The total with its terms."""
        score = Score()
        for name, value in self.features.items():
            score = score.plus(name, value * unit_weights()[name])
        return score


@cache
def unit_weights() -> Mapping[str, float]:
    """The weight of each feature."""
    return {name: float(weight) for name, weight in _weight_tables()["unit"].items()}


@cache
def _weight_tables() -> Mapping[str, Mapping[str, float]]:
    text = (files("kiwiresearch.ask") / "data" / "weights.toml").read_text(encoding="utf-8")
    tables: Mapping[str, Mapping[str, float]] = tomllib.loads(text)
    return tables


SimilarityFunction = Callable[[Sequence[str]], Sequence[float]]
"""How similar in meaning texts are to the question, by an embedder."""


def with_page_nearness(units: Sequence[ScoredUnit], nearness: float) -> list[ScoredUnit]:
    """The units of one page, scored also by how close the page's score is to the best page's."""
    features = {"page": nearness, "first page": float(nearness >= 1.0)}
    more = _total(features)
    features = {name: value for name, value in features.items() if value}
    return [unit._replace(features={**unit.features, **features}, total=unit.total + more) for unit in units]


def unscored_unit(segmented: SegmentedPage, index: int) -> ScoredUnit:
    """A unit that was not chosen by the question's words."""
    passage = next(passage for passage, (first, end) in enumerate(segmented.spans) if first <= index < end)
    return ScoredUnit(segmented, index, passage, {}, 0.0)


def with_reader_score(unit: ScoredUnit, found: Mapping[str, float], span: tuple[int, int] | None) -> ScoredUnit:
    """A unit with the features and the answer that the reading model gives it."""
    return unit._replace(features={**unit.features, **found}, total=unit.total + _total(found), answer_span=span)


def score_units(
    segmented: SegmentedPage,
    question: Question,
    weights: Sequence[WeightedWord],
    similarity: SimilarityFunction | None = None,
) -> list[ScoredUnit]:
    """The units of a page that have words of the question, scored."""
    matches = WordMatches.find_on(segmented, weights, question.language)
    asked = matches.asked_share
    rows = [(matches.words(index), index) for index in matches.candidates()]
    # The complete features cost regular expressions, so only the units with most of the words get them.
    rows.sort(key=lambda row: (-row[0].weighted_total, row[1]))
    found = []
    for words, index in rows[:MAX_SCORED]:
        features = _unit_features(segmented, index, words, question, matches) | {"asked": asked}
        found.append(
            ScoredUnit(segmented, index, matches.passage_of[index], features, _total(features), matches=matches)
        )
    if similarity is None or not found:
        return found
    for index, value in enumerate(similarity([f"{segmented.page.title}. {unit.text}" for unit in found])):
        features = {**found[index].features, "meaning": max(0.0, float(value))}
        found[index] = found[index]._replace(features=features, total=_total(features))
    return found


def score_other_unit(unit: ScoredUnit, index: int, question: Question) -> ScoredUnit:
    """Another unit of the same page, which has too few of the question's words to have been scored."""
    matches = unit.matches
    if matches is None:
        return unscored_unit(unit.segmented, index)
    features = _unit_features(unit.segmented, index, matches.words(index), question, matches)
    features |= {name: unit.features[name] for name in PAGE_FEATURES if name in unit.features}
    return unit._replace(unit=index, passage=matches.passage_of[index], features=features, total=_total(features))


NOT_THE_MOST = "not the most"
"""A feature: the sentence is about less than what is asked for, such as the second largest."""
ANSWER_WORDS = "answer's words"
"""A feature: how much the reading model prefers the few words of the answer to 'no answer', in logits."""

PAGE_FEATURES = ("asked", "page", "first page")
"""Features that are the same for all units of a page."""


def _total(features: Mapping[str, float]) -> float:
    weights = unit_weights()
    return sum(value * weights[name] for name, value in features.items())


def _unit_features(
    segmented: SegmentedPage, index: int, words: NearbyWords, question: Question, matches: WordMatches
) -> dict[str, float]:
    unit = segmented.units[index]
    text = segmented.text(unit)
    # Rows answer neither how nor why, unless the row itself gives a cause: 'Cause of death'.
    is_unfit = unit.kind in ("box", "row") and question.kind in ("reason", "manner")
    is_unfit = is_unfit and not gives_reason(text, question.language)
    kind = 0.0 if is_unfit else kind_match(text, question)
    size = len(text.split())
    is_sentence = unit.kind == "sentence"
    label = _label(segmented, index, matches, question) if unit.kind == "box" and not is_unfit else 0.0
    features = {
        "words": words.own,
        "title words": words.title,
        "words beside it": words.adjacent,
        "words around it": words.around,
        "heading words": words.heading,
        "names missing": words.missing,
        "unknown words": words.unknown,
        "asked nearby": words.asked_nearby,
        "words together": matches.adjacent_share(unit.start, unit.end),
        # 0.5 is neutral in `kind_match`; what is above and below it are two features, each from 0 to 1.
        "kind of answer": max(kind - 0.5, 0.0) * 2,
        "not the kind": max(0.5 - kind, 0.0) * 2,
        NOT_THE_MOST: float(is_not_the_most(text, question) or is_beside_the_place(text, question)),
        "lead": float(unit.section == 0),
        "first sentence": float(is_sentence and index == matches.first),
        "caption": float(unit.kind == "caption"),
        "caption of something else": float(
            # A caption may well be what a thing is called.
            unit.kind == "caption"
            and question.kind not in ("definition", "topic")
            and not matches.says_what_is_asked(index, question)
        ),
        "table row": float(unit.kind == "row"),
        "box row": float(unit.kind == "box"),
        "box label": label,
        "short": max(0, 8 - size) / 8 if is_sentence else 0.0,
        "long": max(0, size - 40) / 40,
    }
    return {name: value for name, value in features.items() if value}


def _label(segmented: SegmentedPage, index: int, matches: WordMatches, question: Question) -> float:
    """How much of the question, apart from its subject, a row's label covers; less if the label has other words."""
    text = segmented.text(segmented.units[index])
    above = segmented.contexts[segmented.context_of[index]] if segmented.context_of[index] else ""
    label = f"{above} {text[: max(text.find(TAB), 0)]}"
    stem_of = stemmer(question.language)
    known = {stem for word in matches.weights for stem in (word.stem, *map(stem_of, word.others))}
    neutral = question_words(question.language).neutral_label_words
    words = WORD.findall(plain_lower(label))
    stems = {stem_of(word) for word in [word for word in words if word not in neutral] or words}
    share = len(stems & known) / len(stems) if stems else 0.0
    if share < MIN_LABEL:
        return 0.0
    # Words of the page's title do not say which of its rows is asked for.
    asked = [word for word, titled in zip(matches.weights, matches.in_title, strict=True) if not titled]
    labelled = [word for word in asked if word.stem in stems or any(stem_of(other) in stems for other in word.others)]
    return share * sum(word.weight for word in labelled) / sum(word.weight for word in asked) if labelled else 0.0


ALL_WORDS = 0.98
"""From this share on, all words count as found."""

FAR_AHEAD = 8.0
"""A lead of this many points over the best sentence of any other page counts as the largest possible."""

MIN_ASKED = 0.05
"""A page with a smaller share of the question's words, apart from those in its title, does not have the answer."""

LITTLE_ASKED = 0.35
"""Nor does a page with less than this share if none of these words is near the best sentence."""


class Strength(NamedTuple):
    """How likely the evidence is to answer the question; confidences are probabilities."""

    page_confidence: float = 0.0
    """That the page of the best sentence is the right one and has the answer."""
    answer_confidence: float = 0.0
    """That the sentences that would be shown have the answer."""
    coverage: float = 0.0
    """The share of the question's words in the best sentence, next to it, or in title and heading."""


NO_EVIDENCE = Strength()


@dataclass(frozen=True, slots=True)
class RetrievedEvidence:
    """The result of a search for evidence: units, best first, the pages they are from, and how strong they are."""

    route: Route
    why: str
    units: tuple[ScoredUnit, ...] = ()
    pages: tuple[ExaminedPage, ...] = ()
    strength: Strength = NO_EVIDENCE
    is_named: bool = False
    """Whether the question names the page of the best unit."""
    part_count: int = 0
    """How many leading units each answer one part of the question."""
    corrected: str = ""
    """The question as the search understood it, if it had typos."""
    senses: tuple[Sense, ...] = ()
    """Pages that share the name which the question is about."""
    verdict: YesNo = ""
    chosen: str = ""
    """In a comparison, the thing that the figures on the two pages favour."""


def strength_of(
    units: Sequence[ScoredUnit], question: Question, *, with_meaning: bool, named: bool = False
) -> Strength:
    """The strength of evidence, judged by its best unit and the text around it."""
    if not units:
        return NO_EVIDENCE
    found = features(units, question, named=named)
    suffix = "_with_meaning" if with_meaning else ""
    on_page, shown = (
        _logistic(found, _weight_tables()[f"{curve}{suffix}"]) for curve in ("page_confidence", "answer_confidence")
    )
    best = units[0].features
    asked = best.get("asked", 0.0)
    if asked < MIN_ASKED or (asked < LITTLE_ASKED and not best.get("asked nearby")):
        on_page = 0.0  # only about the same subject, as the first sentence of its page usually is
    return Strength(on_page, shown, found["words nearby"])


def _logistic(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return 1 / (1 + math.exp(-sum(value * weights.get(name, 0.0) for name, value in found.items())))


def reader_confidence(units: Sequence[ScoredUnit], question: Question, by_words: Strength) -> float:
    """The probability that the answer chosen by the reading model is right."""
    return _logistic(reader_features(units, question, by_words), _weight_tables()["reader_confidence"])


def reader_features(units: Sequence[ScoredUnit], question: Question, by_words: Strength) -> dict[str, float]:
    """Features that separate right from wrong answers of the reading model: a few by words and a few by meaning."""
    best = units[0].features
    here = (units[0].segmented.page.ref, units[0].passage)
    others = [unit.total for unit in units if (unit.segmented.page.ref, unit.passage) != here]
    words = features(units, question, named=False)
    return {name: words[name] for name in WORD_FEATURES} | {
        "relevance": max(-MAX_LOGIT, min(best["relevance"], MAX_LOGIT)),
        "passage answers": max(-MAX_LOGIT, min(best["passage answers"], MAX_LOGIT)),
        "ahead of other passages": min(units[0].total - max(others), FAR_AHEAD) / FAR_AHEAD if others else 1.0,
        "asks why": float(question.kind == "reason"),
        "page by words": by_words.page_confidence,
        "answer by words": by_words.answer_confidence,
    }


WORD_FEATURES = ("always", "words and title", "words nearby", "names missing", "unknown words", "not the kind")
MAX_LOGIT = 8.0
"""Larger logits of the reading model are cut off here, in both directions."""


def features(units: Sequence[ScoredUnit], question: Question, *, named: bool) -> dict[str, float]:
    """Features that separate right from wrong answers: how much of the question is there, how close, and where else."""
    best = units[0].features
    own = best.get("words", 0.0)
    covered = own + best.get("title words", 0.0)
    near = covered + best.get("words beside it", 0.0) + best.get("heading words", 0.0)
    passage = near + best.get("words around it", 0.0)
    others = [
        unit.total
        for unit in units
        # By title and not by page, since the same article in two books agrees with itself; a unit without the kind of
        # answer that is wanted does not compete.
        if unit.segmented.page.title != units[0].segmented.page.title and unit.features.get("not the kind", 0.0) < 1.0
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
        # Being ahead means less if all words were found, so the two cases have weights of their own.
        "ahead": 0.0 if is_full else ahead,
        "ahead with all words": ahead if is_full else 0.0,
        "few words": float(len(question.terms) <= 2),
        "meaning": best.get("meaning", 0.0),
    }
