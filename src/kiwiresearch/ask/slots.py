"""The last question asked again with one part exchanged: its name, its year, or the word that asks."""

from __future__ import annotations

import re

from kiwiresearch.ask.conversation_words import Name
from kiwiresearch.ask.pointing import Question
from kiwiresearch.text.words import POSSESSIVE, level

COUNTED = 2
"""Where the noun stands in 'How much quinine'."""

END = re.compile(r"[\s?!.]+$")


def with_other_name(last: Question, other: str, subject: str) -> str:
    """'What is the capital of France?' asked of Germany; empty where nothing can be exchanged."""
    preposition, bare = _taken_apart(other, last)
    if group := _with_other_group(last, bare):
        return group
    names = [name for name in last.names if name.preposition == preposition] if preposition else list(last.names)
    if preposition and not names:
        names = [name for name in last.names if name.preposition in last.talk.words["of"]]
        if not names:
            return f"{END.sub('', last.text)} {other}?"
    if names:
        return _exchanged(last, _slot(last, names, subject), bare)
    return _with_other_noun(last, other)


def _slot(last: Question, names: list[Name], subject: str) -> Name:
    """The name that a bare name takes the place of: in a yes-or-no question the last, else its subject."""
    if last.tokens[0].low in last.talk.words["auxiliaries"]:
        return names[-1]
    return next((name for name in names if name.text in (subject, last.own_subject())), names[-1])


def _exchanged(last: Question, name: Name, other: str) -> str:
    start = name.start
    if name.has_article:
        start = last.tokens[name.first - 1].start
    other = POSSESSIVE.sub("", other) if last.tokens[name.last - 1].owns else other
    return last.text[:start] + other + last.text[name.end :]


def _with_other_group(last: Question, other: str) -> str:
    """'How much may an adult take?' asked of a child."""
    groups, articles = last.talk.words["groups"], last.talk.words["articles"]
    place = next((at for at, token in enumerate(last.tokens) if token.low in groups), -1)
    if place < 0 or level(other).split()[-1:] == [] or level(other).split()[-1] not in groups:
        return ""
    first = place - (place > 0 and last.tokens[place - 1].low in articles)
    return last.text[: last.tokens[first].start] + other + last.text[last.tokens[place].end :]


def _with_other_noun(last: Question, other: str) -> str:
    """Where the last question has no name: what stands at its end behind 'of', or what its verb is about."""
    tokens, words = last.tokens, last.talk.words
    if len(tokens) > COUNTED and tokens[1].low in words["counting"] and last.talk.is_content(tokens[COUNTED]):
        return last.text[: tokens[COUNTED].start] + other + last.text[tokens[COUNTED].end :]
    bound = [at for at, token in enumerate(tokens) if token.low in words["prepositions"] and 0 < at < len(tokens) - 1]
    if bound and not any(token.low in words["auxiliaries"] for token in tokens[bound[-1] :]):
        return last.text[: tokens[bound[-1] + 1].start] + other + last.text[tokens[-1].end :]
    verb = next((at for at, token in enumerate(tokens) if token.low in words["auxiliaries"]), -1)
    if verb < 0 or verb == len(tokens) - 1:
        return ""
    first = verb + 1
    end = first + (tokens[first].low in words["articles"])
    while end < len(tokens) - 1 and last.talk.is_content(tokens[end]) and last.talk.is_content(tokens[end + 1]):
        end += 1
    if tokens[0].low in words["whatever"] or end >= len(tokens):
        end = len(tokens) - 1
    elif end == len(tokens) - 1 and end > first:
        end -= 1  # the last word is what they do: 'Do dogs dream?'
    return last.text[: tokens[first].start] + other + last.text[tokens[end].end :]


def _taken_apart(other: str, last: Question) -> tuple[str, str]:
    """A fragment's preposition, if it begins with one, and the rest."""
    if not last.talk.phrases["placed"].search(level(other)):
        return "", other
    preposition, _, rest = other.partition(" ")
    return preposition.lower(), rest.strip()


def with_other_year(last: Question, year: str) -> str:
    """'Who was king in 1800?' asked of 1900."""
    found = last.talk.year.search(last.text)
    whole = year if not year[0].isdigit() else last.talk.templates["year"].format(year)
    if not found:
        return f"{END.sub('', last.text)} {whole}?"
    return last.text[: found.start()] + (year if found[0][0].isdigit() else whole) + last.text[found.end() :]


def asked_with(last: Question, word: str) -> str:
    """'When was Darwin born?' asked with 'where' or 'why'."""
    asking = END.sub("", word).capitalize()
    tokens, words = last.tokens, last.talk.words
    verb = next((at for at, token in enumerate(tokens) if token.low in words["auxiliaries"]), -1)
    if not last.is_full():
        said = last.text if last.names and last.names[0].first == 0 else last.text[0].lower() + last.text[1:]
        return f"{asking} {END.sub('', said)}?"
    start = verb if verb >= 0 else 1
    if start >= len(tokens):
        return f"{asking} {END.sub('', last.text)}?"
    rest = last.text[tokens[start].start :]
    return f"{asking} {rest[0].lower() if verb == 0 else rest[0]}{END.sub('', rest[1:])}?"
