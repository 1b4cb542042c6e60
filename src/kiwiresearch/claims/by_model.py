"""Claims found by a model, and how they are merged with those of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.firewall import content_stems
from kiwiresearch.claims.mentions import numbers_in
from kiwiresearch.claims.proposals import Chunk, RejectedClaim, check_proposal, chunks_of, reply_shape
from kiwiresearch.errors import ModelError, ModelUnreachable
from kiwiresearch.evidence import Quote
from kiwiresearch.llm import (
    Model,
    context_size,
    estimate_prompt,
    extraction_options,
    model_label,
    prompt,
    structured_reply,
)
from kiwiresearch.page import PageDoc
from kiwiresearch.text import printable
from kiwiresearch.zim import EntryRef

LogLine = Callable[[str], None]

MIN_CLAIMS, MAX_CLAIMS = 2, 6
"""How many claims one request asks for: one per sentence, within these limits."""
MAX_READ_CLAIMS = 2 * MAX_CLAIMS
"""Claims beyond this many in one reply are ignored."""
TOKENS_PER_CLAIM = 200
"""The reply tokens reserved for one claim with its quotes."""
MAX_CHUNK_TOKENS = 800
REPLY_TOKENS = 1_000
SCHEMA_TOKENS = 250
"""Reserved for servers that need the schema spelled out in the prompt."""
MIN_ROOM_TOKENS = 80
MAX_FAILURES = 3
"""After this many chunks in a row without a reply, the model is given up."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The claims a model found on a page, and those that were rejected."""

    claims: tuple[Claim, ...] = ()
    rejected: tuple[RejectedClaim, ...] = ()

    @property
    def summary(self) -> str:
        """How many claims were accepted, and why the others were rejected."""
        counted = Counter(claim.reason for claim in self.rejected)
        reasons = [f"{count} {reason}" for reason, count in sorted(counted.items(), key=lambda row: (-row[1], row[0]))]
        return f"{len(self.claims)} taken" + (f", dropped: {', '.join(reasons)}" if reasons else "")


class ClaimReader:
    """Asks one model about the pages of a run, until it fails too often."""

    def __init__(self, model: Model, *, temperature: float = 0.1, log: LogLine | None = None) -> None:
        self._model = model
        self._options = extraction_options(temperature, max_tokens=REPLY_TOKENS)
        self._log = log or (lambda _: None)
        self._failures = 0
        self.gave_up_reason = ""
        """Why the model was given up, if it was."""

    def extract(self, page: PageDoc, book_name: str = "") -> Extraction:
        """The claims of a page; none of a disambiguation page, or once the model has been given up."""
        # That a model was given up is final for this run: later pages are read by rules alone.
        if self.gave_up_reason or page.signals.disambiguation:
            return Extraction()
        claims: dict[str, Claim] = {}
        rejected: list[RejectedClaim] = []
        for chunk in chunks_of(page, self._token_budget(page)):
            if self.gave_up_reason:
                # Every unread chunk is counted, so that the log shows how much of the page the model did not see.
                rejected.append(_unread(page, chunk))
                continue
            for item in self._read_chunk(page, chunk, book_name):
                if isinstance(item, RejectedClaim):
                    rejected.append(item)
                elif item.id in claims:
                    rejected.append(RejectedClaim("said twice", item.text))
                else:
                    claims[item.id] = item
        found = Extraction(tuple(claims.values()), tuple(rejected))
        self._log(f"claims by the model from {page.title!r}: {found.summary}")
        return found

    def _token_budget(self, page: PageDoc) -> int:
        """How many tokens of the page fit along with the prompt and the reply."""
        around = prompt("claims").fill(title=page.title, section="", text="", most=MAX_CLAIMS)
        try:
            context = context_size(self._model)
        except ModelError as problem:
            self._give_up(printable(problem.message))
            return MIN_ROOM_TOKENS
        self._options = replace(self._options, max_tokens=max(min(REPLY_TOKENS, context // 4), 1))
        room = context - self._options.max_tokens - SCHEMA_TOKENS - estimate_prompt(message.text for message in around)
        if room < MIN_ROOM_TOKENS:
            self._give_up(f"it can read only {context:,} tokens at once, which is too few for a section")
        return min(room, MAX_CHUNK_TOKENS)

    def _read_chunk(self, page: PageDoc, chunk: Chunk, book_name: str) -> list[Claim | RejectedClaim]:
        heading = page.sections[chunk.section].heading
        text = page.text[chunk.start : chunk.end]
        max_claims = min(max(chunk.sentences, MIN_CLAIMS), MAX_CLAIMS)
        messages = prompt("claims").fill(title=page.title, section=heading, text=text, most=max_claims)
        options = replace(self._options, max_tokens=min(self._options.max_tokens, max_claims * TOKENS_PER_CLAIM))
        try:
            found = structured_reply(self._model, messages, reply_shape(max_claims), options).claims
        except ModelError as problem:
            self._failed(problem, page, heading)
            return [_unread(page, chunk)]
        self._failures = 0
        # Some servers ignore `maxItems`, so a reply may have any number of claims.
        surplus = [
            RejectedClaim("too many claims", proposed.claim[:80] if proposed else "")
            for proposed in found[MAX_READ_CLAIMS:]
        ]
        return [check_proposal(page, chunk, proposed, book_name) for proposed in found[:MAX_READ_CLAIMS]] + surplus

    def _failed(self, problem: ModelError, page: PageDoc, heading: str) -> None:
        self._failures += 1
        place = f"{page.title!r}, section {heading!r}" if heading else f"{page.title!r}, introduction"
        self._log(f"no claims by the model from {place}: {printable(problem.message)}")
        if isinstance(problem, ModelUnreachable):
            self._give_up(printable(problem.message))
        elif self._failures == MAX_FAILURES:
            self._give_up(f"{MAX_FAILURES} of its replies in a row could not be used")

    def _give_up(self, why: str) -> None:
        self.gave_up_reason = (
            f"{model_label(self._model)} was not used any further, so rules found the remaining claims: {why}"
        )
        self.gave_up_reason = self.gave_up_reason.rstrip(".") + "."
        self._log(self.gave_up_reason)


def _unread(page: PageDoc, chunk: Chunk) -> RejectedClaim:
    return RejectedClaim("no reply", " ".join(page.text[chunk.start : chunk.end].split())[:80])


MIN_QUOTE_OVERLAP = 0.8
"""The share of the shorter quote that must be in the longer one."""
MIN_SHARED_WORDS = 0.7
"""The share of the shorter claim's words that must be in the other, if both have the same type."""
MIN_EQUAL_WORDS = 0.9
"""The share of all their words that must be in both, if their types differ."""
MAX_MERGED_TAGS = 12


def merged_claims(
    rule_claims: Sequence[Claim], model_claims: Sequence[Claim], language: str = "eng"
) -> tuple[Claim, ...]:
    """All claims without duplicates: the rules' with the model's tags added, then what only the model found."""
    kept = list(rule_claims)
    # Only claims of the same page can be the same, so each is compared with those of its page alone.
    at_page: dict[EntryRef, list[int]] = {}
    for index, claim in enumerate(kept):
        at_page.setdefault(claim.ref, []).append(index)
    for claim in model_claims:
        here = at_page.setdefault(claim.ref, [])
        twin = next((index for index in here if _is_same(kept[index], claim, language)), None)
        if twin is None:
            here.append(len(kept))
            kept.append(claim)
        else:
            kept[twin] = replace(
                kept[twin], tags=tuple(dict.fromkeys((*kept[twin].tags, *claim.tags)))[:MAX_MERGED_TAGS]
            )
    return tuple(kept)


def _is_same(one: Claim, other: Claim, language: str) -> bool:
    if not any(_overlap(mine, theirs) for mine in one.quotes for theirs in other.quotes):
        return False
    # The rule's claim is kept, so it must have every number of the model's.
    if not _numbers(other, language) <= _numbers(one, language):
        return False
    mine, theirs = content_stems(one.text, language), content_stems(other.text, language)
    shared = len(mine & theirs)
    if one.type == other.type and shared >= MIN_SHARED_WORDS * max(min(len(mine), len(theirs)), 1):
        return True
    return shared >= MIN_EQUAL_WORDS * max(len(mine | theirs), 1)


def _numbers(claim: Claim, language: str) -> frozenset[str]:
    return frozenset(number.spelling for number in numbers_in(claim.text, language))


def _overlap(one: Quote, other: Quote) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    return common >= MIN_QUOTE_OVERLAP * min(one.end - one.start, other.end - other.start)
