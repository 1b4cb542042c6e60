"""Pure functions on strings, and data about languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.text.cue_phrases import Cue, CuePhrases
    from kiwiresearch.text.display import (
        CONTROL_CHARACTERS,
        CONTROLS_IN_LINES,
        capitalized,
        count_of,
        encodable,
        escaped,
        escaped_anywhere,
        inert_cell,
        one_line,
        printable,
        quoted,
        without_controls,
    )
    from kiwiresearch.text.hedges import DOUBT_KINDS, Hedge, HedgeKind, hedges_in
    from kiwiresearch.text.languages import (
        NEVER,
        LanguageWords,
        any_of,
        has_words,
        language_words,
        languages_with_words,
        phrase_pattern,
        roots,
        share_root,
        short_language_code,
        spellings,
        stemmer,
        three_letter_code,
        two_letter_code,
    )
    from kiwiresearch.text.number_words import numbers_and_compounds
    from kiwiresearch.text.quantity import Quantity, QuantityRelation, quantity_relation
    from kiwiresearch.text.quantity_mentions import quantities_in
    from kiwiresearch.text.sentences import sentence_starts
    from kiwiresearch.text.similarity import (
        AspectWords,
        TextRun,
        are_related_forms,
        comparable,
        compared_words,
        containment,
        jaccard,
        marked_differences,
        roots_of,
        sequence_similarity,
        stems_in,
        without_figures,
    )
    from kiwiresearch.text.words import (
        HAN,
        INITIALS,
        LEADING_ARTICLE,
        MARKS,
        POSSESSIVE,
        TITLE_QUALIFIER,
        WORD,
        fold,
        is_in_unspaced_script,
        is_searchable,
        occurrences,
        plain_lower,
        without_qualifier,
        without_spaces,
        words_in,
    )
else:
    __getattr__ = lazy_exports(__name__)
