"""The check ``loads`` of a challenge: the generic one, held to what the challenge lets answers import."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check, Findings, check
from judge_tui.checks.faults import Skipped
from judge_tui.checks.generic import loads
from judge_tui.checks.imports import Imported, imported
from judge_tui.checks.sources import is_side_program, parsed, python_files
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Verdict

__all__ = ["allowed_only", "parses"]

#: What every answer may import beside the standard library, and what its own tests may.
_ALWAYS = frozenset({"numpy", "__future__"})
_IN_TESTS = frozenset({"pytest", "hypothesis"})


def allowed_only(allowed: frozenset[str]) -> Check:
    """The generic check, and that nothing else is imported than the challenge allows.

    Args:
        allowed: Modules beside the standard library and NumPy.
    """

    def body(bench: Bench, found: Findings) -> str:
        told = loads.body(bench, found)
        if not (broken := list(_beyond(bench.submission, allowed))):
            return told
        for file, each in broken:
            found.claim(
                f"imports nothing but what the challenge allows: {each.name}", False, measured="imported",
                file=file, line=each.line, otherwise=Verdict.WARN if each.optional else Verdict.FAIL,
            )  # fmt: skip
        file, first = broken[0]
        return f"imports {first.name}, which the challenge does not allow ({file}:{first.line})"

    told = f"Every file parses and imports, and nothing is imported but NumPy{_listed(allowed)}."
    return Check(loads.id, loads.title, told, body, loads.version, loads.budget, host=True)


def _listed(allowed: frozenset[str]) -> str:
    return "".join(f", {name}" for name in sorted(allowed))


def _beyond(submission: Submission, allowed: frozenset[str]) -> Iterator[tuple[str, Imported]]:
    """Imports of modules that are neither Python's, nor the answer's own, nor allowed."""
    own = {part for file in submission.files for part in file.removesuffix(".py").split("/")}
    for file in python_files(submission):
        try:
            tree = parsed(submission.read_bytes(file))
        except SyntaxError:
            continue
        more = _IN_TESTS if is_side_program(file) else frozenset[str]()
        fine = {*sys.stdlib_module_names, *own, *allowed, *_ALWAYS, *more}
        for each in imported(tree):
            if each.name.partition(".")[0] not in fine and not (each.dead or each.main):
                yield file, each


@check(
    "loads",
    "parses",
    establishes="Every Python file parses; what a program imports is met when it runs.",
    host=True,
    apart=True,
)
def parses(bench: Bench, found: Findings) -> str:
    """Parse every Python file; a program acts when it is imported, and is run by its cases alone."""
    files = python_files(bench.submission)
    if not files:
        raise Skipped("it has no Python file")
    for file in files:
        try:
            parsed(bench.submission.read_bytes(file))
        except SyntaxError as error:
            found.claim(f"{file} parses", False, measured=error.msg, file=file, line=error.lineno or 1)
        else:
            found.claim(f"{file} parses", True, file=file)
    if wrong := found.wrong:
        return f"{wrong.quantity}: {wrong.measured} ({wrong.file}:{wrong.line})"
    return f"{len(files)} {'file parses' if len(files) == 1 else 'files parse'}"
