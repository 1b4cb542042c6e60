"""A family file of another program: whose case it is, and its people looked for in the books."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kin.cases import dump
from tests.kin.loop_family import NOW, named, open_family, researcher, run, waiting, write_family

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.import_log import import_records, keep_media, kept_records
from kiwiresearch.cases.imports import ImportResult, import_gedcom
from kiwiresearch.cases.review import accept_merge, proposed_merges
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.gedcom.kept_lines import TagCount
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.search.open_book import OpenBook

PEOPLE = """\
0 @I1@ INDI
1 NAME Hector /Penhallow/ Jr.
1 BIRT
2 DATE 4 APR 1860
1 FAMC @F3@
0 @I2@ INDI
1 NAME Aldous /Penhallow/
1 SEX M
1 BIRT
2 DATE 3 MAY 1801
2 PLAC Elsewhere
1 DEAT
2 DATE 9 JUN 1870
1 FAMC @F1@
1 FAMS @F2@
0 @I3@ INDI
1 NAME Barnaby /Penhallow/
1 SEX M
1 FAMS @F1@
0 @I4@ INDI
1 NAME Mary
1 FAMS @F1@
0 @I5@ INDI
1 NAME Edwin /Penhallow/
1 SEX M
1 FAMC @F2@
1 FAMS @F3@
0 @F1@ FAM
1 HUSB @I3@
1 WIFE @I4@
1 CHIL @I2@
0 @F2@ FAM
1 HUSB @I2@
1 CHIL @I5@
0 @F3@ FAM
1 HUSB @I5@
1 CHIL @I1@
0 TRLR
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return open_family(write_family(tmp_path_factory.mktemp("family") / "family.zim"))


def written(folder: Path, head: str) -> Path:
    """The file, with lines of its own in the head."""
    file = folder / "tree.ged"
    file.write_text(f"0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n{head}{PEOPLE}")
    return file


@pytest.fixture
def ged(tmp_path: Path) -> Callable[[str], Path]:
    return lambda head: written(tmp_path, head)


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory, book: OpenBook) -> Iterator[tuple[CaseStore, Path]]:
    """A case started with the file, after it ran to its end."""
    folder = tmp_path_factory.mktemp("joined")
    file = written(folder, "1 _ROOT @I2@\n")
    with CaseStore.create(folder / "case.sqlite", plain(CaseSettings(generations=2)), lambda: NOW) as store:
        import_gedcom(store, file)
        assert run(researcher(store, book))[-1].what == "stop"
        yield store, file


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CaseStore]:
    with CaseStore.create(tmp_path / "case.sqlite", plain(CaseSettings(generations=2)), lambda: NOW) as one:
        yield one


def home_of(store: CaseStore) -> list[str]:
    return [store.person(one).name for one in store.state("seeds") or ()]


@pytest.mark.parametrize(
    ("head", "person", "home"),
    [
        ("", "", "Hector Penhallow Jr."),
        ("1 _ROOT @I2@\n", "", "Aldous Penhallow"),
        ("1 _HOME @I5@\n", "", "Edwin Penhallow"),
        ("1 _HME @I3@\n", "", "Barnaby Penhallow"),
        ("1 _ROOT @F1@\n1 _HME @NOBODY@\n", "", "Hector Penhallow Jr."),
        ("1 _ROOT @I2@\n", "edwin", "Edwin Penhallow"),
    ],
)
def test_a_file_says_whose_family_it_is(
    store: CaseStore, ged: Callable[[str], Path], head: str, person: str, home: str
) -> None:
    """A case that began with nobody begins with whom the user names, else the file's home person, else the first."""
    import_gedcom(store, ged(head), person)
    assert home_of(store) == [home]


@pytest.mark.parametrize(
    ("person", "problem", "words"), [("Zoe", NothingFound, "Zoe"), ("Penhallow", BadUsage, "matches 4 people")]
)
def test_a_home_person_who_is_not_there_leaves_the_case_alone(
    store: CaseStore, ged: Callable[[str], Path], person: str, problem: type[Exception], words: str
) -> None:
    """Nothing is taken in where the user names nobody of the file, or several."""
    before = dump(store)
    with pytest.raises(problem, match=words):
        import_gedcom(store, ged(""), person)
    assert dump(store) == before


def test_the_report_is_about_the_home_person(tmp_path: Path, ged: Callable[[str], Path]) -> None:
    """A case from a file is titled by its home person."""
    with Case.empty(tmp_path / "case", CaseSettings(), year=2026) as case:
        import_gedcom(case.store, ged("1 _ROOT @I2@\n"))
        assert case.export("markdown", "owner").startswith("# The family of Aldous Penhallow")


def test_imported_people_are_looked_for_and_joined(joined: tuple[CaseStore, Path]) -> None:
    """`run` finds the pages of the imported, the resolver makes them one, and what the user had stays beside it."""
    store, _ = joined
    tree = store.tree()
    aldous = named(tree, "Aldous Penhallow")
    assert "record" in aldous.external
    assert {fact.value for fact in tree.facts_of(aldous.id) if fact.field == "birth_place"} == {"Wexcombe", "Elsewhere"}
    assert {one.method for fact in tree.facts_of(aldous.id) for one in fact.evidence} >= {"gedcom", "infobox"}
    assert named(tree, "Dorothea Vance").birth is not None
    assert home_of(store) == ["Aldous Penhallow"]


def test_those_near_the_home_person_come_first(store: CaseStore, ged: Callable[[str], Path], book: OpenBook) -> None:
    """The home person is looked for first, then parents and children, then who is further; a bare first name never."""
    import_gedcom(store, ged("1 _ROOT @I2@\n"))
    researcher(store, book).start()
    names = [item.context["name"] for item in waiting(store)]
    assert names[0] == "Aldous Penhallow"
    assert sorted(names[1:3]) == ["Barnaby Penhallow", "Edwin Penhallow"]
    assert names[3:] == ["Hector Penhallow Jr."]


def test_the_same_file_again_asks_nothing_again(joined: tuple[CaseStore, Path], book: OpenBook) -> None:
    """A second import of a file leaves the queues, the seed and the end of the case as they are."""
    store, file = joined
    asked, stop = len(store.queries()), store.state("stop")
    import_gedcom(store, file)
    assert store.state("stop") == stop
    last = run(researcher(store, book))
    assert [one.what for one in last] == ["stop"]
    assert len(store.queries()) == asked


def test_a_file_taken_into_a_case_keeps_its_seed(tmp_path: Path, ged: Callable[[str], Path], book: OpenBook) -> None:
    """Into a case that was started with somebody by name, a file brings people and no other seed."""
    settings = CaseSettings(seeds=("Dorothea Vance",), generations=2)
    with CaseStore.create(tmp_path / "named.sqlite", plain(settings), lambda: NOW) as store:
        run(researcher(store, book))
        import_gedcom(store, ged(""), "Aldous")
        assert run(researcher(store, book))[-1].what == "stop"
        assert home_of(store) == ["Dorothea Vance"]


COUSIN = """\
0 HEAD
1 GEDC
2 VERS 5.5.1
1 CHAR UTF-8
0 @I1@ INDI
1 NAME Ann /Hill/
1 SEX F
1 _UID AAAA1111
1 BIRT
2 DATE 3 MAY 1801
2 PLAC Bath
2 NOTE At night.
1 DEAT
2 DATE 1870
1 FAMS @F1@
0 @I2@ INDI
1 NAME Ben /Hill/
1 SEX M
1 BIRT
2 DATE 1799
1 DEAT
2 DATE 1860
1 RESI
2 PLAC Wells
1 FAMS @F1@
0 @I3@ INDI
1 NAME Cid /Hill/
1 DEAT Y
1 FAMC @F1@
0 @F1@ FAM
1 HUSB @I2@
1 WIFE @I1@
1 CHIL @I3@
1 MARR
2 DATE 1820
0 TRLR
"""


def imported(store: CaseStore, folder: Path, text: str, name: str = "tree.ged") -> ImportResult:
    file = folder / name
    file.write_text(text)
    return import_gedcom(store, file)


def values(store: CaseStore, person: str, field: str) -> set[str]:
    tree = store.tree()
    return {fact.value for fact in tree.facts_of(named(tree, person).id) if fact.field == field}


def test_a_corrected_file_updates_its_people(store: CaseStore, tmp_path: Path) -> None:
    """People are known again by UID, or by xref and name; what the file no longer says does not count any more."""
    imported(store, tmp_path, COUSIN)
    corrected = (
        COUSIN.replace("Ann /Hill/", "Anne /Hill/").replace("@I1@", "@I9@").replace("2 DATE 1799", "2 DATE 1798")
    )
    corrected = corrected.replace("Wells", "Exeter").replace("At night.", "At noon.")
    done = imported(store, tmp_path, corrected, "tree-2.ged")
    assert (done.people, done.new_people, done.matched) == (3, 0, 3)
    assert len(store.tree().persons) == 3
    assert values(store, "Ben Hill", "birth_date") == {"1798"}
    assert values(store, "Anne Hill", "name") == {"Anne Hill"}
    kept = str(kept_records(store))
    assert [words in kept for words in ("Exeter", "At noon.", "Wells", "At night.")] == [True, True, False, False]


def test_another_file_with_the_same_xrefs_is_another_family(store: CaseStore, tmp_path: Path) -> None:
    """An xref alone is no identity: another file's people are new, and of a namesake a duplicate is proposed."""
    imported(store, tmp_path, COUSIN)
    other = COUSIN.replace("Ann /Hill/", "Eve /Dale/").replace("Ben /Hill/", "Fay /Dale/").replace("AAAA1111", "BBBB")
    done = imported(store, tmp_path, other, "other.ged")
    assert (done.new_people, done.matched) == (3, 0)


def test_the_same_file_again_changes_nothing(store: CaseStore, tmp_path: Path) -> None:
    """A second import of a file adds no people, no facts and no report."""
    imported(store, tmp_path, COUSIN)
    before = dump(store)
    done = imported(store, tmp_path, COUSIN)
    assert (done.new_people, done.facts, len(import_records(store))) == (0, 0, 1)
    assert dump(store) == before


def test_an_import_merges_nobody_by_itself(tmp_path: Path) -> None:
    """However certain a match is, it waits with its reasons for the owner, also in later evaluations."""
    with Case.empty(tmp_path / "case", CaseSettings(), year=2026) as case:
        imported(case.store, tmp_path, COUSIN)
        imported(case.store, tmp_path, COUSIN.replace("1 _UID AAAA1111\n", "").replace("@I", "@X"), "cousin.ged")
        for _ in range(2):
            assert case.reevaluate().merged == ()
            assert len(case.store.tree().persons) == 6
        found = proposed_merges(case)
        assert {case.store.person(item).name for one in found for item in one.pair} >= {"Ann Hill", "Ben Hill"}
        assert all(one.why for one in found)
        accept_merge(case, found[0].id)
        assert len(case.store.tree().persons) == 5
        text = case.export("gedcom", "owner")
        assert "2 NOTE At night." in text


def test_an_import_says_what_was_kept_and_what_was_not(store: CaseStore, tmp_path: Path) -> None:
    """The report counts lines by path with the first of each, and repeats the problems of the file."""
    bad = COUSIN.replace("0 TRLR", "nonsense\n0 @I3@ INDI\n1 NAME Again\n0 TRLR")
    imported(store, tmp_path, bad)
    (report,) = import_records(store)
    assert (report.file, report.people) == ("tree.ged", 3)
    assert TagCount("INDI.BIRT.NOTE", 1, 12) in report.kept
    assert [tag.path for tag in report.left] == ["INDI", "INDI.NAME"]
    assert len(report.problems) == 2


def test_a_package_keeps_its_pictures(tmp_path: Path) -> None:
    """A package is imported with its pictures, and exported with them for the owner; nobody else gets any."""
    text = COUSIN.replace("2 VERS 5.5.1", "2 VERS 7.0").replace("1 CHAR UTF-8\n", "").replace("_UID", "UID")
    text = text.replace("1 FAMS @F1@\n0 @I2@", "1 FAMS @F1@\n1 OBJE @O1@\n0 @I2@")
    media = "0 @O1@ OBJE\n1 FILE media/ann.png\n2 FORM image/png\n1 FILE ../escape.png\n2 FORM image/png\n0 TRLR"
    file = tmp_path / "tree.gdz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("gedcom.ged", text.replace("0 TRLR", media))
        archive.writestr("media/ann.png", b"picture")
        archive.writestr("../escape.png", b"outside")
    with Case.empty(tmp_path / "case", CaseSettings(), year=2026) as case:
        done = import_gedcom(case.store, file)
        keep_media(case.location, done.media)
        assert [one.name for one in done.media] == ["media/ann.png"]
        assert any("escape.png" in note for note in done.notes)
        names = {}
        for mode in ("owner", "public"):
            content = case.export_file("gdz", mode)
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                names[mode] = archive.namelist()
        assert names == {"owner": ["gedcom.ged", "media/ann.png"], "public": ["gedcom.ged"]}
