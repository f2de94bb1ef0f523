"""Sizes of a problem are found in its tree and scaled down so that what held between them holds."""

from __future__ import annotations

import ast
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_tui.cli.importing.constants import assigned, evaluated
from judge_tui.cli.importing.sizes import Sizes, sizes_of


def sizes(constants: str, drawn: str, starts: str = "") -> Sizes:
    drawing = f"def get_inputs():\n    return [{drawn}]\n"
    return sizes_of(ast.parse(f"{constants}\n{drawing}\ndef get_init_inputs():\n    return [{starts}]\n"))


def test_sizes_are_what_inputs_are_drawn_by() -> None:
    found = sizes(
        "rows = 4096 * 2\nwidth: int = 1 << 10\nkernel_size = 7\ndim = 1\n",
        "rand(rows, width, dim)",
        "kernel_size",
    )
    assert found.told == {"rows": 8192, "width": 1024}
    assert (found.tied, found.entries) == (frozenset(), 8192 * 1024)


def test_what_is_made_of_others_follows_them() -> None:
    found = sizes("classes = 4096\nshape = (classes,)\nlone = (512, 3)\n", "rand(*shape, *lone)")
    assert found.told == {"classes": 4096, "lone": (512, 3)}
    assert found.entries == 4096 * 512 * 3


def test_what_the_model_itself_reads_is_kept() -> None:
    text = "rows = 4096\nheads = 64\nclass Model:\n    def forward(self, x):\n        return x * heads\n"
    found = sizes(text, "rand(rows, heads)")
    assert found.told == {"rows": 4096}


def test_a_name_that_a_method_binds_is_its_own() -> None:
    text = "dim = 4096\nclass Model:\n    def __init__(self, dim=1):\n        self.dim = dim\n"
    assert sizes(text, "rand(dim, dim)").told == {"dim": 4096}


def test_shapes_may_stand_in_a_variable() -> None:
    text = "batch = 4096\ndef get_inputs():\n    shape = (batch, 8192)\n    return [rand(*shape)]\n"
    assert sizes_of(ast.parse(text)).entries == 4096 * 8192


def test_order_and_likeness_are_kept() -> None:
    found = sizes(
        "M = 2048\nK = 8192\nN = 4096\nalike = 2048\n", "rand(M, K), rand(K, N), rand(alike)"
    ).within(20_000)
    assert found["M"] == found["alike"] < found["N"] < found["K"]
    assert found["K"] * found["N"] <= 20_000


def test_sizes_that_differ_by_one_stay_told_apart() -> None:
    found = sizes("batch = 128\ndim1 = 4096\ndim2 = 4095\n", "rand(batch, dim1, dim2)").within(20_000)
    assert found["dim1"] > found["dim2"]


def test_channels_stay_divisible_by_their_groups() -> None:
    told = "batch = 112\nfeatures = 96\ngroups = 8\nside = 512\n"
    for entries in (3_000, 20_000, 80_000):
        found = sizes(told, "rand(batch, features, side, side)", "features, groups").within(entries, odd=True)
        assert found["features"] % 8 == 0
        assert 96 % found["features"] == 0
        assert found["side"] % 2 == 1


def test_an_axis_is_no_shorter_than_its_window() -> None:
    told = "batch = 64\nlength = 65536\nkernel_size = (8, 3)\ndilation = 3\n"
    found = sizes(told, "rand(batch, length)", "kernel_size, dilation").within(100)
    assert found["length"] >= 22


def test_products_of_two_sizes_are_no_gigabytes_either() -> None:
    found = sizes("M = 32768\nN = 32768\nK = 64\n", "rand(M, K), rand(K, N)").within(80_000)
    assert found["M"] * found["N"] <= 16 * 80_000


def test_small_problems_stay_as_they_are() -> None:
    found = sizes("rows = 12\nwidth = 30\n", "rand(rows, width)")
    assert found.within(20_000, odd=True) == {"rows": 12, "width": 30}


@settings(max_examples=30)
@given(
    st.lists(st.integers(5, 10**6), min_size=1, max_size=5),
    st.integers(1_000, 10**6),
    st.booleans(),
)
def test_no_array_has_more_entries_than_wanted(values: list[int], entries: int, odd: bool) -> None:
    told = "".join(f"n{index} = {value}\n" for index, value in enumerate(values))
    names = ", ".join(f"n{index}" for index in range(len(values)))
    found = sizes(told, f"rand({names})").within(entries, odd=odd)
    assert math.prod(found.values()) <= max(entries, 3 ** len(values))  # type: ignore[arg-type]
    assert all(2 <= found[f"n{i}"] <= value for i, value in enumerate(values))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 * (4 + 5) // 2", 13),
        ("-7 % 4", 1),
        ("(2, (3, True), 'x')", (2, (3, True), "x")),
        ("[1, *(2, 3)]", (1, 2, 3)),
        ("n * 2", 14),
        ("9 ** 9 ** 9", None),
        ("1 << 10_000_000", None),
        ("1 // 0", None),
        ("open('x')", None),
        ("other", None),
    ],
)
def test_numbers_are_computed_and_nothing_is_run(text: str, value: object) -> None:
    assert evaluated(ast.parse(text, mode="eval").body, {"n": 7}) == value


def test_names_are_bound_one_by_one_and_together() -> None:
    body = ast.parse("a = 1\nb, (c, d) = 2, (3, 4)\ne: int = 5\nf, g = h()\ni = j = 6\n").body
    assert [name for name, _node in assigned(body)] == ["a", "b", "c", "d", "e"]
