"""Rows of lists without relatives find each other by what they share."""

from __future__ import annotations

import pytest
from evals.kin_records import Column, link
from evals.kin_resolve import COLUMNS, load_febrl

from kiwiresearch.errors import BadSettings

NAMES = (Column("given", "name"), Column("surname", "name"), Column("born", "number", -3.0))
OTHERS = {f"x{n}": {"given": f"name{n}", "surname": f"house{n}", "born": str(18000101 + n * 977)} for n in range(40)}


def rows(*values: tuple[str, str, str]) -> dict[str, dict[str, str]]:
    return {f"r{at}": dict(zip(("given", "surname", "born"), row, strict=True)) for at, row in enumerate(values)}


@pytest.mark.parametrize(
    "other",
    [
        ("mary", "winter", "18120504"),
        ("winter", "mary", "18120504"),
        ("mary", "wintre", "18120504"),
        ("mary", "winter", "18120514"),
    ],
)
def test_a_row_with_a_slip_is_found(other: tuple[str, str, str]) -> None:
    """Names that changed places, a slip of the pen and a wrong digit do not hide a person."""
    found = link({**rows(("mary", "winter", "18120504")), **OTHERS}, rows(other), NAMES)
    assert [one.pair for one in found] == [("r0", "r0")]


def test_nobody_of_two_lists_is_taken_twice() -> None:
    """The better of two copies is kept."""
    second = rows(("mary", "wynter", "18120504"), ("mary", "winter", "18120504"))
    found = link({**rows(("mary", "winter", "18120504")), **OTHERS}, second, NAMES)
    assert [one.pair for one in found] == [("r0", "r1")]


def test_one_list_may_have_a_person_several_times() -> None:
    """Within one list all copies are paired, each pair once."""
    copies = rows(*[("mary", "winter", "18120504")] * 3)
    found = link({**copies, **OTHERS}, None, NAMES)
    assert [one.pair for one in found] == [("r0", "r1"), ("r0", "r2"), ("r1", "r2")]


def test_missing_fields_count_nothing() -> None:
    """An empty field is not a difference."""
    found = link({**rows(("mary", "winter", "18120504")), **OTHERS}, rows(("mary", "winter", "")), NAMES)
    assert dict(found[0].points)["born"] == 0.0
    assert "given" in str(found[0])


def test_rows_without_columns_are_refused() -> None:
    """There must be something to compare."""
    with pytest.raises(BadSettings, match="columns"):
        link({}, {}, ())
    assert link({}, {}, NAMES) == ()


def test_real_records_are_linked(shared_data) -> None:  # type: ignore[no-untyped-def]
    """A tenth of a real benchmark is linked without a mistake."""
    folder = shared_data / "kin" / "febrl"
    first = {one: row for one, row in load_febrl(folder / "dataset4a.csv").items() if int(one.split("-")[1]) % 10 == 0}
    second = {one: row for one, row in load_febrl(folder / "dataset4b.csv").items() if int(one.split("-")[1]) % 10 == 0}
    found = {one.pair for one in link(first, second, COLUMNS)}
    wanted = {(one, one.replace("-org", "-dup-0")) for one in first}
    assert len(found & wanted) >= 0.99 * len(wanted)
    assert len(found - wanted) <= 0.005 * len(wanted)
