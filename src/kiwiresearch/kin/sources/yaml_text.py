"""YAML that strangers wrote: small, plain, without tricks, and every mistake told by file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from kiwiresearch.errors import BadSettings

MAX_BYTES = 64 * 1024
MAX_DEPTH = 12
MAX_NODES = 5_000


def read_yaml(path: Path) -> Any:
    """What a file says. No aliases, no tags of Python, no key twice: plugins need none of them."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadSettings(
                f"The file {str(path)!r} is larger than {MAX_BYTES // 1024} KiB.", remedy="A plugin needs far less."
            )
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise BadSettings(
            f"The file {str(path)!r} cannot be read: {problem.strerror}.", remedy="Check its place and permissions."
        ) from problem
    except UnicodeDecodeError as problem:
        raise BadSettings(f"The file {str(path)!r} is no text.", remedy="Save it as UTF-8.") from problem
    try:
        _check(text)
        return yaml.safe_load(text)
    except _Trick as problem:
        told = f"The file {str(path)!r} cannot be used: {problem}."
        raise BadSettings(told, remedy="Write it out plainly.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        told = f"The file {str(path)!r} is no YAML: {_told(problem)}."
        raise BadSettings(told, remedy="Mend that line.") from problem


class _Trick(Exception):
    """Something in the text that a plugin does not need."""


def _check(text: str) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        nodes += isinstance(event, yaml.NodeEvent)
        if isinstance(event, yaml.AliasEvent):
            raise _Trick(f"line {_line(event)} repeats another part by '*{event.anchor}'")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise _Trick(f"at line {_line(event)} it is nested too deep or too long")
    waiting = [yaml.compose(text, Loader=yaml.SafeLoader)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            again = sorted({name for name in names if names.count(name) > 1})
            if again:
                raise _Trick(f"the key {again[0]!r} is there twice, below line {node.start_mark.line + 1}")
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1 if event.start_mark else 1


def _told(problem: Exception) -> str:
    if isinstance(problem, yaml.MarkedYAMLError) and problem.problem_mark:
        return f"line {problem.problem_mark.line + 1}: {problem.problem or problem.context}"
    return " ".join(str(problem).split())[:120] or "it is nested too deep"
