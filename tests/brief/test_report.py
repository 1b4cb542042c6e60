"""The brief as Markdown: the parts that readers expect, and a place in a book behind every sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.brief.briefs import BOOK, TOP, Making, a_claim, bronze_age, entry, nothing, of_words, some_sources

from kiwiresearch.brief.brief import Brief, Dispute, DisputeView, StatementGroup, SupportLevel, ValueDifference
from kiwiresearch.brief.legend import setting_row
from kiwiresearch.brief.report import brief_document
from kiwiresearch.document.markdown import markdown
from kiwiresearch.ids import BookId

READER = MarkdownIt("commonmark").enable("table")
ALL_PARTS = [
    "Executive Summary", "Findings", "Key Concepts & Definitions", "Timeline / Historical Development",
    "Mechanisms / Explanations", "Key Actors", "Competing Views & Disputes", "Numbers & Quantitative Claims",
    "What Wikipedia Doesn’t Settle Yet", "How to read this brief", "Bibliography",
    "How the sources were found", "Run Metadata",
]  # fmt: skip
HOSTILE = [
    "<script>alert(1)</script>", "](javascript:alert(1))", "[click](http://evil.example)", "a | b | c", "`code`",
    "*a* _b_ **c**", "# a heading", "1. a list", "- a list", "> quoted", "```", "\\", "two\nlines\n\n# and more",
    "\x00\x07\x1b[31m", "\u202eRTL שלום", "&copy; &lt;b&gt;", "x" * 3000, "[a]: http://evil.example", "***", "",
]  # fmt: skip


def text_of(brief: Brief) -> str:
    return markdown(brief_document(brief))


def part(brief: Brief, heading: str) -> str:
    """What is under a heading of the report."""
    parts = re.split(r"^## (.+)$", text_of(brief), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[heading]


def headings(brief: Brief, level: int = 2) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+)$", text_of(brief), flags=re.MULTILINE)


def bullets(text: str) -> list[str]:
    return [line[2:] for line in text.splitlines() if line.startswith("- ")]


def table(text: str) -> list[list[str]]:
    """The rows of the first table, without the line under its header."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for number, row in enumerate(rows) if number != 1]


def link(title: str, section: str) -> str:
    place = f"{title} — “{section}” section" if section else f"{title} — introduction"
    anchor = f"#{section.replace(' ', '_')}" if section else ""
    return f"[{place}](zim://{BOOK}/{entry(title).path}{anchor})"


def test_the_title_names_the_topic() -> None:
    """The report begins with 'Research Brief: <Topic>' (R94)."""
    assert text_of(bronze_age()).startswith("# Research Brief: Late Bronze Age collapse\n")


def test_the_first_lines_say_what_it_was_made_from() -> None:
    """Book with name, date and flavour, number of pages and notes are before the summary."""
    opening = text_of(bronze_age()).partition("## ")[0]
    assert opening == (
        "# Research Brief: Late Bronze Age collapse\n\n"
        "Based on 15 pages from “The sample book” (sample\\_en, 2026-01-01, flavour maxi).\n\n"
        "**Note:** The book holds introductions only for some pages.\n\n"
    )


def test_the_parts_are_in_their_order() -> None:
    """All parts of the report have their headings, in the order of the specification (R24)."""
    assert headings(bronze_age()) == ALL_PARTS


def test_the_summary_is_running_text() -> None:
    """The Executive Summary has each statement once, in the brief's order, a paragraph for each page (R95)."""
    brief = bronze_age()
    found = part(brief, "Executive Summary")
    places = [found.index(item.text) for item in brief.summary]
    assert places == sorted(places)
    assert all(found.count(item.text) == 1 for item in brief.summary)
    assert bullets(found) == []
    assert len(found.strip().split("\n\n")) == 5  # the first two statements are of one page


def test_the_findings_have_the_headings_of_their_parts() -> None:
    """Each part of the findings has its heading, with its statements as running text below it."""
    found = part(bronze_age(), "Findings").strip().split("\n\n")
    assert [found[0], found[2]] == ["### Background", "### Ugarit"]
    assert found[1].startswith(
        "Copper came from Cyprus and tin from far in the east. Letters on clay tell of gifts between the courts. ("
    )
    assert len(found) == 4
    assert "Findings" not in headings(nothing())


def test_running_text_is_cited_where_the_place_changes() -> None:
    """Sentences of one section share one citation; another section has its own, and 'one source' is not said."""
    make = Making()
    rows = [
        make.one(TOP, "Trade was rich.", "A"),
        make.one(TOP, "Ships were many.", "A"),
        make.one(TOP, "It fell.", "B"),
    ]
    brief = replace(nothing(), summary=tuple(rows), claims=make.claims)
    assert part(brief, "Executive Summary").strip() == (
        f"Trade was rich. Ships were many. ({link(TOP, 'A')}) It fell. ({link(TOP, 'B')})"
    )


@pytest.mark.parametrize(
    ("sureness", "shown"),
    [("hedged", " *(hedged)*"), ("disputed", " *(disputed)*"), ("supported", ""), ("well supported", "")],
)
def test_running_text_says_where_to_be_careful(sureness: str, shown: str) -> None:
    """A word in brackets is after a sentence that is hedged or disputed; support shows in the places cited."""
    make = Making()
    rows = [make.one(TOP, "Trade was rich.", "A", sureness), make.one(TOP, "Ships were many.", "A")]
    brief = replace(nothing(), summary=tuple(rows), claims=make.claims)
    assert part(brief, "Executive Summary").strip() == (f"Trade was rich.{shown} Ships were many. ({link(TOP, 'A')})")


def test_the_first_lines_say_how_the_topic_was_understood() -> None:
    """The topic, its aspect and other senses of the name are before the summary."""
    brief = replace(bronze_age(), aspect="causes", senses=("Collapse (film)", "Collapse (book)"))
    opening = text_of(brief).partition("## ")[0]
    assert "\n\n**Understood as:** Late Bronze Age collapse › causes\n\n" in opening
    assert "\n\n**Other meanings:** Collapse (film), Collapse (book)\n\n" in opening


def test_definitions_name_their_pages() -> None:
    """A definition is led by its concept, and followed by the page that gives it (R96)."""
    found = bullets(part(bronze_age(), "Key Concepts & Definitions"))
    alloy = f"**Bronze** is an alloy of copper with some tin. ({link('Bronze', '')}; *one source*)"
    tin = f"It needs tin, which came from far away. ({link('Bronze', 'Making')}; *supported*)"
    assert found[0] == f"{alloy} {tin}"
    assert found[1].startswith("A **palace economy** gathers goods at a court")
    assert found[2].startswith("**Sea Peoples**: Egyptian scribes wrote")


def test_the_timeline_has_dates() -> None:
    """Each moment of the timeline is led by its date; without moments there is no timeline (R97)."""
    brief = bronze_age()
    found = bullets(part(brief, "Timeline / Historical Development"))
    assert [line.partition("**: ")[0] for line in found] == [f"**{moment.when}" for moment in brief.timeline]
    assert "Timeline / Historical Development" not in headings(replace(brief, timeline=()))


def test_mechanisms_are_grouped() -> None:
    """Each theory has its own heading, with its statements under it (R98)."""
    found = part(bronze_age(), "Mechanisms / Explanations")
    assert re.findall(r"^### (.+)$", found, re.MULTILINE) == [
        "Drought and famine", "Raiders from the sea", "Systems collapse",
    ]  # fmt: skip
    assert len(bullets(found)) == 2
    assert (
        f"\n\nCoastal towns fell when fleets came while their own ships were away. ({link('Sea Peoples', 'Raids')}"
        in found
    )


def test_actors_are_a_list_until_there_is_much_to_say() -> None:
    """Key actors with few statements share a list; with many, each has a heading; with none, there is no such part."""
    brief = bronze_age()
    assert bullets(part(brief, "Key Actors"))[0].startswith("**Ramesses III** had his victory carved")
    more = (StatementGroup("Ramesses III", brief.actors[0].statements * 3), brief.actors[1])
    assert "### Ramesses III\n" in part(replace(brief, actors=more), "Key Actors")
    assert "Key Actors" not in headings(replace(brief, actors=()))


def test_views_are_shown_against_each_other() -> None:
    """View A and View B name their holders and the words that hedge them (R99)."""
    first = bullets(part(bronze_age(), "Competing Views & Disputes"))[:2]
    assert first[0].startswith("**View A** (some scholars): Some scholars argue that they came from the Aegean. (")
    assert first[0].endswith("*disputed*) *Hedging words: “some”, “argue”.*")
    assert first[1].startswith("**View B**: Others hold")
    assert first[1].endswith("*Hedging words: “debated”.*")


def test_a_dispute_with_one_view_says_so() -> None:
    """Views without an opposite view come last, together, and the report says once that one side is missing."""
    brief = bronze_age()
    more = Dispute("Who burnt Troy", (DisputeView("", brief.summary[2], ("never",)),))
    found = part(replace(brief, disputes=(more, *brief.disputes)), "Competing Views & Disputes")
    against, _, alone = found.partition("### Views without an opposing view\n\n")
    assert "View A" not in alone
    assert "only one side" not in against
    assert alone.count("*For these, the sources give only one side.*") == 1
    first, second = bullets(alone)
    assert first.startswith("**Who burnt Troy**: Ugarit was burnt and never settled again. (")
    assert second.startswith("**Whether an earthquake storm came first** (one geologist): A row of earthquakes")
    assert second.endswith("*hedged*) *Hedging words: “may”.*")


def test_no_side_is_missed_where_there_is_none() -> None:
    """With two views of everything, the report does not mention a missing side."""
    brief = bronze_age()
    two_sided = replace(brief, disputes=tuple(one for one in brief.disputes if len(one.views) > 1))
    assert "one side" not in part(two_sided, "Competing Views & Disputes")


def test_contradictions_are_side_by_side() -> None:
    """A contradiction is a table of both quotes, under its kind in plain words (R99, R101)."""
    found = part(bronze_age(), "Competing Views & Disputes").partition("### When Ugarit fell")[2]
    assert found.lstrip().startswith("The pages contradict each other. The dates are 15 years apart.\n")
    header, quotes, signals = table(found)
    assert header == ["", "View A", "View B"]
    assert quotes[1] == f"“Ugarit fell about 1190 BC.” ({link('Ugarit', 'End')}; *disputed*)"
    assert quotes[2] == f"“Ugarit fell in 1175 BC.” ({link(TOP, 'Course')}; *disputed*)"
    assert signals == ["Hedging words", "", "“disputed tag”"]


def test_quotes_that_say_it_otherwise_are_shown_too() -> None:
    """If the statements are not the pages' words, both are in the table."""
    make = Making()
    views = tuple(
        DisputeView("", make.said(f"It fell in {year}.", a_claim("Troy", f"in {year} it fell", kind="timeline")))
        for year in (1190, 1175)
    )
    brief = replace(
        nothing(), disputes=(Dispute("Troy", views, ValueDifference("different year")),), claims=make.claims
    )
    found = part(brief, "Competing Views & Disputes")
    assert "The values are from different years." in found
    assert [row[0] for row in table(found)] == ["", "Statement", "Quote"]
    assert table(found)[2][1:] == ["“in 1190 it fell”", "“in 1175 it fell”"]


def test_numbers_are_a_table() -> None:
    """Each number has its value, what it measures, when, and which pages say it (R100)."""
    header, *rows = table(part(bronze_age(), "Numbers & Quantitative Claims"))
    assert header == ["Value", "What it measures", "Date", "Sources"]
    assert rows[0] == [
        "7,000–8,000",
        "**Inhabitants**: Ugarit",
        "c. 1200 BC",
        f"{link('Ugarit', 'City')}; *one source*",
    ]
    assert [row[0] for row in rows] == ["7,000–8,000", "**6,000** ⚠", "12 %"]


def test_numbers_that_disagree_are_highlighted() -> None:
    """A number with which another page disagrees is set in bold, with a sign, the word and the reason (R101)."""
    rows = table(part(bronze_age(), "Numbers & Quantitative Claims"))
    assert rows[2][0] == "**6,000** ⚠"
    assert rows[2][3].endswith("⚠ **Disagrees**: The values are estimates with different ranges. Both are estimates.")
    assert [row for row in rows if "⚠" in "".join(row)] == [rows[2]]


def test_gaps_say_how_they_were_seen() -> None:
    """Gaps are under what shows them: a central concept of which little is said, much hedging (R102, R103, R104)."""
    found = part(bronze_age(), "What Wikipedia Doesn’t Settle Yet")
    assert re.findall(r"^### (.+)$", found, re.MULTILINE) == [
        "Central concepts with little information",
        "Uncertain statements without references",
        "Pages missing from the book",
        "Books with introductions only",
    ]
    assert f"7 are hedged, and 2 have a reference. ({link('Drought', 'Past')})" in found


def test_missing_pages_are_not_a_gap_in_knowledge() -> None:
    """Missing pages and pages cut short are distinguished from what nobody knows."""
    found = part(bronze_age(), "What Wikipedia Doesn’t Settle Yet")
    knowledge, _, book = found.partition("### Pages missing from the book")
    assert "not mean that nothing is known" not in knowledge
    assert book.count("It does not mean that nothing is known about it.") == 2


def test_the_bibliography_lists_every_page() -> None:
    """Each cited page is a numbered entry that links into its book; the others are listed behind them (R105)."""
    brief = bronze_age()
    numbered, label, others = part(brief, "Bibliography").strip().split("\n\n")
    cited = {claim.ref for claim in brief.claims.values()}
    used = [page for page in brief.sources.pages if page.ref in cited]
    unused = [page for page in brief.sources.pages if page.ref not in cited]
    assert (len(used), len(unused)) == (13, 2)
    assert numbered.splitlines()[0] == (
        f"1. [Late Bronze Age collapse](zim://{BOOK}/Late_Bronze_Age_collapse) — depth 0, score 60: "
        "its title matches the topic"
    )
    for number, (line, page) in enumerate(zip(numbered.splitlines(), used, strict=True), start=1):
        assert line.startswith(f"{number}. [{page.title}]({page.url}) — ")
    assert label == "2 pages read but not cited"
    for line, page in zip(others.splitlines(), unused, strict=True):
        assert line.startswith(f"- [{page.title}]({page.url}) — ")


def test_pages_of_several_books_name_theirs() -> None:
    """With more than one book, entries say which they are from, and the first lines name both."""
    brief = bronze_age()
    other = replace(brief.sources.books[0], id=BookId("other"), title="Another")
    both = replace(brief, sources=replace(brief.sources, books=(*brief.sources.books, other)))
    assert f"({brief.sources.books[0].title}) — depth 0" in part(both, "Bibliography")
    assert "“The sample book” (sample\\_en, 2026-01-01, flavour maxi) and “Another” (" in text_of(both)


def test_the_settings_are_listed() -> None:
    """The report ends with the settings of the run, and begins with the book's name and date (R106)."""
    brief = bronze_age()
    header, *rows = table(part(brief, "Run Metadata"))
    assert header == ["Setting", "Value"]
    assert [name for name, _ in rows] == [setting_row(one)[0] for one in brief.sources.settings]
    assert rows[0] == ["Maximum number of pages", "24"]
    assert text_of(brief).rstrip().endswith("| kiwiresearch version | 1.2.3 |")


def test_the_labels_are_explained_once() -> None:
    """One short section says what support, hedging and confidence mean, and explains every label."""
    found = part(bronze_age(), "How to read this brief")
    assert re.findall(r"^- \*\*([a-z ]+)\*\*: ", found, re.MULTILINE) == list(get_args(SupportLevel))
    assert re.findall(r"^\*\*(\w+)\*\*: ", found, re.MULTILINE) == ["Support", "Hedged", "Confidence"]


def tokens_of(brief: Brief) -> list[Token]:
    return [child for token in READER.parse(text_of(brief)) for child in token.children or []]


def links_of(brief: Brief) -> list[str]:
    return [unquote(str(child.attrs["href"])) for child in tokens_of(brief) if child.type == "link_open"]


def test_citations_lead_into_the_book() -> None:
    """Every link of the report is an address in the book, most with the anchor of a section (R107)."""
    found = links_of(bronze_age())
    assert all(url.startswith(f"zim://{BOOK}/") for url in found)
    assert f"zim://{BOOK}/Late_Bronze_Age_collapse#Theories" in found


def test_citations_have_their_form() -> None:
    """A citation reads [Page — “Section” section] and opens the page there (R108)."""
    found = part(bronze_age(), "Mechanisms / Explanations")
    assert (
        f"life and death. ([Late Bronze Age collapse — “Theories” section]"
        f"(zim://{BOOK}/Late_Bronze_Age_collapse#Theories); *supported*)"
    ) in found


def test_at_most_three_places_are_cited() -> None:
    """Three pages are named, and the others counted."""
    first = part(bronze_age(), "Executive Summary").partition("The collapse ended")[0]
    places = [link(TOP, ""), link("Ugarit", "End"), link("Hittite Empire", "Fall")]
    assert first.rstrip().endswith(f"abandoned. ({'; '.join(places)}; and 2 more pages)")


def test_each_page_is_cited_before_any_is_cited_twice() -> None:
    """Several sections of one page do not crowd out another page."""
    make = Making()
    sections = ["A", "A", "B", "C", "D"]
    claims = [a_claim("Troy", f"Number {n}.", section) for n, section in enumerate(sections)]
    text = make.said("Troy burnt.", *claims, a_claim("Pylos", "Pylos burnt.", "End"))
    found = part(replace(nothing(), summary=(text,), claims=make.claims), "Executive Summary")
    assert re.findall(r"\[(.+?)\]", found) == [
        "Troy — “A” section", "Pylos — “End” section", "Troy — “B” section",
    ]  # fmt: skip


def test_every_sentence_is_cited() -> None:
    """Each statement of the brief is followed by a link into the book; in lists also by the word for how sure it is."""
    brief = bronze_age()
    text = text_of(brief).partition("## What Wikipedia")[0]
    running = [*brief.summary, *(one for group in brief.body for one in group.statements)]
    cited = rf"\]\(zim://{BOOK}/[^)]+\)(?:; and \d+ more pages?)?"
    sure = rf"{cited}; \*({'|'.join(get_args(SupportLevel))})\*"
    lists = text.partition("## Key Concepts")[2]
    alone = [group.statements[0].text for group in brief.mechanisms if len(group.statements) == 1]
    listed = [item.sureness for item in brief.statements()[len(running) :] if item.text not in alone]
    assert re.findall(sure, lists) == listed
    assert [line for line in bullets(text) if not re.search(sure, line)] == []
    for item in (*running, *(one for one in brief.statements() if one.text in alone)):
        behind = text.partition(item.text)[2].partition("\n\n")[0]
        assert re.search(cited, behind), item.text


def test_a_page_outside_the_sources_can_be_cited() -> None:
    """A claim whose page is not in the bibliography is cited by the address of its book."""
    brief = replace(bronze_age(), sources=replace(some_sources(), pages=()))
    assert f"(zim://{BOOK}/Ugarit#End)" in text_of(brief)


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("Executive Summary", "No sentence on the pages read is clearly about the topic."),
        ("Key Concepts & Definitions", "No definitions were found."),
        ("Mechanisms / Explanations", "No further causes or explanations were found."),
        ("Competing Views & Disputes", "No competing views or contradicting values were found."),
        ("Numbers & Quantitative Claims", "No numbers were found."),
        ("What Wikipedia Doesn’t Settle Yet", "No open questions or gaps were found."),
        ("Bibliography", "No pages were read."),
    ],
)
def test_an_empty_part_says_so(heading: str, sentence: str) -> None:
    """A part that every report has is never blank: one sentence says that nothing was found."""
    assert part(nothing(), heading).strip() == sentence


def test_what_is_passed_on_has_no_empty_parts_and_a_line_about_itself() -> None:
    """An export leaves out parts without content, scores and settings; its last part is one line."""
    text = markdown(brief_document(nothing(), is_shared=True))
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == ["Executive Summary", "About this document"]
    text = markdown(brief_document(bronze_age(), is_shared=True))
    assert "Run Metadata" not in text
    assert re.search(r"depth \d", text.partition("## Bibliography")[2].partition("## How")[0]) is None
    last = text.rpartition("## About this document")[2].strip()
    assert last.startswith("Made with kiwiresearch")
    assert len(last.splitlines()) == 1


def test_an_export_names_the_only_article_it_is_based_on() -> None:
    """A brief whose claims are all from one page says so in its first line, and names the page."""
    brief = bronze_age()
    only = brief.cited_pages[0]
    kept = {name: claim for name, claim in brief.claims.items() if claim.ref == only.ref}
    alone = replace(nothing(), claims=kept, sources=brief.sources)
    [first, *_] = markdown(brief_document(alone, is_shared=True)).partition("\n")[2].strip().splitlines()
    assert first.startswith(f"Based on one article: “{only.title}”")


def test_parts_that_need_not_be_are_left_out() -> None:
    """An empty brief has no findings, no timeline, no actors, no legend, no story and no settings."""
    assert headings(nothing()) == [
        one for one in ALL_PARTS
        if one not in {"Findings", ALL_PARTS[3], "Key Actors", *ALL_PARTS[9:10], *ALL_PARTS[11:]}
    ]  # fmt: skip


def shape(brief: Brief) -> list[str]:
    """What a Markdown reader makes of the report, without its words."""
    return [token.type for token in READER.parse(text_of(brief))]


@pytest.mark.parametrize("words", HOSTILE)
def test_words_of_books_change_no_form(words: str) -> None:
    """Whatever words a book has in any field, the report has the form it has with harmless ones, and no other link."""
    found, plain = of_words(words), of_words("plain")
    if words:
        assert shape(found) == shape(plain)
    kinds = {child.type for child in tokens_of(found)}
    allowed = {"text", "text_special", "link_open", "link_close", "em_open", "em_close", "strong_open", "strong_close"}
    assert kinds <= allowed
    assert all(url.startswith(f"zim://{BOOK}/") for url in links_of(found))
