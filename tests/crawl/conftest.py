"""A small book about a road, with all that a crawl meets on its way."""

from __future__ import annotations

import pytest
from tests.crawl.trails import a_shelf_book

from kiwiresearch.search.open_book import OpenBook

SALT = {
    "Salt road": """
        box: Ends in = [[Varn]]
        The salt road was a way over the [[Grey Pass]]. On it [[Mule train|mules]] carried [[Salt]] to the coast.
        The [[Old salt road]] is another name of it, and [[Nowhere]] is not in the book.
        == History ==
        It was built in [[1275]], in the [[13th century]]. Whoever used the salt road paid at a [[Toll house]].
        Of all that came down the road, the [[Guild of carriers]] took a share.
        == Writings ==
        See [[ISBN 0-00]], [[Help:Reading]], [[Talk:Salt road]], [[File:Map.jpg]], [[Category:Roads]] and [[Welcome]].
        == See also ==
        * [[List of roads]]
        * [[Pass]]
        <div class="navbox"><a href="./Harbour">Harbour</a></div>
        categories: Roads, Trade
    """,
    "Mule train": """
        A mule train is a line of mules, as went on the salt road each autumn. Each mule bore two sacks of salt.
        == Use ==
        A [[Mule driver]] led them along the salt road. At the [[Toll house]] they rested.
        categories: Trade
    """,
    "Grey Pass": """
        The Grey Pass is the highest place of the salt road, closed by snow in winter.
        == Way ==
        The [[Hospice]] stands there. Salt came over the pass on a [[Mule train]].
        categories: Passes
    """,
    "Toll house": """
        A toll house is where a toll was paid, as on the salt road.
        == Use ==
        The [[Toll keeper]] lived there, and paid the [[Guild of carriers]].
        categories: Trade
    """,
    "Toll keeper": "The keeper of a toll counted sacks of the salts' roads.\n== Life ==\nHe had a [[Lantern]].",
    "Salt": "Salt is a mineral that people eat. It is dug or boiled.\n== Making ==\nIn a [[Salt mine]] it is dug.",
    "Salt mine": "A salt mine is where salt is dug.\n== Work ==\nWith a [[Lantern]] and a pick.",
    "Guild of carriers": """
        The guild of carriers was a company of Varn.
        == Rights ==
        It held the right to send a [[Mule train]] each week, and the house at [[Varn]].
    """,
    "Varn": "Varn is a town on the coast, where the salt road ends.\n== Trade ==\nIts [[Harbour]] is deep.",
    "Harbour": "A harbour is where ships lie.\n== Kinds ==\nSome are deep, as that of [[Varn]].",
    "Hospice": "A hospice takes in whoever comes over a pass in snow.\n== Life ==\nMonks keep a [[Lantern]] lit.",
    "Mule driver": "A mule driver walks beside mules.",
    "Lantern": "A lantern holds a light, also on the salts' roads.\n== Kinds ==\nSome burn oil.",
    "Pass": "Pass may refer to:\n* [[Grey Pass]], a way over mountains\n* [[Letter of pass]], a paper",
    "Letter of pass": "It let its bearer go by on the salts' roads.\n== Use ==\nIt was shown at a [[Toll house]].",
    "List of roads": "These are roads:\n* [[Salt road]]\n* [[Coast road]]\n* [[Wine road]]",
    "Coast road": "The coast road runs along the sea.\n== Way ==\nIt ends in [[Varn]].",
    "Wine road": "The wine road runs along the hills.\n== Way ==\nIt is short.",
    "1275": "In this year snow fell early.\n== Events ==\nA road was built.",
    "13th century": "A hundred years of trade.\n== Events ==\nRoads were built.",
    "ISBN 0-00": "A number of a book.\n== Use ==\nIt finds books.",
    "Help:Reading": "How to read this book.",
    "Talk:Salt road": "Is this page long enough?",
    "File:Map.jpg": "A map.",
    "Category:Roads": "Roads by name.",
    "Welcome": "Welcome to this book: read about the [[Salt road]].",
}
"""Pages by title."""

NAMES = {"Old salt road": "Salt road", "White way": "Salt road", "Mules": "Mule train"}
"""Other names, and the titles they lead to."""


@pytest.fixture
def salt_book() -> OpenBook:
    return a_shelf_book(SALT, NAMES, main_page="Welcome")
