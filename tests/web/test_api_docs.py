"""The page of the API: every route is on it, and every example on it is what the server does."""

from __future__ import annotations

import difflib
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import httpx2
import pytest

from kiwiresearch.workspace.workspace import open_workspace

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "API.md"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_api_docs", ROOT / "tools" / "make_api_docs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_the_examples_are_what_the_server_answers(tool: ModuleType, tmp_path: Path) -> None:
    """Each command of docs/API.md, run against a server on the sample book, gives what the page shows (R265)."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")}).sample()  # which the server would build itself
    [(path, text)] = tool.generate(tmp_path).items()
    old = path.read_text(encoding="utf-8")
    changes = "\n".join(list(difflib.unified_diff(old.splitlines(), text.splitlines(), lineterm="", n=1))[:40])
    assert old == text, f"docs/API.md is old: run python tools/make_api_docs.py\n{changes}"


def test_every_example_has_its_place(tool: ModuleType) -> None:
    """All examples that are run are shown, each once, and no place of the page is left without one."""
    places = [found[1] for found in tool.MARKED.findall(PAGE.read_text(encoding="utf-8"))]
    assert sorted(places) == sorted(tool.EXAMPLES)


def test_every_route_is_on_the_page(client: httpx2.Client) -> None:
    """docs/API.md names each method and path that the OpenAPI has."""
    text = PAGE.read_text(encoding="utf-8")
    paths = client.get("/openapi.json").json()["paths"]
    routes = {f"`{method.upper()} {path}`" for path, methods in paths.items() for method in methods}
    assert {route for route in routes if route not in text} == set()


def test_every_field_of_an_answer_is_explained(client: httpx2.Client) -> None:
    """docs/API.md has a word for each field of an answer and of a citation."""
    text = PAGE.read_text(encoding="utf-8")
    record = client.post("/api/ask", json={"question": "When was Einstein born?"}).json()
    names = {*record, *record["citations"][0]}
    assert {name for name in names if f"`{name}`" not in text} == set()
