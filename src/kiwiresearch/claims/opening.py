"""The subject of a page, and how its sentences open: connectives, subject, verb."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.claims.language import Grammar
from kiwiresearch.claims.sentence import PageSentence
from kiwiresearch.page import PageDoc
from kiwiresearch.text import TITLE_QUALIFIER, without_qualifier
from kiwiresearch.text.dates import ENGLISH_MONTHS

MIN_GENDER_SHARE = 0.6
"""The share of a page's pronouns that must have one gender."""


@dataclass(frozen=True, slots=True)
class PageSubject:
    """The subject of a page."""

    name: str
    short_names: frozenset[str]
    """Shorter names for it: 'Darwin' for Charles Darwin."""
    gender: str
    """male, female, thing or plural (which pronouns tell apart just like a gender); empty if unknown."""
    kinds: frozenset[str]
    """Nouns for the kind of thing it is."""
    name_with_article: str = ""
    """Its name as the first sentence has it, with its article: 'the Iron Age', 'a volcano'."""

    @property
    def first_and_last_word(self) -> frozenset[str]:
        """First and last word of its name."""
        words = self.name.partition(",")[0].split()
        return frozenset(words[:1] + words[-1:])

    @property
    def is_person(self) -> bool:
        return self.gender in ("male", "female")


def subject_of_page(page: PageDoc, grammar: Grammar, sentences: Sequence[PageSentence]) -> PageSubject:
    """The subject of a page, from its title and first sentences."""
    name = without_qualifier(page.title)
    bracket = TITLE_QUALIFIER.search(page.title)
    begin = " ".join(sentence.text for sentence in sentences[:2] if sentence.section == 0)
    description = f"{_definition(name, sentences)} {bracket[0] if bracket else ''} {name}".lower()
    kinds = frozenset(grammar.kinds.intersection(re.findall(r"[a-z]+", description)))
    gender = _gender(page, name, kinds, sentences)
    if gender in ("male", "female"):
        # A person's description also has words such as 'city', but 'the city' never means that person.
        kinds &= grammar.people
    return PageSubject(
        name, _short_names(name, gender), gender, kinds, _with_article(name, begin, page.text[:COMMON_CHARS])
    )


def _definition(name: str, sentences: Sequence[PageSentence]) -> str:
    """What the first sentence with a copula says the subject is, up to the next clause."""
    for sentence in sentences[:3]:
        if sentence.section:
            break
        found = IS_A.search(sentence.text)
        # The first letters of the last word, so that plurals and inflected forms of the title count.
        if found and name.rpartition(" ")[2].lower()[:4] in sentence.text[: found.start()].lower():
            return FURTHER_CLAUSE.split(sentence.text[found.end() : found.end() + FIRST_CHARS], maxsplit=1)[0]
    return ""


IS_A = re.compile(r"\b(?:is|are|was|were)\s+(?:an?|the|one of)\b")
FURTHER_CLAUSE = re.compile(
    r"[;.]|,? (?:that|which|who|whose|where|located|situated|in|on|of|at|near|by|from|with|for)\b"
)


def _with_article(name: str, begin: str, text: str) -> str:
    """The name as sentences use it: 'the Iron Age', 'a volcano'."""
    lowered = name[:1].lower() + name[1:]
    if name[1:2].islower() and re.search(rf"(?<=[a-z,] ){re.escape(lowered)}\b", text):
        name = lowered  # a common noun
    found = re.search(rf"(?:^|[.] )(the|an?)\s+({re.escape(name)})\b", begin, re.IGNORECASE)
    return f"{found[1].lower()} {found[2]}" if found else name


def _gender(page: PageDoc, name: str, kinds: frozenset[str], sentences: Sequence[PageSentence]) -> str:
    words = page.text[:PRONOUN_CHARS].lower().split()
    he, she = (sum(words.count(word) for word in pronouns) for pronouns in (HE_WORDS, SHE_WORDS))
    most = max((he, "male"), (she, "female"))
    lead = [sentence.text for sentence in sentences[:4] if sentence.section == 0]
    lived = any(LIVED.search(VERB.split(text[:250])[0]) for text in lead[:1])
    has_pronoun = any(re.match(r"(?:He|She|His|Her)\b", text) for text in lead[1:])
    is_thing = name.rpartition(" ")[2].lower() in kinds or name.startswith("The ")
    # A lifespan, or a pronoun that opens a sentence of the lead; many pronouns further down prove nothing.
    is_person = (lived or has_pronoun) and not is_thing
    if is_person and most[0] > MIN_GENDER_SHARE * (he + she) and most[0] >= 2:
        return most[1]
    first = lead[0].lower() if lead else ""
    # 'Vikings were …' is plural; 'Cheese is a food whose kinds are …' is not.
    if re.match(r"(?:the )?[^.;]{1,80}? (?:are|were) ", first) and " is " not in first[:60]:
        return "plural"
    return "" if is_person else "thing"


FIRST_CHARS, COMMON_CHARS = 400, 4_000
VERB = re.compile(r"\b(?:is|was|are|were)\b")
HE_WORDS, SHE_WORDS = ("he", "his", "him"), ("she", "her", "hers")
PRONOUN_CHARS = 5_000
# Life dates in brackets after a name: '(12 May 1820 – 13 August 1910)', '(born 1950)'.
LIVED = re.compile(
    r"\((?:[^()]{0,60}[;,] )?(?:born|b\.|c\.|ca\.)?\s*[^()]{0,30}\d{3,4}[^()]{0,14}[–—-]\s*[^()]{0,40}\d{3,4}\b|\(born "
)


def _short_names(name: str, gender: str) -> frozenset[str]:
    words = [word for word in re.findall(r"[^\W\d_][\w'’-]+", name.partition(",")[0]) if word[0].isupper()]
    if gender in ("male", "female") and len(words) > 1:
        return frozenset({words[-1], words[0], f"{words[0]} {words[-1]}"})
    return frozenset({name})


def singular(noun: str) -> str:
    return noun[:-3] + "y" if noun.endswith("ies") else noun.removesuffix("s")


WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[(),;:—–]")
MAX_INTRODUCTION_CHARS = 110
MAX_SUBJECT_WORDS = 24


class SentenceOpening(NamedTuple):
    """Offsets into a sentence: `start` follows any connectives; the subject spans `subject_start:verb_start`."""

    start: int
    subject_start: int
    verb_start: int
    """-1 if no verb was found."""


def opening_of(text: str, grammar: Grammar) -> SentenceOpening:
    start, kept = _after_connectives(text, grammar)
    subject = _after_introduction(text, start, kept, grammar)
    verb = verb_after(text, subject, grammar)
    return SentenceOpening(start, _after_adverbs(text, subject, verb, grammar), verb)


def _after_connectives(text: str, grammar: Grammar) -> tuple[int, re.Match[str] | None]:
    """The offset after leading connectives such as 'Thus,', and the match of one that must not be cut, if any."""
    start = 0
    while found := grammar.connective.match(text, start):
        words = found[0].strip(" ,").lower()
        # 'Thus, it fell' but not 'Also sprach', 'So far', 'Yet another'.
        if words in grammar.kept_connectives or not ("," in found[0] or words in SAFE_WITHOUT_COMMA):
            break
        start = found.end()
    return start, found


def _after_adverbs(text: str, subject: int, verb: int, grammar: Grammar) -> int:
    """The offset after 'So far,' and the like: a few adverbs before the only comma before the verb."""
    comma = text.find(", ", subject, verb) if verb >= 0 else -1
    if comma < 0 or text.find(",", comma + 1, verb) >= 0:
        return subject
    words = text[subject:comma].lower().split()
    is_adverbial = 0 < len(words) <= MAX_ADVERBS and words[0] in grammar.adverbs
    return comma + 2 if is_adverbial else subject


MAX_ADVERBS = 3
SAFE_WITHOUT_COMMA = frozenset({"and", "but", "thus", "however", "therefore", "hence", "moreover", "nevertheless"})


def _after_introduction(text: str, start: int, kept: re.Match[str] | None, grammar: Grammar) -> int:
    """The offset after 'In 1825,' and the like, if such a phrase precedes the subject."""
    first = WORD.match(text, start)
    if first is None:
        return start
    word = first[0].lower()
    if word not in grammar.introductions and not (word.endswith(("ly", "ing", "ed")) and len(word) > len("only")):
        return kept.end() if kept and "," in kept[0] else start
    comma = _comma_after(text, start)
    short = _short_introduction(text, start, comma if comma >= 0 else len(text), grammar)
    if short != start or comma < 0:
        return short
    inside = INNER_DATE if any(char.isdigit() for char in text[start:comma]) else INNER
    while inner := inside.match(text, comma + 1):
        comma = inner.end() - 1
    after = WORD.match(text, comma + 2)
    if after and after[0] in grammar.introductions:  # 'Around 1200 BC, in the great collapse, the island …'
        second = _comma_after(text, comma + 2)
        comma = second if second >= 0 else comma
    return min(comma + 2, len(text))


# If the phrase has digits, only a date may continue it: a capitalized word after a date may be the subject.
INNER_DATE = re.compile(r" \d{1,4}(?: BCE?| AD| CE)?,(?= )")
INNER = re.compile(r" (?:\d{1,4}(?: BCE?| AD| CE)?|[A-Z][\w.]+(?: (?:and )?[A-Z][\w.]+){0,2}),(?= )")
"""Text between two commas that belong to one phrase: 'In Paris, France, he', 'On May 5, 1821, Napoleon'."""


def _comma_after(text: str, start: int) -> int:
    """The first comma outside brackets that is near enough to end a phrase; -1 if there is none."""
    end = min(len(text), start + MAX_INTRODUCTION_CHARS)
    comma = text.find(", ", start, end + 1)
    if comma < 0 or (text.find("(", start, comma) < 0 and text.find("[", start, comma) < 0):
        return comma
    depth = 0
    for at in range(start, end):
        char = text[at]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth <= 0 and text[at + 1 : at + 2] == " ":
            return at
    return -1


# 'In 1838 ', 'In early May 1838 ', 'In the 19th century '; not 'In Paris ', which has no figure.
DATED = re.compile(
    r"(?:In|By|Since|During|Until|From|On|At|After|Before|Around)\s+(?:the\s+|about\s+|c\.\s*)?"
    rf"(?:(?:early|late|mid)[- ])?(?:(?:\d{{1,2}}\s+)?(?:{'|'.join(ENGLISH_MONTHS)})\s+(?:\d{{1,2}},\s+)?)?"
    r"[\w–-]*\d[\w–-]*"
    # Possessive, so that the era of 'In 753 BC, the city …' is not given back and taken for a name.
    r"(?:\s+(?:BC|BCE|AD|CE|century|centuries)\b){0,2}+\s+"
)
# A phrase of up to seven words before a pronoun: 'In the Near East it'.
PLACED = re.compile(r"(?:[\w'’-]+\s+){1,7}?(?=(?:he|she|it|they)\b)")


def _short_introduction(text: str, start: int, end: int, grammar: Grammar) -> int:
    """The offset after a phrase without a comma: 'In 1838 he conceived …', 'In the Near East it …'."""
    found = DATED.match(text, start, end)
    if found:
        word = WORD.match(text, found.end())
        starts = word is not None and (word[0].lower() in grammar.genders or word[0] in ("the", "a", "an"))
        if word and word[0] not in ENGLISH_MONTHS and (starts or word[0][0].isupper()):
            return found.end()
    found = PLACED.match(text, start, end)
    if found and text[start].isupper() and verb_after(text[start : found.end()], 0, grammar) < 0:
        return found.end()
    return start


def verb_after(text: str, start: int, grammar: Grammar) -> int:
    """The offset of the first finite verb from `start` on; -1 if none is near."""
    verbs, depth, count, before = grammar.verbs, 0, 0, ""
    for found in WORD.finditer(text, start):
        word = found[0]
        if word in PUNCTUATION:
            if word == "(":
                depth += 1
            elif word == ")":
                depth = max(depth - 1, 0)
            elif not depth and word == ",":
                before = ","
            # A semicolon or colon ends the clause; a verb after it has another subject.
            elif not depth and word in ";:":
                return -1
        elif not depth:
            count += 1
            if count > MAX_SUBJECT_WORDS:
                return -1
            lowered = word.lower()
            # A cheap test that few words pass.
            may_be = lowered in verbs or (count > 1 and lowered.endswith("ed"))
            if may_be and word[0].islower() and _is_verb(text, found.end(), lowered, before, grammar):
                return found.start()
            before = lowered
    return _present_after(text, start)


PUNCTUATION = frozenset("(),;:—–")


def _is_verb(text: str, end: int, word: str, before: str, grammar: Grammar) -> bool:
    """Whether a word that looks like a verb is one, given the word before it."""
    if before in RELATIVE_PRONOUNS:
        return False
    if word in grammar.verbs and before not in BEFORE_NOUNS:
        # 'pyroclastic flows are', 'the state rules were'
        is_noun = word in grammar.nouns_too and _verb_follows(text, end, grammar)
        if not is_noun:
            return True
    return word.endswith("ed") and len(word) > 3 and before != "," and before not in grammar.not_before_verbs


# A lower-case word in -s before a function word, which a verb is likely to precede: 'survives in', 'covers the'.
# Words in -ss, -us and -is are left out.
PRESENT = re.compile(
    r"(?<=[\w)] )(?!(?:its|his|this|is|as|was|has|thus|plus|various|always|perhaps|across)\b)[a-z]{2,}[^\Wsui]s"
    r"(?= (?:the|an?|in|on|to|by|from|with|at|as|its|their|his|her|for|into|over|between|through|about|only|that)\b)"
)


def _present_after(text: str, start: int) -> int:
    """A word that looks like a verb in the present tense: 'the plague survives in'; -1 if there is none."""
    found = PRESENT.search(text, start, start + MAX_INTRODUCTION_CHARS)
    return found.start() if found else -1


def _verb_follows(text: str, start: int, grammar: Grammar) -> bool:
    """Whether another verb is among the next few words, before any punctuation."""
    for found in itertools.islice(WORD.finditer(text, start), NEAR_WORDS):
        word = found[0]
        if word in "(),;:—–" or word in RELATIVE_PRONOUNS:
            return False
        if word in grammar.verbs and word not in grammar.nouns_too:
            return True
    return False


NEAR_WORDS = 6
RELATIVE_PRONOUNS = frozenset({"who", "which", "that", "whom", "whose", "where"})
BEFORE_NOUNS = frozenset(
    ("the", "a", "an", "of", "his", "her", "its", "their", "this", "in", "by", "for", "and", "or", "with", "to")
)
"""A word after one of these is a noun, even if it looks like a verb."""
