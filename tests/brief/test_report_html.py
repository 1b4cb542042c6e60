"""The brief as one HTML page: it needs nothing else, everyone can read it, and each sentence unfolds to its quotes."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest
from tests.brief.briefs import AROUND, BOOK, Making, a_claim, bronze_age, nothing, of_words

from kiwiresearch.brief.brief import Brief, QuoteContext, Statement, StatementGroup
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.claims.claim import Claim
from kiwiresearch.document.markdown import markdown
from kiwiresearch.text.display import printable

VOID = {"meta", "line", "rect", "circle", "path"}
TEXT_ONLY = {"title", "style", "p", "h1", "h2", "h3", "summary", "text"}
"""Elements that hold words and inline elements only."""
INLINE = {"a", "em", "strong", "span", "mark"}
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "nav", "main", "section", "h1", "h2", "h3", "p",
    "ul", "ol", "li", "div", "span", "em", "strong", "mark", "details", "summary", "blockquote", "footer", "table",
    "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "desc", "g", "line", "rect", "circle", "path",
    "text",
}  # fmt: skip
HOSTILE = [
    "<script>alert(1)</script>", "</title></style><script>x</script>", '" onmouseover="alert(1)', "' onfocus='x",
    "</svg></details><img src=x onerror=alert(1)>", "&lt;b&gt; &copy; &", "<!--", "]]>", "\u202eRTL שלום\u2066",
    "\x00\x07\x1b[31m", "x" * 3000, "青銅器時代", "javascript:alert(1)", "{{7*7}} ${x}", "",
]  # fmt: skip


class Read(HTMLParser):
    """What a browser makes of a page; an element that is closed out of order or in a wrong place is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.said: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parent = self._open[-1] if self._open else ""
        assert parent not in TEXT_ONLY or tag in INLINE, f"<{tag}> in <{parent}>"
        assert not (tag == "a" and "a" in self._open)
        self.tags.append(tag)
        self.attributes += [(tag, key, value or "") for key, value in attrs]
        self.said.setdefault(tag, []).append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.said[tag][-1] += data

    def all(self, name: str, tag: str = "") -> list[str]:
        return [value for of, key, value in self.attributes if key == name and tag in ("", of)]


def read(brief: Brief) -> Read:
    return Read(report_page(brief))


def test_the_page_needs_nothing_else() -> None:
    """No script, no handler, nothing loaded: the page forbids it itself, and has no address that could be loaded."""
    text = report_page(bronze_age())
    found = Read(text)
    assert set(found.tags) <= ELEMENTS
    assert not [key for _, key, _ in found.attributes if key.startswith("on") or key in ("src", "style", "srcset")]
    policy = found.all("content", "meta")[0]
    assert found.all("http-equiv") == ["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert not re.search(r"url\(|@import|@font-face", text)
    assert "http" not in text.replace("http-equiv", "")


def test_every_link_leads_into_the_book_or_the_page() -> None:
    """Addresses are pages of the book, or places of the page that are there (R107)."""
    found = read(bronze_age())
    ids = found.all("id")
    assert len(ids) == len(set(ids))
    inside = {url for url in found.all("href") if url.startswith("#")}
    assert inside
    assert {url[1:] for url in inside} <= set(ids)
    assert all(url.startswith(f"zim://{BOOK}/") for url in found.all("href") if url not in inside)
    assert set(found.all("aria-labelledby", "section")) <= set(ids)


def test_contents_lead_to_all_parts() -> None:
    """The table of contents names the parts that are there, in the order of the report."""
    for brief in (bronze_age(), nothing()):
        parts = re.findall(r"^## (.+)$", markdown(brief_document(brief)), re.MULTILINE)
        found = read(brief)
        assert found.said["h2"] == parts
        assert "".join(found.said["nav"]).split("\n")[2:-2] == parts


def test_both_forms_say_the_same() -> None:
    """What Markdown says, the page says too: all sentences, headings and names of places."""
    brief = bronze_age()
    output = re.sub(r"\s+", " ", "".join(read(brief).said["body"]))
    for statement in brief.statements()[:-3]:
        assert statement.text in output
    for heading in re.findall(r"^#+ (.+)$", markdown(brief_document(brief)), re.MULTILINE):
        assert heading in output


def test_headings_are_in_order() -> None:
    """One h1, and no level is left out on the way down."""
    levels = [int(tag[1]) for tag in read(bronze_age()).tags if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_the_page_can_be_used_by_everyone() -> None:
    """It names its language, its tables have headers with a scope, what scrolls has a name and takes the keyboard."""
    brief = bronze_age()
    books = (replace(brief.sources.books[0], language="deu"),)
    found = read(replace(brief, sources=replace(brief.sources, books=books)))
    assert found.all("lang") == ["de"]
    assert len(found.all("scope", "th")) == found.tags.count("th") > 0
    regions = found.all("role", "div").count("region")
    assert regions == len(found.all("aria-label", "div")) == len(found.all("tabindex", "div"))
    assert found.all("aria-labelledby", "svg") == [
        "timeline-title timeline-description",
        "graph-title graph-description",
    ]


def unfolded(brief: Brief) -> list[str]:
    return read(brief).said["details"]


def test_every_statement_unfolds() -> None:
    """Each statement, and each gap with claims, has its quotes, their places and their confidence in a fold."""
    brief = bronze_age()
    folds = unfolded(brief)
    running = [*brief.summary, *(one for group in brief.body for one in group.statements)]
    # Sentences of one place share a fold.
    result = iter(folds)
    fold = ""
    for statement in running:
        quotes = [quoted(brief, claim) for claim in claims_of(brief, statement)]
        if not all(quote in fold for quote in quotes):
            fold = next(result)
        assert fold.startswith("quotes")
        assert all(quote in fold for quote in quotes)
    for statement in brief.statements()[len(running) :]:
        fold = next(result)
        alone = any(statement in group.statements and len(group.statements) == 1 for group in brief.mechanisms)
        assert fold.startswith("quotes" if alone else statement.sureness)
        for claim in claims_of(brief, statement):
            assert quoted(brief, claim) in fold
    left = [fold for fold in result if not fold.startswith("2 pages read but not cited")]
    assert len(left) == len([gap for gap in brief.gaps if gap.claims])


def quoted(brief: Brief, claim: Claim) -> str:
    """How a fold shows the first quote of a claim, with its context and place."""
    around = brief.context.get(claim.id, QuoteContext("", ""))
    return f"“{around.before}{claim.quotes[0].text}{around.after}”[{claim.citation.words}]"


def claims_of(brief: Brief, statement: Statement) -> list[Claim]:
    return [brief.claims[one] for one in statement.claims]


def test_sentences_of_one_place_share_a_fold() -> None:
    """As long as running text stays with a section its sentences unfold together."""
    make = Making()
    rows = [make.one("Troy", f"Troy had wall {n}.", section) for n, section in enumerate(("A", "A", "B"))]
    first, second = unfolded(replace(nothing(), summary=tuple(rows), claims=make.claims))
    assert [number for number in range(3) if f"“Troy had wall {number}.”" in first] == [0, 1]
    assert [number for number in range(3) if f"“Troy had wall {number}.”" in second] == [2]


def test_pages_that_are_not_cited_are_folded() -> None:
    """The bibliography shows the pages that are cited, and unfolds to the others."""
    fold = unfolded(bronze_age())[-1]
    assert fold.startswith("2 pages read but not cited")
    assert [title for title in ("Medinet Habu", "Tin trade in the ancient world", "Ugarit") if title in fold] == [
        "Medinet Habu",
        "Tin trade in the ancient world",
    ]


def test_a_fold_shows_hedges_and_confidence() -> None:
    """The fold names the words that hedge a claim, and what speaks for and against it in words."""
    fold = next(one for one in unfolded(bronze_age()) if "A dry spell of some centuries" in one)
    assert "Hedged by: “may”." in fold
    assert "Confidence 69%. For: references in the sentence +1.2. Against: hedged -0.4." in fold


def test_a_fold_shows_how_a_quote_was_read() -> None:
    """If a claim's words are not those of the quote, the fold has both."""
    fold = next(one for one in unfolded(bronze_age()) if "needs tin , which" in one)
    assert "Understood as: Bronze needs tin." in fold
    assert "Read as" not in unfolded(bronze_age())[0]


def test_citations_mark_the_sentence() -> None:
    """On a server, a link opens the section and marks the words; in Markdown it only opens the section (R108)."""
    brief = bronze_age("http://127.0.0.1:8080/content")
    urls = read(brief).all("href")
    start = f"http://127.0.0.1:8080/content/{BOOK}"
    assert f"{start}/Ugarit#End:~:text=Ugarit%20was%20burnt%20and%20never%20settled%20again." in urls
    assert f"({start}/Ugarit#End)" in markdown(brief_document(brief))
    assert ":~:text=" not in report_page(bronze_age())


def test_pictures_are_in_their_parts() -> None:
    """The timeline is drawn above its list, and the links of the pages beside the story of the run."""
    text = report_page(bronze_age())
    parts = dict(zip(re.findall(r'<section aria-labelledby="(\w+)">', text), text.split("<section ")[1:], strict=True))
    drawn = {name: re.findall(r'<svg class="(\w+)"', part) for name, part in parts.items() if "<svg" in part}
    assert drawn == {"timeline": ["timeline"], "gathering": ["graph"]}
    assert "<svg" not in report_page(nothing())


@pytest.mark.parametrize("words", HOSTILE)
def test_words_of_books_become_no_markup(words: str) -> None:
    """In every field hostile words stay words: the page has the elements it has with harmless ones, and no more."""
    found, plain = read(of_words(words)), read(of_words("plain"))
    if words:
        shapes = [
            [tag for tag in one.tags if tag not in ("rect", "circle", "p", "line", "text")] for one in (found, plain)
        ]
        assert shapes[0] == shapes[1]
    assert set(found.tags) <= ELEMENTS
    assert {(tag, key) for tag, key, _ in found.attributes} <= {(tag, key) for tag, key, _ in plain.attributes} | {
        ("circle", key) for key in ("class", "cx", "cy", "r")
    }
    assert all(url.startswith(("#", f"zim://{BOOK}/")) for url in found.all("href"))
    title = " ".join(printable(f"Research Brief: {words}").split())
    assert found.said["h1"] == [title]
    assert found.said["title"][0] == title


def test_the_sureness_is_a_word() -> None:
    """The confidence of a statement is in words: after it in running text if it is doubtful, elsewhere on its fold."""
    make = Making()
    claims = [a_claim("Troy", f"Troy had wall number {n}.", f"S{n}") for n in range(40)]
    text = make.said("Troy had many walls.", *claims, sureness="well supported")
    running = read(replace(nothing(), summary=(text,), claims=make.claims))
    assert "em" not in running.said
    doubtful = read(replace(nothing(), summary=(replace(text, sureness="hedged"),), claims=make.claims))
    assert doubtful.said["em"] == ["(hedged)"]
    assert running.said["summary"] == ["quotes"]
    listed = read(replace(nothing(), definitions=(StatementGroup("Troy", (text,)),), claims=make.claims))
    assert listed.said["summary"] == ["well supported"]
    assert running.tags.count("blockquote") == listed.tags.count("blockquote") == 40


def test_a_quote_is_marked_in_its_place_on_the_page() -> None:
    """What is before and after it on the page is shown with it, in one paragraph."""
    brief = bronze_age()
    first = brief.claims[brief.summary[0].claims[0]].quotes[0].text
    shown = report_page(brief)
    assert f'<p class="around">“{AROUND.before}<mark>{first}</mark>{AROUND.after}”</p>' in shown
    assert f"<p>“{first}”</p>" in report_page(replace(brief, context={}))
    assert set(read(brief).said["mark"]) == {first}


def test_one_source_is_not_said_in_running_text() -> None:
    """What every sentence of running text is by default needs no word."""
    make = Making()
    result = make.one("Troy", "Troy had many walls.")
    page = report_page(replace(nothing(), summary=(result,), claims=make.claims))
    assert "one source" not in page.partition("How to read this brief</h2>")[0]


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    shares = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    red, green, blue = [share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


STYLE = (files("kiwiresearch.brief") / "style.css").read_text(encoding="utf-8")
SCHEMES = [dict(re.findall(r"--(\w+): (#\w+)", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)]


@pytest.mark.parametrize("colours", SCHEMES, ids=["light", "dark", "print"])
def test_all_words_can_be_read(colours: dict[str, str]) -> None:
    """In light, dark and print, text has a contrast of at least 4.5 to its background, marks one of 3."""
    for ink in ("ink", "quiet", "accent", "warn"):
        for paper in ("paper", "field"):
            assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    assert contrast(colours["ink"], colours["mark"]) >= 4.5
    assert contrast(colours["bar"], colours["paper"]) >= 3


def test_the_style_is_for_all_readers() -> None:
    """The page shows where the keyboard is, and has rules for dark screens, phones and paper."""
    assert ":focus-visible { outline: 3px" in STYLE
    for rule in ("(prefers-color-scheme: dark)", "(max-width: 34rem)", "@media print"):
        assert rule in STYLE
    assert len(SCHEMES) == 3
