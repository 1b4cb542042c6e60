"""Rules that read whom 'his father', 'her son' or 'Carter's mother' names."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.cues import AND_KIN, CHILD_CUE, CLOSED, GOES_ON, LINKS, OWNED, OWNED_FIELDS, ROLE_SEX
from kiwiresearch.kin.extract.lists import behind_description, behind_trades, names_from, one_name, pair_from
from kiwiresearch.kin.extract.patterns import Match, regex
from kiwiresearch.kin.extract.relations import Relation, parents_of
from kiwiresearch.kin.extract.spans import NAME, Span, is_name
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.names import name_words, sex_of
from kiwiresearch.text.fold import fold


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
        is_pronoun = text[owner.start : owner.end].lower() == subject.possessive
        if is_pronoun and IN_OFFICE.search(text, clause.start, owner.start):
            continue
        if OWNED_FIELDS[kind] == "spouse" and is_pronoun and CHILD_CUE.search(text, clause.start, owner.start):
            continue  # 'son of A by his wife B': it is A's
        link = LINKS.match(text, found.end(), clause.end)
        if not link:
            continue
        if kind == "parents":
            pair = pair_from(text, link.end(), clause.end, words, described=False, verbs=True)
            if len(pair) == 2:
                yield from parents_of(text, pair, Span(owner.start, pair[-1].span.end), "'his parents'")
            continue
        opens = owner.start == clause.start
        if kind == "wife" and TOOK_AS.search(text, clause.start, owner.start):
            taken = one_name(text, found.end(), clause.end, words, described=True)
            if taken:
                yield _of_owner(kind, taken.span, owner)
            continue
        told = list(_named_kin(text, clause, kind, link, words, opens=opens))
        yield from (_of_owner(kind, span, owner) for span in told)
        while told:
            beside = AND_KIN.match(text, told[-1].end, clause.end)
            link = LINKS.match(text, beside.end(), clause.end) if beside else None
            if not beside or not link or not regex.fullmatch(r",?\s+", link[0]):
                break
            told = list(_named_kin(text, clause, beside["kind"], link, words))
            yield from (_of_owner(beside["kind"], span, owner) for span in told)


def _of_owner(kind: str, name: Span, owner: Span) -> Relation:
    return Relation(OWNED_FIELDS[kind], name, Span(owner.start, name.end), f"{kind!r} of the subject by name")


def _named_kin(
    text: str, clause: Clause, kind: str, link: Match, words: FamilyWords, *, opens: bool = False
) -> Iterator[Span]:
    """The names behind 'his brother' and what links them to it; the sentence may open with the owner."""
    many = kind in ("sons", "daughters", "children", "brothers", "sisters", "siblings")
    bare = not link[0].strip()
    at = link.end() if bare else behind_trades(text, link.end(), clause.end, words)
    owning = bare and not HANDED.search(text, clause.start, link.start())
    names = names_from(text, at, clause.end, words) if many else [one_name(text, at, clause.end, words, owning=owning)]
    if names == [None] and regex.search(r"\b(?:was|is)\s+$", link[0]):
        names = [behind_description(text, at, clause.end, words)]
    for name in names:
        if not name or _is_people(text, link[0], name.span):
            continue
        if not _is_closed(text, name.span, clause, bare=bare) and text[name.span.end] not in "'’":
            continue
        whole = text[name.span.end - 1] in ")." or regex.match(r"\s*(?:[,.;()]|$)", text[name.span.end : clause.end])
        if many or whole or "," not in link[0] or opens:
            yield name.span


TOOK_AS = regex.compile(r"\b(?:took|taken|chose|had)\s+(?:\p{Ll}+\s+)?(?:as|for)\s+$")
"""'he took as his third wife an old friend, Ann Hay'."""
HANDED = regex.compile(
    r"\b(?:sent|gave|lent|showed|read|offered|taught|told|brought|lends?|gives?)\s+(?:his|her)\s+[\p{Ll}\- ]+$"
)
"""'sent his brother Kant's works'."""
IN_OFFICE = regex.compile(
    r"\b(?:advis[eo]r|tutor|regent|servant|chaplain|physician|minister|secretary|governess|loyal|heir|successor)\s+"
    r"(?:to|of|for)\s+$"
)
"""'Cranmer was an adviser to his son': the king's."""


def _is_closed(text: str, name: Span, clause: Clause, *, bare: bool) -> bool:
    """Whether the name ends there; a single word behind 'was' may be part of something else: 'was English born'."""
    if CLOSED.match(text, name.end, clause.end):
        return True
    written = text[name.start : name.end]
    return bool(GOES_ON.match(text, name.end, clause.end)) and (bare or " " in written or bool(sex_of(written)))


def _is_people(text: str, link: str, name: Span) -> bool:
    """'his mother was Fante': a word that the page uses for a people or a language."""
    written = text[name.start : name.end]
    known = name_words()
    if " " in written or not regex.search(r"\b(?:was|is|were|are)\b", link):
        return False
    if fold(written) in known.male or fold(written) in known.female:
        return False
    return bool(regex.search(rf"\b(?:half|part|partly|in|an?|the)[ \-]{regex.escape(written)}\b", text))


def apposed(text: str, clause: Clause, subject: Subject, words: FamilyWords) -> Iterator[Relation]:
    """'Catherine Gordon, Byron's mother', 'Ernesto Guevara Lynch (Guevara's father)'."""
    for owner in clause.owners:
        kin = OWNED.match(text, owner.end, clause.end)
        opened = regex.search(r"(?:,|\s\()\s*$", text[clause.start : owner.start])
        if (
            not kin
            or not opened
            or (text[owner.start : owner.end].lower() == subject.possessive and "(" not in opened[0])
        ):
            continue
        if not regex.match(r"\s*(?:[.;()]|,(?!\s*\p{Lu})|and\s+(?:the|an?)\s|$)", text[kin.end() : clause.end]):
            continue
        if ROLE_SEX.get(kin["kind"], "") == subject.sex and OWNED_FIELDS[kin["kind"]] == "spouse":
            continue
        end = clause.start + opened.start()
        named = [one for one in NAME.finditer(text, clause.start, end) if one.end() == end]
        if not named or not is_name(named[-1][0], words) or kin["kind"].endswith(("s", "ren")):
            continue
        if " " not in named[-1][0] and not sex_of(named[-1][0]):
            continue  # 'Meanwhile, his wife'
        before = text[clause.start : named[-1].start()]
        if (
            regex.search(r"(?:\b(?:in|at|near|from|to|of|and|or|On|After|In|At)\s+|(?<!^In \d{4}),\s*)$", before)
            or "," in named[-1][0]
        ):
            continue
        yield Relation(
            OWNED_FIELDS[kin["kind"]],
            Span(*named[-1].span()),
            Span(named[-1].start(), kin.end()),
            "a name and who that is",
        )
