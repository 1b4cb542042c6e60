"""What a browser tells of the page that made a request."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

OURS = frozenset({"same-origin", "none"})
"""What a browser says of requests that come from our own pages, or from the user's own hand."""

PORTS = {"http": ":80", "https": ":443"}


def is_same(origin: str, host: str) -> bool:
    """Whether an Origin is the server that the Host header names."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    port = PORTS.get(parts.scheme)
    if port is None or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return False
    return parts.netloc.lower().removesuffix(port) == host.lower().removesuffix(port)


def is_from_elsewhere(headers: Headers) -> bool:
    """Whether a browser says that another site is behind a request."""
    same = all(is_same(origin, headers.get("host", "")) for origin in headers.getlist("origin"))
    return not (same and OURS.issuperset(headers.getlist("sec-fetch-site")))


def is_link(headers: Headers) -> bool:
    """Whether somebody follows a link to a page: it is opened by itself, not put into a page or read by a script."""
    is_opened = headers.getlist("sec-fetch-mode") == ["navigate"] and headers.getlist("sec-fetch-dest") == ["document"]
    return is_opened and "origin" not in headers


def is_from_own_page(headers: Headers) -> bool:
    """Whether a browser says that a page of ours made a request; one that says nothing is not taken at its word.

    Browsers tell the site to servers that they trust: those of this machine, and those with HTTPS. To others they
    send the origin along with forms, and the address of the page with what it loads.
    """
    if is_from_elsewhere(headers):
        return False
    sites = headers.getlist("sec-fetch-site")
    if sites or "origin" in headers:
        return sites == ["same-origin"] or "origin" in headers
    return _is_on(headers.get("referer", ""), headers.get("host", ""))


def is_by_hand(headers: Headers) -> bool:
    """Whether a browser says that its user typed the address, or had it from a bookmark."""
    return headers.getlist("sec-fetch-site") == ["none"]


def _is_on(address: str, host: str) -> bool:
    scheme, separator, rest = address.partition("://")
    return bool(separator) and is_same(f"{scheme}://{rest.partition('/')[0]}", host)
