"""The formats that a run can be exported in, and the files that each of them makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kiwiresearch.errors import BadUsage
from kiwiresearch.research.export.bibtex import bibtex
from kiwiresearch.research.export.bookmarks import bookmarks
from kiwiresearch.research.export.brief_files import brief_in_html, brief_in_markdown
from kiwiresearch.research.export.claim_table import claim_table
from kiwiresearch.research.export.csl import csl
from kiwiresearch.research.export.epub import epub
from kiwiresearch.research.export.findings import Findings, read_findings
from kiwiresearch.research.export.gexf import gexf
from kiwiresearch.research.export.graphml import graphml
from kiwiresearch.research.export.obsidian import obsidian
from kiwiresearch.research.export.packing import Made
from kiwiresearch.research.export.reading import RunGraph, read_run
from kiwiresearch.research.export.ris import ris
from kiwiresearch.research.export.row import clean
from kiwiresearch.research.export.tables import link_table, page_table
from kiwiresearch.research.export.zim_file import zim


@dataclass(frozen=True, slots=True)
class Format:
    """What can be asked for, and which programs it is for."""

    readers: str
    names: tuple[str, ...]
    """Of its files, unless the user says otherwise; the first alone where the rest depends on the run."""
    make: Callable[[Path], Iterable[Made]]
    is_folder: bool = False
    """Whether it makes many files that belong into a folder of their own."""


def _of_graph(readers: str, files: Mapping[str, Callable[[RunGraph], str]]) -> Format:
    def make(run: Path) -> Iterable[Made]:
        graph = read_run(run)
        return [Made(name, _bytes(write(graph))) for name, write in files.items()]

    return Format(readers, tuple(files), make)


def _of_findings(readers: str, name: str, write: Callable[[Findings], str | bytes]) -> Format:
    def make(run: Path) -> Iterable[Made]:
        made = write(read_findings(run))
        return [Made(name, _bytes(made) if isinstance(made, str) else made)]

    return Format(readers, (name,), make)


def _bytes(text: str) -> bytes:
    return clean(text).encode()


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "markdown": _of_findings("text editors, word processors, wikis", "brief.md", brief_in_markdown),
        "html": _of_findings("browsers", "brief.html", brief_in_html),
        "obsidian": Format(
            "Obsidian and other programs for notes",
            ("Index.md",),
            lambda run: obsidian(read_findings(run)),
            is_folder=True,
        ),
        "epub": _of_findings("e-readers and reading apps", "brief.epub", epub),
        "zim": _of_findings("Kiwix", "brief.zim", zim),
        "bibtex": _of_findings("LaTeX, JabRef, Zotero", "sources.bib", bibtex),
        "ris": _of_findings("Zotero, EndNote, Mendeley", "sources.ris", ris),
        "csl-json": _of_findings("Zotero, Pandoc", "sources.json", csl),
        "claims-csv": _of_findings("spreadsheets", "claims.csv", claim_table),
        "graphml": _of_graph("Gephi, yEd, Cytoscape, networkx", {"graph.graphml": graphml}),
        "gexf": _of_graph("Gephi", {"graph.gexf": gexf}),
        "csv": _of_graph("Gephi, spreadsheets", {"nodes.csv": page_table, "edges.csv": link_table}),
        "kiwix-bookmarks": _of_graph("Kiwix", {"bookmarks.xml": bookmarks}),
    }
)
"""In the order in which users see them."""


def format_named(name: str) -> Format:
    if name not in FORMATS:
        raise BadUsage(f"There is no export format {name!r}.", remedy=f"The formats are: {', '.join(FORMATS)}.")
    return FORMATS[name]


def made(run: Path, to: str) -> tuple[Made, ...]:
    """The files of a finished run in one of the FORMATS; nothing is written anywhere."""
    return tuple(format_named(to).make(run))
