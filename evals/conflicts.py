"""Contradictions: are they found where two passages contradict each other, and only there?

There are four sets: passages of Wikipedia that people marked as contradicting each other; sentences around them, which
do not; real sentences and the same ones with one number, unit or date changed; and different real sentences of one page
or of two linked pages, which should not contradict each other.
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
"""The passages as they are, and with the subject written out; the figures are those of the worse form."""

PARTS, DEV_PARTS = 5, 3
"""The development rows, which were looked at while the rules were written, are three fifths, by a hash."""

ARTICLE_STEP = 31
SENTENCES_PER_PAGE = 8
"""Every n-th article is used, with at most this many of its sentences."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, and whether they contradict each other."""

    a: str
    b: str
    conflict: bool
    note: str = ""


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """All figures, or nothing where the data is missing."""
    if not ROWS.is_file() or not SCHOOLS.is_file():
        return None
    all_rows, dev_rows, test_rows = load_passages(), load_passages("dev"), load_passages("test")
    figures = {
        "contradict_number_or_date": min(_shares_found(row for row in all_rows if _differs_in_numbers(row)).values()),
        "contradict_all": min(_shares_found(all_rows).values()),
        "contradict_quiet": 1 - share_in_conflict(harmless_pairs(all_rows)),
    }
    changed, different = make_book_pairs()
    figures["injected_found"] = share_in_conflict(changed)
    figures["injected_quiet"] = 1 - share_in_conflict(different)
    unpinned = {}
    for name, rows in (("dev", dev_rows), ("test", test_rows)):
        unpinned[f"number_or_date_{name}"] = min(
            _shares_found(row for row in rows if _differs_in_numbers(row)).values()
        )
        unpinned[f"all_{name}"] = min(_shares_found(rows).values())
        unpinned[f"quiet_{name}"] = 1 - share_in_conflict(harmless_pairs(rows))
    return digest_of(ROWS, SCHOOLS), figures, unpinned


# Passages that people marked.


def load_passages(part: str = "") -> list[dict[str, str]]:
    """The rows of the set, or of one part of it."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if not part or _part(row["question"]) == part]


def _part(question: str) -> str:
    return "dev" if int(hashlib.sha256(question.encode()).hexdigest(), 16) % PARTS < DEV_PARTS else "test"


def _hash_below(text: str, sides: int) -> int:
    """A number below `sides` that depends on nothing but the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % sides


NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve fifth eleventh hundred thousand million"
MONTH_NAMES = "january february march april may june july august september october november december"
NUMBER = re.compile(r"\d+(?:[.,]\d+)*|\b(?:" + f"{NUMBER_WORDS} {MONTH_NAMES}".replace(" ", "|") + r")\b")


def _differs_in_numbers(row: dict[str, str]) -> bool:
    """Whether both answers have numbers or dates, and not the same ones."""
    first, second = (NUMBER.findall(row[f"answer{side}"].lower()) for side in "12")
    return bool(first and second and first != second)


def _shares_found(rows: Iterable[dict[str, str]]) -> dict[str, float]:
    rows = list(rows)
    return {form: share_in_conflict(Pair(*contexts(row, form), conflict=True) for row in rows) for form in FORMS}


def contexts(row: dict[str, str], form: str) -> tuple[str, str]:
    """Both passages of a row."""
    return row[f"context1{form}"], row[f"context2{form}"]


def share_in_conflict(pairs: Iterable[Pair]) -> float:
    """The share of pairs in which a contradiction is found."""
    in_conflict = [compare_texts(pair.a, pair.b).conflict for pair in pairs]
    return sum(in_conflict) / len(in_conflict) if in_conflict else 0.0


MIN_SHARED = 0.5
"""A sentence with this share of words in common with a sentence of a passage counts as that sentence."""


def harmless_pairs(rows: Iterable[dict[str, str]]) -> list[Pair]:
    """Pairs of sentences around the contradicting passages.

    The sentences may be of both texts or of one text, but not one of each passage: those may contradict each other.
    """
    found: dict[tuple[str, str], Pair] = {}
    for row in rows:
        texts = [_sentences(row[f"context{side}_info"]) for side in "12"]
        marked = [_sentences(row[f"context{side}"]) for side in "12"]
        pairs = [*product(*texts), *combinations(texts[0], 2), *combinations(texts[1], 2)]
        for a, b in pairs:
            if any(_resembles_one(a, x) and _resembles_one(b, y) for x, y in (marked, marked[::-1])):
                continue
            found.setdefault((a, b), Pair(a, b, conflict=False, note=row["question"]))
    return list(found.values())


def _sentences(text: str) -> list[str]:
    starts = sentence_starts(text)
    sentences = (text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True))
    return [sentence for sentence in sentences if len(sentence.split()) > 3]


def _resembles_one(sentence: str, others: list[str]) -> bool:
    words = set(re.findall(r"\w+", sentence.lower()))
    for other in others:
        other_words = set(re.findall(r"\w+", other.lower()))
        if len(words & other_words) >= MIN_SHARED * min(len(words), len(other_words)):
            return True
    return False


# Changed sentences of a real book.


def make_book_pairs() -> tuple[list[Pair], list[Pair]]:
    """Pairs of a sentence and its changed version, and pairs of different sentences of the same or a linked page."""
    changed: list[Pair] = []
    different: list[Pair] = []
    archive = LibzimArchive(SCHOOLS)
    for number, path in enumerate(archive.articles()):
        if number % ARTICLE_STEP:
            continue
        page = open_page(archive, path)
        sentences = sentences_with_numbers(page)
        changed += [pair for sentence in sentences if (pair := _changed_pair(sentence))]
        different += [Pair(a, b, conflict=False, note=path) for a, b in combinations(sentences, 2) if a != b]
        for linked in _linked_pages(page)[:1]:
            linked_sentences = sentences_with_numbers(open_page(archive, linked))
            different += [
                Pair(a, b, conflict=False, note=path) for a, b in product(sentences, linked_sentences) if a != b
            ]
    archive.close()
    return changed, different


def _linked_pages(page: PageDoc) -> list[str]:
    targets = sorted({link.target for link in page.links if link.in_text and link.target != page.ref.path})
    return sorted(targets, key=lambda target: _hash_below(f"{page.ref.path} {target}", 1 << 32))


SENTENCE_LENGTHS = range(40, 301)
NUMBER_IN_SENTENCE = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b")


def sentences_with_numbers(page: PageDoc) -> list[str]:
    """Some whole sentences with a number or a date from the paragraphs of a page."""
    sentences = []
    for block in page.blocks:
        if block.kind == "paragraph":
            text = page.text[block.start : block.end]
            sentences += [
                candidate
                for candidate in _sentences(text)
                if len(candidate) in SENTENCE_LENGTHS
                and NUMBER_IN_SENTENCE.search(candidate)
                and candidate[-1] in ".!?"
            ]
    sentences = sorted(set(sentences), key=lambda sentence: _hash_below(sentence, 1 << 32))
    return sentences[:SENTENCES_PER_PAGE]


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
OTHER_UNITS = {
    "kilometres": "miles", "km": "miles", "miles": "kilometres", "metres": "feet", "meters": "feet", "feet": "metres",
    "million": "billion", "billion": "million", "kg": "tonnes", "thousand": "million",
}  # fmt: skip
UNIT = re.compile(rf"(?<=\d )(?:{'|'.join(OTHER_UNITS)})\b(?! \()")
OTHER_WORDS = {
    "two": "four",
    "three": "five",
    "four": "seven",
    "five": "three",
    "six": "nine",
    "seven": "four",
    "eight": "six",
}
WORD = re.compile(rf"\b(?:{'|'.join(OTHER_WORDS)})(?= [a-z]+s\b)")


def _changed_pair(sentence: str) -> Pair | None:
    """The sentence and the same one with one number, unit or date changed; which one depends on the sentence."""
    changes = list(_possible_changes(sentence))
    if not changes:
        return None
    note, start, end, replacement = changes[_hash_below(sentence, len(changes))]
    return Pair(sentence, sentence[:start] + replacement + sentence[end:], conflict=True, note=note)


def _possible_changes(sentence: str) -> Iterator[tuple[str, int, int, str]]:
    number = _hash_below(sentence, 1 << 32)
    for found in YEAR.finditer(sentence):
        yield "year", *found.span(), str(int(found[0]) - 3 - number % 40)
    for found in MONTH.finditer(sentence):
        yield "month", *found.span(), MONTHS[(MONTHS.index(found[0]) + 2 + number % 8) % 12]
    for found in MEASURED.finditer(sentence):
        yield "number", *found.span(), _other_number(found[0], (1.3, 2, 0.5, 10)[number % 4])
    for found in UNIT.finditer(sentence):
        yield "unit", *found.span(), OTHER_UNITS[found[0]]
    for found in WORD.finditer(sentence):
        yield "word", *found.span(), OTHER_WORDS[found[0]]


def _other_number(written: str, factor: float) -> str:
    decimals = len(written.partition(".")[2])
    value = float(written.replace(",", ""))
    changed = max(round(value * factor, decimals), value + 1 if factor > 1 else 0)
    return f"{changed:,.{decimals}f}"
