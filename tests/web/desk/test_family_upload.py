"""The file of a form, however its bytes come."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from starlette.requests import Request

from kiwiresearch.errors import BadUsage
from kiwiresearch.web.desk.form_file import MAX_FORM_OVERHEAD, uploaded_file

CONTENT = b"0 HEAD\r\n--not-the-end\r\n\r\n0 TRLR\r\n"


def form(*parts: tuple[str, bytes], boundary: str = "edge") -> bytes:
    """A form as a browser sends it: the disposition of each part, and its content."""
    bodies = [
        b"--%b\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (boundary.encode(), entry.encode(), content)
        for entry, content in parts
    ]
    return b"".join(bodies) + b"--%b--\r\n" % boundary.encode()


def read(sent: bytes, *, step: int = 7, kind: str = "multipart/form-data; boundary=edge") -> tuple[str, bytes]:
    """The name and the content of the file in what was sent, so many bytes at a time."""
    request = Request({"type": "http", "headers": [(b"content-type", kind.encode())]})

    async def stream() -> AsyncIterator[bytes]:
        for at in range(0, len(sent), step):
            yield sent[at : at + step]

    async def whole() -> tuple[str, bytes]:
        file = await uploaded_file(request, stream(), empty_remedy="Export it again.")
        return file.name, b"".join([part async for part in file.parts])

    return anyio.run(whole)


@pytest.mark.parametrize("step", [1, 2, 13, 10_000])
def test_a_file_is_what_was_sent(step: int) -> None:
    """Whatever pieces it arrives in, and whatever else is in the form."""
    sent = form(
        ('name="before"', b"x"), ('name="file"; filename="Ma famille é.ged"', CONTENT), ('name="after"', b"y" * 99)
    )
    assert read(sent, step=step) == ("Ma famille é.ged", CONTENT)


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"", "multipart/form-data; boundary=edge"),
        (form(), "multipart/form-data; boundary=edge"),
        (form(('name="file"; filename=""', b"")), "multipart/form-data; boundary=edge"),
        (form(('name="file"', CONTENT)), "multipart/form-data; boundary=edge"),
        (form(('name="file"; filename="x.ged"', CONTENT)), "multipart/form-data; boundary=other"),
        (form(('name="file"; filename="x.ged"', CONTENT)), "multipart/form-data"),
        (b"nonsense" * 99, "multipart/form-data; boundary=edge"),
        (form(('name="other"', b"x" * (MAX_FORM_OVERHEAD + 1))), "multipart/form-data; boundary=edge"),
        (form((f'name="file"; filename="{"x" * 100_000}"', CONTENT)), "multipart/form-data; boundary=edge"),
    ],
)
def test_a_form_without_a_file_is_refused(sent: bytes, kind: str) -> None:
    """A form without a file, or with an invalid one, is refused with what to do."""
    with pytest.raises(BadUsage) as problem:
        read(sent, step=1_000, kind=kind)
    assert "Choose a file" in problem.value.remedy
