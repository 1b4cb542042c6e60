"""Replies come out in whole sentences, however they were chopped, and keys are taken out of them."""

from __future__ import annotations

from collections.abc import Container, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ask.draft import MAX_LINE_CHARS, ReplySentence, SentenceCutter


def cut(pieces: Iterable[str], *, by_line: bool = False, keys: Container[str] = ()) -> list[ReplySentence]:
    cutter = SentenceCutter(by_line=by_line, keys=keys)
    return [entry for piece in pieces for entry in cutter.feed(piece)] + list(cutter.end())


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Rome fell [k3x9qa]. It rose.", [("Rome fell.", ("k3x9qa",)), ("It rose.", ())]),
        ("Rome fell. [k3x9qa] It rose. [k2x9qa]", [("Rome fell.", ("k3x9qa",)), ("It rose.", ("k2x9qa",))]),
        ("Rome fell.[k3x9qa][2x9qab] It rose", [("Rome fell.", ("k3x9qa", "2x9qab")), ("It rose", ())]),
        ("Rome fell [K3X9QA, k2x9qa; 7].", [("Rome fell.", ("k3x9qa", "k2x9qa", "7"))]),
        ("Rome fell 【k3x9qa】.", [("Rome fell.", ("k3x9qa",))]),
        ("Rome fell (k3x9qa).", [("Rome fell.", ("k3x9qa",))]),
        ("Rome [fell](http://x.org/a) [k3x9qa](#k3x9qa).", [("Rome fell.", ("k3x9qa",))]),
        ("He said [sic] so (at Rome).", [("He said [sic] so (at Rome).", ())]),
        ('He said "[France] won".', [('He said "[France] won".', ())]),
        ("It is [sodium] of [1809] and the [1980s].", [("It is [sodium] of [1809] and the [1980s].", ())]),
        ("And so on...", [("And so on...", ())]),
        ("Rome fell.[3].", [("Rome fell.", ("3",))]),
        ("Mr. Smith of the U.S. Army came.", [("Mr. Smith of the U.S. Army came.", ())]),
        ("**Rome** `fell` [k3x9qa]", [("Rome fell", ("k3x9qa",))]),
        ("Rome\x00 fell\x1b[31m.", [("Rome fell [31m.", ())]),
    ],
)
def test_sentences_and_their_keys(reply: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    """Keys before or behind the stop, in any brackets, belong to the sentence they end."""
    assert [(entry.text, entry.keys) for entry in cut([reply])] == expected


def test_a_given_key_of_letters_is_a_key_in_any_case() -> None:
    """'[Sodium]' is a word, unless it is the key of a passage."""
    assert [entry.keys for entry in cut(["Rome fell [Nature]."])] == [()]
    assert [entry.keys for entry in cut(["Rome fell [Nature]."], keys={"nature"})] == [("nature",)]


def test_lines_items_and_headings_are_distinguished() -> None:
    """The place of a sentence is kept with it."""
    found = cut(["# Title\nOne. Two.\n- Three.\n2) Four.\n**Five**"])
    assert [(entry.text, entry.line_start, entry.kind) for entry in found] == [
        ("Title", "line", "heading"),
        ("One.", "line", "sentence"),
        ("Two.", "", "sentence"),
        ("Three.", "item", "sentence"),
        ("Four.", "item", "sentence"),
        ("Five", "line", "heading"),
    ]


def test_a_sentence_comes_as_soon_as_the_next_has_started() -> None:
    """Nothing is delayed longer than it takes to know that it is complete."""
    cutter = SentenceCutter()
    assert list(cutter.feed("Rome fell. [k3x9")) == []
    assert list(cutter.feed("qa] ")) == []
    assert [entry.text for entry in cutter.feed("It rose ")] == ["Rome fell."]
    assert [entry.text for entry in cutter.end()] == ["It rose"]


def test_a_line_without_end_is_cut() -> None:
    """A reply of one endless line costs no more than any other."""
    found = cut(["word " * MAX_LINE_CHARS])
    assert len(found) == 5
    assert all(len(entry.text) <= MAX_LINE_CHARS for entry in found)


STOPS = (". ", "? ", "! ", "…", ".", "U.S.", "Dr.")
GROUPS = ("[k3x9qa]", " [2x9qab, k3x9qa]", "【k3x9qa】", "[", "]", "(", ")", "](")
WORDS = ("Rome fell", "\n", "- ", "1. ", "# ", "**", " The ", " A", "lso ", " 7", "http://x")
PARTS = st.sampled_from((*STOPS, *GROUPS, *WORDS))


@given(st.lists(PARTS | st.text(max_size=5), max_size=14).map("".join), st.booleans(), st.data())
def test_the_chunks_of_a_reply_make_no_difference(reply: str, by_line: bool, data: st.DataObject) -> None:
    """One letter at a time, in any pieces, or at once: the sentences are the same."""
    places = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=6)))
    pieces = [reply[start:end] for start, end in zip([0, *places], [*places, len(reply)], strict=True)]
    assert cut(pieces, by_line=by_line) == cut([reply], by_line=by_line) == cut(reply, by_line=by_line)
