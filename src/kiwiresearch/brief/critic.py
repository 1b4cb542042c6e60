"""A second look: a model lists overclaims, missing disputes and unsupported leaps, and the writer revises once.

A critic can only make a brief more careful: what it finds fault with and nobody mends goes
back to the words of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, WrapValidator

from kiwiresearch.brief.brief import PartKey, Statement
from kiwiresearch.brief.draft import MOST_SUMMARY, Desk, Drafts, Line, Rejected
from kiwiresearch.brief.telling import disagreement_lines, fitting, offered, reply_tokens, room_of, statement_lines
from kiwiresearch.errors import ModelError
from kiwiresearch.llm.budget import estimate_prompt
from kiwiresearch.llm.lenient import or_none
from kiwiresearch.llm.model import Model, called, extraction, write_up
from kiwiresearch.llm.prompts import prompt
from kiwiresearch.llm.structured import ask
from kiwiresearch.text.plain import printable

ProblemKind = Literal["overclaim", "missing dispute", "unsupported leap"]
KINDS: tuple[ProblemKind, ...] = get_args(ProblemKind)
MOST_PROBLEMS = 8
LONGEST_WHY = 200


class Named(BaseModel):
    """A problem as a model names it."""

    model_config = ConfigDict(json_schema_extra={"required": ["kind", "key", "why"]})

    kind: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
    key: str
    why: str = ""


class Problems(BaseModel):
    """What a critic is asked for."""

    problems: Annotated[
        list[Annotated[Named | None, WrapValidator(or_none), WithJsonSchema(Named.model_json_schema())]],
        Field(json_schema_extra={"maxItems": MOST_PROBLEMS}),
    ]


class Mended(BaseModel):
    """A sentence in the place of another."""

    model_config = ConfigDict(json_schema_extra={"required": ["replaces", "text", "keys"]})

    replaces: str
    text: str
    keys: list[str] = []


class Revision(BaseModel):
    """What the writer is asked for then."""

    sentences: Annotated[
        list[Annotated[Mended | None, WrapValidator(or_none), WithJsonSchema(Mended.model_json_schema())]],
        Field(json_schema_extra={"maxItems": MOST_PROBLEMS}),
    ]


class Problem(NamedTuple):
    """A problem with a sentence of the model, or a view that the summary leaves out."""

    kind: ProblemKind
    key: str
    why: str
    part: PartKey
    line: Line


@dataclass(frozen=True, slots=True)
class Look:
    """What a second look made of the drafts."""

    drafts: Drafts
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()
    problems: int = 0
    revised: int = 0


def revised(desk: Desk, drafts: Drafts, writer: Model, critic: Model, *, temperature: float = 0.4) -> Look:
    """The drafts after one round of criticism and revision."""
    try:
        problems = criticised(desk, drafts, critic)
    except ModelError as failure:
        return Look(drafts, notes=(_note("critic", critic, failure),))
    if not problems:
        return Look(drafts)
    notes: tuple[str, ...] = ()
    try:
        mended = _mended(desk, problems, writer, temperature)
    except ModelError as failure:
        mended, notes = {}, (_note("reviser", writer, failure),)
    rejected: list[Rejected] = []
    lines = {part: list(of_part) for part, of_part in drafts.items()}
    count = 0
    for problem in problems:
        line = _anew(desk, problem, mended.get(problem.key), rejected)
        count += line.statement.written == "model"
        _put(lines.setdefault(problem.part, []), problem.line, line)
    after = {part: tuple(of_part) for part, of_part in lines.items()}
    return Look(after, tuple(rejected), notes, len(problems), count)


def criticised(desk: Desk, drafts: Drafts, critic: Model) -> tuple[Problem, ...]:
    """The problems that a critic finds: with sentences of the model, and views that nobody mentions."""
    empty = {"topic": desk.brief.topic, "sentences": "", "disagreements": ""}
    room = room_of(critic, estimate_prompt(m.text for m in prompt("critic").fill(**empty)))
    filled = empty | {
        "sentences": fitting(_sentence_lines(desk, drafts), room * 3 // 4),
        "disagreements": fitting(disagreement_lines(desk), room // 4),
    }
    options = extraction(max_tokens=reply_tokens(critic))
    found = ask(critic, prompt("critic").fill(**filled), Problems, options).problems
    problems: dict[str, Problem] = {}
    for named in found[:MOST_PROBLEMS]:
        problem = _understood(desk, drafts, named) if named else None
        if problem:
            problems.setdefault(problem.key, problem)
    return tuple(problems.values())


def _sentence_lines(desk: Desk, drafts: Drafts) -> Iterator[str]:
    """Each sentence of the model in one piece with what it rests on, so that both fit or neither."""
    for line in (line for part in drafts.values() for line in part if line.statement.written == "model"):
        rests_on = [f"  rests on: {' '.join(words.split())}" for words in desk.sources([line.statement])[:4]]
        text = line.statement.text
        yield "\n".join([f"{desk.sentence_key(text)} | {text}", *rests_on])


def _understood(desk: Desk, drafts: Drafts, named: Named) -> Problem | None:
    """A problem of a known kind with a known key; what a rule wrote is in the page's words and stays."""
    kind = next((one for one in KINDS if one == named.kind.strip().lower()), None)
    key = named.key.strip().strip("[]()").lower()
    why = printable(named.why)[:LONGEST_WHY]
    if kind is None:
        return None
    for part, lines in drafts.items():
        for line in lines:
            if line.statement.written == "model" and desk.sentence_key(line.statement.text) == key:
                return Problem(kind, key, why, part, line)
    view = desk.statement(key)
    is_view = view in offered(desk.brief, "disputes")
    if kind != "missing dispute" or view is None or not is_view or "summary" not in drafts:
        return None
    if any(set(view.claims) & set(line.statement.claims) for line in drafts["summary"]):
        return None
    return Problem(kind, key, why, "summary", Line(view, view))


def _mended(desk: Desk, problems: Sequence[Problem], writer: Model, temperature: float) -> dict[str, Mended]:
    """What the writer puts in the place of each sentence, by the key of the problem."""
    statements = list(dict.fromkeys(_grounds(desk, problems)))
    empty = {"topic": desk.brief.topic, "problems": "", "statements": ""}
    room = room_of(writer, estimate_prompt(m.text for m in prompt("revise").fill(**empty)))
    told = (f"{one.key} | {one.kind} | {one.why}\n  {one.line.statement.text}" for one in problems)
    filled = empty | {
        "problems": fitting(told, room // 2),
        "statements": fitting(statement_lines(desk, statements), room // 2),
    }
    options = write_up(temperature, max_tokens=reply_tokens(writer))
    found = ask(writer, prompt("revise").fill(**filled), Revision, options).sentences
    return {one.replaces.strip().strip("[]()").lower(): one for one in reversed(found[:MOST_PROBLEMS]) if one}


def _grounds(desk: Desk, problems: Sequence[Problem]) -> Iterator[Statement]:
    """The statements that the sentences rest on, then those that disagree."""
    claims = {claim for problem in problems for claim in problem.line.statement.claims}
    for statement in desk.brief.statements():
        if claims.intersection(statement.claims):
            yield statement
    yield from offered(desk.brief, "disputes")


def _anew(desk: Desk, problem: Problem, mended: Mended | None, rejected: list[Rejected]) -> Line:
    """The mended sentence, if it holds; else the sentence of the rules."""
    rule = Line(problem.line.rule, problem.line.rule)
    if mended is None:
        return rule
    judged = desk.judged(problem.part, mended.text, mended.keys)
    if isinstance(judged, Rejected):
        rejected.append(judged)
        return rule
    if problem.part == "disputes" and judged.rule != rule.rule:
        rejected.append(Rejected(problem.part, "unknown key", judged.statement.text[:120]))
        return rule
    return judged


def _put(lines: list[Line], old: Line, new: Line) -> None:
    """In the place of the old line; a view that was missing comes last, if there is room."""
    if old in lines:
        lines[lines.index(old)] = new
    elif len(lines) < MOST_SUMMARY:
        lines.append(new)


def _note(role: str, model: Model, problem: ModelError) -> str:
    why = printable(problem.message).rstrip(".")
    return f"{called(model)} did not help as a {role}: {why}."
