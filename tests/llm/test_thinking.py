"""Thinking is taken out of replies, however it is marked and wherever the stream is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.llm.reply_stream import CHANNEL, HARMONY, LEFT_OPEN, PAIRS, START, ThinkingSplitter

HARMONY_REPLY = (
    "<|channel|>analysis<|message|>User asks. Simple.<|end|>"
    "<|start|>assistant<|channel|>commentary<|message|>Looking.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>Blue.<|return|>"
)


def split(*chunks: str) -> tuple[str, str]:
    """Answer and thinking of a reply that arrived like this."""
    splitter = ThinkingSplitter()
    for chunk in chunks:
        splitter.feed(chunk)
    splitter.end()
    return splitter.answer, splitter.thinking


@pytest.mark.parametrize(
    ("reply", "answer", "thinking"),
    [
        ("Blue.", "Blue.", ""),
        ("<think>hm</think>Blue.", "Blue.", "hm"),
        ("\n<think>\nhm\n</think>\n\nBlue.\n", "Blue.", "hm"),
        ("<Think>hm</THINK>Blue.", "Blue.", "hm"),
        ("<thinking>hm</thinking> Blue.", "Blue.", "hm"),
        ("[THINK]hm[/THINK]Blue.", "Blue.", "hm"),
        ("◁think▷hm◁/think▷Blue.", "Blue.", "hm"),
        ("Sky: <think>hm</think>blue.", "Sky: blue.", "hm"),
        ("<think>a</think>x <think>b</think>y", "x y", "ab"),
        ("<think>hm, and then", "", "hm, and then"),
        ("hm, of course.</think>Blue.", "Blue.", "hm, of course."),
        ("<think>a<think>b</think>c</think>Blue.", "Blue.", "a<think>bc"),
        ("<think></think>", "", ""),
        (HARMONY_REPLY, "Blue.", "User asks. Simple.Looking."),
        ("<|channel|>analysis<|message|>never ends", "", "never ends"),
        ("<|channel|>final<|message|>Blue.", "Blue.", ""),
        ("Blue.<|return|>", "Blue.", ""),
        ("<|start|>assistant<|message|>Blue.<|end|>", "Blue.", ""),
        ('{"tag": "<think>kept</think>"}', '{"tag": "<think>kept</think>"}', ""),
        ("1 < 2 and <thin> stays", "1 < 2 and <thin> stays", ""),
        ("ends in <thi", "ends in <thi", ""),
    ],
)
def test_thinking_is_taken_out(reply: str, answer: str, thinking: str) -> None:
    """The answer is what is left when the thinking is taken out, in one chunk and letter by letter."""
    assert split(reply) == (answer, thinking)
    assert split(*reply) == (answer, thinking)


MARKS = [*PAIRS, *PAIRS.values(), *LEFT_OPEN, *HARMONY, "<", "<|", "</thi", "[", "{", " ", "\n", "a", "final", "Ünï"]
REPLIES = st.lists(st.sampled_from(MARKS) | st.text(max_size=4)).map("".join)


@given(REPLIES, st.lists(st.integers(0, 60)))
def test_cuts_make_no_difference(reply: str, cuts: list[int]) -> None:
    """However a reply is chopped, answer and thinking are the same."""
    places = sorted({min(cut, len(reply)) for cut in cuts} | {0, len(reply)})
    chunks = [reply[start:end] for start, end in pairwise(places)]
    assert split(*chunks) == split(reply)


@given(REPLIES)
def test_the_pieces_are_the_answer(reply: str) -> None:
    """What was streamed is the answer, unless it turned out to have been thinking all along."""
    splitter = ThinkingSplitter()
    pieces = [piece for letter in reply for piece in splitter.feed(letter)] + splitter.end()
    shown = "".join(piece.text for piece in pieces if piece.kind == "answer")
    assert shown.endswith(splitter.answer)
    if not any(mark in reply for mark in LEFT_OPEN):
        assert shown == splitter.answer


@given(st.text().filter(lambda text: not any(mark in text.lower() for mark in MARKS[:-11])))
def test_text_without_marks_is_left_alone(text: str) -> None:
    """A reply without any mark comes out as it went in, but for the white space around it."""
    assert split(text) == (text.strip(), "")


@given(st.sampled_from(sorted(PAIRS)), st.text(alphabet="ab \n<"), st.text(alphabet="cd \n<"))
def test_nothing_inside_a_block_reaches_the_answer(opened: str, inside: str, after: str) -> None:
    """What is between the tags is never in the answer."""
    answer, thinking = split(f"{opened}{inside}{PAIRS[opened]}{after}")
    assert answer == after.strip()
    assert thinking == inside.strip()


def test_a_channel_without_a_message_does_not_swallow_the_reply_unseen() -> None:
    """A header that never ends counts as thinking, not as nothing."""
    assert split(CHANNEL + "x" * 1000)[1] == "x" * 1000
    assert split(START + "x" * 1000)[1] == "x" * 1000
