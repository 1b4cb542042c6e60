"""Topics as people give them: checked, cleaned, and turned into the name of a folder."""

from __future__ import annotations

import re
import unicodedata

from kiwiresearch.errors import BadUsage
from kiwiresearch.text.fold import fold

LONGEST = 500
LONGEST_NAME = 60


def checked_topic(text: str) -> str:
    """A topic in one line; refused if it is empty, very long, or holds what no topic holds."""
    return _checked(text, "topic", remedy="Such as: kiwiresearch 'Bronze Age collapse'", needed=True)


def checked_focus(text: str) -> str:
    return _checked(text, "focus", remedy="Such as: --focus 'metallurgy, drought'", needed=False)


def checked_aspect(text: str) -> str:
    return _checked(text, "aspect", remedy="Such as: --aspect causes", needed=False)


def _checked(text: str, what: str, *, remedy: str, needed: bool) -> str:
    if len(text) > LONGEST:
        raise BadUsage(
            f"The {what} has {len(text):,} characters, and at most {LONGEST} can be used.",
            remedy="Say it in a sentence.",
        )
    odd = next((char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r"), "")
    if odd:
        raise BadUsage(f"The {what} holds a control character, U+{ord(odd):04X}.", remedy="Leave it out.")
    plain = " ".join(text.split())
    if needed and not any(unicodedata.category(char)[0] in "LNS" for char in plain):
        raise BadUsage(f"The {what} has no words.", remedy=remedy)
    return plain


def folder_name(topic: str) -> str:
    """A name for a folder: letters of any script, figures, and lines between them, as in 'bronze-age-collapse'."""
    plain = re.sub(r"[\W_]+", "-", fold(topic)).strip("-")
    if len(plain) > LONGEST_NAME:
        plain = plain[:LONGEST_NAME].rpartition("-")[0] or plain[:LONGEST_NAME]
    return plain or "topic"
