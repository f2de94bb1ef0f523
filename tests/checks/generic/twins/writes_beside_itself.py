# right: a main script that keeps a log and a figure beside itself, and reads them again
# says: 1 script: 1 passed
import json
import os
from pathlib import Path

import numpy as np


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def main():
    here = Path(os.path.abspath(__file__)).parent
    y, _ = scale_forward(np.arange(3.0), np.array([1.0, 2.0, 3.0]))
    (here / "log.json").write_text(json.dumps({"y": y.tolist()}))
    os.makedirs("figures", exist_ok=True)
    np.save("figures/y.npy", y)
    assert json.loads(Path("log.json").read_text())["y"] == np.load(here / "figures" / "y.npy").tolist()


if __name__ == "__main__":
    main()
