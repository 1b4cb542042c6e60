"""The labelled sentences: they are where their rows say, and they are counted as their page says."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from evals import labelled
from evals.labelled import (
    CLASSES,
    LABELS,
    NOTHING_TO_NAME,
    SUBJECTS,
    SUBJECTS_HELD,
    SUBJECTS_REREAD,
    TYPES,
    TYPES_HELD,
    TYPES_REREAD,
    LabelledSentence,
    Row,
    load_rows,
    load_sentences,
)

from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.zim import book_writer

PROSE = ("paragraph", "item", "quote")
NOWHERE = Path("no such book.zim")
FILES = (TYPES, SUBJECTS, TYPES_HELD, SUBJECTS_HELD)
HELD = {TYPES_HELD, SUBJECTS_HELD}

every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
files_of_types = pytest.mark.parametrize("file", [TYPES, TYPES_HELD], ids=lambda file: file.stem)
files_of_subjects = pytest.mark.parametrize("file", [SUBJECTS, SUBJECTS_HELD], ids=lambda file: file.stem)


@pytest.fixture(scope="module", autouse=True)
def _sample_is_copied() -> Iterator[None]:
    """The sample book is not built anew for every file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelled, "build_sample", book_writer.build_sample)
        yield


@functools.cache
def all_sentences(file: Path, schools: Path) -> list[LabelledSentence]:
    """The sentences of a file, whose pages several tests look at."""
    return list(load_sentences(file, schools=schools))


def documented(name: str, file: Path) -> tuple[int, int, int]:
    """Rows in all, of the schools book and of the sample book, as the page's table for the file's set has them."""
    page = (LABELS / "README.md").read_text(encoding="utf-8")
    first, _, second = page.partition("\n## The second set\n")
    table = second if file in HELD else first
    found = re.search(rf"^\| {name} \| (\d+) \| (\d+) \| (\d+) \| ", table, re.MULTILINE)
    assert found, f"the page has no counts of {name!r}"
    return int(found[1]), int(found[2]), int(found[3])


def counted(found: list[Row]) -> tuple[int, int, int]:
    books = Counter(row.book for row in found)
    return len(found), books["schools"], books["sample"]


def place(row: Row) -> tuple[str, str, int]:
    return row.book, row.path, row.start


def words(row: Row) -> tuple[object, ...]:
    return *place(row), row.end, row.sha, row.pronoun, row.p_start, row.p_end


def reread(first: Path, second: Path) -> list[tuple[Row, Row]]:
    """The rows that both annotators labelled, checked to be those with the smallest hashes, about the same words."""
    again = {row.sha: row for row in load_rows(second)}
    chosen = sorted(load_rows(first), key=lambda row: row.sha)[: len(again)]
    assert [words(row) for row in chosen] == [words(again[row.sha]) for row in chosen]
    return [(row, again[row.sha]) for row in chosen]


def agreement(same: int, accepted: int, pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    """The cells of the page's table: rows, same, accepted and Cohen's kappa."""
    total = len(pairs)
    seen = sum(first == second for first, second in pairs) / total
    ones, others = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    by_chance = sum(ones[label] * others[label] for label in ones) / total**2
    return str(total), str(same), str(accepted), f"{(seen - by_chance) / (1 - by_chance):.2f}"


def stated(what: str) -> tuple[str, ...]:
    page = (LABELS / "README.md").read_text(encoding="utf-8").partition("\n## Agreement\n")[2]
    found = re.search(rf"^\| {what} \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert found, f"the page states no agreement on {what!r}"
    return found.groups()


def sentence_end(page: PageDoc, start: int) -> int:
    """Where the sentence of prose that starts here ends; -1 where none does."""
    block = next((block for block in page.blocks if block.start <= start < block.end), None)
    if block is None or block.kind not in PROSE or start not in page.sentences:
        return -1
    following = page.sentences[bisect_right(page.sentences, start) :]
    end = min([*following[:1], block.end])
    return start + len(page.text[start:end].rstrip())


def misplaced(found: list[LabelledSentence]) -> list[tuple[str, int]]:
    return [(one.row.path, one.start) for one in found if sentence_end(one.page, one.start) != one.end]


@every_file
def test_sentences_of_the_sample_book_are_in_their_places(file: Path) -> None:
    """Each row of the sample book names a whole sentence of prose with its hash; without the other book it is all."""
    found = list(load_sentences(file, schools=NOWHERE))
    assert [one.row for one in found] == [row for row in load_rows(file) if row.book == "sample"]
    assert misplaced(found) == []


@every_file
def test_sentences_of_the_schools_book_are_in_their_places(file: Path, shared_data: Path) -> None:
    """Each row, in its order, names a whole sentence of prose with its hash, of 30 to 350 characters."""
    found = all_sentences(file, shared_data / "zims" / "schools-2007.zim")
    assert [one.row for one in found] == load_rows(file)
    assert misplaced(found) == []
    assert all(30 <= len(one.text) <= 350 for one in found)


@files_of_subjects
def test_pronouns_are_in_their_places(file: Path, shared_data: Path) -> None:
    """The words to be replaced are at their offsets, inside the sentence."""
    for one in all_sentences(file, shared_data / "zims" / "schools-2007.zim"):
        assert one.page.text[one.row.p_start : one.row.p_end] == one.row.pronoun
        assert one.start <= one.row.p_start < one.row.p_end <= one.end


def test_a_sentence_that_moved_is_an_error(tmp_path: Path) -> None:
    """A row that points at other words is refused with the page's name, not measured."""
    line = next(line for line in TYPES.read_text(encoding="utf-8").splitlines() if '"sample"' in line)
    moved = tmp_path / "moved.jsonl"
    moved.write_text(re.sub(r'"start": \d+', '"start": 3', line), encoding="utf-8")
    with pytest.raises(QuoteNotFound, match="no longer has its labelled sentence at 3"):
        list(load_sentences(moved, schools=NOWHERE))


@files_of_types
def test_types_are_counted_as_documented(file: Path) -> None:
    """Every row has a class of the table, other classes beside it, and the table counts them."""
    found = load_rows(file)
    for row in found:
        assert {row.label, *row.also} <= set(CLASSES)
        assert row.label not in row.also
        assert row.draw in ("plain", "hinted")
    assert {name: counted([row for row in found if row.label == name]) for name in CLASSES} == {
        name: documented(name, file) for name in CLASSES
    }


@pytest.mark.parametrize(
    ("file", "plain"),
    [(TYPES, {"schools": 143, "sample": 57}), (TYPES_HELD, {"schools": 60, "sample": 20})],
    ids=["first set", "second set"],
)
def test_plain_rows_are_counted_as_documented(file: Path, plain: dict[str, int]) -> None:
    """The rows that no expression chose are as many of each book as the page says."""
    assert Counter(row.book for row in load_rows(file) if row.draw == "plain") == plain


def test_both_passes_agree_as_documented() -> None:
    """Of eighty rows labelled twice, 72 got the same label, and the others one that was accepted."""
    twice = [row.passes for row in load_rows(TYPES) if row.passes]
    assert (len(twice), sum(first == second for first, second in twice)) == (80, 72)
    assert all(row.accepts(label) for row in load_rows(TYPES) for label in row.passes)


@files_of_subjects
def test_subjects_are_counted_as_documented(file: Path) -> None:
    """A row has a name or a reason why there is none, and the table counts them."""
    found = load_rows(file)
    assert all(bool(row.stands_for) != bool(row.why) for row in found)
    assert not any(row.accept for row in found if row.why)
    named = {why or "named": counted([row for row in found if row.why == why]) for why in ("", *NOTHING_TO_NAME)}
    assert named == {why: documented(why, file) for why in named}
    assert sum(total for total, _, _ in named.values()) == len(found)


@every_file
def test_no_sentence_is_labelled_twice(file: Path) -> None:
    """A place occurs once, and rows are ordered by book, path and offset."""
    places = [place(row) for row in load_rows(file)]
    assert places == sorted(set(places))


def test_the_second_set_is_new() -> None:
    """No sentence of the second set is in the first, in either file, so nothing was tuned on it."""
    first = {place(row) for file in (TYPES, SUBJECTS) for row in load_rows(file)}
    assert not first & {place(row) for file in (TYPES_HELD, SUBJECTS_HELD) for row in load_rows(file)}


def test_each_class_of_the_second_set_can_be_measured() -> None:
    """The second set has ten rows or more of each class, and 55 or more with a name."""
    labels = Counter(row.label for row in load_rows(TYPES_HELD))
    assert min(labels[name] for name in CLASSES) >= 10
    assert sum(bool(row.stands_for) for row in load_rows(SUBJECTS_HELD)) >= 55


def test_annotators_agree_on_types_as_documented() -> None:
    """Two annotators gave 80 rows the labels whose agreement the page states."""
    both = reread(TYPES, TYPES_REREAD)
    same = sum(first.label == second.label for first, second in both)
    accepted = sum(first.accepts(second.label) for first, second in both)
    assert all({row.label, *row.also} <= set(CLASSES) for row in load_rows(TYPES_REREAD))
    assert agreement(same, accepted, [(first.label, second.label) for first, second in both]) == stated("types")


def test_annotators_agree_on_subjects_as_documented() -> None:
    """Two annotators gave 40 rows the names whose agreement the page states."""
    both = reread(SUBJECTS, SUBJECTS_REREAD)
    kinds = [(first.why or "named", second.why or "named") for first, second in both]
    same_kind = [pair for pair, (first, second) in zip(both, kinds, strict=True) if first == second]
    same = sum(replace(first, accept=()).is_named_by(second.stands_for) for first, second in same_kind)
    accepted = sum(first.is_named_by(second.stands_for) for first, second in same_kind)
    assert agreement(same, accepted, kinds) == stated("subjects")


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Niger River", True),
        ("The Niger River", True),
        ("the niger river's", True),
        ("Niger", True),
        ("Nigeria", False),
        ("", False),
    ],
)
def test_names_are_compared_without_article_and_ending(answer: str, right: bool) -> None:
    """Case, a leading article and a possessive ending do not make an answer wrong; other words do."""
    row = Row("sample", "Niger_River", 0, 1, "", stands_for="the Niger River", accept=("Niger",))
    assert row.is_named_by(answer) is right
