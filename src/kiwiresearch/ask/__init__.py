"""Answers questions from the books, with citations, or says honestly that the answer is "not here" (`refusal.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.ask.answer import (
        Answer,
        AnswerBook,
        AnswerCitation,
        AnswerText,
        Done,
        Event,
        EvidenceFound,
        ExaminedPage,
        Passage,
        Preview,
        Thought,
    )
    from kiwiresearch.ask.by_model import answer_by_model
    from kiwiresearch.ask.by_rule import GatheredEvidence, RuleAnswer, gather_evidence
    from kiwiresearch.ask.context import AskContext
    from kiwiresearch.ask.formats import (
        CitationLink,
        body_markdown,
        defused,
        footer_markdown,
        markdown_of,
        without_footer,
    )
    from kiwiresearch.ask.page_units import PageCache
    from kiwiresearch.ask.presentation import (
        BodyPart,
        Confidence,
        DisagreementPart,
        Doubt,
        Headline,
        ModelText,
        NumberedSource,
        QuotedSentence,
        Refusal,
        body_parts,
        footer_parts,
        numbered,
    )
    from kiwiresearch.ask.records import AnswerRecord, answer_record
    from kiwiresearch.ask.refusal import OutdatedBook, newest_outdated_book
    from kiwiresearch.ask.settings import ASK_MODES, AskMode, AskOptions, AskSettings, ConversationTurn
else:
    __getattr__ = lazy_exports(__name__)
