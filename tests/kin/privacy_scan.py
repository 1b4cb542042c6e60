"""The proof that nothing slipped through: whatever leaves the program is searched for the living."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from kiwiresearch.errors import KiwiError
from kiwiresearch.kin.privacy.redaction import PrivacyMode, check_mode
from kiwiresearch.kin.privacy.text_parts import contacts_in, contains_words, words
from kiwiresearch.kin.privacy.traces import Trace, TraceKind
from kiwiresearch.kin.privacy.withheld_people import WithheldPeople, find_withheld
from kiwiresearch.kin.tree import LivingStatus, PersonId, Tree

LeakKind = TraceKind | Literal["id", "contact"]

LARGEST = 256 * 1024 * 1024
"""No artefact of ours unpacks to more than this many bytes."""
DEEPEST = 4
LONG_ID = 16
"""An id shorter than this can stand for anything."""
JSON_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
LONG_LINE = re.compile(r"\r?\n\s*\d+ CONC ")
NEXT_LINE = re.compile(r"\r?\n\s*\d+ CONT ")
YEAR = re.compile(r"(?<!\d)\d{4}(?![\dsX])")
BEHIND = 30
TAG = re.compile(r"<[^<>]{0,2000}>")
BLOCK = re.compile(r"(?i)</?(?:t[dhr]|p|li|d[dt]|div|h[1-6]|table|section|caption)\b[^<>]{0,2000}>")
CELL_BREAK = "|"
"""What stands between the cells of a table: what is left and right of it is never one name, or one date."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Something about a withheld person that an artefact should not say."""

    person: PersonId
    kind: LeakKind
    words: str
    where: str = ""
    """The file inside an archive."""


def find_leaks(
    artefact: bytes | str,
    tree: Tree,
    mode: PrivacyMode,
    year: int,
    *,
    years_after_death: int = 0,
    overrides: Mapping[PersonId, LivingStatus] | None = None,
) -> tuple[Leak, ...]:
    """All that an artefact says about withheld people beyond what the mode allows, in order.

    `tree` is the one before redaction. Archives are opened, and what HTML, JSON,
    GEDCOM and addresses write in their own way is read as they mean it.
    """
    check_mode(mode)
    if mode == "owner":
        return ()
    search = _Search(find_withheld(tree, year, years_after_death=years_after_death, overrides=overrides), mode)
    found = {leak: None for where, text in _texts(artefact, "", 0) for leak in search.leaks(text, where)}
    return tuple(found)


class _Search:
    def __init__(self, withheld: WithheldPeople, mode: PrivacyMode) -> None:
        self._withheld = withheld
        self._names_allowed = mode == "private"
        names = (name for one in withheld.traits.values() for name in one.names) if self._names_allowed else ()
        self._name_words = {word for name in names for word in words(name)}
        self._strings = dict(_strings(withheld, names_allowed=self._names_allowed))

    def leaks(self, text: str, where: str) -> Iterator[Leak]:
        for view in dict.fromkeys(cell for whole in _views(text) for cell in whole.split(CELL_BREAK)):
            for trace in self._withheld.traces.find(view):
                if trace.kind == "name" and self._names_allowed:
                    yield from self._year_behind(trace, view, where)
                    continue
                if trace.kind == "place" and self._name_words.issuperset(words(view[trace.start : trace.end])):
                    continue  # somebody's name, which may be shown here
                yield Leak(trace.person, trace.kind, view[trace.start : trace.end], where)
            for string, (person, kind) in self._strings.items():
                if contains_words(string, view):
                    yield Leak(person, kind, string, where)

    def _year_behind(self, trace: Trace, view: str, where: str) -> Iterator[Leak]:
        """A year of birth that follows the name: a decade would be allowed."""
        person = self._withheld.tree.persons.get(trace.person)
        birth = person.birth if person else None
        if birth is None or birth.first_year != birth.last_year:
            return
        for year in YEAR.finditer(view, trace.end, trace.end + BEHIND):
            if year[0] == str(birth.first_year):
                yield Leak(trace.person, "date", view[trace.start : year.end()], where)


def _strings(withheld: WithheldPeople, *, names_allowed: bool) -> Iterator[tuple[str, tuple[PersonId, LeakKind]]]:
    """Ids, and the contacts that sources give, of each withheld person."""
    shown = {
        value
        for one in withheld.tree.persons.values()
        if not withheld.withholds(one.id)
        for value in one.external.values()
    }
    for person in withheld.tree.persons.values():
        if not withheld.withholds(person.id):
            continue
        ids = () if names_allowed else (*person.external.values(), person.id)
        yield from ((one, (person.id, "id")) for one in ids if len(one) >= LONG_ID and one not in shown)
        for fact in withheld.tree.facts_of(person.id):
            for text in (fact.value, *(one.snippet for one in fact.evidence)):
                yield from ((text[at.start : at.end], (person.id, "contact")) for at in contacts_in(text))


def _texts(artefact: bytes | str, where: str, depth: int) -> Iterator[tuple[str, str]]:
    """The texts of an artefact: its own, or those of the files in it, and their names."""
    if isinstance(artefact, str):
        yield where, artefact
        return
    if not artefact.startswith(b"PK\x03\x04"):
        yield where, _decoded(artefact)
        return
    if depth == DEEPEST:
        raise KiwiError(f"{where!r} is an archive in too many archives.", remedy="Look at what made it.")
    try:
        with zipfile.ZipFile(io.BytesIO(artefact)) as archive:
            if sum(item.file_size for item in archive.infolist()) > LARGEST:
                raise KiwiError(f"The archive {where!r} unpacks to more than {LARGEST} bytes.")
            for item in archive.infolist():
                inside = f"{where}/{item.filename}" if where else item.filename
                yield inside, f"{item.filename}\n{item.comment.decode('utf-8', 'replace')}"
                yield from _texts(archive.read(item), inside, depth + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as wrong:
        raise KiwiError(f"The archive {where!r} cannot be read, so nobody knows what is in it: {wrong}.") from wrong


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _views(text: str) -> Iterator[str]:
    """The text unchanged, and with its escapes decoded."""
    seen: set[str] = set()
    joined = NEXT_LINE.sub("\n", LONG_LINE.sub("", text))
    plain = _unescaped(_unescaped(joined))
    shown = html.unescape(html.unescape(plain))
    cells = BLOCK.sub(CELL_BREAK, shown)
    for view in (text, joined, plain, shown, unquote(shown), TAG.sub("", cells), TAG.sub(" ", cells)):
        if view not in seen:
            seen.add(view)
            yield view


def _unescaped(text: str) -> str:
    """JSON's escapes as characters; surrogate pairs are put together."""
    if "\\" not in text:
        return text
    plain = JSON_ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else SHORT.get(one[2], one[2]), text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


SHORT = {"b": " ", "f": " ", "n": "\n", "r": "\r", "t": "\t"}
