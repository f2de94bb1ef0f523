from judge_tui.checks.verdict import Curve
from judge_tui.tui.look.plots import plot


def test_a_point_without_a_finite_value_is_left_out_and_counted() -> None:
    # as a curve comes back from JSON, which has no infinity
    curve = Curve("step", "loss", ((1.0, 2.0), (2.0, None), (3.0, float("inf")), (4.0, 8.0)))
    drawn = plot(curve)
    assert drawn[0].startswith("8 ┤")
    assert drawn[-1].strip() == "2 points are not finite, or not positive on a logarithmic scale"
