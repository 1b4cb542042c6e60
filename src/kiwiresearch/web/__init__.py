"""The server: turns requests of browsers, chat clients and programs into calls, and errors into messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.web.context import ServerContext
    from kiwiresearch.web.peers import address_for_hosts, own_address
else:
    __getattr__ = lazy_exports(__name__)
