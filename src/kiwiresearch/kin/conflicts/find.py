"""The conflicts of a tree."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.conflicts.agreeing import OF_ONE_MARRIAGE, SINGLE
from kiwiresearch.kin.conflicts.claims import Group, gathered, parent_ties, said_of
from kiwiresearch.kin.conflicts.conflict import Competing, Conflict, Ranked, Resolution
from kiwiresearch.kin.conflicts.next_steps import next_steps
from kiwiresearch.kin.conflicts.plausible import problem_of
from kiwiresearch.kin.conflicts.ranking import Weight, confidences, weighed
from kiwiresearch.kin.fields import DATES, FieldName
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.tree import PersonId, Tree

CLEAR_LEAD = 0.25
"""So much more belief than the next value settles a conflict between equal classes of evidence."""


def conflicts_of(tree: Tree) -> tuple[Conflict, ...]:
    """Every field of every person of which two values cannot both be right, in the order of people and fields."""
    return tuple(_conflicts(tree))


def _conflicts(tree: Tree) -> Iterator[Conflict]:
    ties = parent_ties(tree)
    for person in sorted(tree.persons):
        for field in (*SINGLE, *OF_ONE_MARRIAGE) if len(tree.spouses(person)) == 1 else SINGLE:
            groups = gathered(field, said_of(tree, person, field, ties.get(person, ())))
            if len(groups) > 1:
                yield _conflict(tree, person, field, groups)


def _conflict(tree: Tree, person: PersonId, field: FieldName, groups: tuple[Group, ...]) -> Conflict:
    problems = [problem_of(tree, person, field, group.when) for group in groups]
    weights = [weighed(tree, group, problem) for group, problem in zip(groups, problems, strict=True)]
    order = sorted(range(len(groups)), key=lambda at: (weights[at].order, groups[at].value, groups[at].said[0].id))
    weights = [weights[at] for at in order]
    beliefs = confidences(weights)
    competing = tuple(
        _competing(field, groups[at], weight, belief, problems[at])
        for at, weight, belief in zip(order, weights, beliefs, strict=True)
    )
    status = _status(weights, beliefs)
    winner = groups[order[0]]
    place = _place(tree, person, field)
    return Conflict(
        id_of("conflict", person, field),
        person,
        field,
        competing,
        tuple(Ranked(at, at + 1, weight.reason) for at, weight in enumerate(weights)),
        None if status == "open" else 0,
        _rationale(status, [groups[at] for at in order], weights),
        beliefs[0],
        status,
        next_steps(field, winner.when or tree.persons[person].birth, place, has_primary=weights[0].has_record),
    )


def _competing(field: FieldName, group: Group, weight: Weight, belief: float, problem: str) -> Competing:
    return Competing(
        group.when.words() if group.when and field in DATES else group.value,
        tuple(said.id for said in group.said),
        weight.sources,
        weight.tier,
        weight.evidence_type,
        belief,
        weight.standing,
        problem,
    )


def _status(weights: list[Weight], beliefs: list[float]) -> Resolution:
    first, second = weights[0], weights[1]
    if first.standing < second.standing or beliefs[0] - beliefs[1] >= CLEAR_LEAD:
        return "resolved"
    return "tentative" if first.order < second.order else "open"


def _rationale(status: Resolution, groups: list[Group], weights: list[Weight]) -> str:
    best, next_best = (f"“{group.when.words() if group.when else group.value}”" for group in groups[:2])
    if status == "open":
        return f"Nothing tells {best} from {next_best}: the evidence for both is of the same kind."
    leads = _lead(weights[0], weights[1])
    word = "Preferred" if status == "resolved" else "Preferred for now"
    return f"{word}: {best}. It stands before {next_best} by {leads}."


LEADS = (
    "being possible and undisputed",
    "the kind of information",
    "the form of the source",
    "who made it",
    "the number of independent sources",
    "being more exact",
    "where on the page it stands",
    "how reliable such sources are",
)


def _lead(first: Weight, second: Weight) -> str:
    pairs = zip(LEADS, first.order, second.order, strict=True)
    return next((lead for lead, one, other in pairs if one != other), "the sum of what supports it")


def _place(tree: Tree, person: PersonId, field: FieldName) -> str:
    known = tree.persons[person]
    if field in OF_ONE_MARRIAGE:
        return ""
    return known.death_place if field.startswith(("death", "burial")) else known.birth_place
