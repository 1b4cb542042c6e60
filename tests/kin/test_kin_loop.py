"""The loop of family research on a real book, by rules alone: from the seed to a named end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Engine, event
from tests.kin.cases import dump
from tests.kin.loop_family import NOW, a_case, named, open_family, researcher, run, waiting, write_family

from kiwiresearch.errors import HostUnreachable, NothingFound
from kiwiresearch.kin.gedcom.json_export import tree_json
from kiwiresearch.kin.loop.queries import Priority, earliness_at
from kiwiresearch.kin.loop.researcher import is_time_to_evaluate
from kiwiresearch.kin.privacy.redaction import redact
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.source import FetchedRecord, PersonQuery
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
    """From one name the loop finds, verifies and ties four generations, and says why it stops (R266, R291, R301)."""
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
    (seed,) = researcher(store, book).start()
    assert store.person(seed).name == "Aldous Penhallow"
    assert {one.context["name"] for one in waiting(store)} == {
        "Barnaby Penhallow", "Clemence Rook", "Dorothea Vance", "Edwin Penhallow", "Flora Penhallow",
    }  # fmt: skip


def test_the_most_promising_item_comes_first(store: CaseStore, book: OpenBook) -> None:
    """Items are taken by priority, and a linked page near the seed comes before a bare name (R272, R292)."""
    one = researcher(store, book)
    one.start()
    before = waiting(store)
    assert [item.priority for item in before] == sorted((item.priority for item in before), reverse=True)
    assert before[-1].context["name"] == "Flora Penhallow"
    one.step()
    assert [item.id for item in store.queues.items("frontier", "done")] == [before[0].id]


def test_the_line_comes_before_those_beside_it(store: CaseStore, book: OpenBook) -> None:
    """Parents and children are searched before husbands and wives, and people with a page before names without one."""
    researcher(store, book).start()
    fields = [item.context["field"] for item in waiting(store)]
    assert (sorted(fields[:3]), fields[3:]) == (["child", "father", "mother"], ["spouse", "child"])


def test_every_statement_is_based_on_its_source(done: CaseStore) -> None:
    """Each fact and tie has evidence whose words are in the text of its source (R267, R282, R294, R295)."""
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


def test_a_search_that_found_nothing_is_not_a_fact(store: CaseStore, book: OpenBook) -> None:
    """'Searched, not found' is a line of the log and changes nothing about the person."""
    one = researcher(store, book)
    one.start()
    before = store.tree().persons
    while not any(row.negative for row in store.queries()):
        one.step()
    flora = named(store.tree(), "Flora Penhallow")
    assert before[flora.id].name == flora.name
    assert store.tree().facts_of(flora.id) == ()


def test_hypotheses_become_clues_and_clues_queries(done: CaseStore) -> None:
    """'Jr.' is a clue that leads to queries, and nobody enters the tree by it (R273, R296, R297, R309)."""
    (clue,) = done.queues.items("clue")
    assert (clue.status, clue.hypothesis_type) == ("done", "parental_discovery")  # type: ignore[union-attr]
    assert clue.evidence_hints["is_fact"] is False  # type: ignore[union-attr]
    assert {row.query for row in done.queries()} >= {"Hector Penhallow Sr.", "Hector Penhallow father"}
    assert all("Sr." not in one.name for one in done.tree().persons.values())


def test_no_page_is_fetched_twice(done: CaseStore) -> None:
    """A page that four others link to is read once, whatever they call it (R275)."""
    fetched = [row.query for row in done.queries() if "://" in row.query]
    assert len(fetched) == len(set(fetched)) == 5


def test_the_log_is_the_same_on_every_run(store: CaseStore, done: CaseStore, book: OpenBook) -> None:
    """Two cases of the same settings and books are the same, byte for byte (R277, R292)."""
    run(researcher(store, book))
    assert dump(store, history=True) == dump(done, history=True)


def test_a_seed_that_nobody_has_is_an_error(tmp_path: Path, book: OpenBook) -> None:
    """A case that cannot begin says whom it did not find, and keeps nothing."""
    with a_case(tmp_path, seeds=("Nobody Atall",)) as store:
        with pytest.raises(NothingFound, match="Nobody Atall"):
            researcher(store, book).start()
        assert store.tree().persons == {}


def test_generations_bound_the_search(tmp_path: Path, book: OpenBook) -> None:
    """People who are further from the seed than the settings say are named and not searched."""
    with a_case(tmp_path, generations=1) as store:
        run(researcher(store, book))
        assert named(store.tree(), "Hector Penhallow Jr.").birth is None
        assert all("Hector" not in row.query for row in store.queries())


def test_the_plan_is_kept(store: CaseStore, book: OpenBook) -> None:
    """The planner's rules leave their plan in the case: what comes next, and at the end why to stop (R270, R336)."""
    one = researcher(store, book)
    one.start()
    plan = store.state("plan")
    first = waiting(store)[0]
    assert plan["next_actions"][0]["target"] == first.id
    assert (plan["should_stop"], plan["stop_reason"]) == (False, None)
    assert plan["revisit_schedule"] == plan["revisit_recommendations"]


def test_the_last_plan_is_to_stop(done: CaseStore) -> None:
    """At the end the plan names the condition that is met (R341)."""
    plan = done.state("plan")
    assert [one["action"] for one in plan["next_actions"]] == ["stop"]
    assert (plan["should_stop"], plan["stop_reason"]) == (True, "confidence_achieved")


def test_priority_is_a_sum_of_named_terms() -> None:
    """The place in the queue explains itself, and what waits long comes before what came late."""
    near = Priority(closeness=0.5, gain=1.0, reliability=0.65, earliness=1.0)
    assert str(near) == "0.655 (closeness +0.175, gain +0.25, reliability +0.13, earliness +0.1)"
    assert Priority(0.5, 1.0, 0.65, earliness=1.0, tier=1).total == pytest.approx(near.total - 0.15)
    assert str(Priority(0, 0, 0)) == "0 (nothing)"
    assert earliness_at(0, 500) > earliness_at(100, 500) > earliness_at(500, 500) == earliness_at(900, 500) == 0.0


class ReportingSource(BookSource):
    """Books that write down what they are asked, whatever becomes of who asks."""

    log: Path

    def fetch(self, locator: str) -> FetchedRecord:
        self._report(locator)
        return super().fetch(locator)

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        self._report(query.name)
        return super().search(query)

    def _report(self, what: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{what}\n")


def working(zim: Path, case: Path, log: Path, killed_at: int = 0) -> int:
    """A process of its own that works on a case, killed before that statement of its database; its number."""
    child = os.fork()
    if child:
        return child
    left = [killed_at]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    failed = 1
    try:
        event.listen(Engine, "before_cursor_execute", count)
        book = open_family(zim)
        books = ReportingSource([book])
        books.log = log
        with CaseStore.open(case, lambda: NOW) as store:
            run(researcher(store, book, books=books))
        failed = 0
    finally:
        os._exit(failed)


def was_killed(child: int) -> bool:
    """Wait for a process; one that failed by itself fails the test."""
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def test_killed_at_any_moment_nothing_is_lost(tmp_path: Path, family_zim: Path, done: CaseStore) -> None:
    """A worker killed again and again, in the middle of anything, ends with the same bytes as one left alone.

    Each time at most one fetch is repeated, and nothing stays behind.
    """
    a_case(tmp_path).close()
    case, log = tmp_path / "case.sqlite", tmp_path / "log"
    log.touch()
    kills = 0
    while was_killed(working(family_zim, case, log, killed_at=KILL_AT[kills])):
        kills += 1
    assert kills >= 4
    fetched = log.read_text().splitlines()
    assert len(fetched) - len(set(fetched)) <= kills
    with CaseStore.open(case, lambda: NOW) as killed:
        assert exported(killed) == exported(done)
        assert killed.verify_audit() == ()
        assert not killed.queues.items("frontier", "taken")


KILL_AT = (15, 60, 140, 260, 400, 620, 0)
"""Statements after which the next worker is killed; the last one lives."""


def exported(store: CaseStore) -> str:
    return tree_json(redact(store.tree(), "owner", 2026))


def test_an_item_that_ends_the_program_is_set_aside(tmp_path: Path, book: OpenBook) -> None:
    """What kills its worker four times is not taken a fifth time; the case goes on without it, and says so."""
    a_case(tmp_path).close()

    class Deadly(BookSource):
        def fetch(self, locator: str) -> FetchedRecord:
            if locator.endswith("Dorothea_Vance"):
                raise MemoryError
            return super().fetch(locator)

    with CaseStore.open(tmp_path / "case.sqlite", lambda: NOW) as store:
        for _ in range(4):
            with pytest.raises(MemoryError):
                run(researcher(store, book, books=Deadly([book])))
        last = run(researcher(store, book, books=Deadly([book])))[-1]
        assert last.what == "stop"
        assert last.sentence.endswith("1 of the searches was skipped: the program crashed each time it tried it.")
        (item,) = store.queues.items("frontier", "failed")
        assert (item.last_error, item.retry_count) == ("the worker that had it disappeared", 3)


@pytest.mark.parametrize(
    "cause", [KeyboardInterrupt(), HostUnreachable("Nobody has the book now.")], ids=["Ctrl-C", "away"]
)
def test_an_interruption_does_not_count_against_an_item(tmp_path: Path, book: OpenBook, cause: BaseException) -> None:
    """Ctrl-C, or a host that goes away, gives back what is being worked on, and does not count as a failure of it."""
    with a_case(tmp_path) as store:

        class Stopped(BookSource):
            def fetch(self, locator: str) -> FetchedRecord:
                raise cause

        one = researcher(store, book, books=Stopped([book]))
        one.start()
        with pytest.raises(type(cause)):
            one.step()
        assert {item.retry_count for item in waiting(store)} == {0}
        assert not store.queues.items("frontier", "taken")


def test_looks_at_the_whole_get_rarer_as_a_case_grows() -> None:
    """A case of a thousand steps is looked at as a whole some dozens of times, not a hundred and more."""
    steps = [step for step in range(1, 1001) if is_time_to_evaluate(step)]
    assert steps[:4] == [8, 16, 24, 32]
    assert not is_time_to_evaluate(0), "a case that begins with a family file has made no step"
    assert len(steps) < 45
    assert max(later - earlier for earlier, later in pairwise(steps)) <= 64
