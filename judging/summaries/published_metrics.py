"""Metrics that others have published: stated, not measured here, and so the same on every machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from judge_tui.judging.matchup import Matchup
from judge_tui.judging.summaries.gathered import Gathered
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import Cell, Heading, Part, Prose, Report, Table

__all__ = ["published_metrics"]


def published_metrics(found: Gathered, models: Sequence[str] = ()) -> Report:
    """Set published metrics side by side: criteria of published comparisons in which nobody is said to lead.

    Args:
        found: What was read, of all models that were compared.
        models: Folder names of those that are shown; all when empty.
    """
    parts: list[Part] = []
    titles: dict[str, str] = {}
    shown: set[str] = set()
    judges: set[str] = set()
    for task, of in found.tasks.items():
        tables: list[Part] = []
        for judge, one in of.matchups:
            columns = [model for model in one.models if not models or model in models]
            rows = tuple(_rows(one, columns))
            if rows:
                tables += [_stated(judge, one), Table(("Metric", *_named(found, columns).values()), rows)]
                shown.update(columns)
                judges.add(found.named(judge))
        if tables:
            titles[task] = of.rubric.title
            parts += [Heading(of.rubric.title, 2, anchor_of(task)), *tables]
    ordered = _named(found, [model for model in models or found.models if model in shown])
    if parts:
        parts = [*map(Prose, found.remarks), *parts]
    return Report(
        "metrics", f"Published metrics: {' vs '.join(ordered.values())}", ordered, titles,
        tuple(sorted(judges)), found.newest, tuple(parts), tuple(found.faults),
    )  # fmt: skip


def _rows(one: Matchup, columns: Collection[str]) -> Iterator[tuple[Cell, ...]]:
    for criterion in one.criteria:
        cells = [criterion.cells.get(model, "") for model in columns]
        if criterion.edge is None and any(cells):
            yield (Cell(criterion.name), *(Cell(text or "–") for text in cells))


def _stated(judge: str, one: Matchup) -> Prose:
    return Prose(f"As {judge} states them in “{one.source}”; nothing of it was measured here.")


def _named(found: Gathered, models: Sequence[str]) -> dict[str, str]:
    return {model: found.models.get(model, found.workspace.model_title(model)) for model in models}
