"""The command that starts the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import Wanted, open_books, say, the_desk

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from kiwiresearch.research.jobs import Jobs
    from kiwiresearch.research.settings import ServeSettings
    from kiwiresearch.web.room import Room


def serve(
    *,
    host: Annotated[
        str | None,
        typer.Option("--host", help="The address to listen on; others than loopback need a token.", metavar="ADDRESS"),
    ] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", help="The port; 0 takes a free one.", metavar="N")] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            help="What clients must show; others see it here, so the settings are a better place.",
            metavar="TOKEN",
        ),
    ] = None,
    book: Wanted = None,
    browse: Annotated[bool, typer.Option("--open", help="Open the front page in a browser.")] = False,
) -> None:
    """Serve the shelf to browsers, chat clients and programs, on this machine or with a token on others."""
    from kiwiresearch.web import serving

    given = {"serve.host": ("--host", host), "serve.port": ("--port", port), "serve.token": ("--token", token)}
    desk = serving.with_options(the_desk(), {key: value for key, value in given.items() if value[1] is not None})
    serving.check(desk.settings.serve)

    def listening(url: str) -> None:
        say(f"kiwiresearch answers at {url} (Ctrl-C ends it).")
        if elsewhere := _told_to_others(desk.settings.serve, url):
            say(elsewhere)
        if browse:
            _open(url)

    shelf = open_books(desk, book or [])
    raise typer.Exit(serving.serve(desk, shelf, all_books=bool(book), mounts=_mcp, listening=listening))


def _mcp(room: Room, jobs: Jobs) -> Mapping[str, Starlette]:
    """The tools for models, at a path of the same server."""
    from kiwiresearch.mcp.http import PATH, http_app
    from kiwiresearch.mcp.parts import Parts
    from kiwiresearch.mcp.tools import Toolbox
    from kiwiresearch.web import starting

    parts = Parts(room.asker, room.reading, room.link, room.page_url, lambda: jobs, starting.start, starting.resume)
    return {PATH: http_app(Toolbox(parts), max_body_kb=room.desk.settings.serve.max_body_kb)}


def _open(url: str) -> None:
    """Show the address in a browser, which may take its time."""
    import threading

    threading.Thread(target=_show, args=(url,), daemon=True).start()


def _show(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        say("No browser could be opened here: type that address into one.")


def _told_to_others(settings: ServeSettings, url: str) -> str:
    """What people at other machines must know to come here; empty where the address that was told says it all."""
    from urllib.parse import urlsplit

    from kiwiresearch.text.hosts import address_of

    address = address_of(settings.host.strip("[]"))
    is_behind_a_proxy = settings.proxies != type(settings)().proxies
    if address is None or not address.is_unspecified or settings.public_url or settings.hosts or is_behind_a_proxy:
        return ""
    here = _own_address() or "THE-ADDRESS-OF-THIS-MACHINE"
    return f"Other machines open http://{here}:{urlsplit(url).port} and are asked for the token."


def _own_address() -> str:
    """By which address this machine goes out into its network; empty where it is in none."""
    from kiwiresearch.web.peer_routes import own_address

    return own_address()
