"""The sources of a run for reference managers: BibTeX, RIS and CSL-JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.brief.briefs import BOOK, PAGES, bronze_age, of_words
from tests.export.exported_runs import a_read_run

from kiwiresearch.brief.brief import Brief
from kiwiresearch.export.exporter import export

HOSTILE = ("{", "}", "a } b { c", "\\", "100% & more_$#~^", "two\nlines\rTY  - BOOK", 'a "b"', "@misc{x,", "日本 é")


def entries(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """Kind, key and fields of each entry, read as BibTeX reads them: by counting braces, escaped or not."""
    found = []
    place = 0
    while (start := text.find("@", place)) >= 0:
        place = closing(text, text.index("{", start))
        kind, _, inside = text[start + 1 : place - 1].partition("{")
        key, _, rest = inside.partition(",")
        found.append((kind, key, fields(rest)))
    return found


def closing(text: str, start: int) -> int:
    """The place behind the brace that closes the one at the start."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError("a brace is never closed")


def fields(text: str) -> dict[str, str]:
    found = {}
    place = 0
    while name := re.compile(r"\s*,?\s*(\w+) = ").match(text, place):
        if text[name.end()] == "{":
            place = closing(text, name.end())
        else:
            place = next((n for n in range(name.end(), len(text)) if text[n] in ",\n"), len(text))
        found[name[1]] = text[name.end() : place]
    return found


def records(text: str) -> list[dict[str, list[str]]]:
    """The records of a RIS file."""
    found: list[dict[str, list[str]]] = []
    for line in text.split("\r\n"):
        if not line:
            continue
        tag, value = re.fullmatch(r"([A-Z][A-Z0-9])  - (.*)", line).groups()  # type: ignore[union-attr]
        if tag == "TY":
            found.append({})
        found[-1].setdefault(tag, []).append(value)
    return found


def written(folder: Path, to: str, brief: Brief | None = None) -> str:
    return export(a_read_run(folder, brief), to)[0].read_bytes().decode("utf-8")


def test_bibtex_names_the_book_and_every_page(tmp_path: Path) -> None:
    """A page is a part of its book, with the book's title, its date, its UUID and the path."""
    found = entries(written(tmp_path, "bibtex"))
    assert [kind for kind, _, _ in found] == ["misc", *["incollection"] * len(PAGES)]
    _, key, page = found[3]
    assert key == "ugarit-2026"
    assert page == {
        "title": "{{Ugarit}}",
        "booktitle": "{{The sample book}}",
        "year": "{2026}",
        "month": "jan",
        "language": "{en}",
        "url": f"{{zim://{BOOK}/Ugarit}}",
        "note": f"{{ZIM file {BOOK}, path Ugarit, edition of 2026-01-01}}",
    }


def test_ris_names_the_book_and_every_page(tmp_path: Path) -> None:
    """Each record begins with its type and ends as the format wants."""
    found = records(written(tmp_path, "ris"))
    assert [record["TY"] for record in found] == [["BOOK"], *[["CHAP"]] * len(PAGES)]
    assert all(list(record)[-1] == "ER" for record in found)
    page = found[3]
    assert (page["TI"], page["T2"], page["PY"]) == (["Ugarit"], ["The sample book"], ["2026"])
    assert (page["DA"], page["AN"]) == (["2026/01/01/"], [f"{BOOK}/Ugarit"])


def test_csl_json_names_the_book_and_every_page(tmp_path: Path) -> None:
    """Items with the fields of the schema, dates as numbers."""
    found: list[dict[str, Any]] = json.loads(written(tmp_path, "csl-json"))
    assert [item["type"] for item in found] == ["book", *["chapter"] * len(PAGES)]
    page = found[3]
    assert (page["title"], page["container-title"], page["id"]) == ("Ugarit", "The sample book", "ugarit-2026")
    assert page["issued"] == {"date-parts": [[2026, 1, 1]]}
    assert page["archive_location"] == f"{BOOK}/Ugarit"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_stay_titles(tmp_path: Path, text: str) -> None:
    """Braces, markup of LaTeX and line ends in a title end no entry and begin none."""
    brief = of_words(text, "https://example.org/{}\\x")
    found = entries(written(tmp_path, "bibtex", brief))
    assert [kind for kind, _, _ in found] == ["misc", "incollection", "incollection"]
    assert all({"title", "note"} <= set(entry) for _, _, entry in found)
    records_found = records(written(tmp_path, "ris", brief))
    assert [record["TY"] for record in records_found] == [["BOOK"], ["CHAP"], ["CHAP"]]
    assert all(len(record["TI"]) == 1 for record in records_found)
    shown = [item["title"] for item in json.loads(written(tmp_path, "csl-json", brief))]
    assert shown == [" ".join(text.split())] * 3


def test_latex_reads_the_signs_as_they_were(tmp_path: Path) -> None:
    """Signs that mean something in LaTeX are spelled out, and braces come in pairs."""
    (_, _, book), *_ = entries(written(tmp_path, "bibtex", of_words("50% & {x}_\\")))
    assert book["title"] == r"{{50\% \& {\textbraceleft}x{\textbraceright}\_{\textbackslash}}}"


def test_the_year_is_in_a_key_once(tmp_path: Path) -> None:
    """A book or a page that ends in the year of its edition does not have it twice."""
    brief = bronze_age()
    books = tuple(replace(book, title="Schools 2026") for book in brief.sources.books)
    first, *others = brief.sources.pages
    pages = (replace(first, title="2026"), *others)
    brief = replace(brief, sources=replace(brief.sources, books=books, pages=pages))
    keys = [key for _, key, _ in entries(written(tmp_path, "bibtex", brief))]
    assert keys[:2] == ["schools-2026", "2026"]


def test_keys_are_distinguished(tmp_path: Path) -> None:
    """Titles that read alike in ASCII, or have no letter of it, get keys of their own."""
    brief = bronze_age()
    titles = ("Über", "uber", "UBER!", "日本", "中国")
    pages = tuple(
        replace(page, title=titles[number] if number < len(titles) else page.title)
        for number, page in enumerate(brief.sources.pages)
    )
    brief = replace(brief, sources=replace(brief.sources, pages=pages))
    keys = [key for _, key, _ in entries(written(tmp_path, "bibtex", brief))]
    assert keys[1:6] == ["uber-2026", "uber-2026-2", "uber-2026-3", "source-2026", "source-2026-2"]
    assert len({key.casefold() for key in keys}) == len(keys)
    assert all(re.fullmatch(r"[a-z0-9-]+", key) for key in keys)
    assert [item["id"] for item in json.loads(written(tmp_path, "csl-json", brief))] == keys


@pytest.mark.parametrize(("date", "year"), [("2026-01-02", "2026"), ("2026-13-45", "2026"), ("soon", ""), ("", "")])
def test_a_date_that_is_none_is_left_out(tmp_path: Path, date: str, year: str) -> None:
    """A book without a date is cited without one."""
    brief = bronze_age()
    books = tuple(replace(book, date=date) for book in brief.sources.books)
    brief = replace(brief, sources=replace(brief.sources, books=books))
    book = records(written(tmp_path, "ris", brief))[0]
    assert book.get("PY", [""]) == [year]
    (item, *_) = json.loads(written(tmp_path, "csl-json", brief))
    assert str(item.get("issued", {"date-parts": [[""]]})["date-parts"][0][0]) == year


@pytest.mark.parametrize("to", ["bibtex", "ris", "csl-json"])
@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"])
def test_only_addresses_of_pages_are_cited(tmp_path: Path, to: str, url: str) -> None:
    """What leads to no page of a book is not an address of a source."""
    assert url.partition(":")[0] + ":" not in written(tmp_path, to, of_words("words", url))
