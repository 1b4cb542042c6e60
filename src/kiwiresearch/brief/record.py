"""A brief as plain data, and back again: nothing is lost, and nothing is taken that is no brief."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, NewType, get_args, get_origin, get_type_hints

from kiwiresearch.brief.brief import Brief
from kiwiresearch.claims import record as claims

WHERE_ANY = frozenset({"pictures"})
"""Fields that are written only where they hold something."""


def record_of(brief: Brief) -> dict[str, Any]:
    """What `brief.json` holds: the fields by their names, and the claims that its statements rest on."""
    told = {part.name: _plain(getattr(brief, part.name)) for part in fields(brief) if part.name != "claims"}
    told = {name: value for name, value in told.items() if value or name not in WHERE_ANY}
    return told | {"claims": [claims.record_of(claim) for claim in brief.claims.values()]}


def brief_of(record: Mapping[str, Any]) -> Brief:
    """The brief that a record was made of; ValueError, KeyError or TypeError if it was none."""
    made = [claims.claim_of(row) for row in _of(list[Any], record["claims"], "claims")]
    names = {name: hint for name, hint in _hints(Brief).items() if name in record or name not in WHERE_ANY}
    told = {name: _of(hint, record[name], name) for name, hint in names.items() if name != "claims"}
    return Brief(**told, claims={claim.id: claim for claim in made})


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _of(hint: Any, value: Any, name: str) -> Any:
    """The value as the type that its field has, which is why a new field needs no line here."""
    if isinstance(hint, NewType):
        return _of(hint.__supertype__, value, name)
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} is no record: {value!r:.60}")
        return hint(**{one: _of(kind, value[one], f"{name}.{one}") for one, kind in _hints(hint).items()})
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _checked(value, name, fits=value in inner)
    if origin is UnionType:
        return _checked(value, name, fits=isinstance(value, inner))
    if origin in (tuple, list):
        _checked(value, name, fits=isinstance(value, list))
        kinds = [inner[0]] * len(value) if inner[-1] is ... or origin is list else inner
        made = [_of(kind, one, name) for kind, one in zip(kinds, value, strict=True)]
        return tuple(made) if origin is tuple else made
    if origin is dict:
        _checked(value, name, fits=isinstance(value, dict))
        return {_of(inner[0], key, name): _of(inner[1], one, name) for key, one in value.items()}
    if hint is Any:
        return value
    if hint is float:
        return float(_checked(value, name, fits=type(value) in (int, float)))
    return _checked(value, name, fits=type(value) is hint)


def _checked(value: Any, name: str, *, fits: bool) -> Any:
    if not fits:
        raise TypeError(f"{name} cannot be {value!r:.60}")
    return value
