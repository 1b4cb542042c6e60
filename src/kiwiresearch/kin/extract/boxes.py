"""Boxes of facts: each row that tells of the family, read to single values."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.lifespan import BAPTISED, DOUBT, date_in
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import Span
from kiwiresearch.kin.extract.subject import Subject
from kiwiresearch.kin.extract.values import noted_field, people_in, qualifier_in, union_in
from kiwiresearch.kin.extract.words import FamilyWords, label_kind
from kiwiresearch.kin.extracted import Extracted, Snippet
from kiwiresearch.kin.fields import FieldName, Qualifier
from kiwiresearch.kin.names import same_name
from kiwiresearch.page.doc import Cell, InfoboxRow, PageDoc
from kiwiresearch.text.when import dates_in

SURE = 0.85
LESS_SURE = 0.75
RELATIONS: dict[str, FieldName] = {
    "father": "father", "mother": "mother", "parent": "parent", "spouse": "spouse",
    "partner": "partner", "child": "child", "sibling": "sibling",
}  # fmt: skip
EVENTS: dict[str, tuple[FieldName, FieldName]] = {
    "birth": ("birth_date", "birth_place"), "death": ("death_date", "death_place"),
    "baptism": ("baptism_date", "baptism_place"), "burial": ("burial_date", "burial_place"),
}  # fmt: skip
PLACES: dict[str, FieldName] = {"birth_place": "birth_place", "death_place": "death_place"}
PLURAL_LABEL = regex.compile(r"s\)?$|children|issue|wives|offspring|relatives|parents|marriage", regex.IGNORECASE)
AGED = regex.compile(r"\((?:aged?|age)\b[^()]*\)|\(\d{4}-\d\d-\d\d\)|\baged?\s+\d+\b|\[[^\]]*\]", regex.IGNORECASE)
NO_PLACE = regex.compile(
    r"unknown|uncertain|disputed|cause|natural|\?|\d{3,}|assassinat|executed|murder|^age", regex.IGNORECASE
)
PLACE = regex.compile(r"\p{Lu}[^\n()\[\];]{1,90}")
NO_NAME_LABEL = regex.compile(r"royal|dynasty")


def box_facts(page: PageDoc, subject: Subject, words: FamilyWords) -> Iterator[Extracted]:
    """What the boxes about the subject say; a box about something else, such as a war, has no such rows."""
    for rows in (*(box.rows for box in page.infoboxes), *_plain_boxes(page, words)):
        for row in rows:
            kind = label_kind(row.key, words)
            if kind in EVENTS:
                yield from _event(page, row, EVENTS[kind])
            elif kind in PLACES:
                yield from _place(page, row, PLACES[kind], Span(row.start, row.end))
            elif kind in RELATIONS or kind == "relative":
                yield from _relatives(page, row, kind, subject, words)
            elif kind in ("occupation", "title"):
                yield from _plain(page, row, kind)  # type: ignore[arg-type]  # both are names of fields
            elif kind == "full_name":
                yield from _full_name(page, row)


def _plain_boxes(page: PageDoc, words: FamilyWords) -> Iterator[tuple[InfoboxRow, ...]]:
    """Tables of the lead that are boxes in all but name: labels with a colon, a birth or a death among them."""
    for table in page.tables:
        labelled = [row for row in table.rows if len(row) == 2 and page.text[row[0].start : row[0].end].endswith(":")]
        kinds = {label_kind(page.text[key.start : key.end], words) for key, _ in labelled}
        if table.section == 0 and kinds & EVENTS.keys():
            yield tuple(_plain_row(page, *row) for row in labelled)


def _plain_row(page: PageDoc, key: Cell, value: Cell) -> InfoboxRow:
    links = tuple(link for link in page.links if value.start <= link.start < value.end)
    words = page.text[value.start : value.end]
    return InfoboxRow(page.text[key.start : key.end - 1], words, "", value.start, value.end, links)


def _snippet(page: PageDoc, row: InfoboxRow, end: int) -> Snippet:
    """The label and its value up to `end`."""
    label = page.text.rfind(row.key, max(0, row.start - len(row.key) - 4), row.start) if row.key else -1
    start = label if label >= 0 else row.start
    return Snippet(start, end, page.text[start:end])


def _event(page: PageDoc, row: InfoboxRow, fields: tuple[FieldName, FieldName]) -> Iterator[Extracted]:
    value = page.text[row.start : row.end]
    plain = AGED.sub(lambda found: " " * len(found[0]), value)
    dates = [one for one in dates_in(DOUBT.sub("", plain), page.language) if not one.when.lasts or one.when.qualifier]
    rest = row.start
    if dates:
        end = row.start + dates[0].end + len(DOUBT.findall(value[: dates[0].end]))
        rest = end
        because = f"the row {row.key!r} of the box"
        line = value[
            max(0, value.rfind("\n", 0, dates[0].start)) : (value.find("\n", dates[0].end) + 1 or len(value) + 1) - 1
        ]
        if fields[0] == "birth_date" and BAPTISED.search(line):
            fields = EVENTS["baptism"]
            end = row.start + value.find(line) + len(line.rstrip()) if BAPTISED.search(value, dates[0].end) else end
        yield Extracted(
            fields[0], dates[0].when.edtf(), _snippet(page, row, end), "infobox", SURE, dates[0].when,
            locator=row.key, rationale=because,
        )  # fmt: skip
    else:
        bare = date_in(plain.split("\n")[0].split("(")[0], page.language)
        if bare:
            rest = row.start + len(value.split("\n")[0])
            yield Extracted(
                fields[0], bare.edtf(), _snippet(page, row, rest), "infobox", LESS_SURE, bare,
                locator=row.key, rationale=f"the row {row.key!r} of the box",
            )  # fmt: skip
    if dates and (name := _name_before(value, dates[0].start)):
        there = row.start + value.find(name)
        yield Extracted(
            "name", name, _snippet(page, row, there + len(name)), "infobox", LESS_SURE,
            locator=row.key, rationale="the name before the date of birth in the box",
        )  # fmt: skip
    yield from _place(page, row, fields[1], Span(rest, row.end))


def _name_before(value: str, at: int) -> str:
    first, line_break, _ = value[:at].partition("\n")
    return first.strip() if line_break and first.strip()[:1].isupper() else ""


def _place(page: PageDoc, row: InfoboxRow, field: FieldName, span: Span) -> Iterator[Extracted]:
    """The first line behind the date that names a place."""
    at = span.start
    for line in page.text[span.start : span.end].split("\n"):
        start, at = at, at + len(line) + 1
        plain = AGED.sub(lambda found: " " * len(found[0]), line)
        lead = regex.match(r"[\s,;.]*(?:in|at|near)?\s*(?:\([^()]*\))?[\s,;.]*", plain)
        found = PLACE.match(plain, lead.end() if lead else 0)
        if not found:
            continue
        words = found[0].rstrip(" ,.;") if not found[0].endswith(("C.", "S.", "A.")) else found[0]
        if NO_PLACE.search(words) or len(words) < 3:
            continue
        begin = start + found.start()
        end = begin + len(words)
        yield Extracted(
            field, words, _snippet(page, row, end), "infobox", LESS_SURE,
            target=_linked(row, begin, end), locator=row.key, rationale=f"the place in the row {row.key!r} of the box",
        )  # fmt: skip
        return


def _relatives(page: PageDoc, row: InfoboxRow, kind: str, subject: Subject, words: FamilyWords) -> Iterator[Extracted]:
    plural = bool(PLURAL_LABEL.search(row.key))
    for person in people_in(page.text, Span(row.start, row.end), words, plural=plural):
        name = page.text[person.span.start : person.span.end]
        field = RELATIONS.get(kind) or noted_field(person.note, words)
        told = noted_field(person.note, words)
        if kind == "parent" and told in ("father", "mother"):
            field = told
        if not field or (kind == "relative" and field not in RELATIONS.values()):
            continue
        if same_name(name, subject.name) and name.split()[0] == subject.name.split()[0] and field == "spouse":
            continue
        union = union_in(person.note, words, page.language)
        qualifier: Qualifier = qualifier_in(person.note, words) or ("divorced" if union.divorced else "")
        end = person.line_end if (union.begun or qualifier) else person.span.end
        end = person.span.start + len(page.text[person.span.start : end].rstrip(" ,;\n"))
        yield Extracted(
            field,  # type: ignore[arg-type]  # a value of RELATIONS
            name,
            _snippet(page, row, max(end, person.span.end)),
            "infobox",
            SURE if kind != "relative" else LESS_SURE,
            union.begun,
            union.ended,
            qualifier,
            _linked(row, *person.span),
            row.key,
            f"a name in the row {row.key!r} of the box",
        )


def _linked(row: InfoboxRow, start: int, end: int) -> str:
    """The page that a link within these words leads to."""
    for link in row.links:
        if link.in_text and start <= link.start < end:
            return link.target
    return ""


def _plain(page: PageDoc, row: InfoboxRow, field: FieldName) -> Iterator[Extracted]:
    at = row.start
    for line in page.text[row.start : row.end].split("\n"):
        for piece in regex.finditer(r"[^,;]+", line) if field == "occupation" else regex.finditer(r".+", line):
            words = piece[0].strip()
            start = at + piece.start() + len(piece[0]) - len(piece[0].lstrip())
            if 2 < len(words) < 80:
                end = start + len(words)
                yield Extracted(
                    field, words, _snippet(page, row, end), "infobox", LESS_SURE,
                    target=_linked(row, start, end), locator=row.key, rationale=f"the row {row.key!r} of the box",
                )  # fmt: skip
        at += len(line) + 1


def _full_name(page: PageDoc, row: InfoboxRow) -> Iterator[Extracted]:
    first = page.text[row.start : row.end].split("\n")[0].strip()
    if first and len(first) < 120:
        start = page.text.find(first, row.start, row.end)
        yield Extracted(
            "name", first, _snippet(page, row, start + len(first)), "infobox", SURE,
            locator=row.key, rationale=f"the row {row.key!r} of the box",
        )  # fmt: skip
