"""Colours that a reader chooses: kept in a cookie, and there before anything is drawn."""

from __future__ import annotations

import re

import httpx2
from tests.web.servers import browser_client

from kiwiresearch.web.desk.static_files import static_files


def html_of(browser: httpx2.Client, path: str = "/ask") -> str:
    return browser.get(path).text


def test_a_reader_chooses_colours_on_every_page(server: str) -> None:
    """The choice is an attribute of the page itself, so nothing flashes, and leads back to where it was made."""
    with browser_client(server) as browser:
        assert "data-theme" not in html_of(browser)
        assert 'content="light dark"' in html_of(browser)
        for theme in ("dark", "light"):
            led = browser.post("/theme", data={"theme": theme, "back": "/find?q=sky"})
            assert (led.status_code, led.headers["location"]) == (303, "/find?q=sky")
            assert f'data-theme="{theme}"' in html_of(browser)
            assert f'name="color-scheme" content="{theme}"' in html_of(browser)
            assert re.search(rf'value="{theme}"[^>]* aria-current="true"', html_of(browser))
        browser.post("/theme", data={"theme": "system"})
        assert "data-theme" not in html_of(browser)


def test_a_choice_that_is_none_changes_nothing(server: str) -> None:
    with browser_client(server) as browser:
        browser.post("/theme", data={"theme": "dark"})
        led = browser.post("/theme", data={"theme": '"><b>', "back": "//elsewhere.example"})
        assert led.status_code == 422 or led.headers["location"] == "/"
        browser.cookies.set("kiwiresearch_theme", "pink", domain="127.0.0.1")
        assert "pink" not in html_of(browser)


def test_dark_colours_are_the_same_by_choice_and_by_system() -> None:
    """A style sheet names them once; what is served has them for both, and light by choice keeps the system's out."""
    served = static_files()["css/base.css"].content.decode()
    by_system = re.search(r"dark\) \{\s*:root:not\(\[data-theme=light\]\) \{([^}]*)\}", served)
    by_choice = re.search(r":root\[data-theme=dark\] \{([^}]*--paper[^}]*)\}", served)
    assert by_system is not None
    assert by_choice is not None
    assert by_system[1] == by_choice[1]
