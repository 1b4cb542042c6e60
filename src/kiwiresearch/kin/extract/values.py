"""The people that a row of a box or an item of a list names: where each name stands, and what is noted behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.lifespan import date_in
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import Span, is_name, name_at
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.fields import Qualifier
from kiwiresearch.kin.names import name_words
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import DateRange


@dataclass(frozen=True, slots=True)
class Person:
    """A person of a row: the name is `text[span.start:span.end]`, and `note` what stands behind it."""

    span: Span
    note: str
    line_end: int


NUMBERED = regex.compile(
    r"\s*(?:\(?\d{1,2}[.)](?!\d)\s*|\d{1,2}\s*[–-]\s+|\d{1,2}(?:st|nd|rd|th)?:\s*|[•*·–-]\s*|\(\w\)\s*)?"
)
COUNTED = regex.compile(r"\s*\d{1,2},?\s+\(?(?:including|incl\.)\s+")
"""'7, including Jenny and Laura'."""
STATUS = regex.compile(r"(?:Widowed|Divorced|Late|Married|Firstly|Secondly|First|Second)[:,.]?\s+(?=\p{Lu})")
CONTINUES = regex.compile(r"\s*(?:\((?!\w{1,2}\))|\p{Ll}|[–-])")
HANGING = regex.compile(r"(?:,|\b(?:of|and|the|de|von|&))\s*$|\d(?:st|nd|rd|th) \p{Lu}\p{Ll}+\s*$")
RANK_END = regex.compile(r",\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)\s+\p{Lu}\p{Ll}+$")
BETWEEN = regex.compile(r"\s*(?:;|,|\band\b|&|/|\n)\s*(?:and\s+)?")


def people_in(text: str, span: Span, words: FamilyWords, *, plural: bool = True) -> Iterator[Person]:
    """The people named in a value, in order; nobody where it is a number or says 'none'."""
    for line in _lines(text, span):
        yield from _people_of_line(text, line, words, plural=plural)


def _lines(text: str, span: Span) -> list[Span]:
    """The lines of a value; a name that goes on in the next line is one."""
    lines: list[Span] = []
    at = span.start
    for piece in text[span.start : span.end].split("\n"):
        start, at = at, at + len(piece) + 1
        if not piece.strip():
            continue
        end = start + len(piece)
        if lines and (CONTINUES.match(piece) or HANGING.search(text[lines[-1].start : lines[-1].end])):
            lines[-1] = Span(lines[-1].start, end)
        else:
            lines.append(Span(start, end))
    return lines


def _people_of_line(text: str, line: Span, words: FamilyWords, *, plural: bool) -> Iterator[Person]:
    start = _begun(text, line.start, line.end)
    opened: list[tuple[Span, int]] = []
    while start < line.end:
        found = _name(text, start, line.end, words)
        if not found:
            break
        opened.append((found, start))
        after = _behind_note(text, found.end, line.end)
        step = BETWEEN.match(text, after, line.end)
        if not step or not step[0].strip():
            break
        start = step.end()
        sure = ";" in step[0] or "\n" in step[0] or "and" in step[0] or "&" in step[0]
        if not sure and not plural and "," in step[0]:
            break
    for number, (found, _) in enumerate(opened):
        stop = opened[number + 1][1] if number + 1 < len(opened) else line.end
        yield Person(found, text[found.end : stop].strip(), stop if number + 1 < len(opened) else line.end)


def _begun(text: str, start: int, end: int) -> int:
    found = COUNTED.match(text, start, end) or NUMBERED.match(text, start, end)
    start = found.end() if found else start
    status = STATUS.match(text, start, end)
    return status.end() if status else start


def _name(text: str, start: int, end: int, words: FamilyWords) -> Span | None:
    found = name_at(text, start, end, words)
    if found and not (text[found.end : found.end + 1] == "\n" and RANK_END.search(text[found.start : found.end])):
        return found
    line = text.find("\n", start, end)
    if line < 0:
        return None
    comma = text.rfind(",", start, line)
    return name_at(text, start, comma if comma > 0 else line, words)


def _behind_note(text: str, at: int, end: int) -> int:
    """Where the brackets and small words behind a name end."""
    while True:
        found = regex.compile(r"\s*\((?:[^()]|\([^()]*\))*\)|,\s+(?=\p{Ll})[^;,\n]*").match(text, at, end)
        if not found:
            return at
        at = found.end()


def noted_field(note: str, words: FamilyWords) -> str:
    """The field that '(father)' or ', son' behind a name tells."""
    inner = fold(regex.sub(r"[(),;:]", " ", note))
    return words.notes.get(inner, "") or words.notes.get(" ".join(inner.split()[:1]), "")


def qualifier_in(note: str, words: FamilyWords) -> Qualifier:
    """'adoptive', 'half', … as a note says it."""
    return next((name for name, pattern in words.qualifiers if pattern.search(note)), "")


@dataclass(frozen=True, slots=True)
class Union:
    """When a marriage began and ended, as a note tells it."""

    begun: DateRange | None = None
    ended: DateRange | None = None
    divorced: bool = False


def union_in(note: str, words: FamilyWords, language: str) -> Union:
    """'(m. 1951; div. 1952)', '(married 1940, divorced 1948)': what has no such word may be a life."""
    begun = ended = None
    divorced = False
    for part in regex.split(r"[;,]|\n", note.replace("(", ";").replace(")", ";")):
        plain = part.strip()
        start, stop = words.begun.match(plain), words.ended.match(plain)
        if start and not begun:
            left, dash, right = regex.sub(r"\s*[–—-]\s*", "\x00", plain[start.end() :]).partition("\x00")
            begun = date_in(left, language)
            ended = ended or (date_in(right, language) if dash else None)
        elif stop and begun and not ended:
            ended = date_in(plain[stop.end() :], language)
            divorced = divorced or bool(words.divorced.match(plain))
    return Union(begun, ended, divorced)


__all__ = ["Person", "Union", "is_name", "name_words", "noted_field", "people_in", "qualifier_in", "union_in"]
