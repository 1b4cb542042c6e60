"""Whether a source states what a quote seems to say: not where it denies it, supposes it, or tells it as a story."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiwiresearch.kin.firewall.cited import Cited
from kiwiresearch.kin.firewall.cues import Cue
from kiwiresearch.kin.firewall.holders import BRACKETS
from kiwiresearch.kin.firewall.violation import Code

SENTENCE_END = re.compile(r"(?:(?<![^\W_])[a-z]{3,}|[\d)\"'”]|\w{5,})[.!?]\s|\n")
CLAUSE = re.compile(
    r"[,;:()—–]|\b(?:and|but|when|while|who|whom|whose|which|where|after|before|because|since|until|although|though)\b",
    re.IGNORECASE,
)
"""Where what was denied before it no longer is: 'he never went to school, and married Ann'."""
OWNED = re.compile(r"\b(?:his|her|their|\w+['’]s?)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
FARTHEST = 400
"""No sentence is followed further than this."""


def unstated(cited: Cited, cue: Cue, start: int, end: int, *, is_told: bool) -> Code | None:
    """Why the source does not state what a cue says of `words[start:end]`; nothing if it does.

    `is_told` is for cues that tell, as 'married Y' and 'the son of Y' do: what is denied there is denied.
    In 'he never saw his father Y' the father is taken for granted.
    The sentence is read in the source, for a quote can be cut to begin behind its 'not'.
    """
    first, last = min(cue.start, start) + cited.start, max(cue.end, end) + cited.start
    head = _sentence_before(cited.text, first)
    inner = cited.text[min(cue.end, end) + cited.start : max(cue.start, start) + cited.start]
    owned = OWNED.search(head)
    clause = head[_clause_start(head) :] if is_told else owned[0] if owned else ""
    said = BRACKETS.sub(" ", cited.words[cue.start : cue.end])
    near = f"{clause}{said} {BRACKETS.sub(' ', inner)}"
    kinds = {one.kind for one in cited.table.unstated.found_in(near)}
    kinds |= {one.kind for one in cited.table.unstated.found_in(head) if one.kind == "story"}
    kinds |= {one.kind for one in _behind(cited, last)}
    if kinds & {"denied", "story", "disproved"}:
        return "HF_028"
    return "HF_027" if "hedged" in kinds else None


def is_denied(cited: Cited, start: int) -> bool:
    """Whether what stands at an offset of the quote is named only to be told apart."""
    head = _sentence_before(cited.text, cited.start + start)
    return any(one.kind == "denied" for one in cited.table.unstated.found_in(head[_clause_start(head) :]))


def _sentence_before(text: str, at: int) -> str:
    """The sentence up to a place."""
    head = text[max(0, at - FARTHEST) : at]
    return head[max((found.end() for found in SENTENCE_END.finditer(head)), default=0) :]


def _clause_start(head: str) -> int:
    return max((found.end() for found in CLAUSE.finditer(head)), default=0)


def _behind(cited: Cited, at: int) -> Iterator[Cue]:
    """What the rest of the sentence takes back: 'but this has been disproved'."""
    tail = cited.text[at : at + FARTHEST]
    end = SENTENCE_END.search(tail)
    rest = tail[: end.end()] if end else tail
    return (one for one in cited.table.unstated.found_in(rest) if one.kind == "disproved")
