from __future__ import annotations

from typing import Any

import pytest

from judge_tui.checks.calling.binding import Argument, Source, parse_binding, parse_path
from judge_tui.checks.errors import WorkspaceError


@pytest.mark.parametrize(
    ("text", "of", "steps"),
    [
        ("", "result", ()),
        ("[0]", "result", (("i", 0),)),
        ("[-1].cache['k v']", "result", (("i", -1), ("a", "cache"), ("k", "k v"))),
        ('.a["b"][2]', "result", (("a", "a"), ("k", "b"), ("i", 2))),
        ("self", "self", ()),
        ("self.x", "self", (("a", "x"),)),
        ("self['x']", "self", (("k", "x"),)),
        ("{x_hat}", "result", (("c", "x_hat"),)),
        ("given.ctx[1]", "given", (("a", "ctx"), ("i", 1))),
        ("self{x_hat}", "self", (("c", "x_hat"),)),
        ("selfish", None, None),
        ("x", None, None),
        ("[x]", None, None),
        ("[0", None, None),
        ("['a\"]", None, None),
    ],
)
def test_paths_are_read_or_refused(text: str, of: str | None, steps: Any) -> None:
    if of is None:
        with pytest.raises(ValueError, match="is not a path"):
            parse_path(text)
    else:
        assert parse_path(text) == Source(of, steps)


def test_a_whole_table_is_read() -> None:
    binding = parse_binding(
        "forward",
        {
            "target": "layer_norm.py:LayerNorm.forward",
            "init": ["D", "eps=eps"],
            "attributes": {"gamma": "gamma"},
            "args": ["x", "epsilon=eps", "lists:x", "mode=='fast'", "=3", "dtype=type:dtype"],
            "returns": {"y": "[0]", "cache": "self"},
            "layout": "BNHD",
        },
    )
    assert binding.target == "layer_norm.py:LayerNorm.forward"
    assert binding.init == (Argument("D"), Argument("eps", "eps"))
    assert binding.args == (
        Argument("x"), Argument("eps", "epsilon"), Argument("x", form="lists"),
        Argument("", "mode", literal="fast"), Argument("", literal=3), Argument("dtype", "dtype", "type"),
    )  # fmt: skip
    assert binding.returns == {"y": Source("result", (("i", 0),)), "cache": Source("self")}
    assert (binding.layout, binding.origin) == ("BNHD", "submission.toml")
    assert binding.takes("gamma")
    assert not binding.takes("beta")
    assert [str(argument) for argument in binding.args] == [
        "x", "epsilon=eps", "lists:x", "mode=='fast'", "=3", "dtype=type:dtype"
    ]  # fmt: skip


def test_dicts_of_arguments_and_containers_to_fill_are_read_and_written() -> None:
    table = {"target": "a.py:f", "args": ["params={gamma, w=gamma, beta}", "dict:cache", "out=list:cache"],
             "returns": {"cache": "given.cache"}}  # fmt: skip
    binding = parse_binding("forward", table)
    packed, filled, by_keyword = binding.args
    assert packed.parts == (("gamma", "gamma"), ("w", "gamma"), ("beta", "beta"))
    assert packed.sources == ("gamma", "beta")
    assert (filled.empty, filled.sources, by_keyword.keyword) == (True, (), "out")
    assert binding.returns["cache"] == Source("given", (("a", "cache"),))
    assert binding.takes("beta")
    assert [str(argument) for argument in binding.args] == table["args"]
    with pytest.raises(WorkspaceError, match="is no argument"):
        parse_binding("forward", {"target": "a.py:f", "args": ["{gamma, 3}"]})


def test_an_object_made_of_arguments_is_read_and_written() -> None:
    table = {"target": "a.py:f", "args": ["model.py:Config{d_model=embed, heads}", "c=a.py:Cfg.Sub{x=eps}"]}
    config, by_keyword = parse_binding("forward", table).args
    assert (config.made, config.parts) == ("model.py:Config", (("d_model", "embed"), ("heads", "heads")))
    assert (by_keyword.keyword, by_keyword.made, by_keyword.sources) == ("c", "a.py:Cfg.Sub", ("eps",))
    assert [str(argument) for argument in (config, by_keyword)] == table["args"]
    with pytest.raises(WorkspaceError, match="is no argument"):
        parse_binding("forward", {"target": "a.py:f", "args": ["Config{d_model=embed}"]})


def test_a_tuple_and_an_array_of_several_are_read_and_written() -> None:
    table = {"target": "a.py:f", "args": ["tuple{k, v}", "kv=stack{k, v}"]}
    pair, stacked = parse_binding("append", table).args
    assert (pair.made, pair.sources) == ("tuple", ("k", "v"))
    assert (stacked.keyword, stacked.made, stacked.sources) == ("kv", "stack", ("k", "v"))
    assert [str(argument) for argument in (pair, stacked)] == table["args"]


def test_a_member_of_an_object_may_have_a_form() -> None:
    (config,) = parse_binding("f", {"target": "a.py:f", "args": ["a.py:Cfg{d=embed, dtype=type:dtype}"]}).args
    assert str(config) == "a.py:Cfg{d=embed, dtype=type:dtype}"
    assert config.sources == ("embed", "dtype")
    with pytest.raises(WorkspaceError, match="is no argument"):
        parse_binding("f", {"target": "a.py:f", "args": ["a.py:Cfg{dtype=dict:dtype}"]})


def test_listed_returns_are_positions_and_a_single_one_is_the_result() -> None:
    assert parse_binding("f", {"target": "a.py:f", "returns": ["y", "cache"]}).returns == {
        "y": Source("result", (("i", 0),)),
        "cache": Source("result", (("i", 1),)),
    }
    assert parse_binding("f", {"target": "a.py:f", "returns": ["y"]}).returns == {"y": Source()}
    assert parse_binding("f", {"target": "a.py:f"}).init is None


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({}, "'target' must be"),
        ({"target": "a.py"}, "'target' must be"),
        ({"target": ":f"}, "'target' must be"),
        ({"target": 3}, "'target' must be a text"),
        ({"target": "a.py:f", "arg": ["x"]}, "unknown key 'arg'"),
        ({"target": "a.py:f", "args": "x"}, "'args' must be a list of texts"),
        ({"target": "a.py:f", "args": [1]}, "'args' must be a list of texts"),
        ({"target": "a.py:f", "args": ["x y"]}, "'x y' is no argument"),
        ({"target": "a.py:f", "args": ["tensor:x"]}, "'tensor:x' is no argument"),
        ({"target": "a.py:f", "args": ["n==oops"]}, "'oops' is no TOML value"),
        ({"target": "a.py:f", "returns": "y"}, "'returns' must be a table of texts"),
        ({"target": "a.py:f", "returns": [1]}, "'returns' must be a list of texts"),
        ({"target": "a.py:f", "returns": {"y": 0}}, "'returns' must be a table of texts"),
        ({"target": "a.py:f", "returns": {"y": "first"}}, "'first' is not a path"),
        ({"target": "a.py:f", "attributes": ["g"]}, "'attributes' must be a table of texts"),
        ({"target": "a.py:f", "on": 1}, "'on' must be a text"),
        ({"target": "a.py:f", "layout": ["B"]}, "'layout' must be a text"),
        ({"target": "a.py:f", "init": "D"}, "'init' must be a list of texts"),
    ],
)
def test_what_is_malformed_is_told_in_one_sentence(table: dict[str, Any], reason: str) -> None:
    with pytest.raises(WorkspaceError, match=r"binding\.forward") as told:
        parse_binding("forward", table, file="/w/submission.toml")
    assert reason in told.value.message
    assert "\n" not in str(told.value)
    assert told.value.file == "/w/submission.toml"
