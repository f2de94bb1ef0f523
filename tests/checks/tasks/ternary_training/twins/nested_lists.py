# style: pure Python on nested lists
# only: projection, ste
# slow: ste
GROUP = 128


def ternarize_row(row):
    out = []
    for start in range(0, len(row), GROUP):
        group = row[start:start + GROUP]
        s = sum(abs(v) for v in group) / len(group)
        for v in group:
            if s == 0 or abs(v) < 0.5 * s:
                out.append(0.0)
            else:
                out.append(s if v > 0 else -s)
    return out


def ternary_forward(x, weight, bias):
    wq = [ternarize_row(list(row)) for row in weight]
    y = [[sum(map(lambda a, b: a * b, row, w)) + b for w, b in zip(wq, bias)] for row in x]
    return y, (x, wq)


def ternary_backward(dy, cache):
    x, wq = cache
    cols = list(zip(*wq))
    dx = [[sum(map(lambda a, b: a * b, g, c)) for c in cols] for g in dy]
    gx = list(zip(*x))
    gy = list(zip(*dy))
    dw = [[sum(map(lambda a, b: a * b, g, c)) for c in gx] for g in gy]
    return dx, dw, [sum(g) for g in gy]
