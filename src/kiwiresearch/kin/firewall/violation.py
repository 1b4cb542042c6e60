"""What the firewall can find wrong with a fact, by number.

Each of the seed's ten checks has five numbers: check 1 has HF_001 to HF_005, check 10 has HF_046 to HF_050.
HF_051 is about what cannot have happened, HF_052 about living people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal[
    "HF_001", "HF_002", "HF_006", "HF_007", "HF_008", "HF_011", "HF_012", "HF_013", "HF_014", "HF_015",
    "HF_016", "HF_017", "HF_018", "HF_019", "HF_021", "HF_022", "HF_023", "HF_026", "HF_027", "HF_028",
    "HF_031", "HF_032", "HF_036", "HF_037", "HF_041", "HF_042", "HF_043", "HF_044", "HF_045", "HF_046",
    "HF_051", "HF_052",
]  # fmt: skip

CODES: dict[Code, str] = {
    "HF_001": "there is no quote",
    "HF_002": "the quote is so long that it proves nothing",
    "HF_006": "the quote's place is outside the source",
    "HF_007": "the quote stands elsewhere in the source than it says",
    "HF_008": "the source does not have these words",
    "HF_011": "the value is no date, or another than the one that was read",
    "HF_012": "the quote has no such date",
    "HF_013": "the date is more exact than the quote",
    "HF_014": "the quote gives this date to another event or person",
    "HF_015": "the quote has no such date of a marriage or its end",
    "HF_016": "the quote does not have this name",
    "HF_017": "the value is not written as a name is",
    "HF_018": "the value is a title or a country, not a name",
    "HF_019": "the quote does not say that this is the person's name",
    "HF_021": "the quote does not have this place",
    "HF_022": "the quote gives this place to another event or person",
    "HF_023": "the value is not written as a place is",
    "HF_026": "an inference is called a fact",
    "HF_027": "an inference is not labelled as one",
    "HF_028": "the source denies it, takes it back, or tells it as a story",
    "HF_031": "the confidence is not between 0 and 1",
    "HF_032": "the confidence is no number",
    "HF_036": "the address is not one that was given",
    "HF_037": "the page is not one that the source links to",
    "HF_041": "the quote does not say that they are related so",
    "HF_042": "the quote says that they are related otherwise",
    "HF_043": "the quote says it of somebody else",
    "HF_044": "nobody is a relative of their own",
    "HF_045": "the quote speaks of a person of the other sex",
    "HF_046": "a competing value would be lost",
    "HF_051": "this cannot have happened",
    "HF_052": "this tells about a living person",
}

CHECKS = (
    "citation required", "citation verbatim", "no invented dates", "no invented names", "no invented places",
    "hypotheses labelled", "confidence bounds", "no fabricated addresses", "relationships grounded",
    "conflicts preserved", "plausible", "living people",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason why something is no fact, as a number and as a sentence."""

    code: Code
    sentence: str

    @property
    def check(self) -> int:
        """Which check found it: 1 to 10, 11 for plausibility, 12 for living people."""
        number = int(self.code[3:])
        return number - 40 if number > 50 else (number + 4) // 5

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


def violation(code: Code, thing: str) -> Violation:
    """The violation of this number, said of a thing."""
    return Violation(code, f"{thing!r}: {CODES[code]}.")
