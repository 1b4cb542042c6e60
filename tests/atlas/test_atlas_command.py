"""`kiwiresearch atlas`: each part as words and as JSON, and errors in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwiresearch.cli.book_output import year

RunCommand = Callable[..., tuple[int, str, str]]
WAYS = [
    ((), "Contradictions: 4 contradiction, 1 unit or rounding"),
    (("contradictions",), "Ada Rowe, birth"),
    (("contradictions", "--kind", "unit or rounding"), "area (m2)"),
    (("contradictions", "--page", "Ada Rowe"), "Ada Rowe, birth"),
    (("contradictions", "--kind", "different year"), "No contradictions found."),
    (("ranks",), "1. Elmland  authority"),
    (("ranks", "--by", "linked", "--words", "nothing"), "No page with these words in its title"),
    (("regions",), "1. Alone"),
    (("regions", "--of", "islands"), "North Isle, South Isle"),
    (("regions", "--of", "stubs"), "around Moths: Ash moth, Oak moth"),
    (("regions", "--of", "wanted"), "Old bridge  linked from 2 pages"),
    (("timeline", "--from", "1204", "--to", "1204"), "1204: Elmland was founded in 1204."),
    (("timeline", "--to", "-1000000"), "65 million years ago"),
    (("timeline", "--page", "Elm Sea"), "65 million years ago"),
    (("kin",), "3 people, 3 with pages: Ada Rowe; Tom Rowe; Ben Rowe"),
]


@pytest.fixture(scope="module")
def atlas_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose cache these tests share."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _at_home(atlas_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(atlas_home))


def with_folder(folder: Path, way: tuple[str, ...]) -> list[str]:
    return ["atlas", *way[:1], str(folder), *way[1:]]


@pytest.mark.parametrize(("way", "expected"), WAYS)
def test_each_part_is_printed_as_text(kiwi: RunCommand, elm_shards: Path, way: tuple[str, ...], expected: str) -> None:
    """What a part of the atlas knows can be read."""
    code, out, _ = kiwi(*with_folder(elm_shards, way))
    assert code == 0
    assert expected in out


@pytest.mark.parametrize("way", [way for way, _ in WAYS])
def test_each_part_is_printed_as_json(kiwi: RunCommand, elm_shards: Path, way: tuple[str, ...]) -> None:
    """One document, whose lists say how many rows there are in all."""
    code, out, _ = kiwi(*with_folder(elm_shards, way), "--json")
    data = json.loads(out)
    assert code == 0
    assert data.keys() == {"total", "offset", "hidden", "rows"} or data.keys() >= {"book", "tables"}


def test_a_long_list_says_how_to_go_on(kiwi: RunCommand, elm_shards: Path) -> None:
    """Behind a part is where the next begins; behind the last, where to begin."""
    assert "1 to 2 of 13. For more: --offset 2" in kiwi("atlas", "ranks", elm_shards, "--limit", 2)[1]
    assert "There are only 13 rows. Use a lower --offset." in kiwi("atlas", "ranks", elm_shards, "--offset", 99)[1]


def test_relatives_and_the_path_between_two_are_printed(kiwi: RunCommand, elm_shards: Path) -> None:
    """A person, and two persons, after the folder."""
    _, out, _ = kiwi("atlas", "kin", elm_shards, "Ben Rowe")
    assert "mother: Ada Rowe (3 May 1815 – 9 June 1885)" in out
    _, out, _ = kiwi("atlas", "kin", elm_shards, "Ben Rowe", "Tom Rowe")
    assert "grandfather" in out


def test_relatives_come_in_parts(kiwi: RunCommand, elm_shards: Path) -> None:
    """As every other list: some of them, where to go on, and as JSON how many there are."""
    assert "1 to 1 of 2. For more: --offset 1" in kiwi("atlas", "kin", elm_shards, "Ben Rowe", "--limit", 1)[1]
    data = json.loads(kiwi("atlas", "kin", elm_shards, "Ben Rowe", "--offset", 1, "--json")[1])
    assert [row["name"] for row in data["relatives"]] == ["Tom Rowe"]
    assert (data["total"], data["offset"]) == (2, 1)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1789, "1789"), (-1_200, "1,200 BC"), (-40_300, "40,000 years ago"), (-65_000_000, "65 million years ago"),
     (-13_749_998_001, "13.7 billion years ago")],
)  # fmt: skip
def test_years_are_written_as_people_say_them(number: int, expected: str) -> None:
    """No calendar counts the years of the beginning of everything."""
    assert year(number) == expected


def test_the_terminal_is_the_owners_and_json_is_public(kiwi: RunCommand, elm_shards: Path) -> None:
    """As in all family research: who looks at their own screen sees all, what may be handed on names nobody living."""
    assert "Cy Finch" in kiwi("atlas", "kin", elm_shards, "Dan Finch")[1]
    assert "Cy" not in kiwi("atlas", "kin", elm_shards, "Dan Finch", "--json")[1]
    code, out, err = kiwi("atlas", "kin", elm_shards, "Cy Finch", "--json")
    assert (code, out) == (2, "")
    assert "may be living" in err


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (("/nowhere/at/all",), 1, "No finished bulk folder"),
        (("ranks", "{elm}", "--by", "magic"), 2, "one of: authority, linked, references"),
        (("regions", "{elm}", "--of", "magic"), 2, "one of: orphans"),
        (("contradictions", "{elm}", "--kind", "magic"), 2, "one of: contradiction"),
        (("ranks", "{elm}", "--limit", "0"), 2, "limit from 1"),
        (("timeline", "{elm}", "--from", "0"), 2, "0 is not a year on the timeline."),
        (("ranks", "{elm}", "--words", "x " * 9_000), 2, "Cannot search for 9,000 words at once."),
        (("timeline", "{elm}", "--subject", "x " * 9_000), 2, "Cannot search for 9,000 words at once."),
        (("kin", "{elm}", "--privacy", "magic"), 2, "not a privacy mode"),
        (("kin", "{elm}", "Nobody At All"), 3, "no page about a person"),
        (("magic", "{elm}"), 2, "Unknown atlas command 'magic'. Choose one of: overview, contradictions"),
    ],
)
def test_invalid_arguments_are_reported(
    kiwi: RunCommand, elm_shards: Path, words: tuple[str, ...], code: int, expected: str
) -> None:
    """Each error names the thing, and ends with what can be done."""
    given = [word.replace("{elm}", str(elm_shards)) for word in words]
    found, out, err = kiwi("atlas", *given)
    assert (found, out) == (code, "")
    assert expected in err


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ((), "1 page is hidden by this server's policy."),
        (("contradictions",), "2 rows are hidden by this server's policy."),
        (("ranks", "--limit", "2", "--words", "Rowe"), "1 to 2 of 3. For more: --offset 2"),
        (("timeline", "--words", "Ada"), "hidden by this server's policy."),
        (("kin",), "1 row is hidden by this server's policy."),
        (("kin", "Tom_Rowe"), "hidden by this server's policy."),
    ],
)
def test_hidden_pages_are_in_no_list_of_the_command_line(
    kiwi: RunCommand, elm_shards: Path, monkeypatch: pytest.MonkeyPatch, way: tuple[str, ...], expected: str
) -> None:
    """The policy of the workspace applies here as well, and the output says so, as text and as JSON."""
    monkeypatch.setenv("KIWIRESEARCH_POLICY_HIDDEN", "elm | Ada Rowe")
    code, out, _ = kiwi(*with_folder(elm_shards, way))
    assert code == 0
    assert expected in out
    result = kiwi(*with_folder(elm_shards, way), "--json")[1]
    assert "Ada_Rowe" not in out + result
    assert '"title":"Ada Rowe"' not in result.replace(" ", "").replace("AdaRowe", "Ada Rowe")


@pytest.mark.parametrize("people", [("Ada Rowe",), ("Ben Rowe", "Tom Rowe"), ("Ada Rowe", "Ben Rowe")])
def test_hidden_people_cannot_be_asked_for_on_the_command_line(
    kiwi: RunCommand, elm_shards: Path, monkeypatch: pytest.MonkeyPatch, people: tuple[str, ...]
) -> None:
    """Neither alone nor as a step between two others."""
    monkeypatch.setenv("KIWIRESEARCH_POLICY_HIDDEN", "Ada Rowe")
    code, out, err = kiwi("atlas", "kin", elm_shards, *people)
    assert (code, out) == (3, "")
    assert "hidden by this server's policy" in err


def test_a_book_that_the_policy_does_not_allow_has_no_atlas(
    kiwi: RunCommand, elm_shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is refused, by whatever name the policy calls the books that it allows."""
    monkeypatch.setenv("KIWIRESEARCH_POLICY_BOOKS", "another")
    code, out, err = kiwi("atlas", elm_shards)
    assert (code != 0, out, "is not allowed by" in err) == (True, "", True)
    monkeypatch.setenv("KIWIRESEARCH_POLICY_BOOKS", "elm.zim")
    assert kiwi("atlas", elm_shards)[0] == 0


def test_a_missing_install_is_reported(kiwi: RunCommand, elm_shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without DuckDB the error says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    code, _, err = kiwi("atlas", "timeline", elm_shards)
    assert code == 1
    assert "pip install 'kiwiresearch[bulk]'" in err
