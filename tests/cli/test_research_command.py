"""`kiwiresearch TOPIC`: from the words on the command line to a folder, or to one clear sentence."""

from __future__ import annotations

import json
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.research import Research, ResearchTask, RunProgress
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

Told = Callable[..., tuple[int, str, str]]
DATED = re.compile(r"\d{4}-\d\d-\d\d_(.+)")

PAGES = {
    "Salt road": "The salt road ran over the <a href='Pass'>Pass</a> to the <a href='Inn'>Inn</a>.",
    "Pass": "A pass of the salt road, with an <a href='Inn'>Inn</a> and much snow.",
    "Inn": "An inn stands at the salt road. See <a href='List_of_roads'>all roads</a>.",
    "List of roads": "These are roads: <a href='Salt_road'>Salt road</a>, <a href='Mule'>Mule</a>.",
    "Mule": "A mule went on the salt road.",
}


def write(target: Path, name: str, pages: dict[str, str]) -> None:
    rows = [
        NewPage(title.replace(" ", "_"), title, f"<p>{text}</p><h2>Use</h2><p>Much is told of it.</p>".encode())
        for title, text in pages.items()
    ]
    metadata = {"Name": f"{name.lower()}_en", "Title": f"{name} book", "Language": "eng", "Date": "2026-01-01"}
    write_book(target, rows, metadata=metadata)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """Two small books, and a home that knows them and the sample book to be sound."""
    folder = tmp_path_factory.mktemp("furnished")
    write(folder / "road.zim", "Road", PAGES)
    write(folder / "sea.zim", "Sea", {"Salt": "Salt of the sea came down the salt road."})
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    for book in (folder / "road.zim", folder / "sea.zim", sample_zim):
        desk.opener.look_up(str(book))
    return folder


@pytest.fixture
def road(furnished: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The book, in a home that knows it and in an empty working folder."""
    shutil.copytree(furnished / "home", home, ignore=shutil.ignore_patterns("state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return furnished / "road.zim"


def manifest(folder: Path | str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_the_command_of_the_manual_runs(kiwi: Told, road: Path, sample_zim: Path) -> None:
    """A topic, --depth, --max-pages, --strategy and --out give a finished run (R143, R144, R145, R146, R147)."""
    out = Path("runs") / "2025-12-23_bronze-age"
    code, told, _ = kiwi(
        "Bronze Age collapse", "--depth", 2, "--max-pages", 12, "--strategy", "priority", "--out", out, "-b", sample_zim
    )  # fmt: skip
    assert code == 0
    assert told == (
        "12 pages on 'Bronze Age collapse'.\n"
        "It began with Late Bronze Age collapse, and ended because max_pages (12) was reached.\n"
        f"Brief:     {out}/report.md\n"
        f"To read:   {out}/report.html\n"
        f"Claims:    {out}/claims.jsonl\n"
        f"Why each:  {out}/run.log\n"
        f"Corpus:    {out}/corpus.jsonl\n"
        f"Graph:     {out}/graph.json\n"
    )
    settings = manifest(out)["settings"]
    assert (settings["max_depth"], settings["max_pages"], settings["strategy"]) == (2, 12, "priority")
    assert sorted(file.name for file in out.iterdir()) == [
        "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json", "manifest.json",
        "report.html", "report.md", "run.log", "timings.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "path", "value"),
    [
        (("--depth", 0), "settings.max_depth", 0),
        (("--max-pages", 3), "settings.max_pages", 3),
        (("--max-links", 1), "settings.max_links_per_page", 1),
        (("--strategy", "bfs"), "settings.strategy", "bfs"),
        (("--focus", "snow,  mules"), "focus", "snow, mules"),
        (("--aspect", "use  in winter"), "aspect", "use in winter"),
        (("--include-lists",), "settings.filters.lists", "include"),
        (("--exclude-lists",), "settings.filters.lists", "exclude"),
        ((), "settings.filters.lists", "penalty"),
        (("--fast",), "embedder", ""),
    ],
)
def test_each_option_reaches_the_run(kiwi: Told, road: Path, words: tuple[object, ...], path: str, value: Any) -> None:
    """What an option says is in force, and in the manifest."""
    assert kiwi("salt road", "-b", road, "--out", "run", "--fast", *words)[0] == 0
    found: Any = manifest("run")
    for key in path.split("."):
        found = found[key]
    assert found == value


@pytest.mark.parametrize(("option", "listed"), [("--include-lists", True), ("--exclude-lists", False)])
def test_lists_are_taken_or_not(kiwi: Told, road: Path, option: str, listed: bool) -> None:
    """--include-lists takes list pages, --exclude-lists leaves them out (R148)."""
    assert kiwi("salt road", "-b", road, "--out", "run", "--fast", option)[0] == 0
    assert ('"title":"List of roads"' in Path("run/corpus.jsonl").read_text(encoding="utf-8")) is listed


@pytest.mark.parametrize(
    "words",
    ["salt road --fast -b BOOK --out run", "--fast -b BOOK --out run salt road", "-b BOOK salt --fast road -o run",
     "research salt -b BOOK road --fast -o run", "--fast -o run -b BOOK -- salt road"],
)  # fmt: skip
def test_a_topic_needs_no_quotation_marks(kiwi: Told, road: Path, words: str) -> None:
    """Words are joined to one topic, wherever the options stand (R1)."""
    assert kiwi(*(road if word == "BOOK" else word for word in words.split()))[0] == 0
    assert manifest("run")["topic"] == "salt road"


def test_a_slip_in_a_command_is_explained(kiwi: Told, road: Path) -> None:
    """A word near the name of a command is no topic, unless it is in quotation marks."""
    code, told, err = kiwi("serach", "Rome")
    assert (code, told) == (2, "")
    assert err == (
        "kiwiresearch: 'serach' is no command. Did you mean 'search'? "
        "If it is part of a topic, give that in quotation marks: 'serach Rome'\n"
    )
    assert list(Path().iterdir()) == []


def test_critic_has_nothing_to_do_without_a_model(kiwi: Told, road: Path) -> None:
    """--critic is taken, and told to have nothing to look at where no model writes (R150)."""
    code, _, err = kiwi("salt road", "-b", road, "--fast", "--critic", "--out", "run")
    assert code == 0
    assert "There is nothing for --critic to look at: without a model every sentence is a page's own.\n" in err


def test_a_book_given_twice_is_one(kiwi: Told, road: Path, furnished: Path) -> None:
    """The same book twice gives the same run as once; two books are both in it."""
    assert kiwi("salt road", "--fast", "-b", road, "--out", "once")[0] == 0
    assert kiwi("salt road", "--fast", "-b", road, "-b", road, "--out", "twice")[0] == 0
    assert manifest("once") == manifest("twice")
    assert kiwi("salt road", "--fast", "-b", road, "-b", furnished / "sea.zim", "--out", "both")[0] == 0
    assert [book["title"] for book in manifest("both")["books"]] == ["Road book", "Sea book"]


def test_the_same_command_again_touches_nothing(kiwi: Told, road: Path) -> None:
    """A finished run is told to be finished, with exit code 0, and its files stay as they are."""
    command = ("salt road", "-b", road, "--fast", "--out", "run")
    assert kiwi(*command)[0] == 0
    before = {file.name: file.stat().st_mtime_ns for file in Path("run").iterdir()}
    for more in ((), ("--resume",)):
        code, told, err = kiwi(*command, *more)
        assert (code, err) == (0, "")
        assert told.startswith("This run was finished before: 5 pages on 'salt road'.\nBrief:     run/report.md\n")
    assert {file.name: file.stat().st_mtime_ns for file in Path("run").iterdir()} == before


def test_a_topic_that_nobody_knows(kiwi: Told, road: Path) -> None:
    """Nothing found: exit code 3, the nearest titles, and no file."""
    code, told, err = kiwi("Mulexqz", "-b", road)
    assert (code, told) == (3, "")
    assert err == "kiwiresearch: There is nothing about 'Mulexqz' in 'Road book'. Near it are: 'Mule'.\n"
    assert [entry for entry in Path().rglob("*") if entry.is_file()] == []


def test_the_default_folder_has_date_and_topic(kiwi: Told, road: Path) -> None:
    """Without --out a run goes to runs/DATE_topic, the same run again to the same, another one beside it (R147)."""
    for depth in (1, 1, 2):
        assert kiwi("The salt road!", "-b", road, "--fast", "--depth", depth)[0] == 0
    names = sorted(folder.name for folder in Path("runs").iterdir())
    assert [found[1] for name in names if (found := DATED.fullmatch(name))] == ["the-salt-road", "the-salt-road-2"]
    assert [manifest(Path("runs") / name)["settings"]["max_depth"] for name in names] == [1, 2]


def test_resume_finds_the_run_of_another_day(kiwi: Told, road: Path, home: Path) -> None:
    """--resume goes on with an unfinished run of the same task, whatever its date; without it a new one begins."""
    yesterday = Path("runs") / "2020-02-29_salt-road"

    def stop(progress: RunProgress) -> None:
        if len(progress.state.visited) == 2:
            raise KeyboardInterrupt

    desk = open_workspace()
    with shelf_of(desk, [str(road)]) as shelf, Finder(desk, shelf, all_books=True) as finder:
        work = Research(finder, ResearchTask("salt road", settings=CrawlSettings(fast=True)))
        with pytest.raises(KeyboardInterrupt):
            work.run(yesterday, stop)
    code, told, _ = kiwi("salt road", "-b", road, "--fast", "--resume")
    assert code == 0
    assert told.startswith("5 pages on 'salt road' (2 of them from before).\nIt began with ")
    assert kiwi("salt road", "-b", road, "--fast")[0] == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_an_embedder_that_is_away_is_no_end(kiwi: Told, road: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that does not answer is told, and the run compares words only."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", address)  # nobody listens there any more
    code, _, err = kiwi("salt road", "-b", road, "--out", "run")
    assert code == 0
    assert "Meanings are not compared: " in err
    assert '"signal":"meaning"' not in Path("run/graph.json").read_text(encoding="utf-8")


USAGE = [
    ("salt --depth -1", "--depth is -1. It must be between 0 and 100."),
    ("salt --depth 101", "--depth is 101. It must be between 0 and 100."),
    ("salt --max-pages 0", "--max-pages is 0. It must be between 1 and 100000."),
    (f"salt --max-pages {'9' * 40}", f"--max-pages is {'9' * 40}. It must be between 1 and 100000."),
    ("salt --max-links 0", "--max-links is 0. It must be between 1 and 100000."),
    ("salt --strategy dfs", "--strategy is 'dfs'. It must be one of: priority, bfs."),
    ("", "The topic has no words. Such as: kiwiresearch 'Bronze Age collapse'"),
    ("??? !", "The topic has no words. Such as: kiwiresearch 'Bronze Age collapse'"),
    ("x" * 10_000, "The topic has 10,000 characters, and at most 500 can be used. Say it in a sentence."),
    ("sa\x1blt", "The topic holds a control character, U+001B. Leave it out."),
    ("sa\udcfflt", "The topic holds a control character, U+DCFF. Leave it out."),
    (f"salt --focus {'x' * 501}", "The focus has 501 characters, and at most 500 can be used. Say it in a sentence."),
    (f"salt --aspect {'x' * 501}", "The aspect has 501 characters, and at most 500 can be used. Say it in a sentence."),
]


@pytest.mark.parametrize(("words", "message"), USAGE, ids=[words[:24] for words, _ in USAGE])
def test_a_bad_option_gets_one_sentence(kiwi: Told, road: Path, words: str, message: str) -> None:
    """What cannot be is refused in one sentence with exit code 2, and no folder is made."""
    assert kiwi(*words.split(" "), "-b", road, "--out", "run") == (2, "", f"kiwiresearch: {message}\n")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("words", ["--depth many", f"--max-pages {'9' * 5_000}", "--strategy", "--deep 3"])
def test_a_malformed_option_is_bad_usage(kiwi: Told, road: Path, words: str) -> None:
    """An option that is none, or whose value is no number, is refused with exit code 2."""
    code, told, err = kiwi("salt", "-b", road, *words.split())
    assert (code, told, "Traceback" in err) == (2, "", False)
    assert words.split()[0] in err.splitlines()[-1]


@pytest.mark.parametrize("out", ["", "  "])
def test_a_folder_has_a_name(kiwi: Told, road: Path, out: str) -> None:
    """--out without a name is refused; what cannot be written is told as for every run."""
    message = "kiwiresearch: The name of the folder is empty. Such as: --out runs/bronze-age\n"
    assert kiwi("salt road", "-b", road, "--fast", "--out", out) == (2, "", message)
