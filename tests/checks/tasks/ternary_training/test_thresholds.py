"""A threshold that hangs on no scale is read off weights of many sizes."""

import numpy as np
import pytest

from judge_tui.checks.tasks.ternary_training.thresholds import fixed_threshold


def by(threshold):
    def project(weight):
        s = np.abs(weight).mean(axis=1, keepdims=True)
        return s * np.where(np.abs(weight) > threshold(s), np.sign(weight), 0.0)

    return project


@pytest.mark.parametrize("at", [0.05, 3e-4, 0.7])
def test_a_fixed_threshold_is_found(at):
    assert fixed_threshold(by(lambda s: at), 3) == pytest.approx(at, rel=0.02)


def test_one_that_hangs_on_the_scale_and_none_are_none():
    assert fixed_threshold(by(lambda s: s / 2), 3) == 0.0
    assert fixed_threshold(by(lambda s: 0.0), 3) == 0.0
    assert fixed_threshold(by(lambda s: 1e3), 3) == 0.0
