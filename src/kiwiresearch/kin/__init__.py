"""Family research: people from books and other sources, with evidence for every fact, undo, and privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.conflict import ConflictRecord, ValueRank, find_tree_conflicts
    from kiwiresearch.kin.evidence_phrases import evidence_phrase
    from kiwiresearch.kin.kinship import KinshipFinder, step_words
    from kiwiresearch.kin.language import has_family_words
    from kiwiresearch.kin.lineage import ancestors, path_to, predecessors_from
    from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
    from kiwiresearch.kin.standing import (
        ConflictPosition,
        Standing,
        StandingStatus,
        confidence_level,
        conflict_positions,
        plain_standing,
        standing_of,
    )
    from kiwiresearch.kin.timeline import birth_of, children_by_birth
    from kiwiresearch.kin.tree import (
        DATE_FIELDS,
        DISCARDED,
        FIELD_OF_KIND,
        KIND_OF_FIELD,
        MANY_VALUED,
        PARENT_FIELDS,
        PARENT_OF_SEX,
        PLACE_FIELDS,
        RELATION_FIELDS,
        SEX_OF_PARENT,
        Decision,
        Evidence,
        Fact,
        FieldName,
        InformationKind,
        LivingStatus,
        Method,
        Person,
        PersonId,
        Qualifier,
        RelationKind,
        Relationship,
        Sex,
        Source,
        SourceForm,
        SourceId,
        Status,
        Tree,
        row_id,
    )
else:
    __getattr__ = lazy_exports(__name__)
