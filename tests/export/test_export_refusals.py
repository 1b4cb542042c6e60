"""Runs that cannot be exported, and places that cannot be written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.export.exported_runs import ATLAS, a_graph, a_manifest, a_read_run, a_run

import kiwiresearch
from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError, RunDamaged, RunNotFound
from kiwiresearch.export.exporter import export
from kiwiresearch.export.formats import FORMATS


@pytest.mark.parametrize("to", ["svg", "", "GraphML", "csv\n"])
def test_an_unknown_format_lists_the_known_ones(tmp_path: Path, to: str) -> None:
    """Before anything of the run is read."""
    with pytest.raises(BadUsage) as caught:
        export(tmp_path / "nowhere", to)
    assert repr(to) in caught.value.message
    assert "graphml, gexf, csv, kiwix-bookmarks" in caught.value.remedy


def one_sentence(problem: KiwiError) -> None:
    assert problem.message.endswith(".")
    assert "\n" not in str(problem)
    assert len(str(problem)) < 500


@pytest.mark.parametrize("name", ["nowhere", "a\0b", "x" * 5000])
def test_a_run_that_is_not_there(tmp_path: Path, name: str) -> None:
    """A missing folder, or a name no system allows, is not a run."""
    with pytest.raises(RunNotFound) as caught:
        export(tmp_path / name, "graphml")
    assert caught.value.message.endswith(".")


def test_a_file_is_not_a_run(tmp_path: Path) -> None:
    """The graph's own file in place of its folder is refused by name."""
    run = a_run(tmp_path)
    with pytest.raises(RunNotFound, match=r"graph\.json' is not a folder") as caught:
        export(run / "graph.json", "graphml")
    one_sentence(caught.value)


@pytest.mark.parametrize(
    ("kept", "kind", "words"),
    [
        ((), RunNotFound, "does not contain a run"),
        (("graph.json",), RunNotFound, "not finished"),
        (("manifest.json",), RunDamaged, "The file '(graph|brief).json' is missing"),
    ],
)
@pytest.mark.parametrize("to", ["graphml", "epub"])
def test_a_folder_without_a_whole_run(
    tmp_path: Path, to: str, kept: tuple[str, ...], kind: type[KiwiError], words: str
) -> None:
    """What is missing is named, and no folder is made for files that never come."""
    run = a_run(tmp_path)
    for name in {"graph.json", "manifest.json"} - set(kept):
        (run / name).unlink()
    with pytest.raises(kind, match=words) as caught:
        export(run, to)
    one_sentence(caught.value)
    assert not (run / "export").exists()


@pytest.mark.parametrize("name", ["graph.json", "manifest.json"])
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '"text"', "1", "\0", '{"topic": NaN}', "[" * 100_000, "1" * 5000, "\ufeff{}", "{}"],
    ids=lambda text: repr(text[:12]),
)
def test_a_garbled_file_is_refused(tmp_path: Path, name: str, text: str) -> None:
    """A file that is not JSON, or not an object of a run, gives one sentence that names the file."""
    run = a_run(tmp_path, **{name.removesuffix(".json"): text or " "})
    with pytest.raises(RunDamaged, match=name) as caught:
        export(run, "graphml")
    one_sentence(caught.value)
    assert not (run / "export").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    """Reading a pipe would wait for ever."""
    for make in (os.mkfifo, os.mkdir):
        run = a_run(tmp_path / make.__name__)
        (run / "graph.json").unlink()
        make(run / "graph.json")
        with pytest.raises(RunDamaged, match="it is not a file"):
            export(run, "gexf")


WRONG: dict[str, tuple[object, ...]] = {
    "text": (None, 1, True, [], {}),
    "whole": (None, "1", 1.5, True, [], 2**31),
    "real": (None, "1", True, [], 10**400),
    "list": (None, "x", 1, {}, [1], ["x"], [None]),
}

NODE_KINDS = {
    **dict.fromkeys(("ref", "page_id", "book", "path", "title", "url", "state", "reason", "cluster"), "text"),
    "depth": "whole",
    "priority_score": "real",
    "relevance": "real",
    "lines": "list",
}

EDGE_KINDS = {
    **dict.fromkeys(("from", "to", "place", "section", "anchor_text"), "text"),
    "weight": "real",
    "count": "whole",
    "context": "real",
}


@pytest.mark.parametrize(
    ("part", "key", "kind"),
    [("nodes", *row) for row in NODE_KINDS.items()] + [("edges", *row) for row in EDGE_KINDS.items()],
)
def test_every_field_of_the_graph_is_checked(tmp_path: Path, part: str, key: str, kind: str) -> None:
    """A field that is missing or of another type is named, with the number of its node or edge."""
    graph = a_graph()
    for wrong in WRONG[kind]:
        graph[part][1] = a_graph()[part][1] | {key: wrong}
        with pytest.raises(RunDamaged, match=rf"{part[:-1]} 2\b.* (has|is|of)") as caught:
            export(a_run(tmp_path, graph), "csv")
        one_sentence(caught.value)
    del graph[part][1][key]
    with pytest.raises(RunDamaged, match=f"{part[:-1]} 2 has no '{key}'"):
        export(a_run(tmp_path, graph), "csv")


@pytest.mark.parametrize("key", ["id", "name", "title", "date", "flavour", "language"])
def test_every_field_of_a_book_is_checked(tmp_path: Path, key: str) -> None:
    """The manifest is trusted no more than the graph."""
    manifest = a_manifest()
    manifest["books"][1][key] = 3
    with pytest.raises(RunDamaged, match=f"book 2 has a '{key}' that is not text"):
        export(a_run(tmp_path, manifest=manifest), "kiwix-bookmarks")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"order": "first"}, "has a 'order' that is not a whole number"),
        ({"order": None}, "was visited but has no 'order'"),
        ({"state": "seen"}, "is 'seen' instead of visited or left"),
        ({"book": "x"}, "belongs to the book 'x', which 'manifest.json' does not list"),
        ({"ref": ""}, "has an empty 'ref'"),
        ({"ref": f"zim://{ATLAS}/A/Nile"}, "repeats 'zim://"),
        ({"lines": [{"signal": "x"}]}, "line 1 of node 2 has no 'points'"),
    ],
)
def test_a_node_that_makes_no_sense_is_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    """Types may be right and the run still not be one."""
    graph = a_graph()
    graph["nodes"][1] |= changes
    with pytest.raises(RunDamaged) as caught:
        export(a_run(tmp_path, graph), "graphml")
    assert words in caught.value.message


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_without_a_size_are_refused(tmp_path: Path, number: str) -> None:
    """No graph program reads them."""
    text = json.dumps(a_graph()).replace("0.75", number)
    with pytest.raises(RunDamaged, match=r"graph\.json"):
        export(a_run(tmp_path, text), "gexf")


def test_a_link_to_a_page_that_is_not_a_node_is_refused(tmp_path: Path) -> None:
    """GraphML and GEXF have no place for an edge with one end."""
    graph = a_graph()
    graph["edges"][0]["to"] = "zim://elsewhere/x"
    with pytest.raises(RunDamaged, match="edge 1 links 'zim://elsewhere/x', which is not one of the nodes"):
        export(a_run(tmp_path, graph), "graphml")


@pytest.fixture(scope="module")
def researched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with enough facts for a worksheet."""
    folder = tmp_path_factory.mktemp("researched") / "run"
    with kiwiresearch.open_shelf() as shelf:
        shelf.research("Bronze Age collapse", folder, settings=kiwiresearch.CrawlSettings(max_pages=8))
    return folder


@pytest.mark.parametrize("to", [to for to in FORMATS if to != "pdf"])
@pytest.mark.parametrize("out", ["taken/below", "x" * 5000])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, researched: Path, to: str, out: str) -> None:
    """A file where a folder should be, or a name no system allows, leaves nothing behind."""
    is_worksheet = to.startswith("worksheet")
    run = shutil.copytree(researched, tmp_path / "run") if is_worksheet else a_read_run(tmp_path / "run")
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(CannotWrite, match="cannot be written") as caught:
        export(run, to, tmp_path / out)
    assert caught.value.message.endswith(".")
    assert sorted(tmp_path.iterdir()) == [run, tmp_path / "taken"]
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_folder_in_place_of_the_file_leaves_nothing_behind(tmp_path: Path) -> None:
    """The part that was written beside it is taken away."""
    run = a_run(tmp_path)
    (run / "export" / "graph.gexf").mkdir(parents=True)
    with pytest.raises(CannotWrite, match=r"graph\.gexf") as caught:
        export(run, "gexf")
    one_sentence(caught.value)
    assert list((run / "export").iterdir()) == [run / "export" / "graph.gexf"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_an_error_about_a_read_only_run_names_another_place(tmp_path: Path) -> None:
    """A run on a read-only disk can be exported elsewhere, and the error says how."""
    run = a_run(tmp_path / "run")
    run.chmod(0o555)
    try:
        with pytest.raises(CannotWrite, match="--out") as caught:
            export(run, "graphml")
        one_sentence(caught.value)
        assert export(run, "graphml", tmp_path / "else")
    finally:
        run.chmod(0o755)
