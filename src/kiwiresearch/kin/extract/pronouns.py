"""Whom a pronoun means: the names of a page, and what stands between the subject and 'he' or 'his'."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.kin.extract.lexicon import CAP, MONTHS, FamilyWords, Span, regex
from kiwiresearch.kin.extract.subject import PageSubject, SentenceSpan
from kiwiresearch.kin.names import name_words, sex_of_name
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.words import fold

Referent = Literal["subject", "relative", "other"]

MID_SENTENCE = regex.compile(rf"(?<=\b(\p{{Ll}}{{2,15}}) ){CAP}")
PLACED = regex.compile(
    r"(?:\b(?:in|at|near|from|to|on|of|the|into|through|until|since|during|University|County),?\s+|,\s+)$",
    regex.IGNORECASE,
)
RUN = regex.compile(rf"(?:St\.\s+)?{CAP}(?:(?:['’]s)?\s+{CAP})*")
"""'Hans Albert Einstein': words with capitals that belong together."""
REGNAL = regex.compile(r"\b(?!War\b)\p{Lu}\p{Ll}+\s+[IVX]+\b(?!\.)")
FRONTED = regex.compile(
    r"(?:On|Upon|At|After|Before|With|Following|Like|Unlike|Despite|Through|Under|From|Since|To|By|For|"
    r"Until|In (?:an?|one))\b[^,;]*"
)
"""'On the death of his father, Conrad …': whose father it is, the main clause tells."""
KIN = regex.compile(
    r"\s+(?:[\w\-]+\s+){0,4}?(?P<kind>fathers?|mothers?|parents|grandparents|wife|wives|husbands?|sons?|daughters?|"
    r"child(?:ren)?|brothers?|sisters?|siblings|widow|uncles?|aunts?|cousins?|nephews?|nieces?|friends?|grand\w+|"
    r"(?:half|step|great)-?\w+|family)\b"
)
WEDDED = regex.compile(r"\s+(?:\w+\s+)?marriage\s+(?:to|with)(?:\s+\p{Ll}+)*")
RELATIVE_NAMED = regex.compile(
    r"\b(?:father|mother|son|daughter|brother|sister|grandson|granddaughter|grandfather|grandmother|uncle|aunt|nephew|"
    r"niece|cousin|namesake),?\s+$"
)
"""'his grandson Johann Sebastian': the name is the subject's, and somebody else bears it."""
PARALLEL = regex.compile(r"(?:,|;|,? and|,? while)\s+$")
GOVERNED = regex.compile(r"\b(?:with|of|by|to|between|among|for|against|than|from|under|after|upon|into|and)\s+$")
GOVERNED_WITHIN = 12


def governing_word(text: str, start: int, at: int) -> str:
    """The word just before that makes whoever is named here not what the sentence is about; empty if none does."""
    found = GOVERNED.search(text[max(start, at - GOVERNED_WITHIN) : at])
    return found[0].strip() if found else ""


@dataclass(frozen=True, slots=True)
class CapitalisedWords:
    """The words of a page that bear a capital inside of sentences: of people, and of places."""

    persons: frozenset[str]
    small: frozenset[str]
    """Words that the page also writes without a capital."""
    placed: frozenset[str]
    """Words that stand behind 'in', 'at' or 'near' at least one time in three."""


def capitalised_words(page: PageDoc, subject: PageSubject) -> CapitalisedWords:
    counts: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    for found in MID_SENTENCE.finditer(page.text[: page.sections[-1].end]):
        plain = fold(found[0])
        counts[plain] += 1
        placed[plain] += found[1] in ("in", "at", "near")
    places = frozenset(word for word, count in counts.items() if placed[word] * 3 >= count)
    small = frozenset(fold(word) for word in regex.findall(r"(?<![\p{L}\-])\p{Ll}+", page.text))
    return CapitalisedWords(frozenset(counts) - subject.name_tokens - places, small, places - subject.name_tokens)


def is_fronted(text: str, sentence: SentenceSpan, owner: Span, anchors: list[Span], capitals: CapitalisedWords) -> bool:
    """Whether 'his' stands before its own clause, and that clause begins with somebody else."""
    if not FRONTED.fullmatch(text, sentence.start, owner.start) or text[owner.start].isupper():
        return False
    own = (anchor for anchor in anchors if not governing_word(text, sentence.start, anchor.start))
    stop = next((anchor.start for anchor in own), sentence.end)
    kin = KIN.match(text, owner.end, sentence.end) or WEDDED.match(text, owner.end, sentence.end)
    named = (
        regex.match(rf",?\s+{RUN.pattern}(?:\s+and\s+{RUN.pattern})?", text[kin.end() : sentence.end]) if kin else None
    )
    begin = kin.end() + (named.end() if named else 0) if kin else owner.end
    if named and DOES.match(text, begin + (text[begin : begin + 1] == ","), sentence.end):
        return False  # 'From then on his son, Ned Carter, became': this is the main clause
    known = name_words()
    wedding = kin and not KIN.match(text, owner.end, sentence.end)
    stretch = _main_clause(text, begin, sentence.end) + OPENS_WITHIN if wedding else sentence.end
    return any(
        fold(found[0].split()[0]) in capitals.persons | known.honorifics | known.male | known.female
        and not regex.search(r"\b(?:in|at|near|from|to|of|on)\s+$", text[sentence.start : found.start()])
        for found in RUN.finditer(text, begin, max(begin, min(stop, stretch)))
    )


OPENS_WITHIN = 60


def _main_clause(text: str, start: int, end: int) -> int:
    """Where the words put first end: behind their comma."""
    comma = text.find(",", start, end)
    return comma if comma >= 0 else end


def refers_to_subject(
    text: str,
    sentence: SentenceSpan,
    at: int,
    start: Referent,
    subject: PageSubject,
    named: list[Span],
    capitals: CapitalisedWords,
    words: FamilyWords,
) -> bool:
    """Whether a pronoun means the subject: nobody else is named between the subject and it."""
    if text.count("(", sentence.start, at) > text.count(")", sentence.start, at):
        return False
    if start == "other" and not _is_only_opposite(text, sentence, at, subject):
        return False
    if at == sentence.start or (start == "subject" and BORN_THERE.fullmatch(text, sentence.start, at)):
        return True
    own = [span.end for span in named if span.end <= at and not governing_word(text, sentence.start, span.start)]
    begin = max(own, default=sentence.start)
    between = ASIDES.sub(lambda inside: " " * len(inside[0]), text[begin:at])
    if not own and start == "subject" and WITH_PARTNER.fullmatch(between):
        return True
    if _is_owned_by_another(between, capitals, words):
        return False
    if start == "relative" and PARALLEL.search(text, begin, at):
        return True
    placed = -1
    for found in RUN.finditer(between):
        tokens = [fold(token) for token in regex.findall(CAP, found[0]) if len(token) > 1]
        if found.start() == 0 and begin == sentence.start:
            tokens = tokens[1:]
        tokens = [token for token in tokens if token not in subject.name_tokens and token not in MONTHS]
        if len(tokens) == 1 and (tokens[0] in name_words().ranks or _is_month(between, found.start(), found.end())):
            continue
        if REGNAL.search(found[0]) and not subject.mention.match(found[0]):
            return False
        if subject.sex and sex_of_name(found[0]) not in ("", subject.sex):
            continue
        if not tokens or tokens[0] in capitals.placed or {tokens[0], tokens[-1]} & (BUILT | words.places):
            continue
        before = between[: found.start()]
        if before.endswith((" name ", " title ")):
            continue
        if before.endswith(" as ") and AS_WHAT.match(between, found.end()):
            continue
        if CONCEDED.fullmatch(before) and DOES.match(between, found.end()):
            return False
        if RELATIVE_NAMED.search(before):
            return False
        if PLACED.search(before) and (len(tokens) == 1 or INSIDE.search(before)):
            placed = found.end()
            continue
        if placed >= 0 and len(tokens) == 1 and regex.fullmatch(r",?\s+(?:and|or)\s+", between[placed : found.start()]):
            continue  # 'in Ust-Kut and Verkholensk'
        if OPPOSITE.get(subject.sex, NEVER).search(before):
            continue
        if subject.sex == "male" and GAVE_BIRTH.match(between, found.end()):
            continue
        if (
            own
            and not AND_HIS.search(between)
            and TOUCHED.search(before)
            and not GOES_ON_WITH.match(between, found.end())
        ):
            continue
        return False
    return True


AND_HIS = regex.compile(r"\band\s+$")
"""'was succeeded by Ann, widow of Tom, and her daughter': hers who stands before."""
NEVER = regex.compile(r"(?!)")
OPPOSITE = {
    "male": regex.compile(
        r"\b(?:(?<=(?:^|he|who|and)\s)married|wife|daughter|mother|sister|widow|bride|mistress|girlfriend),?\s+$"
    ),
    "female": regex.compile(r"\b(?:(?<=(?:^|she|who|and)\s)married|husband|son|father|brother|boyfriend),?\s+$"),
}
"""'He married Ann Hay without divorcing his first wife': 'his' is not hers."""
GAVE_BIRTH = regex.compile(r",?\s+(?:who\s+)?(?:\p{Ll}+\s+)?(?:gave\s+birth\s+to|bore)\s+$")


def _is_only_opposite(text: str, sentence: SentenceSpan, at: int, subject: PageSubject) -> bool:
    """'Beatrice died, and in 1321 he married': who opens the sentence cannot be 'he', and nobody else is named."""
    opposite = {"male": "female", "female": "male"}.get(subject.sex, "")
    opens = {"male": r"(?:She|Her)\b", "female": r"(?:He|His)\b"}.get(subject.sex, "(?!)")
    runs = list(RUN.finditer(text, sentence.start, at))
    first = regex.match(opens, text, pos=sentence.start)
    if not opposite or not runs or not (first or sex_of_name(runs[0][0]) == opposite):
        return False
    if not regex.search(r"[,;]|\b(?:and|but|while)\b", text[sentence.start : at]):
        return False
    return all(
        sex_of_name(run[0]) == opposite or PLACED.search(text[sentence.start : run.start()]) or fold(run[0]) in MONTHS
        for run in runs[1:]
    )


ASIDES = regex.compile(r"\([^()]*\)|[\"“][^\"“”]*[\"”]")
WITH_PARTNER = regex.compile(
    rf"(?:With|By)\s+(?:(?:his|her)\s+(?:\p{{Ll}}+\s+)?(?:wife|husband),?\s+)?{RUN.pattern}\s*,?\s+"
)
"""'With Ruth Hay he had': she is the other parent."""
TOUCHED = regex.compile(
    r"\b(?:with|of|by|to|for|against|under|from|between|among|on|in|at|near|like|than|about|over|into|through)\s+"
    r"(?:(?:the|an?|his|her|fellow|one)\s+)?(?:\p{Ll}[\p{Ll}\-]+\s+){0,2}$"
)
"""'Carter was happy to work with Oliver, but his wife': whoever is only touched on does not take the pronoun."""
GOES_ON_WITH = regex.compile(
    r"(?:\s*\([^()]*\))?,?\s+(?:who|whom|whose|that|which|and\s+$|when\s+$|as\s+$|was|had|is|has|did|\p{Ll}+ed\b)|['’]"
)


def _is_month(between: str, start: int, end: int) -> bool:
    """'On 2 April 1836': a month that may be a name as well has a number beside it."""
    if between[start:end].split()[-1] not in ("March", "April", "May", "August"):
        return False
    return bool(regex.search(r"\d(?:st|nd|rd|th)?\s+$", between[:start]) or regex.match(r",?\s+\d", between[end:]))


AS_WHAT = regex.compile(r"\s+(?:by|for|of|in|on|and|from|after|to|with|at)\b|[,.;]")
"""'as Lord Protector by his son'."""
CONCEDED = regex.compile(r"(?:Although|Though|While|When|Because|If|Since|Once)\b[^,]*,\s+")
DOES = regex.compile(r"\s+(?:had|was|did|became|took|made|went|came|wrote|died|\p{Ll}+ed)\b")
"""'Although victorious, Otto suffered': no place, but somebody."""
INSIDE = regex.compile(r"\b(?:in|at|near|into)\s+$", regex.IGNORECASE)
BUILT = frozenset(
    {"church", "cathedral", "abbey", "palace", "castle", "house", "hall", "college", "school", "university"}
    | {"hospital", "theatre", "street", "park", "county", "city", "island", "war", "army", "navy"}
)
"""'of St. Martin's Church': the last word of a name that is no person's."""


def _is_owned_by_another(between: str, capitals: CapitalisedWords, words: FamilyWords) -> bool:
    """'the king and his' consort, 'Later, Ned and his wife': the pronoun goes with the noun just before it."""
    found = regex.search(r"\b(?:the|an?)\s+(?:[\w\-]+\s+){0,2}(\p{Ll}+)\s+and\s+$", between)
    if found and words.human.fullmatch(found[1]):
        return True
    named = regex.search(rf"(?:[,;]|\b(?:that|when|while|where|but))\s+({RUN.pattern})\s+and\s+$", between)
    first = fold(named[1].split()[0]) if named else ""
    known = name_words()
    return first in (capitals.persons | known.male | known.female | known.honorifics) - words.places - words.nobody


BORN_THERE = regex.compile(r"Born\b[^;.]*,\s+")
"""'Born in Aue, he': who was born is who the sentence is about."""
