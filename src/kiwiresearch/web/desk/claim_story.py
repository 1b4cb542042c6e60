"""One claim whole: its words where they stand, what else says so, what disagrees, and what rests on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.brief.brief import Brief, Dispute, PartKey, Statement
from kiwiresearch.claims.claim import Claim
from kiwiresearch.evidence.quote import Quote
from kiwiresearch.ids import canonical_json
from kiwiresearch.web.desk.run_frame import NOT_AS_WRITTEN, RunFrame
from kiwiresearch.zim.entry import EntryRef

CORPUS = "corpus.jsonl"
AROUND = 280
"""So many characters of the page stand on each side of a quote."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A quote, and the words of the page around it."""

    quote: Quote
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Resting:
    """A statement of the brief that rests on a claim, and in which part of the brief it stands."""

    part: PartKey
    statement: Statement


@dataclass(frozen=True, slots=True)
class Story:
    """What a run knows of one claim."""

    claim: Claim
    settings: tuple[Setting, ...]
    resting: tuple[Resting, ...]
    same: tuple[Claim, ...]
    """Claims on which the same statements rest."""
    disputes: tuple[Dispute, ...]
    """Disputes in which it stands on one side."""
    disagrees: str
    """How its number differs from another one's, in English; empty where it does not."""


def story_of(run: RunFrame, claim: Claim) -> Story:
    """All that the run's files tell of a claim."""
    brief = run.brief
    resting = tuple(one for one in told(brief) if claim.id in one.statement.claims)
    others = dict.fromkeys(other for one in resting for other in one.statement.claims if other != claim.id)
    disputes = [one for one in brief.disputes if any(claim.id in view.statement.claims for view in one.views)]
    against = {other for one in disputes for view in one.views for other in view.statement.claims}
    figures = [one.disagrees for one in brief.numbers if claim.id in one.statement.claims and one.disagrees]
    return Story(
        claim=claim,
        settings=_settings(claim.quotes, text_of(run, claim.ref)),
        resting=resting,
        same=tuple(brief.claims[other] for other in others if other not in against),
        disputes=tuple(disputes),
        disagrees=figures[0] if figures else "",
    )


def told(brief: Brief) -> Iterator[Resting]:
    """Every statement of a brief with the part it stands in."""
    for statement in brief.summary:
        yield Resting("summary", statement)
    groups: tuple[tuple[PartKey, Sequence[Statement]], ...] = (
        ("body", [one for group in brief.body for one in group.statements]),
        ("definitions", [one for group in brief.definitions for one in group.statements]),
        ("timeline", [moment.statement for moment in brief.timeline]),
        ("mechanisms", [one for group in brief.mechanisms for one in group.statements]),
        ("actors", [one for group in brief.actors for one in group.statements]),
        ("disputes", [view.statement for dispute in brief.disputes for view in dispute.views]),
        ("numbers", [figure.statement for figure in brief.numbers]),
    )
    for part, statements in groups:
        yield from (Resting(part, statement) for statement in statements)


def text_of(run: RunFrame, ref: EntryRef) -> str:
    """The text of a page as the run has kept it; empty where it has not."""
    # A line is read only where it can be the page's: a corpus may be large.
    signs = (f'"path":{canonical_json(ref.path)}', f'"book":{canonical_json(ref.book)}')
    try:
        with run.run.file(CORPUS).open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                if all(sign in line for sign in signs):
                    row = json.loads(line)
                    if (row["book"], row["path"]) == (ref.book, ref.path):
                        return str(row["plain_text"])
    except NOT_AS_WRITTEN:
        return ""
    return ""


def _settings(quotes: Sequence[Quote], text: str) -> tuple[Setting, ...]:
    return tuple(_setting(quote, text) for quote in quotes)


def _setting(quote: Quote, text: str) -> Setting:
    if not text.startswith(quote.text, quote.start):
        return Setting(quote, "", "")
    before = text[max(quote.start - AROUND, 0) : quote.start]
    after = text[quote.end : quote.end + AROUND]
    if quote.start > AROUND:
        before = "… " + before.partition(" ")[2]
    if len(text) > quote.end + AROUND:
        after = after.rpartition(" ")[0] + " …"
    return Setting(quote, before, after)
