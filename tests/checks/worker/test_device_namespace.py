"""The device's namespace, held against NumPy, on a strict double of CuPy: nothing here runs on a GPU."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as real
import pytest

from judge_tui.checks.worker import arrays, namespace, places
from judge_tui.checks.worker.counters import Counters
from judge_tui.checks.worker.device import DeviceArrays
from judge_tui.checks.worker.refusals import RefusedError, refused

DOUBLES = Path(__file__).parents[1] / "doubles"


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(DOUBLES))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "strict_cupy"]:
        del sys.modules[name]


@pytest.fixture
def device() -> Iterator[DeviceArrays]:
    used = places.settle("strict_cupy")
    assert isinstance(used, DeviceArrays)
    yield used
    places.settle("numpy")


@pytest.fixture
def counters() -> Iterator[Counters]:
    made = Counters(arrays.hosted)
    yield made
    made.stop()


@pytest.fixture
def np(device: DeviceArrays, counters: Counters) -> Any:
    return device.namespace(counters)


#: Ordinary NumPy code that gives on the device what it gives on the host.
PORTABLE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "operators": lambda np, a, b: (a + 1) * a / 2 - a**2,
    "matmul": lambda np, a, b: a @ b.swapaxes(-1, -2),
    "einsum": lambda np, a, b: np.einsum("bhqd,bhkd->bhqk", a, b),
    "softmax": lambda np, a, b: np.exp(a - np.max(a, axis=-1, keepdims=True)),
    "where": lambda np, a, b: np.where(a > 0, a, -np.inf),
    "masks from numbers": lambda np, a, b: np.arange(4)[None, :] <= np.arange(5)[:, None],
    "in place": lambda np, a, b: in_place(np, a.copy(), b),
    "assignment": lambda np, a, b: assigned(np, a),
    "advanced indexing": lambda np, a, b: a[:, :, np.array([2, 0, 1])][..., np.arange(4) > 1],
    "add.at": lambda np, a, b: added_at(np),
    "maximum.at": lambda np, a, b: added_at(np, "maximum"),
    "out": lambda np, a, b: np.multiply(a, 2.0, out=np.empty_like(a)),
    "where argument": lambda np, a, b: np.divide(1.0, a, out=np.zeros(a.shape), where=a > 0),
    "where of one array": lambda np, a, b: np.log(np.abs(a), out=np.full(a.shape, -1.0), where=a > 0),
    "reductions by element-wise functions": lambda np, a, b: reduced(np, a),
    "reductions": lambda np, a, b: (a.mean(), a.sum(axis=(0, 1)), np.var(a, axis=-1), np.prod(a[0, 0])),
    "ufunc methods": lambda np, a, b: (np.add.reduce(a), np.maximum.reduce(a, axis=-1), np.add.accumulate(a)),
    "reductions of some lanes": lambda np, a, b: masked(np, a),
    "linalg": lambda np, a, b: (np.linalg.norm(a), np.linalg.inv(a[0, 0] @ a[0, 0].T)),
    "stacking": lambda np, a, b: np.concatenate([a, np.stack([a[0], a[1]])], axis=0),
    "lists of numbers": lambda np, a, b: np.array([float(v) for v in a[0, 0, 0]]),
    "arrays without axes in a list": lambda np, a, b: np.array([a[0, 0].sum(), a[0, 1].sum()]),
    "split": lambda np, a, b: np.split(a, 2),
    "types": lambda np, a, b: (a.astype(np.float32), np.zeros(3, dtype=np.int64), np.full((2,), -np.inf)),
    "constants and scalars": lambda np, a, b: (np.sqrt(16), np.float32(2) * a, np.pi, np.finfo(a.dtype).eps),
    "one element": lambda np, a, b: (float(a.sum()), int(a.argmax()), bool(a.any()), a.max().item()),
    "a test of one element": lambda np, a, b: 1 if a.max() > 0 and not np.all(a > 0) else 2,
    "errstate": lambda np, a, b: silenced(np, a),
    "sorting": lambda np, a, b: (np.sort(a, axis=0), np.argsort(a, axis=-1), np.unique(np.round(a))),
    "loops over rows": lambda np, a, b: sum(row.sum() for row in a[0, 0]),
    "triangles": lambda np, a, b: np.where(np.tril(np.ones((5, 5), dtype=bool)), 1.0, np.nan),
    "transposes": lambda np, a, b: a.transpose(0, 2, 1, 3).reshape(2, -1).T,
    "random numbers": lambda np, a, b: seeded(np),
    "the old random numbers": lambda np, a, b: old_seeded(np),
    "created": lambda np, a, b: (np.linspace(0, 1, 5), np.eye(3), np.ones_like(a), np.tri(3)),
    "copies": lambda np, a, b: (copy.deepcopy(a), a.copy(), np.copy(a)),
    "formats": lambda np, a, b: f"{a.max():.4f} {a.shape} {a.dtype}",
    "clip and pad": lambda np, a, b: (np.clip(a, -1, 1), np.pad(a[0, 0], ((0, 1), (0, 0)))),
    "python's own": lambda np, a, b: (abs(a), -a, len(a), max(float(v) for v in a[0, 0, 0]), divmod(7, 2)),
    "assertions": lambda np, a, b: np.testing.assert_allclose(a * 2, a + a, rtol=1e-12),
    "what the device has not, of numbers": lambda np, a, b: np.geomspace(1, 8, 4),
    "functions of elements, of numbers": lambda np, a, b: np.vectorize(lambda v: v + 1)([1, 2]),
}  # fmt: skip


def reduced(np: Any, a: Any) -> Any:
    return (
        [np.minimum.reduce(a, axis=(0, 1)), np.maximum.reduce(a, axis=None), np.multiply.reduce(a)],
        np.maximum.reduce(a, axis=-1, keepdims=True, initial=0.5, where=a < 2),
        [np.logical_and.reduce(a > 0, axis=1), np.logical_or.reduce(a > 1, axis=None)],
        np.add.reduce(a, axis=0, dtype=np.float32),
    )


def masked(np: Any, a: Any) -> Any:
    lanes = a > 0
    return (
        [getattr(np, name)(a, axis=-1, where=lanes) for name in ("sum", "prod", "mean")],
        np.max(a, axis=-1, keepdims=True, initial=-np.inf, where=lanes),
        [np.min(a, initial=0.0), np.sum(a, initial=5.0), np.amax(a, 0, initial=9.0)],
        [np.any(lanes, axis=0, where=a < 2), np.all(lanes, where=lanes)],
        np.max(np.zeros((3, 0)), axis=1, initial=-1.0),
    )


def in_place(np: Any, a: Any, b: Any) -> Any:
    a *= 2
    a += b[:, :, :5]
    a[a < 0] = 0
    a[0, 1] -= 1
    np.maximum(a, 0.5, out=a)
    return a


def assigned(np: Any, a: Any) -> Any:
    made = np.zeros((2, 3, 5, 4))
    made[:, :, ::2] = a[:, :, ::2]
    made[0, 0, 1, 2] = 5
    made[1, 2, -1] = np.array([1.0, 2, 3, 4])
    return made


def added_at(np: Any, name: str = "add") -> Any:
    made = np.zeros((4, 2))
    getattr(np, name).at(made, np.array([1, 1, 3]), np.ones((3, 2)))
    return made


def silenced(np: Any, a: Any) -> Any:
    with np.errstate(all="ignore", invalid="ignore"):
        return np.log(a) / 0.0


def seeded(np: Any) -> Any:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((4, 3)).astype(np.float32)
    rng.shuffle(rows)
    return rows, rng.integers(0, 9, 5), rng.choice(rows[:, 0], 2), isinstance(rng, np.random.Generator)


def old_seeded(np: Any) -> Any:
    np.random.seed(5)
    made = np.random.randn(3, 2), np.random.rand(), np.random.permutation(np.arange(4))
    return made, np.random.RandomState(1).normal(size=2)


def inputs() -> tuple[Any, Any]:
    rng = real.random.default_rng(0)
    return rng.standard_normal((2, 3, 5, 4)), rng.standard_normal((2, 3, 6, 4))


def flattened(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in flattened(item)]
    return [value]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("counting", [False, True])
@pytest.mark.parametrize("name", PORTABLE)
def test_portable_code_gives_on_the_device_what_it_gives_on_the_host(
    name: str, counting: bool, np: Any, device: DeviceArrays, counters: Counters
) -> None:
    a, b = inputs()
    expected = flattened(PORTABLE[name](real, a.copy(), b.copy()))
    given = [device.moved(value) for value in (a, b)]
    if counting:
        counters.start()
        given = [device.tracked(value, counters) for value in given]
    found = flattened(PORTABLE[name](np, *given))
    assert len(found) == len(expected)
    for one, other in zip(expected, found, strict=True):
        back = device.hosted(other)
        real.testing.assert_array_equal(back, one)
        if isinstance(one, real.ndarray):
            assert isinstance(other, np.ndarray), "an array stays on the device"
            assert (back.dtype, back.shape) == (one.dtype, one.shape)
    real.testing.assert_array_equal(device.hosted(given[0]), a)


#: What only NumPy can do, and what is told of it.
REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a function that CuPy lacks": (lambda np, a: np.insert(a, 0, 1.0), "np.insert"),
    "another": (lambda np, a: np.block([[a[0, 0]], [a[0, 1]]]), "np.block"),
    "of a module": (lambda np, a: np.linalg.multi_dot([a[0, 0], a[0, 0].T]), "np.linalg.multi_dot"),
    "a method that CuPy lacks": (lambda np, a: np.logaddexp.at(a, 0, 1.0), "np.logaddexp.at"),
    "a method of few functions": (lambda np, a: np.maximum.accumulate(a), "np.maximum.accumulate"),
    "a list for an array": (lambda np, a: np.sum([a[0], a[1]]), "np.sum (AttributeError: 'list' object"),
    "numbers among arrays": (lambda np, a: np.array([a.max(), 1.0]), "np.array (TypeError: Implicit conv"),
    "a list to join": (lambda np, a: np.concatenate([a[0, 0, 0], [1.0]]), "np.concatenate (TypeError: Only"),
    "a list to store": (lambda np, a: stored(a, [1.0, 2.0, 3.0, 4.0]), "TypeError: Unsupported type <class"),
    "a NumPy array to store": (lambda np, a: stored(a, real.ones(4)), "ValueError: non-scalar numpy.ndarray"),
    "a slice up to an array": (lambda np, a: a[: a.argmax()], "TypeError: slice.stop must be int"),
    "a function of elements": (lambda np, a: np.vectorize(float)(a), "np.vectorize"),
    "from Python": (lambda np, a: np.frompyfunc(abs, 1, 1)(a), "np.frompyfunc"),
    "raised errors": (lambda np, a: np.errstate(invalid="raise"), "np.errstate(invalid='raise')"),
    "raised errors for good": (lambda np, a: np.seterr(all="raise"), "np.seterr(all='raise')"),
    "a parameter that CuPy lacks": (lambda np, a: np.std(a, where=a > 0), "np.std (TypeError: std() got an"),
    "implicit conversion": (lambda np, a: real.asarray(a), "TypeError: Implicit conversion"),
    "real NumPy's functions": (lambda np, a: real.sort(a), "TypeError: no implementation found for 'sort'"),
    "mixing": (lambda np, a: a + real.ones(4), "TypeError: Unsupported type"),
    "a key": (lambda np, a: {a[0, 0, 0, 0]: 1}, "TypeError: unhashable type"),
    "an index of a list": (lambda np, a: [1, 2][a.argmax()], "TypeError: list indices must be integers"),
    "a slice": (lambda np, a: [1, 2][: a.argmax()], "TypeError: slice indices must be integers"),
    "a range": (lambda np, a: range(a.argmax()), "TypeError: 'ndarray' object cannot be interpreted"),
}  # fmt: skip


def stored(a: Any, value: Any) -> None:
    a[0, 0, 0] = value


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_device_cannot_do_is_refused_by_name(name: str, np: Any, device: DeviceArrays) -> None:
    ask, told = REFUSED[name]
    with pytest.raises((TypeError, AttributeError, NotImplementedError, ValueError)) as caught:
        ask(np, device.moved(inputs()[0]))
    assert refused(caught.value, "strict_cupy").startswith(told)


#: Wrong on the host as well: not to be taken for a refusal.
OWN_FAULTS: dict[str, Callable[[Any, Any], Any]] = {
    "shapes": lambda np, a: a + np.ones(3),
    "a missing argument": lambda np, a: np.clip(),
    "no such name": lambda np, a: np.no_such_name,
    "no such method": lambda np, a: a.no_such_method(),
    "a singular matrix": lambda np, a: np.reshape(a, (7, 7)),
    "raised by itself": lambda np, a: raised(TypeError("expected an array")),
    "its own words": lambda np, a: raised(NotImplementedError("to do")),
}


def raised(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("name", OWN_FAULTS)
def test_what_is_wrong_on_the_host_too_is_no_refusal(name: str, np: Any, device: DeviceArrays) -> None:
    with pytest.raises((TypeError, AttributeError, NotImplementedError, ValueError)) as caught:
        OWN_FAULTS[name](np, device.moved(inputs()[0]))
    assert refused(caught.value, "strict_cupy") == ""


def test_lists_are_stored_where_an_index_is_one(np: Any, device: DeviceArrays) -> None:
    a = device.moved(real.zeros(4))
    a[[0, 2]] = [1.0, 2.0]
    assert device.hosted(a).tolist() == [1, 0, 2, 0]


def test_an_element_is_a_view_that_changes_with_its_array(np: Any, device: DeviceArrays) -> None:
    """Unlike NumPy's, which is why other numbers than on the CPU are no fail."""
    a = device.moved(real.arange(4.0))
    one = a[1]
    a[1] = 7.0
    assert float(one) == 7.0


def test_code_that_provides_for_an_absence_goes_on(np: Any, device: DeviceArrays) -> None:
    a = device.moved(inputs()[0])
    try:
        made = np.insert(a, 0, 0.0, axis=0)
    except (TypeError, AttributeError):
        made = np.concatenate([np.zeros((1, *a.shape[1:])), a])
    assert made.shape == (3, 3, 5, 4)
    assert isinstance(RefusedError("np.x"), (AttributeError, TypeError))


def test_names_are_numpys_and_what_a_submission_sets_stays(np: Any) -> None:
    assert (np.__name__, np.float32, np.newaxis, np.pi) == ("numpy", real.float32, None, real.pi)
    assert set(dir(real)) <= set(dir(np))
    assert np.exp is np.exp
    with pytest.raises(AttributeError):
        _ = np.no_such_name
    mine = np.exp = lambda value: 7
    assert np.exp is mine


def test_counting_on_the_device_counts_what_it_counts_on_the_host(
    np: Any, device: DeviceArrays, counters: Counters
) -> None:
    def attend(np: Any, q: Any, k: Any, v: Any) -> Any:
        s = q @ k.T
        p = np.exp(s - s.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        out = np.zeros_like(v)
        out[...] = np.matmul(p, v)
        return out

    def counted(np: Any, given: list[Any], track: Callable[..., Any]) -> dict[str, Any]:
        counters.start()
        try:
            attend(np, *(track(value, counters) for value in given))
        finally:
            counts = counters.stop()
        return counts

    rng = real.random.default_rng(0)
    q, k, v = (rng.standard_normal((6, 4)) for _ in range(3))
    host = counted(namespace.build(counters), [q, k, v], namespace.tracked)
    there = counted(np, [device.moved(value) for value in (q, k, v)], device.tracked)
    names = ("products", "multiply_adds", "exp_elements", "exp_max_argument", "largest_allocation")
    assert {name: there[name] for name in names} == {name: host[name] for name in names}
    assert host["products"] == 2


def test_the_peak_of_the_pool_is_the_peak_of_a_call(np: Any, device: DeviceArrays) -> None:
    trace = device.trace()
    before = np.zeros(1000)
    trace.start()
    one = np.zeros((100, 128))
    two = one + 1
    del one
    three = two[:50] * 2
    peak = trace.stop()
    unit = 100 * 128 * 8
    assert (peak, trace.held) == (2 * unit, unit + unit // 2)
    del before, two, three


def test_an_error_that_stays_is_known_as_one(device: DeviceArrays) -> None:
    assert device.lost() == ""
    sys.modules["strict_cupy.cuda"].Sticky.said = "cudaErrorIllegalAddress: an illegal memory access"
    assert "cudaErrorIllegalAddress" in device.lost()


def test_a_span_is_timed_by_events(device: DeviceArrays) -> None:
    told: dict[str, Any] = {}
    with device.clocked(told):
        pass
    assert 0 <= told["device_seconds"] < 1


def test_the_double_has_what_the_installed_cupy_has() -> None:
    pytest.importorskip("cupy")
    sys.path.insert(0, str(DOUBLES))
    from list_names import listed
    from strict_cupy.names import NAMES

    installed = listed()
    if installed["cupy"] != NAMES["cupy"]:
        pytest.skip(f"names.json lists CuPy {NAMES['cupy']}, {installed['cupy']} is installed")
    assert installed == NAMES


def test_what_is_built_of_the_installed_cupy_needs_no_device() -> None:
    """Subclass, hook and names are made before there is a context: what is wrong in them shows here."""
    cupy = pytest.importorskip("cupy")
    from judge_tui.checks.worker import device, device_counts, device_namespace

    class Traffic:
        ndarray = cupy.ndarray
        holds = staticmethod(lambda value: False)
        entered = moved = hosted = staticmethod(lambda value: value)
        left = staticmethod(lambda name, operands, result, kwargs: result)

    kind = device_counts.counted_type(cupy)
    assert issubclass(kind._counted, cupy.ndarray)
    np = device_namespace.build(cupy, Traffic())
    assert all(hasattr(np, name) for name in dir(real))
    assert isinstance(np.sqrt(16), real.float64)
    assert device.PoolTrace(cupy).held == 0
