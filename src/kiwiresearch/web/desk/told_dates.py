"""Dates that runs write in English, as `DateRange.words` does, said again in the language of the reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from markupsafe import Markup, escape

from kiwiresearch.web.desk.customs import ENGLISH_MONTHS, HARD_SPACE, Customs
from kiwiresearch.web.desk.date_customs import DATES, SHORT_MONTHS, VOWELS, DateCustoms
from kiwiresearch.web.desk.words import Words

LONGEST = 200
NUMBER = r"[0-9][0-9,]*"
MONTH = "|".join(ENGLISH_MONTHS)
ORDINAL = r"([0-9]+)(?:st|nd|rd|th)"
AMOUNT = r"[0-9][0-9,.]*(?: (?:million|billion))?"


class Told(NamedTuple):
    """A date in words, and how its first word takes an article: the name of a row of `DateCustoms.articles`."""

    words: str
    takes: str = "bare"


def dated(text: str, words: Words, *, is_head: bool = False) -> Markup:
    """An English date of a run for a reader; marked as English where the language has no words for it."""
    told = told_date(text, words)
    if is_head and not told.startswith("c. "):
        told = told[:1].upper() + told[1:]
    return escape(told) if told or not text else Markup('<span lang="en" dir="ltr">{}</span>').format(text)


def told_date(text: str, words: Words) -> str:
    """What an English date of a run is in the reader's language; empty where it is none that is known."""
    if words.language not in DATES:
        return text
    try:
        told = _Teller(words.customs, DATES[words.language]).told(text) if len(text) <= LONGEST else None
    except (ValueError, ArithmeticError):  # a run from elsewhere only makes it look like a number
        return ""
    return told.words.replace(" – ", f"{HARD_SPACE}– ") if told else ""


class _Teller:
    """Takes English dates apart and puts them together in one language."""

    def __init__(self, customs: Customs, forms: DateCustoms) -> None:
        self._customs = customs
        self._forms = forms
        self._ways: tuple[tuple[str, Callable[[re.Match[str]], Told | None]], ...] = (
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
            (rf"({AMOUNT}) BP", lambda found: Told(self._forms.present.format(self._amount(found[1])), "led")),
            (r"today", lambda _: Told(self._forms.today, "led")),
            (rf"({'|'.join(self._forms.parts)})[ -](?:the )?(.+)", self._part),
            (r"the (.+)", lambda found: self.told(found[1])),
            (rf"{ORDINAL} (century|millennium)", lambda found: self._group(int(found[1]), found[2])),
            (r"([0-9]+)s", lambda found: self._noun("decade", found[1])),
            (r"(spring|summer|autumn|winter) (.+)", self._season),
            (rf"([0-9]{{1,2}}) ({MONTH})(?: (.+))?", self._day),
            (rf"({MONTH}|{'|'.join(SHORT_MONTHS)})(?: (.+))?", self._month),
            (NUMBER, lambda found: Told(self._number(found[0]))),
        )

    def told(self, text: str) -> Told | None:
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

    def _age(self, found: re.Match[str]) -> Told:
        return Told(self._forms.ages[found[1] or ""].format(self._amount(found[2])), "led")

    def _between_ages(self, found: re.Match[str]) -> Told:
        first, last = self._amount(found[2]), self._amount(found[3])
        figure, _, unit = first.partition(HARD_SPACE)
        # 'Years' is said once.
        return Told(self._forms.ages[found[1]].format(figure if last.endswith(unit) else first, last), "led")

    def _joined(self, form: str, *parts: str) -> Told | None:
        """Dates within words that say which article each takes."""
        cases, words = self._forms.leads[form]
        told = [self._after(case, self.told(part)) for case, part in zip(cases, parts, strict=True)]
        return Told(words.format(*told), "led") if all(told) else None

    def _after(self, case: str, told: Told | None) -> str:
        """A date with the article that words of a sort ask for; empty where it cannot follow them."""
        articles = self._forms.articles[case]
        if not told or told.takes not in articles:
            return ""
        article = articles[told.takes]
        if told.words.startswith(VOWELS):
            article = self._forms.elided.get(article, article)
        return article + told.words

    def _pair(self, found: re.Match[str]) -> Told | None:
        return self._joined(found[1], found[2], found[3])

    def _led(self, found: re.Match[str]) -> Told | None:
        return self._joined(found[1], found[2])

    def _span(self, found: re.Match[str]) -> Told | None:
        first, last = self.told(found[1]), self.told(found[2])
        if not first or not last:
            return None
        is_short = not {" ", HARD_SPACE} & set(first.words)
        return Told(f"{first.words}–{last.words}" if is_short else f"{first.words} – {last.words}", "led")

    def _span_ad(self, found: re.Match[str]) -> Told | None:
        return self._with_era(f"{found[1]}–{found[2]}", self._forms.ad)

    def _groups(self, found: re.Match[str]) -> Told | None:
        """'14th–15th century': the noun is said with both."""
        first, last = self.told(f"{found[1]} {found[4]}"), self.told(found[3])
        return Told(f"{first.words} – {last.words}", "led") if first and last else None

    def _with_era(self, text: str, era: str) -> Told | None:
        told = self.told(text)
        return told and told._replace(words=f"{told.words}{HARD_SPACE}{era}")

    def _style(self, found: re.Match[str]) -> Told | None:
        told = self.told(found[1])
        return told and told._replace(words=f"{told.words} ({self._forms.styles[found[2]]})")

    def _part(self, found: re.Match[str]) -> Told | None:
        whole = self._after("part", self.told(found[2]))
        takes, name = self._forms.parts[found[1]]
        return Told(f"{name} {whole}", takes) if whole else None

    def _group(self, number: int, noun: str) -> Told:
        return self._noun(noun, self._forms.ordinal(number) if noun in self._forms.nouns else str(number))

    def _noun(self, name: str, figure: str) -> Told:
        takes, form = self._forms.nouns[name]
        return Told(form.format(figure).replace(" ", HARD_SPACE), takes)

    def _season(self, found: re.Match[str]) -> Told | None:
        year = self.told(found[2])
        return year and self._noun(found[1], year.words)

    def _day(self, found: re.Match[str]) -> Told | None:
        year = self.told(found[3]) if found[3] else Told("")
        month = self._customs.months[ENGLISH_MONTHS.index(found[2])]
        return year and Told(self._customs.day(int(found[1]), month, year.words), "m")

    def _month(self, found: re.Match[str]) -> Told | None:
        year = self.told(found[2]) if found[2] else Told("")
        names = ENGLISH_MONTHS if found[1] in ENGLISH_MONTHS else SHORT_MONTHS
        month = self._customs.months[names.index(found[1])]
        return year and Told(self._customs.month(month, year.words))
