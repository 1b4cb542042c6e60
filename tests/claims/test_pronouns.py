"""A pronoun on a page, with the names it may mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from evals.pronouns import context_on
from tests.page.pages import a_page

from kiwiresearch.ask.pronouns import context_in, likely_referent
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.reader.reader import TITLE_UNIT, Mention, Reader, TextToRead, shared_reader

LADY = (
    "<p>Ada Rowe was a painter. She was born in Norbury in 1801, and her father taught her to draw. "
    "Her brother Peter Rowe became a doctor. In 1830 he moved to Lisbon with his family.</p>"
)
TOWN = "<p>Varn is a town. Its mayor is Jonas Carling. In 1990 he opened the harbour.</p>"


def place_of(page: PageDoc, words: str, pronoun: str) -> tuple[int, int]:
    at = page.text.index(words) + words.index(pronoun)
    return at, at + len(pronoun)


def test_the_names_before_a_pronoun_are_its_candidates() -> None:
    """Names in its sentence and in the four before it, and the title of a page that is about somebody."""
    page = a_page(LADY, title="Ada Rowe", path="Ada_Rowe")
    context = context_on(page, *place_of(page, "Her brother", "Her"))
    assert [context.words(name) for name in context.names] == ["Ada Rowe", "Norbury", "Ada Rowe"]
    assert context.names[-1].unit == TITLE_UNIT
    assert context.text.units[-1][context.at : context.end] == "Her"


def test_he_is_not_she() -> None:
    """On a page about a woman, "he" means somebody else, and no name for her is a candidate."""
    page = a_page(LADY, title="Ada Rowe", path="Ada_Rowe")
    context = context_on(page, *place_of(page, "In 1830 he moved", "he"))
    assert [context.words(name) for name in context.names] == ["Norbury", "Peter Rowe"]


class SureOfHale:
    """A reader that is sure of the first name, and gives the others next to nothing."""

    def referents(self, text: TextToRead, at: int, end: int, names: Sequence[Mention]) -> list[float]:
        return [0.98, *[0.01] * (len(names) - 1)]


def test_a_longer_name_is_not_always_the_same_thing() -> None:
    """As "Hale" is for "Edwin Hale", but not for "Hale Harbour", which the reader takes for nobody."""
    text = TextToRead("Varn", "", ("Hale planned Hale Harbour.", "In 1880 he moved."))
    context = context_in(text, 8, 10, "", "eng", with_title=False)
    assert [context.words(name) for name in context.names] == ["Hale", "Hale Harbour"]
    assert likely_referent(cast("Reader", SureOfHale()), context).name == "Hale"


@pytest.mark.parametrize(("pronoun", "words", "has_title"), [("he", "In 1990 he", False), ("Its", "Its mayor", True)])
def test_he_does_not_refer_to_a_town(pronoun: str, words: str, *, has_title: bool) -> None:
    """The title of a page about a thing is nobody."""
    page = a_page(TOWN, title="Varn", path="Varn")
    context = context_on(page, *place_of(page, words, pronoun))
    assert any(name.unit == TITLE_UNIT for name in context.names) is has_title


def test_a_pronoun_gets_its_name() -> None:
    """The probabilities of a name and of the same name as title are added."""
    pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")
    page = a_page(LADY, title="Ada Rowe", path="Ada_Rowe")
    she = likely_referent(shared_reader(), context_on(page, *place_of(page, "She was born", "She")))
    assert she.name == "Ada Rowe"
    assert 0.9 < she.confidence <= 1.0
