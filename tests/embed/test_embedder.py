"""Vectors of length one and how alike they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kiwiresearch.embed.embedder import similarity, unit_rows

PARTS = st.floats(-1e300, 1e300)


@given(arrays(np.float64, (3, 8), elements=PARTS))
def test_every_row_has_length_one_or_is_zero(sums: np.ndarray) -> None:
    """Whatever is added up, a row comes out with length one, or as zeros if nothing was in it."""
    lengths = np.linalg.norm(unit_rows(sums), axis=1)
    expected = (sums != 0).any(axis=1).astype(float)
    assert lengths == pytest.approx(expected, abs=2e-3)


@given(arrays(np.float64, (2, 8), elements=PARTS))
def test_half_floats_are_accurate_enough(sums: np.ndarray) -> None:
    """A cache that keeps half floats gives back the very same vector."""
    rows = unit_rows(sums)
    assert (rows.astype(np.float16).astype(np.float32) == rows).all()


def test_similarity_is_the_cosine() -> None:
    """The same direction gives 1, a right angle 0, the opposite -1, and nothing 0."""
    query = np.array([1, 0], np.float32)
    rows = np.array([[1, 0], [0, 1], [-1, 0], [0, 0]], np.float32)
    assert similarity(query, rows).tolist() == [1, 0, -1, 0]


def test_similarity_takes_a_query_as_the_embedder_gives_it() -> None:
    """The one row of an embedded question may be passed on as it is."""
    query = np.array([[0.6, 0.8]], np.float32)
    assert similarity(query, query).tolist() == [1]


def test_similarity_with_no_rows_is_empty() -> None:
    """Nothing to compare with is not an error."""
    assert similarity(np.ones(4, np.float32), np.zeros((0, 4), np.float32)).shape == (0,)
