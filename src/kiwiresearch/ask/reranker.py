"""Ranks the best passages again by the reading model: which sentence answers, with which words, how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import YesNo
from kiwiresearch.ask.context import Stretch, stretches_of
from kiwiresearch.ask.page_units import SegmentedPage
from kiwiresearch.ask.question import Question
from kiwiresearch.ask.refusal import accept_or_refuse_by_reader
from kiwiresearch.ask.score import (
    ANSWER_WORDS,
    RetrievedEvidence,
    ScoredUnit,
    Strength,
    reader_confidence,
    score_other_unit,
    with_reader_score,
)
from kiwiresearch.embed import similarity, static_embedder
from kiwiresearch.reader import TextToRead

if TYPE_CHECKING:
    from kiwiresearch.reader import Reader, TextScores, UnitScores
    from kiwiresearch.zim import EntryRef

MAX_STRETCHES, MAX_TOKENS = 10, 800
"""How many stretches of text are read, and how many tokens in total."""

SIMILARITY_WEIGHT = 5.0
"""The weight of similarity to the question, against the score by words, in the choice of what to read."""

UNREAD_RELEVANCE = -8.0
"""The relevance of a sentence that was not read: lower than that of almost any that was."""

PLAIN_YES, PLAINLY_RELEVANT = 3.5, 2.0
"""How much more a text must say yes than no to be answered with yes, and how relevant the sentence must be. Of
CMU's 196 questions, 54 are answered this way, 52 of them correctly. The answer is never no: when the model was sure of
no, it was wrong as often as right.
"""

Key = tuple["EntryRef", int]


@dataclass(frozen=True, slots=True)
class _ReaderJudgement:
    """The model's judgement of a unit and of the text around it."""

    unit: UnitScores
    text: TextScores


def rerank(reader: Reader, question: Question, evidence: RetrievedEvidence, min_confidence: float) -> RetrievedEvidence:
    """The evidence ranked by words and meaning together, and accepted or refused accordingly."""
    # A comparison has one unit for each thing, in a fixed order, which must not be changed.
    if not evidence.units or evidence.part_count:
        return evidence
    stretches = stretches_to_read(question, evidence.units)
    judgements = _read(reader, question, stretches)
    # Neighbours that were read get a score too: a sentence without any word of the question may be the best answer.
    candidates = (*evidence.units, *_unscored_units(evidence.units, stretches, question))
    units = [with_reader_score(unit, *_reader_features_of(judgements, unit)) for unit in candidates]
    units.sort(key=lambda unit: (-unit.total, unit.sort_key))
    best = judgements.get((units[0].segmented.page.ref, units[0].unit))
    confidence = reader_confidence(units, question, evidence.strength)
    strength = Strength(evidence.strength.page_confidence, confidence, evidence.strength.coverage)
    verdict = _verdict(best) if question.kind == "yes_no" else ""
    return accept_or_refuse_by_reader(
        replace(evidence, units=tuple(units), strength=strength, verdict=verdict), min_confidence
    )


def _verdict(best: _ReaderJudgement | None) -> YesNo:
    is_plain = best is not None and best.unit.relevance >= PLAINLY_RELEVANT and best.text.yes >= PLAIN_YES
    return "yes" if is_plain else ""


def _reader_features_of(
    found: dict[Key, _ReaderJudgement], scored_unit: ScoredUnit
) -> tuple[dict[str, float], tuple[int, int] | None]:
    """The model's judgement of a unit as named features, and the span of the answer in it."""
    seen = found.get((scored_unit.segmented.page.ref, scored_unit.unit))
    if seen is None:
        # Not 0.0, which would mean "as relevant as not": an unread sentence must not pass one that was read.
        return {
            "relevance": UNREAD_RELEVANCE,
            ANSWER_WORDS: UNREAD_RELEVANCE,
            "passage answers": UNREAD_RELEVANCE,
        }, None
    # The model read the heading of an infobox row before the row, so its offsets are larger by that much.
    unit, shift = seen.unit, len(_prefix(scored_unit.segmented, scored_unit.unit))
    words = (unit.start - shift, unit.end - shift)
    said = {"relevance": unit.relevance, ANSWER_WORDS: unit.answer_margin, "passage answers": seen.text.answers}
    return said, words if words[1] > words[0] >= 0 else None


def _read(reader: Reader, question: Question, stretches: Sequence[Stretch]) -> dict[Key, _ReaderJudgement]:
    found: dict[Key, _ReaderJudgement] = {}
    for item, text in zip(
        stretches, reader.read(question.text, [reader_text(stretch) for stretch in stretches]), strict=True
    ):
        for index, unit in enumerate(text.units, start=item.first):
            found[item.segmented.page.ref, index] = _ReaderJudgement(unit, text)
    return found


def _unscored_units(
    units: Sequence[ScoredUnit], stretches: Sequence[Stretch], question: Question
) -> Iterator[ScoredUnit]:
    """Units that are read with others, but had too few of the question's words to be scored before."""
    known = {(unit.segmented.page.ref, unit.unit) for unit in units}
    of_page = {unit.segmented.page.ref: unit for unit in units}
    for stretch in stretches:
        ref = stretch.segmented.page.ref
        for index in range(stretch.first, stretch.end):
            if (ref, index) not in known:
                yield score_other_unit(of_page[ref], index, question)


def stretches_to_read(question: Question, units: Sequence[ScoredUnit]) -> list[Stretch]:
    """The stretches to read: the text around the units that are best by words and by similarity to the question."""
    rows = static_embedder().embed([question.text, *(f"{unit.segmented.page.title}. {unit.text}" for unit in units)])
    similarities = SIMILARITY_WEIGHT * similarity(rows[0], rows[1:])
    order = sorted(range(len(units)), key=lambda at: (-units[at].total - similarities[at], units[at].sort_key))
    return stretches_of([units[at] for at in order], MAX_TOKENS, MAX_STRETCHES)


def reader_text(stretch: Stretch) -> TextToRead:
    """A stretch as the model reads it."""
    segmented, first = stretch.segmented, stretch.first
    is_box = segmented.units[first].kind == "box"
    heading = "" if is_box else segmented.contexts[segmented.context_of[first]]
    return TextToRead(
        segmented.page.title, heading, tuple(reader_row(segmented, index) for index in range(first, stretch.end))
    )


def reader_row(segmented: SegmentedPage, index: int) -> str:
    """A unit as the model reads it: a row of an infobox with the heading above it."""
    return (_prefix(segmented, index) + segmented.text(segmented.units[index])).replace("\t", ":")


def _prefix(segmented: SegmentedPage, index: int) -> str:
    """'Population ' before the row '- Total' of an infobox: the heading above the row."""
    above = segmented.contexts[segmented.context_of[index]] if segmented.units[index].kind == "box" else ""
    return f"{above} " if above else ""
