"""Names, years and ties of people in the words of the reader."""

from __future__ import annotations

from kiwiresearch.kin.privacy.wording import LIVING_NAME
from kiwiresearch.web.desk.words import Words

BORN, DIED, DEAD = "b. ", "d. ", ", dead"


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
