"""Sentences for readers: each is a kind with values, and every language has the words for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.messages.catalogue import (
        FALLBACK,
        HARD_SPACE,
        LANGUAGES,
        LOCALES,
        Catalogue,
        Locale,
        catalogue_in,
        local_time,
    )
    from kiwiresearch.messages.message import (
        LocalText,
        Message,
        MessageRecord,
        message_fields,
        message_from_record,
        message_in,
        message_record,
        render,
        rewritten,
    )
else:
    __getattr__ = lazy_exports(__name__)
