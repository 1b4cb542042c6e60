"""English dates of a run, translated into French and Spanish."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

from markupsafe import Markup, escape

from kiwiresearch.messages.catalogue import ENGLISH_MONTHS, HARD_SPACE, Catalogue, Locale

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
class DateForms:
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


FRENCH = DateForms(
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
SPANISH = DateForms(
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
DATE_FORMS: Mapping[str, DateForms] = MappingProxyType({"fr": FRENCH, "es": SPANISH})


LONGEST = 200
NUMBER = r"[0-9][0-9,]*"
MONTH = "|".join(ENGLISH_MONTHS)
ORDINAL = r"([0-9]+)(?:st|nd|rd|th)"
AMOUNT = r"[0-9][0-9,.]*(?: (?:million|billion))?"


class DateText(NamedTuple):
    """A date in words, and how its first word takes an article: the name of a row of `DateCustoms.articles`."""

    words: str
    article_class: str = "bare"


def date_markup(text: str, words: Catalogue, *, is_head: bool = False) -> Markup:
    """An English date of a run for a reader; marked as English where the language has no words for it."""
    told = translated_date(text, words)
    if is_head and not told.startswith("c. "):
        told = told[:1].upper() + told[1:]
    return escape(told) if told or not text else Markup('<span lang="en" dir="ltr">{}</span>').format(text)


def translated_date(text: str, words: Catalogue) -> str:
    """What an English date of a run is in the reader's language; empty where it is none that is known."""
    if words.language not in DATE_FORMS:
        return text
    try:
        told = (
            _DateTranslator(words.customs, DATE_FORMS[words.language]).translate(text) if len(text) <= LONGEST else None
        )
    except (ValueError, ArithmeticError):  # a run from elsewhere only makes it look like a number
        return ""
    return told.words.replace(" – ", f"{HARD_SPACE}– ") if told else ""


class _DateTranslator:
    """Takes English dates apart and puts them together in one language."""

    def __init__(self, customs: Locale, forms: DateForms) -> None:
        self._customs = customs
        self._forms = forms
        self._ways: tuple[tuple[str, Callable[[re.Match[str]], DateText | None]], ...] = (
            (r"(.+) \((Old|New) Style\)", self._style),
            (rf"(between|from) ({AMOUNT}) (?:and|to) ({AMOUNT}) years ago", self._between_ages),
            (rf"(c\.|before|after|until|since)? ?({AMOUNT}) years ago", self._age),
            (r"(between|from) (.+) (?:and|to) (.+)", self._pair),
            (r"(c\.|before|after|until|since) (.+)", self._led),
            (rf"AD ({NUMBER})–({NUMBER})", self._span_ad),
            (rf"(.*?{ORDINAL}) ?– ?(.+ (century|millennium)(?: BC)?)", self._groups),
            (r"(.+?) ?– ?(.+)", self._span),
            (r"(.+) BC", lambda found: self._with_era(found[1], self._forms.bc)),
            (r"(.+) AD", lambda found: self._with_era(found[1], self._forms.ad)),
            (rf"AD ({NUMBER})", lambda found: self._with_era(found[1], self._forms.ad)),
            (rf"({AMOUNT}) BP", lambda found: DateText(self._forms.present.format(self._amount(found[1])), "led")),
            (r"today", lambda _: DateText(self._forms.today, "led")),
            (rf"({'|'.join(self._forms.parts)})[ -](?:the )?(.+)", self._part),
            (r"the (.+)", lambda found: self.translate(found[1])),
            (rf"{ORDINAL} (century|millennium)", lambda found: self._group(int(found[1]), found[2])),
            (r"([0-9]+)s", lambda found: self._noun("decade", found[1])),
            (r"(spring|summer|autumn|winter) (.+)", self._season),
            (rf"([0-9]{{1,2}}) ({MONTH})(?: (.+))?", self._day),
            (rf"({MONTH}|{'|'.join(SHORT_MONTHS)})(?: (.+))?", self._month),
            (NUMBER, lambda found: DateText(self._number(found[0]))),
        )

    def translate(self, text: str) -> DateText | None:
        """A date in words; None where a part of it is not known."""
        for form, tell in self._ways:
            if found := re.fullmatch(form, text):
                return tell(found)
        return None

    def _number(self, text: str) -> str:
        return self._customs.number(int(text.replace(",", "")))

    def _amount(self, text: str) -> str:
        """'3.5 million' of years, with the word for years."""
        figure, _, scale = text.partition(" ")
        times, one, several = self._forms.scales[scale]
        value = float(Decimal(figure.replace(",", "")) * times)
        shown = self._customs.number(int(value) if value == int(value) else value)
        return f"{shown}{HARD_SPACE}{one if self._customs.is_one(value) else several}"

    def _age(self, found: re.Match[str]) -> DateText:
        return DateText(self._forms.ages[found[1] or ""].format(self._amount(found[2])), "led")

    def _between_ages(self, found: re.Match[str]) -> DateText:
        first, last = self._amount(found[2]), self._amount(found[3])
        figure, _, unit = first.partition(HARD_SPACE)
        # 'Years' is said once.
        return DateText(self._forms.ages[found[1]].format(figure if last.endswith(unit) else first, last), "led")

    def _joined(self, form: str, *parts: str) -> DateText | None:
        """Dates within words that say which article each takes."""
        cases, words = self._forms.leads[form]
        told = [self._after(case, self.translate(part)) for case, part in zip(cases, parts, strict=True)]
        return DateText(words.format(*told), "led") if all(told) else None

    def _after(self, case: str, told: DateText | None) -> str:
        """A date with the article that words of a sort ask for; empty where it cannot follow them."""
        articles = self._forms.articles[case]
        if not told or told.article_class not in articles:
            return ""
        article = articles[told.article_class]
        if told.words.startswith(VOWELS):
            article = self._forms.elided.get(article, article)
        return article + told.words

    def _pair(self, found: re.Match[str]) -> DateText | None:
        return self._joined(found[1], found[2], found[3])

    def _led(self, found: re.Match[str]) -> DateText | None:
        return self._joined(found[1], found[2])

    def _span(self, found: re.Match[str]) -> DateText | None:
        first, last = self.translate(found[1]), self.translate(found[2])
        if not first or not last:
            return None
        is_short = not {" ", HARD_SPACE} & set(first.words)
        return DateText(f"{first.words}–{last.words}" if is_short else f"{first.words} – {last.words}", "led")

    def _span_ad(self, found: re.Match[str]) -> DateText | None:
        return self._with_era(f"{found[1]}–{found[2]}", self._forms.ad)

    def _groups(self, found: re.Match[str]) -> DateText | None:
        """'14th–15th century': the noun is said with both."""
        first, last = self.translate(f"{found[1]} {found[4]}"), self.translate(found[3])
        return DateText(f"{first.words} – {last.words}", "led") if first and last else None

    def _with_era(self, text: str, era: str) -> DateText | None:
        told = self.translate(text)
        return told and told._replace(words=f"{told.words}{HARD_SPACE}{era}")

    def _style(self, found: re.Match[str]) -> DateText | None:
        told = self.translate(found[1])
        return told and told._replace(words=f"{told.words} ({self._forms.styles[found[2]]})")

    def _part(self, found: re.Match[str]) -> DateText | None:
        whole = self._after("part", self.translate(found[2]))
        takes, name = self._forms.parts[found[1]]
        return DateText(f"{name} {whole}", takes) if whole else None

    def _group(self, number: int, noun: str) -> DateText:
        return self._noun(noun, self._forms.ordinal(number) if noun in self._forms.nouns else str(number))

    def _noun(self, name: str, figure: str) -> DateText:
        takes, form = self._forms.nouns[name]
        return DateText(form.format(figure).replace(" ", HARD_SPACE), takes)

    def _season(self, found: re.Match[str]) -> DateText | None:
        year = self.translate(found[2])
        return year and self._noun(found[1], year.words)

    def _day(self, found: re.Match[str]) -> DateText | None:
        year = self.translate(found[3]) if found[3] else DateText("")
        month = self._customs.months[ENGLISH_MONTHS.index(found[2])]
        return year and DateText(self._customs.day(int(found[1]), month, year.words), "m")

    def _month(self, found: re.Match[str]) -> DateText | None:
        year = self.translate(found[2]) if found[2] else DateText("")
        names = ENGLISH_MONTHS if found[1] in ENGLISH_MONTHS else SHORT_MONTHS
        month = self._customs.months[names.index(found[1])]
        return year and DateText(self._customs.month(month, year.words))
