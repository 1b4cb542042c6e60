"""Altering valid examples: parts are cut, repeated, moved, or replaced by pieces of the format and hostile values."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

MAX_EDITS = 12
MAX_SPAN = 200
MAX_REPEATS = 40
HOSTILE = (
    b"", b"\x00", b"\xff", b"\xed\xa0\x80", "\u202e".encode(), b"\r\n", b"<", b">", b"&", b'"', b"'", b"%00", b"../",
    b"-1", b"0", b"4294967295", b"18446744073709551616", b"1e999", b"NaN", b"9" * 5_000, b"[" * 2_000, b"{" * 2_000,
    b"<b>" * 2_000, b"A" * 20_000, "\u0301".encode() * 500, b"&#x10ffff;", b"]]>", b"<!--", b"<![CDATA[",
)  # fmt: skip
"""Values that parsers often fail on: empty and invalid text, text directions, huge numbers, deep nesting, long runs."""


@st.composite
def altered_examples(draw: st.DrawFn, examples: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """One of the examples with random edits; `words` are pieces of the format."""
    content = draw(st.sampled_from(examples))
    pieces = st.one_of(st.sampled_from(HOSTILE), st.sampled_from(words), st.binary(max_size=8))
    for _ in range(draw(st.integers(0, MAX_EDITS))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, MAX_SPAN)))
        edit = draw(st.sampled_from(("replace", "insert", "repeat", "move", "end")))
        if edit == "replace":
            content = content[:start] + draw(pieces) + content[end:]
        elif edit == "insert":
            content = content[:start] + draw(pieces) + content[start:]
        elif edit == "repeat":
            content = content[:end] + content[start:end] * draw(st.integers(1, MAX_REPEATS)) + content[end:]
        elif edit == "move":
            target = draw(st.integers(0, len(content)))
            content = content[:target] + content[start:end] + content[target:]
        else:
            content = content[:start]
    return content
