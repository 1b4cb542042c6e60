"""Servers over the cases of a family that never was: one as everybody sees it, one as its owner does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.kin_book import family_book
from tests.shared_artifacts import Addresses, made_once
from tests.web.guarded_server import guarded
from tests.web.servers import http_client, server_context

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.settings import ServeSettings

SEED = "Edmund Wendover"
LIVING_SEED = "Nora Wendover"


@dataclass(frozen=True, slots=True)
class Families:
    """A server with two cases: one that is done, and one that was just started, with somebody who may be living."""

    context: ServerContext
    place: Path
    done: str
    """The id of the first."""
    started: str

    @property
    def folder(self) -> Path:
        return self.place / "cases"

    def settings(self, **more: Any) -> ServeSettings:
        shared = {"cases": str(self.folder), "runs": str(self.place / "runs"), "requests_a_minute": 1_000_000}
        return ServeSettings(**(shared | more))  # type: ignore[arg-type]

    @contextlib.contextmanager
    def served(self, **more: Any) -> Iterator[httpx2.Client]:
        """A client of a server with these settings."""
        with guarded(self.context, self.settings(**more)) as port, http_client(f"http://127.0.0.1:{port}") as client:
            yield client


@contextlib.contextmanager
def families(place: Path, make_book: Callable[[Path], Path] = family_book) -> Iterator[Families]:
    with server_context(place / "home", str(make_book(place))) as context:
        cases = CaseRegistry(place / "cases")
        with context.locked_finder() as finder:
            done = cases.start(CaseSettings(seeds=(SEED,)), finder)
            with Case.open(cases.folder(done), finder) as case:
                assert [took.what for took in case.steps()][-1] == "stop"
            started = cases.start(CaseSettings(seeds=(LIVING_SEED,)), finder)
        cases.close()
        yield Families(context, place, done, started)


def _two_cases(place: Path) -> Addresses:
    with families(place) as made:
        return {"done": made.done, "started": made.started}


@contextlib.contextmanager
def copied_families(temporary: pytest.TempPathFactory) -> Iterator[Families]:
    """The same on the family's usual book: a copy of what was researched once for all tests."""
    made = made_once(temporary, "family", _two_cases)
    place = made.copied(temporary.mktemp("family"))
    with server_context(place / "home", str(made.folder / "wendover.zim")) as context:
        yield Families(context, place, **made.addresses)
