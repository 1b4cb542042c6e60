"""Several records of one source, as far as it gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kiwiresearch.errors import SourceError, SourceUnreachable
from kiwiresearch.kin.sources.source import Fetched


def gathered(locators: Iterable[str], fetch: Callable[[str], Fetched]) -> list[Fetched]:
    """What could be fetched. One record that fails costs only itself; if none could be had, the reason is raised.

    A source that says no, or not now, is asked for nothing more.
    """
    found: list[Fetched] = []
    problem: SourceError | None = None
    for locator in locators:
        try:
            found.append(fetch(locator))
        except SourceUnreachable as trouble:
            problem = trouble
        except SourceError as refusal:
            problem = refusal
            break
    if problem is not None and not found:
        raise problem
    return found
