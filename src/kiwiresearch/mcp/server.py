"""The tools as a server of the Model Context Protocol, whatever it is reached through."""

from __future__ import annotations

import functools
import logging
import re
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolRecord

from kiwiresearch import __version__
from kiwiresearch.errors import KiwiError
from kiwiresearch.llm.prompts import OWN_TOKENS
from kiwiresearch.mcp.attended import attend
from kiwiresearch.mcp.threads import Caller, worked_out
from kiwiresearch.mcp.tools import Tool, Toolbox

log = logging.getLogger("kiwiresearch.mcp")

INSTRUCTIONS = (
    "Books on this computer, read offline. Ask first; search and read_section go deeper. "
    "Cite what you use. What the books do not hold, say so."
)
FOLDERS = re.compile(r"""(?<=['"])(?:[A-Za-z]:)?[/\\](?:[^'"/\\]*[/\\])*(?=[^'"]*['"])""")
"""Where a file is on the machine; its name is enough for whoever asks."""

FAULT = "This is a fault of kiwiresearch; its log tells more."


def make_server(tools: Toolbox) -> Server[Any]:
    """A server without memory of its callers: each call stands for itself."""

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[record_of(tool) for tool in tools.tools.values()])

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        caller = Caller()
        attend(context.request, caller)
        return await worked_out(functools.partial(called, tools, params.name, params.arguments or {}, caller), caller)

    return Server(
        "kiwiresearch",
        version=__version__,
        title="kiwiresearch",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def record_of(tool: Tool) -> ToolRecord:
    return ToolRecord(
        name=tool.name,
        description=tool.description,
        input_schema=tool.takes.schema_for_models(),
        annotations=ToolAnnotations(read_only_hint=tool.only_reads, open_world_hint=False),
    )


def called(tools: Toolbox, name: str, arguments: dict[str, Any], caller: Caller | None = None) -> CallToolResult:
    """What a tool says; what goes wrong is told in words that a model can act on."""
    tool = tools.tools.get(name)
    if tool is None:
        return _said(f"There is no tool {name[:60]!r}. Known are: {', '.join(tools.tools)}.", is_error=True)
    try:
        return _said(tool.call(arguments, caller or Caller()))
    except KiwiError as problem:
        # Titles and headings in it are words of books.
        return _said(OWN_TOKENS.sub("‹", FOLDERS.sub("", str(problem))), is_error=True)
    except Exception:
        log.exception("The tool %r failed", name)
        return _said(FAULT, is_error=True)


def _said(text: str, *, is_error: bool = False) -> CallToolResult:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return CallToolResult(content=[TextContent(type="text", text=clean)], is_error=is_error)
