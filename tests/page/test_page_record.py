"""A page as plain data has every field that was asked for, by its name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.page.pages import BOOK, a_page

from kiwiresearch.codec import plain
from kiwiresearch.ids import canonical_json, page_id
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.record import page_record

HTML = """<div id="mw-content-text"><div class="hatnote">Not to be confused with <a href="Tern">Tern</a>.</div>
<table class="infobox"><caption>Tern Rock</caption><tr><th>Owner</th><td><a href="Crown">The Crown</a></td></tr></table>
<p>A rock in the <a href="North_Sea#Depth">North Sea</a>.<sup class="reference">[1]</sup> It is
 small.<sup class="Template-Fact">[citation needed]</sup></p>
<h2 id="Life">Life</h2><p>Home of <a href="Seal">seals</a>. They sleep.</p>
<table><caption>Counts</caption><tr><th>Year</th><td>1900</td></tr></table>
<ol class="references"><li>A book</li></ol><div id="catlinks"><a href="Category:Rocks">Rocks</a></div>
<div>This article is issued from <a title="Last edited on 2023-06-21"
 href="https://en.wikipedia.org/wiki/?title=Tern_Rock&amp;oldid=77">Wikipedia</a>.</div></div>"""

TEXT = "A rock in the North Sea. It is small.\n\nLife\n\nHome of seals. They sleep.\n\nCounts\n\nYear\t1900"
BOX = "Tern Rock\n\nOwner\tThe Crown"


def as_json(page: PageDoc) -> dict[str, Any]:
    return dict(plain(page_record(page)))


def a_record() -> dict[str, Any]:
    return as_json(a_page(HTML, title="Tern Rock", path="Tern_Rock"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", page_id("Tern Rock")),
        ("title", "Tern Rock"),
        ("url", f"zim://{BOOK}/Tern_Rock"),
        ("plain_text", f"{TEXT}\n\n{BOX}"),
        ("book", BOOK),
        ("path", "Tern_Rock"),
        ("language", "eng"),
        ("lead", "A rock in the North Sea. It is small."),
        ("categories", ["Rocks"]),
        ("hatnotes", ["Not to be confused with Tern."]),
        ("revision", 77),
        ("edited", "2023-06-21"),
        ("source", "https://en.wikipedia.org/wiki/?title=Tern_Rock&oldid=77"),
        ("tables", [{"caption": "Counts", "section": "Life", "rows": [["Year", "1900"]]}]),
        ("marks", [{"kind": "reference", "offset": 24}, {"kind": "citation needed", "offset": 37}]),
    ],
)  # fmt: skip
def test_fields_of_a_page(field: str, value: object) -> None:
    """The record has id, title, url, text and all else that is known of the page (R43, R109, R110, R111, R112)."""
    assert a_record()[field] == value


def test_id_is_the_hash_of_the_title() -> None:
    """Pages of one title have one id and pages of other titles another, tagged with its algorithm (R109)."""
    one, same, other = (as_json(a_page("<p>x", title=title))["id"] for title in ("Kiel", "Kiel", "Bonn"))
    assert one == same != other
    assert one.startswith("sha256:")


def test_sections_of_a_record() -> None:
    """A section has heading, text and the offset at which its text starts (R113)."""
    record = a_record()
    assert record["sections"] == [
        {
            "heading": "", "level": 1, "anchor": "", "text": "A rock in the North Sea. It is small.",
            "start_offset": 0, "end_offset": 37, "references": 1,
        },
        {
            "heading": "Life", "level": 2, "anchor": "Life", "text": TEXT[45:],
            "start_offset": 45, "end_offset": len(TEXT), "references": 0,
        },
    ]  # fmt: skip
    for section in record["sections"]:
        assert record["plain_text"][section["start_offset"] :].startswith(section["text"])


def test_links_of_a_record() -> None:
    """A link has target title, anchor text, the sentence around it and its section (R114)."""
    record = a_record()
    assert record["links"][:2] == [
        {
            "target_title": "North Sea", "target_path": "North_Sea", "target_anchor": "Depth",
            "anchor_text": "North Sea", "context_snippet": "A rock in the North Sea.", "section": "",
            "place": "lead", "start_offset": 14, "end_offset": 23,
        },
        {
            "target_title": "Seal", "target_path": "Seal", "target_anchor": "", "anchor_text": "seals",
            "context_snippet": "Home of seals.", "section": "Life", "place": "body", "start_offset": 53,
            "end_offset": 58,
        },
    ]  # fmt: skip
    hatnote = next(link for link in record["links"] if link["place"] == "hatnote")
    assert (hatnote["target_title"], hatnote["start_offset"], hatnote["context_snippet"]) == ("Tern", None, "")


def test_signals_of_a_record() -> None:
    """Signals come by the names that were asked for, and say beside it how each is known (R115)."""
    assert a_record()["signals"] == {
        "is_stub": False,
        "has_citation_needed": True,
        "is_disputed": False,
        "is_disambiguation": False,
        "is_list": False,
        "ref_count_estimate": 1,
        "length_chars": len(TEXT),
        "basis": {
            "is_stub": "absent",
            "has_citation_needed": "seen: 1 in the text",
            "is_disputed": "absent",
            "is_disambiguation": "absent",
            "is_list": "absent",
        },
    }


def test_infoboxes_of_a_record() -> None:
    """An infobox has its rows with value, offsets and the pages they link to (R40)."""
    start = len(f"{TEXT}\n\nTern Rock\n\nOwner\t")
    assert a_record()["infoboxes"] == [
        {
            "title": "Tern Rock",
            "rows": [
                {
                    "key": "Owner",
                    "value": "The Crown",
                    "start_offset": start,
                    "end_offset": start + 9,
                    "group": "",
                    "links": ["Crown"],
                }
            ],
        }
    ]


def test_record_is_json() -> None:
    """A record can be written as JSON and read back without loss (R43)."""
    record = a_record()
    assert json.loads(canonical_json(record)) == record


def test_record_of_an_empty_page_has_every_field() -> None:
    """A page without anything has the same fields as one with everything (R43)."""
    empty = as_json(a_page("", title="Tern Rock"))
    assert empty.keys() == a_record().keys()
    assert (empty["plain_text"], empty["links"], empty["revision"]) == ("", [], None)
    assert [section["text"] for section in empty["sections"]] == [""]
