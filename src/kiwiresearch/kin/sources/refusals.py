"""Why a source gave nothing: it may not be asked, it did not answer, or it wants to be left alone for a while."""

from __future__ import annotations

from typing import Literal

from kiwiresearch.errors import KiwiError

Step = Literal[
    "switched off",
    "privacy",
    "credentials",
    "terms",
    "robots.txt",
    "address",
    "quarantine",
]


class SourceError(KiwiError):
    """Something about a source of evidence; the case goes on without it."""


class SourceRefused(SourceError):
    """The source may not be asked this: `step` names the rule that says so."""

    def __init__(self, step: Step, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.step = step


class SourceUnreachable(SourceError):
    """The source did not answer, or not with anything that can be read. Trying again may help."""


class SourceResting(SourceError):
    """The source is not to be asked again before `after_s` seconds have passed."""

    def __init__(self, message: str, after_s: float) -> None:
        super().__init__(message, remedy=f"Ask it again in {round(after_s) or 1} seconds.")
        self.after_s = after_s
