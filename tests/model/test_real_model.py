"""What a small real model makes of our prompts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.llm.chat import ChatModel
from kiwiresearch.llm.model import ChatMessage, Reply, extraction_options, prompt, write_up_options
from kiwiresearch.llm.replay import ReplayModel
from kiwiresearch.llm.structured import structured_reply

pytestmark = pytest.mark.model


class Event(BaseModel):
    """A fact with a year."""

    model_config = ConfigDict(extra="forbid")

    who: str
    year: int


class Senses(BaseModel):
    """What the prompt for senses asks for."""

    phrases: list[str] = Field(min_length=2, max_length=3)


def test_a_real_model_gives_the_shape_and_the_fact(real_model: str, tmp_path: Path) -> None:
    """A shape comes back filled from the text, and a second run needs no model."""
    text = "Read the text and answer in JSON.\nThe bridge was opened by Ada Quill in 1907. Who opened it, and when?"
    with ChatModel(real_model) as model:
        found = structured_reply(
            ReplayModel(model, tmp_path), [ChatMessage("user", text)], Event, extraction_options(max_tokens=60)
        )
        name = model.name
    assert found.year == 1907
    assert "Quill" in found.who
    assert (
        structured_reply(
            ReplayModel(None, tmp_path, name=name),
            [ChatMessage("user", text)],
            Event,
            extraction_options(max_tokens=60),
        )
        == found
    )


def test_a_real_model_names_senses_that_have_the_word(real_model: str) -> None:
    """For 'mercury' there are at least two different phrases with the word in them as a whole word."""
    with ChatModel(real_model) as model:
        messages = prompt("senses").fill(term="mercury", question="what is mercury")
        found = structured_reply(model, messages, Senses, extraction_options(max_tokens=80))
    whole = {phrase.casefold() for phrase in found.phrases if re.search(r"\bmercury\b", phrase, re.IGNORECASE)}
    assert len(whole) >= 2


def test_a_real_model_streams_words(real_model: str) -> None:
    """An answer streams in, word by word, and ends at its limit."""
    with ChatModel(real_model) as model:
        *pieces, reply = model.pieces([ChatMessage("user", "What is tin?")], write_up_options(max_tokens=24))
    assert len(pieces) > 5
    assert isinstance(reply, Reply)
    assert re.search(r"\btin\b", reply.text, re.IGNORECASE)
