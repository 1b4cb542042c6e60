"""Checks between the network and the routes, each a small ASGI middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.web.guard.identity import (
        COOKIE,
        SIGN_IN_PATH,
        ExportPrivacy,
        FamilyAccess,
        OwnerAccess,
        Privacy,
        check_family_owner_setting,
        current_visitor,
        refuse_without_role,
        require_creator_or_owner,
        set_sign_in_cookie,
    )
    from kiwiresearch.web.guard.limits import GRACE_S, Shutdown, client_of
    from kiwiresearch.web.guard.passwords import matching_name
    from kiwiresearch.web.guard.reading_keys import ReadingKeys
    from kiwiresearch.web.guard.requests import (
        DRAIN_TIMEOUT_S,
        FRAMES,
        MAX_DRAINED,
        REQUEST_ADDRESS,
        is_book_page,
        is_browser_path,
        is_from_own_page,
        is_top_level_navigation,
        is_typed_or_bookmarked,
    )
    from kiwiresearch.web.guard.responses import DEFAULT_HEADERS
    from kiwiresearch.web.guard.roles import ROUTE_ACTIONS, LazyRoute, RoleRouter, requires_role
    from kiwiresearch.web.guard.setup import (
        Accounts,
        Handover,
        McpRoleCheck,
        Successor,
        WrongPassword,
        add_checks,
        check_owners,
        make_role_checker,
        open_accounts,
    )
    from kiwiresearch.web.guard.users import UserAuthenticator
else:
    __getattr__ = lazy_exports(__name__)
