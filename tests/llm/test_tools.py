"""Tools are offered to models that can call them, and cost nothing where they cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.llm.scripted import ScriptedModel
from tests.llm.servers import Talk, event, serving

from kiwiresearch.errors import ModelUnreachable, PromptTooLong
from kiwiresearch.llm.chat import ChatModel, Timeouts
from kiwiresearch.llm.model import ChatMessage, Options, Reply, ReplySchema, Tool, ToolCall
from kiwiresearch.llm.replay import ReplayModel

HELLO = (ChatMessage("user", "Hello?"),)
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = Tool("fetch_article", "Reads more of one page of the reader's books.", ReplySchema.of("fetch_article", PATH))
WITH_TOOL = Options(tools=(TOOL,))
QUICK = Timeouts(retry_after_s=0)
CALL = ToolCall("fetch_article", '{"path":"Harbour_Bridge"}', "c1")
CALLED = Reply("", calls=(CALL,))
TWO = [ToolCall("f", "{}", "x"), ToolCall("g", "{}", "y")]


def part(index: int | None, name: str = "", arguments: object = "", **more: Any) -> dict[str, Any]:
    row = {"function": {"name": name, "arguments": arguments}, "type": "function", **more}
    return row if index is None else {"index": index, **row}


def calling(*deltas: list[dict[str, Any]]) -> Callable[[Talk], None]:
    def chat(talk: Talk) -> None:
        talk.begin()
        for rows in deltas:
            talk.write(event({"content": None, "tool_calls": rows}))
        talk.write(event({}, "tool_calls") + b"data: [DONE]\n\n")

    return chat


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        ([[part(0, "f", '{"a"', id="x")], [part(0, "", ":1}")]], [ToolCall("f", '{"a":1}', "x")]),
        (
            [[part(0, "f", "{}", id="x"), part(1, "g", "{}", id="y")]],
            [ToolCall("f", "{}", "x"), ToolCall("g", "{}", "y")],
        ),
        (
            [[part(0, "f", "{}", id="x")], [part(0, "g", "{}", id="y")]],
            [ToolCall("f", "{}", "x"), ToolCall("g", "{}", "y")],
        ),
        ([[part(0, "f", '{"a"', id="x")], [part(0, "", ":1}", id="x")]], [ToolCall("f", '{"a":1}', "x")]),
        ([[part(None, "f", {"a": 1})]], [ToolCall("f", '{"a":1}', "call1")]),
        ([[part(0, "", "{}", id="x")], [{"index": 0, "function": "no"}], ["no"], []], []),
    ],
    ids=["in pieces", "two", "two of one number", "id each time", "as an object", "no calls"],
)
def test_calls_are_read_as_servers_send_them(deltas: list[list[dict[str, Any]]], expected: list[ToolCall]) -> None:
    """In pieces or whole, numbered or not, as text or as JSON (R262)."""
    with serving(calling(*deltas)) as server, ChatModel(server.address, timeouts=QUICK) as model:
        assert list(model.chat(HELLO, WITH_TOOL).calls) == expected


def test_a_call_in_a_whole_answer_is_read() -> None:
    """A server that does not stream calls like one that does."""
    message = {"role": "assistant", "content": None, "tool_calls": [part(None, "f", "{}", id="x")]}

    def chat(talk: Talk) -> None:
        talk.send(200, json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))

    with serving(chat) as server, ChatModel(server.address, timeouts=QUICK) as model:
        assert model.chat(HELLO, WITH_TOOL) == Reply("", calls=(ToolCall("f", "{}", "x"),))
    assert len(server.chats) == 1


def test_tools_and_their_answers_are_sent_as_servers_want_them() -> None:
    """The tool with its parameters, the call, and what it gave under the call's id (R262)."""
    turns = (*HELLO, ChatMessage("assistant", "Wait.", (CALL,)), ChatMessage("tool", "Nothing.", call_id="c1"))
    with serving(lambda talk: talk.say("Fine.")) as server, ChatModel(server.address) as model:
        model.chat(turns, WITH_TOOL)
        model.chat(HELLO)
    first, second = server.chats
    (tool,) = first["tools"]
    assert (tool["type"], tool["function"]["name"]) == ("function", "fetch_article")
    assert tool["function"]["parameters"]["required"] == ["path"]
    function = {"name": "fetch_article", "arguments": '{"path":"Harbour_Bridge"}'}
    called = [{"id": "c1", "type": "function", "function": function}]
    assert first["messages"][1:] == [
        {"role": "assistant", "content": "Wait.", "tool_calls": called},
        {"role": "tool", "content": "Nothing.", "tool_call_id": "c1"},
    ]
    assert "tools" not in second


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "'tiny' does not support tools"), (422, "bad request"), (500, "tools param requires --jinja flag")],
)
def test_a_server_that_knows_no_tools_is_asked_without(status: int, words: str) -> None:
    """Named or not, the tools go first; what else the server can do stays, and it is remembered (R262)."""

    def chat(talk: Talk) -> None:
        if "tools" in talk.body:
            talk.send(status, json.dumps({"error": {"message": words}}))
        else:
            talk.say("Fine.")

    with serving(chat) as server, ChatModel(server.address, timeouts=QUICK) as model:
        assert [model.chat(HELLO, WITH_TOOL).text for _ in range(2)] == ["Fine.", "Fine."]
    assert ["tools" in body for body in server.chats] == [True, False, False]
    assert "reasoning_effort" in server.chats[-1]


def test_an_error_that_is_not_about_tools_stays_one() -> None:
    """A server that is broken is not repaired by asking for less."""

    def chat(talk: Talk) -> None:
        talk.send(500, '{"error":{"message":"out of memory"}}')

    with (
        serving(chat) as server,
        ChatModel(server.address, timeouts=QUICK) as model,
        pytest.raises(ModelUnreachable, match="out of memory"),
    ):
        model.chat(HELLO, WITH_TOOL)
    assert all("tools" in body for body in server.chats)


def test_tools_take_room() -> None:
    """What is offered counts with what is said."""
    with serving(lambda talk: talk.say("Fine.")) as server, ChatModel(server.address, context_tokens=120) as model:
        assert model.chat(HELLO, Options(max_tokens=20)).text == "Fine."
        with pytest.raises(PromptTooLong):
            model.chat(HELLO, Options(max_tokens=20, tools=(TOOL,)))


def test_calls_are_kept_like_other_replies(tmp_path: Path) -> None:
    """A kept call comes back; other tools or other answers are another question, and old records still count."""
    model = ScriptedModel(CALLED, "A.", "B.", "C.")
    kept = ReplayModel(model, tmp_path)
    answered = (*HELLO, ChatMessage("assistant", "", (CALL,)), ChatMessage("tool", "Nothing.", call_id="c1"))
    for _ in range(2):
        assert kept.chat(HELLO, WITH_TOOL) == CALLED
        assert list(kept.pieces(HELLO, WITH_TOOL))[-1] == CALLED
        assert [kept.chat(turns, options).text for turns, options in ((HELLO, Options()), (answered, WITH_TOOL))] == [
            "A.",
            "B.",
        ]
    assert len(model.asked) == 3
    (plain,) = [file for file in tmp_path.rglob("*.json") if '"A."' in file.read_text()]
    assert "tools" not in plain.read_text()
    assert "calls" not in plain.read_text()
