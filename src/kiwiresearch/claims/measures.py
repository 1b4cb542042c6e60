"""What the numbers of a claim measure, of what, and when."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiwiresearch.claims.claim import Measure
from kiwiresearch.claims.tables import Grammar
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated, DateRange

BEFORE, BEHIND = 60, 30
WORDS = re.compile(r"[a-z]+")
AT_A_TIME = frozenset({"day", "month", "season", "year", "decade", "century"})


def measures_in(
    text: str, quantities: Sequence[Quantity], dates: Sequence[Dated], subject: str, grammar: Grammar
) -> tuple[Measure, ...]:
    """The measures of a sentence, in its order."""
    return tuple(
        Measure(one, _what(text, one, grammar), subject, _when(text, one, dates))
        for one in quantities
        if not one.converted and not text[: one.start].endswith("out of ")
    )


def _what(text: str, one: Quantity, grammar: Grammar) -> str:
    """The nearest word before the number that names a measure, else one behind it, else what the unit is for."""
    # Only in the number's own clause: what stands behind a comma measures something else.
    before = WORDS.findall(CLAUSE.split(text[max(one.start - BEFORE, 0) : one.start].lower())[-1])
    after = BRACKET.sub("", text[one.end : one.end + 2 * BEHIND].lower())
    behind = WORDS.findall(CLAUSE.split(after, maxsplit=1)[0])
    near = [*behind[:1], *reversed(before[-8:]), *behind[1:3]]
    named = next((grammar.measure_words[word] for word in near if word in grammar.measure_words), "")
    if one.unit:
        allowed = grammar.measures.get("money" if is_money(one.unit) else one.unit, ())
        suited = (grammar.measure_words[word] for word in near if grammar.measure_words.get(word) in allowed)
        return next(suited, allowed[0]) if allowed else named
    counted = one.counted_words or one.counted
    if named in ("population", "deaths", "speakers", "members") or not counted:
        return f"{named}: {counted}" if named == "deaths" and counted else named or counted
    return counted


def is_money(unit: str) -> bool:
    """Whether a unit is a currency: its three letters, or a sign that several share."""
    return unit == "$" or (len(unit) == CODE and unit.isupper())


CODE = 3
CLAUSE = re.compile(r"[,;:] |\(|\)")
BRACKET = re.compile(r"\([^()]*\)")


def _when(text: str, one: Quantity, dates: Sequence[Dated]) -> DateRange | None:
    """The date in a number's own clause, the nearest one first; a single date holds for the whole sentence."""
    dated = [date for date in dates if date.when.precision in AT_A_TIME]
    own = [date for date in dated if not CLAUSE.search(text, *_between(one, date))]
    if own:
        return min(own, key=lambda date: (max(one.start - date.end, date.start - one.end), date.start)).when
    return dated[0].when if len(dated) == 1 else None


def _between(one: Quantity, date: Dated) -> tuple[int, int]:
    return (date.end, one.start) if date.end <= one.start else (one.end, date.start)
