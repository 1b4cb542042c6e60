"""The tools as a server of the Model Context Protocol, over HTTP or over standard input and output."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import signal
import sys
from typing import Any, TextIO

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolRecord
from starlette.applications import Starlette

from kiwiresearch.errors import BadUsage, KiwiError, without_paths
from kiwiresearch.llm import OWN_TOKENS
from kiwiresearch.mcp.callers import Caller, DisconnectWatch, lines_of, register_caller, run_in_daemon_thread
from kiwiresearch.mcp.tools import McpTool, Toolbox
from kiwiresearch.text import encodable, without_controls
from kiwiresearch.version import __version__

log = logging.getLogger("kiwiresearch.mcp")

INSTRUCTIONS = (
    "Books on this computer, read offline. Ask first; search and read_section go deeper. "
    "Cite what you use. If the books have no answer, say so."
)
FAULT = "kiwiresearch failed unexpectedly. See its log for details."


def make_server(tools: Toolbox) -> Server[Any]:
    """A stateless server: each call is independent of others."""

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[tool_record(tool) for tool in tools.tools.values()])

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        caller = Caller()
        register_caller(context.request, caller)
        return await run_in_daemon_thread(
            functools.partial(run_tool, tools, params.name, params.arguments or {}, caller), caller
        )

    return Server(
        "kiwiresearch",
        version=__version__,
        title="kiwiresearch",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_record(tool: McpTool) -> ToolRecord:
    return ToolRecord(
        name=tool.name,
        description=tool.description,
        input_schema=tool.arguments.schema_for_models(),
        annotations=ToolAnnotations(read_only_hint=tool.is_read_only, open_world_hint=False),
    )


def run_tool(tools: Toolbox, name: str, arguments: dict[str, Any], caller: Caller | None = None) -> CallToolResult:
    """The result of a tool; errors are worded so that a model can act on them."""
    tool = tools.tools.get(name)
    if tool is None:
        return _result(f"Unknown tool {name[:60]!r}. The tools are: {', '.join(tools.tools)}.", is_error=True)
    try:
        return _result(tool.call(arguments, caller or Caller()))
    except KiwiError as problem:
        # Titles and headings in it are words of books, and must not look like our own markers.
        return _result(OWN_TOKENS.sub("‹", without_paths(str(problem))), is_error=True)
    except Exception:
        log.exception("The tool %r failed", name)
        return _result(FAULT, is_error=True)


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    clean = encodable(without_controls(text))  # a host may show it in a terminal
    return CallToolResult(content=[TextContent(type="text", text=clean)], is_error=is_error)


PATH = "/mcp"


def http_app(tools: Toolbox, *, max_body_kb: int = 256) -> Starlette:
    """An app with the one route `/mcp`, whose lifespan must be entered before the first request.

    The server that mounts it checks host, origin and token, as for all other routes.
    """
    app = make_server(tools).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=max_body_kb * 1024,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.add_middleware(DisconnectWatch)
    return app


def serve(tools: Toolbox) -> None:
    """Answer until standard input ends; nothing but the protocol reaches standard output."""
    if sys.stdin is None:
        raise BadUsage(
            "Standard input is closed.",
            remedy="Do not run this command yourself: a program that uses a language model starts it.",
        )
    # A copy, since a thread may still be reading it when the interpreter closes its own file at exit.
    incoming = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
    try:
        anyio.run(_serve, tools, incoming)
    except* BrokenPipeError:  # the program that started us has exited, which is not an error
        pass


async def _serve(tools: Toolbox, incoming: TextIO) -> None:
    interrupted = False

    async def end_with_ctrl_c() -> None:
        nonlocal interrupted
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                interrupted = True
                working.cancel_scope.cancel()

    async with anyio.create_task_group() as working:
        # Ctrl-C cancels a task once, and a library may swallow that; a cancel scope keeps cancelling.
        if sys.platform != "win32":
            working.start_soon(end_with_ctrl_c)
        await _answer(tools, incoming)
        working.cancel_scope.cancel()
    if interrupted:
        raise KeyboardInterrupt


async def _answer(tools: Toolbox, incoming: TextIO) -> None:
    server = make_server(tools)
    # The SDK's own reader would keep the process alive until the next line arrives.
    lines: Any = lines_of(incoming)
    async with stdio_server(stdin=lines) as (read, write):
        with contextlib.redirect_stdout(sys.stderr):  # a stray print would be read as a message
            await server.run(read, write, server.create_initialization_options())
