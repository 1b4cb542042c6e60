"""Exporting a finished run: the formats there are, and writing them to files and folders."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from kiwiresearch.errors import BadUsage, CannotWrite, RunDamaged, RunNotFound
from kiwiresearch.export.brief_files import brief_in_html, brief_in_markdown, claim_table
from kiwiresearch.export.citations import bibtex, csl, ris
from kiwiresearch.export.ebooks import epub, zim
from kiwiresearch.export.findings import RunFindings, read_findings
from kiwiresearch.export.graphs import bookmarks, gexf, graphml, link_table, page_table
from kiwiresearch.export.obsidian import obsidian
from kiwiresearch.export.packing import ExportedFile, zip_files
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.folder import BRIEF, CLAIMS, GRAPH, MANIFEST
from kiwiresearch.runs.run import Run
from kiwiresearch.runs.run_files import RunGraph, xml_safe
from kiwiresearch.system import write_atomically


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """What can be asked for, and which programs it is for."""

    readers: str
    names: tuple[str, ...]
    """Of its files, unless the user says otherwise; the first alone where the rest depends on the run."""
    make: Callable[[Run], Iterable[ExportedFile]]
    reads: tuple[str, ...] = (BRIEF, CLAIMS)
    """The files of a run that it cannot do without."""
    is_folder: bool = False
    """Whether it makes many files that belong into a folder of their own."""


def _of_graph(readers: str, files: Mapping[str, Callable[[RunGraph], str]]) -> ExportFormat:
    def make(run: Run) -> Iterable[ExportedFile]:
        graph = run.graph
        return [ExportedFile(name, _bytes(write(graph))) for name, write in files.items()]

    return ExportFormat(readers, tuple(files), make, (GRAPH,))


def _of_findings(readers: str, name: str, write: Callable[[RunFindings], str | bytes]) -> ExportFormat:
    def make(run: Run) -> Iterable[ExportedFile]:
        made = write(read_findings(run))
        return [ExportedFile(name, _bytes(made) if isinstance(made, str) else made)]

    return ExportFormat(readers, (name,), make)


def _bytes(text: str) -> bytes:
    return xml_safe(text).encode()


FORMATS: Mapping[str, ExportFormat] = MappingProxyType(
    {
        "markdown": _of_findings("text editors, word processors, wikis", "brief.md", brief_in_markdown),
        "html": _of_findings("browsers", "brief.html", brief_in_html),
        "obsidian": ExportFormat(
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


def format_named(name: str) -> ExportFormat:
    if name not in FORMATS:
        raise BadUsage(f"There is no export format {name!r}.", remedy=f"The formats are: {', '.join(FORMATS)}.")
    return FORMATS[name]


def make_files(folder: Path, to: str) -> tuple[ExportedFile, ...]:
    """The files of the finished run in a folder in one of the FORMATS; nothing is written anywhere."""
    form = format_named(to)
    _check_folder(folder, form.reads)
    return tuple(form.make(Run.open(folder)))


NAME_IT = "Name the folder that a run has written."


def _check_folder(run: Path, needed: Sequence[str]) -> None:
    """Refuse what is no folder of a finished run, or has lost one of the files that are needed."""
    try:
        is_folder, exists = run.is_dir(), run.exists()
        found = {name for name in (MANIFEST, GRAPH, BRIEF, CLAIMS) if is_folder and (run / name).exists()}
    except OSError as problem:
        raise RunNotFound(f"The folder {str(run)!r} cannot be opened: {problem.strerror}.") from problem
    if not exists:
        raise RunNotFound(f"There is no folder {str(run)!r}.", remedy=NAME_IT)
    if not is_folder:
        raise RunNotFound(f"{str(run)!r} is not a folder.", remedy=NAME_IT)
    if not found:
        raise RunNotFound(f"The folder {str(run)!r} holds no run.", remedy=NAME_IT)
    if MANIFEST not in found:
        raise RunNotFound(
            f"The run in {str(run)!r} is not finished: it has no {MANIFEST!r}.",
            remedy="Start it once more: it goes on where it stopped.",
        )
    for name in needed:
        if name not in found:
            raise RunDamaged(f"The run in {str(run)!r} has lost its {name!r}.", remedy="Research the topic again.")


RECORD = ".kiwiresearch-export.json"
MAX_BYTES = 2**24

Hashes = Mapping[str, frozenset[str]]
"""What each file was when an export wrote it, by its name."""


def write_folder(folder: Path, files: Sequence[ExportedFile]) -> tuple[Path, ...]:
    """Write the files, and take away those of an earlier export that are not among them.

    A file that somebody else wrote, or changed since, is never written over and never taken away.
    """
    before = _read(folder)
    made = {file.name: frozenset({_hash(file.content)}) for file in files}
    known = _by_folded_name(before, made)
    for file in files:
        _refuse_foreign(folder / file.name, known[file.name], is_recorded=bool(before))
    # Both are known while it is written: whoever was interrupted can begin again.
    _write_record(folder, known)
    for file in files:
        write_atomically(folder / file.name, file.content)
    _remove_old(folder, known, made)
    _write_record(folder, made)
    return tuple(folder / file.name for file in files)


def _by_folded_name(before: Hashes, made: Hashes) -> Hashes:
    """What each file may be; where capitals do not matter to the system, both names are the same file."""
    ours: dict[str, frozenset[str]] = {}
    for name, hashes in (*before.items(), *made.items()):
        ours[name.casefold()] = ours.get(name.casefold(), frozenset()) | hashes
    return {name: ours[name.casefold()] for name in (*before, *made)}


def _refuse_foreign(place: Path, hashes: frozenset[str], *, is_recorded: bool) -> None:
    if not (place.exists() or place.is_symlink()) or _is_ours(place, hashes):
        return
    if is_recorded:
        raise CannotWrite(
            f"The file {str(place)!r} is not as an export wrote it: it may hold words of yours.",
            remedy="Move it away, or name another folder with --out.",
        )
    raise CannotWrite(
        f"The file {str(place)!r} is of no export that the folder has a record of: it may hold words of yours, "
        "or come from an older version, which kept no record.",
        remedy="Move the folder away, or name another one with --out.",
    )


def _remove_old(folder: Path, known: Hashes, made: Iterable[str]) -> None:
    # Where capitals do not matter to the system, a name that differs in them alone is the new file.
    new = {name.casefold() for name in made}
    for name, hashes in known.items():
        place = folder / name
        if name.casefold() not in new and _is_ours(place, hashes):
            place.unlink()
            with contextlib.suppress(OSError):  # others have files in it
                place.parent.rmdir()


def _is_ours(place: Path, hashes: frozenset[str]) -> bool:
    return place.is_file() and not place.is_symlink() and _hash(place.read_bytes()) in hashes


def _hash(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def _read(folder: Path) -> Hashes:
    """What the folder knows; nothing where its record is missing, or was made by somebody else."""
    record = folder / RECORD
    try:
        if record.is_symlink() or record.stat().st_size > MAX_BYTES:
            return {}
        rows = json.loads(record.read_text(encoding="utf-8"))["files"].items()
        return {name: frozenset(map(str, hashes)) for name, hashes in rows if _is_within(folder, name)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _is_within(folder: Path, name: str) -> bool:
    """Whether a name stays in the folder, whatever links are on its way."""
    plain = PurePosixPath(name)
    if plain.is_absolute() or ".." in plain.parts or not plain.parts:
        return False
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _write_record(folder: Path, hashes: Hashes) -> None:
    rows = {name: sorted(some) for name, some in hashes.items()}
    write_atomically(folder / RECORD, canonical_json({"files": rows}, indent=2) + "\n")


FOLDER = "export"
ZIP = ".zip"


def export(run: Path, to: str, out: Path | None = None) -> tuple[Path, ...]:
    """Write a finished run in one of the FORMATS and say which files that made.

    Without `out` they go into the run's own folder 'export'. An `out` that ends
    as the format's file does ('.gexf') names that file, and one that ends in
    '.zip' a zip of several; any other is a folder. Of a folder of many files, those
    that an earlier export wrote and this one does not are taken away.
    """
    form = format_named(to)
    is_one = _is_one_file(to, form, out)
    files = make_files(run, to)
    if out is not None and is_one:
        files = (
            files[0] if len(files) == 1 and out.suffix.lower() != ZIP else ExportedFile(out.name, zip_files(files)),
        )
        places = [out]
    elif form.is_folder:
        folder = out or run / FOLDER / to
        with _reporting_write_errors(folder):
            return write_folder(folder, files)
    else:
        places = [(out or run / FOLDER) / file.name for file in files]
    for place, file in zip(places, files, strict=True):
        with _reporting_write_errors(place):
            write_atomically(place, file.content)
    return tuple(places)


def _is_one_file(to: str, form: ExportFormat, out: Path | None) -> bool:
    """Whether `out` names a file; refused where it cannot hold all that is made."""
    ending = out.suffix.lower() if out is not None else ""
    is_several = form.is_folder or len(form.names) > 1
    if ending == Path(form.names[0]).suffix and is_several:
        what = "many files" if form.is_folder else f"{len(form.names)}: {' and '.join(form.names)}"
        raise BadUsage(f"{str(out)!r} is one file, and {to!r} makes {what}.", remedy="Name a folder for them.")
    return ending == (ZIP if is_several else Path(form.names[0]).suffix)


@contextlib.contextmanager
def _reporting_write_errors(place: Path) -> Iterator[None]:
    """Tells what cannot be written, and why."""
    try:
        yield
    except (OSError, ValueError) as problem:  # ValueError: a name that no system allows
        reason = (isinstance(problem, OSError) and problem.strerror) or "its name is not allowed"
        raise CannotWrite(
            f"The file {str(place)!r} cannot be written: {reason}.",
            remedy="Make room or name another place with --out.",
        ) from problem
