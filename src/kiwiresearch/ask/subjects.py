"""What a question, or a conversation after a turn, is about."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import dropwhile, takewhile

from kiwiresearch.ask.conversation_words import Talk
from kiwiresearch.ask.pointing import Pointing, Question
from kiwiresearch.ask.slots import END
from kiwiresearch.search.query import parse
from kiwiresearch.text.fold import fold
from kiwiresearch.text.words import level

MOST_CHARS = 2_000
"""So much of a question or an answer is looked at."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the conversation is about after a turn."""

    last: Question
    subject: str
    """Empty before anything was named."""
    relation: str = ""
    """Somebody named by a relation only, such as "Charles Darwin's wife"."""
    relation_kind: str = ""
    person: str = ""
    """Who answers a question that asked for a person, or the person it names."""
    place: str = ""

    def meant_by(self, pointing: Pointing) -> str:
        """What a pronoun stands for, of all that was spoken of."""
        if pointing.kind in ("male", "female"):
            if self.relation_kind == pointing.kind:
                return self.relation
            return self.person or self._somebody()
        if pointing.kind == "time":
            year = self.last.talk.year.search(self.last.text)
            return year[0].split()[-1] if year else self.subject
        return (self.place if pointing.kind == "place" else "") or self.subject

    def _somebody(self) -> str:
        """The subject, unless it is a common noun; then a child or a woman that was spoken of."""
        words = self.last.talk.words
        tokens = self.last.tokens
        described = next((at for at, token in enumerate(tokens) if token.low in words["groups"]), -1)
        small = level(self.last.text)
        is_common = any(f" {article} {level(self.subject)}" in small for article in words["articles"])
        if not is_common or described < 0:
            return "" if is_common and self.subject.islower() else self.subject
        first = described - (described > 0 and tokens[described - 1].low in words["articles"])
        return self.last.text[tokens[first].start : tokens[described].end]


def person_asked_for(last: Question, subject: str, answer: str, talk: Talk) -> str:
    """Who is meant after 'Who wrote Hamlet?': the name in the answer, or the words of the question."""
    asks = bool(last.tokens) and last.tokens[0].low in talk.words["who"]
    if not asks or (subject and fold(subject) not in fold(last.text)):
        return ""
    rest = END.sub("", last.text[last.tokens[1].start :]) if len(last.tokens) > 1 else ""
    is_named = last.tokens[0].low in talk.words["being"] or (
        len(last.tokens) > 1 and last.tokens[1].low in talk.words["being"]
    )
    described = last.text[last.tokens[2].start :] if is_named and len(last.tokens) > 2 else ""
    is_name = any(name.first == 2 and name.last == len(last.tokens) for name in last.names)
    if is_named and (not described or is_name or not last.content()):
        return ""
    if last.tokens[1:2] and not is_named and last.tokens[1].low in talk.words["auxiliaries"]:
        return ""
    if is_named and relation_in(last)[1] in ("male", "female"):
        return ""
    found = first_name(answer, last, talk)
    return found or (END.sub("", described) if is_named else talk.templates["person"].format(rest))


def first_name(answer: str, last: Question, talk: Talk) -> str:
    """The first name of an answer that the question does not hold."""
    asked = set(fold(last.text).split())
    names = Question.of(answer[:MOST_CHARS], talk).names
    return next((name.text for name in names if not asked & set(fold(name.text).split())), "")


def relation_in(last: Question) -> tuple[str, str]:
    """Somebody whom the question names by a relation: "Charles Darwin's wife", a woman."""
    of = last.talk.words["of"]
    for place, token in enumerate(last.tokens):
        kind = next((kind for kind in ("male", "female") if token.low in last.talk.relations[kind]), "")
        if not kind or token.owns:
            continue
        owner = next((name for name in last.names if name.last == place and last.tokens[place - 1].owns), None)
        if owner:
            return last.text[owner.start : token.end], kind
        if last.tokens[0].low not in last.talk.words["who"]:
            continue
        owned = next((name for name in last.names if name.preposition in of and place < name.first <= place + 3), None)
        if owned:
            return f"the {last.text[token.start : owned.end]}", kind
    return "", ""


def subject_of(asked: Question, language: str) -> str:
    """What a question that stands on its own is about."""
    name = asked.own_subject()
    if name or not asked.tokens:
        return name
    query = parse(asked.text, language)
    text = query.core if query.definitional else _behind_verb(asked)
    part = Question.of(text.rpartition(asked.talk.templates["of"])[2], asked.talk)
    does = any(token.low in asked.talk.words["doing"] for token in asked.tokens[:2])
    return _first_noun(part, is_told=does or asked.tokens[0].low in asked.talk.words["auxiliaries"])


def _behind_verb(asked: Question) -> str:
    """What a question says behind the verb that asks; all of it where none does."""
    verbs = asked.talk.words["auxiliaries"]
    verb = next((at for at, token in enumerate(asked.tokens[:-1]) if token.low in verbs), -1)
    return asked.text[asked.tokens[verb + 1].start :]


def _first_noun(part: Question, *, is_told: bool) -> str:
    """The first run of words that name something, without what is told of it: 'birds fly', 'elephants mammals'."""
    run = list(takewhile(part.talk.is_content, dropwhile(lambda token: not part.talk.is_content(token), part.tokens)))
    if is_told and len(run) > 1 and run[-1] == part.tokens[-1]:
        run.pop()
    return part.text[run[0].start : run[-1].end] if run else ""
