"""Claims found by rules in labelled sentences: do they have the right type and the right subject?

Each figure is measured twice: on the rows that the rules were written with, and on rows of a second annotator that were
held back (`held_`). `calibration` measures how often whole claims are right, and whether their confidence fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evals import calibration
from evals.data import digest_of
from evals.labelled import (
    CLASSES,
    SCHOOLS,
    SUBJECTS,
    SUBJECTS_HELD,
    TYPES,
    TYPES_HELD,
    LabelledSentence,
    Row,
    load_sentences,
)
from kiwiresearch.claims.language import grammar_of
from kiwiresearch.claims.sentence import PageSentence, is_whole, needs_context, sentences_of
from kiwiresearch.claims.subjects import NamedSubject, Subjects
from kiwiresearch.claims.types import SentenceFeatures, SentenceWords, cue_points, is_counting, may_have_type, type_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.quantity_mentions import quantities_in

NONE = "none"
UNNAMEABLE = ("clause", "no name")
"""Reasons why there is no name although the words stand for something, so that nothing may be claimed."""

Verdict = Literal["named", "misnamed", "silent", "left alone", "in vain"]
"""If there is a name: the right one, a wrong one or none. If there is none: none was given, or one was."""


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    if not SCHOOLS.is_file():
        return None
    figures: dict[str, float] = {}
    unpinned: dict[str, float] = {}
    for prefix, types, subjects in (("", TYPES, SUBJECTS), ("held_", TYPES_HELD, SUBJECTS_HELD)):
        classified = [(labelled.row, classify(labelled)) for labelled in load_sentences(types)]
        judged = [(labelled.row, judge_subject(labelled)) for labelled in load_sentences(subjects)]
        figures |= {
            f"{prefix}{name}": value for name, value in (type_figures(classified) | subject_figures(judged)).items()
        }
        unpinned |= {f"{prefix}{name}": value for name, value in lenient_f1_by_class(classified).items()}
        unpinned |= {
            f"{prefix}rows_{verdict.replace(' ', '_')}": float(count)
            for verdict, count in count_verdicts(judged).items()
        }
    calibrated = calibration.figures(calibration.load_judged_claims())
    files: list[Path] = [SCHOOLS, TYPES, TYPES_HELD, SUBJECTS, SUBJECTS_HELD, calibration.LABELS_FILE]
    return digest_of(*files), figures | calibrated.pinned, unpinned | calibrated.unpinned


# Types.


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences of a page and their subjects, as the extractor sees them."""

    sentences: tuple[PageSentence, ...]
    subjects: Subjects

    def at(self, offset: int) -> int:
        """The number of the sentence at an offset of the text, or -1."""
        found = (number for number, sentence in enumerate(self.sentences) if sentence.start <= offset < sentence.end)
        return next(found, -1)


def reading_of(page: PageDoc) -> Reading:
    page_sentences = tuple(sentences_of(page))
    return Reading(page_sentences, Subjects(page, grammar_of(page.language), page_sentences))


def classify(labelled: LabelledSentence) -> str:
    """The class that the rules give a sentence, whether or not they would make a claim of it."""
    reading, language = reading_of(labelled.page), labelled.page.language
    number = reading.at(labelled.start)
    if number < 0:
        return NONE
    subjects, grammar, in_lead = reading.subjects, grammar_of(language), reading.sentences[number].section == 0
    words = SentenceWords.of(labelled.text)
    cues = cue_points(words, language)
    has_number = is_counting(labelled.text, words, grammar)
    if not (in_lead or has_number or may_have_type(labelled.text, words, cues)):
        return NONE
    dates = dates_in(labelled.text, language) if has_number else []
    quantities = (
        quantities_in(labelled.text, language, not_in=[(date.start, date.end) for date in dates]) if has_number else []
    )
    named = subjects.of(number)
    features = SentenceFeatures(
        labelled.text,
        cues,
        subjects.opening(number).verb_start,
        quantities,
        dates,
        is_about_page=named is not None and named.name == subjects.page_subject.name,
        first=number == subjects.definition_index,
        lead=in_lead,
    )
    typed = type_of(features)
    return typed.type if typed else NONE


def type_figures(classified: Sequence[tuple[Row, str]]) -> dict[str, float]:
    """The mean F1 of the eight classes: for the label alone, and for every class that a reader accepts."""
    plain = [(row, answer) for row, answer in classified if row.draw == "plain"]
    return {
        "types_strict": macro_f1(strict_pairs(classified)),
        "types_lenient": macro_f1(lenient_pairs(classified)),
        "types_plain_strict": macro_f1(strict_pairs(plain)),
        "types_plain_lenient": macro_f1(lenient_pairs(plain)),
    }


def lenient_f1_by_class(classified: Sequence[tuple[Row, str]]) -> dict[str, float]:
    return {f"type_{name}": value for name, value in f1_by_class(lenient_pairs(classified)).items()}


def strict_pairs(classified: Iterable[tuple[Row, str]]) -> list[tuple[str, str]]:
    """Pairs of the label and the answer."""
    return [(row.label, answer) for row, answer in classified]


def lenient_pairs(classified: Iterable[tuple[Row, str]]) -> list[tuple[str, str]]:
    return [(answer if row.accepts(answer) else row.label, answer) for row, answer in classified]


def f1_by_class(pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    right = Counter(gold for gold, answer in pairs if gold == answer)
    golds, answers = Counter(gold for gold, _ in pairs), Counter(answer for _, answer in pairs)
    return {name: 2 * right[name] / max(golds[name] + answers[name], 1) for name in CLASSES}


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """The mean over the classes that occur."""
    occurring = {name for pair in pairs for name in pair}
    values = [value for name, value in f1_by_class(pairs).items() if name in occurring]
    return sum(values) / max(len(values), 1)


# Subjects.


def judge_subject(labelled: LabelledSentence) -> Verdict:
    """What the rules do with words that stand for something, in the sentence as a claim would have it."""
    row, reading = labelled.row, reading_of(labelled.page)
    number = reading.at(row.p_start)
    named = reading.subjects.of(number) if number >= 0 else None
    if named is None or not _can_be_claimed(labelled.page, reading, number):
        return "silent" if row.stands_for else "left alone"
    sentence = reading.sentences[number]
    start, end = row.p_start - sentence.start, row.p_end - sentence.start
    is_replaced = named.start < min(end, named.end) and start < named.end
    if not row.stands_for:
        return "in vain" if is_replaced or row.why in UNNAMEABLE else "left alone"
    if is_replaced:
        return "named" if row.is_named_by(replacement(sentence, named, reading.subjects)) else "misnamed"
    return "named" if _has_name(named.substitute_in(sentence.text, reading.subjects.page_subject), row) else "misnamed"


def _can_be_claimed(page: PageDoc, reading: Reading, number: int) -> bool:
    sentence = reading.sentences[number]
    torn = sentence.kind == "item" and reading.subjects.opening(number).verb_start < 0
    return (
        is_whole(sentence)
        and not torn
        and not needs_context(sentence.text, SentenceWords.of(sentence.text), grammar_of(page.language))
    )


def replacement(sentence: PageSentence, named: NamedSubject, subjects: Subjects) -> str:
    """The words that replace the subject of the sentence."""
    text = named.substitute_in(sentence.text, subjects.page_subject)
    return text[named.start : len(text) - (len(sentence.text) - named.end)]


def _has_name(text: str, row: Row) -> bool:
    """Whether the name is in the sentence, for a reader who sees nothing else."""
    folded = text.casefold()
    return any(name.casefold() in folded for name in (row.stands_for, *row.accept))


def count_verdicts(judged: Iterable[tuple[Row, Verdict]]) -> dict[Verdict, int]:
    counts = Counter(verdict for _, verdict in judged)
    return {verdict: counts[verdict] for verdict in ("named", "misnamed", "silent", "left alone", "in vain")}


def subject_figures(judged: Sequence[tuple[Row, Verdict]]) -> dict[str, float]:
    """Shares of subjects: right or not claimed, of all; named, of those with a name; right, of those given a name."""
    counts = count_verdicts(judged)
    wrong = counts["misnamed"] + counts["in vain"]
    return {
        "subjects_right": 1 - wrong / max(len(judged), 1),
        "subjects_named": counts["named"] / max(sum(bool(row.stands_for) for row, _ in judged), 1),
        "subjects_named_right": counts["named"] / max(counts["named"] + wrong, 1),
    }
