"""NumPy computes on a worker as it does here: the last digits hang on how many threads share a product."""

from __future__ import annotations

import os
import subprocess
import sys

ASKED = """
import numpy
from judge_tui.checks.cluster.threads import one_thread, threads
before = threads()
one_thread()
print(before, threads())
"""


def test_threads_that_numpy_was_imported_with_are_taken_back() -> None:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", ASKED], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() in (["2", "1"], ["1", "1"], ["None", "None"])
