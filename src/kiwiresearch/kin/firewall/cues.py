"""The words of a language by which a source says what happened to whom, ready for looking up."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

DATA = files("kiwiresearch.kin.firewall") / "data"
INITIAL = re.compile(r"[A-Z]\.")
LABEL_TAIL = re.compile(r"\s*(?:\((?:s|es|ren|details?|more)\)|:|\[.*?\])+\s*$")


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that was found, and what it stands for: `text[start:end]`."""

    kind: str
    start: int
    end: int
    word: str


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases by what they stand for, found all at once; of two at one place the longer wins."""

    pattern: re.Pattern[str]
    kinds: Mapping[str, str]

    def found_in(self, text: str) -> list[Cue]:
        # 'M.' is an initial where 'm.' is a marriage.
        matches = (match for match in self.pattern.finditer(text) if not INITIAL.fullmatch(match[0]))
        return [Cue(self.kinds[match[0].lower()], *match.span(), match[0].lower()) for match in matches]


@dataclass(frozen=True, slots=True)
class CueTable:
    """The cue words of one language."""

    labels: Mapping[str, frozenset[str]]
    events: Phrases
    kin: Phrases
    ties: Phrases
    unstated: Phrases
    sexes: Mapping[str, str]
    words: Mapping[str, frozenset[str]]

    def label_kinds(self, label: str) -> frozenset[str]:
        """What a row of this label tells; nothing if the label is not known."""
        plain = " ".join(LABEL_TAIL.sub("", label).split()).lower()
        return self.labels.get(plain, frozenset())


@cache
def cue_table(language: str = "eng") -> CueTable:
    """The table of a language; English serves for those that have none."""
    is_known = language.isascii() and language.isalpha() and (DATA / f"{language}.toml").is_file()
    data = tomllib.loads((DATA / f"{language if is_known else 'eng'}.toml").read_text(encoding="utf-8"))
    labels: dict[str, set[str]] = {}
    for kind, phrases in data["labels"].items():
        for phrase in phrases:
            labels.setdefault(phrase, set()).add(kind)
    return CueTable(
        labels={label: frozenset(kinds) for label, kinds in labels.items()},
        events=_phrases(data["events"]),
        kin=_phrases(data["kin"]),
        ties=_phrases(data["ties"]),
        unstated=_phrases(data["unstated"]),
        sexes={word: sex for sex, words in data["sexes"].items() for word in words},
        words={kind: frozenset(words) for kind, words in data["words"].items()},
    )


def _phrases(table: Mapping[str, Iterable[str]]) -> Phrases:
    kinds = {phrase: kind for kind, phrases in table.items() for phrase in phrases}
    longest_first = sorted(kinds, key=lambda phrase: (-len(phrase), phrase))
    return Phrases(re.compile("|".join(map(_whole, longest_first)), re.IGNORECASE), kinds)


def _whole(phrase: str) -> str:
    before = r"(?<![\w-])" if phrase[0].isalnum() else ""
    behind = r"(?![\w-])" if phrase[-1].isalnum() else ""
    return before + re.escape(phrase) + behind
