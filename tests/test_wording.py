"""The voice of the product: no sentence that a user can see falls back into the stilted English of early versions.

Style cannot be proved by a test. These are the patterns that came back most often; CONTRIBUTING.md says how to write.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import kiwiresearch
from kiwiresearch import errors
from kiwiresearch.messages import LANGUAGES, catalogue_in

ROOT = Path(kiwiresearch.__file__).parent

STILTED = {
    "en": (
        r"(?<!there )(?<!There )\bis no (?!longer\b|more than\b)",
        r"\b(?:there is|there are|There is|There are|No|no) such\b",
        r"\b(?:are|is|was|were|be) told\b",
        r"\btells? (?:how|more|of|you)\b",
        r"\bwho asks\b",
        r"\b[Ww]hoever\b",
        r"\bwho runs (?:this|the)\b",
        r"\b[Bb]eg[iau]n\b anew|\banew\b",
        r"\bc[ao]me to nothing\b",
        r"\bof ours\b",
        r"\bmend(?:s|ed)?\b",
        r"\bin line\b(?! with)",
        r"\breckon",
        r"\b(?:bears?|borne?|bore) (?:it )?out\b",
        r"\bthis desk\b|\bThe desk\b",
        r"\b(?:the|this|your) shelf\b",
        r"\b[Ll]eft to itself\b",
        r"\ball hands\b|\bAll hands\b",
        r"\blook for it yourself\b",
        r"\bPlease\b|\bplease\b",
        r"!(?:\s|$)",
    ),
    "fr": (r"\bce bureau\b", r"\bétagère\b", r"[a-z]'[a-zéèêàâîô]", r"!(?:\s|$)"),
    "es": (r"\beste escritorio\b", r"\bestanter?[íi]?[ae]?\b", r"!(?:\s|$)"),
}
"""What no sentence of a language may contain, as regular expressions."""

ALLOWED = (
    "Tell me more",  # what a reader may ask, not what we say
)
"""Sentences, or parts of them, in which a pattern is right."""

MAKERS = frozenset(
    {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.KiwiError)}
    | {"Message", "Problem", "Refused"}
)
"""Calls whose arguments are sentences for people."""
MAKER = re.compile(rf"\b(?:{'|'.join(sorted(MAKERS))})\s*\(")
"""Finds such a call; a source without one need not be parsed."""


class Sentence(NamedTuple):
    """A sentence that a user can see, and where it is written."""

    file: str
    where: str
    text: str


def catalogue_sentences(language: str) -> Iterator[Sentence]:
    words = catalogue_in(language)
    for key in sorted(words.keys()):
        entry = words.entry(key)
        for form in (entry,) if isinstance(entry, str) else entry.values():
            yield Sentence(f"messages/languages/{language}/{key.partition('.')[0]}.toml", key, form)


def literal_text(node: ast.expr) -> str | None:
    """The text of a literal; the values of an f-string are left open."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def source_sentences() -> Iterator[Sentence]:
    """Messages, errors and their remedies in the sources; prompts for models are not for people."""
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(source)) if MAKER.search(source) else ():
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name not in MAKERS:
                continue
            for given in (*call.args, *(one.value for one in call.keywords)):
                parts = {
                    id(part) for node in ast.walk(given) if isinstance(node, ast.JoinedStr) for part in node.values
                }
                for node in ast.walk(given):
                    if not isinstance(node, ast.expr) or id(node) in parts:
                        continue
                    text = literal_text(node)
                    if text and " " in text.strip():
                        yield Sentence(file, f"line {node.lineno}", text)


def stilted(sentences: Iterator[Sentence], language: str) -> list[str]:
    patterns = [re.compile(pattern) for pattern in STILTED[language]]
    return [
        f"{one.file} ({one.where}): {one.text!r} has {found[0]!r}"
        for one in sentences
        if not any(part in one.text for part in ALLOWED)
        for found in [next(filter(None, (pattern.search(one.text) for pattern in patterns)), None)]
        if found
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_catalogues_are_in_plain_language(language: str) -> None:
    assert stilted(catalogue_sentences(language), language) == []


def test_messages_and_errors_in_the_sources_are_in_plain_english() -> None:
    found = list(source_sentences())
    assert len(found) > 500, "the sources make sentences in a way that this does not see"
    assert stilted(iter(found), "en") == []


@pytest.mark.parametrize(
    ("sentence", "is_stilted"),
    [
        ("'x' is no limit.", True),
        ("The book is no longer in the library.", False),
        ("There is no owner yet.", False),
        ("There is no such page.", True),
        ("Whoever runs this server can tell it to you.", True),
        ("It is put in line.", True),
        ("This is in line with the settings.", False),
        ("The audit was written anew.", True),
        ("The answer was recommended.", False),
    ],
)
def test_the_patterns_find_what_they_are_for(sentence: str, is_stilted: bool) -> None:
    assert bool(stilted(iter([Sentence("x", "", sentence)]), "en")) is is_stilted
