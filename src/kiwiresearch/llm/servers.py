"""Model servers: their addresses, what they report about themselves, and a pool of several."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadSettings, ModelUnreachable
from kiwiresearch.llm.wire import ChatRequest
from kiwiresearch.network import is_loopback, split_server_address

# The end of an address that a manual may show: "/v1/", "/v1/chat/completions", "/models"; "/openai" stays.
OWN_PATHS = re.compile(r"(?:/v1)?(?:/chat/completions|/models)?/*$")


def server_root(address: str) -> str:
    """The server's base address, from any form of it that its documentation may show."""
    parts = split_server_address(address)
    if parts is None or parts.port == 0:
        raise BadSettings(
            f"{without_password(address)!r} is not the address of a model server.",
            remedy="Example: http://localhost:11434",
        )
    return f"{parts.scheme}://{parts.netloc}{OWN_PATHS.sub('', parts.path)}"


def is_on_this_machine(address: str) -> bool:
    """Whether a server's address is on this machine."""
    return is_loopback(urlsplit(server_root(address)).hostname or "")


def without_password(address: str) -> str:
    """The address without any user name and password in it."""
    return re.sub(r"//[^/@]*@", "//", address)


AskServer = Callable[[str, Mapping[str, Any] | None], Any]
"""Sends a request (None for GET) to a path of the server and returns the JSON it answers with, or None."""

OLLAMA_DEFAULT = 4096
# The line "num_ctx 8192" among the parameters of a model, of which each has a line.
NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ContextSize:
    """How many tokens a model reads at once, and whether that is certain."""

    tokens: int | None
    is_sure: bool = True


def model_names(ask: AskServer) -> tuple[str, ...]:
    """The models a server offers, in its order."""
    return tuple(str(row["id"]) for row in _rows(ask("/v1/models", None), "data") if row.get("id"))


def context_of(ask: AskServer, model: str) -> ContextSize:
    """The context size, as each kind of server reports it; Ollama and LM Studio only for a model that is loaded."""
    tokens = _positive(_part(_part(ask("/props", None), "default_generation_settings"), "n_ctx"))  # llama.cpp
    if tokens:
        return ContextSize(tokens)
    for row in _rows(ask("/v1/models", None), "data"):  # vLLM, llama.cpp
        tokens = _positive(row.get("max_model_len")) or _positive(_part(row.get("meta"), "n_ctx"))
        if tokens and row.get("id") == model:
            return ContextSize(tokens)
    for row in _rows(ask("/api/v0/models", None), "data"):  # LM Studio
        tokens = _positive(row.get("loaded_context_length"))
        if tokens and row.get("id") == model:
            return ContextSize(tokens)
    return _ollama_context(ask, model)


def _ollama_context(ask: AskServer, model: str) -> ContextSize:
    """The size at which Ollama silently cuts prompts; it is unrelated to the model's own limit."""
    for row in _rows(ask("/api/ps", None), "models"):
        tokens = _positive(row.get("context_length"))
        if tokens and model in (row.get("name"), row.get("model"), str(row.get("name")).removesuffix(":latest")):
            return ContextSize(tokens)
    shown = ask("/api/show", {"model": model})
    if not isinstance(shown, dict) or "model_info" not in shown:
        return ContextSize(None)
    num_ctx = NUM_CTX.search(str(shown.get("parameters") or ""))
    if num_ctx:
        return ContextSize(int(num_ctx[1]))
    info = shown["model_info"] if isinstance(shown["model_info"], dict) else {}
    trained = [_positive(value) for key, value in info.items() if key.endswith(".context_length")]
    # Asked again at the next call: once the model is loaded, /api/ps knows the real size.
    return ContextSize(min([OLLAMA_DEFAULT, *filter(None, trained)]), is_sure=False)


def token_count(ask: AskServer, request: ChatRequest) -> int | None:
    """The prompt's exact size with its template, if the server can count (llama.cpp)."""
    content: JsonDict = {key: request[key] for key in ("messages", "tools") if key in request}
    prompt = _part(ask("/apply-template", content), "prompt")
    if not isinstance(prompt, str):
        return None
    tokens = _part(ask("/tokenize", {"content": prompt, "add_special": True, "parse_special": True}), "tokens")
    return len(tokens) if isinstance(tokens, list) else None


def _rows(answer: object, key: str) -> list[JsonDict]:
    rows = _part(answer, key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _part(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _positive(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


Member = TypeVar("Member")
Item = TypeVar("Item")

REST_S = 30.0
"""For this long, a server that failed is used only if all others fail too."""


class TemporaryFailure(Exception):
    """A failure worth a retry; never raised outside this package."""

    def __init__(self, error: ModelUnreachable) -> None:
        super().__init__(str(error))
        self.error = error


class Pool(Generic[Member]):
    """Interchangeable servers, with the number of calls each is busy with."""

    def __init__(self, members: Sequence[Member], *, pause_s: float) -> None:
        self.members = tuple(members)
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._busy = [0] * len(self.members)
        self._resting_until = [0.0] * len(self.members)

    def first_that_works(self, act: Callable[[Member], Iterator[Item]], *, can_restart: bool) -> Iterator[Item]:
        """All items from one member: the least busy of those that work.

        If one fails, the next is tried; those with a temporary failure are tried a second time. Once items have been
        yielded, another try starts over from the first item, so it is made only with `can_restart`.
        """
        unreachable: set[int] = set()
        for is_last_round in (False, True):
            left = set(range(len(self.members))) - unreachable
            while left:
                with self._turn(left) as number:
                    left.discard(number)
                    has_begun = False
                    try:
                        for item in act(self.members[number]):
                            has_begun = True
                            yield item
                    except (TemporaryFailure, ModelUnreachable) as trouble:
                        self._resting_until[number] = time.monotonic() + REST_S
                        problem = trouble.error if isinstance(trouble, TemporaryFailure) else trouble
                        if isinstance(trouble, ModelUnreachable):
                            unreachable.add(number)
                        if has_begun and not can_restart:
                            raise problem from trouble
                    else:
                        self._resting_until[number] = 0.0
                        return
            if is_last_round or len(unreachable) == len(self.members):
                raise problem
            time.sleep(self._pause_s)

    @contextmanager
    def _turn(self, left: set[int]) -> Iterator[int]:
        """The number of the member to use, which counts as busy until the block ends."""
        now = time.monotonic()
        with self._lock:
            # Resting servers last, then the least busy; the number makes the choice the same every time.
            chosen = min(left, key=lambda n: (now < self._resting_until[n], self._busy[n], n))
            self._busy[chosen] += 1
        try:
            yield chosen
        finally:
            with self._lock:
                self._busy[chosen] -= 1
