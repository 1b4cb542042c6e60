"""Topics, names of people and aspects as users give them, and the folder names made from them."""

from __future__ import annotations

import re
import unicodedata

from kiwiresearch.errors import BadUsage
from kiwiresearch.text import fold, is_searchable

MAX_TOPIC_CHARS = 500
MAX_FOLDER_NAME_CHARS = 60


def checked_topic(text: str) -> str:
    """A topic in one line; BadUsage if it is empty, very long, or has control characters."""
    return _checked(text, "topic", remedy="Example: kiwiresearch 'Bronze Age collapse'", needed=True)


def checked_person(text: str) -> str:
    """The name of a person in one line; BadUsage as for a topic."""
    return _checked(text, "name", remedy="Enter the name of a person, for example 'Charles Darwin'.", needed=True)


def checked_focus(text: str) -> str:
    return _checked(text, "focus", remedy="Example: --focus 'metallurgy, drought'", needed=False)


def checked_aspect(text: str) -> str:
    return _checked(text, "aspect", remedy="Example: --aspect causes", needed=False)


def _checked(text: str, what: str, *, remedy: str, needed: bool) -> str:
    if len(text) > MAX_TOPIC_CHARS:
        raise BadUsage(
            f"The {what} has {len(text):,} characters. The limit is {MAX_TOPIC_CHARS}.",
            remedy="Shorten it to one sentence.",
        )
    odd = next((char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r"), "")
    if odd:
        raise BadUsage(f"The {what} contains a control character, U+{ord(odd):04X}.", remedy="Remove it.")
    plain = " ".join(text.split())
    if needed and not is_searchable(plain):
        raise BadUsage(f"The {what} is empty.", remedy=remedy)
    return plain


def folder_name(topic: str) -> str:
    """A folder name made of letters of any script, digits and hyphens, such as 'bronze-age-collapse'."""
    plain = re.sub(r"[\W_]+", "-", fold(topic)).strip("-")
    if len(plain) > MAX_FOLDER_NAME_CHARS:
        plain = plain[:MAX_FOLDER_NAME_CHARS].rpartition("-")[0] or plain[:MAX_FOLDER_NAME_CHARS]
    return plain or "topic"
