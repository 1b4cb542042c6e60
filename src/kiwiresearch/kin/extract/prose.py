"""The running text: relations that the sentences about the person state."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.clauses import Clause, clauses_of
from kiwiresearch.kin.extract.lead import cut
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.relations import Relation, relations_in
from kiwiresearch.kin.extract.spans import Span
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.values import qualifier_in
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import Qualifier
from kiwiresearch.kin.names import parse_name, sex_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import DateRange, dates_in

EARLY = 0.7
LATER = 0.6
MARRIED_ON = regex.compile(r"\s*(?:\([^()]*\))?\s*(?:,[^,;.]{0,60},)?\s*(?:again\s+)?(?:on|in)\s+(?=[\p{Lu}\d])")
OPENED_WITH_DATE = regex.compile(r"(?:In|On)\s+(?=[\p{Lu}\d])")


def prose_facts(page: PageDoc, subject: Subject, words: FamilyWords) -> Iterator[Extracted]:
    """Relatives named in sentences about the subject, each once for each sentence."""
    for clause in clauses_of(page, subject, words):
        seen: set[tuple[str, int]] = set()
        for relation in relations_in(page.text, clause, subject, words):
            key = relation.field, relation.name.start
            if key in seen or _is_subject(page, relation, subject) or _of_same_sex(page, relation, subject):
                continue
            seen.add(key)
            yield _fact(page, clause, relation, words)


def _is_subject(page: PageDoc, relation: Relation, subject: Subject) -> bool:
    """Nobody is their own relative; a parent may bear the same name."""
    name = page.text[relation.name.start : relation.name.end]
    if relation.field in ("father", "mother", "parent"):
        return False
    if "also named" in page.text[relation.said.start : relation.said.end] or parse_name(name).generation:
        return False
    return fold(name) in subject.tokens or fold(name) in (fold(subject.name), fold(page.title))


def _of_same_sex(page: PageDoc, relation: Relation, subject: Subject) -> bool:
    """In old texts a man that a man 'married' is somebody else's husband: gender must agree."""
    sex = sex_of(page.text[relation.name.start : relation.name.end])
    if (relation.field == "father" and sex == "female") or (relation.field == "mother" and sex == "male"):
        return True
    return relation.field == "spouse" and bool(sex) and sex == subject.sex


def _fact(page: PageDoc, clause: Clause, relation: Relation, words: FamilyWords) -> Extracted:
    name = page.text[relation.name.start : relation.name.end]
    said = relation.said
    when, said = _wedding(page, clause, relation) if relation.field == "spouse" else (None, said)
    if said.start - clause.start < 80 and regex.fullmatch(r"[^;]*", page.text[clause.start : said.start]):
        said = Span(clause.start, said.end)
    before = page.text[max(clause.start, said.start) : relation.name.start][-90:]
    kind = "lead" if clause.early else "prose"
    return Extracted(
        relation.field,
        name,
        cut(page, said),
        kind,  # type: ignore[arg-type]  # both are methods
        EARLY if clause.early else LATER,
        when,
        qualifier=_qualifier(before, words),
        target=_target(page, relation.name),
        locator=_section(page, clause.start),
        rationale=relation.rule,
    )


def _qualifier(before: str, words: FamilyWords) -> Qualifier:
    """What the words right before a name say of the relation; those of the next name on do not count."""
    near = regex.split(r"[,;]", before)[-1] if "," in before else before
    return qualifier_in(near, words) or qualifier_in(before[-40:], words)


def _wedding(page: PageDoc, clause: Clause, relation: Relation) -> tuple[DateRange | None, Span]:
    """When they married: the date right behind the name, or the one that opens the sentence."""
    text, said = page.text, relation.said
    behind = MARRIED_ON.match(text, relation.name.end, clause.end)
    if behind and "(" not in text[behind.end() : behind.end() + 4]:
        for dated in dates_in(text[behind.end() : clause.end], page.language)[:1]:
            if dated.start < 3 and not dated.when.lasts:
                return dated.when, Span(said.start, behind.end() + dated.end)
    opened = OPENED_WITH_DATE.match(text, clause.start, clause.end)
    if opened and "married" in relation.rule:
        for dated in dates_in(text[clause.start : said.start], page.language)[:1]:
            if dated.start <= opened.end() - clause.start + 1 and not dated.when.lasts:
                return dated.when, Span(clause.start, said.end)
    return None, said


def _target(page: PageDoc, span: Span) -> str:
    return next((link.target for link in page.links if link.in_text and span.start <= link.start < span.end), "")


def _section(page: PageDoc, at: int) -> str:
    return next((section.heading for section in reversed(page.sections) if section.heading_start <= at), "")
