"""The formats a finished run can be exported to, as the command line, the desk and the API describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal

from kiwiresearch.errors import BadUsage

ExportContent = Literal["brief", "worksheet", "sources", "claims", "graph"]
ExportGroup = Literal["read", "teach", "keep", "cite", "analyze"]
EXPORT_GROUPS: tuple[ExportGroup, ...] = ("read", "teach", "keep", "cite", "analyze")
"""The headings under which the desk offers the formats, in order."""
ZIP = ".zip"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """An export format: its content, its files, and the programs it is for."""

    name: str
    content: ExportContent
    """The part of a run that it contains."""
    files: tuple[str, ...]
    """The names of its files; only the first if the others depend on the run."""
    media_type: str
    """The type of its file, or of the zip of its files."""
    programs: str
    """The programs that it is for, as shown to users."""
    group: ExportGroup
    place_in_group: int
    is_folder: bool = False
    """Whether it makes many files that need their own folder."""

    @property
    def with_notes(self) -> bool:
        """Whether it includes the notes on the run."""
        return self.content in ("brief", "claims")

    @property
    def has_several_files(self) -> bool:
        return self.is_folder or len(self.files) > 1

    @property
    def suffix(self) -> str:
        """The suffix of the file that a user downloads; several files come as a zip."""
        return ZIP if self.has_several_files else PurePosixPath(self.files[0]).suffix


_XML, _ZIPPED, _CSV = "application/xml", "application/zip", "text/csv; charset=utf-8"
_BIBTEX, _RIS = "application/x-bibtex; charset=utf-8", "application/x-research-info-systems; charset=utf-8"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_HTML, _MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
_CSL = "application/vnd.citationstyles.csl+json"

# A new format also needs a writer in exporter.py, its text in messages/languages/*/exports.toml, and a mention
# in docs/guide/export.md and docs/reference/cli.md; tests/export/test_export_formats.py says what is missing.
FORMATS: Mapping[str, ExportFormat] = MappingProxyType(
    {
        export_format.name: export_format
        for export_format in (
            ExportFormat(
                "markdown",
                "brief",
                ("brief.md",),
                _MARKDOWN,
                "text editors, word processors, wikis",
                "read",
                3,
            ),
            ExportFormat("html", "brief", ("brief.html",), _HTML, "browsers", "read", 1),
            ExportFormat("docx", "brief", ("brief.docx",), _DOCX, "Word, LibreOffice, Google Docs", "read", 4),
            ExportFormat("pdf", "brief", ("brief.pdf",), "application/pdf", "printing, any device", "read", 5),
            ExportFormat(
                "obsidian",
                "brief",
                ("Index.md",),
                _ZIPPED,
                "Obsidian and other programs for notes",
                "keep",
                2,
                is_folder=True,
            ),
            ExportFormat(
                "epub", "brief", ("brief.epub",), "application/epub+zip", "e-readers and reading apps", "read", 2
            ),
            ExportFormat("zim", "brief", ("brief.zim",), "application/x-zim", "Kiwix", "keep", 1),
            ExportFormat("worksheet", "worksheet", ("worksheet.html",), _HTML, "printing, any browser", "teach", 1),
            ExportFormat("worksheet-docx", "worksheet", ("worksheet.docx",), _DOCX, "Word, LibreOffice", "teach", 2),
            ExportFormat("worksheet-markdown", "worksheet", ("worksheet.md",), _MARKDOWN, "text editors", "teach", 3),
            ExportFormat("bibtex", "sources", ("sources.bib",), _BIBTEX, "LaTeX, JabRef, Zotero", "cite", 1),
            ExportFormat("ris", "sources", ("sources.ris",), _RIS, "Zotero, EndNote, Mendeley", "cite", 2),
            ExportFormat("csl-json", "sources", ("sources.json",), _CSL, "Zotero, Pandoc", "cite", 3),
            ExportFormat("claims-csv", "claims", ("claims.csv",), _CSV, "spreadsheets", "analyze", 1),
            ExportFormat(
                "graphml",
                "graph",
                ("graph.graphml",),
                "application/graphml+xml",
                "Gephi, yEd, Cytoscape, networkx",
                "analyze",
                3,
            ),
            ExportFormat("gexf", "graph", ("graph.gexf",), "application/gexf+xml", "Gephi", "analyze", 4),
            ExportFormat("csv", "graph", ("nodes.csv", "edges.csv"), _ZIPPED, "Gephi, spreadsheets", "analyze", 2),
            ExportFormat("kiwix-bookmarks", "graph", ("bookmarks.xml",), _XML, "Kiwix", "keep", 3),
        )
    }
)
"""In the order in which users see them."""


def format_named(name: str) -> ExportFormat:
    if name not in FORMATS:
        raise BadUsage(f"{name!r} is not an export format.", remedy=f"Choose one of: {', '.join(FORMATS)}.")
    return FORMATS[name]


def grouped_formats() -> Mapping[ExportGroup, list[ExportFormat]]:
    """The formats as the desk offers them, grouped by purpose."""
    in_order = sorted(FORMATS.values(), key=lambda export_format: export_format.place_in_group)
    return {
        group: [export_format for export_format in in_order if export_format.group == group] for group in EXPORT_GROUPS
    }


def formats_help() -> str:
    """All names in one sentence, grouped by content."""
    by_content: dict[ExportContent, list[str]] = {}
    for export_format in FORMATS.values():
        by_content.setdefault(export_format.content, []).append(export_format.name)
    before, _, last = "; ".join(map(", ".join, by_content.values())).rpartition(", ")
    return f"{before} or {last}."
