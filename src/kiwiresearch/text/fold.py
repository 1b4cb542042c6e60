"""One spelling for titles and queries: what differs only in case, accents or punctuation is the same.

| written                | folded          |
| ---------------------- | --------------- |
| `Łódź`, `LODZ`         | `lodz`          |
| `O'Brien`              | `obrien`        |
| `U.S. Navy`            | `us navy`       |
| `AT&T`                 | `at t`          |
| `Spider-Man (film)`    | `spider man film` |
| `C++`, `C#`, `C`       | `c++`, `c#`, `c` |
| `Straße`               | `strasse`       |
"""

from __future__ import annotations

import re
import unicodedata

PLAIN_LETTERS = {
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "ħ": "h",
    "ŧ": "t",
    "ı": "i",
    "ĸ": "k",
    "ŋ": "n",
    "♯": "#",
}
"""Letters that Unicode does not take apart, and that people type without their stroke."""

APOSTROPHES = "'`´’‘‛ʼʻʾʿ＇ـ׳״"
"""Signs inside words, of which nobody is sure: they go, and the word stays one."""

DIACRITICS = (
    (0x0300, 0x036F),
    (0x0591, 0x05BD),
    (0x05BF, 0x05BF),
    (0x05C1, 0x05C2),
    (0x05C4, 0x05C5),
    (0x05C7, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06DC),
    (0x06DF, 0x06E8),
    (0x06EA, 0x06ED),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)
"""Marks that change the look of a letter; those of Indic scripts, Thai or kana change the word and stay."""

INITIALS = re.compile(r"(?<![\w.])(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}(?![^\W_])")
"""'U.S', 'J.R.R', 'Ph.D': letters with full stops between, which many leave out."""

STRAY = re.compile(r"(?<![\w+#])[+#]+|(?<![+#])(?:\+|#+)(?=[^\W_])")
"""'+' and '#' that do not end a word as they do in 'C++', 'C#' and 'Google+'."""


class _Table(dict[int, str | None]):
    """What becomes of each character, found out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        kept = self[code] = _kept(chr(code))
        return kept


def _kept(char: str) -> str | None:
    if char in APOSTROPHES:
        return None
    category = unicodedata.category(char)
    if category[0] in "LNM" or char in "+#":
        return char
    return None if category == "Cf" else " "


SPACED = _Table()
ASCII_SPACED = bytes(code if chr(code).isalnum() or chr(code) in "+#" else 32 for code in range(128)) + b" " * 128
MARKS: dict[int, str | None] = {code: None for first, last in DIACRITICS for code in range(first, last + 1)}
MARKS |= {ord(letter): plain for letter, plain in PLAIN_LETTERS.items()}


def fold(title: str) -> str:
    """The title as it is looked up: words of plain small letters, one space between.

    Folding twice changes nothing. A title without any letter or digit, such
    as '!!!', keeps its signs, as it has nothing else.
    """
    plain = title.lower() if title.isascii() else " ".join(map(_plain, title.split()))
    text = plain
    if "." in text:
        text = INITIALS.sub(_without_stops, text)
    text = _ascii(text) if text.isascii() else text.translate(SPACED)
    if "+" in text or "#" in text:
        text = STRAY.sub(" ", text)
    return " ".join(text.split()) or _signs(plain)


def joined(folded: str) -> str:
    """A folded title without its spaces: 'open ai' and 'openai' are then the same."""
    return folded.replace(" ", "")


def words(folded: str) -> tuple[str, ...]:
    """The words of a folded title, in order."""
    return tuple(folded.split())


def _plain(word: str) -> str:
    if word.isascii():
        return word.lower()
    small = unicodedata.normalize("NFKD", word).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", small).translate(MARKS))


def _ascii(text: str) -> str:
    # Three times as fast as a table of characters.
    return text.encode("ascii").translate(ASCII_SPACED, b"'`").decode("ascii")


def _without_stops(found: re.Match[str]) -> str:
    return found[0].replace(".", "")


def _signs(text: str) -> str:
    """What can be written of a title of signs alone: no half characters, nothing that controls."""
    return " ".join("".join(" " if unicodedata.category(c)[0] == "C" else c for c in text).split())
