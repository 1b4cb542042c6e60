"""A family that never was, five generations of it, in a book of eight pages; two of its people may be living."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kiwiresearch.zim.book_writer import NewPage, write_book

LIVING = ("Nora Wendover", "Peter Lowbridge")
SECRETS = ("Nora", "Lowbridge", "1962", "Tilbrook")
"""What nobody may read who is not the owner."""

METADATA = {
    "Name": "wendover_en",
    "Title": "Wendover book",
    "Description": "A family for tests",
    "Language": "eng",
    "Creator": "tests",
    "Publisher": "tests",
    "Date": "2026-01-01",
}


def _page(name: str, lead: str, **rows: str) -> NewPage:
    table = "".join(f"<tr><th>{label.replace('_', ' ')}</th><td>{value}</td></tr>" for label, value in rows.items())
    box = f'<table class="infobox vcard"><tr><th colspan="2">{name}</th></tr>{table}</table>'
    html = f"<html><head><title>{name}</title></head><body><h1>{name}</h1>{box}<p>{lead}</p></body></html>"
    return NewPage(name.replace(" ", "_"), name, html.encode())


def _link(name: str) -> str:
    return f'<a href="{name.replace(" ", "_")}">{name}</a>'


PAGES = (
    _page(
        "Josiah Wendover",
        f"<b>Josiah Wendover</b> (4 June 1815 – 9 May 1885) was an English miller. He married {_link('Ann Pell')}.",
        Born="4 June 1815<br>Harrowby",
        Died="9 May 1885<br>Harrowby",
        Spouse=_link("Ann Pell"),
        Children=_link("Edmund Wendover"),
    ),
    _page(
        "Ann Pell",
        "<b>Ann Pell</b> (1 March 1820 – 2 April 1890) was an English teacher.",
        Born="1 March 1820<br>Elmsworth",
        Died="2 April 1890<br>Harrowby",
        Spouse=_link("Josiah Wendover"),
        Children=_link("Edmund Wendover"),
    ),
    _page(
        "Edmund Wendover",
        f"<b>Edmund Wendover</b> (12 May 1850 – 3 November 1920) was an English engineer. "
        f"He was the son of {_link('Josiah Wendover')} and {_link('Ann Pell')}.",
        Born="12 May 1850<br>Harrowby",
        Died="3 November 1920<br>Castleford Bay",
        Spouse=_link("Clara Holt"),
        Children=f"{_link('Hugh Wendover')}<br>{_link('Alice Wendover')}",
        Father=_link("Josiah Wendover"),
        Mother=_link("Ann Pell"),
    ),
    _page(
        "Clara Holt",
        "<b>Clara Holt</b> (8 July 1855 – 1 December 1931) was an English painter.",
        Born="8 July 1855<br>Marsh End",
        Died="1 December 1931<br>Castleford Bay",
        Spouse=_link("Edmund Wendover"),
        Children=f"{_link('Hugh Wendover')}<br>{_link('Alice Wendover')}",
    ),
    _page(
        "Alice Wendover",
        "<b>Alice Wendover</b> (5 January 1887 – 6 June 1970) was an English botanist.",
        Born="5 January 1887<br>Castleford Bay",
        Died="6 June 1970<br>Marsh End",
        Father=_link("Edmund Wendover"),
        Mother=_link("Clara Holt"),
    ),
    _page(
        "Hugh Wendover",
        "<b>Hugh Wendover</b> (17 April 1890 – 21 August 1960) was an English pilot.",
        Born="17 April 1890<br>Castleford Bay",
        Died="21 August 1960<br>Marsh End",
        Children=_link("Ralph Wendover"),
        Father=_link("Edmund Wendover"),
        Mother=_link("Clara Holt"),
    ),
    _page(
        "Ralph Wendover",
        "<b>Ralph Wendover</b> (2 February 1925 – 19 March 2001) was an English judge.",
        Born="2 February 1925<br>Marsh End",
        Died="19 March 2001<br>Elmsworth",
        Children=_link("Nora Wendover"),
        Father=_link("Hugh Wendover"),
    ),
    _page(
        "Nora Wendover",
        "<b>Nora Wendover</b> (born 14 March 1962) is an English chemist. She married Peter Lowbridge in 1990.",
        Born="14 March 1962<br>Tilbrook",
        Spouse="Peter Lowbridge",
        Father=_link("Ralph Wendover"),
    ),
)


def family_book(folder: Path) -> Path:
    """The book, as a file in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "wendover.zim"
    write_book(target, list(PAGES), metadata=METADATA)
    return target


def copied(done: Path, home: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a folder with a case, and of the home that knows its book, in which the next command is given."""
    shutil.copytree(done, place, ignore=shutil.ignore_patterns("home"))
    shutil.copytree(done / "home", home, ignore=shutil.ignore_patterns("state"), dirs_exist_ok=True)
    monkeypatch.chdir(place)
    return place
