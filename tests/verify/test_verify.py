"""Verifying a run: what is verified, how failures are reported, and what can be done without the book."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.verify.verified_runs import METADATA, a_finished_run, changed, compared, failure_texts, forged, proved

from kiwiresearch.api import open_shelf
from kiwiresearch.brief import draft
from kiwiresearch.brief.brief import (
    Brief,
    Dispute,
    DisputeView,
    Gap,
    QuoteContext,
    Statement,
    StatementGroup,
    TimelineMoment,
    ValueDifference,
    brief_from_record,
    brief_record,
)
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page as report_page
from kiwiresearch.claims.claim import Claim, ClaimId, claim_from_record, claim_record
from kiwiresearch.claims.conflicts.comparison import compare_texts
from kiwiresearch.claims.page_claims import claims_of_page
from kiwiresearch.claims.proposals import complete_claim
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.document.markdown import markdown
from kiwiresearch.errors import RunNotFound
from kiwiresearch.evidence import ground as quote_of
from kiwiresearch.ids import canonical_json
from kiwiresearch.messages.message import Message
from kiwiresearch.page.parser import page_from_text
from kiwiresearch.runs import run_files as files_module
from kiwiresearch.runs.manifest import seal_of, sealed
from kiwiresearch.runs.writer import RunWriter
from kiwiresearch.verify.claims import PageEvidence, RecordedClaim, verify_claims
from kiwiresearch.verify.ledger import JsonLine, Ledger, canonical_bytes
from kiwiresearch.verify.statements import is_part, verify_judgements, verify_statements
from kiwiresearch.zim.archive import Entry
from kiwiresearch.zim.book_writer import NewPage, write_book

OUTPUTS = ("brief.json", "claims.jsonl", "corpus.jsonl", "graph.json", "report.html", "report.md", "run.log")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_finished_run(tmp_path_factory.mktemp("verify"))


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A finished run with its book beside it, to be spoiled."""
    shutil.copytree(finished.parent, tmp_path / "place", ignore=shutil.ignore_patterns("state"))
    return tmp_path / "place" / "run"


def manifest(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    return found


def with_manifest(run: Path, **changes: Any) -> None:
    """A manifest that says something else, and is sealed for it."""
    text = canonical_json(sealed(manifest(run) | changes), indent=2) + "\n"
    (run / "manifest.json").write_text(text, encoding="utf-8")


def test_a_run_is_proved_from_its_book(run: Path) -> None:
    """Every page, claim, quote, statement and file of a run as it was written is proved (R138)."""
    found = proved(run)
    assert failure_texts(found) == []
    lines = (run / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    brief = json.loads((run / "brief.json").read_text(encoding="utf-8"))
    assert (found.pages, found.files) == (4, 9)
    assert found.claims == len(lines)
    assert found.quotes == sum(len(json.loads(line)["support_snippets"]) for line in lines)
    assert found.statements >= len(brief["summary"]) + len(brief["timeline"]) + len(brief["numbers"])
    assert found.holds
    assert re.fullmatch(r"\d+ quotes, \d+ claims, \d+ statements, 4 pages, 9 files", found.summary)


def test_a_program_can_ask_for_it(run: Path, home: Path) -> None:
    """`verify` of a shelf is the same proof, with the books of that shelf."""
    with open_shelf([run.parent / "road.zim"]) as shelf:
        assert shelf.verify(run).holds
        assert shelf.verify(str(run)) == shelf.verify(run)


def test_pages_are_read_as_often_as_for_the_research(run: Path, home: Path, tmp_path: Path) -> None:
    """Proving a run costs no more than making it: no page is read once more."""
    with open_shelf([run.parent / "road.zim"]) as shelf:
        (archive,) = shelf.archives()
        paths: list[str] = []
        before = archive.read

        def read(path: str) -> Entry:
            paths.append(path)
            return before(path)

        archive.read = read  # type: ignore[method-assign]
        assert shelf.verify(run).holds
        proving, paths = sorted(paths), []
        shelf.research("Salt road", tmp_path / "again", settings=CrawlSettings(fast=True))
    assert proving == sorted(paths)


@pytest.mark.parametrize("name", ["brief.json", "claims.jsonl", "timings.json"])
def test_a_missing_file_is_reported(run: Path, name: str) -> None:
    """A file that is gone, or a folder in its place, is one failure of that name."""
    (run / name).unlink()
    assert f"{name}: it is missing." in failure_texts(proved(run))
    (run / name).mkdir()
    assert f"{name}: it is not a file." in failure_texts(proved(run))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(run: Path) -> None:
    """A pipe in the place of a file ends nothing but its own proof."""
    (run / "brief.json").unlink()
    os.mkfifo(run / "brief.json")
    assert "brief.json: it is not a file." in failure_texts(proved(run))


def test_a_huge_file_is_not_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file larger than any of a run is reported by its size."""
    size = (run / "corpus.jsonl").stat().st_size
    monkeypatch.setattr(files_module, "MAX_BYTES", size - 1)
    assert f"corpus.jsonl: it has {size:,} bytes, which is more than any run writes." in failure_texts(proved(run))
    monkeypatch.setattr(files_module, "MAX_BYTES", 10)
    assert [line.partition(":")[0] for line in failure_texts(proved(run))] == ["manifest.json"]


def test_no_run_is_an_error(tmp_path: Path, run: Path) -> None:
    """If there is no finished run, there is nothing to prove: the error says what to do."""
    with pytest.raises(RunNotFound, match="was not found"):
        proved(run / "none", run.parent / "road.zim")
    (run / "manifest.json").unlink()
    with pytest.raises(RunNotFound, match="does not contain a run"):
        proved(run)
    with RunWriter.open(tmp_path / "begun", "f1", "Stone") as folder:
        folder.journal.append({"step": 1})
    with pytest.raises(RunNotFound, match="is not finished"):
        proved(tmp_path / "begun", run.parent / "road.zim")


BAD_FIELDS = [
    ("pages", 5), ("claims", "many"), ("topic", "Pepper road"), ("version", "0.0.1"), ("fingerprint", "sha256:0"),
    ("settings", {}), ("books", []), ("books", 7), ("books", [{"id": 3}]),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), BAD_FIELDS, ids=lambda value: str(value)[:20])
def test_a_manifest_is_proved_field_by_field(run: Path, field: str, value: Any) -> None:
    """A field that does not fit the others fails, though the manifest is sealed again."""
    with_manifest(run, **{field: value})
    assert any(line.startswith(("manifest.json", "brief.json")) for line in failure_texts(proved(run)))


def test_an_output_that_the_manifest_does_not_name_is_reported(run: Path) -> None:
    """A manifest cannot be silent about a file."""
    outputs = manifest(run)["outputs"]
    del outputs["claims.jsonl"]
    with_manifest(run, outputs=outputs)
    assert failure_texts(proved(run)) == ["manifest.json: it does not list the output 'claims.jsonl'."]


def test_without_the_book_the_rest_is_proved(run: Path) -> None:
    """A book that is not there is reported with what to do; files, ids and statements are proved without it."""
    other = run.parent / "other.zim"
    write_book(other, [NewPage("Sea", "Sea", b"<p>The sea.</p>")], metadata=METADATA | {"Name": "sea_en"})
    found = proved(run, other)
    (line,) = failure_texts(found)
    book = manifest(run)["books"][0]["id"]
    assert line == (
        f"manifest.json: the book 'Road book' ({book}) was not found. "
        "Add it with 'kiwiresearch books add' or give it with --book, then verify again."
    )
    assert (found.pages, found.quotes, found.claims, found.files) == (0, 0, 0, 9)
    assert found.statements > 10


def test_without_the_book_quotes_are_compared_with_the_corpus(run: Path) -> None:
    """A quote that the corpus does not have fails without the book too."""
    other = run.parent / "other.zim"
    write_book(other, [NewPage("Sea", "Sea", b"<p>The sea.</p>")], metadata=METADATA)
    rows = (run / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    row = json.loads(rows[0])
    row["spans"][0]["start"] += 1
    with forged(run, "claims.jsonl", "".join(f"{one}\n" for one in [canonical_json(row), *rows[1:]]).encode()):
        assert any(
            "claims.jsonl, line 1, " in line and "does not say" in line for line in failure_texts(proved(run, other))
        )


def test_another_edition_of_the_book_does_not_prove_the_run(run: Path) -> None:
    """The book is known by its UUID: one of the same name and title is another."""
    write_book(run.parent / "new.zim", [NewPage("Salt_road", "Salt road", b"<p>Salt.</p>")], metadata=METADATA)
    assert "was not found" in failure_texts(proved(run, run.parent / "new.zim"))[0]


def test_a_run_of_another_version_is_reported_as_such(run: Path) -> None:
    """Claims and quotes are proved; a report that this version would write otherwise says which version to use."""
    text = (run / "report.md").read_text(encoding="utf-8")
    with_manifest(run, version="0.0.1")
    (run / "report.md").write_text(text.replace("# ", "## ", 1), encoding="utf-8")
    lines = failure_texts(proved(run))
    assert any(line.endswith("kiwiresearch 0.0.1 wrote it, so verify it with that version.") for line in lines)
    assert not any(line.startswith(("claims.jsonl", "corpus.jsonl")) for line in lines)


def test_failures_say_where_and_what(run: Path) -> None:
    """A line names the file, the line in it, the claim, and both what is there and what should be."""
    rows = (run / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    number, row = next((n, json.loads(row)) for n, row in enumerate(rows, start=1) if "It was 118 km" in row)
    content = (run / "claims.jsonl").read_bytes().replace(b"It was 118 km", b"It was 119 km")
    with changed(run / "claims.jsonl", content):
        lines = failure_texts(proved(run))
    place = f"claims.jsonl, line {number}, {row['claim_id']}: "
    assert "claims.jsonl: it was changed: its SHA-256 does not match the manifest." in lines
    assert any(line.startswith(f"{place}the page does not say 'It was 119 km") for line in lines)
    assert all(line.count("\n") == 0 for line in lines)


def test_a_seal_is_over_everything_but_itself() -> None:
    """Sealing twice changes nothing, and every change breaks it."""
    record = sealed({"seconds": 1.5, "pages": [1, 2]})
    assert sealed(record) == record
    assert record["seal"] == seal_of({"pages": [1, 2], "seconds": 1.5})
    assert seal_of(record | {"seconds": 1.4}) != record["seal"] != seal_of(record | {"more": ""})


def test_a_model_may_add_tags_and_no_more(run: Path) -> None:
    """A rule's claim that a model found too keeps the rule's tags first; without a model it has no others."""
    page = page_from_text(TEXT, "Ostrava")
    (claim,) = claims_of_page(page, "road_en").claims
    more = replace(claim, tags=(*claim.tags, "fires"))
    ground = PageEvidence(page.text, page.title, "eng", "road_en", (), page, same_version=True)
    assert faults(claim, ground) == []
    assert faults(more, ground) == ["topic_tags does not match the page"]
    assert faults(more, replace(ground, with_model=True)) == []
    assert faults(replace(claim, tags=("fires",)), replace(ground, with_model=True)) != []


TEXT = "Ostrava was rebuilt within six years after the fire of 1512, which may have begun in a bakery."


def model_claim(text: str) -> tuple[Claim, PageEvidence]:
    page = page_from_text(TEXT, "Ostrava")
    quote = quote_of("rebuilt within six years after the fire of 1512", page)
    claim = complete_claim(page, text, "timeline", (quote,), section=0, book_name="road_en")
    claim = replace(claim, score=claim.score.plus("the model's own estimate", 0.3))
    return claim, PageEvidence(page.text, page.title, "eng", "road_en", (), page, same_version=True)


def faults(claim: Claim, ground: PageEvidence) -> list[str]:
    """What is wrong with a claim, apart from the rules' own claims, which are missing beside it."""
    ledger = Ledger()
    row = claim_record(claim)
    verify_claims([RecordedClaim(JsonLine(1, canonical_bytes(row), row), claim)], ground, ledger)
    return [failure.what for failure in ledger.result(Path()).failures if "is missing" not in failure.what]


def test_a_model_s_claim_is_proved_like_any_other() -> None:
    """Its facts must be in its quotes, and all but its words is what the page gives."""
    claim, ground = model_claim("Ostrava needed six years after the fire of 1512.")
    assert faults(claim, ground) == []
    assert faults(replace(claim, names=("Lubmin",)), ground) == ["names does not match the page"]
    assert faults(replace(claim, subject="Lubmin"), ground) == ["subject does not match the page"]
    invented, ground = model_claim("Lubmin needed seven years after the fire of 1513.")
    (what,) = faults(invented, ground)
    assert what.startswith("neither its quotes nor the title of the page contain ")
    assert all(word in what for word in ("'seven'", "'1513'", "'Lubmin'"))


def test_confidence_and_disagreements_are_recomputed(run: Path) -> None:
    """The confidence of a statement, and how two views disagree, must be what the rules say of their claims."""
    claims = [claim_from_record(json.loads(line)) for line in (run / "claims.jsonl").read_bytes().splitlines()]
    one, other = (next(claim for claim in claims if value in claim.text) for value in ("118 km long", "186 km long"))
    views = tuple(DisputeView("", Statement(claim.text, (claim.id,), "one source")) for claim in (one, other))
    outcome = compare_texts(one.text, other.text, "Salt road")
    assert outcome.disagreement
    dispute = Dispute(one.subject, views, ValueDifference(outcome.disagreement.kind, outcome.disagreement.why))
    brief = brief_from_record(json.loads((run / "brief.json").read_bytes()))
    brief = replace(brief, disputes=(dispute,), claims={claim.id: claim for claim in claims})

    def wrong(changed: Brief) -> list[str]:
        ledger = Ledger()
        verify_statements(changed, {}, ledger)
        verify_judgements(changed, claims, {}, ledger)
        return [failure.what for failure in ledger.result(run).failures]

    assert wrong(brief) == []
    kind = replace(dispute, difference=ValueDifference("different year", Message("one is newer")))
    assert wrong(replace(brief, disputes=(kind,))) == [
        "the views on 'Salt road' do not differ by 'different year: one is newer'"
    ]
    sure = replace(views[0], statement=replace(views[0].statement, sureness="well supported"))
    (what,) = wrong(replace(brief, disputes=(replace(dispute, views=(sure, views[1])),)))
    assert what == f"the statement {one.text!r} is not 'well supported'"
    (what,) = wrong(replace(brief, disputes=(replace(dispute, about="Pepper road"),)))
    assert what == "the dispute 'Pepper road' is not what its claims are about"
    (what,) = wrong(replace(brief, disputes=(replace(dispute, views=(replace(views[0], holder="Nobody"), views[1])),)))
    assert what == "none of its claims names 'Nobody', to whom a view is attributed"
    (what,) = wrong(replace(brief, disputes=(replace(dispute, views=(replace(views[0], cues=("may",)), views[1])),)))
    assert what == "none of its claims has the signal 'may'"


def test_a_model_s_sentence_is_proved_fact_by_fact(run: Path) -> None:
    """A sentence that a model wrote may have other words than its claims, but no other number, date or name (R138)."""
    brief = brief_from_record(json.loads((run / "brief.json").read_bytes()))
    first = brief.summary[0]

    def wrong(text: str) -> list[str]:
        ledger = Ledger()
        statement = replace(first, text=text, written="model")
        verify_statements(replace(brief, summary=(statement,)), {}, ledger)
        return [failure.what.partition("…' ")[2] or failure.what for failure in ledger.result(run).failures]

    words = first.text.split()
    assert wrong(" ".join(["Indeed,", words[0].lower(), *words[1:]])) == []
    assert any("'Pomerania'" in what for what in wrong(f"{first.text} Pomerania paid for it."))
    assert any("'77'" in what for what in wrong(f"{first.text} Of these, 77 were sold."))


def failures_with_brief(run: Path, brief: Brief) -> list[str]:
    """The failures of a run with another brief, apart from its research: reports and all hashes are adapted to it."""
    content = (canonical_json(brief_record(brief), indent=1) + "\n").encode()
    text, page = markdown(brief_document(brief)).encode(), report_page(brief).encode()
    with forged(run, "brief.json", content), forged(run, "report.md", text), forged(run, "report.html", page):
        return failure_texts(compared(run))


def brief_in(run: Path) -> Brief:
    return brief_from_record(json.loads((run / "brief.json").read_bytes()))


def test_the_context_of_a_quote_is_on_its_page(run: Path) -> None:
    """Other words than the page's, words from elsewhere on it, none at all and those of no claim fail (R138)."""
    brief = brief_in(run)
    one = next(claim for claim, found in brief.context.items() if found.before and found.after)
    before, after = brief.context[one].before, brief.context[one].after
    assert failures_with_brief(run, brief) == []

    def said(context: dict[ClaimId, QuoteContext]) -> list[str]:
        return [
            line.removeprefix(f"brief.json, {one}: ")
            for line in failures_with_brief(run, replace(brief, context=context))
        ]

    for wrong in (
        QuoteContext(before.replace("a", "e"), after),
        QuoteContext(before, f"{after} No more."),
        QuoteContext(f"{before} ", after),
        QuoteContext(after, before),
        QuoteContext("x" * 100_000, ""),
    ):
        (line,) = said(brief.context | {one: wrong})
        assert re.match(r"the page does not have .* before its quote and .* after it\.", line)
    cut = brief.context | {one: QuoteContext(before, "")}
    none = {claim: found for claim, found in brief.context.items() if claim != one}
    for context in (cut, none):
        assert said(context) == ["its context is not the text a run shows around its quote."]
    stray = brief.context | {ClaimId("sha256:0"): QuoteContext(before, after)}
    assert said(stray) == ["brief.json, sha256:0: this claim has a context but is missing."]


def lone(text: str) -> str:
    return f"brief.json: the statement {text!r} appears without the sentence before it."


LONG, OPENED = "It was 118 km long from end to end.", "It was opened in 1390 by Albert of Mecklen."


def test_a_sentence_that_refers_back_follows_its_predecessor(run: Path) -> None:
    """In the summary and in a part of the body, 'it' must follow the very sentence that it follows on its page."""
    brief = brief_in(run)
    first, long, opened, *rest = brief.summary
    assert (long.text, opened.text) == (LONG, OPENED)
    assert failures_with_brief(run, brief) == []
    assert (
        failures_with_brief(
            run, replace(brief, summary=tuple(rest), body=(StatementGroup("Salt road", (first, long, opened)),))
        )
        == []
    )
    wrong = [
        ((long, opened), [LONG]),  # its sentence is gone
        ((long, first, opened), [LONG, OPENED]),  # it comes before it
        ((first, opened), [OPENED]),  # one between the two is gone
        ((first, rest[0], long), [LONG]),  # another one came between them
    ]
    for statements, texts in wrong:
        assert failures_with_brief(run, replace(brief, summary=(*statements, rest[-1]))) == list(map(lone, texts))
        assert failures_with_brief(run, replace(brief, body=(StatementGroup("Salt road", statements),))) == list(
            map(lone, texts)
        )
    assert failures_with_brief(run, replace(brief, summary=(first,), body=(StatementGroup("Salt road", (long,)),))) == [
        lone(LONG)
    ]


def test_a_sentence_that_leans_has_no_place_in_a_list(run: Path) -> None:
    """Terms, explanations, people and moments must be complete alone, so none of them may need another sentence."""
    brief = brief_in(run)
    opened = brief.summary[2]
    (date,) = brief.claims[opened.claims[0]].dates
    group = StatementGroup("Salt road", (opened,))
    moment = TimelineMoment("1390", date.when.earliest, date.when.latest, opened)
    for changed_brief in (
        replace(brief, definitions=(*brief.definitions, group)),
        replace(brief, mechanisms=(*brief.mechanisms, group)),
        replace(brief, actors=(*brief.actors, group)),
        replace(brief, timeline=(*brief.timeline, moment)),
    ):
        assert failures_with_brief(run, changed_brief) == [lone(OPENED)]


def test_a_claim_named_behind_others_is_not_the_sentence_before(run: Path) -> None:
    """Only the claim whose words are there counts, whatever else the statement before is based on."""
    brief = brief_in(run)
    first, long, *_, last = brief.summary
    last = replace(last, claims=(*last.claims, *first.claims))
    assert lone(LONG) in failures_with_brief(run, replace(brief, summary=(last, long)))


def test_an_open_question_has_the_words_of_its_claim(run: Path) -> None:
    """An open question is a sentence of a page: with other words, or without a claim, it fails."""
    brief = brief_in(run)
    claim = brief.claims[brief.summary[0].claims[0]]
    assert failures_with_brief(run, replace(brief, gaps=(Gap("open", Message(claim.text), (claim.id,)),))) == []
    wrong = "brief.json: the gap 'Nobody knows why.' does not match the text of its claim."
    assert wrong in failures_with_brief(
        run, replace(brief, gaps=(Gap("open", Message("Nobody knows why."), (claim.id,)),))
    )
    assert wrong in failures_with_brief(run, replace(brief, gaps=(Gap("open", Message("Nobody knows why.")),)))


def test_a_pronoun_is_known_only_on_the_topic_s_own_page(run: Path) -> None:
    """A sentence that depends on the page's subject may be alone if the page is about the topic itself."""
    brief = brief_in(run)
    first, long, *_ = brief.summary
    leaning = replace(brief.claims[long.claims[0]], depends_on="subject")

    def wrong(changed: Brief) -> list[str]:
        ledger = Ledger()
        verify_statements(changed, {}, ledger)
        return [failure.what for failure in ledger.result(run).failures]

    alone = replace(
        brief,
        summary=(Statement(leaning.text, (leaning.id,), "one source"),),
        claims=brief.claims | {leaning.id: leaning},
    )
    assert wrong(alone) == []
    away = with_heads(alone, "Ostrava")
    assert wrong(away) == [f"the statement {LONG!r} appears without the sentence before it"]
    assert wrong(replace(away, summary=(first, *away.summary))) == []


def test_a_model_s_sentence_need_not_follow_another(run: Path) -> None:
    """It must be complete alone; a statement that needs the sentence before may follow it if it is based on that."""
    brief = brief_in(run)
    first, long, *_ = brief.summary
    claim = brief.claims[long.claims[0]]
    own = Statement("The Salt road was 118 km long.", long.claims, "one source", written="model")
    behind = replace(first, text=f"Indeed, {first.text[0].lower()}{first.text[1:]}", written="model")
    assert claim.depends_on == "previous"
    assert failures_with_brief(run, replace(brief, summary=(own,))) == []
    assert failures_with_brief(run, replace(brief, summary=(behind, long))) == []
    assert failures_with_brief(run, replace(brief, summary=(own, long))) == [lone(LONG)]


@pytest.mark.parametrize("headings", [["Other"], ["Trade", "Trade"], []])
def test_headings_are_proved_though_another_version_made_the_claims(run: Path, headings: list[str]) -> None:
    """The path of headings over a claim must be that of its page, with whatever rules it was found."""
    rows = [json.loads(line) for line in (run / "claims.jsonl").read_bytes().splitlines()]
    number = next(n for n, row in enumerate(rows) if row["headings"] == ["Trade"])
    rows[number] = claim_record(claim_from_record(rows[number] | {"headings": headings}))
    with_manifest(run, version="0.0.1")
    with forged(run, "claims.jsonl", "".join(f"{canonical_json(row)}\n" for row in rows).encode()):
        lines = [line for line in failure_texts(proved(run)) if line.startswith("claims.jsonl")]
    (line,) = lines
    assert line.endswith(f": its quote is under the headings 'Trade', not under {' › '.join(headings)!r}.")


def understood_as(run: Path, **changes: Any) -> list[str]:
    """The failures if both brief and manifest have another understanding of the topic, with all hashes adapted."""
    before = (run / "manifest.json").read_bytes()
    with_manifest(run, understood=manifest(run)["understood"] | changes)
    brief: dict[str, Any] = {
        name: tuple(value) if name == "senses" else value for name, value in changes.items() if name != "read_as"
    }
    try:
        return failures_with_brief(run, replace(brief_in(run), **brief))
    finally:
        (run / "manifest.json").write_bytes(before)


def with_heads(brief: Brief, *titles: str) -> Brief:
    """The brief with other pages that are about the thing itself."""
    pages = tuple(replace(source, is_head=source.title in titles) for source in brief.sources.pages)
    return replace(brief, sources=replace(brief.sources, pages=pages))


def test_how_the_topic_was_understood_is_in_the_manifest(run: Path) -> None:
    """A brief about something else, or with another aspect or other senses than the manifest says, fails."""
    (book,) = manifest(run)["books"]
    own = f"zim://{book['id']}/Salt_road"
    assert manifest(run)["understood"] == {
        "head": "Salt road", "aspect": "", "senses": [], "head_pages": [own], "read_as": ""
    }  # fmt: skip
    brief = brief_in(run)
    for wrong, line in (
        (replace(brief, head="Ostrava"), "its 'head' is 'Ostrava', but the manifest has 'Salt road'"),
        (replace(brief, aspect="Salt"), "its 'aspect' is 'Salt', but the manifest has ''"),
        (replace(brief, senses=("Lubmin",)), "its 'senses' is ['Lubmin'], but the manifest has []"),
        (with_heads(brief), f"its 'head_pages' is [], but the manifest has {[own]!r:.80}"),
    ):
        assert failures_with_brief(run, wrong) == [f"brief.json: {line}."]


def test_how_the_topic_was_understood_is_proved(run: Path) -> None:
    """The thing is a page of the books or in the topic, its side is in the topic, other senses are in the books."""
    assert understood_as(run, head="Ostrava") == []
    assert understood_as(run, head="road", aspect="Salt") == []
    assert understood_as(run, senses=["Lubmin"]) == []
    assert understood_as(run, head="Pepper", aspect="trade", read_as="Pepper trade") == []
    assert understood_as(run, head="Pepper road") == [
        "manifest.json: the topic is understood as 'Pepper road', "
        "which is neither a page of its books nor in the topic."
    ]
    assert understood_as(run, aspect="pepper") == [
        "manifest.json: the topic is understood with the aspect 'pepper', which is not in the topic."
    ]
    assert understood_as(run, senses=["Lubmin", "Pepper road"]) == [
        "manifest.json: the other sense 'Pepper road' is not a page of its books."
    ]


@pytest.mark.parametrize("value", [None, [], {}, {"head": 3, "aspect": None, "senses": 7, "read_as": []}])
def test_a_manifest_that_does_not_say_how_the_topic_was_understood_fails(run: Path, value: Any) -> None:
    """A field that is missing, as in runs of earlier versions, or of another form fails in words."""
    with_manifest(run, understood=value)
    assert any(line.startswith("manifest.json: ") and "understood" in line for line in failure_texts(proved(run)))


def test_a_topic_with_slips_is_proved(tmp_path: Path) -> None:
    """The words of the aspect may come from the topic as the search read it, which the manifest has."""
    run = a_finished_run(tmp_path, topic="Lubmni of the Salt road")
    understood = manifest(run)["understood"]
    assert (understood["head"], understood["aspect"]) == ("Salt road", "lubmin")
    assert understood["read_as"] == "lubmin of the salt road"
    assert failure_texts(proved(run)) == []


def test_the_side_that_the_user_named_is_the_brief_s(tmp_path: Path) -> None:
    """If the manifest has an aspect, the brief has the same, and no other one though the topic has it."""
    run = a_finished_run(tmp_path, aspect="trade")
    brief = brief_in(run)
    assert (manifest(run)["aspect"], brief.aspect, brief.head) == ("trade", "trade", "Salt road")
    assert failure_texts(proved(run)) == []
    for other in ("", "road", "war"):
        assert failures_with_brief(run, replace(brief, aspect=other)) == [
            f"brief.json: its 'aspect' is {other!r}, but the manifest has 'trade'."
        ]
        assert understood_as(run, aspect=other) == [
            f"manifest.json: the topic is understood with the aspect {other!r}, but 'trade' was requested."
        ]


def test_a_model_tears_no_sentence_from_the_one_it_leans_on(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its sentence takes away the one before, what depends on that goes too, and the brief can be proved."""
    monkeypatch.setattr(draft, "MIN_SUMMARY", 2)
    brief = brief_in(run)
    first, *_, last = brief.summary
    desk = draft.KeyedBrief(brief)
    text = "The Salt road was given up because cheaper salt was shipped from France, and not from Ostrava."
    line = draft.DraftLine(replace(last, text=text, claims=(*last.claims, *first.claims), written="model"), last)
    written = draft.assemble(desk, {"summary": (line,)})
    assert [one.text for one in written.summary] == [brief.summary[3].text, text]
    ledger = Ledger()
    verify_statements(written, {}, ledger)
    assert [one.what for one in ledger.result(run).failures] == []
    whole = draft.DraftLine(replace(line.statement, claims=(*first.claims, *last.claims)), first)
    written = draft.assemble(desk, {"summary": (whole,)})
    assert [one.text for one in written.summary] == [text, *(one.text for one in brief.summary[1:-1])]


@pytest.mark.parametrize(
    ("text", "claim", "expected"),
    [
        ("Iron is hard.", "The Environ is hardly known; iron is hard to melt", True),
        ("The comet", "The cometary nucleus is the comet's core.", True),
        ("The comet", "the cometary nucleus", False),
        ("", "Iron is hard", False),
    ],
)
def test_a_part_of_a_claim_may_come_after_a_word_that_begins_like_it(text: str, claim: str, expected: bool) -> None:
    """Every place of the words counts; the letters around one of them must not continue a word."""
    assert is_part(text, claim) is expected
