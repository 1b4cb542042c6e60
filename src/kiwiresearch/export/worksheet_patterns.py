"""The English patterns and verbs of worksheets, from data files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from kiwiresearch.codec import toml_data

PACKAGE = "kiwiresearch.export"
NEW_LINE = "\\\n"
"""A long pattern goes on in the next line after a backslash."""
PART = re.compile(r"\{\{(\w+)\}\}")


@cache
def _texts() -> Mapping[str, str]:
    """Every pattern by its name, with its parts put in."""
    tables = toml_data(PACKAGE, "worksheet_patterns.toml")
    found: dict[str, str] = {}
    for name, table in tables.items():
        if name != "flags":
            for key, text in table.items():
                found[key] = PART.sub(lambda part: found[part[1]], text.replace(NEW_LINE, ""))
    return found


@cache
def pattern(name: str) -> re.Pattern[str]:
    """A pattern by its name in the data file."""
    ignores_case = name in toml_data(PACKAGE, "worksheet_patterns.toml")["flags"]["ignore_case"]
    return re.compile(_texts()[name], re.IGNORECASE if ignores_case else 0)


class Verbs(NamedTuple):
    """Forms of verbs and the form that follows 'did', 'does' or 'do'."""

    past: Mapping[str, str]
    singular: Mapping[str, str]
    plural: frozenset[str]
    kept_adverbs: frozenset[str]
    dropped_adverbs: frozenset[str]


@cache
def verbs() -> Verbs:
    tables = toml_data(PACKAGE, "worksheet_verbs.toml")
    past = {_with_ed(verb): verb for verb in tables["regular"].split()} | tables["past"]
    plural = tables["present"]["all"].split()
    singular = {_with_s(verb): verb for verb in plural}
    kept, dropped = (frozenset(tables["adverbs"][name].split()) for name in ("kept", "dropped"))
    return Verbs(past, singular, frozenset(plural), kept, dropped)


# Regular forms only: 'loved', 'carried', 'played'; the verbs that double a letter are listed in the file.
def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def _with_s(verb: str) -> str:
    if re.search(r"(?:s|x|ch|sh)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


class RowQuestion(NamedTuple):
    """What is asked about a row of an infobox."""

    label: re.Pattern[str]
    asks: str
    answer: str


@cache
def row_questions() -> tuple[RowQuestion, ...]:
    rows = toml_data(PACKAGE, "worksheet_rows.toml")["rows"]
    return tuple(RowQuestion(re.compile(row["label"]), row["asks"], row["answer"]) for row in rows)
