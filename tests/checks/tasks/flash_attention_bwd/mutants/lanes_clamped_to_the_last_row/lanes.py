"""Lane bookkeeping shared by the forward and the backward tick.

Every tile is a full group of `width` lanes, the last one included: lanes past
the end of the sequence point at the last row and carry `live = False`.  All
groups having one shape, the ticks need no special case for a ragged tail.
"""
import numpy as np


class LaneTable:
    """Structure of arrays: index[group, lane] and live[group, lane]."""

    def __init__(self, count, width):
        if width < 1:
            raise ValueError("lane width must be at least 1")
        groups = (count + width - 1) // width
        raw = np.arange(groups * width).reshape(groups, width)
        self.live = raw < count
        self.index = np.minimum(raw, count - 1)
        self.groups, self.width = groups, width


def visible(q_index, q_live, k_index, k_live, causal):
    """(width, width) table: may this query lane read this key lane?"""
    table = q_live[:, None] & k_live[None, :]
    if causal:
        table &= k_index[None, :] <= q_index[:, None]
    return table
