"""Rules that read a relation from one sentence about the page's person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.cues import (
    ADJECTIVE,
    BLOCKS,
    BORN_TO,
    CHILD_OF,
    ROLE_FIELDS,
    ROLE_OF,
    ROLE_SEX,
    WHERE,
)
from kiwiresearch.kin.extract.lists import BRACKET, Found, names_from, one_name, pair_from
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.pronouns import governed
from kiwiresearch.kin.extract.spans import CAP, Span
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


def _governed(text: str, clause: Clause, anchor: Span, *, joint: bool) -> bool:
    """'He studied with Alexander': the subject is not what the sentence is about there."""
    word = governed(text, clause.start, anchor.start)
    return bool(word) and not (joint and word == "and")


def between_at(text: str, clause: Clause, at: int, *, joint: bool = False) -> tuple[Span, str] | None:
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
        kind = found["kind"].lower()
        if kind in ("son", "daughter") and subject.sex and ROLE_SEX[kind] != subject.sex:
            continue
        if found["kind"] != kind and found.start() > clause.start:
            continue  # 'the Son of'
        between = between_at(text, clause, found.start())
        start = between[0].start if between else clause.start
        if between and OF_RELATIVE.match(text, clause.start, between[0].start):
            continue  # 'His grandfather, Earl Carter, was the second son of'
        if between and regex.match(r"\s+and\s+(?:the|an?)\s", between[1]):
            continue  # 'Wren and the son of Charles I'
        if between:
            between = between[0], ALSO_A_SON.sub("", between[1])
        if between and STYLED.search(between[1]):
            continue
        if between and regex.search(r"\bhad\b.*\b(?:sons|daughters|children)\b", between[1]):
            continue  # 'had two sons, Ned, the son of Ann's brother'
        one_of = regex.search(r"\b(?:of|among)\s+(?:[\w\-]+\s+){0,4}$", text[clause.start : found.start()])
        if kind in ("sons", "daughters", "children") and not one_of:
            continue  # 'his uncles Henry and Thomas, sons of'
        if between and (
            not _free(ASIDE.sub(" ", between[1])) or "(" in between[1] or _is_namesake(text, clause, *between)
        ):
            continue
        parents = pair_from(text, found.end(), clause.end, words)
        if not parents or (not between and not _opens(text, clause, found.start(), parents[-1].span.end)):
            continue
        yield from parents_of(
            text, parents, Span(start, parents[-1].span.end), "'son of' or 'daughter of' said of the subject"
        )


ALSO_A_SON = regex.compile(r"\b(?:son|daughter)\s+and\s+(?=(?:the\s+)?(?:[\w\-]+\s+){1,4}(?:children\s*)?$)")
"""'was the first son and the second of six children'."""
OF_RELATIVE = regex.compile(
    r"(?:His|Her|The)\s+(?:[\p{Ll}\-]+\s+){0,3}?(?:grand\p{Ll}+|uncle|cousin|father|brother)\b[^;]*$"
)
STYLED = regex.compile(r"\b(?:style|title|rank|status|privileges|manner)\s+(?:of|as)\s+(?:\w+\s+)*$")
"""'the style of a son of the sovereign'."""
ASIDE = regex.compile(r"^\s*,[^;]*,(?=\s+(?:was|is)\s+(?:the|an?)\s+(?:[\w\-]+\s+){0,3}$)")
"""'Nobel, a descendant of Olaus Rudbeck, was the third …': what stands between the commas."""


def _is_namesake(text: str, clause: Clause, anchor: Span, between: str) -> bool:
    """'the painter Johann Sebastian, son of': who is told apart by a trade and a father is somebody else."""
    told = regex.search(r"\b(?:the|an?|his|her|their)\s+(?:[\p{Ll}\-]+\s+){1,3}$", text[clause.start : anchor.start])
    return bool(told) and between.lstrip().startswith(",")


def _opens(text: str, clause: Clause, cue: int, end: int) -> bool:
    """'The son of A and B, Lincoln was': the subject comes after."""
    head = text[clause.start : cue]
    opened = regex.fullmatch(
        rf"(?:As |Born )?(?:[Tt]he|[Aa]n?|[Oo]nly|[Oo]ne of(?: the)?)?\s*(?:(?:{ADJECTIVE}|of)[,\s]+)*", head
    )
    after = [anchor for anchor in clause.anchors if anchor.start >= end]
    after = [anchor for anchor in after if not regex.search(r"\bn[ée]e\s+$", text[end : anchor.start])]
    return bool(opened and after and regex.fullmatch(r"(?:[^;.]{0,80},)?\s*", text[end : after[0].start]))


def born_to(text: str, clause: Clause, _: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'was born to A and B'."""
    for found in BORN_TO.finditer(text, clause.start, clause.end):
        gap = ALSO_A_SON.sub("", BRACKET.sub(" ", found["gap"]))
        if len(gap) > 70 and regex.search(r"(?:^|\s)\p{Ll}[\p{Ll}\-]*\s+$", gap):
            continue  # 'on the day of the dedication of an altar to'
        between = between_at(text, clause, found.start())
        if not between or BLOCKS.search(between[1]) or BLOCKS.search(gap) or not WHERE.fullmatch(gap):
            continue
        if regex.search(CAP, between[1]) and not regex.search(r"\b(?:in|at|on)\b", between[1]):
            continue
        parents = pair_from(text, found.end(), clause.end, words)
        if parents:
            yield from parents_of(
                text, parents, Span(between[0].start, parents[-1].span.end), "'born to' said of the subject"
            )


def parents_of(text: str, parents: list[Found], said: Span, rule: str) -> Iterator[Relation]:
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
        kind = found["kind"].replace(" b", "-b").replace(" s", "-s")
        if subject.sex and ROLE_SEX.get(kind, subject.sex) != subject.sex:
            continue
        between = between_at(text, clause, found.start())
        if between:
            between = between[0], regex.sub(r"\b(?:was|is)\s+the\s+[^;]*,\s+and\s+(?=the\s+$)", "was ", between[1])
        if between and KNOWN_AS.search(between[1]):
            continue  # 'is known as the father of Aue'
        if not between or not _free(between[1]) or not regex.search(r"\b(?:was|is|became|,)|,", between[1]):
            continue
        if kind in ("father", "mother", "brother", "sister") and regex.search(
            r"\ban?\s+(?!(?:elder|older|younger|full|twin)\s)(?:\w+\s+)?$", between[1]
        ):
            continue  # 'a brother of the order'
        if OF_ANOTHER.search(between[1]) and not _behind_place(between[1]):
            continue
        names = names_from(text, found.end(), clause.end, words) if ROLE_FIELDS[kind] != "spouse" else []
        if ROLE_FIELDS[kind] != "child" and len(names) < 2:
            names = [one_name(text, found.end(), clause.end, words, described=True)]
        for name in names:
            if name:
                yield Relation(
                    ROLE_FIELDS[kind],
                    name.span,
                    Span(between[0].start, name.span.end),
                    f"{kind!r} of, said of the subject",
                )


KNOWN_AS = regex.compile(r"\b(?:known|called|hailed|nicknamed|dubbed|regarded|considered)\b[^,;]*\bas?\s+(?:the\s+)?$")
OF_ANOTHER = regex.compile(rf"\b(?:of|by|with|to|from|for)\s+{CAP}[^;]*,\s*(?:the\s+)?(?:[\w\-]+\s+){{0,2}}$")
"""'gained the support of the Duke of Aue, brother of': whose brother he is, the last name tells."""
