"""Claims by rule on labelled sentences: are they of the right type, and is their subject named rightly or left alone?

Each figure is told twice: on the rows that the rules were written with, and on
rows of another annotator that were held back (`held_`). How often whole claims
are right, and whether their confidence says so, is measured in `calibration`.
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
    Labelled,
    Row,
    sentences,
)
from kiwiresearch.claims.language import grammar_of
from kiwiresearch.claims.sentence import PageSentence, is_whole, points_outside, sentences_of
from kiwiresearch.claims.subjects import NamedSubject, Subjects
from kiwiresearch.claims.types import SentenceFeatures, SentenceWords, cue_points, is_counting, may_have_type, type_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.quantity_mentions import quantities_in

NONE = "none"
NO_CLAIM = ("clause", "no name")
"""Where nothing can be named and the words stand for something: nothing may be claimed."""

Verdict = Literal["named", "misnamed", "silent", "left alone", "in vain"]
"""Named rightly or wrongly, or not though there is a name; nothing to name, and left so or not."""


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    if not SCHOOLS.is_file():
        return None
    figures: dict[str, float] = {}
    beside: dict[str, float] = {}
    for before, types, subjects in (("", TYPES, SUBJECTS), ("held_", TYPES_HELD, SUBJECTS_HELD)):
        guessed = [(one.row, guess(one)) for one in sentences(types)]
        judged = [(one.row, judge(one)) for one in sentences(subjects)]
        figures |= {
            f"{before}{name}": value for name, value in (type_figures(guessed) | subject_figures(judged)).items()
        }
        beside |= {f"{before}{name}": value for name, value in lenient_by_class(guessed).items()}
        beside |= {f"{before}rows_{verdict.replace(' ', '_')}": float(n) for verdict, n in counted(judged).items()}
    calibrated = calibration.figures(calibration.judged_claims())
    files: list[Path] = [SCHOOLS, TYPES, TYPES_HELD, SUBJECTS, SUBJECTS_HELD, calibration.JUDGED]
    return digest_of(*files), figures | calibrated.pinned, beside | calibrated.beside


# Types.


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences of a page as the extractor sees them."""

    sentences: tuple[PageSentence, ...]
    subjects: Subjects

    def at(self, offset: int) -> int:
        """The number of the sentence at an offset of the text; -1 if there is none."""
        found = (number for number, one in enumerate(self.sentences) if one.start <= offset < one.end)
        return next(found, -1)


def reading_of(page: PageDoc) -> Reading:
    own = tuple(sentences_of(page))
    return Reading(own, Subjects(page, grammar_of(page.language), own))


def guess(one: Labelled) -> str:
    """The class the rules give a sentence, whether or not they would make a claim of it."""
    reading, language = reading_of(one.page), one.page.language
    number = reading.at(one.start)
    if number < 0:
        return NONE
    subjects, grammar, in_lead = reading.subjects, grammar_of(language), reading.sentences[number].section == 0
    words = SentenceWords.of(one.text)
    cues = cue_points(words, language)
    has_number = is_counting(one.text, words, grammar)
    if not (in_lead or has_number or may_have_type(one.text, words, cues)):
        return NONE
    dates = dates_in(one.text, language) if has_number else []
    quantities = quantities_in(one.text, language, not_in=[(at.start, at.end) for at in dates]) if has_number else []
    named = subjects.of(number)
    looks = SentenceFeatures(
        one.text,
        cues,
        subjects.opening(number).verb_start,
        quantities,
        dates,
        is_about_page=named is not None and named.name == subjects.page_subject.name,
        first=number == subjects.definition_index,
        lead=in_lead,
    )
    typed = type_of(looks)
    return typed.type if typed else NONE


def type_figures(guessed: Sequence[tuple[Row, str]]) -> dict[str, float]:
    """The mean F1 of the eight classes: strictly, and with every class counted as right that a reader accepts."""
    plain = [(row, answer) for row, answer in guessed if row.draw == "plain"]
    return {
        "types_strict": macro_f1(strictly(guessed)),
        "types_lenient": macro_f1(leniently(guessed)),
        "types_plain_strict": macro_f1(strictly(plain)),
        "types_plain_lenient": macro_f1(leniently(plain)),
    }


def lenient_by_class(guessed: Sequence[tuple[Row, str]]) -> dict[str, float]:
    return {f"type_{name}": value for name, value in f1_by_class(leniently(guessed)).items()}


def strictly(guessed: Iterable[tuple[Row, str]]) -> list[tuple[str, str]]:
    """What is right and what was answered."""
    return [(row.label, answer) for row, answer in guessed]


def leniently(guessed: Iterable[tuple[Row, str]]) -> list[tuple[str, str]]:
    return [(answer if row.allows(answer) else row.label, answer) for row, answer in guessed]


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


def judge(one: Labelled) -> Verdict:
    """What the rules do with the words that stand for something: by the sentence as a claim would word it."""
    row, reading = one.row, reading_of(one.page)
    number = reading.at(row.p_start)
    named = reading.subjects.of(number) if number >= 0 else None
    if named is None or not _can_be_claimed(one.page, reading, number):
        return "silent" if row.stands_for else "left alone"
    sentence = reading.sentences[number]
    start, end = row.p_start - sentence.start, row.p_end - sentence.start
    is_replaced = named.start < min(end, named.end) and start < named.end
    if not row.stands_for:
        return "in vain" if is_replaced or row.why in NO_CLAIM else "left alone"
    if is_replaced:
        return "named" if row.names(put_in(sentence, named, reading.subjects)) else "misnamed"
    return "named" if _tells(named.substitute_in(sentence.text, reading.subjects.page_subject), row) else "misnamed"


def _can_be_claimed(page: PageDoc, reading: Reading, number: int) -> bool:
    sentence = reading.sentences[number]
    torn = sentence.kind == "item" and reading.subjects.opening(number).verb_start < 0
    return (
        is_whole(sentence)
        and not torn
        and not points_outside(sentence.text, SentenceWords.of(sentence.text), grammar_of(page.language))
    )


def put_in(sentence: PageSentence, named: NamedSubject, subjects: Subjects) -> str:
    """The words that replace others of the sentence."""
    text = named.substitute_in(sentence.text, subjects.page_subject)
    return text[named.start : len(text) - (len(sentence.text) - named.end)]


def _tells(text: str, row: Row) -> bool:
    """Whether a reader of the sentence alone sees the name."""
    folded = text.casefold()
    return any(name.casefold() in folded for name in (row.stands_for, *row.accept))


def counted(judged: Iterable[tuple[Row, Verdict]]) -> dict[Verdict, int]:
    counts = Counter(verdict for _, verdict in judged)
    return {verdict: counts[verdict] for verdict in ("named", "misnamed", "silent", "left alone", "in vain")}


def subject_figures(judged: Sequence[tuple[Row, Verdict]]) -> dict[str, float]:
    """Right or not claimed, of all; named, of what has a name; right, of what was named or claimed."""
    counts = counted(judged)
    wrong = counts["misnamed"] + counts["in vain"]
    return {
        "subjects_right": 1 - wrong / max(len(judged), 1),
        "subjects_named": counts["named"] / max(sum(bool(row.stands_for) for row, _ in judged), 1),
        "subjects_named_right": counts["named"] / max(counts["named"] + wrong, 1),
    }
