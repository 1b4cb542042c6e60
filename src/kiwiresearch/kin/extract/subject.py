"""The person a page is about: the name, the sex, and how the text refers to the person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kiwiresearch.kin.extract.name_lists import TextSpan
from kiwiresearch.kin.language import ENGLISH, Match, Pattern, regex
from kiwiresearch.kin.names import name_words, parse_name, sex_of_name
from kiwiresearch.kin.tree import OPPOSITE_SEX, Sex
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold

OPENINGS = 14
"""How many blocks from the top the opening may be: boxes laid out as text can come first."""
# How far from its start a paragraph has to have the name, to be the opening.
NAME_WITHIN = 90
# How much of the article is read to count 'he' and 'she'.
PRONOUNS_WITHIN = 6_000
# ' (painter)' at the end of the title 'Tom Hay (painter)'.
QUALIFIED = regex.compile(r"\s*\([^()]*\)$")
SHORTEST = 20
# How far into the opening 'née', 'born' and 'known as' are looked for.
KNOWN_WITHIN = 260
# ' OBE, FRS' after 'Tom Hay', but not ' VIII' after 'Henry'.
POSTNOMINAL = regex.compile(r",?\s+(?![IVXL]+\b)\p{Lu}{2,}\b.*$")
# How many times as often as the other pronoun one has to occur.
DOMINANT = 2.0


class SentenceSpan(NamedTuple):
    """A sentence of the article, `text[start:end]`, with its block and section."""

    start: int
    end: int
    block: int
    kind: str
    section: int


@dataclass(frozen=True, slots=True)
class ArticlePerson:
    """The person of a page, and how its text refers to them."""

    name: str
    sex: Sex
    sex_from: TextSpan
    name_tokens: frozenset[str]
    mention_pattern: str
    """A pattern for the names the text uses for the person."""
    role_pattern: str
    """A pattern for 'the president's', if the lead calls the person one."""
    opening: TextSpan

    @property
    def mention(self) -> Pattern:
        return _compiled(self.mention_pattern)

    @property
    def role(self) -> Pattern:
        return _compiled(self.role_pattern)

    @property
    def opposite(self) -> Sex:
        return OPPOSITE_SEX[self.sex]

    def opposite_opens(self, text: str, at: int = 0) -> Match | None:
        """Match 'She' or 'Her' at an offset, on the page of a man."""
        pronoun = {"male": ENGLISH.opens_with_she, "female": ENGLISH.opens_with_he}.get(self.sex)
        return pronoun.match(text, at) if pronoun else None

    @property
    def pronoun(self) -> str:
        return {"male": "he", "female": "she"}.get(self.sex, "")

    @property
    def possessive(self) -> str:
        return {"male": "his", "female": "her"}.get(self.sex, "")


def subject_of(page: PageDoc) -> ArticlePerson:
    """The person, as far as the page is about one."""
    title = QUALIFIED.sub("", page.title).strip() or page.title
    opening = _opening(page, title)
    head = page.text[opening.start : opening.end]
    name = _written_name(head, title)
    parsed = parse_name(name)
    tokens = _tokens(title) | _tokens(f"{parsed.given[0]} {parsed.surname}" if parsed.given else name)
    tokens |= {fold(alias) for alias in _aliases(page, head)}
    sex, sex_from = _sex(page, opening, title)
    maiden = ENGLISH.maiden.search(head, 0, KNOWN_WITHIN)
    middle = sorted(regex.escape(word) for word in parsed.given[1:] if fold(word) not in tokens)
    called = _mention_pattern(tokens, title, name, maiden[1] if maiden else "", middle)
    return ArticlePerson(name, sex, sex_from, frozenset(tokens), called, _role_pattern(head), opening)


def _role_pattern(head: str) -> str:
    """What the first sentence calls the person, followed by an apostrophe."""
    described = ENGLISH.is_a.search(head)
    nouns = sorted(set(ENGLISH.noun.findall(described[0]))) if described else []
    # An empty alternative would match everything, '(?!)' matches nothing.
    return rf"\b[Tt]he (?i:{'|'.join(map(regex.escape, nouns)) or '(?!)'})['’]s"


def _aliases(page: PageDoc, head: str) -> Iterator[str]:
    """Other names the page uses often: a peer's title, a name at birth, half of a double name."""
    peer = ENGLISH.peerage.search(page.title) or ENGLISH.lordly.search(page.title)
    born = ENGLISH.born_as.search(head, 0, KNOWN_WITHIN)
    double = DOUBLE.search(page.title)
    called = ENGLISH.called_name.search(head, 0, KNOWN_WITHIN * 2)
    # A name that the page hardly uses may be a relative's.
    for found in (peer, born, double, called):
        if found and len(regex.findall(rf"(?<!-)\b{regex.escape(found[1])}\b", page.text)) >= OFTEN:
            yield found[1]


OFTEN = 5
# 'Bowles' in 'Parker-Bowles', as the text may use half of a double name.
DOUBLE = regex.compile(r"\p{L}-(\p{Lu}\p{Ll}{2,})\b(?!-)")


def sentences_of(page: PageDoc) -> Iterator[SentenceSpan]:
    """The sentences of the article's paragraphs and items, without headings, captions and boxes."""
    article = page.sections[-1].end
    starts = [start for start in page.sentences if start < article]
    at = section = 0
    for index, block in enumerate(page.blocks):
        if block.kind not in ("paragraph", "item") or block.start >= article:
            continue
        while section + 1 < len(page.sections) and page.sections[section + 1].heading_start <= block.start:
            section += 1
        while at < len(starts) and starts[at] < block.start:
            at += 1
        inside = []
        while at < len(starts) and starts[at] < block.end:
            inside.append(starts[at])
            at += 1
        for start, end in zip(inside, [*inside[1:], block.end], strict=True):
            stop = start + len(page.text[start:end].rstrip())
            if stop > start:
                yield SentenceSpan(start, stop, index, block.kind, section)


def _opening(page: PageDoc, title: str) -> TextSpan:
    """The paragraph that says who the person was."""
    wanted = _tokens(title)
    article = page.sections[-1].end
    paragraphs = [block for block in page.blocks if block.kind == "paragraph" and block.start < article]
    rows = [block for block in page.blocks if block.kind in ("item", "row") and block.start < article]
    found: list[TextSpan] = []
    for block in (*paragraphs[:OPENINGS], *rows[:OPENINGS]):
        text = page.text[block.start : block.end]
        named = wanted & {fold(word) for word in text[:NAME_WITHIN].split()} or _is_known_as(text, title)
        if len(text) >= SHORTEST and named and ENGLISH.lead_verb.search(text, 0, 700):
            found.append(TextSpan(block.start, block.end))
    # Of the first two, the one with dates in brackets: a page may open with a paragraph about the name or the title.
    dated = [span for span in found[:2] if ENGLISH.dated.match(page.text, span.start, span.end)]
    return (dated or found or [TextSpan(0, 0)])[0]


def _is_known_as(text: str, title: str) -> bool:
    """Whether the lead gives the title as the name that the person is known by."""
    at = text.find(title, 0, KNOWN_WITHIN)
    return at > 0 and bool(ENGLISH.known_by.search(text, 0, at))


def _written_name(head: str, title: str) -> str:
    """The name as the first sentence writes it, where that is a longer form of the title's."""
    found = regex.match(r"(?:[\p{L}\p{M}.'’\-]+[ ]?|[\"“]\p{Lu}[\p{L} ]*[\"”][ ]|,[ ](?=Jr|Sr)){1,8}", head)
    if not found:
        return title
    written = found[0].strip(" ,")
    cut = ENGLISH.lead_verb.search(written)
    written = written[: cut.start()].strip() if cut else written
    written = POSTNOMINAL.sub("", written) if not written.isupper() else written
    parsed = parse_name(written)
    known = _tokens(title)
    own = [fold(token) for token in (*parsed.given, *parsed.surname.split())]
    particles = name_words().particles
    is_name = (
        own
        and all(token[:1].isalpha() for token in own)
        and (known & set(own) or (len(own) > 1 and _is_known_as(head, title)))
        and all(word.lstrip('"“')[:1].isupper() or word in particles for word in written.split())
    )
    return written if is_name else title


def _tokens(name: str) -> set[str]:
    """The words of a name that the text may use for the person."""
    parsed = parse_name(name)
    own = [*parsed.given, *parsed.surname.split(), *parsed.patronymic.split()]
    particles = name_words().particles
    plain = {fold(word) for word in own}
    return {
        word for word in plain if len(word) > 1 and word not in particles and word not in ENGLISH.words["sure_months"]
    }


@lru_cache(maxsize=16)
def _compiled(called: str) -> Pattern:
    """Compiling takes milliseconds, so it is done on first use: most pages are not about a person."""
    compiled: Pattern = regex.compile(called)
    return compiled


def _mention_pattern(tokens: set[str], title: str, name: str, maiden: str, middle: list[str]) -> str:
    """A pattern for the person's name in the text, except as part of another person's longer name.

    Another number ('Henry IV'), 'the Elder', 'Jr.' or a further name after it means another person.
    """
    roman = next((word for word in f"{title} {name}".split() if regex.fullmatch(r"[IVXL]+", word)), "")
    words = sorted({word for word in regex.findall(r"[\p{L}\p{M}'’\-]+", title) if fold(word) in tokens})
    words += sorted({token.title() for token in tokens} - set(words))
    words += [title] if regex.fullmatch(r"(?:\p{Lu}\.\s?){2,4}", title) else []
    surname = parse_name(title).surname
    words = [surname, *words] if " " in surname else words
    # '(?!)' matches nothing, while an empty pattern would match everywhere.
    own = "|".join(map(regex.escape, words)) or regex.escape(title) or "(?!)"
    after = rf"(?:\s+{roman}\b)?" if roman else ""
    byname = parse_name(title).byname
    after += rf"(?:\s+{regex.escape(byname)}\b)?" if byname else ""
    after += rf"(?:\s+{regex.escape(maiden)}\b)?" if maiden else ""
    elder = "" if "the " in title.lower() else r"(?!,?\s+the\s+(?i:elder|younger)\b)"
    own_suffix = regex.search(r"\b(?:Jr|Sr)\b", f"{title} {name}")
    others = {"Jr": "Sr", "Sr": "Jr"}[own_suffix[0]] if own_suffix else "Jr|Sr"
    junior = rf"(?!,?\s+(?:{others})\b)"
    inner = "".join(f"{word}|" for word in middle)
    return (
        rf"(?<![\p{{L}}\-'’])(?:{ENGLISH.called_by.pattern}\s+)?(?:(?:D[aei]|V[ao]n|Del|Du)\s+)?(?:(?:{own}|"
        rf"{inner}\p{{Lu}}\.)\s+)*(?:{own}){after}(?!\s+[IVX]+\b)(?![\p{{L}}\-]){junior}{elder}"
        rf"(?!\s+(?:of\s+)?(?!{ENGLISH.month_or_suffix.pattern})\p{{Lu}}\p{{Ll}})(?!\s+(?:de|du|von|van)\s+(?!(?:{inner}{own})\b)\p{{Lu}}\p{{Ll}})"
    )


def _sex(page: PageDoc, opening: TextSpan, title: str) -> tuple[Sex, TextSpan]:
    """The sex that the pronouns imply, and the first sentence with one."""
    article = page.text[opening.start : min(opening.start + PRONOUNS_WITHIN, page.sections[-1].end)]
    he, she = len(ENGLISH.he_words.findall(article)), len(ENGLISH.she_words.findall(article))
    sex: Sex = ""
    # A page about a man may say 'she' of his wife, so a clear majority decides, or else the first lines.
    if he > DOMINANT * she:
        sex = "male"
    elif she > DOMINANT * he:
        sex = "female"
    else:
        first = article[:700]
        he, she = len(ENGLISH.he_words.findall(first)), len(ENGLISH.she_words.findall(first))
        sex = "male" if he > she else "female" if she > he else sex_of_name(title)
    if not sex:
        return "", TextSpan(0, 0)
    own = ENGLISH.he_words if sex == "male" else ENGLISH.she_words
    found = own.search(page.text, opening.start, max(opening.end, opening.start + 2_000))
    if not found:
        return sex, TextSpan(0, 0)
    start = max((s for s in page.sentences if s <= found.start()), default=found.start())
    end = min((s for s in page.sentences if s > found.start()), default=len(page.text))
    return sex, TextSpan(start, start + len(page.text[start:end].rstrip()))


def speaks_of_person(page: PageDoc, opening: TextSpan) -> bool:
    """Whether the first paragraphs say 'he' or 'she' more often than 'it'."""
    text = page.text[opening.start : opening.start + 2_500]
    persons = len(ENGLISH.he_words.findall(text)) + len(ENGLISH.she_words.findall(text))
    return persons >= 2 and persons > len(ENGLISH.it_words.findall(text))
