"""Pages of a site read by the rules of a plugin: values with their words, and nothing where the site has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.http_servers import Request, answer
from tests.kin.source_site import SITE_PLUGIN, Site, a_site, at, gate_to, memorial, memory_in, plugin_in

from kiwiresearch.errors import SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.registry import load_plugins, open_sources
from kiwiresearch.kin.sources.site import PluginHealth, SiteSource
from kiwiresearch.kin.sources.site_page import SitePage
from kiwiresearch.kin.sources.site_rules import PageReading, read_site_page, values_of
from kiwiresearch.kin.sources.source import PersonQuery
from kiwiresearch.search.open_book import OpenBook

GRAVES = load_plugins().named("find_a_grave").plugin
ADA = PersonQuery("Ada Quill", birth_year=1842, death_year=1911, living="deceased")


@pytest.fixture
def site() -> Iterator[Site]:
    with a_site() as one:
        yield one


@pytest.fixture
def stones(tmp_path: Path) -> Plugin:
    return plugin_in(tmp_path)


def with_rule(folder: Path, rule: str) -> Plugin:
    return plugin_in(folder, SITE_PLUGIN.replace('name: {selector: "h1#bio-name", type: "text", required: true}', rule))


def every_snippet_is_a_span(reading: PageReading) -> None:
    for fact in reading.person.facts:
        assert reading.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
        assert fact.value in fact.snippet.words or fact.when is not None


def test_values_are_spans_of_the_text(stones: Plugin) -> None:
    """Each value comes with its words as they are in the page, and dates as EDTF (R370, R371)."""
    page = memorial("Ada Quill", "May 12, 1842", "3 Feb 1911 (aged 68)")
    reading = read_site_page(page.encode(), stones, "https://stones.example/memorial/1")
    every_snippet_is_a_span(reading)
    assert values_of(reading.person) == {
        "name": ["Ada Quill"],
        "birth_date": ["1842-05-12"],
        "death_date": ["1911-02-03"],
        "burial_place": ["Tallow Hill"],
    }
    assert {fact.method for fact in reading.person.facts} == {"plugin"}
    assert reading.person.is_person
    assert [fact.snippet.words for fact in reading.person.facts][1] == "May 12, 1842"


def test_relatives_carry_their_address(stones: Plugin) -> None:
    """A relation that may be there many times is read each time, with the page it links to."""
    page = memorial("Ada Quill") + "<p class=child><a href='/memorial/7'>Bo Quill</a></p><p class=child>Cy Quill</p>"
    reading = read_site_page(page.encode(), stones, "https://stones.example/memorial/1")
    children = [(fact.value, fact.target) for fact in reading.person.facts if fact.field == "child"]
    assert children == [("Bo Quill", "https://stones.example/memorial/7"), ("Cy Quill", "")]


HEADING = "<h1 id='bio-name'>Mary <i>Jones</i> Smith <b>V Veteran</b> <a href='/e'>[Edit]</a></h1>"


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ('name: {selector: "h1", required: true}', "Mary Jones Smith V Veteran [Edit]"),
        ('name: {selector: "h1", required: true, exclude: ["b", "a"]}', "Mary Jones Smith"),
        ('name: {selector: "h1", required: true, own_text: true}', ""),
        ('name: {selector: "h1 b", required: true, own_text: true}', "V Veteran"),
        ('name: {selector: "h1", required: true, regex: "^(.*?) V Vet"}', "Mary Jones Smith"),
        ('name: {selector: "h1", required: true, regex: "(?P<other>Mary) (?P<value>Jones)"}', "Jones"),
        ('name: {selector: "h1", required: true, regex: "nobody"}', ""),
        ('name: {selector: "h1 a", required: true, attribute: "href"}', "/e"),
        ('name: {selector: "h1", required: true, null_values: ["mary jones smith v veteran [edit]"]}', ""),
        ('name: {selector: "h2", required: true}', ""),
    ],
)
def test_rules_choose_words(tmp_path: Path, rule: str, value: str) -> None:
    """Exclusions, own text, patterns, attributes and null values choose the words; split words are not a value."""
    reading = read_site_page(HEADING.encode(), with_rule(tmp_path, rule), "https://stones.example/1")
    assert reading.person.name == value
    assert reading.missing == (() if value else ("name",))
    assert reading.person.is_person == bool(value)
    every_snippet_is_a_span(reading)


def test_pattern_that_never_ends_is_stopped(tmp_path: Path) -> None:
    """A pattern whose cost explodes finds nothing, and soon."""
    plugin = with_rule(tmp_path, 'name: {selector: "h1", required: true, regex: "(a|aa)+$"}')
    page = f"<h1 id='bio-name'>{'a' * 200}!</h1>"
    assert read_site_page(page.encode(), plugin, "https://stones.example/1").missing == ("name",)


def test_hidden_words_are_not_evidence(stones: Plugin) -> None:
    """What a reader of the page does not see is neither text nor value."""
    page = "<h1 id=bio-name style='display:none'>Ghost</h1><script>var x='Ghost'</script><p hidden>Ghost</p><p>Seen</p>"
    reading = read_site_page(page.encode(), stones, "https://stones.example/1")
    assert reading.text == "Seen"
    assert not reading.person.is_person


def test_exact_dates_want_a_day(tmp_path: Path) -> None:
    """'format: exact' takes days only; 'fuzzy' takes what the page says (R370)."""
    label = '"#birthDateLabel", type: "date", format: '
    text = SITE_PLUGIN.replace(f'{label}"fuzzy"', f'{label}"exact"')
    plugin = plugin_in(tmp_path, text)
    read = values_of(
        read_site_page(memorial("A B", "c. 1842", "c. 1911").encode(), plugin, "https://s.example/").person
    )
    assert "birth_date" not in read
    assert read["death_date"] == ["1911~"]


@settings(max_examples=60)
@given(st.binary(max_size=300) | st.text(alphabet="<>/h1pib=' \"abc&;#-!\u00a0\u200b", max_size=200).map(str.encode))
def test_any_bytes_can_be_read(content: bytes) -> None:
    """Whatever a server sends, reading it never raises, and spans are spans."""
    plugin = GRAVES
    every_snippet_is_a_span(read_site_page(content, plugin, "https://www.findagrave.com/memorial/1"))
    page = SitePage(content)
    for chosen in page.choose("*"):
        assert 0 <= chosen.start <= chosen.end <= len(page.text)


def test_find_asks_as_the_plugin_says(stones: Plugin, site: Site) -> None:
    """A search fills in the placeholders, goes on to further pages, and opens the people found (R283, R372, R373)."""
    results = {
        "1": "<div class=memorial-item><a href='/memorial/1'>Ada</a></div>"
        "<div class=memorial-item><a href='/ads/1'>x</a></div><div class=memorial-item><a href='http://['>x</a></div>",
        "2": "<div class=memorial-item><a href='/memorial/2'>Ada</a></div>"
        "<div class=memorial-item><a href='https://evil.example/memorial/3'>Ada</a></div>",
        "3": "<p>no more</p>",
    }
    asked: list[str] = []

    def search(request: Request) -> None:
        query = parse_qs(urlsplit(request.path).query)
        asked.append(request.path)
        answer(request, 200, results[query.get("page", ["1"])[0]])

    site.pages["/memorial/search"] = search
    site.page("/memorial/1", memorial("Ada Quill"))
    site.page("/memorial/2", memorial("Ada Quill Moss"))
    plugin = at(stones, site.address)
    found = SiteSource(plugin, gate_to(site, plugin)).search(ADA)
    assert [one.reading.name for one in found if one.reading] == ["Ada Quill", "Ada Quill Moss"]
    assert asked[0] == "/memorial/search?firstname=Ada&lastname=Quill&birthyear=1842&deathyear=1911"
    assert len(asked) == 3
    source = found[0].source
    assert source.url == f"{site.address}/memorial/1"
    assert (source.name, source.tier, source.origin_group) == ("Old Stones", 0, "old_stones")
    assert source.accessed_at.startswith("2027-01-15T08:")
    assert source.content_hash.startswith("sha256:")


def test_parameters_without_a_value_are_left_out(stones: Plugin, site: Site) -> None:
    """What is not known is not asked for, and without a name nothing is."""
    site.page("/memorial/search", "")
    plugin = at(stones, site.address)
    source = SiteSource(plugin, gate_to(site, plugin))
    assert source.search(PersonQuery("Plato", living="deceased")) == []
    assert site.arrivals[-1].path == "/memorial/search?firstname=Plato"
    seen = len(site.arrivals)
    assert source.search(PersonQuery("  ", living="deceased")) == []
    assert len(site.arrivals) == seen


@pytest.mark.parametrize(
    ("name", "given", "family"),
    [
        ("John Smith", "John", "Smith"),
        ("Smith, John", "John", "Smith"),
        ("John Paul Smith Jr.", "John Paul", "Smith"),
        ("John Smith, Jr.", "John", "Smith"),
        ("Plato", "Plato", ""),
        ("", "", ""),
    ],
)
def test_names_are_split_for_searching(name: str, given: str, family: str) -> None:
    """A name is asked for by its parts, in either order."""
    query = PersonQuery(name)
    assert query.given_and_surname() == (given, family)


def test_site_that_changed_puts_the_plugin_aside(stones: Plugin, site: Site) -> None:
    """Three of ten pages without a required field, and the plugin stops before it stores nonsense."""
    memory = memory_in({})
    plugin = at(stones, site.address)
    for number in range(1, 20):
        good = number not in (3, 5, 8)
        site.page(f"/memorial/{number}", memorial("Ada Quill") if good else "<h1 id=new-name>Ada Quill</h1>")
    source = SiteSource(plugin, gate_to(site, plugin, memory=memory))
    read = [source.fetch(f"/memorial/{number}").reading for number in range(1, 9)]
    assert [person.is_person for person in read if person] == [True, True, False, True, False, True, True, False]
    assert all(not person.facts for person in read if person and not person.is_person)
    with pytest.raises(SourceRefused) as caught:
        source.fetch("/memorial/9")
    assert caught.value.rule == "quarantine"
    assert "3 of the last 8 pages had no 'name'" in caught.value.message
    assert "/memorial/9" not in site.paths()
    with pytest.raises(SourceRefused, match="is paused"):
        SiteSource(plugin, gate_to(site, plugin, memory=memory)).search(ADA)


def test_quarantine_ends_with_other_rules(stones: Plugin, tmp_path: Path) -> None:
    """A plugin whose rules were changed starts afresh."""
    health = PluginHealth(memory_in({}))
    for _ in range(3):
        health.note(stones, ["name"])
    assert health.quarantine(stones)
    mended = plugin_in(tmp_path, SITE_PLUGIN.replace("h1#bio-name", "h1#new-name"), "two.yaml")
    assert not health.quarantine(mended)


def test_few_bad_pages_are_forgotten(stones: Plugin) -> None:
    """Two bad pages in ten, again and again, put nothing aside."""
    health = PluginHealth(memory_in({}))
    for number in range(60):
        health.note(stones, ["name"] if number % 10 in (0, 5) else [])
    assert not health.quarantine(stones)


def test_an_error_page_is_reported(stones: Plugin, site: Site) -> None:
    """An error of the site is not a page of a person, and does not count against the plugin."""
    plugin = at(stones, site.address)
    source = SiteSource(plugin, gate_to(site, plugin))
    with pytest.raises(SourceUnreachable, match="404"):
        source.fetch("/memorial/404")


def test_one_bad_result_costs_only_itself(stones: Plugin, site: Site) -> None:
    """A result that cannot be fetched leaves the others; if none can, that is an error and not an empty search."""
    items = "".join(f"<p class=memorial-item><a href='/memorial/{number}'>x</a></p>" for number in (1, 2, 3, 4, 5))
    site.page("/memorial/search", items)
    site.page("/memorial/4", memorial("Ada Quill"))
    plugin = at(stones, site.address)
    found = SiteSource(plugin, gate_to(site, plugin)).search(ADA)
    assert [one.reading.name for one in found if one.reading] == ["Ada Quill"]
    del site.pages["/memorial/4"]
    with pytest.raises(SourceUnreachable, match="404"):
        SiteSource(plugin, gate_to(site, plugin)).search(ADA)


def test_case_opens_what_it_switched_on(site: Site) -> None:
    """The books come first, then the plugins of the case by tier; none else, and nothing is asked (R293)."""
    known = load_plugins()
    gate = gate_to(site, *(one.plugin for one in known.known))
    books: list[OpenBook] = []
    assert [source.id for source in open_sources(books, known, gate)] == [
        "wikipedia",
        "find_a_grave",
        "wikidata",
        "familysearch",
    ]
    assert [source.id for source in open_sources(books, known, gate_to(site))] == ["wikipedia"]
    assert site.arrivals == []
