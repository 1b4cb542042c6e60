"""Duplicates within one family: are people who occur twice found, and is nobody merged with somebody else?

The families are of a real encyclopaedia and are researched without a model. The labels name people by the spellings of
their names, because what is read from pages can change.

python -m evals.kin_duplicates          what is found and missed in the families that the rules were tuned on
python -m evals.kin_duplicates --held   the same for the families that are only for measurements
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
    """A spelling of a name, with a relative if several people have that name: 'Mary < sibling Edward VI'."""

    name: str
    role: str = ""
    relative: str = ""

    @classmethod
    def of(cls, text: str) -> Spelling:
        name, _, role_and_relative = text.partition(" < ")
        role, _, relative = role_and_relative.partition(" ")
        return cls(fold(name), role, fold(relative))

    def means(self, name: str, relatives: Mapping[str, Sequence[str]]) -> bool:
        """Whether it means the person with this name and these relatives by role."""
        return self.name == fold(name) and (
            not self.relative or any(f"{other} ".startswith(f"{self.relative} ") for other in relatives[self.role])
        )


@dataclass(frozen=True, slots=True)
class LabelledFamily:
    """A family, and which spellings mean the same person."""

    start: str
    held: bool
    same: tuple[frozenset[Spelling], ...]
    unclear: frozenset[str]
    """Names of records in which several people were mistaken for one."""

    def group(self, tree: Tree, person: PersonId) -> int:
        """The number of the labelled person that a person of the tree is, or -1."""
        roles = {"parent": tree.parents, "spouse": tree.spouses, "sibling": tree.siblings, "child": tree.children}
        relatives = {role: _names(tree, relatives_of(person)) for role, relatives_of in roles.items()}
        return next(
            (
                number
                for name in (tree.persons[person].name, *tree.persons[person].names)
                for number, spellings in enumerate(self.same)
                if any(spelling.means(name, relatives) for spelling in spellings)
            ),
            -1,
        )

    def may_be_one(self, name: str, other_name: str) -> bool:
        """Whether two merged records with these names can be one person."""
        names = {fold(name), fold(other_name)}
        return len(names) == 1 or any(names <= {spelling.name for spelling in spellings} for spellings in self.same)


def _names(tree: Tree, ids: Sequence[PersonId]) -> list[str]:
    people = [tree.persons[item] for item in ids]
    return [fold(name) for person in people for name in (person.name, *person.names)]


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """What the resolver proposed and merged in one family."""

    true_pairs: frozenset[Pair]
    proposed: frozenset[Pair]
    merges: tuple[tuple[str, str], ...]
    wrong_merges: tuple[tuple[str, str], ...]

    @property
    def right(self) -> frozenset[Pair]:
        return self.true_pairs & self.proposed

    @property
    def resolvable(self) -> frozenset[Pair]:
        """The true pairs that become one person if all right proposals are accepted."""
        merged_into: dict[PersonId, PersonId] = {}

        def representative(person: PersonId) -> PersonId:
            while person in merged_into:
                person = merged_into[person]
            return person

        for first, second in sorted(self.right):
            if representative(first) != representative(second):
                merged_into[representative(first)] = representative(second)
        return frozenset(pair for pair in self.true_pairs if representative(pair[0]) == representative(pair[1]))


def load_families() -> Iterator[LabelledFamily]:
    for row in tomllib.loads(LABELS.read_text(encoding="utf-8"))["family"]:
        same = tuple(frozenset(map(Spelling.of, group)) for group in row["same"])
        unclear = frozenset(map(fold, row.get("unclear", ())))
        yield LabelledFamily(row["start"], row.get("held", False), same, unclear)


def find_duplicates(case: Case, family: LabelledFamily) -> FamilyResult:
    """The duplicates that wait for review in a finished case, and those that were merged."""
    store = case.store
    tree = store.tree()
    proposals = propose(tree, separated=sorted(pairs_kept_separate(store)))
    people = [person for person in sorted(tree.persons) if fold(tree.persons[person].name) not in family.unclear]
    proposed = {
        proposal.candidate_pair
        for proposal in proposals
        if proposal.recommended_action != "separate" and set(proposal.candidate_pair) <= set(people)
    }
    groups = {person: family.group(tree, person) for person in people}
    same = {
        ordered_pair(first, second)
        for first, second in combinations(people, 2)
        if groups[first] == groups[second] != -1
    }
    merges = tuple(
        (store.recorded_name(cluster.member_ids[0]), store.recorded_name(cluster.member_ids[1]))
        for cluster in store.merges.all()
        if cluster.state == "merged"
    )
    wrong = tuple(merge for merge in merges if not family.may_be_one(*merge))
    return FamilyResult(frozenset(same), frozenset(proposed), merges, wrong)


def open_researched(start: str, folder: Path) -> Case:
    """The case of a family. If the folder does not have it yet, it is researched as by a user, without a model."""
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


def figures(results: Sequence[FamilyResult]) -> dict[str, float]:
    """The share of true pairs that were found, and the shares of proposals and of merges that are right."""
    true_pairs = sum(len(family.true_pairs) for family in results)
    proposed = sum(len(family.proposed) for family in results)
    merges = sum(len(family.merges) for family in results)
    wrong_merges = sum(len(family.wrong_merges) for family in results)
    return {
        "recall": sum(len(family.resolvable) for family in results) / max(true_pairs, 1),
        "precision": sum(len(family.right) for family in results) / max(proposed, 1),
        "auto_precision": 1 - wrong_merges / max(merges, 1),
    }


def measure() -> tuple[str, dict[str, float]] | None:
    """The figures of the families that the rules were tuned on."""
    if not BOOK.is_file():
        return None
    with TemporaryDirectory() as folder:
        return digest_of(BOOK), figures([result for _, _, result in _measure_families(Path(folder), held=False)])


def _measure_families(folder: Path, *, held: bool) -> Iterator[tuple[str, Tree, FamilyResult]]:
    for family in load_families():
        if family.held == held:
            with open_researched(family.start, folder / fold(family.start).replace(" ", "_")) as case:
                yield family.start, case.store.tree(), find_duplicates(case, family)


def main() -> None:
    parser = argparse.ArgumentParser(prog="evals.kin_duplicates")
    parser.add_argument("--held", action="store_true", help="the families that are only for measurements")
    parser.add_argument("--cases", type=Path, help="a folder to keep the families in, so that they can be used again")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        results = []
        for start, tree, result in _measure_families(options.cases or Path(temporary), held=options.held):
            results.append(result)
            print(
                f"{start}: {len(tree.persons)} people, {len(result.true_pairs)} true pairs, "
                f"{len(result.proposed)} proposed, {len(result.merges)} merged"
            )
            for label, pairs in (
                ("right", result.right),
                ("missed", result.true_pairs - result.resolvable),
                ("wrong", result.proposed - result.true_pairs),
            ):
                for pair in sorted(pairs):
                    print(f"  {label:7}{' = '.join(tree.persons[person].name for person in pair)}")
            for merge in result.wrong_merges:
                print(f"  merged wrongly: {' = '.join(merge)}")
    for name, value in figures(results).items():
        print(f"{name:16}{value:.3f}")


if __name__ == "__main__":
    main()
