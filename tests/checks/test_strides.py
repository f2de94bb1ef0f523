from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.checks.strides import HOWS, in_memory, laid, mixed
from judge_tui.checks.worker.strides import read_as


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.sampled_from(HOWS),
    st.sampled_from(["f4", "f8", "i8"]),
)
def test_the_worker_has_the_same_values_in_the_same_order(shape: list[int], how: str, dtype: str) -> None:
    array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    there = laid(array, how)
    assert np.array_equal(there, array)
    lies = in_memory(there)
    assert lies.data.flags.c_contiguous
    told = {"axes": lies.axes, "flipped": lies.flipped, "stepped": lies.stepped}
    told = msgspec.msgpack.decode(msgspec.msgpack.encode(told))
    here = read_as(lies.data.copy(), told)
    assert np.array_equal(here, array)
    long = [axis for axis, size in enumerate(shape) if size > 1]
    assert [here.strides[axis] for axis in long] == [there.strides[axis] for axis in long]


def test_a_transposed_view_of_one_stays_what_it_is() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    lies = in_memory(laid(array, "Fortran").transpose(2, 0, 1))
    told = {"axes": lies.axes, "flipped": lies.flipped, "stepped": lies.stepped}
    assert np.array_equal(read_as(lies.data, told), array.transpose(2, 0, 1))


def test_arrays_of_one_call_lie_in_different_orders() -> None:
    arrays = list(mixed(1, *(np.ones((2, 3, 4, 5)) for _ in range(3))))
    assert len({array.strides for array in arrays}) == 3
    assert not any(array.flags.c_contiguous for array in arrays)


@pytest.mark.parametrize("how", HOWS)
def test_no_order_is_the_usual_one(how: str) -> None:
    assert not laid(np.ones((2, 3, 4, 5)), how).flags.c_contiguous
