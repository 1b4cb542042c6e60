"""The research loop: take the most promising item, fetch it, store what it proves, and queue what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.codec import plain
from kiwiresearch.errors import HostUnreachable, ModelUnreachable
from kiwiresearch.kin.loop.case_model import CaseModel
from kiwiresearch.kin.loop.evaluation import evaluate
from kiwiresearch.kin.loop.item_processor import ItemProcessor, ResearchStep
from kiwiresearch.kin.loop.planner import apply_plan, pending_clues, plan_by_rules, planner_input, requested_revisits
from kiwiresearch.kin.loop.planner_by_model import plan_by_model
from kiwiresearch.kin.loop.progress import CaseProgress, LoopState, attainable_confidence, stop_reason, stop_sentence
from kiwiresearch.kin.loop.queries import TreePosition, earliness_at, imported_items, items_for_clue
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
from kiwiresearch.kin.sources import EvidenceSource
from kiwiresearch.kin.store import ABANDONED_REASON, CaseStore, ClueItem, QueueName, RevisitItem
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.llm import Model
from kiwiresearch.text import count_of

EVALUATE_EVERY = 8
"""The fewest steps between two evaluations; more as the case grows."""
EVALUATIONS_PER_DOUBLING = 8
"""How many evaluations there are while the number of steps doubles: each takes longer as the case grows."""
FOLLOWED = {
    "parental_discovery": "Followed a clue to the parents",
    "child_discovery": "Followed a clue to the children",
    "sibling_discovery": "Followed a clue to brothers and sisters",
    "birth_family": "Followed a clue to the family by birth",
}
"""What a followed clue may lead to, by its kind; a model may name other kinds."""
TAKE_ORDER: tuple[QueueName, ...] = ("frontier", "revisit", "clue")


class Researcher:
    """Researches one case, which must be open for writing.

    A model is asked where the rules are not sure, and only proposes. Unless it runs on this
    machine and the case allows it, it sees nothing about people who may be alive.
    """

    def __init__(
        self,
        store: CaseStore,
        sources: Sequence[EvidenceSource],
        find_address: AddressLookup,
        *,
        year: int,
        model: Model | None = None,
        model_is_local: bool = False,
    ) -> None:
        self.settings = CaseSettings.from_record(store.settings)
        self._store = store
        self._year = year
        self._case_model = CaseModel(store, self.settings, year, model, is_local=model_is_local)
        self._processor = ItemProcessor(store, sources, find_address, self.settings, year, self._case_model)

    @property
    def model_problem(self) -> ModelUnreachable | None:
        """Why the model could not be reached, if so; the rules continued without it."""
        return self._case_model.problem

    def start(self) -> tuple[PersonId, ...]:
        """Read the seeds and queue the people they name; done once for a case."""
        if self._store.seeds:
            # The case is locked, so what is still taken was left by a process that was killed.
            self._store.queues.return_after_crash()
            self._queue_home_people()
            self._continue_after_pause()
            return self._store.seeds
        seeds = [self._processor.find_seed(name) for name in self.settings.seeds]
        with self._store.step("orchestrator"):
            people: list[PersonId] = []
            for record, source in seeds:
                people.append(self._processor.store_record(record, source, TreePosition()))
                progress = CaseProgress.load(self._store).after_query(len(record.accepted), fetched=True)
                progress.save(self._store)
            self._store.set_state("seeds", people)
        self._evaluate_and_plan()
        return tuple(people)

    def steps(self) -> Iterator[ResearchStep]:
        """Work until a stop condition holds; the last result says which."""
        self.start()
        while True:
            result = self.step()
            yield result
            if result.what == "stop":
                return

    def step(self) -> ResearchStep:
        """Process one item: of the frontier first, then revisits, then clues."""
        # Only a condition that still holds after the evaluation ends the research.
        if stop_reason(self.state()):
            self._evaluate_and_plan()  # this may queue revisits
            state = self.state()
            reason = stop_reason(state)
            if reason:
                return self._stop(reason, stop_sentence(reason, state), state)
        item = next((taken for queue in TAKE_ORDER if (taken := self._store.queues.take(queue))), None)
        if item is None:
            # The remaining items are not due yet, so there is nothing to do now.
            left = sum(self._store.queues.sizes().values())
            words = f"Nothing can be done for now. Searches waiting for a source: {left}."
            return self._stop("waiting", words, self.state())
        try:
            if isinstance(item, ClueItem):
                return self._follow_clue(item)
            result = self._processor.fetch(item)
        except (KeyboardInterrupt, HostUnreachable):
            self._store.queues.return_taken()  # not the item's fault
            raise
        if is_time_to_evaluate(CaseProgress.load(self._store).iterations):
            self._evaluate_and_plan()
        return result

    def state(self) -> LoopState:
        """The state that the stop conditions look at."""
        reach = attainable_confidence(self._processor.sources)
        return CaseProgress.load(self._store).loop_state(self._store, self.settings, reach)

    def _queue_home_people(self) -> None:
        """Queue the home persons of the family files that were imported since the last run, and their relatives."""
        if not self._store.state("imported"):
            return
        with self._store.step("orchestrator"):
            home_people = dict.fromkeys(self._store.canonical(entry) for entry in self._store.state("imported") or ())
            taken = {
                self._store.canonical_or_same(frontier_item.target_entity_id)
                for frontier_item in frontier_items(self._store)
            }
            known = known_queries(self._store, self.settings)
            for item in imported_items(
                self._store.tree(), tuple(home_people), self.settings, known, taken, self._earliness()
            ):
                self._store.queues.push("frontier", item)
            self._store.set_state("imported", [])
            self._store.set_state("stop", {})
            CaseProgress.load(self._store).after_import().save(self._store)

    def _continue_after_pause(self) -> None:
        """If a case that ended because searches found nothing is run again, make the searches that are left."""
        waiting = sum(self._store.queues.sizes().values())
        if self._store.stop.get("reason") != "diminishing_returns" or not waiting:
            return
        with self._store.step("orchestrator"):
            CaseProgress.load(self._store).after_pause(waiting).save(self._store)
            self._store.set_state("stop", {})

    def _stop(self, reason: str, words: str, state: LoopState) -> ResearchStep:
        failed = [item for queue in TAKE_ORDER for item in self._store.queues.items(queue, "failed")]
        abandoned = sum(item.last_error == ABANDONED_REASON for item in failed)
        if abandoned:
            was, it = ("was", "it") if abandoned == 1 else ("were", "them")
            words += f" {abandoned} of the searches {was} skipped: the program crashed each time it tried {it}."
        with self._store.step("orchestrator"):
            self._store.set_state("stop", {"reason": reason, "words": words, "state": plain(state)})
        return ResearchStep("stop", words, reason=reason)

    def _follow_clue(self, clue: ClueItem) -> ResearchStep:
        whom = clue.related_person_id
        if whom and not self._store.is_in_case(whom):  # somebody removed them since
            self._store.queues.finish(clue, "dropped")
            return ResearchStep("clue", "No longer needed.")
        name = self._store.person(whom).name if whom else ""
        with self._store.step("orchestrator"):
            self._store.queues.finish(clue)
            known = known_queries(self._store, self.settings)
            items = items_for_clue(clue, name, self.settings, known, self._earliness())
            pushed = sum(self._store.queues.push("frontier", item) for item in items)
            CaseProgress.load(self._store).after_step().save(self._store)
        followed = FOLLOWED.get(clue.hypothesis_type, "Followed a clue")
        return ResearchStep("clue", f"{followed}: {count_of(pushed, 'new search', 'new searches')}.")

    def _evaluate_and_plan(self) -> None:
        """Merge people, rank competing values, queue revisits, then plan."""
        model = self._case_model.model()
        evaluated = evaluate(self._store, self._year, years_after_death=self.settings.years_after_death, model=model)
        tree, failed = self._store.tree(), failed_searches(self._store)
        self._queue_revisits(tree, failed, {})
        given = planner_input(self._store, tree, self.state(), failed, evaluated.proposals)
        planned = plan_by_model(given, model) if model else plan_by_rules(given)
        with self._store.step("orchestrator"):
            self._store.set_state("proposals", [proposal.record() for proposal in evaluated.proposals])
            self._store.set_state("plan", planned.record())
            self._store.set_state("model_notes", list(evaluated.notes))
            if planned.decided_by != "rules":
                apply_plan(self._store, planned, tree, known_queries(self._store, self.settings), self._earliness())
        if planned.decided_by != "rules":
            self._queue_revisits(tree, failed, requested_revisits(planned, self._case_model.names_no_living_person))

    def _queue_revisits(
        self, tree: Tree, failed: Sequence[FailedSearch], requested: Mapping[str, Sequence[BetterQuery]]
    ) -> None:
        """Queue failed searches for which there is a better query now."""
        if not failed:
            return
        found = revisit_items(
            failed,
            tree,
            disputed_fields(self._store),
            pending_clues(self._store),
            [
                revisit_item
                for revisit_item in self._store.queues.items("revisit")
                if isinstance(revisit_item, RevisitItem)
            ],
            self.settings,
            local_source_ids=self._processor.local_source_ids,
            requested=requested,
        )
        with self._store.step("revisit scheduler"):
            for item in found:
                self._store.queues.push("revisit", item)

    def _earliness(self) -> float:
        return earliness_at(CaseProgress.load(self._store).iterations, self.settings.max_iterations)


def is_time_to_evaluate(step: int) -> bool:
    """Whether the case is evaluated again after this step."""
    if step == 0:
        return False
    # The shift gives the greatest power of two that is not above `step`: the interval grows with the case.
    return step % max(EVALUATE_EVERY, (1 << step.bit_length() - 1) // EVALUATIONS_PER_DOUBLING) == 0
