"""Style sheets, scripts and pictures of the desk, addressed by their content so that browsers cache them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

from fastapi import APIRouter, Request
from starlette.responses import Response

from kiwiresearch.errors import PageNotFound
from kiwiresearch.web.guard import RoleRouter

URL_PREFIX = "/static/"
CACHE_FOREVER = "public, max-age=31536000, immutable"
NOTHING_ALLOWED = "default-src 'none'; frame-ancestors 'none'"
TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "txt": "text/plain; charset=utf-8",
}


DARK_COLOURS = re.compile(rb"@media \(prefers-color-scheme: dark\) \{\s*:root \{(?P<colours>[^{}]*)\}\s*\}")
DARK_BY_CHOICE = (
    rb"@media screen and (prefers-color-scheme: dark) {\n  :root:not([data-theme=light]) {\g<colours>}\n}\n"
    rb"@media screen {\n  :root[data-theme=dark] {\g<colours>}\n}"
)
"""A style sheet names its dark colours once, for the system's preference; they are also used if the reader chose them.

Paper is always light.
"""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of the desk."""

    content: bytes
    type: str
    content_hash: str
    """Changes with the content."""


@cache
def static_files() -> Mapping[str, StaticFile]:
    """All files of the desk by name, such as 'css/base.css'."""
    return MappingProxyType(dict(_found(files("kiwiresearch.web.desk") / "static")))


def _found(folder: Traversable, before: str = "") -> Iterator[tuple[str, StaticFile]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        name = before + item.name
        if item.is_dir():
            yield from _found(item, f"{name}/")
        elif kind := TYPES.get(name.rpartition(".")[2]):
            content = item.read_bytes()
            if name.endswith(".css"):
                content = DARK_COLOURS.sub(DARK_BY_CHOICE, content)
            yield name, StaticFile(content, kind, hashlib.sha256(content).hexdigest()[:12])


def file_address(name: str) -> str:
    """The address of a file, with the hash of its content."""
    return f"{URL_PREFIX}{static_files()[name].content_hash}/{name}"


def has_file(name: str) -> bool:
    """Whether the file exists: third-party libraries are only in a built package, or after Node has fetched them."""
    return name in static_files()


def router() -> APIRouter:
    """The route to all files; the hash in an address only distinguishes versions for caches."""
    routes = RoleRouter("stranger")

    @routes.api_route(URL_PREFIX + "{content_hash}/{name:path}", methods=["GET", "HEAD"], include_in_schema=False)
    def file(request: Request, content_hash: str, name: str) -> Response:
        found = static_files().get(name)
        if found is None:
            raise PageNotFound(f"The web interface has no file {name!r}.", remedy="Reload the page.")
        caching = CACHE_FOREVER if content_hash == found.content_hash else "no-cache"
        tag = f'"{found.content_hash}"'
        headers = {"ETag": tag, "Cache-Control": caching, "Content-Security-Policy": NOTHING_ALLOWED}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(found.content, headers=headers, media_type=found.type)

    return routes
