"""Turning on sign-in, signing in with a name and a password, and handing passwords out, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from tests.browser.conftest import OpenWindow
from tests.web.desk.owner_servers import owner_server
from tests.web.server_with_users import UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT

from kiwiresearch.store import passwords as hashing
from kiwiresearch.store.passwords import Cost, PasswordHash
from kiwiresearch.web.guard import passwords as door

PHONE: ViewportSize = {"width": 390, "height": 844}
RIGHT = "sun over the sea"


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserServer]:
    """A server with users, whose hashes take no time."""
    with (
        pytest.MonkeyPatch.context() as patch,
        user_server(tmp_path_factory.mktemp("school"), **NO_RATE_LIMIT) as people,
    ):
        cost = Cost(16, 1, 1)
        patch.setattr(hashing, "COST", cost)
        patch.setattr(door, "COST", cost)
        patch.setattr(door, "NO_PASSWORD", PasswordHash(cost, b"0" * 16, b""))
        for name in ("olga", "rita", "remy"):
            people.register.set_password(name, RIGHT)
        yield people


def sign_in(page: Page, name: str, password: str = RIGHT) -> None:
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").first.click()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_signing_in_and_out_by_keyboard(school: UserServer, open_window: OpenWindow, *, script: bool) -> None:
    """The name has the focus; a wrong password keeps the name; the page that was wanted opens; signing out ends it."""
    window = open_window(school.address, script=script)
    window.rough = True  # a wrong password is a 401
    page = window.page
    page.set_viewport_size(PHONE)
    window.go("/find?q=sunset")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("rita")
    page.keyboard.press("Tab")
    page.keyboard.type("not this one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The name or password is not correct")
    expect(page.get_by_label("Name")).to_have_value("rita")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    window.fits()
    if script:
        assert window.violations() == []
    page.keyboard.type(RIGHT)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/find\?q=sunset"))
    page.get_by_role("button", name="Sign out").press("Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    window.go("/find")
    expect(page).to_have_url(re.compile("/login"))


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_an_owner_turns_on_sign_in(new_home: Path, open_window: OpenWindow, *, script: bool) -> None:
    """From Settings, with the keyboard after a slip; this browser is signed in at once, and another has to sign in."""
    with owner_server(new_home) as desk:
        desk.browser.get("/books", timeout=120)  # opens the book, which takes a while on a busy machine
        window = open_window(desk.address, script=script)
        window.rough = True  # a form that cannot be carried out is a 400
        page = window.go("/settings")
        expect(page.get_by_role("heading", name="Users and classes")).to_be_visible()
        page.get_by_role("link", name="Turn on sign-in").click()
        expect(page.get_by_text("From now on, everyone has to sign in")).to_be_visible()
        if script:
            assert window.violations() == []
        page.get_by_label("Your name").fill("Ms Roux")
        page.get_by_label("Password", exact=True).fill(RIGHT)
        page.get_by_label("Confirm password").fill("sun over the see")
        page.get_by_role("button", name="Turn on sign-in").click()
        expect(page.get_by_role("alert")).to_contain_text("are not the same")
        expect(page.get_by_label("Your name")).to_have_value("Ms Roux")
        page.set_viewport_size(PHONE)
        window.fits()
        if script:
            assert window.violations() == []
        page.get_by_label("Password", exact=True).fill(RIGHT)
        page.get_by_label("Confirm password").fill(RIGHT)
        page.keyboard.press("Enter")
        expect(page.get_by_text("You are signed in as Ms Roux.")).to_be_visible()
        expect(page.get_by_role("heading", name="Add a class")).to_be_visible()
        window.fits()
        if script:
            assert window.violations() == []
        other = open_window(desk.address, script=script, dark=True)
        shown = other.go("/find")
        expect(shown.get_by_role("heading", name="Sign in")).to_be_visible()
        sign_in(shown, "ms roux")
        expect(shown).to_have_url(re.compile("/find"))
        other.go("/settings")
        shown.get_by_role("link", name="Manage users and classes").click()
        expect(shown.get_by_role("heading", name="Add a class")).to_be_visible()


def test_the_sign_in_page_can_be_used_by_everybody(school: UserServer, open_window: OpenWindow) -> None:
    """Password managers know its fields, it is readable in the dark, and a token is entered without a mouse."""
    for dark in (False, True):
        window = open_window(school.address, dark=dark)
        page = window.go("/login")
        assert window.violations() == []
    fields = page.locator("main input:not([type=hidden])").evaluate_all("all => all.map(one => one.autocomplete)")
    assert fields == ["username", "current-password", "off"]
    expect(page.get_by_label("Token")).to_be_hidden()
    for key in ("Tab", "Tab", "Tab", "Enter", "Tab"):  # past password and button, into the fold
        page.keyboard.press(key)
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.insert_text(school.tokens["remy"])
    page.keyboard.press("Enter")
    expect(page.get_by_text("Signed in as remy")).to_be_visible()


def test_after_wrong_passwords_the_page_says_when_to_try_again(school: UserServer, open_window: OpenWindow) -> None:
    window = open_window(school.address, script=False)
    window.rough = True
    page = window.go("/login")
    for _ in range(11):
        sign_in(page, "remy", "not this one")
    expect(page.get_by_role("alert")).to_have_text(re.compile(r"Too many wrong attempts. Try again in \d+ seconds?\."))
    sign_in(page, "rita")
    expect(page.get_by_text("Signed in as rita")).to_be_visible()


def test_a_teacher_adds_a_class_and_a_pupil_changes_the_password(school: UserServer, open_window: OpenWindow) -> None:
    """The sheet has a slip for each pupil and prints without the rest; the pupil then chooses another password."""
    window = open_window(school.address)
    page = window.go("/login")
    sign_in(page, "olga")
    window.go("/people")
    assert window.violations() == []
    page.get_by_label("Names").fill("Ana\nZoë Kim")
    page.locator("#new-class ~ form").get_by_label("researcher").check()
    page.get_by_role("button", name="Add class and show the sheet").click()
    expect(page.locator(".slips li")).to_have_count(2)
    assert window.violations() == []
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator("[data-print]")).to_be_hidden()
    expect(page.get_by_text("Print this page now")).to_be_hidden()
    expect(page.locator(".slips li").last).to_contain_text("Zoë Kim")
    expect(page.locator(".slips li .blank")).to_have_count(2)
    given = page.locator(".slips code").last.inner_text()

    pupil = open_window(school.address, phone=True)
    shown = pupil.go("/login")
    sign_in(shown, "zoë kim", given)
    expect(shown.get_by_text("Signed in as Zoë Kim (researcher)")).to_be_visible()
    shown.get_by_role("link", name="Change password").click()
    pupil.fits()
    assert pupil.violations() == []
    shown.get_by_label("Current password").fill(given)
    shown.get_by_label("New password", exact=True).fill("owls in the attic")
    shown.get_by_label("Confirm new password").fill("owls in the attic")
    shown.get_by_role("button", name="Change password").click()
    expect(shown.get_by_role("status").filter(has_text="Your password was changed.")).to_be_visible()
    window.go("/people/Zo%C3%AB%20Kim")
    page.set_viewport_size(PHONE)
    window.fits()
    assert window.violations() == []


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_teacher_gives_a_link_and_a_pupil_signs_in_with_it(
    school: UserServer, open_window: OpenWindow, *, script: bool
) -> None:
    """A button copies the link where scripts run, and the field can be selected elsewhere; the pupil clicks once."""
    window = open_window(school.address, script=script)
    page = window.go("/login")
    sign_in(page, "olga")
    window.go("/people/rita")
    page.get_by_label("A link is valid for").select_option(label="1 hour")
    page.get_by_role("button", name="Create sign-in link").click()
    field = page.get_by_label("Sign-in link for rita:")
    link = field.input_value()
    assert link.startswith(f"{school.address}/link/")
    copy = page.get_by_role("button", name=re.compile("Copy link|Copied"))
    if script:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        copy.click()
        expect(copy).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == link
        assert window.violations() == []
    else:
        expect(copy).to_be_hidden()
    page.set_viewport_size(PHONE)
    window.fits()

    pupil = open_window(school.address, phone=True, dark=True, script=script)
    shown = pupil.go(link.removeprefix(school.address))
    expect(shown.get_by_role("heading", name="Sign in as rita")).to_be_visible()
    pupil.fits()
    if script:
        assert pupil.violations() == []
    expect(shown.get_by_role("button", name="Sign in")).to_be_focused()
    shown.keyboard.press("Enter")
    expect(shown.get_by_text("Signed in as rita")).to_be_visible()
    pupil.rough = True  # a used link is a 404
    pupil.go(link.removeprefix(school.address))
    expect(shown.get_by_role("heading", name="This link does not work")).to_be_visible()
    pupil.fits()


def test_the_sheet_of_a_class_has_links(school: UserServer, open_window: OpenWindow) -> None:
    """Each slip fits on a phone, too, and the sheet prints without the rest."""
    window = open_window(school.address, dark=True)
    page = window.go("/login")
    sign_in(page, "olga")
    window.go("/people")
    section = page.get_by_role("region", name="Add a class")
    section.get_by_label("Names").fill("Ida\nJun")
    section.get_by_label("Sign-in link").check()
    section.get_by_label("A link is valid for").select_option(label="1 week")
    section.get_by_role("button", name="Add class and show the sheet").click()
    expect(page.locator(".slips li")).to_have_count(2)
    expect(page.locator(".slips code").first).to_contain_text(f"{school.address}/link/")
    assert window.violations() == []
    page.set_viewport_size(PHONE)
    window.fits()
    page.emulate_media(media="print")
    expect(page.get_by_text("the links are shown only once")).to_be_hidden()
