"""Whose view a sentence gives, and whether it sets one view against another, by its words."""

from __future__ import annotations

import re

ARGUING = (
    r"argue|claim|suggest|contend|propose|maintain|assert|question|criticise|criticize|caution|"
    r"reject|dispute|disagree|deny|den|refute|challenge|doubt|oppose|object"
)
OPPOSED = r"reject|dispute|disagree|deny|den|refute|challenge|doubt|oppose|object"
BELIEVING = r"believe|hold|held|consider|think|thought|say|said|see|saw|view|regard|prefer|answer|point"
ENDING = r"(?:s|d|es|ed|ied|ies)?\b(?![\w-])"
ADVERBS = r"(?:also\s+|still\s+|have\s+|has\s+|had\s+)*"
PEOPLE = (
    r"(?:historians|scholars|scientists|critics|experts|researchers|people|authors|archaeologists|economists|"
    r"supporters|opponents|advocates|proponents|physicists|biologists|geologists|writers|sources|observers|linguists|"
    r"philosophers|theorists|astronomers|analysts|commentators|sceptics|skeptics|doctors|groups|theologians|"
    r"paleontologists)"
)
SOME = r"(?:(?:[Ss]ome|[Mm]any|[Mm]ost|[Ss]everal|[Cc]ertain|[Ff]ew|[Oo]ther|[Mm]odern)\s+)+(?:[\w-]+\s+){0,2}?"
ALONE = (
    r"[Ss]ome|[Mm]any|[Oo]thers|[Ss]ome others|[Cc]ritics|[Oo]pponents|[Ss][ck]eptics|[Pp]roponents|[Hh]istorians|"
    r"[Ss]cholars"
)
NAME = r"(?:[A-Z][\w.’'-]*\s+(?:(?:and|of|de|von|van|the)\s+)?){0,4}?[A-Z][\w.’-]*"

HOLDER = re.compile(
    rf"According to\s+(?P<source>[^,]{{3,60}}),|"
    rf"(?P<group>{SOME}{PEOPLE}|[A-Z][\w-]+\s+{PEOPLE}|{ALONE})\s+{ADVERBS}(?:{ARGUING}|{BELIEVING}){ENDING}|"
    rf"(?P<name>{NAME})\s+{ADVERBS}(?:(?:{ARGUING}){ENDING} that\b|(?:{OPPOSED})(?:s|d|es|ed|ied|ies)\b)"
)
"""Who holds a view, at the beginning of a sentence. What somebody with a name believes is his, and opens no dispute."""

BELIEVER = re.compile(rf"(?P<name>(?:[A-Z][\w.’-]*\s+){{1,4}}){ADVERBS}(?:{ARGUING}|{BELIEVING}){ENDING}")
OPENING = re.compile(r"^(?:However|But|In contrast|By contrast|On the other hand|Conversely|Today|Nevertheless),? ")
LONGEST_HOLDER = 6
NOBODY = frozenset(
    ("it", "they", "he", "she", "this", "these", "there", "which", "that", "evidence", "recent", "in", "although",
     "while", "when", "if", "as", "his", "her", "their", "what", "we", "studies", "one", "research", "both")
)  # fmt: skip


def holder_in(text: str, *, with_beliefs: bool = False) -> str:
    """Who holds the view that a sentence begins with; with beliefs, also 'Ebba Lind holds that …'."""
    text = OPENING.sub("", text)
    found = HOLDER.match(text)
    if found is None:
        believer = BELIEVER.match(text) if with_beliefs else None
        return believer["name"].strip() if believer else ""
    who = (found["source"] or found["group"] or found["name"]).strip()
    is_thing = found["name"] is not None and who.split()[0].lower() in NOBODY
    return "" if is_thing or len(who.split()) > LONGEST_HOLDER else who


SHORTEST_SIDE = 25
OTHER_SIDE = re.compile(r"[,;] (?:while|whereas|but|although|though|and|however,) (?=\w)")


def two_sides(text: str) -> tuple[str, str] | None:
    """A sentence that gives one view and then another: 'X argues …, while others …'."""
    for found in OTHER_SIDE.finditer(text):
        first, second = text[: found.start()], text[found.end() :]
        second = f"{second[:1].upper()}{second[1:]}"
        is_long = min(len(first), len(second)) >= SHORTEST_SIDE
        if is_long and holder_in(first) and holder_in(second, with_beliefs=True):
            return f"{first}.", second
    return None


OPPOSING = re.compile(
    r"^(?:However|But|In contrast|By contrast|On the other hand|Conversely|Others?|Critics|Opponents|S[ck]eptics)\b"
    rf"|^[^,;]{{0,60}}?\b(?:{OPPOSED}|question){ENDING}"
)


def is_opposing(text: str) -> bool:
    """Whether a view begins as one that stands against the one before it."""
    return OPPOSING.search(text) is not None


DEBATE = r"(?:debate|dispute|controversy|disagreement)"
DISPUTED = re.compile(
    r"\b(?:is|are|remains?|has been|have been|continues? to be)\s+(?:\w+\s+){0,2}?"
    r"(?:controversial|disputed|debated|contested|contentious|"
    rf"(?:a|the)\s+(?:matter|subject|source|topic)\s+of\s+(?:\w+\s+){{0,2}}?{DEBATE})\b|"
    r"\b(?:no|little)\s+(?:\w+\s+)?consensus\b|"
    rf"\bthere\s+(?:is|are|has been|remains)\s+(?:\w+\s+){{0,2}}?{DEBATE}|"
    rf"\b{PEOPLE}\s+(?:still\s+)?(?:disagree|differ|debate)\b",
    re.IGNORECASE,
)


def calls_disputed(text: str) -> bool:
    """Whether a sentence calls something disputed today."""
    return DISPUTED.search(text) is not None


def is_view(text: str) -> bool:
    """Whether a sentence gives a view or calls something disputed; 'According to' alone only names a source."""
    return calls_disputed(text) or not text.startswith("According to ")
