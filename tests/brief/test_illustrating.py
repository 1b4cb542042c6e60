"""Pictures for a brief: which are chosen for which part, and which are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import pytest
from tests.brief.briefs import TOP, Making, a_claim, bronze_age, entry
from tests.png_files import a_png
from tests.zim.memory import MemoryArchive

from kiwiresearch.brief.brief import Brief, StatementGroup
from kiwiresearch.brief.illustrations import MAX_BYTES, MAX_PICTURES, MAX_TOTAL_BYTES, illustrate
from kiwiresearch.errors import BookUnreachable
from kiwiresearch.zim.archive import EntryInfo

BOX = '<table class="infobox"><tr><td><img src="I/box.png"></td></tr></table>'


def a_brief(*parts: tuple[str, Sequence[tuple[str, tuple[str, ...]]]]) -> Brief:
    """A brief whose parts have a sentence from each of the pages and sections that are named."""
    make = Making()
    opening = "The collapse ended an age."
    summary = (make.said(opening, a_claim(TOP, opening, headings=())),)
    body = []
    for heading, places in parts:
        rows = [f"{heading} is told in sentence {number}." for number in range(len(places))]
        claims = [a_claim(page, text, headings=above) for text, (page, above) in zip(rows, places, strict=True)]
        body.append(StatementGroup(heading, tuple(make.said(claim.text, claim) for claim in claims)))
    return Brief(
        TOP, bronze_age().sources, TOP, "", (), summary, tuple(body), (), (), (), (), (), (), (), make.claims
    )  # fmt: skip


def a_figure(name: str, caption: str = "") -> str:
    return f'<figure><img src="I/{name}.png"><figcaption>{caption or name}</figcaption></figure>'


def shown(brief: Brief, pages: Mapping[str, str | bytes]) -> list[str]:
    """Each picture on a line: its part and its caption."""
    images = {f"I/{name}.png": a_png(name) for name in "abcdefghij"} | {"I/box.png": a_png("box")}
    archive = MemoryArchive(images | {entry(title).path: content for title, content in pages.items()} | dict(pages))
    made = illustrate(brief, lambda _: archive)
    assert {one.sha256 for one in made.brief.pictures} == set(made.images)
    assert all(sha256(content).hexdigest() == sha for sha, content in made.images.items())
    return [f"{'summary' if one.part is None else one.part}: {one.caption}" for one in made.brief.pictures]


def test_the_summary_has_the_picture_of_the_infobox() -> None:
    """From the page that the summary is taken from, even if another picture comes before it."""
    assert shown(a_brief(), {TOP: a_figure("a") + BOX}) == [f"summary: {TOP}"]


def test_without_an_infobox_it_has_the_first_picture() -> None:
    assert shown(a_brief(), {TOP: f"<p>It ended.</p><h2>Use</h2>{a_figure('a')}{a_figure('b')}"}) == ["summary: a"]


def test_a_part_has_a_picture_of_the_section_it_is_taken_from() -> None:
    """The section that most of its sentences are from, before others below the same heading."""
    page = f"{BOX}<h2>Trade</h2>{a_figure('a')}<h3>Tin</h3>{a_figure('b')}<h2>War</h2>{a_figure('c')}"
    brief = a_brief(("Trade", [(TOP, ("Trade",)), (TOP, ("Trade", "Tin")), (TOP, ("Trade", "Tin"))]))
    assert shown(brief, {TOP: page}) == [f"summary: {TOP}", "0: b"]


def test_a_section_of_which_a_part_has_little_gives_no_picture() -> None:
    """One sentence of four from another page does not bring its picture along."""
    brief = a_brief(("Trade", [(TOP, ("Trade",))] * 3 + [("Ugarit", ("End",))]))
    assert shown(brief, {TOP: BOX, "Ugarit": f"<h2>End</h2>{a_figure('a')}"}) == [f"summary: {TOP}"]


def test_a_part_from_the_introduction_of_another_page_has_the_picture_of_its_infobox() -> None:
    box = BOX.replace("box.png", "a.png")
    brief = a_brief(("Ugarit", [("Ugarit", ()), ("Ugarit", ())]))
    assert shown(brief, {TOP: BOX, "Ugarit": box}) == [f"summary: {TOP}", "0: Ugarit"]


def test_no_picture_is_shown_twice() -> None:
    """Neither under another name: pictures are known by their bytes. The next one of the section takes its place."""
    page = f"{BOX}<h2>Trade</h2>{a_figure('again')}{a_figure('b')}"
    brief = a_brief(("Trade", [(TOP, ("Trade",))]))
    assert shown(brief, {TOP: page, "I/again.png": a_png("box")}) == [f"summary: {TOP}", "0: b"]


@pytest.mark.parametrize(
    "content",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'/>" + b" " * 2_000,
        b"<script>alert(1)</script>" * 100,
        a_png("small", width=8, height=8),
        a_png("large") + bytes(MAX_BYTES),
        b"",
        None,
    ],
)
def test_only_pictures_of_known_kinds_and_sizes_are_shown(content: bytes | None) -> None:
    """Drawings that could run code, what is not a picture, icons, files too large, and what the book does not have."""
    pages: dict[str, str | bytes] = {TOP: BOX.replace("box", "it") + a_figure("a")}
    assert shown(a_brief(), pages | ({"I/it.png": content} if content is not None else {})) == ["summary: a"]


@pytest.mark.parametrize(
    ("beginning", "kind"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"GIF87a", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
    ],
)
def test_a_picture_is_what_its_first_bytes_say(beginning: bytes, kind: str) -> None:
    """Scrapers turn pictures into WebP and leave their names."""
    archive = MemoryArchive({entry(TOP).path: BOX, "I/box.png": beginning + bytes(2_000)})
    (picture,) = illustrate(a_brief(), lambda _: archive).brief.pictures
    assert picture.media_type == kind


def test_there_are_few_pictures_and_little_of_them() -> None:
    """At most six, and together no more than a reader's program takes in one page."""
    names = "abcdefghij"
    parts = [(name, [(TOP, (name,))]) for name in names]
    page = BOX + "".join(f"<h2>{name}</h2>{a_figure(name)}" for name in names)
    found = shown(a_brief(*parts), {TOP: page})
    assert found == [f"summary: {TOP}", *(f"{number}: {name}" for number, name in enumerate("abcde"))]
    assert len(found) == MAX_PICTURES
    large = {f"I/{name}.png": a_png(name) + bytes(MAX_BYTES - 20_000) for name in names}
    assert len(shown(a_brief(*parts), {TOP: page, **large})) == 1 + MAX_TOTAL_BYTES // MAX_BYTES


def test_a_brief_of_pages_without_pictures_stays_as_it_was() -> None:
    """Also where a page is gone or is none."""
    brief = a_brief(("Trade", [("Ugarit", ("End",))]))
    archive = MemoryArchive({entry(TOP).path: "<p>It ended.</p>"})
    made = illustrate(brief, lambda _: archive)
    assert made.brief == brief
    assert not made.images


class Away(MemoryArchive):
    """A book whose server has just gone away."""

    def info(self, path: str) -> EntryInfo:
        if path.startswith("I/"):
            raise BookUnreachable("It does not answer.")
        return super().info(path)


def test_a_book_that_does_not_answer_is_not_a_book_without_pictures() -> None:
    """Or the same run would have other bytes another time."""
    with pytest.raises(BookUnreachable):
        illustrate(a_brief(), lambda _: Away({entry(TOP).path: BOX}))
