"""Rules that read relatives by their role: 'his father', 'Carter's mother', 'they had two sons', 'an older sister'.

They are in one module, since they share how the person is found whom a role belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.descent_phrases import (
    RelationRule,
    RelativePhrase,
    names_person,
    parent_relations,
    words_since_subject,
)
from kiwiresearch.kin.extract.name_lists import (
    BRACKET,
    TextSpan,
    couple_after,
    is_name,
    name_after,
    name_after_description,
    names_after,
    skip_occupation,
)
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, Match, regex
from kiwiresearch.kin.names import name_words, parse_name, sex_of_name
from kiwiresearch.text import fold

MAX_SENTENCE_BEFORE = 200
"""How far back the sentence about the children may begin."""
BLOOD_KIN = frozenset({"father", "mother", "brother", "sister", "brothers", "sisters"})
SAME_SURNAME_WITHIN = 320
"""How far back another person of the relative's surname may be who 'her' means."""
GOES_ON = regex.compile(r"\s+\p{Ll}{2}")
"""A lower-case word may follow a name that surely is one: 'his daughter Eve Curie wrote'."""


def read_possessive_kin(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'his father, A,', 'her son B', 'Llywelyn's mother was C'."""
    owners = *clause.possessives, *_owners_by_surname(text, clause, subject), *_owners_with_sibling(text, clause)
    for owner in sorted(owners):
        found = ENGLISH.owned_kin.match(text, owner.end, clause.end)
        if not found:
            continue
        kind = found["kind"]
        if (kind == "wife" and subject.sex == "female") or (kind == "husband" and subject.sex == "male"):
            continue
        is_pronoun = text[owner.start : owner.end].lower() == subject.possessive
        if kind == "widow" and is_pronoun and not any(span.end <= owner.start for span in clause.mentions):
            continue  # 'Judge Carter died, leaving his widow': the father's, on the page of the son
        if is_pronoun and ENGLISH.in_office.search(text, clause.start, owner.start):
            continue
        if (
            ENGLISH.owned_fields[kind] == "spouse"
            and is_pronoun
            and ENGLISH.child_cue.search(text, clause.start, owner.start)
        ):
            continue  # 'son of A by his wife B': it is A's
        link = ENGLISH.kin_link.match(text, found.end(), clause.end)
        if not link:
            continue
        if kind == "parents":
            pair = couple_after(
                text, link.end(), clause.end, described=bool(ENGLISH.is_word.search(link[0])), verbs=True
            )
            if len(pair) == 2:
                yield from parent_relations(text, pair, owner.start, RelationRule.HIS_PARENTS)
            continue
        if kind == "wife" and ENGLISH.took_as.search(text, clause.start, owner.start):
            taken = name_after(text, found.end(), clause.end, described=True)
            if taken:
                yield _of_owner(kind, taken.span, owner)
            continue
        named = list(_named_kin(text, clause, kind, link, opens=owner.start == clause.start))
        if is_pronoun and named and kind in BLOOD_KIN and _is_of_namesake(text, owner, named[0], subject):
            continue
        yield from (_of_owner(kind, span, owner) for span in named)
        while named:  # 'his father A and mother B'
            more = ENGLISH.and_kin.match(text, named[-1].end, clause.end)
            link = ENGLISH.kin_link.match(text, more.end(), clause.end) if more else None
            if not more or not link or not regex.fullmatch(r",?\s+", link[0]):
                break
            named = list(_named_kin(text, clause, more["kind"], link))
            yield from (_of_owner(more["kind"], span, owner) for span in named)


def _owners_by_surname(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[TextSpan]:
    """'Downes doubts that his father Tom Carter was a smith': the father's surname shows that he is Carter's."""
    surname = parse_name(subject.name).surname
    if not surname or not subject.possessive or clause.opening_pronoun_means == "relative":
        return
    for found in regex.finditer(rf"\b{subject.possessive}(?=\s)", text, pos=clause.start, endpos=clause.end):
        owner, before = TextSpan(*found.span()), text[clause.start : found.start()]
        kin = ENGLISH.father_named.match(text, owner.end, clause.end)
        has_surname = kin and fold(parse_name(kin["name"]).surname) == fold(surname)
        of_others = any(
            fold(bearer[1]) not in subject.name_tokens
            for bearer in regex.finditer(rf"(\p{{Lu}}[\p{{L}}\-]*)\s+{regex.escape(surname)}\b", before)
        )
        if has_surname and owner not in clause.possessives and not of_others and not ENGLISH.any_kin.search(before):
            yield owner


def _owners_with_sibling(text: str, clause: Clause) -> Iterator[TextSpan]:
    """'Carter and his brother … their mother': hers is theirs."""
    for anchor in clause.mentions:
        found = ENGLISH.with_sibling.match(text, anchor.end + 1, clause.end)
        if found and not names_person(found[0]):
            yield TextSpan(found.end() - len("their"), found.end())


def _is_of_namesake(text: str, owner: TextSpan, name: TextSpan, subject: ArticlePerson) -> bool:
    """'Catherine Grey died. Her sister, Mary Grey': the surname shows that she is Catherine's sister."""
    relative = parse_name(text[name.start : name.end])
    if not relative.surname or subject.name_tokens & set(fold(relative.surname).split()):
        return False
    bearer = regex.compile(rf"(\p{{Lu}}[\p{{L}}\-]+)\s+{regex.escape(relative.surname)}\b")
    before = bearer.finditer(text, pos=max(0, owner.start - SAME_SURNAME_WITHIN), endpos=owner.start)
    return any(found[1] not in relative.given and fold(found[1]) not in subject.name_tokens for found in before)


def _of_owner(kind: str, name: TextSpan, owner: TextSpan) -> RelativePhrase:
    return RelativePhrase(
        ENGLISH.owned_fields[kind], name, TextSpan(owner.start, name.end), RelationRule.POSSESSIVE, kind
    )


def _named_kin(text: str, clause: Clause, kind: str, link: Match, *, opens: bool = False) -> Iterator[TextSpan]:
    """The names after 'his brother' and its link; `opens` if the sentence begins with the owner."""
    many = kind in ("sons", "daughters", "children", "brothers", "sisters", "siblings")
    bare = not link[0].strip()
    at = link.end() if bare else skip_occupation(text, link.end(), clause.end)
    owning = bare and not ENGLISH.handed.search(text, clause.start, link.start())
    if many:
        names = names_after(text, at, clause.end)
    else:
        only_name = name_after(text, at, clause.end, owning=owning)
        if only_name is None and ENGLISH.was_before.search(link[0]):
            only_name = name_after_description(text, at, clause.end)
        names = [only_name] if only_name else []
    for name in names:
        if _is_nationality(text, link[0], name.span):
            continue
        if not _is_closed(text, name.span, clause, bare=bare) and text[name.span.end] not in "'’":
            continue
        rest = text[name.span.end : clause.end]
        is_complete = text[name.span.end - 1] in ")." or regex.match(r"\s*(?:[,.;()]|$)", rest)
        if many or is_complete or "," not in link[0] or opens:
            yield name.span


def _is_closed(text: str, name: TextSpan, clause: Clause, *, bare: bool) -> bool:
    """Whether the name ends there; a single word after 'was' may be something else: 'was English born'."""
    if ENGLISH.closes_name.match(text, name.end, clause.end):
        return True
    written = text[name.start : name.end]
    return bool(GOES_ON.match(text, name.end, clause.end)) and (bare or " " in written or bool(sex_of_name(written)))


def _is_nationality(text: str, link: str, name: TextSpan) -> bool:
    """Whether the page uses the word for a people or a language: 'his mother was Fante'."""
    written = text[name.start : name.end]
    known = name_words()
    if " " in written or not ENGLISH.is_word.search(link):
        return False
    if fold(written) in known.male or fold(written) in known.female:
        return False
    return bool(regex.search(rf"\b(?:half|part|partly|in|an?|the)[ \-]{regex.escape(written)}\b", text))


def read_apposition(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'Catherine Gordon, Byron's mother', 'Ernesto Guevara Lynch (Guevara's father)'."""
    for owner in clause.possessives:
        kin = ENGLISH.owned_kin.match(text, owner.end, clause.end)
        opened = regex.search(r"(?:,|\s\()\s*$", text[clause.start : owner.start])
        if (
            not kin
            or not opened
            or (
                text[owner.start : owner.end].lower() == subject.possessive
                and not _may_follow_name(text, clause, opened, subject)
            )
        ):
            continue
        if not ENGLISH.apposition_end.match(text[kin.end() : clause.end]):
            continue
        if ENGLISH.kin_sex.get(kin["kind"], "") == subject.sex and ENGLISH.owned_fields[kin["kind"]] == "spouse":
            continue
        end = clause.start + opened.start()
        named = [match for match in ENGLISH.name.finditer(text, clause.start, end) if match.end() == end]
        if not named or not is_name(named[-1][0]) or kin["kind"].endswith(("s", "ren")):
            continue
        if " " not in named[-1][0] and not sex_of_name(named[-1][0]):
            continue  # 'Meanwhile, his wife'
        before = text[clause.start : named[-1].start()]
        if ENGLISH.not_opening.search(before) or "," in named[-1][0]:
            continue
        span = TextSpan(named[-1].start(), kin.end())
        yield RelativePhrase(
            ENGLISH.owned_fields[kin["kind"]], TextSpan(*named[-1].span()), span, RelationRule.APPOSITION
        )


def _may_follow_name(text: str, clause: Clause, opened: Match, subject: ArticlePerson) -> bool:
    """Whether 'his' after a name is surely not that person's: in brackets, or after a woman with whom it begins."""
    name = name_after(text, clause.start, clause.end)
    if "(" in opened[0] or name is None:
        return "(" in opened[0]
    is_of_other_sex = sex_of_name(text[name.span.start : name.span.end]) == subject.opposite != ""
    return is_of_other_sex and name.span.end == clause.start + opened.start()


def read_children(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'they had two daughters, A and B', 'their children were A, B and C'."""
    together = ENGLISH.couple.match(text, clause.start, clause.end)
    if together and not clause.they_are_couple:
        return
    yield from _their_children(text, clause, subject)
    yield from _was_born(text, clause)
    yield from _some_of_them(text, clause)
    yield from _each_of_them(text, clause)
    for had in ENGLISH.had_children.finditer(text, clause.start, clause.end):
        start = _parent_before(text, clause, had.start(), together.end() if together else -1)
        family = rf"The {regex.escape(parse_name(subject.name).surname)}s\b(?:,[^;]*,)?\s+$"
        if regex.match(family, text[clause.start : had.start()]):
            start = clause.start
        if start >= 0:
            yield from _children_after(text, clause, had.end(), start, subject)


def _each_of_them(text: str, clause: Clause) -> Iterator[RelativePhrase]:
    """'Of his two sons by Ruth, Tom died young, and Max left'."""
    opened = ENGLISH.each_of.match(text, clause.start, clause.end)
    is_own = any(clause.start < owner.start < clause.start + len("Of his") for owner in clause.possessives)
    at = opened.end() if opened and is_own else -1
    while at >= 0:
        name = name_after(text, at, clause.end)
        if name:
            yield RelativePhrase("child", name.span, TextSpan(clause.start, name.span.end), RelationRule.HAD_CHILDREN)
        more = ENGLISH.next_of_each.search(text, name.span.end, clause.end) if name else None
        at = more.end() if more else -1


def _some_of_them(text: str, clause: Clause) -> Iterator[RelativePhrase]:
    """'They had three children. Two of them, A and B, …'."""
    opened = ENGLISH.of_them.match(text, clause.start, clause.end)
    before = text[max(0, clause.start - MAX_SENTENCE_BEFORE) : clause.start] if opened else ""
    last = list(ENGLISH.they_had_children.finditer(before))
    if not opened or not clause.they_are_couple or not last:
        return
    start = clause.start - len(before) + last[-1].start()
    for name in names_after(text, opened.end(), clause.end, many=not opened[0].startswith("One")):
        yield RelativePhrase("child", name.span, TextSpan(start, name.span.end), RelationRule.THEIR_CHILDREN)


def _is_of_couple(before: str, clause: Clause, subject: ArticlePerson) -> bool:
    """'She died soon after giving birth to their son', on the page of the husband."""
    other = {"male": "She ", "female": "He "}.get(subject.sex, "they ")
    if clause.they_are_couple and ENGLISH.as_they.fullmatch(before):
        return True
    return clause.opening_pronoun_means == "subject" or (
        before.startswith(other) and not ENGLISH.married.search(before)
    )


def _their_children(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    for their in ENGLISH.their_children.finditer(text, clause.start, clause.end):
        before = text[clause.start : their.start()]
        couple = clause.they_are_couple or (clause.mentions and ENGLISH.married.search(before))
        several = ENGLISH.several.search(before) and not ENGLISH.own_children.fullmatch(before)
        if not couple or (before and (not _is_of_couple(before, clause, subject) or several)):
            continue
        link = ENGLISH.a_son.match(text, their.end(), clause.end) or ENGLISH.kin_link.match(
            text, their.end(), clause.end
        )
        start = link.end() if link else their.end()
        many = their["kind"] in ("sons", "daughters", "children") and not before.endswith("One of ")
        for name in names_after(text, start, clause.end, many=many):
            yield RelativePhrase(
                "child", name.span, TextSpan(their.start(), name.span.end), RelationRule.THEIR_CHILDREN
            )


def _was_born(text: str, clause: Clause) -> Iterator[RelativePhrase]:
    """'A daughter, A, was born in Aue', 'B, their son, …', after a sentence about the couple."""
    born = ENGLISH.child_born.match(text, clause.start, clause.end) if clause.they_are_couple else None
    name = name_after(text, born.end(), clause.end) if born else None
    if name and ENGLISH.was_born.match(text, name.span.end, clause.end):
        yield RelativePhrase("child", name.span, TextSpan(clause.start, name.span.end), RelationRule.THEIR_CHILDREN)
    first = name_after(text, clause.start, clause.end) if clause.they_are_couple else None
    their = ENGLISH.their_child.match(text, first.span.end, clause.end) if first else None
    if first and their:
        yield RelativePhrase(
            "child", first.span, TextSpan(first.span.start, their.end() - 1), RelationRule.THEIR_CHILDREN
        )


def read_children_borne(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'His wife bore him two sons, A and B'."""
    for owner in clause.possessives:
        bore = ENGLISH.bore.match(text, owner.end, clause.end)
        if bore:
            yield from _children_after(text, clause, bore.end(), owner.start, subject)
    for anchor in clause.mentions:
        if subject.sex == "male" and ENGLISH.bore_to.search(text, clause.start, anchor.start):
            yield from _children_after(text, clause, anchor.end, clause.start)
    # In 'bore him' only the pronoun names the father, so nobody else may be meant.
    him = ENGLISH.bore_him.search(text, clause.start, clause.end) if subject.sex == "male" else None
    if him and (
        clause.they_are_couple
        or (clause.mentions and ENGLISH.married.search(text, clause.start, him.start()))
        or _is_only_man(text, clause, him.start(), subject)
    ):
        yield from _children_after(text, clause, him.end(), clause.start)


def _is_only_man(text: str, clause: Clause, at: int, subject: ArticlePerson) -> bool:
    """'Carter met Ruth Hay, who bore': only women are named after the subject."""
    own = [anchor.end for anchor in clause.mentions if anchor.end <= at]
    named = ENGLISH.capital_run.findall(text, own[-1], at) if own else []
    return bool(named) and all(sex_of_name(name) == subject.opposite for name in named)


def read_children_of_wife(
    text: str, clause: Clause, subject: ArticlePerson, wives: frozenset[str]
) -> Iterator[RelativePhrase]:
    """'Ruth gave birth to two sons, A and B', if Ruth is known to be the wife or the couple was just mentioned."""
    bore = ENGLISH.by_name.match(text, clause.start, clause.end)
    wed = clause.they_are_couple and subject.sex == "male"
    if bore and (bore["name"] in wives or (wed and sex_of_name(bore["name"]) == "female")):
        yield from _children_after(text, clause, bore.end(), clause.start)


def _children_after(
    text: str, clause: Clause, at: int, start: int, subject: ArticlePerson | None = None
) -> Iterator[RelativePhrase]:
    """The names after 'two sons, …' and 'a daughter, …'."""
    for found in ENGLISH.some_child.finditer(text, at, clause.end):
        gap = BRACKET.sub(" ", text[at : found.start()])
        if regex.search(r"['’]s?\s+$", gap) or _of_spouse_alone(text[:at], gap, subject):
            continue
        if ENGLISH.had_children.search(gap) or (ENGLISH.child_blocks.search(gap) and not gap.endswith(", and ")):
            return
        link = ENGLISH.child_link.match(text, found.end(), clause.end)
        if not link:
            continue
        many = found["kind"].endswith(("s", "ren")) or link[0].rstrip().endswith(":")
        for name in names_after(text, link.end(), clause.end, many=many):
            yield RelativePhrase("child", name.span, TextSpan(start, name.span.end), RelationRule.HAD_CHILDREN)


def _of_spouse_alone(before: str, gap: str, subject: ArticlePerson | None) -> bool:
    """'he raised her two children': hers, from before, unless he adopted them."""
    whose = ENGLISH.his_or_her_before.search(gap)
    if not whose or not subject or before.endswith("adopted"):
        return False
    return bool(whose[1] != (subject.possessive or whose[1]))


def _parent_before(text: str, clause: Clause, at: int, together: int) -> int:
    """Where the sentence names the subject or the couple as the parents; -1 if they are not."""
    if together >= 0 and (
        (at - together < 60 and not _names_anybody(text[together:at])) or ENGLISH.and_then.search(text, together, at)
    ):
        return clause.start
    near = ENGLISH.they_before.search(text[clause.start : at])
    if near and clause.mentions and clause.opening_pronoun_means == "subject":
        return clause.mentions[0].start
    if (
        clause.they_are_couple
        and clause.opening_pronoun_means == "subject"
        and ENGLISH.later_on.fullmatch(text, clause.start, at)
    ):
        return clause.start
    between = words_since_subject(text, clause, at, joint=True)
    if not between:
        return -1
    if ENGLISH.coordinated.fullmatch(ENGLISH.joined.sub(" ", between[1])):
        return between[0].start
    if ENGLISH.blocks_kin.search(ENGLISH.and_spouse.sub("", between[1])):
        return -1
    plain = ENGLISH.and_spouse_named.sub(" ", between[1])
    return between[0].start if not ENGLISH.cap.search(plain) and len(plain) < 60 else -1


def _names_anybody(between: str) -> bool:
    return any(fold(word) not in ENGLISH.words["months"] for word in ENGLISH.cap.findall(between))


def read_siblings(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'She has an older half-sister, Ann', 'having one brother (Dane) and three sisters (Milka, Ann and Ruth)'."""
    for had in ENGLISH.has_word.finditer(text, pos=clause.start, endpos=clause.end):
        start = _parent_before(text, clause, had.start(), -1)
        if start < 0:
            continue
        for found in ENGLISH.some_sibling.finditer(text, had.end(), clause.end):
            gap = ENGLISH.some_sibling.sub("", BRACKET.sub(" ", text[had.end() : found.start()]))
            if ENGLISH.child_blocks.search(gap) and not gap.endswith(", and "):
                break
            link = ENGLISH.sibling_link.match(text, found.end(), clause.end)
            if not link:
                continue
            for name in names_after(text, link.end(), clause.end, many=found["kind"].endswith("s")):
                yield RelativePhrase("sibling", name.span, TextSpan(start, name.span.end), RelationRule.HAD_SIBLINGS)
        return
