"""Pronouns to train on: some labelled by hand, and more that the teacher labels.

A label says where the pronoun is on its page and which of the names around it it refers to. Pages whose pronouns or
shared questions are used for evaluation are left out.
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
from tools.train_reader.split import drawn, plain, questioned

from kiwiresearch.ask.pronouns import PronounContext
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.reader.reader import TITLE_UNIT, Mention, TextToRead
from kiwiresearch.zim.libzim import LibzimArchive

LABELS = Path(__file__).parent / "labels" / "pronouns.jsonl"
JUDGING = Path(__file__).parents[2] / "evals" / "labels" / "pronouns.jsonl"
PRONOUN = re.compile(r"\b(?:he|him|his|she|her|hers|it|its|they|them|their)\b", re.IGNORECASE)
A_PAGE = 7
"""So many pronouns of a page are left to the teacher."""


def labelled(archive: LibzimArchive) -> Iterator[Pronoun]:
    """The labelled pronouns, with the names before each of them."""
    pages: dict[str, PageDoc] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = pages.setdefault(row["path"], open_page(archive, row["path"]))
        context = context_on(page, row["start"], row["end"])
        first, _ = sentences_around(page, row["start"])
        meant = tuple(int(_is_meant(name, page.sentences[first:], row)) for name in context.names)
        # The name comes only after the pronoun: no name before it is right, and none is wrong.
        if any(meant) or not row["names"]:
            yield _of(context, meant)


def _is_meant(name: Mention, starts: Sequence[int], row: dict[str, Any]) -> bool:
    if name.unit == TITLE_UNIT:
        return bool(row["title"])
    start, end = starts[name.unit] + name.start, starts[name.unit] + name.end
    return any(a < end and b > start for a, b in row["names"])


def unlabelled(archive: LibzimArchive, barred: frozenset[str]) -> Iterator[Pronoun]:
    """Some pronouns of every page that may be trained on."""
    for path in article_paths(archive):
        if plain(path) in barred:
            continue
        page = open_page(archive, path)
        found = sorted(PRONOUN.finditer(page.text), key=lambda one: drawn(f"{path}:{one.start()}", "pronoun"))
        for one in found[:A_PAGE]:
            context = context_on(page, one.start(), one.end())
            if "\t" not in "".join(context.text.units):
                yield _of(context, ())


def _of(context: PronounContext, meant: tuple[int, ...]) -> Pronoun:
    return Pronoun(context.text, context.at, context.end, context.names, meant)


def read_pronouns(file: Path) -> Iterator[Pronoun]:
    """The pronouns that `main` wrote."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        names = tuple(Mention(*one) for one in row["names"])
        yield Pronoun(
            TextToRead(row["title"], "", tuple(row["units"])), row["at"], row["end"], names, tuple(row["meant"])
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("shared", type=Path, help="the folder of the shared data")
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=1_000_000, help="of each kind, to rehearse")
    given = parser.parse_args()
    archive = LibzimArchive(given.shared / "zims" / "schools-2007.zim")
    judging = {json.loads(line)["path"] for line in JUDGING.read_text(encoding="utf-8").splitlines()}
    barred = questioned(given.shared / "qa" / "schools") | {plain(path) for path in judging}
    rows = [*islice(labelled(archive), given.most), *islice(unlabelled(archive, barred), given.most)]
    with given.out.open("w", encoding="utf-8") as out:
        for one in rows:
            row = {"title": one.text.title, "units": one.text.units, "at": one.at, "end": one.end}
            out.write(json.dumps({**row, "names": one.names, "meant": one.meant}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
