import bisect
from typing import NamedTuple

import numpy as np


class Slot(NamedTuple):
    start: int
    stop: int


class Solution:
    def schedule(self, intervals):
        slots = sorted((Slot(*each) for each in intervals), key=lambda slot: slot.stop)
        stops = [slot.stop for slot in slots]
        best = [[]]
        for i, slot in enumerate(slots):
            before = bisect.bisect_right(stops, slot.start, 0, i)
            with_it = best[before] + [slot]
            best.append(with_it if len(with_it) > len(best[i]) else best[i])
        return best[-1]
