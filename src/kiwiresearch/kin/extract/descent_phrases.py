"""Rules for 'son of', 'born to' and 'wife of' in a sentence about the page's person, and what a rule returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.name_lists import BRACKET, FoundName, TextSpan, couple_after, name_after, names_after
from kiwiresearch.kin.extract.pronouns import governing_word
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import sex_of_name
from kiwiresearch.kin.tree import OPPOSITE_SEX, FieldName
from kiwiresearch.text import fold


class RelationRule(Enum):
    """How a relation was read. The value is the rationale shown with the fact; `noun` is the kinship word."""

    CHILD_OF = "'son of' or 'daughter of' about this person"
    BORN_TO = "'born to' about this person"
    ROLE_OF = "{noun!r} of, about this person"
    HIS_PARENTS = "'his parents'"
    POSSESSIVE = "{noun!r} of this person, by name"
    APPOSITION = "a name and how that person is related"
    HAD_CHILDREN = "'had children' about this person"
    THEIR_CHILDREN = "'their children' of the couple"
    HAD_SIBLINGS = "'had a brother' about this person"
    MARRIED = "'married' about this person"
    MARRYING = "'marrying' about this person"
    MARRIAGE_TO = "'marriage to' about this person"
    HAD_WIFE = "'had a wife' or a marriage"
    WIFE_OF = "'became the wife of' this person"
    MARRIAGE_OF = "'marriage of' this person"
    WHOM_MARRIED = "'whom he married'"
    WHOSE_DAUGHTER = "'whose daughter he married'"
    BOTH_MARRIED = "'married' about this person and another"
    AND_WIFE = "'and wife' about this person"
    MARRIED_BY = "'married' this person, about another"
    BECAME = "'became the {noun} of' this person"
    MET_AND_MARRIED = "'met' and 'married' about this person"


@dataclass(frozen=True, slots=True)
class RelativePhrase:
    """A relative named in a sentence, and the quote that says so: from the subject to the name."""

    field: FieldName
    name: TextSpan
    quote: TextSpan
    rule: RelationRule
    noun: str = ""

    @property
    def rationale(self) -> str:
        return self.rule.value.format(noun=self.noun)


def words_since_subject(text: str, clause: Clause, at: int, *, joint: bool = False) -> tuple[TextSpan, str] | None:
    """The last mention of the subject before an offset, and the words after it without brackets.

    Mentions that another word governs do not count: 'He studied with Alexander'. `joint` allows 'and'.
    """
    for anchor in reversed(clause.mentions):
        if anchor.end <= at:
            word = governing_word(text, clause.start, anchor.start)
            if not word or (joint and word == "and"):
                return anchor, regex.sub(r"\([^()]*\)", " ", text[anchor.end : at])
    return None


def names_person(words: str) -> bool:
    """Whether these words may name somebody: 'settled at Aue' names only a place."""
    return any(
        not ENGLISH.placed.search(words[: run.start()]) and fold(run[0]) not in ENGLISH.words["months"]
        for run in ENGLISH.capital_run.finditer(words)
    )


def cue_can_belong_to_subject(between: str) -> bool:
    """Whether nothing between the subject and the cue can be what the cue belongs to."""
    if ENGLISH.blocks_kin.search(between):
        return False
    # 'was born in Denison, Texas, the third of seven sons born to': the name before the cue may be a place.
    return bool(
        not ENGLISH.name_before_cue.search(between)
        or regex.search(r"\d{3,4}\)?,\s*(?:\w+\s+){0,5}$", between)
        or ENGLISH.born_in_place.search(between)
    )


def read_child_of(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'was the son of A and B'."""
    for found in ENGLISH.child_of.finditer(text, clause.start, clause.end):
        kind = found["kind"].lower()
        if kind in ("son", "daughter") and subject.sex and ENGLISH.kin_sex[kind] != subject.sex:
            continue
        # With a capital inside a sentence it is part of a title.
        if found["kind"] != kind and found.start() > clause.start:
            continue  # 'the Son of'
        between = words_since_subject(text, clause, found.start())
        start = between[0].start if between else clause.start
        if between and ENGLISH.of_relative.match(text, clause.start, between[0].start):
            continue  # 'His grandfather, Earl Carter, was the second son of'
        if between and ENGLISH.and_the.match(between[1]):
            continue  # 'Wren and the son of Charles I'
        if between:
            between = between[0], ENGLISH.also_a_son.sub("", between[1])
        if between and ENGLISH.styled.search(between[1]):
            continue
        if between and ENGLISH.had_sons.search(between[1]):
            continue  # 'had two sons, Ned, the son of Ann's brother'
        one_of = ENGLISH.one_of.search(text[clause.start : found.start()])
        if kind == "child" and ENGLISH.child_of_age.search(text, clause.start, found.start()):
            continue
        with_sibling = ENGLISH.and_own_sibling.match(between[1]) if between else None
        if kind in ("sons", "daughters", "children") and not (one_of or with_sibling):
            continue  # 'his uncles Henry and Thomas, sons of'
        if between and with_sibling:
            between = between[0], between[1][with_sibling.end() :]
        if between and (
            not cue_can_belong_to_subject(ENGLISH.aside.sub(" ", between[1]))
            or "(" in between[1]
            or _is_namesake(text, clause, *between)
        ):
            continue
        parents = couple_after(text, found.end(), clause.end)
        if not parents or (not between and not _opens(text, clause, found.start(), parents[-1].span.end)):
            continue
        yield from parent_relations(text, parents, start, RelationRule.CHILD_OF)


def _is_namesake(text: str, clause: Clause, anchor: TextSpan, between: str) -> bool:
    """'the painter Johann Sebastian, son of': a trade and a father distinguish another person of that name."""
    described = ENGLISH.described_before.search(text[clause.start : anchor.start])
    return bool(described) and between.lstrip().startswith(",")


def _opens(text: str, clause: Clause, cue: int, end: int) -> bool:
    """Whether the subject comes after its parents: 'The son of A and B, Lincoln was'."""
    head = text[clause.start : cue]
    opened = ENGLISH.child_of_opens.fullmatch(head)
    after = [anchor for anchor in clause.mentions if anchor.start >= end]
    after = [anchor for anchor in after if not regex.search(r"\bn[ée]e\s+$", text[end : anchor.start])]
    return bool(opened and after and regex.fullmatch(r"(?:[^;.]{0,80},)?\s*", text[end : after[0].start]))


def read_born_to(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'was born to A and B'."""
    for found in ENGLISH.born_to.finditer(text, clause.start, clause.end):
        gap = ENGLISH.also_a_son.sub("", BRACKET.sub(" ", found["gap"]))
        if len(gap) > 70 and regex.search(r"(?:^|\s)\p{Ll}[\p{Ll}\-]*\s+$", gap):
            continue  # 'on the day of the dedication of an altar to'
        between = words_since_subject(text, clause, found.start())
        if (
            not between
            or ENGLISH.blocks_kin.search(ENGLISH.among_children.sub("", between[1]))
            or ENGLISH.blocks_kin.search(gap)
            or not ENGLISH.birth_where.fullmatch(gap)
        ):
            continue
        if ENGLISH.cap.search(between[1]) and not ENGLISH.in_at_on.search(between[1]):
            continue
        parents = couple_after(text, found.end(), clause.end)
        if parents:
            yield from parent_relations(text, parents, between[0].start, RelationRule.BORN_TO)


def parent_relations(text: str, parents: list[FoundName], start: int, rule: RelationRule) -> Iterator[RelativePhrase]:
    """Parents as father and mother, by their names and titles or by 'and his wife'; quotes begin at `start`."""
    sexes = [sex_of_name(text[found_name.span.start : found_name.span.end]) for found_name in parents]
    if len(parents) == 2 and parents[1].role in ("wife", "husband"):
        sexes = ["male", "female"] if parents[1].role == "wife" else ["female", "male"]
    if len(parents) == 2:
        # One known sex gives the other; two people of the same sex mean that a name was misread.
        sexes = [sexes[0] or OPPOSITE_SEX[sexes[1]], sexes[1] or OPPOSITE_SEX[sexes[0]]]
        if sexes[0] == sexes[1]:
            sexes = ["", ""]
    for name, sex in zip(parents, sexes, strict=True):
        field: FieldName = "father" if sex == "male" else "mother" if sex == "female" else "parent"
        yield RelativePhrase(field, name.span, TextSpan(start, name.span.end), rule)


def read_role_of(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'was the wife of King Stephen', 'the father of'."""
    for found in ENGLISH.role_of.finditer(text, clause.start, clause.end):
        kind = found["kind"].replace(" b", "-b").replace(" s", "-s")
        if subject.sex and ENGLISH.kin_sex.get(kind.removeprefix("half-"), subject.sex) != subject.sex:
            continue
        between = words_since_subject(text, clause, found.start())
        if between:
            between = between[0], ENGLISH.was_the_and.sub("was ", between[1])
        if between and ENGLISH.known_as.search(between[1]):
            continue  # 'is known as the father of Aue'
        if not between or not cue_can_belong_to_subject(between[1]) or not ENGLISH.was_or_comma.search(between[1]):
            continue
        if kind in ("father", "mother", "brother", "sister") and ENGLISH.a_before_role.search(between[1]):
            continue  # 'a brother of the order'
        if ENGLISH.of_another.search(between[1]) and not ENGLISH.born_in_place.search(between[1]):
            continue
        field = ENGLISH.role_of_fields[kind]
        names = names_after(text, found.end(), clause.end) if field != "spouse" else []
        if field != "child" and len(names) < 2:
            only_name = name_after(text, found.end(), clause.end, described=True)
            names = [only_name] if only_name else []
        for name in names:
            yield RelativePhrase(
                field, name.span, TextSpan(between[0].start, name.span.end), RelationRule.ROLE_OF, kind
            )
