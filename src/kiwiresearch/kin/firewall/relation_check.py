"""Whether a quote says that the subject and the person of a value are related as claimed."""

from __future__ import annotations

import re

from kiwiresearch.kin.firewall.attribution import (
    BRACKETS,
    STRICT_SENTENCE_END,
    TOKEN,
    PrecedingToken,
    cues_on_line,
    governs,
    is_other_sex,
    owner_violation,
    statement_violation,
    subject_violation,
    tokens_before,
)
from kiwiresearch.kin.firewall.quote import SourceQuote, quote_words
from kiwiresearch.kin.firewall.violations import Code
from kiwiresearch.kin.language import ENGLISH, FamilyCue, Match
from kiwiresearch.kin.lineage import SIDES
from kiwiresearch.kin.names import parse_name, sex_of_name
from kiwiresearch.kin.tree import OPPOSITE_SEX, RELATION_FIELDS, FieldName, Sex
from kiwiresearch.text import fold

PRONOUNS = {"male": "he", "female": "she"}


def marriage_cue(quote: SourceQuote, start: int, end: int) -> FamilyCue | None:
    """The words around a name that say that its bearer and the subject married; None if there are none."""
    before, after = quote.words[:start], quote.words[end:]
    weddings = (
        (ENGLISH.wed, False, _names_one_side, "married"),
        (ENGLISH.marriage_between, True, lambda quote, found, _: _is_own(quote, found["one"]), "marriage"),
        (ENGLISH.was_to, True, _is_marriage_of_subject, "marriage"),
        (ENGLISH.became_wife, False, lambda quote, found, _: _is_own(quote, found["whose"] or found["of"]), "wife"),
    )
    for phrase, is_before, is_of_subject, word in weddings:
        found = phrase.search(before) if is_before else phrase.match(after)
        if found and is_of_subject(quote, found, before):
            return FamilyCue("spouse", found.start(), found.end(), word).moved(0 if is_before else end)
    line, _ = quote.line_of(start)
    bracket = ENGLISH.wed_in_bracket.match(after)
    if bracket and ENGLISH.by_lead.fullmatch(quote.words, line, start):
        return FamilyCue("spouse", bracket.start(), bracket.end(), "married").moved(end)
    met, they = ENGLISH.check_met.search(before), ENGLISH.they_wed.search(after)
    if met and they and subject_violation(quote, met.start(), is_verb=True) is None:
        return FamilyCue("spouse", they.start(), they.end(), "married").moved(end)
    return None


def _names_one_side(quote: SourceQuote, found: Match, before: str) -> bool:
    """'Carter and A married', 'A married Carter'."""
    both = ENGLISH.and_before.search(before)
    return bool((both and _is_own(quote, both["one"])) or (found["whom"] and _is_own(quote, found["whom"])))


def _is_marriage_of_subject(quote: SourceQuote, was_to: Match, _: str) -> bool:
    whose = was_to["whose"]
    if whose and whose.lower() not in ("his", "her"):
        return _is_own(quote, re.sub(r"['’]s?$", "", whose))
    if whose and is_other_sex(quote, whose.lower()):
        return False
    return subject_violation(quote, was_to.start(), is_verb=True) is None


def _is_own(quote: SourceQuote, written: str) -> bool:
    """Whether these words are the subject's name, or its pronoun."""
    words = [word.folded for word in quote_words(written)]
    return words == [PRONOUNS.get(quote.sex, "")] or (bool(words) and set(words) <= quote.own_names)


INVERSE = {"father": "child", "mother": "child", "parent": "child", "child": "parent"}
"""'X, father of Y' makes Y a child; the other relations are the same from both sides."""
# The bracket after a name in a row: 'Ann Hay, of Kew (mother)'.
NOTE = re.compile(r"[^\n(]{0,40}\(([^)\n]*)\)")
# How far after a name the word for the relative may be: 'Robert, his elder and only brother'.
MAX_AFTER = 60
NEAREST_TO_PROOF_LAST = ("HF_041", "HF_045", "HF_043", "HF_042", "HF_027", "HF_028")
"""If a quote has a name several times, the violation that comes closest to a proof is reported."""


def relation_violation(quote: SourceQuote, field: FieldName, value: str) -> Code | None:
    """Why the quote does not say that `value` is this relative of the subject; None if it does."""
    is_same_name = value.lower().split() == quote.subject.lower().split()
    if is_same_name and not _is_namesake(quote, value):
        return "HF_044"
    codes: list[Code] = []
    for start, end in quote.spans(value):
        code = _relation_violation_at(quote, field, start, end)
        if code is None:
            return None
        codes.append(code)
    return max(codes, key=NEAREST_TO_PROOF_LAST.index, default="HF_041")


def grandparent_violation(
    quote: SourceQuote, value: str, side: FieldName | None = None, parent: str = ""
) -> Code | None:
    """Why the quote does not say that `value` is a grandparent of the subject, by the `parent` on this side, if any.

    If no word says which side, the father must have the surname of the grandparents.
    """
    codes: list[Code] = []
    for start, end in quote.spans(value):
        cues = list(ENGLISH.grandparent_cue.finditer(quote.words, 0, start))
        if not cues:
            codes.append("HF_041")
            continue
        cue = cues[-1]
        after = ENGLISH.on_side.search(quote.words, end)
        stated_side = SIDES.get((cue["side"] or "").lower(), after["side"] if after and cue["of"] else "")
        surname = fold(parse_name(parent).surname)
        named = {word.folded for word in quote_words(quote.words[cue.end() : end])}
        # Another side is stated, or none, and no surname shows that it is the father's.
        if side and stated_side != side and (stated_side or side != "father" or surname not in named):
            codes.append("HF_042")
            continue
        found = FamilyCue("other", cue.start("kin"), cue.end("kin"), cue["kin"].lower())
        held = (
            subject_violation(quote, found.start, is_verb=False) if cue["of"] else owner_violation(quote, cue.start())
        )
        code = held or statement_violation(quote, found, start, end, asserts=bool(cue["of"]))
        if code is None:
            return None
        codes.append(code)
    return max(codes, key=NEAREST_TO_PROOF_LAST.index, default="HF_041")


def _is_namesake(quote: SourceQuote, value: str) -> bool:
    """Whether the quote gives a relative the subject's own name: 'his father, also named Isaac Newton'."""
    firsts = (
        next(iter(_cues_before(quote, start)), None) for start, _ in quote.spans(value) if not quote.kinds_at(start)
    )
    return any(cue and (not _is_tie(quote, cue) or cue.word == "born to") for cue in firsts)


def _relation_violation_at(quote: SourceQuote, field: FieldName, start: int, end: int) -> Code | None:
    kinds = quote.kinds_at(start)
    relations = _in_row(quote, start, end, kinds) if kinds else None
    if relations is not None:
        return None if field in relations else "HF_042"
    return _in_prose(quote, field, start, end)


def _in_row(quote: SourceQuote, start: int, end: int, kinds: frozenset[str]) -> frozenset[str] | None:
    """The relations that a row gives a name: by the word in brackets after it, or else by its label."""
    relations = kinds & RELATION_FIELDS
    noted = NOTE.match(quote.text, quote.start + end)
    word = quote.table.kin.found_in(noted[1])[:1] if noted else []
    if word and kinds & {"parent", "relative", "sibling", "child"}:
        return _widened(word[0].kind)
    if relations == {"parent"}:
        return _by_order(quote, start, end, quote.words.rfind("\t", 0, start) + 1)
    if not relations and "relative" in kinds:
        return None
    return frozenset().union(*map(_widened, relations))


def _widened(kind: str) -> frozenset[str]:
    return frozenset({kind, "parent"}) if kind in ("father", "mother") else frozenset({kind})


def _in_prose(quote: SourceQuote, field: FieldName, start: int, end: int) -> Code | None:
    after = _cue_after(quote, start, end) or (marriage_cue(quote, start, end) if field == "spouse" else None)
    if after:
        is_claimed = field in _widened(after.kind)
        return statement_violation(quote, after, start, end, asserts=True) if is_claimed else "HF_042"
    cues = _cues_before(quote, start)
    if not cues:
        return "HF_041"
    cue = _governing(quote, cues, start)
    if not _begins_clause_of_each(quote, start) and not _reaches(quote, quote.words[cue.end : start]):
        return "HF_041"
    second = _second_parent(quote, cues, start)
    if field not in (second or _relations_by_cue(quote, cue, start, end)):
        return "HF_042"
    proof = cues[1] if second else cue
    asserts = _is_tie(quote, proof) or _is_inverted(quote, proof)
    return _wrong_holder(quote, proof) or statement_violation(quote, proof, start, end, asserts=asserts)


def _begins_clause_of_each(quote: SourceQuote, start: int) -> bool:
    """'Of his two sons, Tom died and Max left': each begins a clause of his own."""
    if not ENGLISH.each_of.match(quote.words):
        return False
    at = quote.start + start
    return any(found.end() == at for found in ENGLISH.next_of_each.finditer(quote.text, quote.start, at + MAX_AFTER))


def _governing(quote: SourceQuote, cues: list[FamilyCue], start: int) -> FamilyCue:
    """The nearest cue, except in 'sons by his wife Ann: Tom and Max' and 'married Henry's daughter Ann'."""
    cue = cues[0]
    if len(cues) < 2:
        return cue
    before = cues[1]
    if cue.word == "namesake":
        return before
    if re.search(r"[:;]", quote.words[cue.end : start]) and before.kind == "child" and not _is_inverted(quote, before):
        return before
    between = quote.words[before.end : cue.start]
    if (
        before.kind == "spouse"
        and _is_tie(quote, before)
        and not _is_inverted(quote, cue)
        and not ENGLISH.comma_or_and.search(between)
    ):
        return before if _reaches(quote, between) else cue
    return cue


def _cues_before(quote: SourceQuote, start: int) -> list[FamilyCue]:
    """The kinship words before a name on its line, nearest first; the longer of two that overlap."""
    at = start - quote.line_of(start)[0]
    return sorted(cues_on_line(quote, start, lambda line: _kin_cues(quote, line, at)), key=lambda cue: -cue.end)


def _kin_cues(quote: SourceQuote, line: str, end: int) -> list[FamilyCue]:
    line = BRACKETS.sub(_blank, ENGLISH.check_apposition.sub(_blank, line)[:end])
    # 'born in Kiel on 1 May 1800 to Ann': the birth, and then whose child.
    born_to = [
        FamilyCue("parent", *found.span(), "born to")
        for found in ENGLISH.check_born_to.finditer(line)
        if found["gap"].strip() and _reaches(quote, found["gap"])
    ]
    ties = [*quote.table.ties.found_in(line), *born_to]
    kin = quote.table.kin.found_in(line)
    return [*ties, *(cue for cue in kin if not any(tie.start <= cue.start and cue.end <= tie.end for tie in ties))]


def _blank(found: Match) -> str:
    return " " * len(found[0])


def _is_tie(quote: SourceQuote, cue: FamilyCue) -> bool:
    return cue.word in quote.table.ties.kinds


def _is_inverted(quote: SourceQuote, cue: FamilyCue) -> bool:
    """Whether the cue describes the person before it, 'X, father of Y', and not the name after it, 'his father Y'."""
    return not _is_tie(quote, cue) and bool(ENGLISH.kin_of.match(quote.words, cue.end))


def _relations_by_cue(quote: SourceQuote, cue: FamilyCue, start: int, end: int) -> frozenset[str]:
    kind = INVERSE.get(cue.kind, cue.kind) if _is_inverted(quote, cue) else cue.kind
    if kind == "parent":
        return _by_order(quote, start, end, cue.end)
    return _widened(kind)


def _by_order(quote: SourceQuote, start: int, end: int, first: int) -> frozenset[str]:
    """Of two parents the first is the father, unless a name or title of either shows otherwise."""
    gap = quote.words[first:start]
    halves = ENGLISH.parents_split.split(gap.strip())
    # First the name's own sex, then the opposite of the other parent's, and last the order.
    own = sex_of_name(quote.words[start:end]) or _sex_of(quote, re.split(r",", halves[-1])[-1])
    if not own and len(halves) > 1:
        other = re.sub(r"\(.*?\)|^(?:\s*[a-z-]+\b)+", " ", halves[0]).strip()
        own = OPPOSITE_SEX[_sex_of(quote, other) or sex_of_name(other)]
    elif not own and (after := ENGLISH.and_parent.match(quote.text, quote.start + end)):
        own = OPPOSITE_SEX[sex_of_name(after[1])]
    if not own:
        own = "female" if len(halves) > 1 else "male"
    return _widened("father" if own == "male" else "mother")


def _sex_of(quote: SourceQuote, words: str) -> Sex:
    """The sex that a title or a pronoun implies."""
    return next((sex for word in TOKEN.findall(words) if (sex := quote.table.sexes.get(word.lower(), ""))), "")


def _second_parent(quote: SourceQuote, cues: list[FamilyCue], start: int) -> frozenset[str]:
    """'son of A and his second wife B': B is a parent of the son, not his wife."""
    if (
        len(cues) < 2
        or cues[0].kind not in ("spouse", "partner")
        or _is_tie(quote, cues[0])
        or _is_inverted(quote, cues[0])
    ):
        return frozenset()
    wife, child = cues[0], cues[1]
    is_child = child.kind == "parent" or (child.kind == "child" and _is_inverted(quote, child))
    linked = ENGLISH.and_his_wife.search(quote.words[child.end : wife.start])
    if not is_child or not linked or not _reaches(quote, quote.words[child.end : start]):
        return frozenset()
    return _widened("father" if quote.table.sexes.get(wife.word) == "male" else "mother")


def _begins_cell_of_subject(quote: SourceQuote, at: int) -> bool:
    """Whether a cell of a row begins there, and the row with the subject's name: 'Ann Hay | 1800 | married'."""
    row = quote.words[quote.line_of(at)[0] : at]
    first = [word.folded for word in quote_words(row.partition("\t")[0])]
    own = [word.folded for word in quote_words(quote.subject)]
    return row.endswith("\t") and bool(own) and own in (first, first[1:])


def _wrong_holder(quote: SourceQuote, cue: FamilyCue) -> Code | None:
    if _is_tie(quote, cue) and _begins_cell_of_subject(quote, cue.start):
        return None
    if _is_tie(quote, cue):
        children = ENGLISH.children_before.search(quote.words[: cue.start])
        if cue.kind == "parent" and children:
            return subject_violation(quote, children.start(), is_verb=False)
        return subject_violation(quote, cue.start, is_verb=True)
    if not _is_inverted(quote, cue):
        return owner_violation(quote, cue.start)
    tokens = tokens_before(quote, cue.start)
    while tokens and tokens[-1].lowered in quote.table.words["adjectives"]:
        tokens.pop()
    if tokens and (tokens[-1].lowered in quote.table.ties.kinds or _is_object(quote, tokens)):
        return "HF_043"
    return subject_violation(quote, cue.start, is_verb=False)


def _is_object(quote: SourceQuote, tokens: list[PrecedingToken]) -> bool:
    """Whether the noun after these tokens is an object: 'he killed the son of Y', not 'he was called the son of Y'."""
    last = tokens[-1]
    is_verb = (
        last.text[0].islower() and last.lowered.endswith("ed") and last.lowered not in quote.table.words["no_verbs"]
    )
    return is_verb and not any(token.lowered in ENGLISH.words["copulas"] for token in tokens[-4:-1])


def _cue_after(quote: SourceQuote, start: int, end: int) -> FamilyCue | None:
    """A kinship word after a name: 'Robert, his father', 'Robert (father)', 'Robert was the father of Charles'."""
    _, line_end = quote.line_of(start)
    text = quote.words[end : min(line_end, end + MAX_AFTER)]
    whom = ENGLISH.check_whom.match(quote.words, end, line_end)
    if whom and (whom["who"] in ("he", "she") or whom["who"].split()[-1].lower() in quote.own_names):
        return FamilyCue("spouse", end, whom.end(), "married")
    for cue in quote.table.kin.found_in(text)[:1]:
        # An uncle or a friend: related, but in no way that a case stores.
        if cue.kind == "other":
            return None
        adjectives = quote.table.words["adjectives"] - {"the", "a", "an", "and", "of"}
        lead = text[: cue.start]
        while (words := lead.split()) and words[-1].lower() in adjectives:
            lead = lead[: lead.rstrip().rfind(words[-1])]
        found = ENGLISH.kin_after.fullmatch(lead)
        if not found or (found["named"] and fold(found["named"]) not in quote.own_names):
            return None
        if ENGLISH.kin_of.match(text, cue.end):
            whose = TOKEN.findall(ENGLISH.kin_of.sub("", text[cue.end :], count=1))[:1]
            return cue if whose and whose[0].lower() in quote.own_names | {"him", "her"} else None
        if re.match(r"\s*,?\s*[A-Z]", text[cue.end :]):
            return None  # 'his wife Ann, his son Tom'
        return cue if lead.strip() == "(" or found["whose"] else None
    return None


def _reaches(quote: SourceQuote, gap: str) -> bool:
    """Whether a kinship word still applies to the name after this gap."""
    rest = BRACKETS.sub(" ", ENGLISH.kin_copula.sub("", ENGLISH.after_of_them.sub("", gap), count=1))
    rest = ENGLISH.check_apposition.sub(" ", rest + " ")
    return not STRICT_SENTENCE_END.search(rest) and governs(quote, re.split(r"[;:]", rest)[-1])
