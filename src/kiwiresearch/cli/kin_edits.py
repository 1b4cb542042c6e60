"""The commands with which a person changes a family: adding, correcting, merging, attaching, undo and redo."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.kin import CaseOption, opened_case, privacy_mode
from kiwiresearch.cli.kin import Privacy as PrivacyOption
from kiwiresearch.cli.options import JsonOption, emit
from kiwiresearch.errors import BadUsage, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.cases import Basis, Case, EditRecord
    from kiwiresearch.kin import PersonId

Note = Annotated[str, typer.Option("--note", help="Why you are making this change.", metavar="WORDS")]
SourceTitle = Annotated[
    str, typer.Option("--source", help="The title of your source, such as a letter or a record.", metavar="TITLE")
]
PageNumber = Annotated[str, typer.Option("--page", help="The page or number in your source.", metavar="NUMBER")]
Dated = Annotated[str, typer.Option("--date", help="When your source was made.", metavar="DATE")]
Transcript = Annotated[str, typer.Option("--words", help="The words of your source.", metavar="WORDS")]
BookPage = Annotated[
    str, typer.Option("--from", help="Instead of a source of your own: a page of a book.", metavar="TITLE")
]
PageQuote = Annotated[str, typer.Option("--quote", help="The words of that page. Default: the value.", metavar="WORDS")]
OnePerson = Annotated[str, typer.Argument(help="Name, page title, or the start of an ID.", metavar="PERSON")]
FactId = Annotated[str, typer.Argument(help="The ID of a fact or relationship, or its first characters.", metavar="ID")]
EditId = Annotated[str, typer.Argument(help="The ID of a change, or its first characters.", metavar="[ID]")]
SexOption = Annotated[str, typer.Option("--sex", help="male or female.", metavar="SEX")]
FORMS = {
    "person": ("NAME",),
    "fact": ("PERSON", "FIELD", "VALUE"),
    "name": ("PERSON", "NAME"),
    "relative": ("PERSON", "ROLE", "NAME"),
}


def add(
    what: Annotated[str, typer.Argument(help="person, fact, name or relative.", metavar="WHAT")],
    words: Annotated[
        list[str],
        typer.Argument(
            help="person NAME; fact PERSON FIELD VALUE; name PERSON NAME; relative PERSON ROLE NAME, "
            "where ROLE is father, mother, parent, child, spouse, partner or sibling.",
            metavar="WORDS",
        ),
    ],
    *,
    sex: SexOption = "",
    new: Annotated[
        bool, typer.Option("--new", help="The relative is a new person, even if someone has the same name.")
    ] = False,
    instead_of: Annotated[str, typer.Option("--instead-of", help="Correct this entry of yours.", metavar="ID")] = "",
    note: Note = "",
    source: SourceTitle = "",
    page: PageNumber = "",
    date: Dated = "",
    transcript: Transcript = "",
    book_page: BookPage = "",
    quote: PageQuote = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Add a person, a fact, a name or a relative. What books say stays beside it."""
    from kiwiresearch.cases import Basis, checked_field, editing

    given = FORMS.get(what)
    if given is None or len(words) != len(given):
        forms = "; ".join(f"{name} {' '.join(parts)}" for name, parts in FORMS.items())
        raise BadUsage(f"Cannot add {' '.join((what, *words))!r}.", remedy=f"Use one of: {forms}.")
    basis = Basis(note, source, page, date, transcript, book_page, quote)
    with _edited(case, json=json, with_books=bool(book_page)) as found:
        if what == "person":
            editing.add_person(found, words[0], sex, basis)
            return
        person = _person(found, words[0])
        if what == "fact":
            editing.add_fact(found, person, checked_field(words[1]), words[2], basis, instead_of=instead_of)
        elif what == "name":
            editing.add_name(found, person, words[1], basis)
        else:
            _add_relative(found, person, words[1], words[2], sex, basis, is_new=new)


def _add_relative(case: Case, person: PersonId, role: str, name: str, sex: str, basis: Basis, *, is_new: bool) -> None:
    """Relate a person who has exactly this name, or else add a new one."""
    from kiwiresearch.cases import editing
    from kiwiresearch.text import fold

    known_role = next((each for each in editing.ROLES if each == role), None)
    if known_role is None:
        raise BadUsage(f"{role!r} is not a relative.", remedy=f"Choose one of: {', '.join(editing.ROLES)}.")
    other = None
    if not is_new:
        with contextlib.suppress(NothingFound):
            found = _person(case, name)
            # `_person` also finds people whose name only contains the words; those are not meant here.
            if name.lower() == found[: len(name)] or fold(case.store.person(found).name) == fold(name):
                other = found
    if other is None:
        editing.add_relative(case, person, known_role, name, basis, sex)
    else:
        editing.relate(case, person, known_role, other, basis)


def discard(
    what: Annotated[str, typer.Argument(help="The ID of a fact or relationship, or a person.", metavar="ID|PERSON")],
    *,
    note: Note = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Remove a fact, a relationship or a person. Nothing is lost: undo brings it back."""
    from kiwiresearch.cases import Basis, editing, statements

    with _edited(case, json=json) as found:
        if statements.is_statement(found, what):
            editing.remove(found, what, Basis(note))
        else:
            editing.remove_person(found, _person(found, what), Basis(note))


def accept(fact: FactId, *, note: Note = "", case: CaseOption = "", json: JsonOption = False) -> None:
    """Accept a fact or relationship that the rules doubt, or that was removed."""
    from kiwiresearch.cases import Basis, editing

    with _edited(case, json=json) as found:
        editing.accept(found, fact, Basis(note))


def prefer(fact: FactId, *, note: Note = "", case: CaseOption = "", json: JsonOption = False) -> None:
    """Prefer a value to the others of its field."""
    from kiwiresearch.cases import Basis, editing

    with _edited(case, json=json) as found:
        editing.prefer(found, fact, Basis(note))


FirstPerson = Annotated[str, typer.Argument(help="Name, page title, or the start of an ID.", metavar="A")]
SecondPerson = Annotated[str, typer.Argument(help="The other person.", metavar="B")]


def merge(
    first: FirstPerson, second: SecondPerson, *, note: Note = "", case: CaseOption = "", json: JsonOption = False
) -> None:
    """Merge two people into the first."""
    from kiwiresearch.cases import Basis, editing

    with _edited(case, json=json) as found:
        editing.merge(found, _person(found, first), _person(found, second), Basis(note))


def separate(
    first: FirstPerson, second: SecondPerson, *, note: Note = "", case: CaseOption = "", json: JsonOption = False
) -> None:
    """Say that two people are not the same, so that they are never merged or suggested."""
    from kiwiresearch.cases import Basis, editing

    with _edited(case, json=json) as found:
        editing.separate(found, _person(found, first), _person(found, second), Basis(note))


def split(
    person: OnePerson,
    *,
    facts: Annotated[
        str,
        typer.Option("--facts", help="IDs of what belongs to the second person, separated by commas.", metavar="IDS"),
    ],
    name: Annotated[str, typer.Option("--name", help="The name of the second person.", metavar="NAME")] = "",
    note: Note = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Make two people of one. The facts and relationships you list move to a new person."""
    from kiwiresearch.cases import Basis, editing

    with _edited(case, json=json) as found:
        old = _person(found, person)
        chosen = [part.strip() for part in facts.split(",") if part.strip()]
        editing.split(found, old, name or found.store.person(old).name, chosen, Basis(note))


def attach(
    person: OnePerson,
    file: Annotated[str, typer.Argument(help="PNG, JPEG, WebP, GIF, PDF or text, up to 20 MB.", metavar="FILE")],
    *,
    role: Annotated[str, typer.Option("--as", help="photo, scan or transcript.", metavar="ROLE")] = "photo",
    caption: Annotated[str, typer.Option("--caption", help="What it shows.", metavar="WORDS")] = "",
    note: Note = "",
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Attach a picture or a document to a person. The place where a picture was taken is not stored."""
    from kiwiresearch.cases import Basis, editing
    from kiwiresearch.kin.store import ATTACHMENT_ROLES
    from kiwiresearch.system import expand_user

    known = next((each for each in ATTACHMENT_ROLES if each == role), None)
    if known is None:
        raise BadUsage(f"{role!r} is not a kind of file.", remedy=f"Choose one of: {', '.join(ATTACHMENT_ROLES)}.")
    path = expand_user(file)
    try:
        body = path.read_bytes()
    except OSError as problem:
        raise BadUsage(f"{file!r} cannot be read: {problem.strerror}.", remedy="Choose another file.") from problem
    with _edited(case, json=json) as found:
        editing.attach(found, _person(found, person), body, path.name, Basis(note), role=known, caption=caption)


def history(*, case: CaseOption = "", privacy: PrivacyOption = "", json: JsonOption = False) -> None:
    """List all changes that people made, the latest first."""
    from kiwiresearch.cases import edit_history
    from kiwiresearch.cli import output

    with opened_case(case) as found:
        rows = edit_history.history(found, found.tree(privacy_mode(privacy, as_json=json)))

    def lines() -> None:
        if not rows:
            output.line("No changes yet.")
        for row in rows:
            _print_edit(row)

    emit({"edits": rows}, lines, as_json=json)


def undo(
    edit: EditId = "",
    *,
    cascade: Annotated[bool, typer.Option("--cascade", help="Also undo later changes that depend on it.")] = False,
    case: CaseOption = "",
    json: JsonOption = False,
) -> None:
    """Undo a change, by default the last one."""
    from kiwiresearch.cases import edit_history

    with opened_case(case) as found:
        undone = {one.id for one in edit_history.undo(found, edit, cascade=cascade)}
        _emit_edits(found, undone, "Undone", json=json)


def redo(edit: EditId = "", *, case: CaseOption = "", json: JsonOption = False) -> None:
    """Make an undone change again, by default the one undone last."""
    from kiwiresearch.cases import edit_history

    with opened_case(case) as found:
        _emit_edits(found, {edit_history.redo(found, edit).id}, "Redone", json=json)


@contextlib.contextmanager
def _edited(wanted: str, *, json: bool, with_books: bool = False) -> Iterator[Case]:
    """A case for one change, which is printed then. It is not locked: research on it may be running."""
    with opened_case(wanted, books=[] if with_books else None) as found:
        yield found
        _emit_edits(found, {found.store.edits.all()[-1].id}, "Saved", json=json)


def _emit_edits(case: Case, edits: set[str], done: str, *, json: bool) -> None:
    from kiwiresearch.cases import edit_history
    from kiwiresearch.cli import output

    rows = [row for row in edit_history.history(case, case.tree("public" if json else "owner")) if row.id in edits]

    def lines() -> None:
        for row in rows:
            output.line(f"{done}: {_sentence(row)}.")
            if done != "Undone":
                output.unbroken_line(f"To undo it: kiwiresearch kin undo {row.id[:8]}")

    emit({"edits": rows}, lines, as_json=json)


def _person(case: Case, words: str) -> PersonId:
    from kiwiresearch.cases import find_person

    return find_person(words, case.store.tree())


def _print_edit(row: EditRecord) -> None:
    from kiwiresearch.cli import output

    state = " (undone)" if row.state == "undone" else ""
    by = f", {row.author}" if row.author else ""
    output.unbroken_line(f"{row.id[:8]}  {row.made_at}{by}: {_sentence(row)}{state}")
    if row.note:
        output.line(f"  note: {row.note}")


def _sentence(row: EditRecord) -> str:
    """A change on one line: what was done, to whom, and what was entered."""
    from kiwiresearch.text import one_line

    who = ", ".join(person.name for person in row.people)
    given = ", ".join(f"{key} {value}" for key, value in row.details.items())
    return one_line("; ".join(part for part in (row.kind.replace("_", " "), who, given) if part))


COMMANDS: dict[str, Callable[..., None]] = {
    "add": add,
    "discard": discard,
    "accept": accept,
    "prefer": prefer,
    "merge": merge,
    "separate": separate,
    "split": split,
    "attach": attach,
    "history": history,
    "undo": undo,
    "redo": redo,
}
