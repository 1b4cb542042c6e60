"""A timeline as an SVG picture: an axis with breaks where nothing happened, moments, spans and labels."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from kiwiresearch.brief.brief import TimelineMoment
from kiwiresearch.document import BRIEF_FONT, escaped, svg_line, svg_number, svg_picture, svg_text
from kiwiresearch.messages import FALLBACK, Catalogue, catalogue_in
from kiwiresearch.text import printable

DAYS_PER_YEAR = 365.25
YEAR_ZERO = 1721060
"""The Julian Day Number of the first day of year 0, which historians call 1 BC."""
PRESENT_YEAR = 2000
MAX_BREAKS = 3
DEEP_YEARS = 30_000
"""Parts that reach further back than this many years are labelled in years ago."""
CROWDED_SHARE, MIN_CROWDED = 0.06, 3
"""If this many dates would share less than this part of the axis, a break gives them more room."""
BREAK_WIDTH = 26
TICK_ROOM = 92
DEEP_TICK_ROOM = 190


class AxisPart(NamedTuple):
    """A period and where it is drawn."""

    first: float
    last: float
    left: float
    right: float


class Tick(NamedTuple):
    """A date on the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Periods from left to right, with a break between two of them."""

    parts: tuple[AxisPart, ...]

    def x(self, day: float) -> float:
        """Where a day is drawn; within a break, in proportion."""
        marks = [mark for part in self.parts for mark in ((part.first, part.left), (part.last, part.right))]
        # Piecewise linear: between two marks, whether of one part or of two, a day is drawn in proportion.
        days = [mark[0] for mark in marks]
        following = min(max(bisect_right(days, day), 1), len(marks) - 1)
        (from_day, from_x), (to_day, to_x) = marks[following - 1], marks[following]
        if to_day <= from_day:
            return to_x
        share = min(max((day - from_day) / (to_day - from_day), 0.0), 1.0)
        return from_x + share * (to_x - from_x)

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(
            (axis_part.right + other.left) / 2 for axis_part, other in zip(self.parts, self.parts[1:], strict=False)
        )

    def ticks(self, catalogue: Catalogue) -> Iterator[Tick]:
        for part in self.parts:
            for day, text in _dates(part, catalogue):
                yield Tick(self.x(day), text)


def axis_over(days: Sequence[float], left: float, right: float) -> Axis:
    """An axis that has all of these days."""
    stretches = _stretches(sorted(set(days)))
    room = right - left - BREAK_WIDTH * (len(stretches) - 1)
    # Each period gets room by how much happened in it: its dates show how long it was.
    weights = [min(max(len(stretch), 3), 12) for stretch in stretches]
    parts = []
    for stretch, weight in zip(stretches, weights, strict=True):
        width = room * weight / sum(weights)
        margin = (stretch[-1] - stretch[0]) * 0.04 or _margin_around(stretch[0])
        parts.append(AxisPart(stretch[0] - margin, stretch[-1] + margin, left, left + width))
        left += width + BREAK_WIDTH
    return Axis(tuple(parts))


def _margin_around(day: float) -> float:
    """How much time is shown on both sides of a single date: the more, the longer ago it was."""
    return max(abs(PRESENT_YEAR - _year(day)) * 0.05, 2.0) * DAYS_PER_YEAR


def _stretches(days: list[float]) -> list[list[float]]:
    """The days, split at the widest gaps where an even axis would crowd some of them."""
    stretches = [days]
    for _ in range(MAX_BREAKS):
        cuts = [(_best_cut(stretch), index) for index, stretch in enumerate(stretches)]
        (gap, at), number = max(cuts, key=lambda cut: (cut[0][0], -cut[1]))
        if gap <= 0:
            break
        stretch = stretches[number]
        stretches[number : number + 1] = [stretch[:at], stretch[at:]]
    return stretches


def _best_cut(days: list[float]) -> tuple[float, int]:
    """The widest gap that is worth a break, and the number of the day after it; 0 if there is none."""
    total = days[-1] - days[0]
    best = (0.0, 0)
    for at in range(1, len(days)):
        gap = days[at] - days[at - 1]
        sides = [(days[at - 1] - days[0], at), (days[-1] - days[at], len(days) - at)]
        crowded = any(
            count >= MIN_CROWDED and span <= CROWDED_SHARE * total and gap >= 5 * span for span, count in sides
        )
        if gap > best[0] and gap > DAYS_PER_YEAR and crowded:
            best = (gap, at)
    return best


def _dates(part: AxisPart, catalogue: Catalogue) -> Iterator[tuple[float, str]]:
    width = part.right - part.left
    max_ticks = max(int(width // TICK_ROOM), 1)
    first, last = _year(part.first), _year(part.last)
    if PRESENT_YEAR - first > DEEP_YEARS:
        yield from _years_ago(first, last, max(int(width // DEEP_TICK_ROOM), 1), catalogue)
    elif last - first < 2:
        yield from _months(first, last, max_ticks, catalogue)
    else:
        yield from _years(first, last, max_ticks, catalogue)


def _years(first: float, last: float, max_ticks: int, catalogue: Catalogue) -> Iterator[tuple[float, str]]:
    step = _step((last - first) / max_ticks)
    # Rounded up to a multiple of the step; `//` rounds down, and two signs turn that round.
    begin = int(-((-first) // step)) * step
    for year in range(begin, int(last) + 1, step):
        # The axis counts 1 BC as year 0, so BC years are off by one.
        shown = year or 1
        shift = shown + 1 if shown < 0 else shown
        if first <= shift <= last:
            yield _day(shift), year_text(shown, catalogue)


def year_text(year: int, catalogue: Catalogue) -> str:
    """A year as people write it; in `year`, BC years are negative and year 0 does not exist."""
    if year < 0:
        return catalogue("picture.year_bc", year=catalogue.locale.number(-year))
    return str(year) if year >= 1000 else catalogue("picture.year_ad", year=str(year))


def _months(first: float, last: float, max_ticks: int, catalogue: Catalogue) -> Iterator[tuple[float, str]]:
    begin, end = int(first * 12 // 1), int(last * 12 // 1)
    step = next((step for step in (1, 2, 3, 6) if (end - begin) / step <= max_ticks), 12)
    for month in range(begin, end + 1):
        year = month // 12
        if month % step == 0 and first <= month / 12 <= last:
            written = year_text(year if year > 0 else year - 1, catalogue)
            yield _day(month / 12), catalogue.locale.month(catalogue("picture.months").split()[month % 12], written)


def _years_ago(first: float, last: float, max_ticks: int, catalogue: Catalogue) -> Iterator[tuple[float, str]]:
    oldest, youngest = PRESENT_YEAR - first, max(PRESENT_YEAR - last, 0.0)
    step = _step((oldest - youngest) / max_ticks)
    for ago in range(int(oldest // step) * step, ceil(youngest) - 1, -step):
        yield _day(PRESENT_YEAR - ago), ago_text(ago, catalogue)


def ago_text(years: int, catalogue: Catalogue) -> str:
    """How long ago something was, in the largest unit that fits."""
    if not years:
        return catalogue("picture.today")
    if years >= 1_000_000_000:
        return catalogue("picture.billions_ago", n=_shortened(years / 1_000_000_000))
    if years >= 1_000_000:
        return catalogue("picture.millions_ago", n=_shortened(years / 1_000_000))
    return catalogue("picture.years_ago", n=years)


def _shortened(number: float) -> float:
    """A number with four digits, as an int if possible."""
    short = float(f"{number:.4g}")
    return int(short) if short.is_integer() else short


def _step(minimum: float) -> int:
    """The first of 1, 2, 5, 10, 20, 50 … that is not much less than the minimum."""
    size = 1
    while True:
        for step in (1, 2, 5):
            if step * size >= minimum * 0.75:
                return step * size
        size *= 10


def _year(day: float) -> float:
    return (day - YEAR_ZERO) / DAYS_PER_YEAR


def _day(year: float) -> float:
    return YEAR_ZERO + year * DAYS_PER_YEAR


WIDTH = 720
EDGE = 12
LANE = 22
TOP = 10
MAX_LABELS = 30
LABEL_SHARE = 5 / 9
"""The most of the width that a label may take."""
GAP = 6
DOT = 4.0
SPAN_HEIGHT = 8
MIN_SPAN_SHARE = 0.02
"""A span that would get less than this share of an even axis is drawn as a moment."""


class TimelineMark(NamedTuple):
    """A moment as it is drawn: where it starts and ends, and its label."""

    moment: int
    left: float
    right: float
    text: str
    text_x: float
    anchor: str
    lane: int


def timeline_picture(
    moments: Sequence[TimelineMoment],
    catalogue: Catalogue | None = None,
    *,
    width: float = WIDTH,
    groups: Sequence[str] = (),
    days: tuple[float, float] | None = None,
) -> str:
    """The moments on an axis; "" if there are fewer than two. The labels are in English if no `catalogue` is given.

    With `groups`, which name a group for each moment, each group is drawn below the one before, under its name.
    With `days`, the axis has these from end to end, without a break; one moment is enough for it.
    """
    catalogue = catalogue or catalogue_in(FALLBACK)
    dated = _days(moments)
    if len(dated) < (1 if days else 2):
        return ""
    left, right = EDGE, width - EDGE
    axis = Axis((AxisPart(*days, left, right),)) if days else axis_over(dated, left, right)
    chosen = _chosen(moments)
    labels = [f"{moment.when}{catalogue.locale.colon} {moment.statement.text}" for moment in moments]
    heads: list[tuple[str, int]] = []
    marks: list[TimelineMark] = []
    lanes = 0
    for name in dict.fromkeys(groups) or ("",):
        of_group = [index for index in chosen if not groups or groups[index] == name]
        if name and of_group:
            heads.append((name, lanes))
            lanes += 1
        marks += _placed(moments, labels, of_group, axis, width, lanes)
        lanes = max((mark.lane + 1 for mark in marks), default=lanes)
    bottom = TOP + LANE * lanes + 12
    parts = [*_axis(axis, bottom, catalogue, width), *_ticks(moments, chosen, axis, bottom)]
    parts += [svg_text(EDGE, TOP + LANE * (lane + 0.65), name, "head") for name, lane in heads]
    parts += _marks(labels, marks)
    first, last = (
        choose(moments, key=lambda timeline_moment: (timeline_moment.earliest, timeline_moment.latest))
        for choose in (min, max)
    )
    description = catalogue(
        "picture.moments_drawn", since=first.when, until=last.when, n=len(moments), labelled=len(marks)
    )
    if axis.breaks:
        description = catalogue("picture.axis_broken", drawn=description)
    return svg_picture(
        "timeline", (svg_number(width), svg_number(bottom + 28)), catalogue("picture.timeline"), description, parts
    )


def _days(moments: Sequence[TimelineMoment]) -> list[float]:
    """The days that the axis must have: both ends of a long span, the middle of a short one."""
    if not moments:
        return []
    total = max(moment.latest for moment in moments) - min(moment.earliest for moment in moments)
    days: set[float] = set()
    for first, last in ((float(moment.earliest), float(moment.latest)) for moment in moments):
        days |= {first, last} if last - first > MIN_SPAN_SHARE * total else {(first + last) / 2}
    return sorted(days)


def _chosen(moments: Sequence[TimelineMoment]) -> list[int]:
    """The moments with labels: those that most pages confirm, in chronological order."""
    order = sorted(range(len(moments)), key=lambda index: (-moments[index].statement.pages, index))
    return sorted(order[:MAX_LABELS], key=lambda index: (moments[index].earliest, moments[index].latest, index))


def _placed(
    moments: Sequence[TimelineMoment],
    labels: Sequence[str],
    chosen: Sequence[int],
    axis: Axis,
    width: float,
    first_lane: int,
) -> list[TimelineMark]:
    """Each moment in the first lane that has room for it and its label."""
    taken: list[list[tuple[float, float]]] = []
    marks = []
    for index in chosen:
        left, right = axis.x(moments[index].earliest), axis.x(moments[index].latest)
        if right - left < 2 * DOT:
            left = right = min(max((left + right) / 2, EDGE), width - EDGE)
        text, text_x, anchor = _label(labels[index], left, right, width)
        text_width = BRIEF_FONT.width(text)
        begin = text_x - text_width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        needed = (min(left - DOT, begin) - GAP, max(right + DOT, begin + text_width) + GAP)
        # Greedy interval colouring: the first lane in which nothing overlaps.
        lane = next(
            (
                item
                for item, spans in enumerate(taken)
                if all(needed[1] <= start or end <= needed[0] for start, end in spans)
            ),
            len(taken),
        )
        if lane == len(taken):
            taken.append([])
        taken[lane].append(needed)
        marks.append(TimelineMark(index, left, right, text, text_x, anchor, first_lane + lane))
    return marks


def _label(text: str, left: float, right: float, width: float) -> tuple[str, float, str]:
    """The label, its position and anchor: to the right of the moment if there is room, or left of it, or over it."""
    max_width = LABEL_SHARE * width
    after, before = width - right - 2 * DOT - GAP, left - 2 * DOT - GAP
    if max(after, before) < max_width / 2:
        return BRIEF_FONT.shortened(text, max_width), width / 2, "middle"
    if after >= min(max_width, before):
        return BRIEF_FONT.shortened(text, min(max_width, after)), right + 2 * DOT, "start"
    return BRIEF_FONT.shortened(text, min(max_width, before)), left - 2 * DOT, "end"


def _axis(axis: Axis, bottom: float, catalogue: Catalogue, width: float) -> Iterator[str]:
    for part in axis.parts:
        yield svg_line(part.left, bottom, part.right, bottom, "axis")
    for x in axis.breaks:
        yield svg_line(x - 6, bottom + 5, x, bottom - 5, "axis")
        yield svg_line(x, bottom + 5, x + 6, bottom - 5, "axis")
    end = float("-inf")
    for tick in axis.ticks(catalogue):
        half = BRIEF_FONT.width(tick.text) / 2
        x = min(max(tick.x, half), width - half)
        yield svg_line(tick.x, TOP, tick.x, bottom, "grid")
        yield svg_line(tick.x, bottom, tick.x, bottom + 5, "axis")
        if x - half >= end + GAP:
            yield svg_text(x, bottom + 20, tick.text, "date", "middle")
            end = x + half


def _ticks(moments: Sequence[TimelineMoment], chosen: Sequence[int], axis: Axis, bottom: float) -> Iterator[str]:
    """Moments without a label: a tick on the axis."""
    for index in sorted(set(range(len(moments))) - set(chosen)):
        x = (axis.x(moments[index].earliest) + axis.x(moments[index].latest)) / 2
        yield svg_line(x, bottom - 7, x, bottom, "unlabelled")


def _marks(labels: Sequence[str], marks: Sequence[TimelineMark]) -> Iterator[str]:
    for mark in marks:
        y = TOP + LANE * (mark.lane + 0.5)
        tooltip = escaped(" ".join(printable(labels[mark.moment]).split()))
        yield f'<a href="#moment-{mark.moment + 1}"><title>{tooltip}</title>'
        if mark.right > mark.left:
            yield _box("span", mark.left, y, mark.right - mark.left, SPAN_HEIGHT)
        else:
            yield f'<circle class="moment" cx="{svg_number(mark.left)}" cy="{svg_number(y)}" r="{svg_number(DOT)}"/>'
        if mark.anchor == "middle":
            width = BRIEF_FONT.width(mark.text) + GAP
            yield _box("paper", mark.text_x - width / 2, y, width, LANE - 4)
        yield svg_text(mark.text_x, y + 4, mark.text, "name", mark.anchor) + "</a>"


def _box(css_class: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{css_class}" x="{svg_number(x)}" y="{svg_number(y - height / 2)}" '
        f'width="{svg_number(width)}" height="{svg_number(height)}" rx="3"/>'
    )
