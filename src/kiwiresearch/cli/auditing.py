"""The command that shows who did what, and proves that none of it was touched."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import AsJson, the_desk
from kiwiresearch.errors import BadUsage, KiwiError

if TYPE_CHECKING:
    from kiwiresearch.store.audit import AuditRow
    from kiwiresearch.store.open import Store

PAGE = 1_000


def audit(
    *,
    user: Annotated[str, typer.Option("--user", help="Only what this user did.", metavar="NAME")] = "",
    action: Annotated[str, typer.Option("--action", help="Only this, such as 'login' or 'ask'.", metavar="WORD")] = "",
    since: Annotated[str, typer.Option("--since", help="From this day or moment on.", metavar="DATE")] = "",
    check: Annotated[bool, typer.Option("--check", help="Prove that no row was changed or taken out.")] = False,
    head: Annotated[
        str, typer.Option("--head", help="With --check: a hash that an earlier check told.", metavar="HASH")
    ] = "",
    json: AsJson = False,
) -> None:
    """Show who did what on the server, the oldest first; --check proves that it is all still there."""
    from kiwiresearch.research.stores import store_of

    store = store_of(the_desk())
    if head and not check:
        raise BadUsage("'--head' says nothing by itself.", remedy="Give it together with --check.")
    if check:
        _check(store, head.strip(), json=json)
        return
    begin = _moment(since)
    last = 0
    while rows := store.audit.rows(last, PAGE, user=user or None, action=action or None, since=begin):
        for row in rows:
            _show(row, json=json)
        last = rows[-1].seq


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


def _moment(since: str) -> str:
    """A day or a moment as rows have it, in UTC."""
    from datetime import UTC, datetime

    if not since:
        return ""
    try:
        found = datetime.fromisoformat(since)
    except ValueError as problem:
        raise BadUsage(
            f"{since!r} is no date.", remedy="Write it like '2026-11-16' or '2026-11-16T08:00'."
        ) from problem
    told = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return told.isoformat(timespec="seconds")
