"""Roles that can only be told together: what is taken, what is noted, what is not called again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest

from judge_tui.checks.binding.solver import Family, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Died, Fault, Raised


@dataclass
class Standing:
    """As much of a worker as a search asks for."""

    alive: bool = True


def searching(worker: Standing | None = None) -> Search:
    return Search(cast(Worker, worker or Standing()), {})


def named(*names: str) -> list[Option]:
    return [{"role": Binding("role", "a.py", name, (), {})} for name in names]


def family(run: Callable[[Search, Option], float | Trial], *names: str, **more: Any) -> Family:
    return Family("role", lambda _: named(*names), trial(run), **more)


def errors(**known: float) -> Callable[[Search, Option], float]:
    return lambda _search, option: known[option["role"].name]


def taken(found: tuple[Option, Trial] | None) -> str:
    return found[0]["role"].name if found else ""


def test_the_first_that_is_right_is_taken_and_nothing_after_it_is_tried() -> None:
    asked: list[str] = []

    def run(_search: Search, option: Option) -> float:
        asked.append(option["role"].name)
        return {"far": 1.0, "right": 1e-4, "later": 0.0}[asked[-1]]

    assert taken(searching().settle(family(run, "far", "right", "later"))) == "right"
    assert asked == ["far", "right"]


def test_else_the_first_of_those_that_are_meant() -> None:
    meant = family(errors(a=3.0, b=2.0, c=1.0), "a", "b", "c", meant=lambda _s, o, _r: o["role"].name != "a")
    assert taken(searching().settle(meant)) == "b"
    assert searching().settle(family(errors(a=3.0), "a")) is None


def test_a_rank_orders_what_is_meant() -> None:
    nearest = family(
        errors(a=3.0, b=1.0, c=2.0), "a", "b", "c", meant=lambda *_: True, rank=lambda _o, r: r.error
    )
    assert taken(searching().settle(nearest)) == "b"


def test_no_more_options_are_tried_than_a_family_wants() -> None:
    assert searching().settle(family(errors(a=1.0, b=0.0), "a", "b", most=1)) is None


def test_what_is_refused_is_noted_once_with_its_reason() -> None:
    def run(_search: Search, option: Option) -> float:
        raise Raised("ValueError", "two heads")

    search = searching()
    search.settle(family(run, "a", "a", "b"))
    assert search.rejected["role"] == [
        "a.py:a: raised ValueError: two heads",
        "a.py:b: raised ValueError: two heads",
    ]


def test_what_does_not_claim_the_role_leaves_no_note() -> None:
    search = searching()
    search.settle(family(errors(a=1.0), "a", claims=lambda _: False))
    assert search.rejected == {}


def test_what_has_ended_the_process_is_not_called_again() -> None:
    worker, asked = Standing(), []

    def run(_search: Search, option: Option) -> float:
        asked.append(option["role"].name)
        worker.alive = False
        raise Died("exit status 3")

    search = searching(worker)
    with pytest.raises(Died):
        search.settle(family(run, "a"))
    worker.alive = True
    again = Search(search.worker, {}, fatal=search.fatal)
    assert again.settle(family(run, "a")) is None
    assert asked == ["a"]
    assert again.rejected["role"] == ["a.py:a: exit status 3"]


def test_a_trial_that_gives_no_number_is_not_right() -> None:
    assert not Trial(float("nan")).right
    assert searching().settle(family(errors(a=float("nan")), "a")) is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Raised("TypeError", "no such argument"), "raised TypeError: no such argument"),
        (KeyError("k"), "cannot be called so: 'k'"),
        (IndexError("two parts"), "cannot be called so: two parts"),
    ],
)
def test_a_refused_guess_is_left_with_its_reason(error: Exception, said: str) -> None:
    after = []
    with Guess(cast(Worker, Standing())) as guess:
        raise error
    after.append(guess.said)
    assert after == [said]
    assert (guess.fault is not None) == isinstance(error, Fault)


def test_what_ends_the_process_and_what_is_our_own_mistake_pass_through_a_guess() -> None:
    with pytest.raises(Died), Guess(cast(Worker, Standing(alive=False))):
        raise Died("exit status 1")
    with pytest.raises(AttributeError), Guess(cast(Worker, Standing())):
        raise AttributeError("ours")


def test_a_call_is_handed_something_else_wherever_it_is_told_of_it() -> None:
    packed = Argument("", "config", parts=(("n", "layers"), ("type", "type:dtype")), made="a.py:Config")
    binding = Binding("create", "a.py", "make", (Argument("layers"), packed), {}, init=(Argument("layers"),))
    other = binding.handed(layers="one_layer", dtype="wide")
    assert [str(each) for each in other.args] == [
        "one_layer",
        "config=a.py:Config{n=one_layer, type=type:wide}",
    ]
    assert [str(each) for each in other.init or ()] == ["one_layer"]


def test_the_first_addition_is_taken_that_is_right_beside_what_there_is() -> None:
    base: Option = {"kept": Binding("kept", "a.py", "kept", (), {})}
    seen: list[set[str]] = []

    @trial
    def run(_search: Search, option: Option) -> float:
        seen.append({binding.name for binding in option.values()})
        return {"far": 1.0, "right": 0.0, "later": 0.0}[option["role"].name]

    assert searching().first(base, named("far", "right", "later"), run) == named("right")[0]
    assert seen == [{"kept", "far"}, {"kept", "right"}]
    assert searching().first(base, named("far"), run) == {}
    assert searching().first(base, named("far"), run, right=2.0) == named("far")[0]


def test_what_is_written_by_hand_is_the_only_option_and_stays_where_it_is_not_right() -> None:
    search = searching()
    search.bound.update(named("by_hand")[0])
    search.bind(family(errors(by_hand=0.0, found=0.0), "found"))
    assert search.bound["role"].name == "by_hand"
    search.bind(family(errors(by_hand=3.0, found=0.0), "found"))
    assert search.bound["role"].name == "by_hand"


def test_what_nobody_wrote_is_bound_where_it_is_right() -> None:
    search = searching()
    search.bind(family(errors(far=3.0), "far"))
    assert search.bound == {}
    search.bind(family(errors(far=3.0, right=0.0), "far", "right"))
    assert search.bound["role"].name == "right"


def test_the_parameters_of_functions_methods_and_classes_are_told_by_their_place() -> None:
    def param(name: str) -> dict[str, str]:
        return {"name": name, "kind": "POSITIONAL_OR_KEYWORD"}

    method = {"name": "put", "params": [param("self"), param("k")], "line": 3}
    cls = {"name": "Cache", "params": [param("size")], "methods": [method]}
    function = {"name": "make", "params": [param("n")], "line": 9}
    search = Search(cast(Worker, Standing()), {"a.py": {"functions": [function], "classes": [cls]}})
    known = {
        target: [p["name"] for p in search.params(f"a.py:{target}")]
        for target in ("make", "Cache.put", "Cache", "no")
    }
    assert known == {"make": ["n"], "Cache.put": ["k"], "Cache": ["size"], "no": []}
