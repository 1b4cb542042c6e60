"""Pages about persons are distinguished from other pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kiwiresearch.ids import BookId
from kiwiresearch.kin import language
from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.language import ENGLISH, Language, language_data
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.archive import Entry, EntryRef


def page_of(title: str, html: str, language: str = "eng") -> PageDoc:
    entry = Entry(EntryRef(BookId("book"), title.replace(" ", "_")), title, "text/html", html.encode())
    return read_page(entry, language=language)


PERSONS = [
    ("Ada Smith", "(1 May 1801 – 3 June 1870) was an English botanist. She drew her own maps, and she sold them."),
    ("Oleg of Dorn", "was a king of the north. He ruled for ten years, and his sons followed him."),
    ("Ann Lee", "(1805 – 1880) was a painter."),
    ("Muhammad al-Dorni", "was a Persian mathematician. He wrote his books, and he drew his maps."),
    ("Max Hay, 1st Earl of Aue and Dorn", "(1 May 1801 – 3 June 1870) was a soldier. He lost his eye and his leg."),
    ("Eilmar of Dorn", "(also known as Elmar), an English monk. He is known for his wings, and he broke his legs."),
    ("Jan Kowal", "(born 4 May 1950) is a Polish film director. He lives in Paris with his wife."),
]
OTHERS = [
    ("List of kings", "<h1>List of kings</h1><ul><li>Oleg (1000–1020)</li><li>Igor (1020–1040)</li></ul>", "list"),
    ("Smith", "<p><b>Smith</b> is a surname of English origin. He who bore it was a smith.</p>", "name"),
    (
        "Sam Spark",
        "<p><b>Sam Spark</b> is a fictional detective. He solves his cases alone (1930–1950).</p>",
        "fictional",
    ),
    ("The Sparks", "<p><b>The Sparks</b> (1960–1970) were an English rock band. He and she sang.</p>", "several"),
    (
        "Smith family",
        "<p>The <b>Smith family</b> (1700–1900) was a family of bankers. He founded his bank.</p>",
        "title",
    ),
    ("Shergo", "<p><b>Shergo</b> (1978 – 1983) was an Irish racehorse. He won his first race.</p>", "animal"),
    ("Battle of Dorn", "<p>The <b>Battle of Dorn</b> (1066) was fought by King Oleg. He lost his life.</p>", "title"),
    ("Orion", "<p>In Greek mythology, <b>Orion</b> was a hunter. He lost his sight and his life.</p>", "myth"),
    (
        "Dorn",
        "<p><b>Dorn</b> is a town in the north. It has its own mill, and its river is cold.</p>",
        "not about a person",
    ),
    ("Nothing", "", "empty"),
    (
        "Pope of Dorn",
        "<p>The <b>Pope of Dorn</b> is the bishop of Dorn. He rules his church, and he is old.</p>",
        "no sentence says who the person is",
    ),
    ("Spy Hard", "<p><b>Spy Hard</b> is a spy comedy film. He and his friend lose his hat.</p>", "does not describe"),
    (
        "Farming",
        "<p>In law, <b>farming</b> is a criminal activity. He who does it loses his hat.</p>",
        "does not describe",
    ),
    ("King Arno", "<p><b>King Arno</b> was a legendary leader. He lost his sword and his life.</p>", "myth"),
    ("Odo", "<p><b>Odo</b> is considered the chief god of the north. He lost his eye and his son.</p>", "myth"),
]


@pytest.mark.parametrize(("title", "expected"), PERSONS)
def test_a_page_about_a_person_is_recognized(title: str, expected: str) -> None:
    """Dates behind the name, or a word for what the person was, make a page one about a person."""
    person = read_person(page_of(title, f"<p><b>{title}</b> {expected}</p>"))
    assert person.is_person, person.why


@pytest.mark.parametrize(("title", "html", "why"), OTHERS)
def test_a_page_about_something_else_is_recognized(title: str, html: str, why: str) -> None:
    """Lists, names, fiction, families, bands and animals are not persons, and the reason is given."""
    person = read_person(page_of(title, html))
    assert not person.is_person
    assert why in person.why
    assert not person.facts


def test_a_name_later_in_the_lead_is_found() -> None:
    """'Jan Kowal (…), better known as Kowaletto, was' opens the page 'Kowaletto'."""
    html = (
        "<p><b>Jan Kowal</b> (4 May 1750 – 6 June 1801), better known as Kowaletto, was a painter. He drew his dog.</p>"
    )
    person = read_person(page_of("Kowaletto", html))
    assert person.is_person
    assert person.name == "Jan Kowal"


def test_a_language_without_words_is_said_to_be_unread() -> None:
    """A page in a language that has no file of words is not guessed at."""
    person = read_person(page_of("Jan", "<p><b>Jan</b> (1 May 1801 – 3 June 1870).</p>", language="epo"))
    assert not person.is_person
    assert "epo" in person.why


def test_every_pattern_of_english_is_used_and_can_be_compiled() -> None:
    """What the rules ask for is in the file of words, and nothing else is."""
    data = language_data("eng")
    source = "".join(file.read_text(encoding="utf-8") for file in Path(language.__file__).parent.rglob("*.py"))
    in_code = set(re.findall(r"\bENGLISH\.(\w+)", source)) - set(vars(Language))
    patterns = {**data["classes"], **data["patterns"]}
    in_patterns = set(re.findall(r"\{([a-z][a-z_]+)\}", " ".join(patterns.values())))
    in_tables = {name for name in patterns if f'"{name}"' in source}
    assert in_code <= patterns.keys() <= in_code | in_patterns | in_tables
    assert in_patterns <= patterns.keys()
    assert data["words"].keys() == set(re.findall(r'\bENGLISH\.words\["(\w+)"\]', source))
    assert all(getattr(ENGLISH, name).pattern for name in patterns)
