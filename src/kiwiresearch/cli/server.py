"""The commands that start a server, a worker or the tools for models, and show the hosts that share a store."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.options import BookOption, JsonOption, emit, open_books, print_json, say, user_workspace
from kiwiresearch.errors import BadSettings, BadUsage, Interrupted

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from kiwiresearch.jobs import JobQueue
    from kiwiresearch.web import ServerContext
    from kiwiresearch.workspace import HostStatus, ServeSettings, Workspace


def serve(
    *,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", help="The address to listen on. Any address other than loopback needs a token.", metavar="ADDRESS"
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", "-p", help="The port; 0 chooses a free one.", metavar="N")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            help="The token that clients must send. "
            "It is safer in the settings: here, other users of this computer can see it.",
            metavar="TOKEN",
        ),
    ] = None,
    book: BookOption = None,
    browse: Annotated[bool, typer.Option("--open", help="Open the home page in a browser.")] = False,
) -> None:
    """Start the web interface and the API. Other computers can use them only with a token."""
    from dataclasses import replace

    from kiwiresearch.web import server
    from kiwiresearch.workspace import with_values

    given = {"serve.host": ("--host", host), "serve.port": ("--port", port), "serve.token": ("--token", token)}
    workspace = user_workspace()
    chosen = {key: value for key, value in given.items() if value[1] is not None}
    workspace = replace(workspace, settings=with_values(workspace.settings, chosen))
    server.check_serve_settings(workspace.settings.serve)

    def listening(url: str) -> None:
        say(f"kiwiresearch is running at {url} (press Ctrl-C to stop).")
        if elsewhere := _address_for_others(workspace.settings.serve, url):
            say(elsewhere)
        if browse:
            # In a thread, since opening a browser may take long.
            threading.Thread(target=_open_browser, args=(url,), daemon=True).start()

    shelf = open_books(workspace, book or [])
    raise typer.Exit(server.serve(workspace, shelf, is_partial_shelf=bool(book), mounts=_mcp, listening=listening))


def _mcp(context: ServerContext, jobs: JobQueue) -> Mapping[str, Starlette]:
    """The MCP tools as an app for one path of the server."""
    from kiwiresearch.mcp import PATH, Toolbox, ToolContext, http_app
    from kiwiresearch.web import job_requests

    parts = ToolContext(
        context.asker,
        context.locked_finder,
        context.citation_url,
        context.page_url,
        lambda: jobs,
        job_requests.start_job,
        job_requests.resume_job,
    )
    return {PATH: http_app(Toolbox(parts), max_body_kb=context.workspace.settings.serve.max_body_kb)}


def _open_browser(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        say("Could not open a browser. Open the address above yourself.")


def _address_for_others(settings: ServeSettings, url: str) -> str:
    """A note for users of other machines; empty if the printed address is enough."""
    from urllib.parse import urlsplit

    from kiwiresearch.network import ip_address_of
    from kiwiresearch.web import own_address

    address = ip_address_of(settings.host.strip("[]"))
    is_behind_a_proxy = settings.proxies != type(settings)().proxies
    if address is None or not address.is_unspecified or settings.public_url or settings.hosts or is_behind_a_proxy:
        return ""
    here = own_address() or "THE-ADDRESS-OF-THIS-MACHINE"
    return f"On other computers, open http://{here}:{urlsplit(url).port} and sign in."


def mcp(book: BookOption = None) -> None:
    """Start an MCP server on standard input and output. Language models search and read your books with its tools."""
    from kiwiresearch.mcp import Toolbox, open_context, serve
    from kiwiresearch.workspace import utc_now

    workspace = user_workspace()
    with (
        open_books(workspace, book or []) as shelf,
        open_context(workspace, shelf, is_partial_shelf=bool(book), now=utc_now) as parts,
    ):
        serve(Toolbox(parts))


POLL_S = 0.5

StoreUrl = Annotated[
    str, typer.Option("--store", help="Use this store instead of the one in the settings.", metavar="URL")
]


def worker(
    *,
    at_once: Annotated[int, typer.Option("--at-once", help="How many jobs to run at the same time.", metavar="N")] = 2,
    kinds: Annotated[
        str,
        typer.Option(
            "--kinds", help="Only these kinds of jobs, separated by commas: research, ask, bulk, kin.", metavar="KINDS"
        ),
    ] = "",
    store: StoreUrl = "",
    book: BookOption = None,
    once: Annotated[bool, typer.Option("--once", help="Stop when no jobs are left.")] = False,
) -> None:
    """Run queued jobs. Several workers and servers, even on different computers, can share the jobs of a store."""
    from kiwiresearch.jobs import JobQueue, QueueLimits
    from kiwiresearch.workspace import store_of, utc_now

    if at_once < 1:
        raise BadUsage(f"--at-once cannot be {at_once}.", remedy="Use 1 or more.")
    chosen = _chosen_kinds(kinds)
    workspace = with_store(user_workspace(), store)
    store_of(workspace)  # fails here if the store cannot be used, before the shelf reports the same
    with open_books(workspace, book or []) as shelf, SignalCatcher() as caught:
        say(f"Running jobs from {store_of(workspace).display_name} (press Ctrl-C to stop).")
        jobs = JobQueue(
            workspace,
            shelf.current_books,
            now=utc_now,
            is_partial_shelf=bool(book),
            limits=QueueLimits(running=at_once),
            kinds=chosen,
            say=say,
        )
        try:
            while not caught.received.wait(POLL_S):
                if once and jobs.is_idle and not jobs.has_work():
                    break
        finally:
            caught.restore()  # a second signal ends the process without waiting for running steps
            jobs.close()
    if caught.number == signal.SIGINT:
        raise typer.Exit(Interrupted.exit_code)


class SignalCatcher:
    """Catches Ctrl-C and SIGTERM, so that the worker can shut down cleanly."""

    def __init__(self) -> None:
        self.received = threading.Event()
        self.number = 0
        self._previous_handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> SignalCatcher:
        self._previous_handlers = {item: signal.signal(item, self._catch) for item in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def _catch(self, number: int, _: FrameType | None) -> None:
        self.number = number
        self.received.set()

    def restore(self) -> None:
        """Restore the previous handlers."""
        for item, before in self._previous_handlers.items():
            signal.signal(item, before)
        self._previous_handlers = {}


def with_store(workspace: Workspace, url: str) -> Workspace:
    """The workspace with another store, if one was named."""
    from dataclasses import replace

    from kiwiresearch.workspace import with_values

    if not url.strip():
        return workspace
    try:
        return replace(workspace, settings=with_values(workspace.settings, {"store": ("--store", url.strip())}))
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem


def _chosen_kinds(text: str) -> tuple[str, ...]:
    from kiwiresearch.jobs import JOB_KINDS

    named = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for name in named:
        if name not in JOB_KINDS:
            raise BadUsage(f"Unknown kind of job {name!r}.", remedy=f"Use one or more of: {', '.join(JOB_KINDS)}.")
    return named or JOB_KINDS


hosts = typer.Typer(help="Show the hosts that share your store.", invoke_without_command=True, rich_markup_mode=None)


@hosts.callback()
def hosts_list(invocation: typer.Context, json: JsonOption = False) -> None:  # noqa: FBT002 (an option, named by typer)
    """Show the hosts, their books, and which of them are offline."""
    if invocation.invoked_subcommand:
        return
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import host_statuses

    statuses = host_statuses(_shared_workspace())
    if json:
        print_json({"hosts": statuses})
        return
    for status in statuses:
        for line in _lines(status):
            output.line(line)
    if not statuses:
        output.line(
            "No hosts yet. A machine that uses this store appears here once you run 'kiwiresearch serve' on it."
        )


@hosts.command("forget")
def hosts_forget(
    name: Annotated[str, typer.Argument(help="The name of the host.", metavar="NAME")], *, json: JsonOption = False
) -> None:
    """Remove a host that will not come back. Its books are then no longer reported as missing."""
    from kiwiresearch.cli import output
    from kiwiresearch.workspace import forget_host

    forget_host(_shared_workspace(), name)
    emit(
        {"forgotten": name},
        lambda: output.line(f"Removed {name}. If it is still running, it will appear again."),
        as_json=json,
    )


def _shared_workspace() -> Workspace:
    workspace = user_workspace()
    if not workspace.settings.is_shared_store:
        raise BadUsage(
            "No shared store is set, so there are no other hosts.",
            remedy="Set 'store' in the settings, or KIWIRESEARCH_STORE, to the database that your hosts share.",
        )
    return workspace


def _time(seconds: float) -> str:
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:,.0f} h"


def _lines(host_status: HostStatus) -> list[str]:
    state = "online" if host_status.up else "offline"
    ours = ", this host" if host_status.ours else ""
    heard = f"last seen {host_status.heard_s_ago:,.0f} s ago" + (
        f", up for {_time(host_status.there_s)}" if host_status.there_s else ""
    )
    lines = [f"{host_status.name} ({state}{ours}): {host_status.url}, {heard}"]
    lines += [f"  {title}" for title in host_status.books] or ["  no books"]
    return [*lines, f"  {host_status.why}"] if host_status.why else lines
