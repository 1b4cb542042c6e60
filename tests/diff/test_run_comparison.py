"""Two runs side by side: what is new, gone and changed, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.diff.compared_runs import run_over, snapshot, two_snapshots

from kiwiresearch.claims.claim import Claim, Measure, claim_record
from kiwiresearch.diff.pairs import ComparedClaim, describe_change, pair_claims
from kiwiresearch.diff.run_comparison import Comparison, compare_runs, open_compared_run
from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.finished_run import Run
from kiwiresearch.runs.manifest import CLAIMS, Manifest
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.quantity_mentions import quantities_in
from kiwiresearch.text.similarity import comparable, marked_differences


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The same task over two snapshots of one book."""
    old, new = two_snapshots(tmp_path_factory.mktemp("snapshots"))
    return open_compared_run(old), open_compared_run(new)


@pytest.fixture(scope="module")
def found(sides: tuple[Run, Run]) -> Comparison:
    return compare_runs(*sides)


def test_an_older_snapshot_of_a_book_is_known_as_one(found: Comparison) -> None:
    """Its name is the same and its date another, so its pages are compared with each other."""
    (pair,) = found.books
    assert pair.kind == "snapshot"
    assert pair.old
    assert pair.new
    assert (pair.old.date, pair.new.date) == ("2026-01-01", "2026-03-01")
    assert pair.old.id != pair.new.id
    assert (found.pages_gone, found.pages_new, found.pages_both) == ((), (), 4)
    assert found.settings == ()


def test_changed_numbers_are_listed_first(found: Comparison) -> None:
    """A length that was corrected is a number that changed, with both sides."""
    first = found.changed[0]
    assert first.numbers_differ
    assert ("118 km" in first.old.text, "121 km" in first.new.text) == (True, True)
    assert [one.numbers_differ for one in found.changed] == sorted(
        (one.numbers_differ for one in found.changed), reverse=True
    )


def test_a_claim_that_is_no_longer_hedged_has_changed(found: Comparison) -> None:
    """'May have been larger' that became 'was larger' is a change of hedging, not of numbers."""
    (change,) = [one for one in found.changed if "larger than Lubmin" in one.old.text]
    assert change.hedging_differs
    assert not change.numbers_differ


def test_claims_that_came_and_went_are_listed(found: Comparison) -> None:
    """A sentence that editors added is new, one that they took out is gone; its page is in both runs."""
    assert ["lighthouse" in one.claim.text and one.page_in_both for one in found.new] == [True]
    assert ["older track" in one.claim.text and one.page_in_both for one in found.gone] == [True]


def without_repeated_statements(side: Run) -> list[Claim]:
    """Its claims without statements in the words of a sentence that is a claim of another type, too."""
    typed = {claim.quotes[0] for claim in side.claims if claim.type != "statement"}
    return [claim for claim in side.claims if claim.type != "statement" or claim.quotes[0] not in typed]


def test_everything_else_is_the_same(found: Comparison, sides: tuple[Run, Run]) -> None:
    """Every claim of both runs is accounted for once, though not one id is the same."""
    old, new = sides
    assert not {claim.id for claim in old.claims} & {claim.id for claim in new.claims}
    assert found.same + len(found.changed) + len(found.gone) == len(without_repeated_statements(old))
    assert found.same + len(found.changed) + len(found.new) == len(without_repeated_statements(new))
    assert found.same > 10


def test_sentences_of_the_brief_are_compared_too(found: Comparison) -> None:
    assert any("121 km" in one.text for one in found.statements_new)
    assert any("118 km" in one.text for one in found.statements_gone)
    assert found.statements_same > 0


def test_sentences_keep_the_order_of_their_brief(found: Comparison, sides: tuple[Run, Run]) -> None:
    """Those that only one brief has are listed as it has them, and one that it repeats as it has it first."""
    for listed, side in ((found.statements_gone, sides[0]), (found.statements_new, sides[1])):
        texts = [one.text for one in listed]
        assert len(texts) > 1
        assert texts == [text for text in dict.fromkeys(one.text for one in side.brief.statements()) if text in texts]


def test_a_run_compared_with_itself_is_the_same(sides: tuple[Run, Run]) -> None:
    found = compare_runs(sides[0], sides[0])
    assert found.is_same
    assert found.same == len(without_repeated_statements(sides[0])) < len(sides[0].claims)
    assert [pair.kind for pair in found.books] == ["same"]


def test_the_other_way_round_is_the_mirror(found: Comparison, sides: tuple[Run, Run]) -> None:
    """What was new is gone, and each change is distinguished from its other side."""
    back = compare_runs(sides[1], sides[0])
    assert {(one.new.id, one.old.id) for one in back.changed} == {(one.old.id, one.new.id) for one in found.changed}
    assert {one.claim.id for one in back.gone} == {one.claim.id for one in found.new}


def test_comparing_is_the_same_every_time(sides: tuple[Run, Run], found: Comparison) -> None:
    assert compare_runs(*sides) == found


def test_other_settings_are_listed_with_their_effects(tmp_path: Path) -> None:
    """With fewer pages, the claims of the pages that were not read are new, and say that their page is."""
    book = snapshot(tmp_path / "road.zim", "2026-01-01")
    few, many = run_over(book, tmp_path / "few", max_pages=2), run_over(book, tmp_path / "many", max_pages=4)
    found = compare_runs(open_compared_run(few), open_compared_run(many))
    assert [(one.name, one.old, one.new) for one in found.settings] == [("max_pages", 2, 4)]
    assert [pair.kind for pair in found.books] == ["same"]
    assert (found.pages_both, len(found.pages_new), found.pages_gone) == (2, 2, ())
    assert found.new
    assert not any(one.page_in_both for one in found.new)
    assert (found.changed, found.gone) == ((), ())


def test_another_book_shares_no_page(sides: tuple[Run, Run]) -> None:
    """A page of the same path in a book of another name is another page."""
    other = {**sides[1].manifest.record, "books": [{**sides[1].manifest.record["books"][0], "name": "rail_en"}]}
    found = compare_runs(sides[0], replace(sides[1], manifest=Manifest.of(other)))
    assert [pair.kind for pair in found.books] == ["only old", "only new"]
    assert (found.pages_both, found.same, found.changed) == (0, 0, ())


def test_two_snapshots_in_one_run_stay_apart(sides: tuple[Run, Run]) -> None:
    """If one run has both, each book is only itself."""
    books = [book for side in sides for book in side.manifest.record["books"]]
    both = {**sides[1].manifest.record, "books": books}
    found = compare_runs(sides[0], replace(sides[1], manifest=Manifest.of(both)))
    assert [pair.kind for pair in found.books] == ["same", "only new"]


SNAPSHOTS = [
    ("wikipedia_en_ray_charles_2015-06", "", "wikipedia_en_ray_charles", "maxi"),
    ("wikipedia_en_ray_charles", "mini", "wikipedia_en_ray_charles", "maxi"),
    ("kiwix.wikibooks_be_all", "nopic", "wikibooks_be_all_maxi_2024-01", ""),
]


@pytest.mark.parametrize(("old", "old_flavour", "new", "new_flavour"), SNAPSHOTS)
def test_a_snapshot_is_known_by_another_makers_name(
    sides: tuple[Run, Run], old: str, old_flavour: str, new: str, new_flavour: str
) -> None:
    """The day, the selection and the maker are not part of a book's name, and its pages are compared."""
    named = [
        replace(
            side, manifest=Manifest.of({**side.manifest.record, "books": [side.manifest.record["books"][0] | entry]})
        )
        for side, entry in zip(
            sides, ({"name": old, "flavour": old_flavour}, {"name": new, "flavour": new_flavour}), strict=True
        )
    ]
    found = compare_runs(*named)
    assert [pair.kind for pair in found.books] == ["snapshot"]
    assert found.same == compare_runs(*sides).same


def test_a_flavour_distinguishes_two_books_of_a_name(sides: tuple[Run, Run]) -> None:
    """A run that has the small and the full selection is compared with each of them."""
    book = sides[0].manifest.record["books"][0]
    small, full = {**book, "flavour": "mini"}, {**book, "id": "another", "flavour": "maxi"}
    newer = {**sides[1].manifest.record["books"][0], "flavour": "maxi"}
    old, new = (
        replace(sides[0], manifest=Manifest.of({"books": books, "outputs": {}})) for books in ([small, full], [newer])
    )
    pairs = compare_runs(old, new).books
    assert [(pair.kind, pair.old and pair.old.flavour) for pair in pairs] == [
        ("only old", "mini"),
        ("snapshot", "maxi"),
    ]


def test_books_of_the_old_layout_are_compared_with_newer_ones(tmp_path: Path, sides: tuple[Run, Run]) -> None:
    """The 'A/' before the paths of older books, and the '.html' behind them, are not part of a page's name."""
    moved = [
        replace(
            claim,
            quotes=tuple(
                quote._replace(ref=replace(quote.ref, path=f"A/{quote.ref.path}.html")) for quote in claim.quotes
            ),
        )
        for claim in sides[0].claims
    ]
    old = Path(shutil.copytree(sides[0].path, tmp_path / "old"))
    (old / CLAIMS).write_text("".join(canonical_json(claim_record(claim)) + "\n" for claim in moved), encoding="utf-8")
    assert compare_runs(Run.load(old), sides[1]).same == compare_runs(*sides).same


@pytest.mark.parametrize("name", ["claims.jsonl", "brief.json"])
def test_a_damaged_run_is_reported(tmp_path: Path, name: str) -> None:
    run = run_over(snapshot(tmp_path / "road.zim", "2026-01-01"), tmp_path / "run", max_pages=1)
    (run / name).write_text("[]\n", encoding="utf-8")
    with pytest.raises(RunDamaged, match="is damaged or was changed"):
        open_compared_run(run)
    with pytest.raises(RunNotFound):
        open_compared_run(tmp_path / "nothing")


def test_every_claim_is_paired_once(sides: tuple[Run, Run]) -> None:
    """However the claims are taken together, none is lost and none counted twice."""
    old = [ComparedClaim(n, claim) for n, claim in enumerate(sides[0].claims)]
    new = [ComparedClaim(n, claim) for n, claim in enumerate(sides[1].claims)]
    pairs = pair_claims(old, new)
    left = [one.position for one, _ in pairs.same] + [one.position for one, _, _ in pairs.changed]
    right = [one.position for _, one in pairs.same] + [one.position for _, one, _ in pairs.changed]
    assert sorted([*left, *(one.position for one in pairs.gone)]) == list(range(len(old)))
    assert sorted([*right, *(one.position for one in pairs.new)]) == list(range(len(new)))


def has_other_numbers(one: Claim, old: str, new: str) -> bool:
    """Whether a claim of an old text and one of a new one are reported as other numbers."""
    sides = []
    for order, text in enumerate((old, new)):
        dates = dates_in(text)
        measures = quantities_in(text, not_in=[(date.start, date.end) for date in dates])
        result = tuple(Measure(quantity, "", "", None) for quantity in measures)
        sides.append(ComparedClaim(order, replace(one, text=text, dates=tuple(dates), measures=result)))
    return describe_change(sides[0], sides[1], 0.9).numbers_differ


SAME_NUMBERS = [
    ("It reached the top twenty.", "It was a top-twenty hit."),
    ("He served from July 31, 1951 to 1952.", "He served from July 31, 1951, until 1952."),
    ("It has 5 million people.", "It has 5,000,000 people."),
    ("It was 12 km long.", "It was 12,000 metres long."),
    ("In 1951, 5 people left.", "5 people left in 1951."),
    ("It reached number five in May 1951.", "In May 1951 it reached No. 5."),
    ("It reached number five.", "It reached No. 5."),
    ("It is one of the large towns.", "It is a large town."),
]
OTHER_NUMBERS = [
    ("It reached the top twenty.", "It reached the top-thirty."),
    ("He served from July 31, 1951 to 1952.", "He served from June 31, 1951, until 1952."),
    ("He came in June 1951.", "He came in July 1951."),
    ("It was built in 500.", "It was built in 500 BC."),
    ("It has 5 million people.", "It has 5 billion people."),
    ("It was 12 km long.", "It was 12 miles long."),
    ("It cost $4.", "It cost €4."),
    ("It fell to -5 °C.", "It fell to 5 °C."),
    ("They won 3 and lost 5.", "They won 5 and lost 3."),
    ("He flew a Boeing 747.", "He flew a Boeing 737."),
]


@pytest.mark.parametrize(("old", "new"), SAME_NUMBERS)
def test_a_number_written_differently_is_the_same_number(sides: tuple[Run, Run], old: str, new: str) -> None:
    """With a hyphen, in another unit, in words, or as two dates where there was a time from one to the other."""
    assert not has_other_numbers(sides[0].claims[0], old, new)


@pytest.mark.parametrize(("old", "new"), OTHER_NUMBERS)
def test_another_number_is_a_change(sides: tuple[Run, Run], old: str, new: str) -> None:
    """Another figure, scale, unit, currency, sign, month or era, and figures that change places."""
    assert has_other_numbers(sides[0].claims[0], old, new)


SAME = [
    ("The road  was long.", "the road was long"),
    ("‘Salt’ – a road", "'Salt' - a road."),
    ("ﬁve km", "five km"),
    ("In 1947, he left; she stayed.", "In 1947 he left she stayed"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_how_it_is_set_does_not_matter(one: str, other: str) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(("one", "other"), [("It is 1,5 km.", "It is 15 km."), ("It cost $4.", "It cost €4.")])
def test_parts_of_a_figure_matter(one: str, other: str) -> None:
    """A comma within a number, and the sign of a currency, matter."""
    assert comparable(one) != comparable(other)


MARKED = [
    ("It was 118 km long", "It was 121 km long", "It was [118] km long", "It was [121] km long"),
    ("It was long", "It was very long", "It was long", "It was [very ]long"),
    ("a b c", "x y c", "[a b] c", "[x y] c"),
    ("同じ道は長い", "同じ道は短い", "同じ道は[長]い", "同じ道は[短]い"),
    ("", "new", "", "[new]"),
]


@pytest.mark.parametrize(("one", "other", "left", "right"), MARKED)
def test_differing_words_are_marked(one: str, other: str, left: str, right: str) -> None:
    """Those of each side that the other does not have."""
    shown = [
        "".join(f"[{run.text}]" if run.differs else run.text for run in side) for side in marked_differences(one, other)
    ]
    assert shown == [left, right]


@given(st.text(max_size=80), st.text(max_size=80))
def test_marking_loses_no_letter(one: str, other: str) -> None:
    """Both sentences can be read whole, and equal ones have no mark."""
    left, right = marked_differences(one, other)
    assert ("".join(run.text for run in left), "".join(run.text for run in right)) == (one, other)
    assert not any(run.differs for run in marked_differences(one, one)[0])
