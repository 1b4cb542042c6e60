"""Whether a sentence is whole and can be read by itself, and its words without what only a dictionary needs."""

from __future__ import annotations

import re

from kiwiresearch.claims.sentence import Sentence
from kiwiresearch.claims.tables import Grammar
from kiwiresearch.claims.types import Words

SHORTEST, LONGEST = 25, 320
JUNK = ("{{", "}}", "[[", "]]", "||", "http://", "https://", "ISBN", "@")
CLOSING = "\"'”’)]"
ENDS = frozenset(".!?…;")
POINTERS = frozenset({"this", "these", "such", "similar", "here"})
POINTS_BACK = re.compile(
    r"\b(?:[Tt]his|[Tt]hese)\b(?! (?:day|is|are|was|were)\b)|\b[Ss]uch (?!as\b)\w+|\b[Ss]imilar\b(?! (?:to|in|size)\b)"
    r"|\bhere\b"
)
SOMEBODY = frozenset({"he", "she", "his", "her", "him"})
SOMEBODY_THERE = re.compile(r"\b(?:he|she|his|her|him)\b")
NAMED_BEFORE = re.compile(r"\b[A-Z]")


def is_whole(sentence: Sentence, longest: int = LONGEST) -> bool:
    """Whether a sentence is one, and nothing of it is torn off."""
    text = sentence.text
    if not SHORTEST <= len(text) <= longest or text.rstrip(CLOSING)[-1:] not in ENDS:
        return False
    for junk in JUNK:
        if junk in text:
            return False
    if not (text[0].isupper() or text[0].isdigit() or text[0] in "\"“'‘" or sentence.is_clause):
        return False
    return (
        text.count("(") == text.count(")")
        and text.count("“") == text.count("”")
        and text.count("[") == text.count("]")
        and not text.count('"') % 2
    )


def points_out(text: str, words: Words, grammar: Grammar) -> bool:
    """Whether a sentence points at something outside itself that no name can stand for."""
    if not POINTERS.isdisjoint(words.different) and POINTS_BACK.search(text):
        return True
    found = grammar.dangling.keys() & words.different
    if not found:
        return False
    padded = words.padded
    return any(phrase in padded for word in sorted(found) for phrase in grammar.dangling[word])


def speaks_of_nobody(text: str, words: Words) -> bool:
    """Whether a sentence speaks of a 'he' or 'she' whom it has not named before."""
    if SOMEBODY.isdisjoint(words.different):
        return False
    found = SOMEBODY_THERE.search(text)
    return found is not None and not NAMED_BEFORE.search(text, 1, found.start()) and found.start() > 0


def has_name(text: str) -> bool:
    """Whether a word behind the first begins with a capital."""
    return NAMED_BEFORE.search(text, 1) is not None


def to_the_point(sentence: Sentence, verb: int) -> Sentence:
    """A long definition up to where it begins to tell more: 'was a naturalist who …'."""
    if len(sentence.text) <= LONG_DEFINITION or verb < 0:
        return sentence
    found = TELLS_MORE.search(sentence.text, verb + SOMETHING)
    kept = sentence.text[: found.start()] if found else ""
    if not kept or kept.count("(") != kept.count(")") or kept.count('"') % 2:
        return sentence
    return sentence._replace(text=f"{kept}.", end=sentence.start + len(kept))


LONG_DEFINITION, SOMETHING = 290, 22
TELLS_MORE = re.compile(
    r",?(?: (?:in|of|on|for|by|to|from|with|at|through|under))? (?:who|whom|whose|which)\b"
    r"|, (?:and|but) (?:is|was|has|had)\b"
)


def tidy(text: str) -> str:
    """A sentence without what only a dictionary needs, and without blanks where none belong."""
    has_bracket = "(" in text
    if has_bracket:
        text = SOUNDS.sub("", text)
    if has_bracket or " ," in text or " ." in text or '" ' in text:
        text = BLANKS.sub("", text)
    return f"{text[:-1]}." if text.endswith(";") else text


SOUNDS = re.compile(
    r"\s*\((?=[^()]*(?:IPA|pronounced|listen|[/\[][^()]*[ˈəɪʊɔɛæʃθʁ][^()]*|[A-Z]\w+: [^()]*[^\x00-\u024f])|\s*help)"
    r"(?:[^()]|\([^()]*\)){0,200}\)"
)
"""How a name is said, and what it is in other scripts."""
BLANKS = re.compile(r"(?<=[(\[]) +| +(?=[)\],;]|\.(?:\s|$))")
