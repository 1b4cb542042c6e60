"""Tools for language models: the Model Context Protocol, over standard input and output or over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.mcp.context import ToolContext, open_context
    from kiwiresearch.mcp.server import PATH, http_app, serve
    from kiwiresearch.mcp.tools import Toolbox
else:
    __getattr__ = lazy_exports(__name__)
