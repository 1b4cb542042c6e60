"""The commands that show, export and verify the results of a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.kin import CaseOption, NoModel, Privacy, opened_case, person_or_seed, privacy_mode, shown_person
from kiwiresearch.cli.options import (
    BookOption,
    JsonOption,
    emit,
    open_books,
    print_json,
    require_title,
    say,
    user_workspace,
)
from kiwiresearch.errors import BadUsage, BookError, CannotWrite, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.cases import Case, CaseFormat
    from kiwiresearch.kin.privacy import PrivacyMode

Person = Annotated[str, typer.Argument(help="Name, page title, or the start of an ID.", metavar="[PERSON]")]
OnePerson = Annotated[str, typer.Argument(help="Name, page title, or the start of an ID.", metavar="PERSON")]


def show_people(person: Person = "", *, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """List everyone, or show one person with their closest relatives."""
    from kiwiresearch.cases import people_named, people_records, person_record
    from kiwiresearch.cli import kin_output
    from kiwiresearch.kin import KinshipFinder

    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        if not person:
            rows = people_records(found, mode, people_named(found, mode))
            stop = found.store.stop
            emit(
                {"people": rows, "stop": stop.get("reason", "")},
                lambda: kin_output.print_people(found, rows, stop),
                as_json=json,
            )
            return
        tree = found.tree(mode)
        person_id = shown_person(found, person, tree)
        seed = next((seed for seed in found.seeds() if seed in tree.persons and seed != person_id), None)
        row = person_record(tree, person_id, KinshipFinder(tree).kinship(seed, person_id).words if seed else "")
        emit(row, lambda: kin_output.print_person(row, tree.persons[seed].name if seed else ""), as_json=json)


def tree(
    person: Person = "",
    *,
    down: Annotated[bool, typer.Option("--down", help="Show descendants instead of ancestors.")] = False,
    shape: Annotated[
        str,
        typer.Option(
            "--shape",
            help="Draw the tree instead: hourglass (ancestors and descendants), ancestors, descendants or fan.",
            metavar="SHAPE",
        ),
    ] = "",
    generations: Annotated[
        int | None, typer.Option("--generations", help="How many to draw; 0 draws all.", min=0, max=20, metavar="N")
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="Where to save the drawing: a file that ends in .svg, .pdf or .html. Default: tree.svg in the case "
            "folder.",
            metavar="FILE",
        ),
    ] = "",
    paper: Annotated[str, typer.Option("--paper", help="a4 or a3, for .pdf and .html.", metavar="SIZE")] = "a4",
    orientation: Annotated[
        str, typer.Option("--orientation", help="landscape or portrait, for .pdf and .html.", metavar="WAY")
    ] = "landscape",
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """List the ancestors or descendants of a person, or draw the family tree into a file."""
    from kiwiresearch.cases import branch_records
    from kiwiresearch.cli import kin_drawing, kin_output, output
    from kiwiresearch.kin.report import Couples

    if not shape and not out:
        with opened_case(case) as found:
            shown = found.tree(privacy_mode(privacy, as_json=json))
            rows = branch_records(Couples(shown), person_or_seed(found, person, shown), down=down)
            record = {"direction": "down" if down else "up", "people": rows}
            emit(record, lambda: kin_output.print_branches(rows), as_json=json)
        return
    chosen = kin_drawing.checked_shape(shape or ("descendants" if down else "hourglass"))
    # A file may be passed on, so people who may be living are hidden as in JSON.
    pages, mode = kin_drawing.checked_paper(paper, orientation), privacy_mode(privacy, as_json=True)
    with opened_case(case) as found:
        target = _output_file(out) or found.location.exports / "tree.svg"
        ending = kin_drawing.checked_ending(target)
        shown = found.tree(mode)
        root, browser = person_or_seed(found, person, shown), user_workspace().settings.browser
        _write(target, kin_drawing.drawn_tree(ending, chosen, shown, root, generations, pages, browser))
        record = {"file": found.mask("public").file_name(str(target)), "shape": chosen, "privacy": mode}
    emit(record, lambda: output.unbroken_line(f"Saved: {target}"), as_json=json)


def evidence(
    person: OnePerson,
    field: Annotated[str, typer.Argument(help="For example 'birth_date', 'father' or 'Born'.", metavar="[FIELD]")] = "",
    *,
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Show the evidence for a person. Each fact has its quote, source and status."""
    from kiwiresearch.cases import checked_field, evidence_records
    from kiwiresearch.cli import kin_output

    wanted = checked_field(field) if field else None
    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        shown = found.tree(mode)
        person_id = shown_person(found, person, shown)
        rows = evidence_records(found, person_id, wanted, mode)
        emit(
            {"id": person_id, "name": shown.persons[person_id].name, "assertions": rows},
            lambda: kin_output.print_evidence(shown.persons[person_id].name, rows),
            as_json=json,
        )


def proof(
    person: OnePerson,
    *,
    to: Annotated[str, typer.Option("--to", help="markdown or html.", metavar="FORMAT")] = "markdown",
    out: Annotated[str, typer.Option("--out", "-o", help="Save it here instead of printing it.", metavar="FILE")] = "",
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Write the proof summary of a person: questions, conclusions, evidence, conflicts and searches."""
    from kiwiresearch.cases import PROOF_FILES, proof_file, proof_summary
    from kiwiresearch.cli import output
    from kiwiresearch.messages import FALLBACK, catalogue_in

    form = next((known for known in PROOF_FILES if known == to), None)
    if form is None:
        raise BadUsage(
            f"{to!r} is not a form of the proof summary.", remedy=f"Choose one of: {', '.join(PROOF_FILES)}."
        )
    mode = privacy_mode(privacy, as_json=json or bool(out))  # a file may be passed on, like JSON
    with opened_case(case) as found:
        target = _output_file(out)
        summary = proof_summary(found, shown_person(found, person, found.tree(mode)), mode)
        text = proof_file(summary, form, catalogue_in(FALLBACK))
    if target:
        _write(target, text.encode())
    emit(summary, lambda: output.unbroken_line(f"Saved: {target}" if target else text), as_json=json)


def conflicts(*, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show where sources disagree. Shows the evidence for each value, and what would settle it."""
    from kiwiresearch.cases import conflict_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        rows = conflict_records(found, privacy_mode(privacy, as_json=json))
        emit({"conflicts": rows}, lambda: kin_output.print_conflicts(rows), as_json=json)


def timeline(*, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show the events of the family in order, with ages."""
    from kiwiresearch.cases import timeline_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        rows = timeline_records(found, privacy_mode(privacy, as_json=json))
        emit({"events": rows}, lambda: kin_output.print_events(rows), as_json=json)


def log(*, case: CaseOption = "", privacy: Privacy = "", json: JsonOption = False) -> None:
    """Show every search, including those that found nothing."""
    from kiwiresearch.cases import log_records
    from kiwiresearch.cli import kin_output

    with opened_case(case) as found:
        rows = log_records(found, privacy_mode(privacy, as_json=json))
        emit({"searches": rows}, lambda: kin_output.print_searches(rows), as_json=json)


def relation(
    first: Annotated[str, typer.Argument(help="Name, page title, or the start of an ID.", metavar="A")],
    second: Annotated[str, typer.Argument(help="The other person.", metavar="B")],
    *,
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Show how B is related to A."""
    from kiwiresearch.cases import relation_record
    from kiwiresearch.cli import kin_output

    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        shown = found.tree(mode)
        pair = shown_person(found, first, shown), shown_person(found, second, shown)
        row = relation_record(found, *pair, mode)
        emit(row, lambda: kin_output.print_relation(row), as_json=json)


COMMANDS: dict[str, Callable[..., None]] = {
    "show": show_people,
    "tree": tree,
    "evidence": evidence,
    "proof": proof,
    "conflicts": conflicts,
    "timeline": timeline,
    "log": log,
    "relation": relation,
}


LIVING_NOTES = {
    "owner": "shown in full, so do not share this file",
    "private": "shown by name, with dates to the decade and places to the state or country",
    "public": "shown only with sex and relationships",
    "exclude": "excluded",
}


def export(
    *,
    to: Annotated[
        str,
        typer.Option("--to", help="gedcom, gedcom7, gdz, gedcomx, json, markdown, html or csv.", metavar="FORMAT"),
    ] = "gedcom",
    out: Annotated[
        str, typer.Option("--out", "-o", help="The output file. Default: in the case folder.", metavar="FILE")
    ] = "",
    privacy: Annotated[
        str,
        typer.Option(
            "--privacy",
            help="How much to show of people who may be living: public (sex and relationships; the default), "
            "private (names, decades, states and countries), exclude (nothing), owner (everything).",
            metavar="MODE",
        ),
    ] = "public",
    no_model: NoModel = False,
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Export the family as a file for other programs or as a report. People who may be living are hidden."""
    from kiwiresearch.cases import FILE_NAMES, checked_format
    from kiwiresearch.cli import output
    from kiwiresearch.text import count_of

    form = checked_format(to)
    mode = privacy_mode(privacy, as_json=True)  # a file may be passed on, like JSON
    with opened_case(case) as found:
        target = _output_file(out) or found.location.exports / FILE_NAMES[form]
        _write(target, _content(found, form, mode, with_model=not no_model))
        hidden = len(found.tree("owner").withheld)
        head = found.store.head
        public_name = found.mask("public").file_name(str(target))
    if json:
        print_json({"file": public_name, "form": form, "privacy": mode, "kept_back": hidden, "audit_head": head})
        return
    output.unbroken_line(f"Saved: {target}")
    if hidden:
        people = f"{count_of(hidden, 'person', 'people')} who may be living"
        output.line(f"{people}: {LIVING_NOTES[mode]}.")
    output.unbroken_line(f"Log fingerprint, for 'kin verify --head': {head}")


def _content(case: Case, form: CaseFormat, mode: PrivacyMode, *, with_model: bool) -> bytes:
    """The content of the file; for Markdown and HTML the model, if one is set, words the summary."""
    from kiwiresearch.cases import FOR_READERS
    from kiwiresearch.workspace import caching_model, model_is_local

    if form not in FOR_READERS or not with_model:
        return case.export_file(form, mode)
    workspace = user_workspace()
    with caching_model(workspace.settings, workspace.folders.cache, say) as model:
        return case.export_file(form, mode, model=model, model_is_local=model_is_local(workspace.settings))


def _output_file(out: str) -> Path | None:
    from kiwiresearch.cases import CASE_FILE, checked_folder

    if not out:
        return None
    target = checked_folder(out)
    if target.name == CASE_FILE:
        raise BadUsage(f"{out!r} is the name of the case file itself.", remedy="Choose another file name.")
    if target.is_dir():
        raise BadUsage(f"{out!r} is a folder.", remedy="Choose a file name.")
    return target


def _write(target: Path, content: bytes) -> None:
    from kiwiresearch.system import write_atomically

    try:
        write_atomically(target, content)
    except OSError as problem:
        raise CannotWrite(
            f"{str(target)!r} cannot be written: {problem.strerror}.", remedy="Choose another file with --out."
        ) from problem


def verify(
    *,
    head: Annotated[str, typer.Option("--head", help="Log fingerprint from an earlier export.", metavar="HASH")] = "",
    book: BookOption = None,
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Verify the case. Checks its log, its quotes and its GEDCOM files. Exit code 1 if anything fails."""
    from kiwiresearch.cases import verify_case
    from kiwiresearch.cli import kin_output

    try:
        with opened_case(case, books=book or []) as found:
            verification = verify_case(found, head)
    except BookError as problem:
        if book:
            raise
        say(f"Verifying without the books: {problem}")
        with opened_case(case) as found:
            verification = verify_case(found, head)
    emit(verification.record(), lambda: kin_output.print_verification(verification), as_json=json)
    if not verification.holds:
        raise typer.Exit(1)


def extract(
    title: Annotated[str | None, typer.Argument(help="The title or path of a page.")] = None,
    *,
    book: BookOption = None,
    batch: Annotated[
        str,
        typer.Option(
            "--batch",
            help="File with one JSON object per line, each with a path. '-' reads standard input.",
            metavar="FILE",
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Show the facts a page gives about its person. Each has its quote. No case is needed."""
    from kiwiresearch.cases import page_record
    from kiwiresearch.cli import kin_output
    from kiwiresearch.workspace import Finder

    if (title is not None) == bool(batch):
        raise BadUsage(
            "Enter the title of a page, or give a file with --batch FILE.",
            remedy="Example: kiwiresearch kin extract 'Charles Darwin'",
        )
    if title is not None:
        require_title(title, "Charles Darwin")
    workspace = user_workspace()
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, search_every_book=True) as finder:
        if batch:
            from kiwiresearch.cli.batch import print_each

            code = print_each(
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
        raise NothingFound(
            f"The page {row.title!r} cannot be used: {row.why}.", remedy="Use the title of a page about one person."
        )
    if not json:
        kin_output.print_extracted(row)


EXPORT_COMMANDS: dict[str, Callable[..., None]] = {"export": export, "verify": verify, "extract": extract}
