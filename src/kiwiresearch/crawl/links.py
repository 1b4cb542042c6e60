"""The links of a page as offers: one for each page they lead to, the best first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.crawl.filters import Filter
from kiwiresearch.crawl.points import points
from kiwiresearch.crawl.step import Offer
from kiwiresearch.crawl.topic import Places
from kiwiresearch.page.doc import Link, PageDoc
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.guarded import hidden_at

SENTENCE = 200
"""Of a longer sentence, the part around the link is kept."""


@dataclass(frozen=True, slots=True)
class Links:
    """The pages a page links to, and which links were refused for what reason."""

    offers: tuple[Offer, ...]
    refused: tuple[tuple[str, int], ...]
    targets: int
    """Pages it links to and that may be followed."""


def links_of(
    page: PageDoc,
    book: OpenBook,
    places: Places,
    judge: Filter,
    *,
    first_sections: int,
    interest: Sequence[float],
    self_links: bool = True,
) -> Links:
    """Gather a page's links by where they lead; redirects are followed. A link counts by its section's `interest`."""
    refused: Counter[str] = Counter()
    groups: dict[str, list[Link]] = {}
    known: dict[str, str | None] = {}
    reasons = [judge.outside(link.place) or _too_late(link, first_sections) for link in page.links]
    book.resolve_ahead(link.target for link, why in zip(page.links, reasons, strict=True) if not why)
    for link, why in zip(page.links, reasons, strict=True):
        if why:
            refused[why] += 1
            continue
        if link.target not in known:
            known[link.target] = book.resolve(link.target)
        path = known[link.target]
        if path is None:
            is_hidden = hidden_at(book.archive, link.target) is not None
            refused["hidden by policy" if is_hidden else "not in the book"] += 1
        elif path == page.ref.path and self_links:
            refused["the page itself"] += 1
        else:
            groups.setdefault(path, []).append(link)
    offers = []
    book.titles_ahead(groups)
    for path, links in groups.items():
        title = book.title(path)
        why = judge.refusal(path, title)
        if why:
            refused[why] += len(links)
        else:
            offers.append(_offer(page, path, title, links, places, interest))
    return Links(tuple(offers), tuple(sorted(refused.items())), len(offers))


def ranked(offers: Iterable[Offer], most: int, known_worth: Callable[[Offer], float | None]) -> Iterator[Offer]:
    """The offers, best first, of which so many are new candidates.

    `known_worth` is what already speaks for a page, None for one that was never
    met: those that are candidates already need no place.
    """
    worths = [(offer, known_worth(offer)) for offer in offers]
    worths.sort(key=lambda row: (-(100 * row[0].worth + (row[1] or 0.0)), row[0].path))
    left = most
    for offer, worth in worths:
        is_new = worth is None and left > 0
        left -= is_new
        yield offer._replace(is_new=is_new)


def _too_late(link: Link, first_sections: int) -> str:
    is_late = link.section > first_sections and link.place not in ("infobox", "see also")
    return "in a late section" if is_late else ""


def _offer(page: PageDoc, path: str, title: str, links: list[Link], places: Places, interest: Sequence[float]) -> Offer:
    context = points()["link_context"]
    by_place = points()["place"]
    best = max(links, key=lambda link: (by_place[link.place], -link.start))
    said = {link: places.between(link.sentence_start, link.sentence_end) for link in links if link.in_text}
    beside = max(said.values(), default=0.0)
    shown = max(said, key=lambda link: (said[link], by_place[link.place], -link.start)) if said else best
    worth = by_place[best.place] * max(interest[link.section] for link in links)
    worth *= (1 + context["repeated"] * math.log(len(links))) * (1 + context["beside_topic"] * beside)
    return Offer(
        path=path,
        title=title,
        worth=round(worth, 4),
        times=len(links),
        context=round(beside, 4),
        place=shown.place,
        section=page.sections[shown.section].heading,
        anchor=shown.text,
        sentence=_sentence(page, shown),
        is_new=False,
    )


def _sentence(page: PageDoc, link: Link) -> str:
    """The sentence around a link, in one line; of a long one, what stands around the link."""
    if not link.in_text:
        return ""
    start, end = link.sentence_start, link.sentence_end
    if end - start <= SENTENCE:
        return " ".join(page.text[start:end].split())
    first = max(start, link.start - SENTENCE // 2)
    last = min(end, first + SENTENCE)
    cut = " ".join(page.text[first:last].split())
    before = "… " if first > start else ""
    behind = " …" if last < end else ""
    inner = cut.partition(" ")[2] if before and " " in cut else cut
    inner = inner.rpartition(" ")[0] if behind and " " in inner else inner
    return f"{before}{inner}{behind}"
