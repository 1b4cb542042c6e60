"""ANSEL, the character set of old GEDCOM files: accents stand before the letter they go over."""

from __future__ import annotations

import unicodedata

LETTERS = dict(
    zip(
        (*range(0xA1, 0xAF), *range(0xB0, 0xBB), 0xBC, 0xBD, 0xBE, 0xBF, *range(0xC0, 0xC9), 0xCD, 0xCE, 0xCF),
        "ŁØĐÞÆŒʹ·♭®±ƠƯʼʻłøđþæœʺı£ðơư□■°ℓ℗©♯¿¡ß€eoß",
        strict=True,
    )
)
ACCENTS = dict(
    zip(
        (*range(0xE0, 0xFD), 0xFE),
        "\u0309\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030c\u030a\ufe20\ufe21\u0315\u030b\u0310"
        "\u0327\u0328\u0323\u0324\u0325\u0333\u0332\u0326\u031c\u032e\ufe22\ufe23\u0338\u0313",
        strict=True,
    )
)
UNKNOWN = "\ufffd"


def from_ansel(data: bytes) -> str:
    """The text of bytes in ANSEL; a byte that has no meaning becomes the replacement character."""
    if data.isascii():
        return data.decode("ascii")
    out: list[str] = []
    accents: list[str] = []
    for byte in data:
        if byte in ACCENTS:
            accents.append(ACCENTS[byte])
            continue
        out.append(chr(byte) if byte < 0x80 else LETTERS.get(byte, UNKNOWN))
        if accents:
            out.extend(accents)
            accents.clear()
    out.extend(accents)
    return unicodedata.normalize("NFC", "".join(out))
