"""Names of persons inside a text: where they end, and what only looks like one."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.names import name_words
from kiwiresearch.text.fold import fold


class Span(NamedTuple):
    """A piece of a text: `text[start:end]`."""

    start: int
    end: int


CAP = (
    r"(?:(?!(?:Jr|Sr)\b)\p{Lu}[\p{L}\p{M}]*"
    r"(?:['’ʼ‘\-](?!(?:s|married|born|who)\b)\p{L}[\p{L}\p{M}]*)*(?:(?<=\b\p{Lu})\.)?)"
)
QUOTED = (
    r"(?:\([\"“]\p{Lu}[^\"“”,.!?]{0,23}[\"”]\)|[\"“]\p{Lu}[^\"“”,.!?]{0,23}[\"”]|"
    r"\(\p{Lu}[\p{L}\-’']{1,20}\)|\((?:née|nee|born) \p{Lu}[^()\d]{1,25}\)"
    r"|n[ée]e \p{Lu}[\p{L}\-]+)"
)
HONORIFIC = (
    r"(?:(?:the )?(?:Grand|Crown) (?=(?:Duke|Duchess|Prince|Princess)\b)|"
    r"(?:Grand|Crown) (?:Duke|Duchess|Prince|Princess)\b|"
    r"(?:Dr|Mrs?|Ms|St|Revd|Rev|Capt|Gen|Prof|Lt|Col|Hon|Fr|Sgt|Maj)\b\.?|the Rev\.|the future|future president"
    r"|the (?:\p{Lu}\p{Ll}+ )?(?=(?:Prince|Princess|Lady|Lord|Duke|Earl|Queen|King|Infante?a?)\b)"
    r"|(?:Miss|Sir|Dame|Lady|Lord|King|Queen|Prince|Princess|HRH|HM|HIH|HSH|The)\b)"
)
PARTICLE = (
    r"(?:de la|de las|de los|van der|van den|von der|de|da|di|del|della|du|des|der|den|la|le|van|von|zu|ap|ab|"
    r"ferch|verch|ibn|bin|bint|mac|y|af|av|ó|ní|d['’]|l['’])"
)
NUMBER = r"(?:[IVX]+\b(?!\.))"
TITLE = (
    r"(?:(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)\s+)?(?:(?:Hereditary|Grand|Crown|Holy|Roman|Dowager|Titular|"
    r"Electoral)\s+)*"
    r"(?:King|Queen|Prince|Princess|Emperor|Empress|Tsar|Duke|Duchess|Archduke|Archduchess|Marquess|Marquis|"
    r"Marchioness|Earl|Count|Countess|Viscount|Viscountess|Baron|Baroness|Lord|Lady|Landgrave|Landgravine|Margrave|"
    r"Margravine|Elector|Electress|Infante|Infanta|Dauphin)\b"
    r"(?:\s+(?:Royal|Consort|Regent|Palatine|Dowager))*"
    rf"(?:\s+(?:of|in)\s+(?:the\s+)?{CAP}(?:[ \-]+(?:(?:of|the|de|upon)\s+)*{CAP})*"
    rf"(?:\s+and\s+(?:of\s+)?(?:the\s+)?(?:(?:Duke|Duchess|Earl|King|Queen|Count|Countess|Prince|Princess|"
    rf"Lord)\s+of\s+)?"
    rf"{CAP}(?!['’\-\p{{L}}])(?!\s+(?:of|\p{{Lu}}|was|were|[IVX]+)\b)(?!\s+\p{{Lu}})){{0,3}})?)"
)
NAME = regex.compile(
    rf"(?:{HONORIFIC}\s+)*{CAP}"
    rf"(?:[ ]+(?:{QUOTED}[ ]+)?(?:{PARTICLE}(?:[ ]+|(?<=['’])))*(?:{CAP}))*"
    rf"(?:[ ]+{QUOTED}(?=[,;.)\s]|$))?"
    rf"(?:[ ]+{PARTICLE}[ ]+{CAP})*"
    r"(?:,?[ ]+(?:Jr|Sr)\b\.?)?"
    rf"(?:[ ]+(?:of|the)[ ]+(?:the[ ]+)?{CAP}(?:[ ]+{CAP})*)?"
    rf"(?:,[ ]+(?:{TITLE}|the[ ]+{CAP}(?:[ ]+{CAP})?(?=[ ]*(?:[,.;()\n\t]|$|and\b))))?"
)
NOT_THE_FIRST = regex.compile(r"(?:President|Senator|Governor|Congressman|Professor|Minister)\b")


def name_at(text: str, start: int, end: int, words: FamilyWords) -> Span | None:
    """The name that begins just here, if one does."""
    found = NAME.match(text, start, end)
    if not found:
        return None
    stop = found.end()
    while stop > start and text[stop - 1] in " ,\n":
        stop -= 1
    numbered = regex.search(r"\s[IVX]+(?=\.(?:$|\s+\p{Lu}\p{Ll}))", text[start:stop])
    stop = start + numbered.end() if numbered else stop
    bare = regex.search(
        r",\s+(?:the\s+)?(?:Lady|Lord|Count|Countess|Viscount|Viscountess|Baron|Baroness|King|Queen|Prince|Princess|Duke|Duchess)$",
        text[start:stop],
    )
    stop = start + bare.start() if bare else stop
    if ADJECTIVE.match(text, start, end):
        return None
    return Span(start, stop) if is_name(text[start:stop], words) else None


ADJECTIVE = regex.compile(
    r"\p{Lu}\p{Ll}+(?:an|ese|ish|ote|ch)\s+(?!(?:and|or|in|on|at|of|was|who|to|from|by|as|died|had|is|born|"
    r"for|but|with|because|when|after|before|until|were)\b)\p{Ll}"
)
"""'Epirote princess', 'Macedonian aristocracy': of which people, and no name."""


def is_name(written: str, words: FamilyWords) -> bool:
    """Whether this can be a person's name: no bare place, month, people or title."""
    if "\n" in written or len(written) > 90 or "NN" in written.split():
        return False
    heads = written.split(",")[0]
    heads = regex.split(r"\s(?:of|the)\s", heads)[0]
    tokens = [fold(token) for token in regex.findall(r"[\p{L}\p{M}'’.\-]+", heads)]
    tokens = [token for token in tokens if token]
    honorifics = name_words().honorifics
    if len(tokens) > 1 and tokens[0] == "the" and tokens[1] in honorifics:
        tokens = tokens[1:]
    if not tokens or tokens[0] in words.nobody:
        return False
    if NO_PERSON & set(tokens):
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
    return not all(token in words.places or token in MONTHS for token in own) and own[0] not in words.places


NO_PERSON = frozenset(
    {
        "county",
        "formula",
        "prix",
        "catholic",
        "protestant",
        "party",
        "church",
        "empire",
        "university",
        "regiment",
        "united",
    }
)
MONTHS = frozenset(["january", "february", "june", "july", "september", "october", "november", "december"])
