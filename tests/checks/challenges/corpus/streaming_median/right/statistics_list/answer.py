import statistics
from dataclasses import dataclass, field
from typing import Iterable, List


@dataclass
class StreamingMedian:
    numbers: List[float] = field(default_factory=list)

    def add(self, number: float) -> None:
        self.numbers.append(number)

    def median(self) -> float:
        return statistics.median(self.numbers)  # StatisticsError is a ValueError


def running_medians(values: Iterable[float]) -> List[float]:
    values = list(values)
    return [statistics.median(values[: i + 1]) for i in range(len(values))]
