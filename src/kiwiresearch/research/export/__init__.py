"""A finished run as files for readers and for other programs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from kiwiresearch.disk import write_whole
from kiwiresearch.errors import BadUsage, CannotWrite
from kiwiresearch.research.export.formats import FORMATS, Format, format_named, made
from kiwiresearch.research.export.kept_folder import write_folder
from kiwiresearch.research.export.packing import Made, packed

__all__ = ["FOLDER", "FORMATS", "Format", "Made", "export", "made", "packed"]

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
    files = made(run, to)
    if out is not None and is_one:
        files = (files[0] if len(files) == 1 and out.suffix.lower() != ZIP else Made(out.name, packed(files)),)
        places = [out]
    elif form.is_folder:
        folder = out or run / FOLDER / to
        with _told(folder):
            return write_folder(folder, files)
    else:
        places = [(out or run / FOLDER) / file.name for file in files]
    for place, file in zip(places, files, strict=True):
        with _told(place):
            write_whole(place, file.content)
    return tuple(places)


def _is_one_file(to: str, form: Format, out: Path | None) -> bool:
    """Whether `out` names a file; refused where it cannot hold all that is made."""
    ending = out.suffix.lower() if out is not None else ""
    is_several = form.is_folder or len(form.names) > 1
    if ending == Path(form.names[0]).suffix and is_several:
        what = "many files" if form.is_folder else f"{len(form.names)}: {' and '.join(form.names)}"
        raise BadUsage(f"{str(out)!r} is one file, and {to!r} makes {what}.", remedy="Name a folder for them.")
    return ending == (ZIP if is_several else Path(form.names[0]).suffix)


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    """Tells what cannot be written, and why."""
    try:
        yield
    except (OSError, ValueError) as problem:  # ValueError: a name that no system allows
        reason = (isinstance(problem, OSError) and problem.strerror) or "its name is not allowed"
        raise CannotWrite(
            f"The file {str(place)!r} cannot be written: {reason}.",
            remedy="Make room or name another place with --out.",
        ) from problem
