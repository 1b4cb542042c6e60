"""The book of these tests, its shards, and its atlas: made once, since nothing changes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.atlas.atlas_book import write_elm, write_elm_shards

from kiwiresearch.atlas.atlas import Atlas, open_atlas


@pytest.fixture(scope="session")
def elm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book that contradicts itself."""
    return write_elm(tmp_path_factory.mktemp("elm"))


@pytest.fixture(scope="session")
def elm_shards(elm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All its tables."""
    return write_elm_shards(elm, tmp_path_factory.mktemp("shards") / "elm")


@pytest.fixture(scope="session")
def elm_atlas(elm_shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """Its atlas; what is worked out is kept for all tests."""
    return open_atlas(elm_shards, tmp_path_factory.mktemp("kept"))
