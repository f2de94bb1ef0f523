"""The pictures of docs/architecture.md: the rooms as the imports have them, and a verdict's way through them.

``make architecture`` draws them anew; a test holds them to the code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import grimp

from tools.layers import Box, drawn

__all__ = ["ROOT", "STEPS", "Step", "files", "leaning", "missing", "written"]

ROOT = Path(__file__).resolve().parents[1]
_DOCS = ROOT / "docs"
_ROOMS = ("judge_tui.cli", "judge_tui.tui", "judge_tui.reports", "judge_tui.judging", "judge_tui.checks")
#: Rooms whose parts have a picture of their own, and how many words say what each part is.
_PICTURES = {
    "rooms": "judge_tui",
    "tui": "judge_tui.tui",
    "checks": "judge_tui.checks",
    "kv": "judge_tui.checks.tasks.kv",
}
_LONGEST = 46


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a verdict's way.

    Attributes:
        title: What happens.
        places: Where, as ``module:name``.
        side: Who does it: ``judge``, ``jail`` or ``screen``.
    """

    title: str
    places: tuple[str, ...]
    side: str = "judge"


#: A verdict's way, from the key that asks for it to the line that shows it.
STEPS = (
    Step("a comparison opens, or check is called",
         ("tui.engine.check_runner:CheckRunner", "cli.checking:stream"), "screen"),
    Step("the engine, a process of its own, gets one request",
         ("checks.engine:main", "checks.request:Request")),
    Step("what is stored under the same files, binding, check and seed stands",
         ("checks.store:Store",)),
    Step("a bench per submission: worker, bindings, seeded inputs, clock", ("checks.bench:Bench",)),
    Step("the binder finds which callable plays which role",
         ("checks.binding.binder:bind", "checks.contract:Contract")),
    Step("inputs are drawn, the truth is computed in float64",
         ("checks.bench:Bench.rng", "checks.tasks")),
    Step("a call crosses into the jail: values in, empty buffers for the answer",
         ("checks.calling.calls:invoke", "checks.calling.handover:Packer")),
    Step("the submission runs: confined, told nothing of the truth",
         ("checks.worker.session:Session", "checks.worker.confine"), "jail"),
    Step("raw bytes come back and are compared here",
         ("checks.calling.remote:Result", "checks.tolerance:relative_error")),
    Step("figures against limits become findings, a fault becomes fail",
         ("checks.check:Findings", "checks.faults:Fault")),
    Step("the outcome: verdict, summary, evidence with lines",
         ("checks.verdict:Outcome", "checks.one_check")),
    Step("it streams out, and is stored", ("checks.events:Finished", "checks.store:Store")),
    Step("the screen, JSON, JUnit or text show it; a scorecard keeps it as seen",
         ("tui.widgets.checks_pane:ChecksPane", "cli.results", "judging.attesting"), "screen"),
)  # fmt: skip


def missing() -> list[str]:
    """Places of the verdict's way that the code has not."""
    return [place for step in STEPS for place in step.places if not _is_there(place)]


def _is_there(place: str) -> bool:
    module, _, names = place.partition(":")
    try:
        found: object = import_module(f"judge_tui.{module}")
        for name in filter(None, names.split(".")):
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return False
    return True


def leaning(ancestor: str, graph: grimp.ImportGraph) -> dict[str, frozenset[str]]:
    """Which parts of a room import which others of its parts.

    Args:
        ancestor: The room.
        graph: All imports.
    """
    below: dict[str, set[str]] = {}
    for module in graph.modules:
        if (part := _part(ancestor, module)) is None:
            continue
        others = {_part(ancestor, other) for other in graph.find_modules_directly_imported_by(module)}
        below.setdefault(part, set()).update(other for other in others if other not in (None, part))
    return {part: frozenset(below[part]) for part in sorted(below)}


def _part(ancestor: str, module: str) -> str | None:
    inside = module.removeprefix(f"{ancestor}.")
    return f"{ancestor}.{inside.partition('.')[0]}" if inside != module else None


def _about(module: str) -> tuple[Path, str]:
    """The file of a module, or of a room, and its first sentence."""
    place = ROOT.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text())) if file.exists() else ""
    return file, (text or "").partition("\n")[0].rstrip(".")


def _box(module: str) -> Box:
    file, about = _about(module)
    room = file.name == "__init__.py"
    name = module.rpartition(".")[2] + ("/" if room else "")
    return Box(name, tuple(_broken(about, _LONGEST)) if room else (), room)


def _broken(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    if line:
        yield line


def _way() -> str:
    """The picture of a verdict's way."""
    names = {"judge": "judge", "jail": "in the jail", "screen": "screen or command"}
    boxes = {
        f"{at:02}": Box(f"{at + 1}. {step.title}", (f"{names[step.side]} · {', '.join(step.places)}",),
                        step.side != "judge")
        for at, step in enumerate(STEPS)
    }  # fmt: skip
    order = list(boxes)
    below = {name: frozenset(order[at + 1 : at + 2]) for at, name in enumerate(order)}
    return drawn(boxes, below).framed("The way of a verdict, step by step, with the code of each")


def written(graph: grimp.ImportGraph) -> Mapping[str, str]:
    """File name → what is to stand in it.

    Args:
        graph: All imports.

    Raises:
        Circle: Rooms import each other in a circle.
    """
    pictures = {}
    for name, ancestor in _PICTURES.items():
        below = leaning(ancestor, graph)
        boxes = {part: _box(part) for part in below}
        title = f"The parts of {ancestor}, each above what it imports"
        pictures[f"architecture-{name}.svg"] = drawn(boxes, below).framed(title)
    return {**pictures, "architecture-verdict.svg": _way()}


def files() -> Mapping[str, str]:
    """The pictures of the code as it is: file name → text."""
    return written(grimp.build_graph(*_ROOMS, cache_dir=None))


if __name__ == "__main__":
    for file_name, text in files().items():
        (_DOCS / file_name).write_text(text)
        print(f"docs/{file_name}")
