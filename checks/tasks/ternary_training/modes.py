"""The modes that a layer knows, training and evaluation, and having it work in either.

How a mode is told is read off the layer's class: a method (``layer.eval()``, ``layer.train(False)``), an
attribute that its methods read (``layer.training = False``), an argument of its forward
(``forward(x, training=False)``), or a method that stands in the forward's place (``layer.infer(x)``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.calling.binding import Argument
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.sources import is_test_file, parsed, python_files
from judge_tui.checks.tasks.ternary_training.layer import Layer, Run
from judge_tui.checks.tasks.ternary_training.roles import FORWARD

__all__ = ["Mode", "modes"]

#: Names of flags that are true in training, and of flags that are true in evaluation.
_TRAINS = re.compile(r"_?(is_|in_)?train(ing)?(_mode)?")
_EVALUATES = re.compile(
    r"_?(is_|in_)?(eval|evaluat(e|ing|ion)|infer(ence)?|test(ing)?)(_mode)?|deterministic"
)
#: Names of settings that are a word, and the words.
_NAMED = re.compile(r"_?(mode|phase)")
_TRAIN_WORDS, _EVAL_WORDS = (
    frozenset({"train", "training"}),
    ("eval", "evaluation", "infer", "inference", "test"),
)
#: Methods that turn to evaluation, back, and to what they are told.
_THERE = re.compile(r"(set_|to_)?(eval|evaluation|inference)(_mode)?|test_mode")
_BACK = re.compile(r"(set_|to_)?train(ing)?(_mode)?")
_TELLS = re.compile(r"(set_)?(train(ing)?(_mode)?|mode|phase|is_training)")
_TOLD = re.compile(r"(is_|in_)?(train(ing)?|mode|phase|flag|on|value|enabled?|state)(_mode)?")
#: Methods that take the input in the forward's place.
_INSTEAD = re.compile(
    r"(infer(ence)?|predict|evaluate)(_forward|_step)?|(eval|test)_forward|forward_(eval|infer(ence)?|test)"
)
_INPUTS = frozenset({"x", "x3", "x_c"})
_INPUT = next(param for param in FORWARD.params if param.name == "x")


@dataclass(frozen=True, slots=True)
class _Turn:
    """One thing that a layer is told; ``given`` is handed over, nothing where it is ``None``."""

    by: Literal["method", "attribute", "argument", "instead"]
    name: str
    given: bool | str | None = None

    def __str__(self) -> str:
        match self.by:
            case "method":
                return f".{self.name}({'' if self.given is None else repr(self.given)})"
            case "attribute":
                return f".{self.name} = {self.given!r}"
            case "argument":
                return f"{self.name}={self.given!r}"
            case _:
                return f".{self.name}(x)"


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode of a layer that is not the one in which it is made.

    Attributes:
        evaluates: Whether it is evaluation; else training.
    """

    evaluates: bool
    _there: _Turn
    _back: _Turn | None = None

    @property
    def name(self) -> str:
        """In a word."""
        return "evaluation" if self.evaluates else "training"

    @property
    def told(self) -> str:
        """How the layer is told, as a submission would write it."""
        return str(self._there)

    @property
    def returns(self) -> bool:
        """Whether there is a way back."""
        return self._there.by in ("argument", "instead") or self._back is not None

    @property
    def by_methods(self) -> bool:
        """Whether methods of the layer turn it, which may do more than to set a flag."""
        return self._there.by == "method"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the methods and attributes that are called and set."""
        return tuple(turn.name for turn in (self._there, self._back) if turn is not None)

    def turn(self, layer: Layer, run: Run) -> Layer:
        """Have the object of a run work in this mode.

        Returns:
            The layer as it is called in it.

        Raises:
            Fault: It raised, hung or died, or has no such attribute.
        """
        return _turned(layer, run, self._there)

    def turn_back(self, layer: Layer, run: Run) -> None:
        """Have it work as before.

        Raises:
            Fault: As :meth:`turn`.
        """
        if self._back is not None:
            _turned(layer, run, self._back)


def modes(layer: Layer, run: Run) -> list[Mode]:
    """Modes that a layer has besides the one in which it has just been called."""
    owner = layer.binding.name.rpartition(".")[0] if run.returned.instance is not None else ""
    known = [item for item in callables(layer.bench.bindings.loaded) if item.file == layer.binding.file]
    words = _words(layer.bench)
    found: list[Mode] = []
    if owner:
        own = [item for item in known if item.name.rpartition(".")[0] == owner]
        found += _by_methods(own, words)
        if not found:
            found += _by_attributes(layer, run, words)
        found += [
            Mode(True, _Turn("instead", _method(item)))
            for item in own
            if item.name != layer.binding.name and _INSTEAD.fullmatch(_method(item)) and _takes_input(item)
        ]
    return found + list(_by_arguments(layer, known, words))


def _turned(layer: Layer, run: Run, turn: _Turn) -> Layer:
    if turn.by == "argument":
        told = Argument("", keyword=turn.name, literal=turn.given)
        return layer.called(replace(layer.binding, args=(*layer.binding.args, told)))
    if turn.by == "instead":
        owner = layer.binding.name.rpartition(".")[0]
        args = tuple(argument for argument in layer.binding.args if argument.source in _INPUTS)
        return layer.called(replace(layer.binding, name=f"{owner}.{turn.name}", args=args)).alone()
    instance, worker = run.returned.instance, run.returned.worker
    if instance is None:
        raise BadResult("gives no object that can be told a mode")
    if turn.by == "attribute":
        worker.set(instance, turn.name, turn.given)
    else:
        given = () if turn.given is None else (turn.given,)
        worker.call(instance, given, method=turn.name, budget=layer.bench.left)
    return layer


def _by_methods(own: list[Routine], words: tuple[str, str]) -> Iterator[Mode]:
    """By ``eval()`` and ``train()``, else by one method that is told which."""
    plain = {_method(item) for item in own if all("default" in param for param in item.params)}
    there = next((name for name in sorted(plain) if _THERE.fullmatch(name)), None)
    back = next((name for name in sorted(plain) if _BACK.fullmatch(name)), None)
    if there is not None:
        yield Mode(True, _Turn("method", there), None if back is None else _Turn("method", back))
        return
    for item in own:
        if not (_TELLS.fullmatch(_method(item)) and item.params and _TOLD.fullmatch(item.params[0]["name"])):
            continue
        if any("default" not in param for param in item.params[1:]):
            continue
        worded = bool(words[1]) and bool(_NAMED.fullmatch(_method(item).removeprefix("set_")))
        train, evaluate = words if worded else (True, False)
        yield Mode(True, _Turn("method", _method(item), evaluate), _Turn("method", _method(item), train))


def _by_attributes(layer: Layer, run: Run, words: tuple[str, str]) -> Iterator[Mode]:
    """By flags and words that the methods of its class, or of a base, read off the layer."""
    instance, worker = run.returned.instance, run.returned.worker
    assert instance is not None
    for name in _read(layer.bench, layer.binding.file, layer.binding.name.rpartition(".")[0]):
        try:
            held = worker.describe(instance.part(("a", name))).get("value")
        except Fault:
            continue
        if (mode := _flipped("attribute", name, held, words)) is not None:
            yield replace(mode, _back=_Turn("attribute", name, held))


def _by_arguments(layer: Layer, known: list[Routine], words: tuple[str, str]) -> Iterator[Mode]:
    """By parameters of its forward that have a default and were not handed over."""
    for item in known:
        if item.name != layer.binding.name:
            continue
        for param in item.params[len([a for a in layer.binding.args if not a.keyword]) :]:
            told = any(argument.keyword == param["name"] for argument in layer.binding.args)
            if told:
                continue
            if (mode := _flipped("argument", param["name"], param.get("default"), words)) is not None:
                yield mode


def _flipped(
    by: Literal["attribute", "argument"], name: str, now: Any, words: tuple[str, str]
) -> Mode | None:
    """The other mode than the one that a flag or a word says."""
    if isinstance(now, bool):
        if _TRAINS.fullmatch(name):
            return Mode(now, _Turn(by, name, not now))
        return Mode(not now, _Turn(by, name, not now)) if _EVALUATES.fullmatch(name) else None
    if isinstance(now, str) and _NAMED.fullmatch(name):
        trains = now.lower() in _TRAIN_WORDS
        if trains or now.lower() in _EVAL_WORDS:
            return Mode(
                trains, _Turn(by, name, (words[1] or _EVAL_WORDS[0]) if trains else words[0] or "train")
            )
    return None


def _takes_input(item: Routine) -> bool:
    needed = [param for param in item.params if "default" not in param]
    return len(needed) == 1 and needed[0] == item.params[0] and _INPUT.means(needed[0]["name"])


def _method(item: Routine) -> str:
    return item.name.rpartition(".")[2]


def _trees(bench: Bench) -> Iterator[tuple[str, ast.Module]]:
    for file in python_files(bench.submission):
        if not is_test_file(file):
            try:
                yield file, parsed(bench.submission.read_bytes(file))
            except SyntaxError:
                continue


def _words(bench: Bench) -> tuple[str, str]:
    """The words for training and evaluation that the source compares with; empty where there are none."""
    said = {
        each.value
        for _file, tree in _trees(bench)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for part in (node.left, *node.comparators)
        for each in ast.walk(part)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }
    train = next((word for word in sorted(said) if word.lower() in _TRAIN_WORDS), "")
    evaluate = next((word for word in sorted(said) if word.lower() in _EVAL_WORDS), "")
    return train or (evaluate and "train"), evaluate or (train and "eval")


def _read(bench: Bench, file: str, owner: str) -> list[str]:
    """Names of attributes that say a mode, and that the class or one of its bases reads."""
    classes: Iterator[Mapping[str, Any]] = (
        each for each in bench.load(file).get("classes", ()) if each["name"] == owner
    )
    wanted = {owner.rpartition(".")[2], *(base for each in classes for base in each.get("bases", ()))}
    found: dict[str, None] = {}
    for _file, tree in _trees(bench):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in wanted:
                found |= dict.fromkeys(
                    each.attr
                    for each in ast.walk(node)
                    if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)
                )
    patterns = (_TRAINS, _EVALUATES, _NAMED)
    return [name for name in found if any(pattern.fullmatch(name) for pattern in patterns)]
