"""Whether two quotes of the same source show together who the other parent of a child is: whose child it is, and whose
husband or wife that parent was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.firewall.check import check, quote_violations
from kiwiresearch.kin.firewall.quote import SourceQuote, quote_words
from kiwiresearch.kin.firewall.violations import Violation
from kiwiresearch.kin.language import ENGLISH
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import Qualifier, Sex
from kiwiresearch.text.dates import DateRange

OWN_CHILD: frozenset[Qualifier] = frozenset({"", "biological"})
BORN_AFTER_END = 300
"""For so many days after a marriage ended a child may be of it."""


@dataclass(frozen=True, slots=True)
class OtherParentProof:
    """What shows the other parent of a child: two quotes, and words that name that parent, if any."""

    child: ExtractedFact
    spouse: ExtractedFact
    born: DateRange | None = None
    named_by: Snippet | None = None
    """'By Ann Hay' over the child; None if only the marriage shows it."""


def check_other_parent(
    proof: OtherParentProof, text: str, subject: str, sex: Sex, other_names: tuple[str, ...]
) -> tuple[Violation, ...]:
    """The reasons not to conclude that the subject's spouse is a parent of the child; empty if it follows."""
    about = f"parent {proof.spouse.value}"
    found = [
        violation
        for fact in (proof.child, proof.spouse)
        for violation in check(fact, text, subject, sex, other_names=other_names)
    ]
    if proof.child.field != "child" or proof.spouse.field != "spouse" or proof.spouse.qualifier == "disputed":
        found.append(Violation("HF_042", about))
    if proof.named_by:
        found += _naming_violations(proof, proof.named_by, text, about)
    elif proof.child.qualifier not in OWN_CHILD:
        found.append(Violation("HF_041", about))
    if not is_of_marriage(proof.born, proof.spouse):
        found.append(Violation("HF_051", about))
    return tuple(found)


def is_of_marriage(born: DateRange | None, spouse: ExtractedFact) -> bool:
    """Whether a child may have been born to a marriage, as far as the dates are known."""
    if born is None:
        return True
    begun, ended = spouse.when, spouse.until
    return not (begun and born.latest < begun.earliest) and not (
        ended and born.earliest > ended.latest + BORN_AFTER_END
    )


def _naming_violations(proof: OtherParentProof, named_by: Snippet, text: str, about: str) -> Iterator[Violation]:
    """The words that name the parent stand over the child, or in the child's own quote, and name nobody else."""
    child = proof.child.snippet
    yield from quote_violations(ExtractedFact("parent", proof.spouse.value, named_by, "prose", 0.0), text)
    apart = text[named_by.end : child.start]
    if named_by.start > child.start + len(child.words) or ENGLISH.by_parent_line.search(apart):
        yield Violation("HF_043", about)
    given = parse_name(proof.spouse.value).given[:1]
    # The first name only, since a heading may give her maiden name and the marriage another.
    spans = SourceQuote(text, named_by.start, named_by.end, "").spans(given[0] if given else "")
    if not spans or not quote_words(named_by.words):
        yield Violation("HF_016", about)
