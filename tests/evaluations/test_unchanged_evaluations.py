"""An evaluation is left out only where nothing that decides its figures has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from evals import unchanged
from evals.gate import EVALUATIONS

from kiwiresearch.messages import catalogue_in

FILES = {
    "evals/__init__.py": "",
    "evals/reading.py": "from kiwiresearch.text.words import split",
    "src/kiwiresearch/__init__.py": "",
    "src/kiwiresearch/text/__init__.py": "",
    "src/kiwiresearch/text/words.py": "def split(text):\n    from kiwiresearch.text import marks\n    return marks",
    "src/kiwiresearch/text/marks.py": "",
    "src/kiwiresearch/text/data/eng.toml": "",
    "src/kiwiresearch/web/__init__.py": "",
    "src/kiwiresearch/web/app.py": "from kiwiresearch.text import words",
    "pyproject.toml": '[project]\ndependencies = ["numpy>=2"]\n',
}
DECIDING = (
    "evals/reading.py",
    "src/kiwiresearch/text/words.py",
    "src/kiwiresearch/text/marks.py",
    "src/kiwiresearch/text/__init__.py",
    "src/kiwiresearch/text/data/eng.toml",
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small project with one evaluation."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    packages = {"kiwiresearch": tmp_path / "src" / "kiwiresearch", "evals": tmp_path / "evals"}
    monkeypatch.setattr(unchanged, "ROOT", tmp_path)
    monkeypatch.setattr(unchanged, "PACKAGES", packages)
    monkeypatch.setattr(unchanged, "MEASURED", tmp_path / "evals" / "measured.json")
    unchanged.library_versions.cache_clear()
    yield tmp_path
    unchanged.library_versions.cache_clear()


@pytest.mark.parametrize("name", DECIDING)
def test_relevant_changes_are_noticed(tree: Path, name: str) -> None:
    """Code at the head or within a function, and tables beside it, make a new measurement."""
    unchanged.record("reading")
    assert unchanged.is_unchanged("reading")
    with (tree / name).open("a", encoding="utf-8") as file:
        file.write("\nother = 1\n")
    assert not unchanged.is_unchanged("reading")


def test_comments_and_docstrings_decide_nothing(tree: Path) -> None:
    """Code is measured again if it does something else, not if it is explained better."""
    words = tree / "src/kiwiresearch/text/words.py"
    unchanged.record("reading")
    text = words.read_text(encoding="utf-8").replace("(text):", '(text):\n    """Cut it."""  # at spaces')
    words.write_text(f'"""Words."""\n\n{text}\n', encoding="utf-8")
    assert unchanged.is_unchanged("reading")
    words.write_text(text.replace("return marks", "return 'marks'"), encoding="utf-8")
    assert not unchanged.is_unchanged("reading")


def test_a_name_of_a_package_leads_to_the_module_that_has_it(tree: Path) -> None:
    """And to no other module whose names the package offers."""
    offers = (
        "if TYPE_CHECKING:\n    from kiwiresearch.text.words import split\n    from kiwiresearch.text.dates import days"
    )
    (tree / "src/kiwiresearch/text/__init__.py").write_text(offers, encoding="utf-8")
    (tree / "src/kiwiresearch/text/dates.py").write_text("days = 7", encoding="utf-8")
    (tree / "evals/reading.py").write_text("from kiwiresearch.text import split", encoding="utf-8")
    unchanged._exports.cache_clear()
    reached = {file.name for file in unchanged.reachable_files("evals.reading")}
    assert {"words.py", "marks.py"} <= reached
    assert "dates.py" not in reached


def test_other_code_does_not_matter(tree: Path) -> None:
    """Code that an evaluation does not use does not cause a new measurement."""
    unchanged.record("reading")
    (tree / "src/kiwiresearch/web/app.py").write_text("changed = True", encoding="utf-8")
    assert unchanged.is_unchanged("reading")


def test_other_libraries_are_noticed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same code on another version of a library is measured again."""
    unchanged.record("reading")
    monkeypatch.setattr(unchanged, "version", lambda name: "0")
    unchanged.library_versions.cache_clear()
    assert not unchanged.is_unchanged("reading")


def test_an_evaluation_that_was_never_measured_is_measured(tree: Path) -> None:
    """Nothing is believed without a record."""
    assert not unchanged.is_unchanged("reading")


@pytest.mark.parametrize("name", EVALUATIONS)
def test_each_evaluation_reaches_what_it_measures(name: str) -> None:
    """It depends on itself and on the program, and not on pages for browsers."""
    reached = {str(file.relative_to(unchanged.ROOT)) for file in unchanged.reachable_files(f"evals.{name}")}
    assert f"evals/{name}.py" in reached
    assert any(file.startswith("src/kiwiresearch/") for file in reached)
    assert not any(file.startswith("src/kiwiresearch/web/") for file in reached)


def test_sentences_that_the_code_can_use_are_part_of_the_data(tmp_path: Path) -> None:
    """Keys in full, the groups of a key and its beginnings count; sentences of other pages do not."""
    code = tmp_path / "words.py"
    code.write_text('a = "crawl.seed"\nb = words.named("claims.signals", a)\nc = f"legend.{a}"\n', encoding="utf-8")
    found = unchanged.reachable_sentences([code])
    assert json.loads(json.dumps(found)) == found, "it is part of a fingerprint"
    assert {"kinds.crawl.seed"} == {key for key in found if key.startswith("kinds.")}
    assert {key.partition(".")[0] for key in found} == {"kinds", "claims", "legend"}
    assert {key for key in found if key.startswith("claims.")} == {
        key for key in sorted(catalogue_in("en").keys()) if key.startswith("claims.signals.")
    }


def test_sentences_of_web_pages_decide_no_figure() -> None:
    """The wording of a page can be improved without measuring everything again."""
    for name in EVALUATIONS:
        keys = unchanged.reachable_sentences(unchanged.reachable_files(f"evals.{name}"))
        assert not [key for key in keys if key.startswith(("home.", "books.", "settings.", "family.", "people."))]
