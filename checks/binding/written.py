"""Bindings by hand: what ``adapter.py`` or ``submission.toml`` states, and the rest that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.binding.candidates import Candidate, callables, candidates
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.calling.binding import Argument, Binding, Source, parse_binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.submission import ADAPTER, META, Submission

__all__ = ["completed", "written"]


def written(submission: Submission, role: Role, loaded: Inventories) -> Binding | None:
    """The binding that ``adapter.py`` or ``submission.toml`` states, the adapter winning."""
    for function in loaded.get(ADAPTER, {}).get("functions", ()):
        if function["name"] == role.name:
            given = [r for r in role.returns if r.kind != "self"]
            names = {param["name"] for param in function["params"] or ()}
            args = tuple(Argument(p.name, p.name) for p in role.params if p.name in names)
            returns = {
                r.name: Source("result", (("i", i),) if len(given) > 1 else ()) for i, r in enumerate(given)
            }
            return Binding(
                role.name,
                ADAPTER,
                role.name,
                args,
                returns,
                origin=ADAPTER,
                why="written by hand",
                line=function["line"],
            )
    table = submission.meta.binding.get(role.name)
    if table is None:
        return None
    binding = parse_binding(role.name, table, file=str(submission.place / META))
    if binding.file not in submission.files and binding.file != ADAPTER:
        raise WorkspaceError(
            f"[binding.{role.name}] names '{binding.file}', which is not in the submission",
            file=submission.place / META,
        )
    return replace(binding, why="written by hand", line=_line(loaded, binding))


def completed(
    worker: Worker,
    loaded: Inventories,
    role: Role,
    written: Binding,
    found: Mapping[str, Binding],
    inputs: Mapping[str, Any],
) -> list[Candidate]:
    """A written binding; one that names its target alone is called in the ways that its signature allows."""
    stated = set(worker.submission.meta.binding.get(role.name, ()))
    if written.origin == ADAPTER or stated - {"target", "returns", "layout", "model", "patch"}:
        return [Candidate(written, 0.0)]
    anything = replace(role, patterns=("",), avoid=())
    options = [
        Candidate(
            replace(
                option.binding,
                returns=written.returns,
                layout=written.layout or option.binding.layout,
                model=written.model,
                patch=written.patch,
                origin=written.origin,
                why=written.why,
            ),
            option.score,
        )
        for option in candidates(worker, loaded, anything, found, inputs)
        if option.binding.target == written.target
    ]
    return options or [Candidate(written, 0.0)]


def _line(loaded: Inventories, binding: Binding) -> int:
    for item in callables(loaded):
        if (item.file, item.name) == (binding.file, binding.name):
            return item.line
    return 0
