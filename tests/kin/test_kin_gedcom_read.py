"""GEDCOM files are read whatever they get wrong, and refused where they are none."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kin.families import RealFamily

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom import lines, reader
from kiwiresearch.kin.gedcom.dates import read_date, write_date
from kiwiresearch.kin.gedcom.kept_lines import TagCount
from kiwiresearch.kin.gedcom.reader import ReadGedcom, read_gedcom
from kiwiresearch.kin.tree import Fact, Person

HEAD = "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n2 FORM LINEAGE-LINKED\n1 CHAR UTF-8\n"
HEAD_7 = "0 HEAD\n1 GEDC\n2 VERS 7.0\n"


def a_file(folder: Path, body: str, head: str = HEAD) -> ReadGedcom:
    path = folder / "tree.ged"
    path.write_text(f"{head}{body}0 TRLR\n", encoding="utf-8")
    return read_gedcom(path)


def person(found: ReadGedcom, xref: str = "I1") -> Person:
    return next(one for one in found.tree.persons.values() if one.external["gedcom"] == f"tree.ged#{xref}")


def facts(found: ReadGedcom, field: str) -> list[Fact]:
    return sorted((fact for fact in found.tree.facts if fact.field == field), key=lambda fact: not fact.preferred)


@pytest.mark.parametrize(
    ("written", "edtf"),
    [
        ("5 JUN 1944", "1944-06-05"),
        ("JUN 1944", "1944-06"),
        ("1944", "1944"),
        ("ABT 1567", "1567~"),
        ("CAL 1567", "1567~"),
        ("EST 1567", "1567~"),
        ("BEF 23 APR 1564", "[..1564-04-23]"),
        ("AFT 1700", "[1700..]"),
        ("BET 1700 AND 3 FEB 1701", "[1700..1701-02-03]"),
        ("FROM 1914 TO 1918", "1914/1918"),
        ("FROM 1960", "1960/.."),
        ("TO 1801", "../1801"),
        ("11 FEB 1731/32", "1732-02-11"),
        ("24 MAR 1731/32", "1732-03-24"),
        ("MAR 1731/32", "[1732-03-01..1732-03-31]"),
        ("25 MAR 1731/32", "1731-03-25"),
        ("10 NOV 1731/32", "1731-11-10"),
        ("1731/32", "[1731..1732]"),
        ("@#DJULIAN@ 11 FEB 1731", "1731-02-11"),
        ("JULIAN 11 FEB 1731", "1731-02-11"),
        ("BET @#DJULIAN@ 1700 AND @#DJULIAN@ 1701", "[1700..1701]"),
        ("44 B.C.", "-0043"),
        ("15 MAR 44 BCE", "-0043-03-15"),
        ("INT 1850 (about the middle of the century)", "1850"),
        ("abt. 1850", "1850~"),
        ("c. 1850", "1850~"),
        ("<1850>", "1850"),
        ("1850?", "1850"),
    ],
)
def test_dates_become_the_days_they_mean(written: str, edtf: str) -> None:
    """A date of GEDCOM is the range of days it means, with its qualifier and calendar."""
    when = read_date(written)
    assert when is not None
    assert when.edtf() == edtf
    for version in ("5.5.1", "7.0"):
        again = write_date(when, "5.5.1" if version == "5.5.1" else "7.0")
        assert read_date(again) == when, again


@pytest.mark.parametrize(
    "written", ["31 FEB 1900", "10 JAN", "1056/1060", "unknown", "0", "BET 1900 AND 1800", "9" * 500]
)
def test_an_invalid_date_has_no_days(written: str) -> None:
    """A date that names no day of any calendar does not get one."""
    assert read_date(written) is None


def test_dates_of_other_calendars_are_kept_as_written(tmp_path: Path) -> None:
    """French and Hebrew dates stay verbatim, without a range and without a complaint."""
    body = "0 @I1@ INDI\n1 NAME A /B/\n1 BIRT\n2 DATE @#DFRENCH R@ 12 VEND 3\n1 DEAT\n2 DATE @#DHEBREW@ 5 TSH 5500\n"
    found = a_file(tmp_path, body)
    assert [(fact.value, fact.when) for fact in facts(found, "birth_date")] == [("@#DFRENCH R@ 12 VEND 3", None)]
    assert [(fact.value, fact.when) for fact in facts(found, "death_date")] == [("@#DHEBREW@ 5 TSH 5500", None)]
    assert found.notes == ()


def test_a_person_is_read_with_the_lines_that_say_it(tmp_path: Path) -> None:
    """A fact without a source rests on the file's own lines, letter for letter."""
    body = "0 @I1@ INDI\n1 NAME William /Wood/ Jr.\n1 SEX M\n1 CHR\n2 DATE 26 APR 1564\n2 PLAC Stratford,  England\n"
    found = a_file(tmp_path, body)
    assert person(found).name == "William Wood Jr."
    assert (person(found).sex, person(found).living, person(found).is_dead) == ("male", "unknown", False)
    (baptism,) = facts(found, "baptism_date")
    text = (tmp_path / "tree.ged").read_text(encoding="utf-8")
    (evidence,) = baptism.evidence
    assert (
        text[evidence.start : evidence.end]
        == evidence.snippet
        == "1 CHR\n2 DATE 26 APR 1564\n2 PLAC Stratford,  England"
    )
    assert evidence.locator == "I1, line 9"
    assert [fact.value for fact in facts(found, "baptism_place")] == ["Stratford, England"]
    assert found.tree.sources[evidence.source].url == "gedcom:tree.ged"


def test_sources_are_the_evidence(tmp_path: Path) -> None:
    """A cited source is the evidence, with the place in it, its words and how good it is."""
    body = (
        "0 @I1@ INDI\n1 NAME A /B/\n1 BIRT\n2 DATE 1800\n2 SOUR @S1@\n3 PAGE p. 12\n3 DATA\n4 DATE 1 MAY 2020\n"
        "4 TEXT Born in the year\n5 CONC  1800,\n5 CONT as they say.\n3 QUAY 3\n2 SOUR @S1@\n3 PAGE p. 13\n"
        "0 @S1@ SOUR\n1 TITL Parish register\n"
    )
    found = a_file(tmp_path, body)
    (birth,) = facts(found, "birth_date")
    rows = [(one.locator, one.snippet, one.reliability, one.directness) for one in birth.evidence]
    assert rows == [
        ("p. 12", "Born in the year 1800,\nas they say.", 0.85, "direct"),
        ("p. 13", "2 SOUR @S1@\n3 PAGE p. 13", 0.4, "indirect"),
    ]
    source = found.tree.sources[birth.evidence[0].source]
    assert (source.url, source.title, source.accessed_at) == ("gedcom:tree.ged#S1", "Parish register", "2020-05-01")


def test_families_become_ties_with_their_qualifiers(tmp_path: Path) -> None:
    """Marriage, divorce, adoption and kinds of parents are kept as the file has them."""
    body = (
        "0 @I1@ INDI\n1 NAME Father\n1 SEX M\n0 @I2@ INDI\n1 NAME Mother\n1 SEX F\n"
        "0 @I3@ INDI\n1 NAME Foster child\n1 FAMC @F1@\n2 PEDI foster\n"
        "0 @I4@ INDI\n1 NAME Adopted by her\n1 FAMC @F1@\n1 ADOP\n2 FAMC @F1@\n3 ADOP WIFE\n"
        "0 @I5@ INDI\n1 NAME Stepchild of him\n1 FAMC @F1@\n2 STAT challenged\n"
        "0 @F1@ FAM\n1 HUSB @I1@\n1 WIFE @I2@\n1 CHIL @I3@\n1 CHIL @I4@\n1 CHIL @I5@\n2 _FREL step\n2 _MREL Natural\n"
        "1 MARR\n2 DATE 1 MAY 1900\n1 DIV\n2 DATE 1910\n"
    )
    found = a_file(tmp_path, body)
    names = {number: one.name for number, one in found.tree.persons.items()}
    ties = {
        (tie.kind, *sorted((names[tie.first], names[tie.second]))): (tie.qualifier, tie.status)
        for tie in found.tree.relationships
    }
    assert ties == {
        ("spouse_of", "Father", "Mother"): ("divorced", "unverified"),
        ("parent_of", "Father", "Foster child"): ("foster", "unverified"),
        ("parent_of", "Foster child", "Mother"): ("foster", "unverified"),
        ("parent_of", "Adopted by her", "Father"): ("", "unverified"),
        ("parent_of", "Adopted by her", "Mother"): ("adoptive", "unverified"),
        ("parent_of", "Father", "Stepchild of him"): ("step", "disputed"),
        ("parent_of", "Mother", "Stepchild of him"): ("biological", "disputed"),
    }
    (union,) = (tie for tie in found.tree.relationships if tie.kind == "spouse_of")
    assert union.start is not None
    assert union.end is not None
    assert (union.start.edtf(), union.end.edtf()) == ("1900-05-01", "1910")


def test_version_7_is_read(tmp_path: Path) -> None:
    """GEDCOM 7 says the same with other words: EXID, phrases, NO, pointers to nothing."""
    body = (
        "0 @I1@ INDI\n1 NAME @@home /Person/\n1 BIRT\n2 DATE BET 1101 AND 1200\n3 PHRASE 12th century\n"
        "1 EXID Q42\n2 TYPE http://www.wikidata.org/entity/\n1 NO DEAT\n1 FAMC @VOID@\n"
    )
    found = a_file(tmp_path, body, HEAD_7)
    assert person(found).name == "@home Person"
    assert person(found).external["wikidata"] == "Q42"
    assert person(found).living == "living"
    birth = person(found).birth
    assert birth is not None
    assert birth.precision == "century"
    assert found.notes == ()


def test_confidential_people_are_marked(tmp_path: Path) -> None:
    """A person whom the file marks as confidential counts as living, and is marked."""
    found = a_file(tmp_path, "0 @I1@ INDI\n1 RESN confidential\n1 NAME A /B/\n1 DEAT Y\n0 @I2@ INDI\n1 NAME C /D/\n")
    assert found.restricted == (person(found).id,)
    assert (person(found).living, person(found, "I2").living) == ("living", "unknown")


@pytest.mark.parametrize(("head", "sexes"), [(HEAD, ("male", "female", "")), (HEAD_7, ("", "", ""))])
def test_husbands_and_wives_have_a_sex(head: str, sexes: tuple[str, ...], tmp_path: Path) -> None:
    """In version 5.5.1 a husband is a man and a wife a woman, unless somebody is both; version 7 does not say so."""
    body = "".join(f"0 @I{at}@ INDI\n1 NAME P{at}\n" for at in (1, 2, 3))
    body += "0 @F1@ FAM\n1 HUSB @I1@\n1 WIFE @I2@\n0 @F2@ FAM\n1 HUSB @I3@\n0 @F3@ FAM\n1 WIFE @I3@\n"
    found = a_file(tmp_path, body, head)
    assert tuple(person(found, f"I{at}").sex for at in (1, 2, 3)) == sexes
    unknown = a_file(tmp_path, body.replace("NAME P1\n", "NAME P1\n1 SEX U\n"), head)
    assert person(unknown, "I1").sex == "", "the file says that it is unknown"


def test_a_death_that_says_nothing_is_none(tmp_path: Path) -> None:
    """An empty DEAT does not make anybody dead; 'Y', a date or a burial does."""
    rows = {"I1": "1 DEAT\n", "I2": "1 DEAT Y\n", "I3": "1 DEAT\n2 DATE 1900\n", "I4": "1 BURI\n2 PLAC Here\n"}
    found = a_file(tmp_path, "".join(f"0 @{xref}@ INDI\n1 NAME A\n{row}" for xref, row in rows.items()))
    assert {xref: person(found, xref).is_dead for xref in rows} == {"I1": False, "I2": True, "I3": True, "I4": True}


def test_bad_lines_are_noted_with_their_number(tmp_path: Path) -> None:
    """What cannot be read is left out and noted with its line; the rest is read."""
    body = (
        "0 @I1@ INDI\n1 NAME A /B/\nnonsense\n5 DATE 1900\n1 BIRT\n2 DATE 31 FEB 1900\n1 FAMS @F9@\n1 RESI\n"
        "0 @I1@ INDI\n1 NAME Again\n0 @F1@ FAM\n1 HUSB @I1@\n1 WIFE @I1@\n1 CHIL @I1@\n"
    )
    found = a_file(tmp_path, body)
    assert found.notes == (
        "Line 8: not a GEDCOM line; skipped",
        "Line 9: its level is 5, but after the line before it can be at most 2; skipped",
        "Line 14: 'I1' was already used; this record was skipped",
        "Line 11: '31 FEB 1900' is not a date that can be understood; kept as written",
        "Line 18: 'I1' is listed as both partners of 'F1'",
        "Line 19: 'I1' is both child and parent in 'F1'; skipped",
        "Line 19: 'I1' is both child and parent in 'F1'; skipped",
        "Line 12: FAMS points to '@F9@', but the file has no FAM record of that name",
        "INDI was left out: 1 line, first in line 14.",
        "INDI.FAMS was left out: 1 line, first in line 12.",
        "INDI.NAME was left out: 1 line, first in line 15.",
    )
    assert len(found.tree.persons) == 1


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is not a GEDCOM file"),
        (b"<html>0 HEAD</html>", "is not a GEDCOM file"),
        (b"0 HEAD\n", "is not a GEDCOM file"),
        (b"\x00\x01\x02" * 100, "is not a GEDCOM file"),
        (b"PK\x03\x04 not a zip", "cannot be unpacked"),
    ],
)
def test_a_file_that_is_not_gedcom_is_refused(data: bytes, what: str, tmp_path: Path) -> None:
    """A file that is not GEDCOM gets an error that says so and what to do."""
    path = tmp_path / "tree.ged"
    path.write_bytes(data)
    with pytest.raises(BadUsage, match=what) as caught:
        read_gedcom(path)
    assert caught.value.remedy
    with pytest.raises(BadUsage, match="cannot be read"):
        read_gedcom(tmp_path / "missing.ged")
    with pytest.raises(BadUsage, match="cannot be read"):
        read_gedcom(tmp_path)


def test_a_zip_is_unpacked_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree of a .gdz is read; one that would fill the memory is refused."""
    path = tmp_path / "tree.gdz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("gedcom.ged", f"{HEAD_7}0 @I1@ INDI\n1 NAME A\n" + "1 NOTE x\n" * 1000 + "0 TRLR\n")
    assert len(read_gedcom(path).tree.persons) == 1
    monkeypatch.setattr(reader, "MAX_FILE_BYTES", 5000)
    with pytest.raises(BadUsage, match="is too large: the limit is"):
        read_gedcom(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "")
    with pytest.raises(BadUsage, match=r"does not contain 'gedcom\.ged'"):
        read_gedcom(path)


def test_depth_length_and_notes_are_limited(tmp_path: Path) -> None:
    """Lines that are too deep or too long are left out, and a broken file does not give endless notes."""
    deep = "".join(f"{level} TAG\n" for level in range(1, 99))
    body = f"0 @I1@ INDI\n1 NAME A\n{deep}1 NOTE {'x' * lines.MAX_LINE_LENGTH}\n" + "?\n" * 500
    found = a_file(tmp_path, body)
    assert person(found).name == "A"
    assert len(found.notes) < lines.MAX_NOTES + 10
    assert any("more notes of this kind" in note for note in found.notes)


ACCENTED = "0 @I1@ INDI\n1 NAME Søren /Müller-Łódź/\n"


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "ANSEL"),
        ("utf-16", "UNICODE"),
        ("utf-16-le", "UNICODE"),
        ("utf-16-be", "UNICODE"),
        ("utf-8", "ANSEL"),
    ],
)
def test_files_in_any_unicode_are_read(encoding: str, named: str, tmp_path: Path) -> None:
    """The letters come out right, with a byte order mark or without, whatever the head claims."""
    path = tmp_path / "tree.ged"
    path.write_bytes((HEAD.replace("UTF-8", named) + ACCENTED + "0 TRLR\n").encode(encoding))
    assert person(read_gedcom(path)).name == "Søren Müller-Łódź"


@pytest.mark.parametrize(
    ("data", "named", "name"),
    [
        (b"S\xb2ren M\xe8uller \xa1\xe2od\xe2z", "ANSEL", "Søren Müller Łódź"),
        ("Jürgen Groß".encode("cp1252"), "ANSI", "Jürgen Groß"),
        ("Jürgen Groß".encode("cp437"), "IBMPC", "Jürgen Groß"),
        ("Jürgen Groß".encode("mac_roman"), "MACINTOSH", "Jürgen Groß"),
        ("Jürgen Groß".encode("cp1252"), "UTF-8", "Jürgen Groß"),
    ],
)
def test_files_in_old_character_sets_are_read(data: bytes, named: str, name: str, tmp_path: Path) -> None:
    """ANSEL, ANSI and the sets of old machines come out right, and a wrong claim is noted."""
    path = tmp_path / "tree.ged"
    path.write_bytes(HEAD.replace("UTF-8", named).encode() + b"0 @I1@ INDI\r1 NAME " + data + b"\r0 TRLR\r")
    found = read_gedcom(path)
    assert person(found).name == name
    assert bool(found.notes) == (named == "UTF-8")


TAGS = ("INDI", "FAM", "NAME", "BIRT", "DATE", "SOUR", "MARR", "FAMC", "HUSB", "CHIL", "NOTE", "CONC", "PEDI", "@I1@")


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.sampled_from(TAGS),
            st.text(st.sampled_from("@I1/ 9JANBET\t()#D"), max_size=12),
        ),
        max_size=25,
    )
)
def test_no_lines_make_reading_fail(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, str]]) -> None:
    """Whatever the lines say, reading ends with a tree and notes."""
    path = tmp_path_factory.getbasetemp() / "random.ged"
    body = "".join(f"{level} {'@I1@ INDI' if tag == '@I1@' else tag} {value}\n" for level, tag, value in rows)
    path.write_text(HEAD + body + "0 TRLR\n", encoding="utf-8")
    found = read_gedcom(path)
    assert all(fact.evidence and fact.evidence[0].snippet for fact in found.tree.facts)


def test_what_a_tree_cannot_represent_is_counted(tmp_path: Path) -> None:
    """Lines that are only kept are reported by their path, with the first line of each; nothing is left out."""
    body = (
        "0 @I1@ INDI\n1 NAME Dr. Anna /Lee/\n2 NPFX Dr.\n2 TYPE married\n"
        "1 BIRT\n2 DATE 1700\n2 PLAC Bonn\n3 MAP\n4 LATI N50\n2 NOTE At night.\n"
        "2 SOUR @S1@\n3 PAGE 5\n3 NOTE Torn.\n1 OCCU baker\n2 DATE 1730\n1 CHAN\n2 DATE 1 JAN 2001\n"
        "0 @S1@ SOUR\n1 TITL Register\n1 AUTH A priest\n1 REPO @R1@\n0 @R1@ REPO\n1 NAME City archive\n"
    )
    found = a_file(tmp_path, body)
    kept = {tag.path: tag.first_line for tag in found.kept_tags}
    assert found.notes == ()
    assert kept.keys() == {
        "INDI.NAME.NPFX",
        "INDI.NAME.TYPE",
        "INDI.BIRT.NOTE",
        "INDI.BIRT.PLAC.MAP",
        "INDI.BIRT.PLAC.MAP.LATI",
        "INDI.BIRT.SOUR.NOTE",
        "INDI.OCCU.DATE",
        "INDI.CHAN",
        "INDI.CHAN.DATE",
        "SOUR.AUTH",
        "SOUR.REPO",
        "REPO",
        "REPO.NAME",
    }
    assert kept["INDI.BIRT.NOTE"] == 15


def test_a_circle_of_parents_is_reported(tmp_path: Path) -> None:
    """A person who is said to descend from themselves is named; parents and children outside the circle are not."""
    people = "".join(f"0 @I{n}@ INDI\n1 NAME P{n} /X/\n" for n in range(1, 5))
    ties = ((1, 2), (2, 3), (3, 2), (4, 1))
    families = "".join(f"0 @F{n}@ FAM\n1 HUSB @I{n}@\n1 CHIL @I{child}@\n" for n, child in ties)
    families += "0 @F5@ FAM\n1 HUSB @I3@\n1 CHIL @I5@\n0 @I5@ INDI\n1 NAME P5 /X/\n"
    notes = a_file(tmp_path, people + families).notes
    assert [note.partition(": ")[2] for note in notes] == [
        f"'I{n}' is listed as their own ancestor, which is impossible" for n in (2, 3)
    ]


def test_real_files_are_read_whole(real_family: RealFamily) -> None:
    """A real file gives all its people and citations, and nothing of it is left out."""
    found = real_family("pres2020")
    sources = found.tree.sources
    cited = {one.id for fact in found.tree.facts for one in fact.evidence if "#" in sources[one.source].url}
    assert len(found.tree.persons) == 2322
    assert len(cited) > 2400
    assert TagCount("INDI.RESI", 58, 378) in found.kept_tags
    assert found.dropped_tags == ()
