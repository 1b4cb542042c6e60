"""What a page is about: its name, other ways to name it, what kind of thing it is, and how one speaks of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.claims.sentence import Sentence
from kiwiresearch.claims.tables import Grammar
from kiwiresearch.page.doc import PageDoc

BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")
MOST_PRONOUNS = 0.6


@dataclass(frozen=True, slots=True)
class Theme:
    """What a page is about."""

    name: str
    short: frozenset[str]
    """Other ways in which the page names it: 'Darwin' for Charles Darwin."""
    gender: str
    """male, female, thing or several; empty where nobody can tell."""
    kinds: frozenset[str]
    """Nouns for the kind of thing it is."""
    spoken: str = ""
    """Its name as the first sentence has it, with its article: 'the Iron Age', 'a volcano'."""

    @property
    def ends(self) -> frozenset[str]:
        """First and last word of its name."""
        words = self.name.partition(",")[0].split()
        return frozenset(words[:1] + words[-1:])

    @property
    def is_person(self) -> bool:
        return self.gender in ("male", "female")


def theme_of(page: PageDoc, grammar: Grammar, sentences: Sequence[Sentence]) -> Theme:
    """Read off a page what it is about: its title, and what its first sentences say."""
    name = BRACKETED.sub("", page.title) or page.title
    bracket = BRACKETED.search(page.title)
    begin = " ".join(sentence.text for sentence in sentences[:2] if sentence.section == 0)
    telling = f"{_said_to_be(name, sentences)} {bracket[0] if bracket else ''} {name}".lower()
    kinds = frozenset(grammar.kinds.intersection(re.findall(r"[a-z]+", telling)))
    gender = _gender(page, name, kinds, sentences)
    if gender in ("male", "female"):
        kinds &= grammar.people
    return Theme(name, _short_names(name, gender), gender, kinds, _spoken(name, begin, page.text[:COMMON_CHARS]))


def _said_to_be(name: str, sentences: Sequence[Sentence]) -> str:
    """What the first sentence with a copula says that the page's subject is, up to where it tells more."""
    for sentence in sentences[:3]:
        if sentence.section:
            break
        found = SAID_TO_BE.search(sentence.text)
        if found and name.rpartition(" ")[2].lower()[:4] in sentence.text[: found.start()].lower():
            return TELLS_MORE.split(sentence.text[found.end() : found.end() + FIRST_CHARS], maxsplit=1)[0]
    return ""


SAID_TO_BE = re.compile(r"\b(?:is|are|was|were)\s+(?:an?|the|one of)\b")
TELLS_MORE = re.compile(r"[;.]|,? (?:that|which|who|whose|where|located|situated|in|on|of|at|near|by|from|with|for)\b")


def _spoken(name: str, begin: str, text: str) -> str:
    small = name[:1].lower() + name[1:]
    if name[1:2].islower() and re.search(rf"(?<=[a-z,] ){re.escape(small)}\b", text):
        name = small  # a common noun
    found = re.search(rf"(?:^|[.] )(the|an?)\s+({re.escape(name)})\b", begin, re.IGNORECASE)
    return f"{found[1].lower()} {found[2]}" if found else name


def _gender(page: PageDoc, name: str, kinds: frozenset[str], sentences: Sequence[Sentence]) -> str:
    words = page.text[:PRONOUN_CHARS].lower().split()
    he, she = (sum(words.count(word) for word in pronouns) for pronouns in (HE, SHE))
    most = max((he, "male"), (she, "female"))
    lead = [sentence.text for sentence in sentences[:4] if sentence.section == 0]
    lived = any(LIVED.search(BEFORE_VERB.split(text[:250])[0]) for text in lead[:1])
    spoken_of = any(re.match(r"(?:He|She|His|Her)\b", text) for text in lead[1:])
    is_thing = name.rpartition(" ")[2].lower() in kinds or name.startswith("The ")
    is_person = (lived or spoken_of) and not is_thing
    if is_person and most[0] > MOST_PRONOUNS * (he + she) and most[0] >= 2:
        return most[1]
    first = lead[0].lower() if lead else ""
    if re.match(r"(?:the )?[^.;]{1,80}? (?:are|were) ", first) and " is " not in first[:60]:
        return "several"
    return "" if is_person else "thing"


FIRST_CHARS, COMMON_CHARS = 400, 4_000
BEFORE_VERB = re.compile(r"\b(?:is|was|are|were)\b")
HE, SHE = ("he", "his", "him"), ("she", "her", "hers")
PRONOUN_CHARS = 5_000
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
