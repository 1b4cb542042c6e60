"""Cases put together: folders, people by name, what is taken in, and tables for spreadsheets."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kin.cases import dump
from tests.kin.families import Making
from tests.kin.source_wikidata import a_family, endpoint_of

from kiwiresearch.cases.case import Case, find_person
from kiwiresearch.cases.case_location import CASE_FILE, find_case_folder, new_case_folder
from kiwiresearch.cases.exports import checked_format, people_table
from kiwiresearch.cases.imports import import_gedcom
from kiwiresearch.cases.sources import Switches, open_case_sources, open_gate, set_plugin
from kiwiresearch.errors import BadUsage, FolderTaken, NothingFound, SourceRefused
from kiwiresearch.kin.loop.revisits import query_label
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.privacy.redaction import ShownTree
from kiwiresearch.kin.report.report_input import ReportInput
from kiwiresearch.kin.report.summary import summary
from kiwiresearch.kin.sources.registry import load_plugins
from kiwiresearch.kin.sources.source import PersonQuery
from kiwiresearch.kin.store.locks_and_schemas import locked_folder
from kiwiresearch.kin.tree import Person

HEAD = "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
YEAR = 2026


def _people(*rows: str) -> str:
    people = "".join(f"0 @I{n}@ INDI\n1 NAME {row}\n" for n, row in enumerate(rows, start=1))
    return f"{HEAD}{people}0 TRLR\n"


@pytest.fixture
def a_case(tmp_path: Path) -> Callable[[str], Case]:
    """A case with the people of a GEDCOM text."""

    def make(text: str) -> Case:
        file = tmp_path / "tree.ged"
        file.write_text(text)
        case = Case.empty(tmp_path / "case", CaseSettings(), year=YEAR)
        import_gedcom(case.store, file)
        return case

    return make


def test_the_last_changed_case_is_meant(tmp_path: Path) -> None:
    """Without a name the case is the one that was written last; a name is a folder, or one below `cases`."""
    for number, name in enumerate(("old", "new", "older")):
        (tmp_path / name).mkdir()
        file = tmp_path / name / CASE_FILE
        file.touch()
        os.utime(file, ns=(0, (5, 9, 3)[number]))
    assert find_case_folder(cases=tmp_path) == tmp_path / "new"
    assert find_case_folder("older", cases=tmp_path) == tmp_path / "older"
    assert find_case_folder(str(tmp_path / "old"), cases=tmp_path) == tmp_path / "old"


@pytest.mark.parametrize("name", ["", "\x1b[31m", "~nobody-here/x", "a" * 5000, "no\0where"])
def test_a_folder_that_cannot_be(tmp_path: Path, name: str) -> None:
    """If no case is, the error says how to begin one; no name of a folder is a crash."""
    with pytest.raises(BadUsage):
        find_case_folder(name, cases=tmp_path / "none")


def test_names_become_folders() -> None:
    """A case of somebody goes into a folder that can be typed."""
    assert new_case_folder("Charles Darwin") == Path("cases/charles-darwin")
    assert new_case_folder("../../etc") == Path("cases/etc")


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    """A second writer is refused, and may come when the first is done."""
    with locked_folder(tmp_path), pytest.raises(FolderTaken, match="Another command"), locked_folder(tmp_path):
        pass
    with locked_folder(tmp_path):
        pass


def test_people_are_named_by_name_or_id(a_case: Callable[[str], Case]) -> None:
    """A whole name comes before a part of one; several are listed with the beginnings of their ids."""
    with a_case(_people("Ann /Pell/", "Ann Mary /Pell/", "Zoë /Ström/", "Ann /Pell/")) as case:
        zoe = find_person("zoe strom", case.store.tree())
        assert find_person(zoe[:8], case.store.tree()) == zoe
        assert case.store.person(find_person("mary", case.store.tree())).name == "Ann Mary Pell"
        with pytest.raises(BadUsage, match=r"matches 2 people: [0-9a-f]{8} Ann Pell; [0-9a-f]{8} Ann Pell"):
            find_person("Ann Pell", case.store.tree())
        with pytest.raises(NothingFound, match="No one in this case is called 'Bob'"):
            find_person("Bob", case.store.tree())
        with pytest.raises(BadUsage, match="The name is empty"):
            find_person("  ", case.store.tree())


def test_an_import_is_taken_once(a_case: Callable[[str], Case], tmp_path: Path) -> None:
    """The same file again adds nothing, and the case is still valid."""
    with a_case(_people("Ann /Pell/", "Bob /Pell/")) as case:
        before = dump(case.store)
        again = import_gedcom(case.store, tmp_path / "tree.ged")
        assert (again.people, again.new_people, again.facts) == (2, 0, 0)
        assert dump(case.store) == before
        assert case.store.verify_audit() == ()


def test_a_person_whom_a_file_marks_as_private_stays_private(a_case: Callable[[str], Case]) -> None:
    """A person marked confidential is hidden in exports, even if the dates say long dead."""
    old = "0 @I1@ INDI\n1 NAME Ann /Pell/\n1 RESN confidential\n1 BIRT\n2 DATE 1801\n1 DEAT\n2 DATE 1850\n"
    with a_case(f"{HEAD}{old}0 TRLR\n") as case:
        assert "Pell" not in case.export("gedcom", "public")
        assert "Pell" in case.export("gedcom", "owner")


def test_a_table_starts_no_formula() -> None:
    """A name that a spreadsheet would reckon with is written as text."""
    tree = ShownTree(
        {"P1": Person("P1", "=cmd|' /C calc'!A0"), "P2": Person("P2", "Ann\nPell"), "P3": Person("P3", "＝1")}
    )
    rows = list(csv.DictReader(io.StringIO(people_table(tree))))
    assert [row["name"] for row in rows] == ["'=cmd|' /C calc'!A0", "Ann Pell", "'＝1"]


def test_forms_are_known_by_name() -> None:
    """Another form is refused, with those there are."""
    assert checked_format("csv") == "csv"
    with pytest.raises(BadUsage, match="'pdf' is not an export format"):
        checked_format("pdf")


def test_an_address_is_shown_as_a_page() -> None:
    """The log says what was looked for as a reader does."""
    assert query_label("zim://1234/A/Edward_VII_of_the_United_Kingdom.html") == "Edward VII of the United Kingdom"
    assert query_label("zim://1234/Zo%C3%AB") == "Zoë"
    assert query_label("Ann Pell") == "Ann Pell"


def test_a_case_asks_no_source_until_it_is_enabled(tmp_path: Path) -> None:
    """What is enabled is for this case alone, and opens the gate for that plugin only."""
    known = load_plugins()
    with Case.empty(tmp_path / "one", CaseSettings()) as one, Case.empty(tmp_path / "two", CaseSettings()) as two:
        assert Switches.of(one.store) == Switches()
        set_plugin(one.store, known.named("find_a_grave"), on=True, terms=True)
        assert Switches.of(one.store) == Switches(on=("find_a_grave",), terms=("find_a_grave",))
        assert Switches.of(two.store) == Switches()
        gate = open_gate(one.store, Switches.of(one.store), {})
        assert gate.permissions.enabled == gate.permissions.terms_acknowledged == frozenset({"find_a_grave"})
        gate.close()
        set_plugin(one.store, known.named("find_a_grave"), on=False)
        assert Switches.of(one.store) == Switches()


def test_no_child_is_left_out_of_the_summary() -> None:
    """Children with only one known parent are shown in addition to those of both, and marked."""
    made = Making()
    mother, father, one, other = (made.person(name) for name in ("Ann", "Bob", "Cyd", "Dan"))
    made.tie("spouse_of", mother, father)
    for parent, child in ((mother, one), (father, one), (mother, other)):
        made.tie("parent_of", parent, child)
    output = " ".join(entry.text for entry in summary(ReportInput(made.tree(), (mother,))))
    assert "Ann and Bob had 1 known child: Cyd." in output
    assert "Ann had 1 more known child whose other parent is not known: Dan." in output


def test_the_summary_counts_nobody_twice() -> None:
    """Two children who may be one count once, and a disputed child is told apart."""
    made = Making()
    mother, father, one, again, other, claimed = map(made.person, ("Ann", "Bob", "Cyd", "Cyd Lee", "Dan", "Eve"))
    made.tie("spouse_of", mother, father)
    for child in (one, again, other):
        made.tie("parent_of", mother, child)
        made.tie("parent_of", father, child)
    made.tie("parent_of", mother, claimed, qualifier="disputed")
    output = [entry.text for entry in summary(ReportInput(made.tree(), (mother,), possible_duplicates=((one, again),)))]
    assert "Ann and Bob had at least 2 known children: Cyd Lee and Dan." in output
    assert "Whether Ann had this child is disputed: Eve." in output


def test_an_endpoint_of_the_user_s_own_is_asked(tmp_path: Path) -> None:
    """Wikidata may be a server that the user names, for this case; of somebody who may live it is asked nothing."""
    with endpoint_of(a_family().store()) as site, Case.empty(tmp_path / "one", CaseSettings()) as case:
        set_plugin(case.store, load_plugins().named("wikidata"), on=True, endpoint=f"{site.address}/sparql")
        opened = open_case_sources(case.store, (), environment={}, clock=site.time.clock())
        assert [source.id for source in opened.sources] == ["wikipedia", "wikidata"]
        with pytest.raises(SourceRefused, match="may be living"):
            opened.sources[1].search(PersonQuery("Osric Vane"))
        assert site.arrivals == []
        found = opened.sources[1].search(PersonQuery("Osric Vane", birth_year=1703, living="deceased"))
        assert found[0].source.title == "Osric Vane"
        opened.close()


@pytest.mark.parametrize("endpoint", ["ftp://here/x", "nonsense", "http://", "http://[", "http://here:999999/"])
def test_an_endpoint_has_to_be_an_address(tmp_path: Path, endpoint: str) -> None:
    """Anything else is refused, and the plugin stays as it was."""
    with Case.empty(tmp_path / "one", CaseSettings()) as case:
        with pytest.raises(BadUsage, match="is not a web address"):
            set_plugin(case.store, load_plugins().named("wikidata"), on=True, endpoint=endpoint)
        assert Switches.of(case.store) == Switches()


@pytest.mark.parametrize("name", ["", "  ", "?!"])
def test_a_case_without_a_name_is_refused_in_words_of_families(name: str) -> None:
    """The error for a new case does not mention topics."""
    with pytest.raises(BadUsage, match="needs a name"):
        new_case_folder(name)
