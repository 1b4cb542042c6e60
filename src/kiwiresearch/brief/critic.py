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
from kiwiresearch.brief.draft import (
    MAX_SUMMARY,
    DraftLine,
    Drafts,
    RejectedSentence,
    StatementKeys,
    disagreement_lines,
    lines_that_fit,
    reply_tokens,
    statement_lines,
    statements_for,
    tokens_left,
)
from kiwiresearch.errors import ModelError
from kiwiresearch.llm.model import Model, estimate_prompt, extraction, model_label, prompt, write_up
from kiwiresearch.llm.structured import ask, item_or_none
from kiwiresearch.text.display import printable

ProblemKind = Literal["overclaim", "missing dispute", "unsupported leap"]
KINDS: tuple[ProblemKind, ...] = get_args(ProblemKind)
MAX_PROBLEMS = 8
LONGEST_WHY = 200


class NamedProblem(BaseModel):
    """A problem as a model names it."""

    model_config = ConfigDict(json_schema_extra={"required": ["kind", "key", "why"]})

    kind: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
    key: str
    why: str = ""


class Problems(BaseModel):
    """What a critic is asked for."""

    problems: Annotated[
        list[
            Annotated[
                NamedProblem | None, WrapValidator(item_or_none), WithJsonSchema(NamedProblem.model_json_schema())
            ]
        ],
        Field(json_schema_extra={"maxItems": MAX_PROBLEMS}),
    ]


class Replacement(BaseModel):
    """A sentence in the place of another."""

    model_config = ConfigDict(json_schema_extra={"required": ["replaces", "text", "keys"]})

    replaces: str
    text: str
    keys: list[str] = []


class Revision(BaseModel):
    """What the writer is asked for then."""

    sentences: Annotated[
        list[
            Annotated[Replacement | None, WrapValidator(item_or_none), WithJsonSchema(Replacement.model_json_schema())]
        ],
        Field(json_schema_extra={"maxItems": MAX_PROBLEMS}),
    ]


class DraftProblem(NamedTuple):
    """A problem with a sentence of the model, or a view that the summary leaves out."""

    kind: ProblemKind
    key: str
    why: str
    part: PartKey
    line: DraftLine


@dataclass(frozen=True, slots=True)
class CriticResult:
    """What a second look made of the drafts."""

    drafts: Drafts
    rejected: tuple[RejectedSentence, ...] = ()
    notes: tuple[str, ...] = ()
    problems: int = 0
    revised: int = 0


def revise(
    desk: StatementKeys, drafts: Drafts, writer: Model, critic: Model, *, temperature: float = 0.4
) -> CriticResult:
    """The drafts after one round of criticism and revision."""
    try:
        problems = criticise(desk, drafts, critic)
    except ModelError as failure:
        return CriticResult(drafts, notes=(_note("critic", critic, failure),))
    if not problems:
        return CriticResult(drafts)
    notes: tuple[str, ...] = ()
    try:
        mended = _replacements(desk, problems, writer, temperature)
    except ModelError as failure:
        mended, notes = {}, (_note("reviser", writer, failure),)
    rejected: list[RejectedSentence] = []
    lines = {part: list(of_part) for part, of_part in drafts.items()}
    count = 0
    for problem in problems:
        line = _replacement_line(desk, problem, mended.get(problem.key), rejected)
        count += line.statement.written == "model"
        _replace_line(lines.setdefault(problem.part, []), problem.line, line)
    after = {part: tuple(of_part) for part, of_part in lines.items()}
    return CriticResult(after, tuple(rejected), notes, len(problems), count)


def criticise(desk: StatementKeys, drafts: Drafts, critic: Model) -> tuple[DraftProblem, ...]:
    """The problems that a critic finds: with sentences of the model, and views that nobody mentions."""
    empty = {"topic": desk.brief.topic, "sentences": "", "disagreements": ""}
    room = tokens_left(critic, estimate_prompt(m.text for m in prompt("critic").fill(**empty)))
    filled = empty | {
        "sentences": lines_that_fit(_sentence_lines(desk, drafts), room * 3 // 4),
        "disagreements": lines_that_fit(disagreement_lines(desk), room // 4),
    }
    options = extraction(max_tokens=reply_tokens(critic))
    found = ask(critic, prompt("critic").fill(**filled), Problems, options).problems
    problems: dict[str, DraftProblem] = {}
    for named in found[:MAX_PROBLEMS]:
        problem = _known_problem(desk, drafts, named) if named else None
        if problem:
            problems.setdefault(problem.key, problem)
    return tuple(problems.values())


def _sentence_lines(desk: StatementKeys, drafts: Drafts) -> Iterator[str]:
    """Each sentence of the model in one piece with what it rests on, so that both fit or neither."""
    for line in (line for part in drafts.values() for line in part if line.statement.written == "model"):
        rests_on = [f"  rests on: {' '.join(words.split())}" for words in desk.sources([line.statement])[:4]]
        text = line.statement.text
        yield "\n".join([f"{desk.sentence_key(text)} | {text}", *rests_on])


def _known_problem(desk: StatementKeys, drafts: Drafts, named: NamedProblem) -> DraftProblem | None:
    """A problem of a known kind with a known key; what a rule wrote is in the page's words and stays."""
    kind = next((one for one in KINDS if one == named.kind.strip().lower()), None)
    key = named.key.strip().strip("[]()").lower()
    why = printable(named.why)[:LONGEST_WHY]
    if kind is None:
        return None
    for part, lines in drafts.items():
        for line in lines:
            if line.statement.written == "model" and desk.sentence_key(line.statement.text) == key:
                return DraftProblem(kind, key, why, part, line)
    view = desk.statement(key)
    is_view = view in statements_for(desk.brief, "disputes")
    if kind != "missing dispute" or view is None or not is_view or "summary" not in drafts:
        return None
    if any(set(view.claims) & set(line.statement.claims) for line in drafts["summary"]):
        return None
    return DraftProblem(kind, key, why, "summary", DraftLine(view, view))


def _replacements(
    desk: StatementKeys, problems: Sequence[DraftProblem], writer: Model, temperature: float
) -> dict[str, Replacement]:
    """What the writer puts in the place of each sentence, by the key of the problem."""
    statements = list(dict.fromkeys(_grounds(desk, problems)))
    empty = {"topic": desk.brief.topic, "problems": "", "statements": ""}
    room = tokens_left(writer, estimate_prompt(m.text for m in prompt("revise").fill(**empty)))
    told = (f"{one.key} | {one.kind} | {one.why}\n  {one.line.statement.text}" for one in problems)
    filled = empty | {
        "problems": lines_that_fit(told, room // 2),
        "statements": lines_that_fit(statement_lines(desk, statements), room // 2),
    }
    options = write_up(temperature, max_tokens=reply_tokens(writer))
    found = ask(writer, prompt("revise").fill(**filled), Revision, options).sentences
    return {one.replaces.strip().strip("[]()").lower(): one for one in reversed(found[:MAX_PROBLEMS]) if one}


def _grounds(desk: StatementKeys, problems: Sequence[DraftProblem]) -> Iterator[Statement]:
    """The statements that the sentences rest on, then those that disagree."""
    claims = {claim for problem in problems for claim in problem.line.statement.claims}
    for statement in desk.brief.statements():
        if claims.intersection(statement.claims):
            yield statement
    yield from statements_for(desk.brief, "disputes")


def _replacement_line(
    desk: StatementKeys, problem: DraftProblem, mended: Replacement | None, rejected: list[RejectedSentence]
) -> DraftLine:
    """The mended sentence, if it holds; else the sentence of the rules."""
    rule = DraftLine(problem.line.rule, problem.line.rule)
    if mended is None:
        return rule
    judged = desk.judge(problem.part, mended.text, mended.keys)
    if isinstance(judged, RejectedSentence):
        rejected.append(judged)
        return rule
    if problem.part == "disputes" and judged.rule != rule.rule:
        rejected.append(RejectedSentence(problem.part, "unknown key", judged.statement.text[:120]))
        return rule
    return judged


def _replace_line(lines: list[DraftLine], old: DraftLine, new: DraftLine) -> None:
    """In the place of the old line; a view that was missing comes last, if there is room."""
    if old in lines:
        lines[lines.index(old)] = new
    elif len(lines) < MAX_SUMMARY:
        lines.append(new)


def _note(role: str, model: Model, problem: ModelError) -> str:
    why = printable(problem.message).rstrip(".")
    return f"{model_label(model)} did not help as a {role}: {why}."
