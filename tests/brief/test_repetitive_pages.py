"""A page that repeats itself, or has more numbers than a brief can compare, does not silence the other pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.verify.verified_runs import a_finished_run, failure_texts, proved

from kiwiresearch.brief.brief import Brief, brief_from_record

REPEATED = "The Salt road had 500 inns in 1390. "
TIMES = 500


def brief_with(place: Path, text: str, title: str = "Custom house") -> Brief:
    """The brief about the road if one of its pages has this text too."""
    place.mkdir()
    run = a_finished_run(place, more={title: f"<p>{text}</p>"})
    return brief_from_record(json.loads((run / "brief.json").read_bytes()))


def said(brief: Brief) -> list[list[str]]:
    """What a brief says, part by part; the order also depends on how often a page names the topic."""
    groups = (*brief.body, *brief.definitions, *brief.mechanisms, *brief.actors)
    parts = (
        [statement.text for statement in brief.statements()],
        [group.heading for group in groups],
        [moment.when for moment in brief.timeline],
        [f"{figure.value} {figure.what}" for figure in brief.numbers],
        [f"{dispute.about} {dispute.difference}" for dispute in brief.disputes],
    )
    return list(map(sorted, parts))


@pytest.mark.parametrize("title", ["Custom house", "Salt road"])
def test_a_sentence_that_is_repeated_counts_once(tmp_path: Path, title: str) -> None:
    """Written hundreds of times, a sentence says no more than written once: the brief is the same."""
    once = brief_with(tmp_path / "once", REPEATED, title)
    often = brief_with(tmp_path / "often", REPEATED * TIMES, title)
    assert said(often) == said(once)
    assert len(once.numbers) > 0 < len(once.disputes)
    lines = (tmp_path / "often" / "run" / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    assert sum(REPEATED.strip() in line for line in lines) == 1


def test_what_depends_on_its_context_is_not_a_repetition(tmp_path: Path) -> None:
    """'It was sold' is another fact below another heading."""
    text = "<h2>{0}</h2><p>{0} was a mill. In 1512 it was sold to Bergen.</p>"
    brief_with(tmp_path / "book", text.format("North") + text.format("South"), "Salt road")
    lines = (tmp_path / "book" / "run" / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    claims = [json.loads(line) for line in lines if "sold to Bergen" in line]
    assert {tuple(claim["headings"])[-1] for claim in claims} == {"North", "South"}


def test_one_page_leaves_room_for_the_numbers_of_others(tmp_path: Path) -> None:
    """However many numbers one page has, those of others are compared, and the brief says that not all were."""
    text = "".join(f"In {year} the Salt road had {year - 1000} inns. " for year in range(1050, 1350))
    brief = brief_with(tmp_path / "book", text)
    assert [dispute.about for dispute in brief.disputes] == ["Salt road", "What explains it"]
    assert [figure.value for figure in brief.numbers if figure.difference] == ["118 km", "186 km"]
    (note,) = [note for note in brief.notes if note.kind == "note.not_compared"]
    assert note.startswith("Of 3")
    assert failure_texts(proved(tmp_path / "book" / "run")) == []
