"""Trying a plugin on the pages that were written for it: no network, no case."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.sources.html import read_site_page, values_of
from kiwiresearch.kin.sources.plugin import Fixture
from kiwiresearch.kin.sources.registry import Known

MAX_BYTES = 5 * 2**20


@dataclass(frozen=True, slots=True)
class Check:
    """What came of one page: no problem, or what was read in place of what was expected."""

    fixture: str
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.problems


def check_plugin(known: Known) -> tuple[Check, ...]:
    """Run the fixtures of a plugin, in their order."""
    return tuple(Check(fixture.html, tuple(_problems(known, fixture))) for fixture in known.plugin.fixtures)


def _problems(known: Known, fixture: Fixture) -> list[str]:
    folder = known.file.parent.resolve()
    file = (folder / fixture.html).resolve()
    if not file.is_relative_to(folder):
        return [f"{fixture.html!r} is not below the folder of the plugin"]
    try:
        content = file.read_bytes()[:MAX_BYTES]
    except OSError as problem:
        return [f"{fixture.html!r} cannot be read: {problem.strerror}"]
    read = values_of(read_site_page(content, known.plugin, known.plugin.base_url).read)
    problems = []
    for field, expected in fixture.expect.items():
        wanted = [] if expected is None else [expected] if isinstance(expected, str) else list(expected)
        got = list(read.get(field, []))
        if got != wanted:
            problems.append(f"{field!r} is {_shown(got)}, not {_shown(wanted)}")
    return problems


def _shown(values: list[str]) -> str:
    return ", ".join(map(repr, values)) or "nothing"
