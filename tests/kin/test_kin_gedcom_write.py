"""Trees as GEDCOM 5.5.1 and 7, GEDCOM X and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kin.gedcom_structure import problems

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.json_export import tree_gedcomx, tree_json
from kiwiresearch.kin.gedcom.person_writer import slashed_name
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.gedcom.writer import tree_gedcom
from kiwiresearch.kin.privacy.redaction import ShownTree
from kiwiresearch.kin.tree import Evidence, Fact, FieldName, Person, Relationship, Source
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

PAGE = Source(
    "s1", "zim://book/A/Ann", "Schools", "Ann Hill", accessed_at="2026-11-15T10:00:00Z", content_hash="sha256:ab"
)
OTHER = Source("s2", "zim://book/A/Ben", "Schools", "Ben Hill")


def when(text: str) -> DateRange:
    return dates_in(text)[0].when


def quote(source: Source, words: str, reliability: float = 0.6) -> Evidence:
    return Evidence(f"e-{words}", source.id, words, locator="Infobox", reliability=reliability)


def dated(number: str, field: FieldName, text: str, *evidence: Evidence, preferred: bool = True) -> Fact:
    date = when(text)
    return Fact(number, "p1", field, date.edtf(), date, preferred=preferred, evidence=evidence)


ANN = Person("p1", "Ann Hill", ("Ann of the Hill",), "female", external={"wikidata": "Q1", "zim": "book/A/Ann"})
BEN = Person("p2", "Ben Hill", (), "male", is_dead=True)
TREE = ShownTree(
    {"p1": ANN, "p2": BEN, "p3": Person("p3", "Living", living="living")},
    (
        Relationship(
            "r1", "spouse_of", "p1", "p2", "divorced", when("1845"), when("1850"), evidence=(quote(PAGE, "m. 1845"),)
        ),
        Relationship("r2", "parent_of", "p1", "p3", "step", evidence=(quote(OTHER, "her @home child"),)),
        Relationship("r3", "parent_of", "p2", "p3", "", status="disputed", evidence=(quote(OTHER, "his child"),)),
        Relationship("r4", "parent_of", "p3", "p1", "", status="hypothesis", evidence=(quote(OTHER, "guess"),)),
    ),
    (
        Fact("f1", "p1", "name", "Ann Hill", preferred=True, evidence=(quote(PAGE, "Ann Hill"),)),
        dated("f2", "birth_date", "24 May 1819", quote(PAGE, "born 24 May 1819", 0.9)),
        dated("f3", "birth_date", "c. 1820", quote(OTHER, "born about 1820"), preferred=False),
        Fact("f4", "p1", "birth_place", "Bath, England", preferred=True, evidence=(quote(PAGE, "at Bath"),)),
        Fact("f5", "p1", "birth_date", "1700", when("1700"), status="rejected", evidence=(quote(OTHER, "wrong"),)),
        Fact("f6", "p3", "birth_date", "1999", when("1999"), evidence=(quote(OTHER, "born in 1999"),)),
        dated("f7", "marriage_date", "1845", quote(PAGE, "m. 1845")),
    ),
    {"s1": PAGE, "s2": OTHER},
    mode="public",
    withheld=("p3",),
)


def records(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.split("\r\n"):
        if line.startswith("0 "):
            current = found.setdefault(line.split()[1], [])
        current.append(line)
    return found


def test_events_carry_their_sources_and_alternatives() -> None:
    """The preferred telling comes first, competing ones follow, each with source, place and words."""
    text = tree_gedcom(TREE, "5.5.1", head={"version": "1.0", "date": "2026-11-15", "note": "head hash"})
    assert records(text)["@I1@"] == [
        "0 @I1@ INDI",
        "1 NAME Ann /Hill/",
        "2 SOUR @S1@",
        "3 PAGE Infobox",
        "3 DATA",
        "4 DATE 15 NOV 2026",
        "4 TEXT Ann Hill",
        "3 QUAY 1",
        "1 NAME Ann of the Hill",
        "1 SEX F",
        "1 BIRT",
        "2 DATE 24 MAY 1819",
        "2 PLAC Bath, England",
        "2 SOUR @S1@",
        "3 PAGE Infobox",
        "3 DATA",
        "4 DATE 15 NOV 2026",
        "4 TEXT at Bath",
        "3 NOTE Speaks for: place",
        "3 QUAY 1",
        "2 SOUR @S1@",
        "3 PAGE Infobox",
        "3 DATA",
        "4 DATE 15 NOV 2026",
        "4 TEXT born 24 May 1819",
        "3 NOTE Speaks for: date",
        "3 QUAY 3",
        "1 BIRT",
        "2 DATE ABT 1820",
        "2 SOUR @S2@",
        "3 PAGE Infobox",
        "3 DATA",
        "4 TEXT born about 1820",
        "3 QUAY 1",
        "1 FAMS @F1@",
        "1 FAMS @F2@",
        "1 REFN Q1",
        "2 TYPE wikidata",
        "1 REFN book/A/Ann",
        "2 TYPE zim",
    ]
    assert problems(text) == []


def test_families_are_rebuilt_from_ties() -> None:
    """A stepmother and a father whom nobody calls a couple to the child are two families; guesses are in none."""
    found = records(tree_gedcom(TREE, "5.5.1", head={}))
    assert [line for line in found["@I3@"] if "FAMC" in line or line[0] == "2"] == [
        "1 FAMC @F1@",
        "2 NOTE Qualifier: step",
        "1 FAMC @F3@",
        "2 NOTE Status: challenged",
    ]
    assert [line for line in found["@F2@"] if line[0] == "1"] == ["1 HUSB @I2@", "1 WIFE @I1@", "1 MARR", "1 DIV"]
    assert found["@F2@"].count("2 SOUR @S1@") == 1
    assert "4 TEXT her @@home child" not in found["@F1@"]
    assert "3 TEXT her @@home child" in found["@F1@"]
    assert "2 NOTE Speaks for: I1 as parent of I3" in found["@F1@"]
    assert "@F4@" not in found


def test_version_7_says_it_its_own_way() -> None:
    """EXID, upper case words, no CONC, and the quote as a note as well, which other programs keep."""
    text = tree_gedcom(replace_words(TREE, "long " * 100), "7.0", head={})
    found = records(text)
    assert "1 EXID Q1" in found["@I1@"]
    assert "2 PEDI OTHER" in found["@I3@"]
    assert "3 PHRASE step" in found["@I3@"]
    assert "2 STAT CHALLENGED" in found["@I3@"]
    assert "3 NOTE Quote: " + "long " * 100 in found["@I1@"]
    assert "CONC" not in text
    assert "1 CHAR" not in text
    assert problems(text) == []


def replace_words(tree: ShownTree, words: str) -> ShownTree:
    first = replace(tree.facts[0], evidence=(quote(PAGE, words),))
    return replace(tree, facts=(first, *tree.facts[1:]))


def test_long_and_odd_words_are_cut_and_escaped(tmp_path: Path) -> None:
    """Lines stay below 255 letters, '@' is doubled, forbidden letters go, and the words come back."""
    words = "@home " * 60 + "\n\n  indented\r\nnew\x00line\u2028end "
    text = tree_gedcom(replace_words(TREE, words), "5.5.1", head={})
    assert problems(text) == []
    assert max(map(len, text.split("\r\n"))) <= 255
    path = tmp_path / "tree.ged"
    path.write_text(text, encoding="utf-8", newline="")
    snippets = {one.snippet for fact in read_gedcom(path).tree.facts for one in fact.evidence}
    assert "@home " * 60 + "\n\n  indented\nnew\ufffdline\nend " in snippets


@pytest.mark.parametrize("version", ["5.5.1", "7.0"])
def test_somebody_redacted_stays_so(version: str) -> None:
    """Of an anonymous person only ties and the privacy mark are written, even if facts were left."""
    text = tree_gedcom(TREE, "7.0" if version == "7.0" else "5.5.1", head={})
    (name,) = (line for line in records(text)["@I3@"] if line.startswith("1 NAME"))
    assert name == "1 NAME Living //"
    assert "1999" not in text
    assert any(line.lower() == "1 resn confidential" for line in records(text)["@I3@"])
    assert "1999" not in tree_gedcomx(TREE)


def test_a_person_whose_real_name_is_living_keeps_their_facts() -> None:
    """The tree says who is redacted, not the name."""
    shown = replace(TREE, mode="owner")
    assert "1999" in tree_gedcom(shown, "7.0", head={})
    assert "1999" in tree_gedcomx(shown)


def test_wrong_requests_are_refused() -> None:
    """An unknown version or an unknown line of the head is an error that says what there is."""
    with pytest.raises(BadUsage, match="cannot be written"):
        tree_gedcom(TREE, "6.0", head={})  # type: ignore[arg-type]
    with pytest.raises(BadUsage, match="has no field 'colour'"):
        tree_gedcom(TREE, "7.0", head={"colour": "red"})


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Charles Darwin", "Charles /Darwin/"),
        ("Ludwig van Beethoven", "Ludwig /van Beethoven/"),
        ("Martin Luther King Jr.", "Martin Luther /King/ Jr."),
        ("Edward VII", "Edward VII"),
        ("Anne of Cleves", "Anne of Cleves"),
        ("Homer", "Homer"),
    ],
)
def test_surnames_are_marked_where_there_is_one(name: str, written: str) -> None:
    """Slashes are around a surname, and around nothing in the names of kings."""
    assert slashed_name(name) == written


def test_the_structure_check_finds_what_is_wrong() -> None:
    """A line in the wrong place, a pointer to nothing, a bad value and a missing end are all found."""
    text = tree_gedcom(TREE, "5.5.1", head={})
    for good, bad in (
        ("1 SEX F", "1 SEX Q"),
        ("1 FAMS @F1@", "1 FAMS @F9@"),
        ("2 PLAC Bath", "2 PLACE Bath"),
        ("2 DATE 24 MAY 1819", "2 DATE 99 MAY 1819"),
        ("1 CHAR UTF-8\r\n", ""),
        ("0 TRLR\r\n", ""),
        ("\r\n1 SEX F", "\n1 SEX F"),
    ):
        assert good in text
        assert problems(text.replace(good, bad, 1)), bad


def test_equal_trees_give_equal_json() -> None:
    """The order of facts and ties in a tree does not matter."""
    turned = replace(TREE, facts=TREE.facts[::-1], relationships=TREE.relationships[::-1])
    assert tree_json(turned) == tree_json(TREE)


def test_gedcom_x_ties_every_conclusion_to_words() -> None:
    """Each reference of GEDCOM X leads to a description, and each quote to the source it is part of."""
    value = json.loads(tree_gedcomx(TREE))
    descriptions = {one["id"]: one for one in value["sourceDescriptions"]}
    ann = next(one for one in value["persons"] if one["id"] == "p1")
    birth, alternative = (one for one in ann["facts"] if one["type"] == "http://gedcomx.org/Birth")
    assert birth["date"] == {"formal": "+1819-05-24", "original": "24 May 1819"}
    assert alternative["date"]["formal"] == "A+1820"
    words = [descriptions[one["description"][1:]]["notes"][0]["text"] for one in birth["sources"]]
    assert words == ["born 24 May 1819", "at Bath"]
    assert all(one["componentOf"]["description"][1:] in descriptions for one in descriptions.values() if "notes" in one)
    kinds = sorted(one["type"].rpartition("/")[2] for one in value["relationships"])
    assert kinds == ["Couple", "ParentChild", "ParentChild"]
    julian = replace(TREE.facts[1], when=when("11 February 1731/32"))
    shifted = json.loads(tree_gedcomx(replace(TREE, facts=(julian,))))
    dates = [fact["date"]["formal"] for one in shifted["persons"] for fact in one["facts"] if "date" in fact]
    assert dates == ["+1732-02-22"]
