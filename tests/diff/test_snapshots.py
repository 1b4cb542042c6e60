"""Two snapshots of a book: every kind of change is shown once, and nothing else is."""

from __future__ import annotations

import multiprocessing
import os
import select
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.diff.snapshot_books import LEADS, NEW, OLD, a_snapshot, spoil, two_books

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.codec import plain
from kiwiresearch.diff.changes import CHANGE_KINDS, ClaimChange, PageChange, checked_kinds
from kiwiresearch.diff.snapshot_comparison import LEADS_ONLY, SnapshotPlace, diff_snapshots, snapshot_diff
from kiwiresearch.errors import BadUsage, PageNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.zim.policy import Policy


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> tuple[SnapshotPlace, SnapshotPlace]:
    old, new = two_books(tmp_path_factory.mktemp("coast"))
    return SnapshotPlace(old), SnapshotPlace(new)


@pytest.fixture(scope="module")
def found(books: tuple[SnapshotPlace, SnapshotPlace]) -> list[PageChange]:
    return list(diff_snapshots(*books))


def of(found: Iterable[PageChange], title: str) -> PageChange:
    """The page of a title."""
    (page,) = [page for page in found if page.page.title == title]
    return page


def lines(found: Iterable[PageChange]) -> list[str]:
    """All records, as they are written to a file."""
    return [canonical_json(plain(record)) for page in found for record in page.records()]


def change_texts(change: ClaimChange) -> tuple[str, str, str]:
    """A change by its kind and by the words of its sides."""
    return change.kind, change.old.text if change.old else "", change.new.text if change.new else ""


def test_every_kind_of_change_of_a_page_is_found(found: list[PageChange]) -> None:
    """Changed, disputed and added in the order of the new page, then what was withdrawn."""
    given_up = "given up because cheaper salt was shipped from France after 1580."
    opened = "The Salt road was opened in 1390 by Albert of Mecklen."
    assert [change_texts(change) for change in of(found, "Salt road").changes] == [
        (
            "changed",
            "The Salt road was 118 km long from end to end.",
            "The Salt road was 121 km long from end to end.",
        ),
        ("disputed", opened, opened),
        ("added", "", "A toll gate was built on the road in 1455."),
        ("changed", f"The Salt road was {given_up}", f"The Salt road was possibly {given_up}"),
        ("changed", "Salt road — Length: 118 km", "Salt road — Length: 121 km"),
        ("withdrawn", "Some carts were drawn by six oxen in the year 1402.", ""),
    ]


def test_it_is_said_what_changed(found: list[PageChange]) -> None:
    """Another number and another hedge are distinguished from other words, and the words that differ are named."""
    page = of(found, "Salt road")
    changes = [change for change in page.changes if change.kind == "changed"]
    assert [(change.numbers, change.hedging) for change in changes] == [(True, False), (False, True), (True, False)]
    assert [change.record(page.sides).differs for change in changes] == [
        {"old": ["118"], "new": ["121"]},
        {"old": [], "new": ["possibly"]},
        {"old": ["118"], "new": ["121"]},
    ]


def test_how_many_are_meant_is_hedging_too(tmp_path: Path) -> None:
    """'Often' that became 'always' is hedged differently, as in comparisons of runs; neither word is a doubt."""
    text = "<p>The fort is a ruin. The fort was {} seen from the harbour of Lubmin by ships with salt in 1437.</p>"
    sides = [
        a_snapshot(tmp_path / f"fort_2026-0{month}.zim", {"Fort": text.format(word)}, Date=f"2026-0{month}-01")
        for month, word in ((1, "often"), (2, "always"))
    ]
    (page,) = diff_snapshots(*map(SnapshotPlace, sides))
    (change,) = page.changes
    assert (change.kind, change.hedging, change.doubts) == ("changed", True, ())


def test_old_and_new_quotes_are_side_by_side(found: list[PageChange]) -> None:
    """Each side of a change has the words of its own page, at their place."""
    page = of(found, "Salt road")
    record = page.changes[0].record(page.sides)
    assert [list(side.support_snippets) for side in (record.old, record.new) if side] == [
        ["The Salt road was 118 km long from end to end."],
        ["The Salt road was 121 km long from end to end."],
    ]


def test_new_disputes_are_listed_with_the_reason(found: list[PageChange]) -> None:
    """A new mark of the page, a new hedge, and a claim that another one contradicts."""
    reasons = {
        change.claim.text[:30]: [(doubt.how, doubt.why) for doubt in change.doubts]
        for page in found
        for change in page.changes
        if change.doubts
    }
    assert reasons == {
        "The Salt road was opened in 13": [("marked", "The page marks it as needing a citation.")],
        "The Salt road was possibly giv": [("hedged", "It is hedged now: 'possibly'.")],
        "The harbour was 17 metres deep": [("contradicted", "Both use the same words, except for '14' and '17'.")],
    }
    (change,) = of(found, "Harbour").changes
    assert change.doubts[0].against
    assert change.doubts[0].against.text == "The harbour was 14 metres deep in 1900."
    assert change.is_of(["disputed"])
    assert change.is_of(["added"])
    assert not change.is_of(["changed", "withdrawn"])


def test_a_contradiction_that_was_there_before_is_not_news(tmp_path: Path) -> None:
    """Both sentences were in the old snapshot too: only the one with new words is listed, as changed."""
    both = "<p>The harbour was 14 metres deep in 1900. The harbour was 17 metres deep in 1900. {}</p>"
    old = a_snapshot(tmp_path / "old.zim", {"Harbour": both.format("")})
    new = a_snapshot(tmp_path / "new.zim", {"Harbour": both.format("It was built in 1490 by the town council.")})
    (page,) = diff_snapshots(SnapshotPlace(old), SnapshotPlace(new))
    assert [(change.kind, change.doubts) for change in page.changes] == [("added", ())]


def test_changes_of_pages_are_listed(found: list[PageChange]) -> None:
    """Added, removed, renamed by a redirect, the same text under another path, and now part of another page."""
    assert {
        page.page.title: (page.state, page.moved, page.old and page.old.path, page.leads_to)
        for page in found
        if page.state != "both" or page.moved
    } == {
        "Lubmin (town)": ("both", "redirect", "Lubmin", ""),
        "Stone pit of Hohen": ("both", "text", "Quarry", ""),
        "Lighthouse": ("added", "", None, ""),
        "Custom house": ("removed", "", "Custom_house", ""),
        "Old mill": ("removed", "", "Old_mill", "Ostrava"),
    }
    assert [page.page.title for page in found if page.is_renamed] == ["Lubmin (town)", "Stone pit of Hohen"]


def test_claims_of_a_renamed_page_are_compared(found: list[PageChange]) -> None:
    """A page that has another name is the same page, whose number of inns changed."""
    (change,) = of(found, "Lubmin (town)").changes
    assert (change.kind, change.numbers) == ("changed", True)
    assert "23 inns" in change_texts(change)[1]
    assert "25 inns" in change_texts(change)[2]


def test_a_page_of_the_same_text_is_not_read_for_claims(
    books: tuple[SnapshotPlace, SnapshotPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its bytes are the same or its maker has only written it otherwise."""
    read: list[str] = []

    def noted(page: PageDoc, name: str) -> tuple[Claim, ...]:
        read.append(page.title)
        return claims_of(page, name)

    monkeypatch.setattr("kiwiresearch.diff.snapshot.claims_of", noted)
    changes = list(diff_snapshots(*books))
    assert of(changes, "Ostrava").is_same
    assert "Ostrava" not in read
    assert read.count("Salt road") == 2
    read.clear()
    assert all(page.is_same for page in diff_snapshots(books[0], books[0], force=True))
    assert read == []


def test_all_pages_are_shown_once(found: list[PageChange]) -> None:
    """Every page of both snapshots is in one change and in no other."""
    assert sorted(page.new.path for page in found if page.new) == sorted(NEW)
    assert sorted(page.old.path for page in found if page.old) == sorted(OLD)


def test_the_other_way_round_is_the_mirror(books: tuple[SnapshotPlace, SnapshotPlace], found: list[PageChange]) -> None:
    """What was added is withdrawn, what was changed is changed back."""
    back = list(diff_snapshots(books[1], books[0]))
    mirrored = {"added": "withdrawn", "withdrawn": "added", "changed": "changed"}

    def kept(pages: Iterable[PageChange]) -> list[tuple[str, str, str]]:
        return [change_texts(one) for page in pages if page.state == "both" and not page.moved for one in page.changes]

    there = {(mirrored[kind], new, old) for kind, old, new in kept(found) if kind != "disputed"}
    assert {row for row in kept(back) if row[0] != "disputed"} == there


def test_several_processes_give_the_same_in_the_same_order(
    books: tuple[SnapshotPlace, SnapshotPlace], found: list[PageChange], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, whatever the number of processes and however many pages each takes at a time."""
    monkeypatch.setattr("kiwiresearch.diff.snapshot_comparison.BATCH_PAGES", 1)
    assert lines(diff_snapshots(*books, workers=2)) == lines(found)
    assert lines(diff_snapshots(*books, workers=1)) == lines(found)


def test_there_are_as_many_processes_as_may_run(
    books: tuple[SnapshotPlace, SnapshotPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one processor, comparing uses no other processes."""
    monkeypatch.setattr("kiwiresearch.diff.snapshot_comparison.WORTH_PAGES", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    changes = diff_snapshots(*books)
    next(changes)
    assert multiprocessing.active_children() == []
    changes.close()


def test_stopping_half_way_leaves_no_process(books: tuple[SnapshotPlace, SnapshotPlace]) -> None:
    """Closing the comparison early ends its processes."""
    changes = diff_snapshots(*books, workers=2)
    next(changes)
    changes.close()
    assert multiprocessing.active_children() == []


KILLED = """
import multiprocessing, sys
from pathlib import Path
from kiwiresearch.diff.snapshot_comparison import SnapshotPlace, diff_snapshots
if __name__ == "__main__":
    changes = diff_snapshots(*(SnapshotPlace(Path(name)) for name in sys.argv[1:]), workers=2)
    next(changes)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process of others ends")
def test_a_killed_command_leaves_no_process(books: tuple[SnapshotPlace, SnapshotPlace], tmp_path: Path) -> None:
    """The processes that compare see that nobody waits for them any more, and end."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    command = [sys.executable, str(script), *(str(place.path) for place in books)]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True) as process:
        assert process.stdout
        watched = [os.pidfd_open(int(pid)) for pid in process.stdout.readline().split()]
        process.kill()
    assert watched
    for one in watched:
        assert select.select([one], [], [], 60)[0] == [one]
        os.close(one)


def test_older_books_spell_the_same_paths_otherwise(tmp_path: Path, found: list[PageChange]) -> None:
    """With 'A/' before them and '.html' behind, pages are known as the same."""
    spelled = {f"A/{path}.html": html for path, html in OLD.items()}
    old = a_snapshot(tmp_path / "old.zim", spelled)
    new = a_snapshot(tmp_path / "new.zim", NEW, LEADS)
    changes = list(diff_snapshots(SnapshotPlace(old), SnapshotPlace(new)))
    assert [(page.page.title, page.state, page.moved) for page in changes] == [
        (page.page.title, page.state, page.moved) for page in found
    ]


def test_pages_whose_paths_all_changed_are_known_by_their_titles(tmp_path: Path) -> None:
    """A maker who names files by numbers does not make every page a new one."""
    text = "<p>Hohen is a town of the coast, founded in {}.</p>"
    old = a_snapshot(tmp_path / "old.zim", {"Hohen": text.format(1201)})
    new = a_snapshot(tmp_path / "new.zim", {"p/4711": text.format(1202)}, titles={"p/4711": "Hohen"})
    (page,) = diff_snapshots(SnapshotPlace(old), SnapshotPlace(new))
    assert (page.state, page.moved, page.is_renamed) == ("both", "title", False)
    assert [change.numbers for change in page.changes] == [True]


def test_a_damaged_page_is_reported_and_the_others_are_compared(tmp_path: Path, found: list[PageChange]) -> None:
    """It is not a page that was removed, and its claims are not withdrawn."""
    old, new = two_books(tmp_path)
    spoil(old, "Harbour")
    changes = list(diff_snapshots(SnapshotPlace(old), SnapshotPlace(new)))
    page = of(changes, "Harbour")
    assert (page.state, page.changes) == ("unreadable", ())
    assert page.problem == "In the old edition: It cannot be read: cluster index out of range."
    others = [[change_texts(change) for change in one.changes] for one in changes if one != page]
    assert others == [[change_texts(change) for change in one.changes] for one in found if one.page.title != "Harbour"]


LANGUAGES = [
    ("deu", "<p>Hohen ist eine Stadt an der Küste mit {} Einwohnern.</p>", "7400", "7600"),
    ("fra", "<p>Hohen est une ville de la côte, fondée en {} par des marins.</p>", "1201", "1211"),
    ("tum", "<p>Hohen was founded in {} by the sea, and it is a town of the coast.</p>", "1201", "1211"),
]


@pytest.mark.parametrize(("language", "text", "before", "after"), LANGUAGES)
def test_books_of_other_languages_are_compared(
    tmp_path: Path, language: str, text: str, before: str, after: str
) -> None:
    """By the rules of their language, or by their first sentence where there are none."""
    old = a_snapshot(tmp_path / "old.zim", {"Hohen": text.format(before)}, Language=language)
    new = a_snapshot(tmp_path / "new.zim", {"Hohen": text.format(after)}, Language=language)
    (page,) = diff_snapshots(SnapshotPlace(old), SnapshotPlace(new))
    assert [(change.kind, change.numbers) for change in page.changes] == [("changed", True)]


def test_a_book_of_introductions_is_compared_by_those(tmp_path: Path) -> None:
    """What the small selection leaves out was not withdrawn, and the result says so."""
    whole = "<p>Hohen is a town of the coast.</p><h2>History</h2><p>Hohen was founded in 1201 by the sea.</p>"
    old = a_snapshot(tmp_path / "old.zim", {"Hohen": whole})
    new = a_snapshot(tmp_path / "new.zim", {"Hohen": "<p>Hohen is a town of the coast.</p>"}, Flavour="mini")
    with snapshot_diff(SnapshotPlace(old), SnapshotPlace(new)) as both:
        (page,) = both.changes()
        assert both.notes == [LEADS_ONLY]
    assert (page.changes, page.same) == ((), 1)


def test_other_books_are_refused(tmp_path: Path, books: tuple[SnapshotPlace, SnapshotPlace]) -> None:
    """Books of another name or language, and a snapshot with itself, unless that is meant."""
    other = SnapshotPlace(a_snapshot(tmp_path / "other.zim", NEW, Name="rail_en"))
    translated = SnapshotPlace(a_snapshot(tmp_path / "translated.zim", NEW, Language="fra"))
    for one in (other, translated):
        with pytest.raises(BadUsage, match="are not editions of the same book") as refused:
            next(diff_snapshots(books[0], one))
        assert "--force" in refused.value.remedy
    with pytest.raises(BadUsage, match="the same UUID"):
        next(diff_snapshots(books[0], books[0]))
    assert len(list(diff_snapshots(books[0], other, force=True))) > len(NEW)


def test_one_page_is_found_by_any_of_its_names(books: tuple[SnapshotPlace, SnapshotPlace]) -> None:
    """By the title of either snapshot, also where it moved or is gone."""
    with snapshot_diff(*books) as both:
        names = ("Salt road", "lubmin", "Lubmin (town)", "Custom house", "Lighthouse")
        pages = [both.page(name) for name in names]
        with pytest.raises(PageNotFound, match="Neither edition has a page named 'Atlantis'"):
            both.page("Atlantis")
    assert [(page.state, page.moved, page.page.title) for page in pages] == [
        ("both", "", "Salt road"),
        ("both", "redirect", "Lubmin (town)"),
        ("both", "redirect", "Lubmin (town)"),
        ("removed", "", "Custom house"),
        ("added", "", "Lighthouse"),
    ]


def test_hidden_pages_stay_hidden(books: tuple[SnapshotPlace, SnapshotPlace]) -> None:
    """What a policy hides is neither listed as added nor as withdrawn."""
    policy = Policy(hidden=("Salt road", "Lighthouse", "Custom house"))
    guarded = [SnapshotPlace(place.path, policy) for place in books]
    titles = [page.page.title for page in diff_snapshots(*guarded)]
    assert sorted(titles) == ["Harbour", "Lubmin (town)", "Old mill", "Ostrava", "Stone pit of Hohen"]


@pytest.mark.parametrize(
    ("words", "kinds"), [("", CHANGE_KINDS), ("changed", ("changed",)), (" Disputed,added ,", ("added", "disputed"))]
)
def test_kinds_are_named_with_commas(words: str, kinds: tuple[str, ...]) -> None:
    assert checked_kinds(words) == kinds


def test_an_unknown_kind_is_reported() -> None:
    """With those that there are."""
    with pytest.raises(BadUsage, match="'gone' is not a kind of change") as change_texts:
        checked_kinds("added,gone")
    assert change_texts.value.remedy == "Choose one of: added, withdrawn, changed, disputed."
