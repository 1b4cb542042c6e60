"""Pronouns of a question that stand for something outside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.ask.conversation_words import Name, Talk, Token, tokens_of
from kiwiresearch.text.words import level

LONGEST_FRAGMENT = 8
"""In words."""


class Pointing(NamedTuple):
    """A pronoun that stands for something outside, its kind, and whether it owns what follows."""

    word: str
    kind: str
    start: int
    end: int
    owns: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question cut into words, with its names."""

    text: str
    tokens: tuple[Token, ...]
    names: tuple[Name, ...]
    empty: tuple[tuple[int, int], ...]
    talk: Talk

    @classmethod
    def of(cls, text: str, talk: Talk) -> Question:
        tokens = tokens_of(text)
        empty = tuple(match.span() for match in talk.phrases["empty"].finditer(level(text)))
        return cls(text, tokens, tuple(talk.names(text, tokens)), empty, talk)

    def pointing(self) -> Pointing | None:
        """The first pronoun that nothing in the question explains."""
        for place, token in enumerate(self.tokens):
            kind = self.talk.kind_of(token.low)
            if not kind or self._is_empty(token):
                continue
            if self._points_out(place, kind):
                end = self.tokens[place + 1].end if self._points_at_noun(place) else token.end
                return Pointing(self.text[token.start : end], kind, token.start, end, self._owns(place))
        return None

    def _is_empty(self, token: Token) -> bool:
        """Whether it is in words that stand for nothing: 'Is it true that he left?'."""
        return any(start <= token.start < end for start, end in self.empty)

    def is_full(self) -> bool:
        """Whether it asks by itself, with a question word, a verb in front or a command, and is no mere fragment."""
        first = self.tokens[0].low if self.tokens else ""
        words = self.talk.words
        if len(self.tokens) > 1 and first in words["prepositions"]:
            return self.tokens[1].low in words["asking"]
        return first in words["asking"] or first in words["auxiliaries"] or first in words["imperatives"]

    def is_fragment(self) -> bool:
        """Whether it is only a part of a question: 'his wife', 'in 1900'."""
        words = self.talk.words
        asks = any(token.low in words["asking"] | words["auxiliaries"] for token in self.tokens)
        return not asks and not self.is_full() and len(self.tokens) <= LONGEST_FRAGMENT

    def content(self) -> list[Token]:
        """The words that name something."""
        return [token for token in self.tokens if self._names_something(token)]

    def _names_something(self, token: Token) -> bool:
        return self.talk.is_content(token) and not self._is_empty(token)

    def _owns(self, place: int) -> bool:
        low = self.tokens[place].low
        if low not in self.talk.pronouns["possessive"]:
            return low in self.talk.pronouns["owned"]
        following = self.tokens[place + 1].low if place + 1 < len(self.tokens) else ""
        return low not in self.talk.pronouns["ambiguous"] or (
            following != "" and following not in self.talk.pronouns["after_object"]
        )

    def _points_out(self, place: int, kind: str) -> bool:
        if kind in ("place", "time"):
            is_last = place == len(self.tokens) - 1 > 0
            return is_last and not self._names_before(place) and not self._follows_auxiliary(place)
        if kind == "pointing":
            return self._is_pronoun_of_last_resort(place)
        if self._is_explained_behind(place) or self._is_nobody(place) or self._is_own(place):
            return False
        return self._stands_behind_verb(place) if self._follows_auxiliary(place) else self._has_no_antecedent(place)

    def _is_pronoun_of_last_resort(self, place: int) -> bool:
        """'That' and 'this' are articles or join clauses more often than they stand alone."""
        if self._points_at_noun(place):
            return not self._names_before(place)
        if self.names or place == 0:
            return False
        before = self.tokens[place - 1].low
        is_last = place == len(self.tokens) - 1
        words = self.talk.words
        stands = before in words["auxiliaries"] | words["imperatives"] or (is_last and before in words["prepositions"])
        return stands and not any(map(self._names_something, self.tokens[place + 1 :]))

    def _points_at_noun(self, place: int) -> bool:
        """'That city', 'this one': as good as a name."""
        following = self.tokens[place + 1].low if place + 1 < len(self.tokens) else ""
        is_noun = following in self.talk.words["kinds"]
        is_noun = is_noun and self.text[self.tokens[place + 1].end :][:1] != "-"  # 'that one-fifth of them'
        return is_noun and self.tokens[place].low in self.talk.pronouns["pointing"]

    def _follows_auxiliary(self, place: int) -> bool:
        return place > 0 and self.tokens[place - 1].low in self.talk.words["auxiliaries"]

    def _stands_behind_verb(self, place: int) -> bool:
        """'What university did he': outside, unless a whole clause came before: 'What is an atom and how does it'."""
        words = self.talk.words
        before = self.tokens[: place - 1]
        names = self._names_before(place)
        told = bool(names) or any(map(self._names_something, before))
        has_clause = any(token.low in words["auxiliaries"] | words["joints"] for token in before[1:])
        has_clause = has_clause or (bool(before) and before[0].low in words["auxiliaries"])
        has_clause = has_clause or any(self._is_owner(name) for name in names)
        opens_clause = bool(before) and before[0].low in words["clauses"] and len(before) > 1
        opens_clause = opens_clause and "," in self.text[before[0].start : self.tokens[place - 1].start]
        return not (told and (has_clause or opens_clause))

    def _is_explained_behind(self, place: int) -> bool:
        """'When he was young, did Lincoln': the name follows, behind the verb that asks."""
        words = self.talk.words
        opens = self.tokens[0].low in words["subordinators"] | words["prepositions"]
        opens = opens or not any(token.low in words["auxiliaries"] for token in self.tokens[:place])
        firsts = {name.first - name.has_article for name in self.names}
        auxiliaries = (at for at in range(place + 1, len(self.tokens)) if self.tokens[at].low in words["auxiliaries"])
        return opens and any(at + 1 in firsts for at in auxiliaries)

    def _is_nobody(self, place: int) -> bool:
        """'What do they eat in Kenya?': people there."""
        is_general = self.tokens[place].low in self.talk.words["people"] and place > 0
        is_general = is_general and self.tokens[place - 1].low in self.talk.words["usually"]
        return is_general and any(self._is_where(name) and name.first > place for name in self.names)

    def _is_own(self, place: int) -> bool:
        """'Which country has its own stamps', 'so it': what it stands for came before, if anything did."""
        before, words = self.tokens[:place], self.talk.words
        if not before or not any(map(self._names_something, before)):
            return False
        following = self.tokens[place + 1].low if place + 1 < len(self.tokens) else ""
        has_it = self._owns(place) and before[-1].low in words["having"]
        is_famed = len(before) > 1 and before[-2].low in words["famed"]
        return has_it or is_famed or following in words["own"] or before[-1].low in words["so"]

    def _is_owner(self, name: Name) -> bool:
        before = self.tokens[name.first - 1].low if name.first > 1 else ""
        return self.tokens[name.last - 1].owns or before in self.talk.words["relative"]

    def _names_before(self, place: int) -> list[Name]:
        """Names that may be meant; not those set in front: 'In Kentucky, who was his neighbour?'."""
        before = [name for name in self.names if name.last <= place]
        if before and self.tokens[0].low in self.talk.words["prepositions"] and before[0].first <= 2:
            behind = self.text[before[0].end : self.tokens[place].start].lstrip()
            before = before[1:] if behind.startswith(",") else before
        return before

    def _has_no_antecedent(self, place: int) -> bool:
        if self._names_before(place):
            return False
        words = self.talk.words
        before = self.tokens[:place]
        nouns = [at for at, token in enumerate(before) if self._names_something(token)]
        if not nouns:
            return True
        if any(before[at - 1].low in words["indefinite"] for at in nouns if at):
            return False
        is_bound = before[-1].low in words["prepositions"]
        if any(token.low in words["speakers"] for token in before) and len(nouns) <= 1:
            return True  # 'Can you visit it?'
        first_verb = next((at for at, token in enumerate(before) if token.low in words["auxiliaries"]), -1)
        if first_verb < 0:
            return is_bound and before[0].low not in words["which"] and nouns[0] > 0
        if is_bound and before[-1].low in words["of"] and nouns[0] > first_verb and len(nouns) == 1:
            return True
        asks_for_subject = before[first_verb].low in words["being"] and first_verb > 0
        asks_for_subject = asks_for_subject and before[first_verb - 1].low not in words["adverbs"]
        if before[-1].low not in words["of"] and any(token.low in words["of"] for token in before[first_verb:]):
            return False  # 'What was the population of the empire at its height?'
        return (is_bound and asks_for_subject) or nouns[-1] < first_verb

    def own_subject(self) -> str:
        """The name it is about: the longest that is not merely where or when something was."""
        names = sorted(self.names, key=lambda name: (self._is_where(name), -len(name.text.split()), -len(name.text)))
        return names[0].text if names else ""

    def own_person(self) -> str:
        """The first name that may be somebody's: neither a place nor a thing with an article."""
        return next((name.text for name in self.names if not name.has_article and not self._is_where(name)), "")

    def _is_where(self, name: Name) -> bool:
        return name.preposition in self.talk.words["place_prepositions"]
