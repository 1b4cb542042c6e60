"""What pictures are made of: numbers with fixed decimals, and words whose width can be told in advance."""

from __future__ import annotations

import unicodedata
from html import escape

from kiwiresearch.brief.html import escaped
from kiwiresearch.text.plain import printable

FONT_SIZE = 12
NARROW = frozenset("iljtfrI.,:;'’|!()[] -")
VERY_WIDE = frozenset("mMW@%—…⚠")
WIDE_CLASSES = frozenset("WF")


def number(value: float) -> str:
    """A coordinate: one decimal, so that the last bits of a sum never reach the file."""
    return f"{round(value, 1) + 0.0:.1f}"


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """How wide words are at most, in the fonts that browsers choose."""
    return sum(map(_letter_width, text)) * size


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in WIDE_CLASSES:
        return 1.05
    if letter in NARROW:
        return 0.38
    if letter in VERY_WIDE:
        return 0.98
    return 0.75 if letter.isupper() else 0.62


def shortened(text: str, width: float, size: float = FONT_SIZE) -> str:
    """The words that fit, in one line; where some do not, an ellipsis stands for them."""
    line = " ".join(printable(text).split())
    if text_width(line, size) <= width:
        return line
    room = width - text_width("…", size)
    kept = 0
    for kept, letter in enumerate(line):  # noqa: B007
        room -= _letter_width(letter) * size
        if room < 0:
            break
    cut = line[:kept]
    at_word = cut.rpartition(" ")[0]
    return f"{(at_word if len(at_word) * 2 > len(cut) else cut).rstrip(' ,;:—-')}…"


def label(x: float, y: float, text: str, role: str, anchor: str = "start") -> str:
    """Words at a place of the picture."""
    return f'<text class="{role}" x="{number(x)}" y="{number(y)}" text-anchor="{anchor}">{escaped(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, role: str) -> str:
    return f'<line class="{role}" x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"/>'


def picture(name: str, size: tuple[float, float], title: str, told: str, parts: list[str]) -> str:
    """A whole picture, with its title and what it shows in words."""
    width, height = map(number, size)
    return "\n".join(
        [
            f'<svg class="{name}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
            f'aria-labelledby="{name}-title {name}-told">',
            f'<title id="{name}-title">{escape(printable(title))}</title>',
            f'<desc id="{name}-told">{escape(printable(told))}</desc>',
            *parts,
            "</svg>",
        ]
    )
