"""The program's entrance: it keeps standard output clean, and turns errors into words."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from kiwiresearch.errors import BadUsage, KiwiError

COMMANDS = frozenset({"books", "doctor", "page"})
INTERRUPTED = 130


def main() -> None:
    """Run the program and end the process."""
    _protect_output()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:  # the reader at the other end of a pipe has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            _topic(arguments[0])
        from kiwiresearch.cli.app import app

        return int(app(args=list(arguments), prog_name="kiwiresearch", standalone_mode=False) or 0)
    except KiwiError as problem:
        _complain(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        _complain("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except Exception as problem:
        code = _usage_error(problem)
        if code is None:
            raise
        return code


def _usage_error(problem: Exception) -> int | None:
    """The exit code of an error that typer raises for wrong arguments, after showing it."""
    show = getattr(problem, "show", None)
    code = getattr(problem, "exit_code", None)
    if code is None:
        return INTERRUPTED if type(problem).__name__ == "Abort" else None
    if show is not None:
        show(file=sys.stderr)
    return int(code)


def _topic(word: str) -> None:
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"Did you mean the command {near[0]!r}? " if near else ""
    raise BadUsage(
        f"{word!r} is no command, and this version does not research topics yet.",
        remedy=f"{hint}To read the page of that title: kiwiresearch page {word!r}",
    )


def _complain(message: str) -> None:
    print(f"kiwiresearch: {message}", file=sys.stderr)


def _protect_output() -> None:
    """Keep what C libraries print out of our output: from here on only Python writes there."""
    try:
        ours = os.dup(1)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    except OSError:
        return
    sys.stdout = open(ours, "w", encoding="utf-8", errors="replace")  # noqa: SIM115, PTH123
