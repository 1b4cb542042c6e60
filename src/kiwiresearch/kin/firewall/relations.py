"""Whether a quote says that two people are related as claimed, and of the right people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiwiresearch.kin.firewall.attribution import (
    BRACKETS,
    SENTENCE_END,
    TOKEN,
    Token,
    cues_on_line,
    governs,
    holder_violation,
    is_other_sex,
    owner_violation,
    statement_violation,
    tokens_before,
)
from kiwiresearch.kin.firewall.quote import SourceQuote, words_in
from kiwiresearch.kin.firewall.violations import Code
from kiwiresearch.kin.language import ENGLISH, FamilyCue, Match
from kiwiresearch.kin.names import sex_of_name
from kiwiresearch.kin.tree import OPPOSITE_SEX, FieldName, Sex
from kiwiresearch.text.words import fold

PRONOUNS = {"male": "he", "female": "she"}


def marriage_cue(cited: SourceQuote, start: int, end: int) -> FamilyCue | None:
    """The words around a name that say that the subject and who bears it married; nothing if none do."""
    before, behind = cited.words[:start], cited.words[end:]
    weddings = (
        (ENGLISH.wed, False, _names_one_side, "married"),
        (ENGLISH.marriage_between, True, _is_marriage_of_subject, "marriage"),
        (ENGLISH.was_to, True, _is_told_of_subject, "marriage"),
        (ENGLISH.became_wife, False, _is_wife_of_subject, "wife"),
    )
    for phrase, is_before, is_of_subject, word in weddings:
        found = phrase.search(before) if is_before else phrase.match(behind)
        if found and is_of_subject(cited, found, before):
            return FamilyCue("spouse", found.start(), found.end(), word).moved(0 if is_before else end)
    met, they = ENGLISH.check_met.search(before), ENGLISH.they_wed.search(behind)
    if met and they and holder_violation(cited, met.start(), is_verb=True) is None:
        return FamilyCue("spouse", they.start(), they.end(), "married").moved(end)
    return None


def _names_one_side(cited: SourceQuote, found: Match, before: str) -> bool:
    """'Carter and A married', 'A married Carter'."""
    both = ENGLISH.and_before.search(before)
    return bool((both and _is_own(cited, both["one"])) or (found["whom"] and _is_own(cited, found["whom"])))


def _is_marriage_of_subject(cited: SourceQuote, found: Match, _: str) -> bool:
    return _is_own(cited, found["one"])


def _is_wife_of_subject(cited: SourceQuote, found: Match, _: str) -> bool:
    return _is_own(cited, found["whose"] or found["of"])


def _is_told_of_subject(cited: SourceQuote, was_to: Match, _: str) -> bool:
    whose = was_to["whose"]
    if whose and whose.lower() not in ("his", "her"):
        return _is_own(cited, re.sub(r"['’]s?$", "", whose))
    if whose and is_other_sex(cited, whose.lower()):
        return False
    return holder_violation(cited, was_to.start(), is_verb=True) is None


def _is_own(cited: SourceQuote, written: str) -> bool:
    """Whether these words are the subject's name, or its pronoun."""
    words = [word.folded for word in words_in(written)]
    return words == [PRONOUNS.get(cited.sex, "")] or (bool(words) and set(words) <= cited.own_names)


INVERSE = {"father": "child", "mother": "child", "parent": "child", "child": "parent"}
"""Of whom one is the father, that is a child; the other ties are the same from both sides."""
NOTE = re.compile(r"[^\n(]{0,40}\(([^)\n]*)\)")
LONGEST_BEHIND = 60
SEVERITY = ("HF_041", "HF_045", "HF_043", "HF_042", "HF_027", "HF_028")
"""Of several places where a name stands, the one that comes nearest to a proof is told."""


def relation_violation(cited: SourceQuote, field: FieldName, value: str) -> Code | None:
    """Why the quote does not say that `value` is this relative of the subject; nothing if it does."""
    if _is_subject(cited, value) and not _is_namesake(cited, value):
        return "HF_044"
    codes: list[Code] = []
    for start, end in cited.spans(value):
        code = _relation_violation_at(cited, field, start, end)
        if code is None:
            return None
        codes.append(code)
    return max(codes, key=SEVERITY.index, default="HF_041")


def _is_subject(cited: SourceQuote, value: str) -> bool:
    return " ".join(value.lower().split()) == " ".join(cited.subject.lower().split())


def _is_namesake(cited: SourceQuote, value: str) -> bool:
    """Whether the quote gives a relative the subject's own name: 'his father, also named Isaac Newton'."""
    firsts = (
        next(iter(_cues_before(cited, start)), None) for start, _ in cited.spans(value) if not cited.kinds_at(start)
    )
    return any(cue and (not _is_tie(cited, cue) or cue.word == "born to") for cue in firsts)


def _relation_violation_at(cited: SourceQuote, field: FieldName, start: int, end: int) -> Code | None:
    kinds = cited.kinds_at(start)
    told = _in_row(cited, start, end, kinds) if kinds else None
    if told is not None:
        return None if field in told else "HF_042"
    return _in_prose(cited, field, start, end)


def _in_row(cited: SourceQuote, start: int, end: int, kinds: frozenset[str]) -> frozenset[str] | None:
    """The relations that a row gives a name: by the word in brackets behind it, else by its label."""
    relations = kinds & {"father", "mother", "parent", "spouse", "partner", "child", "sibling"}
    noted = NOTE.match(cited.text, cited.start + end)
    word = cited.table.kin.found_in(noted[1])[:1] if noted else []
    if word and kinds & {"parent", "relative", "sibling", "child"}:
        return _widened(word[0].kind)
    if relations == {"parent"}:
        return _by_order(cited, start, end, _row_start(cited, start))
    if not relations and "relative" in kinds:
        return None
    widened = [_widened(kind) for kind in sorted(relations)]
    return frozenset().union(*widened)


def _row_start(cited: SourceQuote, start: int) -> int:
    tab = cited.words.rfind("\t", 0, start)
    return tab + 1


def _widened(kind: str) -> frozenset[str]:
    return frozenset({kind, "parent"}) if kind in ("father", "mother") else frozenset({kind})


def _in_prose(cited: SourceQuote, field: FieldName, start: int, end: int) -> Code | None:
    behind = _cue_behind(cited, start, end) or (marriage_cue(cited, start, end) if field == "spouse" else None)
    if behind:
        return (
            statement_violation(cited, behind, start, end, is_told=True) if field in _widened(behind.kind) else "HF_042"
        )
    cues = _cues_before(cited, start)
    if not cues:
        return "HF_041"
    cue = _governing(cited, cues, start)
    if not _reaches(cited, cited.words[cue.end : start]):
        return "HF_041"
    second = _second_parent(cited, cues, start)
    told = second or _told_by(cited, cue, start, end)
    if field not in told:
        return "HF_042"
    teller = cues[1] if second else cue
    tells = _is_tie(cited, teller) or _is_inverted(cited, teller)
    return _wrong_holder(cited, teller) or statement_violation(cited, teller, start, end, is_told=tells)


def _governing(cited: SourceQuote, cues: list[FamilyCue], start: int) -> FamilyCue:
    """The nearest cue, but for 'sons by his wife Ann: Tom and Max' and 'married Henry's daughter Ann'."""
    cue = cues[0]
    if len(cues) < 2:
        return cue
    before = cues[1]
    if cue.word == "namesake":
        return before
    if re.search(r"[:;]", cited.words[cue.end : start]) and before.kind == "child" and not _is_inverted(cited, before):
        return before
    between = cited.words[before.end : cue.start]
    if (
        before.kind == "spouse"
        and _is_tie(cited, before)
        and not _is_inverted(cited, cue)
        and not ENGLISH.comma_or_and.search(between)
    ):
        return before if _reaches(cited, between) else cue
    return cue


def _cues_before(cited: SourceQuote, start: int) -> list[FamilyCue]:
    """The words of kinship before a name on its line, nearest first; of overlapping ones the longer."""
    at = start - cited.line_of(start)[0]
    return sorted(cues_on_line(cited, start, lambda line: _kin_cues(cited, line, at)), key=lambda cue: -cue.end)


def _kin_cues(cited: SourceQuote, line: str, end: int) -> list[FamilyCue]:
    line = BRACKETS.sub(_blank, ENGLISH.check_apposition.sub(_blank, line)[:end])
    ties = [*cited.table.ties.found_in(line), *_born_to(cited, line)]
    kin = cited.table.kin.found_in(line)
    return [*ties, *(cue for cue in kin if not any(tie.start <= cue.start and cue.end <= tie.end for tie in ties))]


def _blank(found: Match) -> str:
    return " " * len(found[0])


def _born_to(cited: SourceQuote, line: str) -> Iterator[FamilyCue]:
    """'born in Kiel on 1 May 1800 to Ann': the birth, and then whom to."""
    for found in ENGLISH.check_born_to.finditer(line):
        if found["gap"].strip() and _reaches(cited, found["gap"]):
            yield FamilyCue("parent", found.start(), found.end(), "born to")


def _is_tie(cited: SourceQuote, cue: FamilyCue) -> bool:
    return cue.word in cited.table.ties.kinds


def _is_inverted(cited: SourceQuote, cue: FamilyCue) -> bool:
    """Whether the cue is told of its holder: 'father of Y'; else it is told of the name behind: 'his father Y'."""
    return not _is_tie(cited, cue) and bool(ENGLISH.kin_of.match(cited.words, cue.end))


def _told_by(cited: SourceQuote, cue: FamilyCue, start: int, end: int) -> frozenset[str]:
    kind = INVERSE.get(cue.kind, cue.kind) if _is_inverted(cited, cue) else cue.kind
    if kind == "parent":
        return _by_order(cited, start, end, cue.end)
    return _widened(kind)


def _by_order(cited: SourceQuote, start: int, end: int, first: int) -> frozenset[str]:
    """Of two parents the first is the father, unless a name or title of either tells otherwise."""
    gap = cited.words[first:start]
    halves = ENGLISH.parents_split.split(gap.strip())
    own = sex_of_name(cited.words[start:end]) or _sex_of(cited, re.split(r",", halves[-1])[-1])
    if not own and len(halves) > 1:
        other = re.sub(r"\(.*?\)|^(?:\s*[a-z-]+\b)+", " ", halves[0]).strip()
        own = OPPOSITE_SEX[_sex_of(cited, other) or sex_of_name(other)]
    elif not own and (behind := ENGLISH.and_parent.match(cited.text, cited.start + end)):
        own = OPPOSITE_SEX[sex_of_name(behind[1])]
    if not own:
        own = "female" if len(halves) > 1 else "male"
    return _widened("father" if own == "male" else "mother")


def _sex_of(cited: SourceQuote, words: str) -> Sex:
    """The sex that a title or a pronoun tells."""
    found = (cited.table.sexes.get(match[0].lower(), "") for match in TOKEN.finditer(words))
    return next((sex for sex in found if sex), "")


def _second_parent(cited: SourceQuote, cues: list[FamilyCue], start: int) -> frozenset[str]:
    """'son of A and his second wife B': B is a parent, and no wife of the son."""
    if (
        len(cues) < 2
        or cues[0].kind not in ("spouse", "partner")
        or _is_tie(cited, cues[0])
        or _is_inverted(cited, cues[0])
    ):
        return frozenset()
    wife, child = cues[0], cues[1]
    is_child = child.kind == "parent" or (child.kind == "child" and _is_inverted(cited, child))
    between = cited.words[child.end : wife.start]
    linked = ENGLISH.and_his_wife.search(between)
    if not is_child or not linked or not _reaches(cited, cited.words[child.end : start]):
        return frozenset()
    return _widened("father" if cited.table.sexes.get(wife.word) == "male" else "mother")


def _wrong_holder(cited: SourceQuote, cue: FamilyCue) -> Code | None:
    if _is_tie(cited, cue):
        children = ENGLISH.children_before.search(cited.words[: cue.start])
        if cue.kind == "parent" and children:
            return holder_violation(cited, children.start(), is_verb=False)
        return holder_violation(cited, cue.start, is_verb=True)
    if not _is_inverted(cited, cue):
        return owner_violation(cited, cue.start)
    parts = tokens_before(cited, cue.start)
    while parts and parts[-1].small in cited.table.words["adjectives"]:
        parts.pop()
    if parts and (parts[-1].small in cited.table.ties.kinds or _is_object(cited, parts)):
        return "HF_043"
    return holder_violation(cited, cue.start, is_verb=False)


def _is_object(cited: SourceQuote, parts: list[Token]) -> bool:
    """Whether something is done to who follows: 'he killed the son of Y', but 'he was called the son of Y'."""
    last = parts[-1]
    is_verb = last.text[0].islower() and last.small.endswith("ed") and last.small not in cited.table.words["no_verbs"]
    return is_verb and not any(part.small in ENGLISH.words["copulas"] for part in parts[-4:-1])


def _cue_behind(cited: SourceQuote, start: int, end: int) -> FamilyCue | None:
    """A word of kinship behind a name: 'Robert, his father', 'Robert (father)', 'Robert was the father of Charles'."""
    _, line_end = cited.line_of(start)
    text = cited.words[end : min(line_end, end + LONGEST_BEHIND)]
    whom = ENGLISH.check_whom.match(text)
    if whom and (whom["who"] in ("he", "she") or whom["who"].split()[-1].lower() in cited.own_names):
        return FamilyCue("spouse", end, end + whom.end(), "married")
    for cue in cited.table.kin.found_in(text)[:1]:
        if cue.kind == "other":
            return None
        adjectives = cited.table.words["adjectives"] - {"the", "a", "an", "and", "of"}
        lead = text[: cue.start]
        while (words := lead.split()) and words[-1].lower() in adjectives:
            lead = lead[: lead.rstrip().rfind(words[-1])]
        found = ENGLISH.kin_behind.fullmatch(lead)
        if not found or (found["named"] and fold(found["named"]) not in cited.own_names):
            return None
        if ENGLISH.kin_of.match(text, cue.end):
            return cue if _of_subject(cited, text[cue.end :]) else None
        if re.match(r"\s*,?\s*[A-Z]", text[cue.end :]):
            return None  # 'his wife Ann, his son Tom'
        is_noted = lead.strip() == "("
        return cue if is_noted or found["whose"] else None
    return None


def _of_subject(cited: SourceQuote, text: str) -> bool:
    behind = TOKEN.findall(ENGLISH.kin_of.sub("", text, count=1))
    return bool(behind) and (behind[0].lower() in ("him", "her") or behind[0].lower() in cited.own_names)


def _reaches(cited: SourceQuote, gap: str) -> bool:
    """Whether a word of kinship still speaks of the name behind this gap."""
    rest = BRACKETS.sub(" ", ENGLISH.kin_copula.sub("", gap, count=1))
    rest = ENGLISH.check_apposition.sub(" ", rest + " ")
    return not SENTENCE_END.search(rest) and governs(cited, re.split(r"[;:]", rest)[-1])
