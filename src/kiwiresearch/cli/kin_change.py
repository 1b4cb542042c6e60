"""The commands that change a case: merges, who is living, sources and imports."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.kin import CaseOption, Privacy, opened_case, privacy_mode
from kiwiresearch.cli.options import JsonOption, emit, print_json, say, user_workspace
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from kiwiresearch.cases import Case

Why = Annotated[str, typer.Option("--why", help="Your reason, saved with the decision.", metavar="WORDS")]
PLUGIN_ACTIONS = ("check", "on", "off")


def merges(
    *,
    accept: Annotated[str, typer.Option("--accept", help="Merge these two.", metavar="ID")] = "",
    reject: Annotated[str, typer.Option("--reject", help="Keep these two separate.", metavar="ID")] = "",
    take_back: Annotated[
        str, typer.Option("--take-back", help="Undo the decision to keep these two separate.", metavar="ID")
    ] = "",
    why: Why = "",
    case: CaseOption = "",
    privacy: Privacy = "",
    json: JsonOption = False,
) -> None:
    """Show merges and possible duplicates, and decide on them."""
    from kiwiresearch.cases import accept_merge, allow_merge_again, merges_record, reject_merge
    from kiwiresearch.cli import kin_output

    if sum(map(bool, (accept, reject, take_back))) > 1:
        raise BadUsage(
            "--accept, --reject and --take-back cannot be combined.", remedy="Run the command separately for each."
        )
    mode = privacy_mode(privacy, as_json=json)
    with opened_case(case) as found:
        if accept:
            merge = accept_merge(found, accept, why)[:8]
            say(f"Merged: {merge}. To undo it: kiwiresearch kin unmerge {merge}")
        elif reject:
            say(f"Kept separate: {reject_merge(found, reject, why).id[:8]}.")
        elif take_back:
            say(f"No longer kept separate: {allow_merge_again(found, take_back, why).id[:8]}.")
        rows = merges_record(found, found.tree(mode), found.mask(mode))
        emit(rows, lambda: kin_output.print_merges(rows), as_json=json)


def unmerge(
    merge: Annotated[str, typer.Argument(help="The ID of a merge, or its first characters.", metavar="ID")],
    *,
    cascade: Annotated[bool, typer.Option("--cascade", help="Also undo later merges that depend on it.")] = False,
    why: Why = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Undo a merge. Everything goes back to how it was before, and the two are not suggested again."""
    from kiwiresearch.cases import undo_merge
    from kiwiresearch.cli import output

    with opened_case(case) as found:
        undone = undo_merge(found, merge, why, cascade=cascade)
    if json:
        print_json({"undone": list(undone)})
    else:
        for item in undone:
            output.line(f"Undone: {item[:8]}")


def living(
    person: Annotated[str, typer.Argument(help="Name, page title, or the start of an ID.", metavar="PERSON")],
    *,
    status: Annotated[str, typer.Option("--set", help="deceased, living or unknown.", metavar="STATUS")] = "",
    why: Why = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Show whether a person counts as living, or set it. Also shows why."""
    from kiwiresearch.cases import find_person, living_record, set_living
    from kiwiresearch.cli import output

    if status and not why.strip():
        raise BadUsage("--set needs a reason.", remedy="Add a reason, for example: --why 'the family told me'")
    with opened_case(case) as found:
        person_id = find_person(person, found.store.tree(), by_name=not json)
        if status:
            set_living(found, person_id, status, why.strip())
        # JSON may be passed on, and a reason may name other people who may be living.
        row = living_record(found, person_id, for_owner=not json)
        public_why = found.mask("public").text(row.why) if json else row.why
    emit(
        {"living": row.living, "why": public_why, "by_user": row.by_user},
        lambda: output.line(f"{row.name}: {row.living}. {row.why}."),
        as_json=json,
    )


def plugins(
    action: Annotated[
        str, typer.Argument(help="check, on or off. Without it, lists the sources.", metavar="[ACTION]")
    ] = "",
    what: Annotated[
        str, typer.Argument(help="The ID of a source; 'check' also accepts a plugin file.", metavar="[ID|FILE]")
    ] = "",
    *,
    terms_ok: Annotated[
        bool, typer.Option("--terms-ok", help="You have read its terms and have permission to use it.")
    ] = False,
    contact: Annotated[
        str, typer.Option("--contact", help="Your contact details, sent with each request.", metavar="ADDRESS")
    ] = "",
    endpoint: Annotated[
        str, typer.Option("--endpoint", help="Your own endpoint to use instead.", metavar="ADDRESS")
    ] = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """List sources, test one, or turn one on or off for the case. Network sources are off until you turn them on."""
    from kiwiresearch.cases import plugins_folder, set_plugin, source_records
    from kiwiresearch.cli import kin_output
    from kiwiresearch.kin.sources import load_plugins

    if action and action not in PLUGIN_ACTIONS:
        raise BadUsage(f"{action!r} is not an action for plugins.", remedy="Use check, on or off.")
    if action and not what:
        raise BadUsage("No source was named.", remedy=f"Example: kiwiresearch kin plugins {action} wikidata")
    if action == "check":
        raise typer.Exit(_check(what, json=json))
    known = load_plugins(plugins_folder(user_workspace()))
    with _case_or_none(case, writing=bool(action)) as found:
        if action and found is not None:
            chosen = known.named(what)
            set_plugin(found.store, chosen, on=action == "on", terms=terms_ok, contact=contact, endpoint=endpoint)
        rows = source_records(known, found.store if found else None)
        emit(
            {"plugins": rows, "problems": [str(problem) for problem in known.problems]},
            lambda: kin_output.print_plugins([row for row in rows if not action or row.id == what], known.problems),
            as_json=json,
        )


def _check(what: str, *, json: bool) -> int:
    from kiwiresearch.cases import plugins_folder
    from kiwiresearch.cli import kin_output
    from kiwiresearch.kin.sources import KnownPlugin, check_plugin, load_plugins, read_plugin

    file = Path(what)
    is_file = file.suffix in (".yaml", ".yml")
    known = (
        KnownPlugin(read_plugin(file), file) if is_file else load_plugins(plugins_folder(user_workspace())).named(what)
    )
    checks = check_plugin(known)
    if json:
        rows = [{"page": check.fixture, "passed": check.passed, "problems": list(check.problems)} for check in checks]
        print_json({"id": known.plugin.plugin_id, "checks": rows})
    else:
        kin_output.print_plugin_checks(known.plugin.plugin_id, checks)
    return 0 if all(check.passed for check in checks) else 1


def _case_or_none(wanted: str, *, writing: bool) -> AbstractContextManager[Case | None]:
    """The case, or None: plugins can be listed without a case, but not switched."""
    from kiwiresearch.cases import case_exists

    return (
        opened_case(wanted, writing=writing)
        if wanted or writing or case_exists(user_workspace(), "")
        else nullcontext()
    )


def import_file(
    file: Annotated[str, typer.Argument(help="A GEDCOM file (.ged or .gdz).", metavar="FILE")],
    *,
    case: Annotated[
        str,
        typer.Option(
            "--case", "-c", help="Case to import into. A new one is started if there is none.", metavar="CASE"
        ),
    ] = "",
    person: Annotated[
        str, typer.Option("--person", help="The starting person. Default: the one named in the file.", metavar="NAME")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Import a family tree from another program, with its sources. Possible duplicates wait for your decision."""
    from kiwiresearch.cases import import_gedcom, keep_media, proposed_merges
    from kiwiresearch.cli import kin_output
    from kiwiresearch.system import expand_user

    _start_case_for(file, case, person)
    with opened_case(case, writing=True) as found:
        done = import_gedcom(found.store, expand_user(file), person)
        keep_media(found.location, done.media)
        found.reevaluate()
        waiting = len(proposed_merges(found))
        emit(
            {
                "people": done.people,
                "new_people": done.new_people,
                "matched": done.matched,
                "statements": done.facts,
                "ties": done.ties,
                "corrected": done.corrected,
                "kept": done.kept,
                "possible_duplicates": waiting,
                "notes": len(done.notes),
            },
            lambda: kin_output.print_imported(done, waiting),
            as_json=json,
        )


def _start_case_for(file: str, case: str, person: str) -> None:
    """Start a case for the file if none exists; an unreadable file starts nothing."""
    from kiwiresearch.cases import Case, case_exists, find_person, new_case_location
    from kiwiresearch.kin.gedcom import read_gedcom
    from kiwiresearch.kin.loop import CaseSettings
    from kiwiresearch.system import expand_user

    read = read_gedcom(expand_user(file))
    if not read.tree.persons:
        raise BadUsage(
            f"{file!r} has no people in it.",
            remedy="Export the people and families from your family tree program again.",
        )
    if person:
        find_person(person, read.tree)
    workspace = user_workspace()
    if not case_exists(workspace, case):
        with new_case_location(workspace, case, Path(file).stem) as location:
            Case.empty(location, CaseSettings.from_scope(workspace.settings.kin)).close()


COMMANDS: dict[str, Callable[..., None]] = {
    "merges": merges,
    "unmerge": unmerge,
    "living": living,
    "plugins": plugins,
    "import": import_file,
}
