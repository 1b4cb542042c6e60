"""A server on loopback that answers as kiwix-serve 3.7 does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.http_servers import Request, answer

UUID = "0b5e8f4c-3f6d-4a3b-9a55-2d8f6f1f7a10"

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/terms/">
  <totalResults>{total}</totalResults>
  {entries}
</feed>
"""

ENTRY = """<entry>
    <id>urn:uuid:{uuid}</id>
    <title>{title}</title>
    <updated>2024-06-01T00:00:00Z</updated>
    <summary>A book of the newer kind</summary>
    <language>eng,fra</language>
    <name>{name}</name>
    <flavour>_nopic</flavour>
    <category>wikipedia</category>
    <tags>wikipedia;_category:wikipedia;_pictures:no;_ftindex:yes</tags>
    <articleCount>{articles}</articleCount>
    <mediaCount>7</mediaCount>
    <link rel="http://opds-spec.org/image/thumbnail" href="{root}/catalog/v2/illustration/{uuid}/?size=48"
          type="image/png;width=48;height=48;scale=1"/>
    <link type="text/html" href="{root}/{listed}{name}"/>
    <author><name>Wikipedia</name></author>
    <publisher><name>openZIM</name></publisher>
    <dc:issued>2024-05-31T00:00:00Z</dc:issued>
    <link rel="http://opds-spec.org/acquisition/open-access" type="application/x-zim"
          href="https://example.invalid/{name}.zim.meta4" length="123456"/>
  </entry>"""

MALFORMED_ERROR = (
    '<?xml version="1.0" encoding="UTF-8">\n<error>The requested URL "/search?a=1&b=2" is not valid</error>'
)

HIT = """<item><title>{title}</title><link>{link}</link>
<description>...the <b>{word}</b> of it...</description><wordCount>1,146</wordCount></item>"""

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><channel>
<title>Search</title><opensearch:totalResults>{total}</opensearch:totalResults>
{items}
</channel></rss>"""


@dataclass
class NewerServe:
    """One book, served below a root: pages at /content/NAME, and redirects of /raw lead there too.

    `listed` is what its catalogue puts before the name of the book. Without `searches` it refuses
    every search, as libkiwix does for a book of two languages.
    """

    pages: Mapping[str, str]
    redirects: Mapping[str, str] = field(default_factory=dict)
    name: str = "newer_book"
    title: str = "Newer book"
    root: str = "/kiwix"
    listed: str = "content/"
    searches: bool = True
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> None:
        self.asked.append(request.path)
        address = urlsplit(request.path)
        path = address.path
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        raw = f"{self.root}/raw/{quote(self.name)}/content/"
        content = f"{self.root}/content/{quote(self.name)}/"
        if path == f"{self.root}/catalog/v2/entries":
            self._catalogue(request, int(query.get("start", "0")))
        elif path.startswith(raw):
            self._page(request, unquote(path.removeprefix(raw)))
        elif path.startswith(content):
            self._page(request, unquote(path.removeprefix(content)))
        elif path == f"{self.root}/search":
            self._search(request, query)
        elif path == f"{self.root}/suggest" and query.get("content") == self.name:
            self._suggest(request, query)
        else:
            answer(request, 404, "<html><title>Not Found</title></html>")

    def _catalogue(self, request: Request, start: int) -> None:
        entry = ENTRY.format(
            uuid=UUID,
            title=escape(self.title),
            name=self.name,
            root=self.root,
            listed=self.listed,
            articles=len(self.pages),
        )
        answer(
            request,
            200,
            FEED.format(total=1, entries="" if start else entry),
            "application/atom+xml",
        )

    def _page(self, request: Request, path: str) -> None:
        if path in self.redirects:
            place = f"{self.root}/content/{quote(self.name)}/{quote(self.redirects[path])}"
            answer(request, 302, "", Location=place)
        elif path in self.pages:
            answer(request, 200, self.pages[path], "text/html; charset=utf-8")
        else:
            answer(request, 404, "<html><title>Content not found</title></html>")

    def _search(self, request: Request, query: Mapping[str, str]) -> None:
        words = query.get("pattern", "").casefold().split()
        if not self.searches or not words or query.get("books.id") != UUID:
            answer(request, 400, MALFORMED_ERROR, "application/xml")
            return
        hits = [p for p, text in self.pages.items() if set(words) <= _words(text)]
        shown = hits[: int(query.get("pageLength", "25"))]
        items = "".join(
            HIT.format(
                title=escape(p.replace("_", " ")),
                link=f"{self.root}/content/{quote(self.name)}/{quote(p)}",
                word=escape(words[0]),
            )
            for p in shown
        )
        answer(request, 200, RSS.format(total=len(hits), items=items), "application/rss+xml")

    def _suggest(self, request: Request, query: Mapping[str, str]) -> None:
        term = query.get("term", "").casefold()
        rows = [
            {"value": escape(title), "label": f"<b>{escape(title)}</b>", "kind": "path", "path": p}
            for p in self.pages
            if (title := p.replace("_", " ")).casefold().startswith(term)
        ][: int(query.get("count", "10"))]
        pattern = {"value": f"{term} ", "label": f"containing '{term}'...", "kind": "pattern"}
        answer(request, 200, json.dumps([*rows, pattern]), "application/json")


def _words(markup: str) -> set[str]:
    return set(re.findall(r"\w+", re.sub(r"<[^>]*>", " ", markup).casefold()))
