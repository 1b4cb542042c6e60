"""A critic: a model lists overclaims, missing disputes and unsupported leaps, and the writer revises once.

This can only make a brief more cautious: a criticized sentence that is not repaired is replaced by
the sentence that the rules wrote.
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
    KeyedBrief,
    RejectedDraftSentence,
    clean_key,
    disagreement_lines,
    lines_that_fit,
    reply_tokens,
    statement_lines,
    statements_for,
    tokens_left,
)
from kiwiresearch.errors import ModelError
from kiwiresearch.llm import (
    Model,
    estimate_prompt,
    extraction_options,
    item_or_none,
    model_label,
    prompt,
    structured_reply,
    write_up_options,
)
from kiwiresearch.text import printable

ProblemKind = Literal["overclaim", "missing dispute", "unsupported leap"]
KINDS: tuple[ProblemKind, ...] = get_args(ProblemKind)
MAX_PROBLEMS = 8
MAX_WHY_CHARS = 200


class NamedProblem(BaseModel):
    """A problem as a model reports it."""

    model_config = ConfigDict(json_schema_extra={"required": ["kind", "key", "why"]})

    kind: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
    key: str
    why: str = ""


class Problems(BaseModel):
    """The reply of a critic."""

    problems: Annotated[
        list[
            Annotated[
                NamedProblem | None, WrapValidator(item_or_none), WithJsonSchema(NamedProblem.model_json_schema())
            ]
        ],
        Field(json_schema_extra={"maxItems": MAX_PROBLEMS}),
    ]


class SentenceReplacement(BaseModel):
    """A sentence that replaces another."""

    model_config = ConfigDict(json_schema_extra={"required": ["replaces", "text", "keys"]})

    replaces: str
    text: str
    keys: list[str] = []


class Revision(BaseModel):
    """The reply of the writer."""

    sentences: Annotated[
        list[
            Annotated[
                SentenceReplacement | None,
                WrapValidator(item_or_none),
                WithJsonSchema(SentenceReplacement.model_json_schema()),
            ]
        ],
        Field(json_schema_extra={"maxItems": MAX_PROBLEMS}),
    ]


class DraftProblem(NamedTuple):
    """A problem with a sentence of the model, or with a view that the summary leaves out."""

    kind: ProblemKind
    key: str
    why: str
    part: PartKey
    line: DraftLine


@dataclass(frozen=True, slots=True)
class CriticResult:
    """The drafts after criticism and revision."""

    drafts: Drafts
    rejected: tuple[RejectedDraftSentence, ...] = ()
    notes: tuple[str, ...] = ()
    problems: int = 0
    revised: int = 0


def revise(
    keyed_brief: KeyedBrief, drafts: Drafts, writer: Model, critic: Model, *, temperature: float = 0.4
) -> CriticResult:
    try:
        problems = criticize(keyed_brief, drafts, critic)
    except ModelError as failure:
        return CriticResult(drafts, notes=(_note("critic", critic, failure),))
    if not problems:
        return CriticResult(drafts)
    notes: tuple[str, ...] = ()
    try:
        revised_by_key = _replacements(keyed_brief, problems, writer, temperature)
    except ModelError as failure:
        revised_by_key, notes = {}, (_note("reviser", writer, failure),)
    rejected: list[RejectedDraftSentence] = []
    lines = {part: list(of_part) for part, of_part in drafts.items()}
    count = 0
    for problem in problems:
        line = _replacement_line(keyed_brief, problem, revised_by_key.get(problem.key), rejected)
        count += line.statement.written == "model"
        _replace_line(lines.setdefault(problem.part, []), problem.line, line)
    after = {part: tuple(of_part) for part, of_part in lines.items()}
    return CriticResult(after, tuple(rejected), notes, len(problems), count)


def criticize(keyed_brief: KeyedBrief, drafts: Drafts, critic: Model) -> tuple[DraftProblem, ...]:
    """The problems a critic finds: with sentences of the model, and views that are missing."""
    empty = {"topic": keyed_brief.brief.topic, "sentences": "", "disagreements": ""}
    room = tokens_left(critic, estimate_prompt(m.text for m in prompt("critic").fill(**empty)))
    filled = empty | {
        # The sentences are what is criticized, so they get most of the room.
        "sentences": lines_that_fit(_sentence_lines(keyed_brief, drafts), room * 3 // 4),
        "disagreements": lines_that_fit(disagreement_lines(keyed_brief), room // 4),
    }
    options = extraction_options(max_tokens=reply_tokens(critic))
    found = structured_reply(critic, prompt("critic").fill(**filled), Problems, options).problems
    problems: dict[str, DraftProblem] = {}
    for named in found[:MAX_PROBLEMS]:
        problem = _known_problem(keyed_brief, drafts, named) if named else None
        if problem:
            # One problem for each sentence: it is replaced once, whatever is wrong with it.
            problems.setdefault(problem.key, problem)
    return tuple(problems.values())


def _sentence_lines(keyed_brief: KeyedBrief, drafts: Drafts) -> Iterator[str]:
    """Each sentence of the model and its sources as one entry, so that truncation never separates them."""
    for line in (line for part in drafts.values() for line in part if line.statement.written == "model"):
        rests_on = [f"  rests on: {' '.join(words.split())}" for words in keyed_brief.sources([line.statement])[:4]]
        text = line.statement.text
        yield "\n".join([f"{keyed_brief.sentence_key(text)} | {text}", *rests_on])


def _known_problem(keyed_brief: KeyedBrief, drafts: Drafts, named: NamedProblem) -> DraftProblem | None:
    """A problem of a known kind with a known key; rule-written sentences quote the page and are left alone."""
    kind = next((item for item in KINDS if item == named.kind.strip().lower()), None)
    key = clean_key(named.key)
    why = printable(named.why)[:MAX_WHY_CHARS]
    if kind is None:
        return None
    for part, lines in drafts.items():
        for line in lines:
            if line.statement.written == "model" and keyed_brief.sentence_key(line.statement.text) == key:
                return DraftProblem(kind, key, why, part, line)
    view = keyed_brief.statement(key)
    is_view = view in statements_for(keyed_brief.brief, "disputes")
    # A key of the rules' own statement is accepted only for a view that the summary lacks.
    if kind != "missing dispute" or view is None or not is_view or "summary" not in drafts:
        return None
    if any(set(view.claims) & set(line.statement.claims) for line in drafts["summary"]):
        return None
    return DraftProblem(kind, key, why, "summary", DraftLine(view, view))


def _replacements(
    keyed_brief: KeyedBrief, problems: Sequence[DraftProblem], writer: Model, temperature: float
) -> dict[str, SentenceReplacement]:
    """The replacement of each sentence, by the key of the problem."""
    statements = list(dict.fromkeys(_grounds(keyed_brief, problems)))
    empty = {"topic": keyed_brief.brief.topic, "problems": "", "statements": ""}
    room = tokens_left(writer, estimate_prompt(m.text for m in prompt("revise").fill(**empty)))
    listed = (
        f"{problem.key} | {problem.kind} | {problem.why}\n  {problem.line.statement.text}" for problem in problems
    )
    filled = empty | {
        "problems": lines_that_fit(listed, room // 2),
        "statements": lines_that_fit(statement_lines(keyed_brief, statements), room // 2),
    }
    options = write_up_options(temperature, max_tokens=reply_tokens(writer))
    found = structured_reply(writer, prompt("revise").fill(**filled), Revision, options).sentences
    # Reversed, so that the first of two replacements for one sentence wins.
    return {
        clean_key(replacement.replaces): replacement for replacement in reversed(found[:MAX_PROBLEMS]) if replacement
    }


def _grounds(keyed_brief: KeyedBrief, problems: Sequence[DraftProblem]) -> Iterator[Statement]:
    """The statements that support the sentences, then those in disputes."""
    claims = {claim for problem in problems for claim in problem.line.statement.claims}
    for statement in keyed_brief.brief.statements():
        if claims.intersection(statement.claims):
            yield statement
    yield from statements_for(keyed_brief.brief, "disputes")


def _replacement_line(
    keyed_brief: KeyedBrief,
    problem: DraftProblem,
    replacement: SentenceReplacement | None,
    rejected: list[RejectedDraftSentence],
) -> DraftLine:
    """The revised sentence if it is accepted, or else the rule-written one."""
    rule = DraftLine(problem.line.rule_written, problem.line.rule_written)
    if replacement is None:
        return rule
    judged = keyed_brief.judge(problem.part, replacement.text, replacement.keys)
    if isinstance(judged, RejectedDraftSentence):
        rejected.append(judged)
        return rule
    # In a dispute each sentence stands for one side, and must not be reworded into the other.
    if problem.part == "disputes" and judged.rule_written != rule.rule_written:
        rejected.append(RejectedDraftSentence(problem.part, "unknown key", judged.statement.text[:120]))
        return rule
    return judged


def _replace_line(lines: list[DraftLine], old: DraftLine, new: DraftLine) -> None:
    """Replace the old line; a view that was missing comes last, if there is room."""
    if old in lines:
        lines[lines.index(old)] = new
    elif len(lines) < MAX_SUMMARY:
        lines.append(new)


def _note(role: str, model: Model, problem: ModelError) -> str:
    why = printable(problem.message).rstrip(".")
    return f"{model_label(model)} could not be used as a {role}: {why}."
