"""The brief as one HTML page that needs nothing else: pictures inside, and each sentence unfolds to its quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from kiwiresearch.brief.brief import Brief, Images, data_url
from kiwiresearch.brief.document import Block, Heading
from kiwiresearch.brief.graph_picture import graph_picture
from kiwiresearch.brief.html import blocks_in_html, escaped, escaped_title, html_frame
from kiwiresearch.brief.report import report
from kiwiresearch.brief.timeline_picture import timeline_picture

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What a browser is told to load for the page: nothing."""

HEAD = (
    f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    '<meta name="referrer" content="no-referrer">\n'
    '<meta name="color-scheme" content="light dark">\n'
)


TOP_LEVEL = 2
TIMELINE = (
    "Timeline",
    "Each label leads to its line below. Bars are spans of time, or dates known only roughly.",
)
GRAPH = ("How the pages are linked", "Each name opens its page. The stronger line is the link that led there first.")


NO_IMAGES: Images = MappingProxyType({})


@cache
def picture_style() -> str:
    """How pictures of pages look; only what shows some needs it."""
    return (files("kiwiresearch.brief") / "pictures.css").read_text(encoding="utf-8").strip()


def report_page(brief: Brief, images: Images = NO_IMAGES, appendix: Sequence[Block] = ()) -> str:
    """The whole brief, for a browser; what stands `behind` it begins with a heading of its own.

    `images` holds the pictures that the brief names: the page has them inside.
    """
    kinds = {picture.sha256: picture.media_type for picture in brief.pictures}
    addresses = {sha: data_url(images[sha], kind) for sha, kind in kinds.items() if sha in images}
    document = report(brief, addresses)
    document = replace(document, blocks=(*document.blocks, *appendix))
    parts = _parts(document.blocks)
    opening = document.blocks[: len(document.blocks) - sum(1 + len(part.blocks) for part in parts)]
    contents = (f'<li><a href="#{part.heading.anchor}">{escaped(part.heading.text)}</a></li>' for part in parts)
    body = [
        '<a class="skip" href="#summary">Skip to the summary</a>',
        f"<header>\n<h1>{escaped_title(document)}</h1>\n{blocks_in_html(opening)}\n</header>",
        '<nav aria-label="Contents">\n<ol>',
        *contents,
        "</ol>\n</nav>",
        "<main>",
        *(_section(part, brief) for part in parts),
        "</main>",
    ]
    look = f"<style>\n{picture_style()}\n</style>\n" if addresses else ""
    return html_frame(document, "\n".join(body), HEAD + look)


class ReportSection(NamedTuple):
    """A heading and what stands under it."""

    heading: Heading
    blocks: tuple[Block, ...]


def _parts(blocks: Sequence[Block]) -> list[ReportSection]:
    starts = [n for n, block in enumerate(blocks) if isinstance(block, Heading) and block.level == TOP_LEVEL]
    parts = []
    for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True):
        heading = blocks[start]
        assert isinstance(heading, Heading)
        parts.append(ReportSection(heading, tuple(blocks[start + 1 : end])))
    return parts


def _section(part: ReportSection, brief: Brief) -> str:
    anchor = part.heading.anchor
    inside = [blocks_in_html((part.heading,)), *_picture(anchor, brief), blocks_in_html(part.blocks)]
    return "\n".join([f'<section aria-labelledby="{anchor}">', *inside, "</section>"])


def _picture(anchor: str, brief: Brief) -> Iterator[str]:
    """The picture that belongs to a part, where there is something to draw."""
    if anchor == "timeline":
        drawn, caption = timeline_picture(brief.timeline), TIMELINE
    elif anchor == "gathering":
        drawn, caption = graph_picture(brief.sources), GRAPH
    else:
        return
    if drawn:
        yield f'<figure>\n<div class="wide" role="region" tabindex="0" aria-label="{caption[0]}">'
        yield f"{drawn}\n</div>\n<figcaption>{caption[1]}</figcaption>\n</figure>"
