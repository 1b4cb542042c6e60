"""Addresses of model servers, as people write them and as they may be shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from kiwiresearch.errors import BadSettings
from kiwiresearch.text.hosts import is_loopback

OWN_PATHS = re.compile(r"(?:/v1)?(?:/chat/completions|/models)?/*$")


def root_of(address: str) -> str:
    """The server's own address, from any form of it that its documentation may show."""
    written = address.strip()
    if "://" not in written:
        written = f"http://{written}"
    wrong = BadSettings(
        f"{shown(address)!r} is no address of a model server.", remedy="Give one like http://localhost:11434."
    )
    try:
        parts = urlsplit(written)
        has_port = parts.port is None or parts.port > 0
    except ValueError as problem:
        raise wrong from problem
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port:
        raise wrong
    return f"{parts.scheme}://{parts.netloc}{OWN_PATHS.sub('', parts.path)}"


def is_on_this_machine(address: str) -> bool:
    """Whether what is sent to a server stays on this machine, as far as its address tells."""
    return is_loopback(urlsplit(root_of(address)).hostname or "")


def shown(address: str) -> str:
    """The address without the password that may be in it."""
    return re.sub(r"//[^/@]*@", "//", address)
