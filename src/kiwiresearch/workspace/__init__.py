"""A user's environment: settings, folders, the shelf of books, hosts, and searching and asking over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.workspace.asker import AnsweredRow, Asker, answer_row, query_in_row
    from kiwiresearch.workspace.atlas import policy_filter_for
    from kiwiresearch.workspace.atlas_build import AtlasEstimate, AtlasFolders, estimate
    from kiwiresearch.workspace.book_tasks import BookTask, BookTasks
    from kiwiresearch.workspace.file_cache import FileCache, FileStamp, RecentCache, RecentFiles, file_stamp
    from kiwiresearch.workspace.finder import Finder, SearchRecord, address_in_book, search_record
    from kiwiresearch.workspace.hosts import (
        HostPresence,
        HostStatus,
        connect_hosts,
        forget_host,
        host_statuses,
    )
    from kiwiresearch.workspace.inventory import CHECK_WORDS, BookRecord, BookStatus, Diagnosis, book_statuses, diagnose
    from kiwiresearch.workspace.library import AddedBooks, Library, UnlistedFile, Upload, bare_file_name, book_key
    from kiwiresearch.workspace.models import TitleIndexes, caching_model, chat_model, model_is_local
    from kiwiresearch.workspace.output_folders import (
        ANSWERS,
        UNFINISHED_ANSWERS,
        bulk_folder,
        is_job_id,
        job_name,
        runs_folder,
        server_folder,
        store_folder,
    )
    from kiwiresearch.workspace.policy import (
        PolicySummary,
        books_matching,
        hidden_books,
        hidden_books_notice,
        policy_summary,
    )
    from kiwiresearch.workspace.setting_values import (
        LIMIT_NAMES,
        NO_LIMITS,
        RANGES,
        THEMES,
        LimitSettings,
        UserLimits,
        user_limits,
        value_from_text,
    )
    from kiwiresearch.workspace.settings import (
        Folders,
        ServeSettings,
        Settings,
        defaults,
        environment_variable,
        with_values,
    )
    from kiwiresearch.workspace.settings_file import SettingOrigin, save_settings, setting_origins, setting_value
    from kiwiresearch.workspace.shelf import shelf_of
    from kiwiresearch.workspace.topics import checked_aspect, checked_focus, checked_person, checked_topic, folder_name
    from kiwiresearch.workspace.users import (
        CLASS_ROLES,
        LINK_PATH,
        LINK_TIMES,
        Actor,
        ClassRole,
        LinkTime,
        NewClass,
        NewPassword,
        UserRegister,
        checked_label,
        checked_link_time,
        owners,
        utc_moment,
        utc_now,
    )
    from kiwiresearch.workspace.workspace import (
        SAMPLE_NOTICE,
        BookState,
        Workspace,
        find_page,
        locate_page,
        make_workspace,
        open_workspace,
        sections_named,
        store_of,
    )
else:
    __getattr__ = lazy_exports(__name__)
