"""The tools over standard input and output, for programs that start us themselves."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Any, TextIO

import anyio
from mcp.server.stdio import stdio_server

from kiwiresearch.errors import BadUsage
from kiwiresearch.mcp.server import make_server
from kiwiresearch.mcp.threads import lines_of
from kiwiresearch.mcp.tools import Toolbox


def serve(tools: Toolbox) -> None:
    """Answer until standard input ends; nothing but the protocol reaches standard output."""
    if sys.stdin is None:
        raise BadUsage("There is no standard input.", remedy="A program that uses a model starts this command.")
    # A thread may wait in it when the process ends, which the interpreter's own file does not stand.
    incoming = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
    try:
        anyio.run(_serve, tools, incoming)
    except* BrokenPipeError:  # whoever started us has gone, which is no error
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
        # Ctrl-C cancels a task once, and a library that swallows it would go on; a scope cancels until it is heard.
        if sys.platform != "win32":
            working.start_soon(end_with_ctrl_c)
        await _answer(tools, incoming)
        working.cancel_scope.cancel()
    if interrupted:
        raise KeyboardInterrupt


async def _answer(tools: Toolbox, incoming: TextIO) -> None:
    server = make_server(tools)
    # The SDK's own reader would hold the process until a line comes, also when it is to end.
    lines: Any = lines_of(incoming)
    async with stdio_server(stdin=lines) as (read, write):
        with contextlib.redirect_stdout(sys.stderr):  # a stray print would be taken for a message
            await server.run(read, write, server.create_initialization_options())
