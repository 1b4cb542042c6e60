"""The phrases of kinship, and the rules for 'son of', 'born to' and 'wife of' in a sentence about the page's person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.clauses import Clause
from kiwiresearch.kin.extract.lexicon import CAP, FamilyWords, Span, regex
from kiwiresearch.kin.extract.name_lists import BRACKET, FoundName, couple_after, name_after, names_after
from kiwiresearch.kin.extract.pronouns import governing_word
from kiwiresearch.kin.extract.subject import PageSubject
from kiwiresearch.kin.names import sex_of_name
from kiwiresearch.kin.tree import FieldName

NUMBERS = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty|"
    r"several|many|\d{1,2})"
)
ADJECTIVE = (
    rf"(?:first|second|third|fourth|fifth|sixth|seventh|eldest|oldest|elder|older|younger|youngest|only|"
    rf"twin|late|future|beloved|"
    rf"own|new|full|maternal|surviving|legitimate|illegitimate|natural|adopted|adoptive|infant|baby|teenage|widowed|then|"
    rf"former|other|another|"
    rf"{NUMBERS}|half|step|foster|paternal|dear|devoted|pregnant|famous|young|little|favou?rite|more|"
    rf"further|known|sole|[\w\-]+-(?:year|month|week|day)-old|of (?:his|her) )"
)
CHILD_OF = regex.compile(
    r"(?<![\w\-])(?P<kind>(?i:son|daughter|child|sons|daughters|children))\b"
    r"(?:\s+(?:born|and heir|and namesake))?(?:\s+\([^()]*\))?\s+(?:of|to)\s+"
    r"(?:\d+-year-old\s+|parents\s+)?"
)
CHILD_CUE = regex.compile(r"(?<![\w\-])(?:sons?|daughters?|child|children|born)\b[^.;]*\b(?:of|to)\b|\bparents\b")
BORN_TO = regex.compile(
    r"\bborn\b(?P<gap>(?:[^.;:()]|\([^()]*\)|(?<=\d):(?=\d)|\b[ap]\.m\.|(?<=\bSt)\.){0,170}?)\bto\s+"
    r"(?:(?:an?\s+)?(?:[\p{L}\-]+\s+){0,3}(?:parents|couple),?\s+(?:the\s+(?=\p{Ll}))?)?"
)
WHERE = regex.compile(
    r"(?!.*\band\s+\p{Ll}|.*\b\p{Ll}+ed\b)(?:[^()]{0,130}|(?:\P{Ll}|\b\p{Lu}[\p{L}\-]*|\([^()]*\)|"
    r"\b(?:in|at|on|near|the|of|an?|and|or|about|into|village|town|city|province|county|district|family|then|now|part|di|"
    r"working-class)\b)*)"
)
"""Where and when somebody was born, between 'born' and 'to'."""
ROLE_OF = regex.compile(
    r"(?<![\w\-])(?P<kind>wife|husband|widow|consort|queen consort|father|mother|brother|sister|"
    r"half[ \-]brother|half[ \-]sister)\s+(?:of|to)\s+"
)
ROLE_FIELDS: dict[str, FieldName] = {
    "wife": "spouse", "husband": "spouse", "widow": "spouse", "consort": "spouse", "queen consort": "spouse",
    "father": "child", "mother": "child", "brother": "sibling", "sister": "sibling",
    "half-brother": "sibling", "half-sister": "sibling",
}  # fmt: skip
ROLE_SEX = {
    "wife": "female", "widow": "female", "queen consort": "female", "mother": "female", "sister": "female",
    "half-sister": "female", "husband": "male", "father": "male", "brother": "male", "half-brother": "male",
    "son": "male", "sons": "male", "daughter": "female", "daughters": "female",
}  # fmt: skip
BLOCKS = regex.compile(
    r"\b(?:married|marry|marrying|wife|husband|widow|mother|father|brother|sister|succeeded|whom|who|whose|"
    r"met|niece|nephew|cousin|"
    r"friend|lover|mistress|with|against|not|never|claimed|rival|named after|like|another|named|engaged|"
    r"betrothed|appointed|that|which|whether|surrogate|honorary|spiritual|announced|falsely|pretended|"
    r"daughter|son|uncles?|aunts?|cousins|friends|brothers|sisters|grandson|granddaughter|tutor|tutored|"
    r"taught|served|under|between|killed|defeated|by|did|pronounced|declared|called|styled|"
    r"proclaimed|considered|regarded|believed|said|other|handful|among|supposedly|descendant|descended|"
    r"visited|about(?!\s+\d)|plays?|played|"
    r"entrusted|given|taken|playing|portray\w*|starr\w*|role|character|transformed|demigod|goddess|god|disguised)\b",
    regex.IGNORECASE,
)
OWNED = regex.compile(
    rf"\s+(?:[a-z\-]+\s+and\s+(?=[a-z\-]+\s+(?:wife|husband|son|daughter|child|brother|sister)\b))?"
    rf"(?:{ADJECTIVE}[,\s]+){{0,3}}"
    r"(?:(?!spiritual|alleged|supposed|fictional|unborn|would-be|late|with|and|to|of)"
    r"(?:\p{Ll}{4,14}|\p{Lu}\p{Ll}+(?:an|ian|ese|ish|ch))\s+)?"
    r"(?:half-|step-?|foster )?(?P<kind>father|mother|parents|wife|husband|sons?|daughters?|children|child|"
    r"brothers?|sisters?|widow|consort|siblings)"
    r"(?!-|\w|['’]s)(?:\s+(?:and\s+(?:heir|successor|namesake|co-ruler)|to (?:reach|survive)\s+\p{Ll}+))?"
)
OWNED_FIELDS: dict[str, FieldName] = {
    "father": "father", "mother": "mother", "parents": "parent", "wife": "spouse", "husband": "spouse",
    "widow": "spouse", "consort": "spouse", "son": "child",
    "sons": "child", "daughter": "child",
    "daughters": "child", "children": "child", "child": "child", "brother": "sibling", "brothers": "sibling",
    "sister": "sibling", "sisters": "sibling", "siblings": "sibling",
}  # fmt: skip
LINKS = regex.compile(
    r"(?:,\s+(?:who|an?|from|daughter|son)\b[^,;.]{1,60},|\s*\([^()]*\)|,)?\s+(?:was|were|is|are|being|included|include)\s+"
    r"(?:named\s+|called\s+|also named\s+|known as\s+|the former\s+|(?:his|her)\s+namesake,?\s+)?|"
    r",\s+(?:born|née|nee)\s+(?=\p{Lu})|"
    r",(?:[^,;.]{1,30},)?\s+also (?:named|called)\s+|,?\s+(?:whom they\s+)?(?:named|called|including)\s+|"
    r",\s+(?:the\s+(?:former\s+)?)?|\s*[:(]\s*|\s+"
)
CLOSED = regex.compile(r"\s*(?:[,.;:)(–—]|$|\b(?:and|was|were|in|on|at|from|who|had|died|born|to|as|of)\b)")
GOES_ON = regex.compile(r"\s+\p{Ll}{2}")
"""What may follow a name that surely is one: 'his daughter Eve Curie wrote'."""
MARRY = regex.compile(
    r"\b(?:re)?(?:married|marries|weds?|wedded)\b(?!\s+(?:life|couple|women|men|man|woman|into|with))"
)
HAD_MARRIAGE = regex.compile(
    r"\s+(?:had|contracted|entered(?:\s+into)?|made)\s+(?:an?|another)\s+(?:[\p{Ll}\-]+\s+){0,2}marriage\s+(?:to|with)\s+"
)
MARRIAGE_TO = regex.compile(
    r"\b(?:marriage|wedding|engagement and marriage)(?:,(?:[^,;.\p{Lu}]{1,30},)?)?(?:\s+was)?\s+(?:to|with)\s+"
)
ALLOWED_BEFORE = regex.compile(
    r"(?:\s|,|\b(?:who|was|had|then|later|also|secretly|first|finally|eventually|soon|again|subsequently|got|"
    r"remarried|met|and|has|had been|been|"
    r"once|is|in|on|about|around|c|his|her|the|of|at|age|year|same|following|next|aged|would|have|twice|"
    r"briefly|legally|himself|herself|"
    r"after|month|months|years|fell|love|became|engaged|to|January|February|March|April|May|June|July|"
    r"August|September|October|"
    r"November|December|ceremony|private|returned|moved|there|he|she|when|where|himself|courted|\d+(?:st|"
    r"nd|rd|th)?)\b)*"
)
AFTER_MARRY = regex.compile(
    r"(?:\s+(?:for\s+)?(?:an?|the)\s+(?:second|third|fourth)\s+time)?"
    r"(?:\s+(?:to|again|secondly|firstly|first|second|twice|thirdly|off|fourthly)\b,?)*"
    r"(?:,?\s+(?:on|"
    r"in)\s+(?:\p{Lu}\p{Ll}+\s+)?\d{1,4}(?:,?\s+(?:\p{Lu}\p{Ll}+,?\s+)?\d{4})?,?(?=\s))?(?:\s*,?\s*(?:firstly|secondly|first|second)?\s*(?:to)?)"
)
MARRIED_THERE = regex.compile(
    r",[^,;]{1,60},\s+to\s+(?=\p{Lu}|an?\s)|"
    r"\s+(?:in|at|by|through)\s(?:(?!\bto\b)[^;.()]){1,50}?\s+to\s+(?=\p{Lu}|an?\s|the\s|(?:his|her)\s)"
)
"""'was married at Aue to': where and how, before whom."""
HAD = regex.compile(
    r"\b(?:had|have|having|bore|bearing|raised|adopted(?!\s+(?:sons?|daughters?|child))|fathered|produced|has|"
    r"gave birth to|survived by|leaving|left|paternity of|(?:father|mother|parents?) of(?=\s+(?:an?|\d+|\p{Ll}+)\s))\b"
)
CHILD_BLOCKS = regex.compile(r"\b(?:who|whose|whom|married|brother|sister|nephew|niece|cousin)\b|\b(?:step-?)?grand")
CHILDREN = regex.compile(
    rf"(?<![\w\-'’])(?:(?:an?|one|another|the|their|a number of|{NUMBERS})\s+)"
    rf"(?:(?:{ADJECTIVE}|[a-z]{{3,12}}ed|and|or)[,\s]+){{0,4}}"
    r"(?P<kind>sons?|daughters?|child|children|girls?|boys?)\b(?!-)"
)
CHILD_LINK = regex.compile(
    r"(?!\s+who\b|\s+whose\b)(?:[^.;:()\p{Lu}]|(?<=\b(?:in|at|from)\s)\p{Lu}){0,60}"
    r"(?:\([^()]*\))?[^.;:()\p{Lu}]{0,30}:\s*(?:(?:sons|daughters|twins)\s+)?|"
    r"(?:(?!\bwho|\bmarried\b)[^.;:()\p{Lu}]){0,60}(?:\([^()]*\))?(?:,(?!\s+who)[^.;:()\p{Lu}]{0,50})?,?\s+including\s+|"
    r",\s*\(\s*(?=\p{Lu})|"
    r",?\s+(?:but\s+|of whom\s+)?only\s+\w+\s+(?:of whom\s+)?(?:survived|lived|reached)\b[^,:;.()]{0,40}:\s*|"
    r"(?:(?:\s+who\s+(?:lived|survived|reached|grew)\b[^,;:.()]{0,40})?"
    r"(?:\s+(?:together|in all|(?:with|by) (?:her|him|this marriage|(?:his|her) \w+(?: wife|"
    r" husband)?,?(?: \p{Lu}[\p{L} ]{1,30})?|\p{Lu}[\p{L} ]{1,30})))?"
    r"(?:\s+out of wedlock)?\s*[,:;–—]\s*"
    r"(?:(?:[a-z]+ (?:sons?|daughters?|girls?|boys?) and [a-z]+ (?:sons?|daughters?|girls?|"
    r"boys?))\s*[:,]\s*)?(?:who were |(?:also )?named |called |including |twins |(?:sons|daughters) )?|"
    r",?\s*\(\s*(?!\p{Lu}[\p{L}\-]+,?\s+\d{4})|\s+(?:named|called|-)\s+|\s+(?=\p{Lu}))"
)
SIBLINGS = regex.compile(
    rf"(?<![\w\-'’])(?:an?|one|another|{NUMBERS})\s+(?:{ADJECTIVE}[,\s]+){{0,3}}(?:half-)?(?P<kind>brothers?|sisters?|siblings?)\b(?!-)"
)
AND_KIN = regex.compile(
    rf"(?:,?\s+and\s+|,\s+(?=(?:{ADJECTIVE}\s+)+\p{{Ll}}+\s+\p{{Lu}}))(?:{ADJECTIVE}\s+){{0,2}}"
    r"(?P<kind>father|mother|wife|husband|sons?|daughters?|children|brothers?|sisters?)"
    r"(?!-|\w|['’]s)"
)
"""'his brother Ned and sister Ann': the second has the same owner."""
COORDINATED = regex.compile(
    r"(?!\s*,?\s*and\b)(?!.*\b(?:who|whom|whose|which|that|when|while|because|as|since|until|if|but|though|although|"
    r"where|how|why|she|he|they|it|I|(?:his|her|their) (?:[\w\-]+ )?(?:sons?|daughters?|brothers?|sisters?|father|"
    r"mother|nephew|niece|friend|cousin)(?!['’]))\b)[^;:–—()]{0,200}?,?\s+and\s+(?:[\p{Ll}]+ly\s+|then\s+|later\s+|soon\s+|"
    r"together\s+|in \d{4},?\s+)?"
)
"""'left Aue for Dorn and': what follows is told of whoever the words before are told of."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relative that a sentence names, and the words that say so: from the subject to the name."""

    field: FieldName
    name: Span
    quote: Span
    rule: str


def _governed(text: str, clause: Clause, anchor: Span, *, joint: bool) -> bool:
    """'He studied with Alexander': the subject is not what the sentence is about there."""
    word = governing_word(text, clause.start, anchor.start)
    return bool(word) and not (joint and word == "and")


def words_since_subject(text: str, clause: Clause, at: int, *, joint: bool = False) -> tuple[Span, str] | None:
    """The last mention of the subject before, and the words in between without brackets."""
    before = [
        anchor for anchor in clause.anchors if anchor.end <= at and not _governed(text, clause, anchor, joint=joint)
    ]
    if not before:
        return None
    return before[-1], regex.sub(r"\([^()]*\)", " ", text[before[-1].end : at])


def _free(between: str) -> bool:
    """Whether nothing between the subject and the cue can be what the cue belongs to."""
    if BLOCKS.search(between):
        return False
    return (
        not regex.search(
            rf"(?<!\b(?:in|at|near|from|of|on|to|the|,) ){CAP}(?:\s+{CAP})*,\s*(?:(?:the|an?|"
            rf"then)\s+)?(?:[\w\-]+\s+){{0,3}}$",
            between,
        )
        or bool(regex.search(r"\d{3,4}\)?,\s*(?:\w+\s+){0,5}$", between))
        or _behind_place(between)
    )


def _behind_place(between: str) -> bool:
    """'was born in Denison, Texas, the third of seven sons born to': what stands before is a place."""
    return bool(regex.search(rf"\bborn\b[^.;]*\b(?:in|at|near)\s+(?:the\s+)?{CAP}[^.;]*$", between))


def read_child_of(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'was the son of A and B'."""
    for found in CHILD_OF.finditer(text, clause.start, clause.end):
        kind = found["kind"].lower()
        if kind in ("son", "daughter") and subject.sex and ROLE_SEX[kind] != subject.sex:
            continue
        if found["kind"] != kind and found.start() > clause.start:
            continue  # 'the Son of'
        between = words_since_subject(text, clause, found.start())
        start = between[0].start if between else clause.start
        if between and OF_RELATIVE.match(text, clause.start, between[0].start):
            continue  # 'His grandfather, Earl Carter, was the second son of'
        if between and regex.match(r"\s+and\s+(?:the|an?)\s", between[1]):
            continue  # 'Wren and the son of Charles I'
        if between:
            between = between[0], ALSO_A_SON.sub("", between[1])
        if between and STYLED.search(between[1]):
            continue
        if between and regex.search(r"\bhad\b.*\b(?:sons|daughters|children)\b", between[1]):
            continue  # 'had two sons, Ned, the son of Ann's brother'
        one_of = regex.search(r"\b(?:of|among)\s+(?:[\w\-]+\s+){0,4}$", text[clause.start : found.start()])
        if kind in ("sons", "daughters", "children") and not one_of:
            continue  # 'his uncles Henry and Thomas, sons of'
        if between and (
            not _free(ASIDE.sub(" ", between[1])) or "(" in between[1] or _is_namesake(text, clause, *between)
        ):
            continue
        parents = couple_after(text, found.end(), clause.end, words)
        if not parents or (not between and not _opens(text, clause, found.start(), parents[-1].span.end)):
            continue
        yield from parent_relations(
            text, parents, Span(start, parents[-1].span.end), "'son of' or 'daughter of' said of the subject"
        )


ALSO_A_SON = regex.compile(r"\b(?:son|daughter)\s+and\s+(?=(?:the\s+)?(?:[\w\-]+\s+){1,4}(?:children\s*)?$)")
"""'was the first son and the second of six children'."""
OF_RELATIVE = regex.compile(
    r"(?:His|Her|The)\s+(?:[\p{Ll}\-]+\s+){0,3}?(?:grand\p{Ll}+|uncle|cousin|father|brother)\b[^;]*$"
)
STYLED = regex.compile(r"\b(?:style|title|rank|status|privileges|manner)\s+(?:of|as)\s+(?:\w+\s+)*$")
"""'the style of a son of the sovereign'."""
ASIDE = regex.compile(r"^\s*,[^;]*,(?=\s+(?:was|is)\s+(?:the|an?)\s+(?:[\w\-]+\s+){0,3}$)")
"""'Nobel, a descendant of Olaus Rudbeck, was the third …': what stands between the commas."""


def _is_namesake(text: str, clause: Clause, anchor: Span, between: str) -> bool:
    """'the painter Johann Sebastian, son of': who is told apart by a trade and a father is somebody else."""
    told = regex.search(r"\b(?:the|an?|his|her|their)\s+(?:[\p{Ll}\-]+\s+){1,3}$", text[clause.start : anchor.start])
    return bool(told) and between.lstrip().startswith(",")


def _opens(text: str, clause: Clause, cue: int, end: int) -> bool:
    """'The son of A and B, Lincoln was': the subject comes after."""
    head = text[clause.start : cue]
    opened = regex.fullmatch(
        rf"(?:As |Born )?(?:[Tt]he|[Aa]n?|[Oo]nly|[Oo]ne of(?: the)?)?\s*(?:(?:{ADJECTIVE}|of)[,\s]+)*", head
    )
    after = [anchor for anchor in clause.anchors if anchor.start >= end]
    after = [anchor for anchor in after if not regex.search(r"\bn[ée]e\s+$", text[end : anchor.start])]
    return bool(opened and after and regex.fullmatch(r"(?:[^;.]{0,80},)?\s*", text[end : after[0].start]))


def read_born_to(text: str, clause: Clause, _: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'was born to A and B'."""
    for found in BORN_TO.finditer(text, clause.start, clause.end):
        gap = ALSO_A_SON.sub("", BRACKET.sub(" ", found["gap"]))
        if len(gap) > 70 and regex.search(r"(?:^|\s)\p{Ll}[\p{Ll}\-]*\s+$", gap):
            continue  # 'on the day of the dedication of an altar to'
        between = words_since_subject(text, clause, found.start())
        if not between or BLOCKS.search(between[1]) or BLOCKS.search(gap) or not WHERE.fullmatch(gap):
            continue
        if regex.search(CAP, between[1]) and not regex.search(r"\b(?:in|at|on)\b", between[1]):
            continue
        parents = couple_after(text, found.end(), clause.end, words)
        if parents:
            yield from parent_relations(
                text, parents, Span(between[0].start, parents[-1].span.end), "'born to' said of the subject"
            )


def parent_relations(text: str, parents: list[FoundName], said: Span, rule: str) -> Iterator[Relation]:
    """Which of two is the father: names and titles tell, or 'and his wife'."""
    sexes = [sex_of_name(text[one.span.start : one.span.end]) for one in parents]
    if len(parents) == 2 and parents[1].role in ("wife", "husband"):
        sexes = ["male", "female"] if parents[1].role == "wife" else ["female", "male"]
    if len(parents) == 2:
        opposite = {"male": "female", "female": "male", "": ""}
        sexes = [sexes[0] or opposite[sexes[1]], sexes[1] or opposite[sexes[0]]]  # type: ignore[list-item]
        if sexes[0] == sexes[1]:
            sexes = ["", ""]
    for one, sex in zip(parents, sexes, strict=True):
        field: FieldName = "father" if sex == "male" else "mother" if sex == "female" else "parent"
        yield Relation(field, one.span, Span(said.start, max(one.span.end, min(said.end, one.span.end))), rule)


def read_role_of(text: str, clause: Clause, subject: PageSubject, words: FamilyWords) -> Iterator[Relation]:
    """'was the wife of King Stephen', 'the father of'."""
    for found in ROLE_OF.finditer(text, clause.start, clause.end):
        kind = found["kind"].replace(" b", "-b").replace(" s", "-s")
        if subject.sex and ROLE_SEX.get(kind, subject.sex) != subject.sex:
            continue
        between = words_since_subject(text, clause, found.start())
        if between:
            between = between[0], regex.sub(r"\b(?:was|is)\s+the\s+[^;]*,\s+and\s+(?=the\s+$)", "was ", between[1])
        if between and KNOWN_AS.search(between[1]):
            continue  # 'is known as the father of Aue'
        if not between or not _free(between[1]) or not regex.search(r"\b(?:was|is|became|,)|,", between[1]):
            continue
        if kind in ("father", "mother", "brother", "sister") and regex.search(
            r"\ban?\s+(?!(?:elder|older|younger|full|twin)\s)(?:\w+\s+)?$", between[1]
        ):
            continue  # 'a brother of the order'
        if OF_ANOTHER.search(between[1]) and not _behind_place(between[1]):
            continue
        names = names_after(text, found.end(), clause.end, words) if ROLE_FIELDS[kind] != "spouse" else []
        if ROLE_FIELDS[kind] != "child" and len(names) < 2:
            names = [name_after(text, found.end(), clause.end, words, described=True)]
        for name in names:
            if name:
                yield Relation(
                    ROLE_FIELDS[kind],
                    name.span,
                    Span(between[0].start, name.span.end),
                    f"{kind!r} of, said of the subject",
                )


KNOWN_AS = regex.compile(r"\b(?:known|called|hailed|nicknamed|dubbed|regarded|considered)\b[^,;]*\bas?\s+(?:the\s+)?$")
OF_ANOTHER = regex.compile(rf"\b(?:of|by|with|to|from|for)\s+{CAP}[^;]*,\s*(?:the\s+)?(?:[\w\-]+\s+){{0,2}}$")
"""'gained the support of the Duke of Aue, brother of': whose brother he is, the last name tells."""
