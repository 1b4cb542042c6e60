"""Notes on the desk: written, changed, taken away and brought back with forms alone, or in place by a script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from tests.web.desk.conftest import ARun

from kiwiresearch.runs.note_file import LOCK, NOTES
from kiwiresearch.runs.notes import MAX_REASON, Notes, read_notes
from kiwiresearch.web.notes import claim_target, page_target
from kiwiresearch.web.run_view import RunView, RunViews

OURS = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def noted(a_run: ARun) -> Iterator[ARun]:
    """The run, without notes before and after."""
    _remove_notes(a_run)
    yield a_run
    _remove_notes(a_run)


def _remove_notes(run: ARun) -> None:
    for name in (NOTES, LOCK):
        (run.path / name).unlink(missing_ok=True)


def frame(run: ARun) -> RunView:
    return RunViews(run.runs).get(run.id)


def send(run: ARun, where: str = "", **form: Any) -> httpx2.Response:
    """A form of a note, sent as a browser does."""
    address = f"/runs/{quote(run.id)}/notes{where}"
    return run.client.post(address, data=form, headers=OURS, follow_redirects=False)


def there(run: ARun) -> Notes:
    return read_notes(run.path)


def shown(run: ARun, query: str = "") -> str:
    reply = run.client.get(f"/runs/{quote(run.id)}/notes{query}")
    assert reply.status_code == 200, reply.text
    return reply.text


def test_a_run_without_notes_says_how_to_write_one(noted: ARun) -> None:
    page = shown(noted)
    assert "No notes yet. Write one about the whole brief here" in page
    assert 'name="verdict" value="correct"' in page


def test_a_note_on_a_claim_leads_back_to_where_it_was_written(noted: ARun) -> None:
    """The form goes to its page again, at the notes, and a reload sends nothing twice."""
    claim = frame(noted).claims[0]
    back = f"/runs/{noted.id}/claims/{claim.id}"
    reply = send(noted, kind="claim", target=claim.id, verdict="doubt", reason="No source.", back=back)
    assert (reply.status_code, reply.headers["location"]) == (303, f"{back}#notes")
    (note,) = there(noted).notes
    assert (note.target.kind, note.target.id, note.reason) == ("claim", claim.id, "No source.")
    assert note.about == claim.text[:1000]
    page = shown(noted)
    assert "No source." in page
    assert html.escape(claim.text[:40], quote=True) in page


def test_a_note_on_a_page_and_on_the_run(noted: ARun) -> None:
    """The page is named by its title, also where only its name was sent."""
    page = frame(noted).pages[0]
    assert send(noted, kind="page", target=str(page.source.ref), verdict="agree").status_code == 303
    assert send(noted, kind="run", verdict="correct", correction="So", reason="Because").status_code == 303
    assert [(note.target.kind, note.about) for note in there(noted).notes] == [
        ("page", page.title),
        ("run", frame(noted).topic),
    ]


WRONG = [
    ({"verdict": "doubt"}, "Enter a reason"),
    ({"verdict": "correct", "reason": "It is wrong"}, "Enter the correct wording"),
    ({"reason": "It is wrong"}, "Choose “Agree”, “Doubt” or “Needs correction”"),
    ({"verdict": "agree", "reason": "x" * (MAX_REASON + 1)}, "up to 2,000 characters in each field"),
]


@pytest.mark.parametrize(("form", "expected"), WRONG)
def test_an_incomplete_note_is_shown_again_with_what_was_typed(
    noted: ARun, form: dict[str, str], expected: str
) -> None:
    """Nothing is saved, nothing typed is lost, and the page says what to do."""
    reply = send(noted, kind="run", back="/research", **form)
    assert reply.status_code == 400
    assert expected in html.unescape(reply.text)
    assert form.get("reason", "") in reply.text
    assert 'value="/research"' in reply.text
    assert there(noted).notes == ()


def test_a_script_gets_the_error_as_text(noted: ARun) -> None:
    """It shows the error beside the form, which keeps what was typed."""
    reply = send(noted, kind="run", verdict="doubt", in_place="true")
    assert (reply.status_code, reply.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert reply.text.startswith("Enter a reason")


def test_a_script_gets_the_notes_to_put_in_place(noted: ARun) -> None:
    """The part of the page, whose forms lead back to the page itself."""
    claim = frame(noted).claims[0]
    back = f"/runs/{noted.id}/claims/{claim.id}"
    reply = send(noted, kind="claim", target=claim.id, verdict="agree", reason="Yes.", back=back, in_place="true")
    assert reply.status_code == 200
    assert reply.text.lstrip().startswith("<section")
    assert "Yes." in reply.text
    assert f'name="back" value="{back}"' in reply.text


def test_a_note_is_changed_taken_away_and_brought_back(noted: ARun) -> None:
    """Each with a form, and each can be undone."""
    send(noted, kind="run", verdict="doubt", reason="First")
    (note,) = there(noted).notes
    assert send(noted, f"/{note.id}", verdict="agree", reason="Second").status_code == 303
    assert [one.reason for one in there(noted).notes] == ["Second"]
    assert send(noted, f"/{note.id}/remove").status_code == 303
    assert there(noted).notes == ()
    assert "1 deleted note" in shown(noted)
    assert send(noted, f"/{note.id}/restore").status_code == 303
    assert [one.reason for one in there(noted).notes] == ["Second"]


def test_a_change_that_lacks_something_comes_back_too(noted: ARun) -> None:
    send(noted, kind="run", verdict="agree", reason="First")
    (note,) = there(noted).notes
    reply = send(noted, f"/{note.id}", verdict="correct", reason="Typed with care")
    assert reply.status_code == 400
    assert f'action="/runs/{noted.id}/notes/{note.id}"' in reply.text
    assert "Typed with care" in reply.text


def test_a_change_from_another_window_is_not_written_over(noted: ARun) -> None:
    """Both versions are shown, and only a request that has seen both overwrites; the same change sent twice is one."""
    send(noted, kind="run", verdict="doubt", reason="First")
    (note,) = there(noted).notes
    assert f'name="seen" value="{note.version}"' in shown(noted)
    form = {"verdict": "doubt", "seen": note.version}
    for _ in range(2):
        assert send(noted, f"/{note.id}", reason="Said in one window", **form).status_code == 303
    late = send(noted, f"/{note.id}", reason="Said in the other", **form)
    assert late.status_code == 409
    assert "Said in one window" in late.text
    assert "Said in the other" in late.text
    assert [one.reason for one in there(noted).notes] == ["Said in one window"]
    assert send(noted, f"/{note.id}", reason="x", in_place="true", **form).status_code == 409
    (note,) = there(noted).notes
    assert f'name="seen" value="{note.version}"' in late.text
    assert send(noted, f"/{note.id}", verdict="doubt", reason="Both", seen=note.version).status_code == 303


@pytest.mark.parametrize("in_place", ["", "true"])
def test_a_note_that_cannot_be_written_is_not_lost(noted: ARun, in_place: str) -> None:
    """It comes back with the reason and what to do, and a script shows just these beside the form."""
    (noted.path / NOTES).mkdir()
    try:
        form = {"in_place": in_place} if in_place else {}
        reply = send(noted, kind="run", verdict="doubt", reason="Typed with care", **form)
    finally:
        (noted.path / NOTES).rmdir()
    assert reply.status_code == 503
    assert "Move it to another folder." in reply.text
    assert ("Typed with care" in reply.text) == (not in_place)


def test_notes_are_filtered_by_their_verdict(noted: ARun) -> None:
    send(noted, kind="run", verdict="doubt", reason="A doubtful thing")
    send(noted, kind="run", verdict="agree", reason="A certain thing")
    assert "A certain thing" not in shown(noted, "?verdict=doubt")
    assert "A doubtful thing" in shown(noted, "?verdict=doubt")
    assert "No notes of this kind" in shown(noted, "?verdict=correct")
    assert "Doubtful (1)" in shown(noted)
    assert "A certain thing" in shown(noted, "?page=999"), "whoever asks for more gets the last page"


def test_damaged_lines_are_reported_on_the_page(noted: ARun) -> None:
    send(noted, kind="run", verdict="agree", reason="Still here")
    with (noted.path / NOTES).open("a", encoding="utf-8") as stream:
        stream.write("what is this\n")
    page = shown(noted)
    assert "1 line in the file notes.jsonl cannot be read" in page
    assert "Still here" in page


STRANGE = [
    ({"kind": "claim", "target": "sha256:0"}, 404),
    ({"kind": "page", "target": "zim://other/Page"}, 400),
    ({"kind": "page", "target": "nonsense"}, 400),
    ({"kind": "book", "target": "x"}, 400),
    ({}, 400),
]


@pytest.mark.parametrize(("form", "status"), STRANGE)
def test_a_note_on_something_else_is_refused(noted: ARun, form: dict[str, str], status: int) -> None:
    """Only what the run knows can have a note beside it."""
    assert send(noted, **form, verdict="agree").status_code == status
    assert there(noted).notes == ()


def test_no_note_leads_to_another_site(noted: ARun) -> None:
    for back in ("https://example.org/", "//example.org", "/\\example.org"):
        reply = send(noted, kind="run", verdict="agree", back=back)
        assert reply.headers["location"] == "/#notes"


def test_runs_and_notes_that_are_not_there(noted: ARun) -> None:
    client = noted.client
    assert client.get("/runs/none/notes").status_code == 404
    assert client.post("/runs/none/notes", data={"kind": "run"}, headers=OURS).status_code == 404
    assert send(noted, "/note-0/remove").status_code == 404


def test_every_field_has_its_own_label(noted: ARun) -> None:
    """Several forms are on one page, and no name of a field is given twice."""
    for number in range(3):
        send(noted, kind="run", verdict="doubt", reason=f"Doubt {number}")
    page = shown(noted)
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'\bfor="([^"]+)"', page)) <= set(names)


def test_targets_lead_to_where_they_are_read(a_run: ARun) -> None:
    """To the claim in its run, and to the page beside it."""
    run = frame(a_run)
    claim, page = run.claims[0], run.pages[0]
    assert claim_target(run, claim).url == run.claim_url(claim.id)
    assert page_target(run, page.source.ref).url == run.page_url(page.source.ref)
    assert page_target(run, page.source.ref).words == page.title
