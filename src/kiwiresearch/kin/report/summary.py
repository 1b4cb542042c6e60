"""The summary of a case by rules: who, when, which family, what is proved and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.kinship import NOT_RELATED
from kiwiresearch.kin.report.labels import UNNAMED, display_name, field_noun, join_names
from kiwiresearch.kin.report.proof import Proofs, count_by_tone, origins, tone_phrases
from kiwiresearch.kin.report.report_input import ReportInput
from kiwiresearch.kin.report.shapes.couples import Couples
from kiwiresearch.kin.timeline import accepted_fact, age_at, birth_of, death_of, place_of
from kiwiresearch.kin.tree import (
    BY_BLOOD,
    DISCARDED,
    PARENT_OF_SEX,
    UNSETTLED,
    FieldName,
    Person,
    PersonId,
    Relationship,
    Tree,
)
from kiwiresearch.text import count_of, one_line
from kiwiresearch.text.dates import DateRange

MAX_NAMES = 12
MAX_GAPS = 6


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of the summary and the facts and ties it is based on."""

    text: str
    rests_on: tuple[str, ...] = ()
    people: tuple[PersonId, ...] = ()
    """The people it is about; empty for a sentence about the research itself."""
    by: str = "rules"


def summary(case: ReportInput, proofs: Proofs | None = None) -> tuple[SummarySentence, ...]:
    """The sentences of the summary, in order; `proofs` if they exist already."""
    proofs = proofs or Proofs(case, {})
    found: list[SummarySentence] = []
    for seed in case.seeds:
        if seed in case.tree.persons:
            found += family_sentences(case, seed)
    found += [
        SummarySentence(text)
        for text in (
            *_extent_sentences(case),
            *_evidence_sentences(case, proofs),
            *_conflict_sentences(case),
            *_gap_sentences(case),
        )
    ]
    return tuple(found)


def family_sentences(case: ReportInput, seed: PersonId) -> Iterator[SummarySentence]:
    """A person's life, parents, partners and children."""
    tree, person, couples = case.tree, case.tree.persons[seed], Couples(case.tree)
    yield _life(case, person)
    parents = couples.parents(seed)
    if parents:
        ties = [tie for tie in tree.relationships if tie.kind == "parent_of" and tie.second == seed and _counts(tie)]
        for qualifier in dict.fromkeys(_qualifier(ties, parent) for parent in parents):
            alike = [parent for parent in parents if _qualifier(ties, parent) == qualifier]
            yield _parents(tree, seed, alike, qualifier, ties)
    yield from _partners(case, couples, seed)
    others = any(couples.children_of(seed, other) for other in tree.spouses(seed))
    yield from _children(case, (seed,), couples.children_of(seed, ""), besides=others)


def _counts(tie: Relationship) -> bool:
    return tie.status not in DISCARDED


def _qualifier(ties: Sequence[Relationship], parent: PersonId) -> str:
    """The kind of parent, if not by blood."""
    return next((tie.qualifier for tie in ties if tie.first == parent and tie.qualifier not in BY_BLOOD), "")


def _parents(
    tree: Tree, seed: PersonId, parents: Sequence[PersonId], qualifier: str, ties: Sequence[Relationship]
) -> SummarySentence:
    role = PARENT_OF_SEX[tree.persons[parents[0]].sex] if len(parents) == 1 else "parents"
    verb = "were the" if len(parents) > 1 else "was a" if qualifier else "was the"
    verb = "was an" if verb == "was a" and qualifier[:1] in "aeiou" else verb
    called = f"step{role}" if qualifier == "step" else f"{qualifier} {role}".strip()
    names = join_names([display_name(tree, parent) for parent in parents])
    text = f"{names} {verb} {called} of {display_name(tree, seed)}."
    return SummarySentence(text, tuple(tie.id for tie in ties if tie.first in parents), (*parents, seed))


def _life(case: ReportInput, person: Person) -> SummarySentence:
    tree, name = case.tree, display_name(case.tree, person.id)
    birth, death = birth_of(tree, person.id), death_of(tree, person.id)
    parts = []
    born = _happened("was born", birth, place_of(tree, person, "birth_place"))
    died = _happened("died", death, place_of(tree, person, "death_place"))
    if born:
        parts.append(born)
    if died:
        age = age_at(birth, death) if birth and death else None
        aged = f", aged {age.words()}" if age and age.words() and not age.is_impossible else ""
        parts.append(died + aged)
    elif person.is_dead:
        parts.append("has died")
    fields: tuple[FieldName, ...] = ("birth_date", "birth_place", "death_date", "death_place")
    facts = tuple(fact.id for field in fields if (fact := accepted_fact(tree, person.id, field)))
    contested = [
        field_noun(conflict.field)
        for conflict in case.conflicts
        if conflict.person == person.id and _is_open(conflict.status)
    ]
    sentence = f"{name} {join_names(parts)}" if parts else f"No dates are known for the life of {name}"
    text = f"{sentence}; sources disagree on the {join_names(contested)}." if contested else f"{sentence}."
    return SummarySentence(text, facts, (person.id,))


def _is_open(status: str) -> bool:
    return status != "resolved"


def _happened(verb: str, when: DateRange | None, place: str) -> str:
    if not when and not place:
        return ""
    where = f" in {' '.join(place.split())}" if place else ""
    return f"{verb}{date_phrase(when) if when else ''}{where}"


def date_phrase(when: DateRange) -> str:
    """' on 12 February 1809', ' in 1809', ' c. 1250', ' between 1200 and 1210'."""
    text = when.words()
    if when.qualifier or text.startswith(("between", "from")):
        return f" {text}"
    if when.precision == "day":
        return f" on {text}"
    article = "the " if when.precision in ("decade", "century", "millennium") and not text.startswith("the ") else ""
    return f" in {article}{text}"


def _partners(case: ReportInput, couples: Couples, seed: PersonId) -> Iterator[SummarySentence]:
    tree = couples.tree
    for other in couples.partners(seed):
        if other not in tree.spouses(seed):
            continue
        ties = [
            tie
            for tie in tree.relationships
            if tie.kind in ("spouse_of", "partner_of") and {tie.first, tie.second} == {seed, other} and _counts(tie)
        ]
        # A couple may have several ties; the one with a date says the most.
        tie = next((relationship for relationship in ties if relationship.start), ties[0])
        verb = "married" if tie.kind == "spouse_of" else "was the partner of"
        when = date_phrase(tie.start) if tie.start else ""
        text = f"{display_name(tree, seed)} {verb} {display_name(tree, other)}{when}."
        yield SummarySentence(text, tuple(relationship.id for relationship in ties), (seed, other))
        yield from _children(case, (seed, other), couples.children_of(seed, other))


def _children(
    case: ReportInput, parents: tuple[PersonId, ...], children: Sequence[PersonId], *, besides: bool = False
) -> Iterator[SummarySentence]:
    """The children of a couple, or of one parent; `besides` if others have two known parents.

    People who may be the same person count once; disputed ones have a sentence of their own.
    """
    tree = case.tree
    disputed = {
        tie.second
        for tie in tree.relationships
        if tie.kind == "parent_of" and tie.first in parents and (tie.qualifier == "disputed" or tie.status in UNSETTLED)
    }
    known = [child for child in children if child not in disputed]
    different = _without_duplicates(case, known)
    if different:
        yield _children_sentence(tree, parents, known, different, besides=besides)
    doubtful = [child for child in children if child in disputed]
    if doubtful:
        names = join_names([display_name(tree, child) for child in doubtful])
        who = join_names([display_name(tree, parent) for parent in parents])
        text = f"Whether {who} had {'this child' if len(doubtful) == 1 else 'these children'} is disputed: {names}."
        yield SummarySentence(text, _ties_to(tree, parents, doubtful), (*parents, *doubtful))


def _without_duplicates(case: ReportInput, children: Sequence[PersonId]) -> list[PersonId]:
    """The children, but only one of those who may be the same: whose birth is known, with the longest name."""

    def fullness(child: PersonId) -> tuple[bool, int]:
        return birth_of(case.tree, child) is not None, len(display_name(case.tree, child))

    kept = list(children)
    for pair in case.possible_duplicates:
        if set(pair) <= set(kept):
            # The less complete of the two; `kept` may have lost one of the next pair by then.
            kept.remove(min(pair, key=fullness))
    return kept


def _ties_to(tree: Tree, parents: Sequence[PersonId], children: Sequence[PersonId]) -> tuple[str, ...]:
    return tuple(
        tie.id
        for tie in tree.relationships
        if tie.kind == "parent_of" and tie.first in parents and tie.second in children and _counts(tie)
    )


def _children_sentence(
    tree: Tree, parents: tuple[PersonId, ...], every: Sequence[PersonId], children: Sequence[PersonId], *, besides: bool
) -> SummarySentence:
    ties = _ties_to(tree, parents, every)
    names = [display_name(tree, child) for child in children if display_name(tree, child) != UNNAMED]
    shown = names[:MAX_NAMES]
    if len(names) > MAX_NAMES:
        shown.append(f"{len(names) - MAX_NAMES} more")
    if shown and len(names) < len(children):
        shown.append(f"{len(children) - len(names)} without a name")
    who = join_names([display_name(tree, parent) for parent in parents])
    listed = f": {join_names(shown)}" if shown else ""
    more = "more " if besides else ""
    unknown = " whose other parent is not known" if besides else ""
    least = "at least " if len(children) < len(every) else ""
    count = count_of(len(children), f"{more}known child", f"{more}known children")
    return SummarySentence(f"{who} had {least}{count}{unknown}{listed}.", ties, (*parents, *every))


def _extent_sentences(case: ReportInput) -> Iterator[str]:
    tree = case.tree
    back = max((_depth(tree, seed) for seed in case.seeds if seed in tree.persons), default=0)
    sentence = f"The tree has {count_of(len(tree.persons), 'person', 'people')}"
    sentence += f" and goes back {count_of(back, 'generation')}" if back else ""
    wanted = f" of the {case.generations} requested" if case.generations > back > 0 else ""
    yield f"{sentence}{wanted}."


def _depth(tree: Tree, seed: PersonId) -> int:
    """How many generations of ancestors are known."""
    seen, line, depth = {seed}, [seed], 0
    while line:
        line = sorted({parent for child in line for parent in tree.parents(child) if parent in tree.persons} - seen)
        seen.update(line)
        depth += bool(line)
    return depth


def _evidence_sentences(case: ReportInput, proofs: Proofs) -> Iterator[str]:
    found = count_by_tone(proofs)
    total = sum(found.values())
    if not total:
        yield "No facts have been found yet."
        return
    evidence = [item for fact in case.tree.facts for item in fact.evidence]
    evidence += [item for tie in case.tree.relationships for item in tie.evidence]
    groups = origins(case.tree, evidence)
    # With one origin and only weak support, the sentence below says all of it.
    if len(groups) != 1 or found["weak"] < total:
        yield f"Of the {total:,} facts and relationships below, {join_names(tone_phrases(found))}."
    if len(groups) == 1:
        yield "All evidence goes back to one origin, so agreement between sources proves nothing."
    elif groups:
        yield f"The evidence goes back to {len(groups)} independent origins."
    if not found["good"]:
        yield (
            "Nothing is proved in the strict sense, which needs two independent origins, "
            "an original record and primary information."
        )


def _conflict_sentences(case: ReportInput) -> Iterator[str]:
    settled = sum(conflict.status == "resolved" for conflict in case.conflicts)
    unsettled = len(case.conflicts) - settled
    if unsettled:
        yield f"{count_of(unsettled, 'conflict')} {'is' if unsettled == 1 else 'are'} not settled. All values are kept."
    if settled:
        yield f"{count_of(settled, 'conflict')} {'was' if settled == 1 else 'were'} settled by the better evidence."


def _gap_sentences(case: ReportInput) -> Iterator[str]:
    """What is missing about the closest relatives of the seeds."""
    tree, couples = case.tree, Couples(case.tree)
    near = [item for seed in case.seeds if seed in tree.persons for item in (seed, *couples.parents(seed))]
    missing = []
    for item in dict.fromkeys(near):
        if not _is_dead(tree, item) and item not in case.seeds:
            continue
        # A seed may be living, and then has no death to find.
        lacks = [word for word in _lacking(tree, item) if word != "death"]
        if lacks:
            missing.append(f"{join_names(lacks)} of {display_name(tree, item)}")
    if missing:
        more = f" and {len(missing) - MAX_GAPS} more" if len(missing) > MAX_GAPS else ""
        yield f"Not found so far: {'; '.join(missing[:MAX_GAPS])}{more}."


def _is_dead(tree: Tree, person_id: PersonId) -> bool:
    person = tree.persons[person_id]
    return person.living == "deceased" or person.is_dead or death_of(tree, person_id) is not None


def _lacking(tree: Tree, person: PersonId) -> list[str]:
    known = (("birth", birth_of(tree, person)), ("death", death_of(tree, person)), ("parents", tree.parents(person)))
    return [word for word, found in known if not found]


def open_points(case: ReportInput, person: PersonId) -> str:
    """What is still missing about a dead person, and what sources disagree on."""
    lacks = _lacking(case.tree, person) if _is_dead(case.tree, person) else []
    contested = [
        field_noun(found.field) for found in case.conflicts if found.person == person and _is_open(found.status)
    ]
    parts = [f"{join_names(lacks)} not found"] if lacks else []
    parts += [f"sources disagree on the {join_names(contested)}"] if contested else []
    return "; ".join(parts)


def relation_to_seed(case: ReportInput, person: PersonId) -> str:
    """The kinship of a person to the first seed: 'grandfather of Charles Darwin'."""
    kinship = one_line(case.kinship.get(person, ""))
    seed = next((display_name(case.tree, seed) for seed in case.seeds if seed in case.tree.persons), "")
    if not kinship or not seed:
        return kinship
    return f"{kinship} to {seed}" if kinship == NOT_RELATED else f"{kinship} of {seed}"
