"""Follow-up questions: what "and his wife?" means after "When was Charles Darwin born?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.ask.dialogue import (
    END,
    MAX_CHARS,
    DialogueState,
    counts_group,
    first_name,
    person_asked_for,
    relation_in,
    subject_of,
    with_other_group,
    with_other_name,
    with_other_year,
    with_question_word,
)
from kiwiresearch.ask.settings import ConversationTurn
from kiwiresearch.ask.utterance import ConversationWords, UnresolvedPronoun, Utterance, conversation_words
from kiwiresearch.text import plain_lower

MAX_TURNS = 20
"""How many of the latest turns are considered."""


@dataclass(frozen=True, slots=True)
class ResolvedQuestion:
    """A self-contained question, what it is about, and how it differs from what was typed."""

    text: str
    subject: str
    why: str = ""


def resolve(question: str, turns: Sequence[ConversationTurn], language: str = "eng") -> ResolvedQuestion:
    """The question with what it leaves out filled in from earlier turns; a self-contained one is left alone."""
    table = conversation_words(language)
    if table is None:
        return ResolvedQuestion(question, "")
    # The state is computed again from all turns: clients send the conversation, and no server keeps one.
    state: DialogueState | None = None
    for turn in turns[-MAX_TURNS:]:
        if turn.question.strip():
            state = _state_after(turn, state, table, language)
    return _resolved(question, state, table, language)


def _state_after(
    turn: ConversationTurn, before: DialogueState | None, table: ConversationWords, language: str
) -> DialogueState:
    """The state of the conversation after a turn."""
    resolved = _resolved(turn.question[:MAX_CHARS], before, table, language)
    last = Utterance.of(" ".join(resolved.text.split()), table)
    # The subject that the answer was given for counts more than what the words of the question suggest.
    subject = " ".join(turn.subject.split()) or resolved.subject or (before.subject if before else "")
    subject = subject or first_name(turn.answer, last, table)
    relation, kind = relation_in(last)
    person = person_asked_for(last, subject, turn.answer, table) or ("" if turn.subject else last.person_name())
    # Relations and people stay known as long as the subject is the same: "she" is still Darwin's wife.
    if before is not None and before.subject == subject:
        relation, kind = (relation, kind) if relation else (before.relation, before.relation_kind)
        person = person or before.person
    place = next((name.text for name in last.names if name.preposition in table.words["place_prepositions"]), "")
    return DialogueState(last, subject, relation, kind, person, place)


def _resolved(question: str, state: DialogueState | None, table: ConversationWords, language: str) -> ResolvedQuestion:
    asked = Utterance.of(question[:MAX_CHARS], table)
    if state is None or not state.subject or not asked.tokens or len(question) > MAX_CHARS:
        return ResolvedQuestion(question, subject_of(asked, language))
    opening = table.phrases["connective"].match(plain_lower(question))
    rest = question[opening.end() :].lstrip(" ,") if opening else question.strip()
    lowered = plain_lower(rest)
    # The order matters: 'more' and bare question words ('why?') would otherwise be taken for fragments.
    if table.phrases["more"].search(lowered) or not any(char.isalnum() for char in rest):
        text = table.templates["about"].format(_as_mentioned(state.subject, state))
        return ResolvedQuestion(text, state.subject, f"It asks for more about {state.subject!r}.")
    if table.phrases["bare"].search(lowered):
        text = with_question_word(state.last_question, _bare_word(rest, table))
        return ResolvedQuestion(text, state.subject, f"It continues {state.last_question.text!r}.")
    fragment = table.phrases["fragment"].match(lowered)
    if fragment and Utterance.of(rest[fragment.end() :], table).is_fragment():
        return _resolve_fragment(rest[fragment.end() :].strip(), state, question, language)
    part = Utterance.of(rest, table)
    if opening and part.is_fragment():
        return _resolve_fragment(rest, state, question, language)
    return _resolve_question(part, state, question, language, tied=opening is not None)


def _bare_word(rest: str, table: ConversationWords) -> str:
    """'Why is that?' asks why, 'Since when?' since when."""
    first = rest.split()[0]
    return (
        first if END.sub("", plain_lower(first)) in table.words["adverbs"] | table.words["who"] else END.sub("", rest)
    )


def _resolve_question(
    asked: Utterance, state: DialogueState, question: str, language: str, *, tied: bool
) -> ResolvedQuestion:
    """Resolve a complete question: its pronoun is replaced, or what it leaves out is added."""
    table = asked.vocabulary
    pronoun = asked.unresolved_pronoun()
    if pronoun:
        meant = state.referent_of(pronoun)
        if not meant:
            return ResolvedQuestion(question, subject_of(asked, language))
        # 'and his children' is made a question by the last one; 'What did he do?' only needs the name.
        if asked.is_fragment():
            return _resolve_fragment(asked.text, state, question, language)
        # A statement with a name of its own explains the pronoun better than the conversation does.
        if not asked.is_complete() and asked.names:
            return ResolvedQuestion(question, subject_of(asked, language))
        text = _replaced(asked.text, pronoun, _as_mentioned(meant, state), table)
        subject = state.subject if meant == state.relation else meant
        return ResolvedQuestion(text, subject, f"{pronoun.word!r} means {meant!r}.")
    if asked.names:
        return ResolvedQuestion(question, subject_of(asked, language))
    bare = END.sub("", asked.text)
    # Without names: 'What is the population?' asks for a part of the subject if an article is before the last word,
    # which must be an aspect ('the population'); 'What is population?' is a question of its own.
    content = [token.lowered for token in asked.content()]
    why = f"It is about {state.subject!r}, which it does not name."
    before = [token.lowered for token in asked.tokens[:-1]][-2:]
    if (
        content
        and set(content) <= table.aspects
        and asked.tokens[-1].lowered in content
        and (tied or table.words["definite"] & set(before))
    ):
        text = table.templates["part"].format(bare, _as_mentioned(state.subject, state)) + "?"
        return ResolvedQuestion(text, state.subject, why)
    if (
        not asked.is_complete()
        and len(asked.tokens) == 1
        and _is_aspect(content, table)
        and question.rstrip().endswith("?")
    ):
        return _resolve_fragment(asked.text, state, question, language)
    is_short = set(content) <= table.words["groups"] and asked.tokens[-1].lowered in table.words["ending_verbs"]
    if asked.is_complete() and (is_short or (tied and not content)):
        return ResolvedQuestion(
            table.templates["beside"].format(bare, _as_mentioned(state.subject, state)) + "?", state.subject, why
        )
    return ResolvedQuestion(question, subject_of(asked, language))


def _is_aspect(content: Sequence[str], table: ConversationWords) -> bool:
    relations = frozenset().union(*table.relations.values())
    return len(content) == 1 and (content[0] in table.aspects or content[0] in relations)


def _resolve_fragment(rest: str, state: DialogueState, question: str, language: str) -> ResolvedQuestion:
    """Resolve a part of a question, such as 'his wife', 'Germany' or 'in 1900', by the last question."""
    part = Utterance.of(END.sub("", rest), state.last_question.vocabulary)
    table = part.vocabulary
    if not part.tokens:
        return ResolvedQuestion(question, state.subject)
    pronoun = part.unresolved_pronoun()
    if pronoun and not state.referent_of(pronoun):
        return ResolvedQuestion(question, state.subject)
    if pronoun:
        return _resolve_pronoun_fragment(part, pronoun, state)
    why = f"It asks {state.last_question.text!r} again, for {part.text!r}."
    if table.phrases["year"].search(plain_lower(part.text)):
        return ResolvedQuestion(with_other_year(state.last_question, part.text), state.subject, why)
    content = [token.lowered for token in part.content()]
    is_aspect = not part.names and _is_aspect(content, table) and part.tokens[-1].lowered == content[0]
    # 'in the capital' continues the question with another place; 'the capital' asks for the capital of the subject.
    is_aspect = is_aspect and part.tokens[0].lowered not in table.words["prepositions"]
    # After 'How much Panadol may an adult take?', 'a child' is not a relative of Panadol: it replaces the adult.
    replaces_group = not counts_group(state.last_question) and with_other_group(state.last_question, part.text)
    is_aspect = is_aspect and not replaces_group
    if is_aspect and (content[0] not in table.words["groups"] or state.last_question.names):
        phrase = table.templates["part"].format(_with_article(part), _as_mentioned(state.subject, state))
        return ResolvedQuestion(
            _question_about(phrase, content[0], table), state.subject, f"It asks about {state.subject!r}."
        )
    text = with_other_name(state.last_question, part.text, state.subject)
    if not text:
        return ResolvedQuestion(question, subject_of(part, language) or state.subject)
    return ResolvedQuestion(text, part.subject_name() or _without_article(part), why)


def _resolve_pronoun_fragment(part: Utterance, pronoun: UnresolvedPronoun, state: DialogueState) -> ResolvedQuestion:
    table = part.vocabulary
    meant = state.referent_of(pronoun)
    phrase = _replaced(part.text, pronoun, _as_mentioned(meant, state), table)
    why = f"{pronoun.word!r} means {meant!r}."
    if not pronoun.is_possessive or pronoun.start > 0:
        same = with_other_name(state.last_question, phrase, state.subject) if meant != state.subject else ""
        return ResolvedQuestion(same or table.templates["about"].format(phrase), meant, why)
    return ResolvedQuestion(_question_about(phrase, part.tokens[-1].lowered, table), state.subject, why)


def _question_about(phrase: str, noun: str, table: ConversationWords) -> str:
    """'Who was Charles Darwin's wife?', 'What is the population of France?'."""
    if noun in table.relations["several"]:
        return table.templates["who_several"].format(phrase)
    is_person = any(noun in words for words in table.relations.values())
    what = "what_several" if table.phrases["several"].fullmatch(noun) else "what"
    return table.templates["who" if is_person else what].format(phrase)


def _replaced(text: str, pronoun: UnresolvedPronoun, meant: str, table: ConversationWords) -> str:
    form = "owner" if pronoun.is_possessive else pronoun.kind
    # 'then' becomes 'in 1809', or 'at the time of Charles Darwin' if what is meant is not a year.
    form = "year" if form == "time" and meant[0].isdigit() else form
    words = table.templates[form].format(meant) if form in table.templates else meant
    if pronoun.start == 0:
        words = words[0].upper() + words[1:]
    return text[: pronoun.start] + words + text[pronoun.end :]


def _as_mentioned(subject: str, state: DialogueState) -> str:
    """A subject as the last question mentioned it, with its article: 'the Eiffel Tower'."""
    articles = "|".join(sorted(state.last_question.vocabulary.words["articles"]))
    found = re.search(rf"\b(?:{articles})\s+{re.escape(subject)}(?!\w)", state.last_question.text, re.IGNORECASE)
    return found[0][0].lower() + found[0][1:] if found else subject


def _with_article(part: Utterance) -> str:
    has_one = part.tokens[0].lowered in part.vocabulary.words["articles"]
    return part.text if has_one else f"the {part.text}"


def _without_article(part: Utterance) -> str:
    """A fragment without its articles and prepositions in front: 'child' of 'for a child'."""
    skipped = part.vocabulary.words["articles"] | part.vocabulary.words["prepositions"]
    first = next((token for token in part.tokens if token.lowered not in skipped), part.tokens[0])
    return part.text[first.start :]
