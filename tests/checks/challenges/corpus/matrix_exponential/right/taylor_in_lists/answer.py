def matmul(x, y):
    return [[sum(a * b for a, b in zip(row, col)) for col in zip(*y)] for row in x]


def matrix_exponential(matrix):
    n = len(matrix)
    rows = [[float(v) for v in row] for row in matrix]
    squarings = 0
    while max((sum(map(abs, row)) for row in rows), default=0) > 0.25:
        rows = [[v / 2 for v in row] for row in rows]
        squarings += 1
    result = [[float(i == j) for j in range(n)] for i in range(n)]
    term = [row[:] for row in result]
    for k in range(1, 20):
        term = [[v / k for v in row] for row in matmul(term, rows)]
        result = [[p + q for p, q in zip(r, t)] for r, t in zip(result, term)]
    for _ in range(squarings):
        result = matmul(result, result)
    return result
