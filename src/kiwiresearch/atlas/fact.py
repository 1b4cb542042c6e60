"""A fact of a thing that has one of it: its value, its time, and where it is told."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.saying import Saying
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated, DateRange, relation

Life = tuple[DateRange, DateRange]


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one attribute of the claim's subject."""

    claim: Claim
    attribute: str
    value: Quantity | Dated
    years: frozenset[int] = frozenset()
    """At what time a number held; none where that is not said."""
    lasting: bool = True
    """Whether it hardly changes with time."""
    is_label: bool = False
    is_own: bool = False
    """Whether it stands on the page about its subject."""
    life: Life | None = None
    """Birth and death, where both stand in brackets behind a name."""
    place: str = ""
    """Where on its page it stands, where its section does not tell."""
    basis: str = ""
    """'census' or 'estimate', where a row says so."""

    @property
    def told(self) -> str:
        """The value as the claim writes it."""
        return self.claim.text[self.value.start : self.value.end]

    def saying(self, language: str) -> Saying:
        """The fact in the form that all facts of its kind have, so that nothing but the values can differ."""
        text = f"{self.claim.subject} — {self.attribute}: {self.told}"
        start, end = len(text) - len(self.told), len(text)
        if isinstance(self.value, Dated):
            return Saying(text, self.claim.subject, (), (self.value._replace(start=start, end=end),), language)
        return Saying(text, self.claim.subject, (self.value._replace(start=start, end=end),), (), language)

    def is_of_the_same(self, other: Fact) -> bool:
        """Whether both must be equal if both are right: same attribute, same time, told in two places."""
        if self.attribute != other.attribute or self.claim.id == other.claim.id:
            return False
        is_row_twice = self.is_label and other.is_label
        is_near = self._section() == other._section()
        if self.claim.ref == other.claim.ref and (is_row_twice or is_near):
            return False  # two rows of one page are of two things, or they would not be two
        if not self._is_one_life(other):
            return False
        return (self.lasting and not (self.years and other.years)) or bool(self.years & other.years)

    def _section(self) -> str:
        return self.claim.section or self.place

    def _is_one_life(self, other: Fact) -> bool:
        """Years behind a name on another page may be those of a reign, unless one end of them is known to fit."""
        for one, two in ((self, other), (other, self)):
            if one.life and not one.is_own:
                ends = zip(one.life, two.life, strict=True) if two.life else ()
                if not any(relation(first, second) != "apart" for first, second in ends):
                    return False
        return True
