"""Pronouns to train on: some that are labelled by hand, and more that the teacher labels.

A label has the place of a pronoun on its page and the names around it that it refers to. Pages with pronouns or shared
questions for evaluation are left out.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evals.pronouns import context_on, sentences_around
from tools.train_reader.examples import Pronoun
from tools.train_reader.gather import article_paths
from tools.train_reader.split import normalize_title, stable_fraction, titles_with_questions

from kiwiresearch.ask.pronouns import PronounContext
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.reader.reader import TITLE_UNIT, Mention, TextToRead
from kiwiresearch.zim.libzim import LibzimArchive

LABELS = Path(__file__).parent / "labels" / "pronouns.jsonl"
EVALUATION_LABELS = Path(__file__).parents[2] / "evals" / "labels" / "pronouns.jsonl"
PRONOUN = re.compile(r"\b(?:he|him|his|she|her|hers|it|its|they|them|their)\b", re.IGNORECASE)
PRONOUNS_PER_PAGE = 7
"""How many pronouns of a page the teacher labels."""


def read_labelled(archive: LibzimArchive) -> Iterator[Pronoun]:
    """The pronouns labelled by hand, with the names before each of them."""
    pages: dict[str, PageDoc] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = pages.setdefault(row["path"], open_page(archive, row["path"]))
        context = context_on(page, row["start"], row["end"])
        first, _ = sentences_around(page, row["start"])
        meant = tuple(int(_is_meant(name, page.sentences[first:], row)) for name in context.names)
        # If the right name comes only after the pronoun, the names before it are neither right nor wrong.
        if any(meant) or not row["names"]:
            yield _make_pronoun(context, meant)


def _is_meant(name: Mention, starts: Sequence[int], row: dict[str, Any]) -> bool:
    if name.unit == TITLE_UNIT:
        return bool(row["title"])
    start, end = starts[name.unit] + name.start, starts[name.unit] + name.end
    return any(a < end and b > start for a, b in row["names"])


def choose_unlabelled(archive: LibzimArchive, excluded: frozenset[str]) -> Iterator[Pronoun]:
    """Some pronouns of every page that may be used for training."""
    for path in article_paths(archive):
        if normalize_title(path) in excluded:
            continue
        page = open_page(archive, path)
        matches = sorted(
            PRONOUN.finditer(page.text), key=lambda match: stable_fraction(f"{path}:{match.start()}", "pronoun")
        )
        for match in matches[:PRONOUNS_PER_PAGE]:
            context = context_on(page, match.start(), match.end())
            if "\t" not in "".join(context.text.units):
                yield _make_pronoun(context, ())


def _make_pronoun(context: PronounContext, meant: tuple[int, ...]) -> Pronoun:
    return Pronoun(context.text, context.at, context.end, context.names, meant)


def read_pronouns(file: Path) -> Iterator[Pronoun]:
    """The pronouns that `main` wrote."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        names = tuple(Mention(*name) for name in row["names"])
        yield Pronoun(
            TextToRead(row["title"], "", tuple(row["units"])), row["at"], row["end"], names, tuple(row["meant"])
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("shared", type=Path, help="the folder of the shared data")
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=1_000_000, help="at most this many of each kind, to rehearse")
    options = parser.parse_args()
    archive = LibzimArchive(options.shared / "zims" / "schools-2007.zim")
    evaluation_paths = {json.loads(line)["path"] for line in EVALUATION_LABELS.read_text(encoding="utf-8").splitlines()}
    excluded = titles_with_questions(options.shared / "qa" / "schools") | {
        normalize_title(path) for path in evaluation_paths
    }
    pronouns = [
        *islice(read_labelled(archive), options.most),
        *islice(choose_unlabelled(archive, excluded), options.most),
    ]
    with options.out.open("w", encoding="utf-8") as out:
        for pronoun in pronouns:
            row = {"title": pronoun.text.title, "units": pronoun.text.units, "at": pronoun.at, "end": pronoun.end}
            out.write(json.dumps({**row, "names": pronoun.names, "meant": pronoun.meant}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
