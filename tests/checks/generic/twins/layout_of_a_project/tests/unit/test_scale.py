import numpy as np
import pytest

from scaling.core import scaled

from ..support import numbers

try:
    import no_such_module_anywhere as torch
except ImportError:
    torch = None

cases = [(n, f) for n in (1, 3) for f in np.geomspace(0.1, 10, 3)]

if torch is None:

    @pytest.mark.parametrize(("n", "factor"), cases)
    def test_without_torch(n, factor):
        np.testing.assert_array_equal(scaled(numbers(n), factor), numbers(n) * factor)

else:

    def test_with_torch():
        assert torch.tensor(1.0) == 1.0
