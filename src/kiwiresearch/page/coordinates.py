"""Where on Earth the subject of a page is, from the `geo` microformat."""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

READ_BYTES = 512 * 1024
MAX_LATITUDE, MAX_LONGITUDE = 90.0, 180.0
NUMBER = r"[-+\N{MINUS SIGN}]?\d{1,3}(?:\.\d+)?"
PAIR = re.compile(rf"({NUMBER})\s*[;,]\s*({NUMBER})")
DEGREES = re.compile(r"(\d{1,3})°\s*(?:(\d{1,2})[′']\s*)?(?:(\d{1,2}(?:\.\d+)?)[″\"]\s*)?([NSEW])")


class Coordinates(NamedTuple):
    """Degrees north and east; south and west are negative."""

    latitude: float
    longitude: float


def coordinates_in(content: bytes) -> Coordinates | None:
    """The first coordinates that a page marks as such; None if there are none, or if they cannot be right."""
    text = content[:READ_BYTES].decode("utf-8", "replace")
    pair = next((found for words in _marked(text, "geo") if (found := PAIR.search(words))), None)
    sides = pair.groups() if pair else tuple(next(iter(_marked(text, name)), "") for name in ("latitude", "longitude"))
    latitude, longitude = map(_degrees, sides)
    if latitude is None or longitude is None or abs(latitude) > MAX_LATITUDE or abs(longitude) > MAX_LONGITUDE:
        return None
    return Coordinates(latitude, longitude)


def _marked(text: str, name: str) -> list[str]:
    """The texts of the elements of a class, without what is in elements inside them."""
    element = rf'<\w+\b[^<>]*\bclass="(?:[^"]*\s)?{name}(?:\s[^"]*)?"[^<>]*>([^<]{{1,80}})<'
    return [unescape(found) for found in re.findall(element, text)]


def _degrees(words: str) -> float | None:
    """'53.4', '−2.96' or '53°25′51″N'."""
    if found := DEGREES.search(words):
        degrees, minutes, seconds, side = found.groups()
        value = int(degrees) + int(minutes or 0) / 60 + float(seconds or 0) / 3600
        return -value if side in "SW" else value
    plain = words.strip().replace("\N{MINUS SIGN}", "-")
    return float(plain) if re.fullmatch(NUMBER, plain) else None
