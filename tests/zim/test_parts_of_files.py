"""Parts of large files: as much is read as is asked for, whatever the size of the file."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.http_servers import Request, answer, serving
from tests.zim.films import LARGE, SIZES, SMALL, Counted, a_book_of_films, film
from tests.zim.newer_serve import NewerServe

from kiwiresearch.errors import BookUnreachable
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.libzim import LibzimArchive

LITTLE = 128 * 1024
"""More than finding an entry takes, much less than the smallest of the films."""

MEASURED = """
import sys
from pathlib import Path
from kiwiresearch.zim.libzim import LibzimArchive

def measured():
    held = {line.split(":")[0]: int(line.split()[1]) for line in open("/proc/self/status") if line.endswith("kB\\n")}
    passed = {line.split(":")[0]: int(line.split()[1]) for line in open("/proc/self/io")}
    return held["VmHWM"] * 1024, passed["rchar"]

archive = LibzimArchive(Path(sys.argv[1]))
archive.part("small.webm", 0, 1), measured()
before = measured()
assert archive.info(sys.argv[2]).size == int(sys.argv[3])
assert len(archive.part(sys.argv[2], int(sys.argv[3]) // 2, int(sys.argv[3]) // 2 + 1)) == 1
print(*(now - then for now, then in zip(measured(), before)))
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with films."""
    return a_book_of_films(tmp_path_factory.mktemp("films") / "films.zim")


@pytest.mark.skipif(not Path("/proc/self/io").is_file(), reason="only Linux counts what a process reads")
@pytest.mark.parametrize("path", ["small.webm", "large.webm"])
def test_a_byte_of_a_film_costs_the_same_whatever_its_length(films: Path, path: str) -> None:
    """One byte in the midst of a file is read without the others, neither from the disk nor into memory."""
    command = [sys.executable, "-c", MEASURED, str(films), path, str(SIZES[path])]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    held, passed = map(int, output.split())
    assert passed < LITTLE
    assert held < SMALL, "the file was mapped and filled, or copied"


@pytest.mark.parametrize("path", [*SIZES, "packed.webm"])
def test_parts_are_slices_of_what_libzim_reads(films: Path, path: str) -> None:
    """Files stored as they are and packed ones give the same bytes in parts as whole."""
    archive = LibzimArchive(films)
    whole = archive.read(path).content
    assert archive.info(path).is_packed == (path == "packed.webm")
    for start, end in ((0, 10), (999_990, 1_000_010), (len(whole) - 5, len(whole) + 5), (len(whole), len(whole) + 1)):
        assert archive.part(path, start, end) == whole[start:end]
    archive.close()


def test_parts_of_a_split_book_go_over_its_seams(films: Path, tmp_path: Path) -> None:
    """A part that begins in one file of a split book and ends in the next is whole."""
    data = films.read_bytes()
    seams = [0, len(data) // 3, 2 * len(data) // 3, len(data)]
    for number, (start, end) in enumerate(itertools.pairwise(seams)):
        (tmp_path / f"films.zima{'abc'[number]}").write_bytes(data[start:end])
    archive = LibzimArchive(tmp_path / "films.zimaa")
    whole = film(LARGE)
    for start in range(0, LARGE, 2**20):
        assert archive.part("large.webm", start, start + 2**20) == whole[start : start + 2**20]
    assert archive.part("large.webm", 0, LARGE) == whole
    archive.close()


def test_entries_of_real_books_lie_where_we_think(shared_data: Path) -> None:
    """The parts of all files of published books, of all ages, are those that libzim reads."""
    stored = 0
    for file in sorted((shared_data / "zims" / "real").glob("*.zim")):
        archive = LibzimArchive(file)
        for number in range(0, archive._raw.entry_count, 7):
            path = archive._raw._get_entry_by_id(number).path
            if path.startswith(("X/", "Z/")) or archive.resolve(path) is None:
                continue
            item, whole = archive.info(path), archive.read(path).content
            assert item.size == len(whole)
            assert archive.part(path, 3, 400) == whole[3:400]
            stored += not item.is_packed
        archive.close()
    assert stored > 100


@pytest.fixture(scope="module")
def relay(films: Path, kiwix_serve: Callable[..., str]) -> Iterator[Counted]:
    """A kiwix-serve with the films, and a count of what it sends."""
    counted = Counted(int(kiwix_serve(films).rpartition(":")[2]))
    yield counted
    counted.close()


@pytest.mark.parametrize("path", SIZES)
def test_a_byte_of_a_served_film_is_all_that_is_sent(relay: Counted, path: str) -> None:
    """A kiwix-serve is asked for the part alone, also of a file whose path begins with a letter."""
    server = KiwixServer(relay.url)
    (served,) = server.catalogue()
    archive = ServeArchive(server, served)
    whole = film(SIZES[path])
    before = relay.said
    assert archive.info(path).size == SIZES[path]
    assert archive.part(path, 500_000, 500_001) == whole[500_000:500_001]
    assert archive.part(path, SIZES[path] - 5, SIZES[path] + 5) == whole[-5:]
    result = relay.said - before
    archive.close()
    assert result < LITTLE


class Odd(NewerServe):
    """Answers requests for parts in a way of its own."""

    content_range = ""

    def _page(self, request: Request, path: str) -> None:
        if self.content_range and request.headers.get("Range") and request.command == "GET":
            answer(request, 206, b"abcdef", "video/webm", Content_Range=self.content_range)
        else:
            super()._page(request, path)


@contextlib.contextmanager
def served_by(odd: Odd) -> Iterator[ServeArchive]:
    with serving(odd) as address:
        server = KiwixServer(f"{address}{odd.root}")
        (served,) = server.catalogue()
        archive = ServeArchive(server, served)
        try:
            yield archive
        finally:
            archive.close()


def test_a_server_without_parts_gives_them_all_the_same() -> None:
    """A server that answers with the whole file is cut to what was asked for."""
    with served_by(Odd({"Page": "<p>0123456789</p>"})) as archive:
        assert archive.part("Page", 5, 8) == b"234"


def test_another_part_than_asked_for_is_not_an_answer() -> None:
    """Bytes from another place are not taken for those that were wanted."""
    odd = Odd({"Page": "<p>0123456789</p>"})
    odd.content_range = "bytes 0-5/17"
    with served_by(odd) as archive, pytest.raises(BookUnreachable, match="different part"):
        archive.part("Page", 5, 8)
