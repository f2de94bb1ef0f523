"""What ``judge-tui home`` prints, taken apart."""

from __future__ import annotations

__all__ = ["column"]


def column(told: str, task: str) -> dict[str, str]:
    """Model → what stands in the column of a task, of the first block that has it."""
    lines = iter(told.split("\n"))
    head = next(line for line in lines if line.startswith("model ") and f" {task} " in f"{line} ")
    at = f"{head} ".index(f" {task} ") + 1
    found: dict[str, str] = {}
    for line in lines:
        if not line:
            break
        found[line.split()[0]] = line[at:].partition("  ")[0].strip()
    return found
