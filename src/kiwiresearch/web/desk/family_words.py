"""Names, years and ties of people in the words of the reader."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from kiwiresearch.kin.privacy.wording import LIVING_NAME
from kiwiresearch.web.desk.words import Words

BORN, DIED, DEAD = "b. ", "d. ", ", dead"
WHY_LIVING = (
    ("death_told", re.compile(r"a source tells of the death")),
    ("user_says", re.compile(r"the user says so")),
    ("user_says_why", re.compile(r"the user says so: (?P<words>.+)", re.DOTALL)),
    ("no_date", re.compile(r"no date says how old the person would be")),
    ("lately_dead", re.compile(r"dead, but not known to be so for (?P<n>\d+) years")),
    ("long_ago", re.compile(r"born more than (?P<n>\d+) years ago, judging by (?P<ground>.+)")),
    ("not_long_ago", re.compile(r"born (?P<n>\d+) years ago or less, as far as (?P<ground>.+) tells")),
)
"""Why somebody counts as living or dead, as the rules word it, by the name under which the catalogue has it."""

AGES = (
    ("exactly", re.compile(r"(?P<most>\d+)")),
    ("either", re.compile(r"(?P<least>\d+) or (?P<most>\d+)")),
    ("between", re.compile(r"(?P<least>\d+) to (?P<most>\d+)")),
    ("at_least", re.compile(r"at least (?P<least>\d+)")),
    ("at_most", re.compile(r"at most (?P<most>\d+)")),
    ("before_birth", re.compile(r"before birth")),
)
"""How old somebody was, as timelines word it, likewise."""


def called(words: Words, name: str) -> str:
    """A name; whoever is kept back has none."""
    if name == LIVING_NAME:
        return words("family.living_name")
    return " ".join(name.split()) or words("family.unnamed")


def lived(words: Words, years: str) -> str:
    """The years of a life as reports write them, 'b. 1809' and '1809–1882', in the reader's language."""
    if years.startswith(BORN):
        is_dead = years.endswith(DEAD)
        year = years.removeprefix(BORN).removesuffix(DEAD)
        return words("family.born_dead" if is_dead else "family.born", year=year)
    return words("family.died", year=years.removeprefix(DIED)) if years.startswith(DIED) else years


def aged(english: str, words: Words) -> str:
    """How old somebody was; what is no age is shown as it stands, marked as English."""
    for name, form in AGES:
        if found := form.fullmatch(english):
            return words(f"family.age.{name}", **found.groupdict())
    return _in_english(english)


def why_living(english: str, words: Words) -> Markup:
    """Why somebody counts as living or dead; a reason that is none of ours is shown as it stands, marked as English."""
    plain = english[:1].lower() + english[1:].rstrip(".")
    for name, form in WHY_LIVING:
        if found := form.fullmatch(plain):
            values = {key: _value(key, part, words) for key, part in found.groupdict().items()}
            # The catalogue holds no markup, and the values are escaped.
            return Markup(words(f"family.why_living.{name}", **values))  # noqa: S704
    return _in_english(english)


def _value(key: str, text: str, words: Words) -> Markup:
    """A part of a reason: the catalogue has what verdicts rest on; what the user says is in any language."""
    if key == "words":
        return Markup('<bdi dir="auto">{}</bdi>').format(text)
    if key == "ground":
        known = f"family.living_ground.{text}"
        return escape(words(known)) if words.has(known) else _in_english(text)
    return escape(text)


def _in_english(text: str) -> Markup:
    return Markup('<span lang="en" dir="ltr">{}</span>').format(text)
