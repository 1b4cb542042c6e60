"""docs/reference/run-files.md names every file of a run and every field in it."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from tests.runs.illustrated_runs import an_illustrated_run

from kiwiresearch.api import open_shelf
from kiwiresearch.brief.brief import (
    Brief,
    BriefPicture,
    BriefSource,
    BriefSources,
    Dispute,
    DisputeView,
    Figure,
    Gap,
    SourceBook,
    Statement,
    StatementGroup,
    TimelineMoment,
)
from kiwiresearch.brief.writer import RewriteCounts
from kiwiresearch.claims.proposals import ClaimRejection
from kiwiresearch.crawl.settings import CrawlSettings

DOCS = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (DOCS / "run-files.md").read_text(encoding="utf-8")


def part(heading: str) -> str:
    return PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]


def code_words(heading: str) -> set[str]:
    """The words set in code under a heading."""
    return set(re.findall(r"`([^`]+)`", part(heading)))


@pytest.fixture
def run(home: Path, sample_zim: Path, tmp_path: Path) -> Path:
    with open_shelf([sample_zim]) as shelf:
        return shelf.research("Bronze Age collapse", tmp_path / "run", settings=CrawlSettings(max_pages=4)).folder


@pytest.fixture(scope="module")
def illustrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over a book with pictures, which the other has not."""
    return an_illustrated_run(tmp_path_factory.mktemp("illustrated"))


def test_every_file_is_named(run: Path, illustrated: Path) -> None:
    """The table of files is what a run leaves behind, and what its readers may add (R24, R25, R27, R28, R154)."""
    listed = set(re.findall(r"^\| `([^`]+)` \|", PAGE.split("\n## ")[0], re.MULTILINE))
    made = listed - {".journal/", "notes.jsonl", "manifest.json.sig"}
    assert {file.name for file in illustrated.iterdir()} == made
    assert {file.name for file in run.iterdir()} == made - {"pictures.json"}


def test_every_field_of_the_corpus_is_named(run: Path) -> None:
    """Each field of a line is on this page or on the page record's (R25)."""
    row = json.loads((run / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[0])
    record = (DOCS / "page-record.md").read_text(encoding="utf-8")
    assert {key for key in row if f"`{key}`" not in record} == {"metadata"}
    assert set(row["metadata"]) <= code_words("corpus.jsonl")


def test_every_field_of_the_graph_is_named(run: Path) -> None:
    """Nodes and edges have the fields on the page, and no others (R27, R126, R127)."""
    graph = json.loads((run / "graph.json").read_text(encoding="utf-8"))
    fields = {*graph, *graph["nodes"][0], *graph["edges"][0]}
    assert fields <= code_words("graph.json")
    rows = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", part("graph.json"), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} <= fields


def test_every_field_of_the_manifest_and_the_timings_is_named(run: Path) -> None:
    """What the run was made from is documented to the last key."""
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert {*manifest, *manifest["books"][0], *manifest["understood"]} <= code_words("manifest.json")
    assert set(manifest["outputs"]["graph.json"]) <= code_words("manifest.json")
    timings = json.loads((run / "timings.json").read_text(encoding="utf-8"))
    assert set(timings) <= code_words("timings.json")
    assert {"claims_by_model", "sentences_by_model", *(part.name for part in fields(RewriteCounts))} <= code_words(
        "manifest.json"
    )


def test_every_field_of_the_brief_is_named(run: Path, illustrated: Path) -> None:
    """brief.json is documented down to its statements, and claims.jsonl is where the page says (R138)."""
    kinds = (
        Brief,
        Dispute,
        Figure,
        Gap,
        StatementGroup,
        TimelineMoment,
        BriefPicture,
        BriefSource,
        BriefSources,
        Statement,
        DisputeView,
        SourceBook,
    )
    named = {part.name for kind in kinds for part in fields(kind)} - {"difference"} | {"book", "disagrees"}
    assert named <= code_words("brief.json")
    brief, plain = (json.loads((one / "brief.json").read_text(encoding="utf-8")) for one in (illustrated, run))
    assert set(brief) == {part.name for part in fields(Brief)}
    assert set(plain) == set(brief) - {"pictures"}
    values = [
        get_type_hints(kind)[name] for kind, name in ((Statement, "sureness"), (Statement, "written"), (Gap, "kind"))
    ]
    assert {name for value in values for name in get_args(value)} <= code_words("brief.json")


def test_every_reason_to_drop_a_claim_is_named() -> None:
    """The reasons that run.log gives for what a model proposed in vain are listed, and no others."""
    reasons = {name for part in get_args(ClaimRejection) for name in get_args(part)}
    assert set(re.findall(r"`([^`]+)`", part("run.log").partition("The reasons are:")[2].partition("\n")[0])) == reasons
