"""A family file of another program: whose case it is, and its people looked for in the books."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kin.cases import dump
from tests.kin.loop_family import NOW, named, open_family, researcher, run, waiting, write_family

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.imports import import_gedcom
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, NothingFound
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
