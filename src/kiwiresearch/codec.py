"""Values as JSON: a dataclass is the object of its fields, and its description in the OpenAPI is made of it as well.

Pydantic reads the same classes for the OpenAPI, but writes no reply: its import takes longer than most
commands, and it would turn whole numbers in fields of fractions into `3.0`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar

OMIT_DEFAULT: Mapping[str, bool] = {"omit_default": True}
"""Metadata of a field whose key is left out of the JSON while it has its default value."""


def json_key(name: str) -> str:
    """The key of a field: `class_` is written as `class`, which Python keeps for itself."""
    return name.removesuffix("_")


class Record:
    """Base of dataclasses made for JSON; the docstrings of their fields are the descriptions in the OpenAPI."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "use_attribute_docstrings": True,
        "alias_generator": json_key,
        "serialize_by_alias": True,
    }


def plain(value: Any) -> Any:
    """A value as the dicts, lists and scalars that JSON is written from; lone surrogates pass unchanged."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(key, getattr(value, name), omitted) for name, key, omitted in _fields(type(value))]
        return {key: plain(item) for key, item, omitted in pairs if omitted is MISSING or item != omitted}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


T = TypeVar("T")


def extend(kind: type[T], base: Any, **more: Any) -> T:
    """A value of a class that has the fields of `base`, some of them with other values, and some more."""
    return kind(**({name: getattr(base, name) for name, _, _ in _fields(type(base))} | more))


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, Any], ...]:
    """Name, key, and the value at which the key is left out; MISSING where it never is."""
    return tuple((field.name, json_key(field.name), _omitted(field)) for field in fields(kind))


def _omitted(field: Field[Any]) -> Any:
    return field.default if field.metadata.get("omit_default") else MISSING
