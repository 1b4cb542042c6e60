"""From words to ranked pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.search.alphabetical_titles import AlphabeticalTitles, TitleSlice
    from kiwiresearch.search.book_search import title_and_lead
    from kiwiresearch.search.interpretation import Sense, SenseRecord, first_line
    from kiwiresearch.search.model_phrases import PhraseCache
    from kiwiresearch.search.open_book import TITLE_CALLS, OpenBook, PageText, SearchEffort, peer_titles
    from kiwiresearch.search.query import (
        ROMAN,
        Hit,
        HitRecord,
        Query,
        QueryTerm,
        Score,
        ScoreTerm,
        parse_query,
        points_text,
        score_terms_text,
    )
    from kiwiresearch.search.rank import match_text
    from kiwiresearch.search.shelf_search import (
        MAX_BOOKS,
        MergeOrder,
        Search,
        SearchHelpers,
        SearchOptions,
        SearchResult,
        hidden_for,
        search_books,
    )
    from kiwiresearch.search.title_index_builder import IndexBuild, ReportProgress, build_titles, titles_file
    from kiwiresearch.search.titles import TitleIndex, TitleLookup, open_titles
else:
    __getattr__ = lazy_exports(__name__)
