"""The built-in tasks tried as a challenge is: lazy submissions, made of their contracts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from judge_tui.checks.challenges.lazy import PROGRAMS
from judge_tui.checks.contract import Contract, Role, Sample
from judge_tui.checks.task import Task
from judge_tui.checks.trying.challenge import passing
from judge_tui.checks.trying.trial import Doing, Tried

__all__ = ["tried_built_in"]


def tried_built_in(task: Task, doing: Doing = lambda what, part: None) -> Iterator[Tried]:
    """Lazy submissions of a task that is built in or installed.

    Args:
        task: The task.
        doing: Told what is tried, and by which check, before it is.
    """
    sample = task.contract.sample(np.random.default_rng(0))
    for name, text in _lazy(task.contract, sample).items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "lazy", task.id)
            folder.mkdir(parents=True)
            (folder / "solution.py").write_text(text)
            told, passes = passing(task, folder, name, doing)
        yield Tried("lazy", name, not passes, told)


def _lazy(contract: Contract, sample: Sample) -> Mapping[str, str]:
    """What each lazy submission does → its text."""
    made: dict[str, str] = {}
    for word, value in (("zeros", "0.0"), ("ones", "1.0"), ("NaN", "np.nan")):
        functions = "\n\n".join(_function(role, sample, value) for role in contract.roles)
        made[f"that answers {word}"] = f"import numpy as np\n\n\n{functions}"
    made["that gives its first argument back"] = "\n\n".join(map(_giving_back, contract.roles))
    # what sleeps is ended by every check's own budget, one after another
    programs = {name: text for name, text in PROGRAMS.items() if name != "sleeping"}
    return made | {f"that is {name}": text or "# nothing\n" for name, text in programs.items()}


def _giving_back(role: Role) -> str:
    parameters = _parameters(role)
    first = parameters[0].partition("=")[0] if parameters else "None"
    return f"def {role.name}({', '.join(parameters)}):\n    return {first}\n"


def _function(role: Role, sample: Sample, value: str) -> str:
    """A function that gives arrays of the right shapes, and nothing that was computed."""
    given = []
    for item in role.returns:
        if item.name in sample.shapes:
            given.append(f"np.full({_shape(role, sample, item.name)}, {value})")
        elif item.kind != "self" and item.required:
            given.append("{}")
    answer = ", ".join(given) or value
    return f"def {role.name}({', '.join(_parameters(role))}):\n    return {answer}\n"


def _shape(role: Role, sample: Sample, name: str) -> str:
    """The shape of an answer: of the argument that has the same one, so that it is right at all sizes."""
    wanted = tuple(map(int, sample.shapes[name]))
    arrays = {p.name: np.shape(sample.inputs[p.name]) for p in role.params if p.name in sample.inputs}
    like = next((param for param, shape in arrays.items() if shape == wanted), "")
    return f"np.shape({like})" if like else repr(wanted)


def _parameters(role: Role) -> list[str]:
    """Its parameters' names; what is not required has a default."""
    names = dict.fromkeys(p.name if p.required else f"{p.name}=None" for p in role.params)
    return sorted(names, key=lambda name: "=" in name)
