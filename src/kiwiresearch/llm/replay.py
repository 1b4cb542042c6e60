"""A cache of replies by their requests, so that a run can be repeated and resumed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_args

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.llm.model import DEFAULT_OPTIONS, ChatMessage, Finish, Model, Options, Reply, ReplyPiece, ToolCall
from kiwiresearch.system import write_atomically

# A part of every key: with another number, all saved replies count as missing.
REPLAY_VERSION = 1


class ReplayModel:
    """A model whose replies are stored in a folder; without a model, only the stored replies are available.

    Failures are not stored, nor useless replies: empty ones, repetitions, and text where JSON was wanted.
    A damaged file counts as missing.
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

    def chat(self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS) -> Reply:
        """The stored reply, else a new one, which is shared with other threads that want it at the same time."""
        request = self._request(messages, options)
        key = _key(request)
        with self._lock:
            known = self._under_way.get(key)
            # Under the lock, so that exactly one of several threads sends the request.
            mine = known or self._under_way.setdefault(key, Future())
        if known:
            return known.result()
        try:
            reply = self._stored(request)
            if reply is None:
                reply = self._required_model().chat(messages, options)
                self._store(request, reply, options)
        except BaseException as problem:
            mine.set_exception(problem)
            raise
        else:
            mine.set_result(reply)
            return reply
        finally:
            with self._lock:
                del self._under_way[key]

    def pieces(
        self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS
    ) -> Iterator[ReplyPiece | Reply]:
        """The pieces as they arrive; a stored reply comes as one.

        They are not shared between threads: if one stopped reading, it would stop the others.
        """
        request = self._request(messages, options)
        stored = self._stored(request)
        if stored:
            yield from stored.as_pieces()
            return
        for piece in self._required_model().pieces(messages, options):
            if isinstance(piece, Reply):
                self._store(request, piece, options)
            yield piece

    def _required_model(self) -> Model:
        if self._model is None:
            raise ModelUnreachable(
                f"No reply from {self.name!r} to this prompt is saved in {str(self._folder)!r}.",
                remedy="Run it once with the model to save its replies, then again without.",
            )
        return self._model

    def _request(self, messages: Sequence[ChatMessage], options: Options) -> JsonDict:
        turns = [_turn(message) for message in messages]
        return {"version": REPLAY_VERSION, "model": self.name, "messages": turns, "options": _plain(asdict(options))}

    def _path(self, request: JsonDict) -> Path:
        key = _key(request)
        return self._folder / key[:2] / f"{key}.json"

    def _stored(self, request: JsonDict) -> Reply | None:
        try:
            record = json.loads(self._path(request).read_text(encoding="utf-8"))
            # Compared in full: a file may have been edited, or copied to another name.
            return _reply(record["reply"]) if record["request"] == request else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _store(self, request: JsonDict, reply: Reply, options: Options) -> None:
        if not _is_useful(reply, options):
            return
        record = {"request": request, "reply": _plain(asdict(reply))}
        try:
            write_atomically(self._path(request), canonical_json(record) + "\n")
        except OSError as problem:
            self._say(f"Could not save replies in {str(self._folder)!r}: {problem.strerror}.")


def _turn(message: ChatMessage) -> list[Any]:
    called = [[call.name, call.arguments, call.id] for call in message.calls]
    return [message.role, message.text, *([called, message.call_id] if called or message.call_id else [])]


def _plain(row: JsonDict) -> JsonDict:
    """The row as JSON reads it back: with lists for tuples, and without empty tools and calls."""
    # Leaving out what is empty keeps the keys of replies that were saved before there were tools.
    rows = {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}
    return {key: value for key, value in rows.items() if value != []}


def _key(request: JsonDict) -> str:
    return hashlib.sha256(canonical_json(request).encode()).hexdigest()


def _is_useful(reply: Reply, options: Options) -> bool:
    from kiwiresearch.llm.structured import json_candidates  # imports pydantic, which is slow

    if not (reply.text or reply.calls) or reply.finish == "repeated":
        return False
    return options.schema is None or any(map(_is_object, json_candidates(reply.text)))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _reply(row: dict[str, Any]) -> Reply:
    """A reply from its record; ValueError or TypeError if it is not exactly as it was written."""
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
