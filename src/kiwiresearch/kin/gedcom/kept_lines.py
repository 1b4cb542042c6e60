"""Lines of imported GEDCOM files that a tree cannot represent, kept with their records to be written back in place.

They are found by subtraction: what the writer would write of a record is compared with the record as it was read,
and the rest is kept. So a line is either written from the tree or kept, whatever the reader and the writer can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, Protocol, get_args

from kiwiresearch.kin.gedcom.dates import read_date
from kiwiresearch.kin.gedcom.nodes import Node, NodeKind
from kiwiresearch.kin.gedcom.tags import EVENT_TAGS, plain_name
from kiwiresearch.kin.tree import PersonId, SourceId

KeptKind = Literal["person", "family", "source", "record", "head"]
SEPARATOR = ":"
"""Between the kind and the id of what a kept pointer refers to."""


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """What is kept of one record of a file. Pointers in it are references, such as `person:ID`."""

    kind: KeptKind
    id: str
    """The person or source, or the family or record of the file, by the ids of this import."""
    lines: tuple[Node, ...]
    people: tuple[PersonId, ...] = ()
    """The person, or the partners of a family: nothing of it is shown if one of them is withheld."""
    children: tuple[PersonId, ...] = ()

    @property
    def reference(self) -> str:
        return reference(self.kind, self.id)


def reference(kind: str, record_id: str) -> str:
    return f"{kind}{SEPARATOR}{record_id}"


def is_reference(kind: str, value: str) -> bool:
    return value.startswith(f"{kind}{SEPARATOR}")


def references(lines: Iterable[Node]) -> Iterator[str]:
    """What lines, and those below them, point to."""
    for line in lines:
        if line.kind == "pointer":
            yield line.value
        yield from references(line.below)


def media_names(lines: Iterable[Node]) -> Iterator[str]:
    """The files that lines refer to: pictures and documents."""
    for line in lines:
        if line.tag == "OBJE":
            yield from (file.value.strip() for file in line.all("FILE"))
        yield from media_names(line.below)


def with_ids(
    kept: Iterable[KeptRecord],
    person: Callable[[PersonId], PersonId] = lambda item: item,
    source: Callable[[SourceId], SourceId] = lambda item: item,
) -> tuple[KeptRecord, ...]:
    """The same records under the ids that people and sources have now."""
    by_kind = {"person": person, "source": source}

    def renamed(value: str) -> str:
        kind, _, record_id = value.partition(SEPARATOR)
        return reference(kind, by_kind[kind](record_id)) if kind in by_kind else value

    def line(node: Node) -> Node:
        value = renamed(node.value) if node.kind == "pointer" else node.value
        return replace(node, value=value, below=[line(below) for below in node.below])

    return tuple(
        replace(
            record,
            id=by_kind[record.kind](record.id) if record.kind in by_kind else record.id,
            lines=tuple(map(line, record.lines)),
            people=tuple(map(person, record.people)),
            children=tuple(map(person, record.children)),
        )
        for record in kept
    )


ALIKE: Mapping[str, str] = {"CHR": "BAPM", "ANUL": "DIV", "ALIA": "NAME", "EXID": "REFN", "_UID": "UID", "WIFE": "HUSB"}
"""Tags that the writer replaces by another one, which is what the record says as well."""
WITHOUT_VALUE = frozenset({"BIRT", "BAPM", "CHR", "DEAT", "BURI", "MARR", "DIV", "ANUL", "EVEN"})
"""Events whose own value says no more than that they happened."""
DISTINGUISHING_EVENT_TAGS = ("DATE", "PLAC", "TYPE")
"""The lines of an event that distinguish it from another one of its kind."""
DISTINGUISHING_CITATION_TAGS = ("PAGE",)
SEXES = ("M", "F")


def _kind_of(node: Node) -> str:
    if node.kind == "pointer" and node.tag == "ALIA":
        return node.tag
    return ALIKE.get(node.tag, node.tag)


def _plain(node: Node) -> str:
    """The value of a line as far as it matters for what it means."""
    if node.tag == "DATE":
        return _plain_date(node.value)[0]
    value = " ".join(node.value.split())
    if node.tag in ("NAME", "ALIA"):
        return plain_name(value)
    if node.tag == "SEX":
        return value[:1].upper() if value[:1].upper() in SEXES else ""
    return value.upper() if node.tag in ("PEDI", "RESN", "TYPE") else value


@lru_cache(maxsize=8192)
def _plain_date(written: str) -> tuple[str, str]:
    """What a date means, and the days it may be."""
    value = " ".join(written.split())
    when = read_date(value)
    return (when.edtf(), f"{when.earliest} {when.latest}") if when else (value.upper().strip("()"),) * 2


def _distinguishing_tags(node: Node) -> tuple[str, ...]:
    if node.tag in EVENT_TAGS:
        return DISTINGUISHING_EVENT_TAGS
    return DISTINGUISHING_CITATION_TAGS if node.tag == "SOUR" else ()


def _likeness(one: Node, other: Node) -> int:
    """How much two lines of the same kind have in common; 0 if they do not say the same."""
    if (one.kind == "pointer") != (other.kind == "pointer"):
        return 0
    if _plain(one) != _plain(other) and not (one.tag in WITHOUT_VALUE and other.tag in WITHOUT_VALUE):
        return 0
    points = 2 if one.tag == other.tag else 1
    for tag in _distinguishing_tags(one):
        own, others = one.first(tag), other.first(tag)
        if own and others and _plain(own) == _plain(others):
            points += 4
        elif own and others and tag == "DATE" and _plain_date(own.value)[1] == _plain_date(others.value)[1]:
            points += 1  # a note below it may say the rest
        elif own and others:
            return 0
    # Two citations of one source with different words are two.
    if one.tag == "SOUR" and _quoted(one) != _quoted(other):
        return 0
    return points


def _quoted(citation: Node) -> tuple[str, str]:
    """The page and the words of a citation."""
    data = citation.first("DATA")
    texts = [*(data.all("TEXT") if data else ()), *citation.all("TEXT")]
    return " ".join(citation.get("PAGE").split()), " ".join(" ".join(text.value for text in texts).split())


def _take_counterpart(line: Node, others: list[Node]) -> Node | None:
    """Remove from other lines the one that says the same as a line, and return it."""
    kind = _kind_of(line)
    alike = ((_likeness(line, other), -at) for at, other in enumerate(others) if _kind_of(other) == kind)
    likeness, at = max(alike, default=(0, 0))
    return others.pop(-at) if likeness else None


def remainder(lines: Iterable[Node], written: Iterable[Node]) -> list[Node]:
    """The lines that are not written: whole ones, and anchors, each with what is additional below it.

    An anchor only locates the line written from the tree, its counterpart.
    """
    others = list(written)
    found = []
    for line in lines:
        counterpart = _take_counterpart(line, others)
        if counterpart is None:
            found.append(line)
            continue
        below = remainder(line.below, counterpart.below)
        is_respelled = (line.tag, line.value) != (counterpart.tag, counterpart.value)
        # The line itself is kept only to find its counterpart again, by the lines of its signature: it is an anchor.
        if below or is_respelled:
            more = [item for item in _signature(line) if all(item.tag != other.tag for other in below)]
            found.append(replace(line, below=[*more, *below], is_anchor=True))
    return found


def _signature(line: Node) -> list[Node]:
    """The lines below an anchor that distinguish it from others of its kind."""
    data = line.first("DATA") if line.tag == "SOUR" else None
    found = [below for below in line.below if below.tag in _distinguishing_tags(line)]
    return [replace(below, below=[], is_anchor=True) for below in (*found, *(data.all("TEXT") if data else ()))]


class LineConverter(Protocol):
    """How kept lines become lines of a file."""

    def anchor(self, node: Node) -> Node:
        """An anchor as its line would be written, to be compared."""

    def restore_spelling(self, kept: Node, written: Node) -> None:
        """Write a line of the tree as the file had it."""

    def lines(self, node: Node, above: str) -> list[Node]:
        """An additional line as it is written; none if it points to nothing."""


def put_back(lines: Iterable[Node], into: Node, converter: LineConverter) -> None:
    """Add kept lines to those written from the tree: anchors to their counterparts, others after them.

    An anchor without a counterpart belonged to a fact that is not written any more, and goes with it.
    """
    others = list(into.below)
    for line in lines:
        if not line.is_anchor:
            into.below.extend(node for node in converter.lines(line, into.tag) if node not in into.below)
            continue
        counterpart = _take_counterpart(converter.anchor(line), others)
        if counterpart is not None:
            converter.restore_spelling(line, counterpart)
            put_back(line.below, counterpart, converter)


@dataclass(slots=True)
class TagCounts:
    """How often each path of tags occurs, and the line of its first occurrence."""

    found: dict[str, list[int]] = field(default_factory=dict)

    def add(self, path: str, number: int) -> None:
        self.found.setdefault(path, [0, number])[0] += 1

    def add_all(self, line: Node, path: str) -> None:
        """Count a line and all those below it, unless they are anchors."""
        called = f"{path}.{line.tag}" if path else line.tag
        if not line.is_anchor:
            self.add(called, line.number)
        for below in line.below:
            self.add_all(below, called)

    def rows(self) -> tuple[TagCount, ...]:
        return tuple(TagCount(path, count, first) for path, (count, first) in sorted(self.found.items()))


@dataclass(frozen=True, slots=True)
class TagCount:
    """How many lines of a file have this path of tags, such as `BIRT.NOTE`, and the first of them."""

    path: str
    count: int
    first_line: int


def kept_json(kept: Iterable[KeptRecord]) -> list[list[Any]]:
    """Kept records as they are stored."""
    return [
        [
            record.kind,
            record.id,
            list(record.people),
            list(record.children),
            [_line_json(line) for line in record.lines],
        ]
        for record in kept
    ]


def kept_from_json(rows: Iterable[Iterable[Any]]) -> tuple[KeptRecord, ...]:
    return tuple(
        KeptRecord(kind, record_id, tuple(map(_line_from_json, lines)), tuple(people), tuple(children))
        for kind, record_id, people, children, lines in rows
    )


KINDS: tuple[NodeKind, ...] = get_args(NodeKind)


def _line_json(line: Node) -> list[Any]:
    flags = KINDS.index(line.kind) + len(KINDS) * line.is_anchor
    row: list[Any] = [line.tag, line.value, flags]
    return [*row, [_line_json(below) for below in line.below]] if line.below else row


def _line_from_json(row: list[Any]) -> Node:
    tag, value, flags, *below = row
    is_anchor, kind = divmod(flags, len(KINDS))
    lines = [_line_from_json(each) for each in (below[0] if below else ())]
    return Node(tag, value, KINDS[kind], below=lines, is_anchor=bool(is_anchor))
