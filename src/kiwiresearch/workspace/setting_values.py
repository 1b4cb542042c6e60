"""Which values each setting may have, and the limits of roles and users."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kiwiresearch.codec import Record
from kiwiresearch.crawl import LISTS, STRATEGIES, ScoringWeights
from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.kin.loop import BOUNDS

MAX_LIMIT = 10_000_000


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Limits of each role: the table [limits] of the settings; 0 means unlimited."""

    reader_requests_a_minute: int = 600
    """How many requests a reader may make in a minute."""

    reader_questions_a_day: int = 0
    """How many questions a reader may ask in a day."""

    researcher_requests_a_minute: int = 600
    """How many requests a researcher may make in a minute."""

    researcher_questions_a_day: int = 0
    """How many questions a researcher may ask in a day."""

    researcher_running: int = 2
    """How many runs of one researcher are processed at once; the others wait."""

    researcher_queued: int = 5
    """How many runs of one researcher may wait."""

    researcher_max_pages: int = 500
    """The maximum number of pages in a run of a researcher."""

    owner_requests_a_minute: int = 1_200
    """How many requests an owner may make in a minute."""


@dataclass(frozen=True, slots=True)
class UserLimits(Record):
    """The limits of one user; 0 means unlimited."""

    requests_a_minute: int = 0
    questions_a_day: int = 0
    running: int = 0
    """Runs that are processed at once."""
    queued: int = 0
    """Runs that wait."""
    max_pages: int = 0
    """Pages of one run."""


NO_LIMITS = UserLimits()
LIMIT_NAMES = tuple(field.name for field in fields(UserLimits))


def user_limits(settings: LimitSettings, role: str, own: Mapping[str, Any]) -> UserLimits:
    """The limits of the role, overridden by the user's own; invalid ones are ignored."""
    found = {name: getattr(settings, f"{role}_{name}", 0) for name in LIMIT_NAMES}
    found |= {name: own[name] for name in LIMIT_NAMES if type(own.get(name)) is int and own[name] >= 0}
    return UserLimits(**found)


def checked_limits(own: Mapping[str, Any]) -> dict[str, int]:
    """The limits of a user, if they are valid; else BadUsage."""
    for name, value in own.items():
        if name not in LIMIT_NAMES:
            raise BadUsage(f"Unknown limit {name!r}.", remedy=f"Choose one of: {', '.join(LIMIT_NAMES)}.")
        if type(value) is not int or not 0 <= value <= MAX_LIMIT:
            raise BadUsage(
                f"The limit {name!r} cannot be {value!r}.",
                remedy=f"Use a number up to {MAX_LIMIT:,}; 0 means unlimited.",
            )
    return dict(own)


RANGES: dict[str, tuple[float, float]] = {
    "cluster_cache_mb": (1, 65_536),
    "serve_timeout_s": (0.1, 3_600),
    "search_books": (1, 1_000),
    "model_timeout_s": (1, 86_400),
    "model_context_tokens": (0, 10_000_000),
    "model_pages": (0, 100_000),
    "routing_ttl_s": (0, 31_536_000),
    "max_pages": (1, 100_000),
    "max_depth": (0, 100),
    "max_links_per_page": (1, 100_000),
    "max_seeds": (1, 10),
    "first_sections": (0, 100_000),
    "branch_share": (0.01, 1),
    "ask.top_pages": (1, 50),
    "ask.passages": (1, 50),
    "ask.context_tokens": (100, 1_000_000),
    "ask.window_words": (20, 10_000),
    "ask.overlap_words": (0, 1_000),
    "ask.max_pages": (1, 1_000),
    "ask.max_passages": (1, 10_000),
    "ask.widen": (1, 20),
    "ask.title_sim_exit": (0, 1),
    "ask.sim_threshold": (0, 1),
    "ask.title_sim_exit_meaning": (0, 1),
    "ask.sim_threshold_meaning": (0, 1),
    "ask.least_confidence": (0, 1),
    "ask.max_new_tokens": (1, 100_000),
    "serve.port": (0, 65_535),
    "serve.requests_a_minute": (1, 10_000_000),
    "serve.max_body_kb": (1, 1_000_000),
    "serve.at_once": (1, 10_000),
    "serve.request_timeout_s": (1, 86_400),
    "serve.max_book_gb": (0, 100_000),
    **{f"limits.{limit.name}": (0, MAX_LIMIT) for limit in fields(LimitSettings)},
    **{f"kin.{name}": bounds for name, bounds in BOUNDS.items()},
    **{f"scoring_weights.{weight.name}": (0, 1_000) for weight in fields(ScoringWeights)},
}

THEMES = ("system", "light", "dark")
CHOICES: dict[str, tuple[str, ...]] = {
    "crawl_strategy": STRATEGIES,
    "link_filters.lists": LISTS,
    "serve.theme": THEMES,
}
PATTERNS: dict[str, tuple[str, str]] = {
    "serve.public_url": (r"https?://[^\s/?#@]+/?", "without a path, for example 'https://desk.school.lan'"),
    "kiwix_url": (r"https?://[^\s/?#]+(/[^\s?#]*)?", "such as 'http://localhost:8080'"),
}

MAX_NUMBER = 10**18
"""Larger integers are outside every range, and may be too large for a float."""

_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple: "a list of texts",
}
_FLAGS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": False}


def value_from_text(name: str, text: str, kind: type) -> Any:
    """Parse the value of an environment variable."""
    try:
        if kind is bool:
            return _FLAGS[text.strip().lower()]
        if kind is tuple:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        return kind(text)
    except (ValueError, KeyError) as problem:
        raise BadSettings(f"{name} cannot be {text!r}.", remedy=f"It must be {_KINDS[kind]}.") from problem


def checked_value(name: str, key: str, value: Any, kind: type) -> Any:
    """The value of a key, if it is valid; else BadSettings, which refers to the key by `name`."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < MAX_NUMBER else math.inf
    if kind is tuple and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = tuple(value)
    # Not `isinstance`, which would accept true and false as numbers.
    if type(value) is not kind:
        raise BadSettings(f"{name} cannot be {value!r}.", remedy=f"It must be {_KINDS[kind]}.")
    remedy = ""
    if key in RANGES and isinstance(value, int | float):
        low, high = RANGES[key]
        if not low <= value <= high:  # NaN is outside every range
            remedy = f"It must be between {low:g} and {high:g}."
    elif key in PATTERNS:
        pattern, form = PATTERNS[key]
        if value and not re.fullmatch(pattern, str(value)):
            remedy = f"It must be an address {form}."
    elif key in CHOICES and value not in CHOICES[key]:
        remedy = f"It must be one of: {', '.join(CHOICES[key])}."
    if remedy:
        raise BadSettings(f"{name} cannot be {value!r}.", remedy=remedy)
    return value
