"""Has a model rewrite a brief. Sentences that claims do not support are replaced by those of the rules."""

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
    KeyedBrief,
    RejectedDraftSentence,
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
from kiwiresearch.llm import (
    Model,
    estimate_prompt,
    item_or_none,
    model_label,
    prompt,
    structured_reply,
    write_up_options,
)
from kiwiresearch.messages import Message
from kiwiresearch.text import printable

SHARES = {"statements": 0.6, "disagreements": 0.2, "pages": 0.2}
"""How the rest of the context is divided."""
MIN_INTRODUCED = 3
"""Parts with fewer statements need no introduction."""
MAX_KEYS = 2
TOKENS_PER_SENTENCE = 100
"""One sentence with its keys. It limits the reply, so that a model asked for two sentences does not write twenty."""
MAX_READ_SENTENCES = 2 * MAX_SUMMARY
"""Beyond this many, the sentences of a reply are rejected."""
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


def reply_schema(keys: Sequence[str], max_sentences: int) -> type[ModelSentences]:
    """The reply to ask for: servers that enforce a schema then allow no other keys.

    A sentence of the wrong form does not invalidate the others.
    """
    item = ModelSentence.model_json_schema()
    item["properties"]["keys"] = {"type": "array", "items": {"enum": list(keys)}, "minItems": 1, "maxItems": MAX_KEYS}
    schema = {"type": "array", "items": item, "maxItems": max_sentences}
    sentences = Annotated[list[Annotated[ModelSentence | None, WrapValidator(item_or_none)]], WithJsonSchema(schema)]
    return create_model("Sentences", __base__=ModelSentences, sentences=(sentences, ...))


@dataclass(frozen=True, slots=True)
class RewriteCounts:
    """The outcome of a model's sentences."""

    proposed: int = 0
    kept: int = 0
    """Sentences of the model that are in the brief."""
    copied: int = 0
    """Sentences that repeat those of the rules exactly."""
    unused: int = 0
    """Accepted, but there was no room, or they combined too much."""
    reasons: tuple[tuple[str, int], ...] = ()
    """Why the others were rejected, most frequent first."""
    problems: int = 0
    """How many problems the critic found."""
    revised: int = 0
    """Sentences that were rewritten because of them."""


@dataclass(frozen=True, slots=True)
class RewrittenBrief:
    """A brief rewritten by a model, and the outcome of the model's sentences."""

    brief: Brief
    counts: RewriteCounts = RewriteCounts()
    rejected: tuple[RejectedDraftSentence, ...] = ()


def rewrite(
    brief: Brief, model: Model, *, critic: bool = False, critic_model: Model | None = None, temperature: float = 0.4
) -> RewrittenBrief:
    """The brief with the model's sentences that were accepted; if the model fails, a note says so."""
    keyed_brief = KeyedBrief(brief)
    drafts: dict[PartKey, tuple[DraftLine, ...]] = {}
    rejected: list[RejectedDraftSentence] = []
    proposed = 0
    for part in TITLES:
        statements = statements_for(brief, part)
        if len(statements) < (1 if part in ("summary", "disputes") else MIN_INTRODUCED):
            continue
        try:
            sentences = _ask_model(keyed_brief, model, part, statements, temperature)
        except ModelError as problem:
            return _after_failure(keyed_brief, drafts, rejected, model, problem, proposed)
        proposed += len(sentences)
        drafts[part], newly_rejected = _accepted(keyed_brief, part, sentences)
        rejected += newly_rejected
    counts = _counted(drafts, rejected, proposed)
    result = CriticResult(drafts)
    if critic and any(drafts.values()):
        result = revise(keyed_brief, drafts, model, critic_model or model, temperature=temperature)
        rejected += result.rejected
        counts = replace(counts, problems=result.problems, revised=result.revised, reasons=_reasons(rejected))
    return _finished(keyed_brief, result.drafts, counts, rejected, result.notes)


def _finished(
    keyed_brief: KeyedBrief,
    drafts: Drafts,
    counts: RewriteCounts,
    rejected: Sequence[RejectedDraftSentence],
    notes: Sequence[str],
) -> RewrittenBrief:
    brief = assemble(keyed_brief, drafts)
    kept = sum(statement.written == "model" for statement in brief.statements())
    taken = sum(line.statement.written == "model" for lines in drafts.values() for line in lines)
    counts = replace(counts, kept=kept, unused=taken - kept)
    return RewrittenBrief(replace(brief, notes=(*brief.notes, *map(Message, notes))), counts, tuple(rejected))


def _after_failure(
    keyed_brief: KeyedBrief,
    drafts: Drafts,
    rejected: list[RejectedDraftSentence],
    model: Model,
    problem: ModelError,
    proposed: int,
) -> RewrittenBrief:
    """The brief with what was written before the model failed."""
    rest = "the other sentences" if drafts else "all sentences"
    why = printable(problem.message).rstrip(".")
    note = f"{model_label(model)} could not be used, so rules wrote {rest}: {why}."
    return _finished(keyed_brief, drafts, _counted(drafts, rejected, proposed), rejected, (note,))


def _ask_model(
    keyed_brief: KeyedBrief, model: Model, part: PartKey, statements: Sequence[Statement], temperature: float
) -> list[ModelSentence | None]:
    brief = keyed_brief.brief
    max_sentences = min(MAX_SUMMARY if part in ("summary", "disputes") else MAX_INTRODUCTION, len(statements))
    empty = {"topic": brief.topic, "part": TITLES[part], "statements": "", "disagreements": "", "pages": ""}
    options = write_up_options(temperature, max_tokens=min(reply_tokens(model), max_sentences * TOKENS_PER_SENTENCE))
    room = tokens_left(model, estimate_prompt(m.text for m in prompt("brief").fill(most=max_sentences, **empty)))
    listed = lines_that_fit(statement_lines(keyed_brief, statements), int(room * SHARES["statements"]))
    # Only the keys of lines that fitted; a schema with others would let the model cite what it has not seen.
    keys = [key for statement in statements if (key := keyed_brief.key(statement)) in listed]
    filled = empty | {
        "statements": listed,
        "disagreements": lines_that_fit(disagreement_lines(keyed_brief), int(room * SHARES["disagreements"])),
        "pages": lines_that_fit(page_lines(brief), int(room * SHARES["pages"])),
    }
    return structured_reply(
        model, prompt("brief").fill(most=max_sentences, **filled), reply_schema(keys, max_sentences), options
    ).sentences


def _accepted(
    keyed_brief: KeyedBrief, part: PartKey, sentences: Sequence[ModelSentence | None]
) -> tuple[tuple[DraftLine, ...], list[RejectedDraftSentence]]:
    """The accepted lines of a part; a rejected sentence is replaced by the rule-written one whose key comes first."""
    lines: list[DraftLine] = []
    rejected: list[RejectedDraftSentence] = []
    allowed = set(statements_for(keyed_brief.brief, part))
    for index, sentence in enumerate(sentences):
        if sentence is None:
            rejected.append(RejectedDraftSentence(part, "wrong form", ""))
            continue
        if index >= MAX_READ_SENTENCES:
            rejected.append(RejectedDraftSentence(part, "too many sentences", printable(sentence.text)[:120]))
            continue
        judged = keyed_brief.judge(part, sentence.text, sentence.keys)
        if isinstance(judged, DraftLine) and judged.rule_written not in allowed:
            judged = RejectedDraftSentence(part, "unknown key", judged.statement.text[:120])
        elif isinstance(judged, DraftLine) and any(_repeats(judged, line) for line in lines):
            judged = RejectedDraftSentence(part, "said twice", judged.statement.text[:120])
        if isinstance(judged, DraftLine):
            lines.append(judged)
            continue
        rejected.append(judged)
        rule = keyed_brief.first_known(sentence.keys)
        # What was said already needs no replacement.
        if rule in allowed and judged.reason != "said twice":
            replacement = DraftLine(rule, rule)
            if not any(_repeats(replacement, line) for line in lines):
                lines.append(replacement)
    return tuple(lines), rejected


def _repeats(one: DraftLine, other: DraftLine) -> bool:
    return one.statement.claims == other.statement.claims or one.statement.text == other.statement.text


def _counted(drafts: Drafts, rejected: Sequence[RejectedDraftSentence], proposed: int) -> RewriteCounts:
    lines = [line for part in drafts.values() for line in part]
    kept = sum(line.statement.written == "model" for line in lines)
    return RewriteCounts(proposed, kept, proposed - kept - len(rejected), reasons=_reasons(rejected))


def _reasons(rejected: Sequence[RejectedDraftSentence]) -> tuple[tuple[str, int], ...]:
    counted = Counter(sentence.reason for sentence in rejected)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
