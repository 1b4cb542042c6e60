"""Style sheets of a book: nothing in them reaches outside it, and what points into it arrives."""

from __future__ import annotations

import re

from kiwiresearch.page.addresses import FONT, Addresses

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|(.))", re.DOTALL)
REACH = re.compile(
    r"""[uU][rR][lL]\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"')]*))\s*\)?"""
    r"""|@[iI][mM][pP][oO][rR][tT]\s*(?:"([^"\n]*)"|'([^'\n]*)')"""
    r"""|(?i:image-set\([^;{}]*|@(?:namespace|charset)\b[^;{}]*;?|(?:-moz-binding|behavior)\s*:[^;{}]*|expression\s*\()"""
)
SIGNS = ("url", "import", "image-set", "@", "binding", "behavior", "expression", "<", "\\")
"""Styles with none of these reach nowhere."""


def cleaned_style(css: str, addresses: Addresses) -> str:
    """The style with its addresses set right; those that lead outside are taken out.

    The result holds no '<', so that no markup can come out of it.
    """
    lowered = css.lower()
    if not any(sign in lowered for sign in SIGNS):
        return css
    if "/*" in css:
        css = COMMENT.sub(" ", css)
    if "\\" in css:
        css = ESCAPE.sub(_letter, css)
    return REACH.sub(lambda found: _reach(found, addresses), css).replace("<", "\\3c ")


def _letter(found: re.Match[str]) -> str:
    r"""A letter that is spelled as a code, as in 'u\72l', stands for itself; what is quoted otherwise stays."""
    code, plain = found.groups()
    letter = chr(int(code, 16)) if code and int(code, 16) < 128 else plain or ""
    return letter if letter.isascii() and letter.isalpha() else found[0]


def _reach(found: re.Match[str], addresses: Addresses) -> str:
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
    return url.replace("\\", "%5C").replace('"', "%22").replace("\n", "")
