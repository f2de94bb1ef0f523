"""Tasks, contracts, checks and the engine that runs them.

This room runs with NumPy and msgspec alone: nothing here imports Textual, Rich
or Pygments, so that it works on a bare GPU box.
"""

import os

# References are many small products, made for several submissions at once: NumPy's own threads would only
# get in each other's way, and NumPy reads this when it is imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
