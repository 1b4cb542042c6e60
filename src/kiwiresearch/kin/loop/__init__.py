"""The loop of family research: fetch, read, verify, store, resolve, evaluate, and follow what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.loop.case_model import CaseModel
    from kiwiresearch.kin.loop.evaluation import (
        EvaluationResult,
        evaluate,
        merge_reasons,
        pairs_kept_separate,
        survivor_first,
        update_living_status,
    )
    from kiwiresearch.kin.loop.item_processor import ResearchStep
    from kiwiresearch.kin.loop.progress import COMPLETE, CaseProgress
    from kiwiresearch.kin.loop.researcher import Researcher
    from kiwiresearch.kin.loop.revisits import query_label
    from kiwiresearch.kin.loop.seeds import candidate_people
    from kiwiresearch.kin.loop.settings import BOUNDS, CaseScope, CaseSettings
    from kiwiresearch.kin.loop.source_records import RELIABILITY, CheckedRecord, check_record
else:
    __getattr__ = lazy_exports(__name__)
