"""What a record says about the relatives of its person, held against its quotes."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.ancestry import line_of
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import RELATIONS, FieldName
from kiwiresearch.kin.firewall.check import check, unquoted
from kiwiresearch.kin.firewall.violation import Violation, violation
from kiwiresearch.kin.names import sex_of


def check_beside(extracted: Extracted, text: str, line: tuple[FieldName, ...], name: str) -> tuple[Violation, ...]:
    """What speaks against a statement about a relative, who goes by `name` and stands on this line from the person.

    A parent of theirs is proved by a label that tells the whole line: 'Paternal grandfather'.
    """
    if extracted.field in RELATIONS:
        return tuple(_unlabelled(extracted, text, (*line, extracted.field)))
    return check(extracted, text, name, sex_of(name))


def _unlabelled(extracted: Extracted, text: str, line: tuple[FieldName, ...]) -> Iterator[Violation]:
    faults = list(unquoted(extracted, text))
    yield from faults
    if faults:
        return
    quote = extracted.snippet.words
    label = line_of(quote)
    thing = f"{extracted.field} {extracted.value}"
    if label is None:
        yield violation("HF_041", thing)
    elif label.line != line:
        yield violation("HF_042", thing)
    elif quote[label.end :].strip() != extracted.value:
        yield violation("HF_016", thing)
