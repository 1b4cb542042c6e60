"""Template filters that write moments, runs, families and problems in the language of a reader."""

from __future__ import annotations

import ast
import re
from datetime import UTC

from markupsafe import Markup, escape

from kiwiresearch.kin.privacy.hidden_people import LIVING_NAME, WITHHELD
from kiwiresearch.messages.catalogue import Catalogue, Locale, local_time
from kiwiresearch.messages.message import Message, render
from kiwiresearch.text.languages import two_letter_code
from kiwiresearch.web.desk.run_sentences import FORMS, NUMBER, QUOTED, REPR_QUOTED, VERBATIM
from kiwiresearch.web.problems import STATUS_BY_ERROR, Problem


def time_element(text: str, customs: Locale, told: str = "") -> Markup:
    """A moment as an element that programs can read, around the sentence that has it where there is one."""
    moment, shown = local_time(text), told or customs.moment(text)
    if moment is None:
        return escape(shown)
    machine = moment.astimezone(UTC).replace(tzinfo=None).isoformat()
    return Markup('<time datetime="{}Z">{}</time>').format(machine, shown)


KINDS_OF_ERRORS = frozenset(Problem(status, title).kind for status, title in STATUS_BY_ERROR.values())
"""Kinds of problems that arise below the pages, whose own words are English and name what it is about."""

COMMAND = re.compile(r"\bkiwiresearch [a-z]|(?<!\S)--[a-z]")
"""What is typed into a terminal: a command, or an option of one."""


def problem_key(problem: Problem, words: Catalogue) -> str:
    """The name under which the catalogue has this problem, or one of its sort."""
    if words.has(f"problems.kinds.{problem.kind}.title"):
        return f"problems.kinds.{problem.kind}"
    return "problems.kinds.failed" if problem.status >= 500 else "problems.kinds.bad-request"


def has_own_words(problem: Problem) -> bool:
    """Whether its own words say more than the catalogue does: the title of a book, the name of a setting."""
    return problem.kind in KINDS_OF_ERRORS and bool(problem.detail)


def is_command(remedy: str) -> bool:
    """Whether a remedy is for somebody at a terminal, which a reader of the desk may not have."""
    return bool(COMMAND.search(remedy))


def said(text: str, words: Catalogue) -> str:
    """A message in the reader's language, without markup; any other text as it is."""
    return (render(text, words) if isinstance(text, Message) and text.kind else None) or text


def is_withheld(text: str) -> bool:
    """Whether a text replaces the name or the words of somebody who may be living."""
    return isinstance(text, Message) and text.kind in (LIVING_NAME.kind, WITHHELD.kind)


def person_name(words: Catalogue, name: str) -> str:
    """A name on one line; a withheld person is called by what the language says instead."""
    return " ".join(said(name, words).split()) or words("family.unnamed")


MAX_SENTENCE = 5_000
"""Longer texts are no sentences of ours, and are not looked through."""


def translated(text: str, words: Catalogue, language: str = "") -> Markup:
    """A sentence of a run for a reader; `language` is that of the book whose words it holds.

    A sentence that is none of ours is shown as it stands, marked as English.
    """
    if not text:
        return Markup()
    if isinstance(text, Message) and text.kind:
        said = render(text, words, lambda part: _book_words(part, words, language))
        if said is not None:
            # The catalogue holds no markup, and the values are escaped.
            return Markup(said)  # noqa: S704
    return _translated_or_none(text, words, language) or Markup('<span lang="en" dir="ltr">{}</span>').format(text)


def _translated_or_none(text: str, words: Catalogue, language: str) -> Markup | None:
    """A sentence said again; None where it is none of ours, or a run from elsewhere only makes it look like one."""
    try:
        return _translate(text, words, language) if len(text) <= MAX_SENTENCE else None
    except (RecursionError, ValueError):  # more parts than can be taken apart, more digits than a number can have
        return None


def _translate(text: str, words: Catalogue, language: str) -> Markup | None:
    for name, form in FORMS:
        if found := form.fullmatch(text):
            values = {key: _sentence_value(key, part, words, language) for key, part in found.groupdict().items()}
            if None not in values.values():
                # The catalogue holds no markup, and the values are escaped.
                return Markup(words(f"retold.{name}", **values))  # noqa: S704
    return None


def _sentence_value(key: str, text: str, words: Catalogue, language: str) -> Markup | int | None:
    if key in VERBATIM:
        return _book_words(text, words, language)
    if re.fullmatch(NUMBER, text):
        number = int(text.replace(",", ""))
        # A year is no count, whose thousands stand apart.
        return Markup(words.customs.number(number)) if key == "year" else number  # noqa: S704
    if re.fullmatch(QUOTED, text, re.DOTALL):
        try:
            quoted = str(ast.literal_eval(text)) if re.fullmatch(REPR_QUOTED, text, re.DOTALL) else text[1:-1]
        except (ValueError, SyntaxError):
            return None
        return Markup(words("retold.quoted", words=_book_words(quoted, words, language)))  # noqa: S704
    return _translate(text, words, language)


def _book_words(text: str, words: Catalogue, language: str) -> Markup:
    code = two_letter_code(language) if language else ""
    is_other = code not in ("", words.language)
    return Markup('<bdi lang="{}">{}</bdi>').format(code, text) if is_other else Markup("<bdi>{}</bdi>").format(text)
