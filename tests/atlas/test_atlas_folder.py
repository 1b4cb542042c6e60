"""Folders from anywhere: missing parts are reported, damaged or hostile ones do no harm, caches fit their folder."""

from __future__ import annotations

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.atlas.atlas_book import write_elm_shards

from kiwiresearch.atlas.atlas import MAX_CACHE_FOLDERS, Atlas, open_atlas
from kiwiresearch.atlas.contradictions import CONTRADICTIONS, ContradictionFilter, contradictions
from kiwiresearch.atlas.database import MAX_VALUE_CHARS, ResultWindow, open_database
from kiwiresearch.atlas.family_queries import PrivacyView, families
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.atlas.queries import TimelineFilter as TimeWish
from kiwiresearch.atlas.queries import overview, ranked_pages, timeline
from kiwiresearch.errors import CannotWrite, RunDamaged, RunNotFound
from kiwiresearch.system import FileLock

UNNAMED = (
    '{"also": [], "anchor": "", "book": "b", "book_name": "", "claim": "Elmland (1815–1885) fell.", "claim_type": '
    '"timeline", "confidence_terms": [], "dates": [], "evidence_signals": {}, "hedging": [], "measures": [], "names": '
    '[], "origin": "rule", "page_title": "Elmland", "path": "Elmland", "scope": "", "section": null, "spans": '
    '[{"start": 0, "end": 1}], "subject": null, "support_snippets": ["E"], "topic_tags": []}'
)
"""All that a claim has, but for what it is about."""
HOSTILE = "evil\x1b[31m\x07 \u202e' OR 1=1; DROP VIEW claims; --"


def copied(shards: Path, target: Path) -> Path:
    shutil.copytree(shards, target)
    return target


def rewritten(folder: Path, table: str, column: str, value: Any) -> None:
    """Put a value into every row of a column, with sums that fit: somebody who means harm knows how to hash."""
    (shard,) = (folder / table).glob("*.parquet")
    rows = pq.read_table(shard)
    place = rows.schema.get_field_index(column)
    kind = rows.schema.field(column)
    rows = rows.set_column(place, kind, pa.array([value] * rows.num_rows, type=kind.type))
    pq.write_table(rows, shard)
    manifest = json.loads((folder / "manifest.json").read_text())
    (result,) = manifest["tables"][table]["shards"]
    result |= {"bytes": shard.stat().st_size, "sha256": f"sha256:{sha256(shard.read_bytes()).hexdigest()}"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["", "nothing", "manifest.json"])
def test_a_folder_that_bulk_has_not_written_is_refused(elm_shards: Path, tmp_path: Path, name: str) -> None:
    """No folder, an empty one and a file are distinguished from shards, with what to do."""
    with pytest.raises(RunNotFound, match="kiwiresearch bulk"):
        open_atlas((elm_shards / name) if name == "manifest.json" else tmp_path / name, tmp_path)


@pytest.fixture(scope="module")
def only_pages(elm: Path, tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """The atlas of a folder with one table."""
    shards = write_elm_shards(elm, tmp_path_factory.mktemp("pages") / "elm", ("pages",))
    return open_atlas(shards, tmp_path_factory.mktemp("kept"))


def test_a_table_that_was_not_written_is_named(only_pages: Atlas) -> None:
    """The error names the table, and the option of bulk that writes it."""
    with pytest.raises(RunNotFound, match=r"no table 'links'.*--what .*links"):
        ranked_pages(only_pages, "linked", "", ResultWindow())
    with pytest.raises(RunNotFound, match="no table 'claims'"):
        timeline(only_pages, TimeWish(), ResultWindow())
    with pytest.raises(RunNotFound, match="no table 'people'"):
        families(only_pages, PrivacyView("owner", 2026), ResultWindow())


def test_an_overview_says_what_it_can(only_pages: Atlas) -> None:
    """Parts whose tables are lacking are left out."""
    assert overview(only_pages).keys() == {"book", "tables", "pages"}


@pytest.mark.parametrize("cut", [0, 40, 400])
def test_a_damaged_shard_is_an_error_in_words(elm_shards: Path, tmp_path: Path, cut: int) -> None:
    """A shard that was cut, or whose middle is noise, ends no traceback, and leaves nothing half made."""
    folder = copied(elm_shards, tmp_path / "elm")
    (shard,) = (folder / "links").glob("*.parquet")
    bytes_ = shard.read_bytes()
    noise = bytes(range(256)) * (len(bytes_) // 256 + 1)
    shard.write_bytes(bytes_[:cut] if cut else bytes_[:8] + noise[: len(bytes_) - 700] + bytes_[-692:])
    atlas = open_atlas(folder, tmp_path / "kept")
    with pytest.raises(RunDamaged):
        ranked_pages(atlas, "linked", "", ResultWindow())
    assert not atlas.has(GRAPH)
    assert not list(atlas.cache_folder.glob("*.parquet"))


def test_hostile_words_are_only_words(elm_shards: Path, tmp_path: Path) -> None:
    """Titles and subjects that look like commands, or have no end, are bound, cut and found like any other."""
    folder = copied(elm_shards, tmp_path / "elm")
    rewritten(folder, "pages", "title", HOSTILE)
    rewritten(folder, "claims", "subject", HOSTILE)
    rewritten(folder, "claims", "claim", "x" * 1_000_000)
    atlas = open_atlas(folder, tmp_path / "kept")
    assert ranked_pages(atlas, "linked", HOSTILE, ResultWindow()).total == 13
    assert all(len(row["claim"]) == MAX_VALUE_CHARS for row in timeline(atlas, TimeWish(), ResultWindow()).rows)
    assert contradictions(atlas, ContradictionFilter(words=HOSTILE), ResultWindow()).total == 0


@pytest.mark.parametrize(
    "record", ["", "{", "[]", '{"claim": 1}', '{"spans": [], "book": "b", "path": "p"}', "[" * 5_000, UNNAMED]
)
def test_records_that_are_not_claims_contradict_nothing(elm_shards: Path, tmp_path: Path, record: str) -> None:
    """A table from elsewhere may have anything in the place of the claim."""
    folder = copied(elm_shards, tmp_path / "elm")
    rewritten(folder, "claims", "record", record)
    atlas = open_atlas(folder, tmp_path / "kept")
    assert contradictions(atlas, ContradictionFilter(), ResultWindow()).total <= 2  # what the table of people has
    assert timeline(atlas, TimeWish(), ResultWindow()).rows[0]["when"]


def test_queries_reach_nothing_but_the_shards(elm_shards: Path, tmp_path: Path) -> None:
    """No file beside the shards, no extension, and no way to change that."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    shards = sorted((elm_shards / "pages").glob("*.parquet"))
    with open_database("elm", {"pages": shards}) as database:
        assert database.scalar("SELECT count(*) FROM pages") == 13
        for query in (
            f"SELECT * FROM read_csv('{secret}')",
            f"COPY pages TO '{tmp_path / 'out.parquet'}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            f"ATTACH '{tmp_path / 'other.db'}'",
        ):
            with pytest.raises(Exception, match=r"(?i)permission|lock|disabled|cannot"):
                database.execute(query)
    assert not (tmp_path / "out.parquet").exists()


def test_derived_tables_are_kept_until_the_shards_change(elm_shards: Path, tmp_path: Path) -> None:
    """The next question reads the kept table; another manifest has a place of its own."""
    folder = copied(elm_shards, tmp_path / "elm")
    atlas = open_atlas(folder, tmp_path / "kept")
    atlas.files(GRAPH)
    kept = next(atlas.cache_folder.glob("graph.parquet"))
    before = kept.stat().st_mtime_ns
    assert open_atlas(folder, tmp_path / "kept").has(GRAPH)
    ranked_pages(atlas, "linked", "", ResultWindow())
    assert kept.stat().st_mtime_ns == before
    rewritten(folder, "pages", "title", "Other")
    assert not open_atlas(folder, tmp_path / "kept").has(GRAPH)


@pytest.mark.parametrize("left", [b"", b"PAR", b"noise that is no table", None])
def test_a_kept_table_that_was_damaged_is_worked_out_again(
    elm_shards: Path, tmp_path: Path, left: bytes | None
) -> None:
    """What is kept may be cut, overwritten or gone: the shards have it all."""
    atlas = open_atlas(elm_shards, tmp_path / "kept")
    (kept,) = atlas.files(GRAPH)["graph"]
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] if left is None else left)
    assert ranked_pages(open_atlas(elm_shards, tmp_path / "kept"), "linked", "", ResultWindow()).total == 13
    assert kept.read_bytes() == whole


def test_of_one_book_only_what_was_worked_out_last_is_kept(elm_shards: Path, tmp_path: Path) -> None:
    """Older folders of the book go when a new one is made; not where somebody works, and not those of other books."""
    folder, cache = copied(elm_shards, tmp_path / "elm"), tmp_path / "kept"
    other = cache / "atlas" / "another-book" / "old"
    other.mkdir(parents=True)
    made: list[Path] = []
    for age in range(MAX_CACHE_FOLDERS + 2):
        rewritten(folder, "pages", "title", f"Edition {age}")
        atlas = open_atlas(folder, cache)
        atlas.files(GRAPH)
        os.utime(atlas.cache_folder, (age, age))
        made.append(atlas.cache_folder)
        if age == 0:
            busy = FileLock(atlas.cache_folder / "graph.lock")
            assert busy.acquire()
    assert [one.is_dir() for one in made] == [True, False, *[True] * MAX_CACHE_FOLDERS]
    assert other.is_dir()
    busy.release()
    rewritten(folder, "pages", "title", "The last edition")
    open_atlas(folder, cache).files(GRAPH)
    assert [one.is_dir() for one in made] == [False, False, False, *[True] * (MAX_CACHE_FOLDERS - 1)]


def test_names_of_columns_that_are_not_text_are_damage(elm_shards: Path, tmp_path: Path) -> None:
    """The shard is named, as any other that cannot be read."""
    folder = copied(elm_shards, tmp_path / "elm")
    (shard,) = (folder / "links").glob("*.parquet")
    shard.write_bytes(shard.read_bytes().replace(b"href_title", b"href_\xffitle"))
    with pytest.raises(RunDamaged, match="as Parquet"):
        ranked_pages(open_atlas(folder, tmp_path / "kept"), "linked", "", ResultWindow())


def test_kept_tables_have_the_same_bytes_every_time(elm_shards: Path, tmp_path: Path) -> None:
    """What is deleted is worked out again, byte for byte."""
    made = []
    for name in ("one", "two"):
        atlas = open_atlas(elm_shards, tmp_path / name)
        files = {**atlas.files(GRAPH), **atlas.files(CONTRADICTIONS)}
        made.append({table: [file.read_bytes() for file in several] for table, several in files.items()})
    assert made[0] == made[1]


def test_a_cache_that_is_a_file_is_reported(elm_shards: Path, tmp_path: Path) -> None:
    """Whatever is in its place, the error is one of kiwiresearch."""
    (tmp_path / "kept").write_text("no folder")
    with pytest.raises(CannotWrite, match="cannot save its results"):
        ranked_pages(open_atlas(elm_shards, tmp_path / "kept"), "linked", "", ResultWindow())
