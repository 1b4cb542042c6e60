"""Exporting a finished run in one of the FORMATS, to files and folders."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from kiwiresearch.errors import BadUsage, CannotWrite, RunDamaged, RunNotFound
from kiwiresearch.export.brief_files import brief_in_html, brief_in_markdown, brief_in_word, claim_table
from kiwiresearch.export.citations import bibtex, csl, ris
from kiwiresearch.export.ebooks import epub, zim
from kiwiresearch.export.findings import RunFindings, read_findings
from kiwiresearch.export.formats import ZIP, ExportFormat, format_named
from kiwiresearch.export.graphs import bookmarks, gexf, graphml, link_table, page_table
from kiwiresearch.export.obsidian import obsidian
from kiwiresearch.export.packing import ExportedFile, zip_files
from kiwiresearch.export.pdf import brief_in_pdf
from kiwiresearch.export.worksheet import Worksheet
from kiwiresearch.export.worksheet_choice import ANY, WorksheetChoice
from kiwiresearch.export.worksheet_files import make_run_worksheet, worksheet_docx, worksheet_html, worksheet_markdown
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs import BRIEF, CLAIMS, GRAPH, MANIFEST, Run, RunGraph, reporting_file_errors, xml_safe
from kiwiresearch.system import write_atomically

# Writers by format. Each table takes a different input.
FINDINGS_WRITERS: Mapping[str, Callable[[RunFindings], str | bytes]] = {
    "markdown": brief_in_markdown,
    "html": brief_in_html,
    "docx": brief_in_word,
    "epub": epub,
    "zim": zim,
    "bibtex": bibtex,
    "ris": ris,
    "csl-json": csl,
    "claims-csv": claim_table,
}
WORKSHEET_WRITERS: Mapping[str, Callable[[Worksheet, str], str | bytes]] = {
    "worksheet": lambda worksheet, _: worksheet_html(worksheet),
    "worksheet-docx": worksheet_docx,
    "worksheet-markdown": lambda worksheet, _: worksheet_markdown(worksheet),
}
"""Writers of worksheets, which get the date of the run."""
PRINTED_WRITERS: Mapping[str, Callable[[RunFindings, str], bytes]] = {"pdf": brief_in_pdf}
"""Writers that need a browser; the second argument is the browser's path, or empty."""
FOLDER_WRITERS: Mapping[str, Callable[[RunFindings], Iterable[ExportedFile]]] = {"obsidian": obsidian}
GRAPH_WRITERS: Mapping[str, Sequence[Callable[[RunGraph], str]]] = {
    "graphml": (graphml,),
    "gexf": (gexf,),
    "csv": (page_table, link_table),
    "kiwix-bookmarks": (bookmarks,),
}


def make_files(
    folder: Path, format_name: str, *, browser: str = "", choice: WorksheetChoice = ANY
) -> tuple[ExportedFile, ...]:
    """The exported files of the finished run in a folder, in one of the FORMATS; nothing is written to disk.

    `browser` is the setting of that name: the program that prints a PDF. `choice` is for worksheets.
    """
    export_format = format_named(format_name)
    _check_folder(folder, (GRAPH,) if export_format.content == "graph" else (BRIEF, CLAIMS))
    run = Run.load(folder)
    if export_format.is_folder:
        return tuple(FOLDER_WRITERS[format_name](read_findings(run)))
    contents: list[str | bytes]
    if export_format.content == "graph":
        graph = run.graph
        contents = [write(graph) for write in GRAPH_WRITERS[format_name]]
    elif format_name in PRINTED_WRITERS:
        contents = [PRINTED_WRITERS[format_name](read_findings(run), browser)]
    elif format_name in WORKSHEET_WRITERS:
        findings = read_findings(run)
        contents = [WORKSHEET_WRITERS[format_name](make_run_worksheet(findings, choice), findings.date)]
    else:
        contents = [FINDINGS_WRITERS[format_name](read_findings(run))]
    return tuple(
        ExportedFile(name, xml_safe(content).encode() if isinstance(content, str) else content)
        for name, content in zip(export_format.files, contents, strict=True)
    )


FINISHED_RUN_REMEDY = "Enter the folder of a finished run."


def _check_folder(run: Path, needed: Sequence[str]) -> None:
    """Refuse a folder without a finished run, or without one of the files that are needed."""
    try:
        is_folder, exists = run.is_dir(), run.exists()
        found = {name for name in (MANIFEST, GRAPH, BRIEF, CLAIMS) if is_folder and (run / name).exists()}
    except OSError as problem:
        raise RunNotFound(f"The folder {str(run)!r} cannot be opened: {problem.strerror}.") from problem
    if not exists:
        raise RunNotFound(f"The folder {str(run)!r} was not found.", remedy=FINISHED_RUN_REMEDY)
    if not is_folder:
        raise RunNotFound(f"{str(run)!r} is not a folder.", remedy=FINISHED_RUN_REMEDY)
    if not found:
        raise RunNotFound(f"The folder {str(run)!r} does not contain a run.", remedy=FINISHED_RUN_REMEDY)
    if MANIFEST not in found:
        raise RunNotFound(
            f"The run in {str(run)!r} is not finished: it has no {MANIFEST!r}.",
            remedy="Start it again. It resumes where it stopped.",
        )
    for name in needed:
        if name not in found:
            raise RunDamaged(
                f"The file {name!r} is missing from the run in {str(run)!r}.", remedy="Research the topic again."
            )


EXPORT_RECORD = ".kiwiresearch-export.json"
# A larger record was not written by an export.
MAX_BYTES = 2**24

Hashes = Mapping[str, frozenset[str]]
"""The hashes that each file may have, by its name."""


def write_folder(folder: Path, files: Sequence[ExportedFile]) -> tuple[Path, ...]:
    """Write the files, and remove those of an earlier export that are not among them.

    A file that this export did not write, or that has changed since, is never overwritten or removed.
    """
    before = _read_record(folder)
    made = {file.name: frozenset({_hash(file.content)}) for file in files}
    known = _by_folded_name(before, made)
    for file in files:
        _refuse_foreign(folder / file.name, known[file.name], is_recorded=bool(before))
    # Both versions are recorded while files are written, so that an interrupted export can be repeated.
    _write_record(folder, known)
    for file in files:
        write_atomically(folder / file.name, file.content)
    _remove_old(folder, known, made)
    _write_record(folder, made)
    return tuple(folder / file.name for file in files)


def _by_folded_name(before: Hashes, made: Hashes) -> Hashes:
    """The hashes that each file may have; on a case-insensitive file system, two names may be the same file."""
    ours: dict[str, frozenset[str]] = {}
    for name, hashes in (*before.items(), *made.items()):
        ours[name.casefold()] = ours.get(name.casefold(), frozenset()) | hashes
    return {name: ours[name.casefold()] for name in (*before, *made)}


def _refuse_foreign(place: Path, hashes: frozenset[str], *, is_recorded: bool) -> None:
    if not (place.exists() or place.is_symlink()) or _is_ours(place, hashes):
        return
    if is_recorded:
        raise CannotWrite(
            f"The file {str(place)!r} was changed after it was exported. It may contain your own text.",
            remedy="Move it, or choose another folder with --out.",
        )
    raise CannotWrite(
        f"The file {str(place)!r} was not written by any export recorded in this folder. It may contain your own text, "
        "or come from an older version.",
        remedy="Move the folder, or choose another one with --out.",
    )


def _remove_old(folder: Path, known: Hashes, made: Iterable[str]) -> None:
    # On a case-insensitive file system, a name that differs only in case is the new file.
    new = {name.casefold() for name in made}
    for name, hashes in known.items():
        place = folder / name
        if name.casefold() not in new and _is_ours(place, hashes):
            place.unlink()
            with contextlib.suppress(OSError):  # it is not empty
                place.parent.rmdir()


def _is_ours(place: Path, hashes: frozenset[str]) -> bool:
    return place.is_file() and not place.is_symlink() and _hash(place.read_bytes()) in hashes


def _hash(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"


def _read_record(folder: Path) -> Hashes:
    """The record of an earlier export; empty if it is missing or not ours."""
    record = folder / EXPORT_RECORD
    try:
        if record.is_symlink() or record.stat().st_size > MAX_BYTES:
            return {}
        rows = json.loads(record.read_text(encoding="utf-8"))["files"].items()
        return {name: frozenset(map(str, hashes)) for name, hashes in rows if _is_within(folder, name)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _is_within(folder: Path, name: str) -> bool:
    """Whether a name stays in the folder after following symbolic links."""
    plain = PurePosixPath(name)
    if plain.is_absolute() or ".." in plain.parts or not plain.parts:
        return False
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _write_record(folder: Path, hashes: Hashes) -> None:
    rows = {name: sorted(file_hashes) for name, file_hashes in hashes.items()}
    write_atomically(folder / EXPORT_RECORD, canonical_json({"files": rows}, indent=2) + "\n")


EXPORT_FOLDER = "export"
OUT_REMEDY = "Free up space, or choose another place with --out."


def export(
    run: Path, format_name: str, out: Path | None = None, *, browser: str = "", choice: WorksheetChoice = ANY
) -> tuple[Path, ...]:
    """Write a finished run in one of the FORMATS; returns the files. `choice` is for worksheets.

    Without `out` they go into the run's folder 'export'. An `out` with the suffix of the format's file ('.gexf')
    names that file, and one that ends in '.zip' a zip of several; any other is a folder. For a format that fills
    a folder, files of an earlier export that this one does not write are removed.
    """
    export_format = format_named(format_name)
    is_one = _is_one_file(export_format, out)
    files = make_files(run, format_name, browser=browser, choice=choice)
    if out is not None and is_one:
        files = (
            files[0] if len(files) == 1 and out.suffix.lower() != ZIP else ExportedFile(out.name, zip_files(files)),
        )
        places = [out]
    elif export_format.is_folder:
        folder = out or run / EXPORT_FOLDER / format_name
        with reporting_file_errors(folder, OUT_REMEDY):
            return write_folder(folder, files)
    else:
        places = [(out or run / EXPORT_FOLDER) / file.name for file in files]
    for place, file in zip(places, files, strict=True):
        with reporting_file_errors(place, OUT_REMEDY):
            write_atomically(place, file.content)
    return tuple(places)


def _is_one_file(export_format: ExportFormat, out: Path | None) -> bool:
    """Whether `out` names a file; BadUsage if one file cannot hold everything."""
    suffix = out.suffix.lower() if out is not None else ""
    if export_format.has_several_files and suffix == Path(export_format.files[0]).suffix:
        what = (
            "many files"
            if export_format.is_folder
            else f"{len(export_format.files)}: {' and '.join(export_format.files)}"
        )
        raise BadUsage(
            f"{str(out)!r} is one file, but {export_format.name!r} creates {what}.", remedy="Choose a folder instead."
        )
    return suffix == export_format.suffix
