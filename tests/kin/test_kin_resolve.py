"""Records of one person find each other, nobody is taken for somebody else, and every proposal explains itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from evals.kin_resolve import measure_tree
from evals.kin_trees import split_tree
from tests.llm.scripted import ScriptedModel

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.resolve.by_model import review_by_model
from kiwiresearch.kin.resolve.features import probability
from kiwiresearch.kin.resolve.pairs import ordered_pair
from kiwiresearch.kin.resolve.proposal import DEFAULT_SETTINGS, MergeProposal, ResolveSettings, action_for
from kiwiresearch.kin.resolve.resolver import RULED_OUT, proposal_for, propose
from kiwiresearch.kin.resolve.scores import PairScores
from kiwiresearch.kin.tree import Evidence, Person, PersonId, Relationship, Sex, Source, Tree
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.mentions import dates_in


def a_person(
    one: str, name: str, born: str = "", died: str = "", *, sex: Sex = "male", place: str = "", **more: str
) -> Person:
    """`one` begins with the letter of its source."""
    birth, death = ((dates_in(text)[0].when if text else None) for text in (born, died))
    external = {"gedcom": f"{one[0]}.ged#{one}", **more}
    return Person(one, name, sex=sex, birth=birth, death=death, birth_place=place, living="deceased", external=external)


def a_tree(persons: Iterable[Person], parents: str = "", spouses: str = "") -> Tree:
    """`parents` is 'father>child other>child', `spouses` is 'a-b'."""
    ties = [Relationship(f"p{tie}", "parent_of", tie[:2], tie[3:]) for tie in parents.split()]
    ties += [Relationship(f"s{tie}", "spouse_of", tie[:2], tie[3:]) for tie in spouses.split()]
    return Tree({one.id: one for one in persons}, tuple(ties))


def compare_people(tree: Tree, one: PersonId, other: PersonId) -> MergeProposal:
    """The proposal for two records, even if nobody would propose it: shows what each rule says."""
    scores, pair = PairScores(tree, (), DEFAULT_SETTINGS), ordered_pair(one, other)
    scores.run()
    against = scores.vetoes_of(pair)
    score = probability(scores.log_odds.get(pair, scores.base(pair).total))
    return proposal_for(scores, pair, min(score, RULED_OUT) if against else score, against)


def action_of(tree: Tree, one: PersonId, other: PersonId, **options: object) -> str:
    found = [p for p in propose(tree, **options) if p.candidate_pair == (one, other)]  # type: ignore[arg-type]
    return found[0].recommended_action if found else "separate"


FAMILY = a_tree(
    [
        a_person("a1", "Robert Darwin", "30 May 1766", "13 November 1848"),
        a_person("a2", "Susannah Wedgwood", "1765", sex="female"),
        a_person("a3", "Charles Darwin", "12 February 1809", place="Shrewsbury, England"),
        a_person("a4", "Emma Wedgwood", "1808", sex="female"),
        a_person("b1", "Robert Waring Darwin", "1766"),
        a_person("b2", "Susanna Wedgwood", sex="female"),
        a_person("b3", "Charles Robert Darwin", "1809", "19 April 1882", place="Shrewsbury"),
        a_person("b5", "Caroline Darwin", "1800", sex="female"),
    ],
    "a1>a3 a2>a3 b1>b3 b2>b3 b1>b5",
    "a1-a2 b1-b2 a3-a4",
)


def test_a_family_in_two_sources_is_recognised() -> None:
    """Relatives support each other: father, mother and son are found, and nobody else."""
    found = {p.candidate_pair: p.recommended_action for p in propose(FAMILY) if p.recommended_action != "separate"}
    assert found == {("a1", "b1"): "merge", ("a2", "b2"): "merge", ("a3", "b3"): "merge"}


def test_a_proposal_has_all_fields_of_its_contract() -> None:
    """Pair, score, four features, reasons for and against, action, and that it can be undone (R350, R351, R352, R353,
    R354, R355, R356, R393, R398).
    """
    found = next(p for p in propose(FAMILY) if p.candidate_pair == ("a3", "b3"))
    result: dict[str, Any] = found.record()
    assert set(result["matching_features"]) == {
        "name_similarity", "date_overlap", "place_match", "relationship_consistency",
    }  # fmt: skip
    assert all(0 <= value <= 1 for value in result["matching_features"].values())
    assert result["feature_scores"]["name"]["reason"].startswith("the same first name “Charles”")
    assert "both have the father “Robert Darwin”" in result["feature_scores"]["relationships"]["reason"]
    assert 0.95 <= result["similarity_score"] <= 1
    assert (result["recommended_action"], result["recommendation"], result["reversible"]) == ("merge", "merge", True)
    assert result["merge_rationale"]
    assert result["why_not_merge"]
    json.dumps(result)


def test_every_proposal_says_what_speaks_against_it() -> None:
    """No proposal is without 'why not' (R354, R394)."""
    assert all(p.why_not_merge for p in propose(FAMILY))
    with pytest.raises(ValueError, match="a reason against"):
        MergeProposal(("a", "b"), 1.0, (), Message("x"), Message(""), "merge")


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (a_person("a1", "Leslie Brown", "1850"), a_person("b1", "Leslie Brown", "1850", sex="female"), "female"),
        (a_person("a1", "Henry VII", "28 January 1457"), a_person("b1", "Henry VIII", "1457"), "numbers differ"),
        (
            a_person("a1", "Edsel Ford Jr.", "1893"),
            a_person("b1", "Edsel Ford Sr.", "1893"),
            "One is called junior, the other senior",
        ),
        (
            a_person("a1", "John Hay", "1700", "1720"),
            a_person("b1", "John Hay", "1731"),
            "after the other had died in 1720",
        ),
        (a_person("a1", "John Hay", "1700"), a_person("a2", "John Hay", "1700"), "“a.ged” mentions both"),
        (a_person("a1", "J Hay", "1700", wikidata="Q1"), a_person("b1", "J Hay", "1700", wikidata="Q2"), "Wikidata"),
    ],
)
def test_no_score_outweighs_a_veto(one: Person, other: Person, why: str) -> None:
    """Sex, number, generation, lifetime, one source and outside ids rule a merge out, and say so."""
    tree = a_tree([one, other])
    assert action_of(tree, one.id, other.id) == "separate"
    found = compare_people(tree, one.id, other.id)
    assert found.recommended_action == "separate"
    assert why in found.why_not_merge


def test_nobody_is_merged_with_an_ancestor_or_a_spouse() -> None:
    """A father and a son of one name stay two, also when the tie comes from a third source."""
    persons = [a_person("a1", "John Hay", "c. 1700"), a_person("b1", "John Hay", "c. 1712")]
    assert "One is the other’s father" in compare_people(a_tree(persons, "a1>b1"), "a1", "b1").why_not_merge
    assert "husband" in compare_people(a_tree(persons, spouses="a1-b1"), "a1", "b1").why_not_merge
    further = a_tree([*persons, a_person("c1", "Peter Hay", sex="")], "a1>c1 c1>b1")
    assert "One is the other’s ancestor" in compare_people(further, "a1", "b1").why_not_merge


def with_parents(one: Person, other: Person, *more: Person, **ties: str) -> Tree:
    """Two records whose parents are surely the same couple."""
    couple = [
        a_person(side + number, name, born, sex=sex)  # type: ignore[arg-type]
        for side in "ab"
        for number, name, born, sex in (
            ("8", "Barnaby Hay", "3 May 1670", "male"),
            ("9", "Philippa Loveday", "4 June 1674", "female"),
        )
    ]
    parents = " ".join(f"{side}{number}>{side}1" for side in "ab" for number in "89")
    return a_tree([one, other, *couple, *more], f"{parents} {ties.get('parents', '')}", "a8-a9 b8-b9")


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (
            a_person("a1", "John Hay", "2 March 1700", "9 May 1702"),
            a_person("b1", "John Hay", "6 July 1703"),
            "One died as a child in 1702, and the other, born in 1703, was given the same name",
        ),
        (
            a_person("a1", "Thomas Hay", "12 May 1701"),
            a_person("b1", "Peter Hay", "12 May 1701"),
            "they may be twins",
        ),
        (a_person("a1", "Anne Hay", "1700", sex="female"), a_person("b1", "Rose Hay", "1701", sex="female"), "sisters"),
        (a_person("a1", "John Scott Hay", "1700"), a_person("b1", "John Cleves Hay", "1702"), "they may be brothers"),
        (a_person("a1", "John Hay", "1700"), a_person("b1", "John Hay", "1707"), "they may be brothers"),
    ],
)
def test_children_of_one_couple_stay_separate(one: Person, other: Person, why: str) -> None:
    """Twins, and brothers or sisters with similar names, are not merged because of their parents."""
    found = compare_people(with_parents(one, other), "a1", "b1")
    assert found.recommended_action not in ("merge", "merge_with_review")
    assert why in found.why_not_merge


def test_the_same_child_of_one_couple_is_merged() -> None:
    """A slip of one year does not make two children of one."""
    tree = with_parents(a_person("a1", "John Hay", "6 July 1703"), a_person("b1", "John Hay", "6 July 1702"))
    assert action_of(tree, "a1", "b1") == "merge"


def test_a_person_who_died_as_a_child_had_no_family() -> None:
    """A child that died is not an adult namesake, and nobody has children years after dying."""
    persons = [a_person("a1", "John Hay", "1700", "1704"), a_person("b1", "John Hay", "1700")]
    son = a_person("b2", "Peter Hay", "1730")
    assert "had a family" in compare_people(a_tree([*persons, son], "b1>b2"), "a1", "b1").why_not_merge
    grown = [a_person("a1", "John Hay", "1690", "1720"), persons[1], son]
    assert "child “Peter Hay” was born in 1730" in compare_people(a_tree(grown, "b1>b2"), "a1", "b1").why_not_merge


def test_two_who_have_a_page_each_in_one_book_are_two() -> None:
    """However similar, and the reason is given; pages of two books may be about one person."""

    def records(second: str) -> Tree:
        pages = {"p1": "zim://one/Philip_Hamilton", "p2": second}
        lived = {"birth": dates_in("22 January 1782")[0].when, "death": dates_in("24 November 1801")[0].when}
        return Tree({one: Person(one, "Philip Hamilton", external={"record": pages[one]}, **lived) for one in pages})  # type: ignore[arg-type]

    (found,) = propose(records("zim://one/Philip_Hamilton_(the_second)"))
    assert found.recommended_action == "separate"
    assert found.why_not_merge == "Each has their own page in the same book."
    assert action_of(records("zim://two/Philip_Hamilton"), "p1", "p2") == "merge"


def test_a_page_that_names_two_people_is_named_by_its_title() -> None:
    """The reason names the page, not its number."""
    evidence = (Evidence("e", "5f3c", "x"),)
    persons = {one: Person(one, "Anne Hyde", sex="female") for one in ("a", "b", "c")}
    ties = tuple(Relationship(one, "parent_of", "c", one, evidence=evidence) for one in ("a", "b"))
    tree = Tree(persons, ties, sources={"5f3c": Source("5f3c", "zim://x/Hyde", "A book", title="Hyde family")})
    assert "“Hyde family” mentions both as two people" in compare_people(tree, "a", "b").why_not_merge


def test_hundreds_of_namesakes_are_shown_with_a_few_each() -> None:
    """Nobody gets thousands of pairs to review, and each person is shown with few others."""
    tree = Tree({f"p{at:03}": Person(f"p{at:03}", "John Smith", birth=dates_in("1700")[0].when) for at in range(40)})
    shown = Counter(person for one in propose(tree) for person in one.candidate_pair)
    assert 0 < max(shown.values()) <= 10


def test_a_separated_pair_is_not_proposed_again() -> None:
    """A pair that may not be linked is never merged, in either order."""
    for pair in (("a3", "b3"), ("b3", "a3")):
        assert action_of(FAMILY, "a3", "b3", separated=[pair]) == "separate"


def test_people_of_one_page_are_two_people() -> None:
    """Evidence from one source for both rules a merge out."""
    evidence = (Evidence("e", "page", "x"),)
    persons = {one: Person(one, "Anne Hyde", sex="female", birth=dates_in("1637")[0].when) for one in ("a", "b", "c")}
    ties = (Relationship("1", "sibling_of", "a", "b", evidence=evidence),)
    tree = Tree(persons, ties)
    assert action_of(tree, "a", "b") == "separate"
    assert action_of(tree, "a", "c") != "merge"


def test_one_record_of_a_source_matches_one_person() -> None:
    """Of two namesakes of one source only the better one is proposed; the other has the reason why not."""
    persons = [
        a_person("a1", "Ermengarde Smithson", "12 May 1811", "3 June 1880", sex="female"),
        a_person("b1", "Ermengarde Smithson", "12 May 1811", "3 June 1880", sex="female"),
        a_person("b2", "Ermengarde Smithson", "1812", sex="female"),
    ]
    tree = a_tree(persons)
    assert action_of(tree, "a1", "b1") == "merge"
    assert action_of(tree, "a1", "b2") == "separate"


def test_two_that_fit_alike_are_left_to_people() -> None:
    """If two candidates fit equally well, none is merged unattended (R396)."""
    persons = [a_person(one, "Ermengarde Smithson", "1811", sex="female") for one in ("a1", "b1", "b2")]
    assert action_of(a_tree(persons), "a1", "b1") not in ("merge", "merge_with_review")


def test_names_alone_merge_nobody() -> None:
    """An unattended merge needs two kinds of evidence, however rare the name."""
    persons = [a_person("a1", "Ethelfleda Quillinan"), a_person("b1", "Ethelfleda Quillinan")]
    assert action_of(a_tree(persons), "a1", "b1") != "merge"


def test_the_same_outside_id_is_the_same_person() -> None:
    """One page of the encyclopaedia is one person, whatever the spelling of the name."""
    persons = [
        a_person("a1", "Queen Victoria", "1819", sex="female", zim="book/Victoria"),
        a_person("b1", "Victoria of the United Kingdom", "24 May 1819", sex="female", zim="book/Victoria"),
    ]
    assert action_of(a_tree(persons), "a1", "b1") == "merge"


def test_a_number_within_a_file_is_not_an_outside_id() -> None:
    """Reference numbers of two files are equal by accident."""
    persons = [a_person("a1", "John Hay", "1700", refn="1"), a_person("b1", "Peter Low", "1700", refn="1")]
    assert action_of(a_tree(persons), "a1", "b1") == "separate"


@pytest.mark.parametrize(
    ("score", "groups", "action"),
    [
        (0.99, 2, "merge"), (0.95, 2, "merge"), (0.99, 1, "merge_with_review"), (0.949, 3, "merge_with_review"),
        (0.80, 2, "merge_with_review"), (0.79, 2, "review"), (0.5, 2, "review"), (0.49, 4, "separate"),
    ],
)  # fmt: skip
def test_the_thresholds_decide(score: float, groups: int, action: str) -> None:
    """From .95 merge, from .80 merge with review, from .5 review, else separate (C7)."""
    assert action_for(score, groups, DEFAULT_SETTINGS) == action


def test_thresholds_out_of_order_are_refused() -> None:
    """Settings that make no sense are reported as such."""
    with pytest.raises(BadSettings, match="not in order"):
        ResolveSettings(merge_at=0.4)


def test_the_order_of_people_and_ties_changes_nothing() -> None:
    """The same tree gives the same proposals, in whatever order it was put together."""
    turned = Tree(dict(list(FAMILY.persons.items())[::-1]), FAMILY.relationships[::-1])
    assert propose(turned) == propose(FAMILY)


def test_an_empty_tree_gives_nothing() -> None:
    """Nothing to compare is not an error."""
    assert propose(Tree({})) == ()
    assert propose(a_tree([a_person("a1", "")])) == ()


DOUBTFUL = a_tree(
    [
        a_person("a1", "Ethelfleda Quillinan", "1801", sex="female"),
        a_person("b1", "Ethelfleda Quillinan", "1803", sex="female"),
    ]
)


def an_opinion(recommendation: str) -> str:
    features = {name: {"score": 0.9, "reason": "x"} for name in ("name", "dates", "places", "relationships")}
    return json.dumps(
        {
            "similarity_score": 1.0, "feature_scores": features, "merge_rationale": "y", "why_not_merge": "z",
            "recommendation": recommendation, "confidence": 1.0,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("word", "action"), [("merge", "merge_with_review"), ("review", "review"), ("separate", "separate")]
)
def test_a_model_moves_a_doubtful_pair_by_one_step(word: str, action: str) -> None:
    """It is shown both records and picks a word; the score stays that of the rules (R279, R392, R397)."""
    before = propose(DOUBTFUL)
    model = ScriptedModel(an_opinion(word))
    after = review_by_model(before, DOUBTFUL, model)
    assert before[0].recommended_action == "review"
    assert after.proposals[0].recommended_action == action
    assert after.proposals[0].similarity_score == before[0].similarity_score
    assert "Ethelfleda Quillinan" in model.asked[0].text


def test_a_model_is_not_asked_about_what_is_sure_or_ruled_out_or_alive() -> None:
    """Neither sure pairs nor vetoes nor people who may live are put to it."""
    model = ScriptedModel()
    review_by_model(propose(FAMILY), FAMILY, model)
    alive = Tree(
        {one: Person(one, p.name, sex=p.sex, birth=p.birth, external=p.external) for one, p in DOUBTFUL.persons.items()}
    )
    review_by_model(propose(alive), alive, model)
    assert model.asked == []


def test_a_model_that_talks_nonsense_changes_nothing() -> None:
    """The result of the rules is kept, and a note says why."""
    before = propose(DOUBTFUL)
    after = review_by_model(before, DOUBTFUL, ScriptedModel("no", "no"))
    assert after.proposals == before
    assert "could not help" in after.notes[0]


def test_a_real_family_in_two_sources(shared_data) -> None:  # type: ignore[no-untyped-def]
    """Of a small real tree, split and damaged, nobody is merged wrongly and most are found."""
    whole = read_gedcom(shared_data / "kin" / "gedcom" / "bach.ged").tree
    figures = measure_tree(split_tree(whole, "test"))
    assert figures["auto_precision"] == 1.0
    assert figures["f1"] > 0.8
