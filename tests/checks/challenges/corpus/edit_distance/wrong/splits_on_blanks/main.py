import sys


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


words = sys.stdin.read().split()
for k in range(int(words[0])):
    print(distance(words[2 * k + 1], words[2 * k + 2]))
