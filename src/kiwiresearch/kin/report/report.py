"""The family report as a document: people with proofs, pictures, timeline, conflicts, merges, searches and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from kiwiresearch.document import (
    Block,
    Branch,
    Diagram,
    Document,
    FactList,
    Heading,
    Line,
    LineList,
    Paragraph,
    Sentence,
    Span,
    Table,
    external_url,
    html_page,
    line_of,
)
from kiwiresearch.document.markdown import markdown
from kiwiresearch.kin.report.descendant_lists import ancestors_in_words, descendants_in_words, people_in_order
from kiwiresearch.kin.report.labels import (
    LIVING_NOTES,
    STATUS_LABELS,
    display_name,
    field_noun,
    join_names,
    lifespan,
    value_phrase,
)
from kiwiresearch.kin.report.proof import SOURCE_ANCHOR, Proofs, source_numbers, source_title
from kiwiresearch.kin.report.report_input import ReportInput, ShownConflict, ShownValue
from kiwiresearch.kin.report.shapes.couples import Couples
from kiwiresearch.kin.report.shapes.shape import Shape, shape_picture
from kiwiresearch.kin.report.summary import SummarySentence, open_points, relation_to_seed, summary
from kiwiresearch.kin.standing import confidence_level
from kiwiresearch.kin.timeline import Event, timeline
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.text import count_of, encodable, one_line

ABSENCE = (
    "Searches without results are listed too. Finding nothing does not prove that there is nothing: "
    "it only means that these sources do not mention it."
)


POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The content security policy of the page: a browser loads nothing."""


@cache
def style() -> str:
    """The stylesheet of the page: light and dark, for screens, phones and paper."""
    return (files("kiwiresearch.kin.report") / "style.css").read_text(encoding="utf-8").strip()


def family_page(document: Document) -> str:
    """The report as one self-contained HTML page."""
    return encodable(html_page(document, style(), POLICY, title_direction="auto"))


def family_markdown(document: Document) -> str:
    """The report as Markdown."""
    return encodable(markdown(document, breaks_autolinks=True))


def _table(header: tuple[str, ...], rows: Iterable[Sequence[Line]], label: str, css_class: str = "") -> Table:
    cells = tuple(tuple((Sentence(line),) for line in row) for row in rows)
    return Table(header, cells, label, css_class, labels_cells=True)


def conflicts_section(proofs: Proofs) -> Iterator[Block]:
    yield Heading(line_of("Conflicts"), anchor="conflicts")
    if not proofs.case.conflicts:
        yield Paragraph(line_of("No conflicts: the sources do not contradict each other."))
        return
    yield Paragraph(line_of("Values that cannot all be right, side by side. All of them are kept."))
    for conflict in proofs.case.conflicts:
        if conflict.person in proofs.tree.persons:
            yield from _conflict(proofs, conflict)


def _conflict(proofs: Proofs, conflict: ShownConflict) -> Iterator[Block]:
    yield Heading(line_of(proofs.person_link(conflict.person), f": {field_noun(conflict.field)}"), 3)
    rows = [
        row
        for ranked in conflict.ranking
        if (row := _value(proofs, ranked, is_held=conflict.recommended in ranked.facts))
    ]
    if rows:
        header = ("Value", "Sources", "Confidence", "Preferred", "Why it ranks here")
        yield _table(header, tuple(rows), f"Values of {field_noun(conflict.field)}", "sides")
    outcome = (
        "Settled." if conflict.status == "resolved" else "Settled for now." if conflict.status == "tentative" else ""
    )
    rationale = one_line(conflict.rationale)
    yield Paragraph(line_of(rationale or outcome if outcome else f"Not settled. {rationale}".strip()))
    if conflict.next_actions:
        yield Paragraph(line_of("What would settle it:"))
        yield LineList(tuple(line_of(one_line(action)) for action in conflict.next_actions))


def _value(proofs: Proofs, ranked: ShownValue, *, is_held: bool) -> tuple[Line, ...]:
    """One side of a conflict; empty if the tree that is shown does not contain it."""
    facts = [fact for item in ranked.facts if (fact := proofs.facts.get(item))]
    ties = [tie for item in ranked.facts if (tie := proofs.ties.get(item))]
    if not facts and not ties:
        return ()
    value = Span(value_phrase(facts[0]), foreign=True) if facts else proofs.person_link(ties[0].first)
    places: list[str | Span] = []
    evidences = [*(item for fact in facts for item in fact.evidence), *(item for tie in ties for item in tie.evidence)]
    for evidence in dict.fromkeys(evidences):
        place = proofs.quoting.cite(evidence)
        # The same place is cited once, however many quotes come from it.
        places += ["; " if places else "", *place] if not set(place) <= set(places) else []
    confidence = max([*(fact.confidence for fact in facts), *(tie.confidence for tie in ties)])
    mark = "most likely" if is_held else ""
    return (
        line_of(value),
        line_of(*places),
        line_of(f"{confidence:.0%}"),
        line_of(mark),
        line_of(one_line(ranked.reason)),
    )


def merges_section(proofs: Proofs) -> Iterator[Block]:
    if not proofs.case.merges:
        return
    yield Heading(line_of("Merged records"), anchor="merges")
    yield Paragraph(line_of("Each merge can be undone."))
    for merge in proofs.case.merges:
        shown = proofs.person_link(merge.person) if merge.person in proofs.tree.persons else Span("A person")
        spans: list[str | Span] = [shown]
        names = [name for name in dict.fromkeys(map(one_line, merge.names)) if name and name != shown.text]
        for index, name in enumerate(names):
            spans += [", also known as " if not index else ", ", Span(f"“{name}”", foreign=True)]
        decided = f"score {merge.score:.2f}" + (
            f", decided by {one_line(merge.decided_by)}" if merge.decided_by else ""
        )
        state = "; later undone" if merge.reverted else ""
        yield Paragraph(line_of(*spans, f" ({decided}{state})"))
        lines = [line_of(Span("For: ", emphasis=True), one_line(merge.why))]
        lines.append(line_of(Span("Against: ", emphasis=True), one_line(merge.why_not) or "nothing noted."))
        yield LineList(tuple(lines))


def log_section(case: ReportInput) -> Iterator[Block]:
    yield Heading(line_of("Research log"), anchor="log")
    if not case.searches:
        yield Paragraph(line_of("No searches yet."))
        return
    vain = sum(search.negative for search in case.searches)
    yield Paragraph(
        line_of(f"{count_of(len(case.searches), 'search', 'searches')}, {vain:,} without results. {ABSENCE}")
    )
    rows = tuple(
        (
            line_of(Span(one_line(search.query), foreign=True)),
            line_of(one_line(search.source)),
            line_of("no results" if search.negative else f"{search.hits:,} found"),
            line_of(f"{search.new_facts:,}"),
        )
        for search in case.searches
    )
    yield _table(("Search", "Source", "Result", "New facts"), rows, "All searches in order", "log")


def sources_section(case: ReportInput) -> Iterator[Block]:
    yield Heading(line_of("Sources"), anchor="sources")
    if not case.tree.sources:
        yield Paragraph(line_of("No sources have been read yet."))
        return
    lines = []
    for source in (case.tree.sources[index] for index in source_numbers(case.tree.sources)):
        parts = [one_line(source.name) if source.title else "", f"tier {source.tier}", f"{source.form} source"]
        parts += ["official"] if source.official else []
        parts += ["written by contributors"] if source.user_contributed else []
        parts += [f"read {one_line(source.accessed_at)}"] if source.accessed_at else []
        parts += [f"origin {one_line(source.origin_group)}"] if source.origin_group else []
        parts += [f"content {one_line(source.content_hash)[:23]}"] if source.content_hash else []
        title = Span(source_title(source), external_url(source.url), foreign=True)
        lines.append(line_of(title, f": {', '.join(filter(None, parts))}"))
    yield LineList(tuple(lines), "sources", SOURCE_ANCHOR, numbered=True)


def ending_section(case: ReportInput) -> Iterator[Block]:
    yield Heading(line_of("How the research ended"), anchor="end")
    detail = one_line(case.stop.detail) or "The research stopped."
    yield Paragraph(line_of(detail if case.stop.reason else "The research is not finished."))


MAX_GENERATIONS = 8
"""Generations of ancestors in a picture; the list below it has more."""
ANCESTORS_CAPTION = (
    "Select a name to see that person. A dashed line is uncertain or not biological. "
    "A dashed box is a person who appears more than once."
)
DESCENDANTS_CAPTION = (
    "Partners are below each other, with their children to the right. "
    "Children next to one parent alone have no other known parent."
)
PICTURES: tuple[tuple[Shape, str, str, Callable[[Tree, PersonId], tuple[Branch, ...]], int], ...] = (
    ("ancestors", "Ancestors", ANCESTORS_CAPTION, ancestors_in_words, MAX_GENERATIONS),
    ("descendants", "Descendants", DESCENDANTS_CAPTION, descendants_in_words, 0),
)
MODEL_MARK = " °"
RULES_NOTE = "all other sentences were written by rules"
WHERE_PROOFS_ARE = (
    "Each fact is followed by its evidence. "
    "The evidence for a relationship is shown once, with the first of the two people."
)
EVENTS = {
    "birth": "Birth",
    "baptism": "Baptism",
    "marriage": "Marriage",
    "partnership": "Partnership",
    "separation": "End of marriage",
    "death": "Death",
    "burial": "Burial",
}


def family_document(
    case: ReportInput, sentences: Sequence[SummarySentence] | None = None, *, note: str = ""
) -> Document:
    """The report; `sentences` is a summary written by a model, and `note` says if that failed."""
    people = people_in_order(Couples(case.tree), case.seeds)
    anchors = {person: f"person-{number}" for number, person in enumerate(people, start=1)}
    proofs = Proofs(case, anchors)
    seeds = [seed for seed in case.seeds if seed in case.tree.persons]
    whose = one_line(case.title) or join_names([display_name(case.tree, item) for item in seeds]) or "no one yet"
    blocks = (
        *_opening(case),
        *_summary(summary(case, proofs) if sentences is None else sentences, note),
        *_pictures(case, seeds, anchors),
        *_people(proofs, people),
        *_events(proofs),
        *conflicts_section(proofs),
        *merges_section(proofs),
        *log_section(case),
        *sources_section(case),
        *ending_section(case),
    )
    return Document(f"The family of {whose}", blocks, "eng")


def _opening(case: ReportInput) -> Iterator[Block]:
    known = f"{count_of(len(case.tree.persons), 'person', 'people')}, {count_of(len(case.tree.sources), 'source')}, "
    known += count_of(len(case.conflicts), "conflict")
    yield Paragraph(line_of(f"{known}."), "origin")
    if case.privacy:
        yield Paragraph(line_of(case.privacy), "note")


def _summary(sentences: Sequence[SummarySentence], note: str) -> Iterator[Block]:
    yield Heading(line_of("Summary"), anchor="summary")
    with_people = [sentence for sentence in sentences if sentence.people]
    if with_people:
        yield Paragraph(
            line_of(Span(" ".join(f"{sentence.text}{_mark(sentence)}" for sentence in with_people), foreign=True))
        )
    rest = [sentence.text for sentence in sentences if not sentence.people]
    if rest:
        yield Paragraph(line_of(Span(" ".join(rest), foreign=True)))
    if any(map(_mark, sentences)):
        by_model = f"Sentences marked{MODEL_MARK} were written by a language model and checked against the facts"
        # A note that the model failed follows, if there is one.
        note = f"{by_model}; {RULES_NOTE}. {note}"
    if note:
        yield Paragraph(line_of(note.strip()), "origin")


def _mark(sentence: SummarySentence) -> str:
    return MODEL_MARK if sentence.by != "rules" else ""


def _pictures(case: ReportInput, seeds: Sequence[PersonId], anchors: dict[PersonId, str]) -> Iterator[Block]:
    couples = Couples(case.tree)
    for shape, title, caption, in_words, generations in PICTURES:
        drawn = [
            (seed, shape_picture(shape, couples, seed, generations, anchors=anchors, name=f"{shape}-{number}"))
            for number, seed in enumerate(seeds, start=1)
        ]
        pictures = [(seed, svg) for seed, svg in drawn if svg]
        if pictures:
            yield Heading(line_of(title), anchor=title.lower())
        for seed, svg in pictures:
            yield Diagram(svg, f"{title} of {display_name(case.tree, seed)}", caption, in_words(case.tree, seed))


def _people(proofs: Proofs, people: Sequence[PersonId]) -> Iterator[Block]:
    yield Heading(line_of("People"), anchor="people")
    if not people:
        yield Paragraph(line_of("No people have been found yet."))
    if len(people) > 1:
        yield Paragraph(line_of(WHERE_PROOFS_ARE), "origin")
        yield _people_table(proofs, people)
    for person in people:
        yield from _person(proofs, person)


def _people_table(proofs: Proofs, people: Sequence[PersonId]) -> Table:
    case = proofs.case
    rows = [
        (
            line_of(proofs.person_link(person)),
            line_of(lifespan(case.tree, person)),
            line_of(one_line(case.kinship.get(person, ""))),
        )
        for person in people
    ]
    label = "Everyone in this report"
    if not case.kinship:
        return _table(("Name", "Lived"), tuple(row[:2] for row in rows), label)
    seed = next((display_name(case.tree, item) for item in case.seeds if item in case.tree.persons), "")
    return _table(("Name", "Lived", f"Relationship to {seed}" if seed else "Relationship"), tuple(rows), label)


def _person(proofs: Proofs, person_id: PersonId) -> Iterator[Block]:
    case, person = proofs.case, proofs.tree.persons[person_id]
    yield Heading(line_of(Span(display_name(proofs.tree, person_id), foreign=True)), 3, proofs.anchors[person_id])
    about = [part for part in (lifespan(proofs.tree, person_id), relation_to_seed(case, person_id)) if part]
    if about:
        yield Paragraph(line_of(" · ".join(about)), "who")
    others = [name for name in dict.fromkeys(map(one_line, person.names)) if name and name != one_line(person.name)]
    if others:
        spans: list[str | Span] = ["Also known as "]
        for index, name in enumerate(others):
            spans += [", " if index else "", Span(name, foreign=True)]
        yield Paragraph(line_of(*spans, "."), "who")
    if LIVING_NOTES[person.living]:
        yield Paragraph(line_of(LIVING_NOTES[person.living]), "who")
    entries = proofs.entries_for(person_id)
    if entries:
        yield FactList(entries)
        lacking = open_points(case, person_id)
        if lacking:
            yield Paragraph(line_of(Span("Missing or disputed: ", emphasis=True), f"{lacking}."), "who")
    elif not LIVING_NOTES[person.living]:
        yield Paragraph(line_of("Only the name is known."))


def _events(proofs: Proofs) -> Iterator[Block]:
    events = timeline(proofs.tree)
    if events:
        yield Heading(line_of("Family timeline"), anchor="timeline")
        rows = tuple(_event(proofs, event) for event in events)
        header = ("Date", "Event", "People", "Place", "Ages", "Evidence")
        yield _table(header, rows, "Everyone's events in order", "events")


def _event(proofs: Proofs, event: Event) -> tuple[Line, ...]:
    ages: list[str | Span] = []
    for age in event.ages:
        ages += [", " if ages else ""]
        ages += [proofs.person_link(age.person), " "] if len(event.people) > 1 or event.kind == "birth" else []
        impossible = age.age.is_impossible
        ages.append(Span(age.age.words(), tone="bad" if impossible else ""))
    who: list[str | Span] = []
    for person in event.people:
        who += [" and " if who else "", proofs.person_link(person)]
    known = event.facts[0] if event.facts else ""
    fact, tie = proofs.facts.get(known), proofs.ties.get(known)
    level = (
        proofs.support_of_fact(fact).words
        if fact
        else proofs.support_of_tie(tie).words
        if tie
        else STATUS_LABELS[event.status]
    )
    sure = f"{level}, {confidence_level(event.confidence)} confidence" if event.confidence else level
    where = Span(one_line(event.place), foreign=True) if event.place else ""
    return (
        line_of(event.when.words()),
        line_of(EVENTS[event.kind]),
        line_of(*who),
        line_of(where),
        line_of(*ages),
        line_of(sure),
    )
