"""The loop with a model beside the rules: it proposes, the rules decide, and the living stay out of its sight."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kin.cases import rows_of
from tests.kin.loop_family import PAGES, a_case, named, open_family, person_page, researcher, run, waiting, write_family
from tests.llm.scripted import ScriptedModel, ScriptLine

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.kin.store.tables import SOURCE_RECORD
from kiwiresearch.llm.replay import ReplayModel
from kiwiresearch.search.open_book import OpenBook

PLANNER, READER, VERIFIER = "You plan family research", "You read pages about people", "You check values"
NOTHING = {
    PLANNER: json.dumps({"reasoning": "As the rules say."}),
    READER: '{"findings": []}',
    VERIFIER: '{"verification_results": []}',
    "You judge whether": "no idea",
    "You weigh evidence": "no idea",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return open_family(write_family(tmp_path_factory.mktemp("family") / "family.zim"))


def a_model(**lines: ScriptLine) -> ScriptedModel:
    known = {"planner": PLANNER, "reader": READER, "verifier": VERIFIER}
    return ScriptedModel(by={**NOTHING, **{known[name]: line for name, line in lines.items()}})


def test_a_model_that_adds_nothing_changes_nothing(tmp_path: Path, book: OpenBook) -> None:
    """With a model that has nothing to say the case has the people, facts and ties of the rules."""
    trees = []
    for name, model in (("rules", None), ("model", a_model())):
        (tmp_path / name).mkdir()
        with a_case(tmp_path / name) as store:
            run(researcher(store, book, model=model))
            tree = store.tree()
            trees.append((tree.persons, tree.relationships, tree.facts))
    assert trees[0] == trees[1]


def test_a_model_that_cannot_be_reached_is_done_without(tmp_path: Path, book: OpenBook) -> None:
    """No answer, no harm: the case goes on by rule, and says that the model was of no help."""
    gone = ModelUnreachable("Nobody answers at this address.")
    with a_case(tmp_path) as store:
        took = run(researcher(store, book, model=ScriptedModel(by=dict.fromkeys(NOTHING, gone))))
        assert took[-1].what == "stop"
        assert len(store.tree().persons) == 8
        noted = [note for row in rows_of(store, SOURCE_RECORD) for note in row["raw_extracted"]["notes"]]
        assert any("Nobody answers" in note for note in noted)


def test_items_that_a_planner_picks_move_up(tmp_path: Path, book: OpenBook) -> None:
    """An item that a model picks moves up a little, and only that one (R270, R336)."""
    plain, picked = tmp_path / "plain", tmp_path / "picked"
    for folder in (plain, picked):
        folder.mkdir()
    with a_case(plain) as store:
        researcher(store, book).start()
        before = {item.id: item.priority for item in waiting(store)}
        last = waiting(store)[-1].id
    number = len(before)
    line = json.dumps({"reasoning": "r", "next_actions": [{"action": "fetch", "target": f"F{number}", "priority": 1}]})
    with a_case(picked) as store:
        researcher(store, book, model=a_model(planner=line)).start()
        after = {item.id: item.priority for item in waiting(store)}
        assert store.state("plan")["decided_by"] == "model scripted"
    assert {one for one in after if after[one] != before[one]} == {last}
    assert after[last] == pytest.approx(before[last] + 0.1)


def test_a_second_search_that_a_planner_requests_is_made_once(tmp_path: Path, book: OpenBook) -> None:
    """Better words of a model for a search that found nothing go through the same rules as all others (R274, R340)."""
    request = [
        {"target": "S1", "improved_query": "Flora Vance", "reason": "her mother's name"},
        {"target": "S1", "improved_query": "Penhallow Flora", "reason": "the same again"},
    ]
    with a_case(tmp_path) as store:
        one = researcher(
            store, book, model=a_model(planner=json.dumps({"reasoning": "r", "revisit_schedule": request}))
        )
        run(one)
        assert [item.improved_query for item in store.queues.items("revisit")] == ["Flora Vance"]  # type: ignore[union-attr]
        assert [row.negative for row in store.queries() if row.query == "Flora Vance"] == [True]


def test_facts_of_a_model_are_quotes_of_the_page(tmp_path: Path) -> None:
    """What a model points at is kept with its sentence and waits for another source; what it makes up is not kept."""
    dorothea = person_page(
        "Dorothea Vance",
        "5 May 1805 – 6 June 1880",
        {"Born": "5 May 1805", "Died": "6 June 1880"},
        "was a painter. Her house was shared with Ambrose Vance, who was her brother.",
    )
    book = open_family(write_family(tmp_path / "one.zim", {"Dorothea Vance": dorothea, "Clocks": PAGES["Clocks"]}))
    findings = [
        {"field": "sibling", "value": "Ambrose Vance", "sentences": [1], "confidence": 1.0},
        {"field": "father", "value": "Victor Vance", "sentences": [1], "confidence": 1.0},
    ]
    with a_case(tmp_path, seeds=("Dorothea Vance",)) as store:
        run(researcher(store, book, model=a_model(reader=json.dumps({"findings": findings}))))
        tree = store.tree()
        assert {one.name for one in tree.persons.values()} == {"Dorothea Vance", "Ambrose Vance"}
        (tie,) = tree.relationships
        assert (tie.kind, tie.status, tie.evidence[0].method) == ("sibling_of", "unverified", "model")
        assert tie.evidence[0].snippet == "Her house was shared with Ambrose Vance, who was her brother."


LIVING = person_page(
    "Ivy Penhallow",
    "born 3 May 1971",
    {"Born": "3 May 1971<br>Wexcombe", "Children": "Maximilian Penhallow"},
    "is a maker of clocks. Her brother Ambrose Penhallow lives with her.",
)


@pytest.mark.parametrize(
    ("is_local", "allowed", "is_told"),
    [(False, False, False), (True, False, False), (False, True, False), (True, True, True)],
)
def test_the_living_are_sent_only_to_a_local_model(
    tmp_path: Path, *, is_local: bool, allowed: bool, is_told: bool
) -> None:
    """Unless the model is on this machine and the case allows it, no prompt has a name or date of the living (R269)."""
    book = open_family(write_family(tmp_path / "new.zim", {"Ivy Penhallow": LIVING, "Clocks": PAGES["Clocks"]}))
    model = a_model()
    with a_case(tmp_path, seeds=("Ivy Penhallow",), model_sees_living=allowed) as store:
        run(researcher(store, book, model=model, model_is_local=is_local))
    output = "\n".join(one.text for one in model.asked)
    assert model.asked
    assert [words in output for words in ("Ivy", "Maximilian", "1971")] == [is_told] * 3


def test_replies_that_are_kept_make_the_case_again(tmp_path: Path, book: OpenBook) -> None:
    """A case with a model repeats itself from the replies that were kept, with no model there at all."""
    dumps = []
    for name, model in (("first", a_model()), ("again", None)):
        (tmp_path / name).mkdir()
        with a_case(tmp_path / name) as store:
            kept = ReplayModel(model, tmp_path / "replies", name="scripted")
            run(researcher(store, book, model=kept))
            dumps.append(store.tree())
    assert named(dumps[0], "Edwin Penhallow") == named(dumps[1], "Edwin Penhallow")
    assert dumps[0].facts == dumps[1].facts
