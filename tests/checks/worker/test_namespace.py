"""The counting namespace is NumPy to whoever uses it, and counts what is asked of it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as real
import pytest

from judge_tui.checks.worker.namespace import Counters, build, tracked
from judge_tui.checks.worker.products import einsum_multiply_adds

SOURCE = """
from numpy import asarray, exp, matmul
import numpy.linalg as la

def attend(q, k, v):
    q = asarray(q)
    s = matmul(q, k.T)
    p = exp(s - s.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    out = np.zeros_like(v)
    out[...] = p @ v
    return out
"""


@pytest.fixture
def counters() -> Iterator[Counters]:
    made = Counters(real.asarray)
    yield made
    made.stop()


@pytest.fixture
def np(counters: Counters) -> types.ModuleType:
    return build(counters)


def counted(counters: Counters, function: Callable[..., Any], *args: Any) -> tuple[Any, dict[str, Any]]:
    counters.start()
    try:
        result = function(*(tracked(value, counters) for value in args))
    finally:
        counts = counters.stop()
    return result, counts


def test_outside_a_counted_call_every_name_is_numpys_own(np: types.ModuleType, counters: Counters) -> None:
    assert all(getattr(np, name) is getattr(real, name) for name in real.__all__)
    counted(counters, real.sum, real.ones(3))
    assert np.exp is real.exp
    assert (np.random is real.random, np.linalg.norm is real.linalg.norm) == (True, True)
    assert (np.__name__, np.__version__) == ("numpy", real.__version__)
    assert isinstance(np.ones(2), np.ndarray)
    assert set(dir(real)) <= set(dir(np))
    with pytest.raises(AttributeError):
        _ = np.no_such_name


def test_what_a_submission_sets_stays_its_own(np: types.ModuleType, counters: Counters) -> None:
    mine = np.dot = lambda a, b: 7
    _, _ = counted(counters, lambda: np.dot(1, 2))
    assert np.dot is mine
    assert real.dot is not mine


OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "matmul": lambda np, a, b: a @ b.swapaxes(-1, -2),
    "in place": lambda np, a, b: _in_place(a.copy(), b),
    "where and exp": lambda np, a, b: np.exp(np.where(a > 0, a, -np.inf) - a.max(-1, keepdims=True)),
    "einsum": lambda np, a, b: np.einsum("bhqd,bhkd->bhqk", a, b, optimize=True),
    "einsum by lists": lambda np, a, b: np.einsum(a, [0, 1, 2, 3], b, [0, 1, 4, 3], [0, 1, 2, 4]),
    "tensordot": lambda np, a, b: np.tensordot(a, b, axes=([3], [3])),
    "inner": lambda np, a, b: np.inner(a[0, 0], b[0, 0]),
    "dot method": lambda np, a, b: np.ascontiguousarray(a[0, 0], np.float32).dot(np.ones((4, 2), np.float32)),
    "reductions": lambda np, a, b: (a.mean(), a.std(axis=0), a.var(), a.sum(), np.median(a), a.argmax()),
    "out": lambda np, a, b: np.multiply(a, 2.0, out=np.empty_like(a)),
    "where argument": lambda np, a, b: np.divide(a, a, out=np.zeros(a.shape), where=a > 0),
    "split": lambda np, a, b: np.split(a, 2),
    "stack": lambda np, a, b: np.concatenate([a, np.stack([a[0], a[1]])]),
    "ufunc methods": lambda np, a, b: (
        np.add.reduce(a),
        np.maximum.accumulate(a),
        np.add.outer(a[0, 0], [1.0]),
    ),
    "assignment": lambda np, a, b: _assigned(np, a),
    "linear algebra": lambda np, a, b: (np.linalg.norm(a), np.linalg.inv(a[0, 0, :, :] @ a[0, 0].T)),
    "apply": lambda np, a, b: np.apply_along_axis(lambda row: row / row.sum(), -1, a),
    "scalars": lambda np, a, b: (np.exp(3.0), np.float32(2), a[0, 0, 0, 0] * 2, float(a[0, 0, 1, 1])),
    "integers and masks": lambda np, a, b: (np.arange(4)[None] <= np.arange(5)[:, None], (a > 0) & (a < 1)),
    "sorting": lambda np, a, b: (np.sort(a, axis=0), np.argsort(a, axis=-1), np.unique(np.round(a))),
    "errstate": lambda np, a, b: _silenced(np, a),
}


def _in_place(a: Any, b: Any) -> Any:
    a *= 2
    a += b[:, :, :4]
    a[a < 0] = 0
    return a


def _assigned(np: Any, a: Any) -> Any:
    made = np.zeros((2, 3, 4, 4))
    made[:, :, ::2] = a[:, :, :2]
    made[0, 0, 1, 2] = 5
    return made


def _silenced(np: Any, a: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.log(a) / 0.0


def flattened(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in flattened(item)]
    return [value]


@pytest.mark.parametrize("name", OPERATIONS)
def test_counting_changes_no_bit_no_shape_and_no_type(
    name: str, np: types.ModuleType, counters: Counters
) -> None:
    rng = real.random.default_rng(0)
    a, b = rng.standard_normal((2, 3, 4, 4)), rng.standard_normal((2, 3, 6, 4))
    plain = flattened(OPERATIONS[name](real, a.copy(), b.copy()))
    result, _counts = counted(counters, lambda x, y: OPERATIONS[name](np, x, y), a.copy(), b.copy())
    for one, other in zip(plain, flattened(result), strict=True):
        assert real.asarray(one).tobytes() == real.asarray(other).tobytes()
        assert (real.shape(one), real.asarray(one).dtype) == (real.shape(other), real.asarray(other).dtype)
        assert isinstance(other, type(one))
        if isinstance(one, real.ndarray):
            assert one.strides == other.strides


@pytest.mark.parametrize(
    ("operation", "multiply_adds"),
    [
        (lambda np, a, b: a @ b.T, 5 * 7 * 3),
        (lambda np, a, b: np.matmul(a, b.T), 5 * 7 * 3),
        (lambda np, a, b: np.dot(a, b.T), 5 * 7 * 3),
        (lambda np, a, b: a.dot(b.T), 5 * 7 * 3),
        (lambda np, a, b: np.inner(a, b), 5 * 7 * 3),
        (lambda np, a, b: np.einsum("id,jd->ij", a, b), 5 * 7 * 3),
        (lambda np, a, b: np.einsum("id, jd", a, b, optimize=True), 5 * 7 * 3),
        (lambda np, a, b: np.einsum("...d,d->...", a, b[0]), 5 * 3),
        (lambda np, a, b: np.tensordot(a, b, axes=(1, 1)), 5 * 7 * 3),
        (lambda np, a, b: np.asarray(a) @ np.ascontiguousarray(b.T), 5 * 7 * 3),
        (lambda np, a, b: np.array(a, dtype=np.float32) @ np.ones((3, 2), np.float32), 5 * 3 * 2),
        (lambda np, a, b: np.zeros((4, 5)) @ np.ones((5, 6)), 4 * 5 * 6),
        (lambda np, a, b: a[0] @ b[0], 3),
        (lambda np, a, b: np.einsum("ij->ji", a), 0),
        (lambda np, a, b: a * 2 + 1, 0),
    ],
)
def test_multiply_adds_are_those_of_the_product(
    operation: Callable[..., Any], multiply_adds: int, np: types.ModuleType, counters: Counters
) -> None:
    a, b = real.ones((5, 3)), real.ones((7, 3))
    _, counts = counted(counters, lambda x, y: operation(np, x, y), a, b)
    assert counts["multiply_adds"] == multiply_adds
    assert counts["products"] == (1 if multiply_adds else 0)


def test_an_ellipsis_that_broadcasts_counts_its_product() -> None:
    a, b = real.ones((2, 1, 4, 3)), real.ones((5, 6, 3))
    assert einsum_multiply_adds(["...qd,...kd->...qk", a, b]) == 2 * 5 * 4 * 6 * 3


def test_the_largest_argument_of_exp_counts_evaluated_lanes_only(
    np: types.ModuleType, counters: Counters
) -> None:
    x = real.array([-1.0, 2.0, 5.0, real.nan, -real.inf])
    _, counts = counted(counters, np.exp, x)
    assert (counts["exp_max_argument"], counts["exp_elements"]) == (5.0, 5)
    _, counts = counted(counters, lambda v: np.exp(v, out=np.zeros(5), where=v < 3), x)
    assert (counts["exp_max_argument"], counts["exp_elements"]) == (2.0, 3)
    _, counts = counted(counters, np.exp2, real.array([10.0]))
    assert counts["exp_max_argument"] == pytest.approx(10 * real.log(2))
    _, counts = counted(counters, lambda: np.exp(4.0))
    assert counts["exp_max_argument"] == 4.0
    assert counted(counters, lambda: None)[1]["exp_max_argument"] is None


def test_invalid_events_are_counted_unless_the_submission_silences_them(
    np: types.ModuleType, counters: Counters
) -> None:
    x = real.array([-real.inf, 1.0])

    def loud(value: Any) -> Any:
        with pytest.warns(RuntimeWarning, match="invalid"):
            return value - value

    def silenced(value: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return value - value

    assert counted(counters, loud, x)[1]["invalid_events"] == 1
    assert counted(counters, silenced, x)[1]["invalid_events"] == 0
    with real.errstate(invalid="raise"):
        counters.start()
        with pytest.raises(FloatingPointError):
            np.subtract(x, x)
        assert counters.stop()["invalid_events"] == 0
    assert real.geterr()["invalid"] == "warn"


def test_allocations_tell_the_largest_new_array(np: types.ModuleType, counters: Counters) -> None:
    _, counts = counted(counters, lambda x: (x.T, np.zeros((100, 100)), x + 1), real.ones((3, 3)))
    assert (counts["allocations"], counts["largest_allocation"]) == (2, 80_000)


def test_from_imports_of_a_submission_count_and_are_put_back(
    np: types.ModuleType, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, module = types.ModuleType("submission"), types.ModuleType("submission.code")
    package.__path__ = ["/somewhere"]
    monkeypatch.setitem(sys.modules, "submission", package)
    monkeypatch.setitem(sys.modules, "submission.code", module)
    module.__dict__["np"] = np
    exec(compile(SOURCE, "/somewhere/code.py", "exec"), module.__dict__)
    a = real.random.default_rng(1).standard_normal((6, 4))
    plain = module.attend(a, a, a)
    result, counts = counted(counters, module.attend, a, a, a)
    assert plain.tobytes() == real.asarray(result).tobytes()
    assert (counts["products"], counts["multiply_adds"], counts["exp_elements"]) == (2, 2 * 6 * 6 * 4, 36)
    assert counts["exp_at"] == ["code.py", 8]
    assert counts["work"] == [["code.py", 7, 144], ["code.py", 11, 144]]
    assert module.exp is real.exp
    assert module.asarray is real.asarray


def test_asarray_gives_its_argument_back_while_counting(np: types.ModuleType, counters: Counters) -> None:
    def same(x: Any) -> bool:
        return np.asarray(x) is x and np.asanyarray(x) is x and np.asarray(x, np.float32) is not x

    assert counted(counters, same, real.ones(3))[0]


def test_results_of_a_counted_call_compute_plainly_afterwards(
    np: types.ModuleType, counters: Counters
) -> None:
    result, _ = counted(counters, lambda x: x + 1, real.ones(3))
    assert type(result + result) is real.ndarray
    assert type(np.exp(result)) is real.ndarray
    assert tracked("text", counters) == "text"
    assert type(tracked(real.array(["a"]), counters)) is real.ndarray
