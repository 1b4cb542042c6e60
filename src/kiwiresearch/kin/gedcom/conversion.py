"""Converts kept lines to the version of GEDCOM that is written; what a version lacks becomes an extension of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.kin.gedcom.dates import MONTHS, Version, other_calendar, read_date, write_date
from kiwiresearch.kin.gedcom.kept_lines import WITHOUT_VALUE
from kiwiresearch.kin.gedcom.lines import VOID
from kiwiresearch.kin.gedcom.nodes import Node

_TABLES = tomllib.loads((Path(__file__).with_name("data") / "versions.toml").read_text(encoding="utf-8"))
ONLY: Mapping[Version, frozenset[str]] = {"5.5.1": frozenset(_TABLES["only_5"]), "7.0": frozenset(_TABLES["only_7"])}
IN_BOTH = frozenset(_TABLES["both"])
WORDS: Mapping[str, frozenset[str]] = {path: frozenset(words) for path, words in _TABLES["words"].items()}
MEDIA_TYPES: Mapping[str, str] = _TABLES["media_types"]
"""The media type of each file name extension."""
OTHER_MEDIA_TYPE = "application/octet-stream"
NEED_TYPE = frozenset({"EVEN", "FACT", "IDNO"})
"""Lines that version 7 accepts only with a TYPE."""
_DAY = rf"(?:(?:[0-9]{{1,2}} )?(?:{'|'.join(MONTHS)}) )?[0-9]{{1,4}}"
PLAIN_DATE = re.compile(rf"(?:(?:ABT|CAL|EST|BEF|AFT|FROM|TO) )?{_DAY}|BET {_DAY} AND {_DAY}|FROM {_DAY} TO {_DAY}")
"""A date that both versions write in the same way."""
# 'JULIAN 1731' and '44 BCE', but not '@#DJULIAN@ 1731' of version 5.5.1.
ONLY_IN_DATES_OF_7 = re.compile(r"GREGORIAN|(?<!@#D)JULIAN|FRENCH_R|(?<!@#D)HEBREW|BCE")
SEXES: Mapping[Version, tuple[str, ...]] = {"5.5.1": ("M", "F", "U"), "7.0": ("M", "F", "U", "X")}
NEVER_SPELLED = frozenset({"PEDI", "RESN", "QUAY", "REFN", "EXID", "UID", "_UID"})
"""Lines whose spelling belongs to the version."""
# '25y 3m' and '> 8d', but not 'CHILD' or '25 years'.
AGE_OF_7 = re.compile(r"(?:[<>] )?(?:[0-9]+[ymwd](?: (?=[0-9])|$)){1,4}")
# 'en' and 'de-AT', but not 'English'.
LANGUAGE_OF_7 = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
# 'N18.15' and 'W2', but not '18.15'.
COORDINATE = re.compile(r"[NSEW][0-9]{1,3}(?:\.[0-9]+)?")
UNNAMED = "Other"
"""The TYPE of an event without one."""


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts kept lines.

    `resolve` gives the xref of a reference, `known_xref` only if it has one, and `add_record` that of a new record.
    """

    version: Version
    resolve: Callable[[str], str]
    known_xref: Callable[[str], str]
    add_record: Callable[[Node], str]

    def anchor(self, node: Node) -> Node:
        """An anchor as its line would be written, to be compared."""
        return replace(node, value=self.known_xref(node.value)) if node.kind == "pointer" else node

    def lines(self, node: Node, above: str) -> list[Node]:
        """A kept line with those below it, as this version writes it; none if it points to nothing that is written."""
        if node.kind == "pointer":
            xref = node.value if node.value == VOID else self.resolve(node.value)
            if not xref or (xref == VOID and self.version == "5.5.1"):
                return []
            node = replace(node, value=xref)
        elif node.tag == "OBJE" and above and self.version == "7.0":
            record = replace(node, xref="", below=list(node.below))
            return [Node("OBJE", self.add_record(record), "pointer")]
        below = [line for each in node.below for line in self.lines(each, node.tag)]
        converted = replace(node, tag=self.tag(node), below=below, is_anchor=False)
        self._convert_value(converted, above)
        return [converted]

    def record(self, node: Node) -> Node:
        """A whole record, without its xref."""
        (converted,) = self.lines(replace(node, kind="text"), "") or [Node(node.tag)]
        if converted.tag == "NOTE" and self.version == "7.0":
            converted.tag = "SNOTE"
        if converted.tag == "OBJE":
            converted.below = _media_lines(converted.below, self.version)
        return converted

    def tag(self, node: Node) -> str:
        """The tag in this version: a note record has two names, and a foreign tag gets an underscore or loses it."""
        tag = node.tag.removeprefix("_") if node.tag.removeprefix("_") in ONLY[self.version] else node.tag
        if tag == "NOTE" and node.kind == "pointer" and self.version == "7.0":
            return "SNOTE"
        if tag == "SNOTE" and self.version == "5.5.1":
            return "NOTE"
        other: Version = "7.0" if self.version == "5.5.1" else "5.5.1"
        is_unknown = self.version == "7.0" and tag not in IN_BOTH | ONLY[self.version]
        return f"_{tag}" if not tag.startswith("_") and (tag in ONLY[other] or is_unknown) else tag

    def restore_spelling(self, kept: Node, written: Node) -> None:
        """Write a line of the tree as the file had it, where this version allows it."""
        if kept.kind == "pointer":
            written.tag = kept.tag if kept.tag in ("HUSB", "WIFE") else written.tag
            return
        if kept.tag in NEVER_SPELLED or not self._may_have(kept):
            return
        written.tag = kept.tag if self.tag(kept) == kept.tag else written.tag
        if kept.tag not in WITHOUT_VALUE:
            written.value = kept.value
        elif kept.value not in ("", "Y") and self.version == "7.0":
            written.below.append(Node("NOTE", kept.value))
        else:
            written.value = kept.value or written.value

    def _may_have(self, kept: Node) -> bool:
        """Whether this version allows the value of a line, which may come from the other one."""
        if kept.tag == "DATE":
            is_plain = PLAIN_DATE.fullmatch(kept.value) is not None
            return is_plain or (self.version == "5.5.1" and not ONLY_IN_DATES_OF_7.search(kept.value))
        if kept.tag == "SEX":
            return kept.value in SEXES[self.version]
        return kept.tag != "ALIA" or self.version == "5.5.1"

    def _convert_value(self, node: Node, above: str) -> None:
        if node.tag in ("DATE", "SDATE"):
            _convert_date(node, self.version)
        elif node.tag == "RESN":
            node.value = node.value.lower() if self.version == "5.5.1" else node.value.upper()
        elif self.version == "5.5.1":
            _to_5(node, above)
        else:
            _to_7(node, above)


def _convert_date(node: Node, version: Version) -> None:
    """Write a date in the syntax of a version; what it cannot say becomes a phrase."""
    value = " ".join(node.value.split())
    node.kind = "date"
    phrase = node.first("PHRASE", "_PHRASE")
    if version == "5.5.1":
        if phrase and not value:
            node.value, node.below = f"({phrase.value})", [line for line in node.below if line is not phrase]
        elif ONLY_IN_DATES_OF_7.search(value):
            when = read_date(value)
            node.value = other_calendar(value, version) or (write_date(when, version) if when else value)
        return
    if not value or PLAIN_DATE.fullmatch(value):
        return
    when = read_date(value)
    node.value = other_calendar(value, version) or (write_date(when, version) if when else "")
    # What the new value does not say exactly stays in the words of the file.
    if not node.value or (when and read_date(node.value) != when):
        node.below.append(Node("PHRASE", value.strip("()")))


def _to_7(node: Node, above: str) -> None:
    """Change a value of version 5.5.1 into one of version 7, or the line into an extension."""
    words = WORDS.get(f"{above}.{node.tag}")
    if words and node.value.upper() not in words | {"OTHER"}:
        node.value, phrase = "OTHER", node.value
        node.below.append(Node("PHRASE", phrase))
    elif words:
        node.value = node.value.upper()
    elif node.tag == "_RELA" and above == "ASSO":
        node.tag, phrase = "ROLE", node.value
        node.value = phrase.upper() if phrase.upper() in WORDS["ASSO.ROLE"] else "OTHER"
        if node.value == "OTHER":
            node.below.append(Node("PHRASE", phrase))
    elif node.tag == "AGE" and not AGE_OF_7.fullmatch(node.value):
        node.below.append(Node("PHRASE", node.value))
        node.value = ""
    elif node.tag == "LANG" and not LANGUAGE_OF_7.fullmatch(node.value):
        node.tag = "_LANG"
    elif node.tag in ("LATI", "LONG") and not COORDINATE.fullmatch(node.value):
        node.tag = f"_{node.tag}"
    elif node.tag in WITHOUT_VALUE and node.value not in ("", "Y") and node.tag != "EVEN":
        node.below.append(Node("NOTE", node.value))
        node.value = ""
    if node.tag in NEED_TYPE and above in ("", "INDI", "FAM") and node.first("TYPE") is None:
        node.below.insert(0, Node("TYPE", UNNAMED))


def _to_5(node: Node, above: str) -> None:
    """Change a value of version 7 into one of version 5.5.1."""
    if node.tag == "ROLE" and above == "ASSO":
        node.tag, phrase = "RELA", node.get("_PHRASE")
        node.value = phrase or node.value.lower()
        node.below = [line for line in node.below if line.tag != "_PHRASE"]
    elif node.value == "OTHER" and f"{above}.{node.tag}" in WORDS:
        node.value = node.get("_PHRASE") or node.value.lower()
        node.below = [line for line in node.below if line.tag != "_PHRASE"]
    elif node.tag != "ADOP" and node.value in WORDS.get(f"{above}.{node.tag}", ()):
        node.value = node.value.lower()
    elif node.tag == "AGE" and not node.value:
        node.value = node.get("_PHRASE")
        node.below = [line for line in node.below if line.tag != "_PHRASE"]


def _media_lines(lines: list[Node], version: Version) -> list[Node]:
    """The lines of a media record, with the form and the title where the version has them."""
    shared = {line.tag: line for line in lines if line.tag in ("FORM", "TITL")}
    files = [line for line in lines if line.tag == "FILE"]
    if not files:
        return lines
    for file in files:
        for tag, line in shared.items():
            if file.first(tag) is None:
                file.below.append(replace(line, below=list(line.below)))
        _convert_form(file, version)
    return [line for line in lines if line.tag not in shared]


def _convert_form(file: Node, version: Version) -> None:
    form = file.first("FORM")
    if form is None:
        form = Node("FORM", file.value.rpartition(".")[2])
        file.below.insert(0, form)
    name = form.value.strip().lower()
    if version == "7.0":
        form.value = name if "/" in name else MEDIA_TYPES.get(name, OTHER_MEDIA_TYPE)
        for line in form.all("TYPE"):
            line.tag = "MEDI"
            _to_7(line, "FORM")
    else:
        form.value = next((short for short, kind in MEDIA_TYPES.items() if kind == name), name)
        for line in form.all("MEDI"):
            line.tag = "TYPE"
