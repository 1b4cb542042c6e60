"""Request and reply models of family research."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictInt

from kiwiresearch.cases import (
    CaseSummary,
    EventRecord,
    EvidenceRecord,
    FactRecord,
    ImportRecord,
    LineRow,
    LoggedSearch,
    NamedConflict,
    PersonRecord,
    PluginRecord,
)
from kiwiresearch.codec import Record
from kiwiresearch.kin import LivingStatus
from kiwiresearch.kin.loop import BOUNDS, CaseScope, CaseSettings
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.web.bodies import Body, Name
from kiwiresearch.workspace import checked_person

MAX_SEEDS = 10


def _bounds(key: str) -> Any:
    low, high = BOUNDS[key]
    return Field(ge=low, le=high)


Why = Annotated[Name, Field(description="The reason, saved with the decision.")]


class StartBody(Body):
    """The starting people of a case and its limits. Limits you do not give are taken from the server's settings."""

    names: Annotated[
        list[Annotated[Name, Field(min_length=1)]],
        Field(
            min_length=1,
            max_length=MAX_SEEDS,
            description="People by name, or by the title of their page.",
            examples=[["Alexander Hamilton"]],
        ),
    ]
    generations: Annotated[StrictInt, _bounds("generations")] | None = None
    budget: (
        Annotated[StrictInt, _bounds("budget"), Field(description="The maximum number of pages to read.")] | None
    ) = None
    max_steps: Annotated[StrictInt, _bounds("max_iterations")] | None = None  # as users know it

    def settings(self, scope: CaseScope) -> CaseSettings:
        wanted = {"generations": self.generations, "budget": self.budget, "max_iterations": self.max_steps}
        given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
        return CaseSettings.from_scope(replace(scope, **given), tuple(dict.fromkeys(map(checked_person, self.names))))


class RunBody(Body):
    """How far to continue a case."""

    steps: Annotated[
        StrictInt, Field(ge=0, le=1_000_000, description="0 continues until it is done or reaches a limit.")
    ] = 0
    model: Annotated[StrictBool, Field(description="`false` uses rules only, even if a language model is set up.")] = (
        True
    )


class DecisionBody(Body):
    """A decision of the owner."""

    why: Why = ""


class UndoBody(DecisionBody):
    """Undoing a merge."""

    cascade: Annotated[StrictBool, Field(description="Also undo later merges that depend on it.")] = False


class LivingBody(Body):
    """Whether a person is living, as the owner knows."""

    status: LivingStatus
    why: Annotated[Why, Field(min_length=1)]


class PluginBody(Body):
    """A source, turned on or off for one case."""

    on: StrictBool
    terms_ok: Annotated[StrictBool, Field(description="You have read its terms and have permission to use it.")] = False
    contact: Annotated[Name, Field(description="Your contact details for the source.")] = ""
    endpoint: Annotated[Name, Field(description="Your own endpoint to use instead.")] = ""


@dataclass(frozen=True, slots=True)
class CaseReply(CaseSummary):
    """A case in numbers. If it cannot be read, only `id`, `url` and `problem` are known."""

    id: str
    privacy: PrivacyMode
    """How much is shown of people who may be living."""
    owner: bool
    """Whether you may change the case."""
    problem: str
    """Why it cannot be read, if it cannot."""
    url: str


@dataclass(frozen=True, slots=True)
class CasesReply(Record):
    """The cases of the server."""

    cases: tuple[CaseReply, ...]
    total: int


@dataclass(frozen=True, slots=True)
class PeopleReply(Record):
    """The people of a case, starting people first."""

    people: tuple[PersonRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class EvidenceReply(EvidenceRecord):
    """A quote from a source that supports it."""

    read: str
    """Opens the page with the quote highlighted; empty if its book is not in the library."""


@dataclass(frozen=True, slots=True)
class FactReply(FactRecord):
    """A value, or a relationship to another person, with its evidence."""

    evidence: tuple[EvidenceReply, ...]


@dataclass(frozen=True, slots=True)
class PersonDetails(PersonRecord):
    """A person with all facts, before the links to pages are added."""

    facts: tuple[FactRecord, ...]
    conflicts: tuple[NamedConflict, ...]
    living_why: str
    version: int


@dataclass(frozen=True, slots=True)
class OnePersonReply(PersonRecord):
    """A person with every fact."""

    facts: tuple[FactReply, ...]
    conflicts: tuple[NamedConflict, ...]
    """As in `/conflicts`, of this person."""
    living_why: str
    """Why they count as living or not. Only the owner sees this."""
    version: int
    """Counts changes by owners. Send it as `seen` with a change, so that no newer change is overwritten."""


@dataclass(frozen=True, slots=True)
class BranchReply(Record):
    """Ancestors or descendants, as rows with their depth."""

    rows: tuple[LineRow, ...]


@dataclass(frozen=True, slots=True)
class TimelineReply(Record):
    """Events in order."""

    rows: tuple[EventRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ConflictsReply(Record):
    """Conflicts as `kiwiresearch kin conflicts --json` gives them."""

    rows: tuple[NamedConflict, ...]
    total: int


@dataclass(frozen=True, slots=True)
class LogReply(Record):
    """Searches, oldest first."""

    rows: tuple[LoggedSearch, ...]
    total: int


@dataclass(frozen=True, slots=True)
class UndoneReply(Record):
    """Merges that were undone."""

    undone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PluginsReply(Record):
    """All sources, and which of them the case uses."""

    plugins: tuple[PluginRecord, ...]
    problems: tuple[str, ...]
    """The owner's plugins that cannot be read."""


@dataclass(frozen=True, slots=True)
class ImportsReply(Record):
    """The reports on imported files, the latest first. Only the owner sees them."""

    imports: tuple[ImportRecord, ...]
