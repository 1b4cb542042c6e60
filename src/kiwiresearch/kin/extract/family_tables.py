"""Lists and tables of children, and tables of ancestors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.extract.boxes import doubt_or_qualifier_in, qualifier_in
from kiwiresearch.kin.extract.life_dates import dates_after_name, dates_in_row, name_target, snippet_at
from kiwiresearch.kin.extract.name_lists import TextSpan, name_at
from kiwiresearch.kin.extract.subject import ArticlePerson
from kiwiresearch.kin.language import ENGLISH, Match, regex
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
            # The first name for a place in the line stays: later tables may be about others.
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
        # A section 'By Ruth Hay' below 'Children' has her children, without a sentence that introduces them.
        if above and (by_parent := _parent_heading(section.heading)):
            blocks = [block for block in page.blocks if section.start <= block.start < section.end]
            qualifier = qualifier_in(above.heading)
            yield from _items(page, blocks, by_parent, qualifier, direct=True, by_parent=True)
            continue
        if ENGLISH.sections["none_of"].search(section.heading):
            continue
        direct = bool(ENGLISH.sections["children"].fullmatch(section.heading))
        familial = direct or bool(ENGLISH.sections["family"].fullmatch(section.heading))
        if not section.heading or not familial:
            continue
        above = section if direct and not above else above
        blocks = [block for block in page.blocks if section.start <= block.start < section.end]
        qualifier = qualifier_in(section.heading)
        yield from _items(page, blocks, section.heading, qualifier, direct=direct)
        for table in page.tables:
            if table.section == index and any(table.rows):
                start = next(row[0].start for row in table.rows if row)
                shared = _qualifier_over(page, start, section) or qualifier
                yield from _table(page, table, section.heading, shared, subject, direct=direct)


def _parent_heading(words: str) -> str:
    """The words that say whose children stand below, without what else is said of that parent: 'By Ruth Hay'."""
    found = ENGLISH.by_parent.match(words.strip())
    rest = words.strip()[found.end() :] if found else ""
    return found[0] if found and (not rest or ENGLISH.ends_or_goes_on.match(rest)) else ""


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
    qualifier: Qualifier = ""
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
            # A long sentence tells a story, and the list below it may be about something else.
            reading = bool(counted and about and len(last) < SHORT * 2 and not ENGLISH.of_others.search(last))
            qualifier = _shared_qualifier(last)
        elif block.kind == "item" and ENGLISH.heads_others.fullmatch(text):
            reading = False
        elif block.kind == "item" and reading and not ENGLISH.sections["children"].fullmatch(heading):
            because = "an item in a list after a sentence about the children"
            yield from _item(page, TextSpan(block.start, block.end), heading, qualifier, because)
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
    if found:
        return qualifier_in(found[0])
    single = {qualifier_in(child[0]) for child in ENGLISH.qualified_child.finditer(last)}
    return single.pop() if len(single) == 1 else ""


def _qualifier_over(page: PageDoc, at: int, section: Section) -> Qualifier:
    """What the short paragraph just above a table says about all the children in it."""
    over = max((block for block in page.blocks if block.start < at), key=lambda block: block.start, default=None)
    if over is None or over.kind != "paragraph" or over.start < section.start:
        return ""
    sentences = regex.split(r"(?<=[.!?])\s+(?=\p{Lu})", page.text[over.start : over.end].strip())
    if len(sentences) > 1 and sentences[-1].startswith(("By ", "With ")):
        sentences.pop()  # 'An illegitimate son is attributed to him. By a lady of Aue:'
    return _shared_qualifier(sentences[-1]) if sentences else ""


def _items(
    page: PageDoc,
    blocks: list[Block],
    heading: str,
    heading_qualifier: Qualifier,
    *,
    direct: bool,
    by_parent: bool = False,
) -> Iterator[ExtractedFact]:
    """Items that begin with a name, if the sentence above them is about children."""
    reading = direct
    qualifier = heading_qualifier
    over = heading
    for block in blocks:
        text = page.text[block.start : block.end]
        if block.kind == "paragraph" and not by_parent:
            tail = text[-160:]
            asks = bool(ENGLISH.sections["lead_in"].search(tail)) and bool(ENGLISH.lead_in_end.search(tail))
            reading = not ENGLISH.of_others.search(_last_of(tail)) and (asks or (direct and len(text) < SHORT * 3))
            qualifier = _shared_qualifier(tail) or heading_qualifier
            continue
        if block.kind != "item":
            continue
        if ENGLISH.heads_others.fullmatch(text):
            reading = False
        elif ENGLISH.heads_children.fullmatch(text):
            reading, over = True, text.strip()
        elif direct and (parent := _parent_heading(text)):
            reading, over = True, parent
            yield from _wedding_over_children(page, TextSpan(block.start, block.end), heading)
        elif reading:
            because = "an item in a list of children"
            yield from _item(page, TextSpan(block.start, block.end), over, qualifier, because)


def _child(
    page: PageDoc, span: TextSpan, heading: str, shared_qualifier: Qualifier, confidence: float, because: str
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
    qualifier = shared_qualifier or qualifier_in(after[:80]) or qualifier_in("".join(NOTED.findall(after)))
    if dict(ENGLISH.qualifiers)["disputed"].search("".join(ASIDES.findall(after[:80]))):
        qualifier = "disputed"  # 'Tom (disputed)' among the illegitimate children
    if qualifier and qualifier != shared_qualifier:
        end = found.end + len(after.rstrip())
    yield ExtractedFact(
        "child",
        page.text[found.start : found.end],
        snippet_at(page, TextSpan(span.start, end)),
        "prose",
        confidence,
        qualifier=qualifier,
        target=name_target(page, found),
        locator=heading,
        rationale=f"{because} in the section {heading!r}",
        relative_facts=dates_after_name(page, found, span.end),
    )


def _item(
    page: PageDoc, span: TextSpan, heading: str, shared_qualifier: Qualifier, because: str
) -> Iterator[ExtractedFact]:
    """The child of a list's item, with those whom the item says that the child married."""
    for child in _child(page, span, heading, shared_qualifier, LIST_CONFIDENCE, because):
        line = page.text.find("\n", child.snippet.start, span.end)
        stop = line if line > 0 else span.end
        wed = ENGLISH.wed_note.search(page.text, child.snippet.start, stop)
        named = page.text.find(child.value, child.snippet.start, stop) + len(child.value)
        if wed and ENGLISH.before_wed_note.fullmatch(page.text[named : wed.start()]):
            weddings = _weddings(page, child, stop, "whom the item of a child says that the child married")
            yield replace(child, relative_facts=(*child.relative_facts, *weddings))
        else:
            yield child


def _weddings(page: PageDoc, child: ExtractedFact, end: int, because: str) -> Iterator[ExtractedFact]:
    """Whom the row or item of a child says that the child married, with the year: 'married 1858, Max Hay'."""
    at = child.snippet.start
    while wed := ENGLISH.wed_note.search(page.text, at, end):
        step: Match | None = wed
        while step is not None:
            begin = step.end() + len("the ") * page.text.startswith("the ", step.end())
            name = name_at(page.text, begin, end)
            if not name:
                return
            yield _wedding(page, child, TextSpan(step.start(), step.end()), name, end, because)
            at = name.end
            step = ENGLISH.wed_next.match(page.text, at, end)


def _wedding_over_children(page: PageDoc, span: TextSpan, heading: str) -> Iterator[ExtractedFact]:
    """The marriage that the words over its children date: 'By Ruth Hay (married 3 May 1830)'."""
    lead = ENGLISH.by_lead.match(page.text, span.start, span.end)
    name = name_at(page.text, lead.end(), span.end) if lead else None
    wed = ENGLISH.wed_in_bracket.match(page.text, name.end, span.end) if name else None
    dated = dates_in(page.text[wed.end() : span.end], page.language)[:1] if wed else []
    if name and wed and dated and dated[0].start == 0 and not dated[0].when.lasts:
        yield ExtractedFact(
            "spouse",
            page.text[name.start : name.end],
            snippet_at(page, TextSpan(span.start, wed.end() + dated[0].end)),
            "prose",
            LIST_CONFIDENCE,
            dated[0].when,
            target=name_target(page, name),
            locator=heading,
            rationale="the marriage that the words over its children date",
        )


def _wedding(
    page: PageDoc, child: ExtractedFact, words: TextSpan, name: TextSpan, stop: int, because: str
) -> ExtractedFact:
    """One wedding, with the date before the name ('married 1858, Max Hay') or after it ('Max Hay in 1858')."""
    text, end = page.text, name.end
    dates = [dated.when for dated in dates_in(text[words.start : words.end], page.language)]
    after = ENGLISH.wed_then.match(text, name.end, stop)
    if not dates and after:
        following = dates_in(text[after.end() : stop], page.language)[:1]
        if following and following[0].start == 0:
            dates, end = [following[0].when], after.end() + following[0].end
    return ExtractedFact(
        "spouse",
        text[name.start : name.end],
        snippet_at(page, TextSpan(child.snippet.start, end)),
        "prose",
        child.confidence,
        dates[0] if dates and not dates[0].lasts else None,
        target=name_target(page, name),
        locator=child.locator,
        rationale=because,
        relative_facts=dates_after_name(page, name, stop),
    )


# '[adopted]' and below '(disputed)', also where the text was cut before the closing bracket.
NOTED = regex.compile(r"\[[^\]]*\]?")
ASIDES = regex.compile(r"\([^()]*\)?")


def _table(
    page: PageDoc, table: PageTable, heading: str, qualifier: Qualifier, subject: ArticlePerson, *, direct: bool
) -> Iterator[ExtractedFact]:
    rows = [row for row in table.rows if row]
    if not rows:
        return
    top = " ".join(page.text[cell.start : cell.end] for cell in rows[0])
    # A row with a single cell may be a title above the header.
    titles: list[Cell] = []
    while len(rows) > 1 and len(rows[0]) == 1 and not ENGLISH.children_word.search(top):
        titles.append(rows[0][0])
        rows = rows[1:]
        top = " ".join(page.text[cell.start : cell.end] for cell in rows[0])
    titled = bool(ENGLISH.children_word.search(table.caption or top)) and len(rows[0]) == 1
    first = page.text[rows[0][0].start : rows[0][0].end].strip()
    headed = bool(ENGLISH.sections["names_header"].fullmatch(first)) and len(rows[0]) > 1
    # A header below a title that names no parent, such as 'Grandchildren', may head others than the children.
    headed = headed and all(_parent_heading(page.text[title.start : title.end]) for title in titles)
    if not (direct and headed) and not (titled and subject.mention.search(top)):
        return
    if ENGLISH.of_others.search(top):
        return
    because = "a row of a table of children"
    over = heading
    for row in (*((title,) for title in titles if headed), *rows[1:]):
        line = page.text[row[0].start : row[0].end].strip()
        if len(row) == 1 and (parent := _parent_heading(line)):
            over = parent
            yield from _wedding_over_children(page, TextSpan(row[0].start, row[0].end), heading)
        if headed and len(row) < 2:
            continue
        for child in _child(page, TextSpan(row[0].start, row[0].end), over, qualifier, TABLE_CONFIDENCE, because):
            dated = replace(child, relative_facts=child.relative_facts or tuple(dates_in_row(page, rows[0], row)))
            noted = _with_note(page, dated, row)
            wed = _weddings(page, noted, row[-1].end, "whom the row of a child says that the child married")
            yield replace(noted, relative_facts=(*noted.relative_facts, *wed))


def _with_note(page: PageDoc, child: ExtractedFact, row: tuple[Cell, ...]) -> ExtractedFact:
    """The child of a row, with what a later cell says of the relation: first 'reputed illegitimate', or any doubt."""
    for cell in row[1:]:
        if ENGLISH.doubted_child.search(page.text[cell.start : cell.end]) and child.qualifier != "disputed":
            return replace(child, qualifier="disputed")
        opening = ENGLISH.first_words.match(page.text, cell.start, cell.end)
        qualifier = doubt_or_qualifier_in(opening[0]) if opening else ""
        if qualifier and not child.qualifier:
            return replace(child, qualifier=qualifier, snippet=snippet_at(page, TextSpan(row[0].start, cell.end)))
    return child
