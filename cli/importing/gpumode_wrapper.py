"""The files that stand beside a problem of gpu-mode: they run in its author's jail alone."""

from __future__ import annotations

import string

__all__ = ["CHECK", "FOR_NUMPY", "FOR_TORCH", "TASK", "UTILS", "WRAPPER"]

WRAPPER = string.Template('''\
"""$title"""

# Written by: judge-tui challenge import gpumode. reference.py and what it imports are as they were published.
$imports
import reference as published

NAMES = ["custom_kernel"]
$rules
# The tests' and the benchmarks' sizes; seeds are drawn.
CASES = $cases
BENCH = $bench


def inputs(rng, **sizes):
    """What generate_input of the problem gives."""
    with _here():
        return {"data": _plain(published.generate_input(**sizes$seed))}


def reference(data):
    """What ref_kernel of the problem gives."""
    with _here():
        return _plain(published.ref_kernel(_given(data)))
$check

$helpers''')

CHECK = '''

def check(result, data):
    """What check_implementation of the problem says: nothing, or what is wrong."""
    with _here():
        told = published.check_implementation(_given(data), _given(result))
    if isinstance(told, tuple):
        return None if told[0] else str(told[1]) or "is wrong"
    return told if isinstance(told, bool) else str(told or "") or None
'''

FOR_TORCH = '''\
class _here(TorchFunctionMode):
    """Where there is no GPU, what is asked for there is made here; what would be left unset is zero."""

    _UNSET = {torch.empty: torch.zeros, torch.empty_like: torch.zeros_like}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if not torch.cuda.is_available():
            if func is torch.Tensor.cuda:
                return args[0]
            args = tuple("cpu" if _on_gpu(each) else each for each in args)
            kwargs |= {name: "cpu" for name, value in kwargs.items() if _on_gpu(value)}
        return self._UNSET.get(func, func)(*args, **kwargs)


class _Torch:
    """The same for generators, which no mode sees."""

    def __getattr__(self, name):
        return getattr(torch, name)

    def Generator(self, device="cpu"):
        return torch.Generator("cpu")


if not torch.cuda.is_available():
    published.torch = _Torch()


def _on_gpu(value):
    return isinstance(value, (str, torch.device)) and str(value).startswith("cuda")


def _given(value):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(_given, value))
    return {key: _given(item) for key, item in value.items()} if isinstance(value, dict) else value


def _plain(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    if isinstance(value, (tuple, list)):
        return type(value)(map(_plain, value))
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
'''

FOR_NUMPY = """\
def _here():
    return contextlib.nullcontext()


def _given(value):
    return value


def _plain(value):
    return value
"""

TASK = '''\
"""Names that reference.py wants for its annotations; the problem came without them."""

from typing import Any

input_t = output_t = TestSpec = Any
'''

UTILS = '''\
"""What reference.py may want to compare with; the problem came without its own."""

import contextlib

import numpy as np


def _array(value):
    value = value.detach().cpu() if hasattr(value, "detach") else value
    return np.asarray(value)


def verbose_allclose(received, expected, rtol=1e-05, atol=1e-08, max_print=5):
    """What is further off than rtol and atol let it be, a sentence each."""
    mine, right = _array(received), _array(expected)
    if mine.shape != right.shape:
        return [f"shape {mine.shape} instead of {right.shape}"]
    bad = np.argwhere(~np.isclose(mine, right, rtol=rtol, atol=atol, equal_nan=True))
    told = [f"{mine[at]} instead of {right[at]} at {at}" for at in map(tuple, bad[:max_print].tolist())]
    return [f"{len(bad)} of {right.size} entries are off", *told] if len(bad) else []


def verbose_allequal(received, expected, max_print=5):
    """What differs, a sentence each."""
    return verbose_allclose(received, expected, 0.0, 0.0, max_print)


def match_reference(data, output, reference, rtol=1e-05, atol=1e-08):
    """Whether an output is the reference's, and what is off."""
    told = verbose_allclose(output, reference(data), rtol=rtol, atol=atol)
    return not told, "; ".join(told)


def make_match_reference(reference, **tolerances):
    """The same as a check of data and output."""
    return lambda data, output: match_reference(data, output, reference, **tolerances)


class DeterministicContext(contextlib.nullcontext):
    """Nothing here is left to chance anyway."""

    def __init__(self):
        super().__init__()


DisableCuDNNTF32 = DeterministicContext
'''
