"""The store of jobs, runs, notes, hosts and users: one database, a file or a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.store.audit import FIRST_PREVIOUS_HASH, Audit, AuditChain, AuditProblem, AuditProof, AuditRow
    from kiwiresearch.store.database import BUSY_S, Database
    from kiwiresearch.store.engine import (
        BACKUP_REMEDY,
        POOL_SIZE,
        Address,
        ErrorKinds,
        database_errors,
        file_path,
        open_engine,
    )
    from kiwiresearch.store.job_row import JobRow, damage_message, removal_remedy
    from kiwiresearch.store.passwords import (
        COST,
        MAX_PASSWORD,
        MIN_PASSWORD,
        NO_PASSWORD,
        PasswordFault,
        PasswordHash,
        check_password,
        password_fault,
        readable_password,
    )
    from kiwiresearch.store.questions import AskedQuestions, QuestionRows
    from kiwiresearch.store.removed_items import RemovedRow, RemovedRows
    from kiwiresearch.store.runs import NoteLines, RunFiles
    from kiwiresearch.store.schema import DatabaseSchema, digest, table_names
    from kiwiresearch.store.sign_in_links import NewLink, SignInLinks
    from kiwiresearch.store.store import CaseEntry, HostRow, Store, open_store
    from kiwiresearch.store.users import (
        PREFIX,
        ROLES,
        LinkRow,
        NewToken,
        PasswordRow,
        Role,
        TokenRow,
        UserRow,
        UserTokens,
        check_name,
    )
else:
    __getattr__ = lazy_exports(__name__)
