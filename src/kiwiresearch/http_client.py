"""The one HTTP client: it calls the host that was named, within a time limit and a size limit.

No proxy of the environment is used, no redirect followed, no cookie stored. Whatever goes wrong
is an HttpFailure, which callers turn into a sentence about their own kind of server.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Literal, TypeVar

import httpx2

T = TypeVar("T")

FailureKind = Literal["address", "connect", "silent", "late", "broken", "garbled", "large"]
"""What went wrong with a call.

In this order: the URL or request cannot be sent; nothing accepts the connection; no byte arrived in time; the call
took too long in total; the connection or the protocol broke; the body cannot be decompressed; the body is too large.
"""

KINDS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], FailureKind], ...] = (
    ((httpx2.ConnectError, httpx2.UnsupportedProtocol), "connect"),
    (httpx2.TimeoutException, "silent"),
    (httpx2.DecodingError, "garbled"),
    (httpx2.TransportError, "broken"),
)
# Events of a connection that bring a new stream: the second is the encrypted one around the first.
OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")
PIECE = 16_384
"""Bytes written at a time, before the clock is checked again."""


class HttpFailure(Exception):
    """A call that did not bring a complete response."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Deadline:
    """The time by which a call, or several calls together, must be done.

    A socket's own timeout restarts with each byte, so it never stops a server that sends one now and then.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.monotonic()

    @property
    def left_s(self) -> float:
        return max(0.0, self._started + self.seconds - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return self.left_s == 0.0

    def check(self) -> float:
        """The seconds left; TimeoutError if there are none."""
        left = self.left_s
        if not left:
            raise TimeoutError("the reply took too long")
        return left


CURRENT_DEADLINE: ContextVar[Deadline] = ContextVar("deadline")


def _plain_reason(problem: Exception) -> str:
    """What went wrong, without the number that the system gives it."""
    reason = re.sub(r"^\[Errno -?\d+\] ", "", str(problem))
    return reason if reason == str(problem) else reason[:1].lower() + reason[1:]


@contextmanager
def _within(deadline: Deadline) -> Iterator[None]:
    """Bounds all reads and writes in the block, and turns their errors into an HttpFailure.

    Never held while a generator yields to its caller, who may resume it in another context.
    """
    before = CURRENT_DEADLINE.set(deadline)
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, TimeoutError) as problem:
        kind: FailureKind = next((kind for classes, kind in KINDS if isinstance(problem, classes)), "address")
        raise HttpFailure("late" if deadline.has_passed else kind, _plain_reason(problem)) from problem
    finally:
        CURRENT_DEADLINE.reset(before)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A response that has been read."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""


class HttpResponse:
    """Status and headers of a response whose body is still to be read."""

    def __init__(self, response: httpx2.Response, deadline: Deadline) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        """Names are case-insensitive."""
        self._response = response
        self._deadline = deadline

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400

    def chunks(self, max_bytes: int, *, raw: bool = False) -> Iterator[bytes]:
        """The body as it arrives, decompressed unless `raw`; HttpFailure if it is larger than `max_bytes`."""
        waiting = self._response.iter_raw() if raw else self._response.iter_bytes()
        received = 0
        while True:
            with _within(self._deadline):
                chunk = next(waiting, None)
            if chunk is None:
                return
            received += len(chunk)
            if received > max_bytes:
                raise HttpFailure("large", f"more than {max_bytes} bytes")
            yield chunk

    def read(self, max_bytes: int) -> bytes:
        return b"".join(self.chunks(max_bytes))


class HttpClient:
    """Sends requests; several threads may use it.

    `max_connections` is how many it has at most and reuses. With 0 there is no limit, and each request opens
    its own connection.
    """

    def __init__(
        self,
        *,
        read_s: float,
        connect_s: float = 0.0,
        headers: Mapping[str, str] | None = None,
        max_connections: int = 0,
    ) -> None:
        self._read_s = read_s
        self._connect_s = connect_s or read_s
        self._headers = dict(headers or {})
        self._limits = httpx2.Limits(max_connections=max_connections or None, max_keepalive_connections=max_connections)
        self._clients: dict[bool, httpx2.Client] = {}
        self._lock = threading.Lock()

    @contextmanager
    def open(
        self,
        method: str,
        url: str,
        deadline: Deadline,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        server_name: str = "",
    ) -> Iterator[HttpResponse]:
        """Send one request. `server_name` is the name that the certificate must have, if not the host of the URL."""
        with _within(deadline):
            left = deadline.check()
            timeout = httpx2.Timeout(min(self._read_s, left), connect=min(self._connect_s, left))
            extensions = {"trace": _bound_connection} | ({"sni_hostname": server_name} if server_name else {})
            client = self._client_for(url)
            body: dict[str, Any] = {"content": content, "json": json, "data": form}
            request = client.build_request(method, url, headers=headers, timeout=timeout, extensions=extensions, **body)
            response = client.send(request, stream=True)
        try:
            yield HttpResponse(response, deadline)
        finally:
            response.close()

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _client_for(self, url: str) -> httpx2.Client:
        is_https = url.startswith("https:")
        with self._lock:
            if is_https not in self._clients:
                self._clients[is_https] = httpx2.Client(
                    headers=self._headers,
                    trust_env=False,
                    follow_redirects=False,
                    verify=is_https,  # loading the certificates takes time
                    limits=self._limits,
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                )
            return self._clients[is_https]


def retried_once(act: Callable[[], T], *kinds: FailureKind) -> T:
    """Call `act`, and once more after a failure of these kinds, such as a reused connection that had been closed."""
    try:
        return act()
    except HttpFailure as failure:
        if failure.kind not in kinds:
            raise
    return act()


def _bound_connection(event: str, info: Mapping[str, Any]) -> None:
    """The "trace" of a request: each connection it opens obeys the deadline of the call that uses it, now or later."""
    if event in OPENED:
        stream = info["return_value"]
        read, write = stream.read, stream.write

        def write_pieces(data: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(data), PIECE):
                _in_time(write, data[start : start + PIECE], timeout)

        stream.read = lambda size, timeout=None: _in_time(read, size, timeout)
        stream.write = write_pieces


def _in_time(act: Callable[..., Any], argument: int | bytes, timeout: float | None) -> Any:
    left = CURRENT_DEADLINE.get().check()
    return act(argument, timeout=left if timeout is None else min(timeout, left))
