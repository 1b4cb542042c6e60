"""The commands for users, their passwords, tokens, sign-in links and limits, and for the audit log."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import JsonOption, emit, print_json, say, user_workspace
from kiwiresearch.errors import BadUsage, KiwiError

if TYPE_CHECKING:
    from kiwiresearch.store import AuditRow, Store
    from kiwiresearch.workspace import UserRegister

users = typer.Typer(
    name="users",
    help="Manage the users of the server. They sign in with a password, a token or a link if 'serve.users' is set.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="The user's name.", metavar="NAME")]
Role = Annotated[str, typer.Option("--role", help="'reader', 'researcher' or 'owner'.", metavar="ROLE")]
Label = Annotated[
    str, typer.Option("--label", help="What the token is for, for example 'library PC'.", metavar="WORDS")
]
SHOWN_ONCE = "The token is shown only once. Give it to the user and to nobody else."


@users.command("list")
def list_users(*, json: JsonOption = False) -> None:
    """List the users. Shows roles, limits, tokens and sign-in links, and when passwords were set."""
    register = _register()
    rows = [register.with_tokens(user) for user in register.all()]
    if json:
        print_json({"users": rows})
        return
    if not rows:
        print("No users yet. To add the first: kiwiresearch users add NAME --role owner")
    for row in rows:
        limits = ", ".join(f"{name} {value}" for name, value in row.limits.items())
        password = f"  password set {row.password_at}" if row.password_at else ""
        print(f"{_plain(row.name)}  {row.role}{f'  ({limits})' if limits else ''}{password}")
        for token in row.tokens:
            used = f"last used {token.used_at}" if token.used_at else "never used"
            state = f"revoked {token.revoked_at}" if token.revoked_at else used
            print(f"    {token.id}  {_plain(token.label) or '-'}  created {token.made_at}  {state}")
        for row_link in row.links:
            used = f"used {row_link.used_at}" if row_link.used_at else f"valid until {row_link.expires_at}"
            print(f"    {row_link.id}  sign-in link  created {row_link.made_at}  {used}")


@users.command()
def add(name: Name, role: Role = "reader", label: Label = "", *, json: JsonOption = False) -> None:
    """Add a user and create their first token, which is shown only once."""
    from kiwiresearch.workspace import checked_label

    register = _register()
    checked_label(label)  # checked first, so that a bad label does not leave a user without a token
    user = register.add(name, role)
    token = register.new_token(name, label)
    if json:
        print_json({"name": user.name, "role": user.role, "token": token.text, "token_id": token.id})
        return
    # Flushed, so that the hint on standard error comes after it.
    print(f"Added {_plain(user.name)} as {user.role}. Token: {token.text}", flush=True)
    say(SHOWN_ONCE)
    if not user_workspace().settings.serve.users:
        say("The server will not ask for tokens until you set 'users = true' under [serve] in the settings.")


@users.command()
def role(
    name: Name, role: Annotated[str, typer.Argument(help="The new role.", metavar="ROLE")], *, json: JsonOption = False
) -> None:
    """Change a user's role. The new role applies from their next request."""
    user = _register().set_role(name, role)
    _report(f"{user.name} now has the role {user.role!r}.", {"name": user.name, "role": user.role}, as_json=json)


@users.command()
def limit(
    name: Name,
    limits: Annotated[
        list[str],
        typer.Argument(help="For example 'questions_a_day=20'; 'queued=' restores the role's limit.", metavar="LIMIT…"),
    ],
    *,
    json: JsonOption = False,
) -> None:
    """Set limits for one user that replace those of their role. 0 means no limit."""
    user = _register().set_limits(name, dict(_limit(text) for text in limits))
    limits_words = ", ".join(f"{key} {value}" for key, value in user.limits.items())
    words = f"{user.name}: {limits_words or 'same limits as the role'}."
    _report(words, {"name": user.name, "limits": dict(user.limits)}, as_json=json)


@users.command()
def token(name: Name, label: Label = "", *, json: JsonOption = False) -> None:
    """Create another token for a user, which is shown only once."""
    made = _register().new_token(name, label)
    if json:
        print_json({"name": name, "token": made.text, "token_id": made.id})
        return
    print(f"New token {made.id} for {_plain(name)}: {made.text}", flush=True)
    say(SHOWN_ONCE)


@users.command()
def password(
    name: Name,
    *,
    generate: Annotated[bool, typer.Option("--generate", help="Generate a readable password and print it.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the password.")] = False,
    json: JsonOption = False,
) -> None:
    """Set a user's password. You are asked for it twice, and it is not shown while you type.

    The user is signed out wherever they signed in with the previous password or a link. In a script, send the
    password on standard input.
    """
    if generate and remove:
        raise BadUsage("--generate and --remove cannot be used together.", remedy="Use one of them.")
    register = _register()
    user = register.get(name)
    if remove:
        register.remove_password(user.name)
        _report(f"Removed the password of {user.name}.", {"name": user.name, "password": None}, as_json=json)
    elif generate:
        made = register.generate_password(user.name)
        emit(made, lambda: print(f"Password for {_plain(user.name)}: {made.password}", flush=True), as_json=json)
        say("The password is shown only once. Give it to the user and keep it secret.")
    else:
        register.set_password(user.name, _typed_password(user.name))
        _report(f"Set the password of {user.name}.", {"name": user.name, "password": None}, as_json=json)


def _typed_password(name: str) -> str:
    """The password from the keyboard, without echo; or the first line of standard input in a script."""
    from kiwiresearch.store import check_password

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    typed: str = typer.prompt(f"New password for {_plain(name)}", hide_input=True, err=True)
    check_password(typed, name)  # checked first, so that nobody types a password twice that is refused
    if typer.prompt("Confirm password", hide_input=True, err=True) != typed:
        raise BadUsage("The two passwords are not the same.", remedy="Run the command again.")
    return typed


@users.command()
def link(
    name: Name,
    *,
    valid: Annotated[
        str, typer.Option("--valid", help="How long it can be used: 'hour', 'day' or 'week'.", metavar="TIME")
    ] = "day",
    json: JsonOption = False,
) -> None:
    """Create a link that signs a user in once, without a password. It is shown only once.

    It replaces an earlier unused link, and stops working when the user's password is changed.
    """
    from kiwiresearch.web import address_for_hosts
    from kiwiresearch.workspace import LINK_PATH, checked_link_time

    time, serve = checked_link_time(valid), user_workspace().settings.serve
    made = _register().new_link(name, time)
    address = f"{address_for_hosts(serve, serve.port)}{LINK_PATH}{made.secret}"
    if json:
        print_json({"name": made.user, "link": address, "link_id": made.id, "expires_at": made.expires_at})
        return
    print(f"Sign-in link {made.id} for {_plain(made.user)}: {address}", flush=True)
    say(f"It works once and expires at {made.expires_at}.")
    say("The link is shown only once. Give it to the user and to nobody else.")
    if not serve.users:
        say("The link will not work until you set 'users = true' under [serve] in the settings.")


@users.command()
def revoke(
    name: Name,
    credential: Annotated[
        str, typer.Argument(help="The ID of the token or sign-in link, from 'users list'.", metavar="ID")
    ],
    *,
    json: JsonOption = False,
) -> None:
    """Revoke a token or a sign-in link. Anyone signed in with it is signed out at once."""
    register = _register()
    is_link = credential in {row.id for row in register.links(name)}
    (register.revoke_link if is_link else register.revoke)(name, credential)
    what = "sign-in link" if is_link else "token"
    _report(f"Revoked {what} {credential}.", {"name": name, "revoked": credential}, as_json=json)


@users.command()
def remove(name: Name, *, json: JsonOption = False) -> None:
    """Remove a user and sign them out at once. Their research and notes are not deleted."""
    _register().remove(name)
    _report(f"Removed {name}.", {"removed": name}, as_json=json)


def _report(words: str, record: dict[str, object], *, as_json: bool) -> None:
    emit(record, lambda: print(_plain(words)), as_json=as_json)


def _limit(text: str) -> tuple[str, int | None]:
    name, mark, value = text.partition("=")
    if not mark or (value and not (value.isascii() and value.isdigit() and len(value) < 10)):
        raise BadUsage(f"{text!r} is not a valid limit.", remedy="Example: questions_a_day=20")
    return name.strip(), int(value) if value else None


def _register() -> UserRegister:
    from kiwiresearch.workspace import Actor, UserRegister, store_of, utc_now

    return UserRegister(store_of(user_workspace()), utc_now, Actor())


def _plain(text: str) -> str:
    """A text without terminal codes."""
    from kiwiresearch.text import printable

    return printable(text)


ROWS_AT_ONCE = 1_000
HASH = re.compile("[0-9a-f]{64}")
NOTHING = "The audit log is empty. Servers write to it if 'users' or 'audit' is set under [serve] in the settings."


def audit(
    *,
    user: Annotated[str, typer.Option("--user", help="Only actions by this user.", metavar="NAME")] = "",
    action: Annotated[
        str, typer.Option("--action", help="Only this action, for example 'login' or 'ask'.", metavar="WORD")
    ] = "",
    since: Annotated[str, typer.Option("--since", help="Only from this date or time on.", metavar="DATE")] = "",
    check: Annotated[bool, typer.Option("--check", help="Check that no row was changed or deleted.")] = False,
    head: Annotated[
        str, typer.Option("--head", help="With --check: the hash that an earlier check printed.", metavar="HASH")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print each row as a line of JSON.")] = False,
) -> None:
    """Show who did what on the server, oldest first. --check shows whether rows were changed or deleted."""
    from kiwiresearch.workspace import store_of, utc_moment

    store = store_of(user_workspace())
    if head and not check:
        raise BadUsage("--head works only together with --check.", remedy="Add --check.")
    if head and not HASH.fullmatch(head.strip()):
        raise BadUsage(
            f"{head[:80]!r} is not the hash of a row.", remedy="Enter all 64 characters that an earlier check printed."
        )
    if check:
        _check_audit(store, head.strip(), json=json)
        return
    begin = utc_moment(since)
    last = 0
    while rows := store.audit.rows(last, ROWS_AT_ONCE, user=user or None, action=action or None, since=begin):
        for row in rows:
            _show_row(row, json=json)
        last = rows[-1].seq
    if not last:
        say("No matching rows." if user or action or since else NOTHING)


def _check_audit(store: Store, head: str, *, json: bool) -> None:
    """Verify that the audit log is complete, and not rewritten up to `head`; print its last hash for the next check."""
    proof = store.audit.verify(head)
    if json:
        print_json(proof)
    elif proof.holds:
        print("The audit log is complete and unchanged.")
        print(f"Hash of the last row: {proof.head}")
    if proof.holds:
        return
    if not json:
        raise KiwiError(
            f"The audit log was changed at row {proof.row}: {proof.why}.",
            remedy="Compare the store with a backup.",
        )
    raise typer.Exit(1)


def _show_row(row: AuditRow, *, json: bool) -> None:
    if json:
        print_json(row)
        return
    who, where, subject = (_plain(text) or "-" for text in (row.user, row.host, row.subject))
    what = " ".join(filter(None, (row.action, str(row.details.get("what", "")))))
    print(f"{row.seq}  {row.at}  {who}  {where}  {what}  {subject}  {row.outcome}")
