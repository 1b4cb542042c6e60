"""docs/reference/scoring.md says what the code does: every signal, every number, and no other."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

import pytest

from kiwiresearch.search import rank as points_module
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.rank import point_table, title_points
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.zim.libzim import LibzimArchive

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scoring.md").read_text(encoding="utf-8")
ROWS = {
    signal: (worth, meaning)
    for signal, worth, meaning in re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
}
SIGNALS = {
    ("title", "exact"): "exact title",
    ("title", "stemmed"): "stemmed title",
    ("title", "starts"): "title starts with word",
    ("title", "starts_letters"): "title starts with word",
    ("title", "word"): "title word",
    ("excerpt", "most"): "excerpt words",
    ("list", "penalty"): "list page",
    ("list", "prefixes"): "list page",
    ("list", "offset_definitional"): "list offset",
    ("list", "offset_other"): "list offset",
    ("book", "primary"): "primary book",
    ("words", "query_in_title"): "query words in title",
    ("words", "title_in_query"): "title words in query",
    ("words", "title_phrase_in_query"): "title named in query",
    ("words", "exact"): "title is the query",
    ("quick", "listed"): "listed for words",
    ("quick", "shared"): "holds words",
    ("text", "passage"): "best passage",
    ("text", "page"): "whole page",
    ("text", "lead"): "lead",
    ("text", "together"): "words together",
    ("text", "boxes"): "boxes and categories",
    ("text", "meaning"): "meaning",
    ("focus", "title"): "focus in title",
    ("focus", "text"): "focus",
    ("page", "disambiguation"): "disambiguation page",
}
"""Where each number of the table comes out."""


def signals_of_the_code() -> set[str]:
    """The names of all lines that any module of the search can add to a score."""
    folder = Path(points_module.__file__).parent
    sources = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py"))]
    return {name for source in sources for name in re.findall(r'\.plus\(\s*"([^"]+)"', source)}


def test_the_page_names_the_signals_of_the_code_and_no_others() -> None:
    """A reader finds every line that a score can have, and none it cannot (R160)."""
    assert set(ROWS) == signals_of_the_code()


def test_every_entry_of_the_table_is_explained() -> None:
    """No number can be added to the file without a place on the page."""
    assert {(section, key) for section, entries in point_table().items() for key in entries} == set(SIGNALS)


@pytest.mark.parametrize(("section", "key"), SIGNALS)
def test_every_number_is_beside_its_signal(section: str, key: str) -> None:
    """The points and limits on the page are those of the file (R160)."""
    worth = point_table()[section][key]
    row = " ".join(ROWS[SIGNALS[section, key]])
    if isinstance(worth, list):
        assert re.findall(r'"([^"]+)"', row) == worth
    else:
        assert re.search(rf"(?<![\d.-]){re.escape(f'{worth:g}')}(?![\d.])", row)


def test_each_number_of_the_page_is_in_the_file() -> None:
    """A column of points has nothing but what the file says."""
    for signal, (worth, _) in ROWS.items():
        entries = [point_table()[section][key] for (section, key), name in SIGNALS.items() if name == signal]
        assert all(int(number) in entries for number in re.findall(r"-?\d+", worth))


def example() -> list[list[str]]:
    """The example's hits: first the head of each, then its lines."""
    block = PAGE.split("```console\n")[1].split("```")[0].splitlines()
    heads = [number for number, line in enumerate(block) if re.match(r" \d+\. ", line)]
    is_line = re.compile(r" +[+-]\d+\.\d\d  \S").match
    return [[block[head], *takewhile(is_line, block[head + 2 :])] for head in heads]


def test_the_example_is_what_the_program_says(sample_zim: Path) -> None:
    """The worked example shows the pages of the sample book and their lines in order (R160)."""
    archive = LibzimArchive(sample_zim)
    found = search_books([OpenBook(archive)], "who were the Hittites", SearchOptions(limit=2))
    archive.close()
    shown = [[" ".join(line.split()) for line in lines] for _, *lines in example()]
    assert shown == [[f"{term.points:+.2f} {term.signal}" for term in hit.score.terms] for hit in found.hits]
    assert all(hit.title in head for hit, (head, *_) in zip(found.hits, example(), strict=True))


def test_the_examples_lines_add_up() -> None:
    """A reader who sums the lines of the example has its total (R160)."""
    for head, *lines in example():
        assert f"{sum(float(line.split()[0]) for line in lines):g}" == head.split()[-1]


def test_the_fraction_in_the_notes_is_true() -> None:
    """Two words of thirty are +0.67, as the page says (N3)."""
    excerpt = " ".join(["spiral", "galaxy", *(f"other{number}" for number in range(28))])
    assert f"{title_points(parse_query('spiral galaxies'), 'Elsewhere', excerpt).total:+g}" in PAGE


def test_the_limit_is_reported() -> None:
    """The page says that words and structure are all there is, and what follows for bare words (R179, R204)."""
    limit = PAGE.split("## Limitations")[1]
    assert "no knowledge of the world" in limit
    assert "several meanings" in limit
    assert "--focus" in limit
