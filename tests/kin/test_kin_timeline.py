"""The events of a family are in the order of time, and ages are as exact as the dates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kin.families import Making, vale_family, when

from kiwiresearch.kin.timeline import Age, age_at, timeline
from kiwiresearch.text.dates.calendar import astronomical_year, day_at, day_number
from kiwiresearch.text.dates.ranges import DateRange


@pytest.mark.parametrize(
    ("birth", "then", "expected"),
    [
        ("12 February 1809", "19 April 1882", "73"),
        ("12 February 1809", "12 February 1882", "73"),
        ("12 February 1809", "11 February 1882", "72"),
        ("1809", "19 April 1882", "72 or 73"),
        ("1809", "1882", "72 or 73"),
        ("before 1800", "1850", "at least 49"),
        ("1800", "before 1850", "at most 50"),
        ("after 1800", "1850", "at most 50"),
        ("before 1800", "before 1850", ""),
        ("c. 1770", "3 March 1801", "27 to 33"),
        ("100 BC", "15 March 44 BC", "55 or 56"),
        ("63 BC", "AD 14", "75 or 76"),
        ("1850", "1840", "before birth"),
        ("29 February 1600", "28 February 1601", "0"),
        ("between 1200 and 1210", "1250", "39 to 50"),
    ],
)
def test_ages_are_as_exact_as_their_dates(birth: str, then: str, expected: str) -> None:
    """An age is a range if a date is one, has no bound if a date has none, and there is no year 0."""
    assert age_at(when(birth), when(then)).words() == expected


def test_an_old_birthday_is_counted_in_its_own_calendar() -> None:
    """Somebody born and dead on the same day of the Julian calendar lived whole years."""
    first, last = (day_number(year, 2, 28, "julian") for year in (1500, 1570))
    born = DateRange(first, first, "day", calendar="julian")
    died = DateRange(last, last, "day", calendar="julian")
    assert age_at(born, died) == Age(70, 70)


days = st.integers(1_500_000, 2_470_000)


@given(days, days, st.integers(0, 2000), st.integers(0, 2000))
def test_the_true_age_lies_within(born: int, died: int, earlier: int, later: int) -> None:
    """Whatever day within the ranges is the true one, the age of that day lies between the bounds."""
    exact = age_at(DateRange(born, born, "day"), DateRange(died, died, "day"))
    assert exact.least == exact.most
    wide = age_at(DateRange(born - earlier, born + later), DateRange(died - later, died + earlier))
    assert exact.least is not None
    assert wide.least is not None
    assert wide.most is not None
    assert wide.least <= exact.least <= wide.most
    first, last = day_at(born, "gregorian"), day_at(died, "gregorian")
    assert abs(exact.least - (astronomical_year(last.year) - astronomical_year(first.year))) <= 1


def test_the_timeline_of_a_family() -> None:
    """Births, weddings and deaths of all people come in their order, with the parents' ages at a birth."""
    case = vale_family()
    events = timeline(case.tree)
    names = {one: person.name for one, person in case.tree.persons.items()}
    text = [f"{event.when.words()} {event.kind} {' & '.join(names[one] for one in event.people)}" for event in events]
    assert text == [
        "c. 1770 birth Josiah Vale",
        "1779 birth Ruth Orchard",
        "3 March 1801 birth Edmund Vale",
        "1825 marriage Edmund Vale & Miriam Ashdown",
        "June 1827 birth Clara Vale",
        "1829 birth Josiah Vale",
        "before 1830 death Ruth Orchard",
        "1848 marriage Edmund Vale & רבקה לוי",
        "1850 birth Daniel Vale",
        "9 May 1871 death Edmund Vale",
    ]
    born = events[2]
    assert [(names[one.person], one.age.words()) for one in born.ages] == [
        ("Josiah Vale", "27 to 33"),
        ("Ruth Orchard", "21 or 22"),
    ]
    assert (born.place, born.status, born.confidence, born.facts) == ("Thornby", "verified", 0.9, ("F2",))


def test_rejected_values_are_not_events() -> None:
    """A value that was rejected or is only a hypothesis makes no event, and one of two values is shown."""
    make = Making()
    one = make.person("A")
    make.fact(one, "birth_date", "1700", status="rejected", preferred=False, confidence=0.9)
    make.fact(one, "birth_date", "1710", preferred=False, confidence=0.2)
    make.fact(one, "death_date", "1780", status="hypothesis", preferred=False)
    assert [event.when.words() for event in timeline(make.tree())] == ["1710"]


def test_a_wedding_is_shown_once() -> None:
    """A date of marriage that a tie already has is not shown again; another one is."""
    make = Making()
    one, other = make.person("A"), make.person("B")
    make.tie("spouse_of", one, other, start="3 May 1840")
    make.fact(one, "marriage_date", "1840")
    make.fact(one, "marriage_date", "1861", preferred=False)
    events = timeline(make.tree())
    assert [(event.kind, event.when.words(), event.people) for event in events] == [
        ("marriage", "3 May 1840", (one, other)),
        ("marriage", "1861", (one,)),
    ]


def test_a_marriage_that_death_ended_has_no_end_of_its_own() -> None:
    """A divorce is an event, the end by death is shown by the death."""
    make = Making()
    one, other, third = make.person("A"), make.person("B"), make.person("C")
    make.fact(other, "death_date", "9 June 1850")
    make.tie("spouse_of", one, other, start="1840", end="1850")
    make.tie("spouse_of", one, third, start="1852", end="1860", qualifier="divorced")
    assert [event.kind for event in timeline(make.tree())] == ["marriage", "death", "marriage", "separation"]


def test_ties_to_people_who_are_not_shown_are_left_out() -> None:
    """A redacted tree may have ties of people who are not in it: nothing fails."""
    make = Making()
    one = make.person("A")
    make.tie("spouse_of", one, "gone", start="1840")
    make.tie("parent_of", "gone", one)
    make.fact(one, "birth_date", "1800")
    assert [event.kind for event in timeline(make.tree())] == ["birth"]
