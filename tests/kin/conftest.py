"""Cases for the tests: in a file, and in PostgreSQL."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kin.cases import now
from tests.kin.families import RealFamily

from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.store.case import CaseStore


@pytest.fixture(scope="session")
def real_family(shared_data: Path) -> RealFamily:
    """Reads a real family file by its name, each one once: reading 3,000 people takes seconds."""
    return functools.cache(lambda name: read_gedcom(shared_data / "kin" / "gedcom" / f"{name}.ged"))


@pytest.fixture(params=["sqlite", "postgresql"])
def case_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no case is yet, on each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "case.db")
    database: Callable[[], str] = request.getfixturevalue("postgres_server")
    return database()


@pytest.fixture
def case(case_url: str) -> Iterator[CaseStore]:
    """An empty case on each engine."""
    with CaseStore.create(case_url, {"seed": "Ann Smith"}, now) as store:
        yield store
