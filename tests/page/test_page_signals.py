"""What a page shows about its own quality and kind, and how that is known."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page

from kiwiresearch.page.doc import Signal

LONG = "<p>" + "The tower was built by two brothers from the north. " * 30 + "</p>"
FACT = '<sup class="noprint Inline-Template Template-Fact">[<i>citation needed</i>]</sup>'
CITED = '<p>x<sup class="reference">[1]</sup>y<sup class="reference">[1]</sup></p>'
ITEMS = "<ul><li>the metal</li><li>the planet</li><li>the god</li></ul>"
MANY = "<ul>" + "<li>an island in the sea</li>" * 20 + "</ul>"


def signal_line(signal: Signal) -> str:
    """A signal as one line: how it is known, and from what."""
    return f"{signal.basis}: {signal.why}".rstrip(": ")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (LONG, "absent"),
        ("<p>A rock.</p>", "inferred: 7 characters, no sections, 0 references"),
        ("<p>A rock.</p><h2>Life</h2><p>None.</p>", "absent"),
        ("<p>A rock." + '<sup class="reference">[1]</sup>' * 3 + "</p>", "absent"),
        (LONG + '<div class="stub">This article about a rock is a stub.</div>', "seen: stub note"),
        (LONG + '<table class="metadata plainlinks asbox stub"><tr><td>x</td></tr></table>', "seen: stub note"),
        ('<p>A rock.</p><div class="asbox">This is a stub.</div>', "seen: stub note"),
        (LONG + '<div class="notice metadata" id="stub">This article is a stub.</div>', "seen: stub note"),
        (LONG + "<p>The stub of a candle is a stub.</p>", "absent"),
        (LONG + '<div class="stub">This section is a stub.</div>', "absent"),
        (LONG + '<div class="stub"></div>', "seen: stub note"),
        (LONG * 4 + '<div class="stub"></div>', "absent"),
    ],
)
def test_stub(html: str, expected: str) -> None:
    """A stub is seen from its note, else inferred from a short page without sections and references (R42)."""
    assert signal_line(a_page(html).signals.stub) == expected


def test_stubs_are_not_inferred_in_books_of_introductions() -> None:
    """In a book that has introductions only, a short page is not a stub, but a note still counts (R42)."""
    assert signal_line(a_page("<p>A rock.</p>", lead_only=True).signals.stub) == "absent"
    noted = a_page('<p>A rock.</p><div class="stub">Stub.</div>', lead_only=True)
    assert signal_line(noted.signals.stub) == "seen: stub note"


def test_disambiguation_and_list_pages_are_not_stubs() -> None:
    """A short page that only points elsewhere is complete (R42)."""
    assert not a_page(f"<p><b>Mercury</b> may refer to:</p>{ITEMS}", title="Mercury").signals.stub
    assert not a_page(ITEMS, title="List of gods").signals.stub


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (LONG, "absent"),
        (f"<p>x{FACT}</p>", "seen: 1 in the text"),
        ("<p>It is so [citation needed], and so.<sup>[citation needed]</sup></p>", "seen: 2 in the text"),
        ('<table class="ambox"><tr><td>This article is unreferenced.</td></tr></table><p>x</p>', "seen: box"),
        ('<div class="boilerplate metadata">There is a <i>citation needed</i> here.</div><p>x</p>', "seen: box"),
        ('<table class="ambox ambox-Unreferenced"><tr><td></td></tr></table><p>x</p>', "seen: box"),
        ('<p>x<sup class="reference">[1]</sup></p>', "absent"),
        ("<p>He said that a citation needed no proof.</p>", "absent"),
    ],
)  # fmt: skip
def test_citation_needed(html: str, expected: str) -> None:
    """'Citation needed' is seen as a mark in the text or as a box, and never inferred (R42, R115)."""
    assert signal_line(a_page(html).signals.citation_needed) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (LONG, "absent"),
        ('<p>x<sup class="Inline-Template">[<i>dubious – discuss</i>]</sup></p>', "seen: 1 in the text"),
        ('<div class="ambox">The neutrality of this article is disputed.</div><p>x</p>', "seen: box"),
        ("<p>The border is disputed.</p>", "absent"),
    ],
)  # fmt: skip
def test_disputed(html: str, expected: str) -> None:
    """A dispute among editors is seen; a dispute that the article mentions is not one (R42)."""
    assert signal_line(a_page(html).signals.disputed) == expected


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("The neutrality of this article is disputed.", {"disputed"}),
        ("This article is unreferenced.", {"citation_needed"}),
        ("This article is a stub.", {"stub"}),
        ("This article is about the planet.", set()),
    ],
)
def test_a_note_means_only_what_it_says(note: str, expected: set[str]) -> None:
    """A box of the editors sets the signal it speaks of and no other (R42)."""
    signals = a_page(f'<div class="ambox">{note}</div>{LONG}').signals
    names = ("stub", "citation_needed", "disputed", "disambiguation", "list_page")
    assert {name for name in names if getattr(signals, name)} == expected


def test_marks_of_editors_keep_their_place() -> None:
    """A mark keeps its kind and the offset of the words that it doubts (R42)."""
    page = a_page(
        '<p>It is old.<sup class="Template-Fact">[citation needed]</sup> It is red.'
        '<sup class="Inline-Template">[dubious]</sup> It is big.<sup class="Inline-Template">[by whom?]</sup></p>'
    )
    assert [(mark.kind, page.text[: mark.offset]) for mark in page.marks] == [
        ("citation needed", "It is old."),
        ("disputed", "It is old. It is red."),
        ("editor note", "It is old. It is red. It is big."),
    ]


@pytest.mark.parametrize(
    ("title", "html", "expected"),
    [
        ("Mercury (disambiguation)", LONG, "inferred: title"),
        ("Mercury", f"<p><b>Mercury</b> may refer to:</p>{ITEMS}", "inferred: 'may refer to' before a list"),
        ("Mercury", f"{LONG}<div id='disambigbox'>x</div>", "seen: disambiguation box"),
        ("Mercury", f"<p>x</p>{ITEMS}<div class='dmbox dmbox-disambig'>x</div>", "seen: disambiguation box"),
        ("Mercury", f"<p>The god.</p>{ITEMS}", "absent"),
        ("Mercury", "<p>The word may refer to a god.</p>", "absent"),
        ("Mercury", f"{LONG}<p>It may refer to:</p>{ITEMS}", "absent"),
    ],
)  # fmt: skip
def test_disambiguation(title: str, html: str, expected: str) -> None:
    """A page of meanings is seen from its box, else inferred from title or shape (R115)."""
    assert signal_line(a_page(html, title=title).signals.disambiguation) == expected


@pytest.mark.parametrize(
    ("title", "html", "expected"),
    [
        ("List of islands", LONG, "inferred: title"),
        ("Islands", f"<p>All:</p>{MANY}", "inferred: nearly all of it is lists or tables"),
        ("Islands", f"{LONG}{MANY}", "absent"),
        ("Islands", f"<p>Three:</p>{ITEMS}", "absent"),
        ("Islands", f"<table class='infobox'><tr><th>a</th><td>b</td></tr></table><p>All:</p>{MANY}", "absent"),
        ("Listening", LONG, "absent"),
    ],
)
def test_list_pages(title: str, html: str, expected: str) -> None:
    """A list is known by its title, or by being nearly nothing but items."""
    assert signal_line(a_page(html, title=title).signals.list_page) == expected


@pytest.mark.parametrize(
    ("language", "title", "html", "signal", "expected"),
    [
        ("deu", "Merkur (Begriffsklärung)", LONG, "disambiguation", "inferred: title"),
        ("deu", "Merkur", f"<p>Merkur steht für:</p>{ITEMS}", "disambiguation", "inferred: 'steht für' before a list"),
        ("deu", "Liste der Inseln", LONG, "list_page", "inferred: title"),
        ("deu", "Kiel", "<p>Alt.<sup>[Beleg fehlt]</sup></p>", "citation_needed", "seen: 1 in the text"),
        ("deu", "Kiel", f"{LONG}<div class='ambox'>Die Neutralität ist umstritten.</div>", "disputed", "seen: box"),
        ("fra", "Mercure (homonymie)", LONG, "disambiguation", "inferred: title"),
        (
            "fra", "Mercure", f"<p><b>Mercure</b> peut désigner :</p>{ITEMS}", "disambiguation",
            "inferred: 'peut désigner' before a list",
        ),
        ("fra", "Liste des îles", LONG, "list_page", "inferred: title"),
        ("fra", "Brest", "<p>Vieux.<sup>[réf. nécessaire]</sup></p>", "citation_needed", "seen: 1 in the text"),
        ("fra", "Brest", f"{LONG}<div class='ambox'>Cet article est une ébauche.</div>", "stub", "seen: stub note"),
        ("eng", "Liste der Inseln", LONG, "list_page", "absent"),
        ("xxx", "List of islands", LONG, "list_page", "inferred: title"),
    ],
)  # fmt: skip
def test_signals_in_other_languages(language: str, title: str, html: str, signal: str, expected: str) -> None:
    """The words that show a page's kind are those of its language; English is used for unknown ones (R42, R115)."""
    assert signal_line(getattr(a_page(html, title=title, language=language).signals, signal)) == expected


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<p>x</p>", 0),
        (CITED, 2),
        ("<p>x<sup>[1]</sup> y<sup>[note 2]</sup> z<sup>[by whom?]</sup> 5<sup>[3]</sup></p>", 3),
        (f'{CITED}<ol class="references"><li>A</li></ol>', 1),
        ('<p>x</p><div class="reflist"><ol class="references"><li>A</li><li>B</li></ol></div>', 2),
    ],
)  # fmt: skip
def test_references_are_counted_from_their_list_or_their_marks(html: str, count: int) -> None:
    """References are those of the list where there is one, else the marks in the text (R41, R115)."""
    assert a_page(html).signals.references == count


def test_length_is_that_of_the_article() -> None:
    """The length counts the article's own characters, without box and references (R115)."""
    page = a_page(
        "<table class='infobox'><tr><th>Height</th><td>40 m</td></tr></table><p>A tower.</p>"
        "<ol class='references'><li>A book about towers</li></ol>"
    )
    assert (page.signals.length, page.text.index("Height")) == (len("A tower."), len("A tower.\n\n"))
