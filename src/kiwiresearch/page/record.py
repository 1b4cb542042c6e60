"""A PageDoc as plain data: the seed's fields by their names, and all the rest beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kiwiresearch.page.doc import Infobox, Link, PageDoc, Section, Signal, Table


def record_of(page: PageDoc, *, only: Sequence[Section] = ()) -> dict[str, Any]:
    """What `--json` shows of a page; `only` leaves out the other sections."""
    return {
        "id": page.id,
        "book": page.ref.book,
        "path": page.ref.path,
        "title": page.title,
        "url": page.url,
        "language": page.language,
        "plain_text": page.text,
        "lead": page.lead,
        "sections": [_section(page, section) for section in only or page.sections],
        "links": [_link(page, link) for link in page.links],
        "infoboxes": [_infobox(box) for box in page.infoboxes],
        "tables": [_table(page, table) for table in page.tables],
        "marks": [{"kind": mark.kind, "offset": mark.offset} for mark in page.marks],
        "categories": list(page.categories),
        "hatnotes": list(page.hatnotes),
        "signals": _signals(page),
        "revision": page.provenance.revision,
        "edited": page.provenance.edited,
        "source": page.provenance.source,
    }


def _section(page: PageDoc, section: Section) -> dict[str, Any]:
    return {
        "heading": section.heading,
        "level": section.level,
        "anchor": section.anchor,
        "text": page.section_text(section),
        "start_offset": section.start,
        "end_offset": section.end,
        "references": section.references,
    }


def _link(page: PageDoc, link: Link) -> dict[str, Any]:
    return {
        "target_title": link.target_title,
        "target_path": link.target,
        "target_anchor": link.anchor,
        "anchor_text": link.text,
        "context_snippet": page.sentence(link),
        "section": page.sections[link.section].heading,
        "place": link.place,
        "start_offset": link.start if link.in_text else None,
        "end_offset": link.end if link.in_text else None,
    }


def _infobox(box: Infobox) -> dict[str, Any]:
    rows = [
        {
            "key": row.key,
            "value": row.value,
            "group": row.group,
            "start_offset": row.start,
            "end_offset": row.end,
            "links": [link.target for link in row.links],
        }
        for row in box.rows
    ]
    return {"title": box.title, "rows": rows}


def _table(page: PageDoc, table: Table) -> dict[str, Any]:
    return {
        "caption": table.caption,
        "section": page.sections[table.section].heading,
        "rows": [[page.text[cell.start : cell.end] for cell in row] for row in table.rows],
    }


def _signals(page: PageDoc) -> dict[str, Any]:
    signals = page.signals
    return {
        "is_stub": signals.stub.holds,
        "has_citation_needed": signals.citation_needed.holds,
        "is_disputed": signals.disputed.holds,
        "is_disambiguation": signals.disambiguation.holds,
        "is_list": signals.list_page.holds,
        "ref_count_estimate": signals.references,
        "length_chars": signals.length,
        "basis": {
            "is_stub": _basis(signals.stub),
            "has_citation_needed": _basis(signals.citation_needed),
            "is_disputed": _basis(signals.disputed),
            "is_disambiguation": _basis(signals.disambiguation),
            "is_list": _basis(signals.list_page),
        },
    }


def _basis(signal: Signal) -> str:
    return f"{signal.basis}: {signal.why}" if signal.holds else "absent"
