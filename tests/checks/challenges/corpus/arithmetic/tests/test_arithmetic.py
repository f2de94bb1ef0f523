import math

import pytest
from submission import evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("1+2*3", 7), ("(1+2)*3", 9), ("2-3-4", -5), ("24/4/2", 3), ("2*3-4*5", -14), ("((7))", 7)],
)
def test_precedence(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(("text", "value"), [("2^3^2", 512), ("2*3^2", 18), ("-2^2", -4), ("2^-1", 0.5)])
def test_powers(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(("text", "value"), [("-3+5", 2), ("--3", 3), ("2*-3", -6), ("-(1+2)", -3), ("+4", 4)])
def test_signs(text, value):
    assert evaluate(text) == value


def test_blanks_and_decimals():
    assert evaluate("  1.5 *\t4 ") == pytest.approx(6.0)
    assert evaluate(".5+1.") == 1.5


def test_integers_stay_integers_of_any_size():
    value = evaluate("12345678901234567890*98765432109876543210+1")
    assert isinstance(value, int)
    assert value == 12345678901234567890 * 98765432109876543210 + 1


def test_division_gives_a_float():
    value = evaluate("7/2")
    assert isinstance(value, float) and math.isclose(value, 3.5)


@pytest.mark.parametrize("text", ["", "  ", "1+", "*2", "(1", "1)", "()", "1 2", "1..2", "abs(3)", "x", "2**3", "1_0"])
def test_what_is_no_expression(text):
    with pytest.raises(SyntaxError):
        evaluate(text)


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError):
        evaluate("1/(2-2)")


def test_depth():
    assert evaluate("(" * 90 + "1" + ")" * 90) == 1


def test_long_sums():
    assert evaluate("+".join(["1"] * 3000)) == 3000
