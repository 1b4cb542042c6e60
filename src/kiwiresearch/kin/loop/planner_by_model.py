"""A plan proposed by a model: it picks among the items it is shown and suggests queries; nothing else is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.loop.planner import (
    MAX_ACTIONS,
    MAX_EXPANSIONS,
    Action,
    ActionKind,
    Expansion,
    Plan,
    PlannerInput,
    Revisit,
    plan_by_rules,
)
from kiwiresearch.llm.model import Message, Model, extraction, model_label, prompt
from kiwiresearch.llm.structured import ask
from kiwiresearch.text.display import printable
from kiwiresearch.text.words import fold

REPLY_TOKENS = 900
MAX_LISTED = 20
"""How many items of each kind a model is shown."""
NOT_A_QUERY = re.compile(r"://|www\.|[<>{}\[\]\\]|\bQ\d+\b|\d{5}")
"""Addresses, ids and markup are not searched for."""
MAX_QUERY_LENGTH = 80

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Words = Annotated[str, Field(max_length=600)]


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
    reason: Words = ""


class PlannerOut(BaseModel):
    """The reply of a planner; revisits have either of two names."""

    model_config = ConfigDict(extra="forbid")

    reasoning: Words
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
    keys = _keys(given)
    try:
        found = ask(model, _messages(given), PlannerOut, extraction(max_tokens=REPLY_TOKENS))
    except ModelError as problem:
        why = printable(problem.message).rstrip(".")
        return replace(rules, reasoning=f"{rules.reasoning} {model_label(model)} did not help to plan: {why}.")
    picked = tuple(dict.fromkeys(_actions(found.next_actions, keys)))
    expansions = tuple(dict.fromkeys(_expansions(found, given)))
    revisits = tuple(dict.fromkeys(_revisits(found, given)))
    rest = tuple(one for one in rules.next_actions if one.target not in {two.target for two in picked})
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


def _keys(given: PlannerInput) -> Mapping[str, tuple[ActionKind, str]]:
    """What the keys in the prompt mean; a model never sees an id."""
    found: dict[str, tuple[ActionKind, str]] = {}
    for number, one in enumerate(given.pending_queries[:MAX_LISTED], 1):
        found[f"F{number}"] = ("fetch", one.id)
    for number, searched in enumerate(given.past_searches[:MAX_LISTED], 1):
        found[f"S{number}"] = ("revisit", searched.id)
    return found


def _messages(given: PlannerInput) -> tuple[Message, ...]:
    state = given.current_state
    counts = (
        f"persons discovered: {state.persons_discovered}\nassertions made: {state.assertions_made}\n"
        f"sources queried: {state.sources_queried}\nfrontier: {state.frontier_size}\nclues: {state.clue_queue_size}"
    )
    waiting = (
        f"F{n} | {one.query} | tier {one.source_tier}" for n, one in enumerate(given.pending_queries[:MAX_LISTED], 1)
    )
    searched = (f"S{n} | {one.query} | {one.source_id}" for n, one in enumerate(given.past_searches[:MAX_LISTED], 1))
    clues = (f"C{n} | HYPOTHESIS: {one.text}" for n, one in enumerate(given.pending_clues[:MAX_LISTED], 1))
    return prompt("kin_planner").fill(
        current_state=counts,
        recent_discoveries=_lines(given.recent_discoveries),
        pending_clues=_lines(clues),
        waiting=_lines(waiting),
        searched=_lines(searched),
        stop_conditions=_lines(f"{name}: {holds}" for name, holds in given.stop_conditions.items()),
        budget_remaining=state.budget_remaining,
        most=MAX_ACTIONS,
    )


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(printable(row) for row in rows) or "none"


def _actions(rows: Iterable[ActionOut], keys: Mapping[str, tuple[ActionKind, str]]) -> Iterable[Action]:
    for row in rows:
        known = keys.get(row.target.strip("[] "))
        if known and known[0] == row.action == "fetch":
            yield Action("fetch", known[1], row.priority)


def _expansions(found: PlannerOut, given: PlannerInput) -> Iterable[Expansion]:
    clues = {f"C{number}": one for number, one in enumerate(given.pending_clues[:MAX_LISTED], 1)}
    for row in found.query_expansions:
        clue = clues.get(row.target.strip("[] "))
        if clue and is_query(row.query):
            yield Expansion(clue.person, row.query.strip())


def _revisits(found: PlannerOut, given: PlannerInput) -> Iterable[Revisit]:
    searches = {f"S{number}": one for number, one in enumerate(given.past_searches[:MAX_LISTED], 1)}
    for row in (*found.revisit_schedule, *found.revisit_recommendations):
        search = searches.get(row.target.strip("[] "))
        if search and is_query(row.improved_query) and _shares_a_name(row.improved_query, search.query):
            yield Revisit(search.source_id, row.improved_query.strip(), printable(row.reason)[:200], search.id)
