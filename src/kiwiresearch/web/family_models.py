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
    LineRow,
    LoggedSearch,
    NamedConflict,
    PersonRecord,
    PluginRecord,
)
from kiwiresearch.codec import Record
from kiwiresearch.kin import LivingStatus
from kiwiresearch.kin.loop import BOUNDS, CaseScope, CaseSettings
from kiwiresearch.kin.privacy import Mode
from kiwiresearch.web.bodies import Body, Name
from kiwiresearch.workspace import checked_topic

MAX_SEEDS = 10


def _bounds(key: str) -> Any:
    low, high = BOUNDS[key]
    return Field(ge=low, le=high)


Why = Annotated[Name, Field(description="The reason, for the record.")]


class StartBody(Body):
    """Whom a case begins with, and how far it goes; what is left out is as the server's settings say."""

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
    budget: Annotated[StrictInt, _bounds("budget"), Field(description="How many records may be fetched.")] | None = None
    max_steps: Annotated[StrictInt, _bounds("max_iterations")] | None = None

    def settings(self, scope: CaseScope) -> CaseSettings:
        wanted = {"generations": self.generations, "budget": self.budget, "max_iterations": self.max_steps}
        given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
        return CaseSettings.from_scope(replace(scope, **given), tuple(dict.fromkeys(map(checked_topic, self.names))))


class RunBody(Body):
    """How far a case goes on."""

    steps: Annotated[StrictInt, Field(ge=0, le=1_000_000, description="0 goes on until there is a reason to stop.")] = 0
    model: Annotated[StrictBool, Field(description="`false` works by rules alone, though a model is set.")] = True


class DecisionBody(Body):
    """Why the owner says so."""

    why: Why = ""


class UndoBody(DecisionBody):
    """A merge to be undone."""

    cascade: Annotated[StrictBool, Field(description="Undo later merges that rest on it as well.")] = False


class LivingBody(Body):
    """What the owner knows of a life."""

    status: LivingStatus
    why: Annotated[Why, Field(min_length=1)]


class PluginBody(Body):
    """A source, switched for one case."""

    on: StrictBool
    terms_ok: Annotated[StrictBool, Field(description="You have read its terms, and have its leave.")] = False
    contact: Annotated[Name, Field(description="How the source can reach you.")] = ""
    endpoint: Annotated[Name, Field(description="An endpoint of your own to ask instead.")] = ""


@dataclass(frozen=True, slots=True)
class CaseReply(CaseSummary):
    """A case in a few figures. Of one that cannot be read, only `id`, `url` and `problem` are known."""

    id: str
    privacy: Mode
    """How much is told of people who may be living."""
    owner: bool
    """Whether who asks may change it."""
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
    """The people of a case, the seeds first."""

    people: tuple[PersonRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class EvidenceReply(EvidenceRecord):
    """Words of a source that say so."""

    read: str
    """Opens the page with the words marked; empty where its book is not on the shelf."""


@dataclass(frozen=True, slots=True)
class FactReply(FactRecord):
    """A value, or a tie to another person, with all that speaks for it."""

    evidence: tuple[EvidenceReply, ...]


@dataclass(frozen=True, slots=True)
class PersonDetails(PersonRecord):
    """A person with all facts, before the links to pages are added."""

    facts: tuple[FactRecord, ...]
    conflicts: tuple[NamedConflict, ...]
    living_why: str


@dataclass(frozen=True, slots=True)
class OnePersonReply(PersonRecord):
    """A person with every fact."""

    facts: tuple[FactReply, ...]
    conflicts: tuple[NamedConflict, ...]
    """As in `/conflicts`, of this person."""
    living_why: str
    """Why they are taken for living or not; told to the owner alone."""


@dataclass(frozen=True, slots=True)
class BranchReply(Record):
    """Ancestors or descendants, as rows that say how deep they stand."""

    rows: tuple[LineRow, ...]


@dataclass(frozen=True, slots=True)
class TimelineReply(Record):
    """Events in the order of time."""

    rows: tuple[EventRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ConflictsReply(Record):
    """Conflicts as `kiwiresearch kin conflicts --json` gives them."""

    rows: tuple[NamedConflict, ...]
    total: int


@dataclass(frozen=True, slots=True)
class LogReply(Record):
    """Searches in the order in which they were made."""

    rows: tuple[LoggedSearch, ...]
    total: int


@dataclass(frozen=True, slots=True)
class UndoneReply(Record):
    """Merges that were undone."""

    undone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PluginsReply(Record):
    """The sources there are, and which of them the case may ask."""

    plugins: tuple[PluginRecord, ...]
    problems: tuple[str, ...]
    """Plugins of the owner's that cannot be read."""
