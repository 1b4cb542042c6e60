"""A second opinion on doubtful pairs: a model may move one by a single step, and never against a veto.

It is shown two records and picks one of three words; the rest of its reply is not used.
People who may be alive are not shown to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kiwiresearch.errors import ModelError
from kiwiresearch.kin.resolve.proposal import ACTIONS, DEFAULT_SETTINGS, MergeAction, MergeProposal
from kiwiresearch.kin.resolve.resolver import MIN_SUPPORT
from kiwiresearch.kin.tree import Person, PersonId, Tree
from kiwiresearch.llm import Model, extraction_options, find_ungrounded_word, model_label, prompt, structured_reply
from kiwiresearch.text import fold, printable

REPLY_TOKENS = 600
# Counted as characters, 60 for each name.
MAX_RELATIVES_CHARS = 720
EMPTY_ANSWERS = frozenset({"", "no", "none", "nothing", "null", "n a", "na", "not applicable", "-"})

Share = Annotated[float, Field(ge=0, le=1)]


class FeatureOpinion(BaseModel):
    """One kind of evidence, as the model sees it."""

    model_config = ConfigDict(extra="forbid")

    score: Share
    reason: str


def _require_reason(why: str) -> str:
    if fold(why) in EMPTY_ANSWERS:
        raise ValueError("give a reason against the merge, even if it is only what is not known")
    return why


class Opinion(BaseModel):
    """What a resolver is asked for; it must say what speaks against a merge."""

    model_config = ConfigDict(extra="forbid")

    similarity_score: Share
    feature_scores: dict[Literal["name", "dates", "places", "relationships"], FeatureOpinion]
    merge_rationale: str
    why_not_merge: Annotated[str, AfterValidator(_require_reason)]
    recommendation: Literal["merge", "review", "separate"]
    confidence: Share

    def reasons(self) -> tuple[str, ...]:
        return (*(opinion.reason for opinion in self.feature_scores.values()), self.merge_rationale, self.why_not_merge)


@dataclass(frozen=True, slots=True)
class ReviewedProposals:
    """The proposals after a second opinion, and what went wrong."""

    proposals: tuple[MergeProposal, ...]
    notes: tuple[str, ...] = ()


def review_by_model(proposals: Sequence[MergeProposal], tree: Tree, model: Model) -> ReviewedProposals:
    """Ask about every doubtful pair; if the model fails, the proposals of the rules stay."""
    found: list[MergeProposal] = []
    notes: tuple[str, ...] = ()
    for proposal in proposals:
        if not notes and _is_doubtful(proposal) and _are_dead(proposal, tree):
            try:
                opinion = opinion_on(proposal, tree, model)
                # Reasons with a name or number that the model was not shown are invented, so the opinion is not used.
                if not find_ungrounded_word(opinion.reasons(), _shown(proposal, tree)):
                    proposal = apply_opinion(proposal, opinion, model.name)
            except ModelError as problem:
                why = printable(problem.message).rstrip(".")
                notes = (f"{model_label(model)} could not help with matching people: {why}.",)
        found.append(proposal)
    return ReviewedProposals(tuple(found), notes)


def opinion_on(proposal: MergeProposal, tree: Tree, model: Model) -> Opinion:
    """The model's opinion on one pair."""
    a, b = _records(proposal, tree)
    messages = prompt("kin_resolver").fill(
        person_a=a,
        person_b=b,
        shared_assertions="\n".join(
            feature.words for feature in proposal.features if feature.points > 0 and _names_no_relative(feature.feature)
        ),
        conflicting_assertions="\n".join(
            feature.words for feature in proposal.features if feature.points < 0 and _names_no_relative(feature.feature)
        ),
    )
    return structured_reply(model, messages, Opinion, extraction_options(max_tokens=REPLY_TOKENS))


def apply_opinion(proposal: MergeProposal, opinion: Opinion, by: str) -> MergeProposal:
    """The proposal moved one step towards or away from a merge, if the model says so and the pair is doubtful."""
    if not _is_doubtful(proposal):
        return proposal
    step = {"merge": 1, "review": 0, "separate": -1}[opinion.recommendation]
    at = ACTIONS.index(proposal.recommended_action)
    action: MergeAction = ACTIONS[min(max(at + step, 0), len(ACTIONS) - 1)]
    # Rules need two kinds of evidence to merge, and a model cannot replace one of them.
    kinds = sum(feature.points >= MIN_SUPPORT for feature in proposal.features)
    if action == proposal.recommended_action or (action == "merge" and kinds < DEFAULT_SETTINGS.min_evidence_kinds):
        return proposal
    return replace(proposal, recommended_action=action, decided_by=f"model {by}")


def _records(proposal: MergeProposal, tree: Tree) -> list[str]:
    return [_person_record(tree, tree.persons[person]) for person in proposal.candidate_pair]


def _shown(proposal: MergeProposal, tree: Tree) -> str:
    return "\n".join((*_records(proposal, tree), *(feature.words for feature in proposal.features)))


def _is_doubtful(proposal: MergeProposal) -> bool:
    limits = DEFAULT_SETTINGS
    return not proposal.vetoes and limits.review_at <= proposal.similarity_score < limits.merge_at


def _names_no_relative(feature: str) -> bool:
    """Reasons that name relatives may name living people."""
    return feature != "relationship_consistency"


def _are_dead(proposal: MergeProposal, tree: Tree) -> bool:
    return all(tree.persons[person].living == "deceased" for person in proposal.candidate_pair)


def _person_record(tree: Tree, person: Person) -> str:
    lines = [
        ("name", "; ".join(dict.fromkeys((person.name, *person.names)))),
        ("sex", person.sex),
        ("born", " ".join(filter(None, [person.birth.words() if person.birth else "", person.birth_place]))),
        ("died", " ".join(filter(None, [person.death.words() if person.death else "", person.death_place]))),
        ("parents", _names(tree, tree.parents(person.id))),
        ("spouses", _names(tree, tree.spouses(person.id))),
        ("children", _names(tree, tree.children(person.id))),
        ("siblings", _names(tree, tree.siblings(person.id))),
    ]
    return "\n".join(f"{what}: {printable(value)}" for what, value in lines if value)


def _names(tree: Tree, ids: Sequence[PersonId]) -> str:
    known = [tree.persons[identifier] for identifier in ids if identifier in tree.persons]
    return "; ".join(person.name for person in known if person.living == "deceased")[:MAX_RELATIVES_CHARS]
