"""Replies kept by what was asked, so that a run repeats itself and goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_args

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.llm.model import Finish, Message, Model, Options, Piece, Reply, ToolCall, answer_texts
from kiwiresearch.system import write_atomically

VERSION = 1
PLAIN = Options()


class ReplayModel:
    """A model whose replies are kept in a folder; without a model, one that has nothing but those.

    Failures are not kept, nor replies that are of no use: empty ones, circles, and no JSON where
    JSON was asked for. A file that is damaged counts as missing.
    """

    def __init__(
        self, model: Model | None, folder: Path, *, name: str = "", say: Callable[[str], None] | None = None
    ) -> None:
        self._model = model
        self._folder = folder
        self._name = name
        self._say = say or (lambda _: None)
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Reply]] = {}

    @property
    def name(self) -> str:
        return self._name or (self._model.name if self._model else "")

    def context_tokens(self) -> int | None:
        return self._model.context_tokens() if self._model else None

    def chat(self, messages: Sequence[Message], options: Options = PLAIN) -> Reply:
        """The kept reply, else a new one; threads that ask the same at the same time share it."""
        request = self._request(messages, options)
        key = _key(request)
        with self._lock:
            known = self._under_way.get(key)
            mine = known or self._under_way.setdefault(key, Future())
        if known:
            return known.result()
        try:
            reply = self._kept(request) or self._new(messages, options, request)
        except BaseException as problem:
            mine.set_exception(problem)
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            with self._lock:
                del self._under_way[key]

    def pieces(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[Piece | Reply]:
        """As the model gives them; a kept reply comes in one piece.

        Streams are not shared between threads: a reader who stops would stop the others.
        """
        request = self._request(messages, options)
        kept = self._kept(request)
        if kept:
            yield from _at_once(kept)
            return
        for piece in self._asked().pieces(messages, options):
            if isinstance(piece, Reply):
                self._keep(request, piece, options)
            yield piece

    def stream(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[str]:
        return answer_texts(self.pieces(messages, options))

    def _new(self, messages: Sequence[Message], options: Options, request: dict[str, Any]) -> Reply:
        reply = self._asked().chat(messages, options)
        self._keep(request, reply, options)
        return reply

    def _asked(self) -> Model:
        if self._model is None:
            raise ModelUnreachable(
                f"No reply of {self.name!r} to this prompt is kept in {str(self._folder)!r}.",
                remedy="Run once with the model, then again without.",
            )
        return self._model

    def _request(self, messages: Sequence[Message], options: Options) -> dict[str, Any]:
        turns = [_turn(message) for message in messages]
        return {"version": VERSION, "model": self.name, "messages": turns, "options": _plain(asdict(options))}

    def _path(self, request: dict[str, Any]) -> Path:
        key = _key(request)
        return self._folder / key[:2] / f"{key}.json"

    def _kept(self, request: dict[str, Any]) -> Reply | None:
        try:
            record = json.loads(self._path(request).read_text(encoding="utf-8"))
            return _reply(record["reply"]) if record["request"] == request else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _keep(self, request: dict[str, Any], reply: Reply, options: Options) -> None:
        if not _is_of_use(reply, options):
            return
        record = {"request": request, "reply": _plain(asdict(reply))}
        try:
            write_atomically(self._path(request), canonical_json(record) + "\n")
        except OSError as problem:
            self._say(f"Replies cannot be kept in {str(self._folder)!r}: {problem.strerror}.")


def _turn(message: Message) -> list[Any]:
    called = [[call.name, call.arguments, call.id] for call in message.calls]
    return [message.role, message.text, *([called, message.call_id] if called or message.call_id else [])]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back: lists, and no word of tools and calls where there are none."""
    rows = {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}
    return {key: value for key, value in rows.items() if value != []}


def _key(request: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(request).encode()).hexdigest()


def _at_once(reply: Reply) -> Iterator[Piece | Reply]:
    if reply.thinking:
        yield Piece("thinking", reply.thinking)
    if reply.text:
        yield Piece("answer", reply.text)
    yield reply


def _is_of_use(reply: Reply, options: Options) -> bool:
    from kiwiresearch.llm.structured import json_candidates  # loads pydantic, which takes time

    if not (reply.text or reply.calls) or reply.finish == "repeated":
        return False
    return options.schema is None or any(map(_is_object, json_candidates(reply.text)))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _reply(row: dict[str, Any]) -> Reply:
    """A reply from its record; anything that is not as it was written is refused."""
    row = {"calls": [], **row}
    if set(row) != {field.name for field in fields(Reply)} or row["finish"] not in get_args(Finish):
        raise ValueError("no record of a reply")
    counts = (row["prompt_tokens"], row["reply_tokens"])
    texts = (row["text"], row["thinking"])
    if not all(isinstance(t, str) for t in texts) or not all(c is None or type(c) is int for c in counts):
        raise ValueError("no record of a reply")
    return Reply(**row | {"calls": tuple(map(_call, row["calls"]))})


def _call(row: dict[str, Any]) -> ToolCall:
    if set(row) != {field.name for field in fields(ToolCall)} or not all(isinstance(v, str) for v in row.values()):
        raise ValueError("no record of a call")
    return ToolCall(**row)
