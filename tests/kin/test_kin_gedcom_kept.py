"""What a tree cannot represent of a family file is kept with its record, and written back in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kin.families import RealFamily
from tests.kin.privacy_scan import find_leaks

from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.kept_lines import kept_from_json, kept_json, with_ids
from kiwiresearch.kin.gedcom.kept_privacy import ShownRecords, shown_records
from kiwiresearch.kin.gedcom.lines import GedcomLine, ImportNotes, decode, records
from kiwiresearch.kin.gedcom.reader import ReadGedcom, read_gedcom
from kiwiresearch.kin.gedcom.writer import tree_gedcom
from kiwiresearch.kin.privacy.redaction import PrivacyMode, redact, shown_tree
from kiwiresearch.kin.privacy.withheld_people import find_withheld
from kiwiresearch.kin.tree import Person, Relationship, Tree
from kiwiresearch.text.dates.mentions import dates_in

HEAD = "0 HEAD\n1 SOUR OTHER\n1 GEDC\n2 VERS 5.5.1\n2 FORM LINEAGE-LINKED\n1 CHAR UTF-8\n1 COPR Free to use\n"
BODY = """\
0 @I1@ INDI
1 NAME Dr. Ann /Hill/
2 NPFX Dr.
2 GIVN Ann
2 SURN Hill
2 NICK Nan
1 SEX F
1 BIRT
2 DATE EST 1801
2 PLAC Bath, Somerset
3 MAP
4 LATI N51.38
4 LONG W2.36
2 ADDR 3 Mill Street
3 CITY Bath
2 NOTE Born at night,
3 CONT as her mother said.
2 SOUR @S1@
3 PAGE p. 4
3 EVEN BIRT
4 ROLE CHIL
3 NOTE The ink is faded.
1 CHR
2 DATE 3 MAY 1801
2 _GODP Aunt Mary
1 DEAT
2 DATE 1870
2 CAUS Consumption
2 AGE 69y
1 RESI
2 DATE FROM 1830 TO 1840
2 PLAC Wells, Somerset
2 SOUR @S2@
3 PAGE f. 9
1 EDUC A school for girls
1 EVEN Elected
2 TYPE Election
2 DATE 1850
1 NOTE @N1@
1 OBJE @O1@
1 OBJE
2 FILE portrait.png
2 FORM png
2 TITL A portrait
1 ASSO @I3@
2 RELA Godmother
1 FAMS @F1@
1 _UID 0123456789ABCDEF
1 _DNA H1a
1 CHAN
2 DATE 2 Jan 2001
3 TIME 10:11:12
0 @I2@ INDI
1 NAME Ben /Hill/
1 SEX M
1 DEAT Y
1 FAMS @F1@
1 FAMS @F2@
0 @I3@ INDI
1 NAME Cid /Hill/
1 DEAT
2 DATE 1890
1 FAMC @F1@
2 PEDI adopted
1 ADOP
2 FAMC @F1@
3 ADOP HUSB
0 @I4@ INDI
1 NAME Dan /Hill/
1 DEAT Y
1 FAMC @F2@
0 @I5@ INDI
1 NAME Eve /Orphan/
1 DEAT Y
1 FAMC @F3@
0 @I6@ INDI
1 NAME Fay /Orphan/
1 DEAT Y
1 FAMC @F3@
0 @F1@ FAM
1 HUSB @I2@
1 WIFE @I1@
1 CHIL @I3@
1 ENGA
2 DATE 1819
1 MARR
2 DATE 1820
2 PLAC Bath
2 TYPE religious
1 DIV
2 DATE 1840
2 PLAC London
1 NCHI 1
1 NOTE They met in church.
0 @F2@ FAM
1 HUSB @I2@
1 CHIL @I4@
0 @F3@ FAM
1 CHIL @I5@
1 CHIL @I6@
0 @S1@ SOUR
1 TITL Parish register
1 AUTH A priest
1 PUBL Bath, 1801
1 REPO @R1@
2 CALN 12/3
0 @S2@ SOUR
1 TITL Census
0 @R1@ REPO
1 NAME County archive
1 ADDR 1 Castle Street
0 @N1@ NOTE A long story
1 CONT on two lines.
1 SOUR @S2@
0 @O1@ OBJE
1 FILE scans/deed.jpg
2 FORM jpg
3 TYPE photo
2 TITL A deed
"""
FILE_LINES = ("HEAD.SOUR", "HEAD.DEST", "HEAD.DATE", "HEAD.FILE", "HEAD.SUBM", "HEAD.GEDC", "HEAD.CHAR")
"""Lines that are about the file itself and the program that wrote it; ours are about ours."""


def a_file(folder: Path, body: str = BODY, head: str = HEAD, name: str = "tree.ged") -> ReadGedcom:
    path = folder / name
    path.write_text(f"{head}{body}0 TRLR\n", encoding="utf-8")
    return read_gedcom(path)


def written(read: ReadGedcom, version: Version = "5.5.1", mode: PrivacyMode = "owner") -> str:
    withheld = find_withheld(read.tree, 2026)
    return tree_gedcom(shown_tree(withheld, mode), version, head={}, kept=shown_records(read.kept, withheld, mode))


@pytest.mark.parametrize("version", ["5.5.1", "7.0"])
@pytest.mark.parametrize("link", ["HUSB @I9@", "HUSB @I", "CHIL @X1@", "WIFE @F1@"])
def test_a_link_to_nobody_is_left_out(link: str, version: Version, tmp_path: Path) -> None:
    """A line of a family that points to no person, as in a file that was cut off, is noted and not exported."""
    found = a_file(tmp_path, f"0 @I1@ INDI\n1 NAME A /B/\n0 @F1@ FAM\n1 {link}\n0 @X1@ IND\n1 NAME C\n")
    assert any(note.startswith(f"FAM.{link[:4]} was left out: 1 line") for note in found.notes)
    assert f"1 {link[:4]} " not in written(found, version)


def lines_of(text: str) -> Counter[tuple[str, str]]:
    """Every line of a file by its path and value; pointers by what they point to."""
    found = records(text, ImportNotes())
    called = {
        record.xref: f"{record.tag} {record.value[:40]} {record.get('NAME')} {record.get('TITL')} {record.get('FILE')}"
        for record in found
        if record.xref
    }

    def below(line: GedcomLine, path: str) -> Iterator[tuple[str, str]]:
        here = f"{path}.{line.tag}".strip(".")
        yield here, called.get(line.points_to, "?") if line.points_to else " ".join(line.value.split())
        for each in line.children:
            yield from below(each, here)

    return Counter(item for record in found for item in below(record, ""))


def lost(original: str, text: str) -> Counter[str]:
    """How many lines of a file another one does not have, by path."""
    missing = lines_of(original) - lines_of(text)
    found = Counter[str]()
    for (path, _), count in missing.items():
        if not path.startswith(FILE_LINES):
            found[path] += count
    return found


def test_every_line_of_a_file_comes_back_in_place(tmp_path: Path) -> None:
    """Events, attributes, notes, places, media and unknown tags are written where they were, with their values."""
    read = a_file(tmp_path)
    assert (read.notes, read.dropped_tags) == ((), ())
    assert lost(HEAD + BODY + "0 TRLR\n", written(read)) == Counter()


@pytest.mark.parametrize("name", ["bach", "bronte", "shakespeare", "royal92", "pres2020"])
def test_no_line_of_a_real_file_is_lost(name: str, shared_data: Path, real_family: RealFamily) -> None:
    """A real file that is read and written has all its lines, but for those about the file and an empty SEX."""
    path = shared_data / "kin" / "gedcom" / f"{name}.ged"
    text = written(real_family(name))
    allowed = {"shakespeare": Counter({"INDI.SEX": 1})}
    assert lost(decode(path.read_bytes()).text, text) == allowed.get(name, Counter())


@pytest.mark.parametrize("version", ["5.5.1", "7.0"])
def test_a_file_with_kept_lines_stays_as_it_is(version: Version, tmp_path: Path) -> None:
    """Written, read and written again gives the same bytes."""
    text = written(a_file(tmp_path), version)
    path = tmp_path / "again.ged"
    path.write_text(text, encoding="utf-8", newline="")
    assert written(read_gedcom(path), version) == text


def test_version_7_says_kept_lines_its_own_way(tmp_path: Path) -> None:
    """Notes, media, ages and associates follow the rules of version 7, and foreign tags get an underscore."""
    text = written(a_file(tmp_path), "7.0").replace("\r\n", "\n")
    for lines in (
        "1 SNOTE @N1@",
        "0 @N1@ SNOTE A long story\n1 CONT on two lines.",
        "1 FILE scans/deed.jpg\n2 FORM image/jpeg\n3 MEDI PHOTO\n2 TITL A deed",
        "1 FILE portrait.png\n2 FORM image/png\n2 TITL A portrait",
        "2 ROLE OTHER\n3 PHRASE Godmother",
        "1 UID 0123456789ABCDEF",
        "1 CHR\n2 DATE 3 MAY 1801",
        "2 DATE EST 1801",
        "2 DATE 2 JAN 2001\n3 TIME 10:11:12",
        "1 _DNA H1a",
        "2 AGE 69y",
    ):
        assert lines in text
    assert "1 OBJE\n" not in text


def test_version_7_goes_back_to_the_old_one(tmp_path: Path) -> None:
    """What became an extension or a record of version 7 has its old form again in 5.5.1."""
    path = tmp_path / "seven.ged"
    path.write_text(written(a_file(tmp_path), "7.0"), encoding="utf-8", newline="")
    text = written(read_gedcom(path)).replace("\r\n", "\n")
    for lines in (
        "1 NOTE @N1@",
        "0 @N1@ NOTE A long story",
        "2 RELA Godmother",
        "2 FORM jpg\n3 TYPE photo",
        "1 _UID 01",
    ):
        assert lines in text


def test_kept_lines_are_stored_as_json(tmp_path: Path) -> None:
    """What is kept is the same after it was stored, and follows people to the ids they have after a merge."""
    read = a_file(tmp_path)
    kept = kept_from_json(kept_json(read.kept))
    assert kept == read.kept
    one, other = sorted(read.tree.persons)[:2]
    moved = with_ids(kept, lambda person: other if person == one else person)
    assert not any(item.kind == "person" and item.id == one for item in moved)
    assert {f"person:{one}"}.isdisjoint(str(kept_json(moved)).split("'"))


def test_what_was_said_of_a_rejected_fact_goes_with_it(tmp_path: Path) -> None:
    """The note and the address of a birth that does not count are not written without it."""
    read = a_file(tmp_path)
    facts = tuple(
        replace(fact, status="rejected") if fact.field.startswith("birth") else fact for fact in read.tree.facts
    )
    persons = {number: replace(one, birth=None, birth_place="") for number, one in read.tree.persons.items()}
    text = written(replace(read, tree=replace(read.tree, facts=facts, persons=persons)))
    assert "1 BIRT" not in text
    assert "Mill Street" not in text
    assert "2 CAUS Consumption" in text


def test_families_of_a_file_stay_apart(tmp_path: Path) -> None:
    """A father's children by an unnamed mother, and siblings without parents, are families of their own."""
    found = records(written(a_file(tmp_path)), ImportNotes())
    names = {record.xref: record.get("NAME") for record in found}
    families = [
        [names[line.points_to] for line in record.all("HUSB", "WIFE", "CHIL")]
        for record in found
        if record.tag == "FAM"
    ]
    assert sorted(families) == [
        ["Ben /Hill/", "Dan /Hill/"],
        ["Ben /Hill/", "Dr. Ann /Hill/", "Cid /Hill/"],
        ["Eve /Orphan/", "Fay /Orphan/"],
    ]


def test_partners_who_married_are_one_family(tmp_path: Path) -> None:
    """Two people who were partners and spouses have one family with both events, and both are read again."""
    people = {number: Person(number, f"{number} Hill", sex=sex) for number, sex in (("a", "male"), ("b", "female"))}  # type: ignore[arg-type]
    married = Relationship("2", "spouse_of", "a", "b", start=dates_in("1845")[0].when)
    tree = Tree(people, (Relationship("1", "partner_of", "a", "b"), married))
    text = tree_gedcom(redact(tree, "owner", 2026), "5.5.1", head={})
    assert text.count(" FAM\r\n") == 1
    path = tmp_path / "out.ged"
    path.write_text(text, encoding="utf-8", newline="")
    assert sorted(tie.kind for tie in read_gedcom(path).tree.relationships) == ["partner_of", "spouse_of"]


LIVING = """\
0 @I1@ INDI
1 NAME Ann /Hill/
1 BIRT
2 DATE 1801
1 DEAT
2 DATE 1870
1 NOTE Her descendant Zelda Quick, born 7 June 1990 in Ulverston, has her ring.
1 NOTE She liked tea.
1 NOTE @N1@
1 OBJE
2 FILE zelda.jpg
1 RESI
2 PLAC Ulverston
2 EMAIL zelda@example.org
2 NOTE Quiet years.
1 EVEN A secret
2 TYPE Rumour
2 RESN confidential
1 ASSO @I2@
2 RELA Descendant
0 @I2@ INDI
1 NAME Zelda /Quick/
2 NICK Zuzu
1 BIRT
2 DATE 7 JUN 1990
2 PLAC Ulverston
2 NOTE A home birth.
1 RESI
2 PLAC Kendal
1 FAMS @F1@
0 @I3@ INDI
1 NAME Yann /Quick/
1 BIRT
2 DATE 1989
1 FAMS @F1@
0 @F1@ FAM
1 HUSB @I3@
1 WIFE @I2@
1 MARR
2 DATE 2015
2 NOTE In the rain.
1 NOTE Their dog is Rex.
0 @N1@ NOTE As told by Zelda Quick.
0 @U1@ SUBM
1 NAME Zelda Quick
"""


@pytest.mark.parametrize("mode", ["public", "private", "exclude"])
@pytest.mark.parametrize("version", ["5.5.1", "7.0"])
def test_nothing_kept_tells_of_people_who_may_be_living(mode: PrivacyMode, version: Version, tmp_path: Path) -> None:
    """Lines of, about and by people who may be living are not written; those of the dead are."""
    read = a_file(tmp_path, LIVING)
    text = written(read, version, mode)
    assert find_leaks(text, read.tree, mode, 2026) == ()
    for words in ("ring", "Ulverston", "Kendal", "home birth", "rain", "Rex", "told by", "zelda", "Zuzu", "secret"):
        assert words not in text or (mode, words) == ("private", "Zuzu"), words
    assert "1 NOTE She liked tea." in text
    assert "2 NOTE Quiet years." in text
    assert "Zuzu" in written(read, version)


def test_the_scan_finds_what_kept_lines_would_tell(tmp_path: Path) -> None:
    """If kept lines were written unfiltered, the search for leaks would find them."""
    read = a_file(tmp_path, LIVING)
    text = tree_gedcom(redact(read.tree, "public", 2026), "5.5.1", head={}, kept=ShownRecords(read.kept))
    assert find_leaks(text, read.tree, "public", 2026)
