"""A program with the protocol's client of version 1, run by its own Python: use the tools, print the results.

Usage: talk_mcp_1.py ADDRESS or talk_mcp_1.py COMMAND ARGUMENT...
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp import ClientSession, StdioServerParameters


async def use(session: Any) -> dict[str, Any]:
    """The names of the tools, and what the main ones say."""
    await session.initialize()
    names = [tool.name for tool in (await session.list_tools()).tools]
    asked = await session.call_tool("ask", {"question": "Why is the sky orange at sunset?"})
    read = await session.call_tool("read_section", {"title": "Sunset", "section": "introduction"})
    missing = await session.call_tool("read_section", {"title": "No such page at all"})
    assert [asked.isError, read.isError, missing.isError] == [False, False, True]
    return {
        "names": json.dumps(names),
        "ask": asked.content[0].text,
        "read": read.content[0].text,
        "missing": missing.content[0].text,
    }


async def main(words: list[str]) -> None:
    """Connect to an address, or start a command."""
    if words[0].startswith("http://"):
        connected: Any = streamable_http_client(words[0])
    else:
        program = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        connected = stdio_client(program)
    async with connected as streams, ClientSession(streams[0], streams[1]) as session:
        print(json.dumps(await use(session)))


asyncio.run(main(sys.argv[1:]))
