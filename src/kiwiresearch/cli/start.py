"""The program's entrance: it keeps standard output clean, and turns errors into words."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from kiwiresearch.errors import BadUsage, KiwiError

COMMANDS = frozenset({"books", "doctor", "page", "search"})
INTERRUPTED = 130


def main() -> None:
    """Run the program and end the process."""
    _protect_output()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except (ReaderLeft, OutputLost) as problem:
        code = code or _explain(problem) or 0
    # What is still in the buffer would be tried again at the end, and fail again.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            _topic(arguments[0])
        from kiwiresearch.cli.app import app

        code = int(app(args=list(arguments), prog_name="kiwiresearch", standalone_mode=False) or 0)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as problem:
        explained = _explain(problem)
        if explained is None:
            raise
        return explained
    if code == INTERRUPTED:  # typer may have caught the Ctrl-C itself
        _complain("Interrupted.")
    return code


class ReaderLeft(Exception):
    """Whoever read our output through a pipe has gone, which is no error."""


class OutputLost(Exception):
    """Our output cannot be written."""


def _explain(problem: Exception) -> int | None:
    """The exit code of an error, after telling the user of it; None for what is a bug of ours."""
    if isinstance(problem, KiwiError):
        _complain(str(problem))
        return problem.exit_code
    if isinstance(problem, ReaderLeft):
        return 0
    if isinstance(problem, OutputLost):
        _complain(f"The output cannot be written: {problem}.")
        return 1
    if type(problem).__name__ == "Abort":  # what typer makes of Ctrl-C
        _complain("Interrupted.")
        return INTERRUPTED
    code = getattr(problem, "exit_code", None)
    if code is None:
        return None
    show = getattr(problem, "show", None)
    if show is not None:
        show(file=sys.stderr)
    return int(code)


def _topic(word: str) -> None:
    import difflib

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"Did you mean the command {near[0]!r}? " if near else ""
    raise BadUsage(
        f"{word!r} is no command, and this version does not research topics yet.",
        remedy=f"{hint}To find pages about it: kiwiresearch search {word!r}",
    )


def _complain(message: str) -> None:
    if sys.stderr is not None:
        print(f"kiwiresearch: {message}", file=sys.stderr)


class _Output(io.TextIOWrapper):
    """Standard output that tells a reader who left from a disk that is full."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as problem:
            raise _lost(problem) from problem

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as problem:
            raise _lost(problem) from problem


def _lost(problem: OSError) -> Exception:
    return ReaderLeft() if isinstance(problem, BrokenPipeError) else OutputLost(problem.strerror or str(problem))


def _protect_output() -> None:
    """Keep what C libraries print out of our output: from here on only Python writes there."""
    try:
        ours = os.dup(1)
    except OSError:  # started without standard output
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    is_terminal = os.isatty(ours)
    sys.stdout = _Output(open(ours, "wb"), encoding="utf-8", errors="replace", line_buffering=is_terminal)  # noqa: SIM115, PTH123
