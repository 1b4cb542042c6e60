"""Pictures of a run: chosen from a real book, kept in one file, shown offline, exported, and proved again."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from tests.png_files import a_png
from tests.runs.illustrated_runs import ALT, CAPTION, CART, MAP, a_run_over, an_illustrated_book, an_illustrated_run
from tests.verify.verified_runs import a_finished_run, changed, compared, failure_texts, forged, proved

from kiwiresearch.brief.brief import (
    Brief,
    BriefPicture,
    brief_from_record,
    brief_record,
    pictures_from_record,
    pictures_json,
)
from kiwiresearch.brief.report_html import report_page as report_page
from kiwiresearch.errors import RunDamaged
from kiwiresearch.export.exporter import export
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.manifest import sealed
from kiwiresearch.runs.store_copy import remove_run_files
from kiwiresearch.zim.archive import EntryRef
from kiwiresearch.zim.libzim import LibzimArchive

FIGURE = '<figure class="picture"><img src="data:image/png;base64,{}" alt="{}"/>'
XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return an_illustrated_run(tmp_path_factory.mktemp("pictures"))


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A finished run with its book beside it, to be spoiled."""
    shutil.copytree(finished.parent, tmp_path / "place", ignore=shutil.ignore_patterns("state"))
    return tmp_path / "place" / "run"


def brief_in(run: Path) -> Brief:
    return brief_from_record(json.loads((run / "brief.json").read_text(encoding="utf-8")))


def named(content: bytes) -> str:
    return sha256(content).hexdigest()


def test_a_brief_shows_the_pictures_of_its_pages(finished: Path) -> None:
    """That of the infobox beside the summary, that of a section beside the part that is taken from it."""
    brief = brief_in(finished)
    box, cart = brief.pictures
    assert (box.caption, box.path, box.sha256, box.part) == ("Salt road", "I/map.png", named(MAP), None)
    assert (cart.caption, cart.alt, cart.path, cart.sha256) == (CAPTION, ALT, "I/cart.png", named(CART))
    assert cart.part is not None
    assert brief.body[cart.part].heading == "Trade"
    assert {one.ref.path for one in brief.pictures} == {"Salt_road"}
    assert pictures_from_record(json.loads((finished / "pictures.json").read_text(encoding="utf-8"))) == {
        named(MAP): MAP,
        named(CART): CART,
    }
    assert "pictures.json" in json.loads((finished / "manifest.json").read_text(encoding="utf-8"))["outputs"]


def test_the_report_has_pictures(finished: Path) -> None:
    """One file, read without a network: picture, caption and a link to the page; Markdown shows none."""
    html = (finished / "report.html").read_text(encoding="utf-8")
    assert FIGURE.format(b64encode(MAP).decode(), "Salt road") in html
    cart = FIGURE.format(b64encode(CART).decode(), ALT)
    assert cart in html
    book = brief_in(finished).pictures[0].ref.book
    assert f'<figcaption>{CAPTION} <a href="zim://{book}/Salt_road">[Salt road]</a></figcaption>' in html
    assert html.index('id="summary"') < html.index(FIGURE.format(b64encode(MAP).decode(), "Salt road"))
    assert html.index(">Trade</h3>") < html.index(cart) < html.index('id="definitions"')
    assert CAPTION not in (finished / "report.md").read_text(encoding="utf-8")


def test_the_same_run_has_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    again = an_illustrated_run(tmp_path)
    for name in ("brief.json", "pictures.json", "report.html", "report.md"):
        assert (again / name).read_bytes() == (finished / name).read_bytes()


def test_a_served_book_gives_the_same_pictures(finished: Path, tmp_path: Path, kiwix_serve: Callable[..., str]) -> None:
    """Whether a book is a file here or comes from a kiwix-serve."""
    address = kiwix_serve(finished.parent / "road.zim")
    served = a_run_over(address, tmp_path)
    assert (served / "pictures.json").read_bytes() == (finished / "pictures.json").read_bytes()
    assert brief_in(served).pictures == brief_in(finished).pictures


def test_a_book_without_pictures_leaves_no_trace_of_them(tmp_path: Path) -> None:
    """No file, no field and no style; and what earlier versions wrote is read and proved."""
    run = a_finished_run(tmp_path)
    assert not (run / "pictures.json").exists()
    assert "pictures" not in json.loads((run / "brief.json").read_text(encoding="utf-8"))
    assert ".picture" not in (run / "report.html").read_text(encoding="utf-8")
    assert failure_texts(proved(run)) == []


def test_all_files_of_a_run_are_removed(run: Path) -> None:
    remove_run_files(run)
    assert not run.exists()


def test_a_run_with_pictures_is_proved(run: Path) -> None:
    """Each picture against its hash, its page and its book; without the book, against its hash alone."""
    found = proved(run)
    assert failure_texts(found) == []
    assert found.files == 10
    other = an_illustrated_book(run.parent / "other.zim", cart=a_png("another cart"))
    (problem,) = failure_texts(proved(run, other))
    assert "was not found" in problem


def with_pictures(run: Path, *pictures: BriefPicture) -> bytes:
    """The brief with other pictures, as a run writes it."""
    brief = replace(brief_in(run), pictures=pictures)
    return (canonical_json(brief_record(brief), indent=1) + "\n").encode()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"caption": "A cart of the 14th century"}, "is not on the page 'Salt road'"),
        ({"alt": "A cow"}, "is not on the page 'Salt road'"),
        ({"path": "I/map.png"}, "does not match 'I/map.png' in the book"),
        ({"path": "I/none.png"}, "cannot be verified"),
        ({"media_type": "image/gif"}, "is not of the type image/gif"),
        ({"part": 99}, "is placed in part 99"),
        ({"part": -1}, "is placed in part -1"),
        ({"sha256": named(b"other")}, "it does not contain exactly the pictures that brief.json lists"),
        ({"page": "Elsewhere"}, "is from a page that was not read"),
        ({"page": "Ostrava"}, "is not on the page 'Ostrava'"),
    ],
)
def test_the_description_of_a_picture_is_verified(run: Path, change: dict[str, Any], what: str) -> None:
    """A forged caption, place, kind or page fails, also if the manifest was changed to match."""
    box, cart = brief_in(run).pictures
    fields = {name: value for name, value in change.items() if name != "page"}
    other = replace(cart, **fields, ref=EntryRef(cart.ref.book, change.get("page", cart.ref.path)))
    with forged(run, "brief.json", with_pictures(run, box, other)):
        assert any(what in line for line in failure_texts(compared(run)))


def test_a_picture_is_shown_once(run: Path) -> None:
    box, cart = brief_in(run).pictures
    with forged(run, "brief.json", with_pictures(run, box, cart, replace(cart, part=None))):
        assert any("is shown more than once" in line for line in failure_texts(proved(run)))


def pictures(**images: bytes) -> bytes:
    return pictures_json(images).encode()


@pytest.mark.parametrize(
    "content",
    [
        pictures(**{named(MAP): MAP}),
        pictures(**{named(MAP): MAP, named(CART): CART, named(b"more"): b"more"}),
        pictures(**{named(MAP): MAP, named(CART): a_png("other")}),
        canonical_json({named(one): b64encode(one).decode() for one in (MAP, CART)}).encode(),
        b"[]",
        b"{",
        b'{"a": 1}',
        b"",
    ],
)
def test_the_file_of_pictures_has_just_those_of_the_brief(run: Path, content: bytes) -> None:
    """A picture that is missing, added or exchanged, and an invalid file, fail even with all hashes adapted."""
    with forged(run, "pictures.json", content):
        assert any(line.startswith("pictures.json") for line in failure_texts(compared(run)))


def test_a_file_of_pictures_that_is_gone_or_new_fails(run: Path, tmp_path: Path) -> None:
    with changed(run / "pictures.json", None):
        assert any(line.startswith("pictures.json: it is missing") for line in failure_texts(proved(run)))
    (tmp_path / "plain").mkdir()
    plain = a_finished_run(tmp_path / "plain")
    (plain / "pictures.json").write_bytes(b"{}\n")
    manifest = json.loads((plain / "manifest.json").read_text(encoding="utf-8"))
    manifest["outputs"]["pictures.json"] = {"sha256": named(b"{}\n"), "bytes": 3}
    (plain / "manifest.json").write_text(canonical_json(sealed(manifest), indent=2) + "\n", encoding="utf-8")
    assert any(line.startswith("pictures.json") for line in failure_texts(proved(plain)))


def test_the_report_is_rendered_with_the_pictures_of_the_run(run: Path) -> None:
    """A report without them, or with others, is not what the run gives."""
    other = report_page(brief_in(run)).encode()
    with forged(run, "report.html", other):
        assert any(line.startswith("report.html") for line in failure_texts(compared(run)))


def test_the_html_export_has_pictures(run: Path) -> None:
    (file,) = export(run, "html")
    assert FIGURE.format(b64encode(CART).decode(), ALT) in file.read_text(encoding="utf-8")


def test_an_epub_has_them_as_files(run: Path) -> None:
    """Named in the package with their types, shown by the brief with words for those who cannot see them."""
    with ZipFile(export(run, "epub")[0]) as book:
        package = ElementTree.fromstring(book.read("EPUB/package.opf"))
        items = {one.attrib["href"]: one.attrib["media-type"] for one in package.iter(f"{OPF}item")}
        brief = ElementTree.fromstring(book.read("EPUB/brief.xhtml"))
        shown = {one.attrib["src"]: one.attrib["alt"] for one in brief.iter(f"{XHTML}img")}
        names = {name.removeprefix("EPUB/") for name in book.namelist() if name.startswith("EPUB/")}
        assert names - {"package.opf"} == set(items)
        assert {book.read(f"EPUB/{name}") for name in shown} == {MAP, CART}
        assert {items[name] for name in shown} == {"image/png"}
        assert set(shown.values()) == {"Salt road", ALT}
        links = [link.attrib["href"] for under in brief.iter(f"{XHTML}figcaption") for link in under.iter(f"{XHTML}a")]
        assert links == ["page-1.xhtml", "page-1.xhtml"]
        assert b".picture" in book.read("EPUB/style.css")
        assert b"alternativeText" in book.read("EPUB/package.opf")


def test_a_zim_has_them_as_entries(run: Path) -> None:
    archive = LibzimArchive(export(run, "zim")[0])
    brief = archive.read("brief.html").content.decode()
    for content in (MAP, CART):
        name = f"pictures/{named(content)}.png"
        assert f'src="{name}"' in brief
        entry = archive.read(name)
        assert (entry.content, entry.mimetype) == (content, "image/png")
    assert "_pictures:yes" in archive.book.tags


@pytest.mark.parametrize("content", [None, b"{}", b"{", b"[]", b'{"a": 1}'])
def test_an_export_without_its_pictures_is_refused(run: Path, content: bytes | None) -> None:
    """A file that was spoiled is reported by its name, and nothing is written."""
    with changed(run / "pictures.json", content), pytest.raises(RunDamaged, match=r"pictures\.json"):
        export(run, "html")
