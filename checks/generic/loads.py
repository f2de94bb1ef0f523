"""Whether every file parses and imports, and forbidden frameworks are absent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Raised, Skipped
from judge_tui.checks.generic.frameworks import reached, read_names
from judge_tui.checks.generic.prying import pried
from judge_tui.checks.imports import imported
from judge_tui.checks.lines import count_lines
from judge_tui.checks.missing import lacking_framework, named
from judge_tui.checks.sandbox.packages import FRAMEWORKS
from judge_tui.checks.sources import fence_line, fenced, is_side_program, parsed, python_files
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.verdict import Verdict
from judge_tui.checks.worker.capture import CUT

__all__ = ["FORBIDDEN", "loads"]

#: A submission that runs its own tests on import may talk; no reader gets through this much.
_MUCH_MB = 10.0
#: Places of one file that are told.
_MOST_PRIED = 5
#: Frameworks that would answer the challenge instead of the submission.
FORBIDDEN = FRAMEWORKS


@check(
    "loads",
    "parses and imports",
    host=True,
    establishes="Every file parses, imports succeed, and no automatic differentiation framework is used.",
    version=4,
    budget=90,
)
def loads(bench: Bench, found: Findings) -> str:
    """Parse every Python file, import all but tests and demos, look for forbidden frameworks."""
    files = python_files(bench.submission)
    if not files:
        fence = fenced(bench.submission)
        told = f": its code stands in a Markdown fence ({fence[0]}:{fence[1]})" if fence else ""
        raise Skipped(f"no Python file among {', '.join(bench.submission.files[:4])}{told}")
    trees = {file: tree for file in files if (tree := _parsed(bench, found, file)) is not None}
    for file in [file for file in trees if not is_side_program(file)]:
        for line, what in islice(pried(trees[file]), _MOST_PRIED):
            found.claim(
                "it looks for nothing that it was not handed", False, measured=what, file=file, line=line,
                otherwise=Verdict.WARN, note="A submission that knows its judge may behave for it alone.",
            )  # fmt: skip
    if aside := bench.submission.left_out:
        found.note(
            "files that are no part of it", len(aside), unit="files", output="\n".join(aside),
            note="Hidden code, links, and names that are not UTF-8: neither shown nor run.",
        )  # fmt: skip
    # by that name another one may be had: the judge's wins
    own = [file for file in trees if file != ADAPTER or bench.submission.adapts_itself]
    tried = [file for file in own if not is_side_program(file)] or own
    missing: dict[str, list[str]] = {}
    for index, file in enumerate(tried):
        bench.progress(f"importing {file}", index / len(tried))
        for name, users in _imported(bench, found, file).items():
            missing[name] = [*missing.get(name, []), *users]
    frameworks = set(_frameworks(bench, found, trees, missing))
    free = bench.contract.frameworks
    for name, users in sorted(missing.items()):
        known = any(item.quantity == f"module '{name}' is installed" for item in found.evidence)
        if name not in frameworks and not known:
            found.claim(
                f"module '{name}' is installed",
                False,
                measured="not installed",
                file=users[0],
                otherwise=Verdict.WARN,
                note="What uses it cannot run here.",
            )
    if found.verdict is Verdict.SKIP:
        names = sorted({name for name in missing if name in free})
        return f"built on {' and '.join(names)}, which is not installed: imports cannot be tried"
    if found.verdict is Verdict.PASS:
        return f"{len(files)} {'file parses' if len(files) == 1 else 'files parse'}, {len(tried)} imported"
    first = next(item for item in found.evidence if item.ok is False)
    where = f" ({first.file}:{first.line})" if first.file and first.line else ""
    if lacking := re.fullmatch(r"module '(.+)' is installed", first.quantity):
        return f"needs the module '{lacking[1]}', which is not installed{where or f' ({first.file})'}"
    return f"{first.quantity}: {first.measured} {first.unit}".rstrip() + where


def _parsed(bench: Bench, found: Findings, file: str) -> ast.Module | None:
    data = bench.submission.read_bytes(file)
    try:
        tree = parsed(data)
    except SyntaxError as error:
        fence = fence_line(data.decode("utf-8", "replace"))
        told = f"Markdown with a code fence, not Python: {error.msg}" if fence else error.msg
        found.claim(f"{file} parses", False, measured=told, file=file, line=fence or error.lineno or 1)
        return None
    found.claim(
        f"{file} parses", True, measured=count_lines(data.decode("utf-8", "replace")), unit="lines", file=file
    )
    return tree


def _imported(bench: Bench, found: Findings, file: str) -> dict[str, list[str]]:
    """Import a file in the worker; returns modules that are missing and who asks for them."""
    try:
        inventory = bench.load(file, budget=bench.budget / 3)
    except Fault as fault:
        if name := _lacking(bench, fault):
            found.claim(
                f"module '{name}' is installed", False, measured="not installed", otherwise=Verdict.SKIP,
                file=file, line=fault.line, note=f"{file} cannot be imported without it.",
            )  # fmt: skip
            return {name: [file]}
        found.claim(
            f"{file} imports",
            False,
            measured=fault.message,
            file=fault.file or file,
            line=fault.line or 1,
            output=fault.output,
        )
        return {}
    for name in sorted(FORBIDDEN.intersection(inventory.get("present", ())) - bench.contract.frameworks):
        found.claim(f"no {name}", False, measured="loaded into its process", file=file, line=1)
    printed = str(inventory.get("printed", ""))
    found.claim(f"{file} imports", True, file=file, output=printed[:2000])
    if (cut := CUT.search(printed)) and float(cut[1]) > _MUCH_MB:
        found.claim(
            f"{file} prints little on import",
            False,
            measured=float(cut[1]),
            limit=_MUCH_MB,
            unit="MB",
            file=file,
            otherwise=Verdict.WARN,
        )
    return {str(name): list(users) for name, users in dict(inventory.get("missing", {})).items()}


def _lacking(bench: Bench, fault: Fault) -> str:
    """The framework, among those that the challenge leaves open, whose absence ended an import."""
    if not isinstance(fault, Raised):
        return ""
    free = bench.contract.frameworks
    return named(fault.detail) if lacking_framework(bench.submission, fault.kind, fault.detail, free) else ""


def _frameworks(
    bench: Bench, found: Findings, trees: Mapping[str, ast.Module], missing: Mapping[str, list[str]]
) -> Iterator[str]:
    """Forbidden frameworks that files import.

    Using one fails. Importing one idly warns, and so does using it where its absence is provided for, where
    nothing leads, or in a test that compares with it: none of them answers the challenge here.
    """
    forbidden = FORBIDDEN - bench.contract.frameworks
    read = read_names(trees.values())
    for file, tree in trees.items():
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for each in imported(tree):
            if (top := each.name.partition(".")[0]) not in forbidden:
                continue
            manner, lenient = "imported and used", True
            if each.bound not in names and each.bound != "*":
                manner = "imported, never used"
            elif is_side_program(file) or each.main:
                manner = "used by a test, demo or benchmark"
            elif each.optional:
                manner = "used where it is installed"
            elif not reached(each, file, read, bench.contract, missing):
                manner = "used where nothing leads"
            else:
                lenient = False
            found.claim(
                f"no {top}", False, measured=manner, file=file, line=each.line or 1,
                otherwise=Verdict.WARN if lenient else Verdict.FAIL,
            )  # fmt: skip
            yield top
