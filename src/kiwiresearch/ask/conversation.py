"""Follow-up questions: what "and his wife?" means after "When was Charles Darwin born?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.ask.conversation_words import Talk, talk_of
from kiwiresearch.ask.pointing import Pointing, Question
from kiwiresearch.ask.slots import END, asked_with, with_other_name, with_other_year
from kiwiresearch.ask.subjects import MOST_CHARS, Spoken, first_name, person_asked_for, relation_in, subject_of
from kiwiresearch.ask.wish import Turn
from kiwiresearch.text.words import level

MOST_TURNS = 20
"""Older turns than these are not looked at."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A question that stands on its own, what it is about, and why it is not what was typed."""

    text: str
    subject: str
    why: str = ""


def resolve(question: str, turns: Sequence[Turn], language: str = "eng") -> Resolved:
    """The question with what it leaves out put in from the turns before; one that stands on its own is left alone."""
    talk = talk_of(language)
    if talk is None:
        return Resolved(question, "")
    spoken: Spoken | None = None
    for turn in turns[-MOST_TURNS:]:
        if turn.question.strip():
            spoken = _after(turn, spoken, talk, language)
    return _resolved(question, spoken, talk, language)


def _after(turn: Turn, before: Spoken | None, talk: Talk, language: str) -> Spoken:
    """What is spoken of after a turn."""
    resolved = _resolved(turn.question[:MOST_CHARS], before, talk, language)
    last = Question.of(" ".join(resolved.text.split()), talk)
    subject = " ".join(turn.subject.split()) or resolved.subject or (before.subject if before else "")
    subject = subject or first_name(turn.answer, last, talk)
    relation, kind = relation_in(last)
    person = person_asked_for(last, subject, turn.answer, talk) or ("" if turn.subject else last.own_person())
    if before is not None and before.subject == subject:
        relation, kind = (relation, kind) if relation else (before.relation, before.relation_kind)
        person = person or before.person
    place = next((name.text for name in last.names if name.preposition in talk.words["place_prepositions"]), "")
    return Spoken(last, subject, relation, kind, person, place)


def _resolved(question: str, spoken: Spoken | None, talk: Talk, language: str) -> Resolved:
    asked = Question.of(question[:MOST_CHARS], talk)
    if spoken is None or not spoken.subject or not asked.tokens or len(question) > MOST_CHARS:
        return Resolved(question, subject_of(asked, language))
    small = level(question)
    opening = talk.phrases["connective"].match(small)
    rest = question[opening.end() :].lstrip(" ,") if opening else question.strip()
    whole = level(rest)
    if talk.phrases["more"].search(whole) or not any(char.isalnum() for char in rest):
        text = talk.templates["about"].format(_article(spoken.subject, spoken))
        return Resolved(text, spoken.subject, f"More is asked about {spoken.subject!r}.")
    if talk.phrases["bare"].search(whole):
        text = asked_with(spoken.last, _bare_word(rest, talk))
        return Resolved(text, spoken.subject, f"It goes on from {spoken.last.text!r}.")
    fragment = talk.phrases["fragment"].match(whole)
    if fragment and Question.of(rest[fragment.end() :], talk).is_fragment():
        return _of_fragment(rest[fragment.end() :].strip(), spoken, question, language)
    part = Question.of(rest, talk)
    if opening and part.is_fragment():
        return _of_fragment(rest, spoken, question, language)
    return _of_question(part, spoken, question, language, tied=opening is not None)


def _bare_word(rest: str, talk: Talk) -> str:
    """'Why is that?' asks why, 'Since when?' since when."""
    first = rest.split()[0]
    return first if END.sub("", level(first)) in talk.words["adverbs"] | talk.words["who"] else END.sub("", rest)


def _of_question(asked: Question, spoken: Spoken, question: str, language: str, *, tied: bool) -> Resolved:
    """A whole question: its pronoun replaced, or what it leaves out put behind it."""
    talk = asked.talk
    pointing = asked.pointing()
    if pointing:
        meant = spoken.meant_by(pointing)
        if not meant:
            return Resolved(question, subject_of(asked, language))
        if asked.is_fragment():
            return _of_fragment(asked.text, spoken, question, language)
        if not asked.is_full() and asked.names:
            return Resolved(question, subject_of(asked, language))
        text = _replaced(asked.text, pointing, _article(meant, spoken), talk)
        subject = spoken.subject if meant == spoken.relation else meant
        return Resolved(text, subject, f"{pointing.word!r} stands for {meant!r}.")
    if asked.names:
        return Resolved(question, subject_of(asked, language))
    bare = END.sub("", asked.text)
    content = [token.low for token in asked.content()]
    why = f"It leaves out what it is about: {spoken.subject!r}."
    before = [token.low for token in asked.tokens[:-1]][-2:]
    if (
        content
        and set(content) <= talk.aspects
        and asked.tokens[-1].low in content
        and (tied or talk.words["definite"] & set(before))
    ):
        text = talk.templates["part"].format(bare, _article(spoken.subject, spoken)) + "?"
        return Resolved(text, spoken.subject, why)
    if not asked.is_full() and len(asked.tokens) == 1 and _is_side(content, talk) and question.rstrip().endswith("?"):
        return _of_fragment(asked.text, spoken, question, language)
    is_short = set(content) <= talk.words["groups"] and asked.tokens[-1].low in talk.words["ending_verbs"]
    if asked.is_full() and (is_short or (tied and not content)):
        return Resolved(
            talk.templates["beside"].format(bare, _article(spoken.subject, spoken)) + "?", spoken.subject, why
        )
    return Resolved(question, subject_of(asked, language))


def _is_side(content: Sequence[str], talk: Talk) -> bool:
    relations = frozenset().union(*talk.relations.values())
    return len(content) == 1 and (content[0] in talk.aspects or content[0] in relations)


def _of_fragment(rest: str, spoken: Spoken, question: str, language: str) -> Resolved:
    """A part of a question, such as 'his wife', 'Germany' or 'in 1900', that takes a place in the last one."""
    part = Question.of(END.sub("", rest), spoken.last.talk)
    talk = part.talk
    if not part.tokens:
        return Resolved(question, spoken.subject)
    pointing = part.pointing()
    if pointing and not spoken.meant_by(pointing):
        return Resolved(question, spoken.subject)
    if pointing:
        return _of_pointing_fragment(part, pointing, spoken)
    why = f"It asks {spoken.last.text!r} again, of {part.text!r}."
    if talk.phrases["year"].search(level(part.text)):
        return Resolved(with_other_year(spoken.last, part.text), spoken.subject, why)
    content = [token.low for token in part.content()]
    is_side = not part.names and _is_side(content, talk) and part.tokens[-1].low == content[0]
    is_side = is_side and part.tokens[0].low not in talk.words["prepositions"]
    if is_side and (content[0] not in talk.words["groups"] or spoken.last.names):
        phrase = talk.templates["part"].format(_with_article(part), _article(spoken.subject, spoken))
        return Resolved(_asked(phrase, content[0], talk), spoken.subject, f"It asks about {spoken.subject!r}.")
    text = with_other_name(spoken.last, part.text, spoken.subject)
    if not text:
        return Resolved(question, subject_of(part, language) or spoken.subject)
    return Resolved(text, part.own_subject() or _without_article(part), why)


def _of_pointing_fragment(part: Question, pointing: Pointing, spoken: Spoken) -> Resolved:
    talk = part.talk
    meant = spoken.meant_by(pointing)
    phrase = _replaced(part.text, pointing, _article(meant, spoken), talk)
    why = f"{pointing.word!r} stands for {meant!r}."
    if not pointing.owns or pointing.start > 0:
        same = with_other_name(spoken.last, phrase, spoken.subject) if meant != spoken.subject else ""
        return Resolved(same or talk.templates["about"].format(phrase), meant, why)
    return Resolved(_asked(phrase, part.tokens[-1].low, talk), spoken.subject, why)


def _asked(phrase: str, noun: str, talk: Talk) -> str:
    """'Who was Charles Darwin's wife?', 'What is the population of France?'."""
    if noun in talk.relations["several"]:
        return talk.templates["who_several"].format(phrase)
    is_person = any(noun in words for words in talk.relations.values())
    what = "what_several" if talk.phrases["several"].fullmatch(noun) else "what"
    return talk.templates["who" if is_person else what].format(phrase)


def _replaced(text: str, pointing: Pointing, meant: str, talk: Talk) -> str:
    form = "owner" if pointing.owns else pointing.kind
    form = "year" if form == "time" and meant[0].isdigit() else form
    words = talk.templates[form].format(meant) if form in talk.templates else meant
    if pointing.start == 0:
        words = words[0].upper() + words[1:]
    return text[: pointing.start] + words + text[pointing.end :]


def _article(subject: str, spoken: Spoken) -> str:
    """A subject as the last question spoke of it: 'the Eiffel Tower'."""
    articles = "|".join(sorted(spoken.last.talk.words["articles"]))
    found = re.search(rf"\b(?:{articles})\s+{re.escape(subject)}(?!\w)", spoken.last.text, re.IGNORECASE)
    return found[0][0].lower() + found[0][1:] if found else subject


def _with_article(part: Question) -> str:
    has_one = part.tokens[0].low in part.talk.words["articles"]
    return part.text if has_one else f"the {part.text}"


def _without_article(part: Question) -> str:
    """A fragment without the small words in front: 'for a child'."""
    small = part.talk.words["articles"] | part.talk.words["prepositions"]
    first = next((token for token in part.tokens if token.low not in small), part.tokens[0])
    return part.text[first.start :]
