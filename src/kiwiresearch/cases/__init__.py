"""Family cases: locating, opening, editing, exporting and verifying them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.cases.attached_files import MAX_ATTACHMENT_BYTES, PICTURES
    from kiwiresearch.cases.case import Case, find_person, this_year
    from kiwiresearch.cases.case_location import (
        CASE_FILE,
        CaseLocation,
        checked_folder,
        location_of,
        plugins_folder,
        rewording_errors,
    )
    from kiwiresearch.cases.edit_history import EditRecord
    from kiwiresearch.cases.editing import QUALIFIERS, ROLES, RelativeRole
    from kiwiresearch.cases.exports import FILE_NAMES, FOR_READERS, CaseFormat, checked_format
    from kiwiresearch.cases.import_log import ImportRecord, import_records, is_imported, keep_media
    from kiwiresearch.cases.imports import ImportResult, import_gedcom, page_record
    from kiwiresearch.cases.json_records import (
        CaseSummary,
        EventRecord,
        EvidenceRecord,
        FactRecord,
        LineRow,
        LoggedSearch,
        MergeRecord,
        MergesRecord,
        NamedConflict,
        NamedPerson,
        ParentOrChild,
        PersonPageRecord,
        PersonRecord,
        RelationRecord,
        RelativeRecord,
        TreeRecord,
        VerificationRecord,
    )
    from kiwiresearch.cases.merges import ProposedMerge
    from kiwiresearch.cases.person_proof import PROOF_FILES, ProofFormat, ProofSummary, proof_file, proof_summary
    from kiwiresearch.cases.record_builder import (
        CachedCase,
        branch_records,
        checked_field,
        conflict_records,
        evidence_records,
        graph_record,
        log_records,
        people_named,
        people_records,
        person_record,
        relation_record,
        timeline_records,
    )
    from kiwiresearch.cases.registry import (
        CaseRegistry,
        all_case_locations,
        case_exists,
        find_case_location,
        move_into_store,
        move_out_of_store,
        new_case_location,
        open_registry,
        stored_cases,
        traceback_without_message,
    )
    from kiwiresearch.cases.review import (
        LivingRecord,
        accept_merge,
        allow_merge_again,
        living_record,
        merges_record,
        proposed_merges,
        reject_merge,
        set_living,
        undo_merge,
    )
    from kiwiresearch.cases.sources import PluginRecord, set_plugin, source_records
    from kiwiresearch.cases.statements import MAX_TEXT, Basis
    from kiwiresearch.cases.verification import CaseVerification, verify_case
else:
    __getattr__ = lazy_exports(__name__)
