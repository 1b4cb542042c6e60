"""What a brief says in running text: a short summary and parts, in the order of the pages, no sentence twice."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest
from tests.brief.claim_gathering import INTRODUCTION, gather_claims

from kiwiresearch.brief.brief import Brief, Statement, StatementGroup
from kiwiresearch.brief.outline import MIN_LEAD_WORDS, SUMMARY_WORDS
from kiwiresearch.claims.claim import Claim

GOODS = (
    "salt", "wool", "fish", "corn", "tin", "iron", "coal", "flax", "wine", "meat", "oil", "hay", "wood", "bread",
    "cloth", "glass", "beer", "rope", "wax", "silk", "lead", "milk", "honey", "cheese", "pepper", "leather", "copper",
    "amber", "timber", "barley",
)  # fmt: skip


def trade(goods: tuple[str, ...]) -> list[str]:
    """Thirteen sentences with few words in common, of thirteen words each."""
    return [
        f"Old {first} and fresh {second} lay in the {third} house until {fourth} came."
        for first, second, third, fourth in zip(goods, goods[7:], goods[13:], goods[17:], strict=False)
    ]


TRADE = trade(GOODS)
MALARIA = {
    "Malaria": """
        Malaria is a disease of people in warm lands. It is spread by the bites of flies at dusk.
        == Signs ==
        Malaria brings fever, chills and a strong headache. These make it hard to work in the fields.
        == Treatment ==
        The medicines for malaria are:
        * bark of the [[Fever tree]]
        * a tea of sweet wormwood
        * rest in a cool room
        Treatment with bark must begin on the first day of fever. This keeps the patient alive in most cases.
        Doctors give the drug again after a week to cure the disease.
        == History ==
        Malaria was known to the priests of the old kingdom. Kings died in their tents by the river.
    """,
    "Fever tree": """
        The fever tree is a plant of the hills.
        == Use ==
        The bark of the fever tree is a drug for the treatment of [[Malaria]]. The wood is used for boats and carts.
    """,
}
LIST = "The medicines for malaria are: bark of the Fever tree; a tea of sweet wormwood; rest in a cool room."
FROST = f"""
    The Great Frost was a cold winter of the north.
    {INTRODUCTION}
    == Harbours ==
    Thick ice closed the harbours and stopped all ships of the coast.
    Sailors left their ships in the ice and walked home along the coast.
    == Bread ==
    Bakers had no flour, and bread was dear in every town.
    Corn and flour were kept for children, and the poor had no bread.
"""


@pytest.fixture(scope="module")
def whole() -> Brief:
    return gather_claims(MALARIA, topic="Malaria").brief()


@pytest.fixture(scope="module")
def asked() -> Brief:
    return gather_claims(MALARIA, topic="Malaria treatment").brief()


def texts(statements: tuple[Statement, ...]) -> list[str]:
    return [statement.text for statement in statements]


def texts_by_heading(groups: tuple[StatementGroup, ...]) -> dict[str, list[str]]:
    return {group.heading: texts(group.statements) for group in groups}


def words_of(statements: tuple[Statement, ...]) -> int:
    return sum(len(statement.text.split()) for statement in statements)


def statement_claims(brief: Brief) -> list[list[Claim]]:
    """The claims that the summary and each part are worded by."""
    groups = (brief.summary, *(group.statements for group in brief.body))
    return [[brief.claims[one.claims[0]] for one in statements] for statements in groups]


def test_the_summary_has_at_most_180_words() -> None:
    """However long the introduction is, the summary is read in a minute, and most of that minute is used (R95)."""
    lead = "\n".join(("The Great Frost was a cold winter of the north.", *TRADE, INTRODUCTION))
    assert len(lead.split()) > 250
    pages = {"Great Frost": f"{lead}\n== Course ==\nThe Great Frost was long. It was cold."}
    brief = gather_claims(pages, topic="Great Frost").brief()
    assert SUMMARY_WORDS == 180
    assert 160 <= words_of(brief.summary) <= 180


@pytest.mark.parametrize("topic", ["Malaria", "Malaria treatment"])
def test_running_text_is_in_the_order_of_its_page(topic: str) -> None:
    """The best sentences are chosen, and shown in the order in which the page says them (R95)."""
    found = gather_claims(MALARIA, topic=topic)
    brief = found.brief()
    for claims in statement_claims(brief):
        places = [(claim.page_title != "Malaria", claim.quotes[0].start) for claim in claims]
        assert places == sorted(places)
    points = [found.weights.weigh_one(claim).points for claim in statement_claims(brief)[0]]
    assert points != sorted(points, reverse=True)


@pytest.mark.parametrize("topic", ["Malaria", "Malaria treatment"])
def test_a_sentence_that_refers_back_follows_its_predecessor(topic: str) -> None:
    """'This keeps …' is shown only right after the sentence that it refers to."""
    found = gather_claims(MALARIA, topic=topic)
    brief = found.brief()
    sentences = found.weights.sentences
    leaning = 0
    for claims in statement_claims(brief):
        assert not claims[0].depends_on
        for before, claim in pairwise(claims):
            if claim.depends_on:
                leaning += 1
                own = sentences[claim.ref]
                assert own[own.index(claim) - 1] == before
    assert leaning


def test_a_sentence_whose_predecessor_is_elsewhere_is_left_out(whole: Brief) -> None:
    """'These make it hard' cannot open a part after its predecessor went into the summary."""
    assert "Malaria brings fever, chills and a strong headache." in texts(whole.summary)
    assert "Signs" not in texts_by_heading(whole.body)
    assert not [one for one in whole.statements() if one.text.startswith("These make")]


def test_a_pronoun_at_the_start_of_a_section_is_left_out() -> None:
    """Below a heading 'This' has nothing to refer to."""
    pages = {
        "Great Frost": f"{FROST}\n== Roads ==\nThis made all roads of the north white. The carts stood still there."
    }
    brief = gather_claims(pages, topic="Great Frost").brief()
    assert "Harbours" in texts_by_heading(brief.body)
    assert not [one for one in brief.statements() if one.text.startswith("This made")]


@pytest.mark.parametrize("topic", ["Malaria", "Malaria treatment", "History of malaria"])
def test_no_sentence_is_repeated(topic: str) -> None:
    """Each place of a page is shown once in the whole brief, also if a rule replaced its pronoun."""
    pages = dict(MALARIA)
    pages["Malaria"] += (
        "In 1880 doctors found the cause of malaria in the blood. Bad air was once said to cause malaria."
    )
    brief = gather_claims(pages, topic=topic).brief()
    claims = [brief.claims[one.claims[0]] for one in brief.statements()]
    spans = sorted((claim.ref, claim.quotes[0].start, claim.quotes[0].end) for claim in claims)
    assert len(spans) >= 4
    assert not [one for one, other in pairwise(spans) if one[0] == other[0] and other[1] < one[2]]


def test_nothing_is_repeated_in_other_words() -> None:
    """A section that repeats the introduction in nearly the same words adds nothing."""
    again = "The Great Frost was a very cold winter of the whole north."
    pages = {"Great Frost": f"{FROST}\n== Course ==\n{again}\nDeep wells of the hills froze to the ground."}
    brief = gather_claims(pages, topic="Great Frost").brief()
    assert texts_by_heading(brief.body)["Course"] == ["Deep wells of the hills froze to the ground."]


def test_the_introduction_comes_first() -> None:
    """For a topic that is one article its introduction is the summary; sections are left to the parts (R95)."""
    brief = gather_claims({"Great Frost": FROST}, topic="Great Frost").brief()
    lead = ["The Great Frost was a cold winter of the north.", *map(str.strip, INTRODUCTION.strip().splitlines())]
    assert texts(brief.summary) == lead
    assert list(texts_by_heading(brief.body)) == ["Harbours", "Bread"]


def test_a_short_introduction_is_filled_up(whole: Brief) -> None:
    """Behind a short introduction the best sentence of each section follows (R95)."""
    first, second, *rest = statement_claims(whole)[0]
    assert first.text == "Malaria is a disease of people in warm lands."
    assert second.text == "It is spread by the bites of flies at dusk."
    assert [claim.headings for claim in rest] == [("Signs",), ("Treatment",), ("History",)]
    assert words_of(whole.summary[:2]) < MIN_LEAD_WORDS


@pytest.mark.parametrize("heading", ["Etymology", "In popular culture", "Legacy"])
def test_a_summary_takes_nothing_of_minor_sections(heading: str) -> None:
    """Names, honours and films are not what a summary is filled up with."""
    pages = {
        "Great Frost": f"The Great Frost was a cold winter.\n== {heading} ==\nThe Great Frost is in many old songs."
    }
    brief = gather_claims(pages, topic="Great Frost").brief()
    assert texts(brief.summary) == ["The Great Frost was a cold winter."]


def test_with_an_aspect_its_section_comes_first(asked: Brief) -> None:
    """What is below the heading asked for comes first, then other pages, other sections never (R95)."""
    claims = statement_claims(asked)[0]
    assert [claim.headings for claim in claims] == [*[("Treatment",)] * (len(claims) - 1), ("Use",)]
    assert len(claims) == 5
    assert claims[-1].page_title == "Fever tree"
    used = {claim.section for claim in chain(*statement_claims(asked))}
    assert used == {"Treatment", "Use"}


def test_with_an_aspect_the_findings_are_about_it() -> None:
    """Parts have what does not fit into the summary, and each only sentences about what is asked for."""
    more = "\n".join(text.replace("Old", "Treatment with") for text in (*TRADE, *trade(GOODS[::-1])))
    pages = MALARIA | {"Malaria": MALARIA["Malaria"].replace("== History ==", f"{more}\n== History ==")}
    brief = gather_claims(pages, topic="Malaria treatment").brief()
    assert 160 <= words_of(brief.summary) <= SUMMARY_WORDS
    assert list(texts_by_heading(brief.body)) == ["Treatment"]
    assert {claim.headings for claim in statement_claims(brief)[1]} == {("Treatment",)}


def test_an_aspect_of_which_nothing_is_said_gives_no_summary() -> None:
    """If no sentence is about what is asked for, the introduction does not replace it."""
    brief = gather_claims(MALARIA, topic="Malaria economy").brief()
    assert brief.aspect == "economy"
    assert brief.summary == ()
    assert brief.body == ()


def test_a_list_is_one_statement(asked: Brief) -> None:
    """A sentence that ends in a colon is shown with the items below it, and never without them."""
    assert asked.summary[0].text == LIST
    assert not [one for one in asked.statements() if "wormwood" in one.text and one.text != LIST]


def test_sentences_of_other_pages_join_a_part() -> None:
    """What another page says of the topic is in the part that it is most like, after the topic's own page."""
    ships = "The Great Frost held ships of every town in the ice of the harbours, and sailors walked home."
    bread = "The Great Frost left bakers without corn and flour, and the children of the coast without bread."
    pages = {
        "Great Frost": FROST.replace("of the north.", "of the north in [[Varn]] and [[Lund]]."),
        "Varn": f"Varn is a port of the coast.\n== Winter ==\n{ships}",
        "Lund": f"Lund is a town of the plain.\n== Winter ==\n{bread}",
    }
    found = texts_by_heading(gather_claims(pages, topic="Great Frost").brief().body)
    assert list(found) == ["Harbours", "Bread"]
    assert found["Harbours"][-1] == ships
    assert found["Bread"][-1] == bread
    assert [len(part) for part in found.values()] == [3, 3]


@pytest.mark.parametrize(
    "other",
    [
        "Varn lost its ships in the ice of the harbours when the Great Frost came.",
        "The Great Frost is the name of a tavern beside the gate of the old brewery.",
    ],
)
def test_a_page_that_only_mentions_the_topic_joins_no_part(other: str) -> None:
    """A sentence about something else, or one that is like no part, stays out of the parts."""
    pages = {
        "Great Frost": FROST.replace("of the north.", "of the north in [[Varn]]."),
        "Varn": f"Varn is a port of the coast.\n== Winter ==\n{other}",
    }
    found = gather_claims(pages, topic="Great Frost")
    assert other in {claim.text for claim in found.claims}
    assert [len(part) for part in texts_by_heading(found.brief().body).values()] == [2, 2]


def test_a_section_of_one_sentence_is_not_a_part() -> None:
    """A heading above a single sentence is not worth a part."""
    pages = {"Great Frost": f"{FROST}\n== Roads ==\nAll roads of the north were white for weeks."}
    assert list(texts_by_heading(gather_claims(pages, topic="Great Frost").brief().body)) == ["Harbours", "Bread"]


def test_sections_beside_the_point_are_not_a_part() -> None:
    """What films and novels made of the topic is left out."""
    films = "Three films show the roads of the north. A famous novel tells of a driver and his mule."
    pages = {"Great Frost": f"{FROST}\n== In popular culture ==\n{films}"}
    assert list(texts_by_heading(gather_claims(pages, topic="Great Frost").brief().body)) == ["Harbours", "Bread"]


def frost(text: str) -> Brief:
    page = f"The Great Frost was a cold winter.\n{INTRODUCTION}\n{text}"
    return gather_claims({"Great Frost": page}, topic="Great Frost").brief()


def test_a_passage_begins_where_its_paragraph_does() -> None:
    """A sentence from the middle of a paragraph is shown only after those before it, so that it can be followed."""
    passage = [
        "The ice of the Great Frost lay on the harbours of the north for eleven weeks.",
        "Fishermen cut holes and sold herring beside their boats.",
        "The bishop blessed every boat on a Sunday.",
    ]
    other = "Bread was dear in every town of the coast, and bakers mixed bark into the flour."
    (part,) = texts_by_heading(frost(f"== Ice ==\n{' '.join(passage)}\n{other}").body).values()
    chosen = [sentence for sentence in part if sentence in passage]
    assert chosen == passage[: len(chosen)]
    assert len(chosen) != 1


def test_a_long_section_is_split_into_its_subsections() -> None:
    """If most of an article is below one heading, the headings below that are the parts."""
    weather, events = ("ice", "snow", "wind", "fog"), ("began early", "ended late", "killed sheep", "broke trees")
    course = [f"The {one} of the Great Frost {event} in the towns." for one in weather for event in events]
    goods = ("inns", "gold", "fish", "wool", "salt", "wax", "rope", "bees", "nuts", "oats", "peat", "hay", "ale", "tin")
    after = [f"People of town number {number} sold their {one} to buy bread." for number, one in enumerate(goods)]
    found = frost("\n".join(("== History ==", "=== Course ===", *course, "=== Aftermath ===", *after)))
    assert [group.heading for group in found.body] == ["Course", "Aftermath"]


MORE_INTRODUCTION = """
    Wolves came down from the woods and howled beside the walls of small towns.
    Monks at Varn gave soup to beggars, and their cellars were empty before Easter.
    Fires that people lit in barns burned whole streets, since no well gave water.
    Judges closed their courts, and debts that nobody could pay were forgiven in spring.
    Ships from warm countries brought figs and oil, which only rich merchants could buy.
    A queen sold golden rings and sent the money to widows of soldiers.
    Fever followed in summer, and two of three children did not live to see autumn.
"""


def test_the_findings_go_on_with_a_long_introduction() -> None:
    """What the summary has no room for comes first in the findings, without a heading, and in its order."""
    brief = frost(MORE_INTRODUCTION)
    lead = [line.strip() for line in (INTRODUCTION + MORE_INTRODUCTION).splitlines() if line.strip()]
    assert [group.heading for group in brief.body] == [""]
    both = [one.text for one in (*brief.summary, *brief.body[0].statements)]
    assert both == ["The Great Frost was a cold winter.", *lead]
    assert len(brief.summary) > 1
