"""A chat model behind OpenAI-compatible servers: the only module that speaks HTTP to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from kiwiresearch.errors import BadReply, BadSettings, ModelUnreachable, PromptTooLong
from kiwiresearch.http_client import Deadline, HttpClient, HttpFailure, HttpResponse
from kiwiresearch.llm import servers, wire
from kiwiresearch.llm.model import (
    DEFAULT_OPTIONS,
    ChatMessage,
    Options,
    Reply,
    ReplyPiece,
    estimate_prompt,
    final_reply,
)
from kiwiresearch.llm.reply_stream import MAX_CHARS, ReplyBuilder, ReplyCutShort, ServerComplaint, read_pieces
from kiwiresearch.llm.servers import Pool, TemporaryFailure, server_root, without_password
from kiwiresearch.llm.wire import MAX_BYTES, BadServerOutput, ChatRequest, json_objects

COMPLETIONS = "/v1/chat/completions"
MAX_JSON_BYTES = 8 * 2**20
TEMPORARY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
GIVE_LESS = "Send less text, or start the model server with a larger context."
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait: for a connection, between two bytes, for a complete reply, and before a retry.

    These are the defaults; `model_timeouts` in `workspace/models.py` applies the user's setting.
    """

    connect_s: float = 5.0
    read_s: float = 120.0
    total_s: float = 600.0
    retry_after_s: float = 0.5


DEFAULT_TIMEOUTS = Timeouts()


class ModelServer:
    """One server address, the request fields it has rejected, and what it reports about itself."""

    def __init__(self, address: str, *, key: str, timeouts: Timeouts) -> None:
        self.root = server_root(address)
        self.rejected_fields: frozenset[str] = frozenset()
        self.context: servers.ContextSize | None = None
        self._timeouts = timeouts
        if not key.isascii():
            raise BadSettings("The key for the model server contains characters that are not allowed.")
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        # Connections are not reused: llama.cpp drops them after a stream, and the next call would fail.
        self._client = HttpClient(connect_s=timeouts.connect_s, read_s=timeouts.read_s, headers=headers)

    @contextmanager
    def calling(self, path: str, request: Mapping[str, Any] | None, deadline: Deadline) -> Iterator[HttpResponse]:
        """Open a response without reading its body; transport errors, including later ones, become our own."""
        content = None if request is None else json.dumps(request).encode()
        try:
            with self._client.open(
                "GET" if request is None else "POST",
                self.root + path,
                deadline,
                content=content,
                headers={} if request is None else {"Content-Type": "application/json"},
            ) as response:
                yield response
        except (HttpFailure, BadServerOutput, ReplyCutShort) as problem:
            raise self._our_error(problem, deadline) from problem

    def _our_error(self, problem: Exception, deadline: Deadline) -> Exception:
        if deadline.has_passed:
            return self.unreachable(f"did not finish within {deadline.seconds:g} seconds")
        if isinstance(problem, BadServerOutput):
            return self.unreachable(f"does not seem to be a model server: {problem}")
        kind = problem.kind if isinstance(problem, HttpFailure) else "broken"
        if kind == "silent":
            return self.unreachable("did not respond in time")
        if kind == "connect":
            return self.unreachable(f"is not responding: {problem}")
        if kind == "address":
            return self.unreachable(f"cannot be reached: {problem}")
        return TemporaryFailure(self.unreachable(f"closed the connection: {problem}"))

    def unreachable(self, what: str, *, remedy: str = "") -> ModelUnreachable:
        usual = "Check the address and that the model server is running, then try again."
        return ModelUnreachable(f"The model server {without_password(self.root)!r} {what}.", remedy=remedy or usual)

    def ask(self, path: str, request: Mapping[str, Any] | None = None, *, deadline: Deadline | None = None) -> Any:
        """The JSON at a path; None if the server has no such path."""
        try:
            with self.calling(path, request, deadline or Deadline(self._timeouts.connect_s * 2)) as response:
                # Only OpenAI's own paths show that the key is wrong; the others are specific to one kind of server.
                if response.status in (401, 403) and path.startswith("/v1/"):
                    raise self.error_for(response, "")
                if response.status != 200:
                    return None
                try:
                    return next(json_objects(_limited(response, MAX_JSON_BYTES)), None)
                except (BadServerOutput, BadReply):
                    return None
        except TemporaryFailure as problem:
            raise problem.error from problem

    def complaint(self, response: HttpResponse) -> str:
        content = b"".join(_limited(response, MAX_JSON_BYTES))
        try:
            return wire.complaint_in(json.loads(content))
        except (ValueError, RecursionError):
            return ""

    def error_for(self, response: HttpResponse, said: str) -> Exception:
        """The error for a response that is not a reply; `said` is the server's own explanation."""
        status = response.status
        words = f": {said}" if said else ""
        if wire.TOO_LONG.search(said):
            return PromptTooLong(
                f"The model server {without_password(self.root)!r} rejected the prompt{words}.", remedy=GIVE_LESS
            )
        if status in TEMPORARY_STATUSES:
            return TemporaryFailure(self.unreachable(f"returned an error ({status}){words}"))
        if 300 <= status < 400:
            place = without_password(response.headers.get("location", "")) or "another place"
            return self.unreachable(f"redirects to {place!r}", remedy="If you trust that address, use it instead.")
        if status in (401, 403):
            return self.unreachable(
                f"needs a key ({status}){words}", remedy="Set 'model_key' to the key of your model server."
            )
        return self.unreachable(f"rejected the request ({status}){words}")

    def read(self, response: HttpResponse, builder: ReplyBuilder, *, streamed: bool) -> Iterator[ReplyPiece]:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise BadServerOutput("it sent a compressed reply")
        try:
            yield from read_pieces(json_objects(_limited(response, MAX_BYTES)), builder)
        except ServerComplaint as complaint:
            raise self.error_for(response, str(complaint)) from complaint
        if not (builder.has_begun or streamed):
            raise BadServerOutput("it sent an empty reply")

    def close(self) -> None:
        self._client.close()


def _limited(response: HttpResponse, max_bytes: int) -> Iterator[bytes]:
    """The bytes of a reply as sent; BadReply if there are too many."""
    try:
        yield from response.chunks(max_bytes, raw=True)
    except HttpFailure as failure:
        if failure.kind != "large":
            raise
        raise BadReply(
            f"The reply is larger than {max_bytes // 2**20} MiB.", remedy="Ask for less, or try another model."
        ) from failure


class ChatModel:
    """A model behind one or more servers with OpenAI's chat completions."""

    def __init__(
        self,
        *addresses: str,
        model: str = "",
        key: str = "",
        context_tokens: int | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        max_chars: int = MAX_CHARS,
    ) -> None:
        if not addresses:
            remedy = "Set 'model_url' in the settings, for example to http://localhost:11434."
            raise BadSettings("No model server is set.", remedy=remedy)
        servers = [ModelServer(address, key=key, timeouts=timeouts) for address in addresses]
        self._pool = Pool(servers, pause_s=timeouts.retry_after_s)
        self._model = model
        self._set_context = context_tokens
        self._timeouts = timeouts
        self._max_chars = max_chars

    @property
    def name(self) -> str:
        """The model's name; if none was given, the first that the server offers."""
        if not self._model:
            names = self.models()
            if not names:
                raise ModelUnreachable(
                    "The model server has no models.", remedy="Load a model on the server, or set 'model_name'."
                )
            self._model = names[0]
        return self._model

    def models(self) -> tuple[str, ...]:
        """The names of the models on offer."""
        return self._ask_all(lambda server: servers.model_names(server.ask))[0]

    def context_tokens(self) -> int | None:
        """The size that was set, else the smallest that any server reports."""
        sizes = self._ask_all(lambda server: self._context(server, server.ask))
        return min(filter(None, sizes), default=None)

    def chat(self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS) -> Reply:
        return final_reply(self._replies(messages, options, can_restart=True))

    def pieces(
        self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS
    ) -> Iterator[ReplyPiece | Reply]:
        return self._replies(messages, options, can_restart=False)

    def close(self) -> None:
        for server in self._pool.members:
            server.close()

    def __enter__(self) -> ChatModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask_all(self, question: Callable[[ModelServer], T]) -> list[T]:
        """The answers of all servers that can be reached; an error if none can."""
        found: list[T] = []
        problem: ModelUnreachable | None = None
        for server in self._pool.members:
            try:
                found.append(question(server))
            except ModelUnreachable as unreachable:
                problem = unreachable
        if problem and not found:
            raise problem
        return found

    def _replies(
        self, messages: Sequence[ChatMessage], options: Options, *, can_restart: bool
    ) -> Iterator[ReplyPiece | Reply]:
        deadline = Deadline(self._timeouts.total_s)
        yield from self._pool.first_that_works(
            lambda server: self._reply_of(server, messages, options, deadline), can_restart=can_restart
        )

    def _reply_of(
        self, server: ModelServer, messages: Sequence[ChatMessage], options: Options, deadline: Deadline
    ) -> Iterator[ReplyPiece | Reply]:
        """One server's reply. Fields it rejects are left out; an empty stream is requested again in one piece."""
        rejected_fields, streamed = server.rejected_fields, True
        # Ends at the latest when nothing is left to drop: each round drops one more field, or stops streaming.
        while True:
            request = wire.body(messages, options, self.name, rejected_fields, streamed=streamed)
            self._check_room(server, request, options, deadline)
            with server.calling(COMPLETIONS, request, deadline) as response:
                if response.status == 200:
                    builder = ReplyBuilder(self._max_chars)
                    yield from server.read(response, builder, streamed=streamed)
                    # Remembered only after success: what was refused for another reason must not be missing later.
                    server.rejected_fields = rejected_fields
                    if not builder.is_empty or not streamed:
                        yield builder.reply()
                        return
                    streamed = False
                    continue
                said = server.complaint(response)
                is_about_form = wire.is_about_form(response.status, said, request)
                field = wire.field_to_drop(request, said, options) if is_about_form else None
                if field is None:
                    raise server.error_for(response, said)
                rejected_fields |= {field}

    def _check_room(self, server: ModelServer, request: ChatRequest, options: Options, deadline: Deadline) -> None:
        """Refuse a prompt that does not fit: some servers would silently cut it."""

        def ask(path: str, question: Mapping[str, Any] | None) -> Any:
            return server.ask(path, question, deadline=deadline)

        room = self._context(server, ask)
        needed = estimate_prompt(wire.texts_of(request))
        if room is None or needed + options.max_tokens <= room:
            return
        needed = servers.token_count(ask, request) or needed
        if needed + options.max_tokens > room:
            raise PromptTooLong(
                f"The prompt needs about {needed:,} tokens and the reply up to {options.max_tokens:,}, "
                f"but the model {self.name!r} can use only {room:,} in total.",
                remedy=GIVE_LESS,
            )

    def _context(self, server: ModelServer, ask: servers.AskServer) -> int | None:
        if self._set_context is not None:
            return self._set_context
        if server.context is None or not server.context.is_sure:
            server.context = servers.context_of(ask, self.name)
        return server.context.tokens
