"""E-mail addresses, telephone numbers, street addresses and the like: what leads to a living person's door."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

ContactKind = Literal["e-mail", "phone", "ssn", "address", "handle"]

PATTERNS: tuple[tuple[ContactKind, re.Pattern[str]], ...] = (
    ("e-mail", re.compile(r"(?i)(?<![\w.+-])[\w.+-]{1,64}(?:@|\s?\[at\]\s?|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")),
    ("handle", re.compile(r"(?i)\b(?:https?://)?(?:www\.)?(?:facebook|instagram|twitter|tiktok|linkedin|x)\.com/[\w./@%?=-]+")),
    ("handle", re.compile(r"(?<![\w@./])@[A-Za-z_]\w{2,30}\b(?!@)")),
    ("ssn", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")),
    ("ssn", re.compile(r"(?i)\b(?:ssn|social security(?: number| no\.?)?)\W{0,3}\d{3}[ -]?\d{2}[ -]?\d{4}\b")),
    ("phone", re.compile(r"(?<![\w+])\+\d{1,3}(?:[ .()-]{0,2}\d){6,13}(?!\w)")),
    ("phone", re.compile(r"(?<!\w)\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}(?!\w)")),
    ("phone", re.compile(r"(?<!\w)0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}(?!\w)")),
    ("phone", re.compile(r"(?i)\b(?:phone|tel|telephone|mobile|cell|fax)\b[.:]?\s{0,3}\+?[\d(][\d ().-]{5,18}\d")),
    ("address", re.compile(
        r"\b\d{1,5}[A-Za-z]?,?\s(?:(?:[NSEW]|North|South|East|West)\.?\s)?(?:[A-Z][a-zà-ÿ'’][\w'’.-]{0,30}\s){1,4}"
        r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Terrace|Close|Crescent|Square|Parkway|Pkwy|Highway|Hwy)\b\.?"
    )),
    ("address", re.compile(r"\b[A-Z][\w'’-]{2,30}(?:straße|strasse|str\.|weg|gasse|platz)\s\d{1,4}[a-z]?\b")),
    ("address", re.compile(r"(?i)\bP\.?\s?O\.?\s?Box\s\d{1,6}\b")),
)  # fmt: skip
CLUES = re.compile(
    r"(?i)\b(?:facebook|instagram|twitter|tiktok|linkedin|youtube channel|e-?mail|website|podcast|smartphone|"
    r"whatsapp|snapchat|social media)\b"
)


class Contact(NamedTuple):
    """A way to a person, and where it stands: `text[start:end]`."""

    start: int
    end: int
    kind: ContactKind


def contacts_in(text: str) -> list[Contact]:
    """The contacts of a text, in order and not overlapping."""
    found: list[Contact] = []
    for contact in sorted(_all(text), key=lambda one: (one.start, -one.end)):
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
    """Whether a text about a person can only be of our time."""
    return bool(CLUES.search(text) or any(one.kind in ("e-mail", "handle") for one in contacts_in(text)))
