"""Matches people in a family file to those the case has from an earlier version of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kiwiresearch.kin import Person, PersonId, Tree
from kiwiresearch.kin.gedcom import UID, is_address
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.text import fold

FILE_KEY = "gedcom"
"""The external id that says in which file a person is, and under which xref."""
CERTAIN = frozenset({UID, "familysearch", "ancestral_file", "wikidata"})
"""Identifiers that no two people have; a user's own number needs the same name as well."""
MIN_SHARE = 0.5
"""How much of the smaller file must be the same people under the same xrefs, for one to be a version of the other."""


@dataclass(frozen=True, slots=True)
class MatchedPeople:
    """The people of a file whom the case has from an earlier version of it, and the name of that file."""

    people: Mapping[PersonId, PersonId] = field(default_factory=dict)
    file: str = ""


def match_people(store: CaseStore, tree: Tree) -> MatchedPeople:
    """Match the people of a file by identifiers, and by xref and name if an earlier file has mostly the same."""
    ids = store.external_ids()
    imported = {person for key, _, person in ids if key == FILE_KEY}
    if not imported:
        return MatchedPeople()
    before = store.tree().persons
    matcher = _Matcher(before, imported, ids)
    for person in tree.persons.values():
        matcher.match_by_identifier(person)
    file = matcher.earlier_file(tree)
    if file:
        for person in tree.persons.values():
            matcher.match_by_xref(person, file)
    return MatchedPeople(matcher.found, file)


class _Matcher:
    def __init__(
        self, before: Mapping[PersonId, Person], imported: set[PersonId], ids: Iterable[tuple[str, str, PersonId]]
    ) -> None:
        self.found: dict[PersonId, PersonId] = {}
        self._taken: set[PersonId] = set()
        self._before = before
        self._by_value: dict[tuple[str, str], set[PersonId]] = defaultdict(set)
        self._by_file: dict[str, dict[str, PersonId]] = defaultdict(dict)
        for key, value, person in ids:
            if key == FILE_KEY:
                file, _, xref = value.rpartition("#")
                self._by_file[file][xref] = person
            elif person in imported:
                self._by_value[key, value].add(person)

    def match_by_identifier(self, person: Person) -> None:
        for key, value in person.external.items():
            same = self._by_value.get((key, value), ())
            if len(same) == 1:
                (other,) = same
                if key in CERTAIN or is_address(key) or self._is_same_name(person, other):
                    self._take(person, other)

    def match_by_xref(self, person: Person, file: str) -> None:
        other = self._by_file[file].get(_xref(person))
        if other and self._may_be_same(person, other):
            self._take(person, other)

    def earlier_file(self, tree: Tree) -> str:
        """The file that this one is a version of; empty if there is none."""
        shares: Counter[str] = Counter()
        for file, people in self._by_file.items():
            same = sum(
                self.found.get(person.id) == other if person.id in self.found else self._is_same_name(person, other)
                for person in tree.persons.values()
                if (other := people.get(_xref(person))) or (other := self.found.get(person.id))
            )
            if same >= MIN_SHARE * max(min(len(people), len(tree.persons)), 1):
                shares[file] = same
        return shares.most_common(1)[0][0] if shares else ""

    def _take(self, person: Person, other: PersonId) -> None:
        if person.id not in self.found and other in self._before and other not in self._taken:
            self.found[person.id] = other
            self._taken.add(other)

    def _is_same_name(self, person: Person, other: PersonId) -> bool:
        known = self._before.get(other)
        return known is not None and not _names(person).isdisjoint(_names(known))

    def _may_be_same(self, person: Person, other: PersonId) -> bool:
        """Whether a person under the same xref has the same name, or the same birth under a corrected name."""
        known = self._before.get(other)
        if known is None:
            return False
        return self._is_same_name(person, other) or (known.birth is not None and known.birth == person.birth)


def _names(person: Person) -> set[str]:
    return {fold(name) for name in (person.name, *person.names) if name}


def _xref(person: Person) -> str:
    return person.external.get(FILE_KEY, "").rpartition("#")[2]
