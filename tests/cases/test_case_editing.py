"""What people change in a case: it stays, it can be undone and redone, and nothing of it leaks."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from tests.kin.cases import dump
from tests.kin.loop_family import NOW, YEAR, a_case, named, open_family, researcher, write_family
from tests.kin.privacy_scan import find_leaks

from kiwiresearch.cases import attached_files, edit_history, editing, record_builder, review
from kiwiresearch.cases import case as case_module
from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import FolderLocation
from kiwiresearch.cases.exports import FILE_NAMES
from kiwiresearch.cases.merges import DEFAULT_REASON
from kiwiresearch.cases.review import set_living
from kiwiresearch.cases.statements import Basis
from kiwiresearch.cases.verification import verify_case
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, KiwiError, NothingFound, OutOfDate
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.privacy.redaction import PrivacyMode
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import Fact, FieldName, Person, Relationship
from kiwiresearch.search.open_book import OpenBook

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082".replace(" ", "")
)


@dataclass
class Books:
    """The books of a case, as a finder has them."""

    books: tuple[OpenBook, ...]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return open_family(write_family(tmp_path_factory.mktemp("book") / "family.zim"))


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory, book: OpenBook) -> Path:
    """A case that has read only its first page; tests copy it."""
    folder = tmp_path_factory.mktemp("begun")
    with a_case(folder) as store:
        researcher(store, book).start()
    with opened(folder, book) as case:
        case.reevaluate()
    return folder


def opened(folder: Path, book: OpenBook) -> Case:
    store = CaseStore.open(folder / "case.sqlite", lambda: NOW)
    return Case(FolderLocation(folder), store, cast("Any", Books((book,))), YEAR)


@pytest.fixture
def case(tmp_path: Path, begun: Path, book: OpenBook) -> Iterator[Case]:
    folder = tmp_path / "case"
    shutil.copytree(begun, folder)
    with opened(folder, book) as found:
        yield found


def read_on(case: Case, book: OpenBook) -> None:
    """Research to the end."""
    assert list(researcher(case.store, book).steps())[-1].what == "stop"


def who(case: Case, name: str) -> str:
    return named(case.store.tree(), name).id


def person(case: Case, name: str) -> Person | None:
    return next((one for one in case.store.tree().persons.values() if name in (one.name, *one.names)), None)


def facts(case: Case, name: str, field: FieldName) -> list[Fact]:
    return list(case.store.tree(with_discarded=True).facts_of(who(case, name), field))


def tie(case: Case, first: str, second: str) -> Relationship | None:
    tree = case.store.tree()
    return next(
        (
            one
            for one in tree.relationships
            if {tree.persons[one.first].name, tree.persons[one.second].name} == {first, second}
        ),
        None,
    )


def born(case: Case) -> str:
    found = case.store.tree().persons[who(case, "Aldous Penhallow")].birth
    return found.edtf() if found else ""


ALDOUS, EDWIN, FLORA, DOROTHEA = "Aldous Penhallow", "Edwin Penhallow", "Flora Penhallow", "Dorothea Vance"


@dataclass(frozen=True)
class Change:
    """A change, and whether it is in effect."""

    make: Callable[[Case], object]
    holds: Callable[[Case], bool]


def _split(case: Case) -> str:
    occupation = editing.add_fact(case, who(case, ALDOUS), "occupation", "spy")
    return editing.split(case, who(case, ALDOUS), "Another Aldous", [occupation])


CHANGES: dict[str, Change] = {
    "a person": Change(
        lambda case: editing.add_person(case, "Zoe Marlow", "female"),
        lambda case: person(case, "Zoe Marlow") is not None,
    ),
    "a relative": Change(
        lambda case: editing.add_relative(case, who(case, FLORA), "mother", "Zoe Marlow"),
        lambda case: tie(case, FLORA, "Zoe Marlow") is not None and named(case.store.tree(), "Zoe Marlow").sex != "",
    ),
    "a fact": Change(
        lambda case: editing.add_fact(case, who(case, ALDOUS), "birth_date", "4 May 1801"),
        lambda case: born(case) == "1801-05-04",
    ),
    "a value that a book has, too": Change(
        lambda case: editing.add_fact(case, who(case, ALDOUS), "birth_date", "3 May 1801"),
        lambda case: facts(case, ALDOUS, "birth_date")[0].is_entered,
    ),
    "no fact": Change(
        lambda case: editing.remove(case, facts(case, ALDOUS, "birth_place")[0].id),
        lambda case: not case.store.tree().persons[who(case, ALDOUS)].birth_place,
    ),
    "another name": Change(
        lambda case: editing.add_name(case, who(case, ALDOUS), "Old Aldous"),
        lambda case: "Old Aldous" in case.store.tree().persons[who(case, ALDOUS)].names,
    ),
    "a main name": Change(
        lambda case: editing.add_fact(case, who(case, FLORA), "name", "Flora May Penhallow"),
        lambda case: person(case, "Flora May Penhallow") is not None,
    ),
    "a tie": Change(
        lambda case: editing.relate(case, who(case, FLORA), "spouse", who(case, "Barnaby Penhallow"), since="1850"),
        lambda case: tie(case, FLORA, "Barnaby Penhallow") is not None,
    ),
    "no tie": Change(
        lambda case: editing.remove(case, cast("Relationship", tie(case, ALDOUS, EDWIN)).id),
        lambda case: tie(case, ALDOUS, EDWIN) is None,
    ),
    "no person": Change(
        lambda case: editing.remove_person(case, who(case, EDWIN)), lambda case: person(case, EDWIN) is None
    ),
    "one person": Change(
        lambda case: editing.merge(case, who(case, DOROTHEA), who(case, FLORA)),
        lambda case: len({one.id for one in (person(case, name) for name in (DOROTHEA, FLORA)) if one}) == 1,
    ),
    "two people": Change(
        lambda case: editing.separate(case, who(case, DOROTHEA), who(case, FLORA)),
        lambda case: bool(case.store.merges.separated()),
    ),
    "a person of two": Change(_split, lambda case: person(case, "Another Aldous") is not None),
    "a picture": Change(
        lambda case: editing.attach(case, who(case, ALDOUS), PNG, "aldous.png"),
        lambda case: [one.name for one in case.store.attachments.all()] == ["aldous.png"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_undone_and_redone(case: Case, name: str) -> None:
    """Each change takes effect, the case verifies after it, undoing restores all tables, and redoing repeats it."""
    change, before = CHANGES[name], dump(case.store)
    change.make(case)
    assert change.holds(case)
    assert verify_case(case).failures == []
    while any(edit.state == "done" for edit in case.store.edits.all()):
        edit_history.undo(case)
    left = [line for line in dump(case.store).split("\n") if '"table":"attachment"' not in line]
    assert "\n".join(left) == before, "the content of a picture stays, since the change may be redone"
    assert verify_case(case).failures == []
    while any(edit.state == "undone" for edit in case.store.edits.all()):
        edit_history.redo(case)
    assert change.holds(case)
    assert verify_case(case).failures == []


@pytest.mark.parametrize("name", CHANGES)
def test_later_reading_does_not_overwrite_a_change(case: Case, book: OpenBook, name: str) -> None:
    """Research that goes on reads the pages of the same people, and what a person changed is still in effect."""
    CHANGES[name].make(case)
    read_on(case, book)
    case.reevaluate()
    assert CHANGES[name].holds(case)
    assert verify_case(case).failures == []


def test_a_preferred_value_stays_preferred(case: Case, book: OpenBook) -> None:
    """The rules prefer the value with the best evidence, but not to one that a person prefers."""
    first = facts(case, ALDOUS, "birth_date")[0]
    entered = editing.add_fact(case, who(case, ALDOUS), "birth_date", "1 May 1799")
    assert born(case) == "1799-05-01"
    editing.prefer(case, first.id)
    assert born(case) == "1801-05-03"
    editing.prefer(case, entered)
    read_on(case, book)
    assert born(case) == "1799-05-01"
    editing.remove(case, first.id)
    assert born(case) == "1799-05-01", "removing a value leaves another preferred"
    editing.prefer(case, first.id)
    assert born(case) == "1801-05-03", "a removed value that is preferred counts again"


def test_an_entry_is_corrected(case: Case) -> None:
    """A correction replaces the entry, and what the book says stays beside it."""
    wrong = editing.add_fact(case, who(case, ALDOUS), "birth_date", "1799", Basis(note="from memory"))
    editing.add_fact(case, who(case, ALDOUS), "birth_date", "1800", instead_of=wrong)
    states = {fact.value: fact.decision for fact in facts(case, ALDOUS, "birth_date")}
    assert states == {"1799": "rejected", "1800": "preferred", "1801-05-03": ""}
    assert [edit.kind for edit in case.store.edits.all()] == ["add_fact", "change_fact"]


def test_a_page_of_a_book_is_a_source_of_the_users(case: Case) -> None:
    """A change may cite a real page with words that are on it; verifying compares them with the book."""
    basis = Basis(page="Clocks", quote="Aldous Penhallow made clocks")
    entered = editing.add_fact(case, who(case, ALDOUS), "occupation", "clock maker", basis)
    tree = case.store.tree()
    [evidence] = next(fact for fact in tree.facts if fact.id == entered).evidence
    assert (evidence.snippet, evidence.method) == ("Aldous Penhallow made clocks", "user")
    assert tree.sources[evidence.source].url.startswith("zim://")
    assert tree.sources[evidence.source].url.endswith("Clocks")
    assert verify_case(case).failures == []
    with pytest.raises(KiwiError, match="does not say"):
        editing.add_fact(case, who(case, ALDOUS), "occupation", "pirate", Basis(page="Clocks"))
    with pytest.raises(NothingFound, match="No page named"):
        editing.add_fact(case, who(case, ALDOUS), "occupation", "pirate", Basis(page="No such page"))


def test_undoing_keeps_what_research_has_read_since(case: Case, book: OpenBook) -> None:
    """A page that a person cited and research read later stays in the case when the change is undone, and is redone."""
    page = Basis(page="Edwin Penhallow", quote="was a sailor")
    editing.add_fact(case, who(case, EDWIN), "occupation", "sailor", page)
    read_on(case, book)
    edit_history.undo(case)
    assert verify_case(case).failures == []
    edit_history.redo(case)
    assert verify_case(case).failures == []


def test_the_source_of_a_statement_is_kept(case: Case) -> None:
    """A letter with its words, number and date is a source, and the value is quoted from it."""
    basis = Basis(source="Letter to Flora", locator="page 2", dated="1850", transcript="I was born in Elmsworth, dear.")
    editing.add_fact(case, who(case, ALDOUS), "birth_place", "Elmsworth", basis)
    tree = case.store.tree()
    [fact] = [one for one in tree.facts_of(who(case, ALDOUS), "birth_place") if one.is_entered]
    source = tree.sources[fact.evidence[0].source]
    assert (source.title, fact.evidence[0].locator) == ("Letter to Flora", "page 2, 1850")
    assert case.store.source_text(source.id) == basis.transcript


BAD: dict[str, Callable[[Case], object]] = {
    "needs a name": lambda case: editing.add_person(case, "  "),
    "not a sex": lambda case: editing.add_person(case, "Zoe", "blue"),
    "not a date": lambda case: editing.add_fact(case, who(case, ALDOUS), "birth_date", "long ago"),
    "is a relationship": lambda case: editing.add_fact(case, who(case, ALDOUS), "father", "Zoe"),
    "is empty": lambda case: editing.add_fact(case, who(case, ALDOUS), "birth_place", " "),
    "too long": lambda case: editing.add_fact(case, who(case, ALDOUS), "title", "x" * 501),
    "note or the source is too long": lambda case: editing.add_person(case, "Zoe", "", Basis(note="x" * 20_001)),
    "No fact or relationship was chosen": lambda case: editing.split(case, who(case, ALDOUS), "Zoe", []),
    "not about this person": lambda case: editing.split(
        case, who(case, FLORA), "Zoe", [facts(case, ALDOUS, "birth_date")[0].id]
    ),
    "not the ID of one fact": lambda case: editing.remove(case, "zzz"),
    "family was started with": lambda case: editing.remove_person(case, who(case, ALDOUS)),
    "no person": lambda case: editing.add_fact(case, "nobody", "title", "Sir"),
    "their own relative": lambda case: editing.relate(case, who(case, ALDOUS), "spouse", who(case, ALDOUS)),
    "their own ancestor": lambda case: editing.relate(case, who(case, ALDOUS), "father", who(case, EDWIN)),
    "is male and cannot be the mother": lambda case: editing.relate(
        case, who(case, EDWIN), "mother", who(case, ALDOUS)
    ),
    "is female and cannot be the father": lambda case: editing.add_relative(
        case, who(case, FLORA), "father", "Ruth Hay", sex="female"
    ),
    "already merged": lambda case: editing.merge(case, who(case, ALDOUS), who(case, ALDOUS)),
    "kept separate from itself|merged into one": lambda case: editing.separate(
        case, who(case, ALDOUS), who(case, ALDOUS)
    ),
    "not a name that can be removed": lambda case: editing.remove_name(case, who(case, ALDOUS), "Zoe"),
    "nothing to undo": edit_history.undo,
    "nothing to redo": edit_history.redo,
    "not the ID of one change": lambda case: edit_history.undo(case, "zzz"),
    "not a picture": lambda case: editing.attach(case, who(case, ALDOUS), b"words", "a.txt"),
    "cannot be attached": lambda case: editing.attach(case, who(case, ALDOUS), b"MZ\x00\x01", "a.png"),
    "has the ID": lambda case: editing.detach(case, "zzz"),
    "relationship cannot be preferred": lambda case: editing.prefer(
        case, cast("Relationship", tie(case, ALDOUS, EDWIN)).id
    ),
    "not a kind of relationship": lambda case: editing.relate(
        case,
        who(case, ALDOUS),
        "child",
        who(case, FLORA),
        qualifier="disputed",
    ),
}


@pytest.mark.parametrize("problem", BAD)
def test_bad_input_changes_nothing(case: Case, problem: str) -> None:
    """What makes no sense is refused with a sentence that says what is wrong, and the case is as it was."""
    before = dump(case.store)
    with pytest.raises((BadUsage, NothingFound), match=problem):
        BAD[problem](case)
    assert dump(case.store) == before
    assert case.store.edits.all() == ()


def test_the_files_of_a_family_have_a_limit(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that does not fit beside the others is refused with the limit, and nothing is attached."""
    monkeypatch.setattr(attached_files, "MAX_ALL_ATTACHMENTS_BYTES", 2**20)
    editing.attach(case, who(case, ALDOUS), b"a letter " * 100_000, "letter.txt", role="transcript")
    with pytest.raises(BadUsage, match="take up more than 1 MB"):
        editing.attach(case, who(case, EDWIN), b"a will " * 50_000, "will.txt", role="transcript")
    assert [one.name for one in case.store.attachments.all()] == ["letter.txt"]


def test_a_removed_person_cannot_be_changed(case: Case) -> None:
    """Nothing is added to somebody who was removed; undoing the removal brings everything back."""
    edwin = who(case, EDWIN)
    editing.remove_person(case, edwin)
    changes: tuple[Callable[[], object], ...] = (
        lambda: editing.add_fact(case, edwin, "title", "Sir"),
        lambda: editing.merge(case, who(case, FLORA), edwin),
        lambda: editing.relate(case, who(case, FLORA), "sibling", edwin),
        lambda: editing.attach(case, edwin, PNG, "a.png"),
    )
    for change in changes:
        with pytest.raises(NothingFound):
            change()
    edit_history.undo(case)
    editing.add_fact(case, edwin, "title", "Sir")


def test_a_change_that_others_depend_on_is_undone_with_them(case: Case) -> None:
    """A person to whom a fact was added later is only removed together with that fact."""
    zoe = editing.add_person(case, "Zoe Marlow")
    editing.add_fact(case, zoe, "birth_date", "1820")
    first = case.store.edits.all()[0].id
    with pytest.raises(BadUsage, match="later change depends"):
        edit_history.undo(case, first)
    assert [edit.kind for edit in edit_history.undo(case, first, cascade=True)] == ["add_fact", "add_person"]
    assert person(case, "Zoe Marlow") is None


@pytest.fixture(params=["sqlite", "postgresql"])
def two_editors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Case, Case]]:
    """The same case opened twice, on each engine."""
    where = str(tmp_path / "case.db")
    if request.param == "postgresql":
        where = request.getfixturevalue("postgres_server")()
    CaseStore.create(where, plain(CaseSettings(seeds=("Ann",))), lambda: NOW).close()
    with CaseStore.open(where, lambda: NOW) as first, CaseStore.open(where, lambda: NOW) as second:
        one, other = (Case(FolderLocation(tmp_path), store, None, YEAR) for store in (first, second))
        yield one, other


EACH = 5


def test_two_editors_at_once_lose_nothing(two_editors: tuple[Case, Case]) -> None:
    """Two people who edit one person and new people at the same time, each with a store, find all that they entered."""
    problems: list[Exception] = []
    shared = editing.add_person(two_editors[0], "Ann Marlow")

    def enter(case: Case, mine: str) -> None:
        try:
            for number in range(EACH):
                zoe = editing.add_person(case, "Zoe Marlow")
                editing.add_fact(case, zoe, "title", f"{mine} {number}", Basis(author=mine))
                editing.add_fact(case, shared, "occupation", f"{mine} {number}", Basis(author=mine))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=enter, args=pair) for pair in zip(two_editors, ("ann", "ben"), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    case = two_editors[0]
    tree, entered = case.store.tree(), {f"{mine} {number}" for mine in ("ann", "ben") for number in range(EACH)}
    assert {fact.value for fact in tree.facts if fact.field == "title"} == entered
    assert {fact.value for fact in tree.facts_of(shared, "occupation")} == entered
    assert len({edit.seq for edit in case.store.edits.all()}) == len(case.store.edits.all()) == 6 * EACH + 1
    assert (case.store.verify_rows(), case.store.verify_audit()) == ((), ())


def test_a_change_on_an_old_view_is_reported(two_editors: tuple[Case, Case]) -> None:
    """Who changes what somebody else has changed or undone since is told, and nothing is overwritten."""
    one, other = two_editors
    zoe = editing.add_person(one, "Zoe Marlow")
    seen = Basis(expected_version=one.store.edits.latest_version_for([zoe]))
    editing.add_fact(other, zoe, "birth_place", "York")
    with pytest.raises(OutOfDate):
        editing.add_fact(one, zoe, "birth_place", "Leeds", seen)
    current = Basis(expected_version=one.store.edits.latest_version_for([zoe]))
    edit_history.undo(other)
    with pytest.raises(OutOfDate):
        editing.add_fact(one, zoe, "birth_place", "Leeds", current)
    editing.add_fact(
        one, zoe, "birth_place", "Leeds", Basis(expected_version=one.store.edits.latest_version_for([zoe]))
    )
    stranger = editing.add_person(other, "Somebody else", basis=Basis(expected_version=0))
    editing.add_fact(one, zoe, "title", "Dame", Basis(expected_version=one.store.edits.latest_version_for([zoe])))
    editing.add_fact(one, stranger, "title", "Sir")


def test_nothing_of_the_living_leaks(case: Case) -> None:
    """Whatever is entered about people who may be living, the notes and the names of files reach only the owner."""
    nora = editing.add_relative(case, who(case, FLORA), "child", "Nora Quillfeather", Basis(note="Nora told me"))
    editing.add_fact(case, nora, "birth_date", "3 May 1990", Basis(source="Diary of Nora Quillfeather"))
    said = Basis(transcript="Nora Quillfeather, a baker in Tilbrook")
    editing.add_fact(case, nora, "occupation", "baker in Tilbrook", said)
    editing.add_fact(case, who(case, FLORA), "occupation", "nurse", Basis(note="says Nora Quillfeather"))
    editing.attach(case, nora, PNG, "nora-quillfeather.png", caption="Nora at home")
    editing.add_name(case, nora, "Norrie Quill")
    tree = case.store.tree()
    public = case.tree("public")
    shown = [canonical_json(plain(edit_history.history(case, public))), *(case.export(form) for form in FILE_NAMES)]
    for text in shown:
        assert find_leaks(text, tree, "public", YEAR, overrides=case.store.living_overrides) == ()
    for text in (*shown, "\n".join(map(str, case.store.audit()))):
        assert "Quillfeather" not in text
        assert "Tilbrook" not in text
    mine = canonical_json(plain(edit_history.history(case, case.tree("owner"))))
    assert all(words in mine for words in ("Nora Quillfeather", "Nora told me", "Nora at home"))


def test_why_people_were_merged_is_for_the_owner(case: Case) -> None:
    """The reasons that the user gives for edits may name anybody, so no mode but the owner's has them."""
    told = "My neighbour Zoe told me in confidence"
    note = Basis(note=told)
    twin = editing.add_person(case, "Ned Penhallow", basis=note)
    third = editing.add_person(case, "Noah Penhallow", basis=note)
    for each in (twin, third):
        editing.add_fact(case, each, "death_date", "1 May 1850", note)
    merge = editing.merge(case, who(case, EDWIN), twin, note)
    editing.separate(case, third, who(case, FLORA), note)
    review.allow_merge_again(case, review.separated_pairs(case)[0].id, told)
    set_living(case, third, "deceased", told)
    review.undo_merge(case, editing.merge(case, who(case, FLORA), third, note), told)
    modes: tuple[PrivacyMode, ...] = ("public", "exclude", "private")
    shown = [case.export(form, mode) for mode in modes for form in FILE_NAMES]
    for mode in modes:
        tree = case.tree(mode)
        record = review.merges_record(case, tree, case.mask(mode))
        shown += [canonical_json(plain(one)) for one in (record, edit_history.history(case, tree))]
        for each in tree.persons:
            shown.append(canonical_json(plain(record_builder.evidence_records(case, each, None, mode))))
    shown += [str(review.living_record(case, third, for_owner=False)), *map(str, case.store.audit())]
    assert [text for text in shown if "Zoe" in text] == []
    assert review.user_reasons(case)[merge] == told
    assert told in str(review.living_record(case, third))


def test_words_that_an_earlier_version_stored_as_the_reason_are_for_the_owner(case: Case) -> None:
    """A merge of an earlier version has the user's words in both places."""
    told = "My neighbour Zoe told me in confidence"
    twin = editing.add_person(case, "Ned Penhallow")
    pair = who(case, EDWIN), twin
    case.store.merges.merge(*pair, rationale=told, why_not_split=told, why_not_merge="-", decided_by="user")
    case.reevaluate()
    record = review.merges_record(case, case.tree("public"), case.mask("public"))
    assert [made.why for made in record.merges] == [DEFAULT_REASON]
    assert "Zoe" not in case.export("markdown") + case.export("html")


def test_a_change_of_a_large_family_is_quick(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large family nobody waits for the search for duplicates, but who may be living is decided at once."""
    monkeypatch.setattr(case_module, "MAX_RESOLVED_AT_ONCE", 2)
    monkeypatch.setattr(case, "reevaluate", lambda: pytest.fail("this takes half a minute"))
    zoe = editing.add_relative(case, who(case, FLORA), "child", "Zoe Marlow")
    editing.add_fact(case, zoe, "death_date", "1 May 1900")
    assert case.store.person(zoe).living == "deceased"
    edit_history.undo(case)
    assert case.store.person(zoe).living != "deceased"


def test_research_goes_on_while_the_family_changes(case: Case, book: OpenBook) -> None:
    """People removed, merged and undone between two steps, or while a page is read, do not stop the research."""
    store = CaseStore.open(case.location.database, lambda: NOW)
    with Case(case.location, store, None, YEAR) as editor:
        steps = researcher(case.store, book).steps()
        zoe = editing.add_relative(editor, who(editor, ALDOUS), "sibling", "Zoe Penhallow")
        next(steps)
        editing.remove_person(editor, who(editor, "Clemence Rook"))
        next(steps)
        editing.merge(editor, who(editor, FLORA), zoe)
        next(steps)
        edit_history.undo(editor)
        edit_history.undo(editor, editor.store.edits.all()[0].id)
        editing.add_fact(editor, who(editor, EDWIN), "birth_place", "Elmsworth")
        assert list(steps)[-1].what == "stop"
        assert person(editor, "Clemence Rook") is None
        assert person(editor, "Zoe Penhallow") is None
        assert editor.store.tree().persons[who(editor, EDWIN)].birth_place == "Elmsworth"
        assert person(editor, "Hector Penhallow Jr.") is not None, "what the research found is there, too"
        assert verify_case(case).failures == []
