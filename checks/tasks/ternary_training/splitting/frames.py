"""Where names stand while a source is followed: modules, frames of functions, and what is shared by all."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from judge_tui.checks.tasks.ternary_training.splitting.randomness import Generator
from judge_tui.checks.tasks.ternary_training.splitting.rows import Key, Place, Rows, Step, Value

__all__ = ["Frame", "Function", "Module", "Reading", "Unfollowed"]

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Expressions that are looked at in one submission.
_MOST = 8_000


class Unfollowed(Exception):
    """The source is too long to follow."""


@dataclass(eq=False, slots=True)
class Module:
    """A file of a submission.

    Attributes:
        file: Its name.
        tree: What it parses to.
        imports: Name → the dotted path that it was imported from.
        shared: Names of it that a function may bind anew.
        frame: What stands in it once it was followed.
    """

    file: str
    tree: ast.Module
    imports: dict[str, str]
    shared: set[str]
    frame: Frame | None = None
    _functions: dict[str, Function] | None = None

    def functions(self) -> dict[str, Function]:
        """Its functions by name, without those of its classes."""
        if self._functions is None:
            self._functions = {node.name: node for node in self.tree.body if isinstance(node, Function)}
        return self._functions


@dataclass(eq=False, slots=True)
class Frame:
    """Names of a module, of a class's ``self`` (``self.x``) or of a call.

    Attributes:
        module: Where its code stands.
        names: What they hold.
        outer: Where a name is looked up that is not here.
        function: What was called.
        learned: Names of what a step of training was made on.
        results: What functions returned that are named after a split: name, value.
        returned: What its return statements give.
        ended: Whether the statements so far have left it.
        depth: Of branches of which it is not known whether they are taken.
    """

    module: Module
    names: dict[str, Value] = field(default_factory=dict)
    outer: Frame | None = None
    function: Function | None = None
    learned: set[str] = field(default_factory=set)
    results: list[tuple[str, Value]] = field(default_factory=list)
    returned: list[Value] = field(default_factory=list)
    ended: bool = False
    depth: int = 0

    @property
    def body(self) -> Sequence[ast.stmt]:
        """The statements that it is of."""
        return self.function.body if self.function else self.module.tree.body

    @property
    def is_of_self(self) -> bool:
        """Whether it holds what a class's ``self`` holds."""
        return self.function is None and self.outer is not None

    def chain(self) -> Iterator[Frame]:
        """This one and all outside of it."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer


@dataclass(eq=False, slots=True)
class Reading:
    """What is shared while the sources of a submission are followed.

    Attributes:
        modules: By the name that they are imported by.
        frames: All that are open, innermost last.
        generators: Of modules, and those of which it is not known how they were made.
        named: The name under which a whole was bound first.
        run: Follows statements in the innermost frame.
        told: Called when the names of the innermost frame may be compared, with the 1-based line behind which
            none of them may be bound again; 0 where that does not matter.
        known: What was found of functions by going through them: what is asked, and of which.
        kept: What functions returned that keep it, by what they were given.
        left: How many more expressions are looked at.
    """

    modules: dict[str, Module]
    run: Callable[[Reading, Sequence[ast.stmt]], None]
    told: Callable[[Reading, int], None]
    frames: list[Frame] = field(default_factory=list)
    generators: dict[Key, Generator] = field(default_factory=dict)
    named: dict[Key, str] = field(default_factory=dict)
    memories: dict[Key, int] = field(default_factory=dict)
    known: dict[tuple[str, int], bool] = field(default_factory=dict)
    kept: dict[Key, Value] = field(default_factory=dict)
    left: int = _MOST
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def frame(self) -> Frame:
        """The innermost one."""
        return self.frames[-1]

    def place(self, node: ast.AST) -> Place:
        """Where a node of the innermost frame stands."""
        return Place(self.frame.module.file, getattr(node, "lineno", 1))

    def spend(self) -> None:
        """Count an expression.

        Raises:
            Unfollowed: They were too many.
        """
        self.left -= 1
        if self.left < 0:
            raise Unfollowed

    def found(self, name: str) -> Value:
        """What a name holds; ``None`` where it was not bound."""
        return next((frame.names[name] for frame in self.frame.chain() if name in frame.names), None)

    def found_outside(self, name: str) -> Value:
        """What a name holds outside of the innermost frame."""
        return next(
            (frame.names[name] for frame in list(self.frame.chain())[1:] if name in frame.names), None
        )

    def bind(self, name: str, value: Value) -> None:
        """Bind a name."""
        frame = self.frame
        if name.startswith("self."):
            frame = next((each for each in frame.chain() if each.is_of_self), frame)
        if frame.outer is None and name in frame.module.shared:
            value = self.fresh()
        frame.names[name] = value
        self.frame.learned.discard(name)
        if isinstance(value, Rows) and not value.steps:
            self.named.setdefault(value.of, name)

    def asked(self, question: Callable[[ast.AST], bool], node: ast.AST) -> bool:
        """The answer to a question about a part of the source, which is asked once."""
        key = (question.__name__, id(node))
        if key not in self.known:
            self.known[key] = question(node)
        return self.known[key]

    def memory(self, key: Key = None) -> int:
        """A number for new memory, or the one of a key."""
        return next(self.numbers) if key is None else self.memories.setdefault(key, next(self.numbers))

    def forget(self, name: str) -> None:
        """Know nothing of a name any more."""
        for frame in self.frame.chain():
            if name in frame.names:
                frame.names[name] = self.fresh()
                return

    def fresh(self) -> Rows:
        """A whole of which nothing is known."""
        number = next(self.numbers)
        return Rows(("once", number), memory=number)

    def reordered(self, value: Rows, step: Step, *, copies: bool) -> None:
        """Put a sequence into another order in place, with all that shares its memory.

        Args:
            value: The sequence.
            step: What is done.
            copies: Whether slices of it are taken to be copies where that is not known.
        """
        end = len(value.steps)
        if value.listed is None and copies:
            step = replace(step, sure=False)
        for frame in self.frames_of_all():
            for name, other in frame.names.items():
                if not isinstance(other, Rows) or (other.of, other.memory) != (value.of, value.memory):
                    continue
                if other.steps[:end] != value.steps or (
                    len(other.steps) > end and copies and value.listed is not False
                ):
                    continue
                moved = replace(other, steps=(*value.steps, step, *other.steps[end:]))
                unsure = frame is not self.frame and self.frame.depth
                frame.names[name] = self.fresh() if unsure else moved

    def frames_of_all(self) -> Sequence[Frame]:
        """Every frame that is open, and those outside of them, once each."""
        return list(dict.fromkeys(outer for frame in self.frames for outer in frame.chain()))
