"""Three generations of a royal family, from a real book, by rules alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kin.gedcom_structure import problems
from tests.kin.loop_family import a_case, named, open_family, researcher, run
from tests.kin.test_kin_gedcom_gramps import GRAMPS, assert_arrived

from kiwiresearch.kin.gedcom.writer import tree_gedcom
from kiwiresearch.kin.loop.progress import STOP_CONDITIONS
from kiwiresearch.kin.privacy.redaction import redact
from kiwiresearch.kin.store.case import CaseStore


@pytest.fixture(scope="module")
def royal(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Iterator[CaseStore]:
    book = open_family(shared_data / "zims" / "schools-2007.zim")
    with a_case(tmp_path_factory.mktemp("royal"), seeds=("George V of the United Kingdom",), generations=3) as store:
        run(researcher(store, book))
        yield store


def test_a_royal_family_grows_to_a_named_end(royal: CaseStore) -> None:
    """A real case ends by one of the five conditions, with the line that everybody knows (R291)."""
    assert royal.state("stop")["reason"] in STOP_CONDITIONS
    tree = royal.tree()
    line = [named(tree, "George V")]
    for _ in range(2):
        parents = (tree.persons[one] for one in tree.parents(line[-1].id))
        line.append(next(one for one in parents if one.sex == "male"))
    assert [one.birth and one.birth.first_year for one in line[:2]] == [1865, 1841]
    assert "Albert" in line[2].name
    assert royal.verify_audit() == ()


def test_a_royal_family_arrives_in_gramps(royal: CaseStore, tmp_path: Path) -> None:
    """Every person, family, event and citation of the case is in Gramps, which has nothing to complain of."""
    if not (GRAMPS / "ready").exists():
        pytest.skip("Gramps is not installed; tools/install-programs does it")
    text = tree_gedcom(redact(royal.tree(), "owner", 2026), "5.5.1", head={"version": "1.0", "date": "2026-11-15"})
    assert problems(text) == []
    file = tmp_path / "royal.ged"
    file.write_text(text, encoding="utf-8", newline="")
    assert_arrived(file, text.replace("\r\n", "\n"))
