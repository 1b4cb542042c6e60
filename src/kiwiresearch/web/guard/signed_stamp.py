"""The id of a credential and a time, signed: what cookies and the keys in addresses of books are made of."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

# The parts have fixed lengths, so that nothing has to separate them.
ID_HEX_DIGITS = 16
TIME_HEX_DIGITS = 10
STAMP_HEX_DIGITS = ID_HEX_DIGITS + TIME_HEX_DIGITS
Sign = Callable[[str], str]
"""Returns the signature of a stamp, for the purpose that it is made for."""


@dataclass(frozen=True, slots=True)
class SignedStamp:
    """What was signed: who, and a second since 1970."""

    credential: str
    time_s: int

    def text(self, sign: Sign) -> str:
        """The stamp with its signature."""
        stamp = f"{self.credential}{self.time_s:0{TIME_HEX_DIGITS}x}"
        return stamp + sign(stamp)


def read_stamp(text: str, sign: Sign) -> SignedStamp | None:
    """The stamp in a text, if its signature is ours; comparing takes the same time however close a wrong one is."""
    stamp, signature = text[:STAMP_HEX_DIGITS], text[STAMP_HEX_DIGITS:]
    # Checked first: only what we signed is known to end in hexadecimal digits.
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), sign(stamp).encode()):
        return None
    return SignedStamp(stamp[:ID_HEX_DIGITS], int(stamp[ID_HEX_DIGITS:], 16))


def second_of(moment: str) -> int:
    """The second since 1970 of a time as the store writes it."""
    return int(datetime.fromisoformat(moment).timestamp())
