"""Tools called as programs of models call them: with the SDK's own client."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp_types import CallToolResult, TextContent

from mcp import Client

T = TypeVar("T")
SUNSET = "Why is the sky orange at sunset?"
NAMES = ["ask", "search", "read_section", "research", "claims", "books"]


def talk(server: Any, use: Callable[[Client], Awaitable[T]], *, mode: str = "auto") -> T:
    """Connect, do something, and part in good order."""

    async def connected() -> T:
        async with Client(server, mode=mode, read_timeout_seconds=60) as client:
            return await use(client)

    return anyio.run(connected)


def text_of(result: CallToolResult) -> str:
    """What a tool said."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def tour(client: Client) -> dict[str, str]:
    """The names of the tools, and what the main ones say."""
    names = [tool.name for tool in (await client.list_tools()).tools]
    asked = await client.call_tool("ask", {"question": SUNSET})
    read = await client.call_tool("read_section", {"title": "Sunset", "section": "introduction"})
    missing = await client.call_tool("read_section", {"title": "No such page at all"})
    assert not asked.is_error
    assert not read.is_error
    assert missing.is_error
    return {"names": json.dumps(names), "ask": text_of(asked), "read": text_of(read), "missing": text_of(missing)}
