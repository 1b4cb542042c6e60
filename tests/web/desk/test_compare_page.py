"""Comparing two runs on the desk: what they were made from, and each claim that is new, gone or changed."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator

import httpx2
import pytest
from tests.diff.compared_runs import two_snapshots
from tests.web.desk.conftest import ARun, TwoRuns

from kiwiresearch.messages.catalogue import catalogue_in
from kiwiresearch.web.run_view import RunViews

OLD, NEW = "snapshot-old", "snapshot-new"


@pytest.fixture(scope="module")
def snapshots(a_run: ARun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """Runs over two snapshots of a book that this server does not have, put into its folder."""
    made = two_snapshots(tmp_path_factory.mktemp("snapshots"))
    places = [a_run.runs / name for name in (OLD, NEW)]
    for source, place in zip(made, places, strict=True):
        shutil.copytree(source, place)
    yield a_run.client
    for place in places:
        shutil.rmtree(place)


def page_of(client: httpx2.Client, **query: str | int) -> str:
    reply = client.get("/compare", params={name: str(value) for name, value in query.items()})
    assert reply.status_code == 200, reply.text
    return reply.text


def text_of(page: str) -> str:
    """What a reader sees, spaces aside."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_without_runs_the_page_offers_them(two_runs: TwoRuns) -> None:
    page = page_of(two_runs.client)
    assert page.count(f'value="{two_runs.old}"') == 2
    assert "such as the same topic with different settings" in page


def test_of_two_runs_both_are_chosen(two_runs: TwoRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    """With exactly two there is nothing to choose; with one named, the other one is on the other side."""
    all_runs = RunViews.all
    wanted = {two_runs.old, two_runs.new}
    monkeypatch.setattr(RunViews, "all", lambda self: [run for run in all_runs(self) if run.id in wanted])
    for query in ({}, {"new": two_runs.old}):
        chosen = re.findall(r'value="([^"]+)" selected', page_of(two_runs.client, **query))
        assert set(chosen) == wanted
        assert len(chosen) == 2


def test_what_is_counted_is_said(two_runs: TwoRuns) -> None:
    """The sentences of the two briefs come first, then all claims of the pages, with what counts as one."""
    page = page_of(two_runs.client, old=two_runs.old, new=two_runs.new)
    assert "not only those in the briefs" in page
    assert page.index('id="briefs"') < page.index('id="claims"')


PROBLEMS = [
    ({"old": "{old}"}, 200, "Choose a second brief"),
    ({"old": "{old}", "new": "{old}"}, 200, "the same brief twice"),
    ({"old": "{old}", "new": "never-made"}, 404, "was not found or is not finished"),
    ({"old": "../..", "new": "{old}"}, 404, "was not found or is not finished"),
]


@pytest.mark.parametrize(("query", "status", "expected"), PROBLEMS)
def test_runs_that_cannot_be_compared_are_explained(
    two_runs: TwoRuns, query: dict[str, str], status: int, expected: str
) -> None:
    """The lists are shown again, with what was chosen and what to do."""
    asked = {side: name.format(old=two_runs.old) for side, name in query.items()}
    reply = two_runs.client.get("/compare", params=asked)
    assert reply.status_code == status
    assert expected in reply.text
    assert "selected" in reply.text


def test_differing_settings_are_shown(two_runs: TwoRuns) -> None:
    """Those that differ, the pages that only one run read, and the claims from them."""
    page = text_of(page_of(two_runs.client, old=two_runs.old, new=two_runs.new))
    assert "Focus none drought" in page
    assert "Maximum number of pages 6 9" in page
    assert "same in both" in page
    assert re.search(r"\b[1-9]\d* pages? read only for the newer brief\b", page)
    assert "page not read for the older brief" in page
    assert re.search(
        r"Claims on pages read for only one of the two briefs: [1-9]\d* in the newer, \d+ in the older\.", page
    )


def test_settings_are_shown_by_their_names_in_the_form(a_run: ARun) -> None:
    """What the program calls 'bfs' is shown by its name in the research form."""
    copy = a_run.runs / "near-first"
    shutil.copytree(a_run.path, copy)
    data = json.loads((copy / "manifest.json").read_text())
    data["settings"] |= {"strategy": "bfs", "filters": data["settings"]["filters"] | {"lists": "exclude"}}
    (copy / "manifest.json").write_text(json.dumps(data))
    try:
        page = text_of(page_of(a_run.client, old=a_run.id, new="near-first"))
    finally:
        shutil.rmtree(copy)
    assert "Which page to read next the best page first the closest pages first" in page
    assert "List pages lower score skipped" in page


ODD = ["NaN", "Infinity", "-1e999", "[NaN, [1]]", '{"a": NaN}', "true", "null", "12", '"\\ud800<b>"', "[]", '""']


@pytest.mark.parametrize("odd", ODD)
def test_a_damaged_setting_does_no_harm(a_run: ARun, odd: str) -> None:
    """Whatever somebody wrote into a manifest, the page is shown, and programs get JSON."""
    copy = a_run.runs / "odd"
    shutil.copytree(a_run.runs / a_run.id, copy)
    try:
        manifest = json.loads((copy / "manifest.json").read_text())
        manifest |= {
            "topic": "odd",
            "focus": "odd",
            "aspect": "odd",
            "settings": {"strategy": "odd", "filters": {"lists": "odd"}},
        }
        (copy / "manifest.json").write_text(json.dumps(manifest).replace('"odd"', odd))
        page_of(a_run.client, old=a_run.id, new="odd")
        reply = a_run.client.get("/api/compare", params={"old": a_run.id, "new": "odd"})
        assert reply.status_code == 200
        json.loads(reply.text, parse_constant=pytest.fail)
    finally:
        shutil.rmtree(copy)


def test_a_kind_without_changes_is_not_a_link(two_runs: TwoRuns) -> None:
    """Two settings of one book change no number, and no link leads to an empty list."""
    page = page_of(two_runs.client, old=two_runs.old, new=two_runs.new)
    start = page.index("counts")
    counts = page[start : page.index("</p>", start)]
    assert re.search(r"The older brief has [\d,]+ claims and the newer one [\d,]+:", counts)
    assert "unchanged claims" in counts
    assert "different numbers" not in counts
    empty = page_of(two_runs.client, old=two_runs.old, new=two_runs.new, show="numbers")
    assert "No differences of this kind." in empty


def test_snapshots_of_a_book_are_compared_claim_by_claim(snapshots: httpx2.Client) -> None:
    """Numbers come first, and the words that differ are marked on both sides."""
    page = page_of(snapshots, old=OLD, new=NEW)
    assert "two editions of the same book, 1 January 2026 and 1 March 2026" in text_of(page)
    assert "<del>118</del>" in page
    assert "<ins>121</ins>" in page
    assert "<del>may have been</del>" in page
    assert page.index("<del>118</del>") < page.index("<del>may have been</del>")
    assert "hedged differently" in page
    assert "A lighthouse was built" in page
    assert "an older track existed" in page


@pytest.mark.parametrize(
    ("kind", "has", "lacks"),
    [
        ("numbers", "<ins>121</ins>", "lighthouse"),
        ("changed", "<del>may have been</del>", "<ins>121</ins>"),
        ("new", "lighthouse", "older track"),
        ("gone", "older track", "lighthouse"),
    ],
)
def test_differences_are_filtered_by_their_kind(snapshots: httpx2.Client, kind: str, has: str, lacks: str) -> None:
    page = page_of(snapshots, old=OLD, new=NEW, show=kind)
    listed = page.partition('class="differences"')[2].partition("</section>")[0]
    assert has in listed
    assert lacks not in listed


def test_equal_runs_are_reported_as_equal(a_run: ARun) -> None:
    """A copy of a run differs in nothing."""
    copy = a_run.runs / "a-copy"
    shutil.copytree(a_run.path, copy)
    try:
        page = page_of(a_run.client, old=a_run.id, new="a-copy")
    finally:
        shutil.rmtree(copy)
    assert "The two briefs are the same" in page


def test_snapshots_in_the_wrong_order_are_reported(snapshots: httpx2.Client) -> None:
    """The older snapshot belongs on the older side; one link swaps them."""
    page = page_of(snapshots, old=NEW, new=OLD)
    assert "The brief chosen as older was made from the newer edition of the book." in page
    assert f"/compare?old={OLD}&amp;new={NEW}" in page
    assert "newer edition of the book." not in page_of(snapshots, old=OLD, new=NEW)


def test_many_differences_have_pages(two_runs: TwoRuns) -> None:
    """No difference is on two of them, and the last leads no further."""
    query = {"old": two_runs.old, "new": two_runs.new}
    first, second = (page_of(two_runs.client, **query, page=number) for number in (1, 2))
    claims = [set(re.findall(r'<a href="(/runs/[^"]+/claims/[^"]+)">View claim', page)) for page in (first, second)]
    assert len(claims[0]) == 25
    assert not claims[0] & claims[1]
    assert 'rel="next"' in first
    assert 'rel="prev"' in second
    beyond = page_of(two_runs.client, **query, page=90_000)
    assert re.search(r"Page (\d+) of \1\b", text_of(beyond)), "whoever asks for more gets the last"
    assert 'class="card difference' in beyond


def test_pages_of_missing_books_are_not_links(snapshots: httpx2.Client, two_runs: TwoRuns) -> None:
    assert 'href="/page/' not in page_of(snapshots, old=OLD, new=NEW)
    assert 'href="/page/' in page_of(two_runs.client, old=two_runs.old, new=two_runs.new)


def test_the_box_of_a_page_is_named_in_the_readers_language(two_runs: TwoRuns) -> None:
    """The infobox is not a section of the page, and its name does not come from the book."""
    query = {"old": two_runs.old, "new": two_runs.new}
    found = {}
    for language in ("en", "es"):
        some = [
            two_runs.client.get("/compare", params={**query, "page": str(page)}, headers={"Accept-Language": language})
            for page in (1, 2, 3)
        ]
        found[language] = "".join(reply.text for reply in some)
    assert "· infobox<" in found["en"]
    assert f"· {catalogue_in('es')('desk.box')}<" in found["es"]
    assert "· infobox<" not in found["es"]
