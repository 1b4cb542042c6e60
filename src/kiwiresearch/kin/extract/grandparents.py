"""Grandparents that sentences name: 'his maternal grandfather, A', 'grandson of A', 'his mother B, daughter of A'.

A grandparent is stored as a parent of the father or the mother if the side is known (from the words, from the parent's
own name before them, or from the father's surname) and that parent is named; otherwise as a name, without a place in
the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.descent_phrases import (
    RelationRule,
    RelativePhrase,
    cue_can_belong_to_subject,
    parent_relations,
    words_since_subject,
)
from kiwiresearch.kin.extract.life_dates import name_target, snippet_at
from kiwiresearch.kin.extract.name_lists import FoundName, TextSpan, couple_after, name_after
from kiwiresearch.kin.language import ENGLISH
from kiwiresearch.kin.lineage import SIDES
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold

# `firewall.check.MIN_CONFIDENCE` is 0.6, so one who is placed only by a surname stays unverified.
STATED, BY_SURNAME = 0.6, 0.5
FIELD_OF_PARENT: dict[str, FieldName] = {"father": "father", "mother": "mother"}


@dataclass(frozen=True, slots=True)
class _Grandparent:
    relation: RelativePhrase
    side: str
    """'father' or 'mother'; empty if only the surname can show it."""
    first: TextSpan
    """The name of the first of a couple, whose surname it is."""


def with_grandparents(page: PageDoc, clauses: Iterable[Clause], facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
    """The facts, with the grandparents that sentences name added to the first fact about the parent on their side.

    Where the page does not name that parent, or does not say on which side, the grandparent is a fact of its own.
    """
    parents = {field: [fact for fact in facts if fact.field == field] for field in ("father", "mother")}
    above: dict[str, list[ExtractedFact]] = {side: list(_parents_of(page, side, parents[side])) for side in parents}
    unplaced: list[ExtractedFact] = []
    for clause in clauses:
        for found in (*_owned(page.text, clause), *_grandchild_of(page.text, clause)):
            side = found.side or ("father" if _has_surname_of(page, found, parents["father"]) else "")
            if side and parents[side]:
                above[side].append(_fact(page, found.relation, STATED if found.side else BY_SURNAME))
            else:
                unplaced.append(replace(_fact(page, found.relation, STATED), field="grandparent", target=""))
    # By identity: two equal facts may come from different places of the page.
    first = {id(found[0]): side for side, found in parents.items() if found}
    placed = (
        replace(fact, relative_facts=(*fact.relative_facts, *above[first[id(fact)]])) if id(fact) in first else fact
        for fact in facts
    )
    return [*placed, *_without_repetitions(unplaced, [fact for found in above.values() for fact in found])]


def _without_repetitions(facts: Sequence[ExtractedFact], placed: Sequence[ExtractedFact]) -> Iterator[ExtractedFact]:
    """Facts about grandparents whom no other fact names in the same words or more."""
    known = [set(fold(fact.value).split()) for fact in placed]
    for fact in facts:
        words = set(fold(fact.value).split())
        if not any(words <= others for others in known):
            known.append(words)
            yield fact


def _fact(page: PageDoc, relation: RelativePhrase, sure: float) -> ExtractedFact:
    name = page.text[relation.name.start : relation.name.end]
    quote = snippet_at(page, relation.quote)
    target = name_target(page, relation.name)
    return ExtractedFact(
        relation.field, name, quote, "prose", sure, target=target, rationale="a grandparent in the text"
    )


def _owned(text: str, clause: Clause) -> Iterator[_Grandparent]:
    """'his maternal grandfather was A', 'under his grandmother A'."""
    for owner in clause.possessives:
        kin = ENGLISH.owned_grandparent.match(text, owner.end, clause.end)
        link = ENGLISH.kin_link.match(text, kin.end(), clause.end) if kin else None
        if not kin or not link:
            continue
        if kin["last"] == "parents":
            names = couple_after(text, link.end(), clause.end, described=False)
        else:
            only = name_after(text, link.end(), clause.end, described=bool(ENGLISH.is_word.search(link[0])))
            names = [only] if only else []
        for relation in parent_relations(text, names, owner.start, RelationRule.POSSESSIVE):
            stated = replace(relation, field=FIELD_OF_PARENT.get(kin["last"], relation.field))
            yield _Grandparent(stated, SIDES.get((kin["side"] or "").lower(), ""), names[0].span)


def _grandchild_of(text: str, clause: Clause) -> Iterator[_Grandparent]:
    """'was the grandson of A and B', 'grandson of A on his father's side and of B on his mother's side'."""
    for found in ENGLISH.grandchild_of.finditer(text, clause.start, clause.end):
        between = words_since_subject(text, clause, found.start())
        if not between or not cue_can_belong_to_subject(between[1]):
            continue
        names: list[FoundName] = couple_after(text, found.end(), clause.end)
        at = found.end()
        while names:
            end = names[-1].span.end
            side = ENGLISH.on_side.match(text, end, clause.end)
            for relation in parent_relations(text, names, between[0].start, RelationRule.CHILD_OF):
                quote = TextSpan(between[0].start, side.end() if side else relation.quote.end)
                yield _Grandparent(replace(relation, quote=quote), side["side"] if side else "", names[0].span)
            more = ENGLISH.and_of.match(text, side.end(), clause.end) if side else None
            at = more.end() if more else at
            names = couple_after(text, at, clause.end) if more else []


def _parents_of(page: PageDoc, side: str, named: Sequence[ExtractedFact]) -> Iterator[ExtractedFact]:
    """'his mother B, the daughter of A': the parents of a parent, said right after the name."""
    for parent in named:
        start = page.text.rfind(parent.value, parent.snippet.start, parent.snippet.end)
        end = next((at for at in page.sentences if at > start), len(page.text))
        found = ENGLISH.child_of_after.match(page.text, start + len(parent.value), end) if start >= 0 else None
        if not found or (found["kind"] == "son") != (side == "father"):
            continue
        names = couple_after(page.text, found.end(), end)
        if len(names) > 1 and "," in page.text[names[0].span.end : names[1].span.start]:
            names = names[:1]  # 'son of Tom, son of Max, and Ruth': she may be Tom's wife
        for relation in parent_relations(page.text, names, start, RelationRule.CHILD_OF):
            yield _fact(page, relation, STATED)


def _has_surname_of(page: PageDoc, found: _Grandparent, fathers: Sequence[ExtractedFact]) -> bool:
    """Whether the grandparent has the father's surname; a mother may have taken hers when she married."""
    own = fold(parse_name(page.text[found.first.start : found.first.end]).surname)
    return any(own and fold(parse_name(fact.value).surname) == own for fact in fathers)
