"""Template filters that write moments, runs, families and problems in the language of a reader."""

from __future__ import annotations

import re
from datetime import UTC

from markupsafe import Markup, escape

from kiwiresearch.ask import Confidence
from kiwiresearch.kin.privacy import LIVING_NAME, WITHHELD
from kiwiresearch.messages import Catalogue, Locale, LocalText, Message, local_time, render
from kiwiresearch.text import two_letter_code
from kiwiresearch.text.dates import DateRange, DateText
from kiwiresearch.web.problems import STATUS_BY_ERROR, Problem


def time_element(text: str, locale: Locale, sentence: str = "") -> Markup:
    """A time as an element that programs can read, around its own text or a sentence that has it."""
    moment, shown = local_time(text), sentence or locale.moment(text)
    if moment is None:
        return escape(shown)
    machine = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    return Markup('<time datetime="{}Z">{}</time>').format(machine, shown)


MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
MONTHS = re.compile(rf"\b({MONTH})-(?={MONTH}\b)")
"""From one month to another, as pages write it: 'January-February 2006'."""


def date_text(when: DateRange | str, catalogue: Catalogue) -> str:
    """A date in the reader's language; if the page has no exact date, its own words are used."""
    if isinstance(when, DateText):
        when = when.when
    return when.words(catalogue.language) if isinstance(when, DateRange) else MONTHS.sub("\\1\N{EN DASH}", when)


def date_markup(when: DateRange | str, catalogue: Catalogue, *, is_head: bool = False) -> Markup:
    """A date for a page, with a capital if it is a heading; words of another language are marked as English."""
    text = date_text(when, catalogue)
    is_translated = isinstance(when, (DateRange, DateText)) or catalogue.language == "en"
    if not is_translated:
        return _in_english(text) if text else Markup()
    # 'c. 1200' does not start a sentence, so its 'c' stays lower case.
    return escape(text if not is_head or text.startswith("c. ") else text[:1].upper() + text[1:])


KINDS_OF_ERRORS = frozenset(Problem(status, title).kind for status, title in STATUS_BY_ERROR.values())
"""Kinds of problems made from errors, whose English text names the object concerned."""

# 'kiwiresearch books add', '--json' and 'GET /api/books'; not 'Kiwiresearch is …' nor 'well--known'.
COMMAND = re.compile(r"\bkiwiresearch [a-z]|(?<!\S)--[a-z]|\bGET /")
"""A command for a terminal, an option of one, or a request to the API."""


def problem_key(problem: Problem, catalogue: Catalogue) -> str:
    """The key of the catalogue for a problem, or for its group of problems."""
    if catalogue.has(f"problems.errors.{problem.kind}.title"):
        return f"problems.errors.{problem.kind}"
    return "problems.errors.failed" if problem.status >= 500 else "problems.errors.bad-request"


def has_own_words(problem: Problem) -> bool:
    """Whether its own text says more than the catalogue, such as the title of a book."""
    return problem.kind in KINDS_OF_ERRORS and bool(problem.detail)


def is_command(remedy: str) -> bool:
    """Whether a remedy needs a terminal, which a reader of the desk may not have."""
    return bool(COMMAND.search(remedy))


def in_reader_language(text: str, catalogue: Catalogue) -> str:
    """A message or a date in the reader's language, without markup; other text is returned unchanged."""
    if isinstance(text, LocalText):
        return text.in_language(catalogue.language)
    return (render(text, catalogue) if isinstance(text, Message) and text.kind else None) or text


def confidence_level(share: float) -> str:
    """A confidence in words: high, medium or low, using the same thresholds as answers."""
    return Confidence.of(share).level


def is_withheld(text: str) -> bool:
    """Whether a text replaces the name or the words of a person who may be living."""
    return isinstance(text, Message) and text.kind in (LIVING_NAME.kind, WITHHELD.kind)


def person_name(catalogue: Catalogue, name: str) -> str:
    """A name on one line; a withheld person gets the language's replacement text."""
    return " ".join(in_reader_language(name, catalogue).split()) or catalogue("family.unnamed")


def kinship_words(words: str, catalogue: Catalogue) -> str:
    """A relationship in the reader's language, such as 'husband of the aunt'; empty if a word of it is not known."""
    # 'husband of the aunt of the mother': each further person is a phrase around the words so far.
    first, *legs = words.split(" of the ")
    if not catalogue.has(f"family.kin.{first}") or not all(catalogue.has(f"family.kin_of.{leg}") for leg in legs):
        return ""
    text = catalogue(f"family.kin.{first}")
    for leg in legs:
        text = catalogue(f"family.kin_of.{leg}", one=text)
    return text


def _in_english(text: str) -> Markup:
    return Markup('<span lang="en" dir="ltr">{}</span>').format(text)


def translated(text: str, catalogue: Catalogue, language: str = "") -> Markup:
    """A message for a reader; `language` is that of the book it quotes.

    Text without a kind, such as that of an older run, is shown unchanged and marked as English.
    """
    if not text:
        return Markup()
    if isinstance(text, Message) and text.kind:
        rendered = render(text, catalogue, lambda part: _book_words(part, catalogue, language))
        if rendered is not None:
            # The catalogue has no markup, and the values are escaped.
            return Markup(rendered)  # noqa: S704
    return _in_english(text)


def _book_words(text: str, catalogue: Catalogue, language: str) -> Markup:
    code = two_letter_code(language) if language else ""
    is_other = code not in ("", catalogue.language)
    return Markup('<bdi lang="{}">{}</bdi>').format(code, text) if is_other else Markup("<bdi>{}</bdi>").format(text)
