"""The commands about the hosts that share a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import AsJson, the_desk
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from kiwiresearch.research.desk import Desk
    from kiwiresearch.research.hosts import HostSeen

hosts = typer.Typer(help="The hosts that share your store.", invoke_without_command=True, rich_markup_mode=None)


@hosts.callback()
def hosts_list(context: typer.Context, json: AsJson = False) -> None:  # noqa: FBT002 (an option, named by typer)
    """Show who is there, with which books, and who does not answer."""
    if context.invoked_subcommand:
        return
    from kiwiresearch.cli import show
    from kiwiresearch.research.hosts import hosts_seen

    seen = hosts_seen(_shared_desk())
    if json:
        show.document({"hosts": [one.record() for one in seen]})
        return
    for one in seen:
        for line in _lines(one):
            show.line(line)
    if not seen:
        show.line("No host is there. 'kiwiresearch serve' on a host that uses this store makes it one.")


@hosts.command("forget")
def hosts_forget(
    name: Annotated[str, typer.Argument(help="The name of a host.", metavar="NAME")], *, json: AsJson = False
) -> None:
    """Forget a host that will not come back: its books are no longer told to be missing."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.hosts import forget_host

    forget_host(_shared_desk(), name)
    if json:
        show.document({"forgotten": name})
    else:
        show.line(f"Forgotten: {name}. If it is still there, it announces itself again.")


def _shared_desk() -> Desk:
    desk = the_desk()
    if not desk.settings.store.strip():
        raise BadUsage(
            "No store is set, so there are no other hosts.",
            remedy="Set 'store' in the settings, or KIWIRESEARCH_STORE, to the database that your hosts share.",
        )
    return desk


def _time(seconds: float) -> str:
    minutes = seconds / 60
    return f"{seconds:.0f} s" if minutes < 2 else f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:,.0f} h"


def _lines(one: HostSeen) -> list[str]:
    state = "up" if one.is_up else "down"
    ours = ", this host" if one.is_ours else ""
    heard = f"heard of {one.silent_s:,.0f} s ago" + (f", there for {_time(one.there_s)}" if one.there_s else "")
    lines = [f"{one.name} ({state}{ours}): {one.url}, {heard}"]
    lines += [f"  {title}" for title in one.books] or ["  no books"]
    return [*lines, f"  {one.why}"] if one.why else lines
