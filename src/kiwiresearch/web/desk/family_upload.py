"""The file in a form, read while it comes: no part of it is held longer than it takes to pass it on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

import anyio
from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.read import EXPORT_AGAIN
from kiwiresearch.web.family_files import CLOSE, PART_PATIENCE_S
from kiwiresearch.web.problems import Refused

FIELD = b"file"
MOST_AROUND = 64 * 1024
"""How much a form may bring around its file."""
CHOOSE = "Choose a file, and send the form again."


@dataclass(frozen=True, slots=True)
class FormFile:
    """The file of a form: what it is called, and its content as it comes."""

    name: str
    parts: AsyncGenerator[bytes, None]


@dataclass(slots=True)
class _Heard:
    """What a parser has told of the form so far."""

    name: str = ""
    data: list[bytes] = field(default_factory=list)
    around: int = 0
    is_file: bool = False
    _header: bytes = b""
    _value: bytes = b""
    _said: bytes = b""

    def begin(self) -> None:
        self.is_file, self._said = False, b""

    def header(self, data: bytes, start: int, end: int) -> None:
        self.around += end - start
        self._header += data[start:end]

    def value(self, data: bytes, start: int, end: int) -> None:
        self.around += end - start
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._said = self._value
        self._header = self._value = b""

    def headers_end(self) -> None:
        _, options = parse_options_header(self._said)
        if options.get(b"name") == FIELD and not self.name:
            self.name = options.get(b"filename", b"").decode("utf-8", "replace")
            self.is_file = bool(self.name)

    def content(self, data: bytes, start: int, end: int) -> None:
        if self.is_file:
            self.data.append(data[start:end])
        else:
            self.around += end - start

    def taken(self) -> bytes:
        found, self.data = b"".join(self.data), []
        return found


async def file_of(request: Request, stream: AsyncIterator[bytes]) -> FormFile:
    """The file that a form brings in the stream of its request; refused where it brings none."""
    heard = _Heard()
    parts = _content(stream, _parser(request, heard), heard)
    try:
        with anyio.fail_after(PART_PATIENCE_S):
            first = await anext(parts, None)
    except TimeoutError as problem:
        raise Refused(408, "The file did not arrive in time.", "Send it again.", CLOSE) from problem
    if first is None and heard.name:
        raise BadUsage(f"The file {heard.name!r} is empty.", remedy=EXPORT_AGAIN)
    if first is None:
        raise BadUsage("The form brought no file.", remedy=CHOOSE)
    return FormFile(heard.name, _joined(first, parts))


async def _joined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    yield first
    async for part in rest:
        yield part


def _parser(request: Request, heard: _Heard) -> MultipartParser:
    _, options = parse_options_header(request.headers.get("content-type", ""))
    try:
        return MultipartParser(
            options.get(b"boundary", b""),
            {
                "on_part_begin": heard.begin,
                "on_header_field": heard.header,
                "on_header_value": heard.value,
                "on_header_end": heard.header_end,
                "on_headers_finished": heard.headers_end,
                "on_part_data": heard.content,
            },
        )
    except MultipartParseError as problem:
        raise BadUsage("The form cannot be read.", remedy=CHOOSE) from problem


async def _content(stream: AsyncIterator[bytes], parser: MultipartParser, heard: _Heard) -> AsyncGenerator[bytes, None]:
    async for chunk in stream:
        try:
            parser.write(chunk)
        except MultipartParseError as problem:
            raise BadUsage("The form cannot be read.", remedy=CHOOSE) from problem
        if heard.around > MOST_AROUND:
            raise BadUsage("The form brings more than a file.", remedy=CHOOSE)
        if found := heard.taken():
            yield found
