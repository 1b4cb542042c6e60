"""The firewall: all reasons why a value is not what its own quote says of a person, or of a relative it names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from kiwiresearch.kin.firewall.attribution import is_denied
from kiwiresearch.kin.firewall.events import date_fit, event_statement_violation, event_violation, quoted_dates
from kiwiresearch.kin.firewall.quote import SourceQuote, quote_words
from kiwiresearch.kin.firewall.relation_check import grandparent_violation, relation_violation
from kiwiresearch.kin.firewall.violations import Code, Violation
from kiwiresearch.kin.language import sex_by_kin
from kiwiresearch.kin.lineage import parse_ancestor_label
from kiwiresearch.kin.names import sex_of_name
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import DATE_FIELDS, PLACE_FIELDS, RELATION_FIELDS, SEX_OF_PARENT, FieldName, Sex

MAX_QUOTE = 2_500
MIN_CONFIDENCE = 0.6
"""A value below this confidence is a guess and waits for more evidence."""
QUOTE_CHECKS = (1, 2)
"""The checks of `quote_violations`: without a quote the others mean nothing."""
UNLABELLED_INFERENCE: Code = "HF_027"
# 'https://example.org/a' and 'zim://…', up to a space, quote or closing bracket; 'example.org' alone does not match.
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
    """The reasons to reject a value as a fact about the subject; empty if it passes.

    `text` is the source, `other_names` are more names of the subject, `urls` the addresses and
    paths that the source links to. Without `urls` targets are not checked, and an address
    anywhere in the value must occur in the source.
    """
    found = [
        *quote_violations(extracted, text),
        *_confidence_violations(extracted),
        *_address_violations(extracted, text, urls),
    ]
    if not any(violation.check_number in QUOTE_CHECKS for violation in found):
        snippet = extracted.snippet
        quote = SourceQuote(text, snippet.start, snippet.end, subject, sex, other_names)
        # What a source only supposes is fine as a guess, so a hedge counts only against a sure value.
        codes = [
            code
            for code in _content_violations(extracted, quote)
            if code != UNLABELLED_INFERENCE or _is_sure(extracted)
        ]
        found += [Violation(code, f"{extracted.field} {extracted.value}") for code in codes]
    return tuple(sorted(dict.fromkeys(found), key=lambda violation: violation.code))


def quote_violations(extracted: ExtractedFact, text: str) -> Iterator[Violation]:
    """Checks 1 and 2: there is a quote, and the source has it at its offsets."""
    snippet = extracted.snippet
    if not snippet.words.strip():
        yield Violation("HF_001", extracted.field)
    elif len(snippet.words) > MAX_QUOTE:
        yield Violation("HF_002", snippet.words[:50])
    elif not 0 <= snippet.start < snippet.end <= len(text):
        yield Violation("HF_006", snippet.words[:50])
    elif text[snippet.start : snippet.end] != snippet.words:
        yield Violation("HF_007" if snippet.words in text else "HF_008", snippet.words[:50])


def _confidence_violations(extracted: ExtractedFact) -> Iterator[Violation]:
    """Check 7: a confidence is between 0 and 1."""
    value = extracted.confidence
    if math.isnan(value):
        yield Violation("HF_032", f"{value}")
    elif not 0.0 <= value <= 1.0:
        yield Violation("HF_031", f"{value}")


def _address_violations(extracted: ExtractedFact, text: str, urls: frozenset[str] | None) -> Iterator[Violation]:
    """Check 8: addresses and targets occur in the source."""
    given = urls or frozenset()
    said = (extracted.value, extracted.target, extracted.locator, extracted.rationale)
    for address in (match[0] for words in said for match in ADDRESS.finditer(words)):
        if address not in given and address not in text:
            yield Violation("HF_036", address)
    if urls is not None and extracted.target and extracted.target not in urls:
        yield Violation("HF_037", extracted.target)


def _content_violations(extracted: ExtractedFact, quote: SourceQuote) -> Iterator[Code]:
    """Checks 3, 4, 5 and 9: the quote says it, and says it of the subject."""
    if extracted.field in DATE_FIELDS:
        yield from _date_violations(extracted, quote)
    elif extracted.field in PLACE_FIELDS:
        yield from _place_violations(extracted, quote)
    elif extracted.field in RELATION_FIELDS:
        yield from _name_violations(extracted, quote)
        yield from filter(None, [relation_violation(quote, extracted.field, extracted.value)])
        yield from _marriage_date_violations(extracted, quote)
    elif extracted.field == "grandparent":
        yield from _name_violations(extracted, quote)
        yield from filter(None, [grandparent_violation(quote, extracted.value)])
    elif extracted.field == "name":
        yield from _name_violations(extracted, quote)
        yield from _own_name_violations(extracted, quote)
    elif extracted.field == "sex":
        if not any(quote.table.sexes.get(word.folded) == extracted.value for word in quote.tokens):
            yield "HF_045"
    elif not quote.spans(extracted.value):
        yield "HF_016"


def _date_violations(extracted: ExtractedFact, quote: SourceQuote) -> Iterator[Code]:
    when = extracted.when
    if when is None or when.edtf() != extracted.value:
        yield "HF_011"
        return
    event = extracted.field.removesuffix("_date")
    fits = [(quoted, date_fit(quoted.when, when)) for quoted in quoted_dates(quote.words)]
    spans = [(quoted.start, quoted.end) for quoted, fit in fits if fit in ("same", "coarser")]
    if not spans:
        yield "HF_013" if any(fit == "finer" for _, fit in fits) else "HF_012"
    else:
        yield from _event_violations(quote, spans, event, "HF_014")


def _event_violations(
    quote: SourceQuote, spans: Sequence[tuple[int, int]], event: str, elsewhere: Code
) -> Iterator[Code]:
    """What is wrong with the best of the spans where the quote has a date or place."""
    matching = [span for span in spans if event_violation(quote, *span, event) is None]
    if not matching:
        yield elsewhere
        return
    # One place that states it is enough; otherwise the mildest objection counts.
    doubts = [event_statement_violation(quote, *span) for span in matching]
    if all(doubts):
        yield min(filter(None, doubts))


def _is_sure(extracted: ExtractedFact) -> bool:
    """Whether a value is given as more than a guess."""
    guessed = extracted.qualifier == "disputed" or bool(extracted.when and extracted.when.qualifier)
    return extracted.confidence >= MIN_CONFIDENCE and not guessed


def _place_violations(extracted: ExtractedFact, quote: SourceQuote) -> Iterator[Code]:
    spans = quote.spans(extracted.value)
    if not spans:
        yield "HF_021"
        return
    if not any(word.is_capital and not word.folded.isdigit() for word in quote_words(extracted.value)):
        yield "HF_023"
    yield from _event_violations(quote, spans, extracted.field.removesuffix("_place"), "HF_022")


def _name_violations(extracted: ExtractedFact, quote: SourceQuote) -> Iterator[Code]:
    if not quote.spans(extracted.value):
        yield "HF_016"
    names = [word for word in quote_words(extracted.value) if word.is_capital and not word.folded.isdigit()]
    if not names:
        yield "HF_017"
    not_names = quote.table.words["titles"] | quote.table.words["countries"] | {"the", "of"}
    if names and {word.folded for word in names} <= not_names:
        yield "HF_018"


def _own_name_violations(extracted: ExtractedFact, quote: SourceQuote) -> Iterator[Code]:
    """A name is the subject's if it shares a word with a known name, or if the quote says that it is one."""
    spans = quote.spans(extracted.value)
    if spans and all(is_denied(quote, start) for start, _ in spans):
        yield "HF_019"
        return
    if {word.folded for word in quote_words(extracted.value)} & quote.own_names:
        return
    for start, _ in spans:
        before = quote.words[max(0, start - 40) : start].lower()
        if "name" in quote.kinds_at(start) or "birth" in quote.kinds_at(start):
            return
        if any(re.search(rf"\b{re.escape(word)}\b", before) for word in quote.table.words["naming"]):
            return
    yield "HF_019"


def _marriage_date_violations(extracted: ExtractedFact, quote: SourceQuote) -> Iterator[Code]:
    """The quote has the dates of the marriage as well."""
    claimed = [when for when in (extracted.when, extracted.until) if when]
    quoted = quoted_dates(quote.words) if claimed else []
    for when in claimed:
        if not any(date_fit(quoted_date.when, when) in ("same", "coarser") for quoted_date in quoted):
            yield "HF_015"


def check_relative(
    extracted: ExtractedFact,
    text: str,
    descent: tuple[FieldName, ...],
    name: str,
    *,
    subject: str = "",
    sex: Sex = "",
    other_names: tuple[str, ...] = (),
) -> tuple[Violation, ...]:
    """The reasons to reject a statement about the relative `name`, whom `descent` leads to from the person.

    Who their parents are is proved by a label that names the full descent ('Paternal grandfather'), by a sentence about
    them ('A, daughter of B'), or by one about the person ('his maternal grandfather, B').
    """
    if extracted.field in RELATION_FIELDS:
        if parse_ancestor_label(extracted.snippet.words):
            return tuple(_label_violations(extracted, text, (*descent, extracted.field)))
        of_relative = check(extracted, text, name, SEX_OF_PARENT.get(descent[-1], "") or sex_of_name(name))
        # Further up, a sentence about the person proves nothing: 'his great-grandfather' may be one of four.
        if not of_relative or len(descent) > 1:
            return of_relative
        problems = list(quote_violations(extracted, text))
        if problems:
            return tuple(problems)
        quote = SourceQuote(text, extracted.snippet.start, extracted.snippet.end, subject, sex, other_names)
        code = grandparent_violation(quote, extracted.value, descent[-1], name)
        return (Violation(code, f"{extracted.field} {extracted.value}"),) if code else ()
    if extracted.field == "sex":
        return tuple(_sex_violations(extracted, text, descent[-1]))
    return check(extracted, text, name, sex_of_name(name))


def _sex_violations(extracted: ExtractedFact, text: str, field: FieldName) -> Iterator[Violation]:
    """The word for the relative must imply the sex; 'his' says only the sex of the other person."""
    yield from quote_violations(extracted, text)
    if sex_by_kin(extracted.snippet.words, field) != extracted.value:
        yield Violation("HF_045", f"sex {extracted.value}")


def _label_violations(extracted: ExtractedFact, text: str, descent: tuple[FieldName, ...]) -> Iterator[Violation]:
    if problems := list(quote_violations(extracted, text)):
        yield from problems
        return
    words = extracted.snippet.words
    label = parse_ancestor_label(words)
    about = f"{extracted.field} {extracted.value}"
    if label is None:
        yield Violation("HF_041", about)
    elif label.line != descent:
        yield Violation("HF_042", about)
    elif words[label.end :].strip() != extracted.value:
        yield Violation("HF_016", about)
