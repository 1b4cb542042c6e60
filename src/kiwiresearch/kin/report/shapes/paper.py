"""A family picture on paper: divided into sheets between its boxes, none of them blank, each with an overview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Literal, NamedTuple

from kiwiresearch.kin.report.shapes.layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    MORE_HEIGHT,
    MORE_WIDTH,
    Box,
    Label,
    Layout,
    Tie,
    number,
)
from kiwiresearch.kin.report.shapes.svg import COLOURS, Drawing, parts_of
from kiwiresearch.kin.tree import Tree

Paper = Literal["a4", "a3"]
Orientation = Literal["portrait", "landscape"]
SIZES_MM: dict[Paper, tuple[float, float]] = {"a4": (210.0, 297.0), "a3": (297.0, 420.0)}
MARGIN_MM = 10.0
FOOT_MM = 16.0
"""The line below the picture: the title, the number of the sheet, and where the sheet belongs."""
SLACK_MM = 1.0
"""A sheet that fills its page to the last fraction may be continued on a blank one."""
UNITS_PER_MM = 96 / 25.4
USUAL_SCALE = 0.8
MIN_SCALE = 0.6
"""A picture is made smaller to fit on one sheet, down to where its names can still be read."""
MIN_SHARE = 0.5
"""A sheet is not cut shorter than this to spare a box; what is cut is then on the next sheet as a whole."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


class AxisRange(NamedTuple):
    """From where to where something reaches in one direction."""

    start: float
    end: float


class Area(NamedTuple):
    """A part of the picture."""

    across: AxisRange
    down: AxisRange

    def turned(self) -> Area:
        return Area(self.down, self.across)

    def meets(self, other: Area) -> bool:
        return _meet(self.across, other.across) and _meet(self.down, other.down)


@dataclass(frozen=True, slots=True)
class Sheets:
    """A picture divided into sheets, at a scale."""

    tiles: tuple[Area, ...]
    scale: float


def divide(layout: Layout, paper: Paper = "a4", orientation: Orientation = "landscape") -> Sheets:
    """The sheets of a picture, cut between boxes where that is possible; only those that something is drawn on."""
    width, height = (side * UNITS_PER_MM for side in _room_mm(paper, orientation))
    fitting = min(width / layout.width, height / layout.height, 1.0)
    if fitting >= MIN_SCALE or any(box.wedge for box in layout.boxes):  # an arc cannot be cut beside its text
        return Sheets((Area(AxisRange(0.0, layout.width), AxisRange(0.0, layout.height)),), fitting)
    pieces = Pieces.of(layout)
    solid, lines = pieces.solid, pieces.lines
    room = width / USUAL_SCALE, height / USUAL_SCALE
    by_rows = _tiles(solid, lines, room)
    standing, lying = ([area.turned() for area in areas] for areas in (solid, lines))
    by_columns = [tile.turned() for tile in _tiles(standing, lying, room[::-1])]
    # Rows first, then columns, or the other way round: whichever cuts fewer boxes, then needs fewer sheets.
    tiles = min((by_rows, by_columns), key=lambda found: (_count_cut(found, solid), len(found)))
    return Sheets(tuple(tiles), USUAL_SCALE)


def _room_mm(paper: Paper, orientation: Orientation) -> tuple[float, float]:
    """The space for the picture on a sheet."""
    width, height = _size_mm(paper, orientation)
    return width - 2 * MARGIN_MM, height - 2 * MARGIN_MM - FOOT_MM - SLACK_MM


def _size_mm(paper: Paper, orientation: Orientation) -> tuple[float, float]:
    short, long = SIZES_MM[paper]
    return (short, long) if orientation == "portrait" else (long, short)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The parts of a layout with the areas that they cover."""

    boxes: tuple[tuple[Box, Area], ...]
    labels: tuple[tuple[Label, Area], ...]
    ties: tuple[tuple[Tie, tuple[Area, ...]], ...]

    @classmethod
    def of(cls, layout: Layout) -> Pieces:
        return cls(
            tuple((box, _box_area(box)) for box in layout.boxes),
            tuple((label, _label_area(label)) for label in layout.labels),
            tuple((tie, _tie_areas(tie)) for tie in layout.ties),
        )

    @property
    def solid(self) -> list[Area]:
        """What should not be cut."""
        return [area for _, area in (*self.boxes, *self.labels)]

    @property
    def lines(self) -> list[Area]:
        """What may be cut."""
        return [area for _, areas in self.ties for area in areas]

    def within(self, layout: Layout, tile: Area) -> Layout:
        """What of a layout is on a sheet."""
        if any(box.wedge for box in layout.boxes):
            return layout
        return replace(
            layout,
            boxes=tuple(box for box, area in self.boxes if tile.meets(area)),
            labels=tuple(label for label, area in self.labels if tile.meets(area)),
            ties=tuple(tie for tie, areas in self.ties if any(map(tile.meets, areas))),
        )


def _box_area(box: Box) -> Area:
    return Area(AxisRange(box.x, box.x + BOX_WIDTH), AxisRange(box.y, box.y + BOX_HEIGHT))


def _label_area(label: Label) -> Area:
    width = MORE_WIDTH if label.role == "more" else 3 * MORE_WIDTH
    return Area(AxisRange(label.x, label.x + width), AxisRange(label.y - MORE_HEIGHT / 2, label.y + MORE_HEIGHT / 2))


def _tie_areas(tie: Tie) -> tuple[Area, ...]:
    return tuple(Area(_stroke(one[0], other[0]), _stroke(one[1], other[1])) for one, other in pairwise(tie.points))


def _stroke(one: float, other: float) -> AxisRange:
    """What a line covers in one direction: at least its own width."""
    return AxisRange(min(one, other) - 0.5, max(one, other) + 0.5)


def _tiles(solid: Sequence[Area], lines: Sequence[Area], room: tuple[float, float]) -> list[Area]:
    """Bands across the whole picture, each divided by what is in it."""
    found = []
    for band in _cut([area.down for area in solid], [area.down for area in lines], room[1]):
        inside = [area for area in solid if _meet(area.down, band)]
        crossing = [area for area in lines if _meet(area.down, band)]
        for part in _cut([area.across for area in inside], [area.across for area in crossing], room[0]):
            tile = Area(part, band)
            if any(tile.meets(area) for area in (*inside, *crossing)):
                found.append(tile)
    return found


def _cut(solid: Sequence[AxisRange], lines: Sequence[AxisRange], room: float) -> Iterator[AxisRange]:
    """Spans of at most this length that cover everything, with ends that are not within anything solid."""
    everything = [*solid, *lines]
    at, end = min(span.start for span in everything), max(span.end for span in everything)
    while end - at > room:
        there = _free(solid, at + room)
        if there - at < room * MIN_SHARE:
            yield AxisRange(at, at + room)
            # What was cut through is on the next sheet as a whole.
            at = min(span.start for span in solid if span.start < at + room < span.end)
            continue
        yield AxisRange(at, there)
        rest = [span.start for span in everything if span.end > there]
        at = max(there, min(rest, default=there))
    yield AxisRange(at, end)


def _free(solid: Sequence[AxisRange], at: float) -> float:
    """The nearest place before this one that is not within anything."""
    while crossed := [span.start for span in solid if span.start < at < span.end]:
        at = min(crossed)
    return at


def _meet(one: AxisRange, other: AxisRange) -> bool:
    return one.start < other.end and other.start < one.end


def _count_cut(tiles: Sequence[Area], solid: Iterable[Area]) -> int:
    """How many parts are on more than one sheet."""
    return sum(sum(tile.meets(area) for tile in tiles) > 1 for area in solid)


def print_page(
    layout: Layout,
    tree: Tree,
    how: Drawing,
    paper: Paper,
    orientation: Orientation,
    *,
    language: str = "en",
    sheet_words: Callable[[int, int], str] = "Sheet {} of {}".format,
) -> str:
    """A page of HTML that prints as one sheet for each part of the picture."""
    sheets, pieces = divide(layout, paper, orientation), Pieces.of(layout)
    width, height = _size_mm(paper, orientation)
    title = escape(how.title)
    drawn = "\n".join(
        _sheet(
            parts_of(pieces.within(layout, tile), tree, how),
            tile,
            sheets.scale,
            (title, escape(sheet_words(index + 1, len(sheets.tiles))), _overview(layout, sheets, index)),
        )
        for index, tile in enumerate(sheets.tiles)
    )
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{COLOURS}{_style(width, height)}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{_overview_shapes(layout)}\n{drawn}\n</body>\n</html>\n"
    )


def _style(width: float, height: float) -> str:
    inner = f"{number(width - 2 * MARGIN_MM)}mm"
    return (
        f"@page {{ size: {number(width)}mm {number(height)}mm; margin: {number(MARGIN_MM)}mm; }}\n"
        "* { box-sizing: border-box; } body { margin: 0; color: #1c1e21; font: 9pt system-ui, sans-serif; }\n"
        "svg { background: none; } h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; margin: 0; }\n"
        f".sheet {{ width: {inner}; height: {number(height - 2 * MARGIN_MM - SLACK_MM)}mm; overflow: hidden;"
        " display: flex; flex-direction: column; justify-content: space-between; break-after: page; }\n"
        ".sheet:last-child { break-after: auto; } .sheet > svg { display: block; }\n"
        f".foot {{ height: {number(FOOT_MM)}mm; padding-top: 2mm; display: flex; justify-content: space-between;"
        " align-items: end; gap: 6mm; } .foot svg { height: 13mm; width: 40mm; }\n"
        ".whole rect { fill: #b9bec4; } .part { fill: none; stroke: #6d747c; vector-effect: non-scaling-stroke; }\n"
        ".here { fill: #14517c; fill-opacity: .25; stroke: #14517c; vector-effect: non-scaling-stroke; }\n"
        ".shapes { position: absolute; width: 0; height: 0; }\n"
        "@media screen { body { background: #e4e5e1; padding: 1rem; } .sheet { background: #fff; margin: 0 auto 1rem;"
        " padding: 4mm; box-sizing: content-box; } }\n"
    )


def _sheet(parts: Iterable[str], tile: Area, scale: float, foot: Iterable[str]) -> str:
    across, down = tile
    width, height = across.end - across.start, down.end - down.start
    box = f"{number(across.start)} {number(down.start)} {number(width)} {number(height)}"
    size = f'width="{number(width * scale)}" height="{number(height * scale)}"'
    drawn = "\n".join(parts)
    below = "".join(f"<span>{part}</span>" for part in foot)
    return (
        f'<section class="sheet"><svg class="family" role="group" viewBox="{box}" {size}>\n{drawn}\n</svg>\n'
        f'<p class="foot">{below}</p></section>'
    )


def _overview_shapes(layout: Layout) -> str:
    """The whole picture in outlines, once, for the overviews of all sheets."""
    size = f'width="{number(BOX_WIDTH)}" height="{number(BOX_HEIGHT)}"'
    shapes = "".join(
        f'<path d="{box.wedge.path}"/>' if box.wedge else f'<rect x="{number(box.x)}" y="{number(box.y)}" {size}/>'
        for box in layout.boxes
    )
    return f'<svg class="shapes" aria-hidden="true"><defs><g id="whole" class="whole">{shapes}</g></defs></svg>'


def _overview(layout: Layout, sheets: Sheets, index: int) -> str:
    if len(sheets.tiles) == 1:
        return ""
    parts = "".join(
        f'<rect class="{"here" if at == index else "part"}" x="{number(across.start)}" y="{number(down.start)}" '
        f'width="{number(across.end - across.start)}" height="{number(down.end - down.start)}"/>'
        for at, (across, down) in enumerate(sheets.tiles)
    )
    whole = f"0 0 {number(layout.width)} {number(layout.height)}"
    fit = 'preserveAspectRatio="xMaxYMax meet" aria-hidden="true"'
    return f'<svg class="overview" viewBox="{whole}" {fit}><use href="#whole"/>{parts}</svg>'
