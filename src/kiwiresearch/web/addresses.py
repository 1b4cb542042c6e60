"""The addresses of pages of the desk."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from kiwiresearch.zim import EntryRef


def page_address(ref: EntryRef, *, run: str = "", mark: str = "") -> str:
    """The address at which a page of a book is read, as a source of a run, and at the words that are marked in it."""
    query = "&".join(filter(None, (run and f"run={url_part(run)}", mark and f"mark={mark}")))
    address = f"/page/{url_part(ref.book)}/{quote(ref.path, errors='replace')}"
    return f"{address}?{query}{'#mark' if mark else ''}" if query else address


def run_address(run_id: str, tab: str = "brief") -> str:
    return f"/runs/{url_part(run_id)}" + ("" if tab == "brief" else f"/{tab}")


def job_address(job_id: str) -> str:
    return f"/research/{url_part(job_id)}"


def case_address(case: str) -> str:
    return f"/family/{url_part(case)}"


def list_address(path: str, filters: Mapping[str, object]) -> str:
    """An address with those filters that are set."""
    said = {name: value for name, value in filters.items() if value not in ("", 0, None)}
    return f"{path}?{urlencode(said, errors='replace')}" if said else path


def local_address(url: str) -> str:
    """An address on this server without the host name, so that it works under every name of the server."""
    return urlsplit(url)._replace(scheme="", netloc="").geturl()


def safe_return_address(address: str) -> str:
    """An address that a form sent back, if it leads to one of our pages; else the home page."""
    # Two slashes start the name of another server; browsers also read '\\' as a slash, and drop tabs and line ends.
    is_ours = address.startswith("/") and not address.startswith("//") and address.isprintable() and "\\" not in address
    return address if is_ours else "/"


def url_part(text: str) -> str:
    """A text as one part of a path or as a query value; lone surrogates, which cannot be sent, become '?'."""
    return quote(text, safe="", errors="replace")
