from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.bulk.bulk_book import TABLES, tables_here

from kiwiresearch.bulk.finished_folder import check_folder, open_folder
from kiwiresearch.bulk.tables import TABLES as COLUMNS
from kiwiresearch.bulk.tables import CellValue, from_parquet, schema_of, to_parquet
from kiwiresearch.errors import RunDamaged, RunNotFound

Changed = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def whole(harrow: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished folder."""
    out = tmp_path_factory.mktemp("whole") / "out"
    tables_here(harrow, TABLES, out, version="1", batch=8)
    return out


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it that may be damaged."""
    shutil.copytree(whole, tmp_path / "out")
    return tmp_path / "out"


def change(folder: Path, changed: Changed) -> None:
    file = folder / "manifest.json"
    data = json.loads(file.read_bytes())
    changed(data)
    file.write_text(json.dumps(data))


def test_a_finished_folder_passes(whole: Path) -> None:
    """Every shard has its checksum, and the rows of every table have its digest."""
    reports: list[tuple[int, int]] = []
    proof = check_folder(whole, lambda done, total: reports.append((done, total)))
    assert proof.is_intact
    assert reports[-1] == (proof.shards, proof.shards)


def test_an_unfinished_folder_is_distinguished_from_one_that_is_not_tables(folder: Path) -> None:
    """The one goes on with the command that began it, the other has to be made."""
    (folder / "manifest.json").unlink()
    with pytest.raises(RunNotFound, match=r"No finished bulk folder.*Create one"):
        open_folder(folder)
    (folder / ".kiwiresearch" / "plan.json").write_text("{}")
    with pytest.raises(RunNotFound, match=r"is not finished.*again to continue"):
        open_folder(folder)


def test_some_columns_can_be_read_alone(whole: Path) -> None:
    """In the order in which they are asked for."""
    file, *_ = open_folder(whole).shards("titles")
    asked = [(title, path) for _, path, title, _ in from_parquet("titles", file)]
    assert list(from_parquet("titles", file, ("title", "path"))) == asked


def test_every_column_comes_back_as_it_went(tmp_path: Path) -> None:
    """Numbers, text, flags and what is not there survive Parquet."""
    values: dict[str, CellValue] = {"number": -(2**40), "text": "Ünï\t\n", "flag": True, "decimal": 0.1}
    for table, columns in COLUMNS.items():
        rows = [
            tuple(values[column.kind] for column in columns),
            tuple(None if column.optional else values[column.kind] for column in columns),
        ]
        file = tmp_path / f"{table}.parquet"
        file.write_bytes(to_parquet(table, rows))
        assert list(from_parquet(table, file)) == rows
        assert schema_of(table).names == [column.name for column in columns]


def test_a_missing_folder_is_distinguished_from_a_damaged_one(tmp_path: Path) -> None:
    """A folder without a manifest was never finished."""
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(RunNotFound, match="No finished bulk folder"):
            open_folder(folder)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (lambda m: m.update(format=2), "format 2 is not known"),
        (lambda m: m.pop("book"), "it has no 'book'"),
        (lambda m: m["tables"].update(secrets=m["tables"]["pages"]), "no table is called 'secrets'"),
        (
            lambda m: m["tables"]["pages"]["shards"][0].update(file="pages/../../x.parquet"),
            "not the name of a shard",
        ),
        (lambda m: m["tables"]["pages"]["shards"][0].update(file="/etc/passwd"), "not the name of a shard"),
        (lambda m: m["tables"]["pages"]["shards"][0].update(file="links/000000.parquet"), "not the name of a shard"),
        (lambda m: m["tables"]["pages"]["shards"][0].update(rows=-1), "is not a count"),
        (lambda m: m["tables"]["pages"]["shards"][0].update(rows=True), "is not a count"),
        (lambda m: m["tables"]["pages"]["shards"][0].update(sha256="md5:1"), "is not a hash"),
        (lambda m: m["tables"]["pages"].update(rows=1), "do not have 1 rows"),
        (lambda m: m["tables"]["errors"].update(rows=0, shards=[]), "has no shard"),
        (lambda m: m["book"].update(title=7), "7 is not text"),
        (lambda m: m.update(tables=[]), "no attribute"),
    ],
)
def test_a_manifest_that_lies_is_refused(folder: Path, changed: Changed, expected: str) -> None:
    """Whatever a stranger writes into it, no file outside the folder is opened and nothing is believed."""
    change(folder, changed)
    with pytest.raises(RunDamaged, match=expected):
        open_folder(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_that_is_none_is_refused(folder: Path, content: bytes) -> None:
    """It is damaged, not a traceback."""
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(RunDamaged, match="is damaged"):
        open_folder(folder)


def test_a_shard_that_leads_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    """A link to a file elsewhere is not followed, even where that is a shard."""
    shard = folder / "pages" / "000000.parquet"
    shard.rename(tmp_path / "outside.parquet")
    shard.symlink_to(tmp_path / "outside.parquet")
    with pytest.raises(RunDamaged, match="is not a regular file inside the bulk folder"):
        open_folder(folder).shards("pages")


def test_a_shard_of_another_table_is_refused(folder: Path) -> None:
    """Its columns show it."""
    content = (folder / "links" / "000000.parquet").read_bytes()
    (folder / "pages" / "000000.parquet").write_bytes(content)
    change(folder, lambda result: result["tables"]["pages"]["shards"][0].update(bytes=len(content)))
    with pytest.raises(RunDamaged, match="does not have the columns of the table 'pages'"):
        open_folder(folder).shards("pages")


@pytest.mark.parametrize(("right", "wrong"), [(b"problem", b"pr\xffblem"), (b"worded", b"w\xffrded")])
def test_names_and_texts_that_are_not_text_are_damage_(folder: Path, right: bytes, wrong: bytes) -> None:
    """Somebody who means harm knows how to hash: a check of the folder says which shard it is."""
    shard = folder / "errors" / "000000.parquet"
    content = to_parquet("errors", [(1, "P", "read", "worded")])
    assert right in content
    content = content.replace(right, wrong)
    shard.write_bytes(content)
    sums = {"rows": 1, "bytes": len(content), "sha256": f"sha256:{sha256(content).hexdigest()}"}
    change(folder, lambda result: result["tables"]["errors"]["shards"][0].update(sums))
    change(folder, lambda result: result["tables"]["errors"].update(rows=1))
    (problem,) = check_folder(folder).problems
    assert "errors/000000.parquet' as Parquet" in problem
    with pytest.raises(RunDamaged, match="as Parquet"):
        list(from_parquet("errors", shard))


def test_a_shard_with_another_number_of_rows_is_refused(folder: Path) -> None:
    """The count in the file and the one in the manifest must agree."""
    content = to_parquet("errors", [])
    (folder / "errors" / "000000.parquet").write_bytes(content)
    change(folder, lambda result: result["tables"]["errors"]["shards"][0].update(bytes=len(content)))
    with pytest.raises(RunDamaged, match="does not have 2 rows"):
        open_folder(folder).shards("errors")


def test_a_table_that_was_not_made_is_reported(harrow: Path, tmp_path: Path) -> None:
    """The error says how to get it."""
    tables_here(harrow, ("titles",), tmp_path / "titles", version="1")
    with pytest.raises(RunNotFound, match="bulk --what titles,claims"):
        open_folder(tmp_path / "titles").shards("claims")


def test_a_check_lists_every_file_that_is_wrong(folder: Path) -> None:
    """One that was changed, one that is missing, one that is not Parquet: each by its name."""
    changed = folder / "pages" / "000000.parquet"
    data = bytearray(changed.read_bytes())
    data[len(data) // 2] ^= 1
    changed.write_bytes(data)
    (folder / "links" / "000000.parquet").unlink()
    cut = folder / "titles" / "000001.parquet"
    cut.write_bytes(cut.read_bytes()[:100])
    problems = check_folder(folder).problems
    assert len(problems) == 3
    assert "titles/000001.parquet' has 100 bytes" in problems[0]
    assert problems[1] == "pages/000000.parquet was changed."
    assert "links/000000.parquet' is missing" in problems[2]


def test_a_check_finds_rows_that_were_changed_with_their_sums(folder: Path) -> None:
    """A shard with changed checksums still does not have the digest of the table."""
    file = folder / "titles" / "000000.parquet"
    rows = list(from_parquet("titles", file))
    forged = to_parquet("titles", [(*rows[0][:2], "Forged", rows[0][3]), *rows[1:]])
    file.write_bytes(forged)
    values = {"bytes": len(forged), "sha256": "sha256:" + sha256(forged).hexdigest()}
    change(folder, lambda manifest: manifest["tables"]["titles"]["shards"][0].update(values))
    assert check_folder(folder).problems == ("The rows of 'titles' do not match the digest in the manifest.",)
