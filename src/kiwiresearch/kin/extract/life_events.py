"""Rules that read marriages, births and deaths from sentences about the page's person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.descent_phrases import RelationRule, RelativePhrase, names_person, words_since_subject
from kiwiresearch.kin.extract.life_dates import snippet_at
from kiwiresearch.kin.extract.name_lists import TextSpan, is_name, name_after
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import name_words
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold
from kiwiresearch.text.dates import dates_in


def read_marriages(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """The people whom a sentence says the subject married."""
    for rule in MARRIAGE_RULES:
        yield from rule(text, clause, subject)


def _took(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'He married A', 'Carter left Aue and married A'."""
    for found in ENGLISH.marry.finditer(text, clause.start, clause.end):
        between = words_since_subject(text, clause, found.start())
        if not between or not (
            ENGLISH.allowed_before.fullmatch(between[1]) or ENGLISH.coordinated.fullmatch(between[1])
        ):
            continue
        passive = ENGLISH.passive_before.search(text[clause.start : found.start()])
        there = ENGLISH.married_there.match(text, found.end(), clause.end) if passive else None
        after = there or ENGLISH.after_marry.match(text, found.end(), clause.end)
        name = name_after(text, after.end() if after else found.end(), clause.end, described=True)
        if name:
            yield RelativePhrase("spouse", name.span, TextSpan(between[0].start, name.span.end), RelationRule.MARRIED)


def _by_marrying(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'He settled by marrying A', 'After marrying A, Carter left'."""
    for found in ENGLISH.by_marrying.finditer(text, clause.start, clause.end):
        between = words_since_subject(text, clause, found.start())
        name = name_after(text, found.end(), clause.end, described=True)
        if not name:
            continue
        if between and not names_person(between[1]) and not ENGLISH.others_tell.search(between[1]):
            yield RelativePhrase("spouse", name.span, TextSpan(between[0].start, name.span.end), RelationRule.MARRYING)
        after = next((span for span in clause.mentions if span.start > name.span.end), None)
        # 'After marrying A, Carter left': here the subject comes after the name.
        opens = found.start() == clause.start
        if opens and after and regex.fullmatch(r"[^,;]{0,40},\s+", text[name.span.end : after.start]):
            yield RelativePhrase("spouse", name.span, TextSpan(clause.start, after.end), RelationRule.MARRYING)


def _marriage_to(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'his marriage to A'."""
    for found in ENGLISH.marriage_to.finditer(text, clause.start, clause.end):
        owners = [owner for owner in clause.possessives if owner.end <= found.start()]
        if not owners or not ENGLISH.before_marriage_to.fullmatch(text[owners[-1].end : found.start()]):
            continue
        name = name_after(text, found.end(), clause.end, described=True)
        if name:
            yield RelativePhrase(
                "spouse", name.span, TextSpan(owners[-1].start, name.span.end), RelationRule.MARRIAGE_TO
            )


@dataclass(frozen=True, slots=True)
class NameAfterSubject:
    """A rule for weddings: a link right after the subject, then the other's name. Patterns are given by name."""

    link: str
    rule: RelationRule
    described: bool = False
    before: str = ""
    """Must end where the subject is named; the quote begins with it."""
    unless: str = ""
    """Anywhere before, it says that the wedding did not take place."""
    after: str = ""
    """Must follow the name; the quote ends with it."""

    def __call__(self, text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
        for anchor in clause.mentions:
            link = ENGLISH[self.link].match(text, anchor.end, clause.end)
            led = ENGLISH[self.before].search(text, clause.start, anchor.start) if link and self.before else None
            if not link or (self.before and not led):
                continue
            start = led.start() if led else anchor.start
            if self.unless and ENGLISH[self.unless].search(text, clause.start, start):
                continue
            name = name_after(text, link.end(), clause.end, described=self.described)
            wed = ENGLISH[self.after].match(text, name.span.end, clause.end) if name and self.after else None
            if name and (wed or not self.after):
                yield RelativePhrase(
                    "spouse", name.span, TextSpan(start, wed.end() if wed else name.span.end), self.rule
                )


def _wife_of(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'A was sent for and became the wife of Carter'."""
    for anchor in clause.mentions:
        became = ENGLISH.wife_of.search(text, clause.start, anchor.start)
        first = name_after(text, clause.start, clause.end) if became else None
        if became and first and not ENGLISH.cap.search(text[first.span.end : became.start()]):
            yield RelativePhrase("spouse", first.span, TextSpan(clause.start, anchor.end), RelationRule.WIFE_OF)


def _whom(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'A, whom he married'."""
    for found in ENGLISH.whom.finditer(text, clause.start, clause.end):
        if (
            clause.opening_pronoun_means != "subject"
            or not subject.pronoun
            or subject.pronoun not in found[0]
            or not clause.mentions
        ):
            continue
        name = _person_after_place(text, clause.start, _name_before(text, clause.start, found.start()))
        if name and not (found["aside"] and names_person(found["aside"])):
            yield RelativePhrase("spouse", name, TextSpan(name.start, found.end()), RelationRule.WHOM_MARRIED)


def _person_after_place(text: str, start: int, name: TextSpan | None) -> TextSpan | None:
    """The name without the place that runs into it: 'he met at Gilsland Spa Margaret Charpentier'."""
    if name is None or not ENGLISH.in_place.search(text, start, name.start):
        return name
    given = name_words().female | name_words().male
    words = regex.finditer(r"[\p{L}\p{M}'’\-]+", text, pos=name.start, endpos=name.end)
    return next((TextSpan(word.start(), name.end) for word in words if fold(word[0]) in given), None)


def _whose_daughter(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'the king, whose daughter A he married'."""
    if clause.opening_pronoun_means != "subject" or not subject.pronoun:
        return
    wedded = regex.compile(rf",?\s+{subject.pronoun}\s+{ENGLISH.adverbs.pattern}married\b")
    for found in ENGLISH.daughter_wedded.finditer(text, clause.start, clause.end):
        name = name_after(text, found.end(), clause.end)
        wed = wedded.match(text, name.span.end, clause.end) if name else None
        if name and wed:
            yield RelativePhrase("spouse", name.span, TextSpan(found.start(), wed.end()), RelationRule.WHOSE_DAUGHTER)


def _was_taken(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'In 1825, A married Carter'."""
    for found in ENGLISH.marry.finditer(text, clause.start, clause.end):
        following = [
            span for span in clause.mentions if span.start > found.end() and text[found.end() : span.start].isspace()
        ]
        # After 'married he', 'he' begins another clause.
        if not following or text[following[0].start : following[0].end].lower() == subject.pronoun:
            continue
        anchor = following[0]
        adverbs = ENGLISH.adverbs_before.search(text[clause.start : found.start()])
        name = _name_before(text, clause.start, clause.start + adverbs.start()) if adverbs else None
        if not name or ENGLISH.and_or_to.match(text[anchor.end : clause.end]):
            continue
        before = text[clause.start : name.start]
        # The first word of a sentence has a capital in any case.
        named = ENGLISH.cap.findall(before)[before[:1].isupper() :]
        if ENGLISH.led_by.search(before) or any(fold(word) not in ENGLISH.words["months"] for word in named):
            continue
        yield RelativePhrase("spouse", name, TextSpan(name.start, anchor.end), RelationRule.MARRIED_BY)


def _became(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'A became Carter's wife', 'A was Carter's mother'."""
    own = "wife" if subject.sex == "male" else "husband"
    for owner in clause.possessives:
        kin = ENGLISH.owned_kin.match(text, owner.end, clause.end)
        became = ENGLISH.became.search(text[clause.start : owner.start])
        if not kin or not became or kin["kind"] not in ("father", "mother", own):
            continue
        name = _name_before(text, clause.start, clause.start + became.start())
        if name and not ENGLISH.led_by.search(text[clause.start : name.start]):
            field = ENGLISH.owned_fields[kin["kind"]]
            yield RelativePhrase(field, name, TextSpan(name.start, kin.end()), RelationRule.BECAME, kin["kind"])


def _kin_of_subject(text: str, clause: Clause, subject: ArticlePerson) -> Iterator[RelativePhrase]:
    """'A was a sister of Carter', 'A was brother to Carter'."""
    for anchor in clause.mentions:
        role = ENGLISH.was_kin_of.search(text, clause.start, anchor.start)
        name = _name_before(text, clause.start, role.start()) if role else None
        if not role or not name or name.start != clause.start or subject.mention.match(text, name.start):
            continue
        yield RelativePhrase(
            ENGLISH.owned_fields[role["kind"]],
            name,
            TextSpan(name.start, anchor.end),
            RelationRule.BECAME,
            role["kind"],
        )


def _met(text: str, clause: Clause, _: ArticlePerson) -> Iterator[RelativePhrase]:
    """'He met A, and they married', in one sentence or two."""
    wed = ENGLISH.they_married.search(text[clause.start : clause.end])
    if not wed:
        return
    begin = clause.start
    if clause.meeting_starts is not None and (
        not wed.start() or not ENGLISH.met.search(text, begin, begin + wed.start())
    ):
        begin = clause.meeting_starts
    span = TextSpan(begin, clause.start + wed.end())
    for found in ENGLISH.met.finditer(text, begin, clause.start + wed.start()):
        name = name_after(text, found.end(), clause.end, described=True)
        between = words_since_subject(text, clause, found.start())
        own = begin < clause.start or (between and not ENGLISH.cap.search(between[1]))
        if name and own:
            yield RelativePhrase("spouse", name.span, span, RelationRule.MET_AND_MARRIED)


MARRIAGE_RULES: tuple[Callable[[str, Clause, ArticlePerson], Iterator[RelativePhrase]], ...] = (
    _took,
    _by_marrying,
    _marriage_to,
    NameAfterSubject("had_marriage", RelationRule.HAD_WIFE, described=True),
    NameAfterSubject("has_wife", RelationRule.HAD_WIFE),
    _wife_of,
    NameAfterSubject(
        "other_side", RelationRule.MARRIAGE_OF, described=True, before="marriage_of", unless="not_realised"
    ),
    _whom,
    _whose_daughter,
    NameAfterSubject("and_another", RelationRule.BOTH_MARRIED, after="were_married"),
    NameAfterSubject("and_wife", RelationRule.AND_WIFE),
    _was_taken,
    _became,
    _kin_of_subject,
    _met,
)


def _name_before(text: str, start: int, end: int) -> TextSpan | None:
    """The name that ends exactly at `end`."""
    named = [match for match in ENGLISH.name.finditer(text, start, end) if match.end() == end]
    # A name in capitals only is a heading or an abbreviation.
    if not named or not is_name(named[-1][0]) or named[-1][0].isupper():
        return None
    return TextSpan(*named[-1].span())


EVENT_CONFIDENCE = 0.6
EVENTS: dict[str, tuple[FieldName, FieldName]] = {
    "was born": ("birth_date", "birth_place"),
    "died": ("death_date", "death_place"),
}
MAX_EVENT_GAP = 70
"""How far after 'born' or 'died' its date and place may be."""


def event_facts(
    page: PageDoc, clauses: Iterable[Clause], subject: ArticlePerson, known: frozenset[str]
) -> Iterator[ExtractedFact]:
    """The first birth and death that a sentence gives the subject, for fields not known yet."""
    # Boxes and the lead are more certain, so running text only fills what they leave open.
    open_fields = {field for pair in EVENTS.values() for field in pair} - known
    if ENGLISH.lives.match(page.text, subject.opening.start, subject.opening.end):
        open_fields -= set(EVENTS["died"])
    for clause in clauses:
        if not open_fields:
            return
        for fact in _clause_events(page, clause):
            if fact.field in open_fields:
                open_fields.discard(fact.field)
                yield fact


def _clause_events(page: PageDoc, clause: Clause) -> Iterator[ExtractedFact]:
    for anchor in clause.mentions:
        found = ENGLISH.happened.match(page.text, anchor.end, clause.end)
        if not found:
            continue
        stop = ENGLISH.event_ends.search(page.text, found.end(), clause.end)
        end = min(stop.start() if stop else clause.end, found.end() + 2 * MAX_EVENT_GAP)
        date_field, place_field = EVENTS[found["kind"]]
        because = f"the word {found['kind']!r} about this person"
        for dated in dates_in(page.text[found.end() : end], page.language)[:1]:
            if dated.start < MAX_EVENT_GAP and not dated.when.lasts:
                snippet = snippet_at(page, TextSpan(anchor.start, found.end() + dated.end))
                yield ExtractedFact(
                    date_field, dated.when.edtf(), snippet, "prose", EVENT_CONFIDENCE, dated.when, rationale=because
                )
        place = ENGLISH.event_place.search(page.text, found.end(), end)
        is_near = place and place.start() - found.end() < MAX_EVENT_GAP
        if place and is_near and fold(place["place"].split()[0]) not in ENGLISH.words["months"]:
            snippet = snippet_at(page, TextSpan(anchor.start, place.end()))
            yield ExtractedFact(place_field, place["place"], snippet, "prose", EVENT_CONFIDENCE, rationale=because)
        return
