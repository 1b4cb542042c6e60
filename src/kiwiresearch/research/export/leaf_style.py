"""How the leaves of a run look, in e-readers and in Kiwix."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from kiwiresearch.brief.report_html import picture_style


@cache
def style(*, with_pictures: bool = False) -> str:
    look = (files("kiwiresearch.research.export") / "leaf.css").read_text(encoding="utf-8")
    return f"{look}{picture_style()}\n" if with_pictures else look
