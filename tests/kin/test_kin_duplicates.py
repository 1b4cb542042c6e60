"""Duplicates within one family: a page that names somebody twice, titles, husbands' names, and places in a family."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kiwiresearch.kin.names import husband_in_title, titles_with_place
from kiwiresearch.kin.resolve.proposal import MergeProposal
from kiwiresearch.kin.resolve.resolver import propose
from kiwiresearch.kin.tree import Evidence, Person, RelationKind, Relationship, Sex, Source, Tree
from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in
from kiwiresearch.messages.message import render
from kiwiresearch.text.dates.mentions import dates_in

PAGES = {page: Source(page, f"zim://book/{page}", "A book", title=f"The page {page}") for page in ("p", "q", "r")}


def person(
    one: str, name: str, born: str = "", died: str = "", *, sex: Sex = "", names: tuple[str, ...] = ()
) -> Person:
    birth, death = (dates_in(text)[0].when if text else None for text in (born, died))
    return Person(one, name, names, sex, birth, death=death, living="deceased")


def tie(
    words: str, kind: RelationKind, snippet: str, start: int, page: str = "p", section: str = "Life"
) -> Relationship:
    """`words` are the ids of both; `start` is where the page says so."""
    first, second = words.split()
    quote = Evidence(f"{page}{start}", page, snippet, start, start + len(snippet), section, "prose")
    return Relationship(f"{words} {kind}", kind, first, second, evidence=(quote,), status="verified")


def proposals(persons: list[Person], *ties: Relationship) -> dict[frozenset[str], MergeProposal]:
    tree = Tree({one.id: one for one in persons}, ties, sources=PAGES)
    return {frozenset(found.candidate_pair): found for found in propose(tree)}


def action(persons: list[Person], *ties: Relationship, pair: str) -> str:
    found = proposals(persons, *ties).get(frozenset(pair.split()))
    return found.recommended_action if found else "separate"


FATHER = person("father", "Charles Hay", "1809", "1882", sex="male")
ANNE = person("anne", "Anne Elizabeth Hay", "2 March 1841", "1851", sex="female")
ANNIE = person("annie", "Annie")
LISTED = tie("father anne", "parent_of", "Anne Elizabeth Hay (2 March 1841 – 1851)", 500, section="Children")


def test_a_name_in_the_text_may_be_somebody_of_the_list() -> None:
    """A page that lists a child and calls her by a pet name elsewhere is shown to a person, with both reasons."""
    told = tie("father annie", "parent_of", "the death of his daughter Annie", 100)
    found = proposals([FATHER, ANNE, ANNIE], LISTED, told)[frozenset({"anne", "annie"})]
    assert found.recommended_action in ("review", "merge_with_review")
    assert "are forms of the same first name" in found.merge_rationale
    assert "both are children of “Charles Hay”, and nothing but a name is known of one" in found.merge_rationale
    assert "“The page p” names both, in different places" in found.why_not_merge


@pytest.mark.parametrize(
    "told",
    [
        tie("father annie", "parent_of", "Annie (died young)", 600, section="Children"),
        tie("father annie", "parent_of", "Children\tAnne Elizabeth Hay (2 March 1841 – 1851), Annie", 490),
    ],
    ids=["entries of one list", "one row"],
)
def test_who_is_listed_together_are_two_people(told: Relationship) -> None:
    """A list or a row names nobody twice."""
    assert action([FATHER, ANNE, ANNIE], LISTED, told, pair="anne annie") == "separate"


def test_other_names_or_dates_on_one_page_are_other_people() -> None:
    """A page that gives two full names or two birth years means two people, wherever it names them."""
    told = tie("father annie", "parent_of", "his other daughter", 100)
    others = person("annie", "Anne Rose Hay", sex="female"), person("annie", "Anne", "1845", sex="female")
    assert [action([FATHER, ANNE, other], LISTED, told, pair="anne annie") for other in others] == ["separate"] * 2


def test_the_person_of_a_page_is_nobody_else_on_it() -> None:
    """Whoever a page is about is not one of the relatives that it names."""
    own = Person("own", "Anne Hay", sex="female", external={"record": "zim://book/p"})
    other = person("other", "Anne", sex="female")
    aunt = person("aunt", "Rose Hay", sex="female")
    ties = (
        tie("aunt own", "sibling_of", "her sister Rose", 10),
        tie("aunt other", "sibling_of", "Rose, whose sister was Anne", 90),
    )
    assert action([own, other, aunt], *ties, pair="other own") == "separate"


GEORGE = person("george", "George III", "1738", "1820", sex="male")
KINGS = [person("fourth", "George IV", "1762", "1830", sex="male"), person("william", "William IV", "1765", sex="male")]
ROYAL_TIES = (
    tie("george fourth", "parent_of", "George IV, son of George III", 10, "q"),
    tie("george william", "parent_of", "William IV, son of George III", 10, "r"),
    tie("george york", "parent_of", "Frederick, Duke of York", 900, section="Issue"),
    tie("fourth brother", "sibling_of", "his brother, Frederick, the Duke of York", 300, "q"),
    tie("william prince", "sibling_of", "his elder brother Prince Frederick, Duke of York", 300, "r"),
)
YORKS = [
    person("york", "Frederick, Duke of York", "16 August 1763", "1827"),
    person("brother", "Frederick, the Duke of York"),
    person("prince", "Prince Frederick, Duke of York"),
]


def test_a_title_in_three_spellings_is_one_man() -> None:
    """The same rank of the same place is a reason of its own, and brothers have the same parents."""
    found = proposals([GEORGE, *KINGS, *YORKS], *ROYAL_TIES)
    for pair in ("york brother", "york prince", "brother prince"):
        proposal = found[frozenset(pair.split())]
        assert proposal.recommended_action != "separate"
        assert "both have the title “Duke of York”" in proposal.merge_rationale


def test_the_next_duke_of_the_same_place_is_another_man() -> None:
    """A namesake with the same title who was born after the other's death, or has another father, stays separate."""
    later = person("later", "Frederick, Duke of York", "1874", sex="male")
    assert action([YORKS[0], later], pair="york later") == "separate"
    undated = person("undated", "Frederick, Duke of York", sex="male")
    other_father = person("edward", "Edward VII", "1841", "1910", sex="male")
    ties = tie("edward undated", "parent_of", "his son Frederick, Duke of York", 10, "q")
    assert action([GEORGE, YORKS[0], other_father, undated], *ROYAL_TIES[2:3], ties, pair="york undated") == "separate"


def test_two_dukedoms_speak_against_a_pair() -> None:
    """The Duke of Sussex is hardly the Duke of York, and the proposal says so."""
    sussex = person("brother", "Frederick, Duke of Sussex")
    ties = ROYAL_TIES[0], ROYAL_TIES[2], ROYAL_TIES[3]
    found = proposals([GEORGE, KINGS[0], YORKS[0], sussex], *ties)[frozenset({"york", "brother"})]
    assert found.recommended_action != "merge"
    assert "Titles differ (“Duke of Sussex” and “Duke of York”)" in found.why_not_merge


def test_a_man_may_be_called_by_the_place_of_his_title() -> None:
    """'His brother Gloucester' is the Duke of Gloucester."""
    king = person("king", "Edward IV", "1442", "1483", sex="male")
    father = person("father", "Richard Plantagenet", "1411", "1460", sex="male")
    dukes = [person("richard", "Richard, Duke of Gloucester"), person("place", "Gloucester")]
    ties = (
        tie("father king", "parent_of", "Edward IV, son of Richard", 10),
        tie("king richard", "sibling_of", "his brother Richard, Duke of Gloucester", 100),
        tie("king place", "sibling_of", "left to his brother Gloucester", 400),
    )
    assert action([king, father, *dukes], *ties, pair="place richard") in ("review", "merge_with_review")


def test_titles_and_husbands_are_read_from_a_name() -> None:
    """A title counts with its place; a woman with a man's first name is called by her husband."""
    assert titles_with_place("Frederick, the 2nd Duke of York") == ("duke of york",)
    assert titles_with_place("The Duke of York") == ("duke of york",)
    assert titles_with_place("Alfred, Duke of Saxe-Coburg and Gotha and Duke of Edinburgh") == (
        "duke of saxe coburg and gotha",
        "duke of edinburgh",
    )
    assert titles_with_place("Prince Alfred") == ()
    assert husband_in_title("The Empress Friedrich, Queen Dowager of Prussia") == "friedrich"
    assert husband_in_title("Mrs. Charles Hay") == "charles"
    assert [husband_in_title(name) for name in ("Queen Mary", "Emperor Friedrich", "Joan")] == ["", "", ""]


QUEEN = person("queen", "Victoria", "1819", "1901", sex="female")
EMPRESS = person("empress", "The Empress Friedrich", sex="female")
PRINCESSES = [person("vicky", "Princess Victoria", "1840", "1901"), person("alice", "Princess Alice", "1843", "1878")]
HUSBANDS = [person("fritz", "Frederick III", "1831", sex="male"), person("louis", "Louis IV", "1837", sex="male")]
EMPRESS_TIES = (
    tie("queen vicky", "parent_of", "Princess Victoria, 1840 – 1901", 500, section="Issue"),
    tie("queen alice", "parent_of", "Princess Alice, 1843 – 1878", 600, section="Issue"),
    tie("queen empress", "parent_of", "her daughter, The Empress Friedrich", 200),
    tie("vicky fritz", "spouse_of", "Princess Victoria married Frederick III", 700),
    tie("alice louis", "spouse_of", "Princess Alice married Louis IV", 800),
)


def test_a_wife_is_found_by_the_name_of_her_husband() -> None:
    """'The Empress Friedrich' is the daughter who married a Frederick, and none of her sisters."""
    persons = [QUEEN, EMPRESS, *PRINCESSES, *HUSBANDS]
    found = proposals(persons, *EMPRESS_TIES)
    proposal = found[frozenset({"empress", "vicky"})]
    assert proposal.recommended_action in ("review", "merge_with_review")
    assert "is called “Friedrich” after her husband, and the other’s husband is “Frederick”" in proposal.merge_rationale
    assert action(persons, *EMPRESS_TIES, pair="empress alice") == "separate"


def inferred(words: str) -> Relationship:
    """A parent whom only the marriage tells, so that the quote names no child."""
    found = tie(words, "parent_of", "Consort\tAlbert", 900)
    return replace(found, evidence=tuple(replace(one, directness="indirect") for one in found.evidence))


def test_a_parent_that_follows_from_a_marriage_lists_no_children_together() -> None:
    """Two names for one daughter are still shown where both have a father whom only the marriage tells."""
    albert = person("albert", "Albert", "1819", "1861", sex="male")
    persons = [QUEEN, albert, EMPRESS, *PRINCESSES, *HUSBANDS]
    fathers = [inferred(f"albert {child}") for child in ("vicky", "alice", "empress")]
    assert action(persons, *EMPRESS_TIES, *fathers, pair="empress vicky") in ("review", "merge_with_review")
    mother = person("mother", "Emma Hay", "1808", "1896", sex="female")
    told = tie("father annie", "parent_of", "the death of his daughter Annie", 100)
    family = [FATHER, mother, ANNE, ANNIE]
    ties = (LISTED, told, inferred("mother anne"), inferred("mother annie"))
    assert action(family, *ties, pair="anne annie") in ("review", "merge_with_review")


def test_a_second_wife_with_a_pet_name_is_shown() -> None:
    """'May' beside 'Mary of Teck': nobody knows more of her than that she married the same man."""
    king = person("king", "George V", "1865", "1936", sex="male")
    wives = [person("may", "May"), person("mary", "Mary of Teck", sex="female")]
    ties = (
        tie("king mary", "spouse_of", "Consort\tMary of Teck", 900, section="Consort"),
        tie("king may", "spouse_of", "After George's marriage to May", 100),
    )
    found = proposals([king, *wives], *ties)[frozenset({"may", "mary"})]
    assert found.recommended_action in ("review", "merge_with_review")
    assert "both are married to “George V”" in found.merge_rationale


def test_a_first_name_alone_merges_no_siblings() -> None:
    """Who is only called by a first name, as somebody's brother or sister, waits for review however well it fits."""
    king = person("king", "Henry VIII", "1491", "1547", sex="male")
    children = [person("edward", "Edward VI", "1537", sex="male"), person("mary", "Mary Tudor", "1516", sex="female")]
    ties = (
        tie("king edward", "parent_of", "Edward VI, son of Henry VIII", 10, "q"),
        tie("king mary", "parent_of", "Mary Tudor, daughter of Henry VIII", 10),
        tie("edward sister", "sibling_of", "his sister Mary", 300, "q"),
    )
    found = proposals([king, *children, person("sister", "Mary")], *ties)[frozenset({"mary", "sister"})]
    assert found.recommended_action == "merge_with_review"
    assert "one is a brother or sister of “Edward VI”, the other a child of the same parents" in found.merge_rationale
    assert "nothing but the first names can be compared" in found.why_not_merge.lower()


def test_a_short_form_joins_no_two_full_names() -> None:
    """'Catherine' on one page makes no Catherine Parr of Catherine of Aragon."""
    king = person("king", "Henry VIII", "1491", "1547", sex="male")
    wives = [
        person("aragon", "Catherine of Aragon", sex="female", names=("Catherine",)),
        person("parr", "Catherine Parr", sex="female"),
    ]
    ties = (
        tie("king aragon", "spouse_of", "his wife Catherine of Aragon", 10, "q"),
        tie("king parr", "spouse_of", "he married Catherine Parr", 10, "r"),
    )
    found = proposals([king, *wives], *ties)[frozenset({"aragon", "parr"})]
    assert found.recommended_action != "merge"
    assert "ther names differ (“Aragon” and “Parr”)" in found.why_not_merge


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_is_in_the_language_of_the_reader(language: str) -> None:
    """Why and why not are messages that each catalogue can write, with the names of the case in them."""
    words = catalogue_in(language)
    told = tie("father annie", "parent_of", "the death of his daughter Annie", 100)
    found = [
        *proposals([FATHER, ANNE, ANNIE], LISTED, told).values(),
        *proposals([GEORGE, *KINGS, *YORKS], *ROYAL_TIES).values(),
        *proposals([QUEEN, EMPRESS, *PRINCESSES, *HUSBANDS], *EMPRESS_TIES).values(),
    ]
    written = [render(reason, words) for one in found for reason in (one.merge_rationale, one.why_not_merge)]
    assert written
    assert None not in written
    assert any("George III" in str(text) for text in written)
    english = [str(reason) for one in found for reason in (one.merge_rationale, one.why_not_merge)]
    assert (written == english) == (language == "en")
