"""A question of a conversation, split into words, names and pronouns by the word lists of its language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.claims import fact_language
from kiwiresearch.text import POSSESSIVE, WORD, CuePhrases, language_words, plain_lower

DATA_FOLDER = files("kiwiresearch.ask") / "data" / "conversation"


class QuestionToken(NamedTuple):
    """A word of a question without its possessive, in lower case too, and its span."""

    text: str
    lowered: str
    start: int
    end: int
    is_possessive: bool
    """Whether it had a possessive 's'."""


class QuestionName(NamedTuple):
    """A name in a question, and its span of characters and of tokens."""

    text: str
    start: int
    end: int
    first_token: int
    end_token: int
    """The token after its last one."""
    has_article: bool
    preposition: str


@dataclass(frozen=True, slots=True)
class ConversationWords:
    """The words, phrases and question templates of a language."""

    pronouns: Mapping[str, frozenset[str]]
    words: Mapping[str, frozenset[str]]
    relations: Mapping[str, frozenset[str]]
    aspects: frozenset[str]
    phrases: Mapping[str, re.Pattern[str]]
    templates: Mapping[str, str]
    stop_words: frozenset[str]
    common: frozenset[str]
    year: re.Pattern[str]
    """A year, with the preposition before it."""

    def pronoun_kind(self, word: str) -> str:
        """The kind of a pronoun: male, female, thing, several, place, time, pointing; '' for other words."""
        return next((kind for kind in PRONOUN_KINDS if word in self.pronouns[kind]), "")

    def is_content(self, token: QuestionToken) -> bool:
        """Whether a word names something, and is neither a common word nor a verb."""
        lowered = token.lowered
        if lowered in self.stop_words or lowered in self.words["auxiliaries"] or lowered in self.words["asking"]:
            return False
        return (
            lowered not in self.words["verbs"]
            and lowered not in self.words["imperatives"]
            and not lowered.endswith("ed")
        )

    def names(self, text: str, tokens: Sequence[QuestionToken]) -> list[QuestionName]:
        """Sequences of capitalized words, with words such as 'of' inside: 'Battle of Hastings'."""
        found: list[QuestionName] = []
        place = 0
        while place < len(tokens):
            if not self._may_be_name(tokens, place):
                place += 1
                continue
            end_token = self._name_end(tokens, place)
            before = tokens[place - 1].lowered if place else ""
            has_article = before in self.words["definite"]
            preposition = tokens[place - 2].lowered if has_article and place > 1 else before
            start, end = tokens[place].start, tokens[end_token - 1].end
            found.append(QuestionName(text[start:end], start, end, place, end_token, has_article, preposition))
            place = end_token
        return found

    def _name_end(self, tokens: Sequence[QuestionToken], place: int) -> int:
        end = place + 1
        while end < len(tokens) and not (
            tokens[end - 1].is_possessive and tokens[end - 1].lowered not in self.words["joining"]
        ):
            ahead = end
            while (
                ahead < len(tokens)
                and ahead - end < MAX_JOINING_WORDS
                and tokens[ahead].lowered in self.words["joining"] - {"and"}
            ):
                ahead += 1
            if ahead >= len(tokens) or not self._may_be_name(tokens, ahead):
                break
            before, after = tokens[end - 1], tokens[end]
            if ahead == end and (after.start - before.end > MAX_GAP or before.is_possessive):
                break
            end = ahead + 1
        return end

    def _may_be_name(self, tokens: Sequence[QuestionToken], place: int) -> bool:
        token = tokens[place]
        # The first word of a question always has a capital, so there a common word is not a name; later it is one.
        if not token.text[0].isupper() or token.lowered in self.words["not_names"] or self.pronoun_kind(token.lowered):
            return False
        is_common = (
            token.lowered in self.common or token.lowered in self.stop_words or token.lowered in self.words["asking"]
        )
        is_asking = token.lowered in self.words["auxiliaries"] or token.lowered in self.words["imperatives"]
        return place > 0 or not (is_common or is_asking or token.lowered in self.words["verbs"])


PRONOUN_KINDS = ("male", "female", "thing", "several", "place", "time", "pointing")
MAX_JOINING_WORDS = 2
MAX_GAP = 2
"""A space, or a full stop or comma and a space: 'St. Paul', 'Paris, Texas'."""


def question_tokens(text: str) -> tuple[QuestionToken, ...]:
    """The words of a question in order."""
    found = []
    for match in WORD.finditer(text):
        bare = POSSESSIVE.sub("", match[0])
        lowered = match[0].lower().replace("’", "'")
        owns = bare != match[0] and bare != ""
        # "who's" and "it's" are 'who is' and 'it is', not possessives; a pronoun is reduced to itself for the tables.
        if not owns or lowered.rpartition("'")[0] in ("who", "what", "where", "when", "how", "it", "he", "she", "that"):
            bare, owns = (bare if owns else match[0]), False
            lowered = (
                lowered if lowered.partition("'")[0] not in ("it", "he", "she", "that") else lowered.partition("'")[0]
            )
        else:
            lowered = bare.lower()
        found.append(QuestionToken(bare, lowered, match.start(), match.start() + len(bare), owns))
    return tuple(found)


@cache
def conversation_words(language: str) -> ConversationWords | None:
    """The table of a language; without one, no question counts as a follow-up."""
    file = DATA_FOLDER / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and file.is_file()):
        return None
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    phrases = CuePhrases({})
    prepositions, articles = ("|".join(data["words"][name].split()) for name in ("in_years", "definite"))
    return ConversationWords(
        pronouns={kind: frozenset(words.split()) for kind, words in data["pronouns"].items()},
        words={name: frozenset(words.split()) for name, words in data["words"].items()},
        relations={name: frozenset(words.split()) for name, words in data["relations"].items()},
        aspects=frozenset(data["aspects"]["words"].split()),
        phrases={name: phrases.pattern(written) for name, written in data["phrases"].items()},
        templates=data["templates"],
        stop_words=language_words(language).stop_words,
        common=fact_language(language).common,
        year=re.compile(rf"\b(?:(?:{prepositions})\s+)?(?:(?:{articles})\s+)?\d{{3,4}}s?\b", re.IGNORECASE),
    )


MAX_FRAGMENT_WORDS = 8


class UnresolvedPronoun(NamedTuple):
    """A pronoun that refers to something outside the question."""

    word: str
    kind: str
    start: int
    end: int
    is_possessive: bool


@dataclass(frozen=True, slots=True)
class Utterance:
    """A question cut into words, with its names."""

    text: str
    tokens: tuple[QuestionToken, ...]
    names: tuple[QuestionName, ...]
    filler_spans: tuple[tuple[int, int], ...]
    vocabulary: ConversationWords

    @classmethod
    def of(cls, text: str, table: ConversationWords) -> Utterance:
        tokens = question_tokens(text)
        empty = tuple(match.span() for match in table.phrases["empty"].finditer(plain_lower(text)))
        return cls(text, tokens, tuple(table.names(text, tokens)), empty, table)

    def unresolved_pronoun(self) -> UnresolvedPronoun | None:
        """The first pronoun that nothing in the question explains."""
        for place, token in enumerate(self.tokens):
            kind = self.vocabulary.pronoun_kind(token.lowered)
            if not kind or self._is_filler(token):
                continue
            if self._refers_outside(place, kind):
                end = self.tokens[place + 1].end if self._points_at_noun(place) else token.end
                return UnresolvedPronoun(
                    self.text[token.start : end], kind, token.start, end, self._is_possessive(place)
                )
        return None

    def _is_filler(self, token: QuestionToken) -> bool:
        """Whether a word is part of an empty phrase: 'Is it true that he left?'."""
        return any(start <= token.start < end for start, end in self.filler_spans)

    def is_complete(self) -> bool:
        """Whether it is a question by itself: it starts with a question word, an auxiliary verb or a command."""
        first = self.tokens[0].lowered if self.tokens else ""
        words = self.vocabulary.words
        if len(self.tokens) > 1 and first in words["prepositions"]:
            return self.tokens[1].lowered in words["asking"]
        return first in words["asking"] or first in words["auxiliaries"] or first in words["imperatives"]

    def is_fragment(self) -> bool:
        """Whether it is only a part of a question: 'his wife', 'in 1900'."""
        words = self.vocabulary.words
        asks = any(token.lowered in words["asking"] | words["auxiliaries"] for token in self.tokens)
        return not asks and not self.is_complete() and len(self.tokens) <= MAX_FRAGMENT_WORDS

    def content(self) -> list[QuestionToken]:
        """The words that name something."""
        return [token for token in self.tokens if self._names_something(token)]

    def _names_something(self, token: QuestionToken) -> bool:
        return self.vocabulary.is_content(token) and not self._is_filler(token)

    def _is_possessive(self, place: int) -> bool:
        lowered = self.tokens[place].lowered
        if lowered not in self.vocabulary.pronouns["possessive"]:
            return lowered in self.vocabulary.pronouns["owned"]
        following = self.tokens[place + 1].lowered if place + 1 < len(self.tokens) else ""
        return lowered not in self.vocabulary.pronouns["ambiguous"] or (
            following != "" and following not in self.vocabulary.pronouns["after_object"]
        )

    def _refers_outside(self, place: int, kind: str) -> bool:
        if kind in ("place", "time"):
            is_last = place == len(self.tokens) - 1 > 0
            return is_last and not self._names_before(place) and not self._follows_auxiliary(place)
        if kind == "pointing":
            return self._is_lone_demonstrative(place)
        # Three ways to be explained within the question come first; only then does the place of the verb decide.
        if self._is_explained_later(place) or self._means_people_there(place) or self._refers_back(place):
            return False
        return self._is_subject_outside(place) if self._follows_auxiliary(place) else self._has_no_antecedent(place)

    def _is_lone_demonstrative(self, place: int) -> bool:
        """Whether 'that' or 'this' refers to something by itself, and is not an article or a conjunction."""
        if self._points_at_noun(place):
            return not self._names_before(place)
        if self.names or place == 0:
            return False
        before = self.tokens[place - 1].lowered
        is_last = place == len(self.tokens) - 1
        words = self.vocabulary.words
        is_alone = before in words["auxiliaries"] | words["imperatives"]
        is_alone = is_alone or (is_last and before in words["prepositions"])
        return is_alone and not any(map(self._names_something, self.tokens[place + 1 :]))

    def _points_at_noun(self, place: int) -> bool:
        """'That city', 'this one': as good as a name."""
        following = self.tokens[place + 1].lowered if place + 1 < len(self.tokens) else ""
        is_noun = following in self.vocabulary.words["kinds"]
        is_noun = is_noun and self.text[self.tokens[place + 1].end :][:1] != "-"  # 'that one-fifth of them'
        return is_noun and self.tokens[place].lowered in self.vocabulary.pronouns["pointing"]

    def _follows_auxiliary(self, place: int) -> bool:
        return place > 0 and self.tokens[place - 1].lowered in self.vocabulary.words["auxiliaries"]

    def _is_subject_outside(self, place: int) -> bool:
        """'What university did he' refers outside, unless a clause came before: 'What is an atom and how does it'."""
        words = self.vocabulary.words
        # Without the auxiliary right before the pronoun, which belongs to it: 'did he'.
        before = self.tokens[: place - 1]
        names = self._names_before(place)
        has_noun = bool(names) or any(map(self._names_something, before))
        has_clause = any(token.lowered in words["auxiliaries"] | words["joints"] for token in before[1:])
        has_clause = has_clause or (bool(before) and before[0].lowered in words["auxiliaries"])
        has_clause = has_clause or any(self._is_owner(name) for name in names)
        opens_clause = bool(before) and before[0].lowered in words["clauses"] and len(before) > 1
        opens_clause = opens_clause and "," in self.text[before[0].start : self.tokens[place - 1].start]
        return not (has_noun and (has_clause or opens_clause))

    def _is_explained_later(self, place: int) -> bool:
        """'When he was young, did Lincoln': the name follows after the auxiliary verb."""
        words = self.vocabulary.words
        opens = self.tokens[0].lowered in words["subordinators"] | words["prepositions"]
        opens = opens or not any(token.lowered in words["auxiliaries"] for token in self.tokens[:place])
        firsts = {name.first_token - name.has_article for name in self.names}
        auxiliaries = (
            at for at in range(place + 1, len(self.tokens)) if self.tokens[at].lowered in words["auxiliaries"]
        )
        return opens and any(at + 1 in firsts for at in auxiliaries)

    def _means_people_there(self, place: int) -> bool:
        """'What do they eat in Kenya?': the people there."""
        is_general = self.tokens[place].lowered in self.vocabulary.words["people"] and place > 0
        is_general = is_general and self.tokens[place - 1].lowered in self.vocabulary.words["usually"]
        return is_general and any(self._is_place(name) and name.first_token > place for name in self.names)

    def _refers_back(self, place: int) -> bool:
        """'Which country has its own stamps': what the pronoun refers to came before in the question."""
        before, words = self.tokens[:place], self.vocabulary.words
        if not before or not any(map(self._names_something, before)):
            return False
        following = self.tokens[place + 1].lowered if place + 1 < len(self.tokens) else ""
        has_it = self._is_possessive(place) and before[-1].lowered in words["having"]
        is_famed = len(before) > 1 and before[-2].lowered in words["famed"]
        return has_it or is_famed or following in words["own"] or before[-1].lowered in words["so"]

    def _is_owner(self, name: QuestionName) -> bool:
        before = self.tokens[name.first_token - 1].lowered if name.first_token > 1 else ""
        return self.tokens[name.end_token - 1].is_possessive or before in self.vocabulary.words["relative"]

    def _names_before(self, place: int) -> list[QuestionName]:
        """Names that may be meant, without one in an opening phrase: 'In Kentucky, who was his neighbour?'."""
        before = [name for name in self.names if name.end_token <= place]
        if before and self.tokens[0].lowered in self.vocabulary.words["prepositions"] and before[0].first_token <= 2:
            after = self.text[before[0].end : self.tokens[place].start].lstrip()
            before = before[1:] if after.startswith(",") else before
        return before

    def _has_no_antecedent(self, place: int) -> bool:
        if self._names_before(place):
            return False
        words = self.vocabulary.words
        before = self.tokens[:place]
        nouns = [at for at, token in enumerate(before) if self._names_something(token)]
        if not nouns:
            return True
        # 'If a dog barks, is it …': an indefinite noun is what the pronoun refers to.
        if any(before[at - 1].lowered in words["indefinite"] for at in nouns if at):
            return False
        is_bound = before[-1].lowered in words["prepositions"]
        if any(token.lowered in words["speakers"] for token in before) and len(nouns) <= 1:
            return True  # 'Can you visit it?'
        first_verb = next((at for at, token in enumerate(before) if token.lowered in words["auxiliaries"]), -1)
        if first_verb < 0:
            return is_bound and before[0].lowered not in words["which"] and nouns[0] > 0
        if is_bound and before[-1].lowered in words["of"] and nouns[0] > first_verb and len(nouns) == 1:
            return True
        asks_for_subject = before[first_verb].lowered in words["being"] and first_verb > 0
        asks_for_subject = asks_for_subject and before[first_verb - 1].lowered not in words["adverbs"]
        if before[-1].lowered not in words["of"] and any(token.lowered in words["of"] for token in before[first_verb:]):
            return False  # 'What was the population of the empire at its height?'
        return (is_bound and asks_for_subject) or nouns[-1] < first_verb

    def subject_name(self) -> str:
        """The name it is about: the longest, preferably not a place where something happened."""
        # False sorts before True, so places come last; `sorted` keeps the order of the question for equal keys.
        names = sorted(self.names, key=lambda name: (self._is_place(name), -len(name.text.split()), -len(name.text)))
        return names[0].text if names else ""

    def person_name(self) -> str:
        """The first name that may be a person's: without an article, and not a place."""
        return next((name.text for name in self.names if not name.has_article and not self._is_place(name)), "")

    def _is_place(self, name: QuestionName) -> bool:
        return name.preposition in self.vocabulary.words["place_prepositions"]
