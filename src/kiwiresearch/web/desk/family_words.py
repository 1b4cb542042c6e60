"""Names, years and ties of people in the words of the reader."""

from __future__ import annotations

import re

from markupsafe import Markup

from kiwiresearch.kin.privacy.wording import LIVING_NAME
from kiwiresearch.web.desk.words import Words

BORN, DIED, DEAD = "b. ", "d. ", ", dead"
WHY_LIVING = (
    ("death_told", re.compile(r"a source tells of the death")),
    ("user_says", re.compile(r"the user says so")),
    ("no_date", re.compile(r"no date says how old the person would be")),
    ("lately_dead", re.compile(r"dead, but not known to be so for (?P<n>\d+) years")),
    ("long_ago", re.compile(r"born more than (?P<n>\d+) years ago, judging by .+")),
    ("not_long_ago", re.compile(r"born (?P<n>\d+) years ago or less, as far as .+ tells")),
)
"""Why somebody counts as living or dead, as the rules word it, by the name under which the catalogue has it."""


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


def why_living(english: str, words: Words) -> str:
    """Why somebody counts as living or dead; a reason that is none of ours is shown as it stands, marked as English."""
    plain = english[:1].lower() + english[1:].rstrip(".")
    for name, form in WHY_LIVING:
        if found := form.fullmatch(plain):
            return words(f"family.why_living.{name}", **found.groupdict())
    return Markup('<span lang="en" dir="ltr">{}</span>').format(english)
