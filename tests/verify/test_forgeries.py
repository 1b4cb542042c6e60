"""Forged runs: somebody changes what a reader sees, and corrects every report, hash and seal that depends on it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.verify.verified_runs import (
    Record,
    a_finished_run,
    a_road_book,
    failure_texts,
    proved,
    record_in,
    with_inputs,
    write_brief,
    write_manifest,
)

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.verify.ledger import RunProof
from kiwiresearch.verify.run import verify_run
from kiwiresearch.version import __version__
from kiwiresearch.workspace import models
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.models import TitleIndexes
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.libzim import LibzimArchive

MADE = (
    "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json", "manifest.json", "report.html", "report.md", "run.log",
)  # fmt: skip
FALSE = "The road was paved with gold by Albert of Mecklen."
MORE = {
    "Salt road": "<p>It is not known who built the first bridge of the Salt road.</p>"
    "<p>The Salt road passes <a href='Mill'>the mill</a> and <a href='Nowhere'>Nowhere</a>.</p>",
    "Ostrava": "<p>It is near <a href='Nowhere'>Nowhere</a> and <a href='Mill'>the mill</a>.</p>",
    "Lubmin": "<p>Salt of the Salt road was weighed at <a href='Nowhere'>Nowhere</a>.</p>",
    "Mill": "<p>The mill is a mill on the <a href='Salt_road'>Salt road</a>, built in 1402 from 300 stones.</p>",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a number, a dispute, gaps, and pages that were not read."""
    return a_finished_run(tmp_path_factory.mktemp("forged"), max_pages=3, more=MORE)


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished.parent, tmp_path / "place", ignore=shutil.ignore_patterns("state"))
    return tmp_path / "place" / "run"


def write_graph(run: Path, graph: Record) -> None:
    nodes, edges = (",\n".join(map(canonical_json, graph[name])) for name in ("nodes", "edges"))
    text = f'{{"edges":[\n{edges}\n],"nodes":[\n{nodes}\n],"topic":{canonical_json(graph["topic"])}}}\n'
    (run / "graph.json").write_text(text, encoding="utf-8")


def other_reason_of_a_number(brief: Record) -> None:
    figure = next(figure for figure in brief["numbers"] if figure["disagrees"])
    figure["disagrees"] = f"contradiction: {FALSE}"
    del figure["disagrees_message"]


def no_disagreement_of_numbers(brief: Record) -> None:
    for figure in brief["numbers"]:
        figure["disagrees"] = ""
        figure.pop("disagrees_message", None)


def other_reason_of_a_page(graph: Record) -> None:
    node = next(node for node in graph["nodes"] if node["state"] == "left")
    node["reason"] = FALSE
    node.pop("reason_message", None)


def no_rejected_pages(graph: Record) -> None:
    graph["nodes"] = [node for node in graph["nodes"] if node["state"] == "visited"]
    refs = {node["ref"] for node in graph["nodes"]}
    graph["edges"] = [edge for edge in graph["edges"] if {edge["from"], edge["to"]} <= refs]


def text_of_a_gap(brief: Record) -> None:
    brief["gaps"][0]["text"] = FALSE
    brief["gaps"][0].pop("text_message", None)


BRIEFS: dict[str, Callable[[Record], Any]] = {
    "a gap says something false": text_of_a_gap,
    "another gap": lambda brief: brief["gaps"].append({"claims": [], "kind": "missing page", "text": FALSE}),
    "no gaps": lambda brief: brief["gaps"].clear(),
    "a note": lambda brief: brief["notes"].append(FALSE),
    "another story": lambda brief: brief["sources"]["story"].__setitem__(0, FALSE),
    "another setting": lambda brief: brief["sources"]["settings"][0].__setitem__(1, FALSE),
    "one more setting": lambda brief: brief["sources"]["settings"].append(["reviewed by", "three historians"]),
    "a setting is left out": lambda brief: brief["sources"]["settings"].pop(0),
    "a number disagrees in other words": other_reason_of_a_number,
    "no number disagrees": no_disagreement_of_numbers,
    "no numbers": lambda brief: brief["numbers"].clear(),
    "a number is left out": lambda brief: brief["numbers"].pop(),
    "no disputes": lambda brief: brief["disputes"].clear(),
    "a dispute is left out": lambda brief: brief["disputes"].pop(0),
    "no timeline": lambda brief: brief["timeline"].clear(),
    "the summary lacks its last sentence": lambda brief: brief["summary"].pop(),
    "no links between sources": lambda brief: brief["sources"]["links"].clear(),
    "another sense": lambda brief: brief["senses"].append("Lubmin"),
}
GRAPHS: dict[str, Callable[[Record], Any]] = {
    "no links": lambda graph: graph["edges"].clear(),
    "a link is left out": lambda graph: graph["edges"].pop(),
    "another place of a link": lambda graph: graph["edges"][0].update(section="Trade with gold"),
    "a page was rejected for another reason": other_reason_of_a_page,
    "the rejected pages are left out": no_rejected_pages,
    "another score of a rejected page": lambda graph: next(
        node for node in graph["nodes"] if node["state"] == "left"
    ).update(priority_score=1.5),
}
LOGS: dict[str, Callable[[str], str]] = {
    "the log is rewritten": lambda log: log.replace("Not read", f"Not read: {FALSE}", 1),
    "the log lacks a line": lambda log: log.replace("Starting page: ", "", 1),
    "an empty log": lambda log: "\n" if log else "",
}


def forge(run: Path, forgery: str) -> str:
    """Make a forgery whose hashes all fit; returns the file that it is in."""
    if forgery in LOGS:
        name, log = "run.log", (run / "run.log").read_text(encoding="utf-8")
        (run / name).write_text(LOGS[forgery](log), encoding="utf-8")
    else:
        name, changes = ("brief.json", BRIEFS) if forgery in BRIEFS else ("graph.json", GRAPHS)
        record = record_in(run, name)
        changes[forgery](record)
        (write_brief if forgery in BRIEFS else write_graph)(run, record)
    understood = record_in(run, "manifest.json")["understood"]
    if forgery == "another sense":
        understood["senses"].append("Lubmin")
    write_manifest(run, understood=understood)
    return name


def test_the_run_is_the_same_when_it_is_repeated(run: Path) -> None:
    """A run as it was written is proved in all of its files; of its times only the seal."""
    found = proved(run)
    assert failure_texts(found) == []
    assert found.proof == RunProof(repeated=MADE, hash_only=("timings.json",))
    brief = record_in(run, "brief.json")
    assert brief["gaps"]
    assert any(node["state"] == "left" for node in record_in(run, "graph.json")["nodes"])
    write_brief(run, brief)
    write_graph(run, record_in(run, "graph.json"))
    write_manifest(run)
    assert failure_texts(proved(run)) == []  # what the forgeries write is what a run writes


@pytest.mark.parametrize("forgery", [*BRIEFS, *GRAPHS, *LOGS])
def test_a_forgery_is_noticed(run: Path, forgery: str) -> None:
    """What a reader sees comes from the books, the settings and the program, so nothing of it can be invented."""
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    name = forge(run, forgery)
    assert (run / name).read_bytes() != before[name]
    found = proved(run)
    assert any(line.startswith(f"{name}") for line in failure_texts(found)), failure_texts(found)
    assert name not in found.proof.repeated
    if forgery == "a note":
        (line,) = failure_texts(found)
        assert re.match(r"brief\.json, line \d+: notes differs when the research is repeated: ", line)
    assert {"claims.jsonl", "corpus.jsonl"} <= set(found.proof.repeated)


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_pages", 2), ("max_pages", 4), ("max_depth", 0), ("strategy", "bfs"), ("max_pages", "3"), ("filters", {})],
)
def test_other_settings_are_noticed(run: Path, field: str, value: Any) -> None:
    """A manifest that names other settings, in its fingerprint too, does not give the same files."""
    settings = record_in(run, "manifest.json")["settings"]
    write_manifest(run, settings=settings | {field: value})
    assert not proved(run).holds


def test_another_title_of_the_book_is_noticed(run: Path) -> None:
    """The book itself says what it is called."""
    (book,) = record_in(run, "manifest.json")["books"]
    write_manifest(run, books=[book | {"title": "Encyclopedia of gold"}])
    assert any("the title of the book" in line for line in failure_texts(proved(run)))


def test_files_that_are_not_part_of_the_run_are_named(run: Path) -> None:
    """A report that somebody added is neither proved nor passed over in silence."""
    assert proved(run).proof.not_part == ()
    for name in ("report.pdf", "brief.html", ".hidden"):
        (run / name).write_text("Bronze is gold.", encoding="utf-8")
    found = proved(run)
    assert found.holds
    assert found.proof.not_part == ("brief.html", "report.pdf")


def test_another_version_is_not_repeated(run: Path) -> None:
    """It is said why, what was compared, and what anybody could have invented."""
    brief = record_in(run, "brief.json")
    brief["notes"].append(FALSE)
    write_brief(run, brief)
    with_inputs(run, version="0.0.1")
    found = proved(run)
    assert failure_texts(found) == []
    assert found.proof.not_repeated == f"kiwiresearch 0.0.1 wrote this run, and this is {__version__}"
    assert found.proof.repeated == ()
    assert "quotes" in found.proof.compared[1]
    assert any("notes" in part for part in found.proof.hash_only)


def test_a_missing_book_is_named_with_what_was_not_proved(run: Path) -> None:
    """Without the book nothing of its pages is proved, which is said, and it is a failure."""
    write_book(run.parent / "other.zim", [NewPage("Sea", "Sea", b"<p>The sea.</p>")], metadata={"Name": "sea_en"})
    found = proved(run, run.parent / "other.zim")
    assert not found.holds
    assert found.proof.not_repeated == "a book was not found: Road book"
    assert found.proof.hash_only[0] == "all pages and claims of 'Road book'"


def test_a_run_with_a_model_is_not_repeated(run: Path) -> None:
    """The replies of a model are not the program's, so only what they rest on is compared."""
    with_inputs(run, model="some model")
    found = proved(run)
    assert (failure_texts(found), found.proof.not_repeated) == ([], "a language model took part")


def test_a_run_that_was_stopped_is_repeated_to_the_same_step(tmp_path: Path) -> None:
    """The brief of a stopped run is made again from as many steps; another number of steps is noticed."""
    book = a_road_book(tmp_path / "road.zim")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")})
    folder = tmp_path / "run"

    def stop(progress: RunProgress) -> None:
        if len(progress.state.visited) == 2:
            raise KeyboardInterrupt

    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        research = Research(finder, ResearchTask("Salt road", settings=CrawlSettings(fast=True)))
        with pytest.raises(KeyboardInterrupt):
            research.run(folder, stop)
        research.run(folder, read_no_more=True)
    found = proved(folder)
    assert (failure_texts(found), found.proof.repeated, found.pages) == ([], MADE, 2)
    stopped = record_in(folder, "manifest.json")["stopped"]
    for steps in (0, stopped["steps"] - 1, stopped["steps"] + 1, 999):
        write_manifest(folder, stopped=stopped | {"steps": steps})
        assert not proved(folder).holds


def research(book: str, place: Path, kiwix_url: str = "") -> Path:
    """A run over one book."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(place / "home")})
    with shelf_of(desk, [book]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        task = ResearchTask("Salt road", settings=CrawlSettings(fast=True, max_pages=3), kiwix_url=kiwix_url)
        return Research(finder, task).run(place / "run").folder


def test_links_to_a_server_are_repeated_though_the_book_was_renamed(tmp_path: Path) -> None:
    """Where links lead is in the manifest, so it needs neither the setting nor the name of the file."""
    run = research(str(a_road_book(tmp_path / "old.zim")), tmp_path, kiwix_url="http://library.example:8080")
    assert "http://library.example:8080/content/old/Salt_road" in (run / "report.md").read_text(encoding="utf-8")
    (tmp_path / "old.zim").rename(tmp_path / "road.zim")
    assert proved(run).proof.repeated == MADE
    (book,) = record_in(run, "manifest.json")["books"]
    write_manifest(run, books=[book | {"opens_at": "javascript:alert(1)//"}])
    assert any("which is not an address" in line for line in failure_texts(proved(run)))


def test_a_run_from_a_server_is_repeated_there_but_not_with_the_file(
    tmp_path: Path, kiwix_serve: Callable[..., str]
) -> None:
    """A server is searched in another way than a file, so the same research may read other pages there."""
    book = a_road_book(tmp_path / "road.zim")
    address = kiwix_serve(book)
    run = research(address, tmp_path)
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")})
    with shelf_of(desk, [address]) as shelf:
        assert verify_run(run, shelf, desk).proof.repeated == MADE
    found = proved(run)
    assert failure_texts(found) == []
    assert found.proof.not_repeated == "a book was read from a server, and is a file here, or the reverse"


def test_research_does_not_depend_on_half_a_title_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large book may be researched while its titles are being indexed; later the same research gives the same."""
    book = a_road_book(tmp_path / "road.zim")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")})
    indexes = TitleIndexes(desk.folders.cache / "titles")
    with closing(LibzimArchive(book)) as archive, monkeypatch.context() as large:
        indexes.build(archive, limit=2)
        large.setattr(models, "MAX_ENTRIES_TO_INDEX_NOW", 1)
        large.setattr(TitleIndexes, "_build_in_background", lambda *_: None)
        run = research(str(book), tmp_path)
    assert [row["title_index"] for row in record_in(run, "manifest.json")["books"]] == [False]
    found = proved(run)  # with the whole index
    assert (failure_texts(found), found.proof.repeated) == ([], MADE)
