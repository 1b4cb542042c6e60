"""Sources as BibTeX, which LaTeX and most reference managers read."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.research.export.citations import Cited, cited
from kiwiresearch.research.export.findings import Findings

# BibTeX counts braces even where they are escaped, so that none may stand alone.
SIGNS = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        **{sign: f"\\{sign}" for sign in "#$%&_"},
    }
)
IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '{}\\"^`<>|'})
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(findings: Findings) -> str:
    """An entry for each book and each page."""
    return "\n".join(map(_entry, cited(findings)))


def _entry(source: Cited) -> str:
    kind = "incollection" if source.is_page else "misc"
    fields = ",\n".join(f"  {name} = {value}" for name, value in _fields(source))
    return f"@{kind}{{{source.key},\n{fields}\n}}\n"


def _fields(source: Cited) -> Iterator[tuple[str, str]]:
    # braces twice: styles would turn capitals of a name into small letters
    yield "title", f"{{{{{_text(source.title)}}}}}"
    if source.is_page:
        yield "booktitle", f"{{{{{_text(source.book_title)}}}}}"
    day = source.day
    if day:
        yield "year", f"{{{day[0]}}}"
    if len(day) > 1:
        yield "month", MONTHS[int(day[1]) - 1]
    if source.language:
        yield "language", f"{{{_text(source.language)}}}"
    if source.url:
        yield "url", f"{{{source.url.translate(IN_ADDRESS)}}}"
    edition = f", edition of {_text(source.date)}" if source.date else ""
    yield "note", f"{{{_text(source.note)}{edition}}}"


def _text(text: str) -> str:
    return text.translate(SIGNS)
