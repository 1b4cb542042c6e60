"""What is exported arrives in a real Gramps, whole."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kin.gedcom_structure import problems
from tests.kin.test_kin_gedcom_kept import BODY, a_file

from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.kept_privacy import ShownRecords
from kiwiresearch.kin.gedcom.nodes import Node
from kiwiresearch.kin.gedcom.reader import ReadGedcom, read_gedcom
from kiwiresearch.kin.gedcom.tags import SOURCE_WITHOUT_TEXT
from kiwiresearch.kin.gedcom.writer import tree_gedcom
from kiwiresearch.kin.privacy.redaction import redact

VALIDATE = Path(__file__).parents[2] / "tools" / "validate-gedcom"
GRAMPS = Path(os.environ.get("KIWIRESEARCH_GRAMPS") or Path.home() / ".cache" / "kiwiresearch-gramps")
EVENT = re.compile(r"^1 (?:BIRT|BAPM|DEAT|BURI|EVEN|MARR|DIV|OCCU|TITL)\b", re.MULTILINE)
CITATION = re.compile(r"^[1-9] SOUR @", re.MULTILINE)
UNDER_NAMES = re.compile(r"^1 (?:NAME|OCCU|TITL) .*\n(?:[2-9] .*\n)*", re.MULTILINE)
A_TREE = (
    "0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
    "0 @I1@ INDI\n1 NAME Ann /Hill/\n1 SEX F\n1 BIRT\n2 DATE @#DJULIAN@ 11 FEB 1731/32\n2 PLAC Bath\n2 SOUR @S1@\n"
    "3 PAGE p. 1 @@home\n3 DATA\n4 TEXT born at Bath\n1 BIRT\n2 DATE ABT 1733\n1 DEAT\n2 DATE 44 B.C.\n1 OCCU Queen\n"
    "1 ASSO @I4@\n2 RELA Sibling\n1 REFN Q1\n2 TYPE wikidata\n"
    "0 @I2@ INDI\n1 NAME Ben /Hill/\n1 SEX M\n1 BURI\n2 DATE (in the spring)\n1 BAPM\n2 DATE @#DFRENCH R@ 12 VEND 3\n"
    "0 @I3@ INDI\n1 NAME Living\n1 RESN confidential\n1 FAMC @F1@\n2 PEDI adopted\n"
    "0 @I4@ INDI\n1 NAME Cid\n1 FAMC @F1@\n2 STAT challenged\n1 BIRT\n2 DATE 12th century\n"
    "0 @F1@ FAM\n1 HUSB @I2@\n1 WIFE @I1@\n1 CHIL @I3@\n1 CHIL @I4@\n1 MARR\n2 DATE FROM 1750 TO 1760\n1 DIV Y\n"
    "0 @F2@ FAM\n1 HUSB @I2@\n1 WIFE @I4@\n1 EVEN\n2 TYPE Partners\n2 SOUR @S1@\n0 @S1@ SOUR\n1 TITL Register\n0 TRLR\n"
)


@pytest.fixture(scope="module", autouse=True)
def has_gramps() -> None:
    if not (GRAMPS / "ready").exists():
        pytest.skip("Gramps is not installed; tools/install-programs does it")


def validated(path: Path) -> dict[str, Any]:
    done = subprocess.run([sys.executable, str(VALIDATE), str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def exported(source: Path, version: Version, folder: Path) -> tuple[Path, str]:
    tree = redact(read_gedcom(source).tree, "owner", 2026)
    text = tree_gedcom(tree, version, head={"version": "1.0", "date": "2026-11-15", "note": "two\nlines"})
    assert problems(text) == []
    path = folder / "out.ged"
    path.write_text(text, encoding="utf-8", newline="")
    return path, text.replace("\r\n", "\n")


def recorded(text: str, tag: str) -> int:
    return len(re.findall(rf"^0 @\w+@ {tag}$", text, re.MULTILINE))


def people(text: str) -> str:
    """The file up to its sources, which have titles as well."""
    return re.split(r"^0 @S[0-9]+@ SOUR$", text, maxsplit=1, flags=re.MULTILINE)[0]


def assert_arrived(path: Path, text: str) -> None:
    found = validated(path)
    counts = found["counts"]
    assert (found["errors"], found["report"]) == (0, [])
    assert counts["person"] == recorded(text, "INDI")
    assert counts["family"] == recorded(text, "FAM")
    assert counts["source"] == recorded(text, "SOUR")
    assert counts["event"] == len(EVENT.findall(people(text)))
    assert counts["citation"] == len(CITATION.findall(text))


def test_a_tree_with_everything_arrives(tmp_path: Path) -> None:
    """Every person, family, event and citation of an export is in Gramps, which has nothing to complain of."""
    source = tmp_path / "in.ged"
    source.write_text(A_TREE, encoding="utf-8")
    assert_arrived(*exported(source, "5.5.1", tmp_path))


def test_a_real_tree_arrives(tmp_path: Path, shared_data: Path) -> None:
    """A tree of another program, read and written again, arrives whole."""
    assert_arrived(*exported(shared_data / "kin" / "gedcom" / "bach.ged", "5.5.1", tmp_path))


def test_version_7_arrives(tmp_path: Path) -> None:
    """An export of version 7 is valid, and arrives but for the sources of names and attributes, which Gramps drops."""
    source = tmp_path / "in.ged"
    source.write_text(A_TREE, encoding="utf-8")
    path, text = exported(source, "7.0", tmp_path)
    found = validated(path)
    rest = UNDER_NAMES.sub("", text)
    assert (found["errors"], found["report"]) == (0, [])
    counts = found["counts"]
    assert (counts["person"], counts["family"]) == (recorded(text, "INDI"), recorded(text, "FAM"))
    assert counts["event"] == len(EVENT.findall(people(rest)))
    assert counts["citation"] == len(CITATION.findall(rest))


def test_a_bad_file_is_found_out(tmp_path: Path) -> None:
    """Gramps ends well whatever happens; the check does not."""
    path = tmp_path / "bad.ged"
    path.write_text(A_TREE.replace("1 SEX F", "1 NONSENSE\n2 DEEPER x").replace("0 TRLR\n", ""), encoding="utf-8")
    assert validated(path)["errors"] != 0


ROUND_TRIP = Path(__file__).parents[2] / "tools" / "gramps-round-trip"


def through_gramps(read: ReadGedcom, version: Version, folder: Path) -> ReadGedcom:
    """A tree exported by us, imported by Gramps, exported by Gramps, and imported by us."""
    ours, theirs = folder / "ours.ged", folder / "theirs.ged"
    text = tree_gedcom(redact(read.tree, "owner", 2026), version, head={}, kept=ShownRecords(read.kept))
    ours.write_text(text, encoding="utf-8", newline="")
    done = subprocess.run([sys.executable, str(ROUND_TRIP), str(ours), str(theirs)], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return read_gedcom(theirs)


def by_value(read: ReadGedcom, *, with_sources: bool) -> set[tuple[object, ...]]:
    """What a tree says, without ids: names, sexes, dates, places, ties, and the page of each source."""
    tree = read.tree
    names = {number: f"{person.name} {person.birth}" for number, person in tree.persons.items()}
    found: set[tuple[object, ...]] = {("person", names[number], one.sex) for number, one in tree.persons.items()}
    for fact in tree.facts:
        if fact.field != "name":
            found.add((names[fact.person], fact.field, str(fact.when or fact.value)))
        for one in fact.evidence if with_sources and fact.field in ("birth_date", "death_date") else ():
            words = "" if SOURCE_WITHOUT_TEXT in one.rationale else one.snippet
            found.add((names[fact.person], fact.field, tree.sources[one.source].title, one.locator, words))
    for tie in tree.relationships:
        ends = (names[tie.first], names[tie.second])
        ends = ends if tie.kind == "parent_of" else tuple(sorted(ends))  # type: ignore[assignment]
        # Gramps says of every child that it was born into its family, unless it knows better.
        is_by_birth = tie.qualifier == "biological" or not with_sources
        found.add((tie.kind, *ends, "" if is_by_birth else tie.qualifier, str(tie.start)))
    return found


def texts_of(read: ReadGedcom, *tags: str) -> set[str]:
    def below(lines: Iterable[Node]) -> Iterator[str]:
        for line in lines:
            if line.tag in tags and line.value and line.kind == "text":
                yield " ".join(line.value.split())
            yield from below(line.below)

    return {text for record in read.kept for text in below(record.lines)}


@pytest.mark.parametrize("version", ["5.5.1", "7.0"])
def test_a_tree_comes_back_from_gramps(version: Version, tmp_path: Path) -> None:
    """What Gramps exports of our export says the same: names, dates, places, ties, sources with page, and notes.

    The importer of Gramps for version 7 drops the words of citations and how a child belongs to a family.
    """
    # Gramps keeps titles apart from names, and has one event for christening and baptism each.
    read = a_file(tmp_path, BODY.replace("NAME Dr. Ann", "NAME Ann"))
    back = through_gramps(read, version, tmp_path)
    is_old = version == "5.5.1"
    lost = by_value(read, with_sources=is_old) - by_value(back, with_sources=is_old)
    assert lost == set()
    notes = texts_of(read, "NOTE") - texts_of(back, "NOTE", "SNOTE")
    assert notes == set()


def test_a_real_tree_comes_back_from_gramps(tmp_path: Path, shared_data: Path) -> None:
    """A real tree says the same after it was in Gramps."""
    read = read_gedcom(shared_data / "kin" / "gedcom" / "shakespeare.ged")
    back = through_gramps(read, "5.5.1", tmp_path)
    assert by_value(read, with_sources=False) - by_value(back, with_sources=False) == set()
