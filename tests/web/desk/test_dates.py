"""The dates of a run are written in the language of the reader, whatever their form."""

from __future__ import annotations

import copy
import itertools
import re

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun
from tests.web.desk.page_text import texts_of

from kiwiresearch.brief.brief import Statement, TimelineMoment
from kiwiresearch.brief.timeline_picture import DAYS_PER_YEAR, WIDTH, YEAR_ZERO, ago_text, timeline_picture, year_text
from kiwiresearch.claims.claim import ClaimId
from kiwiresearch.document.svg import BRIEF_FONT
from kiwiresearch.messages.catalogue import Catalogue, catalogue_in
from kiwiresearch.text.dates.calendar import years
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange, DateText
from kiwiresearch.web.desk.translations import date_markup

TOLD = [
    ("c. 1200 BC", "vers 1200 av. J.-C.", "hacia 1200 a. C."),
    ("AD 79–81", "79–81 apr. J.-C.", "79–81 d. C."),
    ("1914–1918", "1914–1918", "1914–1918"),
    ("between 1200 and 1150 BC", "entre 1200 et 1150 av. J.-C.", "entre 1200 y 1150 a. C."),
    ("from 1000 to 1500", "de 1000 à 1500", "de 1000 a 1500"),
    ("late 14th century", "fin du XIVe siècle", "finales del siglo XIV"),
    ("until the early 1960s", "jusqu’au début des années 1960", "hasta principios de los años 1960"),
    (
        "before the end of the 1st century BC",
        "avant la fin du Ier siècle av. J.-C.",
        "antes de fines del siglo I a. C.",
    ),
    (
        "late 14th – early 15th century",
        "fin du XIVe siècle – début du XVe siècle",
        "finales del siglo XIV – principios del siglo XV",
    ),
    ("after 1 June 1944", "après le 1er juin 1944", "después del 1 de junio de 1944"),
    ("5 June – 9 July 1944", "5 juin – 9 juillet 1944", "5 de junio – 9 de julio de 1944"),
    ("until summer 1944", "jusqu’à l’été 1944", "hasta el verano de 1944"),
    ("3rd millennium BC", "IIIe millénaire av. J.-C.", "III milenio a. C."),
    ("c. 4.5 billion years ago", "il y a environ 4,5 milliards d’années", "hace alrededor de 4500 millones de años"),
    ("between 12,000 and 10,000 years ago", "il y a entre 12 000 et 10 000 ans", "hace entre 12 000 y 10 000 años"),
    ("5 May 1642 (Old Style)", "5 mai 1642 (calendrier julien)", "5 de mayo de 1642 (calendario juliano)"),
    ("early April 1914", "début d’avril 1914", "principios de abril de 1914"),
    ("before late August 1914", "avant la fin d’août 1914", "antes de finales de agosto de 1914"),
    ("2.01 billion years ago", "il y a 2,01 milliards d’années", "hace 2010 millones de años"),
    ("c. 1 million years ago", "il y a environ 1 million d’années", "hace alrededor de 1 millón de años"),
]


@pytest.mark.parametrize(("english", "french", "spanish"), TOLD, ids=lambda one: one)
def test_a_date_is_written_as_in_the_language(english: str, french: str, spanish: str) -> None:
    """Articles, eras, centuries and long periods."""
    when = dates_in(f"It happened in {english}.")[0].when
    rows = [re.sub(r"[\u00a0\u202f]", " ", when.words(language)) for language in ("en", "fr", "es")]
    assert rows == [english, french, spanish]


LEADS = ("", "c. ", "before ", "after ", "until ", "since ")
TIMES = (
    *("1914", "1200 BC", "AD 79", "10,000 BC", "5 June 1944", "15 March 44 BC", "June 1944", "winter 1944", "mid-1944"),
    *("late June 1944", "the 1960s", "the early 1960s", "the 1340s BC", "the 1800s", "the 12th century"),
    *("the 1st century BC", "the 3rd millennium BC", "the mid-14th century", "the beginning of the 14th century"),
    *("the end of the 14th century", "the first half of the 14th century", "the second half of the 14th century"),
    *("the first quarter of the 14th century", "the last quarter of the 14th century", "the turn of the 20th century"),
    *("66 million years ago", "12,000 years ago", "1.5 million years ago"),
)
PAIRS = (
    *("1200–1150 BC", "200 BC – AD 50", "5–9 June 1944", "June – July 1944", "June 1944 – May 1945", "1960s–1970s"),
    *("the 14th and 15th centuries", "between the 12th century and the 13th century"),
)
MONTHS = "January|February|April|June|July|August|September|October|November|December|winter|spring|summer|autumn"
ENGLISH = re.compile(
    rf"\b(?:the|and|to|of|BC|AD|early|late|mid|{MONTHS}|[a-z]*(?:century|centuries|ago|years)|before|after|until|since"
    r"|[0-9]+s)\b|\bc\."
)


@pytest.mark.parametrize("language", ["fr", "es"])
def test_every_form_of_a_date_is_translated(language: str) -> None:
    """Whatever is read from a page as a date has words in the language of the reader."""
    texts = [*PAIRS, *map("".join, itertools.product(LEADS, TIMES))]
    values = {
        one.when.words(): one.when.words(language) for text in texts for one in dates_in(f"It happened in {text}.")
    }
    assert len(values) > 150
    assert [form for form, words in values.items() if not words or ENGLISH.search(words)] == []


def test_words_that_are_not_a_date_are_shown_unchanged() -> None:
    """They are marked as English."""
    text = "at the <dawn> of time"
    assert date_markup(text, catalogue_in("fr")) == '<span lang="en" dir="ltr">at the &lt;dawn&gt; of time</span>'
    assert date_markup(text, catalogue_in("en")) == "at the &lt;dawn&gt; of time"
    assert date_markup("", catalogue_in("fr")) == ""


def test_a_date_in_english_words_still_knows_its_days() -> None:
    """However it is copied on its way to a page."""
    text = copy.deepcopy(DateText(dates_in("It happened in late 1944.")[0].when))
    assert text == "late 1944"
    assert date_markup(text, catalogue_in("fr"), is_head=True) == "Fin de 1944"


@pytest.mark.parametrize(
    ("language", "marks"),
    [
        ("en", "1200 BC, 12,000 BC, AD 79, 1066, 3.5 billion years ago, 40,000 years ago, today"),
        (
            "fr",
            "1200 av. J.-C., 12 000 av. J.-C., 79 apr. J.-C., 1066, "
            "il y a 3,5 milliards d’années, il y a 40 000 ans, aujourd’hui",
        ),
    ],
)
def test_years_below_a_picture_are_not_written_as_counts(language: str, marks: str) -> None:
    """Four digits are not separated, however counts are written."""
    words = catalogue_in(language)
    dates = [year_text(year, words) for year in (-1200, -12_000, 79, 1066)]
    ages = [ago_text(ago, words) for ago in (3_500_000_000, 40_000, 0)]
    assert ", ".join([*dates, *ages]).replace("\u202f", " ").replace("\u00a0", " ") == marks


def a_moment(year: int, words: Catalogue) -> TimelineMoment:
    day = round(YEAR_ZERO + year * DAYS_PER_YEAR)
    when = DateRange(*years(year, year), calendar="julian").words(words.language)
    return TimelineMoment(when, day, day, Statement("It happened.", (ClaimId("claim"),), "hedged"))


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_dates_below_a_picture_do_not_run_into_each_other(language: str) -> None:
    """French, whose words are long, has fewer of them; the others keep all."""
    words, counts = catalogue_in(language), set()
    for last in range(-1150, -100, 50):
        moments = [a_moment(year, words) for year in (-1200, -1190, last)]
        marks = LexborHTMLParser(timeline_picture(moments, words)).css("svg text.date")
        spans = [
            (float(mark.attributes["x"] or 0) + side * BRIEF_FONT.width(mark.text()) / 2)
            for mark in marks
            for side in (-1, 1)
        ]
        assert len(marks) > 1
        assert spans == sorted(spans)
        assert -0.1 <= spans[0] <= spans[-1] <= WIDTH + 0.1
        counts.add(len(marks) - timeline_picture(moments).count('class="date"'))
    assert (counts == {0}) is (language != "fr")


def test_the_description_of_a_picture_has_no_stray_spaces() -> None:
    """Labels end with a colon, and French has a space before it; the sentence about the picture has its own."""
    words = catalogue_in("fr")
    moments = [a_moment(-1200, words), a_moment(-500, words)]
    drawn = timeline_picture(moments, words).replace("\u00a0", " ")
    assert ">De 1200 av. J.-C. à 500 av. J.-C. : 2 événements, dont 2 avec étiquette.</desc>" in drawn
    assert texts_of(LexborHTMLParser(drawn), "a > title")[0] == "1200 av. J.-C. : It happened."


@pytest.mark.parametrize(("language", "era", "kind"), [("fr", "av. J.-C.", "durée"), ("es", "a. C.", "duración")])
def test_no_page_of_a_run_dates_in_english(
    a_run: ARun, browser: httpx2.Client, language: str, era: str, kind: str
) -> None:
    """Neither the timeline, listed and drawn, nor the brief, nor the numbers and what they measure."""
    pages = {
        tab: LexborHTMLParser(browser.get(f"/runs/{a_run.id}{tab}", headers={"Accept-Language": language}).text)
        for tab in ("", "/timeline?which=all", "/numbers?which=all")
    }
    listed = {
        "brief": texts_of(pages[""], ".moments .stated > b"),
        "list": texts_of(pages["/timeline?which=all"], ".moments .when"),
        "picture": [label.partition(":")[0] for label in texts_of(pages["/timeline?which=all"], "svg text.name")],
        "numbers": texts_of(pages["/numbers?which=all"], "table.numbers td:nth-child(4)"),
    }
    for place, dates in listed.items():
        assert any(era in date.replace("\u00a0", " ") for date in dates), place
        assert [date for date in dates if ENGLISH.search(date)] == [], place
    assert all(not date[:1].islower() for date in listed["brief"] + listed["list"])
    kinds = texts_of(pages["/numbers?which=all"], "table.numbers td:nth-child(2)")
    assert kind in kinds
    assert "duration" not in kinds
    sections = [words for page in pages.values() for words in texts_of(page, "cite .quiet, .evidence p span")]
    box = catalogue_in(language)("desk.box")
    assert any(box in words for words in sections)
    assert box == "infobox" or not any("infobox" in words for words in sections)
