"""Plugins: what a file may say, what is wrong with one, and which ones there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kin.source_site import SITE_PLUGIN, plugin_in

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.sources.registry import KnownPlugin, check_plugin, load_plugins, read_plugin, read_registry

EXAMPLE = """\
# Source Plugin: Find-a-Grave
plugin_id: find_a_grave
display_name: "Find a Grave"
tier: 0
base_url: "https://www.findagrave.com"

compliance:
  robots_txt: true
  rate_limit_requests_per_minute: 10
  rate_limit_burst: 3
  cache_ttl_seconds: 86400
  requires_auth: false
  tos_url: "https://www.findagrave.com/terms"

reliability:
  evidence_type: "secondary"
  base_weight: 0.7
  user_contributed: true

extraction_rules:
  person:
    name:
      selector: "h1#bio-name"
      type: "text"
      required: true
    birth_date:
      selector: "#birthDateLabel"
      type: "date"
      format: "fuzzy"
    death_date:
      selector: "#deathDateLabel"
      type: "date"
      format: "fuzzy"
    burial_place:
      selector: "#cemeteryNameLabel"
      type: "text"

search:
  endpoint: "/memorial/search"
  method: "GET"
  params:
    firstname: "{given_name}"
    lastname: "{surname}"
    birthyear: "{birth_year}"
    deathyear: "{death_year}"
  result_selector: ".memorial-item"

pagination:
  type: "page_number"
  param: "page"
  max_pages: 10
"""


def test_the_example_is_valid_unchanged(tmp_path: Path) -> None:
    """The example of the plugin format is read without a change, each key as it says (R362-R373)."""
    plugin = plugin_in(tmp_path, EXAMPLE)
    assert (plugin.plugin_id, plugin.display_name, plugin.tier) == ("find_a_grave", "Find a Grave", 0)
    assert plugin.base_url == "https://www.findagrave.com"
    rules = plugin.compliance
    assert (rules.rate_limit_requests_per_minute, rules.rate_limit_burst, rules.cache_ttl_seconds) == (10, 3, 86400)
    assert (rules.robots_txt, rules.requires_auth, rules.tos_url) == (True, False, "https://www.findagrave.com/terms")
    assert (plugin.reliability.evidence_type, plugin.reliability.base_weight) == ("secondary", 0.7)
    assert plugin.reliability.user_contributed
    assert list(plugin.extraction_rules.person) == ["name", "birth_date", "death_date", "burial_place"]
    assert plugin.required() == ("name",)
    assert plugin.search is not None
    assert plugin.search.params["birthyear"] == "{birth_year}"
    assert plugin.search.result_selector == ".memorial-item"
    assert plugin.pagination is not None
    assert (plugin.pagination.type, plugin.pagination.param, plugin.pagination.max_pages) == ("page_number", "page", 10)


def test_example_leaves_the_network_alone(tmp_path: Path) -> None:
    """A plugin that says nothing of programs in its terms counts as not known to allow them, and is off."""
    plugin = plugin_in(tmp_path, EXAMPLE)
    assert plugin.compliance.tos_automation == "unknown"
    assert not plugin.enabled


def test_registry_ships_four_sources() -> None:
    """The program ships wikipedia, wikidata, find_a_grave and familysearch, with tiers (R283–R285, R374, R375)."""
    found = load_plugins()
    assert not found.problems
    assert {one.plugin.plugin_id: one.plugin.tier for one in found.known} == {
        "find_a_grave": 0,
        "wikipedia": 0,
        "wikidata": 1,
        "familysearch": 2,
    }
    assert found.named("familysearch").plugin.compliance.requires_auth
    assert [one.plugin.plugin_id for one in found.known if one.plugin.enabled] == ["wikipedia"]


def test_shipped_plugins_read_their_own_pages() -> None:
    """Every fixture of a shipped plugin gives what it expects."""
    checks = [check for one in load_plugins().known for check in check_plugin(one)]
    assert len(checks) >= 2
    assert [check for check in checks if not check.passed] == []


WRONG = [
    ("robots_txt: true", "robots_txt: false", "compliance.robots_txt"),
    ("rate_limit_requests_per_minute: 10", "rate_limit_requests_per_minute: 600", "rate_limit_requests_per_minute"),
    ("rate_limit_burst: 3", "rate_limit_burst: 11", "compliance.rate_limit_burst"),
    ("rate_limit_burst: 3", 'rate_limit_burst: "3"', "compliance.rate_limit_burst"),
    ("cache_ttl_seconds: 86400", "cache_ttl_seconds: 60", "compliance.cache_ttl_seconds"),
    ("tier: 0", "tier: 3", "'tier'"),
    ("tier: 0", "tier: 2", "requires_auth: true"),
    ("requires_auth: false", "requires_auth: true", "tier 2"),
    ("requires_auth: false", "requires_auth: maybe", "compliance.requires_auth"),
    ("https://www.findagrave.com\"\n\ncomp", "http://www.findagrave.com\"\n\ncomp", "base_url"),
    ("h1#bio-name", "h1[[", "extraction_rules.person.name.selector"),
    ("{given_name}", "{given_nmae}", "search.params.firstname"),
    ("{given_name}", "{given_name", "search.params.firstname"),
    ("{given_name}", "{given_name.__class__}", "search.params.firstname"),
    ("{given_name}", "{given_name!r}", "search.params.firstname"),
    ("base_weight: 0.7", "base_weight: 1.7", "reliability.base_weight"),
    ("evidence_type: \"secondary\"", "evidence_type: \"hearsay\"", "reliability.evidence_type"),
    ("    burial_place:", "    favourite_colour:", "favourite_colour"),
    ("      type: \"date\"\n", "      type: \"text\"\n", "'birth_date' needs 'type: date'"),
    ("max_pages: 10", "max_pages: 1000", "pagination.max_pages"),
    ("endpoint: \"/memorial/search\"", "endpoint: \"https://evil.example/\"", "search.endpoint"),
    ("display_name:", "display_nmae:", "'display_nmae': unknown key"),
    ("plugin_id: find_a_grave", "plugin_id: ../find", "plugin_id"),
    ("      type: \"text\"\n      required", "      regex: \"(\"\n      required", "name.regex"),
    ("tier: 0", "tier: 0\nenabled: true", "turned on for each case"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "named"), WRONG, ids=[row[2] + str(n) for n, row in enumerate(WRONG)])
def test_mistakes_are_reported_by_file_and_key(tmp_path: Path, right: str, wrong: str, named: str) -> None:
    """A plugin with a mistake is refused with its file, the key and what to do."""
    assert right in EXAMPLE
    with pytest.raises(BadSettings) as caught:
        plugin_in(tmp_path, EXAMPLE.replace(right, wrong, 1))
    assert "one.yaml" in caught.value.message
    assert named in caught.value.message
    assert caught.value.remedy


TRICKS = {
    "a tag of Python": "plugin_id: !!python/object/apply:os.system ['true']",
    "aliases": "a: &a [1, 2]\nb: [*a, *a]",
    "a bomb of aliases": "a: &a [x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]",
    "a key twice": "tier: 0\ntier: 2",
    "deep nesting": "[" * 5000,
    "closed deep nesting": "a: " + "[" * 200 + "]" * 200,
    "too large": "# " + "x" * 70_000,
    "not YAML": "a: [1, 2",
    "a list": "- 1\n- 2",
    "nothing": "",
    "a word": "plugin",
    "an impossible date": "a: 2026-13-45",
    "a huge number": "a: " + "9" * 6000,
    "a tab": "a:\n\t- b",
    "control characters": "a: \x07",
}


@pytest.mark.parametrize("kind", TRICKS)
def test_tricks_are_refused(tmp_path: Path, kind: str) -> None:
    """Whatever a file has, it is a plugin or an error with a message."""
    with pytest.raises(BadSettings) as caught:
        plugin_in(tmp_path, TRICKS[kind])
    assert "one.yaml" in caught.value.message
    assert caught.value.remedy


def test_a_file_that_is_not_text_is_reported(tmp_path: Path) -> None:
    """A file that is not text, or does not exist, is named."""
    (tmp_path / "raw.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("raw.yaml", "missing.yaml"):
        with pytest.raises(BadSettings, match=name):
            read_plugin(tmp_path / name)


def test_own_plugins_are_added_to_the_shipped_ones(tmp_path: Path) -> None:
    """A user's folder adds plugins; a broken one is reported and leaves the others alone."""
    plugin_in(tmp_path, SITE_PLUGIN, "good.yaml")
    (tmp_path / "bad.yaml").write_text("tier: [")
    (tmp_path / "taken.yaml").write_text(EXAMPLE)
    (tmp_path / "notes.txt").write_text("nothing")
    found = load_plugins(tmp_path)
    assert "old_stones" in [one.plugin.plugin_id for one in found.known]
    assert len(found.known) == 5
    text = " ".join(problem.message for problem in found.problems)
    assert "bad.yaml" in text
    assert "taken.yaml" in text
    assert len(found.problems) == 2
    assert len(load_plugins(tmp_path / "nowhere").known) == 4
    with pytest.raises(BadSettings, match="The plugin 'grave' was not found"):
        found.named("grave")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{id: old_stones, tier: 1, config: plugins/one.yaml}", "does not match"),
        ("{id: other, tier: 0, config: plugins/one.yaml}", "does not match"),
        ("{id: old_stones, tier: 0, config: plugins/one.yaml, requires_credentials: true}", "does not match"),
        ("{id: old_stones, tier: 0, config: ../../etc/passwd}", "not in the same folder"),
        ("{id: old_stones, tier: 0}", "config"),
    ],
)
def test_registry_agrees_with_its_plugins(tmp_path: Path, row: str, why: str) -> None:
    """A registry that says something else than the plugin's own file is refused (R374)."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    plugin_in(folder)
    (folder / "registry.yaml").write_text(f"sources: [{row}]")
    with pytest.raises(BadSettings, match=why):
        read_registry(folder / "registry.yaml")


def test_failed_fixture_says_what_was_read(tmp_path: Path) -> None:
    """A fixture that reads differently, is missing or is elsewhere is reported with a message."""
    fixtures = """
fixtures:
  - {html: page.html, expect: {name: "Ada Quill", birth_date: "1842", death_date: null}}
  - {html: missing.html, expect: {name: "X"}}
  - {html: ../outside.html, expect: {name: "X"}}
"""
    plugin = plugin_in(tmp_path, SITE_PLUGIN + fixtures)
    (tmp_path / "page.html").write_text(
        "<h1 id=bio-name>Ada Quill</h1><p id=birthDateLabel>1843</p><p id=deathDateLabel>unknown</p>"
    )
    first, second, third = check_plugin(KnownPlugin(plugin, tmp_path / "one.yaml"))
    assert first.problems == ("'birth_date' is '1843', not '1842'",)
    assert "cannot be read" in second.problems[0]
    assert "not in" in third.problems[0]
