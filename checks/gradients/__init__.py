"""Gradients against a function's own differences, at a cost that does not grow with the batch.

An element-wise check of ``dx`` calls the forward twice per element. Where blocks of an
input cannot reach each other's outputs (rows of a layer norm, queries of an attention),
one element of *every* block is perturbed at once, and ±1 projections check all elements
of all blocks by one pair of calls::

    rows = Independence("x", ((0, 0), (1, 1)))             # x (B, T, D): y (B, T, D) row by row
    if independent(forward, at, rows, rng):
        own = differences(forward, at, rows, dy, scale=spread)   # own.value like x, own.noise its error
    all_of_it = central(forward, at, rows, dy, scale=spread)     # two calls per feature of all rows
    shadow = projection(forward, at, rows, dy, signs(rng, x.shape), scale=spread)

``forward`` takes the inputs by name and gives one array; it may be a submission's
(``bench.call``) or a reference. What :func:`differences` gives is the derivative of *that*
function: one that is consistently wrong agrees with itself, so an analytic reference must
be held against it as well. :func:`complex_step` gives derivatives of a reference that take
complex input, exact to rounding.

Source: Squire and Trapp, "Using complex variables to estimate derivatives of real
functions", SIAM Review 40 (1998); Curtis, Powell and Reid, "On the estimation of sparse
Jacobian matrices", IMA J. Appl. Math. 13 (1974), for perturbing independent columns at once.
"""

from judge_tui.checks.gradients.complexstep import complex_step
from judge_tui.checks.gradients.differences import STEPS, Estimate, central, differences
from judge_tui.checks.gradients.independence import Independence, block_sums, independent
from judge_tui.checks.gradients.projections import projection, signs

__all__ = [
    "STEPS",
    "Estimate",
    "Independence",
    "block_sums",
    "central",
    "complex_step",
    "differences",
    "independent",
    "projection",
    "signs",
]
