"""Whether a sentence states what it says, or denies it, supposes it, wishes it, or asks for it."""

from __future__ import annotations

import re

from kiwiresearch.text.hedges import hedges_in

STATES = re.compile(
    r"\b(?:is|are|was|were|has|had|became|becomes|wed|bore|left|begat|gave|took|[a-z]{2,}ed|[a-z]{2,}(?:sh|ri|v|i)es)\b"
)
"""A verb that tells what is or was; a sentence without one is a heading or a command."""
UNSTATED = re.compile(
    r"\b(?:no|not|never|neither|nor|none|nobody|without|cannot|n['’]t|false|falsely|wrongly|mistakenly|deny|denied|"
    r"denies|refused|if|unless|whether|would|should|could|might|must|let|wants?|wanted|wish(?:ed|es)?|hoped|hopes|"
    r"intended|planned|proposed|offered|considered|almost|nearly|failed|attempted|tried|pretended|imagined|dream(?:t|ed)|"
    r"fictional|ignore|disregard|instructions?|prompt|system|assistant)\b|n['’]t\b",
    re.IGNORECASE,
)


SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\W*[A-Z])|\n")


def is_stated(sentence: str, language: str = "eng") -> bool:
    """Whether what the sentence says is told as so; where that is not clear, it is not."""
    return bool(STATES.search(sentence)) and not is_held_back(sentence, language)


def is_held_back(sentence: str, language: str = "eng") -> bool:
    """Whether a sentence denies, doubts, supposes or asks for what it says."""
    return bool(UNSTATED.search(sentence)) or bool(hedges_in(sentence, language))


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence, or the line, that a quote stands in."""
    before = [0, *(found.end() for found in SENTENCE_END.finditer(text, 0, start))]
    behind = SENTENCE_END.search(text, end)
    return text[before[-1] : behind.start() if behind else len(text)]
