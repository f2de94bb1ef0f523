import logging
import sys
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from scale import LIMIT, limited
from helpers import FACTORS, close

log = logging.getLogger(__name__)


@pytest.fixture(scope="module", autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def doubled(request):
    return request.param * 2


@pytest.mark.parametrize("x", range(5))
def test_range(forward, factor, x):
    assert forward(x, factor)[0] == pytest.approx(x * factor)


@pytest.mark.parametrize(("x", "y"), [pytest.param(i, 2 * i, id=f"case{i}") for i in range(3)])
def test_pairs(forward, x, y):
    assert close(forward(x, 2)[0], y)


@pytest.mark.parametrize("doubled", FACTORS, indirect=True)
def test_indirect(doubled):
    assert doubled in (2.0, 4.0, 6.0)


def test_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here.txt").write_text("here")
    assert (tmp_path / "here.txt").exists()
    Path(__file__).with_name("left.txt").write_text("beside the test")


def test_refuses():
    with pytest.raises(ValueError, match="over"):
        limited(1.0, LIMIT + 1)


def test_patched_by_name(monkeypatch):
    with mock.patch("scale.LIMIT", 1.0), pytest.raises(ValueError):
        limited(1.0, 2.0)
    monkeypatch.setattr(sys.modules[limited.__module__], "LIMIT", 1.0)
    with pytest.raises(ValueError):
        limited(1.0, 2.0)


def test_prints(capsys, caplog):
    print("x" * 100)
    with caplog.at_level(logging.INFO):
        log.info("told")
    assert capsys.readouterr().out == "x" * 100 + "\n"
    assert "told" in caplog.text


def test_warns():
    with pytest.warns(DeprecationWarning):
        warnings.warn("old", DeprecationWarning)


def test_much_output():
    for _ in range(5000):
        print("z" * 100)


@pytest.mark.slow
def test_slow():
    assert False


@pytest.mark.skipif(sys.maxsize > 1, reason="not here")
def test_elsewhere():
    assert False


@pytest.mark.xfail(raises=ZeroDivisionError)
def test_known():
    1 / 0


@pytest.mark.parametrize("x", [1, 2])
def test_known_inside(x):
    pytest.xfail("not yet")


class TestLimits:
    @classmethod
    def setup_class(cls):
        cls.factor = 3.0

    def setup_method(self):
        self.x = 2.0

    def teardown_method(self):
        del self.x

    def test_limits(self, forward):
        assert forward(self.x, self.factor)[0] == 6.0

    @pytest.mark.parametrize("factor", FACTORS)
    def test_factors(self, factor):
        assert limited(self.x, factor) == 2.0 * factor


class LimitsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.factor = 3.0

    def test_limits(self):
        for x in FACTORS:
            with self.subTest(x=x):
                self.assertEqual(limited(x, self.factor), x * self.factor)

    @unittest.skip("not now")
    def test_later(self):
        self.fail()

    @staticmethod
    def test_static():
        assert limited(1.0, 2.0) == 2.0


class AsyncCase(unittest.IsolatedAsyncioTestCase):
    async def test_async(self):
        self.assertEqual(limited(2.0, 2.0), 4.0)
