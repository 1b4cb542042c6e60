"""What a model says, cut into whole sentences while it arrives; the keys it names are taken out of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from kiwiresearch.ask.passages import KEY_LENGTH, LETTERS
from kiwiresearch.text.plain import printable
from kiwiresearch.text.sentences import sentence_starts

Opens = Literal["", "line", "item"]
Kind = Literal["sentence", "heading"]

LONGEST_LINE = 4_000
"""A line without an end is cut here, so that each piece of it costs the same."""

GROUP = re.compile(r"\s*[\[【]([^\[\]【】\n]{1,80})[\]】]|\s*\(([a-z0-9]{6}(?:[,; ]+[a-z0-9]{6})*)\)")
LINK = re.compile(r"\[([^\[\]\n]{1,80})\]\([^()\s]{0,300}\)")
BETWEEN = re.compile(r"[,;|\s]+")
KEY = re.compile(rf"[{LETTERS}]{{{KEY_LENGTH}}}")
KEY_LIKE = re.compile(r"\d{1,3}(?:†\w*)?|(?=[a-z]*\d)[a-z0-9]{4,12}|[a-z]{6}|keys?|sources?", re.IGNORECASE)
"""What a model writes where a key belongs: a key, one that it made up, or a number."""

BEHIND_STOP = re.compile(r"([.?!…。！？]+[)\"'”’»]*)((?:\s*[\[【][^\[\]【】\n]{1,80}[\]】])+)")
OPEN_GROUP = re.compile(r"\s*[\[【(][^\[\]【】()\n]{0,80}[\])】]?$|(?<=[\]】])\(\S{0,300}$")
"""A group at the end that is not whole yet, or may turn out to be a link."""

MARKER = re.compile(r"\s*(?:[-*•+–]|\d{1,2}[.)])\s+")
HEADING = re.compile(r"\s*(?:#{1,6}\s+(.+?)|\*\*([^*]+)\*\*:?)[\s#]*")
MARKUP = re.compile(r"\*\*|__|`|^\s*#{1,6}\s+|^\s*>\s*")
BEFORE_STOP = re.compile(r"\s+(?=[.,;:?!])")
TWO_STOPS = re.compile(r"([.?!…])\.(?=$|\s)")


class Said(NamedTuple):
    """A sentence without its marks, the keys it names, and whether it begins a line or an item of a list."""

    text: str
    keys: tuple[str, ...]
    opens: Opens = ""
    kind: Kind = "sentence"


class Cutter:
    """Takes a reply in pieces of any size and gives its sentences, each as soon as the next has begun.

    Where a reply is chopped makes no difference to what comes out. With `by_line` a line is not cut.
    """

    def __init__(self, language: str = "eng", *, by_line: bool = False) -> None:
        self._language = language
        self._by_line = by_line
        self._line = ""
        self._count = 0

    def feed(self, text: str) -> Iterator[Said]:
        """The sentences that are whole now."""
        for part in re.split(r"(\n)", text.replace("\r", "\n")):
            while len(self._line) + len(part) > LONGEST_LINE and part != "\n":
                room = LONGEST_LINE - len(self._line)
                self._line, part = self._line + part[:room], part[room:]
                yield from self.end()
            if part == "\n":
                yield from self.end()
            elif part:
                self._line += part
                yield from () if self._by_line or self._line.lstrip().startswith("#") else self._settled()

    def end(self) -> Iterator[Said]:
        """What was held back, as if it were whole."""
        yield from self._read(self._line, is_whole=True)
        self._line, self._count = "", 0

    def rest(self) -> str:
        """What was held back, given up."""
        said = [one.text for one in self.end()]
        return " ".join(said)

    def _settled(self) -> Iterator[Said]:
        open_group = OPEN_GROUP.search(self._line)
        yield from self._read(self._line[: open_group.start()] if open_group else self._line, is_whole=False)

    def _read(self, line: str, *, is_whole: bool) -> Iterator[Said]:
        heading = HEADING.fullmatch(line)
        if heading and is_whole and not self._count:
            found = said_of(heading[1] or heading[2], "line")
            yield from [found._replace(kind="heading")] if found.text else []
            return
        marker = MARKER.match(line)
        opens: Opens = "item" if marker else "line"
        body = BEHIND_STOP.sub(r"\2\1", LINK.sub(_unlinked, line[marker.end() if marker else 0 :]))
        starts = [0] if self._by_line else sentence_starts(body, (), self._language)
        for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(body)], strict=True)):
            if number < self._count:
                continue
            if not is_whole and not re.match(r"\s*\S+\s", body[end:]):
                return  # the next word may still show that this is no end
            self._count = number + 1
            found = said_of(body[start:end], opens if number == 0 else "")
            if found.text:
                yield found


def said_of(text: str, opens: Opens = "") -> Said:
    """A sentence as it was written, with the keys taken out of it."""
    keys: list[str] = []

    def taken(found: re.Match[str]) -> str:
        marks = BETWEEN.split((found[1] or found[2]).strip())
        if not all(KEY_LIKE.fullmatch(mark) for mark in marks) or (found[2] and not any(map(str.isdigit, found[2]))):
            return found[0]
        keys.extend(mark.lower() for mark in marks)
        return ""

    words = GROUP.sub(taken, text)
    plain = " ".join(printable(MARKUP.sub("", words)).split())
    return Said(TWO_STOPS.sub(r"\1", BEFORE_STOP.sub("", plain)).strip(), tuple(dict.fromkeys(keys)), opens)


def _unlinked(found: re.Match[str]) -> str:
    return f"[{found[1]}]" if KEY.fullmatch(found[1]) else found[1]
