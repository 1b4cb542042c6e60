"""From HTML to a PageDoc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.page.addresses import PageAddresses, book_url, cleaned_style
    from kiwiresearch.page.alignment import Extent
    from kiwiresearch.page.article import ArticleMarkup, ArticleOptions, write_article
    from kiwiresearch.page.article_tags import ANCHOR_PREFIX
    from kiwiresearch.page.coordinates import Coordinates, coordinates_in
    from kiwiresearch.page.display import CLAIM_ID, MARK_ID, DisplayedPage, DisplayOptions, display_page
    from kiwiresearch.page.doc import (
        Block,
        BlockKind,
        Cell,
        Infobox,
        InfoboxRow,
        Link,
        LinkPlace,
        Mark,
        PageDoc,
        PageSignals,
        PageTable,
        Section,
    )
    from kiwiresearch.page.html import (
        CUT_NOTICE,
        MAX_PAGE_BYTES,
        bare_text,
        bounded_entry,
        regular_document,
        regular_markup,
    )
    from kiwiresearch.page.parser import open_page, page_from_text, read_page
    from kiwiresearch.page.pictures import PagePicture, pictures_in
    from kiwiresearch.page.record import PageRecord, page_record
else:
    __getattr__ = lazy_exports(__name__)
