"""A book's page as part of a page of ours: its text, tables and pictures, and nothing of its own code or look.

`display` makes a page safe for a sandbox, and keeps how it looks. Here there is no sandbox, so much less is kept:
a short list of tags, each written anew with a few checked attributes. No class, style or id is the book's own.
The list is in `article_tags`; all that enforces it is in this file, so that it can be reviewed as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import NamedTuple

from kiwiresearch.page.addresses import PLAIN, REMOVED_ELEMENTS, LinkAddress, PageAddresses
from kiwiresearch.page.alignment import Extent, MarkupPlaces
from kiwiresearch.page.article_tags import (
    ANCHOR_PREFIX,
    ATTRIBUTES,
    DROPPED_GROUPS,
    DROPPED_WITH_CONTENT,
    FOLDABLE,
    FORMULA_TAGS,
    KEPT_FOOTER,
    KEPT_TAGS,
    MORE_ATTRIBUTES,
    PLAIN_TAGS,
    TABLE_CLASSES,
    WRITTEN_AS,
    article_classes,
)
from kiwiresearch.page.display import (
    BASE,
    MARK_ID,
    TOKEN,
    Insertion,
    anchors,
    claim_tags,
    lost_anchors,
    mark_tags,
)
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.elements import VOID, attributes_of, meaning_of, name_of
from kiwiresearch.page.html import regular_document, stays_inside
from kiwiresearch.text import fold

PLAIN_LINK = re.compile(rf'<a href="({PLAIN.pattern})"(?: (?:title|class)="[^"<>]*")*>')
"""Most links of most pages: a browser resolves them at our address as it would in the book."""

OUTSIDE = 'class="kiwi-outside" rel="noopener noreferrer nofollow"'
MAX_TITLE_TOKENS = 40
MAX_FIGURE_TOKENS = 400
FIGURE = "article-figure"
SHOWN_IN_FIGURES = FORMULA_TAGS | {"img", "audio", "video", "source", "table", "pre", "blockquote", "ul", "ol", "dl"}
"""What a figure can show that is not its caption."""


@dataclass(frozen=True, slots=True)
class ArticleOptions:
    """Where an article is shown, and what is marked in it."""

    pages: str
    """The address below which pages of the book are read, such as '/page/UUID/'."""
    files: str
    """The address below which its pictures are, such as '/read/UUID/'."""
    query: str = ""
    """Follows the address of each link to a page of the book, such as '?run=x'."""
    marks: Sequence[Extent] = ()
    claims: Sequence[Extent] = ()
    links_label: str = "Links"
    """What a folded box of links is called."""


@dataclass(frozen=True, slots=True)
class ArticleMarkup:
    """The markup of an article, and the spans that could not be marked."""

    markup: str
    unmarked: tuple[Extent, ...]
    is_whole: bool = True
    """False if nothing of the page can be shown in ours."""
    is_title_marked: bool = False
    """Whether words of the heading that says the title are marked: it is left out, as our page says the title."""


class _Plan(NamedTuple):
    """What is written for a tag."""

    opening: str
    closing: str = ""
    is_dropped: bool = False
    """Whether the content goes too."""
    is_void: bool = False
    table: str | None = None
    """The classes of the box around a table."""
    is_folded: bool = False
    is_link: bool = False
    name_if_linked: str = ""
    """What a picture in a link is called if it has no text of its own."""
    is_figure: bool = False
    is_caption: bool = False


DROPPED = _Plan("", is_dropped=True)
NOTHING = _Plan("", is_void=True)


def write_article(content: bytes, page: PageDoc, options: ArticleOptions) -> ArticleMarkup:
    """Write the article of a page anew for a page of ours. Never raises, whatever the bytes are."""
    source = regular_document(content, without=REMOVED_ELEMENTS)
    based = BASE.search(source.head)
    writer = _ArticleWriter(page, options, base=unescape(based[1]) if based else "")
    lost = lost_anchors(page, source.body)
    found: list[tuple[Extent, ...]] = []
    insertions: list[Insertion] = []
    if options.marks or options.claims or lost:
        places = MarkupPlaces(page, source.body)
        found = [places.find(*span) for span in options.marks]
        claimed = [places.find(*span) for span in options.claims]
        insertions = sorted([*mark_tags(found), *claim_tags(claimed, found), *anchors(lost, places, ANCHOR_PREFIX)])
    walk = writer.walk(source.body, insertions)
    markup = walk.written()
    unmarked = [span for span, extents in zip(options.marks, found, strict=True) if not extents]
    if len(unmarked) < len(options.marks) and f'id="{MARK_ID}"' not in markup and not walk.is_title_marked:
        unmarked = list(options.marks)
    # The last defence: markup that could end elements of our page is not shown at all.
    if not stays_inside(markup):
        return ArticleMarkup("", tuple(options.marks), is_whole=False)
    return ArticleMarkup(markup, tuple(unmarked), is_title_marked=walk.is_title_marked)


class _ArticleWriter:
    """Writes the tags of one page anew."""

    def __init__(self, page: PageDoc, options: ArticleOptions, *, base: str) -> None:
        self._title = fold(page.title)
        self._links = PageAddresses(options.pages, page.ref.path, base=base, is_absolute=True)
        self._files = PageAddresses(options.files, page.ref.path, base=base, is_absolute=True)
        self._query = escape(options.query)
        self._folded = f'<details class="article-links"><summary>{escape(options.links_label)}</summary>'
        self._plans: dict[str, _Plan] = {}

    def walk(self, markup: str, insertions: Sequence[Insertion]) -> _Walk:
        """A pass over the markup, with the insertions in their places."""
        pieces: list[str] = []
        inserted: dict[str, str] = {}
        at = 0
        for index, (place, _, tags) in enumerate(insertions):
            token = f"<\0{index}>"  # the parser never writes this
            inserted[token] = tags
            pieces += (markup[at:place], token)
            at = place
        parts = TOKEN.split("".join((*pieces, markup[at:])))
        return _Walk(self, parts, inserted)

    def plan(self, token: str) -> _Plan:
        known = self._plans.get(token)
        if known is None:
            self._plans[token] = known = self._plan(token)
        return known

    def is_title(self, words: str) -> bool:
        return bool(self._title) and fold(" ".join(unescape(words).split())) == self._title

    @property
    def folded(self) -> str:
        return self._folded

    def _plan(self, token: str) -> _Plan:
        if (plain := PLAIN_LINK.fullmatch(token)) and not self._links.is_moved:
            path, _, anchor = plain[1].partition("#")
            return _Plan(f'<a href="{path}{self._query}{_anchor(anchor)}">', "</a>", is_link=True)
        tag, _, more = token[1:].partition(">")
        name = name_of(tag).lower()
        if more or token.startswith(("<!", "<?")):  # a style sheet or script, which is one token, or a comment
            return NOTHING
        if name in DROPPED_WITH_CONTENT:
            return NOTHING if name in VOID else DROPPED
        attributes = attributes_of(tag)
        group = None if name in KEPT_TAGS else meaning_of(tag).group
        if group in DROPPED_GROUPS and not KEPT_FOOTER.search(tag):
            return NOTHING if name in VOID else DROPPED
        written = WRITTEN_AS.get(name, name)
        if name == "a":
            return self._link(attributes)
        if name == "img":
            return self._picture(attributes)
        if name in ("audio", "video", "source"):
            return self._recording(name, attributes)
        if name in FORMULA_TAGS:
            return _Plan(f"<{name}{_allowed(name, attributes)}>", f"</{name}>")
        if written not in PLAIN_TAGS:
            return NOTHING if name in VOID else _Plan("")
        classes = article_classes(name, attributes, group)
        if name == "footer" or KEPT_FOOTER.search(tag):
            classes.append("article-small")
        rest = _allowed(written, attributes) + _id(attributes.get("id", ""))
        if name in VOID:
            return _Plan(f"<{written}{rest}>", is_void=True)
        if written == "span" and not rest and not classes:
            return _Plan("")
        is_folded = group == "navigation" and name in FOLDABLE
        box = None
        if name == "table":
            box = " ".join(class_name for class_name in classes if class_name not in TABLE_CLASSES)
            classes = [class_name for class_name in classes if class_name in TABLE_CLASSES]
        return _Plan(
            f"<{written}{rest}{_class(classes)}>",
            f"</{written}>",
            table=box,
            is_folded=is_folded,
            is_figure=FIGURE in classes,
            is_caption=name == "figcaption" or "article-caption" in classes,
        )

    def _link(self, attributes: dict[str, str]) -> _Plan:
        named = _id(attributes.get("id", "") or attributes.get("name", ""))
        where = self._links.link(unescape(attributes["href"])) if "href" in attributes else LinkAddress("nowhere", "")
        language = _allowed("a", attributes)
        if where.kind == "outside":
            return _Plan(f'<a href="{escape(where.url)}" {OUTSIDE}{named}{language}>', "</a>", is_link=True)
        if not where.url:
            return _Plan(f"<span{named}{language}>", "</span>")
        path, _, anchor = where.url.partition("#")
        href = f"{escape(path)}{self._query}" if path else ""
        place = _anchor(escape(anchor)) or ("" if path else "#main")
        return _Plan(f'<a href="{href}{place}"{named}{language}>', "</a>", is_link=True)

    def _picture(self, attributes: dict[str, str]) -> _Plan:
        url = self._files.file(unescape(attributes.get("src", "")))
        if not url:
            return NOTHING
        text = _quoted(attributes.get("alt", "")[:1_000])
        rest = _allowed("img", attributes) + _class(article_classes("img", attributes, None))
        name = attributes.get("title", "") or url.rpartition("/")[2].rpartition(".")[0][:80]
        before, after = f'<img src="{escape(url)}" alt="', f'" loading="lazy" decoding="async"{rest}>'
        return _Plan(
            before + text + after, is_void=True, name_if_linked="" if text.strip() else before + _quoted(name) + after
        )

    def _recording(self, name: str, attributes: dict[str, str]) -> _Plan:
        url = self._files.file(unescape(attributes.get("src", "")))
        source = f' src="{escape(url)}"' if url and not url.startswith("data:") else ""
        if name == "source":
            return _Plan(f"<source{source}>" if source else "", is_void=True)
        return _Plan(f'<{name}{source} controls preload="none">', f"</{name}>")


class _Walk:
    """One pass over the tags of a page, which pairs them."""

    def __init__(self, writer: _ArticleWriter, parts: list[str], inserted: dict[str, str]) -> None:
        self._writer = writer
        self._parts = parts
        self._inserted = inserted
        self._open: list[tuple[str, str, bool]] = []
        """The elements that are open: their name in the book, what ends them, and whether they are links."""
        self._tables = self._folds = self._links = 0
        self.is_title_marked = False

    def written(self) -> str:
        parts = self._parts
        out = [parts[0].replace("<", "&lt;")]
        skipped = 0
        name_of_skipped = ""
        for number in range(1, len(parts), 2):
            token, text = parts[number], parts[number + 1]
            if skipped:
                # Only elements of the same name can end the one that is dropped.
                if token.lower() == f"</{name_of_skipped}>":
                    skipped -= 1
                elif name_of(token[1:-1]).lower() == name_of_skipped:
                    skipped += 1
                elif name_of_skipped == "h1" and token in self._inserted:
                    out.append(self._from_title(self._inserted[token]))
                if skipped:
                    continue
            elif token in self._inserted:
                out.append(self._inserted[token])
            elif token.startswith("</"):
                out.append(self._end(token[2:-1].lower()))
            elif self._is_empty(number):
                pass
            else:
                plan = self._writer.plan(token)
                name = name_of(token[1:-1]).lower()
                if not plan.is_void and (plan.is_dropped or (name == "h1" and self._is_title(number))):
                    skipped, name_of_skipped = 1, name
                    continue
                if plan.is_figure and self._is_caption_alone(number, name):
                    plan = plan._replace(opening=plan.opening.replace(FIGURE, f"{FIGURE} article-no-picture", 1))
                out.append(self._start(name, plan))
            out.append(text.replace("<", "&lt;") if "<" in text else text)
        out += [closing for _, closing, _ in reversed(self._open)]
        return "".join(out)

    def _from_title(self, tags: str) -> str:
        """What stays of an insertion in the title: its anchors, to which claims lead."""
        self.is_title_marked |= "kiwi-mark" in tags
        return tags if tags.startswith("<span") else ""

    def _start(self, name: str, plan: _Plan) -> str:
        if plan.is_void:
            return plan.name_if_linked if self._links and plan.name_if_linked else plan.opening
        opening, closing = plan.opening, plan.closing
        if plan.is_link:
            self._links += 1
        if name == "table":
            self._tables += 1
        if plan.table is not None and self._tables == 1:
            opening = f'<div class="{f"article-table {plan.table}".strip()}">{opening}'
            closing += "</div>"
        if plan.is_folded and not self._folds:
            self._folds = len(self._open) + 1
            opening, closing = self._writer.folded + opening, closing + "</details>"
        self._open.append((name, closing, plan.is_link))
        return opening

    def _end(self, name: str) -> str:
        """What ends an element; nothing if none of this name is the last that is open."""
        if not self._open or self._open[-1][0] != name:
            return ""
        _, closing, is_link = self._open.pop()
        self._links -= is_link
        self._tables -= name == "table"
        if self._folds > len(self._open):
            self._folds = 0
        return closing

    def _is_empty(self, number: int) -> bool:
        """Whether this is a link without words, name or picture, whose end comes next: it says nothing to anyone."""
        parts = self._parts
        token = parts[number]
        return (
            token.startswith("<a ")
            and number + 2 < len(parts)
            and parts[number + 2] == "</a>"
            and not parts[number + 1].strip()
            and " id=" not in token
            and " name=" not in token
        )

    def _is_caption_alone(self, number: int, name: str) -> bool:
        """Whether the figure that starts here has only a caption: its picture is not in the book."""
        parts = self._parts
        depth, caption, depth_of_caption, has_caption = 0, "", 0, False
        for at in range(number, min(number + 2 * MAX_FIGURE_TOKENS, len(parts)), 2):
            token = parts[at]
            if token in self._inserted:
                pass
            elif token.startswith("</"):
                ended = token[2:-1].lower()
                depth -= ended == name
                depth_of_caption -= ended == caption
                caption = caption if depth_of_caption else ""
                if not depth:
                    return has_caption
            else:
                begun, plan = name_of(token[1:-1]).lower(), self._writer.plan(token)
                if begun in SHOWN_IN_FIGURES and (begun != "img" or plan.opening):
                    return False
                depth += begun == name
                if not caption and plan.is_caption:
                    caption, has_caption = begun, True
                depth_of_caption += begun == caption
            if not caption and parts[at + 1].strip():
                return False
        return False

    def _is_title(self, number: int) -> bool:
        """Whether the heading that starts here only says the page's title, which is above it already."""
        words: list[str] = []
        for at in range(number, min(number + 2 * MAX_TITLE_TOKENS, len(self._parts)), 2):
            if self._parts[at].lower() == "</h1>":
                return self._writer.is_title("".join(words))
            words.append(self._parts[at + 1])
        return False


def _allowed(name: str, attributes: dict[str, str]) -> str:
    """The attributes of an element that may be written, with values that they may have."""
    if not attributes:
        return ""
    out = []
    more = MORE_ATTRIBUTES.get(name, {})
    for attribute, value in attributes.items():
        pattern = ATTRIBUTES.get(attribute) or more.get(attribute)
        if pattern is not None and pattern.fullmatch(value):
            out.append(f' {attribute}="{_quoted(value)}"')
    return "".join(out)


def _class(names: Sequence[str]) -> str:
    return f' class="{" ".join(names)}"' if names else ""


def _id(name: str) -> str:
    return f' id="{ANCHOR_PREFIX}{_quoted(name)}"' if name and not any(map(str.isspace, name)) else ""


def _anchor(name: str) -> str:
    return f"#{ANCHOR_PREFIX}{name}" if name else ""


def _quoted(value: str) -> str:
    return value.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
