"""A book of any size for the benches: short made-up pages with links, dates, numbers and people, and redirects.

`python -m bench.big_book 1000000` makes one and tells where it is. The same size gives the same pages.
They are not compressed: packing a million of them takes ten times as long as making them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from libzim.writer import Creator, Hint, Item, StringProvider

from bench.titles import Drawn, word
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.libzim import LibzimArchive, quiet

REDIRECTS = 5
"""One entry in so many is a redirect."""

PEOPLE = 4
"""One page in so many is about a person."""

RANKS = 400
NO_INDEX = (False, "eng")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
KINDS = ("river", "town", "village", "mountain", "bridge", "castle", "harbour", "island", "railway", "school")


class _Page(Item):  # type: ignore[misc]
    def __init__(self, path: str, title: str, content: str) -> None:
        super().__init__()
        self._told = path, title, content

    def get_path(self) -> str:
        return self._told[0]

    def get_title(self) -> str:
        return self._told[1]

    def get_mimetype(self) -> str:
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self._told[2])

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: True, Hint.COMPRESS: False}


def big_book(entries: int) -> Path:
    """The file of a book with so many entries, made if it is not there yet."""
    file = Path(tempfile.gettempdir()) / "kiwiresearch-bench" / f"big-{entries}.zim"
    if file.is_file():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"part-{os.getpid()}.zim")
    redirects = entries // REDIRECTS
    pages = entries - redirects
    try:
        with quiet():
            creator = Creator(part).config_indexing(*NO_INDEX).config_nbworkers(2)
            with creator:
                for key, value in metadata(entries).items():
                    creator.add_metadata(key, value)
                for number, (title, content) in enumerate(made_up_pages(pages)):
                    creator.add_item(_Page(path_of(number), title, content))
                for number in range(redirects):
                    target = path_of(number * 7 % pages)
                    creator.add_redirection(f"Also_{number}", f"Also {number}", target, {Hint.FRONT_ARTICLE: True})
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return file


def part_of(source: Path, pages: int) -> Path:
    """The first pages of a real book, in the order of its clusters, as a book of their own."""
    file = Path(tempfile.gettempdir()) / "kiwiresearch-bench" / f"{source.stem}-{pages}.zim"
    if not file.is_file():
        archive = LibzimArchive(source)
        entries = [archive.read_at(int(number)) for number in archive.directory().articles[:pages]]
        archive.close()
        told = [NewPage(entry.ref.path, entry.title, entry.content) for entry in entries]
        write_book(file, told, metadata=metadata(pages), index=False)
    return file


def metadata(entries: int) -> dict[str, str]:
    return {
        "Name": f"made_up_en_{entries}",
        "Title": f"Made-up book of {entries:,} entries",
        "Description": "For benches",
        "Language": "eng",
        "Creator": "bench",
        "Publisher": "bench",
        "Date": "2026-01-01",
    }


def path_of(number: int) -> str:
    """Paths in an order that is not that of the pages in the file, as in real books."""
    return f"{word(number * 7919 % 1_000_003).capitalize()}_{number}"


def made_up_pages(count: int) -> Iterator[tuple[str, str]]:
    drawn = Drawn(20261116)
    for number in range(count):
        title = path_of(number).replace("_", " ")
        yield title, (_person if number % PEOPLE == 0 else _place)(title, number, count, drawn)


def _link(number: int) -> str:
    path = path_of(number)
    return f'<a href="{path}">{path.replace("_", " ")}</a>'


def _words(drawn: Drawn, many: int) -> str:
    return " ".join(word(int(RANKS * drawn.share())) for _ in range(many))


def _near(number: int, count: int, drawn: Drawn) -> str:
    """A link to some page, mostly to one of the few that everybody links to."""
    far = int(count * drawn.share() ** 3)
    return _link(far if far != number else (number + 1) % count)


def _date(drawn: Drawn, first: int) -> str:
    return f"{1 + int(28 * drawn.share())} {MONTHS[int(10 * drawn.share())]} {first + int(40 * drawn.share())}"


def _person(title: str, number: int, count: int, drawn: Drawn) -> str:
    born, died = _date(drawn, 1700), _date(drawn, 1760)
    father, child = _link((number + PEOPLE) % count), _link((number - PEOPLE) % count)
    rows = (("Born", born), ("Died", died), ("Father", father), ("Children", child))
    box = "".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in rows)
    return (
        f'<html><body><h1>{title}</h1><table class="infobox">{box}</table>'
        f"<p><b>{title}</b> ({born} – {died}) was an English engineer. He was the son of {father}.</p>"
        f"<h2>Life</h2><p>He married {_near(number, count, drawn)} in {1740 + number % 60}. "
        f"In {1750 + number % 90} he built a bridge of {20 + number % 900} metres near "
        f"{_near(number, count, drawn)}. The {_words(drawn, 12)}.</p></body></html>"
    )


def _place(title: str, number: int, count: int, drawn: Drawn) -> str:
    kind = KINDS[number % len(KINDS)]
    return (
        f"<html><body><h1>{title}</h1><p><b>{title}</b> is a {kind} near {_near(number, count, drawn)}. "
        f"It was founded on {_date(drawn, 1100)} and has {1_000 + number % 90_000:,} inhabitants.</p>"
        f"<h2>History</h2><p>In {1300 + number % 600} it was destroyed because of a fire. "
        f"{_words(drawn, 14).capitalize()}. See {_near(number, count, drawn)} and {_near(number, count, drawn)}.</p>"
        f"<h2>Geography</h2><p>It lies {10 + number % 3_000} metres above the sea and covers "
        f"{1 + number % 400} km². {_words(drawn, 10).capitalize()}.</p></body></html>"
    )


if __name__ == "__main__":
    print(big_book(int(sys.argv[1])))
