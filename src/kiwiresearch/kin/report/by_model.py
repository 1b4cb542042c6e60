"""A summary written by a model; each sentence is checked against the rule-made sentences it is based on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, WrapValidator

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.report.labels import display_name, join_names
from kiwiresearch.kin.report.report_input import ReportInput
from kiwiresearch.kin.report.summary import SummarySentence, summary
from kiwiresearch.llm import Model, Prompt, item_or_none, model_label, parse_prompt, structured_reply, write_up_options
from kiwiresearch.text import fold, printable
from kiwiresearch.text.dates import DateRange, dates_in

Fault = Literal[
    "empty", "too long", "pronoun", "word not in its facts", "doubt dropped", "somebody else", "value of something else"
]
MAX_SENTENCE_LENGTH = 400
WORD = re.compile(r"[^\W_]+")
PRONOUN_WORDS = "he she it they his her hers him them their theirs its this that these those i we you"
PRONOUNS = frozenset(PRONOUN_WORDS.split())
CONNECTING_WORDS = "a an the and was were is are of in on at to with who as"
CONNECTING = frozenset(CONNECTING_WORDS.split())
"""Words that only connect others."""
CUE_WORDS = "born died aged married partner father mother parent parents had disagree life "
CUES = frozenset(f"{CUE_WORDS} stepfather stepmother stepparent stepparents".split())
"""Words that say what happened, or how people are related."""
DOUBT_WORDS = "c before after between about disagree without no known adoptive foster disputed half divorced"
DOUBT = frozenset(DOUBT_WORDS.split())
"""Words that express doubt, or make a statement less exact."""
NAME_PREFIX = "name:"
TEMPERATURE = 0.4


@dataclass(frozen=True, slots=True)
class CutSentence:
    """A sentence cut at its cues: the words and dates after each, and before the first cue (under '')."""

    words: Mapping[str, tuple[str, ...]]
    dates: Mapping[str, tuple[DateRange, ...]]
    all: frozenset[str]


def fault_of(text: str, sources: Sequence[SummarySentence], names: Sequence[str]) -> Fault | None:
    """The first fault of a sentence; None if it passes.

    `names` are those of all people in the sources; a name must be used in full.
    """
    if not any(char.isalpha() for char in text):
        return "empty"
    if len(text) > MAX_SENTENCE_LENGTH:
        return "too long"
    mine, theirs = cut_sentence(text, names), [cut_sentence(sentence.text, names) for sentence in sources]
    # A pronoun could mean anybody, which no check can decide.
    if PRONOUNS & mine.all:
        return "pronoun"
    if mine.all - CONNECTING - {word for source in theirs for word in source.all}:
        return "word not in its facts"
    if any(DOUBT & source.all - mine.all for source in theirs):
        return "doubt dropped"
    if not all(_same_subject(mine, source) for source in theirs):
        return "somebody else"
    return None if all(_follows(cue, mine, theirs) for cue in mine.words) else "value of something else"


def cut_sentence(text: str, names: Sequence[str]) -> CutSentence:
    """Cut the sentence at its cues, with each name as one word and each date as a date."""
    words: dict[str, list[str]] = {"": []}
    dates: dict[str, list[DateRange]] = {"": []}
    found: set[str] = set()
    cue, at = "", 0
    for dated in [*dates_in(text), None]:
        for word in _words(text[at : dated.start if dated else len(text)], names):
            found.add(word)
            if word in CUES:
                cue = word
                words.setdefault(cue, [])
                dates.setdefault(cue, [])
            elif word not in CONNECTING:
                words[cue].append(word)
        if dated:
            # Words of a date that express doubt count as words: without them it is another date.
            found |= {fold(word) for word in WORD.findall(text[dated.start : dated.end])} & DOUBT
            dates[cue].append(dated.when)
            at = dated.end
    return CutSentence(
        {key: tuple(listed) for key, listed in words.items()}, {k: tuple(v) for k, v in dates.items()}, frozenset(found)
    )


def _words(text: str, names: Sequence[str]) -> list[str]:
    words = _folded(text)
    # Longest names first, so that 'Ann Pell Hay' is not read as 'Ann Pell' and 'Hay'.
    whole = sorted({tuple(_folded(name)) for name in names} - {()}, key=lambda name: (-len(name), name))
    found: list[str] = []
    at = 0
    while at < len(words):
        name = next((item for item in whole if tuple(words[at : at + len(item)]) == item), None)
        found.append(NAME_PREFIX + " ".join(name) if name else words[at])
        at += len(name) if name else 1
    return found


def _folded(name: str) -> list[str]:
    return [word for found in WORD.findall(name) if (word := fold(found))]


def _same_subject(mine: CutSentence, source: CutSentence) -> bool:
    """Whether the sentence is about the people of its source, or the first of them."""
    subject, written = mine.words[""], source.words[""]
    # A date before the first cue has no fact it could be checked with.
    return bool(subject) and subject == written[: len(subject)] and not mine.dates[""]


def _follows(cue: str, mine: CutSentence, theirs: Sequence[CutSentence]) -> bool:
    """Whether the words after a cue follow it in a source too; a date may be omitted or less exact."""
    if not cue:
        return True
    for source in theirs:
        if cue in source.words and mine.words[cue] in ((), source.words[cue]):
            return all(any(_covers(when, date_range) for date_range in source.dates[cue]) for when in mine.dates[cue])
    return False


def _covers(when: DateRange, known: DateRange) -> bool:
    """Whether a date is the known one, or the month or year that contains it."""
    return when.qualifier == known.qualifier and when.earliest <= known.earliest and known.latest <= when.latest


MAX_SENTENCES = 8
MAX_FACTS = 30
"""How many sentences a model is given; the others, such as long lists of marriages, are not reworded."""
PER_SENTENCE = 120
"""Tokens for a sentence with its keys."""


class ProposedSentence(BaseModel):
    """A sentence as a model proposes it."""

    model_config = ConfigDict(extra="ignore")

    text: str
    keys: list[str]


class ProposedSummary(BaseModel):
    """What a model answers; a sentence of another form does not spoil the others."""

    sentences: Annotated[
        list[Annotated[ProposedSentence | None, WrapValidator(item_or_none)]],
        Field(json_schema_extra={"maxItems": MAX_SENTENCES}),
    ]


@dataclass(frozen=True, slots=True)
class RejectedSummarySentence:
    """A sentence that was rejected, and why."""

    text: str
    reason: Fault | str


@dataclass(frozen=True, slots=True)
class WordedSummary:
    """A summary written by a model, as far as its sentences passed."""

    sentences: tuple[SummarySentence, ...]
    dropped: tuple[RejectedSummarySentence, ...] = ()
    note: str = ""
    """Why the model did not help, if so."""


def summary_prompt() -> Prompt:
    text = (files("kiwiresearch.kin.report") / "prompts" / "summary.md").read_text(encoding="utf-8")
    return parse_prompt("summary", text)


def write_summary(case: ReportInput, model: Model) -> WordedSummary:
    """The summary with sentences of the model in place of those they are based on; the others stay unchanged."""
    rules = summary(case)
    given = {
        _key(case, sentence): sentence
        for sentence in rules[:MAX_FACTS]
        if sentence.people and _is_about_the_dead(case, sentence)
    }
    if not given:
        return WordedSummary(rules)
    family = join_names([display_name(case.tree, seed) for seed in case.seeds]) or "nobody"
    facts = "\n".join(f"{key} {summary_sentence.text}" for key, summary_sentence in given.items())
    messages = summary_prompt().fill(family=family, facts=facts, most=MAX_SENTENCES)
    options = write_up_options(TEMPERATURE, max_tokens=MAX_SENTENCES * PER_SENTENCE)
    try:
        proposed = structured_reply(model, messages, ProposedSummary, options).sentences
    except ModelError as problem:
        why = printable(problem.message).rstrip(".")
        return WordedSummary(
            rules, note=f"{model_label(model)} could not write the summary, so it was written by rules: {why}."
        )
    return _merge_sentences(case, rules, given, proposed[: 2 * MAX_SENTENCES])


def _is_about_the_dead(case: ReportInput, sentence: SummarySentence) -> bool:
    """Whether everybody the sentence is about is dead; other sentences are never given to a model."""
    return all(
        case.tree.persons[person].living == "deceased" for person in sentence.people if person in case.tree.persons
    )


def _key(case: ReportInput, sentence: SummarySentence) -> str:
    """A key that a model cannot guess, and that differs from case to case."""
    salt = "\n".join(("", *case.seeds, sentence.text, *sentence.rests_on))
    return sha256(salt.encode("utf-8", "replace")).hexdigest()[:8]


def _merge_sentences(
    case: ReportInput,
    rules: Sequence[SummarySentence],
    given: dict[str, SummarySentence],
    proposed: Sequence[ProposedSentence | None],
) -> WordedSummary:
    dropped: list[RejectedSummarySentence] = []
    instead: dict[SummarySentence, SummarySentence] = {}
    covered: set[SummarySentence] = set()
    for sentence in proposed:
        if sentence is None:
            dropped.append(RejectedSummarySentence("", "wrong form"))
            continue
        text = " ".join(printable(sentence.text).split())
        keys = tuple(dict.fromkeys(key.strip().strip("[]()") for key in sentence.keys))
        sources = [given[key] for key in keys if key in given]
        reason = _refusal(case, text, keys, sources, covered)
        if reason:
            dropped.append(RejectedSummarySentence(text[:120], reason))
            continue
        rests_on = tuple(dict.fromkeys(fact for source in sources for fact in source.rests_on))
        people = tuple(dict.fromkeys(person for source in sources for person in source.people))
        # In place of the first sentence that it is based on, so that the order of the summary stays.
        instead[min(sources, key=rules.index)] = SummarySentence(text, rests_on, people, "model")
        covered.update(sources)
    sentences = [
        instead.get(sentence, sentence) for sentence in rules if sentence in instead or sentence not in covered
    ]
    return WordedSummary(tuple(sentences), tuple(dropped))


def _refusal(
    case: ReportInput, text: str, keys: Sequence[str], sources: Sequence[SummarySentence], covered: set[SummarySentence]
) -> Fault | str:
    if not keys:
        return "no key"
    if len(sources) < len(keys):
        return "unknown key"
    if covered & set(sources):
        return "said twice"
    names = [display_name(case.tree, person) for source in sources for person in source.people]
    return fault_of(text, sources, names) or ""
