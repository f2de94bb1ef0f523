"""Bellman and Ford: every road is tried both ways until nothing gets shorter."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf


@dataclass
class Roads:
    nodes: int
    ways: list[tuple[int, int, int]] = field(default_factory=list)

    @classmethod
    def read(cls) -> "Roads":
        nodes, count = map(int, input().split())
        roads = cls(nodes)
        for _ in range(count):
            a, b, length = map(int, input().split())
            roads.ways += [(a, b, length), (b, a, length)]
        return roads

    def measured(self) -> tuple[list[float], list[int]]:
        length, before = [inf] * (self.nodes + 1), [0] * (self.nodes + 1)
        length[1], changed = 0, True
        while changed:
            changed = False
            for a, b, way in self.ways:
                if length[a] + way < length[b]:
                    length[b], before[b], changed = length[a] + way, a, True
        return length, before


def back(before: list[int], node: int) -> Iterator[int]:
    while node:
        yield node
        node = before[node]


if __name__ == "__main__":
    roads = Roads.read()
    length, before = roads.measured()
    if length[-1] == inf:
        print(-1)
    else:
        print(length[-1], " ".join(map(str, list(back(before, roads.nodes))[::-1])), sep="\n")
