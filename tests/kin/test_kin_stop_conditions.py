"""The five conditions that end a case: each by its name, each reached by a real case."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kin.loop_family import (
    PAGES,
    RecordingSource,
    a_case,
    open_family,
    person_page,
    researcher,
    run,
    write_family,
)

from kiwiresearch.codec import plain
from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.loop.progress import (
    STOP_CONDITIONS,
    LoopState,
    attainable_confidence,
    stop_reason,
    stop_sentence,
    target_confidence,
)
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.search.open_book import OpenBook

GOING = LoopState(budget_limit=10, target_generations=2, frontier_queue=1, max_iterations=10)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return open_family(write_family(tmp_path_factory.mktemp("family") / "family.zim"))


def ended(folder: Path, book: OpenBook, **settings: int) -> tuple[str, str]:
    with a_case(folder, **settings) as store:
        last = run(researcher(store, book))[-1]
        kept = store.state("stop")
        assert (kept["reason"], kept["words"]) == (last.reason, last.sentence)
        assert set(kept["state"]) == set(LoopState.__slots__)
        return last.reason, last.sentence


def test_the_budget_ends_a_case(tmp_path: Path, book: OpenBook) -> None:
    """A case fetches no more records than it may (R423)."""
    reason, words = ended(tmp_path, book, budget=3)
    assert (reason, words) == ("budget_exhausted", "The limit of 3 pages was reached.")


def test_a_search_in_vain_costs_nothing_of_the_budget(tmp_path: Path) -> None:
    """A budget is of records: names that are nowhere found leave it to the pages that are there."""
    names = [f"{letter}delheid {letter}olm".title() for letter in "BCDFGH"]
    rows = {"Born": "3 May 1801", "Died": "9 June 1870", "Children": "<br>".join(names)}
    seed = person_page("Aldous Penhallow", "3 May 1801 – 9 June 1870", rows, "was a maker of clocks.")
    book = open_family(write_family(tmp_path / "many.zim", {"Aldous Penhallow": seed, "Clocks": PAGES["Clocks"]}))
    with a_case(tmp_path, budget=2) as store:
        last = run(researcher(store, book))[-1]
        assert (len(store.queries()), last.reason) == (6, "confidence_achieved")
        assert store.state("stop")["state"]["budget_used"] == 1


def test_empty_queues_end_a_case(tmp_path: Path) -> None:
    """A case ends when nothing waits in any of its three queues, though its seed is unsure (R426)."""
    seed = person_page("Aldous Penhallow", "born c. 1801", {"Born": "c. 1801"}, "was a maker of clocks.")
    book = open_family(write_family(tmp_path / "one.zim", {"Aldous Penhallow": seed, "Clocks": PAGES["Clocks"]}))
    with a_case(tmp_path) as store:
        one = researcher(store, book)
        (person,) = one.start()
        for fact in store.tree().facts_of(person):
            store.set_status(fact.id, "unverified", "looked up by hand", confidence=0.2)
        last = run(one)[-1]
        assert (last.reason, last.sentence) == (
            "frontier_empty",
            "There are no pages or clues left to follow.",
        )


def test_a_case_that_found_nothing_goes_on_when_it_is_run_again(tmp_path: Path) -> None:
    """After 'found nothing new', running a case again makes the searches that were left, however many (R425)."""
    names = [f"{letter}delheid {letter}olm".title() for letter in "BCDFGHJKLMNPQRSTVWXZ"]
    rows = {"Born": "3 May 1801", "Died": "9 June 1870", "Children": "<br>".join(names)}
    seed = person_page("Aldous Penhallow", "3 May 1801 – 9 June 1870", rows, "was a maker of clocks.")
    book = open_family(write_family(tmp_path / "many.zim", {"Aldous Penhallow": seed, "Clocks": PAGES["Clocks"]}))
    with a_case(tmp_path) as store:
        last = run(researcher(store, book))[-1]
        left = store.queues.sizes()["frontier"]
        assert (last.reason, left > 0) == ("diminishing_returns", True)
        again = run(researcher(store, book))
        assert len([one for one in again if one.what != "stop"]) >= left
        assert (again[-1].reason, store.queues.sizes()["frontier"]) == ("confidence_achieved", 0)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"budget_used": 10}, "budget_exhausted"),
        ({"target_person_confidence": 0.9, "generation_depth": 2}, "confidence_achieved"),
        ({"target_person_confidence": 0.9, "generation_depth": 1}, None),
        ({"recent_discovery_rate": 0.09, "queries_since_last_discovery": 11}, "diminishing_returns"),
        ({"recent_discovery_rate": 0.09, "queries_since_last_discovery": 10}, None),
        ({"recent_discovery_rate": 0.1, "queries_since_last_discovery": 11}, None),
        ({"frontier_queue": 0}, "frontier_empty"),
        ({"frontier_queue": 0, "clue_queue": 1}, None),
        ({"frontier_queue": 0, "revisit_queue": 1}, None),
        ({"iteration_count": 10}, "max_iterations"),
        ({}, None),
    ],
)
def test_conditions_are_met_at_their_bounds(state: dict[str, float], reason: str | None) -> None:
    """Each condition is met from its bound on and not before (R300, R423, R424, R425, R426, R427)."""
    values = {name: getattr(GOING, name) for name in LoopState.__slots__} | state
    found = LoopState(**values)
    assert stop_reason(found) == reason
    if reason:
        assert stop_sentence(reason, found).endswith(".")


def test_there_are_five_conditions() -> None:
    """The conditions go by the names of the specification."""
    assert list(STOP_CONDITIONS) == [
        "budget_exhausted", "confidence_achieved", "diminishing_returns", "frontier_empty", "max_iterations",
    ]  # fmt: skip


def test_the_possible_confidence_depends_on_the_sources(tmp_path: Path, book: OpenBook) -> None:
    """Books reach further than Wikidata, which cites them; a source beside the books takes nothing away (R424)."""
    books, wikidata = BookSource([book]), RecordingSource("wikidata")
    assert (
        attainable_confidence([wikidata])
        < attainable_confidence([wikidata, RecordingSource("parish")])
        < attainable_confidence([books])
    )
    assert attainable_confidence([books, wikidata]) == attainable_confidence([books])
    with a_case(tmp_path) as store:
        assert researcher(store, book, wikidata).state().attainable_confidence == attainable_confidence([books])


def test_confidence_is_measured_by_what_is_possible() -> None:
    """Weak sources are not waited for to prove more; strong sources must reach nine tenths."""
    assert target_confidence(0.95) == 0.9
    assert target_confidence(0.65) == pytest.approx(0.585)


@pytest.mark.parametrize("settings", [{"budget": 0}, {"generations": 21}, {"revisits": -1}, {"max_iterations": 0}])
def test_settings_out_of_bounds_are_refused(settings: dict[str, int]) -> None:
    """A case that could not work, or would never end, is not started."""
    with pytest.raises(BadSettings, match=next(iter(settings))):
        CaseSettings(**settings)  # type: ignore[arg-type]


def test_settings_come_back_as_they_were_kept() -> None:
    """Settings of a case survive its record, and those of a later version are left out."""
    settings = CaseSettings(seeds=("A B",), budget=7, model_sees_living=True)
    assert CaseSettings.from_record({**plain(settings), "later": 1}) == settings
