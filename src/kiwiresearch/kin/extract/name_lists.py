"""How names of people are recognised in a text, and the names that follow a cue: one, a couple, or a list."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.kin.language import ENGLISH, FamilyWords, regex
from kiwiresearch.kin.names import name_words, sex_of_name
from kiwiresearch.text.words import fold

BRACKET = regex.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")


class Span(NamedTuple):
    """A piece of a text: `text[start:end]`."""

    start: int
    end: int


def name_at(text: str, start: int, end: int, words: FamilyWords) -> Span | None:
    """The name that begins just here, if one does."""
    found = ENGLISH.name.match(text, start, end)
    if not found:
        return None
    stop = found.end()
    while stop > start and text[stop - 1] in " ,\n":
        stop -= 1
    numbered = regex.search(r"\s[IVX]+(?=\.(?:$|\s+\p{Lu}\p{Ll}))", text[start:stop])
    stop = start + numbered.end() if numbered else stop
    bare = ENGLISH.bare_title.search(
        text[start:stop],
    )
    stop = start + bare.start() if bare else stop
    if ENGLISH.nationality.match(text, start, end):
        return None
    return Span(start, stop) if is_name(text[start:stop], words) else None


def is_name(written: str, words: FamilyWords) -> bool:
    """Whether this can be a person's name: no bare place, month, people or title."""
    if "\n" in written or len(written) > 90 or "NN" in written.split():
        return False
    heads = written.split(",")[0]
    heads = ENGLISH.byname_start.split(heads)[0]
    tokens = [fold(token) for token in regex.findall(r"[\p{L}\p{M}'’.\-]+", heads)]
    tokens = [token for token in tokens if token]
    honorifics = name_words().honorifics
    if len(tokens) > 1 and tokens[0] == "the" and tokens[1] in honorifics:
        tokens = tokens[1:]
    if not tokens or tokens[0] in words.nobody:
        return False
    if ENGLISH.words["not_persons"] & set(tokens):
        return False
    tokens = [part for token in tokens for part in token.split()]
    known = name_words()
    own = [token for token in tokens if token not in honorifics and not regex.fullmatch(r"[ivx]+", token)]
    own = own or [token for token in tokens[-1:] if token in known.female]
    if not own or (len(own) == 1 and len(own[0]) < 2):
        return False
    given = own[0] in known.female or own[0] in known.male
    if given:
        return True
    return (
        not all(token in words.places or token in ENGLISH.words["sure_months"] for token in own)
        and own[0] not in words.places
    )


class FoundName(NamedTuple):
    """A name, and what the words before it call the person: 'wife'."""

    span: Span
    role: str = ""


def skip_occupation(text: str, start: int, end: int, words: FamilyWords) -> int:
    """Where the name begins in 'the author and politician Tom Hay': behind nouns for what a person is."""
    told = ENGLISH.trades.match(text, start, end)
    if not told or not _is_trade(told["more"] or told["trade"], words):
        return start
    return start if ENGLISH.of_somebody.search(told[0]) else int(told.end())


def _is_trade(noun: str, words: FamilyWords) -> bool:
    return bool(words.human.fullmatch(noun) or ENGLISH.trade.fullmatch(noun))


def name_after(
    text: str, start: int, end: int, words: FamilyWords, *, described: bool = False, owning: bool = False
) -> FoundName | None:
    """The name that follows, behind a description if one is allowed; one with an apostrophe only if `owning`."""
    at = skip_occupation(text, start, end, words) if described else start
    while at < end and text[at] == " ":
        at += 1
    found = name_at(text, at, end, words)
    if (
        found
        and described
        and " " not in text[found.start : found.end]
        and ENGLISH.noun_after.match(text, found.end, end)
    ):
        apart = regex.match(r"\s+(?:\p{Ll}[\p{Ll}\-]*\s+){1,3}(?=\p{Lu})", text[found.end : end])
        if not apart or ENGLISH.not_of_others.search(apart[0]):
            return None
        found = name_at(text, found.end + apart.end(), end, words)
    if not found and described and (kin := ENGLISH.kin_of_known.match(text, start, end)):
        return name_after(text, kin.end(), end, words)
    if found and described and ENGLISH.noun_with_capital.search(text[start : found.start]):
        noun = text[found.start : found.end]
        if " " not in noun and text[found.end : found.end + 2] == ", ":
            return name_after_description(text, start, end, words)  # 'a fellow Marxist, Ann Hay'
    if not found and described and (told := name_after_description(text, start, end, words)):
        return told
    if not found and described:
        skip = ENGLISH.described.match(text, start, end)
        if not skip or ENGLISH.not_of_others.search(skip[0]):
            return None
        at = skip.end()
        found = name_at(text, at, end, words)
        if found and " " not in text[found.start : found.end]:
            plural = skip[0].strip() == "the" and text[found.end - 1] == "s"
            if plural or ENGLISH.noun_after.match(text, found.end, end):
                return None
    if not found or ENGLISH.in_date.search(text[max(0, found.start - 4) : found.end]):
        return None
    owned = ENGLISH.kin_of_owner.match(text[found.end : end])
    if owned and described:
        return name_after(text, found.end + owned.end(), end, words)
    return None if text[found.end : found.end + 1] in ("'", "’") and not owning else FoundName(found)


def name_after_description(text: str, start: int, end: int, words: FamilyWords) -> FoundName | None:
    """The name behind words for what a person is, however many, where nothing among them is another person."""
    told = ENGLISH.description.match(text, start, end)
    if (
        not told
        or ENGLISH.not_describing.search(ENGLISH.of_years.sub("", told[0]))
        or len(told[0]) > LONGEST_DESCRIPTION
    ):
        return None
    found = name_at(text, told.end(), end, words)
    named = told[0].rstrip().endswith(("named", "called"))
    if not found or not (named or " " in text[found.start : found.end] or sex_of_name(text[found.start : found.end])):
        return None
    return FoundName(found) if text[found.end : found.end + 1] not in ("'", "’") else None


LONGEST_DESCRIPTION = 90


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
        link = ENGLISH.and_second.match(text, at, end)
        if link:
            behind = skip_occupation(text, link.end(), end, words)
            other = name_after(text, behind, end, words, described=bool(link["role"]))
            second = other.span if other else None
            plain = link["role"] or (not link["his"] and "by" not in link[0])
            if (
                second
                and plain
                and (verbs or not ENGLISH.verb_after_name.match(text, second.end, end))
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
        apposition = ENGLISH.apposition.match(text, at, end)
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
        if ENGLISH.verb_after_name.match(text, one.end, end) and not ENGLISH.and_before_end.match(text[start:at]):
            break
        found.append(FoundName(one))
        at = one.end
        bracket = BRACKET.match(text, at, end)
        at = bracket.end() if bracket else at
        note = ENGLISH.note_after_name.match(text, at, end)
        if note and ENGLISH.separator.match(text, note.end(), end):
            at = note.end()
        step = ENGLISH.separator.match(text, at, end)
        if not step or not step[0].strip():
            break
        skipped = ENGLISH.unnamed_in_list.match(text[step.end() : end])
        at = step.end() + (skipped.end() if skipped else 0)
        if "and" in step[0] and "twins" not in step[0] and found and _last(text, at, end, words):
            last = name_at(text, at, end, words)
            return [*found, FoundName(last)] if last else found
    return found


def _is_by_semicolons(listed: str) -> bool:
    """'A, earl of Aue; B; and C', and not 'A and B; A became'."""
    head, behind = listed.split(";", 1)
    named = ENGLISH.name_in_list.match(behind)
    if not named:
        return False
    return not (ENGLISH.and_capital.search(head) and ENGLISH.verb_after_name.match(behind, named.end()))


def _last(text: str, at: int, end: int, words: FamilyWords) -> bool:
    found = name_at(text, at, end, words)
    return bool(found and not ENGLISH.verb_after_name.match(text, found.end, end))


def _by_semicolons(text: str, start: int, end: int, words: FamilyWords) -> list[FoundName | None]:
    found: list[FoundName | None] = []
    at = start
    for piece in text[start:end].split(";"):
        begin, at = at, at + len(piece) + 1
        lead = ENGLISH.list_lead.match(piece)
        one = name_at(text, begin + (lead.end() if lead else 0), begin + len(piece), words)
        if not one:
            if not found:
                return []
            continue
        found.append(FoundName(one))
    return found
