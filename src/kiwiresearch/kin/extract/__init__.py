"""Extracts what a page says about one person, each value with its quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.extract.by_model import read_missing_fields
    from kiwiresearch.kin.extract.page_verdict import judge_page
    from kiwiresearch.kin.extract.person_reader import read_person
    from kiwiresearch.kin.extract.subject import subject_of
else:
    __getattr__ = lazy_exports(__name__)
