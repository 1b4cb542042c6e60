"""Pages as PDF files, printed by a Chromium or Chrome that is installed on this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from kiwiresearch.errors import BadSettings, CannotWrite, ProgramMissing
from kiwiresearch.export.brief_files import brief_in_html
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.runs import xml_safe
from kiwiresearch.system import expand_user
from kiwiresearch.text import printable
from kiwiresearch.version import __version__

NAMES = (
    "chromium",
    "chromium-browser",
    "chromium-headless-shell",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ),
}
"""Where these systems keep programs that are not on the PATH."""

TIMEOUT_S = 120.0
AT_ONCE = threading.BoundedSemaphore(2)
"""How many browsers print at the same time; one takes a few hundred megabytes."""

FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--disable-crash-reporter",
    # The page's own policy allows no scripts and loads nothing. The browser must not reach the network for itself
    # either: no name is resolved, and every connection goes to a proxy that does not exist.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--no-pings",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
)
# The start of "/ModDate (D:20240501120000+00'00')"; the time zone stays.
DATES = re.compile(rb"/(CreationDate|ModDate) \(D:\d{14}")
ELEMENT_ID = re.compile(rb"\(node(\d{8})\)")
"""What Chromium calls an element; it counts other elements, too, and how many there are varies from run to run."""


def find_browser(setting: str = "") -> str:
    """The browser that prints: the one of the setting, or one that is installed; empty if there is none."""
    if setting.strip():
        found = shutil.which(str(expand_user(setting)))
        if found is None:
            raise BadSettings(
                f"The setting 'browser' is {setting!r}, which was not found or is not a program.",
                remedy="Set it to the path of Chromium or Chrome, or leave it empty to use an installed browser.",
            )
        return found
    places = (*NAMES, *PLACES.get(sys.platform, ()))
    return next((found for name in places if (found := shutil.which(name))), "")


def has_browser(setting: str = "") -> bool:
    """Whether a PDF can be printed on this machine."""
    try:
        return bool(find_browser(setting))
    except BadSettings:
        return False


def brief_in_pdf(findings: RunFindings, browser: str = "") -> bytes:
    """The brief with the reader's notes as A4 pages; the date inside is that of the newest book."""
    page = brief_in_html(findings).replace("</head>", f"<style>\n{_page_style(findings.topic)}\n</style>\n</head>", 1)
    content = page_in_pdf(page, browser, instead="The formats 'html' and 'docx' do not need a browser.")
    day = f"D:{findings.date.replace('-', '')}000000".encode()
    # Of the same length, so that the offsets in the file stay right.
    return DATES.sub(lambda found: b"/" + found[1] + b" (" + day, _with_own_ids(content))


def _with_own_ids(content: bytes) -> bytes:
    """The same PDF with its elements counted from 1; in the same order, in which the file's index of them is sorted."""
    numbers = {number: rank for rank, number in enumerate(sorted(set(ELEMENT_ID.findall(content))), start=1)}
    return ELEMENT_ID.sub(lambda found: b"(node%08d)" % numbers[found[1]], content)


def page_in_pdf(page: str, browser: str = "", *, instead: str = "") -> bytes:
    """A self-contained page of HTML as the browser prints it; its `@page` rules decide about the paper.

    `instead` says what works without a browser.
    """
    program = find_browser(browser)
    if not program:
        raise ProgramMissing(
            "Creating a PDF needs Chromium, Google Chrome or Microsoft Edge, and none of them was found.",
            remedy="Install one of them (on Debian: apt install chromium), "
            f"or enter the path of its program in the setting 'browser'. {instead}".strip(),
        )
    with AT_ONCE:
        return _with_maker(_print(program, xml_safe(page)))


# The end of a PDF with a classic cross-reference table; a PDF with a cross-reference stream does not match.
TRAILER = re.compile(rb"\ntrailer\n<<(?P<rest>[^>]*)/Info (?P<number>\d+) 0 R>>\nstartxref\n(?P<start>\d+)\n%%EOF\s*\Z")


def _with_maker(content: bytes) -> bytes:
    """The PDF with kiwiresearch as its author and program, in an update at its end; the browser knows only itself."""
    trailer = TRAILER.search(content)
    info = trailer and re.search(rb"\n(%s 0 obj\n<<)(.*?>>\nendobj\n)" % trailer["number"], content, re.DOTALL)
    if trailer is None or info is None:
        return content  # another kind of PDF, which says everything but this
    maker = f"/Author (kiwiresearch)\n/Creator (kiwiresearch {__version__})".encode()
    rest = re.sub(rb"/Creator \([^)]*\)", lambda _: maker, info[2], count=1)
    at = len(content)
    update = info[1] + rest
    # A table with one entry, which must have exactly 20 bytes; '/Prev' names the table of the original file.
    index = b"xref\n%s 1\n%010d 00000 n \n" % (trailer["number"], at)
    end = b"trailer\n<<%s/Info %s 0 R\n/Prev %s>>\nstartxref\n%d\n%%%%EOF\n"
    return content + update + index + end % (trailer["rest"], trailer["number"], trailer["start"], at + len(update))


def _page_style(topic: str) -> str:
    """A4 with a running header and page numbers."""
    return (
        "@page { size: A4; margin: 22mm 18mm 20mm;"
        f" @top-left {{ content: {_css_text(topic)}; font: 8.5pt sans-serif; color: #444; }}"
        ' @bottom-center { content: counter(page) " / " counter(pages); font: 8.5pt sans-serif; color: #444; } }\n'
        '@page :first { @top-left { content: ""; } }\n'
        "h1 { margin-top: 0; }\n"
        # Nothing unfolds on paper: lists are shown, and the label of quotes is not.
        ".running summary { display: none; }\n"
        "section > details::details-content { display: block; content-visibility: visible; }\n"
        "section > details > summary { border: 0; padding: 0; }"
    )


def _css_text(text: str) -> str:
    """A text for `content`; all but letters and digits is escaped, so that it ends neither the text nor the style."""
    plain = " ".join(printable(text).split())
    return '"' + "".join(item if item.isalnum() and item.isascii() else f"\\{ord(item):06x}" for item in plain) + '"'


def _print(program: str, page: str) -> bytes:
    try:
        with tempfile.TemporaryDirectory(prefix="kiwiresearch-", ignore_cleanup_errors=True) as folder:
            source, target = Path(folder) / "page.html", Path(folder) / "page.pdf"
            source.write_text(page, encoding="utf-8")
            # Chromium does not start for root with its sandbox.
            is_root = hasattr(os, "geteuid") and os.geteuid() == 0
            flags = [*FLAGS, *(["--no-sandbox"] if is_root else []), f"--user-data-dir={Path(folder) / 'profile'}"]
            _run([program, *flags, f"--print-to-pdf={target}", source.as_uri()])
            return target.read_bytes()
    except (OSError, subprocess.SubprocessError) as problem:
        raise CannotWrite(
            f"The browser {program!r} could not create the PDF.",
            remedy="Try again, or choose another browser in the setting 'browser'.",
        ) from problem


def _run(command: list[str]) -> None:
    """Run the browser to its end; it and its processes are ended if that takes too long."""
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(  # noqa: S603
        command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=os.name == "posix"
    )
    try:
        child.wait(TIMEOUT_S)
    finally:
        if child.poll() is None:
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
