"""Another server on this machine, for browsers another site: it notes who comes, and serves pages that attack us."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Elsewhere:
    """Where it is, what it serves by path, and the paths that were asked for."""

    address: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    visited: list[str] = field(default_factory=list)


@contextlib.contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    site = Elsewhere()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/favicon.ico":  # which browsers ask for when they like
                site.visited.append(self.path)
            content = site.pages.get(self.path, "nothing").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002
            """Nobody needs to read this."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
