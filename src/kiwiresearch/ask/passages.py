"""Passages: sections cut to a size that can be weighed, and the rows of boxes and tables."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, NamedTuple

from kiwiresearch.zim.entry import EntryRef

Kind = Literal["text", "row", "box"]
KEY_LENGTH = 6
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class Passage(NamedTuple):
    """A part of a page that can be cited: `page.text[start:end] == text`."""

    ref: EntryRef
    title: str
    section: str
    """The heading it stands below; empty in the introduction."""
    anchor: str
    kind: Kind
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """An opaque name of this place: nobody can make one up that happens to be right."""
        return key_of(self.ref, self.start, self.end)


def key_of(ref: EntryRef, start: int, end: int) -> str:
    """Six letters from a hash of the place."""
    digest = sha256(f"{ref.book}\n{ref.path}\n{start}\n{end}".encode("utf-8", "replace")).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:KEY_LENGTH])
