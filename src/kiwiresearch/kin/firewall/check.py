"""The firewall: every reason why a value is not what its own quote says, of a person or of a relative named beside."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from kiwiresearch.kin.firewall.attribution import is_denied
from kiwiresearch.kin.firewall.events import date_fit, event_statement_violation, event_violation, quoted_dates
from kiwiresearch.kin.firewall.quote import SourceQuote, words_in
from kiwiresearch.kin.firewall.relations import relation_violation
from kiwiresearch.kin.firewall.violations import Code, Violation, violation
from kiwiresearch.kin.lineage import parse_ancestor_label
from kiwiresearch.kin.names import sex_of_name
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import DATE_FIELDS, PLACE_FIELDS, RELATION_FIELDS, FieldName, Sex
from kiwiresearch.text.dates.ranges import DateRange

LONGEST_QUOTE = 2_500
SURE = 0.6
"""What is told with less than this is a guess, and waits for more."""
ADDRESS = re.compile(r"\b(?:https?|zim|ftp|file)://[^\s<>\"')\]]+", re.IGNORECASE)


def check(
    extracted: ExtractedFact,
    text: str,
    subject: str,
    sex: Sex = "",
    *,
    other_names: tuple[str, ...] = (),
    urls: frozenset[str] | None = None,
) -> tuple[Violation, ...]:
    """What speaks against taking this for a fact of the subject; nothing if nothing does.

    `text` is the source, `other_names` are more names of the subject, `urls` the addresses and
    paths that the source links to.
    Where `urls` is not given, targets are not checked; an address anywhere in the
    value must then stand in the source.
    """
    found = [
        *quote_violations(extracted, text),
        *_confidence_violations(extracted),
        *_address_violations(extracted, text, urls),
    ]
    if not any(one.check in (1, 2) for one in found):
        snippet = extracted.snippet
        cited = SourceQuote(text, snippet.start, snippet.end, subject, sex, other_names)
        codes = [code for code in _content_violations(extracted, cited) if code != "HF_027" or _is_sure(extracted)]
        found += [violation(code, f"{extracted.field} {extracted.value}") for code in codes]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.code))


def quote_violations(extracted: ExtractedFact, text: str) -> Iterator[Violation]:
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


def _confidence_violations(extracted: ExtractedFact) -> Iterator[Violation]:
    """Check 7: a confidence is a share."""
    value = extracted.confidence
    if math.isnan(value):
        yield violation("HF_032", f"{value}")
    elif not 0.0 <= value <= 1.0:
        yield violation("HF_031", f"{value}")


def _address_violations(extracted: ExtractedFact, text: str, urls: frozenset[str] | None) -> Iterator[Violation]:
    """Check 8: addresses and targets are those of the source."""
    given = urls or frozenset()
    said = (extracted.value, extracted.target, extracted.locator, extracted.rationale)
    for address in (match[0] for words in said for match in ADDRESS.finditer(words)):
        if address not in given and address not in text:
            yield violation("HF_036", address)
    if urls is not None and extracted.target and extracted.target not in urls:
        yield violation("HF_037", extracted.target)


def _content_violations(extracted: ExtractedFact, cited: SourceQuote) -> Iterator[Code]:
    """Checks 3, 4, 5 and 9: the quote says it, of the subject."""
    if extracted.field in DATE_FIELDS:
        yield from _date_violations(extracted, cited)
    elif extracted.field in PLACE_FIELDS:
        yield from _place_violations(extracted, cited)
    elif extracted.field in RELATION_FIELDS:
        yield from _name_violations(extracted, cited)
        yield from filter(None, [relation_violation(cited, extracted.field, extracted.value)])
        yield from _marriage_date_violations(extracted, cited)
    elif extracted.field == "name":
        yield from _name_violations(extracted, cited)
        yield from _own_name_violations(extracted, cited)
    elif extracted.field == "sex":
        if not _tells_sex(extracted.value, cited):
            yield "HF_045"
    elif not cited.spans(extracted.value):
        yield "HF_016"


def _date_violations(extracted: ExtractedFact, cited: SourceQuote) -> Iterator[Code]:
    when = extracted.when
    if when is None or when.edtf() != extracted.value:
        yield "HF_011"
        return
    event = extracted.field.removesuffix("_date")
    fits = [(told, date_fit(told.when, when)) for told in quoted_dates(cited.words)]
    right = [told for told, how in fits if how in ("same", "coarser")]
    if not right:
        yield "HF_013" if any(how == "finer" for _, how in fits) else "HF_012"
    else:
        yield from _event_violations(cited, [(told.start, told.end) for told in right], event, "HF_014")


def _event_violations(
    cited: SourceQuote, spans: Sequence[tuple[int, int]], event: str, elsewhere: Code
) -> Iterator[Code]:
    """What is wrong with the best of the places where a date or place stands."""
    held = [span for span in spans if event_violation(cited, *span, event) is None]
    if not held:
        yield elsewhere
        return
    doubts = [event_statement_violation(cited, *span) for span in held]
    if all(doubts):
        yield from filter(None, [min(filter(None, doubts))])


def _is_sure(extracted: ExtractedFact) -> bool:
    """Whether a value is told as more than a guess; what a source only supposes may be kept as that."""
    guessed = extracted.qualifier == "disputed" or bool(extracted.when and extracted.when.qualifier)
    return extracted.confidence >= SURE and not guessed


def _place_violations(extracted: ExtractedFact, cited: SourceQuote) -> Iterator[Code]:
    spans = cited.spans(extracted.value)
    if not spans:
        yield "HF_021"
        return
    if not any(word.is_capital and not word.folded.isdigit() for word in words_in(extracted.value)):
        yield "HF_023"
    event = extracted.field.removesuffix("_place")
    yield from _event_violations(cited, spans, event, "HF_022")


def _name_violations(extracted: ExtractedFact, cited: SourceQuote) -> Iterator[Code]:
    if not cited.spans(extracted.value):
        yield "HF_016"
    names = [word for word in words_in(extracted.value) if word.is_capital and not word.folded.isdigit()]
    if not names:
        yield "HF_017"
    words = cited.table.words
    nobody = words["titles"] | words["countries"] | {"the", "of"}
    if names and {word.folded for word in names} <= nobody:
        yield "HF_018"


def _own_name_violations(extracted: ExtractedFact, cited: SourceQuote) -> Iterator[Code]:
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


def _marriage_date_violations(extracted: ExtractedFact, cited: SourceQuote) -> Iterator[Code]:
    """The dates of a marriage stand in the quote as well."""
    claimed: list[DateRange] = [when for when in (extracted.when, extracted.until) if when]
    told = quoted_dates(cited.words) if claimed else []
    for when in claimed:
        if not any(date_fit(one.when, when) in ("same", "coarser") for one in told):
            yield "HF_015"


def _tells_sex(value: str, cited: SourceQuote) -> bool:
    return any(cited.table.sexes.get(word.folded) == value for word in cited.tokens)


def check_relative(
    extracted: ExtractedFact, text: str, line: tuple[FieldName, ...], name: str
) -> tuple[Violation, ...]:
    """What speaks against a statement about a relative, who goes by `name` and stands on this line from the person.

    A parent of theirs is proved by a label that tells the whole line: 'Paternal grandfather'.
    """
    if extracted.field in RELATION_FIELDS:
        return tuple(_label_violations(extracted, text, (*line, extracted.field)))
    return check(extracted, text, name, sex_of_name(name))


def _label_violations(extracted: ExtractedFact, text: str, line: tuple[FieldName, ...]) -> Iterator[Violation]:
    faults = list(quote_violations(extracted, text))
    yield from faults
    if faults:
        return
    quote = extracted.snippet.words
    label = parse_ancestor_label(quote)
    thing = f"{extracted.field} {extracted.value}"
    if label is None:
        yield violation("HF_041", thing)
    elif label.line != line:
        yield violation("HF_042", thing)
    elif quote[label.end :].strip() != extracted.value:
        yield violation("HF_016", thing)
