"""The entry point of the program: it keeps standard output clean, and turns errors into messages."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import os
import sys
from collections.abc import Sequence

from kiwiresearch.errors import BadUsage, Interrupted, KiwiError, OutputLost, OutputPipeClosed

COMMAND_NAMES = frozenset(
    [
        "ask",
        "atlas",
        "audit",
        "books",
        "bulk",
        "claims",
        "compare",
        "conflicts",
        "diff",
        "doctor",
        "export",
        "hosts",
        "jobs",
        "kin",
        "mcp",
        "page",
        "research",
        "search",
        "serve",
        "sign",
        "users",
        "verify",
        "worker",
        "worksheet",
    ]
)
"""Listed here so that a topic is recognised without importing the commands; a test compares them with `app.py`."""

PROGRAM_OPTIONS = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""As in `kiwiresearch.system`, which `--help` does without."""


def main() -> None:
    """Run the program and end the process."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    _protect_output()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except (OutputPipeClosed, OutputLost) as problem:
        code = code or _explain(problem) or 0
    _drop_unwritten_output()
    sys.exit(code)


def _drop_unwritten_output() -> None:
    """Send what could not be written to the null device: at exit the interpreter would try again and complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # there is no such stream, or it is closed
            os.dup2(null, stream.fileno())


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        words = _without_help_command(arguments)
        if words and words[0] not in COMMAND_NAMES and words[0] not in PROGRAM_OPTIONS:
            _check_for_typo(words)
            words = ["research", *words]  # words that do not start with a command are a topic
        from kiwiresearch.cli.app import program

        code = int(program(args=words, prog_name="kiwiresearch", standalone_mode=False) or 0)
    except KeyboardInterrupt:
        code = Interrupted.exit_code
    except Exception as problem:
        explained = _explain(problem)
        if explained is None:
            raise
        return explained
    if code == Interrupted.exit_code:  # typer may have caught the Ctrl-C itself
        _complain("Interrupted.")
    return code


def _explain(problem: Exception) -> int | None:
    """Print an error and return its exit code; None for a bug, which is not explained."""
    if isinstance(problem, KiwiError):
        _complain(str(problem))
        return problem.exit_code
    if isinstance(problem, OutputPipeClosed):
        return 0
    if isinstance(problem, OutputLost):
        _complain(f"Could not write the output: {problem}.")
        return 1
    if type(problem).__name__ == "Abort":  # typer's exception for Ctrl-C
        _complain("Interrupted.")
        return Interrupted.exit_code
    code = getattr(problem, "exit_code", None)
    if code is None:
        return None
    wrong_number = _wrong_number(problem)
    if wrong_number:
        _complain(wrong_number)
        return int(code)
    show = getattr(problem, "show", None)
    if show is not None:
        show(file=sys.stderr)
    return int(code)


def _wrong_number(problem: Exception) -> str:
    """An option that must be a number and is not, in words; empty for other problems."""
    faults = getattr(problem.__cause__, "errors", None)
    fault = faults()[0] if faults else {}
    kind = {"int_parsing": "a whole number", "float_parsing": "a number"}.get(fault.get("type", ""))
    options = getattr(getattr(problem, "param", None), "opts", ())
    return f"{max(options, key=len)} must be {kind}, not {fault['input']!r}." if kind and options else ""


def _without_help_command(arguments: Sequence[str]) -> list[str]:
    """'help' and 'help ask' as '--help' and 'ask --help'; 'help desk' is a topic."""
    if len(arguments) == 1 and arguments[0] == "help":
        return ["--help"]
    if len(arguments) == 2 and arguments[0] == "help" and arguments[1] in COMMAND_NAMES:
        return [arguments[1], "--help"]
    return list(arguments)


def _check_for_typo(words: Sequence[str]) -> None:
    """Refuse 'serach Rome' and 'verfy', which were meant as commands; the error says how to research such a topic."""
    import difflib

    # Many topics begin with 'king', which is not a typo of 'kin'.
    near = difflib.get_close_matches(words[0], COMMAND_NAMES - {"kin"}, n=1, cutoff=0.75)
    topic = " ".join(itertools.takewhile(lambda word: not word.startswith("-"), words))
    if near and (topic != words[0] or topic.islower()):  # 'Atlas' alone is a topic
        raise BadUsage(
            f"{words[0]!r} is not a command.",
            remedy=f"Did you mean {near[0]!r}? To research this topic anyway: kiwiresearch research {topic!r}",
        )


def _complain(message: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"kiwiresearch: {message}", file=sys.stderr, flush=True)


class _Output(io.TextIOWrapper):
    """Standard output that distinguishes a closed pipe from a full disk."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as problem:
            raise _output_error(problem) from problem

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as problem:
            raise _output_error(problem) from problem


def _output_error(problem: OSError) -> Exception:
    return OutputPipeClosed() if isinstance(problem, BrokenPipeError) else OutputLost(problem.strerror or str(problem))


def _ensure_stderr_open() -> None:
    """If standard error is closed, open the null device there, or the next opened file would receive all messages."""
    try:
        os.fstat(2)
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        if null != 2:
            os.close(null)


def _protect_output() -> None:
    """Send the output of C libraries to the null device, so that only Python writes to our output."""
    _ensure_stderr_open()
    try:
        output_fd = os.dup(1)
    except OSError:  # started without standard output
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    is_terminal = os.isatty(output_fd)
    # On a terminal, a line is to be seen at once; a file or pipe is written in larger pieces.
    sys.stdout = _Output(open(output_fd, "wb"), encoding="utf-8", errors="replace", line_buffering=is_terminal)  # noqa: SIM115, PTH123
