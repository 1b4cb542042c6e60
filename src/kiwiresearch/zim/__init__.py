"""Books: in ZIM files, on a kiwix-serve or on other hosts, and the shelf of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.zim.archive import (
        LEAD_ONLY,
        MAX_HOPS,
        SCHEME,
        Archive,
        Book,
        BookKind,
        Entry,
        EntryInfo,
        EntryRef,
        Indexes,
        Match,
        TitleEntry,
        flavour_of,
    )
    from kiwiresearch.zim.book_writer import METADATA, MODULE, NewPage, build_request, sample_file
    from kiwiresearch.zim.directory import Numbers
    from kiwiresearch.zim.files import ZIM_MAGIC, OpenFileNotes
    from kiwiresearch.zim.integrity import FileChecks, FileState
    from kiwiresearch.zim.kiwix_serve import KiwixServer
    from kiwiresearch.zim.libzim import LibzimArchive, set_cluster_cache
    from kiwiresearch.zim.paths import Target, find_path, near_titles, resolve_href, title_of_path
    from kiwiresearch.zim.peer import MissingBook, MissingBooks, PeerArchive, SimpleCall, missing_from_record
    from kiwiresearch.zim.peer_client import PeerClient
    from kiwiresearch.zim.peer_protocol import (
        BOOK_CALLS,
        BUSY_SIGN,
        MAX_BODY_BYTES,
        PATH,
        PING,
        TOGETHER_BYTES,
        BadCall,
        Call,
        CallHandler,
        CallReply,
        ListLimit,
        PeerBook,
        announcement_of,
        answer_call,
        checked_count,
        checked_list,
        checked_text,
        pack_replies,
        peer_book,
        unpack_calls,
    )
    from kiwiresearch.zim.policy import (
        NONE_HIDDEN,
        REMEDY,
        SPARE_RESULTS,
        HiddenName,
        HiddenPages,
        HiddenRecord,
        HiddenTitles,
        Policy,
        PolicyArchive,
        book_hidden_error,
        count_hidden_matches,
        hidden_name_among,
        hidden_page_error,
        hidden_page_named_error,
        with_policy,
        without_policy,
    )
    from kiwiresearch.zim.shelf import ListedBook, Opener, Shelf, ShelfFile, listed_book, pick_books, unknown_book
    from kiwiresearch.zim.sources import SERVE_TIMEOUT_S, BookLocation, books_below, files_in, is_address, library_files
else:
    __getattr__ = lazy_exports(__name__)
