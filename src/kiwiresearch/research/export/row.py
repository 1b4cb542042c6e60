"""One object of a JSON file that is not trusted: each field is asked for by its type, and refused otherwise."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kiwiresearch.errors import RunDamaged

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped: most control characters and halves of letters."""

REPLACEMENT = "\ufffd"

LARGEST = 2**31 - 1
"""Graph programs keep whole numbers in 32 bits."""


def clean(text: str) -> str:
    """A text with U+FFFD for each character that XML forbids."""
    return FORBIDDEN.sub(REPLACEMENT, text)


def damaged(file: Path, problem: str) -> RunDamaged:
    return RunDamaged(
        f"The run's file {str(file)!r} is not as it was written: {problem}.", remedy="Research the topic again."
    )


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and what to call it when something is wrong with it."""

    file: Path
    name: str
    values: Mapping[str, object]

    @classmethod
    def of(cls, file: Path, name: str, value: object) -> Self:
        if not isinstance(value, dict):
            raise damaged(file, f"{name or 'it'} is no object")
        return cls(file, name, value)

    def damaged(self, problem: str) -> RunDamaged:
        return damaged(self.file, f"{self.name or 'it'} {problem}")

    def text(self, key: str) -> str:
        """A text, with U+FFFD for each character that XML forbids."""
        return clean(self._text(key))

    def ref(self, key: str) -> str:
        """A name of a page, in which such characters become '%00': two names stay two."""
        name = self._text(key)
        if not name:
            raise self.damaged(f"has an empty {key!r}")
        return FORBIDDEN.sub(_percent, name)

    def whole(self, key: str) -> int:
        value = self.whole_or_none(key)
        if value is None:
            raise self._wrong(key, "a whole number")
        return value

    def whole_or_none(self, key: str) -> int | None:
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LARGEST:
            raise self._wrong(key, "a whole number")
        return value

    def real(self, key: str) -> float:
        value = self._value(key)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
            return float(value)
        if not isinstance(value, float) or not math.isfinite(value):
            raise self._wrong(key, "a number")
        return value

    def rows(self, key: str, name: str) -> tuple[Row, ...]:
        """The objects in a list, named by their place in it."""
        value = self._value(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        of = f" of {self.name}" if self.name else ""
        return tuple(Row.of(self.file, f"{name} {number}{of}", one) for number, one in enumerate(value, 1))

    def _text(self, key: str) -> str:
        value = self._value(key)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def _value(self, key: str) -> object:
        if key not in self.values:
            raise self.damaged(f"has no {key!r}")
        return self.values[key]

    def _wrong(self, key: str, kind: str) -> RunDamaged:
        return self.damaged(f"has a {key!r} that is not {kind}")


def _percent(found: re.Match[str]) -> str:
    letter = found[0]
    # a byte that was no UTF-8 in the book comes as a surrogate: then the byte is what the name holds
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", errors))
