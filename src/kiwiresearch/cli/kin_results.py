"""The commands that show, export and verify the results of a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.kin import CaseOption, NoModel, Privacy, opened_case, person_or_seed, privacy_mode, shown_person
from kiwiresearch.cli.options import BookOption, JsonOption, emit, open_books, print_json, say, user_workspace
from kiwiresearch.errors import BadUsage, BookError, CannotWrite, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.cases import Case, CaseFormat
    from kiwiresearch.kin.privacy import Mode

Person = Annotated[
    str, typer.Argument(help="A name, the title of a page, or the beginning of an id.", metavar="[PERSON]")
]
OnePerson = Annotated[str, typer.Argument(help="A name, a title, or the beginning of an id.", metavar="PERSON")]


def show_people(person: Person = "", *, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show everybody, or one person with the family next to them."""
    from kiwiresearch.cases import people_named, people_records, person_record
    from kiwiresearch.cli import kin_output
    from kiwiresearch.kin import KinshipFinder

    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        if not person:
            rows = people_records(found, mode, people_named(found, mode))
            stop = found.store.state("stop") or {}
            emit(
                {"people": rows, "stop": stop.get("reason", "")},
                lambda: kin_output.people(found, rows, stop),
                as_json=json,
            )
            return
        tree = found.tree(mode)
        one = shown_person(found, person, tree)
        seed = next((seed for seed in found.seeds() if seed in tree.persons and seed != one), None)
        row = person_record(tree, one, KinshipFinder(tree).kinship(seed, one).words if seed else "")
        emit(row, lambda: kin_output.person(row, tree.persons[seed].name if seed else ""), as_json=json)


def tree(
    person: Person = "",
    *,
    down: Annotated[bool, typer.Option("--down", help="Descendants instead of ancestors.")] = False,
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Show the ancestors of a person, or the descendants, as a list that goes deeper."""
    from kiwiresearch.cases import branch_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        shown = found.tree(privacy_mode(privacy, as_json=json))
        rows = branch_records(shown, person_or_seed(found, person, shown), down=down)
        emit({"direction": "down" if down else "up", "people": rows}, lambda: kin_output.branches(rows), as_json=json)


def evidence(
    person: OnePerson,
    field: Annotated[str, typer.Argument(help="Such as 'birth_date', 'father' or 'Born'.", metavar="[FIELD]")] = "",
    *,
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Show each value of a person with the words that say so, where they stand, and what became of it."""
    from kiwiresearch.cases import checked_field, evidence_records
    from kiwiresearch.cli import kin_output

    wanted = checked_field(field) if field else None
    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        shown = found.tree(mode)
        one = shown_person(found, person, shown)
        rows = evidence_records(found, one, wanted, mode)
        emit(
            {"id": one, "name": shown.persons[one].name, "assertions": rows},
            lambda: kin_output.evidence(shown.persons[one].name, rows),
            as_json=json,
        )


def conflicts(*, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show where sources do not agree, what speaks for which value, and what would settle it."""
    from kiwiresearch.cases import conflict_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        rows = conflict_records(found, privacy_mode(privacy, as_json=json))
        emit({"conflicts": rows}, lambda: kin_output.conflicts(rows), as_json=json)


def timeline(*, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show the events of the family in the order of time, with ages."""
    from kiwiresearch.cases import timeline_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        rows = timeline_records(found, privacy_mode(privacy, as_json=json))
        emit({"events": rows}, lambda: kin_output.events(rows), as_json=json)


def log(*, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show what was searched where, and what was not found; the latter proves nothing."""
    from kiwiresearch.cases import log_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        rows = log_records(found, privacy_mode(privacy, as_json=json))
        emit({"searches": rows}, lambda: kin_output.searches(rows), as_json=json)


def relation(
    first: Annotated[str, typer.Argument(help="A name, a title, or the beginning of an id.", metavar="A")],
    second: Annotated[str, typer.Argument(help="The other person.", metavar="B")],
    *,
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Say what B is to A, and how the two are tied."""
    from kiwiresearch.cases import relation_record
    from kiwiresearch.cli import kin_output

    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        shown = found.tree(mode)
        pair = shown_person(found, first, shown), shown_person(found, second, shown)
        row = relation_record(found, *pair, mode)
        emit(row, lambda: kin_output.relation(row), as_json=json)


COMMANDS: dict[str, Callable[..., None]] = {
    "show": show_people,
    "tree": tree,
    "evidence": evidence,
    "conflicts": conflicts,
    "timeline": timeline,
    "log": log,
    "relation": relation,
}


LIVING_NOTES = {
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
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Write the family as a file for other programs or for reading; people who may be living are kept back."""
    from kiwiresearch.cases import FILE_NAMES, checked_format
    from kiwiresearch.cli import output
    from kiwiresearch.text import count_of

    form = checked_format(to)
    mode = privacy_mode(privacy, as_json=True)  # a file may be passed on, like JSON
    with opened_case(case) as found:
        target = _output_file(out) or found.place.exports / FILE_NAMES[form]
        text = _text(found, form, mode, with_model=not no_model)
        _write(target, text)
        hidden = len(found.tree("owner").withheld)
        head = found.store.head
        public_name = found.mask("public").file_name(str(target))
    if json:
        print_json({"file": public_name, "form": form, "privacy": mode, "kept_back": hidden, "audit_head": head})
        return
    output.unbroken_line(f"Written: {target}")
    if hidden:
        people = f"{count_of(hidden, 'person', 'people')} who may be living"
        output.line(f"{people}: {LIVING_NOTES[mode]}.")
    output.unbroken_line(f"Head of the audit log, for 'kin verify --head': {head}")


def _text(case: Case, form: CaseFormat, mode: Mode, *, with_model: bool) -> str:
    """The text of the file; for Markdown and HTML the model, if one is set, words the summary."""
    from kiwiresearch.cases import FOR_READERS
    from kiwiresearch.workspace import caching_model, model_is_local

    if form not in FOR_READERS or not with_model:
        return case.export(form, mode)
    workspace = user_workspace()
    with caching_model(workspace.settings, workspace.folders.cache, say) as model:
        return case.export(form, mode, model=model, model_is_local=model_is_local(workspace.settings))


def _output_file(out: str) -> Path | None:
    from kiwiresearch.cases import CASE_FILE, checked_folder

    if not out:
        return None
    target = checked_folder(out)
    if target.name == CASE_FILE:
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
            # As bytes: GEDCOM and CSV prescribe their own line ends.
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
    book: BookOption = None,
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Prove the case again: audit log, quotes, texts against the books, its GEDCOM. Exit code 1 if anything fails."""
    from kiwiresearch.cases import verify_case
    from kiwiresearch.cli import kin_output

    try:
        with opened_case(case, books=book or []) as found:
            proof = verify_case(found, head)
    except BookError as problem:
        if book:
            raise
        say(f"Proved without the books: {problem}")
        with opened_case(case) as found:
            proof = verify_case(found, head)
    emit(proof.record(), lambda: kin_output.proof(proof), as_json=json)
    if not proof.holds:
        raise typer.Exit(1)


def extract(
    title: Annotated[str | None, typer.Argument(help="The page's title or path.")] = None,
    *,
    book: BookOption = None,
    batch: Annotated[
        str,
        typer.Option("--batch", help="A file of JSON lines, each with a path; '-' is standard input.", metavar="FILE"),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Show what a page says about its person, each value with its quote, as a case would take it. No case is needed."""
    from kiwiresearch.cases import page_record
    from kiwiresearch.cli import kin_output
    from kiwiresearch.workspace import Finder

    if (title is not None) == bool(batch):
        raise BadUsage(
            "Give either the title of a page or --batch FILE.",
            remedy="Such as: kiwiresearch kin extract 'Charles Darwin'",
        )
    if title is not None and not title.strip():
        raise BadUsage("The title is empty.", remedy="Give the title of a page, such as 'Charles Darwin'.")
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, all_books=True) as finder:
        if batch:
            from kiwiresearch.cli.batch import each_named

            code = each_named(
                batch,
                "path",
                ("path", "title"),
                lambda path: replace(page_record(finder.books, path), path=path),
                {"person": None, "assertions": []},
            )
            raise typer.Exit(code)
        row = page_record(finder.books, title or "")
    if json:
        print_json(row)
    if row.person is None:
        raise NothingFound(f"{row.title!r} is not about one person: {row.why}.")
    if not json:
        kin_output.extracted(row)


EXPORT_COMMANDS: dict[str, Callable[..., None]] = {"export": export, "verify": verify, "extract": extract}
