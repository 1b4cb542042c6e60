"""What a page makes one look for: clues with queries, never facts."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extracted import Extracted, Hypothesis
from kiwiresearch.kin.names import PersonName, parse_name
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold

MAIDEN = regex.compile(r"\((?:née|nee|born)\s+(\p{Lu}[\p{L}\p{M}'’\-]+)\)|\b(?:née|nee)\s+(\p{Lu}[\p{L}\p{M}'’\-]+)")
NTH_OF = regex.compile(
    r"\b(?:eldest|oldest|youngest|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|one)\s+"
    r"(?:child\s+|son\s+|daughter\s+)?of\s+(?:the\s+)?(two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|\d{1,2})\s+"
    r"(?:surviving\s+)?(children|sons|daughters|siblings)\b"
)
SUFFIX = regex.compile(r",?\s+(?:Jr|Sr|Junior|Senior)\b\.?")
EARLY = 4_000
"""How far into a page 'the eldest of five children' is said of its subject."""


def hypotheses_of(page: PageDoc, subject: Subject, facts: tuple[Extracted, ...]) -> tuple[Hypothesis, ...]:
    """All that is worth looking for, each once, the likeliest first."""
    found = (*_generation(subject), *_maiden(page, subject), *_siblings(page, subject), *_regnal(page, subject, facts))
    once = {one.text: one for one in found}
    return tuple(sorted(once.values(), key=lambda one: (-one.priority, one.text)))


def _generation(subject: Subject) -> Iterator[Hypothesis]:
    """'Jr.' implies a father of the same name, 'Sr.' a child."""
    name = parse_name(subject.name)
    plain = SUFFIX.sub("", subject.name).strip()
    if name.generation == "junior" and SUFFIX.search(subject.name):
        yield Hypothesis(
            "parental_discovery",
            f"{subject.name} is a 'Jr.': a father may have borne the name {plain}.",
            f"the suffix of the name {subject.name!r}",
            0.8,
            (f"{plain} Sr.", f"{plain} father"),
        )
    if name.generation == "senior" and SUFFIX.search(subject.name):
        yield Hypothesis(
            "child_discovery",
            f"{subject.name} is a 'Sr.': a son may bear the name {plain}.",
            f"the suffix of the name {subject.name!r}",
            0.7,
            (f"{plain} Jr.", f"{plain} son"),
        )


def _maiden(page: PageDoc, subject: Subject) -> Iterator[Hypothesis]:
    """'née Knox' behind the subject's own name: the family she was born into."""
    head = page.text[subject.opening.start : min(subject.opening.end, subject.opening.start + 250)]
    found = MAIDEN.search(head)
    given = parse_name(subject.name).given
    if found and given and subject.sex != "male":
        maiden = found[1] or found[2]
        yield Hypothesis(
            "birth_family",
            f"{subject.name} was born a {maiden}: her father may be found under that name.",
            found[0],
            0.7,
            (f"{given[0]} {maiden}", f"{maiden} family"),
        )


def _siblings(page: PageDoc, subject: Subject) -> Iterator[Hypothesis]:
    """'the eldest of five children': brothers and sisters whom the page may not name."""
    for found in NTH_OF.finditer(page.text, subject.opening.start, min(len(page.text), subject.opening.start + EARLY)):
        start = max((at for at in page.sentences if at <= found.start()), default=found.start())
        before = page.text[start : found.start()]
        if subject.mention.search(before) or regex.match(rf"(?i)\s*{subject.pronoun or 'he'}\b", before):
            yield Hypothesis(
                "sibling_discovery",
                f"{subject.name} was one of {found[1]} {found[2]}: the others may be found.",
                found[0],
                0.5,
                (f"{subject.name} siblings", f"{subject.name} brothers and sisters"),
            )
            return


def _regnal(page: PageDoc, subject: Subject, facts: tuple[Extracted, ...]) -> Iterator[Hypothesis]:
    """A predecessor or successor of the same house may be a relative."""
    rows = {fold(row.key): row for box in page.infoboxes[:1] for row in box.rows}
    house = next((rows[key].value for key in ("royal house", "house", "dynasty") if key in rows), "")
    known = {fold(fact.value) for fact in facts if fact.field in ("father", "mother", "child", "sibling", "parent")}
    if not house:
        return
    for key, kind in (("predecessor", "parental_discovery"), ("successor", "child_discovery")):
        row = rows.get(key)
        name = row.value.split("\n")[0].strip() if row else ""
        if not row or not name or fold(name) in known or not _is_one(parse_name(name)):
            continue
        yield Hypothesis(
            kind,
            f"{name}, {key} of {subject.name}, may be of the same house ({house}) and a relative.",
            f"the row {row.key!r} of the box",
            0.4,
            (f"{name} family", f"{name} {house}"),
        )


def _is_one(name: PersonName) -> bool:
    return bool(name.given) and " and " not in name.written and "," not in name.written
