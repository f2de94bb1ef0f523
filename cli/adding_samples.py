"""Samples that are added: which answer of which model to which task each line is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judge_tui.checks.errors import UsageError
from judge_tui.cli.adding import NEXT, Adding, Wanted, free_place, model_of, next_number
from judge_tui.cli.bringing.answers import ANSWER, from_text
from judge_tui.cli.bringing.brought import Refused
from judge_tui.cli.bringing.samples import Sample, samples_in
from judge_tui.cli.copying import Arrival
from judge_tui.judging.naming import normalized
from judge_tui.judging.workspace import Workspace

__all__ = ["planned_samples"]

_MOST = 50_000


def planned_samples(
    workspace: Workspace, wanted: Wanted, data: bytes, faults: list[tuple[int, str]]
) -> tuple[Adding, ...]:
    """The submissions that a file of samples comes to.

    Args:
        workspace: Where they go.
        wanted: What was asked for; model and task stand in for what a line does not say.
        data: The file.
        faults: Takes line and sentence of what is wrong; with any, nothing may be written.

    Raises:
        Refused: There is none, or too many.
    """
    samples = samples_in(data, faults)
    if len(samples) > _MOST:
        raise Refused(f"holds {len(samples):,} answers, and at most {_MOST:,} are taken at once.")
    if not samples and not faults:
        raise Refused("holds no answer.")
    names = _Names(workspace, wanted)
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        try:
            groups.setdefault((names.model(sample), names.task(sample)), []).append(sample)
        except UsageError as error:
            faults.append((sample.line, str(error)))
    if wanted.meta.get("model") and len({model for model, _ in groups}) > 1:
        raise Refused("holds answers of several models, and --title can be that of one alone.")
    found: list[Adding] = []
    for (model, task), answers in groups.items():
        found += _attempts(workspace, names, (model, task), answers, faults)
    return tuple(found)


@dataclass
class _Names:
    """Models and tasks as lines call them, each looked up once."""

    workspace: Workspace
    wanted: Wanted
    titles: dict[str, str] = field(default_factory=dict)
    _models: dict[str, str] = field(default_factory=dict)
    _spellings: dict[str, str] = field(default_factory=dict)
    _tasks: dict[str, str] = field(default_factory=dict)

    def model(self, sample: Sample) -> str:
        """Folder name of the model of a sample; a name with an owner before it loses its slash."""
        name = sample.model or self.wanted.model
        if not name:
            raise UsageError("says no model, and there is no --model.")
        if name not in self._models:
            known = name in self.workspace.settings.aliases
            folder = model_of(self.workspace, name if known else name.replace("/", "-"))
            self._models[name] = self._spellings.setdefault(normalized(folder) or folder, folder)
            if "/" in name:
                self.titles[self._models[name]] = name
        return self._models[name]

    def task(self, sample: Sample) -> str:
        """Id of the task of a sample."""
        name = sample.task or self.wanted.task
        if not name:
            raise UsageError("says no task, and there is no --task.")
        if name not in self._tasks:
            self._tasks[name] = self.workspace.task(name, whole=True)
        return self._tasks[name]


def _attempts(
    workspace: Workspace,
    names: _Names,
    whose: tuple[str, str],
    samples: Sequence[Sample],
    faults: list[tuple[int, str]],
) -> Iterable[Adding]:
    """The answers of one model to one task, in order, each with a number that is free."""
    (model, task), wanted = whose, names.wanted
    if wanted.attempt not in (None, NEXT) and len(samples) > 1:
        faults.append((samples[1].line, f"is a further answer of {model} to {task}: --attempt N is for one."))
        return
    taken = {sample.attempt for sample in samples if sample.attempt is not None}
    number = next_number(workspace, model, task, wanted.attempt)
    seen: set[int] = set()
    for sample in sorted(samples, key=lambda one: one.order):
        attempt = sample.attempt
        if attempt is None:
            while number in taken:
                number += 1
            attempt, number = number, number + 1
        try:
            if attempt in seen:
                raise UsageError(f"there is an attempt {attempt} of {model} at {task} already.")
            seen.add(attempt)
            target = free_place(workspace, model, task, attempt)
            found = from_text(sample.text, task)
        except UsageError as error:
            faults.append((sample.line, str(error)))
            continue
        source = f"{wanted.called}:{sample.line}"
        # no answer is one, too: it counts among the attempts
        files = found.files or {ANSWER: sample.text.encode("utf-8", "replace")}
        meta: Mapping[str, str] = {
            **wanted.meta,
            "model": wanted.meta.get("model") or names.titles.get(model, ""),
        }
        yield Adding(model, task, attempt, Arrival(source, target, files, meta), found.sentences)
