"""The case database: what was found, where, who said so, and everything that was decided about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.store.attachments import ATTACHMENT_ROLES, Attachment, AttachmentRole
    from kiwiresearch.kin.store.case import IMPORTS, CaseStore
    from kiwiresearch.kin.store.decisions import Verdict
    from kiwiresearch.kin.store.edits import Edit, EditKind
    from kiwiresearch.kin.store.locks_and_schemas import LOCK, WAIT_REMEDY, CaseSchemas, locked_folder
    from kiwiresearch.kin.store.queues import (
        ABANDONED_REASON,
        QUEUES,
        ClueItem,
        FrontierItem,
        Item,
        ItemStatus,
        QueueName,
        RevisitItem,
        to_utc_text,
    )
    from kiwiresearch.kin.store.values import ConflictRow, MergeCluster
else:
    __getattr__ = lazy_exports(__name__)
