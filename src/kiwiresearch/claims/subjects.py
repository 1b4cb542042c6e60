"""The subject of a sentence: resolves a leading "He", "It" or "The city" to a name, or gives up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.claims.language import Grammar
from kiwiresearch.claims.opening import PageSubject, SentenceOpening, opening_of, singular, subject_of_page
from kiwiresearch.claims.sentence import PageSentence
from kiwiresearch.page import PageDoc
from kiwiresearch.text import LEADING_ARTICLE
from kiwiresearch.text import WORD as ANY_WORD
from kiwiresearch.text.dates import ENGLISH_MONTHS

PRONOUN = re.compile(r"\b(?:he|she|his|her|him|it|its|they|their)\b", re.IGNORECASE)
DETERMINER_NOUN = re.compile(r"(?:The|the|This|this|These|these|That|that)\s+(?:[a-z-]+\s+)?([a-z]+)")
DEFINITE_POSSESSOR = re.compile(r"(?:The|the|This|this)\s+([a-z]+)['’]s?(?=\s)")
# 'Battle of Hastings', 'William the Conqueror', and with 'and' also 'William and Mary' as one name.
NAME = re.compile(r"(?:[A-Z][\w'’.-]*)(?:\s+(?:(?:of|the|de|von|van|la|le|du|al|bin|ibn|and)\s+)*[A-Z][\w'’.-]*)*")
# Ends at ', who' and '(', but not at the comma of '1,200'.
END_OF_NAME = re.compile(r"\s*(?:,(?!\d)|[(;:—–])|\s+(?:who|which|that|whose|where)\b")
TRAILING_MODIFIER = re.compile(
    r"\s+(?:also|still|then|never|always|often|usually|generally|only|first|later|soon|both|all|each|"
    r"itself|himself|herself|[a-z]+ly)$"
)
# 'Huxley.' of '", wrote Huxley. Then …', but not 'J. R.' or 'Hay Jr.'.
FULL_STOP = re.compile(r"(?<![ .]\w)(?<!\b[JS]r)(?<!\.)\.$")
POSSESSIVE_PREFIX = re.compile(r"(.+?)['’]s?\s")
# The name after a closing quotation mark: '", wrote Darwin'.
SPEAKER = re.compile(rf"[\"”»],? (?:[a-z]+ ){{0,2}}({NAME.pattern})")
# 'it's', 'they've'
CONTRACTED = re.compile(r"(?:it|he|she|they|that|there|who|what|we|i|you)['’](?:s|d|re|ll|ve)")
# A word that states a quantity ('About 300', 'Over half', 'Around a third') rather than introduces a clause.
COUNTING = re.compile(r"\w+ (?:\d|a (?:third|half|quarter)|half|two|three)")
MAX_SENTENCES_BACK = 4
"""How many sentences back to look for an antecedent."""
MAX_SUBJECT_CHARS = 60
MAX_NAME_WORDS = 5
MAX_DEFINITION_SENTENCES = 4
MAX_COUNTED_PHRASE_WORDS = 3
REPLACEABLE_PRONOUNS = frozenset({"he", "she", "his", "him"})
"""'Her' is not one: it may stand for a name or for its possessive."""


class NamedSubject(NamedTuple):
    """The name of a subject, and the span of the words in the sentence that it replaces."""

    name: str
    start: int = 0
    end: int = 0
    possessive: bool = False
    name_span: tuple[int, int] | None = None
    """Where on the page the name was found; None if it is the title, or nothing was replaced."""

    def substitute_in(self, text: str, page_subject: PageSubject) -> str:
        """The sentence with the name instead of the words it replaces."""
        if self.end <= self.start:
            return text
        name = page_subject.name_with_article if self.name == page_subject.name else self.name
        if self.start and name.startswith("The "):
            name = f"the {name[4:]}"
        if self.possessive:
            name += "’" if name.endswith("s") else "’s"
        return text[: self.start] + name + text[self.end :]


class Subjects:
    """Finds the subjects of a page's sentences, resolving pronouns by the sentences before them."""

    def __init__(self, page: PageDoc, grammar: Grammar, sentences: Sequence[PageSentence]) -> None:
        self._page = page
        self._grammar = grammar
        self._sentences = sentences
        self._openings: dict[int, SentenceOpening] = {}
        self.page_subject = subject_of_page(page, grammar, sentences)

    def opening(self, index: int) -> SentenceOpening:
        if index not in self._openings:
            self._openings[index] = opening_of(self._sentences[index].text, self._grammar)
        return self._openings[index]

    def of(self, index: int) -> NamedSubject | None:
        """The subject of a sentence; None if it cannot be named, so that the sentence makes no claim."""
        text = self._sentences[index].text
        opening = self.opening(index)
        # The subject of a quotation is its speaker: the words inside are not the page's own.
        if text[0] in '"“«':
            speaker = SPEAKER.search(text)
            return NamedSubject(FULL_STOP.sub("", speaker[1])) if speaker else None
        word = ANY_WORD.match(text, opening.subject_start)
        if word is None:
            return None
        lowered = word[0].lower()
        gender = self._grammar.genders.get(lowered)
        if lowered.endswith(("self", "selves")) or CONTRACTED.fullmatch(lowered):
            return None
        # Contractions, pronouns, articles and demonstratives come first: only what is left can name its subject itself.
        if gender and lowered != "both":
            return self._resolve_pronoun(
                index, gender, word.start(), word.end(), possessive=lowered in self._grammar.possessive
            )
        if lowered in ("the", "this", "these", "that", "those"):
            return self._resolve_definite(index, opening, lowered)
        if lowered in self._grammar.demonstratives:
            return self._resolve_demonstrative(text, opening, lowered)
        return self._subject_named_here(text, opening)

    def _subject_named_here(self, text: str, opening: SentenceOpening) -> NamedSubject | None:
        """A subject that the sentence itself names."""
        words = self.phrase(text, opening)
        if words and words.split()[0].lower() in self._grammar.introductions and not COUNTING.match(words):
            return None  # 'With the siege lifted he left': it is unclear where the subject starts
        if self._is_page_subject(words):
            is_short = (
                self.page_subject.is_person
                and words in self.page_subject.short_names
                and words != self.page_subject.name
            )
            rest = text[opening.subject_start + len(words) :]
            goes_on = rest.startswith((",", " ("))
            if is_short and self._names_a_relative(rest):
                return NamedSubject(words)
            if is_short and text.startswith(words, opening.subject_start) and not goes_on:
                return NamedSubject(self.page_subject.name, opening.subject_start, opening.subject_start + len(words))
            return NamedSubject(self.page_subject.name)
        possessive = POSSESSIVE_PREFIX.match(words)
        if possessive and self._is_page_subject(possessive[1]):
            return NamedSubject(self.page_subject.name)
        return self._page_subject_from_pronoun(text, opening, words) or NamedSubject(
            words or self._first_words(text, opening)
        )

    def _names_a_relative(self, rest: str) -> bool:
        """Whether a surname is that of a relative: 'Hamilton died, and she survived him' on his wife's page.

        A pronoun of the other gender must then refer to it, since no other name comes before that pronoun.
        """
        for found in PRONOUN.finditer(rest):
            gender = self._grammar.genders.get(found[0].lower())
            if gender in ("male", "female") and gender != self.page_subject.gender:
                return not any(name[0] not in ENGLISH_MONTHS for name in NAME.finditer(rest, 0, found.start()))
        return False

    def _first_words(self, text: str, opening: SentenceOpening) -> str:
        """The first words of a sentence, if no verb shows where its subject ends."""
        name = NAME.match(text, opening.subject_start)
        if name and " " in name[0]:
            return FULL_STOP.sub("", name[0])
        return END_OF_NAME.split(text[opening.subject_start :], maxsplit=1)[0][:MAX_SUBJECT_CHARS].rstrip(".")

    def _page_subject_from_pronoun(self, text: str, opening: SentenceOpening, words: str) -> NamedSubject | None:
        """Resolves the first pronoun of 'The sights he saw led him on', unless the subject is someone else."""
        if not self.page_subject.is_person or (words and NAME.fullmatch(words) and not self._is_plural(words)):
            return None
        for found in PRONOUN.finditer(text, opening.subject_start):
            lowered = found[0].lower()
            before = text[: found.start()]
            if before.count("(") != before.count(")") or any(name in before for name in self.page_subject.short_names):
                return None  # he has been named already, or the pronoun is in brackets
            if lowered in REPLACEABLE_PRONOUNS and self._grammar.genders[lowered] == self.page_subject.gender:
                return NamedSubject(
                    self.page_subject.name, found.start(), found.end(), lowered in self._grammar.possessive
                )
        return None

    def _is_page_subject(self, words: str) -> bool:
        """Whether these words name what the page is about: 'A volcano' and 'Volcanoes' on the page Volcano."""
        if words in self.page_subject.short_names:
            return True
        if self.page_subject.is_person and self.page_subject.first_and_last_word <= set(words.split()):
            return True  # 'Charles Robert Darwin'
        bare = LEADING_ARTICLE.sub("", words.lower())
        name = self.page_subject.name.lower()
        return bare == name or singular(bare) == singular(name) or bare.startswith((f"{name} or ", f"{name} and "))

    def phrase(self, text: str, opening: SentenceOpening) -> str:
        """The words of a subject, as far as they can serve as a name, or ""."""
        if opening.verb_start < 0:
            return ""
        words = text[opening.subject_start : opening.verb_start].strip(" ,")
        words = END_OF_NAME.split(words, maxsplit=1)[0]
        if words.rpartition(" ")[2] not in self._grammar.nouns_in_ly:
            words = TRAILING_MODIFIER.sub("", words)
        return words if 0 < len(words) <= MAX_SUBJECT_CHARS else ""

    def _resolve_demonstrative(self, text: str, opening: SentenceOpening, lowered: str) -> NamedSubject | None:
        if lowered not in self._grammar.demonstratives_with_noun:
            return None
        phrase = self.phrase(text, opening)
        if lowered == "there" or not phrase:
            return NamedSubject(self.page_subject.name) if lowered == "there" else None
        # 'Some historians', 'Most of the city', but not 'Most are', 'All were', 'One such', 'Some of them'.
        words = phrase.lower().split()
        vague = words[-1] in ("them", "it", "such", "others", "these", "those") or words[1:] in (["two"], ["three"])
        return NamedSubject(phrase) if len(words) > 1 and not vague else None

    def _resolve_definite(self, index: int, opening: SentenceOpening, lowered: str) -> NamedSubject | None:
        """'The city' is the page's subject if the page is about a city; 'the first king of Spain' is itself."""
        text = self._sentences[index].text
        phrase = self.phrase(text, opening)
        if self._is_page_subject(phrase):
            return NamedSubject(self.page_subject.name)
        owner = DEFINITE_POSSESSOR.match(phrase)
        if owner and owner[1] in self.page_subject.kinds:
            return NamedSubject(
                self.page_subject.name, opening.subject_start, opening.subject_start + owner.end(), possessive=True
            )
        found = DETERMINER_NOUN.fullmatch(phrase)
        if lowered == "the":
            # 'The uniflow engine' is only a kind of what the page is about.
            if found is None or len(phrase.split()) > 2:
                return self._page_subject_from_pronoun(text, opening, phrase) or self._resolve_other_definite(phrase)
            noun = found[1]
            if noun in self.page_subject.kinds and self.page_subject.gender != "plural":
                return NamedSubject(self.page_subject.name, opening.subject_start, opening.subject_start + len(phrase))
            if noun in self._grammar.kinds:
                named = self._kind_before(index, noun)
                return named and NamedSubject(
                    named.name, opening.subject_start, opening.subject_start + len(phrase), name_span=named.name_span
                )
            has_parts = not self.page_subject.kinds.isdisjoint(self._grammar.has_parts)
            if noun in self._grammar.parts and has_parts and self.page_subject.gender == "thing":
                return NamedSubject(
                    self.page_subject.name, opening.subject_start, opening.subject_start + len(lowered), possessive=True
                )
        return None

    def _resolve_other_definite(self, phrase: str) -> NamedSubject | None:
        if not phrase:
            return NamedSubject(self.page_subject.name)
        words = phrase.lower().split()
        if len(words) <= MAX_COUNTED_PHRASE_WORDS and words[1:2] and words[1] in self._grammar.counted:
            return None  # 'the two brothers', 'the latter', 'the first of these'
        return NamedSubject(phrase)

    def _kind_before(self, index: int, noun: str) -> NamedSubject | None:
        """A name in the sentences right before that 'the …' refers to: 'Fort Sumter … The fort …'."""
        for back in range(index - 1, max(index - 3, -1), -1):
            sentence = self._sentences[back]
            if sentence.block != self._sentences[index].block:
                break
            for found in NAME.finditer(sentence.text):
                if noun in found[0].lower().split() and len(found[0].split()) > 1:
                    name_span = (sentence.start + found.start(), sentence.start + found.end())
                    return NamedSubject(found[0], name_span=name_span)
        return None

    def _resolve_pronoun(
        self, index: int, gender: str, start: int, end: int, *, possessive: bool
    ) -> NamedSubject | None:
        text = self._sentences[index].text
        if text[start:end].lower() == "it" and self._grammar.expletive.match(text, end + 1):
            return NamedSubject(self.page_subject.name)
        found = self._antecedent(index, gender)
        if found is None:
            return None
        if found.name == self.page_subject.name and any(name in text[:start] for name in self.page_subject.short_names):
            return NamedSubject(found.name)  # 'In recognition of Darwin's work, he …'
        return NamedSubject(found.name, start, end, possessive, found.name_span)

    def _antecedent(self, index: int, gender: str) -> NamedSubject | None:
        """The antecedent of a pronoun of this gender, from the sentences before it."""
        here = self._sentences[index]
        for back in range(index - 1, max(index - 1 - MAX_SENTENCES_BACK, -1), -1):
            sentence = self._sentences[back]
            if sentence.block != here.block or sentence.kind == "item":
                break
            opening = self.opening(back)
            word = ANY_WORD.match(sentence.text, opening.subject_start)
            pronoun_gender = self._grammar.genders.get(word[0].lower(), "") if word else ""
            if pronoun_gender == gender:
                continue  # refers to the same antecedent
            if {pronoun_gender, gender} == {"male", "female"}:
                return None
            if sentence.text.count("(") != sentence.text.count(")"):
                return None  # not a complete sentence
            found = None if pronoun_gender else self._candidate(sentence, opening, gender)
            if found is not None:
                return found
            if gender in ("thing", "plural") or not self.phrase(sentence.text, opening):
                return None  # the sentence between is about something else
        # Below the lead, an 'it' without an antecedent is often what the section is about.
        return None if gender == "thing" and here.section else self._page_subject_for(gender)

    @property
    def definition_index(self) -> int:
        """The index of the sentence that defines the page: the first of the lead with its subject."""
        for index, sentence in enumerate(self._sentences[:MAX_DEFINITION_SENTENCES]):
            if sentence.section:
                break
            named = self.of(index)
            if named is not None and named.name == self.page_subject.name and self.opening(index).verb_start >= 0:
                return index
        return 0

    def _candidate(self, sentence: PageSentence, opening: SentenceOpening, gender: str) -> NamedSubject | None:
        """The subject of a sentence, if a pronoun of this gender in a later one can refer to it."""
        phrase = self.phrase(sentence.text, opening)
        if not phrase:
            return None
        bare = re.sub(r"['’]s?\s.*$", "", phrase)
        if self._is_page_subject(phrase) or (bare != phrase and self._is_page_subject(bare)):
            return self._page_subject_for(gender)
        if gender in ("male", "female"):
            return self._as_person(sentence, opening, phrase, gender)
        kind = DETERMINER_NOUN.fullmatch(phrase)
        if kind and len(phrase.split()) == 2 and kind[1] in self.page_subject.kinds and gender == "thing":
            return self._page_subject_for(gender)
        if self._is_plural(phrase) != (gender == "plural") or phrase.split()[0].lower() in self._grammar.demonstratives:
            return None
        words = phrase.lower().split()
        vague = words[0] in self._grammar.genders or words[0] in ("a", "an") or words[-1] in self._grammar.people
        vague = vague or words[0] in self._grammar.introductions or words[0].endswith("ing")
        if len(words) > MAX_NAME_WORDS or kind or vague or not self._is_name(phrase):
            return None  # a phrase that would need a name itself, or a person instead of a thing
        return _subject_on_page(sentence, opening, phrase)

    def _as_person(
        self, sentence: PageSentence, opening: SentenceOpening, phrase: str, gender: str
    ) -> NamedSubject | None:
        """A name as the subject of a sentence, if it can be a person's."""
        found = NAME.match(phrase)
        if found is None or found[0] != phrase or phrase.partition(" ")[0] in ("The", "A", "An", "In", "On"):
            return None
        if not self._is_name(phrase):
            return None
        if (
            self.page_subject.is_person
            and self.page_subject.gender == gender
            and set(phrase.split()) & self.page_subject.short_names
        ):
            return NamedSubject(self.page_subject.name)
        return _subject_on_page(sentence, opening, phrase)

    def _is_name(self, phrase: str) -> bool:
        """Whether a single word is a name: then it is capitalized within sentences too."""
        if " " in phrase:
            return True
        return re.search(rf"[a-z,;] {re.escape(phrase)}\b", self._page.text) is not None

    def _page_subject_for(self, gender: str) -> NamedSubject | None:
        return NamedSubject(self.page_subject.name) if self.page_subject.gender == gender else None

    def _is_plural(self, phrase: str) -> bool:
        last = re.split(r"\s+(?:of|in|from|with|for|at|on)\s", phrase)[0].split()[-1]
        if phrase.split()[0].lower() in self._grammar.counted:
            return True
        plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
        return " and " in phrase or (plural and (last[0].islower() or last == phrase))


def _subject_on_page(sentence: PageSentence, opening: SentenceOpening, phrase: str) -> NamedSubject:
    """The phrase that starts a sentence's subject, with its place on the page."""
    start = sentence.start + opening.subject_start
    return NamedSubject(phrase, name_span=(start, start + len(phrase)))
