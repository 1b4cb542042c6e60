"""Imports and exports family trees: GEDCOM 5.5, 5.5.1 and 7, GEDCOM X, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.gedcom.arrangement import Child, Couple, build_couples
    from kiwiresearch.kin.gedcom.facts_reader import FILE_SCHEME
    from kiwiresearch.kin.gedcom.json_export import tree_gedcomx, tree_json
    from kiwiresearch.kin.gedcom.kept_lines import (
        KeptRecord,
        TagCount,
        kept_from_json,
        kept_json,
        media_names,
        with_ids,
    )
    from kiwiresearch.kin.gedcom.kept_privacy import NOTHING_KEPT, ShownRecords, shown_records
    from kiwiresearch.kin.gedcom.package import (
        EXPORT_AGAIN,
        MAX_FILE_BYTES,
        MediaFile,
        gedcom_package,
        media_type_by_name,
    )
    from kiwiresearch.kin.gedcom.reader import ReadGedcom, read_gedcom
    from kiwiresearch.kin.gedcom.tags import UID, is_address
    from kiwiresearch.kin.gedcom.writer import tree_gedcom
else:
    __getattr__ = lazy_exports(__name__)
