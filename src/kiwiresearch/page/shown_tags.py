"""Which elements and attributes of a book's pages are shown, as data."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


GONE = (
    "script, iframe, object, embed, applet, template, xmp, noembed, noframes, plaintext, frameset, "
    "input, select, textarea, button, datalist, optgroup, option, portal, fencedframe, animate, set, "
    "animateTransform, animateMotion, handler, listener"
)
"""Elements that go with all that is in them: code, frames, controls, and what a parser reads as raw text."""

GONE_BESIDE_SCRIPTS = GONE.removeprefix("script, ")

TEXT = _names(
    "html head body title article aside footer header main nav section address hgroup search h1 h2 h3 h4 h5 h6 div p "
    "span hr pre blockquote ol ul li dl dt dd figure figcaption menu center a em strong small s strike cite q dfn "
    "abbr acronym data time code var samp kbd sub sup i b u mark bdi bdo br wbr ruby rb rt rtc rp ins del big tt font "
    "table caption colgroup col tbody thead tfoot tr td th details summary dialog fieldset legend label output meter "
    "progress nobr dir listing"
)
MEDIA = _names("img picture source audio video track map area")
DRAWING = _names(
    "svg g defs desc symbol use image switch path rect circle ellipse line polyline polygon text tspan textpath "
    "marker lineargradient radialgradient stop pattern clippath mask filter feblend fecolormatrix "
    "fecomponenttransfer fecomposite feconvolvematrix fediffuselighting fedisplacementmap fedistantlight "
    "fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur femerge femergenode femorphology feoffset "
    "fepointlight fespecularlighting fespotlight fetile feturbulence foreignobject metadata view"
)
FORMULAS = _names(
    "math semantics annotation maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom "
    "mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none "
    "mlabeledtr mglyph"
)
SHOWN = TEXT | MEDIA | DRAWING | FORMULAS

FILES = frozenset({"src", "poster", "background", "lowsrc"})
"""Attributes that load a file."""

LINKS = frozenset({"href", "xlink:href"})
LISTS = frozenset({"srcset", "imagesrcset"})

DROPPED = _names(
    "action formaction formmethod formtarget form ping target srcdoc http-equiv manifest profile codebase classid "
    "archive data code longdesc cite integrity nonce crossorigin referrerpolicy autofocus contenteditable accesskey "
    "xml:base is slot popover popovertarget popovertargetaction command commandfor autoplay attributename "
    "download itemid itemtype attributionsrc sandbox allow csp fetchpriority "
    "altimg dsi:name definitionurl cdgroup actiontype"
)
"""Attributes that do something, or reach somewhere."""
