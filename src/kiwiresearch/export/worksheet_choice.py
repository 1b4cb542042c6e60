"""What a teacher wants on a worksheet: how many questions, and of which kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from kiwiresearch.errors import BadUsage
from kiwiresearch.export.worksheet_question import QuestionKind

ExerciseKind = Literal["open", "truth", "numbers", "words", "matching", "order"]
EXERCISE_KINDS: tuple[ExerciseKind, ...] = get_args(ExerciseKind)
"""The parts of a worksheet, in the order in which they are printed."""
QUESTION_KINDS: Mapping[ExerciseKind, tuple[QuestionKind, ...]] = MappingProxyType(
    {
        "open": ("who", "what", "when", "where", "count", "why"),
        "truth": ("truth",),
        "numbers": ("number", "date"),
        "words": ("name",),
        "matching": (),
        "order": (),
    }
)
"""The questions of each part; terms to match and events to order are one exercise each."""
MIN_WANTED, MAX_WANTED = 3, 30


@dataclass(frozen=True, slots=True)
class WorksheetChoice:
    """How many questions a worksheet should have, and which exercises."""

    count: int = 0
    """0 for as many good ones as the page yields."""
    kinds: frozenset[ExerciseKind] = frozenset(EXERCISE_KINDS)

    @property
    def has_all_kinds(self) -> bool:
        return len(self.kinds) == len(EXERCISE_KINDS)

    @property
    def question_kinds(self) -> frozenset[QuestionKind]:
        return frozenset(kind for exercise in self.kinds for kind in QUESTION_KINDS[exercise])


ANY = WorksheetChoice()


def choice_of(count: int = 0, kinds: Iterable[str] = ()) -> WorksheetChoice:
    """A choice as people enter it; no kinds mean all."""
    wanted = list(kinds)
    known = [kind for kind in EXERCISE_KINDS if kind in wanted]
    unknown = next((kind for kind in wanted if kind not in EXERCISE_KINDS), None)
    if unknown is not None:
        raise BadUsage(f"{unknown!r} is not a kind of question.", remedy=f"Choose from: {', '.join(EXERCISE_KINDS)}.")
    if count and not MIN_WANTED <= count <= MAX_WANTED:
        raise BadUsage(
            f"A worksheet cannot have {count} questions.", remedy=f"Choose a number from {MIN_WANTED} to {MAX_WANTED}."
        )
    return WorksheetChoice(count, frozenset(known or EXERCISE_KINDS))
