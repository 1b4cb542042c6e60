"""Claims by a model, and how they are merged with those of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.firewall import content_stems
from kiwiresearch.claims.mentions import numbers_in
from kiwiresearch.claims.proposals import Chunk, DroppedClaim, check_proposal, chunks_of, shape_of
from kiwiresearch.errors import ModelError, ModelUnreachable
from kiwiresearch.evidence import Quote
from kiwiresearch.llm.model import Model, estimate_prompt, extraction, model_label, prompt
from kiwiresearch.llm.structured import ask
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.display import printable
from kiwiresearch.zim.archive import EntryRef

Say = Callable[[str], None]

FEWEST_CLAIMS, MAX_CLAIMS = 2, 6
"""What a model is asked for at once: one for each sentence, within these; beyond twice that nothing is read."""
PER_CLAIM = 200
"""Tokens of a claim with its quotes."""
LONGEST_CHUNK = 800
REPLY = 1_000
SCHEMA = 250
"""Tokens: of a chunk at most, of a reply, and of the schema where a server must be told it in words."""
CONTEXT = 4_096
"""What a model reads that does not tell."""
SMALLEST_ROOM = 80
PATIENCE = 3
"""So many chunks in a row without a reply, and the model is given up."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a model found on a page, and what of it was not taken."""

    claims: tuple[Claim, ...] = ()
    dropped: tuple[DroppedClaim, ...] = ()

    @property
    def summary(self) -> str:
        """How many claims were taken, and what the others were dropped for."""
        counted = Counter(one.reason for one in self.dropped)
        reasons = [f"{count} {reason}" for reason, count in sorted(counted.items(), key=lambda row: (-row[1], row[0]))]
        return f"{len(self.claims)} taken" + (f", dropped: {', '.join(reasons)}" if reasons else "")


def extract(
    page: PageDoc, model: Model, *, temperature: float = 0.1, book_name: str = "", log: Say | None = None
) -> Extraction:
    """The claims of one page; for the pages of a run use one `ClaimReader`, which gives a dead model up."""
    return ClaimReader(model, temperature=temperature, log=log).extract(page, book_name)


class ClaimReader:
    """Asks one model about the pages of a run, as long as it answers."""

    def __init__(self, model: Model, *, temperature: float = 0.1, log: Say | None = None) -> None:
        self._model = model
        self._options = extraction(temperature, max_tokens=REPLY)
        self._log = log or (lambda _: None)
        self._failures = 0
        self.note = ""
        """Why the model was given up; empty as long as it is asked."""

    def extract(self, page: PageDoc, book_name: str = "") -> Extraction:
        """The claims of a page; none where the model has been given up, or the page only lists others."""
        if self.note or page.signals.disambiguation:
            return Extraction()
        claims: dict[str, Claim] = {}
        dropped: list[DroppedClaim] = []
        for chunk in chunks_of(page, self._room(page)):
            if self.note:
                dropped.append(_unread(page, chunk))
                continue
            for one in self._chunk(page, chunk, book_name):
                if isinstance(one, DroppedClaim):
                    dropped.append(one)
                elif one.id in claims:
                    dropped.append(DroppedClaim("said twice", one.text))
                else:
                    claims[one.id] = one
        found = Extraction(tuple(claims.values()), tuple(dropped))
        self._log(f"claims by the model from {page.title!r}: {found.summary}")
        return found

    def _room(self, page: PageDoc) -> int:
        """How many tokens of the page fit beside the prompt and the reply."""
        around = prompt("claims").fill(title=page.title, section="", text="", most=MAX_CLAIMS)
        try:
            context = self._model.context_tokens() or CONTEXT
        except ModelError as problem:
            self._give_up(printable(problem.message))
            return SMALLEST_ROOM
        self._options = replace(self._options, max_tokens=max(min(REPLY, context // 4), 1))
        room = context - self._options.max_tokens - SCHEMA - estimate_prompt(message.text for message in around)
        if room < SMALLEST_ROOM:
            self._give_up(f"it reads {context:,} tokens at once, which is too little for a section")
        return min(room, LONGEST_CHUNK)

    def _chunk(self, page: PageDoc, chunk: Chunk, book_name: str) -> list[Claim | DroppedClaim]:
        heading = page.sections[chunk.section].heading
        text = page.text[chunk.start : chunk.end]
        most = min(max(chunk.sentences, FEWEST_CLAIMS), MAX_CLAIMS)
        messages = prompt("claims").fill(title=page.title, section=heading, text=text, most=most)
        options = replace(self._options, max_tokens=min(self._options.max_tokens, most * PER_CLAIM))
        try:
            found = ask(self._model, messages, shape_of(most), options).claims
        except ModelError as problem:
            self._failed(problem, page, heading)
            return [_unread(page, chunk)]
        self._failures = 0
        read = [check_proposal(page, chunk, one, book_name) for one in found[: 2 * MAX_CLAIMS]]
        return read + [
            DroppedClaim("too many claims", one.claim[:80] if one else "") for one in found[2 * MAX_CLAIMS :]
        ]

    def _failed(self, problem: ModelError, page: PageDoc, heading: str) -> None:
        self._failures += 1
        place = f"{page.title!r}, section {heading!r}" if heading else f"{page.title!r}, introduction"
        self._log(f"no claims by the model from {place}: {printable(problem.message)}")
        if isinstance(problem, ModelUnreachable):
            self._give_up(printable(problem.message))
        elif self._failures == PATIENCE:
            self._give_up(f"{PATIENCE} times in a row it gave no reply that can be used")

    def _give_up(self, why: str) -> None:
        self.note = f"{model_label(self._model)} was given up, and the rules alone found the other claims: {why}"
        self.note = self.note.rstrip(".") + "."
        self._log(self.note)


def _unread(page: PageDoc, chunk: Chunk) -> DroppedClaim:
    return DroppedClaim("no reply", " ".join(page.text[chunk.start : chunk.end].split())[:80])


SAME_PLACE = 0.8
"""So much of the shorter quote must lie in the longer one."""
SAME_WORDS = 0.7
"""So many of the words of the shorter claim must be in the other, for claims of one type."""
NEARLY_EQUAL = 0.9
"""So many of all their words, for claims that were filed under different types."""
MAX_TAGS = 12


def merged_claims(
    rule_claims: Sequence[Claim], model_claims: Sequence[Claim], language: str = "eng"
) -> tuple[Claim, ...]:
    """All claims without duplicates: the rules' with the model's tags added, then what only the model found."""
    kept = list(rule_claims)
    at_page: dict[EntryRef, list[int]] = {}
    for number, claim in enumerate(kept):
        at_page.setdefault(claim.ref, []).append(number)
    for claim in model_claims:
        here = at_page.setdefault(claim.ref, [])
        twin = next((number for number in here if _same(kept[number], claim, language)), None)
        if twin is None:
            here.append(len(kept))
            kept.append(claim)
        else:
            kept[twin] = replace(kept[twin], tags=_joined(kept[twin].tags, claim.tags))
    return tuple(kept)


def _same(one: Claim, other: Claim, language: str) -> bool:
    if not any(_overlap(mine, theirs) for mine in one.quotes for theirs in other.quotes):
        return False
    if not _numbers(other, language) <= _numbers(one, language):
        return False
    mine, theirs = content_stems(one.text, language), content_stems(other.text, language)
    shared = len(mine & theirs)
    if one.type == other.type and shared >= SAME_WORDS * max(min(len(mine), len(theirs)), 1):
        return True
    return shared >= NEARLY_EQUAL * max(len(mine | theirs), 1)


def _numbers(claim: Claim, language: str) -> frozenset[str]:
    return frozenset(number.words for number in numbers_in(claim.text, language))


def _overlap(one: Quote, other: Quote) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    return common >= SAME_PLACE * min(one.end - one.start, other.end - other.start)


def _joined(tags: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*tags, *more)))[:MAX_TAGS]
