"""The case database: every field of the data model, and what is kept when sources disagree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import inspect, text
from tests.kin.cases import NOW, TEXT, a_source, dump, engine_of, now, rows_of, said

from kiwiresearch.errors import BadUsage, QuoteNotFound
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.tables import EVENT, SOURCE_RECORD
from kiwiresearch.kin.store.values import (
    ConflictRow,
    date_bounds,
    date_from_json,
    date_to_json,
)
from kiwiresearch.kin.tree import Source
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

SEED = {
    "person": "id canonical_name name_variants birth_date_earliest birth_date_latest birth_place death_date_earliest"
    " death_date_latest death_place is_living confidence created_at updated_at",
    "event": "id event_type date_earliest date_latest place participants confidence",
    "relationship": "id person1_id person2_id relationship_type start_date end_date confidence",
    "assertion": "id entity_id entity_type field_name field_value confidence status asserted_at",
    "evidence_claim": "id assertion_id source_record_id citation_snippet extraction_method source_reliability"
    " llm_rationale",
    "source_record": "id url source_name source_tier accessed_at content_hash raw_extracted metadata",
    "merge_cluster": "id canonical_id member_ids merge_rationale why_not_split is_reversible created_at",
    "audit_log": "id action_type entity_id before_state after_state agent_name timestamp",
}


def columns(where: str, sql: str) -> list[dict[str, Any]]:
    engine = engine_of(where)
    with engine.connect() as connection:
        found = [dict(row) for row in connection.execute(text(sql)).mappings()]
    engine.dispose()
    return found


@pytest.fixture
def ann(case: CaseStore) -> str:
    """A source about Ann, with Ann, her father and her husband."""
    source = a_source(case)
    case.add_person("ann", "Ann Smith", "female", {"zim": "book/Ann_Smith"})
    case.add_person("tom", "Tom Smith", "male")
    case.add_person("john", "John Hill", "male")
    return source


def test_every_field_of_the_specification_is_a_column_of_its_name(case: CaseStore, case_url: str) -> None:
    """Tables and columns are called as the data model calls them (R311, R313, R322, R323, R324, R325, R326, R327)."""
    engine = engine_of(case_url)
    found = {name: {column["name"] for column in inspect(engine).get_columns(name)} for name in SEED}
    engine.dispose()
    missing = {name: set(fields.split()) - found[name] for name, fields in SEED.items()}
    assert missing == {name: set() for name in SEED}


def test_a_person_is_derived_from_the_facts(case: CaseStore, case_url: str, ann: str) -> None:
    """Name, days, places and confidence are derived (R312, R313, R314, R315, R316, R317, R318, R319, R321, R322)."""
    for fact in (
        said("birth_date", "12 May 1850"),
        said("birth_place", "Leeds", confidence=0.8),
        said("death_date", "3 March 1901"),
        said("death_place", "York", confidence=0.8),
    ):
        case.assert_fact("ann", fact, ann)
    case.add_name_form("ann", "Nan Smith", "nickname")
    (row,) = columns(case_url, "SELECT * FROM person WHERE id = 'ann'")
    assert (row["canonical_name"], row["birth_place"], row["death_place"]) == ("Ann Smith", "Leeds", "York")
    assert (row["birth_date_earliest"], row["birth_date_latest"]) == (2396890, 2396890)
    assert row["death_date_earliest"] == row["death_date_latest"] == 2415447
    assert (row["confidence"], row["created_at"], row["updated_at"]) == (pytest.approx(0.7), NOW, NOW)
    person = case.person("ann")
    assert (person.names, person.sex, person.is_dead, dict(person.external)) == (
        ("Nan Smith",),
        "female",
        True,
        {"zim": "book/Ann_Smith"},
    )
    assert person.birth == dates_in("12 May 1850")[0].when


def test_living_has_three_states_and_is_never_dead_by_default(case: CaseStore, case_url: str, ann: str) -> None:
    """Whether a person lives is true, false or unknown, and unknown until it is set (R320)."""
    states = []
    for living in (None, "living", "deceased"):
        if living:
            case.set_living("ann", living, {"why": "test"})
        (row,) = columns(case_url, "SELECT is_living FROM person WHERE id = 'ann'")
        states.append((case.person("ann").living, None if row["is_living"] is None else bool(row["is_living"])))
    assert states == [("unknown", None), ("living", True), ("deceased", False)]


def test_competing_values_are_kept_side_by_side(case: CaseStore, ann: str) -> None:
    """Another value is another fact, a second source another claim, all are kept (R325, R326, R330, R404, R416)."""
    other = a_source(case, "zim://book/Other", TEXT + " Second.")
    first = case.assert_fact("ann", said("birth_date", "12 May 1850"), ann, status="verified", reliability=0.65)
    again = case.assert_fact("ann", said("birth_date", "12 May 1850"), other)
    second = case.assert_fact("ann", said("birth_date", "12 May 1851"), other, information="primary")
    assert first == again != second
    facts = case.tree().facts_of("ann", "birth_date")
    assert [(fact.value, fact.preferred, len(fact.evidence)) for fact in facts] == [
        ("1850-05-12", True, 2),
        ("1851-05-12", False, 1),
    ]
    case.set_preferred(second, "the register says so")
    facts = case.tree().facts_of("ann", "birth_date")
    assert [(fact.value, fact.preferred) for fact in facts] == [("1851-05-12", True), ("1850-05-12", False)]
    assert case.person("ann").birth == dates_in("12 May 1851")[0].when
    case.set_status(second, "rejected", "misread")
    assert [fact.value for fact in case.tree().facts_of("ann")] == ["1850-05-12"]
    assert len(case.tree(with_discarded=True).facts_of("ann")) == 2


def test_the_same_words_twice_are_one_claim(case: CaseStore, ann: str) -> None:
    """Reading a page again adds nothing."""
    case.assert_fact("ann", said("birth_date", "12 May 1850"), ann)
    before = dump(case)
    case.assert_fact("ann", said("birth_date", "12 May 1850"), ann)
    assert dump(case) == before
    assert a_source(case) == ann


def test_rows_that_others_rest_on_cannot_be_changed(case: CaseStore, case_url: str, ann: str) -> None:
    """The database itself refuses to change a value or to delete evidence."""
    case.assert_fact("ann", said("birth_date", "12 May 1850"), ann)
    engine = engine_of(case_url)
    for sql in (
        "UPDATE assertion SET field_value = '{}'",
        "DELETE FROM assertion",
        "UPDATE evidence_claim SET citation_snippet = 'x'",
        "DELETE FROM evidence_claim",
        "DELETE FROM source_record",
    ):
        with engine.connect() as connection, pytest.raises(Exception, match="kept as they were written"):
            connection.execute(text(sql))
    engine.dispose()


def test_a_quote_must_be_in_the_source(case: CaseStore, ann: str) -> None:
    """A fact whose words the kept text does not have at that place is refused, and nothing is written (R408)."""
    before = dump(case)
    wrong = ExtractedFact("birth_place", "Hull", Snippet(0, 4, "Hull"), "lead", 0.5)
    empty = ExtractedFact("birth_place", "Hull", Snippet(3, 3, ""), "lead", 0.5)
    for fact in (wrong, empty):
        with pytest.raises(QuoteNotFound):
            case.assert_fact("ann", fact, ann)
    assert dump(case) == before
    assert case.source_text(ann) == TEXT


def test_a_source_is_kept_with_all_its_fields(case: CaseStore) -> None:
    """A record of a source gives back what it was given; another version is another source (R287, R327)."""
    source = Source("s1", "https://e.org/x", "E", "X", 1, "2025-01-01T00:00:00Z", "h1", "e", "original", True, False)
    assert case.add_source(source, "Text.", {"name": "x"}, {"etag": "1"}) == "s1"
    assert case.tree().sources["s1"] == source
    (row,) = rows_of(case, SOURCE_RECORD)
    assert (row["metadata"], row["raw_extracted"]) == ({"etag": "1"}, {"name": "x"})
    newer = case.add_source(Source("", "https://e.org/x", "E", content_hash="h2"), "Text 2.")
    assert case.source_by_url("https://e.org/x") == newer != "s1"
    assert case.source_by_url("https://e.org/none") is None


def test_ties_have_days_a_qualifier_and_evidence(case: CaseStore, case_url: str, ann: str) -> None:
    """A relationship keeps both ends, its kind, its days and confidence, and who said so (R324, R415)."""
    tie = case.assert_tie("parent_of", "tom", "ann", said("father", "Tom Smith", qualifier="adoptive"), ann)
    married = case.assert_tie("spouse_of", "john", "ann", said("spouse", "married John Hill in 1871"), ann)
    rows = {row["id"]: row for row in columns(case_url, "SELECT * FROM relationship")}
    assert (rows[tie]["person1_id"], rows[tie]["person2_id"]) == ("tom", "ann")
    assert (rows[tie]["relationship_type"], rows[tie]["qualifier"]) == ("parent_of", "adoptive")
    assert rows[married]["start_date"] == 2404429
    tree = case.tree()
    assert (tree.parents("ann"), tree.spouses("ann")) == (("tom",), ("john",))
    assert all(tie.evidence for tie in tree.relationships)
    case.set_status(tie, "rejected", "misread")
    assert case.tree().parents("ann") == ()
    with pytest.raises(BadUsage, match="their own relative"):
        case.assert_tie("parent_of", "ann", "ann", said("father", "Tom Smith"), ann)


def test_events_are_derived(case: CaseStore, ann: str) -> None:
    """Births, deaths and marriages are events with days, place, participants and confidence (R286, R323)."""
    case.assert_fact("ann", said("birth_date", "12 May 1850"), ann)
    case.assert_fact("ann", said("birth_place", "Leeds"), ann)
    case.assert_fact("ann", said("death_date", "3 March 1901"), ann)
    case.assert_tie("spouse_of", "john", "ann", said("spouse", "married John Hill in 1871"), ann)
    values = {event["event_type"]: event for event in rows_of(case, EVENT)}
    assert sorted(values) == ["birth", "death", "marriage"]
    birth = values["birth"]
    assert (birth["date_earliest"], birth["date_latest"], birth["place"]) == (2396890, 2396890, "Leeds")
    assert values["marriage"]["participants"] == [
        {"person_id": "ann", "role": "spouse"},
        {"person_id": "john", "role": "spouse"},
    ]
    assert birth["confidence"] == 0.6


def test_a_case_is_the_same_when_opened_again(case_url: str) -> None:
    """Settings, rows and the head of the audit log survive closing."""
    with CaseStore.create(case_url, {"seed": "Ann", "generations": 3}, now) as store:
        a_source(store)
        store.add_person("ann", "Ann Smith")
        before, head = dump(store, history=True), store.head
    with CaseStore.open(case_url, now) as store:
        assert (dump(store, history=True), store.head) == (before, head)
        assert store.settings == {"seed": "Ann", "generations": 3}


def test_both_engines_store_the_same_bytes(case_url: str, tmp_path: Path) -> None:
    """The same writes give the same dump on every engine."""
    dumps = []
    for where in (case_url, tmp_path / "other.db"):
        with CaseStore.create(where, {}, now) as store:
            source = a_source(store)
            store.add_person("ann", "Ann Smith", "female", {"zim": "x"})
            store.assert_fact("ann", said("birth_date", "about 1849"), source)
            dumps.append(dump(store))
    assert dumps[0] == dumps[1]


def test_a_tree_is_read_again_after_every_change(case: CaseStore, case_url: str) -> None:
    """A tree is as the case is now: after a change inside a step, a failed step, and a change by another process."""

    def fail_with_ben() -> None:
        with case.step("test"):
            case.add_person("ben", "Ben Smith")
            assert sorted(case.tree().persons) == ["ann", "ben"]
            raise BadUsage("stop")

    case.add_person("ann", "Ann Smith")
    assert sorted(case.tree().persons) == ["ann"]
    with pytest.raises(BadUsage, match="stop"):
        fail_with_ben()
    assert sorted(case.tree().persons) == ["ann"]
    with CaseStore.open(case_url, now) as other:
        other.add_person("cat", "Cat Smith")
    assert sorted(case.tree().persons) == ["ann", "cat"]
    case.add_name_form("cat", "Kitty")
    assert case.tree().persons["cat"].names == case.tree(with_discarded=True).persons["cat"].names == ("Kitty",)


def test_a_step_is_kept_whole_or_not_at_all(case: CaseStore) -> None:
    """An error inside a step takes back all of it, also what inner steps wrote, and nothing is audited."""
    before, head = dump(case), case.head

    def fails() -> None:
        with case.step("outer"):
            case.add_person("a", "A")
            with case.step("inner"):
                case.add_person("b", "B")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert (dump(case), case.head) == (before, head)
    with case.step("outer"):
        case.add_person("a", "A")
        with case.step("inner"):
            case.add_person("b", "B")
    assert [(row.agent_name, row.entity_id) for row in case.audit()] == [("outer", "a"), ("inner", "b")]


def test_a_search_that_found_nothing_is_a_line_of_the_log_and_never_a_fact(case: CaseStore, ann: str) -> None:
    """Negative results are kept, and cannot be asserted."""
    case.note_query("Ann Smith 1850", "1850 ann smith", "h1", "book", 2, 3, negative=False)
    case.note_query("Ann Smith Sr.", "ann smith sr", "h2", "book", 0, 0, negative=True, at="2026-02-01T00:00:00Z")
    assert [(row.seq, row.query, row.negative, row.at) for row in case.queries()] == [
        (1, "Ann Smith 1850", False, NOW),
        (2, "Ann Smith Sr.", True, "2026-02-01T00:00:00Z"),
    ]
    with pytest.raises(BadUsage, match="not evidence"):
        case.assert_fact("ann", said("birth_place", "Leeds"), ann, directness="negative")
    with pytest.raises(BadUsage, match="has results, so it cannot be logged as negative"):
        case.note_query("x", "x", "h", "book", 1, 0, negative=True)


def test_conflicts_are_kept_and_replaced_by_field(case: CaseStore, ann: str) -> None:
    """A conflict names its facts, its ranking and what to do next, and keeps one row a field (R358, R361)."""
    ids = tuple(case.assert_fact("ann", said("birth_date", day), ann) for day in ("12 May 1850", "12 May 1851"))
    row = ConflictRow("", "ann", "birth_date", ids, ({"rank": 1},), ids[0], 0.6, "rule", "tentative", "why", ("Seek",))
    first = case.put_conflict(row)
    case.put_conflict(row)
    (found,) = case.conflicts()
    assert (found.id, found.assertion_ids, found.resolution_status) == (first, ids, "tentative")
    with pytest.raises(BadUsage, match="'none'"):
        case.put_conflict(ConflictRow("", "ann", "birth_date", ("none",)))
    case.drop_conflict(first)
    assert case.conflicts() == ()
    assert len(case.tree().facts_of("ann")) == 2


def test_states_give_back_what_they_got(case: CaseStore) -> None:
    """Counters and the states of plugins are kept under their names and replaced."""
    assert (case.state("n"), case.plugin_state("p")) == (None, None)
    for value in (1, {"spent": [1, 2]}, None, "end"):
        case.set_state("n", value)
        assert case.state("n") == value
    case.set_plugin_state("p", {"health": "good"})
    case.set_plugin_state("p", {"health": "bad"})
    assert case.plugin_state("p") == {"health": "bad"}


@pytest.mark.parametrize("number", [-0.1, 1.3, float("nan")])
def test_confidence_stays_between_0_and_1(case: CaseStore, ann: str, number: float) -> None:
    """A confidence out of bounds is refused before anything is written (R413)."""
    with pytest.raises(BadUsage, match="0 to 1"):
        case.assert_fact("ann", said("birth_place", "Leeds"), ann, confidence=number)


def test_unknown_ids_are_named(case: CaseStore, ann: str) -> None:
    """Whatever the case has not is refused by its name."""
    with pytest.raises(BadUsage, match="'nobody'"):
        case.assert_fact("nobody", said("birth_place", "Leeds"), ann)
    with pytest.raises(BadUsage, match="'nothing'"):
        case.assert_fact("ann", said("birth_place", "Leeds"), "nothing")
    for call in (
        lambda: case.set_preferred("x", ""),
        lambda: case.set_status("x", "verified", ""),
        lambda: case.person("x"),
    ):
        with pytest.raises(BadUsage, match="'x'"):
            call()


def test_text_that_no_database_keeps_is_refused_with_a_reason(case: CaseStore) -> None:
    """Half a character gives an error and leaves nothing behind."""
    before = dump(case)
    with pytest.raises(BadUsage, match="an incomplete character"):
        case.add_person("a", "A\ud800")
    assert dump(case) == before


@given(
    st.integers(-(10**12), 10**7),
    st.integers(0, 10**6),
    st.sampled_from(("day", "month", "year", "century", "age")),
    st.sampled_from(("", "about", "before", "after")),
    st.sampled_from(("gregorian", "julian")),
    st.booleans(),
)
def test_a_kept_date_loses_nothing(
    first: int, days: int, exact: Any, qualifier: Any, calendar: Any, lasts: bool
) -> None:
    """Any date comes back from the store as it went in, and open sides have no day."""
    when = DateRange(first, first + days, exact, qualifier, calendar, lasts)
    row = date_to_json(when, "as written")
    assert date_from_json(row) == when
    assert row is not None
    assert row["verbatim"] == "as written"
    assert (date_bounds(row).earliest is None, date_bounds(row).latest is None) == (
        qualifier == "before",
        qualifier == "after",
    )


def test_dates_before_christ_and_open_dates_are_kept(case: CaseStore, ann: str) -> None:
    """A day of any time fits, and 'before 1852' has no first day (R314, R315)."""
    text_of = "Born before 1852. Caesar died on 15 March 44 BC."
    source = a_source(case, "zim://book/Open", text_of)
    case.assert_fact("ann", said("birth_date", "before 1852", text=text_of), source)
    case.assert_fact("tom", said("death_date", "15 March 44 BC", text=text_of), source)
    births = {row["event_type"]: (row["date_earliest"], row["date_latest"]) for row in rows_of(case, EVENT)}
    assert births["birth"][0] is None
    assert births["death"] == (1705426, 1705426)
    assert case.person("tom").death == dates_in("15 March 44 BC")[0].when
