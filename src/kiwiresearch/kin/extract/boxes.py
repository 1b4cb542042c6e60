"""Infoboxes: the people, dates and places that each row names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from kiwiresearch.kin.extract.life_dates import DOUBT, date_in, link_target, name_target, sex_facts
from kiwiresearch.kin.extract.name_lists import TextSpan, name_at
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import may_be_same_name
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.tree import RELATION_FIELDS, FieldName, Qualifier
from kiwiresearch.page import Cell, InfoboxRow, PageDoc
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, dates_in


@dataclass(frozen=True, slots=True)
class PersonInRow:
    """A person in a row: the span of the name, and the note after it."""

    span: TextSpan
    note: str
    line_end: int


# A line that begins so continues the one above: an open bracket, a lower-case word, a dash.
# '(m. 1840)', 'of Aue' and '– 1850' continue a line; '(2)' and '(a)' begin a new one.
CONTINUES = regex.compile(r"\s*(?:\((?!\w{1,2}\))|\p{Ll}|[–-])")


def people_in(text: str, span: TextSpan, *, plural: bool = True) -> Iterator[PersonInRow]:
    """The people named in a value, in order; empty for a number or 'none'."""
    for line in _lines(text, span):
        yield from _people_of_line(text, line, plural=plural)


def _lines(text: str, span: TextSpan) -> list[TextSpan]:
    """The lines of a value; a name that continues on the next line counts as one line."""
    lines: list[TextSpan] = []
    at = span.start
    for piece in text[span.start : span.end].split("\n"):
        start, at = at, at + len(piece) + 1
        if not piece.strip():
            continue
        end = start + len(piece)
        if lines and (CONTINUES.match(piece) or ENGLISH.hanging.search(text[lines[-1].start : lines[-1].end])):
            lines[-1] = TextSpan(lines[-1].start, end)
        else:
            lines.append(TextSpan(start, end))
    return lines


def _people_of_line(text: str, line: TextSpan, *, plural: bool) -> Iterator[PersonInRow]:
    start = _name_start(text, line.start, line.end)
    opened: list[tuple[TextSpan, int]] = []
    while start < line.end:
        found = _name(text, start, line.end)
        if not found:
            break
        opened.append((found, start))
        after = NOTE.match(text, found.end, line.end)
        step = ENGLISH.between_names.match(text, after.end(), line.end)
        if not step or not step[0].strip():
            break
        start = step.end()
        separates = any(sign in step[0] for sign in (";", "\n", "and", "&"))
        if not separates and not plural and "," in step[0]:
            break
    stops = [*(start for _, start in opened[1:]), line.end]
    for (found, _), stop in zip(opened, stops, strict=False):
        yield PersonInRow(found, text[found.end : stop].strip(), stop)


def _name_start(text: str, start: int, end: int) -> int:
    """Where the name begins, after a number and words such as 'King'."""
    found = ENGLISH.counted.match(text, start, end) or ENGLISH.numbered.match(text, start, end)
    start = found.end() if found else start
    status = ENGLISH.status_before_name.match(text, start, end)
    return status.end() if status else start


def _name(text: str, start: int, end: int) -> TextSpan | None:
    """The name at `start`; if its last line is only a rank, or breaks it, the name without that line."""
    found = name_at(text, start, end)
    if found and not (
        text[found.end : found.end + 1] == "\n" and ENGLISH.rank_end.search(text[found.start : found.end])
    ):
        return found
    line = text.find("\n", start, end)
    if line < 0:
        return None
    comma = text.rfind(",", start, line)
    return name_at(text, start, comma if comma > 0 else line)


NOTE = regex.compile(r"(?:\s*\((?:[^()]|\([^()]*\))*\)|,\s+(?=\p{Ll})[^;,\n]*)*+")
"""The brackets and lower-case words after a name."""


def field_of_note(note: str) -> str:
    """The field that a note after a name gives: '(father)', ', son'."""
    inner = fold(regex.sub(r"[(),;:]", " ", note))
    return ENGLISH.notes.get(inner, "") or ENGLISH.notes.get(" ".join(inner.split()[:1]), "")


def qualifier_in(note: str) -> Qualifier:
    """The qualifier that a note gives: 'adoptive', 'half', …"""
    return next((name for name, pattern in ENGLISH.qualifiers if pattern.search(note)), "")


def doubt_or_qualifier_in(note: str) -> Qualifier:
    """The qualifier, where a doubt outweighs the others: 'reputed illegitimate'."""
    return "disputed" if dict(ENGLISH.qualifiers)["disputed"].search(note) else qualifier_in(note)


@dataclass(frozen=True, slots=True)
class MarriageDates:
    """When a marriage began and ended."""

    begun: DateRange | None = None
    ended: DateRange | None = None
    divorced: bool = False


def marriage_dates_in(note: str, language: str) -> MarriageDates:
    """'(m. 1951; div. 1952)', '(married 1940, divorced 1948)'; dates without such a word may be a lifespan."""
    begun = ended = None
    divorced = False
    for part in regex.split(r"[;,]|\n", note.replace("(", ";").replace(")", ";")):
        plain = part.strip()
        start, stop = ENGLISH.marriage["begun"].match(plain), ENGLISH.marriage["ended"].match(plain)
        if start and not begun:
            # 'm. 1951–1952' has both ends of the marriage.
            left, dash, right = regex.sub(r"\s*[–—-]\s*", "\x00", plain[start.end() :]).partition("\x00")
            begun = date_in(left, language)
            ended = ended or (date_in(right, language) if dash else None)
        elif stop and begun and not ended:
            ended = date_in(plain[stop.end() :], language)
            divorced = divorced or bool(ENGLISH.marriage["divorced"].match(plain))
    return MarriageDates(begun, ended, divorced)


BOX_CONFIDENCE = 0.85
# Where the rule has to choose a part of the row, as for a place, or the row is called 'Relatives'.
LOWER_BOX_CONFIDENCE = 0.75
EVENTS: dict[str, tuple[FieldName, FieldName]] = {
    "birth": ("birth_date", "birth_place"), "death": ("death_date", "death_place"),
    "baptism": ("baptism_date", "baptism_place"), "burial": ("burial_date", "burial_place"),
}  # fmt: skip
# 'Kew, Surrey' in 'Kew, Surrey (now London)'; 'aged 70' begins with no capital.
PLACE = regex.compile(r"\p{Lu}[^\n()\[\];]{1,90}")


def box_facts(page: PageDoc, subject: ArticlePerson) -> Iterator[ExtractedFact]:
    """What the boxes about the subject say; a box about something else, such as a war, has none of these rows."""
    for rows in (*(box.rows for box in page.infoboxes), *_plain_boxes(page)):
        for row in rows:
            kind = ENGLISH.label_kind(row.key)
            if kind in EVENTS:
                yield from _event(page, row, EVENTS[kind])
            elif kind in ("birth_place", "death_place"):
                yield from _place(page, row, cast(FieldName, kind), TextSpan(row.start, row.end))
            elif kind in RELATION_FIELDS or kind == "relative":
                yield from _relatives(page, row, kind, subject)
            elif kind in ("occupation", "title"):
                yield from _plain(page, row, cast(FieldName, kind))
            elif kind == "full_name":
                yield from _full_name(page, row)


def _plain_boxes(page: PageDoc) -> Iterator[tuple[InfoboxRow, ...]]:
    """Tables of the lead that serve as boxes: labels with a colon, a birth or a death among them."""
    for table in page.tables:
        labelled = [row for row in table.rows if len(row) == 2 and page.text[row[0].start : row[0].end].endswith(":")]
        kinds = {ENGLISH.label_kind(page.text[key.start : key.end]) for key, _ in labelled}
        if table.section == 0 and kinds & EVENTS.keys():
            yield tuple(_box_row(page, *row) for row in labelled)


def _box_row(page: PageDoc, key: Cell, value: Cell) -> InfoboxRow:
    links = tuple(link for link in page.links if value.start <= link.start < value.end)
    words = page.text[value.start : value.end]
    return InfoboxRow(page.text[key.start : key.end - 1], words, "", value.start, value.end, links)


def _fact(
    page: PageDoc, row: InfoboxRow, field: FieldName, value: str, end: int, confidence: float, because: str, **more: Any
) -> ExtractedFact:
    """A fact whose quote is the label of the row and its value up to `end`."""
    label = page.text.rfind(row.key, max(0, row.start - len(row.key) - 4), row.start) if row.key else -1
    start = label if label >= 0 else row.start
    snippet = Snippet(start, end, page.text[start:end])
    if field in RELATION_FIELDS:
        more["relative_facts"] = sex_facts(field, value, snippet)
    return ExtractedFact(field, value, snippet, "infobox", confidence, locator=row.key, rationale=because, **more)


def _event(page: PageDoc, row: InfoboxRow, fields: tuple[FieldName, FieldName]) -> Iterator[ExtractedFact]:
    value = page.text[row.start : row.end]
    plain = ENGLISH.aged.sub(lambda found: " " * len(found[0]), value)
    dates = [
        mention
        for mention in dates_in(DOUBT.sub("", plain), page.language)
        if not mention.when.lasts or mention.when.qualifier
    ]
    rest = row.start
    because = f"the row {row.key!r} in the infobox"
    if dates:
        # The dates were read without these question marks, so the offset is too small by their number.
        end = row.start + dates[0].end + len(DOUBT.findall(value[: dates[0].end]))
        rest = end
        line = value[
            max(0, value.rfind("\n", 0, dates[0].start)) : (value.find("\n", dates[0].end) + 1 or len(value) + 1) - 1
        ]
        if fields[0] == "birth_date" and ENGLISH.baptised.search(line):
            fields = EVENTS["baptism"]
            if ENGLISH.baptised.search(value, dates[0].end):
                end = row.start + value.find(line) + len(line.rstrip())
        when = dates[0].when
        yield _fact(page, row, fields[0], when.edtf(), end, BOX_CONFIDENCE, because, when=when)
        first, line_break, _ = value[: dates[0].start].partition("\n")
        name = first.strip()
        if line_break and name[:1].isupper():
            there = row.start + value.find(name) + len(name)
            before = "the name before the date of birth in the infobox"
            yield _fact(page, row, "name", name, there, LOWER_BOX_CONFIDENCE, before)
    elif bare := date_in(plain.split("\n")[0].split("(")[0], page.language):
        rest = row.start + len(value.split("\n")[0])
        yield _fact(page, row, fields[0], bare.edtf(), rest, LOWER_BOX_CONFIDENCE, because, when=bare)
    yield from _place(page, row, fields[1], TextSpan(rest, row.end))


def _place(page: PageDoc, row: InfoboxRow, field: FieldName, span: TextSpan) -> Iterator[ExtractedFact]:
    """The first line after the date that names a place."""
    at = span.start
    for line in page.text[span.start : span.end].split("\n"):
        start, at = at, at + len(line) + 1
        plain = ENGLISH.aged.sub(lambda found: " " * len(found[0]), line)
        lead = ENGLISH.place_lead.match(plain)
        found = PLACE.match(plain, lead.end() if lead else 0)
        if not found:
            continue
        # The last stop of 'Washington, D.C.' and 'U.S.A.' belongs to the place.
        words = found[0].rstrip(" ,.;") if not found[0].endswith(("C.", "S.", "A.")) else found[0]
        if ENGLISH.no_place.search(words) or len(words) < 3:
            continue
        begin = start + found.start()
        end = begin + len(words)
        because = f"the place in the row {row.key!r} in the infobox"
        target = link_target(row.links, TextSpan(begin, end))
        yield _fact(page, row, field, words, end, LOWER_BOX_CONFIDENCE, because, target=target)
        return


def _relatives(page: PageDoc, row: InfoboxRow, kind: str, subject: ArticlePerson) -> Iterator[ExtractedFact]:
    plural = bool(ENGLISH.plural_label.search(row.key))
    for person in people_in(page.text, TextSpan(row.start, row.end), plural=plural):
        name = page.text[person.span.start : person.span.end]
        noted = field_of_note(person.note)
        field = noted if kind == "relative" or (kind == "parent" and noted in ("father", "mother")) else kind
        if field not in RELATION_FIELDS:
            continue
        # The subject's own name in the row of the marriage.
        if may_be_same_name(name, subject.name) and name.split()[0] == subject.name.split()[0] and field == "spouse":
            continue
        union = marriage_dates_in(person.note, page.language)
        qualifier: Qualifier = qualifier_in(person.note) or ("divorced" if union.divorced else "")
        # The quote contains the note only if something was read from it.
        end = person.line_end if (union.begun or qualifier) else person.span.end
        end = person.span.start + len(page.text[person.span.start : end].rstrip(" ,;\n"))
        yield _fact(
            page,
            row,
            field,
            name,
            max(end, person.span.end),
            BOX_CONFIDENCE if kind != "relative" else LOWER_BOX_CONFIDENCE,
            f"a name in the row {row.key!r} in the infobox",
            when=union.begun,
            until=union.ended,
            qualifier=qualifier,
            target=name_target(page, person.span),
        )


def _plain(page: PageDoc, row: InfoboxRow, field: FieldName) -> Iterator[ExtractedFact]:
    at = row.start
    for line in page.text[row.start : row.end].split("\n"):
        for piece in regex.finditer(r"[^,;]+" if field == "occupation" else r".+", line):
            words = piece[0].strip()
            start = at + piece.start() + len(piece[0]) - len(piece[0].lstrip())
            if 2 < len(words) < 80:
                end = start + len(words)
                target = link_target(row.links, TextSpan(start, end))
                because = f"the row {row.key!r} in the infobox"
                yield _fact(page, row, field, words, end, LOWER_BOX_CONFIDENCE, because, target=target)
        at += len(line) + 1


def _full_name(page: PageDoc, row: InfoboxRow) -> Iterator[ExtractedFact]:
    first = page.text[row.start : row.end].split("\n")[0].strip()
    if first and len(first) < 120:
        end = page.text.find(first, row.start, row.end) + len(first)
        yield _fact(page, row, "name", first, end, BOX_CONFIDENCE, f"the row {row.key!r} in the infobox")
