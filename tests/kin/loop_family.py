"""A family that never was, in a real book: four generations, a namesake, somebody without a page, somebody alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kiwiresearch.codec import plain
from kiwiresearch.kin.loop.item_processor import ResearchStep
from kiwiresearch.kin.loop.record_writer import AddressLookup
from kiwiresearch.kin.loop.researcher import Researcher
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.source import EvidenceSource, FetchedRecord, PersonQuery
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.queues import FrontierItem
from kiwiresearch.kin.tree import LivingStatus, Person, Tree
from kiwiresearch.llm.model import Model
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.libzim import LibzimArchive

NOW = "2026-01-01T00:00:00Z"
YEAR = 2026


def linked(name: str) -> str:
    return f'<a href="{name.replace(" ", "_")}">{name}</a>'


def person_page(name: str, lived: str, rows: Mapping[str, str], prose: str) -> str:
    cells = "".join(
        f'<tr><th class="infobox-label" scope="row">{label}</th><td class="infobox-data">{value}</td></tr>'
        for label, value in rows.items()
    )
    return (
        f"<html><head><title>{name}</title></head><body><h1>{name}</h1>"
        f'<table class="infobox biography vcard"><tr><th colspan="2">{name}</th></tr>{cells}</table>'
        f"<p><b>{name}</b> ({lived}) {prose}</p></body></html>"
    )


PAGES = {
    "Aldous Penhallow": person_page(
        "Aldous Penhallow",
        "3 May 1801 – 9 June 1870",
        {
            "Born": "3 May 1801<br>Wexcombe",
            "Died": "9 June 1870<br>Harrowgate",
            "Father": linked("Barnaby Penhallow"),
            "Mother": linked("Clemence Rook"),
            "Spouse": linked("Dorothea Vance"),
            "Children": f"{linked('Edwin Penhallow')}<br>Flora Penhallow",
        },
        "was a maker of clocks. He made the great clock of Wexcombe.",
    ),
    "Barnaby Penhallow": person_page(
        "Barnaby Penhallow",
        "2 March 1770 – 1 April 1830",
        {
            "Born": "2 March 1770<br>Wexcombe",
            "Died": "1 April 1830",
            "Father": "Gideon Penhallow",
            "Spouse": linked("Clemence Rook"),
            "Children": linked("Aldous Penhallow"),
        },
        "was a miller.",
    ),
    "Clemence Rook": person_page(
        "Clemence Rook",
        "7 July 1775 – 8 August 1840",
        {
            "Born": "7 July 1775",
            "Died": "8 August 1840",
            "Spouse": linked("Barnaby Penhallow"),
            "Children": linked("Aldous Penhallow"),
        },
        "was a weaver.",
    ),
    "Dorothea Vance": person_page(
        "Dorothea Vance",
        "5 May 1805 – 6 June 1880",
        {"Born": "5 May 1805", "Died": "6 June 1880", "Spouse": linked("Aldous Penhallow")},
        "was a painter. She married Aldous Penhallow in 1826.",
    ),
    "Edwin Penhallow": person_page(
        "Edwin Penhallow",
        "1 January 1830 – 2 February 1899",
        {
            "Born": "1 January 1830",
            "Died": "2 February 1899",
            "Father": linked("Aldous Penhallow"),
            "Mother": linked("Dorothea Vance"),
            "Children": linked("Hector Penhallow Jr."),
        },
        "was a sailor.",
    ),
    "Hector Penhallow Jr.": person_page(
        "Hector Penhallow Jr.",
        "4 April 1860 – 5 May 1930",
        {"Born": "4 April 1860", "Died": "5 May 1930", "Father": linked("Edwin Penhallow")},
        "was a baker.",
    ),
    "Gideon Penhallow": person_page(
        "Gideon Penhallow",
        "1 May 1902 – 2 May 1950",
        {"Born": "1 May 1902", "Died": "2 May 1950", "Father": "Osbert Penhallow"},
        "was a racing driver, and no relation of the millers.",
    ),
    "Clocks": "<html><body><h1>Clocks</h1><p>Aldous Penhallow made clocks.</p></body></html>",
}


def write_family(target: Path, pages: Mapping[str, str] = PAGES) -> Path:
    metadata = {
        "Name": "family_en",
        "Title": "Families",
        "Description": "A book for tests",
        "Language": "eng",
        "Creator": "tests",
        "Publisher": "tests",
        "Date": "2026-01-01",
    }
    new = [NewPage(name.replace(" ", "_"), name, html.encode()) for name, html in pages.items()]
    write_book(target, new, [], metadata=metadata, main_path="", index=True)
    return target


def open_family(file: Path) -> OpenBook:
    return OpenBook(LibzimArchive(file))


def located_in(book: OpenBook) -> AddressLookup:
    def located(_: str, path: str) -> str | None:
        found = book.resolve(path)
        return str(book.ref(found)) if found else None

    return located


def a_case(folder: Path, **settings: object) -> CaseStore:
    known = {"seeds": ("Aldous Penhallow",), "generations": 2, **settings}
    record = plain(CaseSettings(**known))  # type: ignore[arg-type]
    return CaseStore.create(folder / "case.sqlite", record, lambda: NOW)


def researcher(
    store: CaseStore,
    book: OpenBook,
    *more: EvidenceSource,
    books: EvidenceSource | None = None,
    model: Model | None = None,
    model_is_local: bool = False,
) -> Researcher:
    sources = [books or BookSource([book]), *more]
    return Researcher(store, sources, located_in(book), year=YEAR, model=model, model_is_local=model_is_local)


def run(one: Researcher) -> list[ResearchStep]:
    return list(one.steps())


def named(tree: Tree, name: str) -> Person:
    (found,) = [one for one in tree.persons.values() if one.name == name]
    return found


def waiting(store: CaseStore) -> list[FrontierItem]:
    return [one for one in store.queues.items("frontier", "pending") if isinstance(one, FrontierItem)]


class RecordingSource:
    """A source that records its queries, and answers like the one behind it or raises what a test sets."""

    def __init__(self, name: str, tier: int = 1, problem: Exception | None = None, found: Sequence[FetchedRecord] = ()):
        self.id = name
        self.tier = tier
        self.problem = problem
        self.found = list(found)
        self.queries: list[PersonQuery] = []
        self.locators: list[str] = []

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        self.queries.append(query)
        if self.problem:
            raise self.problem
        return self.found

    def fetch(self, locator: str) -> FetchedRecord:
        self.locators.append(locator)
        if self.problem:
            raise self.problem
        return self.found[0]

    def asked_about(self) -> dict[str, LivingStatus]:
        return {one.name: one.living for one in self.queries}
