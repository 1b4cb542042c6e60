"""A small book with pictures, and a finished run over it."""

from __future__ import annotations

from pathlib import Path

from tests.png_files import a_png
from tests.verify.verified_runs import METADATA, PAGES

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

CART, MAP = a_png("cart"), a_png("map")
CAPTION = "A cart of the 15th century"
ALT = "A horse before a cart"
IN_BOX = '<table class="infobox"><tr><td colspan="2"><img src="I/map.png" width="120"></td></tr>'
TOLD = """The Salt road was used by carters who drove four horses before each heavy wagon. Barrels of the Salt road
were made by coopers, and each of them held the load of a strong man. Merchants of the Salt road sold their salt to
fishermen, who laid herring in it for the winter. Bridges of the Salt road were kept by monks, who asked travellers
for a candle. Robbers waited for wagons in the forest, so the guards of the Salt road carried crossbows. The Salt road
brought beer, wax and furs back to the south on wagons that would have been empty. Millers on the Salt road ground
grain for the inns, whose kitchens fed hundreds of guests. The city council paid for the paving of the Salt road with
a tax on wine. Letters of bankers were carried along the Salt road by riders who changed horses at each inn."""
IN_TEXT = f"""<h2 id="Trade">Trade</h2>
<figure><img src="I/cart.png" alt="{ALT}"><figcaption>{CAPTION}</figcaption></figure><p>{TOLD}</p>"""


def an_illustrated_book(file: Path, **images: bytes) -> Path:
    """The book about a road, with a map in the infobox and a cart in a section."""
    texts = dict(PAGES)
    texts["Salt road"] = (
        texts["Salt road"].replace('<table class="infobox">', IN_BOX).replace('<h2 id="Trade">Trade</h2>', IN_TEXT)
    )
    pages = [NewPage(title.replace(" ", "_"), title, html.encode()) for title, html in texts.items()]
    for name, content in ({"map": MAP, "cart": CART} | images).items():
        pages.append(NewPage(f"I/{name}.png", "", content, "image/png", is_article=False, is_packed=False))
    write_book(file, pages, metadata=METADATA)
    return file


def an_illustrated_run(place: Path) -> Path:
    """A run over the book, both in a folder."""
    return a_run_over(str(an_illustrated_book(place / "road.zim")), place)


def a_run_over(book: str, place: Path) -> Path:
    """A run over a book of that place or address."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(place / "home")})
    with shelf_of(desk, [book]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        return Research(finder, ResearchTask("Salt road", settings=CrawlSettings(fast=True))).run(place / "run").folder
