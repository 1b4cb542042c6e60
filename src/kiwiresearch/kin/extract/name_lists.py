"""The names that follow a cue in a sentence: one name, a couple, or a list."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.kin.extract.lexicon import CAP, FamilyWords, Span, name_at, regex
from kiwiresearch.kin.names import sex_of_name

DESCRIBED = regex.compile(
    r"\s*(?:(?:his|her|an?|the|another|fellow|with)\s+)?(?:(?!from\b)(?:[\p{Ll}][\p{Ll}\-]*|\d+\w*|American|English|"
    r"British|French|German|Italian|Irish|Scottish|"
    r"Russian|Austrian|Spanish|Canadian|Swedish|Danish|Polish|U\.S\.|\p{Lu}\p{Ll}+(?:ese|ish|ote|ian)|"
    r"[A-Z]\w+-born|President|Senator|Governor|Congressman)\s+){0,5}"
    r"(?:from\s+\p{Lu}\p{L}+)?(?:\p{Ll}[\p{Ll}\-]+(?=,))?(?:,\s+(?=\p{Lu}))?"
)
NOT_OF_OTHERS = regex.compile(
    r"\b(?:daughters?|sons?|sisters?|brothers?|nieces?|nephew|widow of|friends|of|and|to|in|at|that|who|"
    r"whom|when|because|but|by|for|as|until|"
    r"after|before|only|into|mother|father|against|not|none|there|at|under|despite|during|with|having)\b"
)
NOUN_AFTER = regex.compile(
    r"\s+(?!(?:and|in|on|at|from|who|when|as|after|with|to|but|by|the|an?|for|or|was|is|had|because|before|"
    r"during|soon|shortly|while|where|whom|against|"
    r"(?:king|queen|duke|lord|emperor|earl|count|prince|chief) of)\b)\p{Ll}"
)
KIN_OF_KNOWN = regex.compile(
    r"\s*(?:his|her|the)\s+(?:\p{Ll}+\s+)?\p{Ll}+['’]s\s+(?:\p{Ll}+\s+)?(?:sister|daughter|niece|widow|cousin|brother|son)"
    r"(?:\s+and\s+(?:former\s+)?\p{Ll}+)?,?\s+(?=\p{Lu})"
)
"""'his pupil's sister, Ann Hay'."""
BRACKET = regex.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")
APPOSITION = regex.compile(
    r",\s*+(?!and\b|\p{Lu}[\p{L}\-]+,)[^,;.()]{1,90}?(?:\([^()]*\)[^,;.()]{0,60})?(?=,|\s+and\s)|"
    r"\s+and\s+(?:an?\s+|the\s+)?(?!(?:was|were|is|had|has|did|became|later|then|born|died|he|she)\b)"
    r"(?:(?!\b(?:brother|sister|"
    r"son|daughter|nephew|niece|cousin|friend|father|mother|grand\p{Ll}+|wife|husband|was|who)\b)"
    r"(?:[\p{Ll} \-]|(?<=\b(?:from|of|in|at)\s)\p{Lu}[\p{L}\-]+)){2,60}?(?=,|\s+and\s)|"
    r"\s*[—–]\s?[^—–]{1,200}?\s?[—–](?=\s+and\s)"
)
AND = regex.compile(
    r",?\s+(?:and|&|by)\s+(?:of\s+)?(?:the\s+\w+\s+of\s+(?=his|her))?(?:(?P<his>his|her)\s+)?(?:(?:[a-z\-]+\s+|\p{Lu}\p{Ll}+\s+)?"
    r"(?P<role>wife|wives|husband|consort|queen|mistress|mother|concubine|girlfriend|boyfriend|partner)\b)?,?\s*"
    r"(?:the\s+former\s+)?"
)
VERBS = regex.compile(r"\s+(?:was|were|is|are|had|became|died|married|has|moved|went|came|took|would|did)\b")
SEPARATOR = regex.compile(
    r"\s*(?:,\s*and\s+|;\s*and\s+|,|;|\band\b|&)\s*(?:then\s+|future president\s+|finally\s+|twins\s+)?"
)
NOTE = regex.compile(r"\s*,?\s*(?:born|b\.|who|in|on|d\.|died|aged?|later|now|the)\s[^,;()]{0,60}(?:,\s*\d{4})?")


class FoundName(NamedTuple):
    """A name, and what the words before it call the person: 'wife'."""

    span: Span
    role: str = ""


def skip_occupation(text: str, start: int, end: int, words: FamilyWords) -> int:
    """Where the name begins in 'the author and politician Tom Hay': behind nouns for what a person is."""
    told = TRADES.match(text, start, end)
    if not told or not _is_trade(told["more"] or told["trade"], words):
        return start
    return start if OF_SOMEBODY.search(told[0]) else int(told.end())


def _is_trade(noun: str, words: FamilyWords) -> bool:
    return bool(words.human.fullmatch(noun) or TRADE.fullmatch(noun))


TRADE = regex.compile(
    r"[\p{Ll}\-]{2,}(?:owner|maker|keeper|dealer|worker|holder|builder|monger|writer|wright|smith|ist|ician)"
)
OF_SOMEBODY = regex.compile(
    r"\b(?:his|her|their|wife|husband|widow|brother|sister|son|daughter|of|by|in|for|to|with)\b"
)
ABOUT = r"(?:(?:[\p{Ll}\-]+|\p{Lu}[\p{L}\-]+(?=\s+\p{Ll})|\p{Lu}{2,5})\s+){0,3}?"
TRADES = regex.compile(
    rf"\s*(?:(?:the|an?)\s+)?{ABOUT}(?P<trade>\p{{Ll}}+),?\s+(?:and\s+{ABOUT}(?P<more>\p{{Ll}}+),?\s+)?(?=\p{{Lu}})"
)


def name_after(
    text: str, start: int, end: int, words: FamilyWords, *, described: bool = False, owning: bool = False
) -> FoundName | None:
    """The name that follows, behind a description if one is allowed; one with an apostrophe only if `owning`."""
    at = skip_occupation(text, start, end, words) if described else start
    while at < end and text[at] == " ":
        at += 1
    found = name_at(text, at, end, words)
    if found and described and " " not in text[found.start : found.end] and NOUN_AFTER.match(text, found.end, end):
        apart = regex.match(r"\s+(?:\p{Ll}[\p{Ll}\-]*\s+){1,3}(?=\p{Lu})", text[found.end : end])
        if not apart or NOT_OF_OTHERS.search(apart[0]):
            return None
        found = name_at(text, found.end + apart.end(), end, words)
    if not found and described and (kin := KIN_OF_KNOWN.match(text, start, end)):
        return name_after(text, kin.end(), end, words)
    if found and described and NOUN_WITH_CAPITAL.search(text[start : found.start]):
        noun = text[found.start : found.end]
        if " " not in noun and text[found.end : found.end + 2] == ", ":
            return name_after_description(text, start, end, words)  # 'a fellow Marxist, Ann Hay'
    if not found and described and (told := name_after_description(text, start, end, words)):
        return told
    if not found and described:
        skip = DESCRIBED.match(text, start, end)
        if not skip or NOT_OF_OTHERS.search(skip[0]):
            return None
        at = skip.end()
        found = name_at(text, at, end, words)
        if found and " " not in text[found.start : found.end]:
            plural = skip[0].strip() == "the" and text[found.end - 1] == "s"
            if plural or NOUN_AFTER.match(text, found.end, end):
                return None
    if not found or IN_DATE.search(text[max(0, found.start - 4) : found.end]):
        return None
    owned = regex.match(
        r"['’]s?\s+(?:[a-z\-]+\s+){0,2}(?:daughter|sister|niece|widow|cousin|son|brother),?\s+", text[found.end : end]
    )
    if owned and described:
        return name_after(text, found.end + owned.end(), end, words)
    return None if text[found.end : found.end + 1] in ("'", "’") and not owning else FoundName(found)


NOUN_WITH_CAPITAL = regex.compile(r"\b(?:an?|fellow|another)\s+(?:\p{Ll}+\s+)*$")
DESCRIPTION = regex.compile(
    r"\s*(?:(?:his|her|an?|the|another|one|then)\s+)?"
    r"(?:(?:\p{Ll}[\p{Ll}\-]*|\d+-\p{Ll}[\p{Ll}\-]*|\p{Lu}[\p{L}\-]+(?=\s+\p{Ll})|(?<=\b(?:in|from|of|at)\s)\p{Lu}[\p{L}\-]+|"
    r"(?<=\b(?:fellow|an?|\d)\s)\p{Lu}[\p{L}\-]+|(?<=\bthe )\p{Lu}[\p{L}\-]+\s\p{Lu}\p{Ll}+(?=\s+in\b)|but|and)"
    r"(?:\s+|(?=,)))"
    r"{1,9}?(?:,\s+(?:the\s+[\p{L}\s\-]{4,40},\s+|(?:named|called)\s+)?|(?:named|called)\s+)(?=\p{Lu})"
)
"""'a wealthy but illiterate farmer, Tom Hay', 'his companion of four years in Aue, Ann Hay'."""
NOT_DESCRIBING = regex.compile(
    r"\b(?:daughters?|sons?|sisters?|brothers?|nieces?|nephews?|widow|mother|father|wife|husband|friends|parents|child|"
    r"children|who|whom|whose|that|which|when|because|until|after|before|by|for|to|as|not|never|none|there|later|"
    r"was|were|is|had|has|did|died|went|moved|became|under|despite|during|against|only|into|it|he|she|they|again|"
    r"twice|times|church|cathedral|chapel|home|house|year|years later|month|day|age|aged|\d{4})\b"
)


def name_after_description(text: str, start: int, end: int, words: FamilyWords) -> FoundName | None:
    """The name behind words for what a person is, however many, where nothing among them is another person."""
    told = DESCRIPTION.match(text, start, end)
    if (
        not told
        or NOT_DESCRIBING.search(regex.sub(r"\bof \w+ years\b", "", told[0]))
        or len(told[0]) > LONGEST_DESCRIPTION
    ):
        return None
    found = name_at(text, told.end(), end, words)
    named = told[0].rstrip().endswith(("named", "called"))
    if not found or not (named or " " in text[found.start : found.end] or sex_of_name(text[found.start : found.end])):
        return None
    return FoundName(found) if text[found.end : found.end + 1] not in ("'", "’") else None


LONGEST_DESCRIPTION = 90


IN_DATE = regex.compile(r"\d\s+(?:April|May|June|August|March)$")
"""'on 24 April': a month that may be a name."""


def couple_after(
    text: str, start: int, end: int, words: FamilyWords, *, described: bool = True, verbs: bool = False
) -> list[FoundName]:
    """'A and his wife B', 'A (1747-1813), a farmer, and B': one or two names."""
    first = name_after(text, start, end, words, described=described)
    if not first:
        return []
    at = first.span.end
    for _ in range(7):
        bracket = BRACKET.match(text, at, end)
        at = bracket.end() if bracket else at
        link = AND.match(text, at, end)
        if link:
            behind = skip_occupation(text, link.end(), end, words)
            other = name_after(text, behind, end, words, described=bool(link["role"]))
            second = other.span if other else None
            plain = link["role"] or (not link["his"] and "by" not in link[0])
            if (
                second
                and plain
                and (verbs or not VERBS.match(text, second.end, end))
                and text[second.end : second.end + 2] not in ("'s", "’s")
            ):
                role = (
                    "wife"
                    if link["his"] == "his" or link["role"] in ("wife", "wives", "queen", "consort")
                    else link["role"] or ""
                )
                return [first, FoundName(second, role)]
            if second or link["role"] or link["his"]:
                return [first]
        apposition = APPOSITION.match(text, at, end)
        if not apposition:
            break
        at = apposition.end()
    return [first]


def names_after(text: str, start: int, end: int, words: FamilyWords) -> list[FoundName | None]:
    """A list of names, each with its brackets; it ends where something else follows."""
    if ";" in text[start:end] and _is_by_semicolons(text[start:end]):
        return _by_semicolons(text, start, end, words)
    found: list[FoundName | None] = []
    at = start
    while at < end:
        one = name_at(text, at, end, words)
        if not one or text[one.end : one.end + 2] in ("'s", "’s"):
            break
        if VERBS.match(text, one.end, end) and not regex.match(r".*\band\b", text[start:at]):
            break
        found.append(FoundName(one))
        at = one.end
        bracket = BRACKET.match(text, at, end)
        at = bracket.end() if bracket else at
        note = NOTE.match(text, at, end)
        if note and SEPARATOR.match(text, note.end(), end):
            at = note.end()
        step = SEPARATOR.match(text, at, end)
        if not step or not step[0].strip():
            break
        skipped = regex.match(r"(?:an?|one)\s[^,;()]{3,40}(?:\([^()]*\))?\s*[,;]\s*(?:and\s+)?", text[step.end() : end])
        at = step.end() + (skipped.end() if skipped else 0)
        if "and" in step[0] and "twins" not in step[0] and found and _last(text, at, end, words):
            last = name_at(text, at, end, words)
            return [*found, FoundName(last)] if last else found
    return found


def _is_by_semicolons(listed: str) -> bool:
    """'A, earl of Aue; B; and C', and not 'A and B; A became'."""
    head, behind = listed.split(";", 1)
    named = regex.match(rf"\s*(?:and\s+)?{CAP}(?:\s+{CAP})*", behind)
    return bool(named) and not (regex.search(rf"\band\s+{CAP}", head) and VERBS.match(behind, named.end()))


def _last(text: str, at: int, end: int, words: FamilyWords) -> bool:
    found = name_at(text, at, end, words)
    return bool(found and not VERBS.match(text, found.end, end))


def _by_semicolons(text: str, start: int, end: int, words: FamilyWords) -> list[FoundName | None]:
    found: list[FoundName | None] = []
    at = start
    for piece in text[start:end].split(";"):
        begin, at = at, at + len(piece) + 1
        lead = regex.match(r"\s*(?:and\s+)?(?:future president\s+)?", piece)
        one = name_at(text, begin + (lead.end() if lead else 0), begin + len(piece), words)
        if not one:
            if not found:
                return []
            continue
        found.append(FoundName(one))
    return found
