"""Any OpenAI-compatible model server: the only module that speaks HTTP to one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from kiwiresearch.errors import BadReply, BadSettings, ModelUnreachable, PromptTooLong
from kiwiresearch.http_client import HttpClient, HttpFailure, HttpResponse, Limit
from kiwiresearch.llm import servers as facts
from kiwiresearch.llm import wire
from kiwiresearch.llm.model import Message, Options, Piece, Reply, answer_texts, estimate_prompt, final_reply
from kiwiresearch.llm.reply_stream import MAX_CHARS, ReplyBuilder, ReplyCutShort, ServerComplaint, read_pieces
from kiwiresearch.llm.servers import Pool, TemporaryFailure, server_root, without_password
from kiwiresearch.llm.wire import MAX_BYTES, BadServerOutput, json_objects

COMPLETIONS = "/v1/chat/completions"
MAX_FACT_BYTES = 8 * 2**20
TEMPORARY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
GIVE_LESS = "Give it less text, or start the model server with a larger context."
PLAIN = Options()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: for a connection, between two bytes, for all of a reply, before asking again."""

    connect_s: float = 5.0
    read_s: float = 120.0
    total_s: float = 600.0
    again_s: float = 0.5


DEFAULT_PATIENCE = Patience()


class ModelServer:
    """One address, what it has refused, and what it tells about itself."""

    def __init__(self, address: str, *, key: str, patience: Patience) -> None:
        self.root = server_root(address)
        self.refused: frozenset[str] = frozenset()
        self.context: facts.ContextSize | None = None
        self._patience = patience
        if not key.isascii():
            raise BadSettings("The key of the model server has letters that no header can carry.")
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        # No connection is kept open: llama.cpp drops them after a stream, and the next call would find out.
        self._client = HttpClient(connect_s=patience.connect_s, silent_s=patience.read_s, headers=headers)

    @contextmanager
    def calling(self, path: str, request: Mapping[str, Any] | None, limit: Limit) -> Iterator[HttpResponse]:
        """An answer whose body is still to be read; all that can go wrong on the line is told in one way."""
        content = None if request is None else json.dumps(request).encode()
        try:
            with self._client.open(
                "GET" if request is None else "POST",
                self.root + path,
                limit,
                content=content,
                headers={} if request is None else {"Content-Type": "application/json"},
            ) as response:
                yield response
        except (HttpFailure, BadServerOutput, ReplyCutShort) as problem:
            raise self._trouble(problem, limit) from problem

    def _trouble(self, problem: Exception, limit: Limit) -> Exception:
        if limit.has_passed:
            return self.unreachable(f"was not done after {limit.seconds:g} seconds")
        if isinstance(problem, BadServerOutput):
            return self.unreachable(f"does not answer as a model server does: {problem}")
        kind = problem.kind if isinstance(problem, HttpFailure) else "broken"
        if kind == "silent":
            return self.unreachable("does not answer in time")
        if kind == "connect":
            return self.unreachable(f"does not answer: {problem}")
        if kind == "address":
            return self.unreachable(f"cannot be asked: {problem}")
        return TemporaryFailure(self.unreachable(f"breaks off: {problem}"))

    def unreachable(self, what: str, *, remedy: str = "") -> ModelUnreachable:
        usual = "Check the address and that the model server is running, then try again."
        return ModelUnreachable(f"The model server {without_password(self.root)!r} {what}.", remedy=remedy or usual)

    def ask(self, path: str, request: Mapping[str, Any] | None = None, *, limit: Limit | None = None) -> Any:
        """The JSON that a path answers with; None where the server has no such path."""
        try:
            with self.calling(path, request, limit or Limit(self._patience.connect_s * 2)) as response:
                if response.status in (401, 403) and path.startswith("/v1/"):
                    raise self.refusal(response, "")
                if response.status != 200:
                    return None
                try:
                    return next(json_objects(_limited(response, MAX_FACT_BYTES)), None)
                except (BadServerOutput, BadReply):
                    return None
        except TemporaryFailure as problem:
            raise problem.error from problem

    def complaint(self, response: HttpResponse) -> str:
        content = b"".join(_limited(response, MAX_FACT_BYTES))
        try:
            return wire.complaint_in(json.loads(content))
        except (ValueError, RecursionError):
            return ""

    def refusal(self, response: HttpResponse, said: str) -> Exception:
        """What an answer that is no reply means for the user."""
        status = response.status
        words = f": {said}" if said else ""
        if wire.TOO_LONG.search(said):
            return PromptTooLong(
                f"The model server {without_password(self.root)!r} refuses the prompt{words}.", remedy=GIVE_LESS
            )
        if status in TEMPORARY_STATUSES:
            return TemporaryFailure(self.unreachable(f"answers with an error ({status}){words}"))
        if 300 <= status < 400:
            place = without_password(response.headers.get("location", "")) or "another place"
            return self.unreachable(f"sends us on to {place!r}", remedy="If you trust that address, name it instead.")
        if status in (401, 403):
            return self.unreachable(f"wants a key ({status}){words}", remedy="Set the key of your model server.")
        return self.unreachable(f"refuses the request ({status}){words}")

    def read(self, response: HttpResponse, reading: ReplyBuilder, *, streamed: bool) -> Iterator[Piece]:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise BadServerOutput("it sends compressed what was asked for plain")
        try:
            yield from read_pieces(json_objects(_limited(response, MAX_BYTES)), reading)
        except ServerComplaint as complaint:
            raise self.refusal(response, str(complaint)) from complaint
        if not (reading.has_begun or streamed):
            raise BadServerOutput("it sends nothing")

    def close(self) -> None:
        self._client.close()


def _limited(response: HttpResponse, max_bytes: int) -> Iterator[bytes]:
    """The bytes of a reply as they were sent; BadReply if they are too many."""
    try:
        yield from response.chunks(max_bytes, raw=True)
    except HttpFailure as failure:
        if failure.kind != "large":
            raise
        raise BadReply(
            f"The reply is larger than {max_bytes // 2**20} MiB.", remedy="Ask for less, or try another model."
        ) from failure


class ChatModel:
    """A model behind one or more servers that speak the chat completions of OpenAI."""

    def __init__(
        self,
        *addresses: str,
        model: str = "",
        key: str = "",
        context_tokens: int | None = None,
        patience: Patience = DEFAULT_PATIENCE,
        max_chars: int = MAX_CHARS,
    ) -> None:
        if not addresses:
            raise BadSettings("No model server is named.", remedy="Name one like http://localhost:11434.")
        servers = [ModelServer(address, key=key, patience=patience) for address in addresses]
        self._pool = Pool(servers, pause_s=patience.again_s)
        self._model = model
        self._set_context = context_tokens
        self._patience = patience
        self._max_chars = max_chars

    @property
    def name(self) -> str:
        """The model's name; where none was given, the first that the server offers."""
        if not self._model:
            names = self.models()
            if not names:
                raise ModelUnreachable("The model server offers no model.", remedy="Load one there, or name it here.")
            self._model = names[0]
        return self._model

    def models(self) -> tuple[str, ...]:
        """What can be asked for by name."""
        return self._told(lambda server: facts.model_names(server.ask))[0]

    def context_tokens(self) -> int | None:
        """What was set, else the smallest context that a server tells of."""
        told = self._told(lambda server: self._context(server, server.ask))
        return min(filter(None, told), default=None)

    def chat(self, messages: Sequence[Message], options: Options = PLAIN) -> Reply:
        return final_reply(self._replies(messages, options, can_begin_again=True))

    def pieces(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[Piece | Reply]:
        return self._replies(messages, options, can_begin_again=False)

    def stream(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[str]:
        return answer_texts(self.pieces(messages, options))

    def close(self) -> None:
        for server in self._pool.members:
            server.close()

    def __enter__(self) -> ChatModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _told(self, question: Callable[[ModelServer], T]) -> list[T]:
        """What the servers say that can be reached; none at all is an error."""
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
        self, messages: Sequence[Message], options: Options, *, can_begin_again: bool
    ) -> Iterator[Piece | Reply]:
        limit = Limit(self._patience.total_s)

        def act(server: ModelServer) -> Iterator[Piece | Reply]:
            return self._from(server, messages, options, limit)

        yield from self._pool.first_that_works(act, can_begin_again=can_begin_again)

    def _from(
        self, server: ModelServer, messages: Sequence[Message], options: Options, limit: Limit
    ) -> Iterator[Piece | Reply]:
        """One server's reply; what it refuses is left out, and an empty stream is asked for in one piece."""
        refused, streamed = server.refused, True
        while True:
            request = wire.body(messages, options, self.name, refused, streamed=streamed)
            self._check_room(server, request, options, limit)
            with server.calling(COMPLETIONS, request, limit) as response:
                if response.status == 200:
                    reading = ReplyBuilder(self._max_chars)
                    yield from server.read(response, reading, streamed=streamed)
                    server.refused = refused
                    if not reading.is_empty or not streamed:
                        yield reading.reply()
                        return
                    streamed = False
                    continue
                said = server.complaint(response)
                can_spare = wire.is_about_form(response.status, said, request)
                spare = wire.to_give_up(request, said, options) if can_spare else None
                if spare is None:
                    raise server.refusal(response, said)
                refused |= {spare}

    def _check_room(self, server: ModelServer, request: dict[str, Any], options: Options, limit: Limit) -> None:
        """A prompt that does not fit is refused here: some servers would cut it without a word."""

        def ask(path: str, question: Mapping[str, Any] | None) -> Any:
            return server.ask(path, question, limit=limit)

        room = self._context(server, ask)
        needed = estimate_prompt(wire.texts_of(request))
        if room is None or needed + options.max_tokens <= room:
            return
        needed = facts.token_count(ask, request) or needed
        if needed + options.max_tokens > room:
            raise PromptTooLong(
                f"The prompt takes about {needed:,} tokens and the reply up to {options.max_tokens:,}, "
                f"but {self.name!r} reads {room:,} at once.",
                remedy=GIVE_LESS,
            )

    def _context(self, server: ModelServer, ask: facts.AskServer) -> int | None:
        if self._set_context is not None:
            return self._set_context
        if server.context is None or not server.context.is_sure:
            server.context = facts.context_of(ask, self.name)
        return server.context.tokens
