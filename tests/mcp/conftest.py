"""One toolbox on the sample book for all tests of the tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.mcp.context import ToolContext, open_context
from kiwiresearch.mcp.tools import Toolbox
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[ToolContext]:
    """The sample book, open for tools."""
    home = str(tmp_path_factory.mktemp("tools"))
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": home, "KIWIRESEARCH_ASK_READER": "false"})
    with (
        shelf_of(desk, [str(sample_zim)]) as shelf,
        open_context(desk, shelf, is_partial_shelf=True, now=lambda: "") as parts,
    ):
        yield parts


@pytest.fixture(scope="session")
def tools(parts: ToolContext) -> Toolbox:
    """All tools over it."""
    return Toolbox(parts)
