"""Synthetic books of any size for the benchmarks: short pages with links, dates, numbers and people, and redirects.

`python -m bench.big_book 1000000` makes one and prints its path. The same size gives the same pages.
They are not compressed, because compressing a million pages takes ten times as long as generating them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from libzim.writer import Creator, Hint, Item, StringProvider

from bench.titles import RepeatableRandom, word
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.libzim import LibzimArchive, quiet

REDIRECT_EVERY = 5
"""One entry in this many is a redirect."""

PERSON_EVERY = 4
"""One page in this many is about a person."""

VOCABULARY = 400
NO_INDEX = (False, "eng")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
KINDS = ("river", "town", "village", "mountain", "bridge", "castle", "harbour", "island", "railway", "school")


class _Page(Item):  # type: ignore[misc]
    def __init__(self, path: str, title: str, content: str) -> None:
        super().__init__()
        self._path, self._title, self._content = path, title, content

    def get_path(self) -> str:
        return self._path

    def get_title(self) -> str:
        return self._title

    def get_mimetype(self) -> str:
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self._content)

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: True, Hint.COMPRESS: False}


def big_book(entries: int) -> Path:
    """The file of a book with this many entries, which is created if it does not exist."""
    file = Path(tempfile.gettempdir()) / "kiwiresearch-bench" / f"big-{entries}.zim"
    if file.is_file():
        return file
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"part-{os.getpid()}.zim")
    redirects = entries // REDIRECT_EVERY
    pages = entries - redirects
    try:
        with quiet():
            creator = Creator(unfinished).config_indexing(*NO_INDEX).config_nbworkers(2)
            with creator:
                for key, value in metadata(entries).items():
                    creator.add_metadata(key, value)
                for number, (title, content) in enumerate(synthetic_pages(pages)):
                    creator.add_item(_Page(path_of(number), title, content))
                for number in range(redirects):
                    target = path_of(number * 7 % pages)
                    creator.add_redirection(f"Also_{number}", f"Also {number}", target, {Hint.FRONT_ARTICLE: True})
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    return file


def first_pages_of(source: Path, count: int) -> Path:
    """A book with the first pages of a real book, in the order of its clusters, created if it does not exist."""
    file = Path(tempfile.gettempdir()) / "kiwiresearch-bench" / f"{source.stem}-{count}.zim"
    if not file.is_file():
        archive = LibzimArchive(source)
        entries = [archive.read_at(int(number)) for number in archive.directory().articles[:count]]
        archive.close()
        pages = [NewPage(entry.ref.path, entry.title, entry.content) for entry in entries]
        write_book(file, pages, metadata=metadata(count), index=False)
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
    """The path of a page; as in real books, the order of paths is not that of the pages in the file."""
    return f"{word(number * 7919 % 1_000_003).capitalize()}_{number}"


def synthetic_pages(count: int) -> Iterator[tuple[str, str]]:
    """The titles and HTML of this many pages."""
    rng = RepeatableRandom(20261116)
    for number in range(count):
        title = path_of(number).replace("_", " ")
        yield title, (_person if number % PERSON_EVERY == 0 else _place)(title, number, count, rng)


def _link(number: int) -> str:
    path = path_of(number)
    return f'<a href="{path}">{path.replace("_", " ")}</a>'


def _words(rng: RepeatableRandom, count: int) -> str:
    return " ".join(word(int(VOCABULARY * rng.fraction())) for _ in range(count))


def _popular_link(number: int, count: int, rng: RepeatableRandom) -> str:
    """A link to another page, most often to one of the few that many pages link to."""
    target = int(count * rng.fraction() ** 3)
    return _link(target if target != number else (number + 1) % count)


def _date(rng: RepeatableRandom, first_year: int) -> str:
    return f"{1 + int(28 * rng.fraction())} {MONTHS[int(10 * rng.fraction())]} {first_year + int(40 * rng.fraction())}"


def _person(title: str, number: int, count: int, rng: RepeatableRandom) -> str:
    born, died = _date(rng, 1700), _date(rng, 1760)
    father, child = _link((number + PERSON_EVERY) % count), _link((number - PERSON_EVERY) % count)
    rows = (("Born", born), ("Died", died), ("Father", father), ("Children", child))
    box = "".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in rows)
    return (
        f'<html><body><h1>{title}</h1><table class="infobox">{box}</table>'
        f"<p><b>{title}</b> ({born} – {died}) was an English engineer. He was the son of {father}.</p>"
        f"<h2>Life</h2><p>He married {_popular_link(number, count, rng)} in {1740 + number % 60}. "
        f"In {1750 + number % 90} he built a bridge of {20 + number % 900} metres near "
        f"{_popular_link(number, count, rng)}. The {_words(rng, 12)}.</p></body></html>"
    )


def _place(title: str, number: int, count: int, rng: RepeatableRandom) -> str:
    kind = KINDS[number % len(KINDS)]
    return (
        f"<html><body><h1>{title}</h1><p><b>{title}</b> is a {kind} near {_popular_link(number, count, rng)}. "
        f"It was founded on {_date(rng, 1100)} and has {1_000 + number % 90_000:,} inhabitants.</p>"
        f"<h2>History</h2><p>In {1300 + number % 600} it was destroyed because of a fire. "
        f"{_words(rng, 14).capitalize()}. See {_popular_link(number, count, rng)} "
        f"and {_popular_link(number, count, rng)}.</p>"
        f"<h2>Geography</h2><p>It lies {10 + number % 3_000} metres above the sea and covers "
        f"{1 + number % 400} km². {_words(rng, 10).capitalize()}.</p></body></html>"
    )


if __name__ == "__main__":
    print(big_book(int(sys.argv[1])))
