"""The desk in a browser: pages for people, drawn on the server, which a little script makes livelier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.web.desk.pages import POLICY, Pages, redirect
    from kiwiresearch.web.desk.routes import routers
    from kiwiresearch.web.desk.translations import problem_key
else:
    __getattr__ = lazy_exports(__name__)
