"""The tool that fits what a brief chooses by: it prints the weights that the program reads."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from evals.brief_aspects import MarkedTopic
from tools import fit_brief

from kiwiresearch.brief.relevance import feature_weights
from kiwiresearch.zim.book_writer import NewPage, write_book

LEAD = """
The Salt road was a trade route of northern Varn. Salt was carried on it from the mines to the harbour.
Carts of the guild paid a toll at the custom house. Merchants founded inns along the whole road.
"""
TRADE = "Carts of merchants carried salt and herring to market number {} in the trade of year 14{:02}."
WARS = "Soldiers of a distant king burned village number {} with its mills and barns in year 15{:02}."


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder of shared data with one small book in it."""
    trade = " ".join(TRADE.format(n, n) for n in range(14))
    wars = " ".join(WARS.format(n, n) for n in range(14))
    html = f"<p>{LEAD}</p><h2>Trade</h2><p>{trade}</p><h2>Wars</h2><p>{wars}</p>"
    (tmp_path / "zims").mkdir()
    metadata = {"Name": "road_en", "Title": "Road book", "Language": "eng", "Date": "2026-01-01"}
    pages = [
        NewPage("Salt_road", "Salt road", html.encode()),
        NewPage("Sea", "Sea", b"<p>The sea is deep.</p>"),
    ]
    write_book(tmp_path / "zims" / "schools-2007.zim", pages, metadata=metadata)
    return tmp_path


def fitted(what: str, shared: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    assert fit_brief.main([what, str(shared)]) == 0
    found: dict[str, float] = tomllib.loads(capsys.readouterr().out)[what]
    return found


def test_salience_is_fitted_on_introductions(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each sign of the table has a weight; words that the page has often speak for a sentence."""
    found = fitted("salience", shared, capsys)
    assert found.keys() == feature_weights()["salience"].keys()
    assert any(found.values())


def test_the_aspect_is_fitted_on_marked_sentences(
    shared: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sign of the table has a weight; where readers marked a section of that name, its heading counts."""
    none: frozenset[tuple[str, int]] = frozenset()
    topic = MarkedTopic("Salt road trade", frozenset({("Salt_road", 1)}), none, none, none)
    monkeypatch.setattr(fit_brief, "load_topics", lambda part: [topic] if part == "dev" else [])
    found = fitted("aspect", shared, capsys)
    assert found.keys() == feature_weights()["aspect"].keys()
    assert found["aspect in heading"] > 0
