"""Rules that read children, brothers and sisters from one sentence about the page's person."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.clauses import COUPLE, MARRIED, Clause
from kiwiresearch.kin.extract.cues import (
    ADJECTIVE,
    BLOCKS,
    CHILD_BLOCKS,
    CHILD_LINK,
    CHILDREN,
    COORDINATED,
    HAD,
    LINKS,
    SIBLINGS,
)
from kiwiresearch.kin.extract.lists import BRACKET, Found, names_from, one_name
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.relations import Relation, between_at
from kiwiresearch.kin.extract.spans import CAP, MONTHS, Span
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.names import parse_name, sex_of
from kiwiresearch.text.fold import fold


def had_children(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'they had two daughters, A and B', 'their children were A, B and C'."""
    together = COUPLE.match(text, clause.start, clause.end)
    if together and not clause.couple:
        return
    yield from _their_children(text, clause, subject, words)
    yield from _was_born(text, clause, words)
    for had in HAD.finditer(text, clause.start, clause.end):
        start = _parent_before(text, clause, had.start(), together.end() if together else -1)
        if regex.match(
            rf"The {regex.escape(parse_name(subject.name).surname)}s\b(?:,[^;]*,)?\s+$",
            text[clause.start : had.start()],
        ):
            start = clause.start
        if start >= 0:
            yield from _children_behind(text, clause, had.end(), start, words, subject)


def _is_of_couple(before: str, clause: Clause, subject: Subject) -> bool:
    """'She died soon after giving birth to their son', on the page of the husband."""
    other = {"male": "She ", "female": "He "}.get(subject.sex, "they ")
    if clause.couple and AS_THEY.fullmatch(before):
        return True
    return clause.state == "subject" or (before.startswith(other) and not MARRIED.search(before))


AS_THEY = regex.compile(r"(?:While|When|After|Where|As|Before|Once)\s+they\b[^;.]{0,60},\s+")
"""'While they lived in Aue, their first son'."""


def _their_children(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    for their in THEIR_CHILDREN.finditer(text, clause.start, clause.end):
        before = text[clause.start : their.start()]
        couple = clause.couple or (clause.anchors and MARRIED.search(before))
        several = SEVERAL.search(before) and not OWN_CHILDREN.fullmatch(before)
        if not couple or (before and (not _is_of_couple(before, clause, subject) or several)):
            continue
        link = A_SON.match(text, their.end(), clause.end) or LINKS.match(text, their.end(), clause.end)
        start = link.end() if link else their.end()
        many = their["kind"] in ("sons", "daughters", "children") and not before.endswith("One of ")
        for name in (names_from if many else _first_of)(text, start, clause.end, words):
            if name:
                yield Relation("child", name.span, Span(their.start(), name.span.end), "'their children' of the couple")


def _was_born(text: str, clause: Clause, words: FamilyWords) -> Iterator[Relation]:
    """'A daughter, A, was born in Aue', 'B, their son, …', where the couple has been told of."""
    born = CHILD_BORN.match(text, clause.start, clause.end) if clause.couple else None
    name = one_name(text, born.end(), clause.end, words) if born else None
    if name and WAS_BORN.match(text, name.span.end, clause.end):
        yield Relation("child", name.span, Span(clause.start, name.span.end), "'their children' of the couple")
    first = one_name(text, clause.start, clause.end, words) if clause.couple else None
    their = THEIR_CHILD.match(text, first.span.end, clause.end) if first else None
    if first and their:
        yield Relation("child", first.span, Span(first.span.start, their.end() - 1), "'their children' of the couple")


CHILD_BORN = regex.compile(
    rf"(?:(?:In|On)\s+[^,;.]{{3,30}},\s+)?(?:An?|Another|One|The|Two|an?|another)\s+(?:{ADJECTIVE}\s+){{0,2}}"
    r"(?:son|daughter|child),?\s+(?:named\s+)?"
)
WAS_BORN = regex.compile(r"\s*(?:\([^()]*\))?,?\s+(?:was|had been)\s+born\b|,\s+(?:born|followed|came)\b")
THEIR_CHILD = regex.compile(rf",\s+their\s+(?:{ADJECTIVE}\s+){{0,2}}(?:son|daughter|child),")
THEIR_CHILDREN = regex.compile(
    rf"\b(?:[Tt]heir\s+|[Tt]he couple['’]s\s+|(?<=\band )(?=(?:son|daughter)\s+\p{{Lu}}))"
    rf"(?:{ADJECTIVE}\s+){{0,3}}(?P<kind>sons?|daughters?|children|child)\b(?!-|['’])"
)
OWN_CHILDREN = regex.compile(r"(?:They|The couple) (?:have|had) [\p{Ll} ]+(?:sons|daughters|children),? and ")
A_SON = regex.compile(r",\s+an?\s+(?:baby\s+)?(?:son|daughter|boy|girl),?\s+(?:named\s+)?(?=\p{Lu})")
"""'Their second child, a son, John'."""
SEVERAL = regex.compile(
    rf"\b(?:parents|brothers|sisters|sons|children|daughters|twins|friends|people|wives)\b|{CAP}\s+and\s+{CAP}"
)


def borne(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'His wife bore him two sons, A and B'."""
    for owner in clause.owners:
        bore = BORE.match(text, owner.end, clause.end)
        if bore:
            yield from _children_behind(text, clause, bore.end(), owner.start, words, subject)
    for anchor in clause.anchors:
        if subject.sex == "male" and BORE_TO.search(text, clause.start, anchor.start):
            yield from _children_behind(text, clause, anchor.end, clause.start, words)
    him = BORE_HIM.search(text, clause.start, clause.end) if subject.sex == "male" else None
    if him and (clause.couple or (clause.anchors and MARRIED.search(text, clause.start, him.start()))):
        yield from _children_behind(text, clause, him.end(), clause.start, words)


def borne_by(
    text: str, clause: Clause, subject: Subject, wives: frozenset[str], words: FamilyWords
) -> Iterator[Relation]:
    """'Ruth gave birth to two sons, A and B', where Ruth is known to be the wife, or the couple was just told of."""
    bore = BY_NAME.match(text, clause.start, clause.end)
    wed = clause.couple and subject.sex == "male"
    if bore and (bore["name"] in wives or (wed and sex_of(bore["name"]) == "female")):
        yield from _children_behind(text, clause, bore.end(), clause.start, words)


GAVE_BIRTH = (
    r"\s+(?:(?:also|later|then|soon|would|had|\p{Ll}+ly)\s+){0,2}"
    r"(?:(?:gave|give|given) birth to|bore|borne)(?:\s+him)?\b"
)
BORE = regex.compile(
    rf"\s+(?:{ADJECTIVE}\s+){{0,2}}(?:wife|queen|consort|mistress)(?:,?\s+{CAP}(?:\s+(?:of\s+)?{CAP})*,?)?{GAVE_BIRTH}"
)
BORE_HIM = regex.compile(r"\b(?:[Ss]he|who)\s+(?:(?:later|then|also|had)\s+)?(?:bore|gave|borne)\s+him\b")
BORE_TO = regex.compile(r"\b(?:bore|gave|given|borne)\s+$")
"""'she bore Carter two sons'."""
BY_NAME = regex.compile(
    r"(?:(?:In|On|After|Later|At|By|Soon|Eventually|Then)\b(?:[^;:.\p{Lu}]{0,40}?|[^;:.]{0,40},)\s+)?"
    rf"(?P<name>{CAP})(?:\s+{CAP})*{GAVE_BIRTH}"
)


def _children_behind(
    text: str, clause: Clause, at: int, start: int, words: FamilyWords, subject: Subject | None = None
) -> Iterator[Relation]:
    """The names behind 'two sons, …' and 'a daughter, …'."""
    for found in CHILDREN.finditer(text, at, clause.end):
        gap = BRACKET.sub(" ", text[at : found.start()])
        if regex.search(r"['’]s?\s+$", gap) or _of_spouse_alone(text[:at], gap, subject):
            continue
        if HAD.search(gap) or (CHILD_BLOCKS.search(gap) and not gap.endswith(", and ")):
            return
        link = CHILD_LINK.match(text, found.end(), clause.end)
        if not link:
            continue
        many = found["kind"].endswith(("s", "ren")) or link[0].rstrip().endswith(":")
        behind = link.end()
        for name in (
            names_from(text, behind, clause.end, words) if many else [one_name(text, behind, clause.end, words)]
        ):
            if name:
                yield Relation("child", name.span, Span(start, name.span.end), "'had children' said of the subject")


def _of_spouse_alone(before: str, gap: str, subject: Subject | None) -> bool:
    """'he raised her two children': hers, from before, unless he adopted them."""
    whose = regex.search(r"\b(his|her)\s+$", gap)
    if not whose or not subject or before.endswith("adopted"):
        return False
    return bool(whose[1] != (subject.possessive or whose[1]))


def _first_of(text: str, start: int, end: int, words: FamilyWords) -> list[Found | None]:
    return [one_name(text, start, end, words)]


def _parent_before(text: str, clause: Clause, at: int, together: int) -> int:
    """Where the subject, or the couple, stands that had the children; -1 where somebody else had."""
    if together >= 0 and (
        (at - together < 60 and not _names_somebody(text[together:at])) or AND_THEN.search(text, together, at)
    ):
        return clause.start
    near = regex.search(r"(?:;|,|\band)\s*(they|the couple)\s+(?:\w+\s+)?$", text[clause.start : at], regex.IGNORECASE)
    if near and clause.anchors and clause.state == "subject":
        return clause.anchors[0].start
    if clause.couple and clause.state == "subject" and LATER_ON.fullmatch(text, clause.start, at):
        return clause.start
    between = between_at(text, clause, at, joint=True)
    if not between:
        return -1
    if COORDINATED.fullmatch(JOINED.sub(" ", between[1])):
        return between[0].start
    if BLOCKS.search(regex.sub(r"\band (?:his|her) (?:\w+ )?(?:wife|husband)\b", "", between[1])):
        return -1
    plain = regex.sub(
        rf"^\s*and\s+(?:[\"“]?{CAP}[\"”]?\s*)+|\band (?:his|her) (?:\w+ )?(?:wife|husband)(?:,? {CAP}(?: {CAP})*)?",
        " ",
        between[1],
    )
    return between[0].start if not regex.search(CAP, plain) and len(plain) < 60 else -1


AND_THEN = regex.compile(
    r"^[^;:.]*,? and (?:(?:as of|in|by|now|currently|together|later|then|eventually) ?(?:\d{4},? )?)?$|^[^;:.]*,\s+$"
)
"""'They married in Aue Cathedral and as of 2005'."""
LATER_ON = regex.compile(r"[\p{Ll}\p{Lu}\d ,]{3,50}?\b(?:they|the couple)\s+(?:\w+\s+){0,2}")
"""'Over the next ten years the couple would'."""
JOINED = regex.compile(rf"^\s*and\s+(?:{CAP}\s+)+(?:were\s+|got\s+)?(?=married\b)")


def _names_somebody(between: str) -> bool:
    return any(fold(word) not in MONTHS | MORE_MONTHS for word in regex.findall(CAP, between))


MORE_MONTHS = frozenset({"march", "april", "may", "august"})


def had_siblings(text: str, clause: Clause, _: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'She has an older half-sister, Ann', 'having one brother (Dane) and three sisters (Milka, Ann and Ruth)'."""
    for had in regex.finditer(r"\b(?:had|has|having)\b", text, pos=clause.start, endpos=clause.end):
        start = _parent_before(text, clause, had.start(), -1)
        if start < 0:
            continue
        for found in SIBLINGS.finditer(text, had.end(), clause.end):
            gap = SIBLINGS.sub("", BRACKET.sub(" ", text[had.end() : found.start()]))
            if CHILD_BLOCKS.search(gap) and not gap.endswith(", and "):
                break
            link = regex.compile(r"\s*[,:]\s+|\s*\(|\s+(?:named|called)\s+").match(text, found.end(), clause.end)
            if not link:
                continue
            many = found["kind"].endswith("s")
            for name in (names_from if many else _first_of)(text, link.end(), clause.end, words):
                if name:
                    yield Relation(
                        "sibling", name.span, Span(start, name.span.end), "'had a brother' said of the subject"
                    )
        return
