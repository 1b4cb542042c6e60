"""The same run in other processes, places and surroundings, over a server, and on real books."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.cli.start import run as start
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.manifest import read_manifest
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.shelf import Shelf

PROGRAM = "from kiwiresearch.cli.start import main; main()"
TOPIC = "causes of the Bronze Age collapse"
ServeStarter = Callable[..., str]
BookMaker = Callable[..., Path]


def files(folder: Path) -> dict[str, bytes]:
    """What must be the same: all files but the timings."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "timings.json"}


def corpus(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "corpus.jsonl").read_bytes().splitlines()]


@contextmanager
def finder_at(home: Path, *books: object) -> Iterator[tuple[Finder, Shelf]]:
    desk = open_workspace({"KIWIRESEARCH_HOME": str(home)})
    with shelf_of(desk, [str(book) for book in books]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        yield finder, shelf


def run(home: Path, out: Path, topic: str, *books: object, **settings: Any) -> Path:
    with finder_at(home, *books) as (finder, _):
        return Research(finder, ResearchTask(topic, settings=CrawlSettings(**settings))).run(out).folder


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """The run that all others must equal, and beside it a home that is warm."""
    folder = tmp_path_factory.mktemp("reference")
    return run(folder / "warm", folder / "run", TOPIC, sample_zim, max_pages=10)


def with_titles(home: Path, book: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(home))
        assert start(["books", "index", str(book)]) == 0


SURROUNDINGS = [
    ("cold", {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "TZ": "UTC", "OMP_NUM_THREADS": "1"}, ("--json",)),
    (
        "warm",
        {
            "PYTHONHASHSEED": "random",
            "LC_ALL": "C",
            "TZ": "Pacific/Kiritimati",
            "TERM": "dumb",
            "OMP_NUM_THREADS": "7",
            "OPENBLAS_NUM_THREADS": "7",
            "RAYON_NUM_THREADS": "7",
        },
        (),
    ),
    (
        "titles",
        {"PYTHONHASHSEED": "4", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "true", "NO_COLOR": "1"},
        ("--json",),
    ),
]


@pytest.mark.parametrize(("cache", "surroundings", "more"), SURROUNDINGS, ids=["turkish", "threads", "titles"])
def test_the_same_bytes_everywhere(
    reference: Path,
    sample_zim: Path,
    tmp_path: Path,
    cache: str,
    surroundings: dict[str, str],
    more: tuple[str, ...],
) -> None:
    """Hash seed, locale, time zone, threads, working folder, caches and display change no byte (R7, R141, R142)."""
    home = reference.parent / "warm" if cache == "warm" else tmp_path / "home"
    if cache == "titles":
        with_titles(home, sample_zim)
        assert [file for file in (home / "cache" / "titles").rglob("*") if file.is_file()]
    work = tmp_path / "a folder of its own"
    work.mkdir()
    book = os.path.relpath(sample_zim, work) if more else str(sample_zim)
    command = [TOPIC, "--max-pages", "10", "-b", book, "--out", "../out", *more]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command],
        cwd=work,
        env=dict(os.environ) | {"KIWIRESEARCH_HOME": str(home)} | surroundings,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert files(tmp_path / "out") == files(reference)
    assert list(work.iterdir()) == []


def test_other_settings_give_another_fingerprint(reference: Path, sample_zim: Path) -> None:
    """A run's fingerprint changes with each setting, with topic, focus and aspect, and with the books."""
    tasks = [
        ResearchTask(TOPIC, settings=CrawlSettings(max_pages=10)),
        ResearchTask(TOPIC, settings=CrawlSettings(max_pages=11)),
        ResearchTask(TOPIC, settings=CrawlSettings(max_pages=10, fast=True)),
        ResearchTask(TOPIC, settings=CrawlSettings(max_pages=10, strategy="bfs")),
        ResearchTask(TOPIC, "drought", CrawlSettings(max_pages=10)),
        ResearchTask(TOPIC, settings=CrawlSettings(max_pages=10), aspect="drought"),
        ResearchTask("Sunset", settings=CrawlSettings(max_pages=10)),
        ResearchTask(TOPIC, settings=CrawlSettings(max_pages=10), kiwix_url="http://127.0.0.1:8080"),
    ]
    with finder_at(reference.parent / "warm", sample_zim) as (finder, _):
        found = [Research(finder, task).fingerprint for task in tasks]
    assert found[0] == read_manifest(reference).fingerprint
    assert len(set(found)) == len(tasks)


def test_a_served_book_is_researched(kiwix_serve: ServeStarter, home: Path, tmp_path: Path, sample_zim: Path) -> None:
    """A run over kiwix-serve ends like one over a file, and its pages have addresses of that server (R29)."""
    address = kiwix_serve(sample_zim)
    folder = run(home, tmp_path / "run", "Sunset", address, max_pages=4, fast=True)
    pages = corpus(folder)
    assert pages[0]["title"] == "Sunset"
    assert len(pages) == 4
    assert {page["url"].startswith(f"{address}/") for page in pages} == {True}
    assert f'<a href="{pages[0]["url"]}">Sunset</a>' in (folder / "report.html").read_text(encoding="utf-8")
    graph = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    assert {node["url"].startswith(f"{address}/") for node in graph["nodes"]} == {True}


def test_the_brief_links_to_the_user_s_kiwix_serve(home: Path, tmp_path: Path, a_book: BookMaker) -> None:
    """With kiwix_url set, the briefs link there, by the file's name and a percent-encoded path (R29)."""
    html = "<p>Salt is a mineral that people dig.</p><h2 id='Use'>Use</h2><p>Salt keeps because it is dry.</p>"
    pages = dict.fromkeys(("Salt", "Salt/a b?(c)#d%", "Salt mine of Söder"), html)
    book = a_book(pages, name="my book.zim")
    with finder_at(home, book) as (finder, _):
        task = ResearchTask("salt", settings=CrawlSettings(fast=True), kiwix_url="http://127.0.0.1:8080/wiki/")
        folder = Research(finder, task).run(tmp_path / "run").folder
    start = "http://127.0.0.1:8080/wiki/content/my%20book/"
    wanted = {start + path for path in ("Salt", "Salt/a%20b%3F%28c%29%23d%25", "Salt%20mine%20of%20S%C3%B6der")}
    for name, address in (("report.html", r'href="(.+?)"'), ("report.md", r"\]\((.+?)\)")):
        links = re.findall(address, (folder / name).read_text(encoding="utf-8"))
        assert {link.partition("#")[0] for link in links if not link.startswith("#")} == wanted, name
        assert f"{start}Salt#Use" in {link.partition(":~:")[0] for link in links}, name


def test_pages_of_several_books_are_distinguished(home: Path, tmp_path: Path, a_book: BookMaker) -> None:
    """A run over two books takes pages of both, and says in log and brief which book each is from."""
    first = a_book({"Salt": "<p>Salt is dug.</p><h2>Use</h2><p>x</p>"}, name="1.zim", Title="Mines", Name="a")
    second = a_book({"Salt": "<p>Salt is eaten.</p><h2>Use</h2><p>x</p>"}, name="2.zim", Title="Kitchen", Name="b")
    folder = run(home, tmp_path / "run", "salt", first, second, fast=True)
    assert len({page["book"] for page in corpus(folder)}) == 2
    assert {book.title for book in read_manifest(folder).books} == {"Mines", "Kitchen"}
    for name, form in (("run.log", " in {!r} (depth"), ("report.md", " ({}) — depth")):
        text = (folder / name).read_text(encoding="utf-8")
        assert [form.format(title) in text for title in ("Mines", "Kitchen")] == [True, True], name


REAL = [
    ("schools-2007.zim", "causes of the French Revolution", 15),
    ("real/wikipedia_en_ray_charles_mini_2020-03.zim", "Ray Charles", 10),
    ("real/devdocs_en_sqlite_2025-04.zim", "create table", 10),
]


@pytest.mark.parametrize(("name", "topic", "pages"), REAL, ids=["schools", "ray charles", "devdocs"])
def test_real_books_are_researched(
    shared_data: Path, home: Path, tmp_path: Path, name: str, topic: str, pages: int
) -> None:
    """On real books of several makers a run ends with all its pages, and with outputs that fit together (R153)."""
    folder = run(home, tmp_path / "run", topic, shared_data / "zims" / name, max_pages=pages, fast=True)
    manifest = read_manifest(folder)
    assert manifest.damaged_outputs(folder) == []
    taken = corpus(folder)
    graph = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    log = (folder / "run.log").read_text(encoding="utf-8")
    assert len(taken) == manifest.page_count == pages
    assert len({page["path"] for page in taken}) == pages
    assert {page["metadata"]["depth"] for page in taken} <= {0, 1, 2}
    refs = {node["ref"] for node in graph["nodes"]}
    assert {end for edge in graph["edges"] for end in (edge["from"], edge["to"])} <= refs
    assert log.count("\n   Chosen: ") == log.count("\n   Score: ") == pages
    listed = (folder / "report.md").read_text(encoding="utf-8").partition("## Bibliography")[2].partition("\n## ")[0]
    cited, folded = re.findall(r"^\d+\. \[", listed, re.M), re.findall(r"^- \[", listed, re.M)
    assert len(cited) + len(folded) == pages
    assert len(cited) == len({(row["book"], row["path"]) for row in brief_claims(folder)}) > 0
    assert not folded or re.search(rf"^{len(folded)} pages? read but not cited$", listed, re.M)


def brief_claims(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "brief.json").read_text(encoding="utf-8"))["claims"]
    return found
