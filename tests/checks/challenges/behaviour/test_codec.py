"""Values cross exactly, and no bytes give anything but a value or ``MalformedError``."""

from __future__ import annotations

import collections
import contextlib
import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.worker.border.codec import Encoder, MalformedError, Record, TooMuchError, decode, packed
from judge_tui.checks.worker.border.records import made

_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary() | st.fractions()
    | st.complex_numbers(allow_nan=False) | st.text(st.characters(codec=None)) | st.decimals(allow_nan=False)
    | st.datetimes() | st.timedeltas() | st.uuids() | st.builds(range, st.integers(-9, 9), st.integers(-9, 9))
)  # fmt: skip
_HASHABLE = st.recursive(
    _SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5
)
VALUES = st.recursive(
    _HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.sets(_HASHABLE, max_size=3)
        | st.dictionaries(_HASHABLE, inner, max_size=3)
        | st.lists(inner, max_size=3).map(collections.deque)
        | st.binary().map(bytearray)
    ),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are of the same classes, all through, and equal."""
    if type(one) is not type(other) or one != other:
        return False
    if isinstance(one, (list, tuple, collections.deque)):
        return all(map(same, one, other))
    return not isinstance(one, dict) or all(map(same, one.values(), other.values()))


@given(VALUES)
def test_a_value_comes_back_as_what_it_was(value: Any) -> None:
    assert same(decode(Encoder().encode(value)), value)
    assert same(decode(Encoder(whole=[]).encode(value), whole=[]), value)


@given(VALUES, st.data())
def test_bytes_that_were_changed_are_a_value_or_malformed(value: Any, data: st.DataObject) -> None:
    written = bytearray(Encoder().encode(value))
    for _ in range(data.draw(st.integers(1, 4))):
        written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(MalformedError):
        decode(bytes(written), record=made, other=lambda told: told, whole=[])


@given(st.binary())
def test_any_bytes_are_a_value_or_malformed(data: bytes) -> None:
    with contextlib.suppress(MalformedError):
        decode(data, record=made, whole=[])


def test_arrays_keep_shape_and_dtype() -> None:
    for value in (
        np.arange(6.0).reshape(2, 3)[:, ::2],
        np.zeros((0, 3), "f2"),
        np.array(["a", "bc"]),
        np.array(5),
    ):
        got = decode(Encoder().encode(value))
        assert got.dtype == value.dtype
        assert got.shape == value.shape
        assert (got == value).all()


def test_one_list_that_stands_twice_is_one_list() -> None:
    inner = [1]
    whole: list[Any] = []
    got = decode(Encoder(whole=[]).encode((inner, {"a": inner})), whole=whole)
    assert got[0] is got[1]["a"]
    assert got[0] is whole[0]


def test_what_is_below_a_listed_class_crosses_as_that_and_is_noted() -> None:
    class Loud(int):
        def __pos__(self) -> int:
            return 99

    encoder = Encoder()
    assert decode(encoder.encode([Loud(3), collections.Counter("aab")])) == [3, {"a": 2, "b": 1}]
    assert encoder.reduced == {"Loud", "Counter"}


def test_views_of_a_dict_keep_their_order_and_are_views() -> None:
    held = collections.OrderedDict(b=1, a=2)
    keys, items = decode(Encoder().encode((held.keys(), held.items())))
    assert list(keys) == ["b", "a"]
    assert keys == {"a", "b"}
    assert list(items) == [("b", 1), ("a", 2)]


def test_what_holds_itself_is_too_much() -> None:
    held: list[Any] = []
    held.append(held)
    with pytest.raises(TooMuchError, match="holds itself"):
        Encoder(whole=[]).encode(held)


@pytest.mark.parametrize(
    "tree",
    [["F", 1, 0], ["a", "S0", [10**15], b""], ["D", "x"], ["da", "x"], ["k", 3], ["k", -1], ["r"], ["zz"]],
)
def test_a_tag_with_what_does_not_fit_it_is_malformed(tree: Any) -> None:
    import msgspec

    with pytest.raises(MalformedError):
        decode(msgspec.msgpack.encode(tree), whole=[[]])


def test_numbers_that_were_chosen_to_have_one_hash_are_refused() -> None:
    chosen = [number * (2**61 - 1) for number in range(1, 15_000)]
    data = Encoder().encode(chosen).replace(b"\xa1l", b"\xa1s", 1)
    with pytest.raises(MalformedError, match="one hash"):
        decode(data)


def test_what_a_value_says_of_its_own_class_is_not_asked() -> None:
    class Poses:
        __class__ = int  # type: ignore[assignment]

    with pytest.raises(TypeError, match="Poses does not cross"):
        Encoder().encode(Poses())


def test_exact_classes() -> None:
    for value in (Decimal("1.50"), Fraction(1, 3), datetime.date(2020, 2, 29), 2**100, "\ud800", b"", -0.0):
        assert repr(decode(Encoder().encode(value))) == repr(value)


@pytest.mark.parametrize("kind", ["nt", "dc"])
def test_a_record_is_written_as_what_it_stands_for(kind: str) -> None:
    record = decode(Encoder().encode(Record(kind, "Top", {"values": 1, "indices": [2]})))
    assert record == Record(kind, "Top", {"values": 1, "indices": [2]})


@pytest.mark.parametrize(
    "value", [None, True, 2.5, b"\0", "text", -(2**63), 2**63, "ümlaut", "\ud800", [1], (), np.float64(2.5)]
)
def test_what_is_written_at_once_is_what_is_written_part_by_part(value: Any) -> None:
    data = packed(value)
    assert data in (None, Encoder().encode(value))
    assert (data is None) == (
        type(value) in (list, tuple, np.float64) or value in (2**63, "ümlaut", "\ud800")
    )
