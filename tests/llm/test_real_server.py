"""A real llama.cpp server, asked as a user's would be; only the protocol counts, not what it says."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import httpx2
import pytest
from pydantic import BaseModel, ConfigDict
from tests.llm.conftest import CONTEXT

from kiwiresearch.errors import PromptTooLong
from kiwiresearch.llm.chat import ChatModel
from kiwiresearch.llm.model import ChatMessage, Options, Reply, ReplySchema, estimate_prompt, estimate_tokens
from kiwiresearch.llm.structured import structured_reply
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

HELLO = (ChatMessage("system", "Be brief."), ChatMessage("user", "Say hello."))


class Colour(BaseModel):
    """What the model must give."""

    model_config = ConfigDict(extra="forbid")

    colour: str


def test_a_reply_is_cut_off_at_its_limit_and_says_so(llama: str) -> None:
    """The reply of a real server arrives with its tokens counted, and a limit on them is reported (R239)."""
    with ChatModel(llama) as model:
        reply = model.chat(HELLO, Options(max_tokens=6))
    assert reply.finish == "length"
    assert reply.reply_tokens == 6
    assert reply.text
    assert reply.prompt_tokens
    assert reply.prompt_tokens <= estimate_prompt(message.text for message in HELLO)


def test_a_stream_arrives_in_pieces_and_ends_with_the_whole(llama: str) -> None:
    """Answers are streamed, and the pieces are the reply (R241)."""
    with ChatModel(llama) as model:
        *pieces, reply = model.pieces(HELLO, Options(max_tokens=6))
    assert isinstance(reply, Reply)
    assert len(pieces) > 2
    assert "".join(piece.text for piece in pieces) == reply.text


def test_a_schema_is_enforced_by_the_server(llama: str) -> None:
    """A model that knows nothing still gives the form that was asked for."""
    with ChatModel(llama) as model:
        found = structured_reply(model, HELLO, Colour, Options(max_tokens=40))
    assert found.colour


def test_a_schema_keeps_values_to_those_listed(llama: str) -> None:
    """The schema reaches the server whole: a value outside its list cannot come."""
    form = {"type": "object", "properties": {"n": {"enum": ["qqq"]}}, "required": ["n"], "additionalProperties": False}
    with ChatModel(llama) as model:
        reply = model.chat(HELLO, Options(max_tokens=30, schema=ReplySchema.of("n", form)))
    assert json.loads(reply.text) == {"n": "qqq"}


def test_the_server_gives_its_model_and_its_context(llama: str) -> None:
    """Name and context size need not be set if the server gives them."""
    with ChatModel(f"{llama}/v1/") as model:
        assert model.models() == (model.name,)
        assert model.name.endswith(".gguf")
        assert model.context_tokens() == CONTEXT


def test_a_prompt_too_long_is_refused_before_it_is_sent(llama: str) -> None:
    """What does not fit is reported with its exact size, and is never cut in silence."""
    with (
        ChatModel(llama) as model,
        pytest.raises(PromptTooLong, match=r"3,0\d\d tokens .* can use only 2,048 in total"),
    ):
        model.chat([ChatMessage("user", "word " * 3000)], Options(max_tokens=8))


def test_a_prompt_that_only_seems_too_long_is_counted_by_the_server(llama: str) -> None:
    """A guess is never the reason to refuse where the server can count."""
    text = "internationalization " * 12
    needed = estimate_tokens(text)
    with ChatModel(llama, context_tokens=needed) as model:
        assert model.chat([ChatMessage("user", text)], Options(max_tokens=1)).finish == "length"


def test_the_guess_of_tokens_is_rather_too_high(llama: str, shared_data: Path) -> None:
    """On real pages the model takes hardly ever more tokens than were guessed, and never twice as few."""
    book = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    texts = [open_page(book, path).text[:3000] for path in islice(book.articles(), 0, 4000, 160)]
    with httpx2.Client(trust_env=False) as client:
        for text in filter(lambda text: len(text) > 1000, texts):
            counted = len(client.post(f"{llama}/tokenize", json={"content": text}).json()["tokens"])
            assert 0.5 * estimate_tokens(text) < counted < 1.05 * estimate_tokens(text), text[:60]


def test_the_servers_own_refusal_of_a_long_prompt_is_understood(llama: str) -> None:
    """If the context was set too large, the server's refusal says the same."""
    with ChatModel(llama, context_tokens=9_999) as model, pytest.raises(PromptTooLong, match="exceeds the available"):
        model.chat([ChatMessage("user", "word " * 3000)], Options(max_tokens=8))
