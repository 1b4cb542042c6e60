"""The desk in a browser: pages for people, rendered on the server and enhanced by a little script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.web.desk.pages import POLICY, PageRenderer, redirect
    from kiwiresearch.web.desk.routes import routers
    from kiwiresearch.web.desk.translations import problem_key
else:
    __getattr__ = lazy_exports(__name__)
