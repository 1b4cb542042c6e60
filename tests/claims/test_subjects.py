"""Whom or what a sentence is about: by its name, or nothing is claimed."""

from __future__ import annotations

import pytest
from tests.claims.claim_examples import BUILDER, CITY, PAINTER, claims_below, texts
from tests.page.pages import a_page

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.evidence import is_on_page

COMPANY = "<p>The Orlan Company is a company in Avonia that makes clocks.</p>"
VOLCANO = "<p>A volcano is an opening in the ground through which lava flows.</p>"
KINGS = "<p>The Stone Kings were a line of rulers in Avonia.</p>"
PAGES = {
    "Norbury": CITY,
    "Peter Lang": BUILDER,
    "Anna Holm": PAINTER,
    "Orlan Company": COMPANY,
    "Volcano": VOLCANO,
    "Stone Kings": KINGS,
}


def lead_texts(title: str, more: str) -> list[str]:
    """The claims of an introduction, behind its first sentence."""
    html = PAGES[title].replace("</p>", f" {more}</p>")
    known = {claim.text for claim in claims_of(a_page(PAGES[title], title=title))}
    return [claim.text for claim in claims_of(a_page(html, title=title)) if claim.text not in known]


@pytest.mark.parametrize(
    ("title", "sentence", "expected"),
    [
        ("Peter Lang", "He moved to Hamburg in 1830.", "Peter Lang moved to Hamburg in 1830."),
        ("Peter Lang", "His last bridge was opened in 1869.", "Peter Lang’s last bridge was opened in 1869."),
        ("Peter Lang", "In 1830 he moved to Hamburg.", "In 1830 Peter Lang moved to Hamburg."),
        ("Peter Lang", "In 1830, he moved to Hamburg.", "In 1830, Peter Lang moved to Hamburg."),
        ("Peter Lang", "However, he moved to Hamburg in 1830.", "Peter Lang moved to Hamburg in 1830."),
        ("Peter Lang", "But he moved to Hamburg in 1830.", "Peter Lang moved to Hamburg in 1830."),
        ("Peter Lang", "Lang moved to Hamburg in 1830.", "Peter Lang moved to Hamburg in 1830."),
        ("Peter Lang", "Lang married Ida Berg, who left him.", "Peter Lang married Ida Berg, who left him."),
        ("Peter Lang", "Lang met Ida Berg, and she married him.", "Peter Lang met Ida Berg, and she married him."),
        ("Anna Holm", "Holm died in July 1850, and she survived him.", "Holm died in July 1850, and she survived him."),
        ("Anna Holm", "She moved to Hamburg in 1830.", "Anna Holm moved to Hamburg in 1830."),
        ("Anna Holm", "Her last picture was sold in 1869.", "Anna Holm’s last picture was sold in 1869."),
        ("Anna Holm", "On June 5, 1830, she moved to Hamburg.", "On June 5, 1830, Anna Holm moved to Hamburg."),
        ("Norbury", "It was founded by monks in 1240.", "Norbury was founded by monks in 1240."),
        ("Norbury", "Its harbour was opened in 1890.", "Norbury’s harbour was opened in 1890."),
        ("Norbury", "The city was founded in 1240.", "Norbury was founded in 1240."),
        ("Norbury", "The city’s harbour was opened in 1890.", "Norbury’s harbour was opened in 1890."),
        ("Norbury", "In 1240 the city was founded by monks.", "In 1240 Norbury was founded by monks."),
        ("Norbury", "The population was 110,000 in 1990.", "Norbury’s population was 110,000 in 1990."),
        (
            "Orlan Company",
            "It was founded by two brothers in 1901.",
            "The Orlan Company was founded by two brothers in 1901.",
        ),
        ("Orlan Company", "The company was founded in 1901.", "The Orlan Company was founded in 1901."),
        ("Orlan Company", "In 1950 it moved to Norbury.", "In 1950 the Orlan Company moved to Norbury."),
        ("Volcano", "It has a crater that is 200 metres wide.", "A volcano has a crater that is 200 metres wide."),
        ("Stone Kings", "They ruled from 1200 to 1300.", "The Stone Kings ruled from 1200 to 1300."),
        ("Stone Kings", "Their capital was burned in 1300.", "The Stone Kings’ capital was burned in 1300."),
    ],
)
def test_a_leading_pronoun_is_replaced_by_its_noun(title: str, sentence: str, expected: str) -> None:
    """He, she, it, they, their possessives and 'the city' are replaced by the name of the page's subject."""
    assert lead_texts(title, sentence) == [expected]


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Peter Lang", "She moved to Hamburg in 1830."),
        ("Peter Lang", "They moved to Hamburg in 1830."),
        ("Peter Lang", "Their ship was wrecked in 1830."),
        ("Peter Lang", "It was opened by the king in 1830."),
        ("Anna Holm", "He moved to Hamburg in 1830."),
        ("Anna Holm", "In 1830 he moved to Hamburg."),
        ("Norbury", "He moved to Hamburg in 1830."),
        ("Norbury", "Her brother moved to Hamburg in 1830."),
        ("Norbury", "They moved to Hamburg in 1830."),
        ("Norbury", "This was rebuilt by monks in 1905."),
        ("Norbury", "These were rebuilt by monks in 1905."),
        ("Norbury", "This tower was rebuilt in 1905."),
        ("Norbury", "These towers were rebuilt in 1905."),
        ("Norbury", "That was rebuilt by monks in 1905."),
        ("Norbury", "Those were rebuilt by monks in 1905."),
        ("Norbury", "Such towers were built until 1905."),
        ("Norbury", "Both were destroyed by fire in 1905."),
        ("Norbury", "Others were destroyed by fire in 1905."),
        ("Norbury", "Another was destroyed by fire in 1905."),
        ("Norbury", "Neither was rebuilt after the fire of 1905."),
        ("Norbury", "The latter was rebuilt by monks in 1905."),
        ("Norbury", "The former was rebuilt by monks in 1905."),
        ("Norbury", "The two towers were rebuilt in 1905."),
        ("Norbury", "We know that Norbury was rebuilt in 1905."),
    ],
)
def test_a_subject_that_cannot_be_named_makes_no_claim(title: str, sentence: str) -> None:
    """A word that refers to nothing the page has named makes no claim."""
    assert lead_texts(title, sentence) == []


@pytest.mark.parametrize(
    ("sentence", "subject"),
    [
        ("The Red Tower was built in 1905.", "The Red Tower"),
        ("An earthquake destroyed the Red Tower in 1905.", "An earthquake"),
        ("Karl Holm and Tom Hill built the Red Tower in 1905.", "Karl Holm and Tom Hill"),
        ("St. Mary's Church was built in 1905.", "St. Mary's Church"),
        ("J. R. Holm was born in Odense in 1905.", "J. R. Holm"),
        ("The United States joined the war in 1917.", "The United States"),
        ("The tower of the abbey was built in 1905.", "The tower of the abbey"),
        ("The Red Tower, which stands on a hill, was built in 1905.", "The Red Tower"),
        ("The Red Tower (also a prison) was built in 1905.", "The Red Tower"),
        ("Some historians argue that the Red Tower was a prison.", "Some historians"),
        ("The Holm family was driven out of the town in 1905.", "The Holm family"),
        ("The water supply of the town was cut in 1905.", "The water supply of the town"),
        ("The regional assembly was founded in 1905.", "The regional assembly"),
        ("The Red Tower soon was sold for 40 crowns in 1905.", "The Red Tower"),
        ("“The town was lost to the sea in 1905,” wrote Karl Holm.", "Karl Holm"),
        ("“The town was lost to the sea in 1905,” wrote J. R.", "J. R."),
        ("“The town was lost to the sea in 1905,” wrote Karl Holm Jr.", "Karl Holm Jr."),
        ("Norbury was founded by monks in 1240.", "Norbury"),
        ("Norbury’s harbour was opened in 1890.", "Norbury"),
        ("Norbury's harbour was opened in 1890.", "Norbury"),
    ],
)
def test_a_subject_that_names_itself_stays(sentence: str, subject: str) -> None:
    """Names, with or without an article, are left unchanged and are what the claim is about."""
    (claim,) = claims_below(f"<p>{sentence}</p>")
    assert (claim.text, claim.subject) == (sentence, subject)


@pytest.mark.parametrize(
    ("sentence", "scope"),
    [
        ("In 753 BC, the Red Tower was built by monks.", "the Red Tower (in 753 BC)"),
        ("In 753 BC Karl Holm built the Red Tower.", "Karl Holm (in 753 BC)"),
        (
            "In the 8th century BCE the first Greek towers were built by monks.",
            "the first Greek towers (in the 8th century BCE)",
        ),
        ("In 1905 ADI was fined 75,000 crowns.", "ADI (in 1905)"),
        (
            "Around 1200 BC, in the great collapse, the Red Tower was lost.",
            "the Red Tower (around 1200 BC, in the great collapse)",
        ),
    ],
)
def test_an_era_is_no_subject(sentence: str, scope: str) -> None:
    """The year before the subject keeps its era, with and without a comma after it."""
    (claim,) = claims_below(f"<p>{sentence}</p>")
    assert claim.scope == scope


@pytest.mark.parametrize(
    "sentence",
    [
        "It is believed that Norbury was founded by monks in 1240.",
        "It is not known whether Norbury was founded in 1240.",
        "It was in 1805 that Norbury lost its oldest church.",
        "It is possible that Norbury was founded in 1240.",
        "There were 40 churches in Norbury in 1805.",
    ],
)
def test_words_that_refer_to_nothing_stay(sentence: str) -> None:
    """The 'it' of 'it is believed that' refers to nothing, and no name replaces it."""
    assert lead_texts("Norbury", sentence) == [sentence]


def test_a_name_may_come_from_the_sentence_before() -> None:
    """An 'it' behind a sentence about something else is that, and the place of its name is quoted as well."""
    html = "<p>The Red Tower was built in 1905. It is a tower of 120 metres. Its roof weighs 20 tonnes.</p>"
    claims = claims_below(html)
    assert [claim.text for claim in claims] == [
        "The Red Tower was built in 1905.",
        "The Red Tower is a tower of 120 metres.",
        "The Red Tower’s roof weighs 20 tonnes.",
    ]
    assert [[quote.text for quote in claim.quotes] for claim in claims] == [
        ["The Red Tower was built in 1905."],
        ["It is a tower of 120 metres.", "The Red Tower"],
        ["Its roof weighs 20 tonnes.", "The Red Tower"],
    ]
    assert {claim.subject for claim in claims} == {"The Red Tower"}


@pytest.mark.parametrize(
    ("by_name", "by_pronoun"),
    [
        ("Norbury was founded in 1240.", "The city was founded in 1240."),
        (
            "The Red Tower was built in 1905. The Red Tower’s roof weighs 20 tonnes.",
            "The Red Tower was built in 1905. Its roof weighs 20 tonnes.",
        ),
    ],
)
def test_a_name_that_was_put_in_lowers_the_confidence(by_name: str, by_pronoun: str) -> None:
    """A claim whose name was put in is less sure than the same claim in the page's own words (R65)."""
    own, put_in = (claims_below(f"<p>{sentences}</p>")[-1] for sentences in (by_name, by_pronoun))
    assert own.text == put_in.text
    assert put_in.confidence < own.confidence


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        (
            "Karl Meyer was his pupil until 1850. He built a bridge near Bremen in 1851.",
            ["Karl Meyer was his pupil until 1850.", "Karl Meyer built a bridge near Bremen in 1851."],
        ),
        (
            "Anna Holm married Lang in 1831. She moved to Berlin with her mother in 1873.",
            ["Anna Holm married Lang in 1831.", "Anna Holm moved to Berlin with her mother in 1873."],
        ),
        (
            "Lang met Karl Meyer in 1850. In 1851 he moved to Bremen.",
            ["Peter Lang met Karl Meyer in 1850.", "In 1851 Peter Lang moved to Bremen."],
        ),
    ],
)
def test_of_two_people_the_one_spoken_of_last_is_meant(paragraph: str, expected: list[str]) -> None:
    """On the page of one person, 'he' behind a sentence about another is the other."""
    assert texts(f"<p>{paragraph}</p>", title="Peter Lang", lead=BUILDER) == expected


def test_at_the_start_of_a_paragraph_a_person_is_the_one_of_the_page() -> None:
    """A 'he' that opens a paragraph, also in a section further down, is whom the page is about."""
    html = "<p>Karl Meyer was born in 1820.</p><p>He moved to Lübeck in the year 1860.</p>"
    assert texts(html, title="Peter Lang", lead=BUILDER) == [
        "Karl Meyer was born in 1820.",
        "Peter Lang moved to Lübeck in the year 1860.",
    ]


def test_further_down_a_thing_is_not_guessed() -> None:
    """An 'it' that opens a paragraph of a later section may be what the section is about, and is not claimed."""
    assert texts("<p>It was built by Danish monks in 1890.</p>") == []
    assert texts("<p>Its roof was burned by soldiers in 1890.</p>") == []


@pytest.mark.parametrize("noun", ["company", "king", "river", "war", "museum", "book"])
def test_a_thing_of_another_kind_is_not_the_page(noun: str) -> None:
    """'The company' on the page of a city is not the city, and is not claimed."""
    assert texts(f"<p>The {noun} was known to all of Europe by 1905.</p>") == []


def test_further_down_the_city_is_still_the_city() -> None:
    """'The city' is the page's subject wherever it is said."""
    assert texts("<p>The city was burned in 1905.</p>") == ["Norbury was burned in 1905."]


@pytest.mark.parametrize("part", ["inner", "old", "neighbouring", "first"])
def test_another_city_or_a_part_of_it_is_not_the_city(part: str) -> None:
    """'The inner city was burned' does not say that the city was."""
    assert "Norbury was burned in 1905." not in texts(f"<p>The {part} city was burned in 1905.</p>")


def test_the_kind_of_a_name_right_before_is_that_name() -> None:
    """'The fort' behind a sentence that names a fort is that fort; alone it is nothing."""
    assert texts("<p>Fort Karl stands near Norbury. The fort was built in 1905.</p>") == [
        "Fort Karl was built in 1905."
    ]
    assert texts("<p>The fort was built in 1905.</p>") == []


def test_items_of_a_list_do_not_name_what_the_next_one_is_about() -> None:
    """A pronoun is not followed from one item of a list to another."""
    html = "<ul><li>The Red Tower was built in 1905.</li><li>It was burned by soldiers in 1950.</li></ul>"
    assert texts(html) == ["The Red Tower was built in 1905."]


def test_another_subject_in_between_ends_the_search() -> None:
    """An 'it' is not what was spoken of before something else came between."""
    html = (
        "<p>The Red Tower was built in 1905. Many people came to see the feast. It was burned by soldiers in 1950.</p>"
    )
    assert texts(html) == ["The Red Tower was built in 1905."]


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Mercury (planet)", "Mercury"),
        ("Mercury", "Mercury"),
        ("Red Tower (Norbury)", "Red Tower"),
    ],
)
def test_a_bracket_behind_the_title_is_not_part_of_the_name(title: str, subject: str) -> None:
    """What a title has in brackets at its end distinguishes pages and is not a part of the name."""
    lead = f"<p>{subject} is a planet without any moons. It was first seen by Karl Holm in 1639.</p>"
    page = a_page(lead, title=title)
    second = claims_of(page)[-1]
    assert (second.text, second.subject) == (f"{subject} was first seen by Karl Holm in 1639.", subject)
    assert all(is_on_page(quote, page) for quote in second.quotes)
