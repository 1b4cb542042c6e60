"""One request to one machine: the only module here that opens a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx2

from kiwiresearch.errors import SourceUnreachable
from kiwiresearch.kin.sources.addresses import Place, shown
from kiwiresearch.llm.deadline import Deadline

MAX_BYTES = 5 * 2**20
TIMEOUT_S = 20.0
ENCODINGS = "gzip, identity"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: an address, and for a POST what is sent to it."""

    url: str
    method: str = "GET"
    form: Mapping[str, str] = field(default_factory=dict)
    accept: str = "text/html"
    secret_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers with a key in them; what they brought is never kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a machine said: its first 5 MiB, or an error if there is more."""

    status: int
    content: bytes
    kind: str = ""
    location: str = ""
    retry_after: str = ""


class Line:
    """Asks one thing at a time, says who is asking, and follows no redirect by itself."""

    def __init__(self, user_agent: str, *, timeout_s: float = TIMEOUT_S, max_bytes: int = MAX_BYTES) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._agent = user_agent
        self._clients: dict[str, httpx2.Client] = {}

    def ask(self, place: Place, request: Request) -> Answer:
        deadline = Deadline(self._timeout_s)
        try:
            return self._asked(place, request, deadline)
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ValueError, OSError) as problem:
            why = f"was not done after {self._timeout_s:g} seconds" if deadline.has_passed else "does not answer"
            raise SourceUnreachable(
                f"The source {shown(place.url)!r} {why} ({type(problem).__name__}).",
                remedy="Check the connection, then try again.",
            ) from problem
        finally:
            deadline.cancel()

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _asked(self, place: Place, request: Request, deadline: Deadline) -> Answer:
        headers = {
            "Host": place.host,
            "User-Agent": self._agent,
            "Accept": request.accept,
            "Accept-Encoding": ENCODINGS,
            **request.secret_headers,
        }
        data = dict(request.form) if request.method == "POST" else None
        # The certificate is checked against the name of the host, though its number is what is called.
        extensions = {"sni_hostname": place.name, "trace": deadline.trace}
        with self._opened(place.pinned.partition(":")[0]).stream(
            request.method, place.pinned, headers=headers, data=data, extensions=extensions
        ) as response:
            content = self._received(response, place)
            if deadline.has_passed:  # what was shut in the middle may look like an end
                raise TimeoutError
            found = response.headers
            return Answer(
                response.status_code,
                content,
                found.get("content-type", ""),
                found.get("location", "") if response.is_redirect else "",
                found.get("retry-after", ""),
            )

    def _received(self, response: httpx2.Response, place: Place) -> bytes:
        kept: list[bytes] = []
        size = 0
        for chunk in response.iter_bytes():
            size += len(chunk)
            if size > self._max_bytes:
                raise SourceUnreachable(
                    f"The answer of {shown(place.url)!r} is larger than {self._max_bytes / 2**20:g} MiB.",
                    remedy="A page about a person is never that large; the plugin asks for the wrong thing.",
                )
            kept.append(chunk)
        return b"".join(kept)

    def _opened(self, scheme: str) -> httpx2.Client:
        if scheme not in self._clients:
            # No proxy from the environment, no connection kept: each request stands alone.
            self._clients[scheme] = httpx2.Client(
                timeout=self._timeout_s,
                trust_env=False,
                follow_redirects=False,
                verify=scheme == "https",  # where there is no https, its certificates need not be loaded
                limits=httpx2.Limits(max_keepalive_connections=0),
            )
        self._clients[scheme].cookies.clear()
        return self._clients[scheme]
