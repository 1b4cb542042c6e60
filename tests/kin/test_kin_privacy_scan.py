"""Searching what leaves the program, and masking texts before they do."""

from __future__ import annotations

import html
import io
import json
import zipfile
from urllib.parse import quote

import pytest
from tests.kin.privacy_scan import find_leaks

from kiwiresearch.errors import KiwiError
from kiwiresearch.kin.privacy.mask import Mask
from kiwiresearch.kin.privacy.redaction import PrivacyMode, redact
from kiwiresearch.kin.privacy.withheld_people import find_withheld
from kiwiresearch.kin.tree import Fact, Person, Relationship, Tree
from kiwiresearch.text.dates.mentions import dates_in

YEAR = 2026
BORN = dates_in("3 May 1990")[0].when
ANNA = Person("anna", "Ánna María Łoś", ("Nan Kestrel",), "female", BORN, "Otley, Yorkshire, England")
DEAD = Person("dead", "Jan Łoś", (), "male", dates_in("1890")[0].when, "Hull, England", is_dead=True)
TREE = Tree(
    {"anna": ANNA, "dead": DEAD},
    (Relationship("t", "parent_of", "dead", "anna"),),
    (Fact("f", "anna", "occupation", "call (216) 555-5364"),),
)

TELLING = [
    ("Anna Los", "name"),
    ("ANNA MARIA LOS", "name"),
    ("Łoś, Ánna", "name"),
    ("Los_Anna.svg", "name"),
    ("annalos", "name"),
    ("AnnaLos", "name"),
    ("An\u00adna Ma\u200bria", "name"),
    ("A\u0301nna Los", "name"),
    ("A. Łoś", "name"),
    ("Kestrel, Nan", "name"),
    ("2 GIVN Anna\n2 SURN Los", "name"),
    ("1 NAME Anna /Los/", "name"),
    ("1 NOTE An\n2 CONC na Los", "name"),
    ("1 NOTE about Anna\n2 CONT Los", "name"),
    ('{"given": "Anna", "surname": "Los"}', "name"),
    (json.dumps("Ánna Łoś"), "name"),
    (json.dumps(json.dumps("Ánna Łoś")), "name"),
    (html.escape("Ánna") + " &#321;o&#347;", "name"),
    ("<b>Anna</b> <i>Los</i>", "name"),
    ("<tspan>An</tspan><tspan>na</tspan> Los", "name"),
    (quote("Ánna_Łoś"), "name"),
    ("Anna and Maria Los", "name"),
    ("<td>Hull</td><td>Anna Los</td>", "name"),
    ("| Hull | Los, Anna |", "name"),
    ("1990-05-03", "date"),
    ("1990-05-03T00:00:00", "date"),
    ("19900503", "date"),
    ("3 MAY 1990", "date"),
    ("May 3rd, 1990", "date"),
    ("the 3rd of May 1990", "date"),
    ("03/05/1990", "date"),
    ("05/03/1990", "date"),
    ("3.5.1990", "date"),
    ("May 1990", "date"),
    ("2448015", "date"),
    ("born in Otley", "place"),
    ("OTLEY", "place"),
    ("Yorkshire", "place"),
    ("(216) 555-5364", "contact"),
]
SILENT = [
    "",
    "Jan Łoś was born in 1890 in Hull, England.",
    "Anna was the name of many.",
    "in the 1990s",
    "a Łoś",
    "1990",
    "5 March 1990",
    "d2448015-5b8d-51a9-9a5b-9946f79bc92a",
    "[1990, 5]",
    "1990'}, '05'",
    "Jan Łoś and Anna Reed",
    "| Anna | Los Castle, Hull |",
    "<tr><td>Anna</td><td>Los Castle, Hull</td></tr>",
]


@pytest.mark.parametrize(("text", "kind"), TELLING)
def test_words_about_the_living_are_found(text: str, kind: str) -> None:
    """Names in any order and spelling, dates in any form, places and contacts are found behind every escape."""
    assert kind in [leak.kind for leak in find_leaks(text, TREE, "public", YEAR)]
    assert kind in [leak.kind for leak in find_leaks(text.encode(), TREE, "exclude", YEAR)]
    assert find_leaks(text, TREE, "owner", YEAR) == ()
    assert bool(find_leaks(text, TREE, "private", YEAR)) == (kind != "name")


@pytest.mark.parametrize("text", SILENT)
def test_words_about_nobody_living_are_allowed(text: str) -> None:
    """The dead, half a name, a country and a decade are not a leak."""
    assert find_leaks(text, TREE, "public", YEAR) == ()


def test_a_name_with_a_number_must_be_adjacent() -> None:
    """A line of GEDCOM that follows, or a count, does not complete a name that has a number."""
    tree = Tree({"son": Person("son", "Son_3", (), "male")})
    for text in ("1 NAME Son //\n3 QUAY 1", "- **Son**: 3 of them", "Son: 3sons"):
        assert find_leaks(text, tree, "public", YEAR) == (), text
    for text in ("1 NAME Son_3 //", "Son 3", "son-3.svg"):
        assert find_leaks(text, tree, "public", YEAR), text


def test_a_year_behind_a_name_is_too_exact_for_the_circle() -> None:
    """If names may be shown, a decade may follow, and a year may not."""
    assert [leak.kind for leak in find_leaks("Anna Los (born 1990)", TREE, "private", YEAR)] == ["date"]
    assert find_leaks("Anna Los (born 1990s)", TREE, "private", YEAR) == ()


def test_the_day_of_a_marriage_is_the_living_ones_as_well() -> None:
    """The day on which a dead person married is private while the other partner lives."""
    wedding = dates_in("9 August 1985")[0].when
    tie = Relationship("m", "spouse_of", "dead", "anna", start=wedding)
    tree = Tree(TREE.persons, (tie,))
    assert [leak.person for leak in find_leaks("wed on 9 August 1985", tree, "public", YEAR)] == ["anna"]


def an_archive(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_archives_are_opened() -> None:
    """What is packed is searched, its file names as well, and the leak says in which file it is."""
    inner = an_archive(report="see Anna Łoś".encode(), Anna_Los=b"nothing")
    found = find_leaks(an_archive(box=inner), TREE, "public", YEAR)
    assert [(leak.where, leak.kind) for leak in found] == [("box/report", "name"), ("box/Anna_Los", "name")]


def test_an_archive_that_cannot_be_read_is_an_error() -> None:
    """A broken archive is an error, not silence."""
    with pytest.raises(KiwiError, match="cannot be read"):
        find_leaks(an_archive(box=b"Anna Los" * 100)[:60], TREE, "public", YEAR)


def test_other_encodings_are_read() -> None:
    """UTF-16 and Latin-1 hide nobody."""
    assert find_leaks("Ánna Łoś".encode("utf-16"), TREE, "public", YEAR)
    assert find_leaks("Ánna Los".encode("latin-1"), TREE, "public", YEAR)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Łoś, Anna was born on 3 May 1990 in Otley.", "[LIVING-1] was born on [LIVING-1] in [LIVING-1]."),
        ("Anna Maria Los (born 1990 in Rome) and Jan Łoś", "[LIVING-1] and Jan Łoś"),
        ("Write to anna@example.org or (216) 555-5364", "Write to [e-mail] or [phone]"),
        ("Jan Łoś was born in Hull, England.", "Jan Łoś was born in Hull, England."),
    ],
)
def test_texts_are_masked(text: str, masked: str) -> None:
    """A prompt or a log line has a number for a living person, and the dead as they are; masking twice adds nothing."""
    mask = Mask(find_withheld(TREE, YEAR), "public")
    assert mask.text(text) == masked
    assert mask.text(masked) == masked
    assert find_leaks(masked, TREE, "public", YEAR) == ()


@pytest.mark.parametrize(("text", "kind"), TELLING)
def test_a_masked_text_does_not_leak(text: str, kind: str) -> None:
    """Whatever is found in a plain text is masked in it."""
    if any(sign in text for sign in ("\\", "&", "<", "%", "CONC", "CONT")):
        return
    modes: tuple[PrivacyMode, ...] = ("private", "public", "exclude")
    for mode in modes:
        assert find_leaks(Mask(find_withheld(TREE, YEAR), mode).text(text), TREE, mode, YEAR) == (), kind


def test_file_names_are_masked() -> None:
    """A file that would be named after a living person gets the number that the redacted tree uses."""
    mask = Mask(find_withheld(TREE, YEAR), "public")
    assert mask.file_name("anna_maria-los.svg") == "living-1.svg"
    assert mask.people == {"[LIVING-1]": "anna"}
    assert "living-1" in redact(TREE, "public", YEAR).persons


def test_the_owner_and_the_circle_read_names() -> None:
    """The owner's texts are left alone; those for the circle keep names and lose days, towns and contacts."""
    text = "Anna Los, 3 May 1990, Otley"
    assert Mask(find_withheld(TREE, YEAR), "owner").text(text) == text
    assert Mask(find_withheld(TREE, YEAR), "private").text(text) == "Anna Los, [LIVING-1], [LIVING-1]"
