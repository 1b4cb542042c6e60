"""Draw the packages and what they import: `python -m tools.draw_packages` writes docs/design/packages.svg.

Rows are the layers in pyproject.toml; lines are real imports, read from the code. An import that a chain of other
imports implies is left out, to keep the picture readable.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import grimp

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "design" / "packages.svg"
PRODUCT = "kiwiresearch"
WIDTH, ROW, BOX_HEIGHT, GAP, LETTER = 980, 62, 30, 16, 8.2
COLUMNS = {
    "cli": 4.6, "web": 2.6, "mcp": 6.6, "api": 8.2, "jobs": 1.6, "verify": 6.4, "export": 4.0, "diff": 8.8,
    "runs": 5.4, "cases": 0.4, "workspace": 3.6, "atlas": 8.6, "bulk": 7.4, "brief": 5.8, "ask": 2.6, "kin": 0.6,
    "crawl": 7.0, "claims": 4.4, "search": 6.2, "evidence": 3.4, "page": 4.8, "zim": 5.8, "llm": 4.4, "embed": 7.4,
    "reader": 2.6, "store": 0.8, "document": 8.6, "text": 4.4, "system": 1.8, "network": 3.2, "ids": 4.8, "errors": 6.2,
    "version": 7.8, "messages": 4.4,
}  # fmt: skip
"""Where a package is drawn in its row, in tenths of the width, so that few lines cross; others are in the middle."""
STYLE = (
    "text{font:14px sans-serif;fill:#1b1f24}.box{fill:#f3f6fb;stroke:#5b7aa8}.import{fill:none;stroke:#8a94a3}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ee}.box{fill:#1f2630;stroke:#7f9cc8}.import{stroke:#6c7684}}"
)


class Box(NamedTuple):
    """A package as it is drawn."""

    name: str
    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def layers() -> list[list[str]]:
    """The packages by layer, from the top, as the first contract lists them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = next(one["layers"] for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[name.strip().strip("()") for name in row.split("|")] for row in rows]


def package_imports(packages: Iterable[str]) -> dict[str, set[str]]:
    """Which packages each package imports, in any of its modules."""
    graph = grimp.build_graph(PRODUCT)
    names = sorted(packages)
    return {one: {other for other in names if other != one and _imports(graph, one, other)} for one in names}


def _imports(graph: grimp.ImportGraph, one: str, other: str) -> bool:
    importer, imported = f"{PRODUCT}.{one}", f"{PRODUCT}.{other}"
    return graph.direct_import_exists(importer=importer, imported=imported, as_packages=True)


def without_implied(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Only imports that no chain of others implies."""

    def reached(name: str) -> set[str]:
        return {far for near in imports[name] for far in ({near} | reached(near))}

    below = {name: reached(name) for name in imports}
    return {
        name: {one for one in near if not any(one in below[other] for other in near)} for name, near in imports.items()
    }


def place(rows: Sequence[Sequence[str]]) -> dict[str, Box]:
    """Each layer in a row of its own."""
    boxes = {}
    for number, row in enumerate(rows):
        free = 0.0
        for name in sorted(row, key=lambda one: COLUMNS.get(one, 5)):
            width = LETTER * len(name) + 24
            x = max(free, min(COLUMNS.get(name, 5) * WIDTH / 10, WIDTH - width - GAP))
            boxes[name] = Box(name, x, 20 + number * ROW, width)
            free = x + width + GAP
    return boxes


def draw(rows: Sequence[Sequence[str]], imports: Mapping[str, set[str]]) -> str:
    """The picture as SVG."""
    boxes = place(rows)
    height = 20 + len(rows) * ROW
    label = "Packages of kiwiresearch from the command line at the top to files at the bottom, and which imports which"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">',
        f"<style>{STYLE}</style>",
    ]
    for name, targets in sorted(imports.items()):
        parts += [_line(boxes[name], boxes[target]) for target in sorted(targets)]
    for box in boxes.values():
        parts.append(
            f'<rect class="box" x="{box.x:.0f}" y="{box.y}" width="{box.width:.0f}" height="{BOX_HEIGHT}" rx="5"/>'
            f'<text x="{box.middle:.0f}" y="{box.y + 20}" text-anchor="middle">{box.name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _line(upper: Box, lower: Box) -> str:
    top, bottom = upper.y + BOX_HEIGHT, lower.y
    bend = (top + bottom) / 2
    curve = f"C{upper.middle:.0f} {bend:.0f} {lower.middle:.0f} {bend:.0f} {lower.middle:.0f} {bottom:.0f}"
    return f'<path class="import" d="M{upper.middle:.0f} {top:.0f} {curve}"/>'


def picture() -> str:
    """The picture of the current code."""
    rows = layers()
    packages = [name for row in rows for name in row]
    for upper, lower in pairwise(rows):
        assert set(upper).isdisjoint(lower), "a package is in two layers"
    return draw(rows, without_implied(package_imports(packages)))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
