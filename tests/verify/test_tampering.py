"""Tampering: whatever is changed in whatever file of a run, it is noticed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.verify.verified_runs import a_finished_run, changed, compared, failure_texts, forged

from kiwiresearch.brief.brief import brief_from_record
from kiwiresearch.brief.report import brief_document
from kiwiresearch.claims.claim import claim_from_record, claim_record
from kiwiresearch.document.markdown import markdown
from kiwiresearch.ids import canonical_json
from kiwiresearch.verify.run import verify_run
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim.shelf import Shelf

FILES = (
    "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json", "manifest.json", "report.html", "report.md", "run.log",
    "timings.json",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_finished_run(tmp_path_factory.mktemp("law"))


@pytest.fixture(scope="module")
def workspace(run: Path) -> Workspace:
    return open_workspace({"KIWIRESEARCH_HOME": str(run.parent / "home")})


@pytest.fixture(scope="module")
def shelf(run: Path, workspace: Workspace) -> Shelf:
    """The run's book, opened once for all proofs."""
    return shelf_of(workspace, [str(run.parent / "road.zim")])


def test_the_run_passes_before_anything_is_changed(run: Path, shelf: Shelf, workspace: Workspace) -> None:
    """Nothing fails in a run as it was written, and it has something of everything."""
    found = verify_run(run, shelf, workspace)
    assert failure_texts(found) == []
    assert {file.name for file in run.iterdir()} == set(FILES)
    assert found.files == len(FILES)
    assert found.proof.repeated == FILES[:-1]
    assert min(found.pages, found.claims, found.quotes, found.statements) > 3


@given(data=st.data())
@settings(max_examples=60)
def test_one_character_anywhere_is_noticed(run: Path, shelf: Shelf, workspace: Workspace, data: st.DataObject) -> None:
    """A character replaced, put in or taken out, in any file of the run, makes the proof fail."""
    file = run / data.draw(st.sampled_from(FILES))
    text = file.read_text(encoding="utf-8")
    at = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.sampled_from(["", *'a0 9\n"{.é']) | st.characters(codec="utf-8"))
    kept = at if data.draw(st.booleans()) else at + 1  # put in before the character, or in its place
    other = text[:at] + new + text[kept:]
    if other == text:
        return
    with changed(file, other.encode("utf-8")):
        assert not verify_run(run, shelf, workspace).holds


@given(data=st.data())
@settings(max_examples=12)
def test_any_bytes_instead_of_a_file_are_noticed(
    run: Path, shelf: Shelf, workspace: Workspace, data: st.DataObject
) -> None:
    """A file that is cut, empty, or of other bytes fails with words, whatever they are."""
    file = run / data.draw(st.sampled_from(FILES))
    whole = file.read_bytes()
    cut = st.integers(0, len(whole) - 1).map(lambda end: whole[:end])
    odd = st.sampled_from([b"", b"\0" * 50, b"null", b"[]", b"{}", b"[" * 9_000, b'{"outputs":{}}', b"\xff\xfe"])
    with changed(file, data.draw(cut | odd | st.binary(max_size=60))):
        assert not verify_run(run, shelf, workspace).holds


def lines_of(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / name).read_bytes().splitlines()]


def as_lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join((canonical_json(row) + "\n").encode() for row in rows)


def other_digit(text: str, number: int) -> str:
    """The text with another digit in the place of its n-th."""
    place = [found.start() for found in re.finditer(r"\d", text)][number]
    return f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}"


def other_letter(text: str, number: int) -> str:
    """The text with another letter in the place of its n-th: of a name if it is a capital."""
    place = [found.start() for found in re.finditer(r"[A-Za-z]", text)][number]
    new = "x" if text[place] != "x" else "y"
    return f"{text[:place]}{new.upper() if text[place].isupper() else new}{text[place + 1 :]}"


def spots(text: str, pattern: str) -> int:
    return len(re.findall(pattern, text))


Forgery = Callable[[str, int], str]


@given(data=st.data())
@settings(max_examples=15)
@pytest.mark.parametrize(("forgery", "pattern"), [(other_digit, r"\d"), (other_letter, "[A-Za-z]")])
def test_a_forged_claim_is_noticed(
    run: Path, shelf: Shelf, forgery: Forgery, pattern: str, data: st.DataObject
) -> None:
    """A digit or letter changed in a claim or its quotes, with its id and all hashes adapted, fails with the book."""
    rows = lines_of(run, "claims.jsonl")
    numbers = [n for n, row in enumerate(rows) if spots(row["claim"], pattern)]
    row = rows[data.draw(st.sampled_from(numbers))]
    number = data.draw(st.integers(0, spots(row["claim"], pattern) - 1))
    in_quotes = data.draw(st.sampled_from(["claim", "quote", "both"]))
    quote = row["support_snippets"][0]
    if in_quotes != "claim" and number < spots(quote, pattern):
        row["support_snippets"][0] = forgery(quote, number)
    if in_quotes != "quote" or number >= spots(quote, pattern):
        row["claim"] = forgery(row["claim"], number)
    mended = claim_record(claim_from_record(row))
    rows = [mended if one is row else one for one in rows]
    with forged(run, "claims.jsonl", as_lines(rows)):
        assert any("claims.jsonl" in line for line in failure_texts(compared(run, shelf)))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("claim_type", "causal"), ("subject", "Somewhere"), ("scope", "Nowhere"), ("section", "Other"),
        ("anchor", "Other"), ("page_title", "Ostrawa"), ("book_name", "another"), ("topic_tags", ["war"]),
        ("names", ["Ostrawa"]), ("hedging", []), ("also", ["quote"]), ("dates", []), ("measures", []),
        ("headings", ["Other"]), ("depends_on", "subject"), ("name_put_in", "before"),
        ("origin", "model"), ("confidence_terms", [{"signal": "a sentence of the page", "points": 3.0}]),
        ("evidence_signals", {"citation_needed": False, "disputed": False, "page_references": 99, "references": 9,
                              "section_references": 9, "stub": False}),
    ],
)  # fmt: skip
def test_a_forged_field_of_a_claim_is_noticed(run: Path, shelf: Shelf, key: str, value: Any) -> None:
    """What is said about a claim is proved as well as its words: the page gives each field again."""
    rows = lines_of(run, "claims.jsonl")
    number = next(n for n, row in enumerate(rows) if row[key] not in (value, [], "") and row["section"] != "infobox")
    row = rows[number] | {key: value}
    row["section_heading"] = row["section"]
    rows[number] = claim_record(claim_from_record(row))
    with forged(run, "claims.jsonl", as_lines(rows)):
        assert any(line.startswith("claims.jsonl") for line in failure_texts(compared(run, shelf)))


def test_a_claim_that_was_left_out_or_put_in_is_noticed(run: Path, shelf: Shelf) -> None:
    """A claim that is missing, repeated, or of a page that the corpus does not have is reported."""
    rows = lines_of(run, "claims.jsonl")
    with forged(run, "claims.jsonl", as_lines(rows[1:])):
        assert any("is missing" in line for line in failure_texts(compared(run, shelf)))
    with forged(run, "claims.jsonl", as_lines([*rows, rows[0]])):
        assert not compared(run, shelf).holds
    strayed = claim_record(claim_from_record(rows[0] | {"path": "Elsewhere"}))
    with forged(run, "claims.jsonl", as_lines([*rows, strayed])):
        assert any("its page 'Elsewhere' is not in the corpus" in line for line in failure_texts(compared(run, shelf)))


@given(data=st.data())
@settings(max_examples=12)
@pytest.mark.parametrize(("forgery", "pattern"), [(other_digit, r"\d"), (other_letter, "[A-Za-z]")])
def test_a_forged_page_is_noticed(run: Path, shelf: Shelf, forgery: Forgery, pattern: str, data: st.DataObject) -> None:
    """A digit or letter of a page's text changed in the corpus, with all hashes adapted, fails with the book."""
    rows = lines_of(run, "corpus.jsonl")
    row = data.draw(st.sampled_from([row for row in rows if spots(row["plain_text"], pattern)]))
    number = data.draw(st.integers(0, spots(row["plain_text"], pattern) - 1))
    row["plain_text"] = forgery(row["plain_text"], number)
    with forged(run, "corpus.jsonl", as_lines(rows)):
        assert any(
            "plain_text" in line and "does not match the book" in line for line in failure_texts(compared(run, shelf))
        )


def strings_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to the texts of a record."""
    if isinstance(value, str):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, part in inner for one in strings_in(part, (*path, key))]


def at(record: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        record = record[key]
    return record


STATED = (
    "head", "summary", "body", "definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "claims",
    "context",
)  # fmt: skip


@given(data=st.data())
@settings(max_examples=15)
@pytest.mark.parametrize(("forgery", "pattern"), [(other_digit, r"\d"), (other_letter, "[A-Za-z]")])
def test_a_forged_brief_is_noticed(
    run: Path, shelf: Shelf, forgery: Forgery, pattern: str, data: st.DataObject
) -> None:
    """A digit or letter of the brief, with the report rendered from it and all hashes adapted, is reported."""
    record = json.loads((run / "brief.json").read_bytes())
    parts = {name: record[name] for name in STATED}
    paths = [path for path in strings_in(parts) if spots(at(parts, path), pattern) and not UNPROVED & set(path)]
    path = data.draw(st.sampled_from(paths))
    text = at(record, path)
    number = data.draw(st.integers(0, spots(text, pattern) - 1))
    at(record, path[:-1])[path[-1]] = forgery(text, number)
    content = (canonical_json(record, indent=1) + "\n").encode()
    try:
        rendered = markdown(brief_document(brief_from_record(record))).encode()
    except Exception:
        rendered = (run / "report.md").read_bytes()
    with forged(run, "brief.json", content), forged(run, "report.md", rendered):
        assert any(line.startswith("brief.json") for line in failure_texts(compared(run, shelf)))


UNPROVED = frozenset({"disagrees", "disagrees_message"})
"""Words of the program about a number and one of another page; only repeating the research proves them."""


@given(data=st.data())
@settings(max_examples=12)
def test_any_word_of_the_brief_is_proved(run: Path, shelf: Shelf, workspace: Workspace, data: st.DataObject) -> None:
    """A letter changed in any text of the brief, its keys included, with all hashes adapted, is noticed."""
    text = (run / "brief.json").read_text(encoding="utf-8")
    number = data.draw(st.integers(0, spots(text, "[A-Za-z]") - 1))
    with forged(run, "brief.json", other_letter(text, number).encode()):
        assert any(line.startswith("brief.json") for line in failure_texts(verify_run(run, shelf, workspace)))


@pytest.mark.parametrize("name", ["report.md", "report.html"])
@pytest.mark.parametrize("old", ["118 km", "Ostrava", "1390"])
def test_a_forged_report_is_noticed(run: Path, shelf: Shelf, name: str, old: str) -> None:
    """A report that does not say what the brief says is reported, though the manifest was adapted."""
    content = (run / name).read_text(encoding="utf-8")
    assert old in content
    with forged(run, name, content.replace(old, old[:-1] + "x", 1).encode()):
        (line,) = failure_texts(compared(run, shelf))
    assert re.match(rf"{re.escape(name)}, line \d+: it does not match brief\.json: ", line)
