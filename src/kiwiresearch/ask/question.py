"""Parses a question: its words, the kind of answer it wants, and the things it compares."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from kiwiresearch.search import Query, QueryTerm, parse_query
from kiwiresearch.text import LEADING_ARTICLE, language_words, plain_lower, stemmer, words_in

AnswerKind = Literal["person", "date", "place", "number", "reason", "manner", "definition", "choice", "yes_no", "topic"]
DATA_FOLDER = files("kiwiresearch.ask") / "data" / "questions"


class QuestionTerm(NamedTuple):
    """A content word of the question, and other words that may replace it in the answer."""

    term: QueryTerm
    related: tuple[str, ...]
    is_asking: bool
    """Whether it only says what kind of answer is wanted."""
    is_name: bool
    """Whether it is a name or number: an answer without it is about something else."""


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question."""

    text: str
    query: Query
    kind: AnswerKind
    terms: tuple[QuestionTerm, ...]

    @property
    def language(self) -> str:
        return self.query.language

    @property
    def asks_about_present(self) -> bool:
        """Whether it is about how things are now."""
        words = f" {' '.join(words_in(plain_lower(self.text)))} "
        return any(f" {phrase} " in words for phrase in question_words(self.language).present)

    @property
    def is_empty(self) -> bool:
        """Whether it is small talk, or has nothing but stop words; two of those may still be a name, as 'The Who'."""
        if " ".join(self.query.words) in question_words(self.language).small_talk:
            return True
        stop_words = language_words(self.language).stop_words
        is_name = self.query.definitional and len(self.terms) > 1
        return not is_name and all(asked.term.word in stop_words for asked in self.terms)


class BoxMeasure(NamedTuple):
    """Words of a label in an infobox, and the unit of its values; `date` for dates."""

    words: tuple[str, ...]
    unit: str


class ComparisonDirection(NamedTuple):
    """The measure by which two things are compared, and whether the larger one is wanted."""

    measure: str
    most: bool


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words and patterns of a language's questions."""

    openings: tuple[tuple[str, AnswerKind], ...]
    """The longest first."""
    asking: frozenset[str]
    related: Mapping[str, tuple[str, ...]]
    patterns: Mapping[str, str]
    """Regular expressions that recognize a kind of answer in a text."""
    ends: Mapping[str, frozenset[str]]
    """Stems that ask for the first or the last end of a range."""
    joiners: frozenset[str]
    """Words that may be inside names, such as 'of'."""
    neutral_label_words: frozenset[str]
    """Words of a label without a meaning of their own, such as 'Total'."""
    agents: frozenset[str]
    places: frozenset[str]
    """Words before the name of an agent ('by'), and of a place ('in')."""
    forms: tuple[re.Pattern[str], ...]
    """How a question compares two things, 'a' and 'b'."""
    compared: Mapping[str, AnswerKind]
    """Words that compare, and the kind of answer they want."""
    small_talk: frozenset[str]
    """Small talk, such as greetings."""
    present: tuple[str, ...]
    """Words of a question about the present."""
    measures: Mapping[str, tuple[BoxMeasure, ...]]
    directions: Mapping[str, ComparisonDirection]
    """By a word that compares, such as 'bigger'."""


NONE: frozenset[str] = frozenset()
NO_QUESTION_WORDS = QuestionWords(
    (), NONE, {}, {}, {"first": NONE, "last": NONE}, NONE, NONE, NONE, NONE, (), {}, NONE, (), {}, {}
)


@cache
def question_words(language: str) -> QuestionWords:
    """The words of a language; empty for a language without a table."""
    file = DATA_FOLDER / f"{language}.toml"
    if not file.is_file():
        return NO_QUESTION_WORDS
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    openings = [(phrase, kind) for kind, phrases in table["openings"].items() for phrase in phrases]
    related: dict[str, list[str]] = {word: list(others) for word, others in table["related"].items()}
    for forms in table["verbs"]["forms"]:
        for word in forms.split():
            related.setdefault(word, []).extend(other for other in forms.split() if other != word)
    return QuestionWords(
        tuple(sorted(openings, key=lambda row: (-len(row[0]), row[0]))),
        frozenset(table["asking"]["words"]),
        {word: tuple(dict.fromkeys(others)) for word, others in related.items()},
        table["patterns"],
        {end: frozenset(stemmer(language)(word) for word in words) for end, words in table["ends"].items()},
        frozenset(table["before"]["joiners"]),
        frozenset(table["before"]["whole"]),
        frozenset(table["before"]["agents"]),
        frozenset(table["before"]["places"]),
        tuple(re.compile(form, re.IGNORECASE if "A-Z" not in form else 0) for form in table["comparing"]["forms"]),
        {word: kind for kind in ("date", "number") for word in table["comparing"][kind]},
        frozenset(table["talk"]["small"]),
        tuple(table["talk"]["present"]),
        {
            name: tuple(BoxMeasure(tuple(of.split()), unit) for of, unit in rows)
            for name, rows in table["measures"].items()
        },
        {
            word: ComparisonDirection(by, side == "more")
            for side in ("more", "less")
            for by, words in table[side].items()
            for word in words
        },
    )


def read_question(text: str, language: str = "eng") -> Question:
    query = parse_query(text, language)
    known = question_words(language)
    named = names_in(text)
    terms = tuple(
        QuestionTerm(
            term,
            known.related.get(plain_lower(term.word), ()),
            plain_lower(term.word) in known.asking,
            term.word in named,
        )
        for term in query.terms
    )
    return Question(text, query, answer_kind_of(query.unframed, known), terms)


def names_in(text: str) -> frozenset[str]:
    """The words of a question that are numbers, or names by their capitals; the first word always has one."""
    words = words_in(text)
    # 'WHO WAS DARWIN' has capitals everywhere, so they say nothing about names.
    is_shouted = not any(char.islower() for char in text)
    found = {word.lower() for word in words if word[:1].isdigit()}
    if not is_shouted:
        found |= {word.lower() for word in words[1:] if word[:1].isupper()}
    return frozenset(found)


PREPOSITION = re.compile(r"^(?:in|on|at|by|from|to|for|of|with|about|during|under|near|through|around)\s+(?=\w)")
# Removed: 'please, can you tell me who won' leaves 'who won'; 'tell me about bees' stays, since it wants to know more.
POLITE = re.compile(
    r"^(?:(?:please|(?:can|could|would) you|do you know|tell me(?! about)|i (?:want|wish) to know|i wonder)[ ,]+)+"
)
WHO = re.compile(r"who(?:'s| is| was| are| were)\s+(?P<rest>.+)")
SHORT_NAME = 3
# 'in what year' at the end of a statement; a question that starts with 'in what year' was recognized before.
QUESTION_WORD_INSIDE = re.compile(
    r"\b(?:in|on|at|by|from|to|for|of|with|during|under|near)\s+(what|which|whom)\s+([^\W\d_]+)"
)


def _is_bare_name(rest: str, text: str) -> bool:
    """Whether 'Who was …?' is followed by nothing but a name, and so asks who that is."""
    words = rest.rstrip(" ?").split()
    # 'Who was Darwin's wife?' and 'Who was the king of France?' describe a person instead of naming one.
    if "'s" in rest or words[:1] == ["the"] or len(words) > 2 * SHORT_NAME:
        return False
    written = text.rstrip(" ?").split()[-len(words) :]
    if any(word[:1].isupper() for word in written):
        # Short words such as 'van' and 'of' are allowed in a name.
        return all(word[:1].isupper() or len(word) <= SHORT_NAME for word in written)
    return len(words) <= SHORT_NAME


def answer_kind_of(text: str, known: QuestionWords) -> AnswerKind:
    """The kind of answer that is wanted, by how the question starts, or by a question word at its end."""
    asked = POLITE.sub("", plain_lower(text).strip(" ¿\"'“”‘’«»"))
    start = PREPOSITION.sub("", asked)
    who = WHO.match(start)
    if who and "person" in {kind for _, kind in known.openings}:
        return "definition" if _is_bare_name(who["rest"], text) else "person"
    for phrase, kind in known.openings:
        # Openings are sorted longest first, so 'how many' is found before 'how'; 'whose' is not 'who'.
        if start.startswith(phrase) and not start[len(phrase) :][:1].isalnum():
            return kind
    # 'The treaty was signed in what year?', 'Lincoln was born where?'
    inside = QUESTION_WORD_INSIDE.search(asked)
    tail = f"{inside[1]} {inside[2]}" if inside else asked.rstrip(" ?").rpartition(" ")[2]
    for phrase, kind in known.openings:
        if phrase == tail and kind in ("person", "date", "place", "number"):
            return kind
    words = asked.split()
    for phrase, kind in known.openings:
        if kind in ("date", "number", "place", "person") and " " in phrase and f" {phrase} " in f" {' '.join(words)} ":
            return kind
    return "choice" if "which" in words or "what" in words else "topic"


@dataclass(frozen=True, slots=True)
class ComparedThings:
    """Two things that a question compares, and a question about each."""

    things: tuple[str, str]
    questions: tuple[Question, Question]
    word: str
    """The word that compares: 'bigger'."""
    noun: str = ""
    """The kind of both things: 'ocean' in 'Which ocean is bigger, the Atlantic or the Pacific?'."""

    def names(self, thing: str) -> tuple[str, ...]:
        """Possible titles of a page about one of them."""
        is_complete = not self.noun or self.noun in plain_lower(thing).split()
        return (thing,) if is_complete else (f"{thing} {self.noun}", thing)


def comparison_in(question: Question) -> ComparedThings | None:
    """The two things of 'Which is older, A or B?'; None if nothing is compared."""
    known = question_words(question.language)
    words = plain_lower(question.text).replace(",", " ").replace("?", " ").split()
    word = next((word for word in words if word in known.compared), None)
    if word is None:
        return None
    for form in known.forms:
        found = form.search(question.text.strip())
        if found and "," not in question.text[: found.start()]:  # not the last two of three things
            a, b = (LEADING_ARTICLE.sub("", found[name].strip()) for name in ("a", "b"))
            first, second = (
                replace(read_question(f"{word} {thing}", question.language), kind=known.compared[word])
                for thing in (a, b)
            )
            noun = re.search(known.patterns.get("noun", r"(?!)"), plain_lower(question.text))
            is_noun = noun is not None and noun[1] not in known.compared
            return ComparedThings((a, b), (first, second), word, noun[1] if noun and is_noun else "")
    return None
