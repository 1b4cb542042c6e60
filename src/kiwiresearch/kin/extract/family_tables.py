"""Lists and tables of children, and tables of ancestors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.extract.boxes import doubt_or_qualifier_in, qualifier_in
from kiwiresearch.kin.extract.life_dates import dates_after_name, dates_in_row, name_target, snippet_at
from kiwiresearch.kin.extract.name_lists import TextSpan, name_at
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.lineage import AncestorLine, parse_ancestor_label
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import Qualifier
from kiwiresearch.page import Block, Cell, PageDoc, PageTable, Section
from kiwiresearch.text import fold
from kiwiresearch.text.dates import dates_in

TABLE_CONFIDENCE = 0.8


@dataclass(slots=True)
class _Ancestor:
    """A father or mother, the line that leads to them, and their own parents."""

    line: AncestorLine
    fact: ExtractedFact
    above: list[_Ancestor] = field(default_factory=list)

    def with_ancestors(self) -> ExtractedFact:
        return replace(
            self.fact,
            relative_facts=(*self.fact.relative_facts, *(ancestor.with_ancestors() for ancestor in self.above)),
        )


def ancestor_facts(page: PageDoc) -> Iterator[ExtractedFact]:
    """The father and mother of the page's person, each with the ancestors that a table names."""
    parents: dict[AncestorLine, _Ancestor] = {}
    for table in page.tables:
        for ancestor in _named(page, table):
            if ancestor.line in parents:
                continue
            below = parents.get(ancestor.line[:-1])
            if len(ancestor.line) == 1 or below is not None:
                parents[ancestor.line] = ancestor
            if below is not None:
                below.above.append(ancestor)
    yield from (parent.with_ancestors() for line, parent in parents.items() if len(line) == 1)


def _named(page: PageDoc, table: PageTable) -> Iterator[_Ancestor]:
    heading = page.sections[table.section].heading if table.section < len(page.sections) else ""
    for cell in (cell for row in table.rows for cell in row):
        found = parse_ancestor_label(page.text[cell.start : cell.end])
        name = name_at(page.text, cell.start + found.end, cell.end) if found else None
        if found is None or name is None:
            continue
        fact = ExtractedFact(
            found.line[-1],
            page.text[name.start : name.end],
            snippet_at(page, TextSpan(cell.start, name.end)),
            "prose",
            TABLE_CONFIDENCE,
            target=name_target(page, name),
            locator=heading,
            rationale="a cell of an ancestor table",
            relative_facts=dates_after_name(page, name, cell.end),
        )
        yield _Ancestor(found.line, fact)


LIST_CONFIDENCE = 0.75
SHORT = 70
"""The length of a short sentence; only one of about that length introduces a list."""


def family_facts(page: PageDoc, subject: ArticlePerson) -> Iterator[ExtractedFact]:
    """The children that the page lists, and the parents that a table of ancestors names."""
    yield from ancestor_facts(page)
    yield from _without_sibling_lists(page, subject, _introduced(page, subject))
    above: Section | None = None
    for index, section in enumerate(page.sections):
        if above and section.level <= above.level:
            above = None
        if above and ENGLISH.by_parent.fullmatch(section.heading):
            blocks = [block for block in page.blocks if section.start <= block.start < section.end]
            said = qualifier_in(above.heading)
            yield from _items(page, blocks, section.heading, said, direct=True, by_parent=True)
            continue
        if ENGLISH.sections["none_of"].search(section.heading):
            continue
        direct = bool(ENGLISH.sections["children"].fullmatch(section.heading))
        familial = direct or bool(ENGLISH.sections["family"].fullmatch(section.heading))
        if not section.heading or not familial:
            continue
        above = section if direct and not above else above
        blocks = [block for block in page.blocks if section.start <= block.start < section.end]
        heading_says = qualifier_in(section.heading)
        yield from _items(page, blocks, section.heading, heading_says, direct=direct)
        for table in page.tables:
            if table.section == index:
                yield from _table(page, table, section.heading, heading_says, subject, direct=direct)


def _without_sibling_lists(
    page: PageDoc, subject: ArticlePerson, found: Iterator[ExtractedFact]
) -> Iterator[ExtractedFact]:
    """Drop the sections whose list contains the subject: it is one of brothers and sisters."""
    children = list(found)
    own = {fold(subject.name), fold(page.title)}
    foreign = {child.locator for child in children if fold(child.value) in own}
    yield from (child for child in children if child.locator not in foreign)


def _introduced(page: PageDoc, subject: ArticlePerson) -> Iterator[ExtractedFact]:
    """'They had three sons:' and the items below it, in any section."""
    reading = False
    said: Qualifier = ""
    heading = ""
    for block in page.blocks:
        text = page.text[block.start : block.end]
        if block.kind == "heading":
            reading, heading = False, text.strip()
        elif block.kind == "paragraph":
            last = _last_of(text)
            counted = ENGLISH.some_children.search(last) or ENGLISH.by_her.search(last)
            about = (
                ENGLISH.couple_words.match(last) or subject.mention.search(last) or ENGLISH.possessive_opens.match(last)
            )
            reading = bool(counted and about and len(last) < SHORT * 2 and not ENGLISH.of_others.search(last))
            said = _shared_qualifier(last)
        elif block.kind == "item" and ENGLISH.heads_others.fullmatch(text):
            reading = False
        elif block.kind == "item" and reading and not ENGLISH.sections["children"].fullmatch(heading):
            because = "an item in a list after a sentence about the children"
            yield from _child(page, TextSpan(block.start, block.end), heading, said, LIST_CONFIDENCE, because)
        elif block.kind not in ("item", "caption"):
            reading = False


def _last_of(text: str) -> str:
    """The last sentence."""
    return str(regex.split(r"(?<=[.!?])\s+(?=\p{Lu})", text.strip())[-1])


def _shared_qualifier(sentence: str) -> Qualifier:
    """What a sentence says about all the children it introduces: 'several illegitimate children'."""
    last = _last_of(sentence)
    if ENGLISH.may_have.search(last):
        return "disputed"
    found = ENGLISH.qualified_children.search(last)
    return qualifier_in(found[0]) if found else ""


def _items(
    page: PageDoc, blocks: list[Block], heading: str, said: Qualifier, *, direct: bool, by_parent: bool = False
) -> Iterator[ExtractedFact]:
    """Items that begin with a name, if the sentence above them is about children."""
    reading = direct
    qualifier = said
    over = heading
    for block in blocks:
        text = page.text[block.start : block.end]
        if block.kind == "paragraph" and not by_parent:
            tail = text[-160:]
            asks = bool(ENGLISH.sections["lead_in"].search(tail)) and bool(ENGLISH.lead_in_end.search(tail))
            reading = not ENGLISH.of_others.search(_last_of(tail)) and (asks or (direct and len(text) < SHORT * 3))
            qualifier = _shared_qualifier(tail) or said
            continue
        if block.kind != "item":
            continue
        if ENGLISH.heads_others.fullmatch(text):
            reading = False
        elif ENGLISH.heads_children.fullmatch(text) or (direct and ENGLISH.by_parent.fullmatch(text)):
            reading, over = True, text.strip()
        elif reading:
            because = "an item in a list of children"
            yield from _child(page, TextSpan(block.start, block.end), over, qualifier, LIST_CONFIDENCE, because)


def _child(
    page: PageDoc, span: TextSpan, heading: str, said: Qualifier, sure: float, because: str
) -> Iterator[ExtractedFact]:
    number = ENGLISH.numbered.match(page.text, span.start, span.end)
    if number and regex.search(r"\d\s*[–-]\s*$", number[0]):
        return  # '1 - Aelgifu of Northampton' heads the children of one marriage
    start = number.end() if number else span.start
    styled = ENGLISH.royal_style.match(page.text, start, span.end)
    start = styled.end() if styled else start
    found = name_at(page.text, start, span.end)
    if not found or not ENGLISH.after_name.match(page.text, found.end, span.end):
        return
    if page.text[found.end : span.end].strip() == ":":
        return  # a heading
    stop = min(span.end, found.end + 160)
    line = page.text.find("\n", found.end, stop)
    after = page.text[found.end : line if line > 0 else stop]
    dates = regex.match(r"\s*\([^()]{0,80}\)", after)
    end = found.end + dates.end() if dates else found.end
    qualifier = said or qualifier_in(after[:80]) or qualifier_in("".join(NOTED.findall(after)))
    if qualifier and qualifier != said:
        end = found.end + len(after.rstrip())
    yield ExtractedFact(
        "child",
        page.text[found.start : found.end],
        snippet_at(page, TextSpan(span.start, end)),
        "prose",
        sure,
        qualifier=qualifier,
        target=name_target(page, found),
        locator=heading,
        rationale=f"{because} in the section {heading!r}",
        relative_facts=dates_after_name(page, found, span.end),
    )


def _wedding(page: PageDoc, child: ExtractedFact, end: int) -> Iterator[ExtractedFact]:
    """Whom the row of a child says that the child married, with the year: 'married 1858, Max Hay'."""
    start = child.snippet.start
    wed = ENGLISH.wed_note.search(page.text, start, end)
    name = name_at(page.text, wed.end(), end) if wed else None
    if not wed or not name:
        return
    dated = dates_in(wed[0], page.language)[:1]
    yield ExtractedFact(
        "spouse",
        page.text[name.start : name.end],
        snippet_at(page, TextSpan(start, name.end)),
        "prose",
        child.confidence,
        dated[0].when if dated else None,
        target=name_target(page, name),
        locator=child.locator,
        rationale="whom the row of a child says that the child married",
    )


NOTED = regex.compile(r"\[[^\]]*\]?")


def _table(
    page: PageDoc, table: PageTable, heading: str, said: Qualifier, subject: ArticlePerson, *, direct: bool
) -> Iterator[ExtractedFact]:
    rows = [row for row in table.rows if row]
    if not rows:
        return
    top = " ".join(page.text[cell.start : cell.end] for cell in rows[0])
    first = page.text[rows[0][0].start : rows[0][0].end].strip()
    while len(rows) > 1 and len(rows[0]) == 1 and not ENGLISH.children_word.search(top):
        rows = rows[1:]
        top = " ".join(page.text[cell.start : cell.end] for cell in rows[0])
    titled = bool(ENGLISH.children_word.search(table.caption or top)) and len(rows[0]) == 1
    headed = bool(ENGLISH.sections["names_header"].fullmatch(first)) and len(rows[0]) > 1
    if not (direct and headed) and not (titled and subject.mention.search(top)):
        return
    if ENGLISH.of_others.search(top):
        return
    because = "a row of a table of children"
    over = heading
    for row in rows[1:]:
        line = page.text[row[0].start : row[0].end].strip()
        if len(row) == 1 and ENGLISH.by_parent.fullmatch(line):
            over = line
        if headed and len(row) < 2:
            continue
        for child in _child(page, TextSpan(row[0].start, row[0].end), over, said, TABLE_CONFIDENCE, because):
            dated = replace(child, relative_facts=child.relative_facts or tuple(dates_in_row(page, rows[0], row)))
            noted = _with_note(page, dated, row)
            yield replace(noted, relative_facts=(*noted.relative_facts, *_wedding(page, noted, row[-1].end)))


def _with_note(page: PageDoc, child: ExtractedFact, row: tuple[Cell, ...]) -> ExtractedFact:
    """The child of a row, with what a later cell says first of the relation: 'reputed illegitimate; married'."""
    for cell in row[1:]:
        opening = ENGLISH.first_words.match(page.text, cell.start, cell.end)
        qualifier = doubt_or_qualifier_in(opening[0]) if opening else ""
        if qualifier and not child.qualifier:
            return replace(child, qualifier=qualifier, snippet=snippet_at(page, TextSpan(row[0].start, cell.end)))
    return child
