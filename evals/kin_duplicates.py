"""Duplicates within one family: are people who occur twice found, and is nobody merged with somebody else?

Families of a real encyclopaedia, researched without a model.
The labels name people by their spellings, because what is read changes.

python -m evals.kin_duplicates          what is found and missed in the families that the rules were tuned on
python -m evals.kin_duplicates --held   the same in those that were only measured
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.data import SHARED_DATA, digest_of
from kiwiresearch.cases.case import Case
from kiwiresearch.kin.loop.evaluation import pairs_kept_separate
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.resolve.pairs import Pair, ordered_pair
from kiwiresearch.kin.resolve.resolver import propose
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.text import fold
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
LABELS = Path(__file__).with_name("labels") / "kin_duplicates.toml"
YEAR = 2026


@dataclass(frozen=True, slots=True)
class Spelling:
    """A name, with a relative if several people have it: 'Mary < sibling Edward VI'."""

    name: str
    role: str = ""
    relative: str = ""

    @classmethod
    def of(cls, text: str) -> Spelling:
        name, _, whose = text.partition(" < ")
        role, _, relative = whose.partition(" ")
        return cls(fold(name), role, fold(relative))

    def is_of(self, name: str, relatives: Mapping[str, Sequence[str]]) -> bool:
        """Whether it is this person, who has these relatives by role."""
        return self.name == fold(name) and (
            not self.relative or any(f"{other} ".startswith(f"{self.relative} ") for other in relatives[self.role])
        )


@dataclass(frozen=True, slots=True)
class LabelledFamily:
    """A family, and who of it is the same person."""

    start: str
    held: bool
    same: tuple[frozenset[Spelling], ...]
    unclear: frozenset[str]
    """Names of records that a wrong reading made of several people."""

    def group(self, tree: Tree, person: PersonId) -> int:
        """The number of the person among the labelled ones; -1 for another."""
        roles = {"parent": tree.parents, "spouse": tree.spouses, "sibling": tree.siblings, "child": tree.children}
        relatives = {role: _names(tree, of(person)) for role, of in roles.items()}
        return next(
            (
                number
                for name in (tree.persons[person].name, *tree.persons[person].names)
                for number, spellings in enumerate(self.same)
                if any(spelling.is_of(name, relatives) for spelling in spellings)
            ),
            -1,
        )

    def may_be_one(self, one: str, other: str) -> bool:
        """Whether records of these two names, which were merged, can be one person."""
        names = {fold(one), fold(other)}
        return len(names) == 1 or any(names <= {spelling.name for spelling in spellings} for spellings in self.same)


def _names(tree: Tree, ids: Sequence[PersonId]) -> list[str]:
    people = [tree.persons[item] for item in ids]
    return [fold(name) for person in people for name in (person.name, *person.names)]


@dataclass(frozen=True, slots=True)
class Found:
    """What the resolver did in one family."""

    true_pairs: frozenset[Pair]
    proposed: frozenset[Pair]
    merges: tuple[tuple[str, str], ...]
    wrong_merges: tuple[tuple[str, str], ...]

    @property
    def right(self) -> frozenset[Pair]:
        return self.true_pairs & self.proposed

    @property
    def reached(self) -> frozenset[Pair]:
        """The true pairs that become one person if the right proposals are accepted."""
        head: dict[PersonId, PersonId] = {}

        def top(person: PersonId) -> PersonId:
            while person in head:
                person = head[person]
            return person

        for one, other in sorted(self.right):
            if top(one) != top(other):
                head[top(one)] = top(other)
        return frozenset(pair for pair in self.true_pairs if top(pair[0]) == top(pair[1]))


def families() -> Iterator[LabelledFamily]:
    for row in tomllib.loads(LABELS.read_text(encoding="utf-8"))["family"]:
        same = tuple(frozenset(map(Spelling.of, group)) for group in row["same"])
        unclear = frozenset(map(fold, row.get("unclear", ())))
        yield LabelledFamily(row["start"], row.get("held", False), same, unclear)


def duplicates_in(case: Case, family: LabelledFamily) -> Found:
    """Who waits for review in a finished case, and who was merged."""
    store = case.store
    tree = store.tree()
    proposals = propose(tree, separated=sorted(pairs_kept_separate(store)))
    known = [person for person in sorted(tree.persons) if fold(tree.persons[person].name) not in family.unclear]
    proposed = {
        proposal.candidate_pair
        for proposal in proposals
        if proposal.recommended_action != "separate" and set(proposal.candidate_pair) <= set(known)
    }
    groups = {person: family.group(tree, person) for person in known}
    same = {ordered_pair(one, other) for one, other in combinations(known, 2) if groups[one] == groups[other] != -1}
    merges = tuple(
        (store.recorded_name(cluster.member_ids[0]), store.recorded_name(cluster.member_ids[1]))
        for cluster in store.merges.all()
        if cluster.state == "merged"
    )
    wrong = tuple(merge for merge in merges if not family.may_be_one(*merge))
    return Found(frozenset(same), frozenset(proposed), merges, wrong)


def researched(start: str, folder: Path) -> Case:
    """A family researched as a user would, without a model, unless the folder has it already."""
    if not folder.is_dir():
        workspace = open_workspace(environment={"KIWIRESEARCH_HOME": str(folder.parent / "home")})
        with (
            shelf_of(workspace, [str(BOOK)]) as shelf,
            Finder(workspace, shelf, search_every_book=True) as finder,
            Case.start(folder, CaseSettings(seeds=(start,)), finder, year=YEAR) as case,
        ):
            for _ in case.steps():
                pass
    return Case.open(folder, year=YEAR)


def figures(found: Sequence[Found]) -> dict[str, float]:
    """Of the true pairs those proposed, of the proposed pairs and the merges those that are right."""
    true = sum(len(family.true_pairs) for family in found)
    proposed = sum(len(family.proposed) for family in found)
    merges = sum(len(family.merges) for family in found)
    wrong = sum(len(family.wrong_merges) for family in found)
    return {
        "recall": sum(len(family.reached) for family in found) / max(true, 1),
        "precision": sum(len(family.right) for family in found) / max(proposed, 1),
        "auto_precision": 1 - wrong / max(merges, 1),
    }


def measure() -> tuple[str, dict[str, float]] | None:
    """The figures of the families that the rules were tuned on."""
    if not BOOK.is_file():
        return None
    with TemporaryDirectory() as folder:
        return digest_of(BOOK), figures([found for _, _, found in _all_found(Path(folder), held=False)])


def _all_found(folder: Path, *, held: bool) -> Iterator[tuple[str, Tree, Found]]:
    for family in families():
        if family.held == held:
            with researched(family.start, folder / fold(family.start).replace(" ", "_")) as case:
                yield family.start, case.store.tree(), duplicates_in(case, family)


def main() -> None:
    parser = argparse.ArgumentParser(prog="evals.kin_duplicates")
    parser.add_argument("--held", action="store_true", help="the families that were only measured")
    parser.add_argument("--cases", type=Path, help="a folder that keeps the families, to measure them again")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        every = []
        for start, tree, found in _all_found(options.cases or Path(temporary), held=options.held):
            every.append(found)
            print(
                f"{start}: {len(tree.persons)} people, {len(found.true_pairs)} true pairs, "
                f"{len(found.proposed)} proposed, {len(found.merges)} merged"
            )
            for what, pairs in (
                ("right", found.right),
                ("missed", found.true_pairs - found.reached),
                ("wrong", found.proposed - found.true_pairs),
            ):
                for pair in sorted(pairs):
                    print(f"  {what:7}{' = '.join(tree.persons[person].name for person in pair)}")
            for merge in found.wrong_merges:
                print(f"  merged wrongly: {' = '.join(merge)}")
    for name, value in figures(every).items():
        print(f"{name:16}{value:.3f}")


if __name__ == "__main__":
    main()
