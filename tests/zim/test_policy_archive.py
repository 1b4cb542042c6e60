"""A book behind a policy: what is hidden is found by no way, and said openly."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import BookMaker, book_maker
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import BadSettings, BookHidden, PageHidden, PageNotFound
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.integrity import FileChecks
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.paths import find_path, near_titles
from kiwiresearch.zim.policy import (
    HiddenTitles,
    Policy,
    PolicyArchive,
    count_hidden_matches,
    hidden_name_among,
    hidden_page_error,
    hidden_page_named_error,
    with_policy,
    without_policy,
)
from kiwiresearch.zim.shelf import Opener
from kiwiresearch.zim.sources import BookLocation

PAGES = {
    "Guillotine": "<title>Guillotine</title><p>The guillotine is a machine with a heavy blade.</p>",
    "Sunset": "<title>Sunset</title><p>At sunset the heavy sky is orange. See <a href='Guillotine'>blade</a>.</p>",
    "Torture_rack": "<title>Torture rack</title><p>A heavy frame of wood.</p>",
}
REDIRECTS = {"La_veuve": "Guillotine", "Dusk": "Sunset"}
SCHOOL = Policy(name="Lycée X", hidden=("Guillotine", "Torture*"))

Make = Callable[[Policy], Archive]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return book_maker(tmp_path_factory.mktemp("book"))(PAGES, REDIRECTS, main_path="Sunset")


@pytest.fixture(scope="module", params=["memory", "libzim", "served"])
def make(request: pytest.FixtureRequest, book: Path) -> Make:
    """The same book on every backend, behind a policy."""
    if request.param == "memory":
        return lambda policy: with_policy(MemoryArchive(PAGES, REDIRECTS, title="Test book"), policy)
    if request.param == "libzim":
        return lambda policy: with_policy(LibzimArchive(book), policy)
    server = KiwixServer(request.getfixturevalue("kiwix_serve")(book))
    return lambda policy: with_policy(ServeArchive(server, server.catalogue()[0]), policy)


@pytest.mark.parametrize("path", ["Guillotine", "Torture_rack", "La_veuve"])
def test_a_hidden_page_cannot_be_read_by_any_method(make: Make, path: str) -> None:
    """Reading, looking, a part and where it leads: none gives a hidden page, also through a redirect."""
    archive = make(SCHOOL)
    for use in (archive.read, archive.info, lambda p: archive.part(p, 0, 10)):
        with pytest.raises(PageHidden, match="hidden by the policy of Lycée X"):
            use(path)
    assert archive.resolve(path) is None
    assert archive.by_title(path.replace("_", " ")) is None
    assert find_path(archive, path) is None
    assert hidden_page_error(archive, path) is not None


def test_no_search_offers_a_hidden_page(make: Make) -> None:
    """Full text, lists of words, suggestions and near titles leave it out, and the others stay."""
    archive = make(SCHOOL)
    assert [match.path for match in archive.search("heavy", 10)] == ["Sunset"]
    assert archive.paths_with("heavy", 10) == ("Sunset",)
    assert archive.suggest("Guill", 10) == ()
    assert "Guillotine" not in near_titles(archive, "Guilotine")
    assert [match.path for match in archive.suggest("Sun", 10)] == ["Sunset"]


@pytest.mark.parametrize(
    "words", ["guillotine", "GUILLOTINE", "Guillotine ", "La veuve", "la_veuve", "torture rack", "Torture_rack"]
)
def test_a_request_for_a_hidden_page_by_name_is_explained(make: Make, words: str) -> None:
    """A page that is hidden is not missing: whatever spelling finds it is answered with the reason."""
    assert isinstance(hidden_page_named_error([make(SCHOOL)], words), PageHidden)


def test_pages_that_are_not_hidden_are_not_mentioned(make: Make) -> None:
    """Names of other pages, and unknown names, are not hidden ones."""
    archive = make(SCHOOL)
    assert hidden_page_named_error([archive], "Sunset") is None
    assert hidden_page_named_error([archive], "Moonrise") is None
    assert hidden_page_error(archive, "Sunset") is None
    with pytest.raises(PageNotFound) as problem:
        archive.read("Moonrise")
    assert not isinstance(problem.value, PageHidden)


def test_hidden_pages_among_those_asked_for_are_counted(make: Make) -> None:
    """A search can say how many of the pages that the book offers first are left out."""
    hidden = count_hidden_matches([make(SCHOOL)], ["heavy"], ["guillotine"], 10)
    assert hidden.sentence("result") == "2 results are hidden by the policy of Lycée X."
    assert count_hidden_matches([make(SCHOOL)], ["orange"], ["sunset"], 10).sentence("result") == ""


def test_a_hidden_redirect_hides_its_name_and_not_the_page_behind(make: Make) -> None:
    """Hiding 'Dusk' hides that name; 'Sunset' can still be read."""
    archive = make(Policy(hidden=("Dusk",)))
    assert archive.resolve("Dusk") is None
    with pytest.raises(PageHidden, match="'Dusk' is hidden by this server's policy"):
        archive.read("Dusk")
    assert "'Dusk'" in str(hidden_page_named_error([archive], "Dusk"))
    assert hidden_name_among([archive], ["dusk", "sunset"]) is None
    assert b"orange" in archive.read("Sunset").content


@pytest.mark.parametrize("words", ["_", "__", "_ _", " _\n_ ", "?_"])
def test_no_name_is_too_odd_to_look_for(make: Make, words: str) -> None:
    """Underscores are spaces, and a name of only underscores names no page."""
    archive = make(SCHOOL)
    assert find_path(archive, words) is None
    assert hidden_name_among([archive], [words]) is None


def test_lists_of_titles_and_articles_leave_hidden_pages_out(a_book: BookMaker) -> None:
    """What goes through a whole book obeys too; the book as it is stays at hand for indexes."""
    archive = with_policy(LibzimArchive(a_book(PAGES, REDIRECTS)), SCHOOL)
    assert list(archive.articles()) == ["Sunset"]
    assert {one.title for one in archive.titles()} == {"Sunset", "Dusk"}
    assert {one.title for one in without_policy(archive).titles()} == {
        "Sunset",
        "Dusk",
        "Guillotine",
        "La veuve",
        "Torture rack",
    }


def test_a_page_is_hidden_by_its_title_whatever_its_path(a_book: BookMaker) -> None:
    """An uninformative path does not bypass the rule for a title."""
    archive = with_policy(LibzimArchive(a_book({"p/17": "<p>x</p>"}, titles={"p/17": "Guillotine"})), SCHOOL)
    for path in ("p/17", "/p/17", "C/p/17"):
        with pytest.raises(PageNotFound):
            archive.read(path)
    with pytest.raises(PageHidden):
        archive.read("p/17")


RULES = [
    ("Beer", "Beer", True),
    ("Beer", "beer", True),
    ("beer", "BEER", True),
    ("Beer", "Beers", False),
    ("Beer", "Ginger beer", False),
    ("Café noir", "Cafe_Noir", True),
    ("Torture*", "Torture", True),
    ("Torture*", "Torture in film", True),
    ("Torture*", "Film torture", False),
    ("*torture*", "Film torture scenes", True),
    ("List of *", "List of wars", True),
    ("List of *", "Listless", False),
    ("List of *", "List offices", False),
    ("C", "C++", False),
    ("C", "C", True),
    ("a.c", "abc", False),
    ("(x)*", "(x) y", True),
    ("!!!", "!!!", True),
    ("*", "Anything", True),
    ("*war*crime*", "List of war and crime films", True),
    ("*war*crime*", "Crime in war", False),
    ("ab*ab", "ab", False),
    ("* of * of *", "History of the art of war", True),
]


@pytest.mark.parametrize(("rule", "title", "is_hidden"), RULES)
def test_rules_mean_titles(rule: str, title: str, is_hidden: bool) -> None:
    """A rule is a title, or a beginning or an end with '*'; nothing of it is a regular expression."""
    assert HiddenTitles([rule]).has(title) is is_hidden


@given(rule=st.text("ab*", min_size=1, max_size=8), title=st.text("ab", min_size=1, max_size=10))
def test_a_star_matches_anything(rule: str, title: str) -> None:
    """However many there are, and whatever is between them."""
    pattern = ".*".join(map(re.escape, rule.split("*")))
    assert HiddenTitles([rule]).has(title) is (re.fullmatch(pattern, title) is not None)


def test_no_title_takes_long() -> None:
    """A rule with many stars is soon through with a title that almost fits in ever so many ways."""
    assert not HiddenTitles(["*a*" * 50 + "b"]).has("a" * 5_000)


def test_a_rule_may_be_for_one_book(a_book: BookMaker) -> None:
    """'BOOK | Title' hides the title in that book alone, whichever of its names is used."""
    file = a_book(PAGES, name="shelf.zim")
    for name in ("test_en", "Test book", "SHELF", "shelf.zim"):
        with pytest.raises(PageHidden):
            with_policy(LibzimArchive(file), Policy(hidden=(f"{name} | Sunset",))).read("Sunset")
    assert with_policy(LibzimArchive(file), Policy(hidden=("another | Sunset",))).read("Sunset").title == "Sunset"


def test_a_book_without_hidden_pages_is_not_wrapped(a_book: BookMaker) -> None:
    """No policy, or one for other books, costs nothing."""
    archive = LibzimArchive(a_book(PAGES))
    assert with_policy(archive, Policy()) is archive
    assert with_policy(archive, Policy(name="School", hidden=("other | Sunset",))) is archive
    assert not isinstance(without_policy(with_policy(archive, SCHOOL)), PolicyArchive)


def test_only_allowed_books_are_opened(a_book: BookMaker, tmp_path: Path) -> None:
    """A book that is not among those of the policy cannot be opened by who opens books."""
    file = a_book(PAGES)
    policy = Policy(name="Lycée X", books=("Wikipedia",))
    with pytest.raises(BookHidden, match=r"'Test book'.*Lycée X"):
        Opener(FileChecks(tmp_path / "checks"), policy=policy).open(BookLocation(str(file)))
    allowed = Opener(FileChecks(tmp_path / "checks"), policy=Policy(books=("test BOOK",))).open(BookLocation(str(file)))
    assert allowed.read("Sunset").title == "Sunset"


@pytest.mark.parametrize(
    "rules", [{"hidden": ("",)}, {"hidden": ("Beer", " ")}, {"hidden": ("| Beer",)}, {"books": ("",)}]
)
def test_a_rule_without_a_name_is_refused(rules: dict[str, Any]) -> None:
    """A mistake in the settings is reported, rather than taken for a rule that hides nothing, or everything."""
    with pytest.raises(BadSettings):
        Policy(**rules)


def test_the_fingerprint_follows_the_rules() -> None:
    """It is empty where nothing is left out, the same for the same rules, and another for others."""
    assert Policy(name="School", notice="Be kind.").fingerprint == ""
    assert Policy(hidden=("a", "b")).fingerprint == Policy(hidden=("b", "a")).fingerprint
    assert Policy(hidden=("a",)).fingerprint != Policy(books=("a",)).fingerprint
