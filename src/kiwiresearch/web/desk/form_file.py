"""The file in a form of the desk, read as it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field

import anyio
from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from kiwiresearch.errors import BadUsage
from kiwiresearch.web.family_files import CLOSE_CONNECTION, PART_TIMEOUT_S
from kiwiresearch.web.problems import Refused

FIELD = b"file"
MAX_FORM_OVERHEAD = 64 * 1024
"""How many bytes a form may have apart from its file."""
CHOOSE = "Choose a file and try again."


@dataclass(frozen=True, slots=True)
class FormFile:
    """The file of a form: its name, and its content as it arrives."""

    name: str
    parts: AsyncGenerator[bytes, None]
    fields: Mapping[str, str]
    """The other fields, as far as they come before the file."""


@dataclass(slots=True)
class _FormParts:
    """The parts of the form that the parser has found so far."""

    name: str = ""
    data: list[bytes] = field(default_factory=list)
    around: int = 0
    is_file: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    _field: str = ""
    _text: bytes = b""
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
        self._field, self._text = options.get(b"name", b"").decode("utf-8", "replace"), b""
        # Only the first file counts; the bytes of further ones are overhead of the form, which is limited.
        if options.get(b"name") == FIELD and not self.name:
            self.name = options.get(b"filename", b"").decode("utf-8", "replace")
            self.is_file = bool(self.name)

    def content(self, data: bytes, start: int, end: int) -> None:
        if self.is_file:
            self.data.append(data[start:end])
        else:
            self.around += end - start
            self._text += data[start:end]

    def end(self) -> None:
        if not self.is_file and self.around <= MAX_FORM_OVERHEAD:
            self.fields[self._field] = self._text.decode("utf-8", "replace")

    def take_data(self) -> bytes:
        found, self.data = b"".join(self.data), []
        return found


async def uploaded_file(request: Request, stream: AsyncIterator[bytes], *, empty_remedy: str) -> FormFile:
    """The file in the form that a request sends; refused if it has none."""
    heard = _FormParts()
    parts = _content(stream, _parser(request, heard), heard)
    try:
        with anyio.fail_after(PART_TIMEOUT_S):
            first = await anext(parts, None)
    except TimeoutError as problem:
        raise Refused(408, "The upload took too long.", "Try again.", CLOSE_CONNECTION) from problem
    if first is None and heard.name:
        raise BadUsage(f"The file {heard.name!r} is empty.", remedy=empty_remedy)
    if first is None:
        raise BadUsage("No file was chosen.", remedy=CHOOSE)
    return FormFile(heard.name, _joined(first, parts), heard.fields)


async def _joined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    yield first
    async for part in rest:
        yield part


def _parser(request: Request, heard: _FormParts) -> MultipartParser:
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
                "on_part_end": heard.end,
            },
        )
    except MultipartParseError as problem:
        raise BadUsage("The upload could not be read.", remedy=CHOOSE) from problem


async def _content(
    stream: AsyncIterator[bytes], parser: MultipartParser, heard: _FormParts
) -> AsyncGenerator[bytes, None]:
    async for chunk in stream:
        try:
            parser.write(chunk)
        except MultipartParseError as problem:
            raise BadUsage("The upload could not be read.", remedy=CHOOSE) from problem
        if heard.around > MAX_FORM_OVERHEAD:
            raise BadUsage("The upload contains more than one file.", remedy=CHOOSE)
        if found := heard.take_data():
            yield found
