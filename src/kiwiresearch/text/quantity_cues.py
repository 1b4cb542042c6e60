"""Words around a number that tell what it is: 'about', 'between', 'aged', 'Chapter', a capital before it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from kiwiresearch.text.number_words import PART_SIGNS, SPACES, either, number_words, table
from kiwiresearch.text.quantity import Qualifier

LONGEST_BEFORE = 48
OPENING = "(“\"'"
LONGEST_QUALIFIER = 4
NUMBER_AHEAD = rf"(?=[^\W_]|[.$£€¥₹−-]|[{PART_SIGNS}])"
SENTENCE_END = re.compile(r"[.!?:;\n][\"”’)\]]*\s*[\"“‘(\[]*$|^[\s\"“‘(\[]*$")

NO_QUANTITY = re.compile(
    rf"""
      [0-9]{{1,2}}:[0-9]{{2}}[0-9:.]*(?:{SPACES}?[AaPp]\.?[Mm]\b\.?)?     # a time of day
    | [0-9]+(?:\.[0-9]+)?(?:[ ]?:[ ]?[0-9]+(?:\.[0-9]+)?)+                 # a ratio
    | [0-9]+\.[0-9]+,[ ]?[-−]?[0-9]+\.[0-9]+(?=\))                        # a place on a map
    | [0-9]{{1,2}}(?:\.[0-9]{{2}})?{SPACES}?(?:[ap]\.?m\b|[AP]\.?M\b)\.?
    | (?<=[a-z,][ ])[12][0-9]{{3}}(?=[.,;)\]](?![0-9])|\n)                  # a year
    | [0-9]+(?:\.[0-9]+){{2,}}                                            # a version
    | [0-9]+(?:,[0-9]{{3}})*(?:st|nd|rd|th)\b
    | [0-9]+['’]?s\b                                                      # a decade, aircraft of a type
    | [0-9]+(?:[-–./][0-9Xx]+){{2,}}                                      # a date, a record, the number of a book
    | [0-9]{{3}}[ .-][0-9]{{3}}[ .-][0-9]{{4}}\b                          # a telephone
    | [0-9]+(?:\.[0-9]+)?{SPACES}?[°º]{SPACES}?(?:[0-9]+(?:\.[0-9]+)?{SPACES}?['′’]{SPACES}?
        (?:[0-9]+(?:\.[0-9]+)?{SPACES}?(?:["″”]|''|′′){SPACES}?)?)?(?:[NSEW]\b|(?:[Nn]orth|[Ss]outh|[Ee]ast|[Ww]est)\b)
    | [0-9]+°{SPACES}?[0-9.]+{SPACES}?['′’](?:{SPACES}?[0-9.]+{SPACES}?(?:["″”]|''|′′))?
    | [0-9]+(?:[.,][0-9]+)*{SPACES}?[×x]{SPACES}?(?!10(?:\^|[⁰-⁹⁺⁻¹²³]|[-−][0-9]))[0-9.,]+  # a lost exponent
    """,
    re.VERBOSE,
)


class Before(NamedTuple):
    """What stands before a number."""

    words: tuple[str, ...]
    """The last words in small letters, the nearest last; signs stay on them."""
    last: str
    """The nearest word as it is written."""
    is_adjacent: bool
    """Whether white space, and no line end, is all there is between."""


NOTHING_BEFORE = Before((), "", is_adjacent=False)


class Cues:
    """The words around numbers in one language."""

    def __init__(self, language: str) -> None:
        known = table(language)
        ranges, numbers, plain = known["ranges"], known["numbers"], known["plain"]
        self._qualifiers: dict[str, Qualifier] = {w: kind for kind, each in known["qualifiers"].items() for w in each}
        self._qualifier_ends = frozenset(words.split()[-1] for words in self._qualifiers)
        self._behind: dict[str, Qualifier] = {
            w: kind for kind, each in known["qualifiers_behind"].items() for w in each
        }
        self._behind_words = re.compile(rf"{SPACES}?({either(self._behind)})(?![^\W_])")
        to = either([*ranges["to"].split(), *ranges["or"].split()])
        self.by = re.compile(rf"{SPACES}(?:{either(ranges['by'].split())}){SPACES}(?=[0-9])")
        self.to = re.compile(rf"(?:[–—-]|{SPACES}[–—-]{SPACES}|{SPACES}(?:{to}){SPACES}){NUMBER_AHEAD}")
        self.to_or_and = re.compile(rf"(?:[–—-]|{SPACES}(?:{to}|{ranges['and']}){SPACES}){NUMBER_AHEAD}")
        joining = " ".join(ranges[key] for key in ("to", "or", "by", "and")).split()
        self.joints = frozenset(word[0] for word in joining)
        """Letters that a word between two numbers may begin with."""
        self._or = frozenset(ranges["or"].split())
        self.between = frozenset(ranges["between"].split())
        self.from_words = frozenset(ranges["from"].split())
        self._changes = frozenset(ranges["changes"].split())
        self._labels = frozenset(known["labels"]["words"].split())
        self._not_names = frozenset(known["names"]["before"].split()) | {w for q in self._qualifiers for w in q.split()}
        self._not_halves = frozenset(numbers["not_halves"].split())
        self.idioms = frozenset(numbers["idioms"].split())
        self.ambiguous = frozenset(known["ambiguous"]["words"].split())
        self._pronoun_after = frozenset(numbers["pronoun_after"].split())
        self._plain_after = frozenset(plain["after"].split())
        self.determiners = frozenset(plain["determiners"].split())
        self.were = re.compile(rf"{SPACES}(?:{either(plain['were'].split())})\b")
        self.parts_of = re.compile(rf"{SPACES}(?:{either(plain['parts_of'].split())})\b")
        self.of_a = re.compile(rf"{SPACES}(?:of{SPACES})?(?:{either(numbers['one'].split())})(?={SPACES})")
        self._of: str = f" {numbers['of']}"
        self._ages = frozenset(known["ages"]["before"])
        self.age_unit: str = known["ages"]["unit"]
        self.old = re.compile(rf"[ -]{known['ages']['old']}\b")
        parts = either(number_words(language).parts)
        self.ordinal = re.compile(rf"-(?:first|second|{parts}|[a-z]+th)\b", re.IGNORECASE)

    def before(self, text: str, floor: int, start: int) -> Before:
        """The words before a number that starts at `start`; `floor` is where the last quantity ended."""
        written = text[max(floor, start - LONGEST_BEFORE) : start]
        if "\n" in written or "\t" in written or "—" in written:
            written = written[max(map(written.rfind, "\n\t—")) + 1 :]
        words = tuple(written.lower().split())
        if not words:
            return NOTHING_BEFORE
        return Before(words, written.rsplit(None, 1)[-1], written[-1].isspace())

    def qualifier(self, before: Before, text: str, ends: Iterable[int], limit: int) -> Qualifier:
        """What the words before a number, or those behind the quantity, say about its exactness."""
        words = before.words
        if words and words[-1].lstrip(OPENING) in self._qualifier_ends:
            for length in range(min(LONGEST_QUALIFIER, len(words)), 0, -1):
                if found := self._qualifiers.get(" ".join(words[-length:]).lstrip(OPENING)):
                    return found
        if words and (found := self._qualifiers.get(words[-1][-1])):
            return found
        for end in ends:
            if behind := self._behind_words.match(text, end, limit):
                return self._behind[behind[1]]
        return ""

    def is_side(self, before: Before) -> bool:
        """Whether 'half' is one side of a thing: 'the second half', 'the nasal half'."""
        last = before.words[-1:]
        if not last or last[0] in self._qualifier_ends:
            return False
        return last[0] in self._not_halves or not self.determiners.isdisjoint(before.words[-2:])

    def is_age(self, before: Before) -> bool:
        return " ".join(before.words[-2:]) in self._ages or " ".join(before.words[-1:]) in self._ages

    def may_be_one(self, before: Before, text: str, end: int) -> bool:
        """Whether 'one' counts: 'only one election', but not 'the only one of the five'."""
        return bool(before.words) and before.words[-1] in self._pronoun_after and not text.startswith(self._of, end)

    def either_or(self, gap: str) -> bool:
        return gap.strip() in self._or

    def is_change(self, before: Before) -> bool:
        """Whether 'from 5 to 10' tells how something grew or shrank."""
        return (
            before.words[-1:] != ()
            and before.words[-1] in self.from_words
            and not self._changes.isdisjoint(before.words)
        )

    def is_label(self, before: Before) -> bool:
        """Whether the number names something: 'Chapter 3', 'No. 5'."""
        return bool(before.words) and before.words[-1].lstrip(OPENING) in self._labels

    def is_in_name(self, before: Before) -> bool:
        """Whether a capital stands before the number, as in 'Apollo 11'."""
        last = before.last.lstrip(OPENING)
        if not before.is_adjacent or not last[:1].isupper() or not last[-1].isalnum() or last.endswith(("'s", "’s")):
            return False
        return last.lower() not in self._not_names

    def may_be_plain(self, before: Before) -> bool:
        """Whether a bare figure that counts nothing named may still be a number of something."""
        return bool(before.words) and before.words[-1] in self._plain_after


def starts_sentence(text: str, start: int) -> bool:
    return SENTENCE_END.search(text, max(0, start - 6), start) is not None


@cache
def cues(language: str) -> Cues:
    """The cues of a language, read from its table once."""
    return Cues(language)
