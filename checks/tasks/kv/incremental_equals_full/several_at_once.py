"""A call that counts the tokens that come in, and breaks, or stores them wrongly, where there are several.

What takes one token at a time, and was never meant for more, may do as it likes with several. But where its
code counts the tokens of what came in, and the statement that raises stores as many as it has counted,
several are what it was written for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sources import parsed, statements
from judge_tui.checks.submission import Submission
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.limits import float32_limit
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.draws import cut, drawn
from judge_tui.checks.tasks.kv.words.masks import functions_of
from judge_tui.checks.tasks.kv.words.reference import attention, plain
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge_several", "tells_how_many"]

#: How many go in at once; fewer than any block or window that a cache may have.
_TOKENS = 3


def judge_several(subject: Subject, found: Findings, said: Sentences) -> None:
    """Hand several tokens to what takes one: nothing shows that it may, unless it counts them itself."""
    one, many = ("step", "step_many") if subject.mode == "fused" else ("append", "append_many")
    binding = subject.bound.get(one)
    quantity, why = "prompt of several tokens", "nothing takes several tokens at once"
    if binding is None or "N" not in binding.layout or not _same(subject.bound.get(many), binding):
        found.note(quantity, "fed one by one", note=why)
        return
    wider = replace(subject, bound={**subject.bound, many: replace(binding, role=many)})
    try:
        _hold_stored(wider, found, said, binding)
    except Raised as fault:
        submission = subject.bench.submission
        if refusal(submission, fault) or not _stores_several(submission, fault, binding):
            found.note(quantity, "fed one by one", note=why)
            return
        found.claim(
            f"{quantity} at once is stored", False, measured=fault.message, file=fault.file, line=fault.line,
            limit=f"{_TOKENS} tokens, as many as it counts", note="there is room for them",
        )  # fmt: skip
        said.append(f"{_TOKENS} tokens at once, which it counts by their shape: {fault.placed}")
    except (BadResult, Skipped):
        found.note(quantity, "fed one by one", note=why)


def _same(many: Binding | None, one: Binding) -> bool:
    return many is None or many.target == one.target


def _hold_stored(subject: Subject, found: Findings, said: Sentences, binding: Binding) -> None:
    """Store several tokens by a process of its own; a step behind them shows them.

    Raises:
        Raised: Several tokens cannot be stored.
        Fault: Something else goes wrong.
    """
    sizes = subject.sizes(2, 8 * _TOKENS)
    q, k, v = stream = drawn(subject.bench.rng("several"), sizes, _TOKENS + 1)
    with subject.bench.fresh() as worker:
        cached = subject.cached(sizes, worker)
        cached.goes, mode = None, cached.mode
        if mode != "fused":
            cached.mode = "read"
        cached.feed(*cut(stream, 0, _TOKENS))
        cached.mode = mode
        if mode == "attend" and tells_how_many(subject.bound["attend"]):
            _hold_asked(subject, found, said, partial(cached.attend, q[:, :, :_TOKENS]))
        # A call that tells that a step is over may tell of one token alone.
        if mode != "attend" or set(TICKS) & set(subject.bound) or not _counts(subject, binding):
            return
        try:
            out = cached.feed(*cut(stream, _TOKENS, _TOKENS + 1))
        except Raised as fault:
            raise BadResult(fault.message) from fault
    last = q[:, :, -1:]
    truth = attention(last, k, v)
    limit = float32_limit(subject, relative_error(plain(last, k, v), truth))
    quantity = (
        f"a step behind {_TOKENS} tokens that were stored at once, largest relative error per row, float32"
    )
    error = relative_error(out, truth)
    if not found.limit(quantity, error, limit, **subject.where("append")):
        said.append(f"a step behind {_TOKENS} tokens, which it counts, stored at once is off by {error:.2g}")


def tells_how_many(attend: Binding) -> bool:
    """Whether attention takes queries of all sequences behind each other, and how many each has."""
    return "P" in attend.layout and any(attend.takes(name) for name in ("lengths", "bounds"))


def _hold_asked(subject: Subject, found: Findings, said: Sentences, attend: Callable[[], object]) -> None:
    """Attention that is told how many queries each sequence has is meant for several of them."""
    try:
        attend()
    except Raised as fault:
        if refusal(subject.bench.submission, fault):
            return
        found.claim(
            f"{_TOKENS} queries of every sequence are answered", False, measured=fault.message,
            limit="an answer: it is told how many there are", file=fault.file, line=fault.line,
        )  # fmt: skip
        said.append(f"{_TOKENS} queries of every sequence: {fault.placed}")
    except BadResult:
        return


def _counts(subject: Subject, binding: Binding) -> bool:
    """Whether a callable's own text uses the number of tokens that come in."""
    functions = functions_of(subject.bench.submission, binding.file).get(binding.name.rpartition(".")[2], [])
    return any(_Counted.of(one, binding).named_in(one) for one in functions)


def _stores_several(submission: Submission, fault: Raised, binding: Binding) -> bool:
    """Whether the statement that raised names a number of tokens that was counted of what came in.

    Args:
        submission: What was called.
        fault: The exception that left it.
        binding: How it was called: its layout says which axis is that of tokens.
    """
    if not (fault.file and fault.line and fault.file in submission.files):
        return False
    try:
        tree = parsed(submission.read_bytes(fault.file))
    except SyntaxError:
        return False
    around = [
        one for one in statements(tree)
        if isinstance(one, ast.FunctionDef) and one.lineno <= fault.line <= (one.end_lineno or 0)
    ]  # fmt: skip
    if not around:
        return False
    function = max(around, key=lambda one: one.lineno)
    counted = _Counted.of(function, binding)
    return any(
        counted.named_in(one)
        for one in ast.walk(function)
        if isinstance(one, ast.Assign | ast.AugAssign | ast.Expr | ast.Return)
        and one.lineno <= fault.line <= (one.end_lineno or 0)
    )


class _Counted:
    """The names of a function that hold how many tokens came in, or a place that was counted with it.

    Args:
        function: It.
        axes: The axis of tokens, from the front and from the end.
    """

    def __init__(self, function: ast.FunctionDef, axes: tuple[int, int]) -> None:
        self._axes = axes
        self._params = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
        self._names: set[str] = set()
        before = -1
        while len(self._names) != before:
            before = len(self._names)
            for node in ast.walk(function):
                if isinstance(node, ast.Assign):
                    self._names |= {
                        name for target in node.targets for name in self._told(target, node.value)
                    }

    @classmethod
    def of(cls, function: ast.FunctionDef, binding: Binding) -> _Counted:
        """Of a function that is called as a binding says: its layout knows the axis of tokens."""
        axis = binding.layout.index("N")
        return cls(function, (axis, axis - len(binding.layout)))

    def named_in(self, node: ast.AST) -> bool:
        """Whether an expression or a statement holds such a number."""
        return any(self._is_count(one) for one in ast.walk(node))

    def _told(self, target: ast.expr, value: ast.expr) -> Iterator[str]:
        if isinstance(target, ast.Name):
            yield from [target.id] if self.named_in(value) else []
        if not isinstance(target, ast.Tuple):
            return
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                yield from self._told(one, other)
        elif self._is_shape(value):
            yield from (one.id for one in target.elts[self._axes[0] :][:1] if isinstance(one, ast.Name))

    def _is_count(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._names and isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Subscript):
            return self._is_shape(node.value) and _index(node.slice) in self._axes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            return 0 in self._axes and bool(node.args) and self._is_param(node.args[0])
        return False

    def _is_shape(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "shape" and self._is_param(node.value)

    def _is_param(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self._params


def _index(node: ast.expr) -> int | None:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        return None
    return found if isinstance(found, int) else None
