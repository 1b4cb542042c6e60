"""Names as GEDCOM writes them, with the surname between slashes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kiwiresearch.kin.gedcom.persons import plain_name
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.tree import Evidence

WRITTEN = re.compile(r"^[0-9] (?:NAME|ALIA) (.*/.*/.*?)\r?$", re.MULTILINE)
LIVING = "Living"


def written_name(name: str, evidence: Iterable[Evidence] = ()) -> str:
    """The name with its surname marked: as a GEDCOM file had it, else where its form tells."""
    for one in evidence:
        for found in WRITTEN.finditer(one.snippet):
            if plain_name(found[1]) == name:
                return " ".join(found[1].split())
    words = plain_name(name)
    if words == LIVING:
        return f"{LIVING} //"
    surname = parse_name(words).surname
    before, found_surname, after = words.rpartition(surname) if surname else (words, "", "")
    alone = not before[-1:].isalnum() and not after[:1].isalnum()
    return f"{before}/{found_surname}/{after}" if found_surname and alone else words
