"""Questions that are made of a sentence by rule: what, who, when and why, and sentences with a gap.

A question is only made where its grammar is certain: the sentence keeps its own words and their order, and at most a
subject and a form of 'to be' change places. Each kind of question is a pattern and the function that uses it: the
file is long, but each kind can be read by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from kiwiresearch.claims import Claim
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.export.facts import LIFE, PERSON, FactSheet, WorksheetFact, names_some, names_topic
from kiwiresearch.text import share_root, words_in

QuestionKind = Literal["what", "who", "when", "count", "why", "truth", "date", "number", "name"]
GAP = "__________"


@dataclass(frozen=True, slots=True)
class WorksheetQuestion:
    """A question and its answer, which is in the quote that proves it."""

    kind: QuestionKind
    prompt: str
    answer: str
    claim: Claim
    about: str = ""
    hint: str = ""
    is_true: bool | None = None
    """Whether the statement of a true-or-false question is true; None for other questions."""

    @property
    def solution(self) -> str:
        """The answer as the answer sheet gives it."""
        if self.is_true is None:
            return self.answer
        return "True" if self.is_true else f"False: {self.answer}"

    def __post_init__(self) -> None:
        # The no-guessing rule is part of the type: no rule can make an answer that the page does not give.
        if not any(self.answer in quote.text for quote in self.claim.quotes):
            raise QuoteNotFound(f"The answer {self.answer[:60]!r} is not in the quote of its claim.")


BE = r"(?:is|are|was|were)"
DEFINITION = re.compile(
    rf"(?P<term>(?:(?:The|An?) )?[^,;:()]{{2,60}}?)(?: \([^)]*\))?(?:, [a-z]+ly,)? "
    rf"(?P<be>{BE}) (?P<what>(?:an?|the|one of the) [^;:()]{{15,190}})\."
)
CALLED = re.compile(
    rf"(?P<subject>[^,;:()]{{3,70}}?) (?P<be>{BE}) (?:also |sometimes |often |usually |commonly |generally )?"
    r"(?P<verb>called|known as|termed) (?P<name>[^,;:()]{3,40})(?:, (?!and\b|or\b)[^;:()]{3,80})?\."
)
MAX_CALLED_WORDS = 8
VAGUE = re.compile(
    r"(?:an example|an? (?:common|good|natural|important|popular|major|key|range)|one of the (?:first|last|most|main)|"
    r"the (?:first|last|only|most|result|reason|same))\b"
)
ARTICLE = re.compile(r"(?:The|An?) ")
LEADING = re.compile(r"In (?:the )?(?P<when>[^,]{3,25}?),? ")
DEEDS = (
    r"(?:discovered|invented|wrote|proposed|suggested|argued|showed|described|founded|painted|composed|published|"
    r"demonstrated|coined|proved|designed|explored|conquered|defeated|concluded|measured|observed|calculated|"
    r"introduced|developed|isolated|repeated|investigated|translated|patented|built|directed|recorded)"
)
WHO = re.compile(rf"(?P<who>{PERSON})(?:, (?:an?|the|who)?[^,]{{3,70}},)? (?P<rest>{DEEDS} [^;:()]{{12,140}})\.")
NOT_PERSONS = re.compile(
    r"\b(?:university|company|army|empire|institute|museum|society|group|team|league|republic|kingdom|church|council|"
    r"court|committee|party|union|states|records|press|government|commission|agency|war|battle|act|journal|magazine|"
    r"band|orchestra|college|school|academy|association|organi[sz]ation|department|ministry|bank|corporation|foundation|"
    r"science|nature|theory|project|programme?|city|county|island|river|entertainment|pictures|studios|house)\b",
    re.IGNORECASE,
)
PARTICIPLE = re.compile(
    r"(?:\w+ly )?(?:\w+ed|born|built|written|begun|sunk|won|made|found|shot|brought|taken|given|held|struck|laid|drawn|"
    r"sent|sold|bought|burnt|lost|cut|hit|split|broken|chosen|driven|fought|led|overthrown|thrown|shown|seen|set|put)\b"
)
BY = re.compile(
    rf"(?P<subject>[^,;:()]{{3,60}}?) (?P<be>{BE}) (?P<done>{PARTICIPLE.pattern}) by (?P<agent>[^;:()]{{6,110}})\."
)
WHEN = re.compile(rf"(?P<subject>[^,;:()]{{3,60}}?) (?P<be>was|were) (?P<rest>{PARTICIPLE.pattern}[^,;:()]{{0,90}}?)")
TAIL = re.compile(r" (?:in|on|by|during|at)(?: the)?$")
CLAUSES = re.compile(r"\b(?:that|which|who|whom|and|but|when|while|because|although|where|until|after|before)\b")
WHY = re.compile(
    rf"(?P<subject>[^,;:()]{{3,60}}?) (?P<be>{BE}) (?P<rest>[^,;:()]{{4,90}}?) because "
    r"(?P<why>(?!of\b)[^;:]{12,150})\."
)
REASON = re.compile(
    r"(?P<start>.{15,150}?),? (?P<link>because of|because|due to|so that|in order to) (?P<why>[^;:]{12,130})\."
)


def what_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'What is bronze?', of things: a name without an article may be a person's, and is not asked for."""
    if (
        fact.is_main
        and not fact.about
        and (called := CALLED.fullmatch(fact.text))
        and called["subject"].count(" ") < MAX_CALLED_WORDS
    ):
        subject = _spelled(called["subject"], sheet)
        if subject and not _gives_away([word.lower() for word in words_in(called["name"])], subject):
            return _question("what", f"What {called['be']} {subject} {called['verb']}?", called["name"], fact)
    if agent := _agent_of(fact, sheet):
        return None if re.fullmatch(PERSON, agent["agent"]) else _agent_question("what", agent, fact)
    found = DEFINITION.fullmatch(fact.text)
    if fact.claim.type != "definition" or found is None or fact.about:
        return None
    if not fact.is_main and (fact.claim not in sheet.definitions or not names_topic(fact.text, sheet.topic)):
        return None
    term = _spelled(found["term"], sheet)
    if term is None or fact.claim.subject.casefold() not in found["term"].casefold():
        return None
    # Further down a page, such a sentence says something by the way: 'The elephant is a good swimmer.'
    is_by_the_way = fact.claim.section and (
        found["term"].count(" ") > 2 or fact.claim.page_title.casefold() in found["term"].casefold()
    )
    if is_by_the_way or VAGUE.match(found["what"]) or ", but " in found["what"]:
        return None
    return _question("what", f"What {found['be']} {term}?", found["what"], fact)


def _agent_of(fact: WorksheetFact, sheet: FactSheet) -> re.Match[str] | None:
    """A sentence 'Something is done by something.' whose subject names the topic."""
    found = BY.fullmatch(fact.text)
    if found is None or fact.about or not fact.is_main or not names_some(found["subject"], sheet.topic):
        return None
    gives_away = _gives_away([word.lower() for word in words_in(found["agent"]) if len(word) > 4], found["subject"])
    return None if gives_away or CLAUSES.search(found["subject"]) else found


def _agent_question(kind: QuestionKind, found: re.Match[str], fact: WorksheetFact) -> WorksheetQuestion | None:
    subject = (
        found["subject"]
        if fact.text.startswith(fact.claim.page_title)
        else f"{found['subject'][0].lower()}{found['subject'][1:]}"
    )
    return _question(kind, f"{kind.capitalize()} {found['be']} {subject} {found['done']} by?", found["agent"], fact)


def who_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """'Who proposed that …?', where the name is of two words or more, and of no institution."""
    if (agent := _agent_of(fact, sheet)) and re.fullmatch(PERSON, agent["agent"]):
        return None if NOT_PERSONS.search(agent["agent"]) else _agent_question("who", agent, fact)
    lead = LEADING.match(fact.text)
    when = f"In {fact.text[3 : lead.end()].rstrip(' ,')}, who" if lead else "Who"
    found = WHO.fullmatch(fact.text, lead.end() if lead else 0)
    if found is None or (lead and not _dates_within(fact.claim, lead.start("when"), lead.end("when"))):
        return None
    name = [word.lower() for word in words_in(found["who"])]
    if NOT_PERSONS.search(found["who"]) or _gives_away(name, f"{found['rest']} {sheet.topic}"):
        return None
    return _question("who", f"{when} {found['rest']}?", found["who"], fact)


def when_question(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """'When was the port burned?', of a simple sentence that ends in its only date."""
    text, dates = fact.text, fact.claim.dates
    if life := LIFE.match(text):
        asked = f"was {life['name']} born" if life["what"] == "Born" else f"did {life['name']} die"
        return _question("when", f"When {asked}?", text[dates[0].start : dates[0].end], fact)
    if len(dates) != 1 or text[dates[0].end :] != "." or dates[0].when.lasts or fact.about:
        return None
    found = WHEN.fullmatch(TAIL.sub("", text[: dates[0].start].rstrip()))
    if found is None or CLAUSES.search(found["rest"]) or not _is_subject(found["subject"], fact.claim):
        return None
    answer = text[dates[0].start : dates[0].end]
    return _question(
        "when", f"When {found['be']} {_lowered(found['subject'], fact.claim)} {found['rest']}?", answer, fact
    )


def why_question(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """'Why were …?' where it is simple, else the sentence up to its reason."""
    found = WHY.fullmatch(fact.text)
    if found and not fact.about and not CLAUSES.search(found["rest"]) and _is_subject(found["subject"], fact.claim):
        asked = f"Why {found['be']} {_lowered(found['subject'], fact.claim)} {found['rest']}?"
        return _question("why", asked, found["why"], fact)
    reason = REASON.fullmatch(fact.text)
    if reason is None or fact.about or not fact.is_main or INTERRUPTED.search(fact.text):
        return None
    return _question("why", f"Finish the sentence: {reason['start']} {reason['link']} …", reason["why"], fact)


INTERRUPTED = re.compile(
    r", (?:which|who|whose|when|where|was|were|is|are|had|has|have|but|so|however|though|although|while|whereas)\b|"
    r"\breason\b"
)
"""Signs that a sentence goes on after its reason, or begins another thought before it."""
YEAR = re.compile(r"(?<![\w,.])\d{3,4}(?![\w]|[,.]\d)")
NUMBER = re.compile(r"\d[\d,.]*\d|\d|[A-Za-z]+(?:-(?:one|two|three|four|five|six|seven|eight|nine)\b)?")
LIST_FOLLOWS = re.compile(r"[:;(]|\bincluding\b|\bnamely\b|\bboth\b|—|–")
MAX_COUNTED = 12
"""Up to this, a sentence may name all that it counts."""
MAX_CHARS_FOR_TWO = 60
"""Only a sentence up to this length asks for 'one' or 'two': in a longer one, such a gap is easy to guess."""
NOT_NUMBERS = ("one", "a", "an", "the", "half", "quarter", "dozen", "single", "double", "several", "many")


def date_gap(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """The sentence with a gap for its only year."""
    years = [found for mention in fact.claim.dates for found in YEAR.finditer(fact.text, mention.start, mention.end)]
    if len(fact.claim.dates) != 1 or len(years) != 1 or len(YEAR.findall(fact.text)) != 1:
        return None
    return _gap("date", fact, years[0].start(), years[0].end(), "year")


def number_gap(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """The sentence with a gap for a number; its unit, or what is counted, stays."""
    text = fact.text
    for measure in fact.claim.measures:
        quantity = measure.quantity
        found = NUMBER.search(text, quantity.start, quantity.end)
        if quantity.is_range or quantity.converted or found is None or found[0].lower() in NOT_NUMBERS:
            continue
        rest = text[found.end() :]
        is_name = any(word[0].isupper() for word in quantity.counted_words.split())
        counts_list = quantity.high <= MAX_COUNTED and not quantity.unit and LIST_FOLLOWS.search(rest)
        is_easy = quantity.high <= 2 and not quantity.unit and len(text) > MAX_CHARS_FOR_TWO
        if re.search(r"[(<>≥≤~±$€£][^)]*$", text[: found.start()]) or is_easy:
            continue
        if is_name or counts_list or found.start() == 0 or rest[:1] in ("-", "‑") or _repeats(found[0], text):
            continue
        # A bracket right after a measure has the same in another unit; 'three and a half' is not three.
        if re.match(r"[^.]{0,25}\(| and a\b", rest):
            continue
        return _gap("number", fact, found.start(), found.end(), "number")
    return None


SCALE = r"(?: (?:hundred|thousand|million|billion|trillion))?"
ROUGH = r"(?:(?:about|around|some|over|nearly|almost|at least|more than|approximately|up to) )?"
COUNTED_FIRST = re.compile(
    rf"(?i:{ROUGH})(?P<number>[\w,.-]+?{SCALE}) (?!\w+ (?:later|earlier|after|before|ago)\b)"
    r"(?P<rest>[a-z][^,;:()]{12,130})(?:, (?!and\b|but\b|or\b|of\b)[^;:()]+)?\."
)
HAVING = re.compile(
    rf"(?P<subject>[^,;:()]{{3,60}}?) (?P<have>has|have|had) {ROUGH}(?P<number>[\w,.-]+?{SCALE}) "
    r"(?P<what>[a-z][^,;:()]{3,80})\."
)
DO = MappingProxyType({"has": "does", "have": "do", "had": "did"})


def count_question(fact: WorksheetFact, _sheet: FactSheet) -> WorksheetQuestion | None:
    """'How many tablets have been found?', where a number begins the sentence or follows 'has'."""
    found = COUNTED_FIRST.fullmatch(fact.text)
    if found and not fact.about and _counts(fact.claim, found.start("number")):
        return _question("count", f"How many {found['rest']}?", found["number"], fact)
    found = HAVING.fullmatch(fact.text)
    if found is None or fact.about or not _counts(fact.claim, found.start("number")):
        return None
    if CLAUSES.search(found["what"]) or not _is_subject(found["subject"], fact.claim):
        return None
    asked = f"How many {found['what']} {DO[found['have']]} {_lowered(found['subject'], fact.claim)} have?"
    return _question("count", asked, found["number"], fact)


def _counts(claim: Claim, start: int) -> bool:
    """Whether a count begins at a place of a claim: no measure with a unit, no range, and more than two."""
    return any(
        measure.quantity.start <= start < measure.quantity.end
        and not measure.quantity.unit
        and not measure.quantity.is_range
        and measure.quantity.high > 2
        for measure in claim.measures
    )


SINGLE_YEAR = re.compile(r"\b(?:[Ii]n|[Oo]n|of) (?:(?:the )?\w+ (?:of )?|\d{1,2} \w+ |\w+ \d{1,2}, )?$")
"""What stands before the year of something that happened once; 'by 1915' stays true for later years."""
OPEN_ENDED = re.compile(
    r"\b(?:over|least|than|up to|many as|until|since|under|within|about)\W+(?:\w+ )?$", re.IGNORECASE
)
NEAR_YEARS = 9


def truth_question(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """A sentence as it is, or with another year or number; which of them, the sentence itself decides."""
    gap = date_gap(fact, sheet)
    if gap and SINGLE_YEAR.search(gap.prompt.partition(GAP)[0]):
        other = _other_year(int(gap.answer), fact, sheet)
    else:
        gap = number_gap(fact, sheet)
        if gap is None or not gap.answer.isdecimal() or OPEN_ENDED.search(gap.prompt.partition(GAP)[0]):
            return None
        other = str(int(gap.answer) * 2)
        if int(gap.answer) < MIN_DOUBLED or gap.prompt.partition(GAP)[2].startswith((" percent", "%")):
            return None
    is_true = bool(_digest(fact.text)[0] & 1)
    prompt = gap.prompt.replace(GAP, gap.answer if is_true else other)
    return WorksheetQuestion("truth", prompt, gap.answer, fact.claim, fact.about, is_true=is_true)


MIN_DOUBLED = 4


def _other_year(year: int, fact: WorksheetFact, sheet: FactSheet) -> str:
    """A year of another fact that could be believed, else one ten years away."""
    years = {
        int(found[0])
        for other in sheet.facts
        for mention in other.claim.dates
        for found in YEAR.finditer(other.text, mention.start, mention.end)
    }
    near = sorted(item for item in years if 2 < abs(item - year) <= NEAR_YEARS) or [year - 10]
    return str(near[_digest(fact.text)[1] % len(near)])


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()


CAPITALISED = re.compile(
    r"(?<=[a-z,] )[A-Z][\w’'-]*[a-z](?:(?: (?:of the|of|de|du|des|la))? [A-Z][\w’'-]*)*(?![\w’'-])(?! [A-Z(\"“])"
)
"""A whole name within a sentence."""
COMMON = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Sunday|Monday|Tuesday|"
    r"Wednesday|Thursday|Friday|Saturday|Year|[IVXL]+)\b|^(?:Assembly|Empire|Church|King|Queen|State|Republic|Emperor|"
    r"Senate|Government|Parliament|President|University|School|City|Court|Army|Navy|Allies|Earth|God|East|West|North|South)$|^\w+(?:ish|ese|ian|ean|ench|can|man)s?$|['’]s?$"
)
"""Names that are no answer: months, days, numbers, and words for the people of a country."""


PART_OF_NAME = re.compile(r"Upper|Lower|Allied|Axis|Northern|Southern|Eastern|Western|Middle|Great|Old|New")
PARTICLES = ("van", "von", "der", "den", "de", "da", "di", "du", "des", "la", "le", "el", "al", "bin", "ibn")


def _proper_names(text: str) -> Iterator[str]:
    """Whole names: the word before one is in lower case."""
    for found in CAPITALISED.finditer(text):
        *earlier, before = text[: found.start()].split()
        is_whole = before.islower() and before not in PARTICLES
        if before == "of":
            is_whole = bool(earlier) and earlier[-1].islower()
        if is_whole and not COMMON.search(found[0]):
            yield found[0]


MIN_TERM_USES = 4
TERM = re.compile(
    r"(?<=\bthe )[a-z]{8,}"
    r"(?=[.,]| (?:is|are|was|were|and|in|of|to|by|at|from|on|with|as|that|which|has|have|can|lies)\b)"
)
ORDINARY = re.compile(
    r"(?:ing|ment|tion|sion|ness|ity|ies|ance|ence|ship|age|ure|ers|ors|ists?|ery|ary|ory|ways?|ly|ous|ern|ess|esses)$|"
    r"original|remainder|interior|country|children|different|principle"
)
"""Words that are long, but no terms of a subject."""


@lru_cache(maxsize=4)
def _uses(words: str) -> Mapping[str, int]:
    return Counter(words_in(words.lower()))


def _key_terms(text: str, sheet: FactSheet) -> Iterator[str]:
    """Technical nouns of a sentence that the pages use again and again: 'the asthenosphere'."""
    uses = _uses(sheet.all_text)
    for found in reversed(list(TERM.finditer(text))):
        if uses.get(found[0], 0) >= MIN_TERM_USES and not ORDINARY.search(found[0]):
            yield found[0]


def name_gap(fact: WorksheetFact, sheet: FactSheet) -> WorksheetQuestion | None:
    """The sentence with a gap for a term that its page links to, or the longest of them."""
    text = fact.text
    shown = [word.lower() for word in words_in(f"{sheet.topic} {fact.claim.page_title}")]
    linked = sorted(dict.fromkeys(fact.claim.names), key=lambda item: (-len(item), item))
    for name in (*linked, *_proper_names(text), *_key_terms(text, sheet)):
        found = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w'’-])", text)
        if found is None or len(name) < 4 or re.search(r"\d", name):
            continue
        before, behind = text[: found.start()], text[found.end() :]
        words = [word.lower() for word in words_in(name)]
        if PART_OF_NAME.fullmatch(name) or (name[0].isupper() and COMMON.search(name)):
            continue
        if re.fullmatch(r"[\w-]+ic", name) and re.match(r" [a-z]", behind):
            continue
        if share_roots(words, shown) or _gives_away(words, f"{before} {behind}"):
            continue
        # Neither an article nor a bracket with another form of the name may betray it.
        if re.search(r"(?:\ban?|\() $|\($", before) or behind.startswith((" (", ")")) or not before:
            continue
        # One of several things that are counted up, or the kind of thing in a definition, is guessed or has many names.
        if name.islower() and (before.endswith(", ") or fact.claim.type == "definition"):
            continue
        # Nor the name of a smaller place in front of it: 'Shrewsbury, Shropshire, England'.
        if re.search(r"[A-Z][\w’'-]+, $", before):
            continue
        # A part of a longer name: 'the Bank for International Settlements'.
        if name not in linked and re.match(r" (?:of|for|in|to|from|on|with)(?: the)? [A-Z]", behind):
            continue
        # Nor may another name for the same that stands right behind it: 'the sugar, glucose.'
        if re.match(r", (?:[\w-]+ ?){1,3}[,.]", behind):
            continue
        return _gap("name", fact, found.start(), found.end(), "")
    return None


Rule = Callable[[WorksheetFact, FactSheet], WorksheetQuestion | None]
ENGLISH_RULES: Mapping[QuestionKind, Rule] = MappingProxyType(
    {
        "what": what_question,
        "who": who_question,
        "when": when_question,
        "count": count_question,
        "why": why_question,
        "truth": truth_question,
    }
)
GAP_RULES: Mapping[QuestionKind, Rule] = MappingProxyType({"date": date_gap, "number": number_gap, "name": name_gap})
"""These need no grammar, so they work in every language."""


def _question(
    kind: QuestionKind, prompt: str, answer: str, fact: WorksheetFact, hint: str = ""
) -> WorksheetQuestion | None:
    """The question, unless the quote has the answer in other words than the claim."""
    if not any(answer in quote.text for quote in fact.claim.quotes):
        return None
    return WorksheetQuestion(kind, prompt, answer, fact.claim, fact.about, hint)


def _gap(kind: QuestionKind, fact: WorksheetFact, start: int, end: int, hint: str) -> WorksheetQuestion | None:
    if fact.claim.is_row:
        return None
    return _question(kind, f"{fact.text[:start]}{GAP}{fact.text[end:]}", fact.text[start:end], fact, hint)


def share_roots(words: list[str], others: list[str]) -> bool:
    """Whether a word of some length is a form of one of the others."""
    return any(share_root(word, others) for word in words if len(word) > 3)


def _gives_away(words: list[str], text: str) -> bool:
    """Whether a text has one of the words again, or one that begins alike: 'France' and 'French' do not."""
    others = [word.lower() for word in words_in(text)]
    return any(
        word == other or (len(word) > 4 and other.startswith(word[: max(5, len(word) * 3 // 5)]))
        for word in words
        if len(word) > 2
        for other in others
    )


def _repeats(number: str, text: str) -> bool:
    return len(re.findall(rf"(?<![\w.,]){re.escape(number)}(?![\w]|[.,]\d)", text, re.IGNORECASE)) != 1


def _is_subject(words: str, claim: Claim) -> bool:
    """Whether the words are the subject by its name: 'the younger one' would need the sentence before."""
    if words != claim.page_title and not re.search(r"[A-Z]", ARTICLE.sub("", words, count=1)):
        return False
    plain = ARTICLE.sub("", words, count=1).casefold()
    names = (claim.subject, claim.page_title)
    return plain in {ARTICLE.sub("", name, count=1).casefold() for name in names} or words.casefold() in {
        name.casefold() for name in names
    }


def _lowered(subject: str, claim: Claim) -> str:
    """A subject within a sentence; a title keeps its article as it is."""
    return f"{subject[0].lower()}{subject[1:]}" if ARTICLE.match(subject) and subject != claim.page_title else subject


def _spelled(term: str, sheet: FactSheet) -> str | None:
    """A term within a question: common nouns in lower case, as the pages write them; None if it may be a person."""
    if ARTICLE.match(term):
        return f"{term[0].lower()}{term[1:]}"
    low = f"{term[0].lower()}{term[1:]}"
    return low if re.search(rf"(?<![\w-]){re.escape(low)}(?![\w-])", sheet.all_text) else None


def _dates_within(claim: Claim, start: int, end: int) -> bool:
    return any(mention.start <= end and start <= mention.end for mention in claim.dates)
