import numpy as np


def visible(rows, cols):
    return np.asarray(rows)[:, None] >= np.asarray(cols)[None, :]
