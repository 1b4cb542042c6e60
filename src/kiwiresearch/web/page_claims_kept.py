"""What pages claim, remembered for a while: a page is shown and its claims are listed by two requests."""

from __future__ import annotations

import threading
from collections import OrderedDict

from kiwiresearch.claims.claim import Claim
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.research.claiming import claims_of_page
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import EntryRef

MOST_PAGES = 16


class KeptClaims:
    """The claims of the pages that were asked for last; a book never changes, so its page names them."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self._most = most
        self._known: OrderedDict[EntryRef, tuple[Claim, ...]] = OrderedDict()
        self._changing = threading.Lock()

    def of(self, page: PageDoc, book: Book) -> tuple[Claim, ...]:
        with self._changing:
            if page.ref in self._known:
                self._known.move_to_end(page.ref)
                return self._known[page.ref]
        found = claims_of_page(page, book.name).claims
        with self._changing:
            self._known[page.ref] = found
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return found


KEPT_CLAIMS = KeptClaims()
"""One for the reader and the reading view."""
