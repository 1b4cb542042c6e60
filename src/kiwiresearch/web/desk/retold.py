"""What runs say in English sentences of their own, said again in the language of the reader."""

from __future__ import annotations

import ast
import html
import re

from markupsafe import Markup, escape

from kiwiresearch.brief.drawing import number, text_width
from kiwiresearch.brief.timeline_picture import WIDTH
from kiwiresearch.text.languages import two_letter_code
from kiwiresearch.web.desk.run_sentences import FORMS, NUMBER, QUOTED, VERBATIM, WRITTEN
from kiwiresearch.web.desk.told_dates import told_date
from kiwiresearch.web.desk.words import Words

LONGEST = 5_000
"""Longer texts are no sentences of ours, and are not looked through."""


LABEL = re.compile(r'(?P<tag><(?:title|desc) id="[^"]*">|<text class="(?:head|date)"[^>]*>)(?P<words>[^<]*)')
"""What a picture says that is no word of a page."""
DATE = re.compile(r'<text class="date" x="(?P<x>[^"]*)"(?P<more>[^>]*>(?P<words>[^<]*)</text>)')
DATES_APART = 5
"""A little less than pictures keep between dates, whose places they round."""


def retold(text: str, words: Words, language: str = "") -> Markup:
    """A sentence of a run for a reader; `language` is that of the book whose words it holds.

    A sentence that is none of ours is shown as it stands, marked as English.
    """
    if not text:
        return Markup()
    return _ours(text, words, language) or Markup('<span lang="en" dir="ltr">{}</span>').format(text)


def relabelled(picture: str, words: Words) -> Markup:
    """A picture of a run, which escapes what it shows, with titles and scales for a reader."""

    def told(found: re.Match[str]) -> str:
        english = html.unescape(found["words"])
        ours = _ours(english, words, "")
        again = ours.striptags() if ours else told_date(english, words)
        return found["tag"] + (str(escape(again)) if again else found["words"])

    return Markup(_with_room(LABEL.sub(told, picture)))  # noqa: S704


def _with_room(picture: str) -> str:
    """A picture without the dates that run into the one before them: English ones are short."""
    end = float("-inf")

    def placed(found: re.Match[str]) -> str:
        nonlocal end
        half = text_width(html.unescape(found["words"])) / 2
        x = min(max(float(found["x"]), half), WIDTH - half)
        if x - half < end + DATES_APART:
            return ""
        end = x + half
        return f'<text class="date" x="{number(x)}"{found["more"]}'

    return DATE.sub(placed, picture)


def _ours(text: str, words: Words, language: str) -> Markup | None:
    """A sentence said again; None where it is none of ours, or a run from elsewhere only makes it look like one."""
    try:
        return _retold(text, words, language) if len(text) <= LONGEST else None
    except (RecursionError, ValueError):  # more parts than can be taken apart, more digits than a number can have
        return None


def _retold(text: str, words: Words, language: str) -> Markup | None:
    for name, form in FORMS:
        if found := form.fullmatch(text):
            values = {key: _value(key, part, words, language) for key, part in found.groupdict().items()}
            if None not in values.values():
                # The catalogue holds no markup, and the values are escaped.
                return Markup(words(f"retold.{name}", **values))  # noqa: S704
    return None


def _value(key: str, text: str, words: Words, language: str) -> Markup | int | None:
    if key in VERBATIM:
        return _of_the_book(text, words, language)
    if re.fullmatch(NUMBER, text):
        number = int(text.replace(",", ""))
        # A year is no count, whose thousands stand apart.
        return Markup(words.customs.number(number)) if key == "year" else number  # noqa: S704
    if re.fullmatch(QUOTED, text, re.DOTALL):
        try:
            quoted = str(ast.literal_eval(text)) if re.fullmatch(WRITTEN, text, re.DOTALL) else text[1:-1]
        except (ValueError, SyntaxError):
            return None
        return Markup(words("retold.quoted", words=_of_the_book(quoted, words, language)))  # noqa: S704
    return _retold(text, words, language)


def _of_the_book(text: str, words: Words, language: str) -> Markup:
    code = two_letter_code(language) if language else ""
    is_other = code not in ("", words.language)
    return Markup('<bdi lang="{}">{}</bdi>').format(code, text) if is_other else Markup("<bdi>{}</bdi>").format(text)
