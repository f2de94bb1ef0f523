"""A clause about multiples stands only where sizes of right and of wrong calls differ in nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge_tui.checks.size_conditions import only_where, where_masked


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ((8, 16, 24, 40), (3, 7, 9, 12), "wrong wherever D is no multiple of 8, and only there"),
        ((2, 4, 6), (1, 3, 5, 7), "wrong wherever D is no multiple of 2, and only there"),
        ((1, 2, 4, 64), (3, 6, 7, 96), "wrong wherever D is no power of two, and only there"),
        ((1, 2, 4, 64, 96), (3, 6, 7, 100), ""),
        (
            (5, 6, 8, 13, 15, 16, 31),
            (1, 2, 4, 9, 12, 17, 33),
            "wrong where D is 1 to 4 above a multiple of 8, and only there",
        ),
        ((1, 2, 4), (3, 6, 7, 16), ""),
        ((1, 2, 4), (1, 3, 6, 7), ""),
        ((8, 16, 24), (3, 7, 9), ""),
        ((8, 16), (3, 7, 9, 11), ""),
        ((), (3, 7, 9, 11), ""),
        ((8, 16, 24), (), ""),
    ],
)
def test_only_where(right: tuple[int, ...], wrong: tuple[int, ...], words: str) -> None:
    calls = [({"B": 2, "D": size}, True) for size in right] + [({"B": 2, "D": size}, False) for size in wrong]
    assert only_where(calls) == words


def test_the_axis_that_tells_them_apart_is_named() -> None:
    calls = [({"T": 4 * n, "D": n}, True) for n in range(1, 9)]
    calls += [({"T": 4 * n + 1, "D": n}, False) for n in range(1, 9)]
    assert only_where(calls) == "wrong wherever T is no multiple of 2, and only there"


def told(right: dict[str, tuple[int, ...]], wrong: dict[str, tuple[int, ...]], **how: object) -> str:
    """What is said of calls whose sizes stand in columns."""
    calls = [
        (dict(zip(sizes, row, strict=True)), fine)
        for sizes, fine in ((right, True), (wrong, False))
        for row in zip(*sizes.values(), strict=True)
    ]
    return only_where(calls, **how)  # type: ignore[arg-type]


FEW, MANY = tuple(range(1, 13)), tuple(range(13, 29))


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ({"D": FEW}, {"D": MANY}, "right up to D = 12, wrong from D = 13 on"),
        ({"D": MANY}, {"D": FEW}, "wrong up to D = 12, right from D = 13 on"),
        ({"D": (*FEW, 18)}, {"D": MANY}, "right up to D = 12, wrong from D = 13 on (in 16 of 17 calls)"),
        (
            {"the number of tiles": FEW},
            {"the number of tiles": MANY},
            "right where the number of tiles is 12 or less, wrong from 13 on",
        ),
        # as many on either side, and nothing between them
        ({"D": (3, 9, 11, 17, 21, 25)}, {"D": (4, 8, 12, 16, 20, 24)}, ""),
        # what one call alone says
        ({"D": FEW}, {"D": (13,)}, ""),
        # more than half of those past the limit are right
        ({"D": (*FEW, *MANY)}, {"D": MANY}, ""),
    ],
)
def test_a_size_from_which_on_answers_are_wrong(
    right: dict[str, tuple[int, ...]], wrong: dict[str, tuple[int, ...]], words: str
) -> None:
    assert told(right, wrong, limits=True) == words
    assert told(right, wrong) == ""


BY_TURNS = (3, 14, 5, 40, 7, 9, 21, 4, 11, 31, 6, 8)


@pytest.mark.parametrize(
    ("more", "less", "words"),
    [
        (0, 1, "wrong where T of the backward is less than that of the forward, and only there"),
        (1, -1, "wrong where T of the backward is more than that of the forward, and only there"),
    ],
)
def test_one_size_larger_than_another(more: int, less: int, words: str) -> None:
    def pairs(by: int) -> dict[str, tuple[int, ...]]:
        return {"T of the forward": BY_TURNS, "T of the backward": tuple(size - by for size in BY_TURNS)}

    compared = [("T of the backward", "T of the forward")]
    right = {name: (*sizes, *sizes) for name, sizes in pairs(0).items()}
    assert told(right, pairs(less), compared=compared, limits=True) == words
    assert told(pairs(more), pairs(less), limits=True) == ""


def test_what_is_right_by_chance_under_a_condition_is_counted() -> None:
    right = {"T": (4,) * 14, "N": (3, 2, 1, 4) * 3 + (9, 10)}
    wrong = {"T": (4,) * 12, "N": tuple(range(5, 17))}
    words = "wrong where T is less than N (in 12 of 14 calls), and nowhere else"
    assert told(right, wrong, compared=[("T", "N")]) == words


@pytest.mark.parametrize(
    ("right", "words"),
    [
        ((*FEW, 29, 30, 31), "wrong for D from 13 to 28, right for smaller and larger"),
        (
            (*FEW, 18, 29, 30, 31),
            "wrong for D from 13 to 28 (in 16 of 17 calls), right for smaller and larger",
        ),
        # that wider rows are right is what two calls say
        ((*FEW, 29, 30), "right up to D = 12, wrong from D = 13 on (in 16 of 18 calls)"),
    ],
)
def test_a_range_of_sizes_of_which_answers_are_wrong(right: tuple[int, ...], words: str) -> None:
    assert told({"D": right}, {"D": MANY}, limits=True) == words
    tiles = told({"the number of tiles": right}, {"the number of tiles": MANY}, limits=True)
    assert tiles.startswith("wrong where the number of tiles is 13 to 28" if 31 in right else "right where")


def cut(wrong: Callable[[int, int], bool]) -> str:
    """What is said where answers are wrong at such T and N."""
    calls = [({"T": t, "N": n}, not wrong(t, n)) for n in range(2, 31) for t in (1, 2, 3, 4, 5, 7, 8, 16)]
    return only_where(calls, compared=[("T", "N")], limits=True)


def test_a_last_tile_that_is_short() -> None:
    assert cut(lambda t, n: n % t > 0) == "wrong where N is no multiple of T, and only there"


def test_two_conditions_are_told_together_where_neither_tells_alone() -> None:
    words = "wrong where T is less than N and N is no multiple of T, and only there"
    assert cut(lambda t, n: t < n and n % t > 0) == words
    words = "wrong where N is no multiple of T and N is 12 or more, and only there"
    assert cut(lambda t, n: n >= 12 and n % t > 0) == words


def test_multiples_alone_of_which_some_are_right_by_chance() -> None:
    wrong = tuple(range(8, 97, 8))
    right = (*(size for size in range(4, 60) if size % 8), 104, 112)
    words = "wrong where D is a multiple of 8 (in 12 of 14 calls), and nowhere else"
    assert told({"D": right}, {"D": wrong}, limits=True) == words


def test_answers_that_are_wrong_with_a_mask_alone() -> None:
    def told(wrong: Callable[[bool, int], bool]) -> str:
        calls = [(mask, {"N": n}, not wrong(mask, n)) for n in range(2, 40) for mask in (True, False)]
        return where_masked(calls)

    assert told(lambda mask, n: mask) == "wrong with the causal mask alone"
    words = "without the mask alone, and there right up to N = 15, wrong from N = 16 on"
    assert told(lambda mask, n: not mask and n >= 16) == words
    assert told(lambda mask, n: n >= 16) == "right up to N = 15, wrong from N = 16 on"
    assert told(lambda mask, n: mask and n < 8) == "wrong up to N = 7 (in 6 of 12 calls), right from N = 8 on"


def test_one_condition_is_told_where_another_adds_little() -> None:
    right = [(4, 9), (3, 8), (4, 10), (5, 12)]
    words = "wrong where T is less than N (in 190 of 194 calls), and nowhere else"
    assert cut(lambda t, n: t < n and (t, n) not in right) == words


def test_two_axes_that_both_are_more_than_1() -> None:
    sizes = [(b, h) for b in (1, 2, 3, 5) for h in (1, 2, 4, 7)]
    calls = [({"B": b, "H": h, "B · H": b * h}, not (b > 1 and h > 1)) for b, h in sizes for _ in range(3)]
    assert only_where(calls, limits=True) == "wrong where B > 1 and H > 1, and only there"
    one = [({"B": b, "H": h, "B · H": b * h}, h == 1) for b, h in sizes for _ in range(3)]
    assert only_where(one, limits=True) == "right up to H = 1, wrong from H = 2 on"


def test_a_product_between_limits_is_told_where_all_are_wrong_alone() -> None:
    words = "wrong where B · H is 13 to 28, right where it is less or more"
    assert told({"B · H": (*FEW, 29, 30, 31)}, {"B · H": MANY}, limits=True) == words
    assert not told({"B · H": (*FEW, 18, 29, 30, 31)}, {"B · H": MANY}, limits=True).startswith("wrong where")
