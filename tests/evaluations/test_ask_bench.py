"""The benchmark of answers measures what is promised of them."""

from __future__ import annotations

from pathlib import Path

from bench.ask import measure_questions

QUESTIONS = ("When was Einstein born?", "Why is the sky orange at sunset?", "Who won the zorbing cup of Xqzzl?")


def test_the_first_citation_is_measured_cold_and_warm(tmp_path: Path, sample_zim: Path) -> None:
    """p50 and p95 of wall-clock and CPU time, against a search and one page in the same run (R215, R249, R250)."""
    header, *rows, first_citation, whole_answer = measure_questions(sample_zim, tmp_path, QUESTIONS)
    assert "wall-clock time (p50, p95) and of CPU time (p50, p95)" in header
    assert [row.split("  ")[0] for row in rows] == [
        "cold: search and one page",
        "cold: first citation",
        "warm: search and one page",
        "warm: first citation",
        "warm: whole answer",
        "warm: whole answer, fast",
    ]
    assert all(row.endswith("x") for row in rows)
    assert first_citation.startswith("warm: first citation: p50 ")
    assert whole_answer.startswith("warm: whole answer: p50 ")
