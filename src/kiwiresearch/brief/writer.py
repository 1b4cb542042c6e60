"""A model puts a brief into better words: each of its sentences is proved by claims, or the rule's own stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, WithJsonSchema, WrapValidator, create_model

from kiwiresearch.brief.brief import Brief, PartKey, Statement
from kiwiresearch.brief.critic import CriticResult, revise
from kiwiresearch.brief.draft import (
    MAX_INTRODUCTION,
    MAX_SUMMARY,
    DraftLine,
    Drafts,
    RejectedSentence,
    StatementKeys,
    assemble,
    disagreement_lines,
    lines_that_fit,
    page_lines,
    reply_tokens,
    statement_lines,
    statements_for,
    tokens_left,
)
from kiwiresearch.errors import ModelError
from kiwiresearch.llm.model import Model, estimate_prompt, model_label, prompt, write_up
from kiwiresearch.llm.structured import ask, item_or_none
from kiwiresearch.messages.message import Message
from kiwiresearch.text.display import printable

SHARES = {"statements": 0.6, "disagreements": 0.2, "pages": 0.2}
"""How what is left of the context is divided."""
WORTH_INTRODUCING = 3
"""Parts with fewer statements are read faster than an introduction to them."""
MAX_KEYS = 2
PER_SENTENCE = 100
"""Tokens of a sentence with its keys: a model that is asked for two must not write twenty."""
TITLES: dict[PartKey, str] = {
    "summary": "Executive summary: what the pages say about the topic, one sentence a point",
    "definitions": "Introduction to the key concepts and definitions",
    "mechanisms": "Introduction to the mechanisms and explanations",
    "disputes": "The competing views, one sentence for each view",
}


class ModelSentence(BaseModel):
    """A sentence and the keys of what it rests on."""

    model_config = ConfigDict(json_schema_extra={"required": ["text", "keys"]})

    text: str
    keys: list[str] = []


class ModelSentences(BaseModel):
    """Sentences for a part of a brief."""

    sentences: list[Annotated[ModelSentence | None, WrapValidator(item_or_none)]]


def reply_schema(keys: Sequence[str], most: int) -> type[ModelSentences]:
    """The shape to ask for: servers that keep to a schema then let a model name no key but these.

    One sentence of the wrong form does not spoil the others.
    """
    item = ModelSentence.model_json_schema()
    item["properties"]["keys"] = {"type": "array", "items": {"enum": list(keys)}, "minItems": 1, "maxItems": MAX_KEYS}
    schema = {"type": "array", "items": item, "maxItems": most}
    of_keys = Annotated[list[Annotated[ModelSentence | None, WrapValidator(item_or_none)]], WithJsonSchema(schema)]
    return create_model("Sentences", __base__=ModelSentences, sentences=(of_keys, ...))


@dataclass(frozen=True, slots=True)
class RewriteCounts:
    """What became of the sentences of a model."""

    proposed: int = 0
    kept: int = 0
    """Sentences of the model that stand in the brief."""
    copied: int = 0
    """The rule's own words, letter by letter."""
    unused: int = 0
    """They hold, but there was no room for them, or they took too much together."""
    reasons: tuple[tuple[str, int], ...] = ()
    """Why the others were not taken, most frequent first."""
    problems: int = 0
    """What the critic found."""
    revised: int = 0
    """Sentences that were written anew for it."""


@dataclass(frozen=True, slots=True)
class RewrittenBrief:
    """A brief after a model, and what of its words survived."""

    brief: Brief
    counts: RewriteCounts = RewriteCounts()
    rejected: tuple[RejectedSentence, ...] = ()


def rewrite(
    brief: Brief, model: Model, *, critic: bool = False, critic_model: Model | None = None, temperature: float = 0.4
) -> RewrittenBrief:
    """The brief in the model's words, where they hold; the same brief with a note where there is no use in them."""
    desk = StatementKeys(brief)
    drafts: dict[PartKey, tuple[DraftLine, ...]] = {}
    rejected: list[RejectedSentence] = []
    proposed = 0
    for part in TITLES:
        statements = statements_for(brief, part)
        if len(statements) < (1 if part in ("summary", "disputes") else WORTH_INTRODUCING):
            continue
        try:
            said = _ask_model(desk, model, part, statements, temperature)
        except ModelError as problem:
            return _after_failure(desk, drafts, rejected, model, problem, proposed)
        proposed += len(said)
        drafts[part], turned_away = _accepted(desk, part, said)
        rejected += turned_away
    counts = _counted(drafts, rejected, proposed)
    look = CriticResult(drafts)
    if critic and any(drafts.values()):
        look = revise(desk, drafts, model, critic_model or model, temperature=temperature)
        rejected += look.rejected
        counts = replace(counts, problems=look.problems, revised=look.revised, reasons=_reasons(rejected))
    return _finished(desk, look.drafts, counts, rejected, look.notes)


def _finished(
    desk: StatementKeys,
    drafts: Drafts,
    counts: RewriteCounts,
    rejected: Sequence[RejectedSentence],
    notes: Sequence[str],
) -> RewrittenBrief:
    brief = assemble(desk, drafts)
    kept = sum(one.written == "model" for one in brief.statements())
    taken = sum(line.statement.written == "model" for lines in drafts.values() for line in lines)
    counts = replace(counts, kept=kept, unused=taken - kept)
    return RewrittenBrief(replace(brief, notes=(*brief.notes, *map(Message, notes))), counts, tuple(rejected))


def _after_failure(
    desk: StatementKeys,
    drafts: Drafts,
    rejected: list[RejectedSentence],
    model: Model,
    problem: ModelError,
    proposed: int,
) -> RewrittenBrief:
    """What was written before the model failed stays; the rest is the rules'."""
    rest = "the other sentences" if drafts else "all sentences"
    why = printable(problem.message).rstrip(".")
    note = f"{model_label(model)} did not help, and {rest} are in the words of the rules: {why}."
    return _finished(desk, drafts, _counted(drafts, rejected, proposed), rejected, (note,))


def _ask_model(
    desk: StatementKeys, model: Model, part: PartKey, statements: Sequence[Statement], temperature: float
) -> list[ModelSentence | None]:
    brief = desk.brief
    most = min(MAX_SUMMARY if part in ("summary", "disputes") else MAX_INTRODUCTION, len(statements))
    empty = {"topic": brief.topic, "part": TITLES[part], "statements": "", "disagreements": "", "pages": ""}
    options = write_up(temperature, max_tokens=min(reply_tokens(model), most * PER_SENTENCE))
    room = tokens_left(model, estimate_prompt(m.text for m in prompt("brief").fill(most=most, **empty)))
    told = lines_that_fit(statement_lines(desk, statements), int(room * SHARES["statements"]))
    keys = [key for statement in statements if (key := desk.key(statement)) in told]
    filled = empty | {
        "statements": told,
        "disagreements": lines_that_fit(disagreement_lines(desk), int(room * SHARES["disagreements"])),
        "pages": lines_that_fit(page_lines(brief), int(room * SHARES["pages"])),
    }
    return ask(model, prompt("brief").fill(most=most, **filled), reply_schema(keys, most), options).sentences


def _accepted(
    desk: StatementKeys, part: PartKey, said: Sequence[ModelSentence | None]
) -> tuple[tuple[DraftLine, ...], list[RejectedSentence]]:
    """What stays of a part: a sentence that cannot be taken gives way to the rule's sentence that it names first."""
    lines: list[DraftLine] = []
    rejected: list[RejectedSentence] = []
    allowed = set(statements_for(desk.brief, part))
    for number, one in enumerate(said):
        if one is None:
            rejected.append(RejectedSentence(part, "wrong form", ""))
            continue
        judged = desk.judge(part, one.text, one.keys)
        if number >= 2 * MAX_SUMMARY:
            judged = RejectedSentence(part, "too many sentences", printable(one.text)[:120])
        elif isinstance(judged, DraftLine) and judged.rule not in allowed:
            judged = RejectedSentence(part, "unknown key", judged.statement.text[:120])
        elif isinstance(judged, DraftLine) and any(_repeats(judged, line) for line in lines):
            judged = RejectedSentence(part, "said twice", judged.statement.text[:120])
        if isinstance(judged, DraftLine):
            lines.append(judged)
            continue
        rejected.append(judged)
        rule = desk.first_known(one.keys)
        if rule in allowed and judged.reason not in ("said twice", "too many sentences"):
            stand_in = DraftLine(rule, rule)
            lines += [stand_in] if not any(_repeats(stand_in, line) for line in lines) else []
    return tuple(lines), rejected


def _repeats(one: DraftLine, other: DraftLine) -> bool:
    return one.statement.claims == other.statement.claims or one.statement.text == other.statement.text


def _counted(drafts: Drafts, rejected: Sequence[RejectedSentence], proposed: int) -> RewriteCounts:
    lines = [line for part in drafts.values() for line in part]
    kept = sum(line.statement.written == "model" for line in lines)
    return RewriteCounts(proposed, kept, proposed - kept - len(rejected), reasons=_reasons(rejected))


def _reasons(rejected: Sequence[RejectedSentence]) -> tuple[tuple[str, int], ...]:
    counted = Counter(one.reason for one in rejected)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
