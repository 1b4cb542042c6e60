"""Reads the person a page is about: `read_person` is the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kiwiresearch.kin.extract.boxes import box_facts, qualifier_in
from kiwiresearch.kin.extract.clauses import Clause, clauses_of
from kiwiresearch.kin.extract.descent_phrases import (
    RelationRule,
    RelativePhrase,
    read_born_to,
    read_child_of,
    read_role_of,
)
from kiwiresearch.kin.extract.family_tables import family_facts
from kiwiresearch.kin.extract.grandparents import with_grandparents
from kiwiresearch.kin.extract.life_dates import lead_facts, name_target, sex_facts, snippet_at
from kiwiresearch.kin.extract.life_events import event_facts, read_marriages
from kiwiresearch.kin.extract.name_lists import TextSpan
from kiwiresearch.kin.extract.page_verdict import judge_page
from kiwiresearch.kin.extract.role_phrases import (
    read_apposition,
    read_children,
    read_children_borne,
    read_children_of_wife,
    read_possessive_kin,
    read_siblings,
)
from kiwiresearch.kin.extract.subject import ArticlePerson, subject_of
from kiwiresearch.kin.language import ENGLISH, has_family_words, regex
from kiwiresearch.kin.names import name_words, parse_name, sex_of_name
from kiwiresearch.kin.source_facts import ExtractedFact, Hypothesis, PersonReading
from kiwiresearch.kin.tree import PARENT_FIELDS, Qualifier
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, dates_in

SIBLING_COUNT_WITHIN = 4_000
"""How far into a page 'the eldest of five children' refers to its subject."""


def hypotheses_of(page: PageDoc, subject: ArticlePerson, facts: tuple[ExtractedFact, ...]) -> tuple[Hypothesis, ...]:
    """Hypotheses worth a search, most promising first."""
    found = (
        *_namesake_hypotheses(subject),
        *_maiden_name_hypotheses(page, subject),
        *_sibling_hypotheses(page, subject),
        *_succession_hypotheses(page, subject, facts),
    )
    unique = {hypothesis.text: hypothesis for hypothesis in found}
    return tuple(sorted(unique.values(), key=lambda hypothesis: (-hypothesis.priority, hypothesis.text)))


def _namesake_hypotheses(subject: ArticlePerson) -> Iterator[Hypothesis]:
    """'Jr.' implies a father of the same name, 'Sr.' a child."""
    name = subject.name
    generation = parse_name(name).generation if ENGLISH.suffix.search(name) else ""
    plain = ENGLISH.suffix.sub("", name).strip()
    hint = f"the suffix of the name {name!r}"
    if generation == "junior":
        text = f"{name} is a 'Jr.': a father may have had the name {plain}."
        yield Hypothesis("parental_discovery", text, hint, 0.8, (f"{plain} Sr.", f"{plain} father"))
    if generation == "senior":
        text = f"{name} is a 'Sr.': a son may have the name {plain}."
        yield Hypothesis("child_discovery", text, hint, 0.7, (f"{plain} Jr.", f"{plain} son"))


def _maiden_name_hypotheses(page: PageDoc, subject: ArticlePerson) -> Iterator[Hypothesis]:
    """'née Knox' after the subject's name: the family she was born into."""
    head = page.text[subject.opening.start : min(subject.opening.end, subject.opening.start + 250)]
    found = ENGLISH.born_name.search(head)
    given = parse_name(subject.name).given
    if found and given and subject.sex != "male":
        maiden = found[1] or found[2]
        text = f"{subject.name} was born a {maiden}: her father may be found under that name."
        yield Hypothesis("birth_family", text, found[0], 0.7, (f"{given[0]} {maiden}", f"{maiden} family"))


def _sibling_hypotheses(page: PageDoc, subject: ArticlePerson) -> Iterator[Hypothesis]:
    """'the eldest of five children': siblings whom the page may not name."""
    name, opening = subject.name, subject.opening.start
    for found in ENGLISH.nth_of.finditer(page.text, opening, min(len(page.text), opening + SIBLING_COUNT_WITHIN)):
        start = max((at for at in page.sentences if at <= found.start()), default=found.start())
        before = page.text[start : found.start()]
        if subject.mention.search(before) or regex.match(rf"(?i)\s*{subject.pronoun or 'he'}\b", before):
            text = f"{name} was one of {found[1]} {found[2]}: the others may be found."
            queries = (f"{name} siblings", f"{name} brothers and sisters")
            yield Hypothesis("sibling_discovery", text, found[0], 0.5, queries)
            return


def _succession_hypotheses(
    page: PageDoc, subject: ArticlePerson, facts: tuple[ExtractedFact, ...]
) -> Iterator[Hypothesis]:
    """A predecessor or successor of the same house may be a relative."""
    rows = {fold(row.key): row for box in page.infoboxes[:1] for row in box.rows}
    house = next((rows[key].value for key in ("royal house", "house", "dynasty") if key in rows), "")
    known = {fold(fact.value) for fact in facts if fact.field in ("father", "mother", "child", "sibling", "parent")}
    if not house:
        return
    for key, kind in (("predecessor", "parental_discovery"), ("successor", "child_discovery")):
        row = rows.get(key)
        name = row.value.split("\n")[0].strip() if row else ""
        is_one_person = parse_name(name).given and " and " not in name and "," not in name
        if row and is_one_person and fold(name) not in known:
            text = f"{name}, {key} of {subject.name}, may be of the same house ({house}) and a relative."
            hint = f"the row {row.key!r} in the infobox"
            yield Hypothesis(kind, text, hint, 0.4, (f"{name} family", f"{name} {house}"))


LEAD_RELATIVE_CONFIDENCE = 0.7
PROSE_CONFIDENCE = 0.6

CHILD_RULES = (RelationRule.POSSESSIVE, RelationRule.HAD_CHILDREN, RelationRule.THEIR_CHILDREN)
DATED_RULES = (
    RelationRule.MARRIED, RelationRule.WHOM_MARRIED, RelationRule.WHOSE_DAUGHTER,
    RelationRule.BOTH_MARRIED, RelationRule.MARRIED_BY, RelationRule.MET_AND_MARRIED,
)  # fmt: skip
"""A date that opens their sentence is that of the wedding."""
PRESUPPOSING_RULES = (RelationRule.POSSESSIVE, RelationRule.MARRIAGE_TO)
"""Without a verb they take the relation for granted: 'it was said that his brother Ned came' does not doubt it."""
RelationReader = Callable[[str, Clause, ArticlePerson], Iterator[RelativePhrase]]
RELATION_READERS: tuple[RelationReader, ...] = (
    read_child_of,
    read_born_to,
    read_role_of,
    read_possessive_kin,
    read_apposition,
    read_marriages,
    read_children,
    read_children_borne,
    read_siblings,
)


def prose_facts(page: PageDoc, clauses: Iterable[Clause], subject: ArticlePerson) -> Iterator[ExtractedFact]:
    """Relatives named in sentences about the subject, once for each sentence."""
    spouse_name_words: set[str] = set()
    for clause in clauses:
        seen: set[tuple[str, int]] = set()
        found = [item for read in RELATION_READERS for item in read(page.text, clause, subject)]
        for relation in (*found, *read_children_of_wife(page.text, clause, subject, frozenset(spouse_name_words))):
            # Several rules may read the same name; the first one in `RELATION_READERS` decides.
            key = relation.field, relation.name.start
            unfit = _is_subject(page, relation, subject) or _has_wrong_sex(page, relation, subject)
            if key in seen or unfit or _is_bare_surname(page, relation):
                continue
            seen.add(key)
            if relation.field == "spouse":
                names = regex.findall(r"\p{Lu}[\p{L}\-]+", page.text[relation.name.start : relation.name.end])
                spouse_name_words.update(word for word in names if fold(word) not in subject.name_tokens)
            yield _fact(page, clause, relation)


def _is_subject(page: PageDoc, relation: RelativePhrase, subject: ArticlePerson) -> bool:
    """Whether the name is the subject's own; a parent may have the same name."""
    name = page.text[relation.name.start : relation.name.end]
    relative_name, subject_name = parse_name(name), parse_name(page.title)
    if (
        subject_name.regnal
        and relative_name.regnal == subject_name.regnal
        and relative_name.given[:1] == subject_name.given[:1]
    ):
        return True
    if relation.field in PARENT_FIELDS:
        return False
    if "also named" in page.text[relation.quote.start : relation.quote.end] or relative_name.generation:
        return False
    given = {fold(word) for word in (*subject_name.given, *parse_name(subject.name).given)}
    if relation.field == "child" and fold(name) in given and relation.rule in CHILD_RULES:
        # 'his eldest son Benjamin', on the page of Benjamin
        return bool(ENGLISH.his_son.fullmatch(page.text, relation.quote.start, relation.name.start))
    return fold(name) in subject.name_tokens or fold(name) in (fold(subject.name), fold(page.title))


def _is_bare_surname(page: PageDoc, relation: RelativePhrase) -> bool:
    """Whether a spouse has only a surname here, although the page gave the full name earlier: 'He married Adams'."""
    name = page.text[relation.name.start : relation.name.end]
    known = name_words()
    if relation.field != "spouse" or " " in name or fold(name) in known.female | known.male:
        return False
    full = regex.finditer(rf"\b(\p{{Lu}}\p{{Ll}}+)\s+{regex.escape(name)}\b", page.text, endpos=relation.name.start)
    return any(fold(found[1]) in known.female | known.male for found in full)


def _has_wrong_sex(page: PageDoc, relation: RelativePhrase, subject: ArticlePerson) -> bool:
    """A father is a man, a mother a woman; in old texts a man whom a man 'married' is another's husband."""
    sex = sex_of_name(page.text[relation.name.start : relation.name.end])
    if (relation.field == "father" and sex == "female") or (relation.field == "mother" and sex == "male"):
        return True
    return relation.field == "spouse" and bool(sex) and sex == subject.sex


def _fact(page: PageDoc, clause: Clause, relation: RelativePhrase) -> ExtractedFact:
    name = page.text[relation.name.start : relation.name.end]
    quote_span = relation.quote
    when, quote_span = _wedding(page, clause, relation) if relation.field == "spouse" else (None, quote_span)
    # A quote that begins with its sentence reads better, if that is near.
    if 0 <= quote_span.start - clause.start < 80 and regex.fullmatch(
        r"[^;]*", page.text[clause.start : quote_span.start]
    ):
        quote_span = TextSpan(clause.start, quote_span.end)
    before = page.text[max(clause.start, quote_span.start) : relation.name.start][-90:]
    after = page.text[relation.name.end : quote_span.end] if relation.quote.start == relation.name.start else ""
    is_taken_for_granted = relation.rule in PRESUPPOSING_RULES and not ENGLISH.is_word.search(
        page.text[relation.quote.start : relation.name.start]
    )
    claimed = not is_taken_for_granted and ENGLISH.claimed.search(page.text, clause.start, relation.name.start)
    sections = reversed(page.sections)
    quote = snippet_at(page, quote_span)
    return ExtractedFact(
        relation.field,
        name,
        quote,
        "lead" if clause.early else "prose",
        LEAD_RELATIVE_CONFIDENCE if clause.early else PROSE_CONFIDENCE,
        when,
        qualifier=_qualifier(after or before) or ("disputed" if claimed else ""),
        target=name_target(page, relation.name),
        locator=next((section.heading for section in sections if section.heading_start <= clause.start), ""),
        rationale=relation.rationale,
        relative_facts=sex_facts(relation.field, name, quote),
    )


def _qualifier(nearby: str) -> Qualifier:
    """What the words right beside a name say about the relation, not those about the name before it."""
    nearest = regex.split(r"[,;]", nearby)[-1] if "," in nearby else nearby
    return qualifier_in(nearest) or qualifier_in(nearby[-40:])


def _wedding(page: PageDoc, clause: Clause, relation: RelativePhrase) -> tuple[DateRange | None, TextSpan]:
    """The date of a wedding, right after the name or at the start of the sentence, and the quote that has it."""
    text, quote_span = page.text, relation.quote
    after = ENGLISH.married_on.match(text, relation.name.end, clause.end)
    if after and "(" not in text[after.end() : after.end() + 4]:
        for dated in dates_in(text[after.end() : clause.end], page.language)[:1]:
            if dated.start < 3 and not dated.when.lasts:
                return dated.when, TextSpan(quote_span.start, max(quote_span.end, after.end() + dated.end))
    opened = ENGLISH.opened_with_date.match(text, clause.start, clause.end)
    if opened and relation.rule in DATED_RULES:
        for dated in dates_in(text[clause.start : quote_span.start], page.language)[:1]:
            if dated.start <= opened.end() - clause.start + 1 and not dated.when.lasts:
                return dated.when, TextSpan(clause.start, quote_span.end)
    return None, quote_span


def read_person(page: PageDoc) -> PersonReading:
    """What the page says about its person, by rule alone; never raises.

    A page in a language without a word list is not read: dates alone do not say what happened.
    """
    if not has_family_words(page.language):
        why = f"pages in {page.language!r} cannot be read"
        return PersonReading(page.ref, page.title, is_person=False, why=why)
    subject = subject_of(page)
    verdict = judge_page(page, subject)
    if not verdict.is_person:
        return PersonReading(page.ref, page.title, is_person=False, why=verdict.why)
    box_and_lead_facts = (*box_facts(page, subject), *lead_facts(page, subject))
    clauses = tuple(clauses_of(page, subject))
    prose = tuple(prose_facts(page, clauses, subject))
    spouses = {
        fold(fact.value) for fact in (*box_and_lead_facts, *prose) if fact.field == "spouse" and " " in fact.value
    }
    # A wife who heads the list of her children is not one of them; a daughter has dates after her name.
    list_facts = [
        fact
        for fact in family_facts(page, subject)
        if fold(fact.value) not in spouses or not fact.snippet.words.endswith(fact.value)
    ]
    events = event_facts(page, clauses, subject, frozenset(fact.field for fact in box_and_lead_facts))
    unique: dict[tuple[str, str, int, int], ExtractedFact] = {}
    # The first fact with the same value and quote wins, so boxes and lead come before prose.
    for fact in (*box_and_lead_facts, *events, *list_facts, *prose):
        unique.setdefault((fact.field, fact.value, fact.snippet.start, fact.snippet.end), fact)
    facts = tuple(with_grandparents(page, clauses, tuple(unique.values())))
    return PersonReading(
        page.ref,
        page.title,
        is_person=True,
        why=verdict.why,
        name=subject.name,
        sex=subject.sex,
        facts=facts,
        hypotheses=hypotheses_of(page, subject, facts),
    )
