"""Full questions that are made of a sentence by rule: what, who, when, where, how many and why.

A question is only made where its grammar is certain: the sentence keeps its own words and their order, except that a
form of 'to be' or of 'to do' comes before the subject.
"""

from __future__ import annotations

import re

from kiwiresearch.claims import TITLE_QUALIFIER, Claim
from kiwiresearch.export.question_clauses import (
    BE,
    HAVE,
    as_spelled_inside,
    clause_in,
    split_after_subject,
    subject_in_question,
)
from kiwiresearch.export.sentence_filter import names_some
from kiwiresearch.export.worksheet_facts import FactSheet, WorksheetFact, place_of, row_question_of
from kiwiresearch.export.worksheet_patterns import pattern, verbs
from kiwiresearch.export.worksheet_question import QuestionKind, WorksheetQuestion, gives_away, question_of
from kiwiresearch.text import words_in
from kiwiresearch.text.dates import ENGLISH_MONTHS

MAX_CALLED_WORDS = 8
MAX_AGENT_CHARS = 130
MIN_MEANING_WORDS = 4
MIN_REST_CHARS = 20
MIN_COUNTED = 3
"""Up to two is too easy to guess."""
MONTH = re.compile("|".join(month.capitalize() for month in ENGLISH_MONTHS))
WHOLE_VALUE = re.compile(r"\d.*[A-Za-z²]|(?<![\d,.])\d{3,4}$")
"""A date, or a number with its unit."""
# ', which became the capital' or ', making it …'; but not ', Kenya' or ' and became'.
LATER_CLAUSE = re.compile(
    r", (?=(?:where|which|who|whose|when|with|after|before|because|although|while|making|\w+ing|an?|the|and \w+ed)\b)"
)


def what_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'What is bronze?', 'What is the largest city of Kenya?', 'What is malaria caused by?'."""
    return (
        _row_question("what", fact, sheet)
        or _called(fact, sheet)
        or _definition("what", fact, sheet)
        or _superlative("what", fact, sheet)
        or _relation("what", fact, sheet)
        or _object(fact, sheet)
        or _cause(fact, sheet)
    )


def who_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'Who was Marie Curie?', or 'Who proposed that …?', where the name is of two words or more and of a person."""
    return (
        _definition("who", fact, sheet)
        or _superlative("who", fact, sheet)
        or _relation("who", fact, sheet)
        or _doer(fact, sheet)
        or _group_of_people(fact, sheet)
    )


def _called(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    found = pattern("called").fullmatch(fact.plain)
    if found is None or len(found["subject"].split()) > MAX_CALLED_WORDS or gives_away(found["name"], found["subject"]):
        return None
    subject = subject_in_question(found["subject"], sheet) or (
        as_spelled_inside(found["subject"], sheet) if "of " in found["subject"] else None
    )
    return (
        subject and question_of("what", f"What {found['be']} {subject} {found['verb']}?", found["name"], fact)
    ) or None


def _definition(kind: QuestionKind, fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """What the first sentence of a page says about its title, or a later one about another term."""
    claim = fact.claim
    title = TITLE_QUALIFIER.sub("", claim.page_title)
    opening = pattern("opening").fullmatch(fact.text) if place_of(claim) in sheet.openings else None
    if opening and _is_title(opening["term"], title) and not BE.union(HAVE).intersection(opening["term"].split()):
        lived = pattern("lived").search(opening["between"]) and not pattern("article").match(opening["term"])
        is_person = lived or (_names_people(opening["what"]) and not pattern("article").match(opening["term"]))
        is_short = len(opening["what"].split()) < MIN_MEANING_WORDS and not is_person
        if is_short or pattern("vague_opening").match(opening["what"]) or kind != ("who" if is_person else "what"):
            return None
        term = title if is_person else as_spelled_inside(opening["term"], sheet)
        return question_of(kind, f"{kind.capitalize()} {opening['be']} {term}?", opening["what"], fact)
    found = pattern("definition").fullmatch(fact.text)
    if kind == "who" or found is None or claim.type != "definition" or ", but " in found["what"]:
        return None
    # Further down a page, such a sentence says something by the way, unless its section is about the term.
    is_by_the_way = claim.section and found["term"].removeprefix("The ").casefold() not in claim.section.casefold()
    if is_by_the_way or pattern("vague").match(found["what"]):
        return None
    if claim.subject.casefold() not in found["term"].casefold():
        return None
    common = _common_term(found["term"], sheet)
    return question_of("what", f"What {found['be']} {common}?", found["what"], fact) if common else None


def _names_people(words: str) -> bool:
    """Whether the noun that a description begins with is one for people."""
    noun = re.split(r"\b(?:of|in|that|which|who|for|from|by|to|between|with)\b", words)[0]
    return pattern("people").search(noun) is not None


def _is_title(term: str, title: str) -> bool:
    """Whether the words are the title, or have its first and its last word: 'Charles Robert Darwin FRS'."""
    words, wanted = ([word.lower().rstrip("s") for word in words_in(text)] for text in (term, title))
    # The first word may follow a rank or an article: 'Sir Isaac Newton', 'the Moon'.
    return bool(wanted) and wanted[0] in words[:2] and wanted[-1] in words


def _common_term(term: str, sheet: FactSheet) -> str | None:
    """A term within a question: common nouns in lower case, as the pages write them; None if it may be a person."""
    lowered = f"{term[0].lower()}{term[1:]}"
    if pattern("article").match(term) or re.search(rf"(?<![\w-]){re.escape(lowered)}(?![\w-])", sheet.all_text):
        return lowered
    return None


def _superlative(kind: QuestionKind, fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'What is the largest city of Kenya?': only one thing can be the answer."""
    if found := pattern("the_most").fullmatch(fact.plain):
        rest, answer = as_spelled_inside(found["subject"], sheet), re.split(r" with an? ", found["what"])[0]
    elif found := pattern("is_the_most").fullmatch(fact.plain):
        rest, answer = found["rest"], found["what"]
        noun = re.split(r" (?:of|in|to|for|that|acknowledged|from|at|by|with)\b", rest)[0]
        if names_some(answer, sheet.named) or (found["be"] in ("are", "were")) != noun.endswith("s"):
            return None
    else:
        return None
    if not re.search(r"\b[A-Z]", rest) and not names_some(rest, sheet.named):
        return None
    is_person = _names_people(rest)
    if (
        pattern("participle").match(answer)
        or gives_away(answer, rest)
        or pattern("second_clause").search(rest)
        or kind != ("who" if is_person else "what")
    ):
        return None
    # 'The first sign is a change of the skin' has no name, so its answer could be worded in many ways.
    if not re.match(r"(?:the |an? )?(?:[a-z]+ ){0,2}[A-Z]", answer) and len(answer.split()) > 5:
        return None
    return question_of(kind, f"{kind.capitalize()} {found['be']} {rest}?", answer, fact)


def _relation(kind: QuestionKind, fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'What is something driven by?', of a sentence whose subject names the topic."""
    found = pattern("relation").fullmatch(fact.plain)
    if found is None or not fact.is_main or not names_some(found["subject"], sheet.named):
        return None
    done = found["done"]
    # Most things are used for more than one purpose.
    if re.match(
        r"(?:often |usually |mostly )?(?:used|associated|needed|valued|viewed|considered|regarded|liked)\b", done
    ):
        return None
    subject, agent = subject_in_question(found["subject"], sheet), found["agent"]
    if subject is None or gives_away(" ".join(word for word in agent.split() if len(word) > 4), found["subject"]):
        return None
    if done == "fought between" and len(agent) <= MAX_AGENT_CHARS:
        return question_of("who", f"Who {found['be']} {subject} {done}?", agent, fact) if kind == "who" else None
    is_list = agent.count(",") != 1 or ", and " not in agent
    if pattern("run_on").search(agent) or not is_list or len(agent) > MAX_AGENT_CHARS:
        return None
    is_person = pattern("person").fullmatch(agent) is not None and not pattern("not_persons").search(agent)
    if kind != ("who" if is_person and done.endswith("by") else "what") or done.endswith("between"):
        return None
    return question_of(kind, f"{kind.capitalize()} {found['be']} {subject} {done}?", agent, fact)


def _object(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'What do penguins eat?'"""
    found = pattern("object").fullmatch(fact.plain)
    if found is None or gives_away(found["object"], found["subject"]) or not names_some(found["subject"], sheet.named):
        return None
    if pattern("second_clause").search(found["object"]) or pattern("rough_amount").match(found["object"]):
        return None
    clause = clause_in(f"{found['subject']} {found['verb']}", sheet)
    prompt = clause.as_question("What") if clause and clause.predicate.count(" ") <= 1 else None
    return question_of("what", prompt, found["object"], fact) if prompt else None


def _cause(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'What allows the plates to move?', of a sentence whose subject is not the topic itself."""
    parts = split_after_subject(LATER_CLAUSE.split(fact.plain)[0])
    if parts is None or not fact.is_main or not pattern("thing").fullmatch(parts[0]):
        return None
    subject, rest = parts
    if pattern("openers").match(subject) or pattern("clauses").search(subject) or _names_people(subject):
        return None
    if len(rest) < MIN_REST_CHARS or not names_some(rest, sheet.named) or _is_unclear(subject, rest):
        return None
    return question_of("what", f"What {rest}?", subject, fact)


def _group_of_people(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'Who wanted to export the Revolution?'"""
    parts = split_after_subject(LATER_CLAUSE.split(fact.plain)[0])
    if parts is None or not fact.is_main or not pattern("several_people").fullmatch(parts[0]):
        return None
    who, rest = parts
    if len(rest) < MIN_REST_CHARS or names_some(who, sheet.named) or _is_unclear(who, rest):
        return None
    return question_of("who", f"Who {rest}?", who, fact) if re.search(r"[A-Z]", rest) else None


def _is_unclear(answer: str, rest: str) -> bool:
    return (
        gives_away(answer, rest)
        or "," in rest
        or any(word in verbs().past for word in rest.partition(" and ")[2].split())
        or re.match(r"\w+ and\b", rest) is not None
        or pattern("second_clause").search(rest.replace("that ", "")) is not None
        or pattern("unnamed_person").search(rest) is not None
        or re.search(r"\bits\b", rest) is not None
    )


def _doer(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    lead = pattern("lead").match(fact.text)
    when = f"{fact.text[: lead.end()].rstrip(' ,')}, who" if lead else "Who"
    found = pattern("who").fullmatch(fact.text, lead.end() if lead else 0)
    if found is None or (lead and not _dates_within(fact.claim, lead.start("when"), lead.end("when"))):
        return None
    if not re.search(r"[A-Z]", MONTH.sub("", found["rest"])) and not names_some(found["rest"], sheet.named):
        return None
    if pattern("not_persons").search(found["who"]) or gives_away(found["who"], f"{found['rest']} {sheet.named}"):
        return None
    return question_of("who", f"{when} {LATER_CLAUSE.split(found['rest'])[0]}?", found["who"], fact)


def when_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'When was the port burned?', of a simple sentence that begins or ends with its only date."""
    text, dates = fact.text, fact.claim.dates
    if fact.claim.is_row:
        return _row_question("when", fact, sheet)
    if (
        len(dates) != 1
        or dates[0].when.lasts
        or dates[0].when.qualifier in ("before", "after")
        or not _is_dated(text[dates[0].start : dates[0].end])
    ):
        return None
    start, end, _ = dates[0]
    answer = text[start:end]
    lead = pattern("lead").match(text)
    if lead and lead.start("when") <= start and end == lead.end("when"):
        answer = lead["when"]
        rest = LATER_CLAUSE.split(text[lead.end() :].removesuffix("."))[0]
    elif text[end:] == ".":
        rest = pattern("tail").sub("", text[:start].rstrip())
        # 'In 1066 …, and in 1070': the date may be of the last part only.
        if "," in rest or re.search(r" (?:since|until|till|from|before|after|of|about|around|as)(?: the)?$", rest):
            return None
    else:
        return None
    return _asked("when", "When", rest, answer, fact, sheet)


def _is_dated(words: str) -> bool:
    return re.search(r"\d", words) is not None and not re.search(r"\b(?:ago|present|between|from|to)\b", words)


def where_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'Where was Marie Curie born?'"""
    found = pattern("where").fullmatch(fact.plain) or pattern("died").fullmatch(fact.plain)
    subject = found and subject_in_question(found["subject"], sheet)
    if found is None or subject is None or gives_away(found["place"], found["subject"]):
        return None
    if pattern("run_on").search(found["place"]):
        return None
    be = found.groupdict().get("be")
    asked = f"Where {be} {subject} {found['done']}?" if be else f"Where did {subject} {verbs().past[found['done']]}?"
    return question_of("where", asked, found["place"], fact)


def why_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'Why were …?' where it is simple, else the sentence up to its reason."""
    if first := pattern("reason_first").fullmatch(fact.text):
        start = LATER_CLAUSE.split(first["start"])[0]
        return _asked("why", "Why", f"{start[0].upper()}{start[1:]}", first["why"], fact, sheet)
    reason = pattern("reason").fullmatch(fact.text)
    if reason is None or not fact.is_main:
        return None
    start = re.sub(r",? (?:mainly|primarily|largely|partly|chiefly|mostly)$", "", reason["start"])
    if pattern("interrupted").search(start) or pattern("second_clause").search(start) or start.split()[-1] in BE:
        return None
    why = re.split(r", (?:but|and|which|who|so|while)\b", reason["why"])[0]
    asked = _asked("why", "Why", start, why, fact, sheet)
    if asked or not names_some(start, sheet.named):
        return asked
    return question_of("why", f"Finish the sentence: {start} {reason['link']} …", why, fact)


def count_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'How many tablets have been found?', where a number begins the sentence or follows its verb."""
    text = fact.text
    found = pattern("counted_first").fullmatch(text)
    if found and _counts(fact.claim, found.start("number")):
        return question_of("count", f"How many {found['rest']}?", found["number"], fact)
    found = pattern("there_are").fullmatch(text)
    if found and found["rest"] and _counts(fact.claim, found.start("number")) and names_some(text, sheet.named):
        asked = f"How many {found['noun']} {found['be']} there{found['rest']}?"
        return question_of("count", asked, found["number"], fact)
    for measure in fact.claim.measures:
        before = re.sub(rf" {pattern('rough').pattern}$", " ", text[: measure.quantity.start])
        found = pattern("counted").fullmatch(text.removesuffix("."), measure.quantity.start)
        if found is None or not _counts(fact.claim, measure.quantity.start) or not before.strip():
            continue
        if re.search(rf"{pattern('clauses').pattern}|\d", f"{found['noun']} {found['rest']}"):
            continue
        clause = clause_in(before.strip(), sheet)
        # Only words that belong to the verb may stand between it and the number.
        if clause is None or len(clause.predicate.split()) > 1:
            continue
        if prompt := clause.as_question(f"How many {found['noun']}"):
            return question_of("count", f"{prompt[:-1]}{found['rest']}?", found["number"], fact)
    return None


def _counts(claim: Claim, start: int) -> bool:
    """Whether a count begins at a place of a claim: no range, and more than two."""
    return any(
        measure.quantity.start <= start < measure.quantity.end
        and not measure.quantity.is_range
        and measure.quantity.high >= MIN_COUNTED
        for measure in claim.measures
    )


def _asked(
    kind: QuestionKind, opening: str, text: str, answer: str, fact: WorksheetFact, sheet: FactSheet
) -> WorksheetQuestion | None:
    """The question about one clause; None if more than one thing happened."""
    clause = clause_in(text, sheet)
    if (
        clause is None
        or _has_two_verbs(clause.predicate)
        or pattern("second_clause").search(clause.predicate)
        or len(clause.predicate.split()) < 1
    ):
        return None
    # Refused: words that would change what is asked ('was only built'), an open end ('went to'), several numbers.
    if re.search(
        r"\b(?:only|even|especially|particularly|mainly|again|largely|mostly|partly|also|often|usually|either|too|well|sometimes|always|to|the|early|late|beginning|starting|ending)$|—|\d\D+\d\D+\d|\d\.\d",
        clause.predicate,
    ):
        return None
    if kind == "when" and clause.auxiliary == "had":
        return None
    if kind == "when" and re.search(r"\b(?:often|usually|sometimes|always|generally)\b", clause.predicate):
        return None
    if clause.predicate.count(",") > 1 or pattern("unnamed_person").search(clause.predicate.partition(" ")[0]):
        return None
    prompt = clause.as_question(opening)
    return question_of(kind, prompt, answer, fact) if prompt else None


def _has_two_verbs(predicate: str) -> bool:
    """'join the League and became a member'"""
    return any(word in verbs().past or word in verbs().singular for word in re.findall(r"\band (\w+)", predicate))


def _row_question(kind: QuestionKind, fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """The question about a row of an infobox."""
    row = row_question_of(fact.claim) if fact.claim.is_row else None
    if row is None or (row.answer == "date") != (kind == "when"):
        return None
    claim = fact.claim
    start, end = (
        (claim.dates[0].start, claim.dates[0].end)
        if kind == "when" and claim.dates
        else (claim.measures[0].quantity.start, claim.measures[0].quantity.end)
        if claim.measures
        else (0, 0)
    )
    name = as_spelled_inside(TITLE_QUALIFIER.sub("", claim.page_title), sheet)
    answer = claim.text[start:end]
    return question_of(kind, row.asks.format(name=name), answer, fact) if WHOLE_VALUE.search(answer) else None


def _dates_within(claim: Claim, start: int, end: int) -> bool:
    return any(mention.start <= end and start <= mention.end for mention in claim.dates)
