"""The look of the web interface: enough contrast, nothing that the policy forbids, nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from tests.web.desk.sources import DESK, SCRIPTS, SHEETS, TEMPLATES, markup

MAX_BYTES = 100_000
"""What the first page may weigh with all it loads, unpacked."""

BASE = (DESK / "static" / "css" / "base.css").read_text(encoding="utf-8")
TOKEN = re.compile(r"--([\w-]+):\s*(#[0-9a-f]{3,6})\b", re.IGNORECASE)


def tokens(theme: str) -> dict[str, str]:
    """The colours of a theme by name."""
    light, _, rest = BASE.partition("@media (prefers-color-scheme: dark)")
    dark = rest.partition("\n}")[0]
    return dict(TOKEN.findall(light)) | (dict(TOKEN.findall(dark)) if theme == "dark" else {})


def luminance(colour: str) -> float:
    """How bright a colour is, as WCAG 2 counts it."""
    digits = colour.lstrip("#")
    parts = [
        int(pair, 16) / 255 for pair in (re.findall("..", digits) if len(digits) == 6 else [d * 2 for d in digits])
    ]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_counted_as_wcag_counts_it() -> None:
    """Black on white is 21, a colour on itself 1, and grey #767676 is the lightest that reads on white."""
    assert round(contrast("#000", "#ffffff"), 2) == 21
    assert contrast("#14517c", "#14517c") == 1
    assert contrast("#777777", "#fff") < 4.5 <= contrast("#767676", "#fff")


READ = [
    (text, ground, 4.5)
    for ground, texts in {
        "paper": ("ink", "quiet", "accent", "warn", "good"),
        "field": ("ink", "quiet", "accent", "warn", "good"),
        "warn-field": ("ink", "quiet", "accent", "warn"),
        "good-field": ("ink", "quiet", "accent", "good"),
        "mark": ("ink",),
        "accent": ("on-accent",),
    }.items()
    for text in texts
]
SEEN = [(edge, ground, 3.0) for edge in ("edge", "accent", "warn", "good", "bar") for ground in ("paper", "field")]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("colour", "ground", "least"), [*READ, *SEEN])
def test_colours_have_enough_contrast(theme: str, colour: str, ground: str, least: float) -> None:
    """Text has a contrast of 4.5 to 1 with its background, and the edges of controls of 3 to 1."""
    named = tokens(theme)
    assert contrast(named[colour], named[ground]) >= least, f"{colour} {named[colour]} on {ground} {named[ground]}"


def test_the_dark_theme_has_every_colour() -> None:
    """None is left at its light value, which would shine out of the dark."""
    light, dark = tokens("light"), tokens("dark")
    assert [name for name in light if light[name] == dark[name]] == []


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_colours_have_names(sheet: Path) -> None:
    """Only the first sheet, which is checked, knows colours by their numbers; others know the white below pages."""
    text = sheet.read_text(encoding="utf-8")
    named = {value for _, value in TOKEN.findall(text)}
    used = set(
        re.findall(r"#[0-9a-f]{3,8}\b(?=[^{}]*[;}])", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL), re.IGNORECASE)
    )
    assert used <= (named if sheet.name == "base.css" else {"#fff"})


@pytest.mark.parametrize("path", [*SHEETS, *SCRIPTS], ids=lambda path: path.name)
def test_files_load_nothing_from_elsewhere(path: Path) -> None:
    """Style sheets and scripts know no address of another server, and evaluate no text."""
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?://|@import|url\(\s*['\"]?//", text) == []
    if path.suffix == ".js":
        assert re.findall(r"\beval\(|new Function|setAttribute\(\s*[\"']style|document\.write", text) == []


LOADS = frozenset({"src", "href", "action", "formaction", "poster", "srcset", "data", "xlink:href"})


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_keep_to_the_policy(template: Path) -> None:
    """No style or event in an attribute, no script or style within the page, no address of another server."""
    read = markup(template)
    assert [name for _, name, _ in read.attributes if name == "style" or name.startswith("on")] == []
    assert "".join(read.scripts).strip() == ""
    outside = re.compile(r"\s*(?:[a-z]+:|//)", re.IGNORECASE)
    assert [value for _, name, value in read.attributes if name in LOADS and outside.match(value)] == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_trust_no_markup_of_others(template: Path) -> None:
    """Escaping is never turned off; what is marked safe in a module was built there from escaped parts."""
    source = template.read_text(encoding="utf-8")
    assert re.findall(r"\|\s*safe\b|autoescape\s+false", source) == []


def test_the_first_page_is_light(client: httpx2.Client) -> None:
    """The page, its style sheets, scripts and pictures together are less than 100 KB before they are packed."""
    page = client.get("/")
    weights = {"/": len(page.content)}
    waiting = re.findall(r'<(?:link|script|img)\b[^>]*?(?:href|src)="([^"]+)"', page.text)
    while waiting:
        place = waiting.pop()
        if place in weights:
            continue
        loaded = client.get(place)
        assert loaded.status_code == 200, place
        weights[place] = len(loaded.content)
        if place.endswith(".js"):
            waiting += [urljoin(place, name) for name in re.findall(r"""from\s+["'](\.[^"']+)["']""", loaded.text)]
    assert sum(weights.values()) < MAX_BYTES, weights
