"""Names of people in a text: whether something is a name, and the name, couple or list that follows a cue."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import name_words, sex_of_name
from kiwiresearch.text import fold

# '(1830–1890)' and '(Lady of Aue (1830))': one level of brackets inside.
BRACKET = regex.compile(r"\s*\((?:[^()]|\([^()]*\))*\)")


class TextSpan(NamedTuple):
    """A piece of a text: `text[start:end]`."""

    start: int
    end: int


def name_at(text: str, start: int, end: int) -> TextSpan | None:
    """The name that begins exactly at `start`, if any."""
    found = ENGLISH.name.match(text, start, end)
    if not found:
        return None
    stop = found.end()
    while stop > start and text[stop - 1] in " ,\n":
        stop -= 1
    # 'Henry IV. Mary' ends with the number.
    numbered = regex.search(r"\s[IVX]+(?=\.(?:$|\s+\p{Lu}\p{Ll}))", text[start:stop])
    stop = start + numbered.end() if numbered else stop
    bare = ENGLISH.bare_title.search(text[start:stop])
    stop = start + bare.start() if bare else stop
    if ENGLISH.nationality.match(text, start, end):
        return None
    return TextSpan(start, stop) if is_name(text[start:stop]) else None


def is_name(written: str) -> bool:
    """Whether this can be a person's name, and not just a place, month, nationality or title."""
    if "\n" in written or len(written) > 90 or "NN" in written.split():
        return False
    head = ENGLISH.byname_start.split(written.split(",")[0])[0]
    tokens = [plain for token in regex.findall(r"[\p{L}\p{M}'’.\-]+", head) if (plain := fold(token))]
    known = name_words()
    honorifics = known.honorifics
    if len(tokens) > 1 and tokens[0] == "the" and tokens[1] in honorifics:
        tokens = tokens[1:]  # 'the Duke of Aue'
    if not tokens or tokens[0] in ENGLISH.nobody:
        return False
    if ENGLISH.words["not_persons"] & set(tokens) and not _is_surname_church(tokens):
        return False
    tokens = [part for token in tokens for part in token.split()]
    # 'Queen Victoria' has a name beside the title, 'King Henry IV' beside the number, 'the Duke' has none.
    own = [token for token in tokens if token not in honorifics and not regex.fullmatch(r"[ivx]+", token)]
    own = own or [token for token in tokens[-1:] if token in known.female]
    if not own or (len(own) == 1 and len(own[0]) < 2):
        return False
    if own[0] in known.female or own[0] in known.male:
        return True
    is_place_or_date = all(token in ENGLISH.places or token in ENGLISH.words["sure_months"] for token in own)
    return not is_place_or_date and own[0] not in ENGLISH.places


def _is_surname_church(tokens: list[str]) -> bool:
    """Whether 'Church' follows a first name: 'John Church', 'Mary Church Terrell'. 'Grace Church' is a building."""
    known, others = name_words(), ENGLISH.words["not_persons"] - {"church"}
    is_building = tokens[-1] == "church" and tokens[0] not in known.male
    return not others & set(tokens) and not is_building and tokens[0] in known.male | known.female


class FoundName(NamedTuple):
    """A name, and the role the words before it give the person: 'wife'."""

    span: TextSpan
    role: str = ""


def skip_occupation(text: str, start: int, end: int) -> int:
    """Where the name begins after nouns for what a person does: 'the author and politician Tom Hay'."""
    trades = ENGLISH.trades.match(text, start, end)
    if not trades or ENGLISH.of_somebody.search(trades[0]):
        return start
    noun = trades["more"] or trades["trade"]
    return int(trades.end()) if ENGLISH.human.fullmatch(noun) or ENGLISH.trade.fullmatch(noun) else start


def name_after(text: str, start: int, end: int, *, described: bool = False, owning: bool = False) -> FoundName | None:
    """The name that follows, after a description if `described`; a possessive name only if `owning`."""
    at = skip_occupation(text, start, end) if described else start
    while at < end and text[at] == " ":
        at += 1
    found = name_at(text, at, end)
    if (
        found
        and described
        and " " not in text[found.start : found.end]
        and ENGLISH.noun_after.match(text, found.end, end)
    ):
        apart = regex.match(r"\s+(?:\p{Ll}[\p{Ll}\-]*\s+){1,3}(?=\p{Lu})", text[found.end : end])
        if not apart or ENGLISH.not_of_others.search(apart[0]):
            return None
        found = name_at(text, found.end + apart.end(), end)
    if not found and described and (kin := ENGLISH.kin_of_known.match(text, start, end)):
        return name_after(text, kin.end(), end)
    if found and described and ENGLISH.noun_with_capital.search(text[start : found.start]):
        noun = text[found.start : found.end]
        if " " not in noun and text[found.end : found.end + 2] == ", ":
            return name_after_description(text, start, end)  # 'a fellow Marxist, Ann Hay'
    if not found and described and (named := name_after_description(text, start, end)):
        return named
    if not found and described:
        skip = ENGLISH.described.match(text, start, end)
        if not skip or ENGLISH.not_of_others.search(skip[0]):
            return None
        at = skip.end()
        found = name_at(text, at, end)
        if found and " " not in text[found.start : found.end]:
            plural = skip[0].strip() == "the" and text[found.end - 1] == "s"
            if plural or ENGLISH.noun_after.match(text, found.end, end):
                return None
    if not found or ENGLISH.in_date.search(text[max(0, found.start - 4) : found.end]):
        return None
    owned = ENGLISH.kin_of_owner.match(text[found.end : end])
    if owned and described:
        return name_after(text, found.end + owned.end(), end)
    return None if text[found.end : found.end + 1] in ("'", "’") and not owning else FoundName(found)


def name_after_description(text: str, start: int, end: int) -> FoundName | None:
    """The name after a description of any length that mentions nobody else."""
    description = ENGLISH.description.match(text, start, end)
    if (
        not description
        or ENGLISH.not_describing.search(ENGLISH.of_years.sub("", description[0]))
        or len(description[0]) > MAX_DESCRIPTION
    ):
        return None
    found = name_at(text, description.end(), end)
    named = description[0].rstrip().endswith(("named", "called"))
    if not found or not (named or " " in text[found.start : found.end] or sex_of_name(text[found.start : found.end])):
        return None
    return FoundName(found) if text[found.end : found.end + 1] not in ("'", "’") else None


MAX_DESCRIPTION = 90


def couple_after(text: str, start: int, end: int, *, described: bool = True, verbs: bool = False) -> list[FoundName]:
    """'A and his wife B', 'A (1747-1813), a farmer, and B': one or two names."""
    first = name_after(text, start, end, described=described)
    if not first:
        return []
    at = first.span.end
    for _ in range(7):  # appositions between the two names
        bracket = BRACKET.match(text, at, end)
        at = bracket.end() if bracket else at
        link = ENGLISH.and_second.match(text, at, end)
        if link:
            after = skip_occupation(text, link.end(), end)
            other = name_after(text, after, end, described=bool(link["role"]))
            second = other.span if other else None
            plain = link["role"] or (not link["his"] and "by" not in link[0])
            if (
                second
                and plain
                and (verbs or not ENGLISH.verb_after_name.match(text, second.end, end))
                and text[second.end : second.end + 2] not in ("'s", "’s")
            ):
                is_wife = link["his"] == "his" or link["role"] in ("wife", "wives", "queen", "consort")
                return [first, FoundName(second, "wife" if is_wife else link["role"] or "")]
            if second or link["role"] or link["his"]:
                return [first]
        apposition = ENGLISH.apposition.match(text, at, end)
        if not apposition:
            break
        at = apposition.end()
    return [first]


def names_after(text: str, start: int, end: int, *, many: bool = True) -> list[FoundName]:
    """The list of names that follows, or just one name if not `many`."""
    if not many:
        name = name_after(text, start, end)
        return [name] if name else []
    if ";" in text[start:end] and _is_by_semicolons(text[start:end]):
        return _by_semicolons(text, start, end)
    found: list[FoundName] = []
    at = start
    while at < end:
        next_name = name_at(text, at, end)
        if not next_name or text[next_name.end : next_name.end + 2] in ("'s", "’s"):
            break
        if ENGLISH.verb_after_name.match(text, next_name.end, end) and not ENGLISH.and_before_end.match(text[start:at]):
            break
        found.append(FoundName(next_name))
        at = next_name.end
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
        # The name after 'and' is the last of the list.
        if "and" in step[0] and "twins" not in step[0]:
            last = name_at(text, at, end)
            if last and not ENGLISH.verb_after_name.match(text, last.end, end):
                return [*found, FoundName(last)]
    return found


def _is_by_semicolons(listed: str) -> bool:
    """'A, earl of Aue; B; and C', and not 'A and B; A became'."""
    head, after = listed.split(";", 1)
    named = ENGLISH.name_in_list.match(after)
    if not named:
        return False
    return not (ENGLISH.and_capital.search(head) and ENGLISH.verb_after_name.match(after, named.end()))


def _by_semicolons(text: str, start: int, end: int) -> list[FoundName]:
    found: list[FoundName] = []
    at = start
    for piece in text[start:end].split(";"):
        begin, at = at, at + len(piece) + 1
        lead = ENGLISH.list_lead.match(piece)
        name = name_at(text, begin + (lead.end() if lead else 0), begin + len(piece))
        if name:
            found.append(FoundName(name))
        elif not found:
            return []
    return found
