"""Rules that read a relation from one sentence about the page's person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.clauses import COUPLE, GOVERNED, Clause
from kiwiresearch.kin.extract.cues import (
    ADJECTIVE,
    AFTER_MARRY,
    ALLOWED_BEFORE,
    BLOCKS,
    BORN_TO,
    CHILD_BLOCKS,
    CHILD_CUE,
    CHILD_LINK,
    CHILD_OF,
    CHILDREN,
    CLOSED,
    HAD,
    LINKS,
    MARRIAGE_TO,
    MARRY,
    OWNED,
    OWNED_FIELDS,
    ROLE_FIELDS,
    ROLE_OF,
    ROLE_SEX,
)
from kiwiresearch.kin.extract.lists import Found, names_from, one_name, pair_from
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import CAP, NAME, Span, is_name
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.names import sex_of


@dataclass(frozen=True, slots=True)
class Relation:
    """A relative that a sentence names, and the words that say so: from the subject to the name."""

    field: FieldName
    name: Span
    said: Span
    rule: str


def relations_in(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """Everything the rules read from a sentence."""
    for rule in RULES:
        yield from rule(text, clause, subject, words)


def _governed(text: str, clause: Clause, anchor: Span, *, joint: bool) -> bool:
    """'He studied with Alexander': the subject is not what the sentence is about there."""
    found = GOVERNED.search(text[clause.start : anchor.start])
    return bool(found) and not (joint and found[0].strip() == "and")


def _between(text: str, clause: Clause, at: int, *, joint: bool = False) -> tuple[Span, str] | None:
    """The last mention of the subject before, and the words in between without brackets."""
    before = [
        anchor for anchor in clause.anchors if anchor.end <= at and not _governed(text, clause, anchor, joint=joint)
    ]
    if not before:
        return None
    return before[-1], regex.sub(r"\([^()]*\)", " ", text[before[-1].end : at])


def _free(between: str) -> bool:
    """Whether nothing between the subject and the cue can be what the cue belongs to."""
    if BLOCKS.search(between):
        return False
    return (
        not regex.search(
            rf"(?<!\b(?:in|at|near|from|of|on|to|the|,) ){CAP}(?:\s+{CAP})*,\s*(?:(?:the|an?|"
            rf"then)\s+)?(?:[\w\-]+\s+){{0,3}}$",
            between,
        )
        or bool(regex.search(r"\d{3,4}\)?,\s*(?:\w+\s+){0,5}$", between))
        or _behind_place(between)
    )


def _behind_place(between: str) -> bool:
    """'was born in Denison, Texas, the third of seven sons born to': what stands before is a place."""
    return bool(regex.search(rf"\bborn\b[^.;]*\b(?:in|at|near)\s+(?:the\s+)?{CAP}[^.;]*$", between))


def child_of(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'was the son of A and B'."""
    for found in CHILD_OF.finditer(text, clause.start, clause.end):
        if (
            subject.sex
            and ROLE_SEX.get(found["kind"], subject.sex) != subject.sex
            and found["kind"] in ("son", "daughter")
        ):
            continue
        between = _between(text, clause, found.start())
        start = between[0].start if between else clause.start
        if between and (not _free(between[1]) or "(" in between[1]):
            continue
        parents = pair_from(text, found.end(), clause.end, words)
        if not parents or (not between and not _opens(text, clause, found.start(), parents[-1].span.end)):
            continue
        yield from _parents(
            text, parents, Span(start, parents[-1].span.end), "'son of' or 'daughter of' said of the subject"
        )


def _opens(text: str, clause: Clause, cue: int, end: int) -> bool:
    """'The son of A and B, Lincoln was': the subject comes after."""
    head = text[clause.start : cue]
    opened = regex.fullmatch(
        rf"(?:As |Born )?(?:[Tt]he|[Aa]n?|[Oo]nly|[Oo]ne of(?: the)?)?\s*(?:(?:{ADJECTIVE}|of)[,\s]+)*", head
    )
    after = [anchor for anchor in clause.anchors if anchor.start >= end]
    return bool(opened and after and regex.fullmatch(r"(?:[^;.]{0,80},)?\s*", text[end : after[0].start]))


def born_to(text: str, clause: Clause, _: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'was born to A and B'."""
    for found in BORN_TO.finditer(text, clause.start, clause.end):
        between = _between(text, clause, found.start())
        if not between or BLOCKS.search(between[1]) or BLOCKS.search(found["gap"]):
            continue
        if regex.search(CAP, between[1]) and not regex.search(r"\b(?:in|at|on)\b", between[1]):
            continue
        parents = pair_from(text, found.end(), clause.end, words)
        if parents:
            yield from _parents(
                text, parents, Span(between[0].start, parents[-1].span.end), "'born to' said of the subject"
            )


def _parents(text: str, parents: list[Found], said: Span, rule: str) -> Iterator[Relation]:
    """Which of two is the father: names and titles tell, or 'and his wife'."""
    sexes = [sex_of(text[one.span.start : one.span.end]) for one in parents]
    if len(parents) == 2 and parents[1].role in ("wife", "husband"):
        sexes = ["male", "female"] if parents[1].role == "wife" else ["female", "male"]
    if len(parents) == 2:
        opposite = {"male": "female", "female": "male", "": ""}
        sexes = [sexes[0] or opposite[sexes[1]], sexes[1] or opposite[sexes[0]]]  # type: ignore[list-item]
        if sexes[0] == sexes[1]:
            sexes = ["", ""]
    for one, sex in zip(parents, sexes, strict=True):
        field: FieldName = "father" if sex == "male" else "mother" if sex == "female" else "parent"
        yield Relation(field, one.span, Span(said.start, max(one.span.end, min(said.end, one.span.end))), rule)


def role_of(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'was the wife of King Stephen', 'the father of'."""
    for found in ROLE_OF.finditer(text, clause.start, clause.end):
        kind = found["kind"]
        if subject.sex and ROLE_SEX.get(kind, subject.sex) != subject.sex:
            continue
        between = _between(text, clause, found.start())
        if not between or not _free(between[1]) or not regex.search(r"\b(?:was|is|became|,)|,", between[1]):
            continue
        if ROLE_FIELDS[kind] != "spouse" and regex.search(r"\ban?\s+(?:\w+\s+)?$", between[1]):
            continue  # 'a brother of the order'
        names = (
            names_from(text, found.end(), clause.end, words)
            if ROLE_FIELDS[kind] == "child"
            else [one_name(text, found.end(), clause.end, words, described=True)]
        )
        for name in names:
            if name:
                yield Relation(
                    ROLE_FIELDS[kind],
                    name.span,
                    Span(between[0].start, name.span.end),
                    f"{kind!r} of, said of the subject",
                )


def owned(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'his father, A,', 'her son B', 'Llywelyn's mother was C'."""
    owners = [*clause.owners]
    for owner in owners:
        found = OWNED.match(text, owner.end, clause.end)
        if not found:
            continue
        kind = found["kind"]
        if (kind == "wife" and subject.sex == "female") or (kind == "husband" and subject.sex == "male"):
            continue
        if kind in ("wife", "husband", "consort") and CHILD_CUE.search(text, clause.start, owner.start):
            continue  # 'son of A by his wife B': it is A's
        link = LINKS.match(text, found.end(), clause.end)
        if not link:
            continue
        many = kind in ("parents", "sons", "daughters", "children", "brothers", "sisters", "siblings")
        field = OWNED_FIELDS[kind]
        if kind == "parents":
            pair = pair_from(text, link.end(), clause.end, words, described=False, verbs=True)
            if len(pair) == 2 or (pair and "were" not in link[0]):
                yield from _parents(text, pair, Span(owner.start, pair[-1].span.end), "'his parents'")
            continue
        names = (
            names_from(text, link.end(), clause.end, words) if many else [one_name(text, link.end(), clause.end, words)]
        )
        for name in names:
            if not name or not CLOSED.match(text, name.span.end, clause.end):
                continue
            whole = text[name.span.end - 1] == ")" or regex.match(r"\s*(?:[,.;()]|$)", text[name.span.end : clause.end])
            if "," in link[0] and not many and not whole:
                continue
            yield Relation(field, name.span, Span(owner.start, name.span.end), f"{kind!r} of the subject by name")


def married(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'married A', 'was married to A', 'his marriage to A'."""
    for found in MARRY.finditer(text, clause.start, clause.end):
        between = _between(text, clause, found.start())
        if not between or not ALLOWED_BEFORE.fullmatch(between[1]):
            continue
        behind = AFTER_MARRY.match(text, found.end(), clause.end)
        name = one_name(text, behind.end() if behind else found.end(), clause.end, words, described=True)
        if name:
            yield Relation("spouse", name.span, Span(between[0].start, name.span.end), "'married' said of the subject")
    for found in MARRIAGE_TO.finditer(text, clause.start, clause.end):
        owners = [owner for owner in clause.owners if owner.end <= found.start()]
        if not owners or not regex.fullmatch(
            rf"\s+(?:{ADJECTIVE}\s+|[a-z]+\s+){{0,2}}", text[owners[-1].end : found.start()]
        ):
            continue
        name = one_name(text, found.end(), clause.end, words, described=True)
        if name:
            yield Relation(
                "spouse", name.span, Span(owners[-1].start, name.span.end), "'marriage to' said of the subject"
            )
    for found in regex.finditer(
        r",?\s+whom\s+(?:he|she)\s+(?:\w+\s+)?married\b", text, pos=clause.start, endpos=clause.end
    ):
        if clause.state != "subject" or not subject.pronoun or subject.pronoun not in found[0]:
            continue
        named = [one for one in NAME.finditer(text, clause.start, found.start()) if one.end() == found.start()]
        if named and is_name(named[-1][0], words) and clause.anchors:
            yield Relation("spouse", Span(*named[-1].span()), Span(named[-1].start(), found.end()), "'whom he married'")


def had_children(text: str, clause: Clause, _: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'they had two daughters, A and B', 'their children were A, B and C'."""
    together = COUPLE.match(text, clause.start, clause.end)
    if together and not clause.couple:
        return
    their = regex.match(
        rf"(?:Their)\s+(?:{ADJECTIVE}\s+){{0,3}}(?P<kind>sons?|daughters?|children|child)\b(?!-|['’])",
        text[clause.start : clause.end],
    )
    if their:
        link = LINKS.match(text, clause.start + their.end(), clause.end)
        many = their["kind"] in ("sons", "daughters", "children")
        start = link.end() if link else clause.start + their.end()
        names = names_from(text, start, clause.end, words) if many else [one_name(text, start, clause.end, words)]
        for name in names:
            if name:
                yield Relation("child", name.span, Span(clause.start, name.span.end), "'their children' of the couple")
        return
    for had in HAD.finditer(text, clause.start, clause.end):
        start = _parent_before(text, clause, had.start(), together.end() if together else -1)
        if start < 0:
            continue
        for found in CHILDREN.finditer(text, had.end(), clause.end):
            if regex.search(r"['’]s?\s+$", text[had.end() : found.start()]):
                continue
            if CHILD_BLOCKS.search(text[had.end() : found.start()]) or HAD.search(text, had.end(), found.start()):
                break
            link = CHILD_LINK.match(text, found.end(), clause.end)
            if not link:
                continue
            many = found["kind"].endswith(("s", "ren"))
            names = (
                names_from(text, link.end(), clause.end, words)
                if many
                else [one_name(text, link.end(), clause.end, words)]
            )
            for name in names:
                if name:
                    yield Relation("child", name.span, Span(start, name.span.end), "'had children' said of the subject")
        return


def _parent_before(text: str, clause: Clause, at: int, together: int) -> int:
    """Where the subject, or the couple, stands that had the children; -1 where somebody else had."""
    if together >= 0 and at - together < 60 and not regex.search(CAP, text[together:at].strip()):
        return clause.start
    near = regex.search(r"(?:;|,|\band)\s*(they|the couple)\s+(?:\w+\s+)?$", text[clause.start : at], regex.IGNORECASE)
    if near and clause.anchors and clause.state == "subject":
        return clause.anchors[0].start
    between = _between(text, clause, at, joint=True)
    if not between or BLOCKS.search(regex.sub(r"\band (?:his|her) (?:\w+ )?(?:wife|husband)\b", "", between[1])):
        return -1
    plain = regex.sub(
        rf"^\s*and\s+(?:[\"“]?{CAP}[\"”]?\s*)+|\band (?:his|her) (?:\w+ )?(?:wife|husband)(?:,? {CAP}(?: {CAP})*)?",
        " ",
        between[1],
    )
    return between[0].start if not regex.search(CAP, plain) and len(plain) < 60 else -1


Rule = Callable[[str, Clause, Subject, FamilyWords], Iterator[Relation]]
RULES: tuple[Rule, ...] = (child_of, born_to, role_of, owned, married, had_children)
