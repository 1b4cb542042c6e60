"""The command that shows who did what, and proves that none of it was touched."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import say, the_desk
from kiwiresearch.errors import BadUsage, KiwiError

if TYPE_CHECKING:
    from kiwiresearch.store.audit import AuditRow
    from kiwiresearch.store.open import Store

PAGE = 1_000
HASH = re.compile("[0-9a-f]{64}")
NOTHING = "Nothing was written down yet: servers do that where 'users' is set below [serve]."


def audit(
    *,
    user: Annotated[str, typer.Option("--user", help="Only what this user did.", metavar="NAME")] = "",
    action: Annotated[str, typer.Option("--action", help="Only this, such as 'login' or 'ask'.", metavar="WORD")] = "",
    since: Annotated[str, typer.Option("--since", help="From this day or moment on.", metavar="DATE")] = "",
    check: Annotated[bool, typer.Option("--check", help="Prove that no row was changed or taken out.")] = False,
    head: Annotated[
        str, typer.Option("--head", help="With --check: a hash that an earlier check told.", metavar="HASH")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="A line of JSON for each row.")] = False,
) -> None:
    """Show who did what on the server, the oldest first; --check proves that it is all still there."""
    from kiwiresearch.research.since import moment_of
    from kiwiresearch.research.stores import store_of

    store = store_of(the_desk())
    if head and not check:
        raise BadUsage("'--head' says nothing by itself.", remedy="Give it together with --check.")
    if head and not HASH.fullmatch(head.strip()):
        raise BadUsage(f"{head[:80]!r} is no hash of a row.", remedy="Give all 64 characters that a check told.")
    if check:
        _check(store, head.strip(), json=json)
        return
    begin = moment_of(since)
    last = 0
    while rows := store.audit.rows(last, PAGE, user=user or None, action=action or None, since=begin):
        for row in rows:
            _show(row, json=json)
        last = rows[-1].seq
    if not last:
        say("Nothing like that was written down." if user or action or since else NOTHING)


def _check(store: Store, head: str, *, json: bool) -> None:
    """Prove the audit, up to `head` also that it was not written anew, and tell where it ends for the next time."""
    from kiwiresearch.cli import show

    end = store.audit.head()  # before the proof, which covers it then
    broken = store.audit.check(head)
    if json:
        row, why = (broken.seq, broken.why) if broken else (None, "")
        show.document({"holds": broken is None, "row": row, "why": why, "head": end})
    elif broken is None:
        print("The audit is whole: every row is as it was written.")
        print(f"Its last row has the hash {end}")
    if broken is None:
        return
    if not json:
        raise KiwiError(
            f"The audit does not hold at row {broken.seq}: {broken.why}.",
            remedy="Compare the store with a copy of before.",
        )
    raise typer.Exit(1)


def _show(row: AuditRow, *, json: bool) -> None:
    if json:
        from kiwiresearch.cli import show

        show.document(asdict(row))
        return
    from kiwiresearch.text.plain import printable

    who, where, subject = (printable(text) or "-" for text in (row.user, row.host, row.subject))
    what = " ".join(filter(None, (row.action, str(row.details.get("what", "")))))
    print(f"{row.seq}  {row.at}  {who}  {where}  {what}  {subject}  {row.outcome}")
