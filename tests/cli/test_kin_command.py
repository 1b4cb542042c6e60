"""`kiwiresearch kin`: a case from its first page to its exports, on a family that never was."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.kin_book import copied, family_book

from kiwiresearch.cases.case import Case, now
from kiwiresearch.cases.case_location import FolderLocation
from kiwiresearch.cli.kin_output import print_outcome
from kiwiresearch.cli.start import run as start
from kiwiresearch.export import has_browser
from kiwiresearch.kin.loop.item_processor import ResearchStep
from kiwiresearch.kin.loop.progress import STOP_CONDITIONS
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.locks_and_schemas import locked_folder
from kiwiresearch.kin.tree import row_id

RunCommand = Callable[..., tuple[int, str, str]]
GEDCOM = """0 HEAD
1 GEDC
2 VERS 5.5.1
1 CHAR UTF-8
0 @I1@ INDI
1 NAME Josiah /Wendover/
1 SEX M
1 BIRT
2 DATE 4 JUN 1815
2 PLAC Harrowby
1 DEAT
2 DATE 9 MAY 1885
1 FAMS @F1@
0 @I2@ INDI
1 NAME Ann /Pell/
1 SEX F
1 BIRT
2 DATE 1 MAR 1820
1 DEAT
2 DATE 2 APR 1890
1 FAMS @F1@
0 @I3@ INDI
1 NAME Tobias /Wendover/
1 BIRT
2 DATE 1 JAN 1845
1 DEAT
2 DATE 1 FEB 1900
1 FAMC @F1@
0 @F1@ FAM
1 HUSB @I1@
1 WIFE @I2@
1 CHIL @I3@
0 TRLR
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the book, and a case that ran to its end."""
    folder = tmp_path_factory.mktemp("kin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        patch.chdir(folder)
        book = family_book(folder)
        assert start(["kin", "start", "Edmund Wendover", "--book", str(book)]) == 0
        assert start(["kin", "run"]) == 0
    return folder


@pytest.fixture
def here(done: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the command is given."""
    return copied(done, home, tmp_path / "place", monkeypatch)


@pytest.fixture
def empty(done: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with the book and no case."""
    (tmp_path / "place").mkdir()
    shutil.copy2(done / "wendover.zim", tmp_path / "place")
    shutil.copytree(done / "home", home, ignore=shutil.ignore_patterns("state"))
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "place"


def test_a_case_starts_and_says_how_to_continue(kiwi: RunCommand, empty: Path) -> None:
    """`kin start` reads the page of the person, and says where the case is."""
    code, out, err = kiwi("kin", "start", "Edmund Wendover", "--book", "wendover.zim")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Started with Edmund Wendover (1850–1920).",
        "5 relatives found so far, 5 pages left to read.",
        "Case: cases/edmund-wendover",
        "Next: kiwiresearch kin run",
    ]


def test_a_run_ends_with_a_named_reason(kiwi: RunCommand, empty: Path) -> None:
    """A line for each step, then why it stopped; a second run has nothing to do and says the same."""
    kiwi("kin", "start", "Edmund Wendover", "--book", "wendover.zim")
    code, out, err = kiwi("kin", "run")
    assert code == 0
    assert out.splitlines()[1].startswith("Done. The facts about the starting person are")
    assert not any(code in out + err for code in (*STOP_CONDITIONS, "_discovery"))
    assert err.splitlines()[0] == "Case: cases/edmund-wendover"
    assert any("Hugh Wendover: 1 record" in line for line in err.splitlines())
    code, again, err = kiwi("kin", "run")
    assert (code, again, err) == (0, out, "Case: cases/edmund-wendover\n")


def test_a_case_that_found_nothing_new_says_how_to_try_the_rest(
    kiwi: RunCommand, empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is left in its queues is counted; other ends of a case have nothing left to try."""
    kiwi("kin", "start", "Edmund Wendover", "--book", "wendover.zim")
    folder = empty / "cases" / "edmund-wendover"
    with CaseStore.open(folder / "case.sqlite", now) as store, Case(FolderLocation(folder), store, None, 2026) as case:
        for reason, is_offered in (("diminishing_returns", True), ("confidence_achieved", False)):
            print_outcome(case, ResearchStep("stop", "", reason=reason))
            offered = "To try the 5 that are left: kiwiresearch kin run" in capsys.readouterr().out.splitlines()
            assert offered is is_offered


def test_the_budget_is_kept(kiwi: RunCommand, empty: Path) -> None:
    """A case of two records stops for want of more, and says so (R423)."""
    kiwi("kin", "start", "Edmund Wendover", "--book", "wendover.zim", "--budget", "2")
    assert "Stopped. The limit of 2 pages was reached." in kiwi("kin", "run")[1]


def test_steps_come_as_events(kiwi: RunCommand, empty: Path) -> None:
    """`kin step --json` writes a JSON line for each step, which names nobody."""
    kiwi("kin", "start", "Edmund Wendover", "--book", "wendover.zim")
    _, out, _ = kiwi("kin", "step", "--count", "3", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == ["fetch"] * 3
    assert "Wendover" not in out
    last = json.loads(kiwi("kin", "run", "--json")[1].splitlines()[-1])
    assert (last["event"], last["reason"] in STOP_CONDITIONS) == ("stop", True)


def test_steps_and_runs_end_alike(kiwi: RunCommand, here: Path) -> None:
    """It does not matter in how many commands a case was worked on."""
    kiwi("kin", "start", "Edmund Wendover", "--book", "wendover.zim", "--case", "b")
    while '"stop"' not in kiwi("kin", "step", "--count", "4", "--case", "b", "--json")[1]:
        pass
    in_one_run = kiwi("kin", "show", "--json", "--case", "cases/edmund-wendover")
    assert in_one_run == kiwi("kin", "show", "--json", "--case", "b")


def test_a_person_with_the_family_next_to_them(kiwi: RunCommand, here: Path) -> None:
    """`kin show PERSON` takes a name, a part of one, or the beginning of an id."""
    code, out, _ = kiwi("kin", "show", "Hugh")
    assert code == 0
    assert "born: 17 April 1890, Castleford Bay" in out
    assert "siblings: Alice Wendover (1887–1970)" in out
    number = json.loads(kiwi("kin", "show", "Hugh", "--json")[1])["id"]
    assert kiwi("kin", "show", number[:8])[1] == out


def test_the_tree_goes_up_and_down(kiwi: RunCommand, here: Path) -> None:
    """`kin tree` is the pedigree of the starting person, `--down` the descendants."""
    up = kiwi("kin", "tree")[1].splitlines()
    assert up[0] == "Edmund Wendover (1850–1920)"
    assert sorted(up[1:]) == ["  Ann Pell (1820–1890)", "  Josiah Wendover (1815–1885)"]
    assert kiwi("kin", "tree", "--down")[1].splitlines() == [
        "Edmund Wendover (1850–1920) ⚭ Clara Holt",
        "  Alice Wendover (1887–1970)",
        "  Hugh Wendover (1890–1960)",
        "    Ralph Wendover (1925–2001)",
        "      Nora Wendover (b. 1962) ⚭ Peter Lowbridge",
    ]


@pytest.mark.parametrize("shape", ["hourglass", "ancestors", "descendants", "fan"])
def test_the_tree_is_drawn_into_a_file(kiwi: RunCommand, here: Path, shape: str) -> None:
    """`kin tree --shape` writes each shape as a picture or as sheets, without anybody who may be living."""
    for name in ("tree.svg", "tree.html"):
        code, out, _ = kiwi("kin", "tree", "--shape", shape, "--out", name, "--generations", "0")
        text = (here / name).read_text(encoding="utf-8")
        assert (code, out.strip()) == (0, f"Saved: {name}")
        assert "Edmund Wendover" in text
        assert ("Josiah Wendover" in text) == (shape != "descendants")
        assert "Nora Wendover" not in text


@pytest.mark.skipif(not has_browser(), reason="no browser that prints is installed")
def test_the_tree_is_printed(kiwi: RunCommand, here: Path) -> None:
    """A file that ends in .pdf has the sheets; the file says what it is and which program made it."""
    assert kiwi("kin", "tree", "Hugh Wendover", "--out", "tree.pdf", "--paper", "a3")[0] == 0
    content = (here / "tree.pdf").read_bytes()
    assert content.startswith(b"%PDF-")


def test_a_drawing_that_is_not_known_is_refused(kiwi: RunCommand, here: Path) -> None:
    """Shape, paper and the ending of the file are checked before anything is written."""
    for options, problem in (
        (("--shape", "star"), "'star' is not a shape"),
        (("--shape", "fan", "--paper", "a5"), "'a5' is not a paper size"),
        (("--shape", "fan", "--out", "tree.png"), "does not say what to write"),
    ):
        code, _, said = kiwi("kin", "tree", *options)
        assert (code, problem in said) == (2, True), said
    assert list(here.glob("tree.*")) == []


def test_every_value_has_its_quote(kiwi: RunCommand, here: Path) -> None:
    """`kin evidence` shows the words, the page and its address, the class of evidence and the status (R326)."""
    code, out, _ = kiwi("kin", "evidence", "Hugh Wendover", "Born")
    assert code == 0
    assert "Born: 17 April 1890\n  accepted, medium confidence; ID " in out
    assert "“Born 17 April 1890" in out
    assert "Hugh Wendover, Wendover book" in out
    assert "<zim://" in out
    assert "authored source, " in out
    assert "direct evidence; read from the infobox" in out
    rows = json.loads(kiwi("kin", "evidence", "Hugh Wendover", "--json")[1])["assertions"]
    assert all(row["evidence"] for row in rows)
    assert {"birth_date", "death_place", "father", "child"} <= {row["field"] for row in rows}


def test_kinship_in_words(kiwi: RunCommand, here: Path) -> None:
    """`kin relation A B` says what B is to A, and by which way."""
    out = kiwi("kin", "relation", "Josiah", "Ralph")[1]
    assert out.splitlines()[0] == "Relationship of Ralph Wendover to Josiah Wendover: great-grandchild"
    assert "Edmund Wendover (son)" in out


def test_the_log_has_what_was_not_found(kiwi: RunCommand, here: Path) -> None:
    """`kin log` lists searches that found nothing, and says that they prove nothing."""
    out = kiwi("kin", "log")[1]
    assert "Peter Lowbridge (wikipedia): no results" in out
    assert "does not prove that there is nothing" in out


def test_events_in_the_order_of_time(kiwi: RunCommand, here: Path) -> None:
    """`kin timeline` goes from the first birth to the last, with ages."""
    lines = kiwi("kin", "timeline")[1].splitlines()
    assert lines[0] == "4 June 1815: birth of Josiah Wendover, Harrowby"
    assert "3 November 1920: death of Edmund Wendover, Castleford Bay (aged 70)" in lines


def test_a_case_without_conflicts_or_merges_says_so(kiwi: RunCommand, here: Path) -> None:
    """An empty answer is a sentence, not silence."""
    assert "No conflicts found" in kiwi("kin", "conflicts")[1]
    assert "No merges" in kiwi("kin", "merges")[1]


@pytest.mark.parametrize(
    ("form", "file", "beginning"),
    [
        ("gedcom", "family.ged", "0 HEAD"),
        ("gedcom7", "family.7.ged", "0 HEAD"),
        ("gedcomx", "family.gedx.json", "{"),
        ("json", "family.json", "{"),
        ("markdown", "family.md", "# The family of Edmund Wendover"),
        ("html", "family.html", "<!doctype html>"),
        ("csv", "family.csv", "id,name,"),
    ],
)
def test_each_form_is_written(kiwi: RunCommand, here: Path, form: str, file: str, beginning: str) -> None:
    """`kin export --to FORM` writes a whole file into the case, or where --out says."""
    assert kiwi("kin", "export", "--to", form)[0] == 0
    text = (here / "cases/edmund-wendover" / file).read_text(encoding="utf-8-sig")
    assert text.lower().startswith(beginning.lower())
    assert "Hugh" in text
    kiwi("kin", "export", "--to", form, "--out", "elsewhere/file")
    assert (here / "elsewhere/file").read_bytes() == (here / "cases/edmund-wendover" / file).read_bytes()


def test_a_case_that_passes(kiwi: RunCommand, here: Path) -> None:
    """`kin verify` checks the log, the quotes, the pages and the GEDCOM, with a head that an export printed."""
    head = json.loads(kiwi("kin", "export", "--json")[1])["audit_head"]
    code, out, _ = kiwi("kin", "verify", "--head", head)
    assert (code, out.splitlines()[-1]) == (0, "Everything checks out.")
    proved = json.loads(kiwi("kin", "verify", "--json")[1])
    assert proved["holds"] is True
    assert proved["proved"]["sources"] == 8
    assert kiwi("kin", "verify", "--head", "f" * 64)[0] == 1


def test_a_quote_that_was_changed_is_found(kiwi: RunCommand, here: Path) -> None:
    """If a quote is not what the source says, `kin verify` names it, and the exit code is 1 (R408)."""
    with sqlite3.connect(here / "cases/edmund-wendover/case.sqlite") as database:
        _drop_triggers(database)
        database.execute("UPDATE evidence_claim SET citation_snippet = 'Born 1 May 1891' WHERE span_start >= 0")
    database.close()
    code, out, _ = kiwi("kin", "verify")
    assert code == 1
    assert "its source does not contain the quote at that position." in out
    assert out.splitlines()[-1].endswith("problems found.")


def test_a_log_that_was_changed_is_found(kiwi: RunCommand, here: Path) -> None:
    """A row of the audit log that is not as it was written is reported by its number (R329)."""
    with sqlite3.connect(here / "cases/edmund-wendover/case.sqlite") as database:
        _drop_triggers(database)
        database.execute("UPDATE audit_log SET action_type = 'nothing' WHERE seq = 7")
    database.close()
    code, out, _ = kiwi("kin", "verify")
    assert (code, "✗ log, row 7: " in out) == (1, True)


def _drop_triggers(database: sqlite3.Connection) -> None:
    """As somebody does who wants to change what is meant to stay."""
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {name}")


def test_a_case_whose_book_is_gone(kiwi: RunCommand, here: Path) -> None:
    """What is known can be read and proved without the book; to go on it is needed."""
    with CaseStore.open(here / "cases/edmund-wendover/case.sqlite", now) as store:
        store.set_state("book_places", [str(here / "lost.zim")])
    assert kiwi("kin", "show")[0] == 0
    code, out, err = kiwi("kin", "verify")
    assert code == 0
    assert "Verifying without the books" in err
    assert "8 sources could only be compared with the saved text" in out
    assert kiwi("kin", "run")[0] == 1


def test_a_tree_of_another_program(kiwi: RunCommand, here: Path) -> None:
    """`kin import` takes a GEDCOM file in and merges nobody; the user merges whom it names, and can undo that."""
    (here / "cousins.ged").write_text(GEDCOM)
    code, out, _ = kiwi("kin", "import", "cousins.ged")
    assert (code, out.splitlines()[0]) == (0, "Read: 3 people, 3 relationships. New: 3 people, 15 facts.")
    assert "possible duplicates. To decide: kiwiresearch kin merges" in out
    merges = json.loads(kiwi("kin", "merges", "--json", "--privacy", "owner")[1])
    assert merges["merges"] == []
    found = {one["members"][0]["name"]: one for one in merges["to_review"]}
    assert found.keys() >= {"Josiah Wendover", "Ann Pell"}
    assert all(one["why"] for one in found.values())
    for one in found.values():
        assert kiwi("kin", "merges", "--accept", one["id"][:8])[0] == 0
    assert "siblings: Tobias Wendover (1845–1900)" in kiwi("kin", "show", "Edmund")[1]
    assert kiwi("kin", "verify")[0] == 0
    merged = json.loads(kiwi("kin", "merges", "--json")[1])["merges"]
    merge = next(one["id"] for one in merged if one["person"] == "Josiah Wendover")
    assert kiwi("kin", "unmerge", merge[:8])[1] == f"Undone: {merge[:8]}\n"
    after = json.loads(kiwi("kin", "merges", "--json")[1])
    assert [one["state"] for one in after["merges"] if one["id"] == merge] == ["reverted"]
    assert not [one for one in after["to_review"] if merge == one["id"]]


def test_a_file_can_start_a_case(kiwi: RunCommand, empty: Path) -> None:
    """If there is no case, `kin import` starts one named like the file."""
    (empty / "cousins.ged").write_text(GEDCOM)
    assert kiwi("kin", "import", "cousins.ged")[0] == 0
    assert (empty / "cases/cousins/case.sqlite").is_file()
    assert "Tobias Wendover" in kiwi("kin", "show")[1]


def test_the_user_says_who_lives(kiwi: RunCommand, here: Path) -> None:
    """`kin living` wins over the rules, wants a reason, and exports follow it."""
    assert kiwi("kin", "living", "Nora", "--set", "deceased")[0] == 2
    assert "Nora" not in _exported(kiwi, here)
    code, out, _ = kiwi("kin", "living", "Nora", "--set", "deceased", "--why", "her daughter wrote")
    assert (code, out) == (0, "Nora Wendover: deceased. Set by hand: her daughter wrote.\n")
    assert "Nora" in _exported(kiwi, here)
    assert "daughter" not in kiwi("kin", "living", "Nora", "--json")[1], "a reason may name anybody"
    kiwi("kin", "living", "Hugh", "--set", "living", "--why", "a wish")
    assert "Hugh" not in _exported(kiwi, here)


def _exported(kiwi: RunCommand, here: Path) -> str:
    kiwi("kin", "export")
    return (here / "cases/edmund-wendover/family.ged").read_text(encoding="utf-8-sig")


def test_the_network_is_off_until_switched_on(kiwi: RunCommand, here: Path) -> None:
    """`kin plugins` says what is sent to which host; a source is on only if the user enabled it, for this case."""
    rows = {row["id"]: row for row in json.loads(kiwi("kin", "plugins", "--json")[1])["plugins"]}
    assert {name for name, row in rows.items() if row["on"]} == {"wikipedia"}
    assert rows["wikidata"]["hosts"] == ["query.wikidata.org"]
    code, out, _ = kiwi("kin", "plugins", "on", "wikidata")
    assert (code, out.splitlines()[0]) == (0, "wikidata: Wikidata (tier 1), on")
    assert "people known to have died" in out
    assert kiwi("kin", "plugins", "off", "wikidata")[1].splitlines()[0].endswith("off")


def test_a_plugin_can_be_tried_without_a_case(kiwi: RunCommand, empty: Path) -> None:
    """`kin plugins check` runs the pages that a plugin brings, and reads a file that is given."""
    assert kiwi("kin", "plugins", "check", "find_a_grave")[0] == 0
    (empty / "bad.yaml").write_text("plugin_id: bad\n")
    code, out, err = kiwi("kin", "plugins", "check", "bad.yaml")
    assert (code, out) == (1, "")
    assert "'display_name': missing" in err


def test_one_page_as_a_case_would_read_it(kiwi: RunCommand, empty: Path) -> None:
    """`kin extract` gives the person of a page, and every assertion with the place of its quote."""
    row = json.loads(kiwi("kin", "extract", "Hugh Wendover", "--book", "wendover.zim", "--json")[1])
    assert row["person"]["birth"] == "1890-04-17"
    assert row["person"]["children"] == ["Ralph Wendover"]
    assert sorted(row["person"]["parents"]) == ["Clara Holt", "Edmund Wendover"]
    assert all(one["quote"] and one["end"] - one["start"] == len(one["quote"]) for one in row["assertions"])


def test_many_pages_at_once(kiwi: RunCommand, empty: Path) -> None:
    """`kin extract --batch` writes a line for each row, in order; a bad row says so and makes the exit code 1."""
    rows = [{"path": "Clara_Holt"}, {"path": "Nobody_Here"}, {"path": "Ann_Pell"}]
    (empty / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\nno json\n")
    code, out, _ = kiwi("kin", "extract", "--batch", "rows.jsonl", "--book", "wendover.zim")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [one["path"] for one in found] == ["Clara_Holt", "Nobody_Here", "Ann_Pell", ""]
    assert [one["person"] and one["person"]["name"] for one in found] == ["Clara Holt", None, "Ann Pell", None]
    assert ["error" in one for one in found] == [False, True, False, True]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["show", "Nobody"], 3, "No one in this case is called 'Nobody'."),
        (["show", "Wendover"], 2, "'Wendover' matches 6 people: "),
        (["show", ""], 0, ""),
        (["show", "--case", "nowhere"], 2, "No case was found in 'nowhere'."),
        (["show", "--case", "."], 2, "No case was found in '.'."),
        (["show", "--privacy", "none"], 2, "'none' is not a privacy mode."),
        (["evidence", "Hugh", "shoe_size"], 2, "'shoe_size' is not a field."),
        (["export", "--to", "pdf"], 2, "'pdf' is not an export format."),
        (["export", "--out", "cases"], 2, "'cases' is a folder."),
        (["export", "--out", "cases/edmund-wendover/case.sqlite"], 2, "is the name of the case file itself"),
        (["unmerge", "zzzz"], 2, "No merge has the ID 'zzzz'."),
        (["merges", "--accept", "zzzz"], 2, "No possible duplicate has the ID 'zzzz'."),
        (["step", "--count", "0"], 2, "--count cannot be 0."),
        (["plugins", "on", "myspace"], 1, "The plugin 'myspace' was not found."),
        (["plugins", "paint", "wikidata"], 2, "'paint' is not an action for plugins."),
        (["plugins", "on", "wikipedia"], 2, "Your books are always used"),
        (["living", "Hugh", "--set", "asleep", "--why", "x"], 2, "'asleep' is not a valid status."),
        (["import", "missing.ged"], 2, "'missing.ged' cannot be read"),
        (["import", "wendover.zim"], 2, "is not a GEDCOM file"),
        (
            ["start", "Edmund Wendover", "-b", "wendover.zim"],
            1,
            "The folder 'cases/edmund-wendover' already contains a case.",
        ),
        (["start", "Zebulon Quux", "-b", "wendover.zim"], 3, "No page about 'Zebulon Quux' was found"),
        (
            ["start", "Zebulon", "Quux", "-b", "wendover.zim"],
            3,
            "If this is one name, put it in quotes: 'Zebulon Quux'.",
        ),
        (["start", " ", "-b", "wendover.zim"], 2, "The name is empty. Enter the name of a person"),
        (["start", "Ann Pell", "-g", "-1", "-b", "wendover.zim"], 2, "'generations' cannot be -1."),
        (["start"], 2, "Missing argument"),
        (["extract"], 2, "Enter the title of a page, or give a file with --batch FILE."),
        (["extract", "Nobody Here", "-b", "wendover.zim"], 3, "No page named 'Nobody Here' was found in your books."),
        (["fly"], 2, "No such command 'fly'."),
    ],
)
def test_bad_input_is_explained(kiwi: RunCommand, here: Path, words: list[str], code: int, message: str) -> None:
    """What cannot be done is one sentence on standard error, with the exit code of its kind."""
    found, out, err = kiwi("kin", *words)
    assert found == code
    assert message in err
    assert "Traceback" not in err
    assert (out == "") == bool(code)


def test_a_person_who_is_not_found_leaves_nothing_behind(kiwi: RunCommand, empty: Path) -> None:
    """A case that could not be started is not created: the folder is as it was."""
    kiwi("kin", "start", "Zebulon Quux", "--book", "wendover.zim")
    assert not list(empty.glob("cases/*"))
    assert kiwi("kin", "show")[2] == (
        "kiwiresearch: There are no cases in this folder yet. To start one: kiwiresearch kin start 'NAME'\n"
    )


@pytest.mark.parametrize("content", [b"", b"not a database at all", b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_not_a_case_is_an_error(kiwi: RunCommand, here: Path, content: bytes) -> None:
    """A damaged case, or another file in its place, is an error that says so."""
    (here / "cases/edmund-wendover/case.sqlite").write_bytes(content)
    code, out, err = kiwi("kin", "show")
    assert (code, out, "Traceback" in err) == (1, "", False)


def test_only_one_command_changes_a_case(kiwi: RunCommand, here: Path) -> None:
    """Another command that would write is refused; one that reads is not."""
    with locked_folder(here / "cases/edmund-wendover"):
        code, _, err = kiwi("kin", "run")
        assert (code, "Another command is working on the case" in err) == (1, True)
        assert kiwi("kin", "show")[0] == 0
    assert kiwi("kin", "run")[0] == 0


def test_decisions_of_the_user_are_kept(kiwi: RunCommand, here: Path) -> None:
    """A proposal can be accepted or rejected by the start of its id, and the refusal undone."""
    store = CaseStore.open(here / "cases/edmund-wendover/case.sqlite", now)
    people = store.tree().persons
    pair = sorted(one for one, person in people.items() if person.name in ("Alice Wendover", "Clara Holt"))
    row = {
        "candidate_pair": pair,
        "similarity_score": 0.9,
        "merge_rationale": "alike",
        "why_not_merge": "mother and daughter",
        "recommended_action": "review",
    }
    store.set_state("proposals", [row])
    store.close()
    number = row_id("proposal", *pair)
    assert number[:8] in kiwi("kin", "merges")[1]
    code, out, err = kiwi("kin", "merges", "--reject", number[:8], "--why", "two people")
    assert (code, f"Kept separate: {number[:8]}." in err, number[:8] in out) == (0, True, False)
    assert kiwi("kin", "merges", "--accept", number[:8])[0] == 2
    apart = row_id("apart", *pair)[:8]
    lines = out.splitlines()
    at = lines.index("Kept separate")
    assert lines[at + 1].startswith(f"  {apart}  ")
    assert {name for name in ("Alice Wendover", "Clara Holt") if name in lines[at + 1]} == {
        "Alice Wendover",
        "Clara Holt",
    }
    assert lines[at + 2 :] == ["    reason: two people", "To undo this: kiwiresearch kin merges --take-back ID"]
    code, out, err = kiwi("kin", "merges", "--take-back", apart, "--why", "a mistake")
    assert (code, f"No longer kept separate: {apart}." in err, "Kept separate" in out) == (0, True, False)
    assert kiwi("kin", "merges", "--take-back", apart)[0] == 2
    store = CaseStore.open(here / "cases/edmund-wendover/case.sqlite", now)
    store.set_state("proposals", [row])
    store.close()
    assert kiwi("kin", "merges", "--accept", number[:8], "--why", "one grave")[0] == 0
    store = CaseStore.open(here / "cases/edmund-wendover/case.sqlite", now)
    assert [one.why_not_split for one in store.merges.all() if one.decided_by == "user"] == ["one grave"]
    store.close()
