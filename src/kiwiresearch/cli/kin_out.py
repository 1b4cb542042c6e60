"""The commands that hand a case on, prove it, or read a single page as a case would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.kin import AnyCase, NoModel, a_case, mode_of
from kiwiresearch.cli.options import AsJson, Wanted, open_books, say, the_desk
from kiwiresearch.errors import BadUsage, BookError, CannotWrite, KiwiError, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.kin.privacy.redact import Mode
    from kiwiresearch.research.family import Case, Form


SHOWN_OF_THE_LIVING = {
    "owner": "shown in full, so keep the file to yourself",
    "private": "shown by name, decade and country",
    "public": "shown only as somebody, with the ties",
    "exclude": "left out",
}


def export(
    *,
    to: Annotated[
        str,
        typer.Option("--to", help="gedcom, gedcom7, gedcomx, json, markdown, html or csv.", metavar="FORM"),
    ] = "gedcom",
    out: Annotated[
        str, typer.Option("--out", "-o", help="A file; in the folder of the case if not given.", metavar="FILE")
    ] = "",
    privacy: Annotated[
        str,
        typer.Option(
            "--privacy",
            help="What of people who may be living is told: public (that there is somebody; the default), "
            "private (names, decades, countries), exclude (nothing), owner (all).",
            metavar="MODE",
        ),
    ] = "public",
    no_model: NoModel = False,
    case: AnyCase = "",
    json: AsJson = False,
) -> None:
    """Write the family as a file for other programs or for reading; people who may be living are kept back."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.family_forms import ENDINGS, checked_form
    from kiwiresearch.text.plural import counted

    form = checked_form(to)
    mode = mode_of(privacy, as_json=True)
    with a_case(case) as found:
        target = _target(out) or found.place.exports / ENDINGS[form]
        text = _text(found, form, mode, with_model=not no_model)
        _write(target, text)
        hidden = len(found.tree("owner").hidden)
        head = found.store.head
        told = found.mask("public").file_name(str(target)) if json else str(target)
    if json:
        show.document({"file": told, "form": form, "privacy": mode, "kept_back": hidden, "audit_head": head})
        return
    show.whole_line(f"Written: {target}")
    if hidden:
        people = f"{counted(hidden, 'person', 'people')} who may be living"
        show.line(f"{people}: {SHOWN_OF_THE_LIVING[mode]}.")
    show.whole_line(f"Head of the audit log, for 'kin verify --head': {head}")


def _text(case: Case, form: Form, mode: Mode, *, with_model: bool) -> str:
    """The text of the file; in what people read, the summary is worded by the model, if one is set."""
    from kiwiresearch.research.family_forms import FOR_READERS
    from kiwiresearch.research.models import kept_model, model_is_local

    if form not in FOR_READERS or not with_model:
        return case.export(form, mode)
    desk = the_desk()
    with kept_model(desk.settings, desk.folders.cache, say) as model:
        return case.export(form, mode, model=model, model_is_local=model_is_local(desk.settings))


def _target(out: str) -> Path | None:
    from kiwiresearch.research.family_folders import FILE, checked_folder

    if not out:
        return None
    target = checked_folder(out)
    if target.name == FILE:
        raise BadUsage(f"{out!r} is the case itself.", remedy="Name another file.")
    if target.is_dir():
        raise BadUsage(f"{out!r} is a folder.", remedy="Name a file.")
    return target


def _write(target: Path, text: str) -> None:
    import secrets

    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Lines end as the form wants it: those of GEDCOM and CSV are its own.
            part.write_bytes(text.encode("utf-8", "replace"))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise CannotWrite(
            f"{str(target)!r} cannot be written: {problem.strerror}.", remedy="Name another file with --out."
        ) from problem


def verify(
    *,
    head: Annotated[
        str, typer.Option("--head", help="A head of the audit log that an export told.", metavar="HASH")
    ] = "",
    book: Wanted = None,
    case: AnyCase = "",
    json: AsJson = False,
) -> None:
    """Prove the case again: audit log, quotes, texts against the books, its GEDCOM. Exit code 1 if anything fails."""
    from kiwiresearch.cli import kin_lines, show
    from kiwiresearch.research.family_proof import prove

    try:
        with a_case(case, books=book or []) as found:
            proof = prove(found, head)
    except BookError as problem:
        if book:
            raise
        say(f"Proved without the books: {problem}")
        with a_case(case) as found:
            proof = prove(found, head)
    if json:
        show.document(proof.record())
    else:
        kin_lines.proof(proof)
    if not proof.holds:
        raise typer.Exit(1)


def extract(
    title: Annotated[str | None, typer.Argument(help="The page's title or path.")] = None,
    *,
    book: Wanted = None,
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of JSON lines, each with a path; '-' is standard input.", metavar="FILE"),
    ] = "",
    json: AsJson = False,
) -> None:
    """Show what a page says about its person, each value with its quote, as a case would take it. No case is needed."""
    from kiwiresearch.cli import kin_lines, show
    from kiwiresearch.research.family_read import page_record
    from kiwiresearch.research.finding import Finder

    if (title is not None) == bool(batch):
        raise BadUsage(
            "Give either the title of a page or --batch FILE.",
            remedy="Such as: kiwiresearch kin extract 'Charles Darwin'",
        )
    if title is not None and not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Charles Darwin'.")
    desk = the_desk()
    with open_books(desk, book or []) as shelf, Finder(desk, shelf, all_books=True) as finder:
        if batch:
            raise typer.Exit(_each(batch, finder.books))
        row = page_record(finder.books, title or "")
    if json:
        show.document(row)
    if row["person"] is None:
        raise NothingFound(f"{row['title']!r} is not about one person: {row['why']}.")
    if not json:
        kin_lines.extracted(row)


def _each(source: str, books: Any) -> int:
    from kiwiresearch.cli import show
    from kiwiresearch.cli.batch import rows_of
    from kiwiresearch.research.batch_rows import query_in
    from kiwiresearch.research.family_read import page_record

    failed = False
    for number, line in rows_of(source):
        path = ""
        try:
            path = query_in(line, number, ("path", "title"))
            show.document({**page_record(books, path), "path": path})
        except KiwiError as problem:
            failed = True
            show.document({"path": path, "person": None, "assertions": [], "error": str(problem)})
    return 1 if failed else 0


COMMANDS: dict[str, Callable[..., None]] = {"export": export, "verify": verify, "extract": extract}
