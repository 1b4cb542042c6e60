"""A timeline as a picture: an axis, moments and spans on it, and labels that do not run into each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kiwiresearch.brief.brief import Moment
from kiwiresearch.brief.drawing import label, line, number, picture, shortened, text_width
from kiwiresearch.brief.html import escaped
from kiwiresearch.brief.time_axis import Axis, axis_over
from kiwiresearch.text.plain import printable

WIDTH = 720
EDGE = 12
LANE = 22
TOP = 10
MOST_LABELS = 30
LABEL_WIDTH = 400
GAP = 6
DOT = 4.0
SPAN_HEIGHT = 8
SHORT = 0.02
"""Times that would get less than this share of an even axis are moments."""


class Mark(NamedTuple):
    """A moment as it is drawn: where it begins and ends, and its label beside it."""

    moment: int
    left: float
    right: float
    text: str
    text_x: float
    anchor: str
    lane: int


def timeline_picture(moments: Sequence[Moment]) -> str:
    """The moments on an axis; nothing where there are not two to compare."""
    days = _days(moments)
    if len(days) < 2:
        return ""
    axis = axis_over(days, EDGE, WIDTH - EDGE)
    chosen = _chosen(moments)
    marks = _placed(moments, chosen, axis)
    bottom = TOP + LANE * (max(mark.lane for mark in marks) + 1) + 12
    parts = [*_axis(axis, bottom), *_ticks(moments, chosen, axis, bottom), *_marks(moments, marks)]
    told = f"From {moments[0].when} to {moments[-1].when}: {len(moments)} moments, of which {len(marks)} are labelled."
    if axis.breaks:
        told += " The axis is broken where no date falls for a long time; its parts have scales of their own."
    return picture("timeline", (WIDTH, bottom + 28), "Timeline", told, parts)


def _days(moments: Sequence[Moment]) -> list[float]:
    """What the axis must have room for: both ends of a long time, the middle of a short one."""
    if not moments:
        return []
    whole = max(moment.latest for moment in moments) - min(moment.earliest for moment in moments)
    days: set[float] = set()
    for first, last in ((float(moment.earliest), float(moment.latest)) for moment in moments):
        days |= {first, last} if last - first > SHORT * whole else {(first + last) / 2}
    return sorted(days)


def _chosen(moments: Sequence[Moment]) -> list[int]:
    """Which moments are labelled: those that most pages tell of, in the order of time."""
    order = sorted(range(len(moments)), key=lambda one: (-moments[one].statement.pages, one))
    return sorted(order[:MOST_LABELS], key=lambda one: (moments[one].earliest, moments[one].latest, one))


def _placed(moments: Sequence[Moment], chosen: Sequence[int], axis: Axis) -> list[Mark]:
    """Each moment in the first lane in which it and its label have room."""
    taken: list[list[tuple[float, float]]] = []
    marks = []
    for one in chosen:
        left, right = axis.x(moments[one].earliest), axis.x(moments[one].latest)
        if right - left < 2 * DOT:
            left = right = min(max((left + right) / 2, EDGE), WIDTH - EDGE)
        text, text_x, anchor = _label(moments[one], left, right)
        width = text_width(text)
        begin = text_x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        needed = (min(left - DOT, begin) - GAP, max(right + DOT, begin + width) + GAP)
        lane = next((n for n, spans in enumerate(taken) if all(_apart(needed, span) for span in spans)), len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append(needed)
        marks.append(Mark(one, left, right, text, text_x, anchor, lane))
    return marks


def _label(moment: Moment, left: float, right: float) -> tuple[str, float, str]:
    """The label, its place and how it is set: right of the moment if there is room, else left of it, else upon it."""
    whole = f"{moment.when}: {moment.statement.text}"
    behind, before = WIDTH - right - 2 * DOT - GAP, left - 2 * DOT - GAP
    if max(behind, before) < LABEL_WIDTH / 2:
        return shortened(whole, LABEL_WIDTH), WIDTH / 2, "middle"
    if behind >= min(LABEL_WIDTH, before):
        return shortened(whole, min(LABEL_WIDTH, behind)), right + 2 * DOT, "start"
    return shortened(whole, min(LABEL_WIDTH, before)), left - 2 * DOT, "end"


def _apart(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[1] <= other[0] or other[1] <= one[0]


def _axis(axis: Axis, bottom: float) -> Iterator[str]:
    for part in axis.parts:
        yield line(part.left, bottom, part.right, bottom, "axis")
    for x in axis.breaks:
        yield line(x - 6, bottom + 5, x, bottom - 5, "axis")
        yield line(x, bottom + 5, x + 6, bottom - 5, "axis")
    end = float("-inf")
    for tick in axis.ticks():
        half = text_width(tick.text) / 2
        x = min(max(tick.x, half), WIDTH - half)
        yield line(tick.x, TOP, tick.x, bottom, "grid")
        yield line(tick.x, bottom, tick.x, bottom + 5, "axis")
        if x - half >= end + GAP:
            yield label(x, bottom + 20, tick.text, "date", "middle")
            end = x + half


def _ticks(moments: Sequence[Moment], chosen: Sequence[int], axis: Axis, bottom: float) -> Iterator[str]:
    """Moments without a label: a stroke upon the axis."""
    for one in sorted(set(range(len(moments))) - set(chosen)):
        x = (axis.x(moments[one].earliest) + axis.x(moments[one].latest)) / 2
        yield line(x, bottom - 7, x, bottom, "unlabelled")


def _marks(moments: Sequence[Moment], marks: Sequence[Mark]) -> Iterator[str]:
    for mark in marks:
        moment = moments[mark.moment]
        y = TOP + LANE * (mark.lane + 0.5)
        told = escaped(" ".join(printable(f"{moment.when}: {moment.statement.text}").split()))
        yield f'<a href="#moment-{mark.moment + 1}"><title>{told}</title>'
        if mark.right > mark.left:
            yield _box("span", mark.left, y, mark.right - mark.left, SPAN_HEIGHT)
        else:
            yield f'<circle class="moment" cx="{number(mark.left)}" cy="{number(y)}" r="{number(DOT)}"/>'
        if mark.anchor == "middle":
            width = text_width(mark.text) + GAP
            yield _box("paper", mark.text_x - width / 2, y, width, LANE - 4)
        yield label(mark.text_x, y + 4, mark.text, "name", mark.anchor) + "</a>"


def _box(role: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{role}" x="{number(x)}" y="{number(y - height / 2)}" '
        f'width="{number(width)}" height="{number(height)}" rx="3"/>'
    )
