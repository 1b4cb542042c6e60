"""What a book says about itself, with the many spellings of its makers made one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.ids import BookId
from kiwiresearch.text.languages import three_letter_code

Kind = Literal["wikipedia", "wiki", "stackexchange", "devdocs", "gutenberg", "ted", "website", "other"]

FLAVOURS = ("mini", "nodet", "nopic", "novid", "maxi")

LEAD_ONLY = frozenset({"mini", "nodet"})
"""Flavours whose pages end with the introduction."""

SISTERS = ("wikibooks", "wikinews", "wikiquote", "wikisource", "wikispecies", "wikiversity",
           "wikivoyage", "wiktionary", "wikimedia", "vikidia", "wikem", "wiki")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Indexes:
    """What the book can look up by itself."""

    full_text: bool
    titles: bool


@dataclass(frozen=True, slots=True)
class Book:
    """The data sheet of a book."""

    id: BookId
    source: str
    name: str
    title: str
    description: str
    date: str
    languages: tuple[str, ...]
    flavour: str
    creator: str
    publisher: str
    scraper: str
    tags: tuple[str, ...]
    articles: int
    entries: int
    media: int
    size_bytes: int
    indexes: Indexes
    kind: Kind
    main_page: str
    old_namespaces: bool

    @property
    def is_wikipedia(self) -> bool:
        return self.kind == "wikipedia"

    @property
    def lead_only(self) -> bool:
        """The pages hold introductions only, so what they lack is no gap in knowledge."""
        return self.flavour in LEAD_ONLY

    @property
    def language(self) -> str:
        """The first language, as an ISO 639-3 code; empty where the book tells none."""
        return self.languages[0] if self.languages else ""


def clean(value: str) -> str:
    """Metadata as people meant it: no control characters, no lone '=' of broken scrapers."""
    value = re.sub(r"[\x00-\x1f\x7f]+", " ", value).strip()
    return value.removeprefix("=").strip()


def languages_of(value: str) -> tuple[str, ...]:
    """'en', 'eng', '=en', 'eng,fra' and 'en-GB' all become three-letter codes."""
    codes = (three_letter_code(part) for part in re.split(r"[,;\s]+", clean(value)))
    return tuple(dict.fromkeys(code for code in codes if code))


def flavour_of(value: str, tags: tuple[str, ...], filename: str) -> str:
    """The flavour from its metadata, else from the tags, else from the file's name."""
    named = clean(value).lower().strip("_")
    if named:
        return named
    if "_pictures:no" in tags and "_details:no" in tags:
        return "mini"
    for word in (*tags, *re.split(r"[_.]", filename.lower())):
        if word in FLAVOURS:
            return word
    return ""


def kind_of(metadata: Mapping[str, str], filename: str) -> Kind:
    """Which family of site a book was made from."""
    name = clean(metadata.get("Name", "")).lower() or filename.lower()
    creator = clean(metadata.get("Creator", "")).lower()
    source = metadata.get("Source", "").lower()
    tags = metadata.get("Tags", "").lower()
    scraper = metadata.get("Scraper", "").lower()
    if "_category:wikipedia" in tags or ".wikipedia.org" in source:
        return "wikipedia"
    if name.startswith("wikipedia") or creator.startswith("wikipedia"):
        return "wikipedia"
    if "stack exchange" in creator or "stackexchange" in name or "sotoki" in scraper:
        return "stackexchange"
    if "devdocs" in (tags + name + scraper + creator):
        return "devdocs"
    if "gutenberg" in (name + creator):
        return "gutenberg"
    if name.startswith("ted_") or scraper.startswith("ted2zim"):
        return "ted"
    if any(sister in name or sister in creator for sister in SISTERS) or "mwoffliner" in scraper:
        return "wiki"
    if "zimit" in scraper or "warc2zim" in scraper:
        return "website"
    return "other"


def tags_of(value: str) -> tuple[str, ...]:
    return tuple(tag for part in value.split(";") if (tag := clean(part)))
