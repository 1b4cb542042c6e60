"""The parts of a book's page that a browser may get: addresses, style sheets, elements and attributes."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import quote

from kiwiresearch.zim import resolve_href

LinkKind = Literal["inside", "outside", "nowhere"]

UNSEEN = re.compile("[\t\n\r]")
EDGES = "".join(map(chr, range(0x21)))
"""Browsers strip white space and control characters from an address, so 'java\\nscript:' works for them."""

# 'https://host' and 'mailto:x'; not 'https:///x' or 'javascript:x'.
OUTSIDE = re.compile(r"(?:https?://[^/\\\s]|mailto:[^\s])", re.IGNORECASE)
HOST_ONLY = re.compile(r"//[^/\\\s]")
PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif|svg\+xml|bmp|x-icon)[;,]", re.IGNORECASE)
FONT = re.compile(r"data:(?:font/|application/(?:x-)?font|application/octet-stream)[^,]*,", re.IGNORECASE)

_STEP = r"[\w(),'!*=+@-][\w(),'!*=+@.-]*"
PLAIN = re.compile(rf"(?:\./)?{_STEP}(?:/{_STEP})*/?(?:#[\w(),'!*=+@.:/-]*)?")
"""Addresses that a browser resolves just as the book does: no scheme, no query, no dots, no escapes."""

SAFE = "/:@!$&'()*+,;=~"


class LinkAddress(NamedTuple):
    """The target of a link as a URL for a browser; empty if it leads nowhere."""

    kind: LinkKind
    url: str


NOWHERE = LinkAddress("nowhere", "")


class PageAddresses:
    """Resolves the addresses in one file of a book; the book is served at `root`, and the file has this `path`.

    With `is_absolute` every address starts with the root, for a file that is shown elsewhere.
    """

    def __init__(self, root: str, path: str, *, base: str = "", is_absolute: bool = False) -> None:
        self._root = root
        self._is_absolute = is_absolute
        self._path = path
        target = resolve_href(path, base) if base else None
        if target is not None:
            self._path = target.path
        self.is_moved = self._path != path
        """Whether a <base> element makes its addresses relative to another path."""

    def link(self, href: str) -> LinkAddress:
        """Where a link leads."""
        tidy = _tidy(href)
        if tidy.startswith("#"):
            return LinkAddress("inside", tidy)
        if OUTSIDE.match(tidy):
            return LinkAddress("outside", tidy)
        if HOST_ONLY.match(tidy):
            return LinkAddress("outside", f"https:{tidy}")
        url = self._inside(tidy)
        return LinkAddress("inside", url) if url else NOWHERE

    def file(self, href: str) -> str:
        """The URL of a picture, style sheet or the like; empty if it is not in the book."""
        tidy = _tidy(href)
        if PICTURE.match(tidy):
            return tidy
        if tidy.startswith(("#", "//")):
            return ""
        return self._inside(tidy)

    def _inside(self, tidy: str) -> str:
        if not self.is_moved and not self._is_absolute and PLAIN.fullmatch(tidy):
            return tidy
        # A backslash is a slash to browsers, but never to books.
        target = resolve_href(self._path, tidy)
        if target is None or "\0" in target.path:
            return ""
        anchor = f"#{quote(target.anchor, safe=SAFE, errors='replace')}" if target.anchor else ""
        return book_url(self._root, target.path) + anchor


def book_url(root: str, path: str) -> str:
    """The URL at which a path of a book is served."""
    return root + quote(path, safe=SAFE, errors="replace")


def _tidy(href: str) -> str:
    return UNSEEN.sub("", href).strip(EDGES)


COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(.))", re.DOTALL)
REACH = re.compile(
    r"""[uU][rR][lL]\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"')]*))\s*\)?"""
    r"""|@[iI][mM][pP][oO][rR][tT]\s*(?:"([^"\n]*)"|'([^'\n]*)')"""
    r"""|(?i:image-set\([^;{}]*|@(?:namespace|charset)\b[^;{}]*;?|(?:-moz-binding|behavior)\s*:[^;{}]*|expression\s*\()"""
)
SIGNS = ("url", "import", "image-set", "@", "binding", "behavior", "expression", "<", "\\")
"""A style without any of these loads nothing."""


def cleaned_style(css: str, addresses: PageAddresses) -> str:
    """The style with its addresses resolved, and without those that lead out of the book.

    The result contains no '<', so it cannot end its element and start other markup.
    """
    lowered = css.lower()
    if not any(sign in lowered for sign in SIGNS):
        return css
    if "/*" in css:
        css = COMMENT.sub(" ", css)
    # Escapes are decoded before the search, or 'u\72l(' would hide an address from it.
    if "\\" in css:
        css = ESCAPE.sub(_letter, css)
    return REACH.sub(lambda found: _reach(found, addresses), css).replace("<", "\\3c ")


def _letter(found: re.Match[str]) -> str:
    r"""Decode an escaped ASCII letter, as in 'u\72l'; other escapes stay as they are."""
    code, plain = found.groups()
    letter = chr(int(code, 16)) if code and int(code, 16) < 128 else plain or ""
    return letter if letter.isascii() and letter.isalpha() else found[0]


def _reach(found: re.Match[str], addresses: PageAddresses) -> str:
    spelled = found[0].lower()
    if spelled.startswith(("url", "@import")):
        href = next((group for group in found.groups() if group is not None), "").strip()
        if href.startswith("#"):
            return f'url("{_quoted(href)}")'
        url = href if FONT.match(href) else addresses.file(href)
        start = "@import " if spelled.startswith("@") else ""
        return f'{start}url("{_quoted(url)}")' if url else f"{start}url()"
    return ""


def _quoted(url: str) -> str:
    # Nothing that could end the quotation marks around the address.
    return url.replace("\\", "%5C").replace('"', "%22").replace("\n", "")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


REMOVED_ELEMENTS = (
    "script, iframe, object, embed, applet, template, xmp, noembed, noframes, plaintext, frameset, "
    "input, select, textarea, button, datalist, optgroup, option, portal, fencedframe, animate, set, "
    "animateTransform, animateMotion, handler, listener"
)
"""Elements that are removed with their content: code, frames, controls, and what a parser reads as raw text."""

REMOVED_KEEPING_SCRIPTS = REMOVED_ELEMENTS.removeprefix("script, ")

TEXT_ELEMENTS = _names(
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
ALLOWED_ELEMENTS = TEXT_ELEMENTS | MEDIA | DRAWING | FORMULAS

FILE_ATTRIBUTES = frozenset({"src", "poster", "background", "lowsrc"})
"""Attributes that load a file."""

LINK_ATTRIBUTES = frozenset({"href", "xlink:href"})
SRCSET_ATTRIBUTES = frozenset({"srcset", "imagesrcset"})

REMOVED_ATTRIBUTES = _names(
    "action formaction formmethod formtarget form ping target srcdoc http-equiv manifest profile codebase classid "
    "archive data code longdesc cite integrity nonce crossorigin referrerpolicy autofocus contenteditable accesskey "
    "xml:base is slot popover popovertarget popovertargetaction command commandfor autoplay attributename "
    "download itemid itemtype attributionsrc sandbox allow csp fetchpriority "
    "altimg dsi:name definitionurl cdgroup actiontype"
)
"""Attributes that trigger an action or load something."""
