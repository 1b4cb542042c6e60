"""Families changed on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cases.test_case_editing import PNG

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.imports import import_gedcom
from kiwiresearch.cli.start import run as start
from kiwiresearch.kin.loop.settings import CaseSettings

GEDCOM = (
    "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
    "0 @I1@ INDI\n1 NAME Ida /Marlow/\n1 SEX F\n1 BIRT\n2 DATE 3 MAR 1801\n1 DEAT\n2 DATE 1870\n"
    "0 @I2@ INDI\n1 NAME Otto /Marlow/\n1 FAMC @F1@\n1 DEAT\n2 DATE 1890\n"
    "0 @F1@ FAM\n1 WIFE @I1@\n1 CHIL @I2@\n0 TRLR\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(tmp_path / "home"))
    (tmp_path / "tree.ged").write_text(GEDCOM)
    with Case.empty(tmp_path / "case", CaseSettings()) as case:
        import_gedcom(case.store, tmp_path / "tree.ged")
        case.reevaluate()
    return tmp_path / "case"


def test_a_family_is_changed_by_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command makes one change, says how to undo it, and the history lists them all."""

    def run(*words: str) -> str:
        assert start(["kin", *words, "--case", str(folder)]) == 0, capsys.readouterr()
        return capsys.readouterr().out

    def ids(person: str, field: str) -> list[str]:
        return [one["id"] for one in json.loads(run("evidence", person, field, "--json"))["assertions"]]

    out = run("add", "person", "Zoe Marlow", "--sex", "female", "--note", "my aunt")
    assert out.startswith(
        "Saved: add person; Zoe Marlow; name Zoe Marlow, sex female.\nTo undo it: kiwiresearch kin undo "
    )
    run("add", "fact", "Ida Marlow", "Born", "4 March 1801", "--source", "Register", "--page", "7", "--date", "1801")
    shown = run("evidence", "Ida Marlow", "Born")
    assert "Born: 4 March 1801 ← preferred\n  entered by hand, high confidence; ID " in shown
    assert "3 March 1801\n  competing" in shown
    entered, book = ids("Ida Marlow", "birth_date")
    run("prefer", book[:8])
    run("discard", book[:8])
    run("accept", book[:8])
    run("add", "fact", "Ida Marlow", "Born", "5 March 1801", "--instead-of", entered)
    run("add", "name", "Ida Marlow", "Old Ida")
    run("add", "relative", "Otto Marlow", "spouse", "Zoe Marlow")
    run("add", "relative", "Otto Marlow", "child", "Zoe Marlow", "--new", "--sex", "female")
    run("discard", "Otto Marlow", "--note", "a mistake")
    run("undo")
    run("redo")
    run("undo")
    run("separate", "Ida Marlow", "Otto Marlow")
    run("split", "Ida Marlow", "--facts", book, "--name", "Ida Junior")
    run("merge", "Ida Marlow", "Ida Junior", "--note", "one after all")
    picture = folder / "ida.png"
    picture.write_bytes(PNG)
    run("attach", "Ida Marlow", str(picture), "--caption", "At home")
    lines = [line for line in run("history").splitlines() if not line.startswith("  note")]
    assert len(lines) == 14
    assert sum("(undone)" in line for line in lines) == 1
    edits = json.loads(run("history", "--json", "--privacy", "owner"))["edits"]
    assert (edits[0]["kind"], edits[0]["details"]["caption"]) == ("attach", "At home")
    assert "my aunt" not in run("history", "--json")
    assert "Everything checks out." in run("verify")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("add", "animal", "Rex"), "Cannot add "),
        (("add", "fact", "Ida Marlow", "Born"), "Cannot add "),
        (("add", "fact", "Ida Marlow", "age", "3"), "not a field"),
        (("add", "relative", "Ida Marlow", "boss", "Zoe"), "not a relative"),
        (("attach", "Ida Marlow", "no-such-file.png"), "cannot be read"),
        (("attach", "Ida Marlow", "x.png", "--as", "hat"), "not a kind of file"),
        (("undo",), "nothing to undo"),
        (("prefer", "zzz"), "not the ID of one fact"),
    ],
)
def test_a_command_that_makes_no_sense(
    folder: Path, words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It exits with 2 and a sentence that says what is wrong."""
    assert start(["kin", *words, "--case", str(folder)]) == 2
    assert problem in capsys.readouterr().err
