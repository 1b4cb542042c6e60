"""The book that most tests of this folder work through."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bulk.bulk_book import write_harrow


@pytest.fixture(scope="session")
def harrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book with a damaged page."""
    return write_harrow(tmp_path_factory.mktemp("harrow") / "harrow.zim")
