"""The bench of answers: what it measures on a real book is what is promised of them."""

from __future__ import annotations

from pathlib import Path

from bench.ask import alone

QUESTIONS = ("When was Einstein born?", "Why is the sky orange at sunset?", "Who won the zorbing cup of Xqzzl?")


def test_the_first_citation_is_measured_cold_and_warm(tmp_path: Path, sample_zim: Path) -> None:
    """Median and 95 of 100 by clock and processor, against a search and one page in the same run (R215, R249, R250)."""
    first, *rows, verdict = alone(sample_zim, tmp_path, QUESTIONS)
    assert "median, 95 of 100 below" in first
    assert [row.split("  ")[0] for row in rows] == [
        "cold: search and one page",
        "cold: first citation",
        "warm: search and one page",
        "warm: first citation",
        "warm: whole answer",
        "warm: whole answer, fast",
    ]
    assert all(row.endswith(" times") for row in rows)
    assert verdict.startswith("first citation, warm:")
