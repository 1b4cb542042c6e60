"""The running text: relations that the sentences about the person state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kiwiresearch.kin.extract.clauses import Clause, clauses_of
from kiwiresearch.kin.extract.households import borne, borne_by, had_children, had_siblings
from kiwiresearch.kin.extract.kinship import apposed, owned
from kiwiresearch.kin.extract.lead import cut
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.relations import Relation, born_to, child_of, role_of
from kiwiresearch.kin.extract.spans import Span
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.values import qualifier_in
from kiwiresearch.kin.extract.weddings import married
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

CHILD_RULES = ("of the subject by name", "'had children' said of the subject", "'their children' of the couple")
HIS_SON = regex.compile(r"(?:his|her) (?:son|daughter),? ", regex.IGNORECASE)
Rule = Callable[[str, Clause, Subject, FamilyWords], Iterator[Relation]]
RULES: tuple[Rule, ...] = (child_of, born_to, role_of, owned, apposed, married, had_children, borne, had_siblings)


def prose_facts(page: PageDoc, subject: Subject, words: FamilyWords) -> Iterator[Extracted]:
    """Relatives named in sentences about the subject, each once for each sentence."""
    wives: set[str] = set()
    for clause in clauses_of(page, subject, words):
        seen: set[tuple[str, int]] = set()
        said = [one for rule in RULES for one in rule(page.text, clause, subject, words)]
        for relation in (*said, *borne_by(page.text, clause, subject, frozenset(wives), words)):
            key = relation.field, relation.name.start
            if key in seen or _is_subject(page, relation, subject) or _of_same_sex(page, relation, subject):
                continue
            seen.add(key)
            if relation.field == "spouse":
                wives.update(_called(page.text[relation.name.start : relation.name.end], subject))
            yield _fact(page, clause, relation, words)


def _called(name: str, subject: Subject) -> Iterator[str]:
    """The words of a name by which the text may call a wife, without those that are the subject's as well."""
    yield from (word for word in regex.findall(r"\p{Lu}[\p{L}\-]+", name) if fold(word) not in subject.tokens)


def _is_subject(page: PageDoc, relation: Relation, subject: Subject) -> bool:
    """Nobody is their own relative; a parent may bear the same name."""
    name = page.text[relation.name.start : relation.name.end]
    one, own = parse_name(name), parse_name(page.title)
    if own.regnal and one.regnal == own.regnal and one.given[:1] == own.given[:1]:
        return True
    if relation.field in ("father", "mother", "parent"):
        return False
    if "also named" in page.text[relation.said.start : relation.said.end] or one.generation:
        return False
    given = {fold(word) for word in (*own.given, *parse_name(subject.name).given)}
    if relation.field == "child" and fold(name) in given and relation.rule.endswith(CHILD_RULES):
        return bool(
            HIS_SON.fullmatch(page.text, relation.said.start, relation.name.start)
        )  # 'his eldest son Benjamin', on the page of Benjamin
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
    if 0 <= said.start - clause.start < 80 and regex.fullmatch(r"[^;]*", page.text[clause.start : said.start]):
        said = Span(clause.start, said.end)
    before = page.text[max(clause.start, said.start) : relation.name.start][-90:]
    behind = page.text[relation.name.end : said.end] if relation.said.start == relation.name.start else ""
    kind = "lead" if clause.early else "prose"
    return Extracted(
        relation.field,
        name,
        cut(page, said),
        kind,  # type: ignore[arg-type]  # both are methods
        EARLY if clause.early else LATER,
        when,
        qualifier=_qualifier(behind or before, words) or _claimed(page, clause, relation),
        target=_target(page, relation.name),
        locator=_section(page, clause.start),
        rationale=relation.rule,
    )


def _qualifier(before: str, words: FamilyWords) -> Qualifier:
    """What the words right before a name say of the relation; those of the next name on do not count."""
    near = regex.split(r"[,;]", before)[-1] if "," in before else before
    return qualifier_in(near, words) or qualifier_in(before[-40:], words)


def _claimed(page: PageDoc, clause: Clause, relation: Relation) -> Qualifier:
    return "disputed" if CLAIMED.search(page.text, clause.start, relation.name.start) else ""


CLAIMED = regex.compile(
    r"\b(?:claim\w*|alleg\w+|rumou?r\w*|speculat\w+|suggest\w*|suppos\w+)\s+(?:\w+\s+)?that\b|"
    r"\b(?:[Ss]ome|[Oo]ther|[Ll]ater)\s+(?:\w+\s+)?(?:accounts?|sources?|historians?|scholars?|authors?|people)\s+"
    r"(?:say|claim|believe|think|hold|report|tell|maintain)s?\b"
)


def _wedding(page: PageDoc, clause: Clause, relation: Relation) -> tuple[DateRange | None, Span]:
    """When they married: the date right behind the name, or the one that opens the sentence."""
    text, said = page.text, relation.said
    behind = MARRIED_ON.match(text, relation.name.end, clause.end)
    if behind and "(" not in text[behind.end() : behind.end() + 4]:
        for dated in dates_in(text[behind.end() : clause.end], page.language)[:1]:
            if dated.start < 3 and not dated.when.lasts:
                return dated.when, Span(said.start, max(said.end, behind.end() + dated.end))
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
