"""The commands about users: who may come in, as what, and with which tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.options import AsJson, say, the_desk
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from kiwiresearch.research.people import Register
    from kiwiresearch.store.people import UserRow

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
def list_users(*, json: AsJson = False) -> None:
    """Show all users, their roles, limits and tokens."""
    from kiwiresearch.cli import show

    register = _register()
    rows = [_user_record(register, user) for user in register.all()]
    if json:
        show.document({"users": rows})
        return
    if not rows:
        print("There are no users yet. Make the first: kiwiresearch users add NAME --role owner")
    for row in rows:
        limits = ", ".join(f"{name} {value}" for name, value in row["limits"].items())
        print(f"{_plain(row['name'])}  {row['role']}{f'  ({limits})' if limits else ''}")
        for token in row["tokens"]:
            state = f"revoked {token['revoked_at']}" if token["revoked_at"] else f"last used {token['used_at'] or '-'}"
            print(f"    {token['id']}  {_plain(token['label']) or '-'}  made {token['made_at']}  {state}")


@users.command()
def add(name: Name, role: Role = "reader", label: Label = "", *, json: AsJson = False) -> None:
    """Make a user, and a first token, which is shown this once."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.people import checked_label

    register = _register()
    checked_label(label)  # before there is a user, who would be left without a token
    user = register.add(name, role)
    token = register.new_token(name, label)
    if json:
        show.document({"name": user.name, "role": user.role, "token": token.text, "token_id": token.id})
        return
    print(f"{_plain(user.name)} may come in as {user.role}. The token: {token.text}", flush=True)
    say(SHOWN_ONCE)
    if not the_desk().settings.serve.users:
        say("The server asks nobody who they are until 'users = true' stands below [serve] in the settings.")


@users.command()
def role(
    name: Name, role: Annotated[str, typer.Argument(help="The new role.", metavar="ROLE")], *, json: AsJson = False
) -> None:
    """Give a user another role; it counts from the next request on."""
    user = _register().set_role(name, role)
    _tell(f"{user.name} is {user.role} now.", {"name": user.name, "role": user.role}, as_json=json)


@users.command()
def limit(
    name: Name,
    limits: Annotated[
        list[str],
        typer.Argument(help="Such as 'questions_a_day=20'; 'queued=' takes back that of the role.", metavar="LIMIT…"),
    ],
    *,
    json: AsJson = False,
) -> None:
    """Give a user limits that differ from those of the role; 0 sets none."""
    user = _register().set_limits(name, dict(_limit(text) for text in limits))
    told = ", ".join(f"{key} {value}" for key, value in user.limits.items())
    words = f"{user.name}: {told or 'the limits of the role'}."
    _tell(words, {"name": user.name, "limits": dict(user.limits)}, as_json=json)


@users.command()
def token(name: Name, label: Label = "", *, json: AsJson = False) -> None:
    """Make another token for a user, which is shown this once."""
    from kiwiresearch.cli import show

    made = _register().new_token(name, label)
    if json:
        show.document({"name": name, "token": made.text, "token_id": made.id})
        return
    print(f"The token {made.id} of {_plain(name)}: {made.text}", flush=True)
    say(SHOWN_ONCE)


@users.command()
def revoke(
    name: Name,
    token_id: Annotated[str, typer.Argument(help="As 'users list' names it.", metavar="TOKEN-ID")],
    *,
    json: AsJson = False,
) -> None:
    """Take a token back: whoever is in with it is out at once."""
    _register().revoke(name, token_id)
    _tell(f"The token {token_id} lets nobody in any more.", {"name": name, "revoked": token_id}, as_json=json)


@users.command()
def remove(name: Name, *, json: AsJson = False) -> None:
    """Remove a user, who is out at once; runs and notes stay."""
    _register().remove(name)
    _tell(f"{name} is removed.", {"removed": name}, as_json=json)


def _tell(words: str, record: dict[str, Any], *, as_json: bool) -> None:
    from kiwiresearch.cli import show

    if as_json:
        show.document(record)
    else:
        print(_plain(words))


def _user_record(register: Register, user: UserRow) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(user) | {"tokens": [asdict(token) for token in register.tokens(user.name)]}


def _limit(text: str) -> tuple[str, int | None]:
    name, mark, value = text.partition("=")
    if not mark or (value and not (value.isascii() and value.isdigit() and len(value) < 10)):
        raise BadUsage(f"{text!r} is no limit.", remedy="Write it like 'questions_a_day=20'.")
    return name.strip(), int(value) if value else None


def _register() -> Register:
    from kiwiresearch.research.people import Changer, Register
    from kiwiresearch.research.stores import store_of

    return Register(store_of(the_desk()), _now, Changer())


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 (told to the audit, and to no run)


def _plain(text: str) -> str:
    """A text that commands no terminal."""
    from kiwiresearch.text.plain import printable

    return printable(text)
