"""Output about a case for people. Text of books is printed as plain text, each value on one line."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kiwiresearch.cases import (
    EventRecord,
    FactRecord,
    LineRow,
    LoggedSearch,
    MergeRecord,
    MergesRecord,
    NamedConflict,
    NamedPerson,
    ParentOrChild,
    PersonPageRecord,
    PersonRecord,
    PluginRecord,
    RelationRecord,
    RelativeRecord,
)
from kiwiresearch.cli.options import say
from kiwiresearch.cli.output import line, safe, unbroken_line
from kiwiresearch.kin import DISCARDED
from kiwiresearch.kin.loop import COMPLETE, query_label
from kiwiresearch.kin.report import FIELD_LABELS, METHOD_LABELS, STANDING_LABELS, STATUS_LABELS, field_noun, lifespan
from kiwiresearch.text import count_of, one_line

if TYPE_CHECKING:
    from kiwiresearch.cases import Case, CaseVerification, ImportResult
    from kiwiresearch.kin.loop import ResearchStep
    from kiwiresearch.kin.sources import FixtureCheck

SHORT_ID_CHARS = 8
SEVERAL = frozenset({"child", "sibling", "spouse", "partner", "parent", "grandparent"})
"""Fields of which a person has several values that do not compete."""
MAX_SHOWN = 40
Row = Mapping[str, object]
SETTLED = {"resolved": "settled", "tentative": "settled for now", "open": "not settled"}
TERMS = {
    "allowed": "Its terms allow automated access",
    "forbidden": "Its terms forbid automated access, so it is never used",
    "unknown": "Its terms may not allow automated access; read them first",
}


class StepLines:
    """A line on standard error for each step; it names the person searched for, since only the owner sees it."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._query_count = len(case.store.queries())

    def tell(self, result: ResearchStep) -> None:
        if result.what == "stop":
            return
        rows = self._case.store.queries()
        whom = f"{query_label(rows[-1].query)}: " if len(rows) > self._query_count else ""
        self._query_count = len(rows)
        waiting = self._case.store.queues.sizes()["frontier"]
        say(safe(one_line(f"[{len(rows)}, {waiting} waiting] {whom}{result.sentence}")))


def print_started(case: Case, named: str) -> None:
    """What was found first; `named` is the case as the user named it, if they did."""
    tree = case.store.tree()
    names = "; ".join(_name_and_years(tree.persons[seed].name, lifespan(tree, seed)) for seed in case.seeds())
    line(f"Started with {names}.")
    others = len(tree.persons) - len(case.seeds())
    waiting = count_of(case.store.queues.sizes()["frontier"], "page")
    line(f"{count_of(others, 'relative')} found so far, {waiting} left to read.")
    unbroken_line(f"Case: {case.location.title}")
    unbroken_line(f"Next: kiwiresearch kin run{f' --case {shlex.quote(named)}' if named else ''}")


def print_outcome(case: Case, last: ResearchStep | None) -> None:
    tree = case.store.tree()
    people, facts = len(tree.persons), len(tree.facts) + len(tree.relationships)
    line(
        f"{count_of(people, 'person', 'people')}, {count_of(facts, 'fact or relationship', 'facts and relationships')}."
    )
    if last is not None and last.what == "stop":
        line(_ending(last.reason, last.sentence))
        waiting = sum(case.store.queues.sizes().values())
        if waiting and last.reason == "diminishing_returns":
            unbroken_line(f"To try the {waiting:,} that are left: kiwiresearch kin run")
        unbroken_line("To see the people: kiwiresearch kin show")
        unbroken_line("To write a report: kiwiresearch kin export --to html")
    else:
        unbroken_line("Not finished. To continue: kiwiresearch kin run")


def print_people(case: Case, rows: Sequence[PersonRecord], stop: Row) -> None:
    """One line for each person."""
    seeds = one_line(", ".join(case.settings.seeds)) or "an imported file"
    line(f"{count_of(len(rows), 'person', 'people')}, started with {seeds}.")
    for row in rows:
        living = "" if row.living == "deceased" else "may be living"
        details = ", ".join(part for part in (_lived(row), one_line(row.relation), living) if part)
        unbroken_line(
            f"{row.id[:SHORT_ID_CHARS]}  {one_line(row.name) or 'Name unknown'}{f' ({details})' if details else ''}"
        )
    if stop:
        line(_ending(str(stop.get("reason", "")), str(stop.get("words", ""))))


def _ending(reason: str, sentence: str) -> str:
    """Whether the research is done or stopped at a limit, and why."""
    return f"{'Done' if reason in COMPLETE else 'Stopped'}. {sentence}"


def _lived(row: PersonRecord) -> str:
    both = row.birth, row.death
    return " – ".join(when.words if when else "?" for when in both) if any(both) else ""


def print_person(row: PersonRecord, seed: str) -> None:
    line(one_line(row.name) or "Name unknown")
    line(f"  id: {row.id[:SHORT_ID_CHARS]}")
    if row.names:
        line(f"  also known as: {'; '.join(map(one_line, row.names))}")
    if row.sex:
        line(f"  sex: {row.sex}")
    for verb, date, location in (("born", row.birth, row.birth_place), ("died", row.death, row.death_place)):
        when, where = date.words if date else "", one_line(location)
        if when or where:
            line(f"  {verb}: {', '.join(part for part in (when, where) if part)}")
    if row.living != "deceased":
        line(f"  living: {'unknown, so hidden in exports' if row.living == 'unknown' else 'yes, so hidden in exports'}")
    if row.relation and seed:
        line(f"  relationship to {one_line(seed)}: {row.relation}")
    groups = {"parents": row.parents, "spouses": row.spouses, "children": row.children, "siblings": row.siblings}
    for name, group in groups.items():
        if group:
            line(f"  {name}: {'; '.join(_name_and_years(record.name, _about(record)) for record in group)}")


def _about(row: RelativeRecord) -> str:
    return ", ".join(filter(None, (row.note if isinstance(row, ParentOrChild) else "", row.lived)))


def _name_and_years(name: str, lived: str) -> str:
    return f"{one_line(name) or 'Name unknown'}{f' ({lived})' if lived else ''}"


def print_branches(rows: Sequence[LineRow]) -> None:
    for row in rows:
        about = "; ".join(part for part in (row.lived, row.note, "listed above" if row.again else "") if part)
        partners = f" ⚭ {', '.join(one_line(spouse.name) for spouse in row.spouses)}" if row.spouses else ""
        unbroken_line(f"{'  ' * row.depth}{_name_and_years(row.name, about)}{partners}")
    if len(rows) == 1:
        line("No one else is known on this side.")


def print_evidence(name: str, rows: Sequence[FactRecord]) -> None:
    line(f"{one_line(name)}: {count_of(len(rows), 'fact or relationship', 'facts and relationships')}")
    fields = Counter(row.field for row in rows)
    for row in rows:
        more = ", ".join(filter(None, (row.qualifier, row.when)))
        is_choice = fields[row.field] > 1 and row.field not in SEVERAL
        # Only among values that compete is one preferred: a person may have several children.
        mark = " ← preferred" if is_choice and row.preferred and row.status not in DISCARDED else ""
        line("")
        line(f"{FIELD_LABELS[row.field]}: {one_line(row.value)}{f' ({more})' if more else ''}{mark}")
        sure = "" if row.standing.status == "rejected" else f", {row.standing.confidence} confidence"
        unbroken_line(f"  {STANDING_LABELS[row.standing.status]}{sure}; ID {row.id[:SHORT_ID_CHARS]}")
        if row.why_rejected:
            line(f"  why: {one_line(row.why_rejected)}")
        for record in row.evidence:
            line(f"  “{one_line(record.quote)}”")
            location = f", at “{one_line(record.locator)}”" if record.locator else ""
            unbroken_line(f"    {one_line(record.source)}, {one_line(record.book)}{location} <{record.url}>")
            line(f"    {record.class_}; {METHOD_LABELS[record.method]}")
            if record.note:
                line(f"    note: {one_line(record.note)}")


def print_conflicts(rows: Sequence[NamedConflict]) -> None:
    if not rows:
        line("No conflicts found.")
    for row in rows:
        state = SETTLED[row.resolution_status]
        line(f"{one_line(row.name)}, {field_noun(row.field)}: {state}")
        for ranked in row.evidence_ranking:
            claim = row.competing_claims[ranked.claim_index]
            line(f"  {ranked.rank}. {one_line(claim.value)}: {one_line(ranked.reason)}")
        line(f"  {one_line(row.analysis)}")
        for action in row.next_actions:
            line(f"  → {one_line(action)}")


def print_merges(rows: MergesRecord) -> None:
    made, waiting, apart = rows.merges, rows.to_review, rows.kept_apart
    if not made and not waiting:
        line("No merges, and no possible duplicates.")
    for title, some in (("Merged", made), ("Possible duplicates", waiting)):
        if some:
            line(title)
        for item in some:
            names = " = ".join(map(_record, item.members))
            state = ", undone" if isinstance(item, MergeRecord) and item.state == "reverted" else ""
            by = f", by {item.decided_by}" if isinstance(item, MergeRecord) and item.decided_by else ""
            line(f"  {item.id[:SHORT_ID_CHARS]}  {names}: {item.score:.3f}{by}{state}")
            line(f"    for: {one_line(item.why)}")
            line(f"    against: {one_line(item.why_not)}")
    if waiting:
        line("To decide: kiwiresearch kin merges --accept ID (merge) or --reject ID (keep separate)")
    if apart:
        line("Kept separate")
    for pair in apart:
        line(f"  {pair.id[:SHORT_ID_CHARS]}  {' ≠ '.join(map(_record, pair.members))}")
        if pair.why:
            line(f"    reason: {one_line(pair.why)}")
    if apart:
        line("To undo this: kiwiresearch kin merges --take-back ID")


def _record(member: NamedPerson) -> str:
    return f"{one_line(member.name)} ({member.id[:SHORT_ID_CHARS]})"


def print_events(rows: Sequence[EventRecord]) -> None:
    if not rows:
        line("No dated events yet.")
    for row in rows:
        who = " and ".join(one_line(record.name) for record in row.who)
        ages = _ages(row)
        where = f", {one_line(row.where)}" if row.where else ""
        line(f"{row.when}: {row.what} of {who}{where}{f' ({ages})' if ages else ''}")


def _ages(row: EventRecord) -> str:
    """The age of the person; at a birth, the ages of the parents."""
    if len(row.who) == 1 and row.what != "birth":
        return "".join(f"aged {age.age}" for age in row.ages)
    return ", ".join(f"{one_line(age.name)} was {age.age}" for age in row.ages)


def print_searches(rows: Sequence[LoggedSearch]) -> None:
    if not rows:
        line("No searches yet, apart from the pages of the starting people.")
    for row in rows:
        found = "no results" if row.negative else f"{row.found} found, {row.new_statements} new"
        line(f"{one_line(row.query)} ({row.source}): {found}")
    vain = sum(row.negative for row in rows)
    if vain:
        line(f"{vain} of {len(rows)} had no results. Finding nothing does not prove that there is nothing.")


def print_relation(row: RelationRecord) -> None:
    first, second = one_line(row.first.name), one_line(row.second.name)
    line(f"Relationship of {second} to {first}: {row.relation}")
    if len(row.way) > 1:
        line(" → ".join(_name_and_years(step.name, step.is_) for step in row.way))
    ends = {row.first.id, row.second.id}
    if not ends & {record.id for record in row.common_ancestors} and row.common_ancestors:
        names = [_name_and_years(record.name, record.lived) for record in row.common_ancestors]
        line(f"Common ancestors: {'; '.join(names)}")


def print_plugins(rows: Sequence[PluginRecord], problems: Iterable[Exception]) -> None:
    for row in rows:
        line(f"{row.id}: {one_line(row.name)} (tier {row.tier}), {'on' if row.on else 'off'}")
        if not row.network:
            line("  Nothing is sent over the network.")
            continue
        line(f"  Connects to {', '.join(row.hosts)}, at most {count_of(row.requests_per_minute, 'time')} a minute.")
        line(f"  Receives: {row.asked}")
        leave = "; you said that you have permission" if row.terms_acknowledged else ""
        unbroken_line(f"  {TERMS[row.terms]}{leave} <{row.terms_url}>")
        if row.key:
            line(f"  Needs your own key in {row.key}.")
        if row.sign_in:
            line(f"  Needs you to sign in: kiwiresearch kin run --sign-in {row.id}")
        if row.note:
            line(f"  {one_line(row.note)}")
        if row.quarantine:
            line(f"  Paused: {row.quarantine}")
    for problem in problems:
        line(f"Cannot be used: {problem}")


def print_plugin_checks(name: str, checks: Sequence[FixtureCheck]) -> None:
    if not checks:
        line(f"{name}: the file is valid. It has no test pages.")
    for check in checks:
        line(f"{'✓' if check.passed else '✗'} {name}, {check.fixture}")
        for problem in check.problems:
            line(f"    {problem}")


def print_imported(done: ImportResult, waiting: int) -> None:
    read = f"{count_of(done.people, 'person', 'people')}, {count_of(done.ties, 'relationship')}"
    line(f"Read: {read}. New: {count_of(done.new_people, 'person', 'people')}, {count_of(done.facts, 'fact')}.")
    if done.matched:
        corrected = count_of(done.corrected, "value")
        people = count_of(done.matched, "person", "people")
        line(f"Known from an earlier version of the file: {people}; {corrected} replaced.")
    if done.kept:
        line(f"Kept for exports, besides what the family shows: {count_of(done.kept, 'line')}.")
    if waiting:
        line(f"{count_of(waiting, 'possible duplicate')}. To decide: kiwiresearch kin merges")
    for note in done.notes[:MAX_SHOWN]:
        line(f"  Note: {one_line(note)}")
    if len(done.notes) > MAX_SHOWN:
        line(f"  {len(done.notes) - MAX_SHOWN:,} more notes.")
    if done.new_people:
        unbroken_line("To search your books for them: kiwiresearch kin run")


def print_verification(found: CaseVerification) -> None:
    for failure in found.failures[:MAX_SHOWN]:
        unbroken_line(f"✗ {one_line(failure)}")
    if len(found.failures) > MAX_SHOWN:
        line(f"✗ {len(found.failures) - MAX_SHOWN:,} more. To see all: --json")
    for note in found.notes:
        line(note)
    line(f"Checked: {', '.join(_proved(what, count) for what, count in found.proved.items())}.")
    things = count_of(len(found.failures), "problem")
    line("Everything checks out." if found.holds else f"{things} found.")


def _proved(what: str, count: int) -> str:
    many = {"audit rows": "log entries"}.get(what, what)
    singular = {"people": "person", "log entries": "log entry"}.get(many, many.removesuffix("s"))
    return count_of(count, singular, many)


def print_extracted(row: PersonPageRecord) -> None:
    person = row.person
    assert person is not None
    line(f"{one_line(person.name)} ({row.title}, about a person: {one_line(row.why)})")
    for assertion in row.assertions:
        status = ", ".join(filter(None, (assertion.qualifier, STATUS_LABELS[assertion.status])))
        line(f"  {FIELD_LABELS[assertion.field]}: {one_line(assertion.value)} ({status}, {assertion.confidence:.2f})")
        line(f"    “{one_line(assertion.quote)}”, characters {assertion.start}–{assertion.end}")
        if assertion.why_rejected:
            line(f"    why: {one_line(assertion.why_rejected)}")
