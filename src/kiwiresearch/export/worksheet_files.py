"""A worksheet as a document to print: the sheet for the class, then the answers on pages of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

from kiwiresearch.claims import Claim, PageClaims
from kiwiresearch.document import (
    AnswerSpace,
    Block,
    Document,
    FactEntry,
    FactList,
    Heading,
    LineList,
    Paragraph,
    PlainTable,
    Quotation,
    Span,
    blocks_in_html,
    escaped,
    line_of,
)
from kiwiresearch.document.markdown import markdown
from kiwiresearch.export.findings import DATE, NO_DATE, RunFindings, dated
from kiwiresearch.export.packing import ExportedFile
from kiwiresearch.export.word_package import WordProperties, word_file
from kiwiresearch.export.worksheet import Worksheet, make_worksheet
from kiwiresearch.export.worksheet_choice import ANY, WorksheetChoice
from kiwiresearch.export.worksheet_facts import facts_of_page, facts_of_run
from kiwiresearch.export.worksheet_question import GAP, WorksheetQuestion
from kiwiresearch.runs import xml_safe
from kiwiresearch.text import short_language_code
from kiwiresearch.zim import Book

LINES = MappingProxyType({"what": 2, "why": 2, "when": 1, "who": 2, "where": 1, "count": 1})
"""How many lines there are to write an answer on."""
SHORT_GAP = "____"
HINTS = MappingProxyType({"year": " (a year)", "number": " (a number)"})
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


class Proven(NamedTuple):
    """An answer and the claims that prove it, for the answer sheet; it has the number of its place there."""

    answer: str
    claims: tuple[Claim, ...]


@cache
def _style() -> str:
    return (files("kiwiresearch.export") / "worksheet.css").read_text(encoding="utf-8").strip()


def worksheet_document(worksheet: Worksheet) -> Document:
    """The worksheet and its answers, in one document."""
    numbers = count(1)
    answers: list[Proven] = []
    blocks = [
        Paragraph(line_of(f"Name: {GAP * 3}   Date: {GAP}"), "who"),
        *_open(worksheet, numbers, answers),
        *_truths(worksheet, numbers, answers),
        *_gaps(worksheet, numbers, answers),
        *_word_gaps(worksheet, numbers, answers),
        *_matching(worksheet, numbers, answers),
        *_ordering(worksheet, numbers, answers),
        *_answer_sheet(worksheet, answers),
    ]
    return Document(f"Worksheet: {worksheet.topic}", tuple(blocks), worksheet.language or "eng")


def _prompt(number: int, question: WorksheetQuestion, end: str = "") -> Paragraph:
    hint = Span(HINTS.get(question.hint, ""), emphasis=True)
    return Paragraph(line_of(Span(f"{number}. ", strong=True), f"{question.prompt}{end}", hint), "question")


def _open(worksheet: Worksheet, numbers: Iterator[int], answers: list[Proven]) -> Iterator[Block]:
    if worksheet.open_questions:
        yield Heading(line_of("Answer the questions"), 2)
    for question in worksheet.open_questions:
        number = next(numbers)
        answers.append(Proven(question.answer, (question.claim,)))
        yield _prompt(number, question)
        yield AnswerSpace(LINES[question.kind])


def _truths(worksheet: Worksheet, numbers: Iterator[int], answers: list[Proven]) -> Iterator[Block]:
    if worksheet.truths:
        yield Heading(line_of("True or false?"), 2)
    for question in worksheet.truths:
        number = next(numbers)
        answers.append(Proven(question.solution, (question.claim,)))
        yield _prompt(number, question, f" {SHORT_GAP}")


def _gaps(worksheet: Worksheet, numbers: Iterator[int], answers: list[Proven]) -> Iterator[Block]:
    if worksheet.gaps:
        yield Heading(line_of("Fill in the numbers"), 2)
    for question in worksheet.gaps:
        number = next(numbers)
        answers.append(Proven(question.answer, (question.claim,)))
        yield _prompt(number, question)


def _word_gaps(worksheet: Worksheet, numbers: Iterator[int], answers: list[Proven]) -> Iterator[Block]:
    if not worksheet.word_gaps:
        return
    yield Heading(line_of("Fill in the words"), 2)
    if len(worksheet.word_bank) > 1:
        yield Paragraph(line_of("Use each of these once: ", Span(" · ".join(worksheet.word_bank), strong=True)), "bank")
    for question in worksheet.word_gaps:
        number = next(numbers)
        answers.append(Proven(question.answer, (question.claim,)))
        yield _prompt(number, question)


def _matching(worksheet: Worksheet, numbers: Iterator[int], answers: list[Proven]) -> Iterator[Block]:
    exercise = worksheet.matching
    if exercise is None:
        return
    number = next(numbers)
    yield Heading(line_of("Match each term with its meaning"), 2)
    yield Paragraph(
        line_of(Span(f"{number}. ", strong=True), "Write the letter of the meaning next to the term."), "question"
    )
    rows = tuple(
        (f"{SHORT_GAP} {pair.term}", f"{exercise.letter(meaning)}. {meaning.meaning}")
        for pair, meaning in zip(exercise.pairs, exercise.meanings, strict=True)
    )
    yield PlainTable(("Term", "Meaning"), rows)
    solved = ", ".join(f"{pair.term}: {exercise.letter(pair)}" for pair in exercise.pairs)
    answers.append(Proven(solved, tuple(pair.claim for pair in exercise.pairs)))


def _ordering(worksheet: Worksheet, numbers: Iterator[int], answers: list[Proven]) -> Iterator[Block]:
    exercise = worksheet.ordering
    if exercise is None:
        return
    number = next(numbers)
    yield Heading(line_of("Put the events in order"), 2)
    asked = f"Number the events from 1 (the earliest) to {len(exercise.events)} (the latest)."
    yield Paragraph(line_of(Span(f"{number}. ", strong=True), asked), "question")
    yield LineList(tuple(line_of(f"{SHORT_GAP} {event.text}") for event in exercise.printed), css_class="events")
    order = [str(exercise.events.index(event) + 1) for event in exercise.printed]
    dates = ", ".join(f"{place} ({exercise.events[int(place) - 1].when})" for place in order)
    answers.append(Proven(f"From top to bottom: {dates}", tuple(event.claim for event in exercise.events)))


def _answer_sheet(worksheet: Worksheet, answers: list[Proven]) -> Iterator[Block]:
    yield Heading(line_of(f"Answer sheet: {worksheet.topic}"), 2, "answers", new_page=True)
    made = f"Made from {' and '.join(worksheet.books)}. " if worksheet.books else ""
    yield Paragraph(
        line_of(
            f"{made}Below each answer is the sentence from the page that proves it. Statements that the pages hedge "
            "or dispute are not asked."
        ),
        "origin",
    )
    yield FactList(tuple(_answer(proven) for proven in answers), numbered=True)


def _answer(proven: Proven) -> FactEntry:
    line = line_of(Span(proven.answer, strong=True))
    quotations = tuple(
        Quotation(claim.quotes[-1 if claim.is_row else 0].text, line_of(claim.citation.words))
        for claim in proven.claims
    )
    return FactEntry(line, "", "", quotations, is_open=True)


def worksheet_html(worksheet: Worksheet) -> str:
    """The worksheet as a page that loads nothing; on paper, the answers begin on a new sheet."""
    document = worksheet_document(worksheet)
    code = short_language_code(document.language) or "en"
    return PAGE.format(
        language=escape(code),
        policy=POLICY,
        title=escaped(document.title).strip(),
        style=_style(),
        body=blocks_in_html(document.blocks),
    )


def worksheet_markdown(worksheet: Worksheet) -> str:
    return markdown(worksheet_document(worksheet), breaks_autolinks=True)


def worksheet_docx(worksheet: Worksheet, date: str = NO_DATE) -> bytes:
    document = worksheet_document(worksheet)
    return word_file(document, WordProperties(document.title, worksheet.topic, date), with_contents=False)


def make_run_worksheet(findings: RunFindings, choice: WorksheetChoice = ANY) -> Worksheet:
    """The worksheet of a finished run; NothingFound if its pages have too few facts."""
    return make_worksheet(facts_of_run(findings), choice)


WORKSHEET_SUFFIXES: Mapping[str, str] = MappingProxyType({"html": ".html", "docx": ".docx", "markdown": ".md"})


def make_page_worksheet(found: PageClaims, book: Book, choice: WorksheetChoice = ANY) -> Worksheet:
    return make_worksheet(facts_of_page(found, dated(book.title or book.name, book.date)), choice)


def page_worksheet_file(found: PageClaims, format_name: str, book: Book, choice: WorksheetChoice = ANY) -> ExportedFile:
    """The worksheet of one page, as a file named 'worksheet' in one of the WORKSHEET_SUFFIXES."""
    worksheet = make_page_worksheet(found, book, choice)
    name = f"worksheet{WORKSHEET_SUFFIXES[format_name]}"
    if format_name == "docx":
        date = book.date if DATE.fullmatch(book.date) else NO_DATE
        return ExportedFile(name, worksheet_docx(worksheet, date))
    text = worksheet_html(worksheet) if format_name == "html" else worksheet_markdown(worksheet)
    return ExportedFile(name, xml_safe(text).encode())
