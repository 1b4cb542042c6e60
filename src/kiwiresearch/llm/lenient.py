"""Lists in replies, of which one bad item does not spoil the others."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError, ValidatorFunctionWrapHandler


def or_none(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """The item if it has its form, else None: for WrapValidator."""
    try:
        return read(value)
    except ValidationError:
        return None
