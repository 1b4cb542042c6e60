"""What the resolver may be told: its thresholds, and how it counts."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.errors import BadSettings


@dataclass(frozen=True, slots=True)
class ResolveSettings:
    """Thresholds on the similarity score, which is a probability."""

    merge_at: float = 0.95
    """From here on a merge may be made unattended, if enough kinds of evidence speak for it."""
    review_merge_at: float = 0.80
    review_at: float = 0.50
    shown_at: float = 0.20
    """Below, a pair is not worth a line, unless its name and dates ask for an explanation."""
    least_groups: int = 2
    """How many independent kinds of evidence an unattended merge needs."""
    rounds: int = 4
    """How often what is known of relatives is passed on."""
    use_relatives: bool = True

    def __post_init__(self) -> None:
        marks = (0.0, self.shown_at, self.review_at, self.review_merge_at, self.merge_at, 1.0)
        if list(marks) != sorted(marks):
            raise BadSettings(
                f"The thresholds {marks[1:-1]!r} are not in order.",
                remedy="Give shown_at, review_at, review_merge_at and merge_at from low to high, between 0 and 1.",
            )
        if self.rounds < 0 or self.least_groups < 1:
            raise BadSettings(
                f"{self.rounds!r} rounds and {self.least_groups!r} kinds of evidence make no sense.",
                remedy="Allow no fewer than 0 rounds and 1 kind of evidence.",
            )


DEFAULT = ResolveSettings()
