"""Names that follow a cue: one, a couple, or a list."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import CAP, Span, name_at
from kiwiresearch.kin.extract.words import FamilyWords

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
APPOSITION = regex.compile(r",\s*(?!and\b|\p{Lu}[\p{L}\-]+,)[^,;.()]{1,90}(?:\([^()]*\)[^,;.()]{0,60})?(?=,|\s+and\s)")
AND = regex.compile(
    r",?\s+(?:and|&|by)\s+(?:of\s+)?(?:(?P<his>his|her)\s+)?(?:(?:[a-z\-]+\s+|\p{Lu}\p{Ll}+\s+)?(?P<role>wife|husband|consort|"
    r"queen|mistress|mother|concubine)\b)?,?\s*(?:the\s+former\s+)?"
)
VERBS = regex.compile(r"\s+(?:was|were|is|are|had|became|died|married|has|moved|went|came|took|would|did)\b")
SEPARATOR = regex.compile(
    r"\s*(?:,\s*and\s+|;\s*and\s+|,|;|\band\b|&)\s*(?:then\s+|future president\s+|finally\s+|twins\s+)?"
)
NOTE = regex.compile(r"\s*,?\s*(?:born|b\.|who|in|on|d\.|died|aged?|later|now|the)\s[^,;()]{0,60}(?:,\s*\d{4})?")


class Found(NamedTuple):
    """A name, and what the words before it call the person: 'wife'."""

    span: Span
    role: str = ""


def behind_trades(text: str, start: int, end: int, words: FamilyWords) -> int:
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
ABOUT = (
    r"(?:(?:[\p{Ll}\-]+|\p{Lu}[\p{L}\-]+(?:ese|ish|ote|ian|an|ch)|Welsh|Czech|Greek|Swiss|Dutch|"
    r"Protestant|\p{Lu}{2,5})\s+){0,3}?"
)
TRADES = regex.compile(
    rf"\s*(?:(?:the|an?)\s+)?{ABOUT}(?P<trade>\p{{Ll}}+),?\s+(?:and\s+{ABOUT}(?P<more>\p{{Ll}}+),?\s+)?(?=\p{{Lu}})"
)


def one_name(
    text: str, start: int, end: int, words: FamilyWords, *, described: bool = False, owning: bool = False
) -> Found | None:
    """The name that follows, behind a description if one is allowed; one with an apostrophe only if `owning`."""
    at = behind_trades(text, start, end, words) if described else start
    while at < end and text[at] == " ":
        at += 1
    found = name_at(text, at, end, words)
    if found and described and " " not in text[found.start : found.end] and NOUN_AFTER.match(text, found.end, end):
        apart = regex.match(r"\s+(?:\p{Ll}[\p{Ll}\-]*\s+){1,3}(?=\p{Lu})", text[found.end : end])
        if not apart or NOT_OF_OTHERS.search(apart[0]):
            return None
        found = name_at(text, found.end + apart.end(), end, words)
    if not found and described and (kin := KIN_OF_KNOWN.match(text, start, end)):
        return one_name(text, kin.end(), end, words)
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
    if not found:
        return None
    owned = regex.match(
        r"['’]s?\s+(?:[a-z\-]+\s+){0,2}(?:daughter|sister|niece|widow|cousin|son|brother),?\s+", text[found.end : end]
    )
    if owned and described:
        return one_name(text, found.end + owned.end(), end, words)
    return None if text[found.end : found.end + 1] in ("'", "’") and not owning else Found(found)


def pair_from(
    text: str, start: int, end: int, words: FamilyWords, *, described: bool = True, verbs: bool = False
) -> list[Found]:
    """'A and his wife B', 'A (1747-1813), a farmer, and B': one or two names."""
    first = one_name(text, start, end, words, described=described)
    if not first:
        return []
    at = first.span.end
    for _ in range(3):
        bracket = BRACKET.match(text, at, end)
        at = bracket.end() if bracket else at
        link = AND.match(text, at, end)
        if link:
            behind = behind_trades(text, link.end(), end, words)
            other = one_name(text, behind, end, words, described=bool(link["role"]))
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
                    if link["his"] == "his" or link["role"] in ("wife", "queen", "consort")
                    else link["role"] or ""
                )
                return [first, Found(second, role)]
            return [first]
        apposition = APPOSITION.match(text, at, end)
        if not apposition:
            break
        at = apposition.end()
    return [first]


def names_from(text: str, start: int, end: int, words: FamilyWords) -> list[Found | None]:
    """A list of names, each with its brackets; it ends where something else follows."""
    if ";" in text[start:end] and regex.search(rf";\s*(?:and\s+)?{CAP}", text[start:end]):
        return _by_semicolons(text, start, end, words)
    found: list[Found | None] = []
    at = start
    while at < end:
        one = name_at(text, at, end, words)
        if not one or text[one.end : one.end + 2] in ("'s", "’s"):
            break
        if VERBS.match(text, one.end, end) and not regex.match(r".*\band\b", text[start:at]):
            break
        found.append(Found(one))
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
            return [*found, Found(last)] if last else found
    return found


def _last(text: str, at: int, end: int, words: FamilyWords) -> bool:
    found = name_at(text, at, end, words)
    return bool(found and not VERBS.match(text, found.end, end))


def _by_semicolons(text: str, start: int, end: int, words: FamilyWords) -> list[Found | None]:
    found: list[Found | None] = []
    at = start
    for piece in text[start:end].split(";"):
        begin, at = at, at + len(piece) + 1
        lead = regex.match(r"\s*(?:and\s+)?(?:future president\s+)?", piece)
        one = name_at(text, begin + (lead.end() if lead else 0), begin + len(piece), words)
        if not one:
            if not found:
                return []
            continue
        found.append(Found(one))
    return found
