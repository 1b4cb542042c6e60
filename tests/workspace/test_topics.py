"""Topics as people give them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.errors import BadUsage
from kiwiresearch.workspace.topics import MAX_FOLDER_NAME_CHARS, checked_focus, checked_topic, folder_name


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Bronze Age collapse", "Bronze Age collapse"),
        ("  Bronze\tAge\n collapse\r\n", "Bronze Age collapse"),
        ("C++", "C++"),
        ("€", "€"),
        ("42", "42"),
        ("青銅器時代", "青銅器時代"),
        ("who was 'Rameses'?", "who was 'Rameses'?"),
        ("x" * 500, "x" * 500),
    ],
)
def test_a_topic_is_one_line_of_words(text: str, topic: str) -> None:
    """A topic is any string with a word, a number or a sign in it; its spaces are made single (R1)."""
    assert checked_topic(text) == topic


REFUSED = [
    ("", "The topic is empty."),
    ("   \t\n", "The topic is empty."),
    ("???", "The topic is empty."),
    ("\u200b\u202e", "The topic is empty."),
    ("x" * 501, "The topic has 501 characters. The limit is 500."),
    ("Rome " * 2_000, "The topic has 10,000 characters. The limit is 500."),
    ("Ro\x00me", "The topic contains a control character, U+0000."),
    ("\x1b[31mRome", "The topic contains a control character, U+001B."),
    ("Rome\x85", "The topic contains a control character, U+0085."),
    ("Rome \udcff", "The topic contains a control character, U+DCFF."),
    ("\ud800", "The topic contains a control character, U+D800."),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[repr(text[:12]) for text, _ in REFUSED])
def test_an_invalid_topic_is_refused_in_one_sentence(text: str, message: str) -> None:
    """Empty, very long and unprintable topics are refused as bad usage, with a remedy."""
    with pytest.raises(BadUsage) as caught:
        checked_topic(text)
    assert (caught.value.message, bool(caught.value.remedy)) == (message, True)


@pytest.mark.parametrize(
    ("text", "focus"), [("", ""), ("  ", ""), ("metallurgy,  drought", "metallurgy, drought"), ("?", "?")]
)
def test_a_focus_may_be_empty(text: str, focus: str) -> None:
    """No focus is needed."""
    assert checked_focus(text) == focus


@pytest.mark.parametrize(("text", "message"), [("x" * 501, "The focus has 501 "), ("a\x07", "The focus contains a ")])
def test_a_bad_focus_is_refused(text: str, message: str) -> None:
    """A focus has the same rules as a topic, and the error calls it a focus."""
    with pytest.raises(BadUsage, match=message):
        checked_focus(text)


@given(st.text(max_size=600))
def test_any_text_is_a_topic_or_is_refused(text: str) -> None:
    """Whatever is given, the answer is a clean line or one clear error; checking twice changes nothing."""
    try:
        topic = checked_topic(text)
    except BadUsage:
        return
    assert topic == " ".join(text.split())
    assert checked_topic(topic) == topic


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("Bronze Age collapse", "bronze-age-collapse"),
        ("  Ärger & Œuvre! ", "arger-oeuvre"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\con", "c-con"),
        ("青銅器", "青銅器"),
        ("...", "topic"),
        ("word " * 30, "word-word-word-word-word-word-word-word-word-word-word-word"),
        ("x" * 100, "x" * 60),
    ],
)
def test_a_topic_gives_its_folder_a_name(topic: str, name: str) -> None:
    """The name is of small letters, figures and hyphens, cut between words."""
    assert folder_name(topic) == name


@given(st.text(max_size=300))
def test_every_name_is_a_plain_one(topic: str) -> None:
    """No topic leads out of the folder, to a hidden file or to a name that is too long."""
    name = folder_name(topic)
    assert re.fullmatch(r"[^\W_]+(-[^\W_]+)*", name)
    assert len(name) <= MAX_FOLDER_NAME_CHARS
