"""Numbers of a text by their exact value, in figures or in words: 12,000 is 12 000 is twelve thousand."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Literal, NamedTuple

from kiwiresearch.claims.wording import Wording, wording_of

Kind = Literal["count", "ordinal", "decade", "vague", "raised"]
GROUP = "[, \u00a0\u202f\u2009]"
FIGURE = re.compile(
    r"(?P<minus>(?<![^\s(\[“\"'])[-−])?"
    rf"(?:(?P<whole>\d{{1,3}}(?:{GROUP}\d{{3}})+(?!\d)|\d+)(?P<rest>\.\d+)?|(?<!\d)(?P<bare>\.\d+))"
    r"(?P<part>[¼-¾⅐-⅞])?(?P<tail>['’]?[^\W\d_⁰-₟²³¹]+)?"
    r"|(?P<alone>[¼-¾⅐-⅞])|(?P<raised>[⁰¹²³⁴-⁹₀-₉]+)"
)
WORD = re.compile(r"[^\W\d_]+")
LONGEST_FIGURE = 60
"""More digits than these are no number that anybody means; they are compared sign by sign, without reading them."""


class Number(NamedTuple):
    """A number and where it stands; an ordinal or a decade is another thing than a count of the same value."""

    start: int
    end: int
    value: Fraction
    kind: Kind = "count"

    @property
    def words(self) -> str:
        """The number in one spelling."""
        return f"{self.value}{'' if self.kind == 'count' else f' ({self.kind})'}"


def numbers_in(text: str, language: str = "eng") -> list[Number]:
    """Every number of a text, in order. 'one' and 'a' count only before a hundred or a scale."""
    wording = wording_of(language)
    found = [_figure(text, match, wording) for match in FIGURE.finditer(text)]
    taken = {at for number in found for at in range(number.start, number.end)}
    if wording.small:
        found += _in_words(text, taken, wording)
    return sorted(found)


def _figure(text: str, match: re.Match[str], wording: Wording) -> Number:
    start, end = match.span()
    if match["raised"]:
        digits = "".join(str(unicodedata.digit(sign)) for sign in match["raised"])
        return Number(start, end, _value(digits), "raised")
    if match["alone"]:
        return Number(start, end, _part(match["alone"]))
    whole = re.sub(GROUP, "", match["whole"] or "0")
    value = _value(whole + (match["rest"] or match["bare"] or ""))
    if match["part"]:
        value += _part(match["part"])
    value = -value if match["minus"] else value
    tail = (match["tail"] or "").lower()
    if tail in wording.suffixes:
        return Number(start, end, value, "ordinal")
    if tail.lstrip("'’") == "s":
        return Number(start, end, value, "decade")
    if tail in wording.scales:
        return Number(start, end, value * wording.scales[tail])
    end -= len(tail)
    return _scaled(text, Number(start, end, value), wording) if not tail else Number(start, end, value)


def _value(figure: str) -> Fraction:
    if len(figure) > LONGEST_FIGURE:
        return Fraction(-int.from_bytes(figure.encode("utf-8", "replace"), "big"))
    whole, _, rest = figure.partition(".")
    return Fraction(int(whole or "0")) + (Fraction(int(rest), 10 ** len(rest)) if rest else 0)


def _part(sign: str) -> Fraction:
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10)


def _scaled(text: str, number: Number, wording: Wording) -> Number:
    """'12 million' and '12-million', '2 hundred thousand'."""
    scales = {**wording.scales, wording.hundred: 100}
    while True:
        word = WORD.match(text, number.end + 1)
        if word is None or text[number.end] not in " -\u00a0\u202f" or word[0].lower() not in scales:
            return number
        number = number._replace(end=word.end(), value=number.value * scales[word[0].lower()])


def _in_words(text: str, taken: set[int], wording: Wording) -> list[Number]:
    words = [match for match in WORD.finditer(text) if match.start() not in taken]
    found: list[Number] = []
    at = 0
    while at < len(words):
        run = _run(text, words, at, wording)
        number = _of_run(text, words, at, run, wording) if run.length else _single(words[at], wording)
        if number is not None:
            found.append(number)
        at += max(run.length, 1)
        while number is not None and at < len(words) and words[at].start() < number.end:
            at += 1
    return found


class Run(NamedTuple):
    """Words that make one number together."""

    value: int
    length: int
    is_ordinal: bool


def _run(text: str, words: list[re.Match[str]], first: int, wording: Wording) -> Run:
    """The longest number that begins with this word."""
    total, current, at, length = 0, 0, first, 0
    while at < len(words) and (at == first or _joined(text, words[at - 1], words[at])):
        word = words[at][0].lower()
        if word == wording.joining and length and not current % 100:
            at += 1
            continue
        step = _step(word, current, wording)
        if step is None and at == first and word in wording.one and _is_counted(text, words, at, wording):
            step = 1
        if step is None:
            break
        if word in wording.scales:
            total, current = total + (current or 1) * wording.scales[word], 0
        else:
            current = (current or 1) * 100 if word == wording.hundred else current + step
        at += 1
        length = at - first
        if word in wording.ordinals or word in wording.ordinal_tens:
            return Run(total + current, length, is_ordinal=True)
    return Run(total + current, length, is_ordinal=False)


def _of_run(text: str, words: list[re.Match[str]], first: int, run: Run, wording: Wording) -> Number | None:
    """The number of a run, with the part behind it in 'two thirds'; none for a lone 'one'."""
    last = words[first + run.length - 1]
    start, end = words[first].start(), last.end()
    if run.is_ordinal:
        return Number(start, end, Fraction(run.value), "ordinal")
    behind = words[first + run.length] if first + run.length < len(words) else None
    if behind is not None and _joined(text, last, behind) and behind[0].lower() in wording.parts:
        return Number(start, behind.end(), run.value * wording.parts[behind[0].lower()])
    is_pronoun = run.length == 1 and words[first][0].lower() in wording.one
    return None if is_pronoun else Number(start, end, Fraction(run.value))


def _single(word: re.Match[str], wording: Wording) -> Number | None:
    small = word[0].lower()
    if small in wording.vague:
        return Number(*word.span(), Fraction(wording.vague[small]), "vague")
    if small in wording.parts:
        return Number(*word.span(), wording.parts[small])
    return None


def _joined(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return text[one.end() : other.start()] in (" ", "-", "\u00a0", "‐", "‑")


def _is_counted(text: str, words: list[re.Match[str]], at: int, wording: Wording) -> bool:
    if at + 1 == len(words) or not _joined(text, words[at], words[at + 1]):
        return False
    following = words[at + 1][0].lower()
    return following == wording.hundred or following in wording.scales or following in wording.parts


def _step(word: str, current: int, wording: Wording) -> int | None:
    """What a word adds to the hundreds so far; None if it cannot follow them."""
    if word == wording.hundred or word in wording.scales:
        return 0
    tens, ones = current % 100, current % 10
    if word in wording.tens or word in wording.ordinal_tens:
        return wording.tens.get(word, wording.ordinal_tens.get(word)) if not tens else None
    value = wording.small.get(word, wording.ordinals.get(word))
    if value is None or ones or (tens and (value > 9 or tens < 20)):
        return None
    return value
