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
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

RunCommand = Callable[..., tuple[int, str, str]]
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
def prepared_home(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """Two small books, and a home that knows them and the sample book to be sound."""
    folder = tmp_path_factory.mktemp("furnished")
    write(folder / "road.zim", "Road", PAGES)
    write(folder / "sea.zim", "Sea", {"Salt": "Salt of the sea came down the salt road."})
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    for book in (folder / "road.zim", folder / "sea.zim", sample_zim):
        desk.opener.look_up(str(book))
    return folder


@pytest.fixture
def road(prepared_home: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The book, in a home that knows it and in an empty working folder."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return prepared_home / "road.zim"


def manifest(folder: Path | str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_the_command_of_the_manual_runs(kiwi: RunCommand, road: Path, sample_zim: Path) -> None:
    """A topic, --depth, --max-pages, --strategy and --out give a finished run (R143, R144, R145, R146, R147)."""
    out = Path("runs") / "2025-12-23_bronze-age"
    code, output, _ = kiwi(
        "Bronze Age collapse", "--depth", 2, "--max-pages", 12, "--strategy", "priority", "--out", out, "-b", sample_zim
    )  # fmt: skip
    assert code == 0
    assert output == (
        "Read 12 pages about 'Bronze Age collapse'.\n"
        "It started with Late Bronze Age collapse and stopped because the limit of 12 pages was reached.\n"
        f"Brief:     {out}/report.md\n"
        f"Web page:  {out}/report.html\n"
        f"Claims:    {out}/claims.jsonl\n"
        f"Log:       {out}/run.log\n"
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
def test_each_option_reaches_the_run(
    kiwi: RunCommand, road: Path, words: tuple[object, ...], path: str, value: Any
) -> None:
    """What an option says is in force, and in the manifest."""
    assert kiwi("salt road", "-b", road, "--out", "run", "--fast", *words)[0] == 0
    found: Any = manifest("run")
    for key in path.split("."):
        found = found[key]
    assert found == value


@pytest.mark.parametrize(("option", "listed"), [("--include-lists", True), ("--exclude-lists", False)])
def test_lists_are_taken_or_not(kiwi: RunCommand, road: Path, option: str, listed: bool) -> None:
    """--include-lists takes list pages, --exclude-lists leaves them out (R148)."""
    assert kiwi("salt road", "-b", road, "--out", "run", "--fast", option)[0] == 0
    assert ('"title":"List of roads"' in Path("run/corpus.jsonl").read_text(encoding="utf-8")) is listed


@pytest.mark.parametrize(
    "words",
    ["salt road --fast -b BOOK --out run", "--fast -b BOOK --out run salt road", "-b BOOK salt --fast road -o run",
     "research salt -b BOOK road --fast -o run", "--fast -o run -b BOOK -- salt road"],
)  # fmt: skip
def test_a_topic_needs_no_quotation_marks(kiwi: RunCommand, road: Path, words: str) -> None:
    """Words are joined to one topic, wherever the options are (R1)."""
    assert kiwi(*(road if word == "BOOK" else word for word in words.split()))[0] == 0
    assert manifest("run")["topic"] == "salt road"


def test_a_slip_in_a_command_is_explained(kiwi: RunCommand, road: Path) -> None:
    """A word similar to the name of a command is not a topic, unless it is in quotation marks."""
    code, out, err = kiwi("serach", "Rome")
    assert (code, out) == (2, "")
    assert err == (
        "kiwiresearch: 'serach' is not a command. Did you mean 'search'? "
        "To research this topic anyway: kiwiresearch research 'serach Rome'\n"
    )
    assert list(Path().iterdir()) == []


def test_help_is_not_a_topic(kiwi: RunCommand, road: Path) -> None:
    """'help' shows the help of the program or of a command, and a mistyped command alone starts no research."""
    assert kiwi("help") == kiwi("--help")
    assert kiwi("help", "ask") == kiwi("ask", "--help")
    assert kiwi("verfy")[0] == 2
    assert kiwi("help", "Rome", "-b", str(road))[0] != 2  # a topic
    assert kiwi("Atlas", "-b", str(road))[0] != 2


def test_critic_has_nothing_to_do_without_a_model(kiwi: RunCommand, road: Path) -> None:
    """--critic is accepted, and the output says that there is nothing to check without a model (R150)."""
    code, _, err = kiwi("salt road", "-b", road, "--fast", "--critic", "--out", "run")
    assert code == 0
    assert "--critic has no effect: no language model is set, so every sentence is taken from a page.\n" in err


def test_a_book_given_twice_is_one(kiwi: RunCommand, road: Path, prepared_home: Path) -> None:
    """The same book twice gives the same run as once; two books are both in it."""
    assert kiwi("salt road", "--fast", "-b", road, "--out", "once")[0] == 0
    assert kiwi("salt road", "--fast", "-b", road, "-b", road, "--out", "twice")[0] == 0
    assert manifest("once") == manifest("twice")
    assert kiwi("salt road", "--fast", "-b", road, "-b", prepared_home / "sea.zim", "--out", "both")[0] == 0
    assert [book["title"] for book in manifest("both")["books"]] == ["Road book", "Sea book"]


def test_the_same_command_again_changes_nothing(kiwi: RunCommand, road: Path) -> None:
    """A finished run is reported as finished, with exit code 0, and its files stay the same."""
    command = ("salt road", "-b", road, "--fast", "--out", "run")
    assert kiwi(*command)[0] == 0
    before = {file.name: file.stat().st_mtime_ns for file in Path("run").iterdir()}
    for more in ((), ("--resume",)):
        code, out, err = kiwi(*command, *more)
        assert (code, err) == (0, "")
        assert out.startswith(
            "This research was already finished: 5 pages about 'salt road'.\nBrief:     run/report.md\n"
        )
    assert {file.name: file.stat().st_mtime_ns for file in Path("run").iterdir()} == before


def test_a_topic_that_nobody_knows(kiwi: RunCommand, road: Path) -> None:
    """Nothing found: exit code 3, the nearest titles, and no file."""
    code, out, err = kiwi("Mulexqz", "-b", road)
    assert (code, out) == (3, "")
    assert err == "kiwiresearch: No results for 'Mulexqz' in 'Road book'. Similar titles: 'Mule'.\n"
    assert [entry for entry in Path().rglob("*") if entry.is_file()] == []


def test_the_default_folder_has_date_and_topic(kiwi: RunCommand, road: Path) -> None:
    """Without --out a run goes to runs/DATE_topic, the same run again to the same, another one beside it (R147)."""
    for depth in (1, 1, 2):
        assert kiwi("The salt road!", "-b", road, "--fast", "--depth", depth)[0] == 0
    names = sorted(folder.name for folder in Path("runs").iterdir())
    assert [found[1] for name in names if (found := DATED.fullmatch(name))] == ["the-salt-road", "the-salt-road-2"]
    assert [manifest(Path("runs") / name)["settings"]["max_depth"] for name in names] == [1, 2]


def test_resume_finds_the_run_of_another_day(kiwi: RunCommand, road: Path, home: Path) -> None:
    """--resume goes on with an unfinished run of the same task, whatever its date; without it a new one begins."""
    yesterday = Path("runs") / "2020-02-29_salt-road"

    def stop(progress: RunProgress) -> None:
        if len(progress.state.visited) == 2:
            raise KeyboardInterrupt

    desk = open_workspace()
    with shelf_of(desk, [str(road)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        work = Research(finder, ResearchTask("salt road", settings=CrawlSettings(fast=True)))
        with pytest.raises(KeyboardInterrupt):
            work.run(yesterday, stop)
    code, out, _ = kiwi("salt road", "-b", road, "--fast", "--resume")
    assert code == 0
    assert out.startswith("Read 5 pages about 'salt road' (2 from before the interruption).\nIt started with ")
    assert kiwi("salt road", "-b", road, "--fast")[0] == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_research_continues_without_its_embedder(kiwi: RunCommand, road: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedder that does not answer is reported, and the run compares words only."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", address)  # nobody listens there any more
    code, _, err = kiwi("salt road", "-b", road, "--out", "run")
    assert code == 0
    assert "Comparing words only, not meanings: " in err
    assert '"signal":"meaning"' not in Path("run/graph.json").read_text(encoding="utf-8")


USAGE = [
    ("salt --depth -1", "--depth cannot be -1. It must be between 0 and 100."),
    ("salt --depth 101", "--depth cannot be 101. It must be between 0 and 100."),
    ("salt --max-pages 0", "--max-pages cannot be 0. It must be between 1 and 100000."),
    (f"salt --max-pages {'9' * 40}", f"--max-pages cannot be {'9' * 40}. It must be between 1 and 100000."),
    ("salt --max-links 0", "--max-links cannot be 0. It must be between 1 and 100000."),
    ("salt --strategy dfs", "--strategy cannot be 'dfs'. It must be one of: priority, bfs."),
    ("", "The topic is empty. Example: kiwiresearch 'Bronze Age collapse'"),
    ("??? !", "The topic is empty. Example: kiwiresearch 'Bronze Age collapse'"),
    ("x" * 10_000, "The topic has 10,000 characters. The limit is 500. Shorten it to one sentence."),
    ("sa\x1blt", "The topic contains a control character, U+001B. Remove it."),
    ("sa\udcfflt", "The topic contains a control character, U+DCFF. Remove it."),
    (f"salt --focus {'x' * 501}", "The focus has 501 characters. The limit is 500. Shorten it to one sentence."),
    (f"salt --aspect {'x' * 501}", "The aspect has 501 characters. The limit is 500. Shorten it to one sentence."),
]


@pytest.mark.parametrize(("words", "message"), USAGE, ids=[words[:24] for words, _ in USAGE])
def test_a_bad_option_gets_one_sentence(kiwi: RunCommand, road: Path, words: str, message: str) -> None:
    """What cannot be is refused in one sentence with exit code 2, and no folder is made."""
    assert kiwi(*words.split(" "), "-b", road, "--out", "run") == (2, "", f"kiwiresearch: {message}\n")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("words", ["--depth many", f"--max-pages {'9' * 5_000}", "--strategy", "--deep 3"])
def test_a_malformed_option_is_bad_usage(kiwi: RunCommand, road: Path, words: str) -> None:
    """An unknown option, or a value that is not a number, is refused with exit code 2."""
    code, out, err = kiwi("salt", "-b", road, *words.split())
    assert (code, out, "Traceback" in err) == (2, "", False)
    assert words.split()[0] in err.splitlines()[-1]


@pytest.mark.parametrize("out", ["", "  "])
def test_a_folder_has_a_name(kiwi: RunCommand, road: Path, out: str) -> None:
    """--out without a name is refused; a folder that cannot be written is reported as for every run."""
    message = "kiwiresearch: The folder name is empty. Example: --out runs/bronze-age\n"
    assert kiwi("salt road", "-b", road, "--fast", "--out", out) == (2, "", message)
