"""One toolbox on the sample book for all tests of the tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.mcp.parts import Parts, opened
from kiwiresearch.mcp.tools import Toolbox
from kiwiresearch.research.desk import open_desk


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[Parts]:
    """The sample book, open for tools."""
    desk = open_desk(environment={"KIWIRESEARCH_HOME": str(tmp_path_factory.mktemp("tools"))})
    with desk.shelf([str(sample_zim)]) as shelf, opened(desk, shelf, all_books=True, now=lambda: "") as parts:
        yield parts


@pytest.fixture(scope="session")
def tools(parts: Parts) -> Toolbox:
    """All tools over it."""
    return Toolbox(parts)
