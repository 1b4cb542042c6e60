"""Write docs/requirements.md: which tests prove which requirement, according to the docstrings of the tests."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "requirements.md"
NUMBER = re.compile(r"\bR(\d+)(?:\s*[–-]\s*R(\d+))?\b")
HEAD = """# Requirements

Which test proves which requirement.
Tests name what they prove in their docstrings.
This page is generated from them by `python tools/requirements_map.py`, and a test checks that it is up to date.

| requirement | proved by |
| --- | --- |
"""


def proofs(root: Path = ROOT) -> dict[int, list[str]]:
    """The tests whose docstrings name a requirement, by its number."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for file in sorted((root / "tests").rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text).body if NUMBER.search(text) else ():
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in _numbers(ast.get_docstring(node) or ""):
                    found[number].append(f"{file.relative_to(root).as_posix()}::{node.name}")
    return dict(sorted(found.items()))


def _numbers(docstring: str) -> list[int]:
    numbers: set[int] = set()
    for first, last in NUMBER.findall(docstring):
        numbers.update(range(int(first), int(last or first) + 1))
    return sorted(numbers)


def page(root: Path = ROOT) -> str:
    rows = [f"| R{number} | {_cell(tests)} |" for number, tests in proofs(root).items()]
    return HEAD + "\n".join(rows) + "\n"


def _cell(tests: list[str]) -> str:
    return "<br>".join(f"`{test}`" for test in sorted(set(tests)))


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    print(f"{len(proofs())} requirements", file=sys.stderr)
