"""Stores for the tests: in a file, and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.store.stores import Opener, opened

from kiwiresearch.store.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no store is yet, on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}"
    database: Callable[[], str] = request.getfixturevalue("postgres_server")
    return database()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty store on each engine."""
    with opened(store_url) as found:
        yield found


@pytest.fixture
def another(store_url: str) -> Iterator[Opener]:
    """Opens the same store once more, as another process would."""
    found: list[Store] = []

    def another_one() -> Store:
        found.append(opened(store_url))
        return found[-1]

    yield another_one
    for one in found:
        one.close()
