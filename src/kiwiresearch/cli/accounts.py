"""The commands for users, their tokens and limits, and for the audit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import JsonOption, emit, print_json, say, user_workspace
from kiwiresearch.errors import BadUsage, KiwiError

if TYPE_CHECKING:
    from kiwiresearch.store import AuditRow, Store
    from kiwiresearch.workspace import UserRegister

users = typer.Typer(
    name="users",
    help="Who may use the server where 'serve.users' is set: names, roles, limits and tokens.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="The user's name.", metavar="NAME")]
Role = Annotated[str, typer.Option("--role", help="'reader', 'researcher' or 'owner'.", metavar="ROLE")]
Label = Annotated[str, typer.Option("--label", help="What the token is for, such as 'library PC'.", metavar="WORDS")]
SHOWN_ONCE = "It is shown this once: give it to the user, and keep it from others."


@users.command("list")
def list_users(*, json: JsonOption = False) -> None:
    """Show all users, their roles, limits and tokens."""
    register = _register()
    rows = [register.with_tokens(user) for user in register.all()]
    if json:
        print_json({"users": rows})
        return
    if not rows:
        print("There are no users yet. Make the first: kiwiresearch users add NAME --role owner")
    for row in rows:
        limits = ", ".join(f"{name} {value}" for name, value in row.limits.items())
        print(f"{_plain(row.name)}  {row.role}{f'  ({limits})' if limits else ''}")
        for token in row.tokens:
            state = f"revoked {token.revoked_at}" if token.revoked_at else f"last used {token.used_at or '-'}"
            print(f"    {token.id}  {_plain(token.label) or '-'}  made {token.made_at}  {state}")


@users.command()
def add(name: Name, role: Role = "reader", label: Label = "", *, json: JsonOption = False) -> None:
    """Make a user, and a first token, which is shown this once."""
    from kiwiresearch.workspace import checked_label

    register = _register()
    checked_label(label)  # checked first, so that a bad label does not leave a user without a token
    user = register.add(name, role)
    token = register.new_token(name, label)
    if json:
        print_json({"name": user.name, "role": user.role, "token": token.text, "token_id": token.id})
        return
    print(f"{_plain(user.name)} may come in as {user.role}. The token: {token.text}", flush=True)
    say(SHOWN_ONCE)
    if not user_workspace().settings.serve.users:
        say("The server asks nobody who they are until 'users = true' stands below [serve] in the settings.")


@users.command()
def role(
    name: Name, role: Annotated[str, typer.Argument(help="The new role.", metavar="ROLE")], *, json: JsonOption = False
) -> None:
    """Give a user another role; it counts from the next request on."""
    user = _register().set_role(name, role)
    _report(f"{user.name} is {user.role} now.", {"name": user.name, "role": user.role}, as_json=json)


@users.command()
def limit(
    name: Name,
    limits: Annotated[
        list[str],
        typer.Argument(help="Such as 'questions_a_day=20'; 'queued=' takes back that of the role.", metavar="LIMIT…"),
    ],
    *,
    json: JsonOption = False,
) -> None:
    """Give a user limits that differ from those of the role; 0 sets none."""
    user = _register().set_limits(name, dict(_limit(text) for text in limits))
    limits_words = ", ".join(f"{key} {value}" for key, value in user.limits.items())
    words = f"{user.name}: {limits_words or 'the limits of the role'}."
    _report(words, {"name": user.name, "limits": dict(user.limits)}, as_json=json)


@users.command()
def token(name: Name, label: Label = "", *, json: JsonOption = False) -> None:
    """Make another token for a user, which is shown this once."""
    made = _register().new_token(name, label)
    if json:
        print_json({"name": name, "token": made.text, "token_id": made.id})
        return
    print(f"The token {made.id} of {_plain(name)}: {made.text}", flush=True)
    say(SHOWN_ONCE)


@users.command()
def revoke(
    name: Name,
    token_id: Annotated[str, typer.Argument(help="As 'users list' names it.", metavar="TOKEN-ID")],
    *,
    json: JsonOption = False,
) -> None:
    """Take a token back: whoever is in with it is out at once."""
    _register().revoke(name, token_id)
    _report(f"The token {token_id} lets nobody in any more.", {"name": name, "revoked": token_id}, as_json=json)


@users.command()
def remove(name: Name, *, json: JsonOption = False) -> None:
    """Remove a user, who is out at once; runs and notes stay."""
    _register().remove(name)
    _report(f"{name} is removed.", {"removed": name}, as_json=json)


def _report(words: str, record: dict[str, object], *, as_json: bool) -> None:
    emit(record, lambda: print(_plain(words)), as_json=as_json)


def _limit(text: str) -> tuple[str, int | None]:
    name, mark, value = text.partition("=")
    if not mark or (value and not (value.isascii() and value.isdigit() and len(value) < 10)):
        raise BadUsage(f"{text!r} is no limit.", remedy="Write it like 'questions_a_day=20'.")
    return name.strip(), int(value) if value else None


def _register() -> UserRegister:
    from kiwiresearch.workspace import Actor, UserRegister, store_of, utc_now

    return UserRegister(store_of(user_workspace()), utc_now, Actor())


def _plain(text: str) -> str:
    """A text without terminal codes."""
    from kiwiresearch.text import printable

    return printable(text)


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
    from kiwiresearch.workspace import store_of, utc_moment

    store = store_of(user_workspace())
    if head and not check:
        raise BadUsage("'--head' says nothing by itself.", remedy="Give it together with --check.")
    if head and not HASH.fullmatch(head.strip()):
        raise BadUsage(f"{head[:80]!r} is no hash of a row.", remedy="Give all 64 characters that a check told.")
    if check:
        _check_audit(store, head.strip(), json=json)
        return
    begin = utc_moment(since)
    last = 0
    while rows := store.audit.rows(last, PAGE, user=user or None, action=action or None, since=begin):
        for row in rows:
            _show_row(row, json=json)
        last = rows[-1].seq
    if not last:
        say("Nothing like that was written down." if user or action or since else NOTHING)


def _check_audit(store: Store, head: str, *, json: bool) -> None:
    """Verify that the audit is complete, and not rewritten up to `head`; print its last hash for the next check."""
    proof = store.audit.prove(head)
    if json:
        print_json(proof)
    elif proof.holds:
        print("The audit is whole: every row is as it was written.")
        print(f"Its last row has the hash {proof.head}")
    if proof.holds:
        return
    if not json:
        raise KiwiError(
            f"The audit does not hold at row {proof.row}: {proof.why}.",
            remedy="Compare the store with a copy of before.",
        )
    raise typer.Exit(1)


def _show_row(row: AuditRow, *, json: bool) -> None:
    if json:
        print_json(row)
        return
    who, where, subject = (_plain(text) or "-" for text in (row.user, row.host, row.subject))
    what = " ".join(filter(None, (row.action, str(row.details.get("what", "")))))
    print(f"{row.seq}  {row.at}  {who}  {where}  {what}  {subject}  {row.outcome}")
