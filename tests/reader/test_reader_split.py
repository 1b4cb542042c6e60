"""Pages that judge the reading model never train it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.train_reader.split import evaluation_part, normalize_title, squad_part, titles_with_questions


def _questions(folder: Path, *paths: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps({"question": "Who?", "path": path}) + "\n" for path in paths]
    (folder / "set.jsonl").write_text("".join(rows), encoding="utf-8")


def test_titles_are_compared_as_people_write_them(tmp_path: Path) -> None:
    """A page is the same page in every set and book, however its path spells the title."""
    _questions(tmp_path, "Port_Lomond", "Ada Merriweather")
    assert titles_with_questions(tmp_path) == {"port lomond", "ada merriweather"}
    assert evaluation_part("Port_Lomond") == evaluation_part("port lomond")


def test_claims_name_several_pages(tmp_path: Path) -> None:
    """All pages that a claim is about are kept from training."""
    (tmp_path / "fever.jsonl").write_text('{"claim": "…", "paths": ["A", "B"]}\n', encoding="utf-8")
    assert titles_with_questions(tmp_path) == {"a", "b"}


@pytest.mark.parametrize("number", range(60))
def test_a_page_with_questions_in_the_encyclopedia_always_judges(number: int) -> None:
    """A page is either trained on or judges, and one that judges elsewhere is never trained on."""
    path = f"Page_{number}"
    part = squad_part(path, frozenset())
    assert part in ("train", "dev", "test")
    assert part == "train" or part == evaluation_part(path)
    assert squad_part(path, frozenset({normalize_title(path)})) != "train"


def test_all_parts_have_pages() -> None:
    """The split gives each part a share."""
    parts = [squad_part(f"Page {number}", frozenset()) for number in range(400)]
    assert {part: parts.count(part) > 60 for part in parts} == {"train": True, "dev": True, "test": True}
