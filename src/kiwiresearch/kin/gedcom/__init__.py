"""Imports and exports family trees: GEDCOM 5.5, 5.5.1 and 7, GEDCOM X, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.gedcom.arrangement import Child, Couple, build_couples
    from kiwiresearch.kin.gedcom.json_export import tree_gedcomx, tree_json
    from kiwiresearch.kin.gedcom.reader import EXPORT_AGAIN, MAX_FILE_BYTES, ReadGedcom, read_gedcom
    from kiwiresearch.kin.gedcom.writer import tree_gedcom
else:
    __getattr__ = lazy_exports(__name__)
