"""Pieces of text as a reader sees them: no characters that show nothing, figures that keep their height."""

from __future__ import annotations

import re

from kiwiresearch.page.elements import attributes_of

TEX = re.compile(r"\{\\(?:displaystyle|textstyle)\s*(.*)\}", re.DOTALL)
UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
"""Control characters, soft hyphens, zero-width and direction marks: no reader sees them."""

JOINER = re.compile("(?<![\u0590-\u1cff\ua800-\uabff\U0001f000-\U0001faff\u2600-\u27bf\ufe0f])[\u200c\u200d]")
"""Joiners that stand behind no emoji and no letter of a script that needs them."""

SUPERSCRIPTS = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
SUBSCRIPTS = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def visible(text: str) -> str:
    """The text without characters that show nothing."""
    if "\u200c" in text or "\u200d" in text:
        text = JOINER.sub("", text)
    return UNSEEN.sub("", text)


def cleaned(text: str) -> str:
    """Other white space becomes spaces, what shows nothing goes; spaces at the ends stay."""
    words = visible(text).split()
    if not words:
        return " " if text[:1].isspace() else ""
    return f"{' ' * text[0].isspace()}{' '.join(words)}{' ' * text[-1].isspace()}"


def code_text(text: str, *, is_first: bool) -> str:
    """Text of a program keeps its lines and indents."""
    text = visible(text.expandtabs(4))
    if is_first:
        return "" if text.isspace() else text.lstrip("\n")
    return text


def trim_end(out: list[str]) -> int:
    """Take white space off the end of what was written, and tell how much it was."""
    taken = 0
    while out and out[-1].isspace():
        taken += len(out.pop())
    if out:
        bare = out[-1].rstrip()
        taken += len(out[-1]) - len(bare)
        out[-1] = bare
    return taken


def with_formulas(markup: str) -> str:
    """Formulas carry their TeX beside the picture or the MathML: it stands for them in the text."""
    if " alt" not in markup:
        return markup
    markup = FORMULA_PICTURE.sub(lambda found: _tex(found[0]), markup)
    return MATHML.sub(lambda found: _tex(found[1]), markup)


FORMULA_PICTURE = re.compile(r'<img\b[^>]*\bclass="[^"]*(?:\bmwe-math-fallback-image|\btex\b)[^"]*"[^>]*>')
MATHML = re.compile(r'(<math\b[^>]*\balttext="[^"]*"[^>]*>)(?:(?!</math>).)*</math>', re.DOTALL)


def _tex(tag: str) -> str:
    attributes = attributes_of(tag.strip("<>"))
    tex = attributes.get("alttext") or attributes.get("alt") or ""
    found = TEX.fullmatch(tex.strip())
    return found[1].strip() if found else tex
