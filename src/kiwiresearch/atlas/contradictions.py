"""Contradictions across a whole book: DuckDB finds what may contradict, the comparison of claims decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kiwiresearch.atlas.atlas import Atlas, Recipe, language_of
from kiwiresearch.atlas.candidates import found
from kiwiresearch.atlas.database import Database, literal, save
from kiwiresearch.atlas.disagreeing import Contradiction, Side
from kiwiresearch.atlas.part import Part, Window, part
from kiwiresearch.bulk.manifest import Subject
from kiwiresearch.claims.conflicts.saying import Kind
from kiwiresearch.ids import BookId

KINDS: tuple[Kind, ...] = ("contradiction", "estimate range", "unit or rounding", "different year", "different scope")
"""In the order in which they are told."""
What = Literal["a number", "a date"]
SIDES = ("a", "b")
COLUMNS = (
    "path", "title", "section", "anchor", "claim_id", "text", "value_start", "value_end", "quote", "start", "end",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """Which contradictions are wanted."""

    kind: Kind | Literal[""] = ""
    what: What | Literal[""] = ""
    words: str = ""
    """Some of the subject's title, or of what both say."""
    page: str = ""
    """The title or path of a page that one of the sides stands on."""


def contradictions(atlas: Atlas, wish: Wish, window: Window) -> Part:
    """Some of them, by kind, dates before numbers, those furthest apart first."""
    with atlas.database(files=atlas.files(CONTRADICTIONS)) as database:
        chosen: list[tuple[str, Any]] = []
        if wish.kind:
            chosen.append(("kind = ?", [wish.kind]))
        if wish.what:
            chosen.append(("what = ?", [wish.what]))
        if wish.words.strip():
            said = "lower(concat_ws(' ', title, attribute, a_text, b_text))"
            chosen.append((f"contains({said}, lower(?))", [wish.words.strip()]))
        if wish.page:
            chosen.append(("list_contains([a_path, a_title, b_path, b_title], ?)", [wish.page]))
        some = part(database, "contradictions", chosen, "number", window)
    return Part(tuple(map(_row, some.rows)), some.total, some.offset)


def counts(atlas: Atlas) -> dict[str, int]:
    """How many there are of each kind."""
    with atlas.database(files=atlas.files(CONTRADICTIONS)) as database:
        rows = database.rows("SELECT kind, count(*) AS rows FROM contradictions GROUP BY kind")
    by_kind = {row["kind"]: row["rows"] for row in rows}
    return {kind: by_kind[kind] for kind in KINDS if kind in by_kind}


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    sides = [{name: row[f"{side}_{name}"] for name in COLUMNS} for side in SIDES]
    plain = ("about", "title", "attribute", "kind", "what", "why", "gap")
    return {name: row[name] for name in plain} | {"sides": sides}


def _make(database: Database, folder: Path, book: Subject) -> None:
    columns = [f"{side}_{name} {_type(name)}" for side in SIDES for name in COLUMNS]
    database.do(
        "CREATE TABLE pairs (about VARCHAR, attribute VARCHAR, kind VARCHAR, what VARCHAR, why VARCHAR, "
        f"gap DOUBLE, {', '.join(columns)})"
    )
    blanks = ", ".join("?" * (6 + 2 * len(COLUMNS)))
    for one in found(database, BookId(book.id), language_of(book)):
        database.do(f"INSERT INTO pairs VALUES ({blanks})", _values(one))
    order = " ".join(f"WHEN {literal(kind)} THEN {place}" for place, kind in enumerate(KINDS))
    save(
        database,
        folder,
        "contradictions",
        f"""SELECT row_number() OVER (ORDER BY CASE kind {order} ELSE 9 END, what, gap DESC, about, attribute,
            a_claim_id, b_claim_id) AS number, names.title, pairs.*
        FROM pairs JOIN (SELECT path, min(title) AS title FROM titles WHERE redirect_to = '' GROUP BY path) names
        ON pairs.about = names.path ORDER BY number""",
    )


def _values(one: Contradiction) -> list[Any]:
    how = one.how
    told = [value for side in one.sides for value in _side(side)]
    return [one.about, one.attribute, how.kind, how.what, how.why, one.gap, *told]


def _side(side: Side) -> list[Any]:
    claim, quote = side.claim, side.claim.quotes[0]
    return [
        claim.ref.path, claim.page_title, claim.section, claim.anchor, claim.id, claim.text, *side.span,
        quote.text, quote.start, quote.end,
    ]  # fmt: skip


def _type(name: str) -> str:
    return "BIGINT" if name in ("value_start", "value_end", "start", "end") else "VARCHAR"


CONTRADICTIONS = Recipe("contradictions", ("contradictions",), ("titles", "claims"), _make, helps=("people",))
