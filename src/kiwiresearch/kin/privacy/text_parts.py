"""Parts of a text that matter for privacy: its words, contacts such as e-mail addresses, and states and countries."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from kiwiresearch.text import fold

INSIDE_WORDS = "\u00ad\u200b-\u200f\u2060\ufeff'’ʼ\u0300-\u036f"
"""Characters inside a word that do not end it."""
# 'O’Brien' and 'Müller-' without its hyphen are words; '3rd' is the number 3 and the word 'rd'.
WORD = re.compile(rf"[^\W\d_](?:[{INSIDE_WORDS}]*[^\W\d_])*[\u0300-\u036f]*|\d+")


# "Hay's" and 'Hay’s'.
POSSESSIVE = re.compile(r"['’ʼ][sS]$")
ELISION = re.compile(r"^[^\W\d_]{1,5}['’ʼ](?=[^\W\d_]{2})")
"""What is joined to a name in French and Italian: 'd’Anne', 'dell’Anna'."""
ASIDE = re.compile(
    r"""\([^()]{1,60}\)|\[[^][]{1,60}\]|"[^"]{1,60}"|“[^“”]{1,60}”|«[^«»]{1,60}»|‘[^‘’]{1,60}’|\B'[^']{1,60}'\B"""
)
"""A nickname or a name at birth between the parts of a name: 'Anne “Nan” Hay', 'Anne (née Lee) Hay'."""


class Token(NamedTuple):
    """A word: `text[start:end]`, its folded form, and whether it is written as names are."""

    word: str
    start: int
    end: int
    is_namelike: bool
    forms: tuple[str, ...]
    """The word, and what is left of it without a possessive ending or an elided article: 'hay' for "Hay's"."""
    is_aside: bool = False
    """Whether it is in brackets or quotation marks."""


def tokens(text: str) -> list[Token]:
    """The words and numbers of a text; '3rd' is two tokens."""
    asides = [*ASIDE.finditer(text)][::-1]
    found = []
    for word in WORD.finditer(text):
        while asides and asides[-1].end() <= word.start():
            asides.pop()
        is_aside = bool(asides) and asides[-1].start() < word.start()
        is_namelike = _is_namelike(text, word.start(), word.end())
        found.append(Token(_folded(word[0]), word.start(), word.end(), is_namelike, _forms(word[0]), is_aside))
    return found


def _forms(word: str) -> tuple[str, ...]:
    if word.isalnum():
        return (_folded(word),)
    stem = POSSESSIVE.sub("", word)
    return tuple(dict.fromkeys(_folded(form) for form in (word, stem, ELISION.sub("", word), ELISION.sub("", stem))))


def _is_namelike(text: str, start: int, end: int) -> bool:
    """Whether a word is capitalised like a name; for a number, whether it is not part of an id."""
    if text[start].isdecimal():
        return not (text[start - 1 : start].isalpha() or text[end : end + 1].isalpha())
    elided = ELISION.match(text[start:end])
    return not text[start].islower() or bool(elided and not text[start + elided.end()].islower())


def words(text: str) -> tuple[str, ...]:
    return tuple(token.word for token in tokens(text))


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    return (word.lstrip("0") or "0") if word[0].isdecimal() else fold(word).replace(" ", "")


def contains_words(words: str, text: str) -> bool:
    """Whether a text contains these words, not as parts of others: 'I1' is not in 'I12'."""
    at = text.find(words)
    while at >= 0:
        end = at + len(words)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(words, at + 1)
    return False


ContactKind = Literal["e-mail", "phone", "ssn", "address", "handle"]

PATTERNS: tuple[tuple[ContactKind, re.Pattern[str]], ...] = (
    # 'ann@example.org', also as 'ann [at] example.org' and with '%40'.
    ("e-mail", re.compile(r"(?i)(?<![\w.+-])[\w.+-]{1,64}(?:@|\s?\[at\]\s?|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")),
    # A profile on a known site, then '@ann_hay'; '@I12@' is a pointer of GEDCOM.
    ("handle", re.compile(r"(?i)\b(?:https?://)?(?:www\.)?(?:facebook|instagram|twitter|tiktok|linkedin|x)\.com/[\w./@%?=-]+")),
    ("handle", re.compile(r"(?<![\w@./])@[A-Za-z_]\w{2,30}\b(?!@)")),
    # '078-05-1120' anywhere, and other spellings only after words that announce them.
    ("ssn", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")),
    ("ssn", re.compile(r"(?i)\b(?:ssn|social security(?: number| no\.?)?)\W{0,3}\d{3}[ -]?\d{2}[ -]?\d{4}\b")),
    # '+44 20 7946 0958', '(202) 456-1111', '030 1234 567', 'Tel. 5551234'; the years '1801 - 1850' are none of these.
    ("phone", re.compile(r"(?<![\w+])\+\d{1,3}(?:[ .()-]{0,2}\d){6,13}(?!\w)")),
    ("phone", re.compile(r"(?<!\w)\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}(?!\w)")),
    ("phone", re.compile(r"(?<!\w)0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\w)")),
    ("phone", re.compile(r"(?i)\b(?:phone|tel|telephone|mobile|cell|fax)\b[.:]?\s{0,3}\+?[\d(][\d ().-]{5,18}\d")),
    # '12 Elm Street', 'Hauptstraße 5' and 'P.O. Box 12', but not 'Elm Street' alone, which is a place of many people.
    ("address", re.compile(
        r"\b\d{1,5}[A-Za-z]?,?\s(?:(?:[NSEW]|North|South|East|West)\.?\s)?(?:[A-Z][a-zà-ÿ'’][\w'’.-]{0,30}\s){1,4}"
        r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Terrace|Close|Crescent|Square|Parkway|Pkwy|Highway|Hwy)\b\.?"
    )),
    ("address", re.compile(r"\b[A-Z][\w'’-]{2,30}(?:straße|strasse|str\.|weg|gasse|platz)\s\d{1,4}[a-z]?\b")),
    ("address", re.compile(r"(?i)\bP\.?\s?O\.?\s?Box\s\d{1,6}\b")),
)  # fmt: skip
# Words of our time: 'her Facebook page', but not 'her page'.
CLUES = re.compile(
    r"(?i)\b(?:facebook|instagram|twitter|tiktok|linkedin|youtube channel|e-?mail|website|podcast|smartphone|"
    r"whatsapp|snapchat|social media)\b"
)


class Contact(NamedTuple):
    """A contact, such as an e-mail address: `text[start:end]`."""

    start: int
    end: int
    kind: ContactKind


def contacts_in(text: str) -> list[Contact]:
    """The contacts of a text, in order and not overlapping."""
    found: list[Contact] = []
    for contact in sorted(_all(text), key=lambda item: (item.start, -item.end)):
        if not found or contact.start >= found[-1].end:
            found.append(contact)
    return found


def _all(text: str) -> Iterator[Contact]:
    for kind, pattern in PATTERNS:
        for match in pattern.finditer(text):
            yield Contact(match.start(), match.end(), kind)


def without_contacts(text: str) -> str:
    """The text with each contact replaced by its kind: '[e-mail]'."""
    for contact in reversed(contacts_in(text)):
        text = f"{text[: contact.start]}[{contact.kind}]{text[contact.end :]}"
    return text


def has_modern_clue(text: str) -> bool:
    """Whether a text about a person can only be from our time."""
    return bool(CLUES.search(text) or any(contact.kind in ("e-mail", "handle") for contact in contacts_in(text)))


DATA = Path(__file__).with_name("data") / "regions.toml"


@cache
def _names() -> tuple[frozenset[str], frozenset[str]]:
    table = tomllib.loads(DATA.read_text(encoding="utf-8"))
    return frozenset(map(fold, table["countries"])), frozenset(map(fold, table["states"]))


def is_region(part: str) -> bool:
    """Whether a part of a place is a state or a country."""
    countries, states = _names()
    return fold(part) in countries or fold(part) in states


def parts_of(place: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in place.split(",") if part.strip())


def region(place: str) -> str:
    """'Hope, Hempstead, Arkansas, USA' as 'Arkansas, USA'; empty if a place names neither state nor country.

    >>> region("Leeds, Yorkshire")
    ''
    """
    countries, states = _names()
    left = list(parts_of(place))
    kept: list[str] = []
    # From the end: the country, then the state. What is left of them would be more exact than may be shown.
    for names in (countries, states):
        if left and fold(left[-1]) in names:
            kept.insert(0, left.pop())
    return ", ".join(kept)
