"""What a report says about the research itself: conflicts, merges, searches, sources, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.report.document import Block, Heading, Items, Line, Paragraph, Span, Table, outside, words
from kiwiresearch.kin.report.given import Disagreement, FamilyCase, Ranked
from kiwiresearch.kin.report.proof import Proofs
from kiwiresearch.kin.report.quoting import SOURCE, numbered, source_title
from kiwiresearch.kin.report.words import noun, one_line, value_words
from kiwiresearch.text.plural import counted

ABSENCE = (
    "What was searched for and not found is listed too. It is no evidence of absence: "
    "a source that is silent about somebody says nothing about them."
)


def conflicts(proofs: Proofs) -> Iterator[Block]:
    yield Heading(words("Conflicts"), anchor="conflicts")
    if not proofs.case.disagreements:
        yield Paragraph(words("No two sources were found to disagree."))
        return
    yield Paragraph(words("Values that cannot all be right, side by side. None was thrown away."))
    for one in proofs.case.disagreements:
        if one.person in proofs.tree.persons:
            yield from _conflict(proofs, one)


def _conflict(proofs: Proofs, one: Disagreement) -> Iterator[Block]:
    yield Heading(words(proofs.named(one.person), f": {noun(one.field)}"), 3)
    rows = [row for ranked in one.ranking if (row := _value(proofs, ranked, is_held=one.recommended in ranked.facts))]
    if rows:
        header = ("Value", "Sources", "Confidence", "Held", "Why it ranks here")
        yield Table(header, tuple(rows), f"Values of {noun(one.field)}", "sides")
    told = "Settled." if one.status == "resolved" else "Settled for now." if one.status == "tentative" else ""
    rationale = one_line(one.rationale)
    yield Paragraph(words(rationale or told if told else f"Not settled. {rationale}".strip()))
    if one.next_actions:
        yield Paragraph(words("What would settle it:"))
        yield Items(tuple(words(one_line(action)) for action in one.next_actions))


def _value(proofs: Proofs, ranked: Ranked, *, is_held: bool) -> tuple[Line, ...]:
    """One side of a conflict; nothing where the tree that is shown does not hold it."""
    facts = [fact for one in ranked.facts if (fact := proofs.facts.get(one))]
    ties = [tie for one in ranked.facts if (tie := proofs.ties.get(one))]
    if not facts and not ties:
        return ()
    value = Span(value_words(facts[0]), foreign=True) if facts else proofs.named(ties[0].first)
    places: list[str | Span] = []
    evidences = [*(one for fact in facts for one in fact.evidence), *(one for tie in ties for one in tie.evidence)]
    for evidence in dict.fromkeys(evidences):
        place = proofs.quoting.cite(evidence)
        places += ["; " if places else "", *place] if not set(place) <= set(places) else []
    confidence = max([*(fact.confidence for fact in facts), *(tie.confidence for tie in ties)])
    mark = "held for the most likely" if is_held else ""
    return words(value), words(*places), words(f"{confidence:.0%}"), words(mark), words(one_line(ranked.reason))


def merges(proofs: Proofs) -> Iterator[Block]:
    if not proofs.case.merges:
        return
    yield Heading(words("Records taken for one person"), anchor="merges")
    yield Paragraph(words("Each of these can be undone."))
    for one in proofs.case.merges:
        shown = proofs.named(one.person) if one.person in proofs.tree.persons else Span("A person")
        spans: list[str | Span] = [shown]
        names = [name for name in dict.fromkeys(map(one_line, one.names)) if name and name != shown.text]
        for number, name in enumerate(names):
            spans += [", also called " if not number else ", ", Span(f"“{name}”", foreign=True)]
        decided = f"score {one.score:.2f}" + (f", decided by {one_line(one.decided_by)}" if one.decided_by else "")
        state = "; undone since" if one.reverted else ""
        yield Paragraph(words(*spans, f" ({decided}{state})"))
        lines = [words(Span("Why: ", emphasis=True), one_line(one.why))]
        lines.append(words(Span("Why perhaps not: ", emphasis=True), one_line(one.why_not) or "nothing was noted."))
        yield Items(tuple(lines))


def research_log(case: FamilyCase) -> Iterator[Block]:
    yield Heading(words("Research log"), anchor="log")
    if not case.searches:
        yield Paragraph(words("Nothing was searched."))
        return
    vain = sum(one.negative for one in case.searches)
    yield Paragraph(words(f"{counted(len(case.searches), 'search', 'searches')}, {vain:,} without result. {ABSENCE}"))
    header = ("Search", "Source", "Result", "New facts", "When")
    rows = [
        (
            words(Span(one_line(one.query), foreign=True)),
            words(one_line(one.source)),
            words("searched, not found" if one.negative else f"{one.hits:,} found"),
            words(f"{one.new_facts:,}"),
            words(one_line(one.at)),
        )
        for one in case.searches
    ]
    kept = len(header) if any(row[-1] for row in rows) else len(header) - 1
    yield Table(header[:kept], tuple(row[:kept] for row in rows), "All searches in their order", "log")


def sources(case: FamilyCase) -> Iterator[Block]:
    yield Heading(words("Sources"), anchor="sources")
    if not case.tree.sources:
        yield Paragraph(words("No source has been read."))
        return
    lines = []
    for source in (case.tree.sources[one] for one in numbered(case.tree.sources)):
        parts = [one_line(source.name) if source.title else "", f"tier {source.tier}", f"{source.form} source"]
        parts += ["official"] if source.official else []
        parts += ["written by contributors"] if source.user_contributed else []
        parts += [f"read {one_line(source.accessed_at)}"] if source.accessed_at else []
        parts += [f"origin {one_line(source.origin_group)}"] if source.origin_group else []
        parts += [f"content {one_line(source.content_hash)[:23]}"] if source.content_hash else []
        title = Span(source_title(source), outside(source.url), foreign=True)
        lines.append(words(title, f": {', '.join(filter(None, parts))}"))
    yield Items(tuple(lines), "sources", SOURCE)


def ending(case: FamilyCase) -> Iterator[Block]:
    yield Heading(words("How the research ended"), anchor="end")
    reason = one_line(case.stop.reason)
    told = one_line(case.stop.detail) or "It stopped."
    yield Paragraph(words(f"{told} ({reason})" if reason else "The research goes on."))
    if case.settings:
        lines = tuple(words(f"{one_line(key)}: {one_line(value)}") for key, value in sorted(case.settings.items()))
        yield Items(lines, "settings")
    if case.audit_head:
        yield Paragraph(words("Head of the audit log, which proves that nothing before it was changed:"))
        yield Paragraph(words(one_line(case.audit_head)), "hash")
