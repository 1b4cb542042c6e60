"""Where books come from: files, folders, a library.xml, the catalogue of a kiwix-serve."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree import ElementTree

from kiwiresearch.errors import BookNotFound, BookUnreachable, NotABook
from kiwiresearch.ids import BookId
from kiwiresearch.system import expand_user
from kiwiresearch.zim.archive import Book, Indexes, book_kind, clean_metadata, flavour_of, languages_of, tags_of

# '/kiwix/viewer#x' and '/kiwix/content/book/A/x' both leave '/kiwix'.
OWN_PAGES = re.compile(r"/(?:viewer|content|catalog|search|raw|suggest)\b.*$")
ORIGIN = re.compile(r"^[a-z]+://[^/]*")
SURROGATE = re.compile("[\ud800-\udfff]")
SAFE = "/:@!$'()*,;="
"""Characters that are not escaped in a path; '+' and '?' are part of a path here, so they are escaped."""


@dataclass(frozen=True, slots=True)
class BookAddresses:
    """The addresses of the pages of one book on a server."""

    root: str
    """The server's own address."""
    base: str
    """The path of the book's pages according to the catalogue."""
    name: str

    @property
    def home(self) -> str:
        """The book's first page, below the root."""
        return f"{self.base.removeprefix(self._prefix)}/"

    def raw(self, path: str) -> str:
        """The unchanged content of a page, below the root."""
        return f"/raw/{url_quoted(self.name)}/content/{url_quoted(path, SAFE)}"

    def url(self, path: str) -> str:
        """An address that opens a page in a browser."""
        origin = self.root.removesuffix(self._prefix) if self._prefix else self.root
        return f"{origin}{self.base}/{url_quoted(path, SAFE)}"

    def path_in(self, address: str) -> str | None:
        """The book's path in an address of any version of kiwix-serve: below its base, /content or /raw.

        A '?' belongs to the path: kiwix-serve does not escape it, and pages take no queries.
        """
        route = ORIGIN.sub("", address)
        prefix, name = self._prefix, url_quoted(self.name)
        for base in (
            f"{self.base}/",
            f"{prefix}/content/{name}/",
            f"{prefix}/raw/{name}/content/",
            f"{prefix}/{name}/",
        ):
            if route.startswith(base) and len(route) > len(base):
                return unquote(route[len(base) :])
        return None

    @property
    def _prefix(self) -> str:
        return urlsplit(self.root).path


def serve_root(address: str) -> str:
    """The server's own address, from the address of any of its pages that a user may have copied."""
    if "://" not in address:
        address = f"http://{address}"
    wrong = BookUnreachable(
        f"{address!r} is not the address of a kiwix-serve server.", remedy="Example: http://host:8080"
    )
    try:
        parts = urlsplit(address)
    except ValueError as problem:
        raise wrong from problem
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise wrong
    return f"{parts.scheme}://{parts.netloc}{OWN_PAGES.sub('', parts.path).rstrip('/')}"


def url_quoted(text: str, safe: str = "") -> str:
    """A text escaped as part of an address."""
    return quote(text, safe=safe)


def is_encodable(text: str) -> bool:
    """Whether a text can be part of an address, which no lone surrogate can."""
    return not SURROGATE.search(text)


ATOM = "{http://www.w3.org/2005/Atom}"
DC = "{http://purl.org/dc/terms/}"
BARE_AMPERSAND = re.compile(rb"&(?!#?\w+;)")


@dataclass(frozen=True, slots=True)
class ServedBook:
    """A book in a server's catalogue, and the base path of its pages."""

    book: Book
    base: str

    @property
    def name(self) -> str:
        """The name of the book in the server's addresses."""
        return unquote(self.base.rpartition("/")[2])


def served_book(entry: ElementTree.Element, root: str) -> ServedBook | None:
    """The book of a catalogue entry; None if it does not link to one."""
    link = next((e.get("href") for e in entry.iter(f"{ATOM}link") if e.get("type") == "text/html"), None)
    uuid = (entry.findtext(f"{ATOM}id") or "").rpartition(":")[2]
    if not link or not uuid:
        return None
    try:
        base = urlsplit(urljoin(root + "/", link)).path.rstrip("/")
    except ValueError:
        return None

    def text(tag: str) -> str:
        return clean_metadata(entry.findtext(f"{ATOM}{tag}") or "")

    url_name = unquote(base.rpartition("/")[2])
    metadata = {
        "Name": text("name"),
        "Creator": clean_metadata(entry.findtext(f"{ATOM}author/{ATOM}name") or ""),
        "Tags": text("tags"),
    }
    tags = tags_of(metadata["Tags"])
    issued = entry.findtext(f"{DC}issued") or text("updated")
    size = next((parse_count(e.get("length")) for e in entry.iter(f"{ATOM}link") if e.get("length")), 0)
    book = Book(
        id=BookId(uuid),
        source=f"{root}#{url_name}",
        name=metadata["Name"] or url_name,
        title=text("title") or url_name,
        description=text("summary"),
        date=issued[:10],
        languages=languages_of(text("language")),
        flavour=flavour_of(text("flavour"), tags, url_name),
        creator=metadata["Creator"],
        publisher=clean_metadata(entry.findtext(f"{ATOM}publisher/{ATOM}name") or ""),
        scraper="",
        tags=tags,
        articles=parse_count(text("articleCount")),
        entries=0,
        media=parse_count(text("mediaCount")),
        size_bytes=size,
        indexes=Indexes(full_text=True, titles=True),
        kind=book_kind(metadata, url_name),
        main_page="",
        old_namespaces=False,
    )
    return ServedBook(book, base)


def parse_xml(content: bytes) -> ElementTree.Element:
    """Parse XML from an untrusted server: document types are refused, since entities can expand without end.

    kiwix-serve 3.3 writes a bare '&' into the addresses of its catalogue, which is repaired.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError("it contains a DOCTYPE or ENTITY declaration")
    if b"\0" in content:  # a declaration in UTF-16 would not have been seen
        raise ValueError("it is not in UTF-8")
    try:
        return ElementTree.fromstring(BARE_AMPERSAND.sub(b"&amp;", content))  # noqa: S314
    except (ElementTree.ParseError, LookupError) as problem:  # an encoding may be unknown
        raise ValueError(str(problem)) from problem


MAX_DIGITS = 18


def parse_count(text: str | None) -> int:
    """The number in a text; word counts come as '1,146'."""
    digits = re.sub(r"\D", "", text or "")[:MAX_DIGITS]
    return int(digits) if digits else 0


SUFFIXES = (".zim", ".zimaa")
SERVE_TIMEOUT_S = 20.0
"""The default time to wait for an answer of a server."""

PEER_SCHEME = "peer://"
MAX_DEPTH = 6
"""How many levels below a folder are searched for books."""


@dataclass(frozen=True, slots=True, order=True)
class BookLocation:
    """Where a book is: a file, a server with the book's name there, or another host that shares its books."""

    location: str
    served: str = ""

    @property
    def is_served(self) -> bool:
        return bool(self.served) or is_address(self.location)

    @property
    def is_on_peer(self) -> bool:
        """Whether another host has it; the location then contains its UUID and its file name there."""
        return self.location.startswith(PEER_SCHEME)

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this machine, neither on a server nor on another host."""
        return not (self.is_served or self.is_on_peer)

    @property
    def peer_book_id(self) -> str:
        """The UUID of a book that another host has."""
        return self.location.removeprefix(PEER_SCHEME).partition("/")[0]

    @property
    def path(self) -> Path:
        return Path(self.location)

    def __str__(self) -> str:
        return f"{self.location}#{self.served}" if self.served else self.location


def peer_source(book: str, file: str) -> BookLocation:
    """The source of a book on another host: its UUID, since hosts come and go, and its file name there."""
    return BookLocation(f"{PEER_SCHEME}{book}/{file.replace('/', '_')}")


def is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def files_in(path: Path) -> list[Path]:
    """The books that a path refers to: the file itself, all in a folder, or all in a library.xml."""
    path = expand_user(path)
    if path == Path():
        raise BookNotFound("No file, folder or address was given.", remedy="Enter a file, a folder or an address.")
    if _is(path, Path.is_dir):
        found = books_below(path)
        if not found:
            raise BookNotFound(f"No .zim files in the folder {str(path)!r}.", remedy="Choose another folder.")
        return found
    if path.suffix == ".xml":
        return library_files(path)
    return [path]


def _is(path: Path, kind: Callable[[Path], bool]) -> bool:
    try:
        return kind(path)
    except OSError:  # its name is too long for the system, or it leads to where we may not look
        return False


def books_below(folder: Path, max_depth: int = MAX_DEPTH) -> list[Path]:
    """All books in a folder and some levels below it, without following symbolic links."""
    found: list[Path] = []
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            entries = sorted(here.iterdir())
        except OSError:
            continue
        for entry in entries:
            if entry.suffix in SUFFIXES and _is(entry, Path.is_file):
                found.append(entry)
            elif depth < max_depth and _is(entry, Path.is_dir) and not entry.is_symlink() and entry.name[0] != ".":
                waiting.append((entry, depth + 1))
    return sorted(found)


def library_files(path: Path) -> list[Path]:
    """The files listed in a library.xml of Kiwix; relative paths start from its own folder."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise BookNotFound(f"Could not read the library {str(path)!r}: {problem.strerror}.") from problem
    try:
        root = parse_xml(content)
    except ValueError as problem:
        raise NotABook(
            f"{str(path)!r} is not a Kiwix library: {problem}.",
            remedy="Create one with 'kiwix-manage'.",
        ) from problem
    names = [book.get("path") for book in root.iter("book")]
    files = [_library_path(path.parent, name) for name in names if name]
    if not files:
        raise BookNotFound(f"The library {str(path)!r} lists no files.", remedy="Add the ZIM files themselves.")
    return files


def _library_path(folder: Path, name: str) -> Path:
    plain = Path(name)
    file = plain if plain.is_absolute() else folder / plain
    decoded = Path(unquote(str(file)))
    # The path may be percent-encoded, but a name may also have a percent sign: the file that exists decides.
    # os.path, since Path.exists raises an error for a name that is too long.
    return decoded if not os.path.exists(file) and os.path.exists(decoded) else file  # noqa: PTH110
