"""A real model, for what only a real one can show; it is asked outside CI, since it takes minutes."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

PLACE = "KIWIRESEARCH_TEST_MODEL"


@pytest.fixture(scope="session")
def real_model() -> Iterator[str]:
    """The address of a llama.cpp server with the model that the environment names."""
    weights = os.environ.get(PLACE, "")
    if not weights:
        pytest.skip(f"{PLACE} names no GGUF file (tools/fetch_test_model.py fetches one)")
    if not Path(weights).is_file():
        pytest.fail(f"{PLACE} is {weights!r}, which is no file")
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    xllamacpp = importlib.import_module("xllamacpp")
    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.verbosity = -1
    # Threads that wait for each other are many times slower on a machine that has other work to do.
    threads = max(1, (os.cpu_count() or 2) // 2)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(settings)
    yield server.listening_address
    del server
