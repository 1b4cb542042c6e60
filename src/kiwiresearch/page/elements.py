"""The meaning of tags when a page is read: a cut, or a part of the text's structure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Literal, NamedTuple

CutGroup = Literal[
    "hidden", "title", "machinery", "navigation", "hatnote", "references", "note", "infobox", "categories",
    "reference mark", "editor mark",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class CutRule:
    """Elements that a selector matches, and why they are not part of the article's text."""

    group: CutGroup
    selector: str
    reason: str


ROOTS = ("mw-content-text", "bodyContent", "main", "content")
"""Ids of the element that contains the article: those of any MediaWiki version, then the usual names of other sites.

On pages without any of them it is the <main>, else the <body>.
"""

CUTS = (
    CutRule("hidden",
        "script, style, template, noscript, iframe, object, embed, noembed, noframes, head, xmp, plaintext",
        "code, or shown only where code fails"),
    CutRule("hidden", "svg, canvas, audio, video, map", "pictures and players; their inner text is not read as prose"),
    CutRule("hidden", '[style*="display:none"], [style*="display: none"], [style*="visibility:hidden"], '
        '[style*="visibility: hidden"], [hidden]', "hidden: machine-readable dates and sort keys"),
    CutRule("hidden", ".sortkey, .Z3988, .persondata, .geo-nondefault, .cs1-maint, .cs1-hidden-error, .mw-empty-elt",
        "hidden by MediaWiki's style sheets"),
    CutRule("hidden", "input, select, textarea, button, form, datalist", "controls, which do nothing in a book"),
    CutRule("reference mark", 'sup.reference, span.reference, .mw-ref, sup[id^="cite_ref"], span[id^="cite_ref"], '
        'sup[id^="_ref"], cite[id^="ref_"]', "a number that points at a note"),
    CutRule("editor mark", "sup.Inline-Template, span.Inline-Template, .Template-Fact, .disputed-inline, sup.noprint",
        "'citation needed' and its kin"),
    CutRule("title", "#firstHeading, #titleHeading, h1.section-heading, h1.firstHeading",
        "the title is held apart from the text"),
    CutRule("categories", "#catlinks, .catlinks", "the page's categories"),
    CutRule("machinery", ".mw-editsection, .editsection, .mw-editsection-like", "edit links"),
    CutRule("machinery", "#toc, .toc, .fancy_toc", "tables of contents repeat the headings"),
    CutRule("machinery", "#siteSub, #contentSub, #jump-to-nav, .mw-jump-link, .printfooter, .mw-indicators, .topicon",
        "the site's own lines"),
    CutRule("machinery", ".magnify, .t_nihongo_help, .mw-cite-backlink, .audiolinkinfo", "signs to click on"),
    CutRule("machinery", ".sistersitebox, .sisterproject, .portal, .portalbox, .soslink, .side-box",
        "pointers to other sites"),
    CutRule("machinery", ".spoiler, .endspoiler", "warnings of old Wikipedia, not statements of the article"),
    CutRule("machinery", "#footer, footer, .zim-footer, ._attribution", "who made the book, not what it says"),
    CutRule("hatnote", ".hatnote, .dablink, .rellink, .mainarticle, .seealso",
        "'not to be confused' lines, kept as hatnotes"),
    CutRule("references", ".references, .mw-references, .reflist, .references-small, .mw-references-wrap",
        "the list of notes, counted"),
    CutRule("note", ".ambox, .asbox, .dmbox, .tmbox, .ombox, .fmbox, .mbox-small, .stub, #disambigbox, #setindexbox, "
        ".disambig", "notes of editors about the page, read as signals"),
    CutRule("note",
        "table.metadata, div.notice.metadata, div.metadata.plainlinks, table.cleanup, .boilerplate.metadata",
        "the same before 2010"),
    CutRule("infobox", "table.infobox, div.infobox, aside.infobox", "English and most other Wikipedias"),
    CutRule("infobox", '[class*="infobox_v"]', "French Wikipedia"),
    CutRule("infobox", "table.toccolours.vcard, table.biota, table.taxobox, table.sinottico, aside.portable-infobox",
        "older, Italian and Fandom's forms"),
    CutRule("navigation", ".navbox, .vertical-navbox, .NavFrame, .navbox-styles", "boxes of links to sister articles"),
    CutRule("navigation",
        ".sidebar, .succession-box, .succession, .navbar, .authority-control, .subpages, .breadcrumbs",
        "series, successions, paths and catalogues"),
    CutRule("navigation", 'nav, [role="navigation"], [role="search"], [role="banner"], [role="contentinfo"]', "menus"),
)  # fmt: skip

CAPTION_CLASSES = ("thumbcaption", "gallerytext", "infobox-caption", "image-caption")
"""Classes of captions, which older pages put into a plain <div>."""


TAG = re.compile(r"<([^>]*)>(\s*)")
ATTRIBUTE = re.compile(r'([a-zA-Z_:][-\w:.]*)(?:="([^"]*)")?')
NAME = re.compile(r'(?<![-\w:])(?:id|name)="([^"]+)"')
SIMPLE = re.compile(
    r"(?P<tag>[a-zA-Z][\w-]*)|\.(?P<class>[\w-]+)|#(?P<id>[\w-]+)"
    r'|\[(?P<name>[\w-]+)(?:(?P<how>[\^*]?=)"(?P<value>[^"]*)")?\]'
)
TELLING = ("class=", "id=", "style=", "role=", " hidden", "alttext=")
MAX_KEY_CHARS = 500
MAX_KEYS = 10_000


class TagStep(IntEnum):
    """The actions of the reading loop in `flow` at a tag."""

    NOTHING = 0
    END_LINK = 1
    BREAK = 2
    LINE = 3
    CELL = 4
    END_CELL = 5
    HEADER_CELL = 6
    ROW = 7
    SPACE = 8
    LIST = 9
    END_LIST = 10
    END_DIVISION = 11
    HEADING = 12
    END_HEADING = 13
    TABLE = 14
    END_TABLE = 15
    CAPTION = 16
    END_CAPTION = 17
    END_TABLE_CAPTION = 18
    CODE = 19
    END_CODE = 20
    QUOTE = 21
    END_QUOTE = 22
    RAISED = 23
    LOWERED = 24
    END_SHIFTED = 25
    CUT = 30


@dataclass(frozen=True, slots=True)
class TagMeaning:
    """The action at a tag, and the group of a cut."""

    step: TagStep
    group: CutGroup | None = None


class CutStart(NamedTuple):
    """An element to cut that starts in a run of tags: its tag, its group, and the rest of the run."""

    tag: str
    group: CutGroup
    rest: str


class RunEffect(NamedTuple):
    """The effect of a run of tags: its steps in order, the level and anchor of its heading, and a cut at its end."""

    steps: tuple[int, ...]
    level: int
    anchor: str
    cutting: CutStart | None


@dataclass(frozen=True, slots=True)
class _Rule:
    """One parsed selector."""

    group: CutGroup
    tag: str
    classes: frozenset[str]
    attributes: tuple[tuple[str, str, str], ...]

    def fits(self, tag: str, classes: frozenset[str], attributes: dict[str, str]) -> bool:
        if self.tag and self.tag != tag:
            return False
        if not self.classes <= classes:
            return False
        return all(_holds(attributes.get(name), how, value) for name, how, value in self.attributes)


def _holds(actual: str | None, how: str, value: str) -> bool:
    if actual is None:
        return False
    actual = actual.lower()
    match how:
        case "=":
            return actual == value
        case "^=":
            return actual.startswith(value)
        case "*=":
            return value in actual
        case _:
            return True


def _rule(group: CutGroup, selector: str) -> _Rule:
    tag, classes, attributes = "", set(), []
    for found in SIMPLE.finditer(selector):
        if found["tag"]:
            tag = found["tag"]
        elif found["class"]:
            classes.add(found["class"])
        elif found["id"]:
            attributes.append(("id", "=", found["id"].lower()))
        else:
            attributes.append((found["name"], found["how"] or "", (found["value"] or "").lower()))
    return _Rule(group, tag, frozenset(classes), tuple(attributes))


RULES = tuple(_rule(cut.group, part.strip()) for cut in CUTS for part in cut.selector.split(","))
RULES_BY_TAG = {rule.tag: rule for rule in RULES if rule.tag and not rule.classes and not rule.attributes}
CAPTIONS = frozenset(CAPTION_CLASSES)
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
"""Elements that have no content and are never closed."""


def _structure() -> dict[str, TagMeaning]:
    steps = {
        TagStep.LINE: "br li /li dd /dd dt /dt option legend /legend summary /summary",
        TagStep.BREAK: "p /p div hr section /section article /article header /header main /main aside /aside figure "
        "/figure center /center details /details address /address fieldset /fieldset hgroup dialog /dialog "
        "thead tbody tfoot",
        TagStep.END_DIVISION: "/div", TagStep.CELL: "td", TagStep.HEADER_CELL: "th", TagStep.END_CELL: "/td /th",
        TagStep.ROW: "tr", TagStep.LIST: "ul ol dl menu", TagStep.END_LIST: "/ul /ol /dl /menu",
        TagStep.HEADING: "h1 h2 h3 h4 h5 h6", TagStep.END_HEADING: "/h1 /h2 /h3 /h4 /h5 /h6",
        TagStep.TABLE: "table", TagStep.END_TABLE: "/table", TagStep.CAPTION: "caption figcaption",
        TagStep.END_CAPTION: "/figcaption", TagStep.END_TABLE_CAPTION: "/caption", TagStep.CODE: "pre",
        TagStep.END_CODE: "/pre", TagStep.QUOTE: "blockquote", TagStep.END_QUOTE: "/blockquote", TagStep.END_LINK: "/a",
        TagStep.RAISED: "sup", TagStep.LOWERED: "sub", TagStep.END_SHIFTED: "/sup /sub",
    }  # fmt: skip
    return {name: TagMeaning(step) for step, names in steps.items() for name in names.split()}


STRUCTURE = _structure()
NOTHING = TagMeaning(TagStep.NOTHING)


def name_of(tag: str) -> str:
    return tag.partition(" ")[0].rstrip("/")


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes of a tag that the parser wrote; the first of a name wins."""
    found: dict[str, str] = {}
    for name, value in ATTRIBUTE.findall(tag.partition(" ")[2]):
        found.setdefault(name.lower(), value)
    return found


@lru_cache(maxsize=MAX_KEYS)
def meaning_of(tag: str) -> TagMeaning:
    """The meaning of a tag, given as everything between its angle brackets."""
    name = name_of(tag)
    structure = STRUCTURE.get(name, NOTHING)
    if name.startswith("/"):
        return structure
    if " " not in tag or not any(word in tag for word in TELLING):
        rule = RULES_BY_TAG.get(name)
    else:
        attributes = attributes_of(tag)
        classes = frozenset(attributes.get("class", "").split())
        rule = next((r for r in _candidates(classes) if r.fits(name, classes, attributes)), None)
        if rule is None and classes & CAPTIONS:
            return TagMeaning(TagStep.CAPTION)
    return TagMeaning(TagStep.CUT, rule.group) if rule else structure


def _candidates(classes: frozenset[str]) -> list[_Rule]:
    """The rules that may match an element with these classes, in their order."""
    # Sorted below, because the first rule that fits decides.
    numbers = set(RULES_WITHOUT_CLASS)
    for name in classes:
        numbers.update(RULES_BY_CLASS.get(name, ()))
    return [RULES[index] for index in sorted(numbers)]


RULES_WITHOUT_CLASS = tuple(index for index, rule in enumerate(RULES) if not rule.classes)
RULES_BY_CLASS = {
    name: tuple(index for index, rule in enumerate(RULES) if name in rule.classes)
    for rule in RULES
    for name in rule.classes
}
EFFECTS: dict[str, RunEffect] = {}
"""A cache of the runs seen so far, by their spelling."""


def effect_of(run: str) -> RunEffect:
    """The effect of a run of tags, up to and including the first cut in it."""
    # A plain dict instead of `lru_cache`: the loop in `flow` looks into it directly, which is faster.
    known = EFFECTS.get(run)
    if known is None:
        known = _effect(run)
        if len(run) < MAX_KEY_CHARS:
            # Emptied as a whole: runs that are frequent are back at once.
            if len(EFFECTS) >= MAX_KEYS:
                EFFECTS.clear()
            EFFECTS[run] = known
    return known


def _effect(run: str) -> RunEffect:
    steps: list[int] = []
    level, anchor = 0, ""
    skip_to = 0
    for found in TAG.finditer(run):
        if found.start() < skip_to:
            continue
        tag = found[1]
        meaning = meaning_of(tag)
        if meaning.group == "hidden":  # an empty one needs no cut
            closing = f"</{name_of(tag)}>"
            if run.startswith(closing, found.end(1) + 1):
                skip_to = found.end(1) + 1 + len(closing)
                continue
        if meaning.group is not None:
            return RunEffect(tuple(steps), level, anchor, CutStart(tag, meaning.group, run[found.end(1) + 1 :]))
        if meaning.step:
            steps.append(int(meaning.step))
        if meaning.step is TagStep.HEADING:
            level = int(tag[1])
            anchor = ""
        if level and not anchor and (name := NAME.search(tag)):
            anchor = name[1]
        if found[2]:
            steps.append(int(TagStep.SPACE))
    return RunEffect(_shortened(steps), level, anchor, None)


BREAKING = frozenset(
    {TagStep.BREAK, TagStep.LINE, TagStep.ROW, TagStep.END_DIVISION, TagStep.HEADING, TagStep.END_HEADING}
)


def _shortened(steps: list[int]) -> tuple[int, ...]:
    """The steps without those that change nothing: spaces next to breaks, and repeated breaks."""
    if BREAKING.intersection(steps):
        steps = [step for step in steps if step != TagStep.SPACE]
    return tuple(step for n, step in enumerate(steps) if step not in REPEATING or n == 0 or steps[n - 1] != step)


REPEATING = frozenset({TagStep.BREAK, TagStep.LINE, TagStep.SPACE, TagStep.END_DIVISION})
