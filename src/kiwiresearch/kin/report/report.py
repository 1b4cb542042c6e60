"""The family report: what was found, how it is known, where sources disagree, and what was looked for in vain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kiwiresearch.kin.report.branches import ancestors_in_words, descendants_in_words
from kiwiresearch.kin.report.descendants import descendants
from kiwiresearch.kin.report.document import (
    Block,
    Document,
    Facts,
    Heading,
    Line,
    Paragraph,
    Picture,
    Span,
    Table,
    words,
)
from kiwiresearch.kin.report.given import FamilyCase
from kiwiresearch.kin.report.pedigree import pedigree
from kiwiresearch.kin.report.people import in_order
from kiwiresearch.kin.report.proof import Proofs
from kiwiresearch.kin.report.record import conflicts, ending, merges, research_log, sources
from kiwiresearch.kin.report.summary import Said, related, still_open, summary
from kiwiresearch.kin.report.words import (
    LIVING,
    STATUSES,
    joined,
    lifespan,
    name_of,
    one_line,
)
from kiwiresearch.kin.timeline import Event, timeline
from kiwiresearch.kin.tree import PersonId
from kiwiresearch.text.plural import counted

MOST_GENERATIONS = 8
"""Of ancestors in a picture; the list in words has more."""
MODEL_MARK = " °"
REST = "all other sentences are those of the rules"
WHERE_PROOFS_ARE = "Below each value stands its proof. A tie of two people has it once, with the first of them."
EVENTS = {
    "birth": "Birth",
    "baptism": "Baptism",
    "marriage": "Marriage",
    "partnership": "Partnership",
    "separation": "End of the marriage",
    "death": "Death",
    "burial": "Burial",
}


def report(case: FamilyCase, said: Sequence[Said] | None = None, *, note: str = "") -> Document:
    """The whole report; `said` is a summary that was written already, and `note` says how that went."""
    people = in_order(case.tree, case.seeds)
    anchors = {person: f"person-{number}" for number, person in enumerate(people, start=1)}
    proofs = Proofs(case, anchors)
    seeds = [seed for seed in case.seeds if seed in case.tree.persons]
    whose = one_line(case.title) or joined([name_of(case.tree, one) for one in seeds]) or "nobody yet"
    blocks = (
        *_opening(case),
        *_summary(summary(case, proofs) if said is None else said, note),
        *_pictures(case, seeds, anchors),
        *_people(proofs, people),
        *_events(proofs),
        *conflicts(proofs),
        *merges(proofs),
        *research_log(case),
        *sources(case),
        *ending(case),
    )
    return Document(f"The family of {whose}", blocks, case.language)


def _opening(case: FamilyCase) -> Iterator[Block]:
    known = f"{counted(len(case.tree.persons), 'person', 'people')}, {counted(len(case.tree.sources), 'source')}, "
    known += counted(len(case.disagreements), "conflict")
    yield Paragraph(words(f"{known}."), "origin")
    if case.privacy:
        yield Paragraph(words(case.privacy), "note")


def _summary(said: Sequence[Said], note: str) -> Iterator[Block]:
    yield Heading(words("Summary"), anchor="summary")
    told = [one for one in said if one.people]
    if told:
        yield Paragraph(words(Span(" ".join(f"{one.text}{_mark(one)}" for one in told), foreign=True)))
    rest = [one.text for one in said if not one.people]
    if rest:
        yield Paragraph(words(Span(" ".join(rest), foreign=True)))
    if any(map(_mark, said)):
        note = f"What ends in{MODEL_MARK} is in the words of a model, and was checked against its facts; {REST}. {note}"
    if note:
        yield Paragraph(words(note.strip()), "origin")


def _mark(said: Said) -> str:
    return MODEL_MARK if said.by != "rules" else ""


def _pictures(case: FamilyCase, seeds: Sequence[PersonId], anchors: dict[PersonId, str]) -> Iterator[Block]:
    tree = case.tree
    drawn = [
        (n, seed, pedigree(tree, seed, anchors, generations=MOST_GENERATIONS, name=f"pedigree-{n}"))
        for n, seed in enumerate(seeds, start=1)
    ]
    if any(svg for _, _, svg in drawn):
        yield Heading(words("Ancestors"), anchor="ancestors")
    for _, seed, svg in drawn:
        if svg:
            label = f"Ancestors of {name_of(tree, seed)}"
            caption = "Each name leads to its person. A broken line is not by blood, or in doubt; "
            caption += "a broken box is a person drawn twice."
            yield Picture(svg, label, caption, ancestors_in_words(tree, seed))
    drawn = [(n, one, descendants(tree, one, anchors, name=f"descendants-{n}")) for n, one in enumerate(seeds, start=1)]
    if any(svg for _, _, svg in drawn):
        yield Heading(words("Descendants"), anchor="descendants")
    for _, seed, svg in drawn:
        if svg:
            label = f"Descendants of {name_of(tree, seed)}"
            caption = "Couples stand one below the other, their children to the right of them; "
            caption += "beside one parent alone stand children of whom no other is told."
            yield Picture(svg, label, caption, descendants_in_words(tree, seed))


def _people(proofs: Proofs, people: Sequence[PersonId]) -> Iterator[Block]:
    yield Heading(words("People"), anchor="people")
    if not people:
        yield Paragraph(words("Nobody has been found yet."))
    if len(people) > 1:
        yield Paragraph(words(WHERE_PROOFS_ARE), "origin")
        yield _everybody(proofs, people)
    for one in people:
        yield from _person(proofs, one)


def _everybody(proofs: Proofs, people: Sequence[PersonId]) -> Table:
    case = proofs.case
    rows = [
        (words(proofs.named(one)), words(lifespan(case.tree, one)), words(one_line(case.kinship.get(one, ""))))
        for one in people
    ]
    label = "All people of this report"
    if not case.kinship:
        return Table(("Name", "Lived"), tuple(row[:2] for row in rows), label)
    seed = next((name_of(case.tree, one) for one in case.seeds if one in case.tree.persons), "")
    return Table(("Name", "Lived", f"Relation to {seed}" if seed else "Relation"), tuple(rows), label)


def _person(proofs: Proofs, one: PersonId) -> Iterator[Block]:
    case, person = proofs.case, proofs.tree.persons[one]
    yield Heading(words(Span(name_of(proofs.tree, one), foreign=True)), 3, proofs.anchors[one])
    about = [part for part in (lifespan(proofs.tree, one), related(case, one)) if part]
    if about:
        yield Paragraph(words(" · ".join(about)), "who")
    others = [name for name in dict.fromkeys(map(one_line, person.names)) if name and name != one_line(person.name)]
    if others:
        spans: list[str | Span] = ["Also called "]
        for number, name in enumerate(others):
            spans += [", " if number else "", Span(name, foreign=True)]
        yield Paragraph(words(*spans, "."), "who")
    if LIVING[person.living]:
        yield Paragraph(words(LIVING[person.living]), "who")
    entries = proofs.of_person(one)
    if entries:
        yield Facts(entries)
        lacking = still_open(case, one)
        if lacking:
            yield Paragraph(words(Span("Open: ", emphasis=True), f"{lacking}."), "who")
    elif not LIVING[person.living]:
        yield Paragraph(words("Nothing but the name is known."))


def _events(proofs: Proofs) -> Iterator[Block]:
    events = timeline(proofs.tree)
    if events:
        yield Heading(words("Timeline of the family"), anchor="timeline")
        rows = tuple(_event(proofs, event) for event in events)
        header = ("When", "What", "Who", "Where", "Ages", "How sure")
        yield Table(header, rows, "Events of all people in the order of time", "events")


def _event(proofs: Proofs, event: Event) -> tuple[Line, ...]:
    ages: list[str | Span] = []
    for one in event.ages:
        ages += [", " if ages else ""]
        ages += [proofs.named(one.person), " "] if len(event.people) > 1 or event.kind == "birth" else []
        impossible = one.age.is_impossible
        ages.append(Span(one.age.words(), tone="bad" if impossible else ""))
    who: list[str | Span] = []
    for person in event.people:
        who += [" and " if who else "", proofs.named(person)]
    known = event.facts[0] if event.facts else ""
    fact, tie = proofs.facts.get(known), proofs.ties.get(known)
    level = proofs.of_fact(fact).words if fact else proofs.of_tie(tie).words if tie else STATUSES[event.status]
    sure = f"{level}, {event.confidence:.0%}" if event.confidence else level
    where = Span(one_line(event.place), foreign=True) if event.place else ""
    return words(event.when.words()), words(EVENTS[event.kind]), words(*who), words(where), words(*ages), words(sure)
