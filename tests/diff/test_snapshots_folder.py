"""Snapshots that `kiwiresearch bulk` has written: the same changes as from the books themselves, or a clear refusal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.bulk.bulk_book import tables_here
from tests.diff.snapshot_books import a_snapshot, spoil, two_books

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.sentences import Disagreement
from kiwiresearch.codec import plain
from kiwiresearch.diff.changes import PageChange, contradiction
from kiwiresearch.diff.snapshot_comparison import (
    CLAIMS_ONLY,
    EVERYTHING,
    PAIRS_LEFT_OUT,
    SnapshotPlace,
    diff_snapshots,
    folder_place,
    snapshot_diff,
    snapshot_places,
)
from kiwiresearch.errors import BadUsage, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.version import __version__
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.policy import Policy

ALL = ("titles", "pages", "claims")
Folded = Callable[..., SnapshotPlace]


def in_bulk(book: Path, what: Sequence[str], out: Path, batch: int = 0) -> Path:
    tables_here(book, what, out, batch=batch, version=__version__)
    return out


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return two_books(tmp_path_factory.mktemp("coast"))


@pytest.fixture(scope="module")
def folders(books: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Both books with all that is known of their pages; one in many small batches."""
    place = tmp_path_factory.mktemp("folders")
    return in_bulk(books[0], ALL, place / "old", batch=2), in_bulk(books[1], ALL, place / "new")


@pytest.fixture
def folded(tmp_path: Path) -> Folded:
    """A folder as a place, with its index."""

    def place(folder: Path, policy: Policy = EVERYTHING) -> SnapshotPlace:
        return folder_place(folder, policy, tmp_path / f"{len(list(tmp_path.iterdir()))}.index")

    return place


def lines(found: Iterable[PageChange]) -> list[str]:
    return sorted(canonical_json(plain(record)) for page in found for record in page.records())


@pytest.mark.parametrize("which", [(True, True), (True, False), (False, True)])
def test_folders_and_books_give_the_same_changes(
    books: tuple[Path, Path], folders: tuple[Path, Path], folded: Folded, which: tuple[bool, bool]
) -> None:
    """Two folders, or a folder and a book: each change is the same to the last letter."""
    sides = [
        folded(folder) if is_folder else SnapshotPlace(book)
        for is_folder, folder, book in zip(which, folders, books, strict=True)
    ]
    assert lines(diff_snapshots(*sides)) == lines(diff_snapshots(*map(SnapshotPlace, books)))


def test_several_processes_read_folders(folders: tuple[Path, Path], folded: Folded) -> None:
    """In the same order as one."""
    sides = [folded(folder) for folder in folders]
    one, two = ([page.page.path for page in diff_snapshots(*sides, workers=workers)] for workers in (1, 2))
    assert one == two


def test_a_folder_of_claims_alone_knows_the_pages_that_claim(
    books: tuple[Path, Path], folders: tuple[Path, Path], tmp_path: Path, folded: Folded
) -> None:
    """Without the other tables there is no redirect and no text to identify a page by, and the result says so."""
    manifest = json.loads((folders[1] / "manifest.json").read_text(encoding="utf-8"))
    tables = {name: manifest["tables"][name] for name in ("claims", "errors")}
    alone = _copied(folders[1], tmp_path / "claims", manifest | {"what": ["claims"], "tables": tables})
    with snapshot_diff(SnapshotPlace(books[0]), folded(alone)) as both:
        changes = list(both.changes())
        assert both.notes == [CLAIMS_ONLY]
        assert both.page("Salt road") in changes
    assert {page.page.title: (page.state, page.moved) for page in changes} == {
        "Salt road": ("both", ""),
        "Ostrava": ("both", ""),
        "Harbour": ("both", ""),
        "Lubmin (town)": ("added", ""),
        "Stone pit of Hohen": ("added", ""),
        "Lighthouse": ("added", ""),
        "Lubmin": ("removed", ""),
        "Quarry": ("removed", ""),
        "Custom house": ("removed", ""),
        "Old mill": ("removed", ""),
    }


def test_claims_of_another_version_are_refused(
    books: tuple[Path, Path], folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """They would differ for that reason alone: the folder is named, and what to do."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")})
    manifest = json.loads((folders[0] / "manifest.json").read_text(encoding="utf-8"))
    other = _copied(folders[0], tmp_path / "other", manifest | {"version": "0.0.1"})
    for new in (books[1], folders[1]):
        with pytest.raises(BadUsage, match=r"were created by version 0\.0\.1") as refused:  # noqa: SIM117
            with snapshot_places(desk, str(other), str(new)):
                pytest.fail("it was not refused")
        assert str(other) in refused.value.message
        assert "kiwiresearch bulk" in refused.value.remedy


@pytest.mark.parametrize("fault", ["a field", "a surrogate"])
def test_rows_that_are_not_claims_are_reported(
    folders: tuple[Path, Path], tmp_path: Path, folded: Folded, fault: str
) -> None:
    """Somebody else's folder may say anything: its page is unreadable, and the others are compared."""
    manifest = json.loads((folders[1] / "manifest.json").read_text(encoding="utf-8"))
    folder = _copied(folders[1], tmp_path / "spoiled", manifest)
    file = folder / "claims" / "000000.parquet"
    table = pyarrow.parquet.read_table(file)
    first, *others = table.column("record").to_pylist()
    broken = first.replace('"claim":"', r'"claim":"\ud800') if fault == "a surrogate" else '{"claim": "no more"}'
    records = [broken, *others]
    place = table.schema.get_field_index("record")
    pyarrow.parquet.write_table(table.set_column(place, table.schema.field(place), pa.array(records)), file)
    manifest["tables"]["claims"]["shards"][0]["bytes"] = file.stat().st_size
    (folder / "manifest.json").write_text(canonical_json(manifest), encoding="utf-8")
    (page,) = [page for page in diff_snapshots(folded(folders[0]), folded(folder)) if page.state == "unreadable"]
    assert page.new
    assert page.new.path == table.column("path").to_pylist()[0]
    assert "are not valid claims of that page" in page.problem


def test_a_file_of_a_folder_that_was_changed_is_refused(
    folders: tuple[Path, Path], tmp_path: Path, folded: Folded
) -> None:
    """Before anything is compared."""
    manifest = json.loads((folders[1] / "manifest.json").read_text(encoding="utf-8"))
    folder = _copied(folders[1], tmp_path / "cut", manifest)
    file = folder / "claims" / "000000.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(RunDamaged, match="bytes, not"):
        folded(folder)


def _copied(folder: Path, to: Path, manifest: dict[str, Any]) -> Path:
    """A folder with another manifest."""
    shutil.copytree(folder, to)
    (to / "manifest.json").write_text(canonical_json(manifest), encoding="utf-8")
    return to


def test_a_page_that_could_not_be_read_in_bulk_is_reported(tmp_path: Path, folded: Folded) -> None:
    """It was not removed: the folder's table of errors has it."""
    old, new = two_books(tmp_path)
    spoil(old, "Harbour")
    in_bulk(old, ALL, tmp_path / "old")
    (page,) = [
        page for page in diff_snapshots(folded(tmp_path / "old"), SnapshotPlace(new)) if page.state == "unreadable"
    ]
    assert page.page.path == "Harbour"
    assert page.problem.startswith("In the old edition: It cannot be read")


def test_contradictions_of_other_pages_are_found(tmp_path: Path, folded: Folded) -> None:
    """Each pair is shown once. What is not a name is another thing on every page, and so is a row of a table.

    Each pair is shown once. What is not a name is another thing on every page, and so is a row of a table.
    """
    table = "<table><tr><th>Town</th><th>Inns</th></tr><tr><td>Hohen</td><td>{}</td></tr></table>"
    road = "<p>The Salt road was 118 km long from end to end. The wall was 9 metres high in 1400.</p>"
    town = f"<p>Ostrava is a town.</p>{table.format(14)}"
    old = a_snapshot(tmp_path / "old.zim", {"Salt_road": road + table.format(23), "Ostrava": town})
    result = (
        "<p>Ostrava is a town. The Salt road was 186 km long from end to end. The wall was 7 metres high in 1400.</p>"
    )
    pages = {"Salt_road": road + table.format(25), "Ostrava": result + table.format(15)}
    new = in_bulk(a_snapshot(tmp_path / "new.zim", pages), ALL, tmp_path / "new")
    (page,) = [
        page for page in diff_snapshots(SnapshotPlace(old), folded(new)) if page.state == "contradicted elsewhere"
    ]
    (change,) = page.changes
    assert (page.page.title, change.kind) == ("Ostrava", "disputed")
    (doubt,) = change.doubts
    assert doubt.against
    assert (change.claim.text, doubt.against.text) == (
        "The Salt road was 186 km long from end to end.",
        "The Salt road was 118 km long from end to end.",
    )


def test_a_subject_of_which_many_speak_is_compared_so_far(
    tmp_path: Path, folded: Folded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time does not grow with the square of how often a subject is mentioned, and what was left out is reported."""
    compared: list[Claim] = []

    def noted(one: Claim, other: Claim, language: str) -> Disagreement | None:
        compared.append(other)
        return contradiction(one, other, language)

    monkeypatch.setattr("kiwiresearch.diff.changes.contradiction", noted)
    road = {"Salt_road": "<p>The Salt road was a trade route of the northern coast.</p>"}
    towns = {f"T{n}": f"<p>A town. The Salt road was {40 * n + 110} km long from end to end.</p>" for n in range(9)}
    old = a_snapshot(tmp_path / "old.zim", road)
    new = in_bulk(a_snapshot(tmp_path / "new.zim", road | towns), ALL, tmp_path / "new")
    with snapshot_diff(SnapshotPlace(old), folded(new)) as both:
        assert sum(page.state == "contradicted elsewhere" for page in both.changes()) == 36
        assert (len(compared), both.notes) == (36, [])
    compared.clear()
    monkeypatch.setattr("kiwiresearch.diff.changes.MAX_OF_SUBJECT", 3)
    monkeypatch.setattr("kiwiresearch.diff.changes.MAX_PAIRS", 9)
    with snapshot_diff(SnapshotPlace(old), folded(new)) as both:
        assert "contradicted elsewhere" in [page.state for page in both.changes()]
        assert both.notes == [PAIRS_LEFT_OUT]
    assert len(compared) <= 9


HIDDEN = "<p>The old fort is a ruin of the coast, built in 1377. The old fort had 9 towers in 1400.</p>"


def test_a_hidden_page_is_hidden_by_path_and_title(tmp_path: Path, folded: Folded) -> None:
    """Whatever tables a folder has: no other name, and nothing that the page claims, brings it back."""
    road = {"Salt_road": "<p>The Salt road was 118 km long from end to end.</p>"}
    titles = {"p/4711": "Old fort", "A/Old_fort.html": "A ruin of the coast"}
    old = a_snapshot(tmp_path / "old.zim", road)
    new = a_snapshot(tmp_path / "new.zim", road | dict.fromkeys(titles, HIDDEN), titles=titles)
    manifest = json.loads((in_bulk(new, ALL, tmp_path / "new") / "manifest.json").read_bytes())
    for what in (ALL, ("titles", "claims"), ("pages", "claims"), ("claims",)):
        tables = {name: manifest["tables"][name] for name in (*what, "errors")}
        some = _copied(tmp_path / "new", tmp_path / "-".join(what), manifest | {"what": what, "tables": tables})
        assert len(list(diff_snapshots(SnapshotPlace(old), folded(some)))) == 3
        shown = diff_snapshots(SnapshotPlace(old), folded(some, Policy(hidden=("Old fort",))))
        assert [page.page.title for page in shown] == ["Salt road"], what


def test_a_hidden_page_that_could_not_be_read_stays_hidden(tmp_path: Path, folded: Folded) -> None:
    """The table of errors has only the path of a page, and that of titles has its name."""
    road = {"Salt_road": "<p>The Salt road was 118 km long.</p>"}
    old = a_snapshot(tmp_path / "old.zim", road)
    new = a_snapshot(tmp_path / "new.zim", road | {"p/4711": HIDDEN}, titles={"p/4711": "Old fort"})
    spoil(new, "p/4711")
    side = folded(in_bulk(new, ALL, tmp_path / "new"), Policy(hidden=("Old fort",)))
    assert [page.page.title for page in diff_snapshots(SnapshotPlace(old), side)] == ["Salt road"]


def test_hidden_pages_stay_hidden_in_folders(folders: tuple[Path, Path], folded: Folded) -> None:
    """A policy applies to what was read from a book as to the book."""
    policy = Policy(hidden=("Salt road", "Lighthouse", "Custom house"))
    titles = [page.page.title for page in diff_snapshots(*(folded(folder, policy) for folder in folders))]
    assert sorted(titles) == ["Harbour", "Lubmin (town)", "Old mill", "Ostrava", "Stone pit of Hohen"]
