"""Kinds of pages of a book, its "subjects" on screen: the first sentence of each page says that its thing is a city."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path

from kiwiresearch.atlas.atlas import Atlas, Recipe, book_language
from kiwiresearch.atlas.database import AtlasDatabase, ResultSlice, ResultWindow, save_query, select_page
from kiwiresearch.bulk import BookIdentity
from kiwiresearch.codec import toml_data
from kiwiresearch.text import two_letter_code

MAX_LEAD_CHARS = 500
MAX_TRIES = 3
"""How many verbs are tried: the first may belong to an aside."""
MAX_DEPTH = 3
"""How many nouns such as 'type of' are passed over."""
MIN_PAGES = 3
"""A noun is a subject if this many pages are one."""
MIN_OTHER_PAGES = 5
"""The same for nouns that belong to no area, among which more are not kinds of things."""
OTHER = "other"
AREAS = ("places", "people", "nature", "culture", "history", "science", "society", OTHER)
ROWS_AT_ONCE = 50_000

ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# Of "a city's 12-day fair,": "a", "city's", "12-day", "fair" and ",".
TOKEN = re.compile(r"[^\W\d_][\w'’-]*|[^\w\s]|\S+")
UNCHANGED = frozenset({"species", "series", "mathematics", "physics", "gas", "chess"})


@dataclass(frozen=True, slots=True)
class DefinitionRules:
    """How a language defines things."""

    verb: re.Pattern[str]
    is_noun_first: bool
    before: frozenset[str]
    stop: frozenset[str]
    participles: tuple[str, ...]
    general: frozenset[str]
    of: str
    never: frozenset[str]
    areas: dict[str, str]
    """The area of each noun that is a subject; any noun is one in a language without areas."""


@cache
def rules_for(language: str) -> DefinitionRules | None:
    """The rules of a language; None if it has none."""
    record = toml_data("kiwiresearch.atlas", "data/subjects.toml").get(two_letter_code(language))
    if record is None:
        return None
    areas = {noun: area for area, nouns in record.get("areas", {}).items() for noun in nouns}
    return DefinitionRules(
        re.compile(record["verb"]),
        record["noun"] == "first",
        frozenset(record["before"]),
        frozenset(record["stop"]),
        tuple(record["participles"]),
        frozenset(record["general"]),
        record["of"],
        frozenset(record["never"]),
        areas,
    )


def subject_of_lead(lead: str, rules: DefinitionRules) -> str:
    """The kind of thing that the first sentences of a page say it is; empty if they do not say it plainly."""
    text = lead[:MAX_LEAD_CHARS]
    for _ in range(3):  # asides within asides
        text = ASIDE.sub(" ", text)
    text = " ".join(text.split())
    for verb in islice(rules.verb.finditer(text), MAX_TRIES):
        noun = _noun(TOKEN.findall(text[verb.end() :]), rules)
        if noun and noun not in rules.never:
            return noun if noun in rules.areas or not rules.areas else ""
    return ""


def _noun(tokens: list[str], rules: DefinitionRules, depth: int = 0) -> str:
    start = 0
    while start < len(tokens) and (tokens[start].lower() in rules.before or tokens[start][0].isdigit()):
        start += 1
    phrase = _phrase(tokens[start:], rules)
    if not phrase:
        return ""
    noun = _singular(phrase[-1].lower()) if not rules.is_noun_first else phrase[0].lower()
    end = start + (1 if rules.is_noun_first else len(phrase))
    follows_of = end < len(tokens) and tokens[end].lower() == rules.of
    if noun in rules.general and follows_of and depth < MAX_DEPTH:
        return _noun(tokens[end + 1 :], rules, depth + 1)
    return noun if len(noun) > 2 and noun not in rules.general else ""


def _phrase(tokens: list[str], rules: DefinitionRules) -> list[str]:
    """The words up to the first that cannot belong to the noun."""
    phrase: list[str] = []
    for token, after in zip_longest(tokens, tokens[1:], fillvalue=""):
        word = token.lower()
        if not token[0].isalpha() or word in rules.stop:
            break
        # 'a planet orbiting the star', 'a toy used by children'; but 'a flying insect'.
        if phrase and word.endswith(rules.participles or ("\0",)) and after.lower() in rules.stop:
            break
        phrase.append(token)
    return phrase


def _singular(word: str) -> str:
    if word in UNCHANGED:
        return word
    if word.endswith("men"):
        return f"{word[:-3]}man"
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _make(database: AtlasDatabase, folder: Path, book: BookIdentity) -> None:
    """Write the subject of every article whose first sentence names one that enough others share."""
    database.execute("CREATE TABLE named (subject VARCHAR, area VARCHAR, path VARCHAR, title VARCHAR)")
    rows = _named_pages(database, book_language(book))
    while part := list(islice(rows, ROWS_AT_ONCE)):
        columns = [list(column) for column in zip(*part, strict=True)]
        database.execute("INSERT INTO named SELECT unnest(?), unnest(?), unnest(?), unnest(?)", columns)
    save_query(
        database,
        folder,
        "subjects",
        f"""SELECT subject, area, path, title FROM named
        QUALIFY count(*) OVER (PARTITION BY subject) >= if(area = '{OTHER}', {MIN_OTHER_PAGES}, {MIN_PAGES})
        ORDER BY subject, lower(title), path""",
    )


def _named_pages(database: AtlasDatabase, language: str) -> Iterator[tuple[str, str, str, str]]:
    rules = rules_for(language)
    if rules is None:
        return
    query = "SELECT path, title, lead FROM pages WHERE kind = 'article' ORDER BY entry"
    for path, title, lead in database.stream(query):
        subject = subject_of_lead(str(lead), rules)
        if subject:
            yield subject, rules.areas.get(subject, OTHER), path, title


SUBJECTS = Recipe("subjects", ("subjects",), ("pages",), _make)


@dataclass(frozen=True, slots=True)
class PageKind:
    """A kind of thing, and how many pages are about one."""

    name: str
    area: str
    pages: int


def page_kinds(atlas: Atlas) -> tuple[PageKind, ...]:
    """All subjects of a book, the largest first."""
    with atlas.database(files=atlas.files(SUBJECTS)) as database:
        query = "SELECT subject AS name, area, count(*) AS pages FROM subjects GROUP BY ALL ORDER BY pages DESC, name"
        return tuple(PageKind(*row) for row in database.stream(query))


def pages_of_kind(atlas: Atlas, subject: str, window: ResultWindow) -> ResultSlice:
    """The pages about one kind of thing, by title."""
    with atlas.database(files=atlas.files(SUBJECTS)) as database:
        chosen = [("subject = ?", [subject])]
        return select_page(database, "subjects", chosen, "lower(title), path", window, ("path", "title"))
