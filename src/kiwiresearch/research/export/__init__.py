"""A run's graph as files for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kiwiresearch.disk import write_whole
from kiwiresearch.errors import BadUsage, CannotWrite
from kiwiresearch.research.export.bookmarks import bookmarks
from kiwiresearch.research.export.gexf import gexf
from kiwiresearch.research.export.graphml import graphml
from kiwiresearch.research.export.reading import RunGraph, read_run
from kiwiresearch.research.export.tables import link_table, page_table

FOLDER = "export"


@dataclass(frozen=True, slots=True)
class File:
    """One file of a format: what it is called unless the user says otherwise, and what goes into it."""

    name: str
    text: Callable[[RunGraph], str]


@dataclass(frozen=True, slots=True)
class Format:
    """What can be asked for, and which programs it is for."""

    readers: str
    files: tuple[File, ...]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "graphml": Format("Gephi, yEd, Cytoscape, networkx", (File("graph.graphml", graphml),)),
        "gexf": Format("Gephi", (File("graph.gexf", gexf),)),
        "csv": Format("Gephi, spreadsheets", (File("nodes.csv", page_table), File("edges.csv", link_table))),
        "kiwix-bookmarks": Format("Kiwix", (File("bookmarks.xml", bookmarks),)),
    }
)
"""In the order in which users see them."""


def export(run: Path, to: str, out: Path | None = None) -> tuple[Path, ...]:
    """Write the graph of a finished run in one of the FORMATS and say which files that made.

    Without `out` they go into the run's own folder 'export'. An `out` that ends
    as the format's file does ('.gexf') names that file; any other is a folder.
    """
    if to not in FORMATS:
        raise BadUsage(f"There is no export format {to!r}.", remedy=f"The formats are: {', '.join(FORMATS)}.")
    form = FORMATS[to]
    places = _places(run, to, out)
    graph = read_run(run)
    texts = [file.text(graph) for file in form.files]
    for place, text in zip(places, texts, strict=True):
        _write(place, text)
    return places


def _places(run: Path, to: str, out: Path | None) -> tuple[Path, ...]:
    names = [file.name for file in FORMATS[to].files]
    folder = run / FOLDER if out is None else out
    if out is not None and out.suffix.lower() == Path(names[0]).suffix:
        if len(names) == 1:
            return (out,)
        raise BadUsage(
            f"{str(out)!r} is one file, and {to!r} makes {len(names)}: {' and '.join(names)}.",
            remedy="Name a folder for them.",
        )
    return tuple(folder / name for name in names)


def _write(place: Path, text: str) -> None:
    try:
        write_whole(place, text)
    except (OSError, ValueError) as problem:  # ValueError: a name that no system allows
        reason = (isinstance(problem, OSError) and problem.strerror) or "its name is not allowed"
        raise CannotWrite(
            f"The file {str(place)!r} cannot be written: {reason}.",
            remedy="Make room or name another place with --out.",
        ) from problem
