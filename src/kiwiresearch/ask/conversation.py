"""Follow-up questions: what "and his wife?" means after "When was Charles Darwin born?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.ask.dialogue import (
    END,
    MAX_CHARS,
    DialogueState,
    first_name,
    person_asked_for,
    relation_in,
    subject_of,
    with_other_name,
    with_other_year,
    with_question_word,
)
from kiwiresearch.ask.settings import ConversationTurn
from kiwiresearch.ask.utterance import ConversationWords, UnresolvedPronoun, Utterance, conversation_words
from kiwiresearch.text.words import plain_lower

MAX_TURNS = 20
"""Older turns than these are not looked at."""


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """A question that stands on its own, what it is about, and why it is not what was typed."""

    text: str
    subject: str
    why: str = ""


def resolve(question: str, turns: Sequence[ConversationTurn], language: str = "eng") -> ResolvedQuestion:
    """The question with what it leaves out put in from the turns before; one that stands on its own is left alone."""
    talk = conversation_words(language)
    if talk is None:
        return ResolvedQuestion(question, "")
    spoken: DialogueState | None = None
    for turn in turns[-MAX_TURNS:]:
        if turn.question.strip():
            spoken = _state_after(turn, spoken, talk, language)
    return _resolved(question, spoken, talk, language)


def _state_after(
    turn: ConversationTurn, before: DialogueState | None, talk: ConversationWords, language: str
) -> DialogueState:
    """What is spoken of after a turn."""
    resolved = _resolved(turn.question[:MAX_CHARS], before, talk, language)
    last = Utterance.of(" ".join(resolved.text.split()), talk)
    subject = " ".join(turn.subject.split()) or resolved.subject or (before.subject if before else "")
    subject = subject or first_name(turn.answer, last, talk)
    relation, kind = relation_in(last)
    person = person_asked_for(last, subject, turn.answer, talk) or ("" if turn.subject else last.person_name())
    if before is not None and before.subject == subject:
        relation, kind = (relation, kind) if relation else (before.relation, before.relation_kind)
        person = person or before.person
    place = next((name.text for name in last.names if name.preposition in talk.words["place_prepositions"]), "")
    return DialogueState(last, subject, relation, kind, person, place)


def _resolved(question: str, spoken: DialogueState | None, talk: ConversationWords, language: str) -> ResolvedQuestion:
    asked = Utterance.of(question[:MAX_CHARS], talk)
    if spoken is None or not spoken.subject or not asked.tokens or len(question) > MAX_CHARS:
        return ResolvedQuestion(question, subject_of(asked, language))
    small = plain_lower(question)
    opening = talk.phrases["connective"].match(small)
    rest = question[opening.end() :].lstrip(" ,") if opening else question.strip()
    whole = plain_lower(rest)
    if talk.phrases["more"].search(whole) or not any(char.isalnum() for char in rest):
        text = talk.templates["about"].format(_as_mentioned(spoken.subject, spoken))
        return ResolvedQuestion(text, spoken.subject, f"More is asked about {spoken.subject!r}.")
    if talk.phrases["bare"].search(whole):
        text = with_question_word(spoken.last_question, _bare_word(rest, talk))
        return ResolvedQuestion(text, spoken.subject, f"It goes on from {spoken.last_question.text!r}.")
    fragment = talk.phrases["fragment"].match(whole)
    if fragment and Utterance.of(rest[fragment.end() :], talk).is_fragment():
        return _resolve_fragment(rest[fragment.end() :].strip(), spoken, question, language)
    part = Utterance.of(rest, talk)
    if opening and part.is_fragment():
        return _resolve_fragment(rest, spoken, question, language)
    return _resolve_question(part, spoken, question, language, tied=opening is not None)


def _bare_word(rest: str, talk: ConversationWords) -> str:
    """'Why is that?' asks why, 'Since when?' since when."""
    first = rest.split()[0]
    return first if END.sub("", plain_lower(first)) in talk.words["adverbs"] | talk.words["who"] else END.sub("", rest)


def _resolve_question(
    asked: Utterance, spoken: DialogueState, question: str, language: str, *, tied: bool
) -> ResolvedQuestion:
    """A whole question: its pronoun replaced, or what it leaves out put behind it."""
    talk = asked.vocabulary
    pointing = asked.unresolved_pronoun()
    if pointing:
        meant = spoken.referent_of(pointing)
        if not meant:
            return ResolvedQuestion(question, subject_of(asked, language))
        if asked.is_fragment():
            return _resolve_fragment(asked.text, spoken, question, language)
        if not asked.is_complete() and asked.names:
            return ResolvedQuestion(question, subject_of(asked, language))
        text = _replaced(asked.text, pointing, _as_mentioned(meant, spoken), talk)
        subject = spoken.subject if meant == spoken.relation else meant
        return ResolvedQuestion(text, subject, f"{pointing.word!r} stands for {meant!r}.")
    if asked.names:
        return ResolvedQuestion(question, subject_of(asked, language))
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
        text = talk.templates["part"].format(bare, _as_mentioned(spoken.subject, spoken)) + "?"
        return ResolvedQuestion(text, spoken.subject, why)
    if (
        not asked.is_complete()
        and len(asked.tokens) == 1
        and _is_aspect(content, talk)
        and question.rstrip().endswith("?")
    ):
        return _resolve_fragment(asked.text, spoken, question, language)
    is_short = set(content) <= talk.words["groups"] and asked.tokens[-1].low in talk.words["ending_verbs"]
    if asked.is_complete() and (is_short or (tied and not content)):
        return ResolvedQuestion(
            talk.templates["beside"].format(bare, _as_mentioned(spoken.subject, spoken)) + "?", spoken.subject, why
        )
    return ResolvedQuestion(question, subject_of(asked, language))


def _is_aspect(content: Sequence[str], talk: ConversationWords) -> bool:
    relations = frozenset().union(*talk.relations.values())
    return len(content) == 1 and (content[0] in talk.aspects or content[0] in relations)


def _resolve_fragment(rest: str, spoken: DialogueState, question: str, language: str) -> ResolvedQuestion:
    """A part of a question, such as 'his wife', 'Germany' or 'in 1900', that takes a place in the last one."""
    part = Utterance.of(END.sub("", rest), spoken.last_question.vocabulary)
    talk = part.vocabulary
    if not part.tokens:
        return ResolvedQuestion(question, spoken.subject)
    pointing = part.unresolved_pronoun()
    if pointing and not spoken.referent_of(pointing):
        return ResolvedQuestion(question, spoken.subject)
    if pointing:
        return _resolve_pronoun_fragment(part, pointing, spoken)
    why = f"It asks {spoken.last_question.text!r} again, of {part.text!r}."
    if talk.phrases["year"].search(plain_lower(part.text)):
        return ResolvedQuestion(with_other_year(spoken.last_question, part.text), spoken.subject, why)
    content = [token.low for token in part.content()]
    is_side = not part.names and _is_aspect(content, talk) and part.tokens[-1].low == content[0]
    is_side = is_side and part.tokens[0].low not in talk.words["prepositions"]
    if is_side and (content[0] not in talk.words["groups"] or spoken.last_question.names):
        phrase = talk.templates["part"].format(_with_article(part), _as_mentioned(spoken.subject, spoken))
        return ResolvedQuestion(
            _question_about(phrase, content[0], talk), spoken.subject, f"It asks about {spoken.subject!r}."
        )
    text = with_other_name(spoken.last_question, part.text, spoken.subject)
    if not text:
        return ResolvedQuestion(question, subject_of(part, language) or spoken.subject)
    return ResolvedQuestion(text, part.subject_name() or _without_article(part), why)


def _resolve_pronoun_fragment(part: Utterance, pointing: UnresolvedPronoun, spoken: DialogueState) -> ResolvedQuestion:
    talk = part.vocabulary
    meant = spoken.referent_of(pointing)
    phrase = _replaced(part.text, pointing, _as_mentioned(meant, spoken), talk)
    why = f"{pointing.word!r} stands for {meant!r}."
    if not pointing.is_possessive or pointing.start > 0:
        same = with_other_name(spoken.last_question, phrase, spoken.subject) if meant != spoken.subject else ""
        return ResolvedQuestion(same or talk.templates["about"].format(phrase), meant, why)
    return ResolvedQuestion(_question_about(phrase, part.tokens[-1].low, talk), spoken.subject, why)


def _question_about(phrase: str, noun: str, talk: ConversationWords) -> str:
    """'Who was Charles Darwin's wife?', 'What is the population of France?'."""
    if noun in talk.relations["several"]:
        return talk.templates["who_several"].format(phrase)
    is_person = any(noun in words for words in talk.relations.values())
    what = "what_several" if talk.phrases["several"].fullmatch(noun) else "what"
    return talk.templates["who" if is_person else what].format(phrase)


def _replaced(text: str, pointing: UnresolvedPronoun, meant: str, talk: ConversationWords) -> str:
    form = "owner" if pointing.is_possessive else pointing.kind
    form = "year" if form == "time" and meant[0].isdigit() else form
    words = talk.templates[form].format(meant) if form in talk.templates else meant
    if pointing.start == 0:
        words = words[0].upper() + words[1:]
    return text[: pointing.start] + words + text[pointing.end :]


def _as_mentioned(subject: str, spoken: DialogueState) -> str:
    """A subject as the last question spoke of it: 'the Eiffel Tower'."""
    articles = "|".join(sorted(spoken.last_question.vocabulary.words["articles"]))
    found = re.search(rf"\b(?:{articles})\s+{re.escape(subject)}(?!\w)", spoken.last_question.text, re.IGNORECASE)
    return found[0][0].lower() + found[0][1:] if found else subject


def _with_article(part: Utterance) -> str:
    has_one = part.tokens[0].low in part.vocabulary.words["articles"]
    return part.text if has_one else f"the {part.text}"


def _without_article(part: Utterance) -> str:
    """A fragment without the small words in front: 'for a child'."""
    small = part.vocabulary.words["articles"] | part.vocabulary.words["prepositions"]
    first = next((token for token in part.tokens if token.low not in small), part.tokens[0])
    return part.text[first.start :]
