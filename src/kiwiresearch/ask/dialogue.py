"""The subject of a conversation after each turn, and its last question with one part replaced."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from kiwiresearch.ask.utterance import ConversationWords, QuestionName, UnresolvedPronoun, Utterance
from kiwiresearch.search import parse_query
from kiwiresearch.text import POSSESSIVE, fold, plain_lower

COUNTED_NOUN = 2
"""The position of the noun in 'How much quinine'."""

END = re.compile(r"[\s?!.]+$")


def with_other_name(last: Utterance, other: str, subject: str) -> str:
    """'What is the capital of France?' with Germany instead; empty if nothing can be replaced."""
    preposition, bare = _split_preposition(other, last)
    # Before names: in 'How much may an adult with Addison's disease take?', 'for a child' replaces the adult.
    if group := with_other_group(last, bare):
        return group
    # 'in Germany' replaces 'in France', not 'Napoleon'; if nothing was 'in' a place, the name after 'of' will do.
    names = [name for name in last.names if name.preposition == preposition] if preposition else list(last.names)
    if preposition and not names:
        names = [name for name in last.names if name.preposition in last.vocabulary.words["of"]]
        if not names:
            return f"{END.sub('', last.text)} {other}?"
    if names:
        return _replace_name(last, _name_to_replace(last, names, subject), bare)
    return _with_other_noun(last, other)


def _name_to_replace(last: Utterance, names: list[QuestionName], subject: str) -> QuestionName:
    """The name to replace: the last one in a yes-or-no question, else the subject."""
    if last.tokens[0].lowered in last.vocabulary.words["auxiliaries"]:
        return names[-1]
    return next((name for name in names if name.text in (subject, last.subject_name())), names[-1])


def _replace_name(last: Utterance, name: QuestionName, other: str) -> str:
    start = last.tokens[name.first_token - 1].start if name.has_article else name.start
    # The text after the name starts with its own "'s", because a token's span excludes the possessive.
    other = POSSESSIVE.sub("", other) if last.tokens[name.end_token - 1].is_possessive else other
    return last.text[:start] + other + last.text[name.end :]


def with_other_group(last: Utterance, other: str) -> str:
    """'How much may an adult take?' with a child instead."""
    groups, articles = last.vocabulary.words["groups"], last.vocabulary.words["articles"]
    place = next((at for at, token in enumerate(last.tokens) if token.lowered in groups), -1)
    if place < 0 or groups.isdisjoint(plain_lower(other).split()[-1:]):
        return ""
    # The article goes too, since the fragment has its own: 'an adult' becomes 'a child'.
    first = place - (place > 0 and last.tokens[place - 1].lowered in articles)
    return last.text[: last.tokens[first].start] + other + last.text[last.tokens[place].end :]


def counts_group(last: Utterance) -> bool:
    """Whether it asks 'How many children': then 'and the wife?' or 'and the children?' asks about the subject."""
    words = last.vocabulary.words
    counted = [token.lowered for token in last.tokens[1 : COUNTED_NOUN + 1]]
    return len(counted) == COUNTED_NOUN and counted[0] in words["counting"] and counted[1] in words["groups"]


def _with_other_noun(last: Utterance, other: str) -> str:
    """For a last question without a name: replaces what follows its last preposition, or its verb."""
    tokens, words = last.tokens, last.vocabulary.words
    if (
        len(tokens) > COUNTED_NOUN
        and tokens[1].lowered in words["counting"]
        and last.vocabulary.is_content(tokens[COUNTED_NOUN])
    ):
        return last.text[: tokens[COUNTED_NOUN].start] + other + last.text[tokens[COUNTED_NOUN].end :]
    bound = [
        at for at, token in enumerate(tokens) if token.lowered in words["prepositions"] and 0 < at < len(tokens) - 1
    ]
    if bound and not any(token.lowered in words["auxiliaries"] for token in tokens[bound[-1] :]):
        return last.text[: tokens[bound[-1] + 1].start] + other + last.text[tokens[-1].end :]
    verb = next((at for at, token in enumerate(tokens) if token.lowered in words["auxiliaries"]), -1)
    if verb < 0 or verb == len(tokens) - 1:
        return ""
    first = verb + 1
    end = first + (tokens[first].lowered in words["articles"])
    while (
        end < len(tokens) - 1
        and last.vocabulary.is_content(tokens[end])
        and last.vocabulary.is_content(tokens[end + 1])
    ):
        end += 1
    if tokens[0].lowered in words["whatever"] or end >= len(tokens):
        end = len(tokens) - 1
    elif end == len(tokens) - 1 and end > first:
        end -= 1  # the last word is the verb: 'Do dogs dream?'
    return last.text[: tokens[first].start] + other + last.text[tokens[end].end :]


def _split_preposition(other: str, last: Utterance) -> tuple[str, str]:
    """A fragment's preposition, if it starts with one, and the rest."""
    if not last.vocabulary.phrases["placed"].search(plain_lower(other)):
        return "", other
    preposition, _, rest = other.partition(" ")
    return preposition.lower(), rest.strip()


def with_other_year(last: Utterance, year: str) -> str:
    """'Who was king in 1800?' with 1900 instead."""
    found = last.vocabulary.year.search(last.text)
    phrase = year if not year[0].isdigit() else last.vocabulary.templates["year"].format(year)
    if not found:
        return f"{END.sub('', last.text)} {phrase}?"
    return last.text[: found.start()] + (year if found[0][0].isdigit() else phrase) + last.text[found.end() :]


def with_question_word(last: Utterance, word: str) -> str:
    """'When was Darwin born?' with 'where' or 'why' instead."""
    asking = END.sub("", word).capitalize()
    tokens, words = last.tokens, last.vocabulary.words
    verb = next((at for at, token in enumerate(tokens) if token.lowered in words["auxiliaries"]), -1)
    if not last.is_complete():
        # Only a name keeps its capital after the new question word.
        said = last.text if last.names and last.names[0].first_token == 0 else last.text[0].lower() + last.text[1:]
        return f"{asking} {END.sub('', said)}?"
    start = verb if verb >= 0 else 1
    if start >= len(tokens):
        return f"{asking} {END.sub('', last.text)}?"
    rest = last.text[tokens[start].start :]
    return f"{asking} {rest[0].lower() if verb == 0 else rest[0]}{END.sub('', rest[1:])}?"


MAX_CHARS = 2_000
"""How much of a question or an answer is examined."""


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The subject and the people of a conversation after a turn."""

    last_question: Utterance
    subject: str
    """Empty until something is named."""
    relation: str = ""
    """A person known only by a relation, such as "Charles Darwin's wife"."""
    relation_kind: str = ""
    person: str = ""
    """The answer to a question that asked for a person, or the person it names."""
    place: str = ""

    def referent_of(self, pronoun: UnresolvedPronoun) -> str:
        """The referent of a pronoun."""
        if pronoun.kind in ("male", "female"):
            # 'she' after 'Who was Darwin's wife?' is the wife, not Darwin, although he is the subject.
            if self.relation_kind == pronoun.kind:
                return self.relation
            return self.person or self._described_person()
        if pronoun.kind == "time":
            year = self.last_question.vocabulary.year.search(self.last_question.text)
            return year[0].split()[-1] if year else self.subject
        return (self.place if pronoun.kind == "place" else "") or self.subject

    def _described_person(self) -> str:
        """The subject, unless it is a common noun; then a child or a woman in the question, if there is one."""
        words = self.last_question.vocabulary.words
        tokens = self.last_question.tokens
        described = next((at for at, token in enumerate(tokens) if token.lowered in words["groups"]), -1)
        lowered = plain_lower(self.last_question.text)
        is_common = any(f" {article} {plain_lower(self.subject)}" in lowered for article in words["articles"])
        if not is_common or described < 0:
            return "" if is_common and self.subject.islower() else self.subject
        first = described - (described > 0 and tokens[described - 1].lowered in words["articles"])
        return self.last_question.text[tokens[first].start : tokens[described].end]


def person_asked_for(last: Utterance, subject: str, answer: str, table: ConversationWords) -> str:
    """Who is meant after 'Who wrote Hamlet?': the name in the answer, or the words of the question."""
    # 'Who is X?' asks for no other person; 'Who was the king of France?' describes one by the words after 'was', 'Who
    # wrote Hamlet?' by the verb. The name in the answer is better than any description.
    asks = bool(last.tokens) and last.tokens[0].lowered in table.words["who"]
    if not asks or (subject and fold(subject) not in fold(last.text)):
        return ""
    rest = END.sub("", last.text[last.tokens[1].start :]) if len(last.tokens) > 1 else ""
    is_named = last.tokens[0].lowered in table.words["being"] or (
        len(last.tokens) > 1 and last.tokens[1].lowered in table.words["being"]
    )
    described = last.text[last.tokens[2].start :] if is_named and len(last.tokens) > 2 else ""
    is_name = any(name.first_token == 2 and name.end_token == len(last.tokens) for name in last.names)
    if is_named and (not described or is_name or not last.content()):
        return ""
    if last.tokens[1:2] and not is_named and last.tokens[1].lowered in table.words["auxiliaries"]:
        return ""
    if is_named and relation_in(last)[1] in ("male", "female"):
        return ""
    found = first_name(answer, last, table)
    return found or (END.sub("", described) if is_named else table.templates["person"].format(rest))


def first_name(answer: str, last: Utterance, table: ConversationWords) -> str:
    """The first name in an answer that is not in the question."""
    asked = set(fold(last.text).split())
    names = Utterance.of(answer[:MAX_CHARS], table).names
    return next((name.text for name in names if not asked & set(fold(name.text).split())), "")


def relation_in(last: Utterance) -> tuple[str, str]:
    """A person that the question names by a relation, and their gender: "Charles Darwin's wife", female."""
    of = last.vocabulary.words["of"]
    for place, token in enumerate(last.tokens):
        kind = next((kind for kind in ("male", "female") if token.lowered in last.vocabulary.relations[kind]), "")
        if not kind or token.is_possessive:
            continue
        owner = next(
            (name for name in last.names if name.end_token == place and last.tokens[place - 1].is_possessive), None
        )
        if owner:
            return last.text[owner.start : token.end], kind
        if last.tokens[0].lowered not in last.vocabulary.words["who"]:
            continue
        # At most 'wife of the late' lies between the relation and its owner.
        owned = next(
            (name for name in last.names if name.preposition in of and place < name.first_token <= place + 3), None
        )
        if owned:
            return f"the {last.text[token.start : owned.end]}", kind
    return "", ""


def subject_of(asked: Utterance, language: str) -> str:
    """The subject of a self-contained question."""
    name = asked.subject_name()
    if name or not asked.tokens:
        return name
    query = parse_query(asked.text, language)
    text = query.core if query.definitional else _after_verb(asked)
    part = Utterance.of(text.rpartition(asked.vocabulary.templates["of"])[2], asked.vocabulary)
    does = any(token.lowered in asked.vocabulary.words["doing"] for token in asked.tokens[:2])
    return _first_noun(part, has_verb=does or asked.tokens[0].lowered in asked.vocabulary.words["auxiliaries"])


def _after_verb(asked: Utterance) -> str:
    """The words after the first auxiliary verb of a question; all words if it has none."""
    verbs = asked.vocabulary.words["auxiliaries"]
    verb = next((at for at, token in enumerate(asked.tokens[:-1]) if token.lowered in verbs), -1)
    return asked.text[asked.tokens[verb + 1].start :]


def _first_noun(part: Utterance, *, has_verb: bool) -> str:
    """The first sequence of content words, without a predicate at the end: 'birds fly', 'elephants mammals'."""
    is_content = part.vocabulary.is_content
    words = list(takewhile(is_content, dropwhile(lambda token: not is_content(token), part.tokens)))
    if has_verb and len(words) > 1 and words[-1] == part.tokens[-1]:
        words.pop()
    return part.text[words[0].start : words[-1].end] if words else ""
