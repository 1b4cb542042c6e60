"""What a sentence has to do with the topic: is it about the thing, and about the side of it that is asked for?"""

from __future__ import annotations

import pytest
from tests.brief.claim_gathering import GatheredClaims, gather_claims

from kiwiresearch.brief.relevance import MIN_LOG_ODDS, feature_weights, sentence_filter_for, sentences_on
from kiwiresearch.claims.claim import Claim
from kiwiresearch.crawl.step import StartStep
from kiwiresearch.page.parser import page_from_text


def the(found: GatheredClaims, words: str) -> Claim:
    """The claim with some words, as the page has them."""
    (claim,) = [claim for claim in found.claims if words in claim.text and not claim.inserted_name_from]
    return claim


def is_about(found: GatheredClaims, words: str) -> bool:
    return found.weights.relevance.is_about(the(found, words))


def signs(found: GatheredClaims, words: str) -> dict[str, float]:
    return {term.signal: term.points for term in found.weights.relevance.aspect_score(the(found, words)).terms}


def test_a_short_name_means_the_thing_where_the_page_links_to_it() -> None:
    """'Mercury' on a page that links to Mercury is the metal; on one that does not, it may be a god."""
    pages = {
        "Mercury": "Mercury is a metal that flows.\n== Use ==\nIt is used in [[Thermometer]] and [[Temple]] paint.",
        "Thermometer": "A thermometer shows heat with [[Mercury]].\n== Parts ==\nThe glass tube holds mercury and air.",
        "Temple": "A temple is a house of a god.\n== Gods ==\nThe priests of Mercury led a war against Varn in 1431.",
    }
    found = gather_claims(pages, topic="Mercury")
    assert is_about(found, "glass tube holds mercury")
    assert not is_about(found, "priests of Mercury")
    assert not any("priests" in one.text for one in found.brief().statements())


def test_other_senses_of_a_name_are_left_out() -> None:
    """A brief on the metal says nothing of the planet, though its pages link to it and both have one name."""
    pages = {
        "Mercury (metal)": """
            Mercury is a metal. It is not [[Mercury (planet)]].
            == Use ==
            Mercury is in [[Thermometer]]s.
        """,
        "Mercury (planet)": """
            Mercury is a planet, not the [[Mercury (metal)]].
            == Orbit ==
            Mercury has no moons at all.
        """,
        "Thermometer": "A thermometer shows heat with [[Mercury (metal)]].\n== Sky ==\nThe planet has a hot day.",
    }
    found = gather_claims(pages, topic="Mercury", focus="metal")
    brief = found.brief()
    assert (brief.head, brief.senses) == ("Mercury (metal)", ("Mercury (planet)",))
    assert "Mercury (planet)" not in {source.title for source in brief.sources.pages}
    assert not any("moons" in one.text for one in brief.statements())


def test_a_name_of_several_words_needs_no_link() -> None:
    """'Great Frost' is unique, on whatever page it is."""
    pages = {
        "Great Frost": "The Great Frost was a cold winter.\n== Towns ==\nIt came to [[Varn]].",
        "Varn": "Varn is a town on the coast.\n== Winter ==\nThe Great Frost closed the harbour of Varn in 1431.",
    }
    found = gather_claims(pages, topic="Great Frost")
    assert is_about(found, "closed the harbour")


def test_a_page_that_does_not_name_the_thing_is_not_about_it() -> None:
    """All of the thing's own page is about it; elsewhere a sentence has to name it, also where the page links to it."""
    pages = {
        "Great Frost": "The Great Frost was a cold winter.\n== Towns ==\nAll harbours of [[Varn]] were closed in 1431.",
        "Varn": "Varn is a town of the [[Great Frost]].\n== Trade ==\nRaiders burnt the old harbour in 1350.",
    }
    found = gather_claims(pages, topic="Great Frost")
    assert is_about(found, "All harbours")
    assert not is_about(found, "Raiders burnt")


@pytest.mark.parametrize(
    ("sentence", "about"),
    [
        ("World War I ended the trade of Varn in 1918.", True),
        ("Trade of Varn grew after World War I’s end in 1919.", True),
        ("World War II ended the trade of Varn in 1945.", False),
        ("A world war I know of ended the trade of Varn in 1700.", False),
        ("The War of Varn ended the trade of the north in 1431.", False),
    ],
)
def test_a_longer_name_is_another_name(sentence: str, *, about: bool) -> None:
    """'World War I' is not named by 'World War II', nor by small letters."""
    pages = {
        "World War I": "World War I was a war of many states.\n== Towns ==\nIt was felt in [[Varn]].",
        "Varn": f"Varn is a town of the coast.\n== Trade ==\n{sentence}",
    }
    found = gather_claims(pages, topic="World War I")
    assert is_about(found, sentence) is about


def test_a_name_inside_the_title_of_another_page_is_another_name() -> None:
    """'Holy Roman Empire' does not name the Roman Empire, but an 'Emperor Penguin' is a penguin."""
    pages = {
        "Roman Empire": "The Roman Empire was a state.\n== Heirs ==\nOne was the [[Holy Roman Empire]].",
        "Holy Roman Empire": """
            The Holy Roman Empire was a state of the north, unlike the [[Roman Empire]].
            == Fall ==
            It is unclear who caused the end of its law.
            The Holy Roman Empire ended in 1806.
            The Roman Empire had ended in 476.
        """,
    }
    found = gather_claims(pages, topic="Roman Empire")
    assert not is_about(found, "Holy Roman Empire ended")
    assert is_about(found, "had ended in 476")
    assert found.brief().gaps == ()
    birds = {
        "Penguin": "A penguin is a bird of the sea.\n== Kinds ==\nOne is the [[Emperor Penguin]].",
        "Emperor Penguin": "An emperor penguin is a large [[Penguin]].\n== Names ==\nOlin Marr named it in 1845.",
    }
    assert is_about(gather_claims(birds, topic="Penguin"), "Olin Marr")


def test_a_sentence_is_like_the_topic_by_its_name_or_its_introduction() -> None:
    """On another page, what neither names the thing nor is similar to what introduces it may be about anything."""
    pages = {
        "Snow": """
            Snow is frozen water that falls from cold clouds.
            Many fear it, such as those of [[Varn]].
            == Prices ==
            The price of new maps led to a revolt of carriers in 1430.
        """,
        "Varn": """
            Varn is a town below hills with much [[Snow]].
            == Causes ==
            Cold clouds let frozen water fall in 1431.
            The price of old maps led to a revolt of drivers in 1432.
            Drivers of mules feared snow in 1433.
        """,
    }
    found = gather_claims(pages, topic="Snow")
    is_like_topic = found.weights.relevance.is_like_topic
    assert is_like_topic(the(found, "Cold clouds let"))
    assert is_like_topic(the(found, "feared snow"))
    assert not is_like_topic(the(found, "price of old maps"))
    assert is_like_topic(the(found, "price of new maps")), "its own page"


@pytest.mark.parametrize(
    ("sentence", "about"),
    [
        ("Volcanoes threw ash on the town in 1431.", True),
        ("Ash of the volcano fell on the town in 1431.", True),
        ("A volcanic wind brought ash to the town in 1431.", False),
    ],
)
def test_a_name_counts_in_the_plural(sentence: str, *, about: bool) -> None:
    """The plural names the thing, and small letters do for a common word; another word of its family does not."""
    pages = {
        "Volcano": "A volcano is a hill that throws out ash.\n== Towns ==\nMany are near [[Varn]].",
        "Varn": f"Varn is a town of the coast below a [[Volcano]].\n== Ash ==\n{sentence}",
    }
    assert is_about(gather_claims(pages, topic="Volcano"), sentence) is about


def test_below_its_name_all_is_about_the_thing() -> None:
    """A heading or a title with the name applies to what is below it, and other sections stay out."""
    pages = {
        "Great Frost": "The Great Frost was a cold winter of [[Songs of the Great Frost|songs]] in [[Varn]].",
        "Varn": """
            Varn is a town on the coast.
            == The Great Frost ==
            All ships of the town were lost in 1431.
            == Trade ==
            All carts of the town were sold in 1500.
        """,
        "Songs of the Great Frost": "Drivers sang the first of them on the road in 1440.\n== Use ==\nNone.",
    }
    found = gather_claims(pages, topic="Great Frost")
    assert is_about(found, "All ships")
    assert not is_about(found, "All carts")
    assert is_about(found, "Drivers sang")


ECONOMY = {
    "Japan": """
        Japan is a country of many islands near [[Korea]].
        == Economy ==
        Makers of cars and ships sell most of their goods to other lands.
        == Sport ==
        Wrestlers of great weight are loved by old and young people there.
    """,
    "Korea": """
        Korea is a country of the east.
        == Economy ==
        Cars and ships are the goods that are sold most to other lands.
        Fishers of the islands meet those of [[Japan]] on the sea at night.
    """,
}


def test_the_heading_of_another_page_does_not_count() -> None:
    """'Economy' on the page of another country is not the economy that is asked for."""
    found = gather_claims(ECONOMY, topic="Economy of Japan")
    relevance = found.weights.relevance
    assert (relevance.head, relevance.aspect) == ("Japan", "Economy")
    own, other = signs(found, "Makers of cars"), signs(found, "Fishers of the islands")
    assert own["aspect in heading"] > 0
    assert "aspect in heading" not in other
    assert "heading like the aspect" not in other
    assert relevance.is_on_aspect(the(found, "Makers of cars"))
    assert not relevance.is_on_aspect(the(found, "Fishers of the islands"))
    assert not [claim for claim in found.claims if "are sold most" in claim.text and relevance.is_about(claim)]


def test_another_section_is_not_asked_for() -> None:
    """On the topic's own page what is below another heading is about the topic, but not about its aspect."""
    found = gather_claims(ECONOMY, topic="Economy of Japan")
    assert is_about(found, "Wrestlers")
    assert not found.weights.relevance.is_on_aspect(the(found, "Wrestlers"))
    assert not any("Wrestlers" in one.text for one in found.brief().statements())


def test_without_a_side_all_of_the_thing_is_asked_for() -> None:
    """A topic that is the thing itself asks for all of it, and nothing is scored."""
    relevance = gather_claims(ECONOMY, topic="Japan").weights.relevance
    claims = [claim for claim in gather_claims(ECONOMY, topic="Japan").claims if claim.page_title == "Japan"]
    assert len(claims) >= 3
    assert all(map(relevance.is_on_aspect, claims))
    assert not any(relevance.aspect_score(claim).terms for claim in claims)


CAMPAIGNS = {
    "Olin Marr": """
        Olin Marr was a leader of the drivers.
        == Campaigns in South Africa ==
        The first campaign against the tolls was led from a farm. Marr began a campaign of marches to the mines.
        == Later campaigns ==
        Salt and tolls were the cause of a campaign that was led from a tent. Fasts in the prison became known.
    """,
}


def test_names_in_the_aspect_are_needed() -> None:
    """Of campaigns 'in South Africa' later ones are none, however alike their words are."""
    found = gather_claims(CAMPAIGNS, topic="Olin Marr's campaigns in South Africa")
    relevance = found.weights.relevance
    assert (relevance.head, relevance.aspect) == ("Olin Marr", "campaigns in South Africa")
    farm, tent = the(found, "from a farm"), the(found, "from a tent")
    assert (relevance.is_on_aspect(farm), relevance.is_on_aspect(tent)) == (True, False)
    assert not relevance.is_on_aspect(tent, -100.0)  # whatever else speaks for it


def test_without_a_name_in_the_aspect_both_are_meant() -> None:
    """All campaigns are shown if no place is asked for."""
    found = gather_claims(CAMPAIGNS, topic="Olin Marr's campaigns")
    values = {one.text for one in found.brief().statements()}
    assert any("from a farm" in text for text in values)
    assert any("from a tent" in text for text in values)


def test_more_log_odds_can_be_wanted() -> None:
    """What is about the aspect as usual is not, where more is wanted than its score."""
    found = gather_claims(ECONOMY, topic="Economy of Japan")
    relevance, claim = found.weights.relevance, the(found, "Makers of cars")
    total = relevance.aspect_score(claim).total
    assert relevance.is_on_aspect(claim, total - MIN_LOG_ODDS - 0.01)
    assert not relevance.is_on_aspect(claim, total - MIN_LOG_ODDS + 0.01)


def test_other_pages_say_only_what_names_the_thing() -> None:
    """Sentences of no type are claims on the thing's own page, in introductions, and where they name it."""
    plain = "Wooden doors of the houses are painted in blue."
    named = "Wooden boats of the Great Frost lie on the beach."
    pages = {
        "Great Frost": f"The Great Frost was a cold winter.\n== Towns ==\n{plain} It came to [[Varn]] then.",
        "Varn": f"Varn is a town on the coast.\n== Houses ==\nOld walls of the harbour stand in the water. {named}",
    }
    texts = {claim.text for claim in gather_claims(pages, topic="Great Frost").claims if claim.type == "statement"}
    assert {plain, named} <= texts
    assert "Old walls of the harbour stand in the water." not in texts


def test_sentences_are_in_the_order_of_their_page() -> None:
    """Each place of a page is one sentence in its own words; names that rules put in are left out."""
    text = "The Great Frost was a cold winter. It was caused by ash from the hills.\n== End ==\nIce was gone by May."
    found = gather_claims({"Great Frost": text}, topic="Great Frost")
    ((_, claims),) = sentences_on(found.claims[::-1]).items()
    assert [claim.text for claim in claims][:2] == [
        "The Great Frost was a cold winter.",
        "It was caused by ash from the hills.",
    ]
    assert not [claim for claim in claims if claim.inserted_name_from]


def test_each_sign_has_its_weight() -> None:
    """Every line of a score is one of the weights; what speaks against a sentence takes away."""
    known = feature_weights()["aspect"]
    found = gather_claims(CAMPAIGNS, topic="Olin Marr's campaigns in South Africa")
    lines = [line for claim in found.claims for line in found.weights.relevance.aspect_score(claim).terms]
    assert lines
    assert {term.signal for term in lines} <= set(known)
    assert known["before anything is known"] < 0 < known["aspect in heading"]


@pytest.mark.parametrize(("language", "is_wanted"), [("eng", True), ("fra", False)])
def test_a_name_is_abbreviated_as_its_language_does(language: str, is_wanted: bool) -> None:
    """'UN' is the United Nations in English; in French it is the word for one."""
    started = StartStep("United Nations", "", False, (), (), (), (), head="United Nations")
    wanted = sentence_filter_for(started, page_from_text("Un port.", "Port", language))
    assert wanted("UN PORT DE LA MER", ("Histoire",)) is is_wanted
    assert wanted("The United Nations met.", ("Histoire",))


def test_a_section_that_names_the_thing_again_and_again_is_about_it() -> None:
    """On a page about what else the topic names, all sentences of such a section count, and no others."""
    america = """
        Ships brought captives to the ports of Norland. Law made them property in Norland for life.
        Planters of the south grew cotton. Norland banned the trade in 1808. Families were torn apart at auctions.
    """
    rome = "Rich men of Rome owned farms with many captives. Captives worked in the mines of Rome."
    pages = {
        "Norland": "Norland is a country. See [[Slavery]].",
        "Slavery": f"Slavery is forced work.\n== New world ==\n{america}\n== Old world ==\n{rome}\nSee [[Norland]].",
    }
    made = gather_claims(pages, topic="Slavery in Norland")
    about = [claim.text for claim in made.claims if made.weights.relevance.is_about(claim)]
    assert "Families were torn apart at auctions." in about
    assert "Planters of the south grew cotton." in about
    assert not [text for text in about if "Rome" in text]
