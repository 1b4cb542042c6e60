"""A run's graph as files for other programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.export.exported_runs import (
    ATLAS,
    FLORA,
    GEXF,
    GRAPH_FORMATS,
    GRAPHML,
    a_graph,
    a_node,
    a_run,
    a_run_of,
    an_edge,
    gexf_rows,
    graphml_rows,
    parsed,
    rows_of,
)

from kiwiresearch.errors import BadUsage
from kiwiresearch.export.exporter import export
from kiwiresearch.export.formats import FORMATS

HOSTILE = (
    "<script>alert(1)</script>",
    "]]>",
    "&lol; <!ENTITY x SYSTEM 'file:///etc/passwd'>",
    "\"double\" and 'single'",
    "two\nlines",
    "שלום עולם",
    "\u202eright to left",
    "🦜 kiwi 🥝",
    "C:\\temp\\",
    'a backslash \\" before a quote',
    "comma, semicolon; tab\tend",
)

FORMULAS = ("=cmd()", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1")


def labels(run: Path, to: str) -> list[str]:
    """The titles of a run's pages, as a reader of the format gets them."""
    files = export(run, to)
    if to == "csv":
        return [row["Label"] for row in rows_of(files[0])]
    root = parsed(files[0])
    if to == "graphml":
        return [row["label"] for row in graphml_rows(root, "node")]
    if to == "gexf":
        return [row["label"] for row in gexf_rows(root, "node")]
    return [mark.findtext("title", "") for mark in root]


@pytest.mark.parametrize(
    ("to", "names"),
    [
        ("graphml", ["graph.graphml"]),
        ("gexf", ["graph.gexf"]),
        ("csv", ["nodes.csv", "edges.csv"]),
        ("kiwix-bookmarks", ["bookmarks.xml"]),
    ],
)
def test_files_go_into_the_runs_own_folder(tmp_path: Path, to: str, names: list[str]) -> None:
    """Without another place they are in 'export', and nothing else is."""
    run = a_run(tmp_path / "run")
    files = export(run, to)
    assert files == tuple(run / "export" / name for name in names)
    assert sorted(run.iterdir()) == [run / "export", run / "graph.json", run / "manifest.json"]
    assert sorted((run / "export").iterdir()) == sorted(files)


def test_graphml_has_typed_nodes_and_edges(tmp_path: Path) -> None:
    """Each key says its type, each node and edge its values; the graph is directed."""
    root = parsed(export(a_run(tmp_path), "graphml")[0])
    assert root.tag == f"{GRAPHML}graphml"
    graphs = root.findall(f"{GRAPHML}graph")
    assert [graph.attrib["edgedefault"] for graph in graphs] == ["directed"]
    assert graphs[0].findtext(f"{GRAPHML}desc") == "Nile & <delta>"
    types = {
        (key.attrib["for"], key.attrib["attr.name"]): key.attrib["attr.type"] for key in root.iter(f"{GRAPHML}key")
    }
    assert types["node", "label"] == types["node", "state"] == types["edge", "place"] == "string"
    assert types["node", "order"] == types["node", "depth"] == types["edge", "count"] == "int"
    assert types["node", "relevance"] == types["edge", "weight"] == "double"
    nodes, edges = graphml_rows(root, "node"), graphml_rows(root, "edge")
    assert nodes[0] == {
        "id": f"zim://{ATLAS}/A/Nile",
        "label": "A/Nile",
        "state": "visited",
        "order": "2",
        "depth": "1",
        "priority_score": "4.5",
        "relevance": "0.25",
        "cluster": "rivers",
        "reason": "It is the topic.",
        "lines": "title word +5, list page -0.5",
        "book_title": "Atlas",
        "book": ATLAS,
        "path": "A/Nile",
        "url": "https://example.org/A/Nile",
        "page_id": "sha256:A/Nile",
    }
    assert edges[0] == {
        "id": "e0",
        "source": f"zim://{ATLAS}/Nile_delta",
        "target": f"zim://{ATLAS}/A/Nile",
        "weight": "0.75",
        "label": "the delta",
        "count": "2",
        "context": "0.5",
        "place": "lead",
        "section": "Course",
    }
    assert (len(nodes), len(edges)) == (3, 3)


def test_graphml_keys_are_declared_once_and_not_by_number(tmp_path: Path) -> None:
    """Gephi takes a key called 'd3' for the label, so keys are words."""
    root = parsed(export(a_run(tmp_path), "graphml")[0])
    keys = [key.attrib["id"] for key in root.iter(f"{GRAPHML}key")]
    assert len(set(keys)) == len(keys)
    assert {data.attrib["key"] for data in root.iter(f"{GRAPHML}data")} <= set(keys)
    assert not [key for key in keys if key[1:].isdigit()]


def test_missing_values_are_left_out(tmp_path: Path) -> None:
    """A page that was not visited has no number in the order of visits, rather than an empty one."""
    run = a_run(tmp_path)
    assert "order" not in graphml_rows(parsed(export(run, "graphml")[0]), "node")[2]
    assert "order" not in gexf_rows(parsed(export(run, "gexf")[0]), "node")[2]
    assert rows_of(export(run, "csv")[0])[2]["order"] == ""


def test_gexf_has_attributes_weights_and_labels(tmp_path: Path) -> None:
    """Version 1.3, directed, with declared types and counts that are true."""
    root = parsed(export(a_run(tmp_path), "gexf")[0])
    assert (root.tag, root.attrib["version"]) == (f"{GEXF}gexf", "1.3")
    assert [child.tag for child in root] == [f"{GEXF}meta", f"{GEXF}graph"]
    assert root.findtext(f"{GEXF}meta/{GEXF}description") == "Nile & <delta>"
    graph = root[1]
    assert graph.attrib["defaultedgetype"] == "directed"
    types = {
        (group.attrib["class"], one.attrib["id"]): one.attrib["type"]
        for group in graph.findall(f"{GEXF}attributes")
        for one in group
    }
    assert types["node", "depth"] == types["edge", "count"] == "integer"
    assert types["node", "relevance"] == types["edge", "context"] == "double"
    nodes, edges = gexf_rows(root, "node"), gexf_rows(root, "edge")
    assert [(group.tag, group.attrib["count"]) for group in graph if "count" in group.attrib] == [
        (f"{GEXF}nodes", "3"),
        (f"{GEXF}edges", "3"),
    ]
    assert (nodes[0]["id"], nodes[0]["label"], nodes[0]["depth"]) == (f"zim://{ATLAS}/A/Nile", "A/Nile", "1")
    assert edges[2] == {
        "id": "e2",
        "source": f"zim://{ATLAS}/A/Nile",
        "target": f"zim://{FLORA}/Reed",
        "type": "directed",
        "weight": "2.0",
        "label": "",
        "count": "2",
        "context": "0.5",
        "place": "lead",
        "section": "Course",
    }
    used = {("node", name) for row in nodes for name in row} | {("edge", name) for row in edges for name in row}
    own = {("node", "id"), ("node", "label")} | {
        ("edge", name) for name in ("id", "source", "target", "type", "weight", "label")
    }
    assert used - own <= set(types)


def test_tables_have_the_columns_gephi_looks_for(tmp_path: Path) -> None:
    """Id and Label, Source, Target, Type and Weight; the rest keeps the names of graph.json."""
    pages, links = export(a_run(tmp_path), "csv")
    nodes, edges = rows_of(pages), rows_of(links)
    assert list(nodes[0])[:2] == ["Id", "Label"]
    assert list(edges[0])[:5] == ["Source", "Target", "Type", "Weight", "Label"]
    assert [row["Id"] for row in nodes] == [node["ref"] for node in a_graph()["nodes"]]
    assert {row["Type"] for row in edges} == {"Directed"}
    assert {row["Source"] for row in edges} | {row["Target"] for row in edges} == {row["Id"] for row in nodes}
    assert [float(row["Weight"]) for row in edges] == [0.75, 0.75, 2.0]
    assert (nodes[2]["relevance"], nodes[2]["state"], nodes[2]["book_title"]) == ("1.0", "left", "Flora")


def test_tables_are_plain_utf_8_with_the_line_ends_of_the_csv_standard(tmp_path: Path) -> None:
    """No byte order mark, which Gephi 0.9.2 takes for a part of 'Id', and CR LF after each row."""
    for file in export(a_run(tmp_path), "csv"):
        content = file.read_bytes()
        assert content.startswith((b"Id,", b"Source,"))
        assert content.count(b"\r\n") == content.count(b"\n") == 4
        assert content.endswith(b"\r\n")


def test_bookmarks_are_the_visited_pages_in_their_order(tmp_path: Path) -> None:
    """Kiwix's own form, with the path behind one slash and the book as the manifest names it."""
    root = parsed(export(a_run(tmp_path), "kiwix-bookmarks")[0])
    assert (root.tag, {child.tag for child in root}) == ("bookmarks", {"bookmark"})
    assert [mark.findtext("url") for mark in root] == ["/Nile_delta", "/A/Nile"]
    first = root[0]
    assert [part.tag for part in first] == ["book", "title", "url"]
    assert first.findtext("title") == "Nile delta"
    assert {part.tag: part.text for part in first[0]} == {
        "id": ATLAS,
        "title": "Atlas",
        "name": "atlas_en",
        "flavour": "maxi",
        "language": "eng",
        "date": "2026-01-02",
    }


def test_bookmarks_spell_paths_as_the_book_does(tmp_path: Path) -> None:
    """Kiwix sets the text as the path of an address and does not decode it: nothing is percent-encoded."""
    run = a_run_of(tmp_path, a_node("What?_100%_é#1"))
    root = parsed(export(run, "kiwix-bookmarks")[0])
    assert [mark.findtext("url") for mark in root] == ["/What?_100%_é#1"]


def test_a_run_without_visits_has_an_empty_list_of_bookmarks(tmp_path: Path) -> None:
    """A graph of nothing is still a file of each format."""
    run = a_run(tmp_path, {"topic": "", "nodes": [], "edges": []})
    assert len(parsed(export(run, "kiwix-bookmarks")[0])) == 0
    assert [rows_of(file) for file in export(run, "csv")] == [[], []]
    assert graphml_rows(parsed(export(run, "graphml")[0]), "node") == []
    assert gexf_rows(parsed(export(run, "gexf")[0]), "node") == []


@pytest.mark.parametrize("to", ["graphml", "gexf", "kiwix-bookmarks"])
def test_hostile_titles_come_back_from_xml(tmp_path: Path, to: str) -> None:
    """Markup, entities, quotes, other scripts and emoji are read as they were written."""
    nodes = [a_node(f"p{number}", title=title, order=number) for number, title in enumerate(HOSTILE)]
    run = a_run_of(tmp_path, *nodes)
    assert labels(run, to) == list(HOSTILE)
    (file,) = export(run, to)
    content = file.read_text(encoding="utf-8")
    assert "<!ENTITY" not in content
    assert ("\u202e" in content, "&#x202E;" in content) == (False, True)


def test_hostile_titles_come_back_from_a_table(tmp_path: Path) -> None:
    """The same in CSV, but for a space after a backslash that would hide a quote from Gephi, and for marks that change
    the writing direction of a terminal.
    """
    nodes = [a_node(f"p{number}", title=title) for number, title in enumerate(HOSTILE)]
    got = labels(a_run_of(tmp_path, *nodes), "csv")
    shown = [title.removeprefix("\u202e") for title in HOSTILE]
    assert got == [title.replace('\\"', '\\ "') + " " * title.endswith("\\") for title in shown]


@pytest.mark.parametrize("to", GRAPH_FORMATS)
@pytest.mark.parametrize(
    ("title", "read"), [("a\0b\x1b", "a\ufffdb\ufffd"), ("\ud800x", "\ufffdx"), ("\uffff", "\ufffd")]
)
def test_characters_that_xml_forbids_are_replaced(tmp_path: Path, to: str, title: str, read: str) -> None:
    """NUL, escape, half a letter and a non-character become U+FFFD in every format."""
    assert labels(a_run_of(tmp_path, a_node("p", title=title)), to) == [read]


@pytest.mark.parametrize("to", GRAPH_FORMATS)
def test_an_untitled_page_is_called_by_its_path(tmp_path: Path, to: str) -> None:
    """A label is never empty where the page has a path."""
    assert labels(a_run_of(tmp_path, a_node("Nile", title="")), to) == ["Nile"]


@pytest.mark.parametrize("to", ["graphml", "gexf", "csv"])
def test_names_that_differ_in_forbidden_characters_stay_two(tmp_path: Path, to: str) -> None:
    """In a ref such a character is percent-encoded, so that links still join the right pages."""
    nodes = [a_node("a\x01"), a_node("a\x02"), a_node("a\udce9"), a_node("a\ud800")]
    files = export(a_run_of(tmp_path, *nodes), to)
    if to == "csv":
        ids = [row["Id"] for row in rows_of(files[0])]
        ends = [row["Source"] for row in rows_of(files[1])]
    elif to == "gexf":
        ids = [row["id"] for row in gexf_rows(parsed(files[0]), "node")]
        ends = [row["source"] for row in gexf_rows(parsed(files[0]), "edge")]
    else:
        ids = [row["id"] for row in graphml_rows(parsed(files[0]), "node")]
        ends = [row["source"] for row in graphml_rows(parsed(files[0]), "edge")]
    assert ids == ends == [f"zim://{ATLAS}/a{end}" for end in ("%01", "%02", "%E9", "%ED%A0%80")]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_defused_in_tables(tmp_path: Path, text: str) -> None:
    """A text that a spreadsheet would compute begins with an apostrophe, names of pages included."""
    node = a_node("p", title=text, ref=text, reason=text, lines=[{"signal": text, "points": 1}])
    graph = {"topic": text, "nodes": [node], "edges": [an_edge(node, node, anchor_text=text, section=text)]}
    pages, links = export(a_run(tmp_path, graph), "csv")
    page, link = rows_of(pages)[0], rows_of(links)[0]
    assert {page["Id"], page["Label"], page["reason"]} == {f"'{text}"}
    assert page["lines"] == f"'{text} +1"
    assert {link["Source"], link["Target"], link["Label"], link["section"]} == {f"'{text}"}


def test_negative_numbers_stay_numbers(tmp_path: Path) -> None:
    """Only texts are defused."""
    node = a_node("p", priority_score=-1.5, relevance=-1e-7, depth=-1)
    row = rows_of(export(a_run_of(tmp_path, node), "csv")[0])[0]
    assert (row["priority_score"], row["relevance"], row["depth"]) == ("-1.5", "-1e-07", "-1")


@pytest.mark.parametrize("to", ["graphml", "gexf", "kiwix-bookmarks"])
def test_formulas_are_left_alone_in_xml(tmp_path: Path, to: str) -> None:
    """No program computes them there."""
    assert labels(a_run_of(tmp_path, a_node("p", title="=cmd()")), to) == ["=cmd()"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(st.characters(), max_size=20), anchor=st.text(st.characters(), max_size=20))
def test_any_text_gives_files_that_can_be_read(tmp_path: Path, title: str, anchor: str) -> None:
    """Whatever is in a title or an anchor, parsers accept every file."""
    node = a_node("p", title=title, path=title, ref=f"zim://{ATLAS}/{title}")
    run = a_run(tmp_path, {"topic": title, "nodes": [node], "edges": [an_edge(node, node, anchor_text=anchor)]})
    for to in GRAPH_FORMATS:
        for file in export(run, to):
            assert len(rows_of(file)) == 1 if to == "csv" else len(parsed(file)) > 0


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    """In another folder, another process, another locale and with another hash seed."""
    here = {to: [file.read_bytes() for file in export(a_run(tmp_path / "a"), to)] for to in GRAPH_FORMATS}
    run = a_run(tmp_path / "b")
    program = (
        "import pathlib, sys; from kiwiresearch.export.exporter import export; "
        "[export(pathlib.Path(sys.argv[1]), to, pathlib.Path(sys.argv[1]) / to) for to in sys.argv[2:]]"
    )
    there = os.environ | {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONUTF8": "0"}
    subprocess.run([sys.executable, "-c", program, str(run), *GRAPH_FORMATS], env=there, check=True)
    assert {to: [(run / to / name).read_bytes() for name in FORMATS[to].files] for to in GRAPH_FORMATS} == here


def test_a_second_export_replaces_the_first(tmp_path: Path) -> None:
    """The files are those of the run as it is now, and no others are left."""
    run = a_run(tmp_path)
    export(run, "graphml")
    (file,) = export(a_run_of(tmp_path, a_node("Only")), "graphml")
    assert [row["label"] for row in graphml_rows(parsed(file), "node")] == ["Only"]
    assert list(file.parent.iterdir()) == [file]


def test_another_place_is_a_file_or_a_folder(tmp_path: Path) -> None:
    """A name that ends as the format does is the file; any other is a folder, made if need be."""
    run = a_run(tmp_path / "run")
    assert export(run, "gexf", tmp_path / "new" / "nile.GEXF") == (tmp_path / "new" / "nile.GEXF",)
    assert export(run, "gexf", tmp_path / "deep" / "er") == (tmp_path / "deep" / "er" / "graph.gexf",)
    assert export(run, "csv", tmp_path / "deep") == (tmp_path / "deep" / "nodes.csv", tmp_path / "deep" / "edges.csv")
    assert not (run / "export").exists()


def test_two_tables_do_not_fit_one_file(tmp_path: Path) -> None:
    """'--out nile.csv' is refused with what to do instead."""
    with pytest.raises(BadUsage, match=r"nodes\.csv and edges\.csv.*folder"):
        export(a_run(tmp_path / "run"), "csv", tmp_path / "nile.csv")
    assert not (tmp_path / "nile.csv").exists()


def test_unknown_fields_are_ignored(tmp_path: Path) -> None:
    """Fields that a later version may add are ignored."""
    graph = a_graph() | {"new": 1}
    graph["nodes"][0]["new"] = graph["edges"][0]["new"] = {"x": [1]}
    for to in GRAPH_FORMATS:
        assert [file.read_bytes() for file in export(a_run(tmp_path / "new", graph), to)] == [
            file.read_bytes() for file in export(a_run(tmp_path / "old"), to)
        ]
