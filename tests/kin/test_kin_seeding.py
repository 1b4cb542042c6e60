"""Whom a case begins with: the ways in which people name the known, and who is never guessed."""

from __future__ import annotations

import pytest
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.loop.seeds import find_seed_page
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.search.open_book import OpenBook

LIVES = {
    "Ottilie of the Western Isles": ("Ottilie (4 May 1819 – 2 June 1901) was the Queen of the Western Isles.", "She"),
    "Harold VIII of Vale": ("Harold VIII (28 June 1491 – 28 January 1547) was King of Vale.", "He"),
    "Mabel I of Vale": ("Mabel I (1516 – 1558) was Queen of Vale. She is often known as Cruel Mabel.", "She"),
    "Mabel II of Vale": ("Mabel II (1602 – 1660) was Queen of Vale.", "She"),
    "Mabel Thorne": ("Mabel Thorne (1850 – 1920) was a painter.", "She"),
    "J. R. R. Quillon": ("John Ronald Reuel Quillon (1892 – 1973) was a writer.", "He"),
    "Abraham Brackley": ("Abraham Brackley (1809 – 1865) was a lawyer.", "He"),
    "Horatio Selwick, 1st Viscount Selwick": ("Horatio Selwick (1758 – 1805) was an admiral.", "He"),
    "Selwick Marsh": ("Selwick Marsh (1918 – 1999) was a politician.", "He"),
    "Osric Vane": ("Osric Vane (1703 – 1791) was a maker of clocks.", "He"),
    "Osric Vane (sailor)": ("Osric Vane (1880 – 1950) was a sailor.", "He"),
    "Martin Lowther": ("Martin Lowther (1483 – 1546) was a monk.", "He"),
    "Martin Lowther King": ("Martin Lowther King (1929 – 1968) was a preacher.", "He"),
    "Renée Ösel": ("Renée Ösel (1596 – 1650) was a philosopher.", "She"),
}  # fmt: skip
THINGS = {
    "Brinkport": "Brinkport is the largest city of Vale, on the river Wend. It has a harbour.",
    "King Alaric": "King Alaric is a legendary king of Vale in folklore, a figure of legend who is said to have slept.",
}


@pytest.fixture(scope="module")
def books() -> BookSource:
    pages = {
        title.replace(" ", "_"): f"<h1>{title}</h1><p>{entry} {word} lived in Brinkport. {word} was born there.</p>"
        for title, (entry, word) in LIVES.items()
    }
    pages |= {title.replace(" ", "_"): f"<h1>{title}</h1><p>{entry}</p>" for title, entry in THINGS.items()}
    return BookSource([OpenBook(MemoryArchive(pages, {"JRRQ": "J._R._R._Quillon"}))])


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Queen Ottilie", "Ottilie of the Western Isles"),
        ("Ottilie", "Ottilie of the Western Isles"),
        ("King Harold the Eighth", "Harold VIII of Vale"),
        ("harold viii", "Harold VIII of Vale"),
        ("HAROLD THE 8TH", "Harold VIII of Vale"),
        ("Mabel I", "Mabel I of Vale"),
        ("Cruel Mabel", "Mabel I of Vale"),
        ("JRR Quillon", "J. R. R. Quillon"),
        ("J.R.R. Quillon", "J. R. R. Quillon"),
        ("JRRQ", "J. R. R. Quillon"),
        ("Quillon", "J. R. R. Quillon"),
        ("Quillon, J. R. R.", "J. R. R. Quillon"),
        ("Abe Brackley", "Abraham Brackley"),
        ("A. Brackley", "Abraham Brackley"),
        ("President Brackley", "Abraham Brackley"),
        ("Lord Selwick", "Horatio Selwick, 1st Viscount Selwick"),
        ("Viscount Selwick", "Horatio Selwick, 1st Viscount Selwick"),
        ("Osric Vane", "Osric Vane"),
        ("Osric Vane (sailor)", "Osric Vane (sailor)"),
        ("Martin Lowther", "Martin Lowther"),
        ("Martin Lowther King", "Martin Lowther King"),
        ("Renee Ösel", "Renée Ösel"),
    ],
)  # fmt: skip
def test_names_lead_to_the_page(books: BookSource, name: str, title: str) -> None:
    """Titles, numbers, pet names, initials, other orders and other spellings lead to the one who is meant (R289)."""
    assert find_seed_page(books, name).source.title == title


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Queen Mabel", ["'Mabel I of Vale' (1516–1558)", "'Mabel II of Vale' (1602–1660)"]),
        ("Selwick", ["'Horatio Selwick, 1st Viscount Selwick' (1758–1805)", "'Selwick Marsh' (1918–1999)"]),
        ("Vane", ["'Osric Vane' (1703–1791)", "'Osric Vane (sailor)' (1880–1950)"]),
        ("Lowther", ["'Martin Lowther' (1483–1546)", "'Martin Lowther King' (1929–1968)"]),
    ],
)  # fmt: skip
def test_several_matches_are_listed_with_their_years(books: BookSource, name: str, expected: list[str]) -> None:
    """Nobody is chosen for the user: all whom the name fits are named, and nobody else."""
    with pytest.raises(BadUsage) as problem:
        find_seed_page(books, name)
    assert f"could be {len(expected)} people" in problem.value.message
    assert all(one in problem.value.message for one in expected)
    assert "Thorne" not in problem.value.message


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("Brinkport", "The page 'Brinkport' cannot be used: it is not about a person", "Use the name of one person"),
        (
            "King Alaric",
            "The page 'King Alaric' cannot be used: it is about a mythical figure",
            "Use the name of one person",
        ),
        ("Osric Vane's daughter", "No page about", "Research then finds their relatives"),
        ("son of Osric Vane", "No page about", "Research then finds their relatives"),
        ("king of Vale", "No page about", "kiwiresearch search"),
        ("Queen Thorne", "No page about", "kiwiresearch search"),
        ("King Mabel", "No page about", "kiwiresearch search"),
        ("Harold IX", "No page about", "kiwiresearch search"),
        ("Ottilie Thorne", "No page about", "Did you mean 'Ottilie of the Western Isles' (1819–1901)"),
        ("Abrahm Brackley", "No page about", "Did you mean 'Abraham Brackley' (1809–1865)"),
        ("Martin Brackley", "No page about", "Did you mean 'Abraham Brackley' (1809–1865)"),
    ],
)  # fmt: skip
def test_nobody_is_put_in_the_place_of_another(books: BookSource, name: str, message: str, remedy: str) -> None:
    """What names nobody, a thing, a relative or somebody without a page is refused, with what to do."""
    with pytest.raises(NothingFound, match=message) as problem:
        find_seed_page(books, name)
    assert remedy in problem.value.remedy


def test_those_who_may_be_alive_are_listed_without_their_years() -> None:
    """If a name fits several people, the year of a birth is shown only with that of a death (R435)."""
    lives = {"singer": "(born 4 May 1971) is a singer", "nurse": "(1820 – 1890) was a nurse"}
    pages = {
        f"Ida_Moor_({trade})": f"<h1>Ida Moor ({trade})</h1><p>Ida Moor {entry}. She was born in Hull.</p>"
        for trade, entry in lives.items()
    }
    with pytest.raises(BadUsage) as problem:
        find_seed_page(BookSource([OpenBook(MemoryArchive(pages))]), "Ida Moor")
    assert "'Ida Moor (nurse)' (1820–1890)" in problem.value.message
    assert "1971" not in str(problem.value)
