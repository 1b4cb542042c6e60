"""Words in Markdown: a reader of it shows exactly them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kiwiresearch.text.display import escaped, escaped_anywhere, printable

SIGNS = "_*[]()<>!#`~\\&;:a1 \t\n.-+=|\"'h"
"""What Markdown is made of."""

BOTH = pytest.mark.parametrize("escape", [escaped, escaped_anywhere])


@pytest.mark.parametrize(
    ("words", "alone", "anywhere"),
    [
        ("max_pages", "max_pages", r"max\_pages"),
        ("_so_ it is", r"\_so\_ it is", r"\_so\_ it is"),
        ("a > b | c", "a > b | c", r"a \> b \| c"),
        ("> said", r"\> said", r"\> said"),
        ("1. item", r"1\. item", r"1\. item"),
        ("# 1", r"\# 1", r"\# 1"),
        ("![x](y) <b> &lt;", r"!\[x\](y) \<b> \&lt;", r"!\[x\](y) \<b\> \&lt;"),
        ("on 31 March [O.S. 21 March] 1685", "on 31 March [O.S. 21 March] 1685", r"on 31 March \[O.S. 21 March\] 1685"),
        ("[12] [a] [^note]", r"\[12\] \[a\] \[^note\]", r"\[12\] \[a\] \[^note\]"),
        ("[see](here) [or][there]", r"\[see\](here) \[or\][there]", r"\[see\](here) \[or\]\[there\]"),
        ("[there]: here", r"\[there\]: here", r"\[there\]: here"),
        ("two\n lines\t", "two lines", "two lines"),
    ],
)
def test_signs_that_would_be_markup_are_not(words: str, alone: str, anywhere: str) -> None:
    """As few signs as the place of a text needs are escaped."""
    assert (escaped(words), escaped_anywhere(words)) == (alone, anywhere)


@BOTH
@given(text=st.one_of(st.text(max_size=60), st.text(alphabet=SIGNS, max_size=40)))
def test_any_text_is_one_paragraph_of_its_own_words(escape: Callable[[str], str], text: str) -> None:
    """Whatever is in a text, a reader of Markdown shows it as plain words."""
    tokens = MarkdownIt().parse(escape(text))
    shown = "".join(child.content for token in tokens for child in token.children or ())
    assert shown.split() == printable(text).replace("\x00", "\ufffd").split()


@given(text=st.text(alphabet=SIGNS, max_size=40))
def test_a_cell_stays_a_cell(text: str) -> None:
    """A text that may be anywhere ends no cell of a table."""
    tokens = MarkdownIt().enable("table").parse(f"| a | b |\n| --- | --- |\n| {escaped_anywhere(text)} | end |\n")
    cells = [token for token in tokens if token.type == "td_open"]
    inside = [token.content for token in tokens if token.type == "inline"]
    assert (len(cells), inside[3]) == (2, "end")
