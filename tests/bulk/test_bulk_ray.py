"""Ray, for real: two nodes of a cluster on this machine, and one of them lost in the middle of the work."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.bulk.bulk_book import TABLES, id_of, tables_here

from kiwiresearch.bulk import ray_engine
from kiwiresearch.bulk.batch import BulkWork, EntryReader, pack_batch
from kiwiresearch.bulk.finished_folder import BulkManifest, check_folder
from kiwiresearch.bulk.ray_engine import SILENT_ENVIRONMENT, batch_reply, finished_batch
from kiwiresearch.bulk.run import BulkProgress, write_book
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

TIMEOUT_S = 300.0
"""A machine may have much else to do; nobody waits as long if all goes well."""

HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500}
"""A node that is gone is found out in seconds, one that is slow still has minutes."""


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head that does no work; one test takes it, since to start it takes many seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SILENT_ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", str(Path(ray_engine.__file__).parents[2]))
        import ray
        from ray.cluster_utils import Cluster

        logging.getLogger("ray").setLevel(logging.ERROR)
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH}
        found = Cluster(initialize_head=True, head_node_args=head)
        try:
            yield found
        finally:
            ray.shutdown()
            found.shutdown()  # type: ignore[no-untyped-call]


def digests(manifest: BulkManifest) -> dict[str, tuple[int, str]]:
    return {name: (table.rows, table.digest) for name, table in manifest.tables.items()}


def answers_with_notes(notes: Path, first: str, second: str) -> Callable[..., Any]:
    """What a node runs: the answers, with a note of who started and finished which batch.

    Both nodes begin one before either goes on. The second node keeps its second batch until it is lost,
    and the first one does not go on before it has that batch.
    """
    patience_s = TIMEOUT_S

    def answers(batch: Any, **given: Any) -> Any:
        import ray

        from kiwiresearch.bulk.ray_engine import _answers

        parent = os.getppid()

        def wait_for(pattern: str) -> None:
            until = time.monotonic() + patience_s
            while not any(notes.glob(pattern)) and os.getppid() == parent and time.monotonic() < until:
                time.sleep(0.02)

        node = ray.get_runtime_context().get_node_id()
        (number,) = batch.column("id").to_pylist()
        has_finished = any(notes.glob(f"finished-{node}-*"))
        (notes / f"began-{node}-{number}").touch()
        wait_for(f"began-{first if node == second else second}-*")
        if has_finished and node == second:
            (notes / f"held-{number}").touch()
            wait_for("never")
        elif has_finished:
            wait_for("held-*")
        found = _answers(batch, **given)
        (notes / f"finished-{node}-{number}").touch()
        return found

    return answers


def test_rows_are_the_same_on_two_nodes_of_which_one_is_lost(
    cluster: Any, harrow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have worked, and the work of the lost one is done by the other: the digests are those of one process.

    That is true however small the pieces are in which Ray returns the results of a task.
    """
    from ray.data import DataContext

    alone = tables_here(harrow, TABLES, tmp_path / "alone", version="1")
    first, second = cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes(timeout=TIMEOUT_S)
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setattr(ray_engine, "_answers", answers_with_notes(notes, first.node_id, second.node_id))
    monkeypatch.setattr(DataContext.get_current(), "target_max_block_size", 1)
    for name in SILENT_ENVIRONMENT:
        monkeypatch.delenv(name)
    held: list[str] = []

    def lose(progress: BulkProgress) -> None:
        assert {name: os.environ.get(name) for name in SILENT_ENVIRONMENT} == SILENT_ENVIRONMENT
        until = time.monotonic() + TIMEOUT_S
        while not held and time.monotonic() < until:
            held.extend(file.name.removeprefix("held-") for file in notes.glob("held-*"))
            time.sleep(0.02)
        if second in cluster.worker_nodes:
            assert progress.done < progress.total
            cluster.remove_node(second, allow_graceful=False)

    given: dict[str, Any] = {"version": "1", "engine": "ray", "address": cluster.address}
    less = write_book(harrow, TABLES, tmp_path / "less", batch=2, tell=lose, **given).manifest
    assert digests(less) == digests(alone)
    assert check_folder(tmp_path / "less").problems == ()
    assert list(cluster.worker_nodes) == [first]
    assert any(notes.glob(f"finished-{second.node_id}-*"))
    (number,) = held
    assert (notes / f"began-{second.node_id}-{number}").exists()
    assert not (notes / f"finished-{second.node_id}-{number}").exists()
    assert (notes / f"finished-{first.node_id}-{number}").exists()


def test_a_node_without_the_book_is_reported(harrow: Path) -> None:
    """The file must be at the same path on all nodes; one that lacks it is named, with what to do."""
    work = BulkWork(Path("/no/such/harrow.zim"), id_of(harrow), TABLES, np.array([0, 1], dtype=np.uint32), 2)
    with pytest.raises(KiwiError, match=f"'/no/such/harrow.zim' does not exist on {socket.gethostname()!r}.*same path"):
        finished_batch(batch_reply(work, 0))


def test_a_node_with_another_book_is_reported(harrow: Path) -> None:
    """It is named as well."""
    work = BulkWork(harrow, BookId("another"), TABLES, np.array([0, 1], dtype=np.uint32), 2)
    with pytest.raises(KiwiError, match=f"on {socket.gethostname()!r}, .* is not the book that .*same path"):
        finished_batch(batch_reply(work, 0))


def test_a_batch_travels_whole(harrow: Path) -> None:
    """What comes back from another machine is what was made there."""
    work = BulkWork(harrow, id_of(harrow), TABLES, np.arange(4, dtype=np.uint32), 4)
    made = pack_batch(0, EntryReader(harrow, work.book, TABLES).rows(work.ids(0)))
    assert finished_batch(batch_reply(work, 0)) == made


def test_an_address_where_nobody_is_is_refused_at_once(harrow: Path, tmp_path: Path) -> None:
    """It does not try for minutes."""
    given: dict[str, Any] = {"version": "1", "engine": "ray"}
    for address in ("127.0.0.1:1", "nonsense"):
        with pytest.raises(KiwiError, match=f"Could not connect to a Ray cluster at '{address}'"):
            write_book(harrow, TABLES, tmp_path / "out", address=address, **given)
