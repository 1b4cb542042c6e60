"""A model's drafts for a brief: the input it gets, and which of its sentences are accepted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal, NamedTuple

from kiwiresearch.brief.brief import Brief, Dispute, PartKey, Statement, StatementGroup
from kiwiresearch.brief.citations import can_follow, topic_pages_of
from kiwiresearch.brief.support import SUPPORT_LEVELS
from kiwiresearch.claims import Claim, SentenceFault, fault_of
from kiwiresearch.ids import canonical_json
from kiwiresearch.llm import Model, context_size, estimate_tokens
from kiwiresearch.search import points_text
from kiwiresearch.text import hedges_in, printable
from kiwiresearch.zim import EntryRef

DraftRejection = (
    SentenceFault
    | Literal["wrong form", "no key", "unknown key", "more than one view", "said twice", "too many sentences"]
)
MIN_SOURCE_SHARE = 0.6
"""The share of a sentence's words that must come from its supporting claims."""
MAX_SENTENCE_CHARS = 320
MAX_REJECTED_CHARS = 120
MIN_SUMMARY, MAX_SUMMARY = 6, 10
MAX_INTRODUCTION = 3


class DraftLine(NamedTuple):
    """An accepted sentence, and the rule-written one that replaces it if it is criticized."""

    statement: Statement
    rule_written: Statement


Drafts = Mapping[PartKey, tuple[DraftLine, ...]]


@dataclass(frozen=True, slots=True)
class RejectedDraftSentence:
    """A sentence of the model that was not accepted, and why."""

    part: PartKey
    reason: DraftRejection
    text: str


class KeyedBrief:
    """A brief whose statements have keys that no model can guess; it judges the sentences written about them."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.language = (brief.sources.books[0].language if brief.sources.books else "") or "eng"
        # Derived from the content instead of drawn at random, so that a run has the same keys when it is repeated.
        self._salt = canonical_json([brief.topic, sorted(brief.claims)])
        statements = tuple(dict.fromkeys(brief.statements()))
        self.keys = self._opaque([canonical_json([item.text, item.claims]) for item in statements])
        self._by_key = dict(zip(self.keys, statements, strict=True))
        self._key_of = dict(zip(statements, self.keys, strict=True))
        self._order = {statement: index for index, statement in enumerate(statements)}

    def key(self, statement: Statement) -> str:
        return self._key_of[statement]

    def statement(self, key: str) -> Statement | None:
        return self._by_key.get(key)

    def sentence_key(self, text: str) -> str:
        """A key for a sentence of the model, as opaque as the others."""
        # One character longer than the keys of statements, so that the two can never be confused.
        return _hashed(self._salt, "sentence", text)[: len(self.keys[0]) + 1 if self.keys else 7]

    def _opaque(self, contents: Sequence[str]) -> list[str]:
        """Six characters of a hash that differs from run to run; more if two would be the same."""
        hashes = [_hashed(self._salt, content) for content in contents]
        length = next(n for n in range(6, 65) if len({digest[:n] for digest in hashes}) == len(set(hashes)))
        return [digest[:length] for digest in hashes]

    def judge(self, part: PartKey, text: str, keys: Sequence[str]) -> DraftLine | RejectedDraftSentence:
        """The sentence as a draft line, or why it is rejected."""
        keys = tuple(dict.fromkeys(map(clean_key, keys)))
        words = self._without_keys(printable(text))
        if not keys:
            return RejectedDraftSentence(part, "no key", words[:MAX_REJECTED_CHARS])
        known = [statement for statement in map(self.statement, keys) if statement]
        if len(known) < len(keys):
            return RejectedDraftSentence(part, "unknown key", words[:MAX_REJECTED_CHARS])
        if part == "disputes" and len(known) > 1:
            return RejectedDraftSentence(part, "more than one view", words[:MAX_REJECTED_CHARS])
        # A copied statement is the rules' own and needs no check.
        same = next((item for item in known if item.text == words), None)
        if same is not None:
            return DraftLine(same, same)
        fault = fault_of(
            words,
            self.sources(known),
            self.language,
            hedged=any(map(self.is_hedged, known)),
            min_share=MIN_SOURCE_SHARE,
            max_chars=MAX_SENTENCE_CHARS,
        )
        return (
            RejectedDraftSentence(part, fault, words[:MAX_REJECTED_CHARS])
            if fault
            else DraftLine(_joined(words, known), known[0])
        )

    def first_known(self, keys: Iterable[str]) -> Statement | None:
        """The rule-written sentence that replaces a rejected one."""
        found = (self.statement(clean_key(key)) for key in keys)
        return next((statement for statement in found if statement), None)

    def sources(self, statements: Iterable[Statement]) -> list[str]:
        """The texts that may support a sentence: those of the claims and of their quotes."""
        claims = [self.brief.claims[claim_id] for statement in statements for claim_id in statement.claims]
        return list(dict.fromkeys(words for claim in claims for words in (claim.text, *(q.text for q in claim.quotes))))

    def is_hedged(self, statement: Statement) -> bool:
        """Whether a statement is hedged, in its own words or in those of all its claims."""
        by_claims = all(self.brief.claims[claim].hedges for claim in statement.claims)
        return by_claims or bool(hedges_in(statement.text, self.language))

    def order(self, line: DraftLine) -> int:
        """The position of the line's statement in the brief of the rules."""
        return self._order[line.rule_written]

    def _without_keys(self, text: str) -> str:
        """The text without keys, which models like to put into their sentences."""
        known = re.sub(
            # '[3fa9c1, 77b0de]'; a word such as '(decade)' matches as well and stays, because it is not a known key.
            r"\s*[\[(]([0-9a-f]{6,64}(?:[,;\s]+[0-9a-f]{6,64})*)[\])]",
            lambda found: "" if all(key in self._by_key for key in re.split(r"[,;\s]+", found[1])) else found[0],
            text,
        )
        return " ".join(known.split())


def clean_key(key: str) -> str:
    """A key without the brackets and capitals that models add."""
    return key.strip().strip("[]()").lower()


def _hashed(*parts: str) -> str:
    return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


def _joined(text: str, statements: Sequence[Statement]) -> Statement:
    """A statement written by the model, only as certain as the least certain statement it is based on."""
    claims = tuple(dict.fromkeys(claim for statement in statements for claim in statement.claims))
    doubt = max(SUPPORT_LEVELS.index(statement.sureness) for statement in statements)
    pages = min(statement.pages for statement in statements)
    return Statement(text, claims, SUPPORT_LEVELS[doubt], pages, written="model")


def without_repeats(lines: Iterable[DraftLine]) -> tuple[DraftLine, ...]:
    """Each sentence once, and each set of claims once."""
    found: dict[tuple[str, ...], DraftLine] = {}
    texts: set[str] = set()
    for line in lines:
        claims = tuple(sorted(line.statement.claims))
        text = line.statement.text.casefold()
        if claims not in found and text not in texts:
            found[claims] = line
            texts.add(text)
    return tuple(found.values())


def assemble(keyed_brief: KeyedBrief, drafts: Drafts) -> Brief:
    """The brief with the accepted sentences."""
    brief = keyed_brief.brief
    reworded = {line.rule_written: line.statement for line in drafts.get("disputes", ())}
    return replace(
        brief,
        summary=_summary(keyed_brief, drafts["summary"]) if "summary" in drafts else brief.summary,
        definitions=_with_introduction(drafts.get("definitions", ()), brief.definitions),
        mechanisms=_with_introduction(drafts.get("mechanisms", ()), brief.mechanisms),
        disputes=tuple(_reworded(dispute, reworded) for dispute in brief.disputes),
    )


def _summary(keyed_brief: KeyedBrief, lines: Sequence[DraftLine]) -> tuple[Statement, ...]:
    """Six to ten sentences if the rules have as many, without repetition, in the order of the rules."""
    rules = keyed_brief.brief.summary
    kept = _filled(list(without_repeats(lines))[:MAX_SUMMARY], rules)
    written = [line for line in kept if line.statement.written == "model"]
    while written and len(kept) < min(len(rules), MIN_SUMMARY):
        # If merged sentences leave the summary too short, the widest is replaced by the statements it merged.
        widest = max(written, key=lambda line: sum(_covers(line, statement) for statement in rules))
        written.remove(widest)
        kept = _filled([line for line in kept if line != widest], rules)
    missing = [
        DraftLine(statement, statement) for statement in rules if all(line.statement != statement for line in kept)
    ]
    # `_filled` leaves out statements whose claims are used already; a summary that is too short has them after all.
    kept += missing[: max(min(len(rules), MIN_SUMMARY) - len(kept), 0)]
    return _readable(keyed_brief.brief, [line.statement for line in sorted(kept, key=keyed_brief.order)])


def _readable(brief: Brief, statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements, minus rule-written ones that need a preceding sentence which is no longer there."""
    topic_pages = topic_pages_of(brief)
    kept: list[Statement] = []
    for statement in statements:
        before: list[Claim] = []
        if kept:  # a rule-written statement shows only its first claim
            shown = kept[-1].claims if kept[-1].written == "model" else kept[-1].claims[:1]
            before = [brief.claims[claim_id] for claim_id in shown]
        if statement.written == "model" or can_follow(brief.claims[statement.claims[0]], before, topic_pages):
            kept.append(statement)
    return tuple(kept)


def _filled(lines: list[DraftLine], rules: Sequence[Statement]) -> list[DraftLine]:
    """The lines, topped up with further statements of the rules while there is room."""
    for statement in rules:
        if len(lines) < MAX_SUMMARY and not any(_covers(line, statement) for line in lines):
            lines = [*lines, DraftLine(statement, statement)]
    return lines


def _covers(line: DraftLine, statement: Statement) -> bool:
    return not set(line.statement.claims).isdisjoint(statement.claims)


def _with_introduction(lines: Sequence[DraftLine], groups: tuple[StatementGroup, ...]) -> tuple[StatementGroup, ...]:
    """The groups, preceded by the sentences of the model; those of the rules are in the groups already."""
    written = tuple(line.statement for line in without_repeats(lines) if line.statement.written == "model")
    return (StatementGroup("", written[:MAX_INTRODUCTION]), *groups) if written else groups


def _reworded(dispute: Dispute, by_rule: Mapping[Statement, Statement]) -> Dispute:
    views = (replace(view, statement=by_rule.get(view.statement, view.statement)) for view in dispute.views)
    return replace(dispute, views=tuple(views))


REPLY_TOKENS = 900
SCHEMA_TOKENS = 150
MIN_ROOM_TOKENS = 150


def statements_for(brief: Brief, part: PartKey) -> list[Statement]:
    """The statements a part may use; for the summary all of them, its own and the first of each group first."""
    if part == "definitions":
        return [statement for group in brief.definitions for statement in group.statements]
    if part == "mechanisms":
        return [statement for group in brief.mechanisms for statement in group.statements]
    views = [view.statement for dispute in brief.disputes for view in dispute.views]
    if part == "disputes":
        return views
    groups = (*brief.body, *brief.definitions, *brief.mechanisms, *brief.actors)
    firsts = [group.statements[0] for group in groups if group.statements]
    others = [*(moment.statement for moment in brief.timeline), *(figure.statement for figure in brief.numbers)]
    # Without a summary of the rules there is nothing to fall back to, so no model writes one either.
    return list(dict.fromkeys([*brief.summary, *views, *firsts, *others])) if brief.summary else []


def reply_tokens(model: Model) -> int:
    return max(min(REPLY_TOKENS, context_size(model) // 4), 1)


def tokens_left(model: Model, used: int) -> int:
    """The tokens left for statements; a model without room still gets a few, and then reports the error itself."""
    return max(context_size(model) - reply_tokens(model) - SCHEMA_TOKENS - used, MIN_ROOM_TOKENS)


def statement_lines(keyed_brief: KeyedBrief, statements: Sequence[Statement]) -> Iterator[str]:
    """Each statement with its key, how sure it is, and the part of the brief it is in."""
    part_names = _part_names(keyed_brief.brief)
    for statement in statements:
        part_name, text = part_names.get(statement, "Summary"), " ".join(statement.text.split())
        yield f"{keyed_brief.key(statement)} | {statement.sureness} | {part_name} | {text}"


def _part_names(brief: Brief) -> dict[Statement, str]:
    found: dict[Statement, str] = {}
    named = (("Concept", brief.definitions), ("Mechanism", brief.mechanisms), ("Actor", brief.actors))
    for dispute in brief.disputes:
        found |= {view.statement: f"View on: {dispute.about}" for view in dispute.views}
    for name, groups in named:
        found |= {
            statement: f"{name}: {group.heading}"
            for group in groups
            for statement in group.statements
            if statement not in found
        }
    for moment in brief.timeline:
        found.setdefault(moment.statement, f"Time: {moment.when}")
    for figure in brief.numbers:
        found.setdefault(figure.statement, f"Number: {figure.what}")
    return found


def disagreement_lines(keyed_brief: KeyedBrief) -> Iterator[str]:
    for dispute in keyed_brief.brief.disputes:
        views = " / ".join(
            f"{keyed_brief.key(view.statement)} {' '.join(view.statement.text.split())}" for view in dispute.views
        )
        yield f"{dispute.about}{f' ({dispute.difference})' if dispute.difference else ''}: {views}"


def page_lines(brief: Brief) -> Iterator[str]:
    """The pages, best first, with their scores and signals."""
    by_page: dict[EntryRef, Claim] = {claim.ref: claim for _, claim in sorted(brief.claims.items(), reverse=True)}
    for source in sorted(brief.sources.pages, key=lambda brief_source: (-brief_source.points, brief_source.ref)):
        claim = by_page.get(source.ref)
        yield f"{source.title} | score {points_text(source.points)}{_signals(claim) if claim else ''}"


def _signals(claim: Claim) -> str:
    signals = claim.signals
    words = [f"{signals.page_references} references"]
    words += [word for word, holds in (("stub", signals.stub), ("disputed", signals.disputed)) if holds]
    return f" | {', '.join(words)}"


def lines_that_fit(lines: Iterable[str], room: int) -> str:
    """As many of the lines, from the first on, as fit into `room` tokens."""
    kept: list[str] = []
    for line in lines:
        room -= estimate_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept) or "none"
