"""What a model is told of a brief, and how much of it fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kiwiresearch.brief.brief import Brief, PartKey, Statement
from kiwiresearch.brief.draft import Desk
from kiwiresearch.claims.claim import Claim
from kiwiresearch.llm.budget import estimate_tokens
from kiwiresearch.llm.model import Model
from kiwiresearch.search.hit import shown
from kiwiresearch.zim.entry import EntryRef

REPLY = 900
SCHEMA = 150
CONTEXT = 4_096
"""Tokens: of a reply, of its schema in words, and what a model reads that does not tell."""
SMALLEST_ROOM = 150


def offered(brief: Brief, part: PartKey) -> list[Statement]:
    """What a part may rest on: for the summary all there is, its own and the first of each group first."""
    if part == "definitions":
        return [one for group in brief.definitions for one in group.statements]
    if part == "mechanisms":
        return [one for group in brief.mechanisms for one in group.statements]
    if part == "disputes":
        return [view.statement for dispute in brief.disputes for view in dispute.views]
    groups = (*brief.body, *brief.definitions, *brief.mechanisms, *brief.actors)
    firsts = [group.statements[0] for group in groups if group.statements]
    views = [view.statement for dispute in brief.disputes for view in dispute.views]
    others = [*(moment.statement for moment in brief.timeline), *(figure.statement for figure in brief.numbers)]
    return list(dict.fromkeys([*brief.summary, *views, *firsts, *others])) if brief.summary else []


def reply_tokens(model: Model) -> int:
    return max(min(REPLY, (model.context_tokens() or CONTEXT) // 4), 1)


def room_of(model: Model, around: int) -> int:
    """How many tokens are left for what is told; a model without room gets next to nothing and refuses by itself."""
    return max((model.context_tokens() or CONTEXT) - reply_tokens(model) - SCHEMA - around, SMALLEST_ROOM)


def statement_lines(desk: Desk, statements: Sequence[Statement]) -> Iterator[str]:
    """Each statement with its key, how sure it is, and the cluster it is in."""
    clusters = _clusters(desk.brief)
    for one in statements:
        yield f"{desk.key(one)} | {one.sureness} | {clusters.get(one, 'Summary')} | {' '.join(one.text.split())}"


def _clusters(brief: Brief) -> dict[Statement, str]:
    found: dict[Statement, str] = {}
    named = (("Concept", brief.definitions), ("Mechanism", brief.mechanisms), ("Actor", brief.actors))
    for dispute in brief.disputes:
        found |= {view.statement: f"View on: {dispute.about}" for view in dispute.views}
    for name, groups in named:
        found |= {one: f"{name}: {group.heading}" for group in groups for one in group.statements if one not in found}
    for moment in brief.timeline:
        found.setdefault(moment.statement, f"Time: {moment.when}")
    for figure in brief.numbers:
        found.setdefault(figure.statement, f"Number: {figure.what}")
    return found


def disagreement_lines(desk: Desk) -> Iterator[str]:
    for dispute in desk.brief.disputes:
        views = " / ".join(
            f"{desk.key(view.statement)} {' '.join(view.statement.text.split())}" for view in dispute.views
        )
        yield f"{dispute.about}{f' ({dispute.kind})' if dispute.kind else ''}: {views}"


def page_lines(brief: Brief) -> Iterator[str]:
    """The pages, best first, with what speaks for and against them."""
    by_page: dict[EntryRef, Claim] = {claim.ref: claim for _, claim in sorted(brief.claims.items(), reverse=True)}
    for source in sorted(brief.sources.pages, key=lambda one: (-one.points, one.ref)):
        claim = by_page.get(source.ref)
        yield f"{source.title} | score {shown(source.points)}{_signals(claim) if claim else ''}"


def _signals(claim: Claim) -> str:
    signals = claim.signals
    told = [f"{signals.page_references} references"]
    told += [word for word, holds in (("stub", signals.stub), ("disputed", signals.disputed)) if holds]
    return f" | {', '.join(told)}"


def fitting(lines: Iterable[str], room: int) -> str:
    """As many lines as fit into so many tokens; the first ones matter most."""
    kept: list[str] = []
    for line in lines:
        room -= estimate_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept) or "none"
