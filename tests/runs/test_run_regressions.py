"""Runs that once went wrong: what a fingerprint covers, what is left behind, and what books may put into outputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.errors import KiwiError
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.runs.writer import choose_run_folder
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

FAST = CrawlSettings(fast=True, max_pages=4)


@contextmanager
def research(
    environment: dict[str, str], task: ResearchTask, *books: object, search_every_book: bool = True
) -> Iterator[Research]:
    desk = open_workspace(environment)
    with (
        shelf_of(desk, [str(book) for book in books]) as shelf,
        Finder(desk, shelf, search_every_book=search_every_book) as finder,
    ):
        yield Research(finder, task)


def test_how_many_books_are_searched_is_in_the_fingerprint(home: Path, tmp_path: Path, a_book: Any) -> None:
    """search_books decides what is found, so runs that differ in it have other fingerprints."""
    books = [a_book({"Salt": f"<p>Salt {n}.</p>"}, name=f"{n}.zim", Name=n, Title=n) for n in "ab"]
    found = []
    for number in "12":
        env = {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SEARCH_BOOKS": number}
        with research(env, ResearchTask("salt", settings=FAST), *books, search_every_book=False) as work:
            folder = work.run(tmp_path / number).folder
            found.append((work.fingerprint, (folder / "corpus.jsonl").read_bytes()))
    assert found[0][1] != found[1][1]
    assert found[0][0] != found[1][0]


def test_the_link_target_is_in_the_fingerprint(
    home: Path, tmp_path: Path, sample_zim: Path, kiwix_serve: Callable[..., str]
) -> None:
    """A renamed file with kiwix_url, and another server, give other links, so another fingerprint."""
    renamed = tmp_path / "renamed.zim"
    renamed.write_bytes(sample_zim.read_bytes())
    env = {"KIWIRESEARCH_HOME": str(home)}
    found = []
    servers = (kiwix_serve(sample_zim), kiwix_serve(sample_zim))
    for book, url in ((sample_zim, "http://h"), (renamed, "http://h"), *((server, "") for server in servers)):
        with research(env, ResearchTask("Sunset", settings=FAST, kiwix_url=url), book) as work:
            found.append(work.fingerprint)
    assert len(set(found)) == 4


def test_an_embedder_that_failed_is_not_in_the_manifest(home: Path, tmp_path: Path, sample_zim: Path) -> None:
    """A run whose embedder did not answer says so in manifest, log and brief: it is not the run with meanings."""
    env = {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_EMBEDDER": "http://127.0.0.1:9"}
    with research(env, ResearchTask("Sunset", settings=replace(FAST, fast=False)), sample_zim) as work:
        folder = work.run(tmp_path / "run").folder
    assert json.loads((folder / "manifest.json").read_text())["embedder"] == ""
    assert "vectors off" in (folder / "run.log").read_text(encoding="utf-8")
    assert "| Search by meaning | no |" in (folder / "report.md").read_text(encoding="utf-8")


def test_nothing_found_leaves_no_folder(home: Path, tmp_path: Path, sample_zim: Path) -> None:
    """A search without result leaves nothing behind, not even the folders on the way."""
    environment = {"KIWIRESEARCH_HOME": str(home)}
    with (
        research(environment, ResearchTask("Ugaritology", settings=FAST), sample_zim) as work,
        pytest.raises(KiwiError),
    ):
        work.run(tmp_path / "runs" / "today")
    assert not (tmp_path / "runs").exists()


def test_control_characters_of_books_reach_no_output(home: Path, tmp_path: Path, a_book: Any) -> None:
    """Printing run.log or report.md on a terminal is safe, whatever characters a book's titles have."""
    page = "<p>Salt is dug.</p><h2>Use</h2><p>It is eaten.</p>"
    book = a_book({"Salt": page, "x": page}, titles={"x": "Salt \x1b[31mred\x07"})
    with research({"KIWIRESEARCH_HOME": str(home)}, ResearchTask("salt", settings=FAST), book) as work:
        folder = work.run(tmp_path / "run").folder
    for name in ("run.log", "report.md", "report.html"):
        assert b"\x1b" not in (folder / name).read_bytes(), name


def test_a_path_with_a_line_break_breaks_no_list(home: Path, tmp_path: Path, a_book: Any) -> None:
    """A path is part of one entry, whatever is in it; '?' and '#' in it stay part of the address."""
    page = "<p>Salt is a mineral that people dig.</p><h2>Use</h2><p>It is eaten.</p>"
    paths = {"Salt": "Salt", "n\n# head\n- item": "Salt one", "What?#": "Salt two", "t\tab": "Salt three"}
    book = a_book(dict.fromkeys(paths, page), titles=paths)
    with research({"KIWIRESEARCH_HOME": str(home)}, ResearchTask("salt", settings=FAST), book) as work:
        folder = work.run(tmp_path / "run").folder
    tokens = MarkdownIt().parse((folder / "report.md").read_text(encoding="utf-8"))
    links = [str(c.attrs["href"]) for t in tokens for c in t.children or [] if c.type == "link_open"]
    (listed,) = [number for number, t in enumerate(tokens) if t.type == "inline" and t.content == "Bibliography"]
    entries = [t.children[1] for t in tokens[listed + 1 :] if t.type == "inline" and t.level == 3 and t.children]
    assert len(links) > len(entries) == 4
    assert {unquote(link.split("/", 3)[3]) for link in links} == set(paths)
    assert not [link for link in links if "?" in link or "#" in link]


@pytest.mark.parametrize("day", ["2026-01-01", "2026-01-02"])
def test_odd_things_in_the_default_folder_are_passed_by(tmp_path: Path, day: str) -> None:
    """A folder in the place of the journal, or a circle of links, does not stop the choice of a folder."""
    (tmp_path / "2026-01-01_salt" / ".journal" / "steps").mkdir(parents=True)
    (tmp_path / "2026-01-02_salt").symlink_to("2026-01-02_salt")
    assert choose_run_folder("salt", "f1", day, runs=tmp_path, resume=True).name.startswith(day)


def test_a_run_goes_on_when_a_title_index_has_come(home: Path, tmp_path: Path, sample_zim: Path) -> None:
    """A large book gets its title index beside the work: a run that began without it is still the same run."""
    environment = {"KIWIRESEARCH_HOME": str(home)}
    desk = open_workspace(environment)
    with shelf_of(desk, [str(sample_zim)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        (book,) = finder.books
        titles, book.titles = book.titles, None
        work = Research(finder, ResearchTask("Sunset", settings=FAST))

        def stop(progress: RunProgress) -> None:
            if len(progress.state.visited) == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            work.run(tmp_path / "run", stop)
        book.titles = titles
    with research(environment, ResearchTask("Sunset", settings=FAST), sample_zim) as later:
        outcome = later.run(tmp_path / "run")
    assert (outcome.how, outcome.resumed_pages) == ("resumed", 2)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert [one["title_index"] for one in manifest["books"]] == [False]
