"""How languages other than English name times: centuries, parts of them, eras, and what stands before a date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

SHORT_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
ROMAN = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
VOWELS = tuple("aeiou")


def roman(number: int) -> str:
    """A number of a century or a millennium; one that is none is written in figures."""
    if not 0 < number < 400:
        return str(number)
    text = ""
    for value, sign in ROMAN:
        text += sign * (number // value)
        number %= value
    return text


@dataclass(frozen=True, slots=True)
class DateCustoms:
    """The words of one language, by those that English has."""

    bc: str
    ad: str
    today: str
    present: str
    ordinal: Callable[[int], str]
    nouns: Mapping[str, tuple[str, str]]
    """A time with a name: how it takes an article, and its name with the number or the year."""
    parts: Mapping[str, tuple[str, str]]
    """A part of a time, likewise."""
    leads: Mapping[str, tuple[tuple[str, ...], str]]
    """What stands before a date or around two: the articles that each of them takes, and its words."""
    articles: Mapping[str, Mapping[str, str]]
    """The articles after words of one sort, by how a date takes them; a date that none is given for cannot follow."""
    elided: Mapping[str, str]
    """What becomes of an article before a vowel."""
    ages: Mapping[str, str]
    """How long ago, alone or with one of the leads."""
    scales: Mapping[str, tuple[int, str, str]]
    """What years are counted in: how many of the language's own, and the words behind one and behind several."""
    styles: Mapping[str, str]


FRENCH = DateCustoms(
    bc="av. J.-C.",
    ad="apr. J.-C.",
    today="aujourd’hui",
    present="{} avant le présent",
    ordinal=lambda number: "Ier" if number == 1 else f"{roman(number)}e",
    nouns={
        "century": ("m", "{} siècle"),
        "millennium": ("m", "{} millénaire"),
        "decade": ("p", "années {}"),
        "spring": ("m", "printemps {}"),
        "summer": ("elided", "été {}"),
        "autumn": ("elided", "automne {}"),
        "winter": ("elided", "hiver {}"),
    },
    parts={
        "early": ("m", "début"),
        "mid": ("m", "milieu"),
        "late": ("f", "fin"),
        "the beginning of": ("m", "début"),
        "the end of": ("f", "fin"),
        "the first half of": ("f", "première moitié"),
        "the second half of": ("f", "seconde moitié"),
        "the first quarter of": ("m", "premier quart"),
        "the second quarter of": ("m", "deuxième quart"),
        "the third quarter of": ("m", "troisième quart"),
        "the last quarter of": ("m", "dernier quart"),
        "the turn of": ("m", "tournant"),
    },
    leads={
        "c.": (("plain",), "vers {}"),
        "before": (("plain",), "avant {}"),
        "after": (("plain",), "après {}"),
        "since": (("plain",), "depuis {}"),
        "until": (("until",), "jusqu’{}"),
        "between": (("plain", "plain"), "entre {} et {}"),
        "from": (("part", "to"), "{} {}"),
    },
    articles={
        "plain": {"bare": "", "m": "le ", "f": "la ", "p": "les ", "elided": "l’", "led": ""},
        "until": {"bare": "en ", "m": "au ", "f": "à la ", "p": "aux ", "elided": "à l’", "led": "à "},
        "part": {"bare": "de ", "m": "du ", "f": "de la ", "p": "des ", "elided": "de l’", "led": "de "},
        "to": {"bare": "à ", "m": "au ", "f": "à la ", "p": "aux ", "elided": "à l’", "led": "à "},
    },
    elided={"de ": "d’"},
    ages={
        "": "il y a {}",
        "c.": "il y a environ {}",
        "before": "il y a plus de {}",
        "after": "il y a moins de {}",
        "until": "jusqu’à il y a {}",
        "since": "depuis {}",
        "between": "il y a entre {} et {}",
        "from": "il y a de {} à {}",
    },
    scales={
        "": (1, "an", "ans"),
        "million": (1, "million d’années", "millions d’années"),
        "billion": (1, "milliard d’années", "milliards d’années"),
    },
    styles={"Old": "calendrier julien", "New": "calendrier grégorien"},
)
SPANISH = DateCustoms(
    bc="a. C.",
    ad="d. C.",
    today="hoy",
    present="{} antes del presente",
    ordinal=roman,
    nouns={
        "century": ("m", "siglo {}"),
        "millennium": ("m", "{} milenio"),
        "decade": ("p", "años {}"),
        "spring": ("f", "primavera de {}"),
        "summer": ("m", "verano de {}"),
        "autumn": ("m", "otoño de {}"),
        "winter": ("m", "invierno de {}"),
    },
    parts={
        "early": ("bare", "principios"),
        "mid": ("bare", "mediados"),
        "late": ("bare", "finales"),
        "the beginning of": ("bare", "comienzos"),
        "the end of": ("bare", "fines"),
        "the first half of": ("f", "primera mitad"),
        "the second half of": ("f", "segunda mitad"),
        "the first quarter of": ("m", "primer cuarto"),
        "the second quarter of": ("m", "segundo cuarto"),
        "the third quarter of": ("m", "tercer cuarto"),
        "the last quarter of": ("m", "último cuarto"),
        "the turn of": ("p", "albores"),
    },
    leads={
        "c.": (("plain",), "hacia {}"),
        "before": (("part",), "antes {}"),
        "after": (("part",), "después {}"),
        "since": (("plain",), "desde {}"),
        "until": (("plain",), "hasta {}"),
        "between": (("plain", "plain"), "entre {} y {}"),
        "from": (("part", "to"), "{} {}"),
    },
    articles={
        "plain": {"bare": "", "m": "el ", "f": "la ", "p": "los ", "led": ""},
        "part": {"bare": "de ", "m": "del ", "f": "de la ", "p": "de los ", "led": "de "},
        "to": {"bare": "a ", "m": "al ", "f": "a la ", "p": "a los ", "led": "a "},
    },
    elided={},
    ages={
        "": "hace {}",
        "c.": "hace alrededor de {}",
        "before": "hace más de {}",
        "after": "hace menos de {}",
        "until": "hasta hace {}",
        "since": "desde hace {}",
        "between": "hace entre {} y {}",
        "from": "hace de {} a {}",
    },
    scales={
        "": (1, "año", "años"),
        "million": (1, "millón de años", "millones de años"),
        "billion": (1_000, "millón de años", "millones de años"),
    },
    styles={"Old": "calendario juliano", "New": "calendario gregoriano"},
)
DATES: Mapping[str, DateCustoms] = MappingProxyType({"fr": FRENCH, "es": SPANISH})
