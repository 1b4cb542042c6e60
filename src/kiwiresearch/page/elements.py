"""What tags mean for reading: a cut, or a part of the text's structure.

Tags seldom stand alone: `</td> <td>` or `</li></ul><p>` come in runs, and the
same runs come again on every page. So what a run does is worked out once, and
found again by its spelling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from kiwiresearch.page.cuts import CAPTION_CLASSES, CUTS, Group

TAG = re.compile(r"<([^>]*)>(\s*)")
ATTRIBUTE = re.compile(r'([a-zA-Z_:][-\w:.]*)(?:="([^"]*)")?')
NAME = re.compile(r'(?<![-\w:])(?:id|name)="([^"]+)"')
SIMPLE = re.compile(
    r"(?P<tag>[a-zA-Z][\w-]*)|\.(?P<class>[\w-]+)|#(?P<id>[\w-]+)"
    r'|\[(?P<name>[\w-]+)(?:(?P<how>[\^*]?=)"(?P<value>[^"]*)")?\]'
)
TELLING = ("class=", "id=", "style=", "role=", " hidden", "alttext=")
LONGEST_KEY = 500
MOST_KEYS = 10_000


class Step(IntEnum):
    """What the reading loop does at a tag."""

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
class Meaning:
    """What to do at a tag, and for a cut, in which group it falls."""

    step: Step
    group: Group | None = None


class Cutting(NamedTuple):
    """An element to be cut that starts in a run: its tag, its group, and the run behind the tag."""

    tag: str
    group: Group
    rest: str


class Effect(NamedTuple):
    """What a run of tags does: steps in order, the level and anchor of a heading in it, and a cut at its end."""

    steps: tuple[int, ...]
    level: int
    anchor: str
    cutting: Cutting | None


@dataclass(frozen=True, slots=True)
class _Rule:
    """One selector, taken apart."""

    group: Group
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


def _rule(group: Group, selector: str) -> _Rule:
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
VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)


def _structure() -> dict[str, Meaning]:
    steps = {
        Step.LINE: "br li /li dd /dd dt /dt option legend /legend summary /summary",
        Step.BREAK: "p /p div hr section /section article /article header /header main /main aside /aside figure "
        "/figure center /center details /details address /address fieldset /fieldset hgroup dialog /dialog "
        "thead tbody tfoot",
        Step.END_DIVISION: "/div", Step.CELL: "td", Step.HEADER_CELL: "th", Step.END_CELL: "/td /th",
        Step.ROW: "tr", Step.LIST: "ul ol dl menu", Step.END_LIST: "/ul /ol /dl /menu",
        Step.HEADING: "h1 h2 h3 h4 h5 h6", Step.END_HEADING: "/h1 /h2 /h3 /h4 /h5 /h6",
        Step.TABLE: "table", Step.END_TABLE: "/table", Step.CAPTION: "caption figcaption",
        Step.END_CAPTION: "/figcaption", Step.END_TABLE_CAPTION: "/caption", Step.CODE: "pre",
        Step.END_CODE: "/pre", Step.QUOTE: "blockquote", Step.END_QUOTE: "/blockquote", Step.END_LINK: "/a",
        Step.RAISED: "sup", Step.LOWERED: "sub", Step.END_SHIFTED: "/sup /sub",
    }  # fmt: skip
    return {name: Meaning(step) for step, names in steps.items() for name in names.split()}


STRUCTURE = _structure()
NOTHING = Meaning(Step.NOTHING)


def name_of(tag: str) -> str:
    return tag.partition(" ")[0].rstrip("/")


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes of a tag as the parser wrote them; the first of a name wins."""
    found: dict[str, str] = {}
    for name, value in ATTRIBUTE.findall(tag.partition(" ")[2]):
        found.setdefault(name.lower(), value)
    return found


@lru_cache(maxsize=MOST_KEYS)
def meaning_of(tag: str) -> Meaning:
    """What a tag means, given as everything between its angle brackets."""
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
            return Meaning(Step.CAPTION)
    return Meaning(Step.CUT, rule.group) if rule else structure


def _candidates(classes: frozenset[str]) -> list[_Rule]:
    """The rules that may fit an element of these classes, in their order."""
    numbers = set(RULES_WITHOUT_CLASS)
    for name in classes:
        numbers.update(RULES_BY_CLASS.get(name, ()))
    return [RULES[number] for number in sorted(numbers)]


RULES_WITHOUT_CLASS = tuple(number for number, rule in enumerate(RULES) if not rule.classes)
RULES_BY_CLASS = {
    name: tuple(number for number, rule in enumerate(RULES) if name in rule.classes)
    for rule in RULES
    for name in rule.classes
}
EFFECTS: dict[str, Effect] = {}
"""The runs met so far, by their spelling."""


def effect_of(run: str) -> Effect:
    """What a run of tags does, up to and with the first cut in it."""
    known = EFFECTS.get(run)
    if known is None:
        known = _effect(run)
        if len(run) < LONGEST_KEY:
            if len(EFFECTS) >= MOST_KEYS:
                EFFECTS.clear()
            EFFECTS[run] = known
    return known


def _effect(run: str) -> Effect:
    steps: list[int] = []
    level, anchor = 0, ""
    behind = 0
    for found in TAG.finditer(run):
        if found.start() < behind:
            continue
        tag = found[1]
        meaning = meaning_of(tag)
        if meaning.group == "hidden":  # an empty one needs no cut
            closing = f"</{name_of(tag)}>"
            if run.startswith(closing, found.end(1) + 1):
                behind = found.end(1) + 1 + len(closing)
                continue
        if meaning.group is not None:
            return Effect(tuple(steps), level, anchor, Cutting(tag, meaning.group, run[found.end(1) + 1 :]))
        if meaning.step:
            steps.append(int(meaning.step))
        if meaning.step is Step.HEADING:
            level = int(tag[1])
            anchor = ""
        if level and not anchor and (name := NAME.search(tag)):
            anchor = name[1]
        if found[2]:
            steps.append(int(Step.SPACE))
    return Effect(_shortened(steps), level, anchor, None)


BREAKING = frozenset({Step.BREAK, Step.LINE, Step.ROW, Step.END_DIVISION, Step.HEADING, Step.END_HEADING})


def _shortened(steps: list[int]) -> tuple[int, ...]:
    """The same without what changes nothing: spaces beside breaks, and breaks that repeat."""
    if BREAKING.intersection(steps):
        steps = [step for step in steps if step != Step.SPACE]
    return tuple(step for n, step in enumerate(steps) if step not in REPEATING or n == 0 or steps[n - 1] != step)


REPEATING = frozenset({Step.BREAK, Step.LINE, Step.SPACE, Step.END_DIVISION})
