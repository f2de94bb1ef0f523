"""The ``challenge.py`` that stands beside a problem of KernelBench: it runs in its author's jail alone."""

from __future__ import annotations

import string

__all__ = ["FOR_NUMPY", "FOR_TORCH", "WRAPPER"]

WRAPPER = string.Template('''\
"""$title"""

# Written by: judge-tui challenge import kernelbench. The problem lies beside this, as it was published.
import ast
import functools
import random
import types
from pathlib import Path

import numpy as np
$imports
PROBLEM = $file
NAMES = ["ModelNew.forward", "ModelNew"]
$rules
# Answers draw their weights under this seed, and so does the reference: who draws in its order has the same.
SEED = 42
# What get_inputs and get_init_inputs give, by the names of what forward and the constructor take.
FORWARD = $forward
INIT = $init
# The problem's own sizes scaled down; under BENCH, at last, those that it was published with.
CASES = $cases
BENCH = $bench
NOT_GIVEN = object()


def _problem(sizes):
    """The published file as a module, with other sizes in place of its own."""
    tree = ast.parse(Path(__file__).with_name(PROBLEM).read_bytes(), PROBLEM)
    body = []
    for node in tree.body:
        body.append(node)
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        for name in sorted(bound & sizes.keys()) if isinstance(node, (ast.Assign, ast.AnnAssign)) else ():
            instead = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(sizes[name]))
            body.append(ast.copy_location(instead, node))
    module = types.ModuleType("published")
    module.__file__ = PROBLEM
    tree.body = body
    exec(compile(ast.fix_missing_locations(tree), PROBLEM, "exec"), vars(module))
    return module


@functools.cache
def _published():
    return _problem({})


def inputs(rng, **sizes):
    """What get_inputs and get_init_inputs of the problem give."""
    problem = _problem(sizes)
    _seed(int(rng.integers(2**31)))
    drawn = dict(zip(FORWARD, map(_plain, problem.get_inputs())))
    return drawn | dict(zip(INIT, problem.get_init_inputs()))


def reference($signature):
    """What the problem's Model gives."""
    _seed(SEED)
    model = _published().Model(*_given($starts))
    return _plain(_called(model, _given($values)))


def _given(*values):
    return [value for value in values if value is not NOT_GIVEN]


$helpers''')

FOR_TORCH = """\
def _seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def _called(model, values):
    tensors = [torch.from_numpy(np.array(each)) if isinstance(each, np.ndarray) else each for each in values]
    if any(isinstance(each, torch.Tensor) and each.dtype == torch.float64 for each in tensors):
        model = model.double()
    with torch.no_grad():
        return model(*tensors)


def _plain(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = value.float() if value.dtype == torch.bfloat16 else value
        return value.numpy() if value.ndim else value.item()
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
"""

FOR_NUMPY = """\
def _seed(seed):
    random.seed(seed)
    np.random.seed(seed)


def _called(model, values):
    return (model if callable(model) else model.forward)(*values)


def _plain(value):
    return value
"""
