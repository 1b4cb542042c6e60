"""Contradictions: found where two passages contradict each other, and not seen where they do not.

Four sets. Passages of Wikipedia that people marked as contradicting; sentences
around them that do not; real sentences with one number, unit or date changed by
rule; and real sentences of one page or of two linked pages, which should agree.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

from evals.data import SHARED_DATA, digest_of
from kiwiresearch.claims.conflicts.comparison import compare_texts
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.sentences import sentence_starts
from kiwiresearch.zim.libzim import LibzimArchive

ROWS = SHARED_DATA / "claims" / "wikicontradict.jsonl"
SCHOOLS = SHARED_DATA / "zims" / "schools-2007.zim"
FORMS = ("", "_self_contained")
"""The passages as they stand, and with the subject written out: figures are those of the worse."""

PARTS, DEV_PARTS = 5, 3
"""By the hash of their questions three fifths of the rows were looked at while the rules were written."""

EVERY = 31
PER_PAGE = 8
"""Each n-th article, and at most so many of its sentences."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, and whether they should contradict each other."""

    a: str
    b: str
    conflict: bool
    note: str = ""


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    if not ROWS.is_file() or not SCHOOLS.is_file():
        return None
    every, dev, test = passages(), passages("dev"), passages("test")
    figures = {
        "contradict_number_or_date": min(_found(row for row in every if _of_numbers(row)).values()),
        "contradict_all": min(_found(every).values()),
        "contradict_quiet": 1 - alarms(quiet_pairs(every)),
    }
    changed, different = injected()
    figures["injected_found"] = alarms(changed)
    figures["injected_quiet"] = 1 - alarms(different)
    beside = {}
    for name, rows in (("dev", dev), ("test", test)):
        beside[f"number_or_date_{name}"] = min(_found(row for row in rows if _of_numbers(row)).values())
        beside[f"all_{name}"] = min(_found(rows).values())
        beside[f"quiet_{name}"] = 1 - alarms(quiet_pairs(rows))
    return digest_of(ROWS, SCHOOLS), figures, beside


# Passages that people marked.


def passages(part: str = "") -> list[dict[str, str]]:
    """The rows of the set, or of one part of it."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if not part or _part(row["question"]) == part]


def _part(question: str) -> str:
    return "dev" if int(hashlib.sha256(question.encode()).hexdigest(), 16) % PARTS < DEV_PARTS else "test"


def _draw(text: str, sides: int) -> int:
    """A number below `sides` that only the text decides."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % sides


NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve fifth eleventh hundred thousand million"
MONTH_NAMES = "january february march april may june july august september october november december"
FIGURES = re.compile(r"\d+(?:[.,]\d+)*|\b(?:" + f"{NUMBER_WORDS} {MONTH_NAMES}".replace(" ", "|") + r")\b")


def _of_numbers(row: dict[str, str]) -> bool:
    """Whether both answers hold figures or number words, and not the same."""
    one, other = (FIGURES.findall(row[f"answer{side}"].lower()) for side in "12")
    return bool(one and other and one != other)


def _found(rows: Iterable[dict[str, str]]) -> dict[str, float]:
    rows = list(rows)
    return {form: alarms(Pair(*contexts(row, form), conflict=True) for row in rows) for form in FORMS}


def contexts(row: dict[str, str], form: str) -> tuple[str, str]:
    """Both passages of a row."""
    return row[f"context1{form}"], row[f"context2{form}"]


def alarms(pairs: Iterable[Pair]) -> float:
    """The share of pairs in which a contradiction is seen."""
    seen = [compare_texts(pair.a, pair.b).conflict for pair in pairs]
    return sum(seen) / len(seen) if seen else 0.0


LIKE = 0.5
"""A sentence is one of the passage's if it shares so much of its words with one of them."""


def quiet_pairs(rows: Iterable[dict[str, str]]) -> list[Pair]:
    """Sentences around the contradicting ones.

    Each sentence of the first page's text with each of the second's, and all
    within one text, unless one is of the first passage and the other of the
    second: those two may be what contradicts.
    """
    found: dict[tuple[str, str], Pair] = {}
    for row in rows:
        texts = [_sentences(row[f"context{side}_info"]) for side in "12"]
        marked = [_sentences(row[f"context{side}"]) for side in "12"]
        pairs = [*product(*texts), *combinations(texts[0], 2), *combinations(texts[1], 2)]
        for a, b in pairs:
            if any(_one_of(a, x) and _one_of(b, y) for x, y in (marked, marked[::-1])):
                continue
            found.setdefault((a, b), Pair(a, b, conflict=False, note=row["question"]))
    return list(found.values())


def _sentences(text: str) -> list[str]:
    starts = sentence_starts(text)
    cut = (text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True))
    return [sentence for sentence in cut if len(sentence.split()) > 3]


def _one_of(sentence: str, others: list[str]) -> bool:
    mine = set(re.findall(r"\w+", sentence.lower()))
    for other in others:
        theirs = set(re.findall(r"\w+", other.lower()))
        if len(mine & theirs) >= LIKE * min(len(mine), len(theirs)):
            return True
    return False


# Changed sentences of a real book.


def injected() -> tuple[list[Pair], list[Pair]]:
    """Sentences against themselves with one thing changed, and different sentences of the same or a linked page."""
    changed: list[Pair] = []
    different: list[Pair] = []
    archive = LibzimArchive(SCHOOLS)
    for number, path in enumerate(archive.articles()):
        if number % EVERY:
            continue
        page = open_page(archive, path)
        mine = telling(page)
        changed += [pair for sentence in mine if (pair := _change(sentence))]
        different += [Pair(a, b, conflict=False, note=path) for a, b in combinations(mine, 2) if a != b]
        for linked in _linked(page)[:1]:
            others = telling(open_page(archive, linked))
            different += [Pair(a, b, conflict=False, note=path) for a, b in product(mine, others) if a != b]
    archive.close()
    return changed, different


def _linked(page: PageDoc) -> list[str]:
    targets = sorted({link.target for link in page.links if link.in_text and link.target != page.ref.path})
    return sorted(targets, key=lambda target: _draw(f"{page.ref.path} {target}", 1 << 32))


LENGTHS = range(40, 301)
TELLING = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b")


def telling(page: PageDoc) -> list[str]:
    """Some whole sentences of the page's paragraphs with a number or a date in them."""
    found = []
    for block in page.blocks:
        if block.kind == "paragraph":
            text = page.text[block.start : block.end]
            found += [s for s in _sentences(text) if len(s) in LENGTHS and TELLING.search(s) and s[-1] in ".!?"]
    found = sorted(set(found), key=lambda sentence: _draw(sentence, 1 << 32))
    return found[:PER_PAGE]


MONTHS = [name.capitalize() for name in MONTH_NAMES.split()]
YEAR = re.compile(
    r"(?<=\bin )(1[0-9]{3}|20[0-2][0-9])(?= |,|\.$|\))|(?<=(?:[a-z]y|er|ch|il|ne|st|\d,) )(1[0-9]{3}|20[0-2][0-9])\b"
)
MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})(?=,? \d{{4}}\b)")
MEASURED = re.compile(
    r"(?<![\w.,:/$£€–-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?= [a-z])"
    r"|(?<![\w.,:/–-])\d{1,3}(?:\.\d+)?(?= ?%| (?:percent|per cent|million|billion"
    r"|km|kilomet|met(?:re|er)|mile|feet|m\b|kg|years|people|species|islands|members|countries|states))"
)
UNITS = {
    "kilometres": "miles", "km": "miles", "miles": "kilometres", "metres": "feet", "meters": "feet", "feet": "metres",
    "million": "billion", "billion": "million", "kg": "tonnes", "thousand": "million",
}  # fmt: skip
UNIT = re.compile(rf"(?<=\d )(?:{'|'.join(UNITS)})\b(?! \()")
WORDS = {
    "two": "four",
    "three": "five",
    "four": "seven",
    "five": "three",
    "six": "nine",
    "seven": "four",
    "eight": "six",
}
WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})(?= [a-z]+s\b)")


def _change(sentence: str) -> Pair | None:
    """The sentence and itself with one number, unit or date changed: which one, the sentence decides."""
    choices = list(_changes(sentence))
    if not choices:
        return None
    note, start, end, new = choices[_draw(sentence, len(choices))]
    return Pair(sentence, sentence[:start] + new + sentence[end:], conflict=True, note=note)


def _changes(sentence: str) -> Iterator[tuple[str, int, int, str]]:
    draw = _draw(sentence, 1 << 32)
    for found in YEAR.finditer(sentence):
        yield "year", *found.span(), str(int(found[0]) - 3 - draw % 40)
    for found in MONTH.finditer(sentence):
        yield "month", *found.span(), MONTHS[(MONTHS.index(found[0]) + 2 + draw % 8) % 12]
    for found in MEASURED.finditer(sentence):
        yield "number", *found.span(), _other_number(found[0], (1.3, 2, 0.5, 10)[draw % 4])
    for found in UNIT.finditer(sentence):
        yield "unit", *found.span(), UNITS[found[0]]
    for found in WORD.finditer(sentence):
        yield "word", *found.span(), WORDS[found[0]]


def _other_number(written: str, factor: float) -> str:
    places = len(written.partition(".")[2])
    value = float(written.replace(",", ""))
    other = max(round(value * factor, places), value + 1 if factor > 1 else 0)
    return f"{other:,.{places}f}"


def misses(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, str]]:
    """For reading: pairs judged wrongly, and what was said of them."""
    for pair in pairs:
        outcome = compare_texts(pair.a, pair.b)
        if outcome.conflict != pair.conflict:
            yield pair, outcome.why
