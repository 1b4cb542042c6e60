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
    assert "Choose two finished runs" in page


PROBLEMS = [
    ({"old": "{old}"}, 200, "Choose a second run"),
    ({"old": "{old}", "new": "{old}"}, 200, "the same run twice"),
    ({"old": "{old}", "new": "never-made"}, 404, "is not here"),
    ({"old": "../..", "new": "{old}"}, 404, "is not here"),
]


@pytest.mark.parametrize(("query", "status", "told"), PROBLEMS)
def test_what_cannot_be_compared_is_told_with_what_to_do(
    two_runs: TwoRuns, query: dict[str, str], status: int, told: str
) -> None:
    """The lists are there again, with what was chosen."""
    asked = {side: name.format(old=two_runs.old) for side, name in query.items()}
    reply = two_runs.client.get("/compare", params=asked)
    assert reply.status_code == status
    assert told in reply.text
    assert "selected" in reply.text


def test_other_settings_are_told(two_runs: TwoRuns) -> None:
    """Those that differ, the pages that only one run read, and the claims they brought."""
    page = text_of(page_of(two_runs.client, old=two_runs.old, new=two_runs.new))
    assert "Words that matter most none drought" in page
    assert "Pages at most 6 9" in page
    assert "the same in both" in page
    assert "read by the newer run only" in page
    assert "the older run did not read this page" in page
    assert re.search(r"On pages that only one of the two runs has read: [1-9]\d* new, \d+ gone\.", page)


def test_settings_are_told_in_words(a_run: ARun) -> None:
    """What the program calls 'bfs' is told as the form for research tells it."""
    copy = a_run.runs / "near-first"
    shutil.copytree(a_run.path, copy)
    told = json.loads((copy / "manifest.json").read_text())
    told["settings"] |= {"strategy": "bfs", "filters": told["settings"]["filters"] | {"lists": "exclude"}}
    (copy / "manifest.json").write_text(json.dumps(told))
    try:
        page = text_of(page_of(a_run.client, old=a_run.id, new="near-first"))
    finally:
        shutil.rmtree(copy)
    assert "Order of the pages the best page next near pages first" in page
    assert "List pages fewer points left out" in page


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


def test_a_kind_of_which_there_is_nothing_is_no_link(two_runs: TwoRuns) -> None:
    """Two settings of one book change no number, and no link leads to an empty list."""
    page = page_of(two_runs.client, old=two_runs.old, new=two_runs.new)
    counts = page[page.index('class="counts"') : page.index("</ul>", page.index('class="counts"'))]
    assert "<b>0</b>" in counts
    assert not re.search(r"<a [^>]+><b>0</b>", counts)
    empty = page_of(two_runs.client, old=two_runs.old, new=two_runs.new, show="numbers")
    assert "There is no such difference." in empty


def test_snapshots_of_a_book_are_compared_claim_by_claim(snapshots: httpx2.Client) -> None:
    """Numbers come first, and the words that differ are marked on both sides."""
    page = page_of(snapshots, old=OLD, new=NEW)
    assert "two snapshots of one book, 1 January 2026 and 1 March 2026" in text_of(page)
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
    listed = page[page.index('class="differences"') : page.index('id="briefs"')]
    assert has in listed
    assert lacks not in listed


def test_runs_that_say_the_same_are_told_so(a_run: ARun) -> None:
    """A copy of a run differs in nothing."""
    copy = a_run.runs / "a-copy"
    shutil.copytree(a_run.path, copy)
    try:
        page = page_of(a_run.client, old=a_run.id, new="a-copy")
    finally:
        shutil.rmtree(copy)
    assert "Both runs say the same" in page


def test_the_wrong_way_round_is_told(snapshots: httpx2.Client) -> None:
    """The older snapshot belongs on the older side; one link turns the comparison."""
    page = page_of(snapshots, old=NEW, new=OLD)
    assert "has the newer snapshot of the book" in page
    assert f"/compare?old={OLD}&amp;new={NEW}" in page
    assert "has the newer snapshot" not in page_of(snapshots, old=OLD, new=NEW)


def test_many_differences_have_pages(two_runs: TwoRuns) -> None:
    """No difference is on two of them, and the last leads no further."""
    query = {"old": two_runs.old, "new": two_runs.new}
    first, second = (page_of(two_runs.client, **query, page=number) for number in (1, 2))
    claims = [set(re.findall(r'<a href="(/runs/[^"]+/claims/[^"]+)">The claim', page)) for page in (first, second)]
    assert len(claims[0]) == 25
    assert not claims[0] & claims[1]
    assert 'rel="next"' in first
    assert 'rel="prev"' in second
    beyond = page_of(two_runs.client, **query, page=90_000)
    assert re.search(r"Page (\d+) of \1\b", text_of(beyond)), "whoever asks for more gets the last"
    assert 'class="card difference' in beyond


def test_pages_of_books_that_are_not_here_are_no_links(snapshots: httpx2.Client, two_runs: TwoRuns) -> None:
    assert 'href="/page/' not in page_of(snapshots, old=OLD, new=NEW)
    assert 'href="/page/' in page_of(two_runs.client, old=two_runs.old, new=two_runs.new)


def test_the_box_of_a_page_is_named_in_the_readers_language(two_runs: TwoRuns) -> None:
    """It is no section of the page, and its name no word of the book."""
    query = {"old": two_runs.old, "new": two_runs.new}
    found = {}
    for language in ("en", "fr"):
        some = [
            two_runs.client.get("/compare", params={**query, "page": str(page)}, headers={"Accept-Language": language})
            for page in (1, 2, 3)
        ]
        found[language] = "".join(reply.text for reply in some)
    assert "· facts box<" in found["en"]
    assert f"· {catalogue_in('fr')('desk.box')}<" in found["fr"]
    assert "facts box" not in found["fr"]
