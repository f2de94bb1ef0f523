from itertools import groupby
from sys import argv, stdin


class Wrapper:
    def __init__(self, width):
        if width < 1:
            raise ValueError(width)
        self.width = width

    def __call__(self, text):
        return [*self._lines(text.split())]

    def _lines(self, words):
        start = size = 0
        for i, word in enumerate(words):
            size += len(word) + 1
            if size - 1 > self.width and i > start:
                yield " ".join(words[start:i])
                start, size = i, len(word) + 1
        if words:
            yield " ".join(words[start:])


def wrap(text, width=70):
    return Wrapper(width)(text)


if __name__ == "__main__":
    first, *others = stdin.read().splitlines()
    shown = False
    for some, lines in groupby(others, key=lambda line: bool(line.strip())):
        if some:
            print("\n" * shown + "\n".join(wrap("\n".join(lines), int(first))))
            shown = True
