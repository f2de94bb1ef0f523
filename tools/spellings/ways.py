"""Ways to spell a right Python source otherwise, so that it answers the same.

Each way takes a module's tree and a source of chance, and gives the tree changed, or ``None`` where it does
not apply. Nothing is done that could change a number: names, the form of results, where functions stand, and
what stands beside them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

__all__ = ["WAYS", "Way", "prepared"]

Way = Callable[[ast.Module, Random, str], ast.Module | None]

#: What a parameter is also called.
_SYNONYMS = {
    "q": ("query", "Q", "queries"), "k": ("key", "K", "keys"), "v": ("value", "V", "values"),
    "Q": ("q", "query"), "K": ("k", "key"), "V": ("v", "value"),
    "dy": ("dout", "grad_output", "upstream"), "dout": ("dy", "grad"), "dO": ("grad_out", "do", "dout"),
    "do": ("dO", "grad_output"), "x": ("inputs", "hidden"), "eps": ("epsilon",), "epsilon": ("eps",),
    "gamma": ("weight", "scale"), "beta": ("bias", "shift"), "causal": ("is_causal",),
    "is_causal": ("causal",), "tile_size": ("block_size", "tile"), "tile": ("block", "tile_size"),
    "block_size": ("tile_size", "chunk"), "cache": ("ctx", "saved", "saved_state"), "ctx": ("cache",),
    "prompts": ("input_ids", "batch"), "beam_width": ("num_beams", "beam_size"), "alpha": ("length_penalty",),
    "max_new_tokens": ("max_steps", "max_tokens"), "eos_token_id": ("eos_id", "eos"), "eos_id": ("eos",),
    "tree_parents": ("parents", "parent_ids"), "parents": ("tree_parents",), "prompt_len": ("prefix_len",),
    "tree_tokens": ("draft_tokens", "candidates"), "prompt": ("prefix", "prompt_ids"),
    "new_k": ("k_new",), "new_v": ("v_new",), "k_new": ("new_k",), "v_new": ("new_v",),
    "seq_id": ("sequence_id",), "tokens": ("ids", "token_ids"), "ids": ("tokens",), "w": ("weight",),
    "temperature": ("temp",), "group_size": ("group",), "token": ("token_id",),
}  # fmt: skip
#: Task → what people write beside an answer, each right for what it is: files of ``beside/``.
_OTHERS = {
    "backwards": (
        "numerical_gradient", "relative_error", "rms_norm", "batch_norm", "stable_softmax", "timer",
    ),
    "flash_attention": (
        "reference_attention", "stable_softmax", "relative_error", "timer", "plain_causal_mask",
    ),
    "flash_attention_bwd": (
        "reference_attention", "reference_attention_backward", "numerical_gradient", "relative_error",
        "stable_softmax", "timer",
    ),
    "kv": ("reference_attention", "stable_softmax", "rotary", "sample", "plain_causal_mask", "timer"),
    "beam_search": ("greedy_search", "stable_softmax", "sample", "timer"),
    "dflash_verify": ("node_depths", "plain_causal_mask", "stable_softmax", "sample", "timer"),
    "ternary_training": ("dense_linear", "binarize", "stable_softmax", "numerical_gradient", "timer"),
}  # fmt: skip
_BESIDE = Path(__file__).parent / "beside"
_NOT_THE_ANSWER = ("test", "main", "demo", "bench", "example", "check")


def prepared(source: str) -> ast.Module:
    """A source's tree without its tests, examples and main program."""
    tree = ast.parse(source)
    tree.body = [
        each
        for each in tree.body
        if not (isinstance(each, ast.If) and "__main__" in ast.unparse(each.test))
        and not (isinstance(each, ast.FunctionDef) and each.name.lower().startswith(_NOT_THE_ANSWER))
    ]
    return tree


def _public(tree: ast.Module) -> list[ast.FunctionDef]:
    return [each for each in tree.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")]


def _called(tree: ast.AST) -> set[str]:
    """Names that something of the module calls, or hands on."""
    return {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)} | {
        each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)
    }


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions that the module offers, and the methods."""
    for each in tree.body:
        if isinstance(each, ast.FunctionDef):
            yield each
        elif isinstance(each, ast.ClassDef):
            yield from (inner for inner in each.body if isinstance(inner, ast.FunctionDef))


def synonyms(tree: ast.Module, chance: Random, _task: str) -> ast.Module | None:
    """Parameters by other names."""
    by_keyword = {each.arg for each in ast.walk(tree) if isinstance(each, ast.keyword)}
    made = False
    for function in _functions(tree):
        names = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
        names |= {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
        nested = [each for each in ast.walk(function) if isinstance(each, ast.FunctionDef | ast.Lambda)][1:]
        for parameter in (*function.args.args, *function.args.kwonlyargs):
            wanted = [each for each in _SYNONYMS.get(parameter.arg, ()) if each not in names]
            if not wanted or parameter.arg in by_keyword or nested:
                continue
            old, new = parameter.arg, chance.choice(wanted)
            names.add(new)
            parameter.arg, made = new, True
            for each in ast.walk(function):
                if isinstance(each, ast.Name) and each.id == old:
                    each.id = new
    return tree if made else None


def _results(function: ast.FunctionDef) -> tuple[list[ast.Return], list[str]] | None:
    """The returns of a function that always returns as many named values, and their names."""
    inner = list(ast.walk(function))[1:]
    returns = [each for each in inner if isinstance(each, ast.Return)]
    if any(isinstance(each, ast.FunctionDef | ast.Lambda | ast.Yield) for each in inner):
        return None
    named = {tuple(_names(each.value)) for each in returns}
    names = list(named.pop()) if len(named) == 1 else []
    return (returns, names) if len(names) > 1 and len(set(names)) == len(names) else None


def _names(value: ast.expr | None) -> list[str]:
    """The names in a tuple of nothing else."""
    elements = value.elts if isinstance(value, ast.Tuple) else []
    names = [each.id for each in elements if isinstance(each, ast.Name)]
    return names if len(names) == len(elements) else []


def _with_results(tree: ast.Module, made: Callable[[str, list[str]], tuple[str, str]]) -> ast.Module | None:
    """Results otherwise: of a function's name and results, ``made`` gives a definition and a value."""
    called, changed, defined = _called(tree), False, []
    for function in _public(tree):
        results = _results(function)
        if results is None or function.name in called:
            continue
        definition, value = made(function.name, results[1])
        defined += ast.parse(definition).body
        function.returns = None
        for each in results[0]:
            each.value = ast.parse(value, mode="eval").body
        changed = True
    if not changed:
        return None
    at = next((i for i, each in enumerate(tree.body) if isinstance(each, ast.FunctionDef | ast.ClassDef)), 0)
    tree.body[at:at] = defined
    return tree


def dictionaries(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Results as dicts."""
    return _with_results(
        tree, lambda _name, results: ("", "{" + ", ".join(f"{each!r}: {each}" for each in results) + "}")
    )


def _titled(name: str) -> str:
    return "".join(part.title() for part in name.split("_")) + "Result"


def named_tuples(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Results as named tuples."""

    def made(name: str, results: list[str]) -> tuple[str, str]:
        title = _titled(name)
        return (
            f"from collections import namedtuple\n{title} = namedtuple({title!r}, {' '.join(results)!r})",
            f"{title}({', '.join(results)})",
        )

    return _with_results(tree, made)


def data_classes(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Results as objects with attributes."""

    def made(name: str, results: list[str]) -> tuple[str, str]:
        title = _titled(name)
        fields = "".join(f"    {each}: object\n" for each in results)
        return (
            f"from dataclasses import dataclass\n@dataclass\nclass {title}:\n{fields}",
            f"{title}({', '.join(results)})",
        )

    return _with_results(tree, made)


def _handed_on(function: ast.FunctionDef) -> str:
    """Its arguments as a call hands them on."""
    parts = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    parts += [f"*{function.args.vararg.arg}"] if function.args.vararg else []
    parts += [f"{each.arg}={each.arg}" for each in function.args.kwonlyargs]
    parts += [f"**{function.args.kwarg.arg}"] if function.args.kwarg else []
    return ", ".join(parts)


def _in_a_class(tree: ast.Module, static: bool) -> ast.Module | None:
    public = _public(tree)
    if not public or any(isinstance(each, ast.ClassDef) for each in tree.body):
        return None
    first = "" if static else "self, "
    mark = "    @staticmethod\n" if static else ""
    lines = ["class Solution:\n"]
    for function in public:
        said = ast.unparse(function.args)
        lines.append(f"{mark}    def {function.name}({(first + said).rstrip(', ')}):\n")
        lines.append(f"        return _{function.name}({_handed_on(function)})\n")
    renamed = {function.name for function in public}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and each.id in renamed:
            each.id = f"_{each.id}"
    for function in public:
        function.name = f"_{function.name}"
    tree.body += ast.parse("".join(lines)).body
    return tree


def methods(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Functions as methods of an object without state."""
    return _in_a_class(tree, static=False)


def static_methods(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Functions as static methods."""
    return _in_a_class(tree, static=True)


def decorated(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Functions and methods behind a decorator that counts calls."""
    made = [each for each in _functions(tree) if not each.name.startswith("__") and not each.decorator_list]
    if not made:
        return None
    for function in made:
        function.decorator_list = [ast.Name("_counted", ast.Load())]
    text = (
        "import functools\n_calls = {}\ndef _counted(function):\n    @functools.wraps(function)\n"
        "    def counted(*args, **kwargs):\n        name = function.__qualname__\n"
        "        _calls[name] = _calls.get(name, 0) + 1\n"
        "        return function(*args, **kwargs)\n    return counted\n"
    )
    at = next(i for i, each in enumerate(tree.body) if isinstance(each, ast.FunctionDef | ast.ClassDef))
    tree.body[at:at] = ast.parse(text).body
    return tree


def keywords_alone(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """What has a default is told by keyword alone."""
    called, made = _called(tree), False
    for function in _public(tree):
        count = len(function.args.defaults)
        if not count or function.name in called or function.args.vararg:
            continue
        moved = function.args.args[-count:]
        function.args.args = function.args.args[:-count]
        function.args.kwonlyargs = [*moved, *function.args.kwonlyargs]
        function.args.kw_defaults = [*function.args.defaults, *function.args.kw_defaults]
        function.args.defaults, made = [], True
    return tree if made else None


def swapped(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Two parameters in the other order."""
    called, made = _called(tree), False
    for function in _public(tree):
        plain = function.args.args
        if len(plain) == 2 and not function.args.defaults and function.name not in called:
            plain.reverse()
            made = True
    return tree if made else None


def more_settings(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Settings more, which change nothing."""
    made = False
    for function in _public(tree):
        if not function.args.vararg and not function.args.kwarg and not function.args.kwonlyargs:
            function.args.args += [ast.arg("verbose"), ast.arg("debug")]
            function.args.defaults += [ast.Constant(False), ast.Constant(None)]
            made = True
    return tree if made else None


def turned_round(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Functions in the other order."""
    places = [i for i, each in enumerate(tree.body) if isinstance(each, ast.FunctionDef)]
    if len(places) < 2 or any(tree.body[i].decorator_list for i in places):  # type: ignore[attr-defined]
        return None
    for place, function in zip(places, [tree.body[i] for i in reversed(places)], strict=True):
        tree.body[place] = function
    return tree


def annotated(tree: ast.Module, _chance: Random, _task: str) -> ast.Module | None:
    """Types that say what everybody sees, and a text for each function."""
    tree.body.insert(_after_futures(tree), ast.parse("from typing import Any").body[0])
    for function in _functions(tree):
        for parameter in function.args.args:
            if parameter.arg not in ("self", "cls") and parameter.annotation is None:
                parameter.annotation = ast.Name("Any", ast.Load())
        if ast.get_docstring(function) is None:
            function.body.insert(0, ast.Expr(ast.Constant(f"Do the {function.name.replace('_', ' ')}.")))
    return tree


def _after_futures(tree: ast.Module) -> int:
    """Where imports may stand: behind the module's own text and what it takes from the future."""
    at = 0
    for place, each in enumerate(tree.body):
        text = place == 0 and isinstance(each, ast.Expr)
        if text or (isinstance(each, ast.ImportFrom) and each.module == "__future__"):
            at = place + 1
    return at


def beside_others(tree: ast.Module, chance: Random, task: str) -> ast.Module | None:
    """Other things beside it: references, helpers, relatives."""
    trees = [ast.parse((_BESIDE / f"{name}.py").read_text("utf-8")) for name in _OTHERS[task]]
    others = [
        each.body[1:] for each in trees if not set(_defined(each)) & (_called(tree) | set(_defined(tree)))
    ]
    if not others:
        return None
    chosen = [each for body in chance.sample(others, k=min(2, len(others))) for each in body]
    at = _after_futures(tree) if chance.random() < 0.5 else len(tree.body)
    tree.body[at:at] = chosen
    return tree


def _defined(tree: ast.Module) -> Iterator[str]:
    return (each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef))


#: What may follow what: the form of results before what wraps functions.
WAYS: tuple[Way, ...] = (
    synonyms, dictionaries, named_tuples, data_classes, swapped, keywords_alone, more_settings, methods,
    static_methods, decorated, turned_round, annotated, beside_others,
)  # fmt: skip
