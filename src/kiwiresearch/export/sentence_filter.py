"""Which sentences of pages a worksheet may use: they can be read alone, and nothing hedges or disputes them."""

from __future__ import annotations

import re

from kiwiresearch.claims import Claim
from kiwiresearch.export.worksheet_patterns import pattern
from kiwiresearch.text import share_root, words_in

MIN_CHARS = 35
MAX_CHARS = 230
MAX_LEAD_CHARS = 300
"""The first sentences of a page may be long: a question is made of a part of them."""
IGNORED_TOPIC_WORDS = frozenset(("the", "The", "and", "for", "with", "film"))
# ' (Greek: Ἀθῆναι (Athenai))': brackets within brackets, but no deeper.
BRACKETED_TEXT = re.compile(r" \((?:[^()]|\([^()]*\))*\)")
"""In the first sentence of a page, a bracket has names in other languages and dates."""
PAIRS = (("(", ")"), ("“", "”"))
BAD_STARTS = ("openers", "bare_start", "fragment", "study")
BAD_PARTS = ("for_class", "pointers", "run_together")


def is_sure(claim: Claim) -> bool:
    """Whether a page says it plainly, in a sentence of its own."""
    signals = claim.signals
    return not (
        claim.is_row
        or claim.hedges
        or "disputed" in (claim.type, *claim.also)
        or signals.citation_needed
        or signals.disputed
        or claim.origin != "rule"
    )


def is_usable(claim: Claim) -> bool:
    """Whether it is a plain sentence that can be read without those around it."""
    text = claim.text
    return (
        is_sure(claim)
        and claim.depends_on != "previous"
        and claim.type != "quote"
        and MIN_CHARS <= len(text) <= (MAX_CHARS if claim.section else MAX_LEAD_CHARS)
        and text.endswith(".")
        and (text[0].isupper() or text[0].isdigit())
        and not any(pattern(name).match(text) for name in BAD_STARTS)
        and not any(pattern(name).search(text if claim.section else BRACKETED_TEXT.sub("", text)) for name in BAD_PARTS)
        and pattern("verb").search(text) is not None
        and is_on_the_topic(claim)
        and all(text.count(left) == text.count(right) for left, right in PAIRS)
        and text.count('"') % 2 == 0
        and _has_right_name(claim)
        and is_clear(claim)
    )


def is_on_the_topic(claim: Claim) -> bool:
    """Whether it is in a section about the topic itself, not about songs and films that mention it."""
    return not any(pattern("side_section").search(heading) for heading in claim.headings)


def _has_right_name(claim: Claim) -> bool:
    """Whether a name that a rule put in stands for 'he', 'she' or a part of the name; for 'they' it would be wrong.

    Further down a page, 'it' may be something else.
    """
    quote = claim.quotes[0].text
    last = claim.subject.rpartition(" ")[2]
    if claim.inserted_name_from and claim.text.count(last) > 1:
        return False  # 'accompanied by Mozart's mother, Mozart began …'
    return (
        not claim.inserted_name_from
        or pattern("personal").match(quote) is not None
        or (not claim.section and quote.startswith("It "))
        or last in quote
    )


def is_clear(claim: Claim) -> bool:
    """Whether a sentence, read alone, says who its pronouns are.

    'He' is the name that it begins with; 'they' may always be others.
    """
    text = claim.text
    if claim.depends_on == "subject" and pattern("pronoun").search(text):
        return False
    if not pattern("unnamed_person").search(text):
        return True
    return pattern("named_first").match(text) is not None and not pattern("plural_pronoun").search(text)


def names_topic(text: str, topic: str) -> bool:
    """Whether a text has all longer words of a topic, or forms of them."""
    words = [word.lower() for word in words_in(text)]
    wanted = [word.lower() for word in words_in(topic) if len(word) > 3] or [word.lower() for word in words_in(topic)]
    return all(share_root(item, words) or item in words for item in wanted)


def names_some(text: str, topic: str) -> bool:
    """Whether a text has a longer word of a topic, or a form of it."""
    words = [word.lower() for word in words_in(text)]
    return any(
        share_root(word.lower(), words) for word in words_in(topic) if len(word) > 2 and word not in IGNORED_TOPIC_WORDS
    )
