"""What decoders are told by the judge: masks and rotary tables by hand, and keys that their caller joins."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.tasks.kv.faces.joined import Joined
from judge_tui.checks.tasks.kv.faces.told import drawn_weights, placed


def test_masks_hide_what_comes_later_and_nothing_before() -> None:
    told = placed(2, 2, 3, 4)
    assert told["seen_true"].tolist() == [[True, True, True, False], [True, True, True, True]]
    assert (told["hidden_true"] == ~told["seen_true"]).all()
    assert told["seen_added"][0].tolist() == [0.0, 0.0, 0.0, -np.inf]
    assert told["seen_added_4d"].shape == (1, 1, 2, 4)
    assert told["token_positions"].tolist() == [[2, 3]] * 3


def test_rotary_tables_turn_by_the_place_of_each_token() -> None:
    told = placed(5, 1, 1, 4)
    assert np.allclose(told["cos"], np.cos([[5.0, 5.0 / 100.0]]), atol=1e-6)
    assert np.allclose(told["sin"], np.sin([[5.0, 5.0 / 100.0]]), atol=1e-6)


def test_the_same_seed_draws_the_same_weights_of_the_shapes_that_are_asked_for() -> None:
    one, other = drawn_weights(12, 8, 4, 7, "float32"), drawn_weights(12, 8, 4, 8, "float32")
    assert {name: w.shape for name, w in one.items()} == {
        "w_q": (12, 8), "w_k": (12, 4), "w_v": (12, 4), "w_o": (8, 12),
    }  # fmt: skip
    assert (
        drawn_weights(12, 8, 4, 7, "float32")["w_q"].tolist() == one["w_q"].tolist() != other["w_q"].tolist()
    )


class Answering:
    """A worker whose calls have given a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray[Any, Any]] = []

    def leaves(self, _root: Handle) -> list[dict[str, Any]]:
        return [
            {"kind": "array", "path": [["i", i]], "shape": list(a.shape), "dtype": a.dtype.str}
            for i, a in enumerate(self.arrays)
        ]

    def fetch(self, handle: Handle, _shape: Any, _dtype: Any) -> np.ndarray[Any, Any]:
        return self.arrays[handle.path[0][1]]


def fed(joined: Joined, worker: Answering, tokens: int, layers: int = 1, heads: int = 3) -> None:
    first = np.zeros((1, tokens, 9))
    pairs = [np.full((1, heads, tokens, 4), float(n)) for n in range(2 * layers)]
    worker.arrays = [first, *pairs]
    result = type("Result", (), {"handle": Handle(1)})()
    joined.take(cast(Returned, type("Given", (), {"result": result})()), tokens)


def test_new_keys_and_values_are_put_behind_those_before_where_they_differ() -> None:
    worker = Answering()
    joined = Joined(cast(Worker, worker))
    assert joined.inputs()["joined"] is None
    # as many tokens as heads: the shapes of the next call tell the axes apart
    fed(joined, worker, 3)
    fed(joined, worker, 1)
    fed(joined, worker, 1)
    k, v = joined.inputs()["joined"]
    assert k.shape == v.shape == (1, 3, 5, 4)
    assert (k == 0.0).all()
    assert (v == 1.0).all()


def test_each_layer_has_a_pair_of_its_own() -> None:
    worker = Answering()
    joined = Joined(cast(Worker, worker))
    fed(joined, worker, 2, layers=2)
    fed(joined, worker, 1, layers=2)
    assert {layer: pair[0].shape for layer, pair in joined.inputs()["joined_by_layer"].items()} == {
        0: (1, 3, 3, 4), 1: (1, 3, 3, 4),
    }  # fmt: skip
    assert [float(pair[1][0, 0, 0, 0]) for pair in joined.inputs()["joined_list"]] == [1.0, 3.0]
