"""The links of a page as offers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.crawl.trails import TEXT, a_shelf_book, settings, steps_of, visit

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import LinkOffer, VisitStep

TARGETS = dict.fromkeys(("Alder", "Birch", "Cedar", "Fir", "Hazel", "Larch", "Oak", "Pine", "Rowan", "Yew"), TEXT)
ROAD = """
box: Tree = [[Oak]]
The salt road had trees on both sides. One was a [[Birch]].
== Trees ==
There was a [[Pine]] as well.
* [[Hazel]]
== More trees ==
Later came the [[Alder]].
== Even more ==
And the [[Cedar]].
== See also ==
* [[Larch]]
"""


def read(text: str, aliases: dict[str, str] | None = None, **options: Any) -> VisitStep:
    """What the crawl sees on a page about the salt road."""
    book = a_shelf_book({"Salt road": text, **TARGETS}, aliases)
    return visit(steps_of(CrawlPlan([book], "salt road", settings=settings(**options))), "Salt road")


def offers(text: str, aliases: dict[str, str] | None = None, **options: Any) -> dict[str, LinkOffer]:
    return {offer.title: offer for offer in read(text, aliases, **options).offers}


def test_links_are_taken_from_lead_sections_infobox_and_see_also() -> None:
    """Every part of an article offers its links, and an offer says which part it was (R78, R79, R80, R81)."""
    assert {title: (offer.place, offer.section) for title, offer in offers(ROAD).items()} == {
        "Oak": ("infobox", ""),
        "Birch": ("lead", ""),
        "Pine": ("body", "Trees"),
        "Hazel": ("list", "Trees"),
        "Alder": ("body", "More trees"),
        "Cedar": ("body", "Even more"),
        "Larch": ("see also", "See also"),
    }


@pytest.mark.parametrize(
    ("sections", "followed", "late"),
    [
        (0, {"Oak", "Birch", "Larch"}, 4),
        (1, {"Oak", "Birch", "Larch", "Pine", "Hazel"}, 2),
        (2, {"Oak", "Birch", "Larch", "Pine", "Hazel", "Alder"}, 1),
        (3, {"Oak", "Birch", "Larch", "Pine", "Hazel", "Alder", "Cedar"}, 0),
    ],
)
def test_links_are_taken_from_the_first_sections(sections: int, followed: set[str], late: int) -> None:
    """Beyond the lead and the first N sections, only the infobox and 'See also' are read (R79, R80, R81)."""
    page = read(ROAD, first_sections=sections)
    assert {offer.title for offer in page.offers} == followed
    assert dict(page.refused).get("in a late section", 0) == late
    assert page.links == len(followed)


def test_an_early_link_counts_more() -> None:
    """A link of the lead is worth most; then the infobox, the text with 'See also', and last a list (R79, R80, R81)."""
    worth = {title: offer.worth for title, offer in offers(ROAD).items()}
    assert worth["Birch"] > worth["Oak"] > worth["Pine"] >= worth["Larch"] > worth["Hazel"]


def test_offers_come_best_first() -> None:
    """The offers of a page are sorted by what speaks for them, equal ones by path (R142)."""
    page = read("The salt road.\n== Trees ==\n* [[Yew]]\n* [[Fir]]\n* [[Oak]]\n== Other ==\nA [[Rowan]].\n")
    assert [offer.title for offer in page.offers] == ["Rowan", "Fir", "Oak", "Yew"]


def test_several_links_to_a_page_are_one_offer() -> None:
    """Links to one page, also by another name, count together, and more than a single one (R78)."""
    text = "The salt road had an [[Oak]].\n== A ==\nThe [[Oak]], or [[Old tree]], fell. A [[Pine]] fell.\n"
    found = offers(text, {"Old tree": "Oak"})
    assert {title: offer.times for title, offer in found.items()} == {"Oak": 3, "Pine": 1}
    once = offers("The salt road had an [[Oak]].\n== A ==\nA [[Pine]] fell.\n")
    assert found["Oak"].worth > once["Oak"].worth
    assert (found["Oak"].path, found["Oak"].place) == ("Oak", "lead")


def test_an_offer_shows_the_words_of_its_link() -> None:
    """Anchor text and the sentence around it are kept, in one line (R47)."""
    offer = offers("Snow is cold. Then\n the salt road met [[Oak|a tall tree]] at its end. Rain is wet.\n" + TEXT)[
        "Oak"
    ]
    assert (offer.anchor, offer.sentence) == ("a tall tree", "the salt road met a tall tree at its end.")


def test_the_sentence_that_speaks_of_the_topic_is_shown() -> None:
    """Of several links to a page, the one beside the topic's words says why it is offered (R47)."""
    text = "The salt road is old. An [[Oak]] is a tree.\n== A ==\nThe salt road passed [[Oak|the oak]] twice.\n"
    offer = offers(text)["Oak"]
    assert (offer.anchor, offer.sentence) == ("the oak", "The salt road passed the oak twice.")


def test_a_link_beside_the_topic_is_worth_more() -> None:
    """How much of the topic its sentence mentions is recorded, and counts (R47)."""
    text = "The salt road is old.\n== A ==\nThe salt road has a [[Pine]]. The road has a [[Yew]]. A [[Fir]].\n"
    found = offers(text)
    assert found["Pine"].context == 1.0
    assert 0 < found["Yew"].context < 1
    assert found["Fir"].context == 0.0
    assert found["Pine"].worth > found["Yew"].worth > found["Fir"].worth


def test_words_of_the_focus_beside_a_link_count_too() -> None:
    """A sentence that speaks of what the user wants to know is as good as one that names the topic (R47)."""
    text = "The salt road is old.\n== A ==\nTax was paid at the [[Pine]]. Rest was had at the [[Fir]].\n"
    book = a_shelf_book({"Salt road": text, **TARGETS})
    page = visit(steps_of(CrawlPlan([book], "salt road", "tax")), "Salt road")
    found = {offer.title: offer for offer in page.offers}
    assert found["Pine"].context > found["Fir"].context == 0.0


def test_a_long_sentence_is_cut_around_its_link() -> None:
    """Of a long sentence the part around the link is shown, in whole words, with marks where it was cut (R47)."""
    before, behind = "before " * 80, "behind " * 80
    offer = offers(f"The salt road {before}[[Oak]] {behind}end.\n{TEXT}")["Oak"]
    assert offer.sentence.startswith("… before ")
    assert offer.sentence.endswith(" behind …")
    assert "before Oak behind" in offer.sentence
    assert len(offer.sentence) <= 204


def test_a_picture_that_links_has_no_sentence() -> None:
    """A link without words is an offer all the same."""
    offer = offers('The salt road.\n<p><a href="./Oak"><img src="x.png"></a></p>\n' + TEXT)["Oak"]
    assert (offer.anchor, offer.sentence, offer.times) == ("", "", 1)


def test_links_that_lead_nowhere_are_counted() -> None:
    """A link to a page that the book does not have is not an offer, nor is one that goes round in circles (R78)."""
    page = read("The salt road met [[Nobody]] and [[Round]].\n" + TEXT, {"Round": "Ring", "Ring": "Round"})
    assert (page.offers, page.links, dict(page.refused)) == ((), 0, {"not in the book": 2})
