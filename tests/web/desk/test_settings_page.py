"""Settings that the owner changes in the browser: what counts at once, what waits, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.conftest import BookMaker
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.desk.page_text import first, plain
from tests.web.server_with_users import UserServer

from kiwiresearch.web.desk.settings import FIELDS, GROUPS
from kiwiresearch.workspace.settings import defaults

RESEARCH = {"group": "research", "max_pages": "55", "max_depth": "2", "max_links_per_page": "30", "search_books": "2"}


@pytest.fixture
def desk(tmp_path: Path, a_book: BookMaker) -> Iterator[OwnerServer]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text("# Ours.\nmax_depth = 2 # near\n", encoding="utf-8")
    with owner_server(
        home, a_book({"Kite": "<p>A kite is a toy.</p>"}), KIWIRESEARCH_KIWIX_URL="http://127.0.0.1:8080"
    ) as made:
        yield made


@pytest.fixture(scope="module")
def same_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerServer]:
    """For tests that change nothing."""
    home = tmp_path_factory.mktemp("settings")
    (home / "settings.toml").write_text("max_depth = 2\n", encoding="utf-8")
    with owner_server(home, KIWIRESEARCH_KIWIX_URL="http://127.0.0.1:8080") as made:
        yield made


def file_of(desk: OwnerServer) -> str:
    return (desk.home / "settings.toml").read_text(encoding="utf-8")


def test_every_setting_on_the_page_exists() -> None:
    assert [key for key in FIELDS if key not in defaults()] == []
    assert not {"serve.token", "serve.host", "serve.users", "store"} & FIELDS.keys()


def test_a_setting_is_shown_with_its_value_and_where_it_comes_from(same_desk: OwnerServer) -> None:
    page = same_desk.page("/settings")
    assert first(page, "#set-max_depth").attributes["value"] == "2"
    assert "Saved in the settings file." in plain(first(page, "#set-max_depth-hint").text())
    assert "Saved in" not in plain(first(page, "#set-max_pages-hint").text())
    assert "KIWIRESEARCH_KIWIX_URL" in plain(first(page, "#set-kiwix_url-hint").text())
    assert "disabled" in first(page, "#set-kiwix_url").attributes
    assert "None. Answers" in plain(first(page, "#model-state").text())


def test_saving_returns_to_the_page_one_came_from(desk: OwnerServer) -> None:
    """If it is a page of this server; otherwise to the group that was saved, which says so."""
    shown = desk.page("/settings?next=/family%3Fa%3Db")
    assert {one.attributes["value"] for one in shown.css("input[name=next]")} == {"/family?a=b"}
    for came_from, led in (
        ("/family?a=b", "/family?a=b"),
        ("//elsewhere.example", "/"),
        ("https://elsewhere.example", "/"),
        ("", "/settings?saved=research#group-research"),
    ):
        sent = desk.browser.post("/settings", data=RESEARCH | {"next": came_from})
        assert (sent.status_code, sent.headers["location"]) == (303, led)
    page = desk.page("/settings?saved=research")
    (note,) = page.css(".note.good")
    assert first(page, "section[aria-labelledby=group-research] .note.good").text() == note.text() == "Saved."


def test_what_most_people_change_comes_first(same_desk: OwnerServer) -> None:
    """Language, theme, text size and the folder of books are in view; the file and limits are folded at the end."""
    page = same_desk.page("/settings")
    assert [button.attributes["name"] for button in page.css(".own form button:first-of-type")] == [
        "language",
        "theme",
        "size",
    ]
    folded = {node.attributes.get("id") for node in page.css("details input, details textarea")}
    assert "set-serve_books" not in folded
    assert {"set-allow_damaged", "set-serve_requests_a_minute", "set-policy_name"} <= folded
    assert str(same_desk.home) in plain(first(page, "details.advanced").text())


def test_a_wrong_value_in_a_folded_part_is_in_view(same_desk: OwnerServer) -> None:
    reply = same_desk.send("/settings", **RESEARCH | {"max_depth": "two"})
    page = LexborHTMLParser(reply.text)
    field = first(page, "#set-max_depth")
    while field.tag != "details":
        assert field.parent is not None
        field = field.parent
    assert "open" in field.attributes


def test_a_changed_setting_counts_at_once_and_is_saved(desk: OwnerServer) -> None:
    """The form for research offers it; the file keeps its comments and does not get what was not changed."""
    reply = desk.send("/settings", **RESEARCH)
    assert "Saved." in reply.text
    assert file_of(desk) == "# Ours.\nmax_depth = 2 # near\nmax_pages = 55\n"
    assert "up to 55 pages" in desk.browser.get("/research").text
    assert desk.context.workspace.settings.max_pages == 55


def test_a_model_is_set_without_a_restart(desk: OwnerServer) -> None:
    """It is asked from then on, and its key is never shown."""
    typed = {
        "model_url": "http://127.0.0.1:9/v1",
        "model_key": "secret-key",
        "model_timeout_s": "5",
        "model_pages": "8",
    }
    assert desk.send("/settings", group="model", **typed).status_code == 200
    assert desk.context.workspace.settings.model_url == "http://127.0.0.1:9/v1"
    with desk.context.locked_finder() as finder:
        assert finder.helpers.model is not None
    text = desk.browser.get("/settings").text
    assert "secret-key" not in text
    assert "A key is saved." in text
    assert "Not responding" in text
    desk.send("/settings", group="model", **typed | {"model_key": "", "model_url": ""})
    assert desk.context.workspace.settings.model_key == "secret-key", "an empty field keeps it"
    with desk.context.locked_finder() as finder:
        assert finder.helpers.model is None
    desk.send("/settings", group="model", **{"model_timeout_s": "5", "model_pages": "8", "model_key.remove": "on"})
    assert desk.context.workspace.settings.model_key == ""


WRONG = [
    ("research", "max_pages", "0", "Enter a number from 1 to 100,000."),
    ("research", "max_depth", "two", "Enter a number."),
    ("research", "max_depth", "", "Enter a number."),
    ("model", "model_url", "127.0.0.1:8080", "starts with http://"),
    ("library", "serve.max_book_gb", "nan", "Enter a number from 0"),
    ("pages", "serve.theme", "pink", "Choose one"),
    ("policy", "policy.hidden", "Beer\n | \n", "This value cannot be used"),
]


@pytest.mark.parametrize(("group", "key", "value", "expected"), WRONG, ids=[f"{row[1]} {row[2]!r}" for row in WRONG])
def test_a_wrong_value_is_refused_beside_its_field(
    same_desk: OwnerServer, group: str, key: str, value: str, expected: str
) -> None:
    """What was typed stays, and nothing is saved, not even what is right."""
    usual = {
        one.key: "\n".join(found) if isinstance(found := defaults()[one.key], tuple) else str(found)
        for one in GROUPS[group]
        if one.control != "switch"
    }
    before = file_of(same_desk)
    reply = same_desk.send("/settings", group=group, **usual | {key: value})
    assert reply.status_code == 422
    assert expected in reply.text
    assert file_of(same_desk) == before


def test_a_setting_that_needs_a_restart_says_so_and_waits(desk: OwnerServer) -> None:
    reply = desk.send("/settings", group="policy", **{"policy.name": "Lycée Pasteur", "policy.hidden": "Beer"})
    assert "2 saved changes take effect when you restart the server" in reply.text
    assert 'name = "Lycée Pasteur"' in file_of(desk)
    assert desk.context.workspace.settings.policy.name == ""


def test_the_owner_of_families_is_a_switch_that_counts_at_once(desk: OwnerServer) -> None:
    """Without a restart, and both ways."""
    notice = "Editing families is turned off."
    assert notice in desk.browser.get("/family").text
    assert "family_owner = true" not in file_of(desk)
    assert desk.send("/settings", group="family", **{"serve.family_owner": "on"}).status_code == 200
    assert "family_owner = true" in file_of(desk)
    assert notice not in desk.browser.get("/family").text
    desk.send("/settings", group="family")
    assert notice in desk.browser.get("/family").text


def test_what_waits_for_a_restart_is_not_forgotten_when_access_changes(desk: OwnerServer) -> None:
    desk.send("/settings", group="policy", **{"policy.name": "Lycée Pasteur"})
    reply = desk.send("/settings", group="family", **{"serve.family_owner": "on"})
    assert "1 saved change takes effect when you restart the server" in reply.text


def test_holders_of_a_token_cannot_lock_themselves_out(tmp_path: Path) -> None:
    """Where this setting makes them owners, it is not offered, and a form that is sent all the same changes nothing."""
    settings = {"KIWIRESEARCH_SERVE_TOKEN": "a-long-token"}
    (tmp_path / "settings.toml").write_text("[serve]\nfamily_owner = true\n", encoding="utf-8")
    with owner_server(tmp_path, **settings) as desk:
        desk.browser.post("/login", data={"token": "a-long-token"})
        assert "serve.family_owner" not in desk.browser.get("/settings").text
        desk.send("/settings", group="family")
        assert desk.browser.get("/settings").status_code == 200
        assert "family_owner = true" in file_of(desk)


def test_only_the_owner_sees_and_changes_settings(people: UserServer) -> None:
    for name, status in (("rita", 403), ("remy", 403), ("olga", 200)):
        with people.browser(name) as browser:
            assert browser.get("/settings").status_code == status
            assert ('href="/settings"' in browser.get("/books").text) == (status == 200)
    with people.browser("remy") as browser:
        assert browser.post("/settings", data=RESEARCH).status_code == 403


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_the_page_is_there_in_each_language(same_desk: OwnerServer, language: str) -> None:
    assert f'<html lang="{language}"' in same_desk.browser.get("/settings", headers={"Accept-Language": language}).text
