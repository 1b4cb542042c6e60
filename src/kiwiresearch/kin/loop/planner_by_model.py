"""A plan proposed by a model: it picks among the items it is shown and suggests queries; nothing else is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.loop.planner import (
    MAX_ACTIONS,
    MAX_EXPANSIONS,
    ActionKind,
    Expansion,
    PastSearch,
    PendingClue,
    PendingQuery,
    Plan,
    PlannedAction,
    PlannerInput,
    Revisit,
    plan_by_rules,
)
from kiwiresearch.llm import ChatMessage, Model, extraction_options, model_label, prompt, structured_reply
from kiwiresearch.text import fold, printable

REPLY_TOKENS = 900
MAX_LISTED = 20
"""How many items of each kind a model is shown."""
# 'Q935', '00143' and 'www.example.org' match, 'Ann Pell 1850' does not.
NOT_A_QUERY = re.compile(r"://|www\.|[<>{}\[\]\\]|\bQ\d+\b|\d{5}")
"""Addresses, ids and markup are not searched for."""
MAX_QUERY_LENGTH = 80

T = TypeVar("T")
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
ShortText = Annotated[str, Field(max_length=600)]


class ActionOut(BaseModel):
    """An action, by the key of what it is about."""

    model_config = ConfigDict(extra="forbid")

    action: ActionKind
    target: str = ""
    query: str = ""
    source_tier: Annotated[int, Field(ge=0, le=2)] = 0
    priority: Share = 0.5


class ExpansionOut(BaseModel):
    """Another query, by the key of the clue it is for."""

    model_config = ConfigDict(extra="forbid")

    target: str
    query: str


class RevisitOut(BaseModel):
    """A search to make again, by its key; `source_id` is one of those shown."""

    model_config = ConfigDict(extra="forbid")

    target: str
    source_id: str = ""
    improved_query: str
    reason: ShortText = ""


class PlannerOut(BaseModel):
    """The reply of a planner; revisits have either of two names."""

    model_config = ConfigDict(extra="forbid")

    reasoning: ShortText
    next_actions: Annotated[list[ActionOut], Field(max_length=2 * MAX_ACTIONS)] = []
    query_expansions: Annotated[list[ExpansionOut], Field(max_length=2 * MAX_EXPANSIONS)] = []
    revisit_schedule: Annotated[list[RevisitOut], Field(max_length=MAX_EXPANSIONS)] = []
    revisit_recommendations: Annotated[list[RevisitOut], Field(max_length=MAX_EXPANSIONS)] = []
    should_stop: bool = False
    stop_reason: str | None = None


def plan_by_model(given: PlannerInput, model: Model) -> Plan:
    """The plan by rules with a model's picks first; only the conditions decide whether to stop."""
    rules = plan_by_rules(given)
    if rules.should_stop or not (given.pending_queries or given.pending_clues or given.past_searches):
        return rules
    # A model sees these keys and never an id.
    queries = _keyed("F", given.pending_queries)
    clues = _keyed("C", given.pending_clues)
    searches = _keyed("S", given.past_searches)
    messages = _messages(given, queries, clues, searches)
    try:
        found = structured_reply(model, messages, PlannerOut, extraction_options(max_tokens=REPLY_TOKENS))
    except ModelError as problem:
        why = printable(problem.message).rstrip(".")
        return replace(rules, reasoning=f"{rules.reasoning} {model_label(model)} could not help with planning: {why}.")
    picked = tuple(
        dict.fromkeys(
            PlannedAction("fetch", query.id, row.priority)
            for row in found.next_actions
            if row.action == "fetch" and (query := queries.get(row.target.strip("[] ")))
        )
    )
    expansions = tuple(
        dict.fromkeys(
            Expansion(clue.person, row.query.strip())
            for row in found.query_expansions
            if (clue := clues.get(row.target.strip("[] "))) and is_query(row.query)
        )
    )
    revisits = tuple(
        dict.fromkeys(
            Revisit(search.source_id, row.improved_query.strip(), printable(row.reason)[:200], search.id)
            for row in (*found.revisit_schedule, *found.revisit_recommendations)
            if (search := searches.get(row.target.strip("[] ")))
            and is_query(row.improved_query)
            and _shares_a_name(row.improved_query, search.query)
        )
    )
    rest = tuple(
        planned_action
        for planned_action in rules.next_actions
        if planned_action.target not in {action.target for action in picked}
    )
    stop = f" It would stop: {printable(found.stop_reason or '')!r}." if found.should_stop else ""
    return replace(
        rules,
        reasoning=f"{printable(found.reasoning)}{stop}",
        next_actions=(*picked, *rest)[:MAX_ACTIONS],
        query_expansions=tuple(dict.fromkeys((*expansions, *rules.query_expansions)))[:MAX_EXPANSIONS],
        revisit_recommendations=tuple(dict.fromkeys((*revisits, *rules.revisit_recommendations))),
        decided_by=f"model {model.name}",
        from_model=(*picked, *expansions[:MAX_EXPANSIONS], *revisits),
    )


def is_query(text: str) -> bool:
    """Whether words of a model may be searched for."""
    words = text.strip()
    return bool(words) and len(words) <= MAX_QUERY_LENGTH and not NOT_A_QUERY.search(words)


def _shares_a_name(query: str, before: str) -> bool:
    """Whether a new query shares a part of the name with the old one."""
    return bool({word for word in fold(query).split() if len(word) > 1} & set(fold(before).split()))


def _keyed(letter: str, items: Sequence[T]) -> Mapping[str, T]:
    return {f"{letter}{number}": item for number, item in enumerate(items[:MAX_LISTED], 1)}


def _messages(
    given: PlannerInput,
    queries: Mapping[str, PendingQuery],
    clues: Mapping[str, PendingClue],
    searches: Mapping[str, PastSearch],
) -> tuple[ChatMessage, ...]:
    state = given.current_state
    counts = (
        f"persons discovered: {state.persons_discovered}\nassertions made: {state.assertions_made}\n"
        f"sources queried: {state.sources_queried}\nfrontier: {state.frontier_size}\nclues: {state.clue_queue_size}"
    )
    return prompt("kin_planner").fill(
        current_state=counts,
        recent_discoveries=_lines(given.recent_discoveries),
        pending_clues=_lines(f"{key} | HYPOTHESIS: {clue.text}" for key, clue in clues.items()),
        waiting=_lines(f"{key} | {query.query} | tier {query.source_tier}" for key, query in queries.items()),
        searched=_lines(f"{key} | {search.query} | {search.source_id}" for key, search in searches.items()),
        stop_conditions=_lines(f"{name}: {holds}" for name, holds in given.stop_conditions.items()),
        budget_remaining=state.budget_remaining,
        most=MAX_ACTIONS,
    )


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(printable(row) for row in rows) or "none"
