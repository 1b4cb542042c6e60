"""A model's opinion on values that no rule is sure of: its word counts only with words of the source beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.agents.planner_by_model import is_query
from kiwiresearch.kin.extract.stated import is_held_back, sentence_around
from kiwiresearch.kin.extracted import Extracted, Hypothesis, Snippet
from kiwiresearch.kin.firewall.contracts import FieldResult, VerifierOut
from kiwiresearch.llm.model import Message, Model, called, extraction
from kiwiresearch.llm.prompts import prompt
from kiwiresearch.llm.structured import ask
from kiwiresearch.text.fold import fold
from kiwiresearch.text.plain import printable

REPLY_TOKENS = 1_200
MOST_TEXT = 6_000
MOST_FIELDS = 20
MOST_HYPOTHESES = 3
HIGHEST_CLUE = 0.6
"""A model's guess never comes before a clue that a rule found."""

Passes = Callable[[Extracted], bool]
"""Whether the firewall lets a value pass with its quote."""


@dataclass(frozen=True, slots=True)
class VerifierInput:
    """What a verifier is given: a source, its text, what was read in it, and the quotes that say so."""

    url: str
    raw_text: str
    facts: tuple[Extracted, ...]

    @property
    def extracted_fields(self) -> tuple[tuple[str, str], ...]:
        return tuple((one.field, one.value) for one in self.facts)

    @property
    def citations(self) -> tuple[tuple[str, str], ...]:
        """Field and snippet."""
        return tuple((one.field, one.snippet.words) for one in self.facts)


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of it: values that a quote of the model's bears out, guesses to follow, and what was not taken."""

    borne_out: tuple[Extracted, ...] = ()
    doubted: tuple[Extracted, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    flags: tuple[str, ...] = ()


def verify_by_model(given: VerifierInput, model: Model, passes: Passes) -> Heard:
    """Ask about the values given; of a model that fails nothing is taken, and why is noted."""
    facts = given.facts[:MOST_FIELDS]
    if not facts:
        return Heard()
    try:
        reply = ask(model, _messages(given, facts), VerifierOut, extraction(max_tokens=REPLY_TOKENS))
    except ModelError as problem:
        return Heard(flags=(f"{called(model)} did not help to verify: {printable(problem.message)}",))
    borne_out, doubted, flags = [], [], list(map(printable, reply.hallucination_flags))
    for result in reply.verification_results:
        fact = next((one for one in facts if (one.field, one.value) == (result.field, result.value)), None)
        if fact is None:
            flags.append(f"A value that was not asked about: {result.field}.")
        elif result.status != "Verified":
            doubted.append(fact)
        elif quoted := _quoted(fact, result, given.raw_text, passes):
            borne_out.append(quoted)
        else:
            flags.append(f"A quote that does not bear out its value: {result.field}.")
    return Heard(tuple(borne_out), tuple(doubted), _hypotheses(reply, given.raw_text), tuple(flags))


def _messages(given: VerifierInput, facts: Sequence[Extracted]) -> tuple[Message, ...]:
    return prompt("kin_verifier").fill(
        url=given.url,
        raw_text=_around(given.raw_text, facts),
        extracted_fields=_lines((one.field, one.value) for one in facts),
        existing_citations=_lines((one.field, one.snippet.words) for one in facts),
    )


def _around(text: str, facts: Sequence[Extracted]) -> str:
    """As much of the text as a model reads: the beginning, and what is further down and quoted."""
    parts = [text[:MOST_TEXT]]
    parts += [one.snippet.words for one in facts if one.snippet.start >= MOST_TEXT]
    return "\n".join(dict.fromkeys(parts))


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{field} | {printable(value)}" for field, value in rows)


def _quoted(fact: Extracted, result: FieldResult, text: str, passes: Passes) -> Extracted | None:
    """The value with the model's quote, where the quote is in the text and the firewall lets both pass."""
    words = (result.citation_snippet or "").strip()
    at = text.find(words) if words else -1
    if at < 0 or is_held_back(sentence_around(text, at, at + len(words))):
        return None
    quoted = replace(fact, snippet=Snippet(at, at + len(words), words), rationale=f"{fact.rationale}; a model agrees")
    return quoted if passes(quoted) else None


def _hypotheses(reply: VerifierOut, text: str) -> tuple[Hypothesis, ...]:
    """Guesses as clues: their queries name somebody whom the source names, and nothing that only looks like a name."""
    known = set(fold(text).split())
    found = []
    for one in reply.hypotheses[:MOST_HYPOTHESES]:
        queries = tuple(
            query.strip() for query in one.suggested_queries if is_query(query) and known & set(fold(query).split())
        )
        label = printable(one.text).removeprefix("HYPOTHESIS:").strip()
        if label and queries:
            priority = min(one.priority, HIGHEST_CLUE)
            found.append(
                Hypothesis(printable(one.type), f"HYPOTHESIS: {label}", printable(one.evidence_hint), priority, queries)
            )
    return tuple(found)
