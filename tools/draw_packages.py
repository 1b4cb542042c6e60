"""Draw the packages and their imports: `python -m tools.draw_packages` writes docs/design/packages.svg.

Rows are the layers in pyproject.toml, and lines are imports in the code. To keep the picture readable, an import is
left out if it is implied by a chain of other imports.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import grimp

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "design" / "packages.svg"
PRODUCT = "kiwiresearch"
WIDTH, ROW, BOX_HEIGHT, GAP, LETTER = 980, 62, 30, 16, 8.2
COLUMNS = {
    "cli": 4.6, "web": 2.6, "mcp": 6.6, "api": 8.2, "jobs": 1.6, "verify": 6.4, "export": 4.0, "diff": 8.8,
    "runs": 5.4, "cases": 0.4, "workspace": 3.6, "atlas": 8.6, "bulk": 7.4, "brief": 5.8, "ask": 2.6, "kin": 0.6,
    "crawl": 7.0, "claims": 4.4, "search": 6.2, "evidence": 3.4, "page": 4.8, "zim": 5.8, "llm": 4.4, "embed": 7.4,
    "reader": 2.6, "store": 0.8, "document": 8.6, "text": 4.4, "system": 1.8, "network": 3.2, "ids": 4.8, "errors": 6.2,
    "version": 7.8, "messages": 4.4,
}  # fmt: skip
"""The positions of packages in their rows, in tenths of the width, so that few lines cross; by default the middle."""
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
    """The packages by layer, from the top, in the order of the first import contract."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = next(
        contract["layers"] for contract in project["tool"]["importlinter"]["contracts"] if contract["type"] == "layers"
    )
    return [[name.strip().strip("()") for name in row.split("|")] for row in rows]


def package_imports(packages: Iterable[str]) -> dict[str, set[str]]:
    """Which packages each package imports, in any of its modules."""
    graph = grimp.build_graph(PRODUCT)
    names = sorted(packages)
    return {
        package: {other for other in names if other != package and _imports(graph, package, other)} for package in names
    }


def _imports(graph: grimp.ImportGraph, package: str, other: str) -> bool:
    importer, imported = f"{PRODUCT}.{package}", f"{PRODUCT}.{other}"
    return graph.direct_import_exists(importer=importer, imported=imported, as_packages=True)


def remove_implied(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The imports that no chain of other imports implies."""

    def reachable(name: str) -> set[str]:
        return {indirect for direct in imports[name] for indirect in ({direct} | reachable(direct))}

    below = {name: reachable(name) for name in imports}
    return {
        name: {target for target in direct if not any(target in below[other] for other in direct)}
        for name, direct in imports.items()
    }


def place_boxes(rows: Sequence[Sequence[str]]) -> dict[str, Box]:
    """Place the boxes, with one row for each layer."""
    boxes = {}
    for number, row in enumerate(rows):
        free = 0.0
        for name in sorted(row, key=lambda name: COLUMNS.get(name, 5)):
            width = LETTER * len(name) + 24
            x = max(free, min(COLUMNS.get(name, 5) * WIDTH / 10, WIDTH - width - GAP))
            boxes[name] = Box(name, x, 20 + number * ROW, width)
            free = x + width + GAP
    return boxes


def draw_svg(rows: Sequence[Sequence[str]], imports: Mapping[str, set[str]]) -> str:
    """The picture as SVG."""
    boxes = place_boxes(rows)
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


def draw_current() -> str:
    """The picture of the current code."""
    rows = layers()
    packages = [name for row in rows for name in row]
    for upper, lower in pairwise(rows):
        assert set(upper).isdisjoint(lower), "a package is in two layers"
    return draw_svg(rows, remove_implied(package_imports(packages)))


if __name__ == "__main__":
    TARGET.write_text(draw_current(), encoding="utf-8")
    print(TARGET.relative_to(ROOT))
