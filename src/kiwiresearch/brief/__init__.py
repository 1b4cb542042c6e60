"""The brief of a run: composing, rewriting and rendering it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.brief.brief import (
        Brief,
        BriefPicture,
        BriefSource,
        Dispute,
        DisputeView,
        Figure,
        Gap,
        Images,
        PartKey,
        QuoteContext,
        SourceBook,
        Statement,
        StatementGroup,
        SupportLevel,
        TimelineMoment,
        ValueDifference,
        brief_from_record,
        brief_record,
        data_url,
        media_type_of,
        picture_file_name,
        pictures_from_record,
        pictures_json,
    )
    from kiwiresearch.brief.citations import (
        CitedGroup,
        QuoteInContext,
        can_follow,
        confidence_text,
        context_of,
        paragraphs,
        quote_in_context,
        topic_pages_of,
        without_overlaps,
    )
    from kiwiresearch.brief.composition import compose
    from kiwiresearch.brief.disputes import MIN_DISPUTE_STRENGTH, is_clear_conflict
    from kiwiresearch.brief.illustrations import illustrate
    from kiwiresearch.brief.importance import compared_sentence, without_article, without_weight
    from kiwiresearch.brief.parts import date_wordings
    from kiwiresearch.brief.relevance import salience_by_place, sentence_filter_for
    from kiwiresearch.brief.report import GAP_HEADINGS, brief_document
    from kiwiresearch.brief.report_html import picture_style, report_page
    from kiwiresearch.brief.second_sources import SecondSources, opposed_in, running_text
    from kiwiresearch.brief.sources import BriefInput
    from kiwiresearch.brief.support import MAX_CLAIMS, says_the_same, support_level
    from kiwiresearch.brief.timeline_picture import DEEP_YEARS, PRESENT_YEAR, ago_text, year_text
    from kiwiresearch.brief.writer import rewrite
else:
    __getattr__ = lazy_exports(__name__)
