"""The sample book: the shelf of a user who has added no book yet.

Its articles are files of HTML in `sample_book/`, written for this project;
here they get the head, the category box and the footer that mwoffliner gives,
and become a real ZIM file in the cache folder, built once.
"""

from __future__ import annotations

import hashlib
import html
import re
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.errors import BadSettings
from kiwiresearch.zim.build import NewPage, NewRedirect, write_book

ARTICLES = Path(__file__).with_name("sample_book")
FORM = 1
"""Raised when the pages' frame below changes, so that cached books are built again."""

METADATA = {
    "Name": "kiwiresearch_en_sample",
    "Title": "kiwiresearch sample book",
    "Description": "A small encyclopedia to try kiwiresearch on",
    "LongDescription": "Articles on the Late Bronze Age collapse, the sky, galaxies and three families.",
    "Language": "eng",
    "Creator": "kiwiresearch",
    "Publisher": "kiwiresearch",
    "Date": "2025-07-01",
    "License": "GPL-3.0-or-later",
    "Scraper": "kiwiresearch",
    "Tags": "_category:other;_ftindex:yes;_pictures:no;_videos:no;_details:yes",
}

HEAD = re.compile(r'<title>(?P<title>.*?)</title>|<meta name="(?P<key>\w+)" content="(?P<value>[^"]*)">')

PAGE = """<!DOCTYPE html>
<html lang="en"><head>
<meta charset="UTF-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1.0">
</head>
<body class="mediawiki ltr ns-{namespace} skin-vector">
<div id="content" class="mw-body">
<a id="top"></a>
<h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1>
<div id="bodyContent" class="vector-body">
<div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
{content}
</div></div>
{categories}<!--htdig_noindex--><div class="zim-footer">
This article is issued from the <a class="external text" title="Last edited on {edited}" href="https://sample.kiwiresearch.invalid/w/index.php?title={address}&amp;oldid={revision}">kiwiresearch sample</a>. The text is licensed under the GNU General Public License, version 3 or later.
</div><!--/htdig_noindex-->
</div></div>
</body></html>
"""


@dataclass(frozen=True, slots=True)
class Article:
    """A file of the folder: what it says about itself, and its HTML."""

    title: str
    edited: str
    revision: str
    redirects: tuple[str, ...]
    categories: tuple[str, ...]
    content: str

    @property
    def path(self) -> str:
        return path_of(self.title)


def path_of(title: str) -> str:
    return title.replace(" ", "_")


def read_articles(folder: Path = ARTICLES) -> list[Article]:
    """All articles of the folder, by title."""
    found = [_article(file.read_text(encoding="utf-8")) for file in folder.glob("*.html")]
    return sorted(found, key=lambda article: article.title)


def sample_file(cache: Path) -> Path:
    """The sample book in the cache folder, built if it is not there or its articles have changed."""
    digest = hashlib.sha256(f"{FORM} {sorted(METADATA.items())}".encode())
    for file in sorted(ARTICLES.glob("*.html")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    target = cache / f"sample-{digest.hexdigest()[:16]}.zim"
    if not target.is_file():
        try:
            build_sample(target)
        except (OSError, RuntimeError) as problem:
            raise BadSettings(
                f"The sample book cannot be written to {str(cache)!r}: {problem}.",
                remedy="Make room or set KIWIRESEARCH_HOME to a folder that can be written.",
            ) from problem
        for old in cache.glob("sample-*.zim"):
            if old != target:
                old.unlink(missing_ok=True)
    return target


def build_sample(target: Path) -> None:
    articles = read_articles()
    pages = [_main_page(articles), *map(_page, articles), *_category_pages(articles)]
    redirects = [NewRedirect(path_of(name), name, article.path) for article in articles for name in article.redirects]
    write_book(target, pages, redirects, metadata=METADATA, main_path="Main_Page")


def _article(source: str) -> Article:
    head, _, content = source.partition("\n\n")
    values = {m["key"] or "title": html.unescape(m["value"] or m["title"] or "") for m in HEAD.finditer(head)}
    return Article(
        title=values["title"],
        edited=values["edited"],
        revision=values["revision"],
        redirects=_names(values.get("redirects", "")),
        categories=_names(values.get("categories", "")),
        content=content.strip(),
    )


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split("|") if name.strip())


def _page(article: Article) -> NewPage:
    return NewPage(article.path, article.title, _html(article).encode())


def _html(article: Article, namespace: int = 0) -> str:
    links = "".join(f"<li>{_link(f'Category:{name}', name)}</li>" for name in article.categories)
    box = (
        '<div id="catlinks" class="catlinks"><div id="mw-normal-catlinks" class="mw-normal-catlinks">'
        f"Categories: <ul>{links}</ul></div></div>\n"
    )
    return PAGE.format(
        title=html.escape(article.title, quote=False),
        address=html.escape(article.path),
        namespace=namespace,
        content=article.content,
        categories=box if links else "",
        edited=article.edited,
        revision=article.revision,
    )


def _link(title: str, words: str) -> str:
    return f'<a href="./{html.escape(path_of(title))}" title="{html.escape(title)}">{html.escape(words)}</a>'


def _category_pages(articles: list[Article]) -> list[NewPage]:
    names = sorted({name for article in articles for name in article.categories})
    pages = []
    for number, name in enumerate(names):
        members = [article.title for article in articles if name in article.categories]
        rows = "\n".join(f"<li>{_link(title, title)}</li>" for title in members)
        content = f'<div id="mw-pages"><p>The pages in this category.</p>\n<ul>\n{rows}\n</ul></div>'
        page = Article(f"Category:{name}", METADATA["Date"], str(100_900 + number), (), (), content)
        pages.append(NewPage(page.path, page.title, _html(page, 14).encode(), is_article=False))
    return pages


def _main_page(articles: list[Article]) -> NewPage:
    rows = "\n".join(f"<li>{_link(article.title, article.title)}</li>" for article in articles)
    content = f"<p>The articles of the sample book.</p>\n<ul>\n{rows}\n</ul>"
    page = Article("Main Page", METADATA["Date"], "100900", (), (), content)
    return NewPage(page.path, page.title, _html(page).encode(), is_article=False)
