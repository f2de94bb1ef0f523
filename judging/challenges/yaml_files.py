"""YAML of other people's packages: plain data, and what is wrong with it by its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from judge_tui.checks.errors import WorkspaceError

__all__ = ["parsed_yaml"]

#: Longer ones are no description of a problem.
_MOST_BYTES = 1 << 20


class _Plain(yaml.SafeLoader):
    """Builds plain data, and follows no alias: ten lines of those are a value that no memory holds."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "an alias (*name), which is not read here", mark)
        return super().compose_node(parent, index)


def parsed_yaml(data: bytes, file: Path | str) -> Any:
    """The content of a YAML file, as dicts, lists, texts, numbers and dates.

    Args:
        data: Its bytes.
        file: What it is called, for messages.

    Raises:
        WorkspaceError: It is no YAML, is larger than 1 MiB, or holds more than plain data; with the line.
    """
    if len(data) > _MOST_BYTES:
        raise WorkspaceError("is larger than 1 MiB.", file=file)
    try:
        return yaml.load(data, Loader=_Plain)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        told = error.problem or "it cannot be parsed"
        raise _fault(told, file, mark.line + 1 if mark else None) from error
    # bytes that are no text, dates that are none, nesting without end
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        told = str(error).partition("\n")[0] or type(error).__name__
        raise _fault(told, file) from error


def _fault(told: str, file: Path | str, line: int | None = None) -> WorkspaceError:
    return WorkspaceError(f"is not valid YAML: {told.rstrip('.')}.", file=file, line=line)
