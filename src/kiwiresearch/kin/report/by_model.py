"""The summary in the words of a model, as far as they say what the facts say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, WrapValidator

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.report.check import Fault, fault_of
from kiwiresearch.kin.report.given import FamilyCase
from kiwiresearch.kin.report.summary import Said, summary
from kiwiresearch.kin.report.words import joined, name_of
from kiwiresearch.llm.lenient import or_none
from kiwiresearch.llm.model import Model, called, write_up
from kiwiresearch.llm.prompts import Prompt, parsed
from kiwiresearch.llm.structured import ask
from kiwiresearch.text.plain import printable

MOST_SENTENCES = 8
MOST_FACTS = 30
"""So many sentences a model is given; those of a long list of marriages stay as the rules put them."""
PER_SENTENCE = 120
"""Tokens of a sentence with its keys."""


class Sentence(BaseModel):
    """A sentence as a model proposes it."""

    model_config = ConfigDict(extra="ignore")

    text: str
    keys: list[str]


class Proposed(BaseModel):
    """What a model answers; a sentence of another form does not spoil the others."""

    sentences: Annotated[
        list[Annotated[Sentence | None, WrapValidator(or_none)]], Field(json_schema_extra={"maxItems": MOST_SENTENCES})
    ]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence that was not taken, and why."""

    text: str
    reason: Fault | str


@dataclass(frozen=True, slots=True)
class Worded:
    """A summary that a model worded, as far as it held."""

    said: tuple[Said, ...]
    dropped: tuple[Dropped, ...] = ()
    note: str = ""
    """Why the model did not help, where it did not."""


def prompt() -> Prompt:
    """The prompt, from its file."""
    text = (files("kiwiresearch.kin.report") / "prompts" / "summary.md").read_text(encoding="utf-8")
    return parsed("summary", text)


def worded(case: FamilyCase, model: Model, *, temperature: float = 0.4) -> Worded:
    """The summary with sentences of the model in place of those they rest on; the rest stays as the rules put it."""
    rules = summary(case)
    given = {_key(case, one): one for one in rules[:MOST_FACTS] if one.people and _may_be_told(case, one)}
    if not given:
        return Worded(rules)
    family = joined([name_of(case.tree, one) for one in case.seeds]) or "nobody"
    facts = "\n".join(f"{key} {one.text}" for key, one in given.items())
    messages = prompt().fill(family=family, facts=facts, most=MOST_SENTENCES)
    options = write_up(temperature, max_tokens=MOST_SENTENCES * PER_SENTENCE)
    try:
        proposed = ask(model, messages, Proposed, options).sentences
    except ModelError as problem:
        why = printable(problem.message).rstrip(".")
        return Worded(rules, note=f"{called(model)} did not help, and the summary is in the words of the rules: {why}.")
    return _taken(case, rules, given, proposed[: 2 * MOST_SENTENCES])


def _may_be_told(case: FamilyCase, said: Said) -> bool:
    """Sentences on people who may be alive stay as the rules put them, whoever may read the report."""
    return all(case.tree.persons[one].living == "deceased" for one in said.people if one in case.tree.persons)


def _key(case: FamilyCase, said: Said) -> str:
    """A key that no model can guess, and that differs from case to case."""
    salt = "\n".join((case.audit_head, *case.seeds, said.text, *said.rests_on))
    return sha256(salt.encode("utf-8", "replace")).hexdigest()[:8]


def _taken(
    case: FamilyCase, rules: Sequence[Said], given: dict[str, Said], proposed: Sequence[Sentence | None]
) -> Worded:
    dropped: list[Dropped] = []
    instead: dict[Said, Said] = {}
    covered: set[Said] = set()
    for one in proposed:
        if one is None:
            dropped.append(Dropped("", "wrong form"))
            continue
        text = " ".join(printable(one.text).split())
        keys = tuple(dict.fromkeys(key.strip().strip("[]()") for key in one.keys))
        sources = [given[key] for key in keys if key in given]
        reason = _reason(case, text, keys, sources, covered)
        if reason:
            dropped.append(Dropped(text[:120], reason))
            continue
        rests_on = tuple(dict.fromkeys(fact for said in sources for fact in said.rests_on))
        people = tuple(dict.fromkeys(person for said in sources for person in said.people))
        instead[min(sources, key=rules.index)] = Said(text, rests_on, people, "model")
        covered.update(sources)
    said = [instead.get(one, one) for one in rules if one in instead or one not in covered]
    return Worded(tuple(said), tuple(dropped))


def _reason(
    case: FamilyCase, text: str, keys: Sequence[str], sources: Sequence[Said], covered: set[Said]
) -> Fault | str:
    if not keys:
        return "no key"
    if len(sources) < len(keys):
        return "unknown key"
    if covered & set(sources):
        return "said twice"
    names = [name_of(case.tree, person) for said in sources for person in said.people]
    return fault_of(text, sources, names) or ""
