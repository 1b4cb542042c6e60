"""How much one user may do: what the settings give each role, and what differs for one user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kiwiresearch.errors import BadUsage

LARGEST = 10_000_000


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Limits of each role, below [limits] in the settings; 0 sets none."""

    reader_requests_a_minute: int = 600
    """How many requests a reader may make in a minute."""

    reader_questions_a_day: int = 0
    """How many questions a reader may ask in a day."""

    researcher_requests_a_minute: int = 600
    """How many requests a researcher may make in a minute."""

    researcher_questions_a_day: int = 0
    """How many questions a researcher may ask in a day."""

    researcher_running: int = 2
    """How many runs of one researcher are worked on at once; the others wait."""

    researcher_queued: int = 5
    """How many runs of one researcher may wait."""

    researcher_max_pages: int = 500
    """How many pages a run of a researcher may take at most."""

    owner_requests_a_minute: int = 1_200
    """How many requests an owner may make in a minute."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one user may do; 0 is no limit."""

    requests_a_minute: int = 0
    questions_a_day: int = 0
    running: int = 0
    queued: int = 0
    max_pages: int = 0

    def record(self) -> dict[str, int]:
        return {one.name: getattr(self, one.name) for one in fields(self)}


NO_LIMITS = Limits()
NAMES = tuple(one.name for one in fields(Limits))


def limits_of(settings: LimitSettings, role: str, own: Mapping[str, Any]) -> Limits:
    """The limits of a user: those of the role, but for what the user's own say; what cannot be one is passed over."""
    found = {name: getattr(settings, f"{role}_{name}", 0) for name in NAMES}
    found |= {name: own[name] for name in NAMES if type(own.get(name)) is int and own[name] >= 0}
    return Limits(**found)


def checked_limits(own: Mapping[str, Any]) -> dict[str, int]:
    """Limits that somebody gives a user, if they can be some."""
    for name, value in own.items():
        if name not in NAMES:
            raise BadUsage(f"There is no limit {name!r}.", remedy=f"There are: {', '.join(NAMES)}.")
        if type(value) is not int or not 0 <= value <= LARGEST:
            raise BadUsage(
                f"{value!r} cannot be the limit {name!r}.", remedy=f"Give a number up to {LARGEST:,}; 0 sets none."
            )
    return dict(own)
