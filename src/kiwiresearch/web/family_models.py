"""Request and reply models of family research."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, StrictBool, StrictInt

from kiwiresearch.kin.loop.settings import BOUNDS, CaseScope, CaseSettings
from kiwiresearch.kin.privacy.redaction import Mode
from kiwiresearch.kin.tree import LivingStatus
from kiwiresearch.web.bodies import Body, Name
from kiwiresearch.workspace.places import checked_topic

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


class NamedReply(BaseModel):
    """A person by id."""

    id: str
    name: str


class RelativeReply(NamedReply):
    """A person next to another."""

    lived: str


class ParentOrChildReply(RelativeReply):
    """A parent or child of another."""

    note: str = Field(description="How they are tied if not by blood: step, adoptive …; or `doubtful`. Mostly empty.")


class CaseReply(BaseModel):
    """A case in a few figures. Of one that cannot be read, only `id`, `url` and `problem` are known."""

    id: str
    title: str = Field(description="Whom it began with.")
    seeds: list[NamedReply]
    people: int
    kept_back: int = Field(description="How many of them may be living, and are told only as such.")
    facts: int
    ties: int
    sources: int
    generations: int
    budget: int
    steps: int
    fetched: int = Field(description="How many records were fetched.")
    waiting: int = Field(description="How much is left to look at.")
    stop: str = Field(description="The condition that ended it last; empty while there is none.")
    why: str = Field(description="The same in words.")
    privacy: Mode = Field(description="How much is told of people who may be living.")
    owner: bool = Field(description="Whether who asks may change it.")
    problem: str = Field(description="Why it cannot be read, if it cannot.")
    url: str


class CasesReply(BaseModel):
    """The cases of the server."""

    cases: list[CaseReply]
    total: int


class WhenReply(BaseModel):
    """A date in words, and as EDTF."""

    words: str
    edtf: str


class PersonReply(BaseModel):
    """A person with the people next to them."""

    id: str
    name: str
    names: list[str]
    sex: str
    birth: WhenReply | None
    birth_place: str
    death: WhenReply | None
    death_place: str
    living: LivingStatus
    confidence: float
    relation: str = Field(description="What they are to the first whom the case began with.")
    parents: list[ParentOrChildReply]
    spouses: list[RelativeReply]
    children: list[ParentOrChildReply]
    siblings: list[RelativeReply]


class PeopleReply(BaseModel):
    """The people of a case, the seeds first."""

    people: list[PersonReply]
    total: int


class EvidenceReply(BaseModel):
    """Words of a source that say so."""

    quote: str
    start: int
    end: int
    locator: str
    method: str
    kind: str = Field(alias="class", description="What kind of evidence it is, in words.")
    reliability: float
    source: str
    book: str
    url: str = Field(description="The source's own address.")
    read: str = Field(description="Opens the page with the words marked; empty where its book is not on the shelf.")


class FactReply(BaseModel):
    """A value, or a tie to another person, with all that speaks for it."""

    id: str
    field: str
    value: str
    status: str
    preferred: bool
    confidence: float
    why_rejected: str
    evidence: list[EvidenceReply]
    person: str | None = Field(None, description="Of a tie, the other person.")
    qualifier: str | None = None
    when: str | None = None


class OnePersonReply(PersonReply):
    """A person with every fact."""

    facts: list[FactReply]
    conflicts: list[dict[str, Any]] = Field(description="As in `/conflicts`, of this person.")
    living_why: str = Field(description="Why they are taken for living or not; told to the owner alone.")


class NodeReply(NamedReply):
    """A person of the tree."""

    sex: str
    living: LivingStatus
    lived: str
    confidence: float


class TieReply(BaseModel):
    """A tie between two people; of a parent and a child, the parent is the first."""

    id: str
    kind: str
    first: str
    second: str
    qualifier: str
    status: str
    confidence: float


class TreeReply(BaseModel):
    """Everybody, and all ties."""

    people: list[NodeReply]
    ties: list[TieReply]


class LineRowReply(RelativeReply):
    """A person of a line, and how deep they stand in it."""

    depth: int
    note: str
    again: bool = Field(description="They stand further up already, and are not gone into again.")
    spouses: list[RelativeReply]


class BranchReply(BaseModel):
    """Ancestors or descendants, as rows that say how deep they stand."""

    rows: list[LineRowReply]


class RowsReply(BaseModel):
    """Rows as `kiwiresearch kin … --json` gives them."""

    rows: list[dict[str, Any]]
    total: int


class MergesReply(BaseModel):
    """Who was taken for one person, and who may be."""

    merges: list[dict[str, Any]] = Field(description="Each with `why` and `why_not`.")
    to_review: list[dict[str, Any]] = Field(description="What waits for the owner.")
    kept_apart: list[dict[str, Any]] = Field(description="Who is not proposed again; `why` is for the owner.")


class UndoneReply(BaseModel):
    """Merges that were undone."""

    undone: list[str]


class LivingReply(BaseModel):
    """Whether a person is taken for living, and why."""

    id: str
    name: str
    living: LivingStatus
    why: str
    by_user: bool


class PluginsReply(BaseModel):
    """The sources there are, and which of them the case may ask."""

    plugins: list[dict[str, Any]]
    problems: list[str] = Field(description="Plugins of the owner's that cannot be read.")


class RelationReply(BaseModel):
    """What one person is to another."""

    first: NamedReply
    second: NamedReply
    relation: str
    way: list[dict[str, str]]
    common_ancestors: list[RelativeReply]


class ProofReply(BaseModel):
    """What was proved of a case, and what does not hold."""

    holds: bool
    proved: dict[str, int]
    failures: list[str]
    notes: list[str]
    audit_head: str
