"""Values as JSON: a dataclass becomes the object of its fields, and the OpenAPI is made from the same class.

Pydantic reads these classes for the OpenAPI but writes no replies: importing it takes longer than most commands run,
and it would turn an integer in a float field into `3.0`.
"""

from __future__ import annotations

import ast
import inspect
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, ClassVar, TypeVar, cast

JsonDict = dict[str, object]
"""A JSON object of unknown content: a settings file, the reply of another server, values for a template."""

OMIT_DEFAULT: Mapping[str, bool] = {"omit_default": True}
"""Metadata of a field that is left out of the JSON if it has its default value."""


def json_key(name: str) -> str:
    """The key of a field: `class_` is written as `class`, which is a keyword in Python."""
    return name.removesuffix("_")


class Record:
    """Base of dataclasses made for JSON; the docstrings of their fields are the descriptions in the OpenAPI."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "alias_generator": json_key,
        "serialize_by_alias": True,
    }

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """Add the docstrings of all fields: pydantic would parse the whole module for each mention of a class."""
        made = handler(schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for kind in cls.__mro__:
            if is_dataclass(kind):
                for key, words in field_docs(kind).items():
                    properties[key].setdefault("description", words)
        return made


def field_docs(kind: type[Any]) -> Mapping[str, str]:
    """The docstrings of the fields of a class by their keys, from its source."""
    return _docs_of_classes(kind.__module__).get(kind.__qualname__, {})


def plain(value: Any) -> Any:
    """The dicts, lists and scalars that JSON is written from; lone surrogates are preserved."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        items = [(key, getattr(value, name), omitted) for name, key, omitted in _fields(type(value))]
        return {key: plain(item) for key, item, omitted in items if omitted is MISSING or item != omitted}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


@cache
def toml_data(package: str, name: str) -> dict[str, Any]:
    """The tables of a data file of the program, which must not be changed."""
    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))


T = TypeVar("T")


def extend(kind: type[T], base: Any, /, **more: Any) -> T:
    """A dataclass with the values of the same-named attributes of `base`, except for the fields in `more`."""
    taken = {
        field.name: getattr(base, field.name) for field in fields(cast("type[Any]", kind)) if field.name not in more
    }
    return kind(**taken, **more)


@cache
def _docs_of_classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """The docstrings of the fields of each class of a module."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {found.name: _docs_in(found) for found in body if isinstance(found, ast.ClassDef)}


def _docs_in(found: ast.ClassDef) -> dict[str, str]:
    return {
        json_key(row.target.id): inspect.cleandoc(words.value.value)
        for row, words in pairwise(found.body)
        if isinstance(row, ast.AnnAssign)
        and isinstance(row.target, ast.Name)
        and isinstance(words, ast.Expr)
        and isinstance(words.value, ast.Constant)
        and isinstance(words.value.value, str)
    }


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, str, Any], ...]:
    """Name, key, and the value at which the key is left out; MISSING if it never is."""
    return tuple(
        (field.name, json_key(field.name), field.default if field.metadata.get("omit_default") else MISSING)
        for field in fields(kind)
    )
