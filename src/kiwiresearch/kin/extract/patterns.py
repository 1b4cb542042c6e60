"""Patterns that know the letters of all scripts, which those of the standard library do not."""

from __future__ import annotations

import re

import regex  # type: ignore[import-untyped]

Pattern = re.Pattern[str]
Match = re.Match[str]

__all__ = ["Match", "Pattern", "regex"]
