"""Ways into a book that need no atlas: groups of titles, letters, and the links of its start page."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.errors import KiwiError
from kiwiresearch.page import read_page
from kiwiresearch.search import AlphabeticalTitles, OpenBook, TitleIndex
from kiwiresearch.text import two_letter_code
from kiwiresearch.web.addresses import list_address, page_address

MAX_COUNTED = 1_000
"""Titles of one group are counted up to this many."""
MAX_START_LINKS = 60
MIN_START_LINKS = 3
MIN_QUALIFIED = 3
MAX_SCANNED = 500_000
"""Larger title indexes are not searched for titles with parentheses, which takes a look at all of them."""

TITLE_GROUPS = {
    "en": (
        "List of", "Outline of", "Timeline of", "History of", "Geography of", "Culture of", "Economy of", "Politics of",
        "Demographics of", "Music of", "Religion in", "Education in", "Battle of", "Treaty of", "War of", "Kingdom of",
        "University of", "House of", "Flag of", "Portal:", "Category:",
    ),
    "fr": (
        "Liste de", "Liste des", "Histoire de", "Géographie de", "Culture de", "Économie de", "Politique de",
        "Bataille de", "Traité de", "Université de", "Portail:", "Catégorie:",
    ),
    "es": (
        "Lista de", "Anexo:", "Historia de", "Geografía de", "Cultura de", "Economía de", "Política de", "Batalla de",
        "Tratado de", "Universidad de", "Portal:", "Categoría:",
    ),
    "de": ("Liste der", "Liste von", "Geschichte der", "Schlacht bei", "Universität", "Portal:", "Kategorie:"),
}  # fmt: skip
"""How titles begin that belong together, by the language of the book."""


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A link of a list, and how many pages are behind it."""

    text: str
    address: str
    count: int = 0
    is_more: bool = False
    """Whether there are more than were counted."""


def titles_in_order(opened: OpenBook | None) -> AlphabeticalTitles | None:
    """The titles of a book in order; None without a title index of this machine."""
    titles = opened.titles if opened else None
    return titles.in_order if isinstance(titles, TitleIndex) else None


def first_letters(index: AlphabeticalTitles) -> tuple[str, ...]:
    """The first letters of titles, with one entry for all digits."""
    heads = index.heads()
    digits = tuple(head for head in heads if head.isdigit())[:1]
    return (*digits, *(head for head in heads if not head.isdigit()))


def title_groups(opened: OpenBook) -> tuple[NamedLink, ...]:
    """Groups of titles that begin alike, such as 'Battle of', if the book has at least two of them."""
    index = titles_in_order(opened)
    if index is None:
        return ()
    found = []
    for text in TITLE_GROUPS.get(two_letter_code(opened.language), ()):
        count = index.count(text, MAX_COUNTED)
        if count > 1:
            address = list_address("/browse/titles", {"book": opened.book.id, "group": text})
            found.append(NamedLink(text, address, count, is_more=count == MAX_COUNTED))
    return tuple(found)


def qualifier_groups(opened: OpenBook) -> dict[str, list[NamedLink]]:
    """Pages by the noun that their titles have in parentheses: 'Ray (film)' and 'Cosmic Ray (1962 film)' are films."""
    index = titles_in_order(opened)
    if index is None or (opened.titles is not None and opened.titles.rows > MAX_SCANNED):
        return {}
    is_noun_first = two_letter_code(opened.language) in ("fr", "es", "it", "pt", "ca")
    found: dict[str, list[NamedLink]] = {}
    for qualifier, row in index.qualified():
        # 'Ray (film)', 'Cosmic Ray (1962 film)' and 'Lyon (film, 1962)' are films; in French the noun comes first.
        words = qualifier.partition(",")[0].split()
        noun = words[0 if is_noun_first else -1].lower() if words else ""
        if noun.isalpha() and len(noun) > 2:
            found.setdefault(noun, []).append(NamedLink(row.title, page_address(opened.ref(row.path))))
    large = {noun: links for noun, links in found.items() if len(links) >= MIN_QUALIFIED}
    return dict(sorted(large.items(), key=lambda item: (-len(item[1]), item[0])))


def start_links(opened: OpenBook) -> tuple[NamedLink, ...]:
    """The links of the start page, which many books use as a table of contents."""
    found = start_pages(opened, MAX_START_LINKS)
    links = tuple(NamedLink(text, page_address(opened.ref(path))) for path, text in found.items())
    return links if len(links) >= MIN_START_LINKS else ()


def start_pages(opened: OpenBook, limit: int) -> dict[str, str]:
    """The pages that the start page links to, and the texts of the links, in their order."""
    book = opened.book
    found: dict[str, str] = {}
    if not book.main_page:
        return found
    try:
        page = read_page(opened.archive.read(book.main_page), language=opened.language)
        for link in page.links:
            if len(found) == limit:
                break
            path = opened.resolve(link.target)
            if path and path != book.main_page and link.text.strip():
                found.setdefault(path, link.text.strip())
    except KiwiError:  # a damaged or hidden start page must not hide the subjects
        return {}
    return found
