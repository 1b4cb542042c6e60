"""HTTP on the wire: connections that say nothing are closed, and nonsense is answered like any other error."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from kiwiresearch.web.guard.headers import ALWAYS
from kiwiresearch.web.problems import SEE_API, Problem

HEAD_PATIENCE_S = 20.0
"""How long a client may take for the head of a request."""

MOST_CONNECTIONS = 512
MOST_HEAD_BYTES = 32 * 1024

NOT_HTTP = Problem(400, "Not HTTP", "This is no request that can be understood.", SEE_API)


class Wire(H11Protocol):
    """uvicorn's protocol, less patient: a request must have begun soon after its first byte."""

    patience_s = HEAD_PATIENCE_S
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (as uvicorn calls it)
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # an answer is on its way already
            return
        answer = NOT_HTTP.response()
        headers = [*answer.raw_headers, *((name.encode(), value.encode()) for name, value in ALWAYS.items())]
        head = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")], reason=b"Bad Request")
        for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    @property
    def _is_idle(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _watch(self) -> None:
        if not self._is_idle:
            self._stop_watching()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.patience_s, self._give_up)

    def _stop_watching(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if self._is_idle and not self.transport.is_closing():
            self.transport.close()
