"""Rules that read marriages, births and deaths from sentences about the page's person."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.clauses import MET, Clause, clauses_of
from kiwiresearch.kin.extract.lexicon import CAP, MONTHS, NAME, FamilyWords, Span, is_name, regex
from kiwiresearch.kin.extract.life_dates import snippet_at
from kiwiresearch.kin.extract.name_lists import name_after
from kiwiresearch.kin.extract.relations import (
    ADJECTIVE,
    AFTER_MARRY,
    ALLOWED_BEFORE,
    COORDINATED,
    HAD_MARRIAGE,
    MARRIAGE_TO,
    MARRIED_THERE,
    MARRY,
    OWNED,
    OWNED_FIELDS,
    Relation,
    words_since_subject,
)
from kiwiresearch.kin.extract.subject import PageSubject
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.when import dates_in
from kiwiresearch.text.words import fold

ADVERBS = r"(?:(?:then|later|soon|also|once|again|earlier|recently|would|had|were|got|was|is|are|\p{Ll}+ly)\s+){0,3}"
WHOM = regex.compile(r"(?P<aside>,[^,;]{1,60})?,?\s+whom\s+(?:he|she)\s+(?:\w+\s+)?married\b")
DAUGHTER_WEDDED = regex.compile(r"\bwhose\s+(?:\p{Ll}+\s+)?(?:daughter|sister(?:-in-law)?|widow|niece|cousin),?\s+")
AND_ANOTHER = regex.compile(
    r"\s+and\s+(?:(?:his|her)\s+(?:\p{Ll}+\s+)?(?:fiancée?|girlfriend|boyfriend),?\s+)?(?=\p{Lu})"
)
WERE_MARRIED = regex.compile(
    rf"\s+(?:[^.;()\p{{Lu}}]{{3,60}}?,?\s+and\s+(?=were\s))?{ADVERBS}(?:married|wed)(?=\s*(?:[,.;)]|$|(?:in|on|at|there|that|and|shortly|later|when|after|an?|again|"
    r"aboard|before|soon|\d|secretly|quietly)\b))"
)
AND_WIFE = regex.compile(r"\s+and\s+(?:wife|husband),?\s+")
BECAME = regex.compile(rf"(?:,?\s+who|,)?\s+{ADVERBS}(?:become|became|was|is)\s+$")
THEY_MARRIED = regex.compile(
    rf"(?:^|[,;]\s+|\band\s+)(?:[Tt]hey|[Tt]he (?:two|couple|pair))\s+{ADVERBS}(?:married|wed)\b"
    r"(?!\s+(?:to\s+)?\p{Lu}\p{Ll}+\s+\p{Lu})|"
    r"\b(?:[Bb]efore|[Aa]fter|,? and (?:later|soon|then|eventually)?) ?(?:marrying|married) (?:her|him)\b"
)
LED_BY = regex.compile(r"\b(?:of|by|with|from|for|to|and|in|at|near|or|than|the)\s+$")


def read_marriages(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """All ways in which a sentence says whom the subject married."""
    for rule in (
        _took,
        _by_marrying,
        _marriage_to,
        _had,
        _wife_of,
        _marriage_of,
        _whom,
        _whose_daughter,
        _jointly,
        _was_taken,
        _became,
        _met,
    ):
        yield from rule(text, clause, subject, words)


def _took(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'He married A', 'Carter left Aue and married A'."""
    for found in MARRY.finditer(text, clause.start, clause.end):
        between = words_since_subject(text, clause, found.start())
        if not between or not (ALLOWED_BEFORE.fullmatch(between[1]) or COORDINATED.fullmatch(between[1])):
            continue
        passive = regex.search(r"\b(?:was|is|been|got)\s+(?:\p{Ll}+ly\s+)?$", text[clause.start : found.start()])
        there = MARRIED_THERE.match(text, found.end(), clause.end) if passive else None
        behind = there or AFTER_MARRY.match(text, found.end(), clause.end)
        name = name_after(text, behind.end() if behind else found.end(), clause.end, words, described=True)
        if name:
            yield Relation("spouse", name.span, Span(between[0].start, name.span.end), "'married' said of the subject")


def _by_marrying(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'He settled by marrying A', 'After marrying A, Carter left'."""
    for found in regex.finditer(
        r"\b(?:(?:by|[Aa]fter|[Bb]efore)\s+marrying|(?<!\b(?:related|linked|connected|allied|bound)\s)by\s+marriage\s+to|"
        r"free\s+to\s+marry)\s+",
        text,
        pos=clause.start,
        endpos=clause.end,
    ):
        between = words_since_subject(text, clause, found.start())
        name = name_after(text, found.end(), clause.end, words, described=True)
        if not name:
            continue
        if between and not regex.search(CAP, between[1]) and not OTHERS_TELL.search(between[1]):
            yield Relation("spouse", name.span, Span(between[0].start, name.span.end), "'marrying' said of the subject")
        after = next((one for one in clause.anchors if one.start > name.span.end), None)
        if (
            found.start() == clause.start
            and after
            and regex.fullmatch(r"[^,;]{0,40},\s+", text[name.span.end : after.start])
        ):
            yield Relation("spouse", name.span, Span(clause.start, after.end), "'marrying' said of the subject")


OTHERS_TELL = regex.compile(
    r"\b(?:who|whom|whose|which|that|she|they|son|daughter|brother|sister|father|mother|friend)\b"
)


def _marriage_to(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'his marriage to A'."""
    for found in MARRIAGE_TO.finditer(text, clause.start, clause.end):
        owners = [owner for owner in clause.owners if owner.end <= found.start()]
        if not owners or not regex.fullmatch(
            rf"\s+(?:\d{{4}}\s+)?(?:{ADJECTIVE}\s+|[a-z]+\s+){{0,2}}", text[owners[-1].end : found.start()]
        ):
            continue
        name = name_after(text, found.end(), clause.end, words, described=True)
        if name:
            said = Span(owners[-1].start, name.span.end)
            yield Relation("spouse", name.span, said, "'marriage to' said of the subject")


def _had(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'Carter had an arranged marriage with A', 'Carter has a wife named A'."""
    for anchor in clause.anchors:
        for cue in (HAD_MARRIAGE, HAS_WIFE):
            had = cue.match(text, anchor.end, clause.end)
            name = name_after(text, had.end(), clause.end, words, described=cue is HAD_MARRIAGE) if had else None
            if name:
                yield Relation("spouse", name.span, Span(anchor.start, name.span.end), "'had a wife' or a marriage")


def _wife_of(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'A was sent for and became the wife of Carter'."""
    for anchor in clause.anchors:
        became = WIFE_OF.search(text, clause.start, anchor.start)
        first = name_after(text, clause.start, clause.end, words) if became else None
        if became and first and not regex.search(CAP, text[first.span.end : became.start()]):
            said = Span(clause.start, anchor.end)
            yield Relation("spouse", first.span, said, "'became the wife of' the subject")


def _marriage_of(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'the marriage of Carter with A', 'the marriage between Carter and A'."""
    for anchor in clause.anchors:
        led = MARRIAGE_OF.search(text, clause.start, anchor.start)
        link = OTHER_SIDE.match(text, anchor.end, clause.end) if led else None
        name = name_after(text, link.end(), clause.end, words, described=True) if link else None
        if led and name and not NOT_REALISED.search(text, clause.start, led.start()):
            yield Relation("spouse", name.span, Span(led.start(), name.span.end), "'marriage of' the subject")


HAS_WIFE = regex.compile(r"\s+(?:has|had)\s+an?\s+(?:\p{Ll}+\s+)?(?:wife|husband)(?:\s+named|,)?\s+(?=\p{Lu})")
WIFE_OF = regex.compile(r"\b(?:became|was)\s+the\s+(?:\p{Ll}+\s+)?(?:wife|husband|consort)\s+of\s+$")
NOT_REALISED = regex.compile(
    r"\b(?:clandestine|supposed\w*|rumou?r\w*|alleg\w+|propos\w+|plan\w*|possib\w+|negotiat\w+|intend\w*|prevent\w*|"
    r"arrang\w+|secret|suggest\w*|"
    r"forbid\w*|forbade|opposed|against|no|never|hopes?|idea|talks?|betroth\w+|discuss\w*)\b"
)
OTHER_SIDE = regex.compile(r"\s+(?:to|with|and)\s+")
MARRIAGE_OF = regex.compile(r"\b(?:marriage|wedding)\s+(?:of|between)\s+$")


def _whom(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'A, whom he married'."""
    for found in WHOM.finditer(text, clause.start, clause.end):
        if clause.referent != "subject" or not subject.pronoun or subject.pronoun not in found[0] or not clause.anchors:
            continue
        name = _name_before(text, clause.start, found.start(), words)
        if name and not (found["aside"] and regex.search(CAP, found["aside"])):
            yield Relation("spouse", name, Span(name.start, found.end()), "'whom he married'")


def _whose_daughter(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'the king, whose daughter A he married'."""
    if clause.referent != "subject" or not subject.pronoun:
        return
    wedded = regex.compile(rf",?\s+{subject.pronoun}\s+{ADVERBS}married\b")
    for found in DAUGHTER_WEDDED.finditer(text, clause.start, clause.end):
        name = name_after(text, found.end(), clause.end, words)
        wed = wedded.match(text, name.span.end, clause.end) if name else None
        if name and wed:
            yield Relation("spouse", name.span, Span(found.start(), wed.end()), "'whose daughter he married'")


def _jointly(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'Carter and A married in 1825', 'Carter and wife A'."""
    for anchor in clause.anchors:
        link = AND_ANOTHER.match(text, anchor.end, clause.end)
        name = name_after(text, link.end(), clause.end, words) if link else None
        wed = WERE_MARRIED.match(text, name.span.end, clause.end) if name else None
        if name and wed:
            yield Relation(
                "spouse", name.span, Span(anchor.start, wed.end()), "'married' said of the subject and another"
            )
        wife = AND_WIFE.match(text, anchor.end, clause.end)
        name = name_after(text, wife.end(), clause.end, words) if wife else None
        if name:
            yield Relation("spouse", name.span, Span(anchor.start, name.span.end), "'and wife' said of the subject")


def _was_taken(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'In 1825, A married Carter'."""
    for found in MARRY.finditer(text, clause.start, clause.end):
        behind = [one for one in clause.anchors if one.start > found.end() and text[found.end() : one.start].isspace()]
        if not behind or text[behind[0].start : behind[0].end].lower() == subject.pronoun:
            continue
        anchor = behind[0]
        adverbs = regex.search(rf"\s{ADVERBS}$", text[clause.start : found.start()])
        name = _name_before(text, clause.start, clause.start + adverbs.start(), words) if adverbs else None
        if not name or regex.match(r"\s+(?:and|to)\b", text[anchor.end : clause.end]):
            continue
        before = text[clause.start : name.start]
        if LED_BY.search(before) or _others(before):
            continue
        yield Relation("spouse", name, Span(name.start, anchor.end), "'married' the subject, said of another")


def _became(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'A became Carter's wife', 'A was Carter's mother'."""
    own = "wife" if subject.sex == "male" else "husband"
    for owner in clause.owners:
        kin = OWNED.match(text, owner.end, clause.end)
        told = BECAME.search(text[clause.start : owner.start])
        if not kin or not told or kin["kind"] not in ("father", "mother", own):
            continue
        name = _name_before(text, clause.start, clause.start + told.start(), words)
        if name and not LED_BY.search(text[clause.start : name.start]):
            yield Relation(
                OWNED_FIELDS[kin["kind"]],
                name,
                Span(name.start, kin.end()),
                f"'became the {kin['kind']} of' the subject",
            )


def _met(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'He met A, and they married', in one sentence or two."""
    wed = THEY_MARRIED.search(text[clause.start : clause.end])
    if not wed:
        return
    begin = clause.start if wed.start() or clause.met_sentence_start is None else clause.met_sentence_start
    said = Span(begin, clause.start + wed.end())
    for found in MET.finditer(text, begin, clause.start + wed.start()):
        name = name_after(text, found.end(), clause.end, words, described=True)
        between = words_since_subject(text, clause, found.start())
        own = begin < clause.start or (between and not regex.search(CAP, between[1]))
        if name and own:
            yield Relation("spouse", name.span, said, "'met' and 'married' said of the subject")


def _name_before(text: str, start: int, end: int, words: FamilyWords) -> Span | None:
    """The name that ends just here."""
    named = [one for one in NAME.finditer(text, start, end) if one.end() == end]
    if not named or not is_name(named[-1][0], words) or named[-1][0].isupper():
        return None
    return Span(*named[-1].span())


def _others(before: str) -> bool:
    """Whether anybody is named there; the month of a date is nobody."""
    words = regex.findall(CAP, before)[0 if not before[:1].isupper() else 1 :]
    return any(fold(word) not in MONTHS | {"march", "april", "may", "august"} for word in words)


EVENT_CONFIDENCE = 0.6
HAPPENED = regex.compile(
    r",?\s*(?:\([^()]*\)\s*)?(?:himself |herself )?(?P<kind>was born|died)\b(?!\s+(?:to|into|of the))"
)
EVENTS: dict[str, tuple[FieldName, FieldName]] = {
    "was born": ("birth_date", "birth_place"),
    "died": ("death_date", "death_place"),
}
NEAR = 70
"""How far behind the word the date and the place may stand."""
PLACE = regex.compile(rf"\b(?:in|at)\s+(?P<place>{CAP}(?:[ \-]{CAP})*(?:,\s+{CAP}(?:[ \-]{CAP})*){{0,2}})")
ENDS = regex.compile(r"[;.]\s|,\s+(?:he|she|his|her|who)\b|\b(?:and|when|while|but|after|before|where|as)\b|\(")

LIVES = regex.compile(
    r"[^()]{2,120}\((?:[^()]|\([^()]*\))*\bborn\b(?:[^()]|\([^()]*\))*\),?(?:\s+[^.()]{0,80},)?\s+is\b"
)
"""'(born 4 May 1950) is a singer': whose death is told further down is somebody else."""


def event_facts(
    page: PageDoc, subject: PageSubject, words: FamilyWords, known: frozenset[str]
) -> Iterator[ExtractedFact]:
    """The first birth and death told of the subject, for the fields that are not known yet."""
    open_fields = {field for pair in EVENTS.values() for field in pair} - known
    if LIVES.match(page.text, subject.opening.start, subject.opening.end):
        open_fields -= set(EVENTS["died"])
    for clause in clauses_of(page, subject, words):
        if not open_fields:
            return
        for fact in _clause_events(page, clause):
            if fact.field in open_fields:
                open_fields.discard(fact.field)
                yield fact


def _clause_events(page: PageDoc, clause: Clause) -> Iterator[ExtractedFact]:
    for anchor in clause.anchors:
        found = HAPPENED.match(page.text, anchor.end, clause.end)
        if not found:
            continue
        stop = ENDS.search(page.text, found.end(), clause.end)
        end = min(stop.start() if stop else clause.end, found.end() + NEAR * 2)
        date_field, place_field = EVENTS[found["kind"]]
        because = f"{found['kind']!r} said of the subject"
        for dated in dates_in(page.text[found.end() : end], page.language)[:1]:
            if dated.start < NEAR and not dated.when.lasts:
                snippet = snippet_at(page, Span(anchor.start, found.end() + dated.end))
                yield ExtractedFact(
                    date_field, dated.when.edtf(), snippet, "prose", EVENT_CONFIDENCE, dated.when, rationale=because
                )
        place = PLACE.search(page.text, found.end(), end)
        if place and place.start() - found.end() < NEAR and fold(place["place"].split()[0]) not in MONTH_WORDS:
            snippet = snippet_at(page, Span(anchor.start, place.end()))
            yield ExtractedFact(place_field, place["place"], snippet, "prose", EVENT_CONFIDENCE, rationale=because)
        return


MONTH_WORDS = MONTHS | {"march", "april", "may", "august"}
