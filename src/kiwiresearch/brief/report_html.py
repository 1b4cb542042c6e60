"""The brief as one self-contained HTML page, in which each sentence unfolds to its quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from kiwiresearch.brief.brief import Brief, Images, data_url
from kiwiresearch.brief.graph_picture import graph_picture
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.timeline_picture import timeline_picture
from kiwiresearch.document import Block, Diagram, Heading, html_page

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page loads nothing."""

NO_IMAGES: Images = MappingProxyType({})


@cache
def style(name: str) -> str:
    return (files("kiwiresearch.brief") / name).read_text(encoding="utf-8").strip()


def picture_style() -> str:
    return style("pictures.css")


def report_page(
    brief: Brief, images: Images = NO_IMAGES, appendix: Sequence[Block] = (), *, is_shared: bool = False
) -> str:
    """The brief for a browser, with `images` embedded; an appendix starts with its own heading."""
    kinds = {picture.sha256: picture.media_type for picture in brief.pictures}
    addresses = {sha: data_url(images[sha], kind) for sha, kind in kinds.items() if sha in images}
    document = brief_document(brief, addresses, is_shared=is_shared)
    document = replace(document, blocks=(*_with_pictures(document.blocks, brief), *appendix))
    head = f"<style>\n{picture_style()}\n</style>\n" if addresses else ""
    return html_page(document, style("style.css"), POLICY, head=head)


def _with_pictures(blocks: Sequence[Block], brief: Brief) -> Iterator[Block]:
    """The blocks, with pictures of the timeline and of the links below their headings."""
    for block in blocks:
        yield block
        anchor = block.anchor if isinstance(block, Heading) else ""
        if anchor == "timeline" and (svg := timeline_picture(brief.timeline)):
            caption = "Select a label to go to its entry below. Bars show periods, or dates known only roughly."
            yield Diagram(svg, "Timeline", caption)
        if anchor == "gathering" and (svg := graph_picture(brief.sources)):
            caption = "Select a name to open its page. The bold line is the link that first led to it."
            yield Diagram(svg, "How the pages are linked", caption)
