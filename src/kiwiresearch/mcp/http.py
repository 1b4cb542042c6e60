"""The tools over HTTP, for programs that reach this computer by its address."""

from __future__ import annotations

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from kiwiresearch.mcp.attended import Attended
from kiwiresearch.mcp.server import make_server
from kiwiresearch.mcp.tools import Toolbox

PATH = "/mcp"


def http_app(tools: Toolbox, *, max_body_kb: int = 256) -> Starlette:
    """An app with the one route `/mcp`, whose lifespan must be entered before the first request.

    Host, origin and token are checked by the server that takes up its route, as for all other routes.
    """
    app = make_server(tools).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=max_body_kb * 1024,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.add_middleware(Attended)
    return app
