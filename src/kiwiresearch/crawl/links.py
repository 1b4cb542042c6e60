"""Turns the links of a page into offers, and filters links that are not followed."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kiwiresearch.crawl.score import LINKS, POINTS
from kiwiresearch.crawl.settings import LinkFilters
from kiwiresearch.crawl.step import LinkOffer
from kiwiresearch.crawl.topic import TopicPlaces
from kiwiresearch.page import Link, LinkPlace, PageDoc
from kiwiresearch.search import OpenBook
from kiwiresearch.text import language_words
from kiwiresearch.zim import hidden_page_error

OUTSIDE: frozenset[LinkPlace] = frozenset({"navigation", "hidden", "references", "note", "categories"})
"""Links outside the text proper."""

NAMESPACES = frozenset(
    " ".join(
        (
            "talk user wikipedia wp project portal file image media mediawiki template help category draft module",
            "special timedtext book education gadget topic summary thread wiktionary wikt commons appendix",
            "diskussion benutzer datei bild vorlage hilfe kategorie spezial",
            "discussion utilisateur fichier modèle aide catégorie portail projet spécial",
            "discusión usuario archivo imagen plantilla ayuda categoría especial anexo",
            "discussione utente immagine modello aiuto categoria speciale",
            "discussão usuário ficheiro imagem predefinição ajuda",
            "overleg gebruiker bestand afbeelding sjabloon categorie speciaal",
            "обсуждение участник файл шаблон категория справка",
        )
    ).split()
)
"""Prefixes, before a colon, of pages that are not articles, in the languages of the largest books."""

# '1848', '1920s', '44 bc', '1999 (year)', '19th century'; not '1848 revolution'.
YEAR = re.compile(
    r"(?:ad\s*)?\d{1,4}s?(?:\s*(?:ad|bc|bce|ce|b\.c\.|a\.d\.))?(?:\s*\(year\))?"
    r"|\d{1,2}(?:st|nd|rd|th) (?:century|millennium)(?:\s*(?:ad|bc|bce|ce))?"
)


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Decides which links are refused, and why."""

    settings: LinkFilters
    language: str = "eng"
    timeline: bool = False
    """Whether the topic asks for a timeline, so that pages about years are allowed."""
    main_page: str = ""
    excluded: tuple[str, ...] = field(init=False)

    @classmethod
    def of(cls, book: OpenBook, settings: LinkFilters, *, timeline: bool) -> LinkFilter:
        return cls(settings, book.language, timeline=timeline, main_page=book.book.main_page)

    def __post_init__(self) -> None:
        object.__setattr__(self, "excluded", tuple(word.casefold() for word in self.settings.exclude if word.strip()))

    def place_refusal(self, place: LinkPlace) -> str:
        """Why a link is refused because of its place on the page, or ""."""
        return "outside the text" if self.settings.outside_text and place in OUTSIDE else ""

    def refusal(self, path: str, title: str) -> str:
        """Why a page is refused because of its path or title, or ""."""
        folded = title.casefold()
        if path == self.main_page:
            return "start page"
        if self.settings.main_articles_only and is_other_namespace(folded):
            return "not an article"
        if any(folded == word or folded.startswith(word) for word in self.excluded):
            return "excluded"
        if self.settings.years and not self.timeline and YEAR.fullmatch(folded):
            return "only a year"
        if self.settings.lists == "exclude" and is_list(folded, self.language):
            return "list page"
        return ""


def is_other_namespace(title: str) -> bool:
    name, colon, rest = title.casefold().partition(":")
    return bool(colon and rest) and name.strip().replace("_", " ").removesuffix(" talk") in NAMESPACES


def is_list(title: str, language: str) -> bool:
    """Whether a title says that the page is a list."""
    return title.casefold().startswith(language_words(language).list_titles)


def asks_for_timeline(topic: str, language: str) -> bool:
    """Whether a topic is about time itself: 'timeline of …', '1848', 'the 1920s'."""
    folded = topic.casefold().strip()
    is_time = YEAR.fullmatch(folded.removeprefix("the ").removeprefix("year "))
    return bool(is_time) or not language_words(language).timeline.isdisjoint(re.findall(r"\w+", folded))


MAX_SENTENCE_CHARS = 200
"""A longer sentence is cut around the link."""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The pages a page links to, and how many links were refused for each reason."""

    offers: tuple[LinkOffer, ...]
    refused: tuple[tuple[str, int], ...]
    targets: int
    """How many pages it links to that may be followed."""


def links_of(
    page: PageDoc,
    book: OpenBook,
    places: TopicPlaces,
    link_filter: LinkFilter,
    *,
    first_sections: int,
    section_weights: Sequence[float],
    self_links: bool = True,
) -> PageLinks:
    """A page's links, grouped by the page they lead to through redirects."""
    refused: Counter[str] = Counter()
    groups: dict[str, list[Link]] = {}
    resolved: dict[str, str | None] = {}
    reasons = [link_filter.place_refusal(link.place) or _too_late(link, first_sections) for link in page.links]
    book.prefetch_targets(link.target for link, why in zip(page.links, reasons, strict=True) if not why)
    for link, why in zip(page.links, reasons, strict=True):
        if why:
            refused[why] += 1
            continue
        if link.target not in resolved:
            resolved[link.target] = book.resolve(link.target)
        path = resolved[link.target]
        if path is None:
            is_hidden = hidden_page_error(book.archive, link.target) is not None
            refused["hidden by policy" if is_hidden else "not in the book"] += 1
        elif path == page.ref.path and self_links:
            refused["the page itself"] += 1
        else:
            groups.setdefault(path, []).append(link)
    offers = []
    book.prefetch_titles(groups)
    for path, links in groups.items():
        title = book.title(path)
        why = link_filter.refusal(path, title)
        if why:
            refused[why] += len(links)
        else:
            offers.append(_offer(page, path, title, links, places, section_weights))
    return PageLinks(tuple(offers), tuple(sorted(refused.items())), len(offers))


def ranked_offers(
    offers: Iterable[LinkOffer], max_new: int, known_points: Callable[[LinkOffer], float | None]
) -> Iterator[LinkOffer]:
    """The offers, best first; at most `max_new` become new candidates.

    `known_points` gives the points of a page that the crawl already knows, None for
    any other: existing candidates do not use up the limit.
    """
    rows = [(offer, known_points(offer)) for offer in offers]
    # Worth is near 1 and points go up to about 100, so both count about the same.
    rows.sort(key=lambda row: (-(100 * row[0].worth + (row[1] or 0.0)), row[0].path))
    for offer, points in rows:
        is_new = points is None and max_new > 0
        max_new -= is_new
        yield offer._replace(is_new=is_new)


def _too_late(link: Link, first_sections: int) -> str:
    is_late = link.section > first_sections and link.place not in ("infobox", "see also")
    return "in a late section" if is_late else ""


def _offer(
    page: PageDoc, path: str, title: str, links: list[Link], places: TopicPlaces, section_weights: Sequence[float]
) -> LinkOffer:
    by_place = POINTS["place"]
    best = max(links, key=lambda link: (by_place[link.place], -link.start))
    contexts = {link: places.between(link.sentence_start, link.sentence_end) for link in links if link.in_text}
    context = max(contexts.values(), default=0.0)
    shown = max(contexts, key=lambda link: (contexts[link], by_place[link.place], -link.start)) if contexts else best
    worth = by_place[best.place] * max(section_weights[link.section] for link in links)
    # The logarithm of one link is 0, so repetition only adds.
    worth *= (1 + LINKS["repeated"] * math.log(len(links))) * (1 + LINKS["beside_topic"] * context)
    return LinkOffer(
        path=path,
        title=title,
        worth=round(worth, 4),
        times=len(links),
        context=round(context, 4),
        place=shown.place,
        section=page.sections[shown.section].heading,
        anchor=shown.text,
        sentence=_sentence(page, shown),
        is_new=False,
    )


def _sentence(page: PageDoc, link: Link) -> str:
    """The sentence around a link, in one line; a long one is cut around the link, between words."""
    if not link.in_text:
        return ""
    start, end = link.sentence_start, link.sentence_end
    if end - start <= MAX_SENTENCE_CHARS:
        return " ".join(page.text[start:end].split())
    first = max(start, link.start - MAX_SENTENCE_CHARS // 2)
    last = min(end, first + MAX_SENTENCE_CHARS)
    cut = " ".join(page.text[first:last].split())
    before = "… " if first > start else ""
    after = " …" if last < end else ""
    inner = cut.partition(" ")[2] if before and " " in cut else cut
    inner = inner.rpartition(" ")[0] if after and " " in inner else inner
    return f"{before}{inner}{after}"
