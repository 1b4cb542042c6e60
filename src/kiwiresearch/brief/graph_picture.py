"""The pages of a run as an SVG picture: in columns by their depth, with the links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kiwiresearch.brief.brief import BriefSource, BriefSources
from kiwiresearch.document import BRIEF_FONT, FONT_SIZE, escaped, html_link, svg_number, svg_picture, svg_text
from kiwiresearch.messages import FALLBACK, Catalogue, catalogue_in
from kiwiresearch.text import printable

WIDTH = 720
ROW = 21
TOP = 34
EDGE = 12
MAX_NODES = 40
MAX_LINKS = 160
LAST_COLUMN = 3
"""Pages of this depth and deeper are in one column."""
SWEEPS = 8
"""How often the columns are sorted; more sweeps hardly change anything."""
MAX_SPREAD = 6
LABEL_SPACE = 50
RADII = (3.5, 4.5, 5.5, 6.5)


class DrawnLink(NamedTuple):
    """A link between two pages; `led_first` if the second was first reached by it."""

    one: int
    other: int
    led_first: bool


class DrawnPage(NamedTuple):
    """A page as it is drawn."""

    page: int
    column: int
    x: float
    y: float
    radius: float
    text: str
    end: float
    """Where its label ends; links start there, so that they do not cross the text."""
    room: float
    """How far links within the column may curve to the left before they meet other words."""


def graph_picture(sources: BriefSources, catalogue: Catalogue | None = None) -> str:
    """The most relevant pages and the links among them; "" if there are fewer than two.

    The labels are in English if no `catalogue` is given.
    """
    catalogue = catalogue or catalogue_in(FALLBACK)
    chosen = _chosen(sources.pages)
    if len(chosen) < 2:
        return ""
    links = _links(sources, chosen)
    columns = _columns(sources.pages, chosen, links)
    nodes = _placed(sources.pages, columns, links)
    parts = [*_heads(sources.pages, columns, catalogue), *_edges(links, nodes), *_nodes(sources.pages, nodes)]
    shown, all_pages = len(chosen), len(sources.pages)
    description = catalogue("picture.pages_drawn", n=shown)
    if shown < all_pages:
        description = catalogue("picture.some_pages_drawn", n=shown, all=catalogue.locale.number(all_pages))
    size = svg_number(WIDTH), svg_number(TOP + ROW * max(map(len, columns)) + 8)
    return svg_picture("graph", size, catalogue("picture.links"), description, parts)


def _chosen(pages: Sequence[BriefSource]) -> list[int]:
    order = sorted(range(len(pages)), key=lambda index: (pages[index].depth > 0, -pages[index].points, index))
    return sorted(order[:MAX_NODES])


def _links(sources: BriefSources, chosen: Sequence[int]) -> list[DrawnLink]:
    """Links that cross no labels: within a column and to the next one. Those that led to a page come first."""
    column = {index: _column(sources.pages[index]) for index in chosen}
    pairs = [pair for pair in dict.fromkeys(sources.links) if pair[0] != pair[1] and column.keys() >= set(pair)]
    first: dict[int, int] = {}
    for one, other in pairs:
        if column[other] - column[one] == 1:
            first.setdefault(other, one)

    def is_near(one: int, other: int) -> bool:
        return abs(column[one] - column[other]) <= 1

    links = [DrawnLink(*pair, led_first=first.get(pair[1]) == pair[0]) for pair in pairs if is_near(*pair)]
    return sorted(links, key=lambda link: (not link.led_first, link))[:MAX_LINKS]


def _column(page: BriefSource) -> int:
    return min(page.depth, LAST_COLUMN)


def _columns(pages: Sequence[BriefSource], chosen: Sequence[int], links: Sequence[DrawnLink]) -> list[list[int]]:
    """The pages by depth, each near the pages it is linked to, so that few lines cross."""
    depths = sorted({_column(pages[index]) for index in chosen})
    columns = [[index for index in chosen if _column(pages[index]) == depth] for depth in depths]
    near: dict[int, list[int]] = {index: [] for index in chosen}
    for page, other, _ in links:
        near[page].append(other)
        near[other].append(page)
    # The barycentre heuristic for layered graphs: each page moves to the mean position of the pages it is linked to.
    for _ in range(SWEEPS):
        place = {item: (n + 0.5) / len(column) for column in columns for n, item in enumerate(column)}
        for column in columns[1:]:
            column.sort(key=lambda index: (round(_middle(index, near[index], place), 6), index))
    return columns


def _middle(page: int, near: Sequence[int], place: dict[int, float]) -> float:
    return sum(place[index] for index in near) / len(near) if near else place[page]


def _placed(
    pages: Sequence[BriefSource], columns: Sequence[Sequence[int]], links: Sequence[DrawnLink]
) -> dict[int, DrawnPage]:
    width = (WIDTH - 2 * EDGE) / len(columns)
    rows = max(map(len, columns))
    linked = Counter(link.other for link in links)
    nodes: dict[int, DrawnPage] = {}
    words_end = 0.0
    for place, column in enumerate(columns):
        # A short column is spread out, so that its pages are next to those they lead to.
        step = ROW * min(rows / len(column), MAX_SPREAD)
        start = TOP + (ROW * rows - step * len(column)) / 2
        x = EDGE + width * place + 8
        for row, item in enumerate(column):
            radius = RADII[min(linked[item] // 3, len(RADII) - 1)]
            text = BRIEF_FONT.shortened(_title(pages[item]), width - LABEL_SPACE)
            end = x + 15 + BRIEF_FONT.width(text)
            nodes[item] = DrawnPage(item, place, x, start + step * (row + 0.5), radius, text, end, x - words_end)
        words_end = max(nodes[index].end for index in column)
    return nodes


def _heads(pages: Sequence[BriefSource], columns: Sequence[Sequence[int]], catalogue: Catalogue) -> Iterator[str]:
    width = (WIDTH - 2 * EDGE) / len(columns)
    for place, column in enumerate(columns):
        depth = min(pages[index].depth for index in column)
        if depth == 0:
            text = catalogue("picture.began_here")
        else:
            text = catalogue("picture.away_or_more" if depth >= LAST_COLUMN else "picture.away", n=depth)
        yield svg_text(EDGE + width * place, 16, text[:1].upper() + text[1:], "head")


def _edges(links: Sequence[DrawnLink], nodes: dict[int, DrawnPage]) -> Iterator[str]:
    for page, other, led in reversed(links):
        # Drawn in reverse, so that the links that led to a page are above the others.
        yield f'<path class="{"led" if led else "link"}" d="{_curve(nodes[page], nodes[other])}"/>'


def _curve(one: DrawnPage, other: DrawnPage) -> str:
    if one.column == other.column:
        # A Bézier curve reaches three quarters of the way to its control points.
        out = one.x - min(10 + abs(one.y - other.y) / 3, one.room * 4 / 3)
        start, end, pull = one.x, other.x, (out, out)
    else:
        one, other = sorted((one, other), key=lambda node: node.column)
        start, end = one.end, other.x
        pull = ((start + end) / 2, (start + end) / 2)
    y, other_y = svg_number(one.y), svg_number(other.y)
    first, second = svg_number(pull[0]), svg_number(pull[1])
    return f"M{svg_number(start)} {y} C{first} {y} {second} {other_y} {svg_number(end)} {other_y}"


def _nodes(pages: Sequence[BriefSource], nodes: dict[int, DrawnPage]) -> Iterator[str]:
    for index in sorted(nodes):
        node, page = nodes[index], pages[index]
        title = _title(page)
        tooltip = " ".join(printable(f"{title}: {page.why}" if page.why else title).split())
        text = svg_text(node.x + 11, node.y + FONT_SIZE / 3, node.text, "name")
        circle = (
            f'<circle class="page" cx="{svg_number(node.x)}" cy="{svg_number(node.y)}" r="{svg_number(node.radius)}"/>'
        )
        yield "<g>" + html_link(page.url, f"<title>{escaped(tooltip)}</title>{circle}{text}") + "</g>"


def _title(page: BriefSource) -> str:
    return page.title.strip() or page.ref.path
