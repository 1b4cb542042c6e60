"""The wire format of chat completions: requests to OpenAI-compatible servers, and what those send back."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NotRequired, TypedDict, get_args

from kiwiresearch.codec import JsonDict
from kiwiresearch.ids import canonical_json
from kiwiresearch.llm.model import ChatMessage, Options, Tool, without_surrogates

MAX_BYTES = 32 * 2**20
"""Each token comes in some 300 bytes of JSON, so this is about a hundred thousand tokens."""

DONE = "[DONE]"


class BadServerOutput(Exception):
    """The bytes are not from a model server; never raised outside this package."""


def json_objects(chunks: Iterable[bytes]) -> Iterator[JsonDict | None]:
    """The JSON objects of a response, then None if the server said that it was done.

    Whether it is one object or a stream of events is decided by the first character: servers and proxies get the
    content type wrong.
    """
    rest = iter(chunks)
    start = next((chunk for chunk in rest if chunk.strip()), b"")
    first = start.lstrip()[:1]
    if first == b"{":
        yield _object(b"".join([start, *rest]).decode("utf-8", "replace"))
        yield None
    elif first == b"<":
        raise BadServerOutput("it sends a page for people")
    else:
        yield from _events(_lines(chain([start], rest)))


def _events(lines: Iterable[str]) -> Iterator[JsonDict | None]:
    data: list[str] = []
    for line in lines:
        field, _, value = line.partition(":")
        if field in ("data", "error"):
            data.append(value.removeprefix(" "))
        # An empty line ends an event, which may have several lines of data.
        elif not line and data:
            text, data = "\n".join(data), []
            if text.strip() == DONE:
                yield None
                return
            yield _object(text)
        elif line and field not in ("", "event", "id", "retry"):
            raise BadServerOutput(f"it sends {line[:60]!r}")
    if data == [DONE]:
        yield None
    elif data:
        with suppress(BadServerOutput):  # the connection broke within an event
            yield _object("\n".join(data))


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a stream, split before they are decoded so that no character is cut in two."""
    pending: list[bytes] = []
    for chunk in chunks:
        head, newline, rest = chunk.partition(b"\n")
        pending.append(head)
        if newline:
            yield _line(b"".join(pending))
            *complete, last = rest.split(b"\n")
            yield from map(_line, complete)
            pending = [last]
    yield _line(b"".join(pending))


def _line(content: bytes) -> str:
    return content.removesuffix(b"\r").decode("utf-8", "replace").removeprefix("\ufeff")


def _object(text: str) -> JsonDict:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadServerOutput("its JSON is broken") from problem
    if not isinstance(value, dict):
        raise BadServerOutput("its JSON is not an object")
    return value


# "request exceeds the available context size" and "prompt is too long"; not "unknown field: context".
TOO_LONG = re.compile(
    r"exceed_?(?:s|ed)?\b.{0,40}context|context.{0,20}exceed|maximum context|context (?:length|size|window)"
    r"|prompt is too long|too many tokens",
    re.IGNORECASE | re.DOTALL,
)
"""Error messages of servers for a prompt that is too long."""

REFUSED = frozenset({400, 422})
OWN_ERROR = 500

OptionalField = Literal["tools", "reasoning_effort", "stream_options", "seed", "response_format"]
FIELDS: tuple[OptionalField, ...] = get_args(OptionalField)
"""Optional fields of a request, in the order in which they are dropped if the server does not say what it refuses."""

NAMES: Mapping[OptionalField, tuple[str, ...]] = {
    "tools": ("tool", "function call"),
    "reasoning_effort": ("reasoning", "think"),
    "stream_options": ("stream_options",),
    "seed": ("seed",),
    "response_format": ("response_format", "json_schema", "json_object", "schema", "grammar"),
}


class Turn(TypedDict):
    """A message as it is sent."""

    role: str
    content: str
    tool_calls: NotRequired[list[JsonDict]]
    tool_call_id: NotRequired[str]


class ResponseFormat(TypedDict):
    """The form in which the model has to answer."""

    type: str
    json_schema: NotRequired[JsonDict]


class ChatRequest(TypedDict, total=False):
    """The request for a reply."""

    model: str
    temperature: float
    max_tokens: int
    seed: int
    stream: bool
    stream_options: dict[str, bool]
    reasoning_effort: str
    tools: list[JsonDict]
    response_format: ResponseFormat
    messages: list[Turn]


def body(
    messages: Sequence[ChatMessage],
    options: Options,
    model: str,
    refused: Collection[str] = (),
    *,
    streamed: bool = True,
) -> ChatRequest:
    """The request, without the fields that this server has refused before."""
    request: ChatRequest = {
        "model": model,
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "seed": options.seed,
        "stream": streamed,
    }
    if streamed:
        request["stream_options"] = {"include_usage": True}
    if options.reasoning_effort:
        request["reasoning_effort"] = options.reasoning_effort
    if options.tools:
        request["tools"] = [_tool(tool) for tool in options.tools]
    for field in FIELDS:
        if field in refused:
            request.pop(field, None)
    if answer_format := _response_format(options, refused):
        request["response_format"] = answer_format
    has_schema = answer_format is not None and "json_schema" in answer_format
    request["messages"] = turns(messages if has_schema else with_schema(messages, options))
    return request


def _tool(tool: Tool) -> JsonDict:
    function = {"name": tool.name, "description": tool.purpose, "parameters": tool.parameters.value}
    return {"type": "function", "function": function}


def _response_format(options: Options, refused: Collection[str]) -> ResponseFormat | None:
    schema = options.schema
    if schema is None:
        return None
    if schema.text not in refused:
        form = {"name": schema.name, "strict": True, "schema": schema.value}
        return {"type": "json_schema", "json_schema": form}
    return None if "json_object" in refused else {"type": "json_object"}


def with_schema(messages: Sequence[ChatMessage], options: Options) -> tuple[ChatMessage, ...]:
    """The schema as text at the end of the last message: some models reject two turns of the user in a row."""
    if options.schema is None or not messages:
        return tuple(messages)
    *before, last = messages
    words = f"Answer with one JSON object that fits this JSON schema, and with nothing else:\n{options.schema.text}"
    return (*before, ChatMessage(last.role, f"{last.text}\n\n{words}"))


def turns(messages: Sequence[ChatMessage]) -> list[Turn]:
    """Messages as they are sent."""
    return [_turn(message) for message in messages]


def _turn(message: ChatMessage) -> Turn:
    turn: Turn = {"role": message.role, "content": message.text}
    if message.calls:
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.call_id:
        turn["tool_call_id"] = message.call_id
    return turn


def texts_of(request: ChatRequest) -> list[str]:
    """Everything in a request that takes tokens: messages, tool calls and the tools on offer."""
    contents = [turn["content"] for turn in request["messages"]]
    calls = [turn["tool_calls"] for turn in request["messages"] if "tool_calls" in turn]
    return contents + [canonical_json(part) for part in (*calls, *request.get("tools", ()))]


def is_about_form(status: int, complaint: str, request: ChatRequest) -> bool:
    """Whether a refusal may be about an optional field; llama.cpp refuses tools with status 500."""
    if TOO_LONG.search(complaint):
        return False
    return status in REFUSED or (status == OWN_ERROR and "tools" in request and "tool" in complaint.lower())


def field_to_drop(request: ChatRequest, complaint: str, options: Options) -> str | None:
    """The field to leave out after a refusal: one that the server names, else the next optional one."""
    present = [field for field in FIELDS if field in request]
    named = [field for field in present if any(name in complaint.lower() for name in NAMES[field])]
    for field in (*named, *present):
        if field != "response_format":
            return field
        # A refused schema is remembered by its text: the server may accept another one.
        is_schema = request["response_format"]["type"] == "json_schema"
        return options.schema.text if is_schema and options.schema else "json_object"
    return None


@dataclass(frozen=True, slots=True)
class CallPart:
    """What one event adds to a tool call: its name comes once, its arguments in pieces."""

    number: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Delta:
    """What one event adds to a reply."""

    text: str = ""
    thinking: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    calls: tuple[CallPart, ...] = ()


def delta_in(event: Mapping[str, Any]) -> Delta | None:
    """What an event of a stream, or a complete response, adds to the reply; None if it is not a completion."""
    choices, usage = event.get("choices"), event.get("usage")
    if not isinstance(choices, list):
        return None
    usage = usage if isinstance(usage, dict) else {}
    prompt_tokens, reply_tokens = (value if isinstance(value, int) else None for value in map(usage.get, USAGE))
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    said = choice.get("delta") or choice.get("message") or {}
    if not isinstance(said, dict):
        return None
    thinking = _text(said.get("reasoning_content")) or _text(said.get("reasoning"))
    finish = str(choice.get("finish_reason") or "")
    return Delta(_text(said.get("content")), thinking, finish, prompt_tokens, reply_tokens, _calls(said))


def _calls(said: Mapping[str, Any]) -> tuple[CallPart, ...]:
    """The tool calls in a message or a part of one; malformed ones are ignored."""
    rows = said.get("tool_calls")
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(
        CallPart(
            row["index"] if isinstance(row.get("index"), int) else index,
            _text(row.get("id")),
            _text(row["function"].get("name")),
            _arguments(row["function"].get("arguments")),
        )
        for index, row in enumerate(rows)
        if isinstance(row.get("function"), dict)
    )


def _arguments(value: object) -> str:
    """Arguments as text; most servers send a string of JSON, some an object."""
    return without_surrogates(canonical_json(value)) if isinstance(value, dict) else _text(value)


USAGE = ("prompt_tokens", "completion_tokens")


def _text(content: object) -> str:
    """The text of a content, which is a string or a list of parts."""
    if isinstance(content, str):
        return without_surrogates(content)
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return ""


def complaint_in(answer: object) -> str:
    """The server's own error message, shortened; empty if there is none."""
    error = answer.get("error", answer.get("detail", answer.get("message"))) if isinstance(answer, dict) else None
    if isinstance(error, dict):
        error = error.get("message") or error.get("type")
    return " ".join(without_surrogates(str(error)).split())[:300] if error else ""
