"""The server's own few pages: plain HTML, one small style sheet, no script."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}a{color:#8bf}}"
)
STYLE_SHA = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{STYLE_SHA}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def page(title: str, body: str, *, status: int = 200) -> HTMLResponse:
    """A page with this title; the body is HTML."""
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>{body}</body></html>"
    )
    # With no-referrer, browsers would send our own form with an Origin of 'null'.
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-store"}
    return HTMLResponse(text, status, headers)


def local(url: str) -> str:
    """An address on this server without its name, so that it works under every name it has."""
    return urlsplit(url)._replace(scheme="", netloc="").geturl()
