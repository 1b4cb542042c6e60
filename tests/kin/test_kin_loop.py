"""The loop of family research on a real book, by rules alone: from the seed to a named end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.kin.loop_family import NOW, a_case, named, open_family, researcher, run, waiting, write_family

from kiwiresearch.errors import NothingFound
from kiwiresearch.kin.loop.priority import Priority, age_of
from kiwiresearch.kin.loop.research import is_time_to_decide
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.source import Fetched
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.search.open_book import OpenBook


@pytest.fixture(scope="module")
def family_zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_family(tmp_path_factory.mktemp("family") / "family.zim")


@pytest.fixture(scope="module")
def book(family_zim: Path) -> OpenBook:
    return open_family(family_zim)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, book: OpenBook) -> Iterator[CaseStore]:
    """A case that is through; tests only read it."""
    with a_case(tmp_path_factory.mktemp("done")) as one:
        run(researcher(one, book))
        yield one


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CaseStore]:
    with a_case(tmp_path) as one:
        yield one


def test_a_case_grows_from_its_seed_to_a_named_end(store: CaseStore, book: OpenBook) -> None:
    """From one name the loop finds, reads, verifies and ties four generations, and says why it stops (R266, R291)."""
    took = run(researcher(store, book))
    assert (took[-1].what, took[-1].reason) == ("stop", "confidence_achieved")
    assert store.state("stop")["reason"] == "confidence_achieved"
    tree = store.tree()
    edwin = named(tree, "Edwin Penhallow")
    assert [tree.persons[one].name for one in tree.parents(edwin.id)] == ["Aldous Penhallow", "Dorothea Vance"]
    assert {one.name for one in tree.persons.values()} == {
        "Aldous Penhallow", "Barnaby Penhallow", "Clemence Rook", "Dorothea Vance",
        "Edwin Penhallow", "Flora Penhallow", "Gideon Penhallow", "Hector Penhallow Jr.",
    }  # fmt: skip
    assert named(tree, "Barnaby Penhallow").birth is not None


def test_the_seed_fills_the_frontier(store: CaseStore, book: OpenBook) -> None:
    """A case begins with its seed's page, and with a query for each relative that the page names (R289, R290, R298)."""
    (seed,) = researcher(store, book).begin()
    assert store.person(seed).name == "Aldous Penhallow"
    assert {one.context["name"] for one in waiting(store)} == {
        "Barnaby Penhallow", "Clemence Rook", "Dorothea Vance", "Edwin Penhallow", "Flora Penhallow",
    }  # fmt: skip


def test_the_most_promising_item_comes_first(store: CaseStore, book: OpenBook) -> None:
    """Items are taken by priority, and a linked page near the seed comes before a bare name (R272, R292)."""
    one = researcher(store, book)
    one.begin()
    before = waiting(store)
    assert [item.priority for item in before] == sorted((item.priority for item in before), reverse=True)
    assert before[-1].context["name"] == "Flora Penhallow"
    one.step()
    assert [item.id for item in store.items("frontier", "done")] == [before[0].id]


def test_every_statement_stands_on_its_source(done: CaseStore) -> None:
    """Each fact and tie that is kept has evidence whose words stand in the text of its source (R294, R295, R282)."""
    tree = done.tree()
    statements = [one.evidence for one in tree.facts] + [one.evidence for one in tree.relationships]
    assert len(statements) > 20
    for statement in statements:
        assert statement
        for evidence in statement:
            assert done.source_text(evidence.source)[evidence.start : evidence.end] == evidence.snippet


def test_a_namesake_is_not_taken(done: CaseStore) -> None:
    """A page of the right name is left alone where it names none of the family, and that is logged as no find."""
    gideon = named(done.tree(), "Gideon Penhallow")
    assert gideon.birth is None
    assert [row.negative for row in done.queries() if row.query == "Gideon Penhallow"] == [True]


def test_a_search_in_vain_is_no_fact(store: CaseStore, book: OpenBook) -> None:
    """'Searched, not found' is a line of the log and changes nothing about the person."""
    one = researcher(store, book)
    one.begin()
    before = store.tree().persons
    while not any(row.negative for row in store.queries()):
        one.step()
    flora = named(store.tree(), "Flora Penhallow")
    assert before[flora.id].name == flora.name
    assert store.tree().facts_of(flora.id) == ()


def test_hypotheses_become_clues_and_clues_queries(done: CaseStore) -> None:
    """'Jr.' is a clue that leads to queries, and nobody enters the tree by it (R273, R296, R297, R309)."""
    (clue,) = done.items("clue")
    assert (clue.status, clue.hypothesis_type) == ("done", "parental_discovery")  # type: ignore[union-attr]
    assert clue.evidence_hints["is_fact"] is False  # type: ignore[union-attr]
    assert {row.query for row in done.queries()} >= {"Hector Penhallow Sr.", "Hector Penhallow father"}
    assert all("Sr." not in one.name for one in done.tree().persons.values())


def test_no_page_is_fetched_twice(done: CaseStore) -> None:
    """A page that four others link to is read once, whatever they call it (R275)."""
    fetched = [row.query for row in done.queries() if "://" in row.query]
    assert len(fetched) == len(set(fetched)) == 5


def test_the_log_is_the_same_on_every_run(store: CaseStore, done: CaseStore, book: OpenBook) -> None:
    """Two cases of the same settings and books are the same, byte for byte (R292)."""
    run(researcher(store, book))
    assert store.dump(history=True) == done.dump(history=True)


def test_a_seed_that_nobody_has_is_an_error(tmp_path: Path, book: OpenBook) -> None:
    """A case that cannot begin says whom it did not find, and keeps nothing."""
    with a_case(tmp_path, seeds=("Nobody Atall",)) as store:
        with pytest.raises(NothingFound, match="Nobody Atall"):
            researcher(store, book).begin()
        assert store.tree().persons == {}


def test_generations_bound_the_search(tmp_path: Path, book: OpenBook) -> None:
    """Whoever is further from the seed than the settings say is named and not looked for."""
    with a_case(tmp_path, generations=1) as store:
        run(researcher(store, book))
        assert named(store.tree(), "Hector Penhallow Jr.").birth is None
        assert all("Hector" not in row.query for row in store.queries())


def test_the_plan_is_kept(store: CaseStore, book: OpenBook) -> None:
    """The planner's rules leave their plan in the case: what comes next, and at the end why to stop (R270, R336)."""
    one = researcher(store, book)
    one.begin()
    plan = store.state("plan")
    first = waiting(store)[0]
    assert plan["next_actions"][0]["target"] == first.id
    assert (plan["should_stop"], plan["stop_reason"]) == (False, None)
    assert plan["revisit_schedule"] == plan["revisit_recommendations"]


def test_the_last_plan_is_to_stop(done: CaseStore) -> None:
    """At the end the plan names the condition that holds (R341)."""
    plan = done.state("plan")
    assert [one["action"] for one in plan["next_actions"]] == ["stop"]
    assert (plan["should_stop"], plan["stop_reason"]) == (True, "confidence_achieved")


def test_priority_is_a_sum_of_named_terms() -> None:
    """The place in the queue explains itself, and what waits long comes before what came late."""
    near = Priority(closeness=0.5, gain=1.0, reliability=0.65, age=1.0)
    assert str(near) == "0.655 (closeness +0.175, gain +0.25, reliability +0.13, age +0.1)"
    assert Priority(0.5, 1.0, 0.65, age=1.0, tier=1).total == pytest.approx(near.total - 0.15)
    assert str(Priority(0, 0, 0)) == "0 (nothing)"
    assert age_of(0, 500) > age_of(100, 500) > age_of(500, 500) == age_of(900, 500) == 0.0


WORKER = """
import sys
from pathlib import Path
from tests.kin.loop_family import NOW, open_family, researcher
from kiwiresearch.kin.loop.research import is_time_to_decide
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.store.case import CaseStore

class Telling(BookSource):
    def fetch(self, locator):
        print("fetch", locator, flush=True)
        return super().fetch(locator)

    def find(self, query):
        print("find", query.name, flush=True)
        return super().find(query)

zim, case, worker = sys.argv[1:]
book = open_family(Path(zim))
with CaseStore.open(case, lambda: NOW) as store:
    for took in researcher(store, book, books=Telling([book]), worker=worker).steps():
        print("took", took.what, took.reason, flush=True)
"""
ROOT = Path(__file__).parent.parent.parent


def start(zim: Path, case: Path, worker: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(zim), str(case), worker],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def asked_in(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(("fetch ", "find "))]


def test_killed_at_any_moment_nothing_is_lost(tmp_path: Path, family_zim: Path, done: CaseStore) -> None:
    """A worker killed as it fetches and as it goes on leaves a whole case; each time one fetch at most is repeated."""
    a_case(tmp_path).close()
    case = tmp_path / "case.sqlite"
    lines: list[str] = []
    for kill_at in ("fetch ", "took "):
        process = start(family_zim, case, "one")
        assert process.stdout is not None
        lines.append(process.stdout.readline())
        while not (lines[-1].startswith(kill_at) and len(asked_in(lines)) > 2):
            lines.append(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        lines += process.communicate()[0].splitlines(keepends=True)
    last = start(family_zim, case, "one")
    lines += last.communicate(timeout=120)[0].splitlines(keepends=True)
    assert last.returncode == 0
    fetched = asked_in(lines)
    assert len(fetched) - len(set(fetched)) <= 2
    with CaseStore.open(case, lambda: NOW) as killed:
        assert _tree(killed) == _tree(done)
        assert killed.verify_audit() == ()
        assert not killed.items("frontier", "leased")


def _tree(store: CaseStore) -> object:
    tree = store.tree()
    return tree.persons, tree.relationships, tree.facts


def test_two_workers_share_a_case(tmp_path: Path, family_zim: Path, done: CaseStore) -> None:
    """Two programs on one case fetch nothing twice but the seed, and end with what one alone finds (R292)."""
    a_case(tmp_path).close()
    case = tmp_path / "case.sqlite"
    workers = [start(family_zim, case, name) for name in ("one", "two")]
    outs = [worker.communicate(timeout=120)[0].splitlines() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    fetched = [line for line in asked_in([*outs[0], *outs[1]]) if line != "find Aldous Penhallow"]
    assert len(fetched) == len(set(fetched))
    with CaseStore.open(case, lambda: NOW) as shared:
        assert set(shared.tree().persons) == set(done.tree().persons)
        assert {one.id for one in shared.tree().facts} == {one.id for one in done.tree().facts}


def test_a_dead_workers_item_comes_back(tmp_path: Path, book: OpenBook) -> None:
    """What a worker held that never came back is taken by another once its lease has ended, and not before."""
    clock = [NOW]
    a_case(tmp_path).close()
    with CaseStore.open(tmp_path / "case.sqlite", lambda: clock[0]) as store:
        researcher(store, book).begin()
        while store.lease("frontier", "dead"):
            pass
        other = researcher(store, book, worker="other")
        assert other.step().what == "wait"
        clock[0] = "2026-01-01T00:06:00Z"
        assert other.step().what == "fetch"


def test_a_lost_lease_writes_nothing(tmp_path: Path, book: OpenBook) -> None:
    """A worker that was too slow and lost its item to another leaves the case as the other made it."""
    with a_case(tmp_path) as store:

        class Slow(BookSource):
            def fetch(self, locator: str) -> Fetched:
                for item in store.items("frontier", "leased"):
                    store.finish(item)  # as another worker would, after the lease has ended
                return super().fetch(locator)

        one = researcher(store, book, books=Slow([book]))
        one.begin()
        before = store.assertion_count()
        took = one.step()
        assert (took.what, took.new) == ("wait", 0)
        assert store.queries() == ()
        assert store.assertion_count() == before


def test_looks_at_the_whole_get_rarer_as_a_case_grows() -> None:
    """A case of a thousand steps is looked at as a whole some dozens of times, not a hundred and more."""
    steps = [step for step in range(1, 1001) if is_time_to_decide(step)]
    assert steps[:4] == [8, 16, 24, 32]
    assert len(steps) < 45
    assert max(later - earlier for earlier, later in pairwise(steps)) <= 64
