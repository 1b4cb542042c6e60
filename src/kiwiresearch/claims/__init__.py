"""Claims extracted from pages, each with quotes as proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.claims.by_model import ClaimReader, merged_claims
    from kiwiresearch.claims.by_rule import claims_of
    from kiwiresearch.claims.claim import (
        CLAIM_TYPES,
        Claim,
        ClaimId,
        ClaimRecord,
        ClaimType,
        Measure,
        claim_from_record,
        claim_record,
        date_from_record,
    )
    from kiwiresearch.claims.firewall import (
        FAULT_OF_FACT,
        WORD,
        SentenceFault,
        Unsupported,
        adds_view_holders,
        begins_with_pronoun,
        content_stems,
        fault_of,
        has_negation,
        unsupported_facts,
    )
    from kiwiresearch.claims.language import Grammar, fact_language, grammar_of, has_claim_tables
    from kiwiresearch.claims.mentions import name_key, name_words, names_in, numbers_in, without_dots_in_initials
    from kiwiresearch.claims.opening import LIVED
    from kiwiresearch.claims.page_claims import (
        CUT_NOTICE,
        PageClaims,
        PageClaimsRecord,
        checked_claim_type,
        claims_of_page,
        claims_of_text,
    )
    from kiwiresearch.claims.plain_claims import SentenceFilter, all_sentences
    from kiwiresearch.claims.proposals import complete_claim
    from kiwiresearch.claims.sentence import MAX_CLAIM_CHARS, sentences_of, tidy_sentence
    from kiwiresearch.text import TITLE_QUALIFIER
else:
    __getattr__ = lazy_exports(__name__)
