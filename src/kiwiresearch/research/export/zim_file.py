"""A run as a ZIM file: a book for the shelf that any Kiwix reader opens, with titles and full text to search."""

from __future__ import annotations

import subprocess
import tempfile
from html import escape
from pathlib import Path

from kiwiresearch import background
from kiwiresearch.brief.html import escaped
from kiwiresearch.errors import CannotWrite
from kiwiresearch.research.export.findings import Findings, title_of
from kiwiresearch.research.export.leaf_style import style
from kiwiresearch.research.export.leaves import BRIEF, NOTES, SOURCES, Leaf, leaves, one_line
from kiwiresearch.research.export.row import clean
from kiwiresearch.research.topics import folder_name
from kiwiresearch.text.languages import three_letter_code
from kiwiresearch.zim.build import NewPage
from kiwiresearch.zim.build_child import MODULE, order

SUFFIX = ".html"
PATIENCE_S = 900.0
LONGEST_TITLE = 30
LONGEST_DESCRIPTION = 80
"""What the catalogue of Kiwix allows."""

FRAME = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav class="top" lang="en">{menu}</nav>
{contents}<main>
{body}
</main>
</body>
</html>
"""


def zim(findings: Findings) -> bytes:
    """The file; the same run gives the same bytes, UUID included, with the same version of libzim."""
    found = list(leaves(findings, SUFFIX))
    menu = " · ".join(
        f'<a href="{name}{SUFFIX}">{words}</a>'
        for name, words in ((BRIEF, "Brief"), (NOTES, "Notes"), (SOURCES, "Sources and pages"))
        if any(leaf.name == name for leaf in found)
    )
    pages = [_page(leaf, menu) for leaf in found]
    look = style(with_pictures=bool(findings.images))
    pages.append(NewPage("style.css", "", look.encode(), "text/css", is_article=False))
    kinds = {one.sha256: one.media_type for one in findings.brief.pictures}
    for sha, name in findings.picture_names.items():
        pages.append(NewPage(name, "", findings.images[sha], kinds[sha], is_article=False))
    codes = _codes(findings)
    return _written(order(pages, _metadata(findings, codes), language=codes[0], main_path=f"{BRIEF}{SUFFIX}"))


def _written(told: bytes) -> bytes:
    """The book that a process of its own has written: a server goes on answering, and its log stays whole."""
    try:
        with tempfile.TemporaryDirectory(prefix="kiwiresearch-", ignore_cleanup_errors=True) as folder:
            file = Path(folder) / "brief.zim"
            command = background.command(MODULE, str(file))
            subprocess.run(command, input=told, capture_output=True, timeout=PATIENCE_S, check=True)  # noqa: S603
            return file.read_bytes()
    except (OSError, subprocess.SubprocessError) as problem:
        raise CannotWrite(
            "The ZIM file could not be written.",
            remedy="Make room in the folder for temporary files, and try again.",
        ) from problem


def _page(leaf: Leaf, menu: str) -> NewPage:
    parts = "".join(f'<li><a href="#{anchor}">{escaped(heading)}</a></li>' for anchor, heading in leaf.parts)
    contents = f'<nav aria-label="Contents" lang="en">\n<ul class="contents">{parts}</ul>\n</nav>\n' if parts else ""
    text = FRAME.format(
        lang=escape(leaf.language), title=escaped(leaf.title), menu=menu, contents=contents, body=leaf.body
    )
    return NewPage(f"{leaf.name}{SUFFIX}", clean(leaf.title), clean(text).encode())


def _codes(findings: Findings) -> list[str]:
    """The languages of the books by their ISO 639-3 codes, as ZIM files name them."""
    codes = dict.fromkeys(three_letter_code(book.language) for book in findings.brief.sources.books)
    return [code for code in codes if len(code) == 3] or ["eng"]


def _metadata(findings: Findings, codes: list[str]) -> dict[str, str]:
    topic = clean(one_line(findings.topic))
    books = findings.brief.sources.books
    return {
        "Name": f"kiwiresearch_{codes[0]}_{folder_name(topic)}",
        "Title": _shortened(topic, LONGEST_TITLE),
        "Description": _shortened(f"A research brief: {topic}", LONGEST_DESCRIPTION),
        "Language": ",".join(codes),
        "Creator": "kiwiresearch",
        "Publisher": "kiwiresearch",
        "Date": findings.date,
        "Source": clean("; ".join(f"{one_line(title_of(book))} ({book.id})" for book in books)),
        "Scraper": clean(f"kiwiresearch {one_line(findings.version)}"),
        "Tags": f"_category:research;_ftindex:yes;_pictures:{'yes' if findings.images else 'no'};_videos:no",
    }


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
