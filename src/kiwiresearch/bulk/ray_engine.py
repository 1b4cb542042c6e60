"""Runs batches with Ray Data, on this machine or on a cluster."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from kiwiresearch.bulk.batch import Batches, BulkWork, EntryReader, FinishedBatch, Shard, pack_batch
from kiwiresearch.bulk.tables import RowTally, pyarrow_module
from kiwiresearch.errors import BookChanged, BookNotFound, KiwiError
from kiwiresearch.ids import BookId

SILENT_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}
"""Ray reports its usage to its makers unless it is switched off: nothing may be sent anywhere."""

CONNECT_TIMEOUT_S = 5.0
AUTO_ADDRESS = "auto"
REMEDY = "Put the book at the same path on all machines, then run it again. It continues where it stopped."


class PackedShard(TypedDict):
    """A shard as Ray sends it; the total in hexadecimal, since it exceeds 64 bits."""

    table: str
    rows: int
    total: str
    content: bytes


class BatchReply(TypedDict):
    """The result of a batch, or why it failed; a single row, because Ray splits results of a task between rows."""

    number: int
    problem: str
    remedy: str
    shards: list[PackedShard]


def by_ray(work: BulkWork, numbers: Sequence[int], workers: int = 0, address: str = "") -> Batches:
    """Do these batches on a cluster, or on a local Ray; batches of a lost machine are repeated by another one."""
    with _connected(address, workers) as ray:
        try:
            yield from _done(ray, work, numbers)
        except ray.exceptions.RayError as problem:
            if isinstance(problem, ray.exceptions.RayTaskError):  # a bug, which keeps its traceback
                raise
            raise KiwiError(
                f"Ray could not finish the work: {_first_line(problem)}.",
                remedy="Run it again to continue where it stopped, or use --engine processes.",
            ) from problem


def _done(ray: Any, work: BulkWork, numbers: Sequence[int]) -> Batches:
    # Sent to each machine once, and not with every batch.
    known = ray.put((work.entries, np.array(numbers, dtype=np.int64)))
    answers = ray.data.range(len(numbers), override_num_blocks=len(numbers)).map_batches(
        _answers,
        batch_format="pyarrow",
        fn_kwargs={"known": known, "work": (str(work.file), work.book, work.tables, work.batch_size)},
    )
    for batch in answers.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
        yield from map(finished_batch, batch.to_pylist())


def _answers(batch: Any, known: Any, work: tuple[str, BookId, tuple[str, ...], int]) -> Any:
    """The results of some batches, a row for each; runs on whatever machine Ray chooses."""
    file, book, tables, size = work
    entries, numbers = _ray().get(known)
    mine = BulkWork(Path(file), book, tables, entries, size)
    rows = [batch_reply(mine, int(numbers[place])) for place in batch.column("id").to_pylist()]
    module = pyarrow_module()
    return module.Table.from_pylist(rows, schema=_schema(module))


def batch_reply(work: BulkWork, number: int) -> BatchReply:
    """The result of a batch; a machine that lacks the book, or has another one, is named."""
    try:
        done = pack_batch(number, EntryReader(work.file, work.book, work.tables).rows(work.ids(number)))
        return {"number": number, "problem": "", "remedy": "", "shards": [_packed(shard) for shard in done.shards]}
    except BookNotFound:
        message, remedy = f"The file {str(work.file)!r} does not exist on {_this_host()}.", REMEDY
    except BookChanged:
        message = f"The file {str(work.file)!r} on {_this_host()}, is not the book that the work was started with."
        remedy = REMEDY
    except KiwiError as problem:
        message, remedy = problem.message, problem.remedy
    return {"number": number, "problem": message, "remedy": remedy, "shards": []}


def _this_host() -> str:
    return f"{socket.gethostname()!r}, a machine of the Ray cluster"


def _schema(module: Any) -> Any:
    text, many = module.string(), module.int64()
    shard = module.struct({"table": text, "rows": many, "total": text, "content": module.large_binary()})
    return module.schema({"number": many, "problem": text, "remedy": text, "shards": module.list_(shard)})


def _packed(shard: Shard) -> PackedShard:
    tally = shard.tally
    return {"table": shard.table, "rows": tally.rows, "total": f"{tally.total:x}", "content": shard.content}


def finished_batch(reply: BatchReply) -> FinishedBatch:
    """The batch of a reply; KiwiError if the reply says why it failed."""
    if reply["problem"]:
        raise KiwiError(reply["problem"], remedy=reply["remedy"])
    shards = [
        Shard(item["table"], RowTally(item["rows"], int(item["total"], 16)), item["content"])
        for item in reply["shards"]
    ]
    return FinishedBatch(reply["number"], tuple(shards))


@contextmanager
def _connected(address: str, workers: int) -> Iterator[Any]:
    """Ray, connected to a cluster or started locally, with its output silenced; an existing connection is reused."""
    os.environ.update(SILENT_ENVIRONMENT)
    ray = _ray()
    if ray.is_initialized():
        yield ray
        return
    if address and address != AUTO_ADDRESS:
        _check_reachable(address)
    try:
        own = {} if address else {"num_cpus": workers or None, "include_dashboard": False}
        ray.init(address or "local", logging_level=logging.ERROR, log_to_driver=False, **own)
    except (ConnectionError, RuntimeError, ValueError, OSError) as problem:
        raise _no_cluster(address, _first_line(problem)) from problem
    try:
        _silence_logs(ray)
        yield ray
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise KiwiError if nothing listens at an address, which Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError, OverflowError) as problem:
        raise _no_cluster(address, getattr(problem, "strerror", None) or "it is not an address") from problem


def _no_cluster(address: str, reason: str) -> KiwiError:
    return KiwiError(
        f"Could not connect to a Ray cluster at {address!r}: {reason}."
        if address
        else f"Could not start Ray: {reason}.",
        remedy="Enter the address of a running cluster, for example 10.0.0.1:6379, or use --engine processes.",
    )


def _silence_logs(ray: Any) -> None:
    """Ray logs every step; what matters is raised as an error anyway."""
    ray.data.DataContext.get_current().enable_progress_bars = False
    for name in ("ray", "ray.data", "ray.data.dataset"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _ray() -> Any:
    try:
        import ray
        import ray.data
        import ray.exceptions
    except ImportError as problem:
        raise KiwiError(
            "Ray is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[bulk]', or use --engine processes.",
        ) from problem
    return ray


def _first_line(problem: BaseException) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(". :")
