"""A user's environment: settings, folders, the shelf of books, hosts, and searching and asking over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.workspace.asker import Asker, answer_row, query_in_row
    from kiwiresearch.workspace.atlas import policy_filter_for
    from kiwiresearch.workspace.file_cache import FileCache, FileStamp, RecentCache, RecentFiles, file_stamp
    from kiwiresearch.workspace.finder import Finder, SearchRecord, search_record
    from kiwiresearch.workspace.hosts import (
        HostPresence,
        HostStatus,
        connect_hosts,
        forget_host,
        host_statuses,
        is_shared,
    )
    from kiwiresearch.workspace.inventory import CHECK_WORDS, BookRecord, BookStatus, Diagnosis, book_statuses, diagnose
    from kiwiresearch.workspace.models import TitleIndexes, caching_model, chat_model, model_is_local
    from kiwiresearch.workspace.output_folders import (
        ANSWERS,
        LIST_HINT,
        UNFINISHED_ANSWERS,
        bulk_folder,
        checked_aspect,
        checked_focus,
        checked_topic,
        folder_name,
        is_job_id,
        job_name,
        runs_folder,
        server_folder,
        store_folder,
    )
    from kiwiresearch.workspace.policy import (
        PolicySummary,
        hidden_books,
        hidden_books_notice,
        open_books_named,
        policy_summary,
    )
    from kiwiresearch.workspace.setting_values import (
        LIMIT_NAMES,
        NO_LIMITS,
        RANGES,
        LimitSettings,
        UserLimits,
        user_limits,
    )
    from kiwiresearch.workspace.settings import Folders, ServeSettings, Settings, defaults, with_values
    from kiwiresearch.workspace.shelf import shelf_of
    from kiwiresearch.workspace.users import Actor, UserRegister, checked_label, owners, utc_moment, utc_now
    from kiwiresearch.workspace.workspace import (
        SAMPLE_NOTICE,
        Workspace,
        find_page,
        locate_page,
        open_workspace,
        sections_named,
        store_of,
    )
else:
    __getattr__ = lazy_exports(__name__)
