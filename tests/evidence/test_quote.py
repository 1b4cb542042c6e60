"""Quotes are found, not asserted: what a page says is one, and nothing else is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.page.pages import a_page

from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence import Quote, ground, is_on_page, quote_at, recorded_quote

SOURCE = Path(__file__).parents[2] / "src" / "kiwiresearch"
PARAGRAPHS = (
    "Tarn Castle was built in 1905.",
    "Its walls are 3.5 m thick (12 ft); the roof is not – it leaks.",
    "Some say so, others don’t: “Ärger”, 中文。",
    "Tarn Castle was burned in 1950.",
)
PAGE = a_page("<h2>Castle</h2>".join(f"<p>{text}</p>" for text in PARAGRAPHS), title="Tarn Castle")
RUNS = tuple(found.span() for found in re.finditer(r"\S+", PAGE.text))
"""Where the words of the page begin and end."""

GAPS = st.sampled_from([" ", "  ", "\n", "\t", "\n\n ", "\u00a0", "\u2003", "\r\n", "\x1f", "\u2028"])
ADDRESS = PAGE.ref


@st.composite
def runs(draw: st.DrawFn) -> tuple[int, int]:
    """The place of some consecutive words of the page."""
    first = draw(st.integers(0, len(RUNS) - 1))
    last = draw(st.integers(first, len(RUNS) - 1))
    return RUNS[first][0], RUNS[last][1]


@given(runs(), st.data())
def test_any_run_of_words_is_found_whatever_is_between_them(place: tuple[int, int], data: st.DataObject) -> None:
    """Words of the page are found with any white space between and around them, as the page spells them."""
    start, end = place
    output = "".join(word + data.draw(GAPS) for word in PAGE.text[start:end].split())
    quote = ground(data.draw(GAPS) + output, PAGE)
    assert quote.text == PAGE.text[quote.start : quote.end]
    assert quote.text.split() == output.split()
    assert quote.ref == PAGE.ref


@given(runs(), st.integers(0, 200), st.sampled_from("xX7,.’'-–é\u0301\u200b(中"))
def test_a_changed_quote_is_not_found(place: tuple[int, int], at: int, sign: str) -> None:
    """One letter, figure or sign put in place of another makes a quote that the page does not say."""
    words = PAGE.text[slice(*place)]
    at %= len(words)
    changed = words[:at] + sign + words[at + 1 :]
    assume(" ".join(changed.split()) not in " ".join(PAGE.text.split()))
    with pytest.raises(QuoteNotFound, match="does not say") as error:
        ground(changed, PAGE)
    assert error.value.remedy


@pytest.mark.parametrize(
    "words",
    [
        "tarn castle was built",
        "Tarn Castle was built in 1906.",
        "Tarn Castle was built in 1905!",
        "Tarn Castle built",
        "TarnCastle was built",
        "Tarn Castle … burned in 1950.",
        "others don't",
        '"Ärger"',
        "A\u0308rger",
        "the roof is not - it leaks",
        "walls are 3.5m thick",
        ".*",
        "",
        " \n\t",
        "\ud800",
    ],
)
def test_nothing_but_white_space_may_differ(words: str) -> None:
    """Case, spelling, signs, dashes, missing words, patterns and nothing at all are not quotes."""
    with pytest.raises(QuoteNotFound):
        ground(words, PAGE)


@pytest.mark.parametrize(
    ("sentence", "cut"),
    [
        ("About 1,200 men died.", "200 men died"),
        ("It killed 1,200 men.", "killed 1"),
        ("It killed 1,200 men.", "killed 1,"),
        ("It killed 1\u00a0200 men.", "200 men"),
        ("It killed 1\u2009200 men.", "killed 1"),
        ("It killed 1\u202f200 men.", "200 men"),
        ("It killed 1 200 men.", "200 men"),
        ("It killed 1’200 men.", "200 men"),
        ("It has 2.5 grams of salt.", "5 grams of salt"),
        ("It has 2,5 grams of salt.", "5 grams of salt"),
        ("It has .5 grams of salt.", "5 grams of salt"),
        ("It was -5 degrees.", "5 degrees"),
        ("It was −5 degrees.", "5 degrees"),
        ("It rose by 5% then.", "rose by 5"),
        ("It killed 100-200 men.", "200 men"),
        ("It killed 100–200 men.", "killed 100"),
        ("It killed 100 – 200 men.", "200 men"),
        ("It killed 1500–2000 men.", "2000 men"),
        ("Two thirds are 2/3 of it.", "3 of it"),
        ("She paid 5 million dollars.", "She paid 5"),
        ("She paid 5 million dollars.", "million dollars"),
        ("It killed two hundred men.", "killed two"),
        ("It killed twenty-five men.", "five men"),
        ("It is a non-toxic plant.", "toxic plant"),
        ("It is alcohol-free.", "is alcohol"),
    ],
)
def test_a_part_of_a_number_or_word_is_not_found(sentence: str, cut: str) -> None:
    """A quote that begins or ends inside a number, a range or a compound word says something else than the page."""
    with pytest.raises(QuoteNotFound):
        ground(cut, a_page(f"<p>{sentence}</p>"))


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("It killed 1,200 men. In 1912 200 men died.", "200 men died"),
        ("It killed 1,200 men, and 200 men fled.", "200 men"),
        ("The war–200 men died–was lost.", "200 men died"),
        ("It was -5 degrees.", "-5 degrees"),
        ("It killed 100–200 men.", "killed 100–200 men"),
        ("She paid 5 million dollars.", "paid 5 million"),
        ("She had 5 (of 12) and 7.", "She had 5"),
        ("It ended in 1918. 200 men died.", "200 men died."),
        ("John Hay's son and the Hays’ home.", "John Hay"),
        ("Ann Hay (12 February 1809 – 19 April 1882) sang.", "19 April 1882"),
        ("Ann Hay (12 February 1809 – 19 April 1882) sang.", "12 February 1809"),
        ("Ann Hay (1809–1882) sang.", "1809"),
        ("Ann Hay died on 12.04.1882 at home.", "1882"),
    ],
)
def test_words_beside_a_number_are_found(sentence: str, words: str) -> None:
    """Complete numbers are quoted whatever is beside them, and dates also without the rest of their range."""
    page = a_page(f"<p>{sentence}</p>")
    assert ground(words, page).text == words


def test_a_quote_may_be_asked_of_a_part_of_the_page() -> None:
    """Within a part of the page only words of that part are found, at their own place."""
    second = PAGE.text.rindex("Tarn Castle was")
    assert ground("Tarn Castle was", PAGE).start == 0
    assert ground("Tarn  Castle was", PAGE, within=(5, len(PAGE.text))).start == second
    with pytest.raises(QuoteNotFound):
        ground("built in 1905.", PAGE, within=(second, len(PAGE.text)))
    with pytest.raises(QuoteNotFound):
        ground("Tarn Castle", PAGE, within=(0, len("Tarn Cast")))


@given(runs(), st.integers(0, 400), st.integers(0, 400))
def test_words_of_a_part_stay_in_it(place: tuple[int, int], one: int, other: int) -> None:
    """What is found within a part of the page lies in that part."""
    start, end = sorted((min(one, len(PAGE.text)), min(other, len(PAGE.text))))
    try:
        quote = ground(PAGE.text[slice(*place)], PAGE, within=(start, end))
    except QuoteNotFound:
        assert not start <= place[0] < place[1] <= end
    else:
        assert start <= quote.start < quote.end <= end


@given(st.integers(0, 300), st.integers(0, 300))
def test_a_span_is_trimmed_and_true(one: int, other: int) -> None:
    """Any place with words on it is a quote without white space around it; a place without words is none."""
    start, end = sorted((one, other))
    words = PAGE.text[start:end]
    if not words.strip():
        with pytest.raises(QuoteNotFound):
            quote_at(PAGE, start, end)
        return
    quote = quote_at(PAGE, start, end)
    assert quote.text == words.strip() == PAGE.text[quote.start : quote.end]
    assert start <= quote.start < quote.end <= end
    assert is_on_page(quote, PAGE)


@given(runs(), st.integers(-300, 300), st.integers(0, 200), st.sampled_from("x7. "))
def test_an_invalid_span_is_refused(place: tuple[int, int], shift: int, at: int, sign: str) -> None:
    """A quote with another letter, or at a place where the page says something else, is refused."""
    start, end = place
    words = PAGE.text[start:end]
    at %= len(words)
    changed = words[:at] + sign + words[at + 1 :]
    moved = recorded_quote(ADDRESS, start + shift, end + shift, words)
    assert is_on_page(recorded_quote(ADDRESS, start, end, words), PAGE)
    assert is_on_page(recorded_quote(ADDRESS, start, end, changed), PAGE) == (changed == words)
    assert is_on_page(moved, PAGE) == (start + shift >= 0 and PAGE.text[start + shift : end + shift] == words)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (5, 5), (9, 4), (-1, 0)])
def test_an_empty_quote_is_refused(start: int, end: int) -> None:
    """No words prove nothing, at any place."""
    assert not is_on_page(recorded_quote(ADDRESS, start, end, ""), PAGE)


def test_places_are_not_counted_from_the_end() -> None:
    """A place before the page is none, though there are words so far from its end."""
    words = PAGE.text[-6:-1]
    assert not is_on_page(recorded_quote(ADDRESS, -6, -1, words), PAGE)


def test_hashes_distinguish_words() -> None:
    """The hash of a quote is that of its words, wherever they are, and names its algorithm."""
    first, second = (quote_at(PAGE, at, at + 11) for at in (0, PAGE.text.rindex("Tarn Castle")))
    assert first.start != second.start
    assert first.sha == second.sha == "sha256:5482131db025470b"
    assert quote_at(PAGE, 0, 4).sha != first.sha


def test_hash_of_half_a_character_is_had() -> None:
    """A lone surrogate, as broken pages have, does not keep a quote from being hashed."""
    assert recorded_quote(ADDRESS, 0, 1, "\ud800").sha.startswith("sha256:")


def a_maker(node: ast.AST) -> bool:
    """Whether a piece of code makes a quote by itself: Quote(…), quote.Quote(…), Quote._make(…), Quote.__new__(…)."""
    if not isinstance(node, ast.Call):
        return False
    made = node.func
    if isinstance(made, ast.Attribute) and made.attr in ("_make", "__new__"):
        made = made.value
    return getattr(made, "id", getattr(made, "attr", "")) == Quote.__name__


def test_only_the_module_of_quotes_makes_them() -> None:
    """No other module makes a quote than the one that looks it up in the page."""
    sources = {file.relative_to(SOURCE).as_posix(): file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}
    naming = {name: source for name, source in sources.items() if Quote.__name__ in source}
    assert len(naming) > 1
    makers = [name for name, source in sorted(naming.items()) if any(map(a_maker, ast.walk(ast.parse(source))))]
    assert makers == ["evidence.py"]


def test_only_records_are_taken_at_their_word() -> None:
    """A quote that is not looked up comes from a record of a run or from a table of a book, and from nowhere else."""
    callers = [
        file.relative_to(SOURCE).as_posix()
        for file in sorted(SOURCE.rglob("*.py"))
        if re.search(r"\brecorded_quote\(", file.read_text(encoding="utf-8"))
    ]
    assert callers == ["atlas/row_reader.py", "claims/claim.py", "evidence.py"]


def test_a_page_is_quoted_with_its_boxes() -> None:
    """The words of a box, which are after the article, are words of the page too."""
    page = a_page("<table class='infobox'><tr><th>Height</th><td>40 m</td></tr></table><p>A tower.</p>")
    assert ground("Height 40 m", page).text == "Height\t40 m"
