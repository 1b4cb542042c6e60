"""Facts of sources pass the firewall unchanged, and nothing else with the same words does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.kin.source_gedcomx import RECORD
from tests.kin.source_wikidata import a_family, wikidata_at

from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading
from kiwiresearch.kin.sources.familysearch import read_gedcomx
from kiwiresearch.kin.sources.registry import load_plugins
from kiwiresearch.kin.sources.site_rules import read_site_page
from kiwiresearch.kin.tree import RELATION_FIELDS
from kiwiresearch.text.dates.mentions import dates_in


def records() -> Iterator[tuple[PersonReading, str]]:
    graves = load_plugins().named("find_a_grave")
    for name in ("grave_full.html", "grave_sparse.html"):
        page = (graves.file.parent / "fixtures" / name).read_bytes()
        reading = read_site_page(page, graves.plugin, "https://www.findagrave.com/memorial/1")
        yield reading.person, reading.text
    record = read_gedcomx(json.dumps(RECORD).encode(), "AAAA-111", "familysearch", 0.4)
    yield record.person, record.text
    with wikidata_at(a_family().store()) as source:
        for item in ("Q100", "Q102"):
            fetched = source.fetch(item)
            assert fetched.reading is not None
            yield fetched.reading, fetched.text


@pytest.fixture(scope="module")
def facts_of_records() -> list[tuple[ExtractedFact, PersonReading, str]]:
    return [(fact, read, text) for read, text in records() for fact in read.facts]


def test_true_facts_pass(facts_of_records: list[tuple[ExtractedFact, PersonReading, str]]) -> None:
    """Every fact of a plugin, of a GEDCOM X record and of Wikidata is borne out by its own words (R408)."""
    assert len(facts_of_records) >= 30
    refused = {
        (fact.field, fact.value): check(fact, text, read.name, read.sex) for fact, read, text in facts_of_records
    }
    assert {key: why for key, why in refused.items() if why} == {}


def test_other_dates_and_names_do_not(facts_of_records: list[tuple[ExtractedFact, PersonReading, str]]) -> None:
    """Another date, another name or another day than the words say is refused."""
    (other,) = dates_in("9 September 1666")
    for fact, read, text in facts_of_records:
        if fact.field.endswith("_date"):
            wrong = replace(fact, value=other.when.edtf(), when=other.when)
        elif fact.field in RELATION_FIELDS:
            wrong = replace(fact, value="Zebulon Quatermass")
        else:
            continue
        assert check(wrong, text, read.name, read.sex)
