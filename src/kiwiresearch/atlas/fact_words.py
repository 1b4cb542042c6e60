"""The words that facts are told by, from their table, and what a label is about."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
NO_WORD = re.compile(r"[^\w ]+|\d+|_")
MONTHS = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|"
    r"jul|aug|sept?|oct|nov|dec)\b"
)


@lru_cache(maxsize=4_096)
def plain_label(label: str) -> str:
    """What a label is about: 'Population, July 2005 estimate' and 'Population (2005)' are 'population'."""
    bare = MONTHS.sub(" ", NO_WORD.sub(" ", BRACKETS.sub(" ", label.lower())))
    return " ".join(word for word in bare.split() if word not in table().aside)


@dataclass(frozen=True, slots=True)
class FactWords:
    """What facts are told by."""

    lasting: frozenset[str]
    changing: frozenset[str]
    aside: frozenset[str]
    people: frozenset[str]
    adjectives: dict[str, str]
    events: dict[str, str]
    measured: re.Pattern[str]
    happened: re.Pattern[str]
    adjective: re.Pattern[str]

    def cues(self) -> list[str]:
        """Words of which a claim has one, if it tells a fact in a sentence."""
        verbs = {cue.rpartition(" ")[2] for cue in self.events}
        return sorted({*self.lasting, *self.changing, *self.adjectives, *verbs})


@cache
def table() -> FactWords:
    """The words of the table."""
    text = (files("kiwiresearch.atlas") / "data" / "facts.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)
    events = {cue: event for event, cues in found["events"].items() for cue in cues}
    verbs = _any(cue for cue in events if cue.startswith("was ")) + r"|died|opened"
    names, hedges = _any([*found["lasting"], *found["changing"]]), _any(found["hedging"])
    return FactWords(
        lasting=frozenset(found["lasting"]),
        changing=frozenset(found["changing"]),
        aside=frozenset(found["aside"]),
        people=frozenset(found["people"]),
        adjectives=found["adjectives"],
        events=events,
        measured=re.compile(
            rf"(?:(?:^|(?<=\W))(?:{_any(found['before'])})\s+)*(?P<name>{names})\s+(?:{_any(found['linking'])})\s+"
            rf"(?:(?:{hedges})\s+)*$",
            re.IGNORECASE,
        ),
        happened=re.compile(rf"\s(?P<event>{verbs})(?: (?:on|in|around|about))?(?: the)? $", re.IGNORECASE),
        adjective=re.compile(rf"(?: \([^()]*\))? ({'|'.join(found['adjectives'])})\b"),
    )


def _any(words: Any) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
