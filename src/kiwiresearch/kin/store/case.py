"""A case: one family's research in one database, opened, read and written through this class alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.store import (
    audit,
    facts,
    integrity,
    projection,
    records,
    research_log,
    tree_reader,
)
from kiwiresearch.kin.store import facts as disputes
from kiwiresearch.kin.store import records as people
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.merges import Merges
from kiwiresearch.kin.store.queues import Queues
from kiwiresearch.kin.store.values import (
    CaseAuditRow,
    ConflictRow,
    DerivedEvent,
    QueryRow,
)
from kiwiresearch.kin.tree import (
    Directness,
    InformationKind,
    LivingStatus,
    Person,
    PersonId,
    RelationKind,
    Sex,
    Source,
    SourceId,
    Status,
    Tree,
)
from kiwiresearch.store.audit import AuditProblem
from kiwiresearch.store.database import BUSY_S


class CaseStore:
    """The database of a case; threads may share it, and wait for each other.

    `where` is a file, or a `postgresql://` address of a database that holds one case.
    `now` tells the time as ISO 8601 and is asked for nothing but the columns that hold times.
    Whatever writes does so in a `step`, and opens one of its own where there is none.
    Ids of people who were merged are followed wherever a person is asked for.
    """

    def __init__(self, database: CaseDatabase) -> None:
        self._db = database
        self.queues = Queues(database)
        self.merges = Merges(database)
        database.deferred = [projection.refresh, audit.write_pending]

    @classmethod
    def create(
        cls,
        where: Path | str,
        settings: Mapping[str, Any],
        now: Callable[[], str],
        *,
        busy_s: float = BUSY_S,
    ) -> Self:
        """Start a case; whatever is already there is left alone, with an error."""
        return cls(CaseDatabase.create(where, settings, now, busy_s=busy_s))

    @classmethod
    def open(
        cls, where: Path | str, now: Callable[[], str], *, busy_s: float = BUSY_S, alone_s: float | None = None
    ) -> Self:
        """Open a case; an older one is brought up to date, a newer one refused.

        Where `alone_s` is a number nobody else may change it until it is closed; for so long others are waited for.
        """
        return cls(CaseDatabase.open(where, now, busy_s=busy_s, alone_s=alone_s))

    def copy_to(self, where: Path | str, *, busy_s: float = BUSY_S) -> None:
        """Make the same case at another place, where nothing is yet; it is there whole, or not at all."""
        CaseDatabase.make(where, self._db.now, lambda target: integrity.copy_rows(self._db, target), busy_s=busy_s)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def id(self) -> str:
        return self._db.case_id

    def now(self) -> str:
        """The time as ISO 8601, by the clock of this case."""
        return self._db.now()

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._db.settings

    @property
    def head(self) -> str:
        """The hash of the last row of the audit log, which stands for all before it."""
        return audit.head(self._db)

    @contextmanager
    def step(self, agent: str) -> Iterator[None]:
        """One transaction: all that is written inside stays, or nothing does; a step inside a step joins it."""
        with self._db.step(agent):
            yield

    def add_source(
        self,
        source: Source,
        text: str = "",
        raw_extracted: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> SourceId:
        """Keep one version of a source with its text; the same URL and content hash are the same source.

        An empty id or content hash is filled in.
        """
        return records.add_source(self._db, source, text, raw_extracted or {}, metadata or {})

    def source_text(self, source: SourceId) -> str:
        """The text that quotes of this source are spans of."""
        return records.source_text(self._db, source)

    def source_metadata(self, source: SourceId) -> Mapping[str, Any]:
        return records.source_column(self._db, source, "metadata")

    def raw_extracted(self, source: SourceId) -> Mapping[str, Any]:
        return records.source_column(self._db, source, "raw_extracted")

    def source_by_url(self, url: str) -> SourceId | None:
        """The last version that was read of that address."""
        return records.source_by_url(self._db, url)

    def add_person(self, person: PersonId, name: str, sex: Sex = "", external: Mapping[str, str] | None = None) -> bool:
        """Make a person known; False if it was, and then only new external names are added."""
        return people.add_person(self._db, person, name, sex, external or {})

    def person_by(self, external_key: str, value: str) -> PersonId | None:
        """The person who goes by that name elsewhere ('zim', 'wikidata', 'gedcom'); merges are followed."""
        return people.find_person(self._db, external_key, value)

    def canonical(self, person: PersonId) -> PersonId:
        """The person this one was merged into, at the end; itself if it was not."""
        return people.canonical_id(self._db, person)

    def alias(self, person: PersonId, name: str, kind: str = "variant") -> bool:
        """Note another form of a name; False if it was known."""
        return people.add_alias(self._db, person, name, kind)

    def set_living(self, person: PersonId, living: LivingStatus, basis: Mapping[str, Any] | None = None) -> None:
        """Note whether a person lives, as `kin.privacy` found, and why."""
        people.set_living(self._db, person, living, basis or {})

    def assert_fact(
        self,
        person: PersonId,
        fact: ExtractedFact,
        source: SourceId,
        *,
        status: Status = "unverified",
        confidence: float | None = None,
        reliability: float = 0.5,
        information: InformationKind = "undetermined",
        directness: Directness = "direct",
    ) -> str:
        """Keep what a source says of a person, and return the id of the fact.

        A value that is known gets one more evidence claim; another value is another
        fact beside it. Where the text of the source is kept, the snippet must stand in it.
        Without a confidence that of `fact` is taken.
        """
        grounds = facts.Assessment(source, status, confidence, reliability, information, directness)
        return facts.assert_fact(self._db, person, fact, grounds)

    def assert_tie(
        self,
        kind: RelationKind,
        first: PersonId,
        second: PersonId,
        fact: ExtractedFact,
        source: SourceId,
        *,
        status: Status = "unverified",
        confidence: float | None = None,
        reliability: float = 0.5,
        information: InformationKind = "undetermined",
        directness: Directness = "direct",
    ) -> str:
        """Keep what a source says of a tie between two people, and return the id of the tie.

        Of `parent_of` the first is the parent. `fact.when` and `fact.until` are when it began and ended.
        """
        grounds = facts.Assessment(source, status, confidence, reliability, information, directness)
        return facts.assert_tie(self._db, kind, (first, second), fact, grounds)

    def set_status(self, identity: str, status: Status, why: str, *, confidence: float | None = None) -> None:
        """Decide what becomes of a fact or a tie; its value stays."""
        facts.set_status(self._db, identity, status, why, confidence)

    def prefer(self, fact: str, why: str) -> None:
        """Take this value for the person, and leave the others of its field beside it."""
        facts.prefer(self._db, fact, why)

    def tree(self, *, everything: bool = False) -> Tree:
        """All people, ties, facts and sources; merged people are one, duplicates count once.

        What was rejected, superseded or only guessed is left out unless `everything` is asked for.
        Of each field one fact is preferred: the one that was chosen, else the one that stands best.
        """
        return tree_reader.tree(self._db, everything=everything)

    def nothing_rejected(self) -> bool:
        """Whether `everything` makes no difference to the tree: nothing was rejected, superseded or only guessed."""
        return tree_reader.nothing_rejected(self._db)

    def assertion_count(self) -> int:
        """How many statements are kept, those rejected as well."""
        return tree_reader.assertion_count(self._db)

    def person(self, person: PersonId) -> Person:
        return tree_reader.person(self._db, person)

    def recorded_name(self, person: PersonId) -> str:
        """What a record called its person, whoever that was merged with since."""
        return people.recorded_name(self._db, person)

    def events(self) -> tuple[DerivedEvent, ...]:
        """Births, deaths, marriages and the like, in the order of their ids."""
        return tree_reader.events(self._db)

    def note_query(
        self,
        query: str,
        canonical: str,
        query_hash: str,
        source: str,
        hits: int,
        new_assertions: int,
        *,
        negative: bool,
        at: str = "",
    ) -> None:
        """Write a line of the research log. A search that found nothing is a line here and never a fact."""
        row = QueryRow(0, query, canonical, query_hash, source, hits, new_assertions, negative, at)
        research_log.note_query(self._db, row)

    def queries(self) -> tuple[QueryRow, ...]:
        return research_log.queries(self._db)

    def put_conflict(self, conflict: ConflictRow) -> str:
        """Keep what was made of competing facts, in place of what was made of them before; an empty id is filled in."""
        return disputes.put_conflict(self._db, conflict)

    def drop_conflict(self, conflict: str) -> None:
        """The facts compete no longer. The facts themselves stay."""
        disputes.drop_conflict(self._db, conflict)

    def conflicts(self) -> tuple[ConflictRow, ...]:
        return disputes.conflicts(self._db)

    def state(self, key: str) -> Any:
        """What was kept under that key; None if nothing was."""
        return research_log.state(self._db, key)

    def set_state(self, key: str, value: Any) -> None:
        research_log.set_state(self._db, key, value)

    def plugin_state(self, plugin: str) -> Mapping[str, Any] | None:
        return research_log.plugin_state(self._db, plugin)

    def set_plugin_state(self, plugin: str, state: Mapping[str, Any]) -> None:
        research_log.set_plugin_state(self._db, plugin, state)

    def audit(self) -> tuple[CaseAuditRow, ...]:
        """All that was done, in order."""
        return audit.rows(self._db)

    def verify_audit(self, head: str = "") -> tuple[AuditProblem, ...]:
        """The rows of the audit log that are not as they were written; none if all are.

        With the head that an export carries, it also proves that nothing before it was written anew.
        """
        return audit.problems(self._db, head)

    def verify_rows(self) -> tuple[str, ...]:
        """The statements, quotes, people and ties that were touched by something else than the store."""
        return integrity.tampered_rows(self._db)

    def dump(self, *, history: bool = False) -> str:
        """All tables as canonical JSON lines: equal stores give equal bytes.

        The audit log is left out, and unless `history` is asked for, so are merges and
        forbidden links, which tell what was decided and not what is known.
        """
        return integrity.dump(self._db, history=history)

    def fingerprint(self) -> str:
        """A hash over all rows of all tables: the same case has the same wherever it is kept."""
        return integrity.fingerprint(self._db)
