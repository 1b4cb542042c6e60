"""A format is complete: written, worded in every language, and documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kiwiresearch.export.exporter import (
    FINDINGS_WRITERS,
    FOLDER_WRITERS,
    GRAPH_WRITERS,
    PRINTED_WRITERS,
    WORKSHEET_WRITERS,
)
from kiwiresearch.export.formats import EXPORT_GROUPS, FORMATS, ExportFormat, formats_help, grouped_formats
from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in

DOCS = Path(__file__).parents[2] / "docs"
FORMAT = pytest.mark.parametrize("form", FORMATS.values(), ids=list(FORMATS))


def test_every_format_is_in_the_help_in_the_order_users_see() -> None:
    """To read, to cite, to count and to draw."""
    assert formats_help() == (
        "markdown, html, docx, pdf, obsidian, epub, zim; worksheet, worksheet-docx, worksheet-markdown; "
        "bibtex, ris, csl-json; claims-csv; graphml, gexf, csv or kiwix-bookmarks."
    )


def test_every_format_has_one_place_on_the_desk() -> None:
    """In one group each, and no two at the same place of a group."""
    groups = grouped_formats()
    assert tuple(groups) == EXPORT_GROUPS
    assert sorted(one.name for some in groups.values() for one in some) == sorted(FORMATS)
    for some in groups.values():
        assert [one.place_in_group for one in some] == list(range(1, len(some) + 1))


@FORMAT
def test_a_format_has_a_writer_of_its_content(form: ExportFormat) -> None:
    """One for each of its files, one for its folder, or one for its file."""
    if form.content == "graph":
        assert len(GRAPH_WRITERS[form.name]) == len(form.files)
    else:
        assert form.name in (
            FOLDER_WRITERS if form.is_folder else {**FINDINGS_WRITERS, **PRINTED_WRITERS, **WORKSHEET_WRITERS}
        )


@FORMAT
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_format_has_words_in_every_language(form: ExportFormat, language: str) -> None:
    """Its name, what it is for, and the heading it is under."""
    words = catalogue_in(language)
    for key in (f"formats.{form.name}.name", f"formats.{form.name}.what", f"groups.{form.group}"):
        assert words(f"exports.{key}").strip()


@FORMAT
def test_a_format_is_documented_with_its_files(form: ExportFormat) -> None:
    """In the guide with its files and whether notes go along, and in the reference of commands."""
    guide = (DOCS / "guide/export.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{form.name}` \| (.*?) \| .+ \|$", guide, re.MULTILINE)
    assert re.findall(r"`([^`]+)`", row)[: len(form.files)] == list(form.files)
    (notes,) = re.findall(r"^Your \[notes\]\(#notes\) are included in (.*)\.$", guide, re.MULTILINE)
    assert (f"`{form.name}`" in notes) is form.with_notes
    commands = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\| `kiwiresearch export .*$", commands, re.MULTILINE)
    assert f"`{form.name}`" in line
