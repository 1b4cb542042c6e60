"""What is not the article's own text, as data: selectors, and why they are cut.

Selectors are plain: a tag, `.classes`, an `#id`, attributes with `=`, `^=` or
`*=` (letter case ignored), joined without spaces, several with commas. The
first rule that fits an element decides. Links inside what is cut are still
collected, under the name of their group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Group = Literal[
    "hidden", "title", "machinery", "navigation", "hatnote", "references", "note", "infobox", "categories",
    "reference mark", "editor mark",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cut:
    """What a selector finds, and the reason why that is no text of the article."""

    group: Group
    selector: str
    reason: str


ROOTS = ("mw-content-text", "bodyContent", "main", "content")
"""Ids of the element that holds the article: MediaWiki of every age, then the usual names of hand-made sites.

Pages with none of them are read from their <main>, else from their <body>.
"""

CUTS = (
    Cut("hidden", "script, style, template, noscript, iframe, object, embed, noembed, noframes, head, xmp, plaintext",
        "code, or shown only where code fails"),
    Cut("hidden", "svg, canvas, audio, video, map", "pictures and players; their inner text is not read as prose"),
    Cut("hidden", '[style*="display:none"], [style*="display: none"], [style*="visibility:hidden"], '
        '[style*="visibility: hidden"], [hidden]', "hidden: machine-readable dates and sort keys"),
    Cut("hidden", ".sortkey, .Z3988, .persondata, .geo-nondefault, .cs1-maint, .cs1-hidden-error, .mw-empty-elt",
        "hidden by MediaWiki's style sheets"),
    Cut("hidden", "input, select, textarea, button, form, datalist", "controls, which do nothing in a book"),
    Cut("reference mark", 'sup.reference, span.reference, .mw-ref, sup[id^="cite_ref"], span[id^="cite_ref"], '
        'sup[id^="_ref"], cite[id^="ref_"]', "a number that points at a note"),
    Cut("editor mark", "sup.Inline-Template, span.Inline-Template, .Template-Fact, .disputed-inline, sup.noprint",
        "'citation needed' and its kin"),
    Cut("title", "#firstHeading, #titleHeading, h1.section-heading, h1.firstHeading",
        "the title is held apart from the text"),
    Cut("categories", "#catlinks, .catlinks", "the page's categories"),
    Cut("machinery", ".mw-editsection, .editsection, .mw-editsection-like", "edit links"),
    Cut("machinery", "#toc, .toc, .fancy_toc", "tables of contents repeat the headings"),
    Cut("machinery", "#siteSub, #contentSub, #jump-to-nav, .mw-jump-link, .printfooter, .mw-indicators, .topicon",
        "the site's own lines"),
    Cut("machinery", ".magnify, .t_nihongo_help, .mw-cite-backlink, .audiolinkinfo", "signs to click on"),
    Cut("machinery", ".sistersitebox, .sisterproject, .portal, .portalbox, .soslink, .side-box",
        "pointers to other sites"),
    Cut("machinery", ".spoiler, .endspoiler", "warnings of old Wikipedia, not statements of the article"),
    Cut("machinery", "#footer, footer, .zim-footer, ._attribution", "who made the book, not what it says"),
    Cut("hatnote", ".hatnote, .dablink, .rellink, .mainarticle, .seealso",
        "'not to be confused' lines, kept as hatnotes"),
    Cut("references", ".references, .mw-references, .reflist, .references-small, .mw-references-wrap",
        "the list of notes, counted"),
    Cut("note", ".ambox, .asbox, .dmbox, .tmbox, .ombox, .fmbox, .mbox-small, .stub, #disambigbox, #setindexbox, "
        ".disambig", "notes of editors about the page, read as signals"),
    Cut("note", "table.metadata, div.notice.metadata, div.metadata.plainlinks, table.cleanup, .boilerplate.metadata",
        "the same before 2010"),
    Cut("infobox", "table.infobox, div.infobox, aside.infobox", "English and most other Wikipedias"),
    Cut("infobox", '[class*="infobox_v"]', "French Wikipedia"),
    Cut("infobox", "table.toccolours.vcard, table.biota, table.taxobox, table.sinottico, aside.portable-infobox",
        "older, Italian and Fandom's forms"),
    Cut("navigation", ".navbox, .vertical-navbox, .NavFrame, .navbox-styles", "boxes of links to sister articles"),
    Cut("navigation", ".sidebar, .succession-box, .succession, .navbar, .authority-control, .subpages, .breadcrumbs",
        "series, successions, paths and catalogues"),
    Cut("navigation", 'nav, [role="navigation"], [role="search"], [role="banner"], [role="contentinfo"]', "menus"),
)  # fmt: skip

CAPTION_CLASSES = ("thumbcaption", "gallerytext", "infobox-caption", "image-caption")
"""Classes of the words under a picture, which older pages keep in a plain division."""
