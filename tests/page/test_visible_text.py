"""The text of a page is what its reader sees."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page, kinds

ZWNJ, ZWJ = "\u200c", "\u200d"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('It rains.<sup class="reference"><a href="#cite_note-1">[1]</a></sup> Often.', "It rains. Often."),
        ('It rains<sup id="cite_ref-a_1-0"><a href="#cite_note-a-1">[1]</a></sup>, often.', "It rains, often."),
        ('It rains.<span class="mw-ref"><a href="#cite_note-2"><span>[2]</span></a></span>', "It rains."),
        ("It rains.<sup>[3]</sup> Often.<sup>[note 4]</sup>", "It rains. Often."),
        ("It rains.<sup>[<i>when?</i>]</sup> Often.", "It rains. Often."),
        (
            'It rains.<sup class="noprint Inline-Template Template-Fact">[<i><a href="Wikipedia:CN">citation'
            " needed</a></i>]</sup> Often.",
            "It rains. Often.",
        ),
        ("It rains [citation needed] often.", "It rains often."),
        (f"It rains.<sup>[<i>{'so ' * 20}</i>]</sup>", f"It rains.[{'so ' * 20}]"),
        ("The list [a, b] has [3] parts.", "The list [a, b] has [3] parts."),
    ],
)
def test_marks_are_not_text(html: str, text: str) -> None:
    """Numbers of notes and remarks of editors are left out, brackets of the author are not."""
    assert a_page(f"<p>{html}</p>").text == text


MARK = '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>'


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (f"It rains.{MARK} <i>Often</i>.", "It rains. Often."),
        (f"It rains.{MARK}\n<b>Often</b>.", "It rains. Often."),
        (f'It rains.{MARK} <a href="Often">Often</a>.', "It rains. Often."),
        (f'It rains.{MARK} <i><a href="Often">Often</a></i>.', "It rains. Often."),
        (f"It rains.{MARK}<i> Often</i>.", "It rains. Often."),
        (f"It rains.{MARK} <i> Often</i>.", "It rains. Often."),
        (f"It rains. {MARK} <i>Often</i>.", "It rains. Often."),
        (f"It rains. {MARK}<i>Often</i>.", "It rains. Often."),
        (f"It <b>rains</b>{MARK} <i>often</i>.", "It rains often."),
        (f"It <b>rains {MARK} </b> <i>often</i>.", "It rains often."),
        (f"It rains.{MARK}{MARK} <i>Often</i>.", "It rains. Often."),
        (f"It rains.{MARK} {MARK} <i>Often</i>.", "It rains. Often."),
        (f"It rains.{MARK}<i>Often</i>.", "It rains.Often."),
        (f"It rains<i>{MARK}</i>, <i>often</i>{MARK}<b>.</b>", "It rains, often."),
        ("It rains.<sup>[<i>when?</i>]</sup> <i>Often</i>.", "It rains. Often."),
        ("It<span hidden>UNSEEN</span> <i>rains</i>.", "It rains."),
        ("It<input> <i>rains</i>.", "It rains."),
    ],
)
def test_the_space_behind_a_mark_is_kept(html: str, text: str) -> None:
    """Words on both sides of what is cut are as far apart as the page has them: by one space or by none."""
    assert a_page(f"<p>{html}</p>").text == text


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        (f"{MARK} <i>one</i>", ["paragraph: one"]),
        (f"<p>one</p><p> {MARK} <i>two</i>{MARK} </p>", ["paragraph: one", "paragraph: two"]),
        (f"<p>one<br>{MARK} <i>two</i></p>", ["paragraph: one", "paragraph: two"]),
        (f"<p>one{MARK} <br> <i>two</i></p>", ["paragraph: one", "paragraph: two"]),
        (f"<h2>{MARK} <i>one</i>{MARK} </h2> <i>two</i>", ["heading: one", "paragraph: two"]),
        (f"<ul><li>{MARK} <i>one</i>{MARK} </li><li>two</li></ul>", ["item: one", "item: two"]),
        (
            f"<table><tr><td>{MARK} <i>a</i></td><td>{MARK} <i>b</i>{MARK} </td> <td>c</td></tr></table>",
            ["row: a\tb\tc"],
        ),
        ("<pre><b>if</b> x:\n    go</pre>", ["code: if x:\n    go"]),
        (f"<pre>{MARK} <b>one</b>{MARK} <b>two</b>{MARK} </pre>", ["code: one two"]),
    ],
)
def test_there_is_no_space_beside_a_mark_at_an_edge(html: str, blocks: list[str]) -> None:
    """If a block, a line or a cell begins or ends beside a mark, the break is the only white space."""
    assert kinds(a_page(html)) == blocks


@pytest.mark.parametrize(
    "unseen",
    [
        '<span style="display:none">UNSEEN</span>',
        '<span style="color:red; Display: none">UNSEEN</span>',
        '<span style="visibility:hidden">UNSEEN</span>',
        '<span class="sortkey">UNSEEN</span>',
        '<span class="Z3988" title="x">UNSEEN</span>',
        "<span hidden>UNSEEN</span>",
        "<script>UNSEEN</script>",
        '<script>var s = "<p>UNSEEN</p>";</script>',
        "<style>.UNSEEN{}</style>",
        "<noscript>UNSEEN</noscript>",
        "<template><p>UNSEEN</p></template>",
        "<svg><text>UNSEEN</text></svg>",
        "<button>UNSEEN</button>",
        "<textarea>UNSEEN</textarea>",
        "<select><option>UNSEEN</option></select>",
        "<!-- UNSEEN -->",
        '<span class="mw-editsection">[<a href="Special:Edit">UNSEEN</a>]</span>',
        '<img src="UNSEEN.png" alt="UNSEEN">',
    ],
)
def test_unseen_parts_do_not_break_the_sentence(unseen: str) -> None:
    """What is not shown is cut, and the sentence around it stays whole."""
    assert a_page(f"<p>The old{unseen} tower stands.</p>").text == "The old tower stands."


@pytest.mark.parametrize(
    "around",
    [
        '<nav><a href="Home">UNSEEN</a></nav>',
        '<div role="navigation">UNSEEN</div>',
        '<table class="navbox"><tr><td>UNSEEN<table><tr><td>UNSEEN</td></tr></table></td></tr></table>',
        '<table class="sidebar"><tr><td>UNSEEN</td></tr></table>',
        '<table class="succession-box"><tr><td>UNSEEN</td></tr></table>',
        '<div id="toc" class="toc"><ul><li>UNSEEN</li></ul></div>',
        '<div id="siteSub">UNSEEN</div>',
        '<div class="hatnote">UNSEEN</div>',
        '<ol class="references"><li>UNSEEN</li></ol>',
        '<table class="ambox"><tr><td>UNSEEN</td></tr></table>',
        '<div class="sistersitebox">UNSEEN</div>',
        '<div id="catlinks">UNSEEN</div>',
        '<div class="thumb"><div class="magnify">UNSEEN</div></div>',
        "<footer>UNSEEN</footer>",
        "<form>UNSEEN</form>",
    ],
)
def test_menus_notes_and_references_are_not_text(around: str) -> None:
    """Menus, boxes of links, notes of editors and lists of references are cut, however they are nested."""
    assert a_page(f"<p>Before.</p>{around}<p>After.</p>").text == "Before.\n\nAfter."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("40\u00a0m and 5&nbsp;km", "40 m and 5 km"),
        ("thin\u2009space", "thin space"),
        ("zero\u200bwidth", "zerowidth"),
        ("soft\u00adhyphen and co&shy;op", "softhyphen and coop"),
        ("\u200eleft\u200f and \u202aright\u202c \u2066x\u2069", "left and right x"),
        ("\ufeffmark", "mark"),
        ("word\u2060joiner", "wordjoiner"),
        ("a\u200db and c\u200cd", "ab and cd"),
        (f"می{ZWNJ}خواهم", f"می{ZWNJ}خواهم"),
        (f"क्{ZWJ}ष", f"क्{ZWJ}ष"),
        (f"👩{ZWJ}🚀 flies", f"👩{ZWJ}🚀 flies"),
        ("tab\there\nand\r\nthere", "tab here and there"),
        ("many    spaces", "many spaces"),
        ("a &lt;b&gt; &amp; &quot;c&quot; &mdash; d", 'a <b> & "c" — d'),
        ("&amp;lt; stays &lt;", "&lt; stays <"),
        ("ﬁne ½ ①", "ﬁne ½ ①"),
    ],
)
def test_characters_are_normalised(written: str, shown: str) -> None:
    """White space becomes one space, unseen characters go, and joiners stay where a script needs them."""
    assert a_page(f"<p>{written}</p>").text == shown


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("10<sup>6</sup> cells", "10⁶ cells"),
        ("10<sup>-3</sup> or 10<sup>−3</sup> m", "10⁻³ or 10⁻³ m"),
        ("H<sub>2</sub>O and C<sub>12</sub>", "H₂O and C₁₂"),
        ("x<sup>n</sup> + Ca<sup>2+</sup>", "xⁿ + Ca²⁺"),
        ("km<sup>2</sup>.<sup>[2]</sup>", "km²."),
        ("10<sup><b>6</b></sup> and m<sup><a href='X'>2</a></sup>", "10⁶ and m²"),
        ("the 1<sup>st</sup> of May", "the 1st of May"),
        ("v<sub>max</sub>", "vmax"),
    ],
)
def test_raised_figures_stay_raised(html: str, text: str) -> None:
    """Ten to the sixth is not a hundred and six."""
    assert a_page(f"<p>{html}</p>").text == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one<br>two</p>", "one\ntwo"),
        ("<div>one<div>two</div>three</div>", "one\n\ntwo\n\nthree"),
        ("one<p>two</p>three", "one\n\ntwo\n\nthree"),
        ("<p>one</p>\n<p> </p><p>&nbsp;</p><hr><p><br></p>\n<p>two</p>", "one\n\ntwo"),
        ("<ul><li>one</li><li>two</li></ul>three", "one\ntwo\n\nthree"),
        ("<ul><li>one<ul><li>two</li><li>three</li></ul></li><li>four</li></ul>", "one\ntwo\nthree\nfour"),
        ("<dl><dt>term</dt><dd>one</dd><dd>two</dd></dl>", "term\none\ntwo"),
        ("<h2>Head</h2>text", "Head\n\ntext"),
        ("<blockquote><p>one</p><p>two</p></blockquote>three", "one\n\ntwo\n\nthree"),
        ("<section>one</section><article>two</article>", "one\n\ntwo"),
        ("<p>one<b>two</b> <i>three</i><span> four </span>.</p>", "onetwo three four ."),
        ("<p> one <b> two</b></p>", "one two"),
        ("<details><summary>one</summary><p>two</p></details>", "one\n\ntwo"),
    ],
)
def test_block_boundaries_are_kept(html: str, text: str) -> None:
    """Paragraphs are apart by an empty line, items and broken lines by a line, and inline tags by nothing."""
    assert a_page(html).text == text


def test_code_keeps_its_lines() -> None:
    """Preformatted text keeps its line breaks and indents; what is around it does not get them."""
    page = a_page("<p>So:</p><pre>def f(x):\n    if x:\n\n        return  1</pre><p>That   is\nall.</p>")
    assert kinds(page) == [
        "paragraph: So:",
        "code: def f(x):\n    if x:\n\n        return  1",
        "paragraph: That is all.",
    ]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>\n\n  first\n</pre>", "  first"),
        ("<pre> \n<b>go</b></pre>", "go"),
        ("<pre>a\tb</pre>", "a   b"),
        ("<pre>a\n\n</pre><pre>b</pre>", "a\n\nb"),
        ("<pre>a &lt; b\u200b &amp;&amp; c</pre>", "a < b && c"),
        ("<pre> \n </pre>", ""),
    ],
)
def test_edges_of_code(html: str, text: str) -> None:
    """Code loses the empty lines around it and unseen characters, and nothing else."""
    assert a_page(html).text == text


def test_coloured_code_keeps_its_lines() -> None:
    """Code that is split into coloured words reads as it is shown."""
    page = a_page('<pre><span class="k">for</span> <span>i</span>:\n    <span>go</span>()\n</pre>')
    assert page.text == "for i:\n    go()"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            '<img class="mwe-math-fallback-image-inline tex" alt="e^x" src="m/1.png"> is its own slope',
            "e^x is its own slope",
        ),
        (
            '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle E=mc^{2}}"> holds',
            "E=mc^{2} holds",
        ),
        ('<math alttext="a+b"><mi>a</mi><mo>+</mo><mi>b</mi></math> is odd', "a+b is odd"),
    ],
)
def test_formulas_are_read_from_their_source(html: str, text: str) -> None:
    """A formula is in the text as its TeX, once."""
    assert a_page(f"<p>So {html}</p>").text == f"So {text}"


def test_blocks_say_what_they_are() -> None:
    """Each block knows whether it is a paragraph, an item, a caption or something else."""
    page = a_page(
        "<p>Lead.</p><h2>Head</h2><ul><li>Item</li></ul><blockquote>Quoted.</blockquote><pre>code</pre>"
        "<figure><img src=x><figcaption>Under it</figcaption></figure><table><tr><td>a</td><td>b</td></tr></table>"
    )
    assert kinds(page) == [
        "paragraph: Lead.",
        "heading: Head",
        "item: Item",
        "quote: Quoted.",
        "code: code",
        "caption: Under it",
        "row: a\tb",
    ]


@pytest.mark.parametrize(
    "picture",
    [
        "<figure><a href='File:X.jpg'><img src='x.jpg'></a><figcaption>The <b>old</b> tower</figcaption></figure>",
        "<div class='thumb tright'><div class='thumbinner'><img src='x.jpg'><div class='thumbcaption'>"
        "<div class='magnify'><a href='File:X.jpg'>Enlarge</a></div>The <b>old</b> tower</div></div></div>",
        "<ul class='gallery'><li><img src='x.jpg'><div class='gallerytext'>The old tower</div></li></ul>",
    ],
)
def test_captions_of_every_age_are_captions(picture: str) -> None:
    """The words under a picture are a block of their own, and what follows is a paragraph again."""
    page = a_page(f"<p>Before.</p>{picture}<p>After.</p>")
    assert kinds(page) == ["paragraph: Before.", "caption: The old tower", "paragraph: After."]
