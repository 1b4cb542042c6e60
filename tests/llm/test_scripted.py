"""The double behaves as a model does, by its script."""

from __future__ import annotations

import pytest
from tests.llm.scripted import CutOff, ScriptedModel

from kiwiresearch.errors import ModelError, ModelUnreachable, PromptTooLong
from kiwiresearch.llm.model import ChatMessage, Model, Options, Reply, ReplyPiece


def asked(text: str) -> list[ChatMessage]:
    return [ChatMessage("user", text)]


def test_lines_come_by_key_or_in_order() -> None:
    """A key in the prompt decides; otherwise the next line is used."""
    model: Model = ScriptedModel("one", "two", by={"planet": "Mars"})
    assert [model.chat(asked(text)).text for text in ("a", "which planet?", "b")] == ["one", "Mars", "two"]


def test_requests_are_recorded() -> None:
    """A test can look at every request, with its options."""
    model = ScriptedModel("one", "two")
    model.chat(asked("first"), Options(max_tokens=5))
    list(model.pieces(asked("second")))
    assert [question.text for question in model.asked] == ["first", "second"]
    assert model.asked[0].options.max_tokens == 5


def test_a_script_without_a_line_says_what_it_was_asked() -> None:
    """A question nobody thought of is reported, and is neither unreachable nor a bad reply."""
    with pytest.raises(ModelError, match="no line for 'hello'") as caught:
        ScriptedModel().chat(asked("hello"))
    assert type(caught.value) is ModelError


def test_a_stream_is_the_reply_in_pieces() -> None:
    """Words come one by one, thinking apart, and the whole at the end."""
    *pieces, reply = ScriptedModel("<think>hm</think>The sky is blue.").pieces(asked("sky?"))
    assert reply == Reply("The sky is blue.", thinking="hm")
    assert pieces[0] == ReplyPiece("thinking", "hm")
    assert "".join(piece.text for piece in pieces[1:]) == "The sky is blue."
    assert len(pieces) > 3


def test_it_can_fail_at_once_or_in_the_middle() -> None:
    """Errors are raised, and a reply can break off after some words."""
    model = ScriptedModel(ModelUnreachable("gone"), CutOff("half a"), CutOff("half a"))
    with pytest.raises(ModelUnreachable, match="gone"):
        model.chat(asked("a"))
    with pytest.raises(ModelUnreachable, match="breaks off"):
        model.chat(asked("b"))
    pieces = model.pieces(asked("c"))
    assert next(pieces) == ReplyPiece("answer", "half")
    with pytest.raises(ModelUnreachable, match="breaks off"):
        list(pieces)


def test_it_can_be_too_small() -> None:
    """With a context set, long prompts are refused as by a real model."""
    model = ScriptedModel("ok", context_tokens=600)
    assert model.context_tokens() == 600
    with pytest.raises(PromptTooLong):
        model.chat(asked("word " * 600))
