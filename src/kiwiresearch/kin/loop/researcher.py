"""The research loop: take the most promising item, fetch it, store what it proves, and queue what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.errors import HostAway, ModelUnreachable
from kiwiresearch.kin.loop.case_model import CaseModel
from kiwiresearch.kin.loop.crawler import Crawler, StepResult
from kiwiresearch.kin.loop.decisions import decide
from kiwiresearch.kin.loop.planner import apply_plan, pending_clues, plan_by_rules, planner_input, requested_revisits
from kiwiresearch.kin.loop.planner_by_model import plan_by_model
from kiwiresearch.kin.loop.progress import (
    CaseProgress,
    LoopState,
    attainable_confidence,
    state_record,
    stop_reason,
    stop_sentence,
)
from kiwiresearch.kin.loop.queries import TreePosition, age_term, imported_items, items_for_clue
from kiwiresearch.kin.loop.record_writer import AddressLookup
from kiwiresearch.kin.loop.revisits import (
    BetterQuery,
    FailedSearch,
    disputed_fields,
    failed_searches,
    frontier_items,
    known_queries,
    revisit_items,
)
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.sources.source import EvidenceSource
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.queues import ABANDONED, ClueItem, FrontierItem, QueueName, RevisitItem
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.llm.model import Model

DECIDE_EVERY = 8
"""So many steps are between two looks at the whole, and more as the case grows; one look follows the last step."""
QUEUE_ORDER: tuple[QueueName, ...] = ("frontier", "revisit", "clue")


class Researcher:
    """Works on one case, which whoever runs it has opened for itself alone.

    A model is asked where the rules are not sure, and proposes only. Unless it is on this
    machine and the case allows it, it is told nothing of people who may be alive.
    """

    def __init__(
        self,
        store: CaseStore,
        sources: Sequence[EvidenceSource],
        located: AddressLookup,
        *,
        year: int,
        model: Model | None = None,
        model_is_local: bool = False,
    ) -> None:
        self.settings = CaseSettings.from_record(store.settings)
        self._store = store
        self._year = year
        self._opinion = CaseModel(store, self.settings, year, model, is_local=model_is_local)
        self._crawler = Crawler(store, sources, located, self.settings, year, self._opinion)

    @property
    def model_problem(self) -> ModelUnreachable | None:
        """Why the model could not be reached, if so; the rules did without."""
        return self._opinion.problem

    def start(self) -> tuple[PersonId, ...]:
        """Read the seeds, and queue what they name; once for a case."""
        if self._store.state("seeds"):
            self._store.queues.reclaim()
            self._queue_imported()
            return tuple(self._store.state("seeds"))
        seeds = [self._crawler.seed(name) for name in self.settings.seeds]
        with self._store.step("orchestrator"):
            people: list[PersonId] = []
            for record, source in seeds:
                people.append(self._crawler.store_record(record, source, TreePosition()).person)
                self._save_progress(CaseProgress.load(self._store).after_query(len(record.accepted), fetched=True))
            self._store.set_state("seeds", people)
        self._decide()
        return tuple(people)

    def steps(self) -> Iterator[StepResult]:
        """Work until a condition says stop; the last thing told is why."""
        self.start()
        while True:
            took = self.step()
            yield took
            if took.what == "stop":
                return

    def step(self) -> StepResult:
        """One item of the queues, the frontier first, then second looks, then clues."""
        if stop_reason(self.state()):
            self._decide()  # what is found out now may be worth a second look
            state = self.state()
            reason = stop_reason(state)
            if reason:
                return self._stop(reason, stop_sentence(reason, state), state)
        item = self._take()
        if item is None:
            return self._stop_for_now()
        try:
            took = self._follow_clue(item) if isinstance(item, ClueItem) else self._crawler.fetch(item)
        except (KeyboardInterrupt, HostAway):
            self._store.queues.give_back()  # neither who stops the program nor a host that is away has to do with it
            raise
        if isinstance(item, ClueItem):
            return took
        if is_time_to_decide(CaseProgress.load(self._store).iterations):
            self._decide()
        return took

    def state(self) -> LoopState:
        """Where the case stands, as the stop conditions look at it."""
        reach = attainable_confidence(self._crawler.sources)
        return CaseProgress.load(self._store).loop_state(self._store, self.settings, reach)

    def _queue_imported(self) -> None:
        """Queue those who came with a family file since."""
        if not self._store.state("imported"):
            return
        with self._store.step("orchestrator"):
            homes = dict.fromkeys(self._store.canonical(one) for one in self._store.state("imported") or ())
            taken = {self._store.canonical(one.target_entity_id) for one in frontier_items(self._store)}
            known = known_queries(self._store, self.settings)
            for item in imported_items(self._store.tree(), tuple(homes), self.settings, known, taken, self._age()):
                self._store.queues.push("frontier", item)
            self._store.set_state("imported", [])
            self._store.set_state("stop", {})
            self._save_progress(CaseProgress.load(self._store).after_import())

    def _stop(self, reason: str, words: str, state: LoopState) -> StepResult:
        aside = sum(
            one.last_error == ABANDONED for queue in QUEUE_ORDER for one in self._store.queues.items(queue, "failed")
        )
        if aside:
            was, it = ("was", "it") if aside == 1 else ("were", "them")
            words += f" {aside} of the queries {was} set aside: the program ended each time it worked on {it}."
        with self._store.step("orchestrator"):
            self._store.set_state("stop", {"reason": reason, "words": words, "state": state_record(state)})
        return StepResult("stop", words, reason=reason)

    def _stop_for_now(self) -> StepResult:
        """What is left has to wait for its time, which is the same as nothing for now."""
        left = sum(self._store.queues.sizes().values())
        words = f"Nothing is left to look for now; {left} of the queries have to wait for their time."
        return self._stop("frontier_empty", words, self.state())

    def _take(self) -> FrontierItem | RevisitItem | ClueItem | None:
        for queue in QUEUE_ORDER:
            item = self._store.queues.take(queue)
            if item is not None:
                return item
        return None

    def _follow_clue(self, clue: ClueItem) -> StepResult:
        name = self._store.person(clue.related_person_id).name if clue.related_person_id else ""
        with self._store.step("orchestrator"):
            self._store.queues.finish(clue)
            known = known_queries(self._store, self.settings)
            items = items_for_clue(clue, name, self.settings, known, self._age())
            pushed = sum(self._store.queues.push("frontier", item) for item in items)
            self._save_progress(CaseProgress.load(self._store).after_step())
        return StepResult("clue", f"A clue of the kind {clue.hypothesis_type!r} gave {pushed} new queries.")

    def _decide(self) -> None:
        """Look at the whole: who is one person, which values compete, what is worth a second look; then plan."""
        model = self._opinion.model()
        decided = decide(self._store, self._year, years_after_death=self.settings.years_after_death, model=model)
        tree, in_vain = self._store.tree(), failed_searches(self._store)
        self._queue_revisits(tree, in_vain, {})
        given = planner_input(self._store, tree, self.state(), in_vain, decided.proposals)
        planned = plan_by_model(given, model) if model else plan_by_rules(given)
        with self._store.step("orchestrator"):
            self._store.set_state("proposals", [one.record() for one in decided.proposals])
            self._store.set_state("plan", planned.record())
            self._store.set_state("model_notes", list(decided.notes))
            if planned.decided_by != "rules":
                apply_plan(self._store, planned, tree, known_queries(self._store, self.settings), self._age())
        if planned.decided_by != "rules":
            self._queue_revisits(tree, in_vain, requested_revisits(planned, self._opinion.names_no_living_person))

    def _queue_revisits(
        self, tree: Tree, in_vain: Sequence[FailedSearch], requested: Mapping[str, Sequence[BetterQuery]]
    ) -> None:
        """Queue second looks for what was searched in vain."""
        if not in_vain:
            return
        found = revisit_items(
            in_vain,
            tree,
            disputed_fields(self._store),
            pending_clues(self._store),
            [one for one in self._store.queues.items("revisit") if isinstance(one, RevisitItem)],
            self.settings,
            local=self._crawler.local,
            requested=requested,
        )
        with self._store.step("revisit scheduler"):
            for item in found:
                self._store.queues.push("revisit", item)

    def _age(self) -> float:
        return age_term(CaseProgress.load(self._store).iterations, self.settings.max_iterations)

    def _save_progress(self, progress: CaseProgress) -> None:
        self._store.set_state("progress", progress.record())


def is_time_to_decide(step: int) -> bool:
    """Eight times while the number of steps doubles: a look at the whole takes longer the more there is."""
    return step % max(DECIDE_EVERY, (1 << step.bit_length() - 1) // 8) == 0
