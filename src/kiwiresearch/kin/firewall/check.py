"""The firewall: every reason why a value is not what its own quote says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import DATES, PLACES, RELATIONS, Sex
from kiwiresearch.kin.firewall.cited import Cited, words_in
from kiwiresearch.kin.firewall.dates import fit, told_dates
from kiwiresearch.kin.firewall.events import misplaced, untold
from kiwiresearch.kin.firewall.relations import unrelated
from kiwiresearch.kin.firewall.stated import is_denied
from kiwiresearch.kin.firewall.violation import Code, Violation, violation
from kiwiresearch.text.when import DateRange

LONGEST_QUOTE = 2_500
SURE = 0.6
"""What is told with less than this is a guess, and waits for more."""
ADDRESS = re.compile(r"\b(?:https?|zim|ftp|file)://[^\s<>\"')\]]+", re.IGNORECASE)


def check(
    extracted: Extracted,
    text: str,
    subject: str,
    sex: Sex = "",
    *,
    also: tuple[str, ...] = (),
    urls: frozenset[str] | None = None,
) -> tuple[Violation, ...]:
    """What speaks against taking this for a fact of the subject; nothing if nothing does.

    `text` is the source, `also` are other names of the subject, `urls` the addresses and
    paths that the source links to.
    Where `urls` is not given, targets are not checked; an address anywhere in the
    value must then stand in the source.
    """
    found = [*unquoted(extracted, text), *_unsure(extracted), *_invented_addresses(extracted, text, urls)]
    if not any(one.check in (1, 2) for one in found):
        snippet = extracted.snippet
        cited = Cited(text, snippet.start, snippet.end, subject, sex, also)
        codes = [code for code in _unproved(extracted, cited) if code != "HF_027" or _is_sure(extracted)]
        found += [violation(code, f"{extracted.field} {extracted.value}") for code in codes]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.code))


def unquoted(extracted: Extracted, text: str) -> Iterator[Violation]:
    """Checks 1 and 2: there is a quote, and it is what stands at its place."""
    snippet = extracted.snippet
    if not snippet.words.strip():
        yield violation("HF_001", extracted.field)
    elif len(snippet.words) > LONGEST_QUOTE:
        yield violation("HF_002", snippet.words[:50])
    elif not 0 <= snippet.start < snippet.end <= len(text):
        yield violation("HF_006", snippet.words[:50])
    elif text[snippet.start : snippet.end] != snippet.words:
        yield violation("HF_007" if snippet.words in text else "HF_008", snippet.words[:50])


def _unsure(extracted: Extracted) -> Iterator[Violation]:
    """Check 7: a confidence is a share."""
    value = extracted.confidence
    if math.isnan(value):
        yield violation("HF_032", f"{value}")
    elif not 0.0 <= value <= 1.0:
        yield violation("HF_031", f"{value}")


def _invented_addresses(extracted: Extracted, text: str, urls: frozenset[str] | None) -> Iterator[Violation]:
    """Check 8: addresses and targets are those of the source."""
    given = urls or frozenset()
    said = (extracted.value, extracted.target, extracted.locator, extracted.rationale)
    for address in (match[0] for words in said for match in ADDRESS.finditer(words)):
        if address not in given and address not in text:
            yield violation("HF_036", address)
    if urls is not None and extracted.target and extracted.target not in urls:
        yield violation("HF_037", extracted.target)


def _unproved(extracted: Extracted, cited: Cited) -> Iterator[Code]:
    """Checks 3, 4, 5 and 9: the quote says it, of the subject."""
    if extracted.field in DATES:
        yield from _undated(extracted, cited)
    elif extracted.field in PLACES:
        yield from _unplaced(extracted, cited)
    elif extracted.field in RELATIONS:
        yield from _unnamed(extracted, cited)
        yield from filter(None, [unrelated(cited, extracted.field, extracted.value)])
        yield from _unmarried(extracted, cited)
    elif extracted.field == "name":
        yield from _unnamed(extracted, cited)
        yield from _not_own_name(extracted, cited)
    elif extracted.field == "sex":
        if not _tells_sex(extracted.value, cited):
            yield "HF_045"
    elif not cited.spans(extracted.value):
        yield "HF_016"


def _undated(extracted: Extracted, cited: Cited) -> Iterator[Code]:
    when = extracted.when
    if when is None or when.edtf() != extracted.value:
        yield "HF_011"
        return
    event = extracted.field.removesuffix("_date")
    fits = [(told, fit(told.when, when)) for told in told_dates(cited.words)]
    right = [told for told, how in fits if how in ("same", "coarser")]
    if not right:
        yield "HF_013" if any(how == "finer" for _, how in fits) else "HF_012"
    else:
        yield from _unheld(cited, [(told.start, told.end) for told in right], event, "HF_014")


def _unheld(cited: Cited, spans: Sequence[tuple[int, int]], event: str, elsewhere: Code) -> Iterator[Code]:
    """What is wrong with the best of the places where a date or place stands."""
    held = [span for span in spans if misplaced(cited, *span, event) is None]
    if not held:
        yield elsewhere
        return
    doubts = [untold(cited, *span) for span in held]
    if all(doubts):
        yield from filter(None, [min(filter(None, doubts))])


def _is_sure(extracted: Extracted) -> bool:
    """Whether a value is told as more than a guess; what a source only supposes may be kept as that."""
    guessed = extracted.qualifier == "disputed" or bool(extracted.when and extracted.when.qualifier)
    return extracted.confidence >= SURE and not guessed


def _unplaced(extracted: Extracted, cited: Cited) -> Iterator[Code]:
    spans = cited.spans(extracted.value)
    if not spans:
        yield "HF_021"
        return
    if not any(word.is_capital and not word.folded.isdigit() for word in words_in(extracted.value)):
        yield "HF_023"
    event = extracted.field.removesuffix("_place")
    yield from _unheld(cited, spans, event, "HF_022")


def _unnamed(extracted: Extracted, cited: Cited) -> Iterator[Code]:
    if not cited.spans(extracted.value):
        yield "HF_016"
    names = [word for word in words_in(extracted.value) if word.is_capital and not word.folded.isdigit()]
    if not names:
        yield "HF_017"
    words = cited.table.words
    nobody = words["titles"] | words["countries"] | {"the", "of"}
    if names and {word.folded for word in names} <= nobody:
        yield "HF_018"


def _not_own_name(extracted: Extracted, cited: Cited) -> Iterator[Code]:
    """A name is the subject's where it shares a word with it, or where the quote says that it is one."""
    spans = cited.spans(extracted.value)
    if spans and all(is_denied(cited, start) for start, _ in spans):
        yield "HF_019"
        return
    if {word.folded for word in words_in(extracted.value)} & cited.own_names:
        return
    for start, _ in spans:
        before = cited.words[max(0, start - 40) : start].lower()
        if "name" in cited.kinds_at(start) or "birth" in cited.kinds_at(start):
            return
        if any(re.search(rf"\b{re.escape(word)}\b", before) for word in cited.table.words["naming"]):
            return
    yield "HF_019"


def _unmarried(extracted: Extracted, cited: Cited) -> Iterator[Code]:
    """The dates of a marriage stand in the quote as well."""
    claimed: list[DateRange] = [when for when in (extracted.when, extracted.until) if when]
    told = told_dates(cited.words) if claimed else []
    for when in claimed:
        if not any(fit(one.when, when) in ("same", "coarser") for one in told):
            yield "HF_015"


def _tells_sex(value: str, cited: Cited) -> bool:
    return any(cited.table.sexes.get(word.folded) == value for word in cited.tokens)
