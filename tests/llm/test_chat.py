"""What is sent to a model server, and which of several is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.llm.servers import Talk, serving

from kiwiresearch.errors import ModelUnreachable, PromptTooLong
from kiwiresearch.llm.chat import ChatModel, Timeouts
from kiwiresearch.llm.model import ChatMessage, Options, ReplyPiece, ReplySchema

HELLO = (ChatMessage("system", "Be brief."), ChatMessage("user", "Say hello."))
QUICK = Timeouts(retry_after_s=0)
FORM = ReplySchema.of("form", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})


def fine(talk: Talk) -> None:
    talk.say("Fine.")


def test_a_request_says_what_was_asked_for() -> None:
    """Model, key, temperature, limit and a low reasoning effort reach the server (R240)."""
    keys: list[str | None] = []

    def chat(talk: Talk) -> None:
        keys.append(talk.request.headers.get("Authorization"))
        talk.say("Fine.")

    with serving(chat) as model_server, ChatModel(model_server.address, model="big", key="k") as model:
        model.chat(HELLO, Options(temperature=0.2, max_tokens=7))
    (sent,) = model_server.chats
    assert keys == ["Bearer k"]
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say hello."},
    ]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["reasoning_effort"]) == ("big", 0.2, 7, "low")
    assert "response_format" not in sent


def test_the_first_model_on_offer_is_taken_where_none_is_named() -> None:
    """An empty name means the first of the server's list."""
    models = {"/v1/models": {"data": [{"id": "first"}, {"id": "second"}]}}
    with serving(fine, models) as model_server, ChatModel(model_server.address) as model:
        model.chat(HELLO)
        assert model.name == model_server.chats[0]["model"] == "first"
        assert model.models() == ("first", "second")


def test_a_server_without_a_model_is_reported() -> None:
    """A server that offers nothing cannot be asked."""
    with (
        serving(fine, {"/v1/models": {"data": []}}) as model_server,
        ChatModel(model_server.address) as model,
        pytest.raises(ModelUnreachable, match="has no models"),
    ):
        model.chat(HELLO)


def test_any_form_of_the_address_will_do() -> None:
    """With and without /v1, a slash at the end, the whole path, or no scheme."""
    with serving(fine) as model_server:
        bare = model_server.address.removeprefix("http://")
        for address in (
            bare,
            f"{bare}/v1",
            f" {model_server.address}/ ",
            f"{model_server.address}/v1/chat/completions",
        ):
            with ChatModel(address) as model:
                assert model.chat(HELLO).text == "Fine."
    assert {path for path, _ in model_server.asked if path.endswith("completions")} == {"/v1/chat/completions"}


def refusing(*fields: str, status: int = 400, named: bool = True) -> Callable[[Talk], None]:
    """A server that does not know some fields, and may not say which."""

    def chat(talk: Talk) -> None:
        form = talk.body.get("response_format", {}).get("type")
        bad = [name for name in fields if name in talk.body or name == form]
        if bad:
            message = f"unknown field {bad[0]}" if named else "bad request"
            talk.send(status, json.dumps({"error": {"message": message}}))
        else:
            talk.say('{"a": 1}')

    return chat


@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("fields", [["reasoning_effort"], ["seed", "stream_options"], ["seed", "json_schema"]])
def test_fields_that_a_server_refuses_are_left_out(fields: list[str], status: int, named: bool) -> None:
    """A server that knows less is asked for less, and is asked so at once the next time (R240)."""
    with (
        serving(refusing(*fields, status=status, named=named)) as model_server,
        ChatModel(model_server.address) as model,
    ):
        assert model.chat(HELLO, Options(schema=FORM)).text == '{"a": 1}'
        before = len(model_server.chats)
        model.chat(HELLO, Options(schema=FORM))
    assert len(model_server.chats) == before + 1
    assert not set(fields) & set(model_server.chats[-1])


@pytest.mark.parametrize(
    ("refused", "form"),
    [
        ([], "json_schema"),
        (["json_schema"], "json_object"),
        (["json_schema", "json_object"], None),
        (["response_format"], None),
    ],
)
def test_a_form_is_asked_for_as_well_as_the_server_can(refused: list[str], form: str | None) -> None:
    """By schema, else as any JSON, else in words only; the words name the schema if the request does not."""
    with serving(refusing(*refused)) as model_server, ChatModel(model_server.address) as model:
        model.chat(HELLO, Options(schema=FORM))
    last = model_server.chats[-1]
    assert last.get("response_format", {}).get("type") == form
    assert (FORM.text in last["messages"][-1]["content"]) == (form != "json_schema")
    assert [turn["role"] for turn in last["messages"]] == ["system", "user"]


def test_a_schema_refused_once_does_not_spoil_the_others() -> None:
    """A server that cannot do one schema is still asked for the next one."""

    def chat(talk: Talk) -> None:
        schema = talk.body.get("response_format", {}).get("json_schema", {})
        if schema.get("name") == "form":
            talk.send(400, '{"error": "cannot compile the schema"}')
        else:
            talk.say("{}")

    with serving(chat) as model_server, ChatModel(model_server.address) as model:
        model.chat(HELLO, Options(schema=FORM))
        model.chat(HELLO, Options(schema=ReplySchema.of("other", {"type": "object"})))
    assert model_server.chats[-1]["response_format"]["type"] == "json_schema"


def test_a_server_that_refuses_everything_is_reported_in_its_words() -> None:
    """When nothing is left to leave out, the refusal is the answer."""
    refusal = '{"error": {"message": "no such template"}}'
    with (
        serving(lambda talk: talk.send(400, refusal)) as model_server,
        ChatModel(model_server.address) as model,
        pytest.raises(ModelUnreachable, match=r"rejected the request \(400\): no such template"),
    ):
        model.chat(HELLO, Options(schema=FORM))
    assert len(model_server.chats) < 10


LLAMA = {"/props": {"default_generation_settings": {"n_ctx": 3000}}}
VLLM = {"/v1/models": {"data": [{"id": "other", "max_model_len": 9}, {"id": "tiny", "max_model_len": 3000}]}}
STUDIO = {"/api/v0/models": {"data": [{"id": "tiny", "loaded_context_length": 3000, "max_context_length": 9999}]}}
SHOWN = {"model_info": {"qwen.context_length": 131072}, "parameters": "stop x\nnum_ctx   3000\n"}
OLLAMA_LOADED = {
    "/api/ps": {"models": [{"name": "tiny:latest", "context_length": 3000}]},
    "/api/show": SHOWN | {"parameters": ""},
}


@pytest.mark.parametrize(
    ("others", "tokens"),
    [
        (LLAMA, 3000),
        (VLLM, 3000),
        (STUDIO, 3000),
        (OLLAMA_LOADED, 3000),
        ({"/api/show": SHOWN}, 3000),
        ({"/api/show": {"model_info": {"qwen.context_length": 131072}}}, 4096),
        ({"/api/show": {"model_info": {"qwen.context_length": 2048}}}, 2048),
        ({}, None),
        ({"/props": {"default_generation_settings": {"n_ctx": True}}, "/api/show": [], "/api/ps": 7}, None),
    ],
    ids=["llama.cpp", "vLLM", "LM Studio", "Ollama loaded", "Ollama set", "Ollama", "Ollama small", "none", "nonsense"],
)
def test_the_context_is_read_from_the_server(others: dict[str, Any], tokens: int | None) -> None:
    """Each kind of server has its context size in its own place; Ollama's real one is seldom the model's maximum."""
    with serving(fine, others) as model_server, ChatModel(model_server.address, model="tiny") as model:
        assert model.context_tokens() == tokens


def test_a_prompt_too_long_is_never_sent() -> None:
    """If the context is known, a prompt beyond it is an error, and the server is not asked."""
    with serving(fine, LLAMA) as model_server, ChatModel(model_server.address) as model:
        assert model.chat([ChatMessage("user", "word " * 1000)]).text == "Fine."
        with pytest.raises(PromptTooLong, match="can use only 3,000 in total") as problem:
            model.chat([ChatMessage("user", "word " * 2000)])
        assert problem.value.remedy
        with pytest.raises(PromptTooLong):
            next(model.pieces([ChatMessage("user", "word")], Options(max_tokens=3000)))
        assert len(model_server.chats) == 1


def test_a_context_that_was_set_counts() -> None:
    """A setting replaces what the server says."""
    with serving(fine, LLAMA) as model_server, ChatModel(model_server.address, context_tokens=500) as model:
        assert model.context_tokens() == 500
        with pytest.raises(PromptTooLong):
            model.chat(HELLO, Options(max_tokens=490))


def test_half_letters_are_sent_as_a_mark() -> None:
    """Half a surrogate pair, which no encoding has, does not stop a call."""
    with serving(fine) as model_server, ChatModel(model_server.address) as model:
        model.chat([ChatMessage("user", "a\ud800b")])
    assert model_server.chats[0]["messages"][0]["content"] == "a\ufffdb"


def test_another_server_takes_over_where_one_fails() -> None:
    """With several addresses, one that does not work costs nothing but a moment, and is then left alone."""
    with serving(lambda talk: talk.send(503, "{}"), {}) as broken, serving(fine) as good:
        with ChatModel("http://127.0.0.1:9", broken.address, good.address, model="tiny", timeouts=QUICK) as model:
            assert [model.chat(HELLO).text for _ in range(3)] == ["Fine."] * 3
            assert next(model.pieces(HELLO)) == ReplyPiece("answer", "Fine.")
        assert (len(broken.chats), len(good.chats)) == (1, 4)


def test_the_least_busy_server_is_asked() -> None:
    """While one server works, the next question goes to the other."""
    release = threading.Event()

    def busy(talk: Talk) -> None:
        release.wait(20)
        talk.say("Slow.")

    def free(talk: Talk) -> None:
        release.set()
        talk.say("Free.")

    with (
        serving(busy) as first,
        serving(free) as second,
        ChatModel(first.address, second.address, model="tiny") as model,
        ThreadPoolExecutor(2) as threads,
    ):
        both = [threads.submit(model.chat, HELLO) for _ in range(2)]
        assert sorted(future.result().text for future in both) == ["Free.", "Slow."]


def test_a_reader_of_a_stream_gets_no_second_beginning() -> None:
    """Once words have been shown, a failure is reported; another server does not start over."""

    def breaks(talk: Talk) -> None:
        talk.begin()
        talk.write(b'data: {"choices": [{"delta": {"content": "Once"}}]}\n\n')

    with serving(breaks) as first, serving(fine) as second:
        with ChatModel(first.address, second.address, model="tiny") as model:
            pieces = model.pieces(HELLO)
            assert next(pieces) == ReplyPiece("answer", "Once")
            with pytest.raises(ModelUnreachable, match="closed the connection"):
                next(pieces)
        assert second.chats == []
