"""The elements of SVG pictures: coordinates, widths of words, lines, texts, and the element around them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from html import escape

from kiwiresearch.document.html import escaped
from kiwiresearch.text import printable

FONT_SIZE = 12
NARROW = frozenset("iljtfrI.,:;'’|!()[] -")
HUGE = frozenset("\ufdfa\ufdfb\ufdfd⸺⸻")
"""Single characters that are as long as words."""


@dataclass(frozen=True, slots=True)
class FontMetrics:
    """The maximum width of letters in the fonts of browsers, as a share of the font size."""

    narrow: float
    small: float
    capital: float
    wide_letters: frozenset[str]
    knows_rare_signs: bool
    """Whether zero-width characters, emoji and huge characters have their own widths."""

    def letter_width(self, letter: str) -> float:
        wide = unicodedata.east_asian_width(letter) in "WF"
        if self.knows_rare_signs:
            category = unicodedata.category(letter)
            if letter in HUGE:
                return 12.0
            if category in ("Mn", "Me", "Cf"):
                return 0.0
            if wide and category == "So":
                return 1.4
        elif unicodedata.combining(letter):
            return 0.0
        if wide:
            return 1.05
        if letter in NARROW:
            return self.narrow
        if letter in self.wide_letters:
            return 0.98
        return self.capital if letter.isupper() else self.small

    def width(self, text: str, size: float = FONT_SIZE) -> float:
        return sum(map(self.letter_width, text)) * size

    def shortened(self, text: str, width: float, size: float = FONT_SIZE) -> str:
        """The words that fit on one line, with an ellipsis if not all do."""
        line = " ".join(printable(text).split())
        if self.width(line, size) <= width:
            return line
        room = width - self.width("…", size)
        fitting = 0
        for letter in line:
            room -= self.letter_width(letter) * size
            if room < 0:
                break
            fitting += 1
        cut = line[:fitting]
        # Cut between words, unless that would lose more than half of what fits.
        at_word = cut.rpartition(" ")[0]
        return f"{(at_word if len(at_word) * 2 > len(cut) else cut).rstrip(' ,;:—-')}…"

    def wrapped(self, text: str, width: float, size: float, max_lines: int = 2) -> tuple[str, ...]:
        """The words on at most `max_lines` lines; the last one is shortened if needed."""
        lines: list[str] = []
        rest = text.split()
        while rest and len(lines) < max_lines - 1:
            line = rest.pop(0)
            while rest and self.width(f"{line} {rest[0]}", size) <= width:
                line = f"{line} {rest.pop(0)}"
            lines.append(self.shortened(line, width, size))
        return (*lines, self.shortened(" ".join(rest), width, size)) if rest else tuple(lines)


# The two differ only for historical reasons, but `verify` compares the bytes of reports, including their pictures.
BRIEF_FONT = FontMetrics(0.38, 0.62, 0.75, frozenset("mMW@%—…⚠"), knows_rare_signs=False)
FAMILY_FONT = FontMetrics(0.4, 0.64, 0.78, frozenset("mwMW@%—…&"), knows_rare_signs=True)


def svg_number(value: float) -> str:
    """A coordinate with one decimal, so that the last bits of a float never reach the file."""
    # Adding 0.0 turns -0.0 into 0.0.
    return f"{round(value, 1) + 0.0:.1f}"


def is_rtl(text: str) -> bool:
    """Whether a text is read from right to left, by its first letter with a direction."""
    # Rule P2 of the Unicode bidirectional algorithm: the first strong character decides.
    return next(
        (kind in ("R", "AL") for kind in map(unicodedata.bidirectional, text) if kind in ("L", "R", "AL")), False
    )


def svg_text(x: float, y: float, text: str, css_class: str, anchor: str = "start") -> str:
    place = f'x="{svg_number(x)}" y="{svg_number(y)}" text-anchor="{anchor}"'
    return f'<text class="{css_class}" {place}>{escaped(text)}</text>'


def svg_line(x1: float, y1: float, x2: float, y2: float, css_class: str) -> str:
    start = f'x1="{svg_number(x1)}" y1="{svg_number(y1)}"'
    return f'<line class="{css_class}" {start} x2="{svg_number(x2)}" y2="{svg_number(y2)}"/>'


def svg_picture(
    name: str, size: tuple[str, str], title: str, description: str, parts: list[str], *, attributes: str = ""
) -> str:
    """A picture of these parts, with a title and a description for screen readers."""
    width, height = size
    attributes = attributes or f'class="{name}"'
    return "\n".join(
        [
            f'<svg {attributes} viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="group" aria-labelledby="{name}-title {name}-description">',
            f'<title id="{name}-title">{escape(printable(title))}</title>',
            f'<desc id="{name}-description">{escape(printable(description))}</desc>',
            *parts,
            "</svg>",
        ]
    )
