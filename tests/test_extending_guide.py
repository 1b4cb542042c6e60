"""The newcomer's guide: each diff in it applies to the sources of today, and then does what the guide says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "guide" / "extending.md").read_text(encoding="utf-8")
RECIPES = {part.splitlines()[0]: part for part in re.split(r"^## ", GUIDE, flags=re.MULTILINE) if "```diff" in part}
RUN_DOCTEST = "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], module_relative=False).failed)"


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_applies_and_works(name: str, tmp_path: Path) -> None:
    recipe = RECIPES[name]
    # Hard links make a copy of the tree in no time; a file that a diff changes is replaced, never written through.
    # Compiled modules come along: Python compiles those anew whose sources changed, and replaces files as well.
    shutil.copytree(ROOT / "src", tmp_path / "src", copy_function=os.link, ignore=shutil.ignore_patterns("*.pyc.*"))
    for diff in re.findall(r"```diff\n(.*?)```", recipe, flags=re.DOTALL):
        _apply(diff, tmp_path)
    page = tmp_path / "recipe.md"
    page.write_text(recipe, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "KIWIRESEARCH_HOME": str(tmp_path / "home")}
    run = subprocess.run(
        [sys.executable, "-c", RUN_DOCTEST, str(page)], env=environment, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (0, ""), run.stdout + run.stderr
    assert ">>>" in recipe


def test_the_guide_has_all_four_recipes() -> None:
    assert len(RECIPES) == 4


def _apply(diff: str, root: Path) -> None:
    """Apply a diff whose hunks have no line numbers: what it removes or keeps must occur exactly once in the file."""
    header, *hunks = re.split(r"^@@.*\n", diff, flags=re.MULTILINE)
    file = root / header.splitlines()[1].removeprefix("+++ b/")
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    for hunk in hunks:
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        assert not old or text.count(old) == 1, f"{file.relative_to(root)} no longer has these lines once:\n{old}"
        text = text.replace(old, new) if old else new
    file.unlink(missing_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
