"""A small book for many short jobs: towns of a valley that never was, and a family that lived there."""

from __future__ import annotations

from pathlib import Path

from tests.cli.kin_book import PAGES

from kiwiresearch.zim.book_writer import NewPage, write_book

TOWNS = ("Alder", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Hazel", "Ivy", "Juniper", "Larch", "Maple")
METADATA = {
    "Name": "valley_en",
    "Title": "Valley book",
    "Description": "Towns for tests",
    "Language": "eng",
    "Creator": "tests",
    "Publisher": "tests",
    "Date": "2026-01-01",
}
PERSON = "Josiah Wendover"


def _town(number: int) -> NewPage:
    name, year = f"{TOWNS[number]} Town", 1200 + 7 * number
    others = [f"{TOWNS[(number + step) % len(TOWNS)]} Town" for step in (1, 3, 5)]
    links = " and ".join(f'<a href="{other.replace(" ", "_")}">{other}</a>' for other in others)
    html = (
        f"<html><head><title>{name}</title></head><body><h1>{name}</h1>"
        f"<p><b>{name}</b> is a market town of the valley, founded in {year}. It lies {number + 2} km from {links}.</p>"
        f"<h2>History</h2><p>Because a flood destroyed its bridge in {year + 50}, the market moved to {links}. "
        f"In {year + 120} about {1000 + 90 * number:,} people lived there.</p></body></html>"
    )
    return NewPage(name.replace(" ", "_"), name, html.encode())


def build_valley(target: Path) -> Path:
    write_book(target, [*map(_town, range(len(TOWNS))), *PAGES], metadata=METADATA)
    return target
