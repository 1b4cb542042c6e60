"""Wikidata over SPARQL, at an endpoint on this machine with statements written for these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kin.source_site import Site, a_site, at, gate_to
from tests.kin.source_wikidata import a_family, endpoint_of

from kiwiresearch.errors import SourceRefused, SourceUnreachable
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.sources.plugin import Plugin
from kiwiresearch.kin.sources.registry import load_plugins, open_sources
from kiwiresearch.kin.sources.source import FetchedRecord, PersonQuery
from kiwiresearch.kin.sources.wikidata import GREGORIAN, JULIAN, Moment, WikidataSource
from kiwiresearch.kin.sources.wikidata_queries import literal
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange, date_relation


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with endpoint_of(a_family().store()) as one:
        yield one


@pytest.fixture(scope="module", params=["GET", "POST"])
def source(request: pytest.FixtureRequest, site: Site) -> WikidataSource:
    shipped = load_plugins().named("wikidata").plugin
    assert shipped.search is not None
    search = shipped.search.model_copy(update={"method": request.param})
    plugin = at(shipped, site.address).model_copy(update={"search": search})
    return WikidataSource(plugin, gate_to(site, plugin))


def facts_of(fetched: FetchedRecord, field: str) -> list[ExtractedFact]:
    assert fetched.reading is not None
    return [fact for fact in fetched.reading.facts if fact.field == field]


def test_people_are_found_by_name_and_years(source: WikidataSource) -> None:
    """Of two people of one name, the one whose years fit is found; other names count (R284, R375)."""
    query = PersonQuery("Osric Vane", birth_year=1703, living="deceased")
    assert [one.reading.ref.path for one in source.search(query) if one.reading] == ["Q100"]
    both = source.search(PersonQuery("Osric Vane", living="deceased"))
    assert [one.reading.ref.path for one in both if one.reading] == ["Q100", "Q101"]
    assert [one.source.title for one in source.search(PersonQuery("Osric the Elder", living="deceased"))] == [
        "Osric Vane"
    ]
    assert source.search(PersonQuery('No "body" \\ } LIMIT 1', living="deceased")) == []
    assert source.search(PersonQuery(" ", living="deceased")) == []


def test_every_fact_is_a_line_of_the_text(source: WikidataSource) -> None:
    """The words of a fact are one line of the record, and its value or date can be read in them again."""
    fetched = source.fetch("Q100")
    assert fetched.reading is not None
    assert fetched.reading.sex == "male"
    assert len(fetched.reading.facts) >= 7
    for fact in fetched.reading.facts:
        assert fetched.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
        assert fact.snippet.words in fetched.text.split("\n")
        if fact.field.endswith("_date"):
            assert fact.value in [found.when.edtf() for found in dates_in(fact.snippet.words)]
        else:
            assert fact.value in fact.snippet.words
    assert fetched.source.url == "https://www.wikidata.org/wiki/Q100"
    assert (fetched.source.tier, fetched.source.origin_group) == (1, "wikimedia")


def test_julian_days_are_counted_back(source: WikidataSource) -> None:
    """A day of the Julian calendar is shown as it was written then, and agrees with a book that says so."""
    (birth,) = facts_of(source.fetch("Q100"), "birth_date")
    assert birth.value == "1703-06-17"
    assert birth.when is not None
    assert birth.when.calendar == "julian"
    (written,) = dates_in("17 June 1703 (Old Style)")
    assert date_relation(birth.when, written.when) == "same"
    (plain,) = dates_in("born 17 June 1703")
    assert date_relation(birth.when, plain.when) == "calendar"


def test_precision_is_kept_and_deprecated_is_left_out(source: WikidataSource) -> None:
    """A year is a year and not the first of January; a deprecated statement is not evidence."""
    deaths = facts_of(source.fetch("Q100"), "death_date")
    assert [fact.value for fact in deaths] == ["1791"]


def test_about_and_between_are_kept(source: WikidataSource) -> None:
    """'Circa' and earliest and latest dates come through as what they mean."""
    fetched = source.fetch("Q102")
    assert [fact.value for fact in facts_of(fetched, "birth_date")] == ["1735~"]
    assert [fact.value for fact in facts_of(fetched, "death_date")] == ["[1791..1795]"]


def test_relatives_come_with_item_dates_and_kind(source: WikidataSource) -> None:
    """A spouse has the years of the marriage and how it ended, a child the kind of tie; no label, no relative."""
    fetched = source.fetch("Q100")
    (spouse,) = facts_of(fetched, "spouse")
    assert (spouse.value, spouse.target, spouse.qualifier) == ("Maud Harrow", "Q103", "divorced")
    assert spouse.when is not None
    assert spouse.until is not None
    assert (spouse.when.edtf(), spouse.until.edtf()) == ("1730", "1741")
    (child,) = facts_of(fetched, "child")
    assert (child.value, child.target, child.qualifier) == ("Linnet Vane", "Q102", "adoptive")
    assert facts_of(fetched, "father") == []
    assert [fact.value for fact in facts_of(fetched, "birth_place")] == ["Wexcombe"]


def test_confidence_follows_reference_and_rank(source: WikidataSource) -> None:
    """A statement with a reference counts more than one without, a preferred one a little more."""
    fetched = source.fetch("Q100")
    birth, spouse, child = (facts_of(fetched, name)[0].confidence for name in ("birth_date", "spouse", "child"))
    assert birth == pytest.approx(0.60)
    assert spouse == pytest.approx(0.45)
    assert child == pytest.approx(0.50)


def test_same_answer_gives_the_same_record(source: WikidataSource) -> None:
    """Two readings of the same data agree byte for byte, id included (R277)."""
    one, two = source.fetch("Q100"), source.fetch("http://www.wikidata.org/entity/Q100")
    assert (one.text, one.source.id, one.reading) == (two.text, two.source.id, two.reading)


def test_invalid_items_are_reported(source: WikidataSource) -> None:
    """An invalid locator, and an item without a name, are not people."""
    with pytest.raises(SourceUnreachable, match="not a Wikidata item"):
        source.fetch("Q1> ?p ?o } #")
    nobody = source.fetch("Q424242").reading
    assert nobody is not None
    assert not nobody.is_person


def test_an_own_endpoint_replaces_the_service(site: Site) -> None:
    """The shipped plugin works with an endpoint that the user named, and with no other on this machine."""
    known = load_plugins()
    gate = gate_to(site, known.named("wikidata").plugin)
    own = {"wikidata": f"{site.address}/sparql"}
    _, wikidata = open_sources([], known, gate, endpoints=own)
    assert wikidata.fetch("Q100").source.title == "Osric Vane"
    _, elsewhere = open_sources([], known, gate, endpoints={"wikidata": "http://127.0.0.1:9/sparql"})
    with pytest.raises(SourceRefused) as caught:
        elsewhere.fetch("Q100")
    assert caught.value.rule == "address"


def test_service_that_forbids_programs_is_not_asked() -> None:
    """An endpoint whose robots.txt forbids it hears no query."""
    with a_site("User-agent: *\nDisallow: /sparql\n") as one:
        plugin = at(load_plugins().named("wikidata").plugin, one.address)
        with pytest.raises(SourceRefused) as caught:
            WikidataSource(plugin, gate_to(one, plugin)).fetch("Q100")
        assert caught.value.rule == "robots.txt"
        assert "--endpoint" in caught.value.remedy
        assert one.paths() == ["/robots.txt"]


def test_living_people_are_not_asked_for(source: WikidataSource, site: Site) -> None:
    """Nobody who may be living is looked up."""
    before = len(site.arrivals)
    with pytest.raises(SourceRefused, match="may be living"):
        source.search(PersonQuery("Osric Vane"))
    assert len(site.arrivals) == before


MOMENTS = [
    ("1819-05-24T00:00:00Z", 11, GREGORIAN, "1819-05-24"),
    ("1703-06-28T00:00:00Z", 11, JULIAN, "1703-06-17"),
    ("1819-05-01T00:00:00Z", 10, GREGORIAN, "1819-05"),
    ("1819-01-01T00:00:00Z", 9, GREGORIAN, "1819"),
    ("1703-01-01T00:00:00Z", 9, JULIAN, "1703"),
    ("1810-01-01T00:00:00Z", 8, GREGORIAN, "181X"),
    ("1815-01-01T00:00:00Z", 8, GREGORIAN, "181X"),
    ("1850-01-01T00:00:00Z", 7, GREGORIAN, "[1801..1900]"),
    ("1900-01-01T00:00:00Z", 7, GREGORIAN, "[1801..1900]"),
    ("-0043-03-13T00:00:00Z", 11, JULIAN, "-0043-03-15"),
    ("-0043-01-01T00:00:00Z", 9, JULIAN, "-0043"),
    ("+1066-10-20T00:00:00Z", 11, JULIAN, "1066-10-14"),
    ("1066-10-20T00:00:00Z", 11, GREGORIAN, "1066-10-14"),
    ("1819-00-00T00:00:00Z", 9, GREGORIAN, "1819"),
    ("-0039-01-01T00:00:00Z", 8, JULIAN, "[-0048..-0039]"),
    ("-0100-01-01T00:00:00Z", 7, JULIAN, "[-0199..-0100]"),
    ("1500-01-01T00:00:00Z", 6, GREGORIAN, "[1001..2000]"),
]


@pytest.mark.parametrize(("time", "precision", "calendar", "edtf"), MOMENTS)
def test_moments_mean_dates(time: str, precision: int, calendar: str, edtf: str) -> None:
    """Precision, calendar and years before Christ are read as Wikidata means them, and the words say the same."""
    when = Moment(time, precision, calendar).when()
    assert isinstance(when, DateRange)
    assert when.edtf() == edtf
    assert [found.when.edtf() for found in dates_in(when.words())] == [edtf]


@pytest.mark.parametrize(
    "moment",
    [
        Moment("t1234", 11, GREGORIAN),
        Moment("1819-00-00T00:00:00Z", 11, GREGORIAN),
        Moment("1819-13-01T00:00:00Z", 10, GREGORIAN),
        Moment("1819-02-30T00:00:00Z", 11, GREGORIAN),
        Moment("-13000000-01-01T00:00:00Z", 3, GREGORIAN),
        Moment("1819-05-24T00:00:00Z", 11, "Q12138"),
    ],
)
def test_invalid_dates_are_left_out(moment: Moment) -> None:
    """What is not a date, or in an unknown calendar, is left out."""
    assert moment.when() is None


@pytest.mark.parametrize(
    "body",
    ["", "<html>", "[]", '{"results": 3}', '{"results": {"bindings": 7}}', '{"results": {"bindings": {}}}', "[" * 9000],
)
def test_invalid_answers_are_reported(body: str) -> None:
    """An endpoint that answers with something else is reported, whatever it sends."""
    with a_site() as site:
        site.page("/sparql", body)
        plugin: Plugin = at(load_plugins().named("wikidata").plugin, site.address)
        with pytest.raises(SourceUnreachable, match="not a SPARQL result"):
            WikidataSource(plugin, gate_to(site, plugin)).fetch("Q1")


def test_names_stay_strings() -> None:
    """Whatever is in a name, it does not become a part of the question."""
    assert literal('a"b\\c\n}', "en") == '"a\\"b\\\\c}"@en'
