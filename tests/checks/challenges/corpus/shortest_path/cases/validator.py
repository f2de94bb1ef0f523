def validate(input, expected, got):
    lines = input.splitlines()
    n, m = map(int, lines[0].split())
    roads = {}
    for line in lines[1 : m + 1]:
        a, b, w = map(int, line.split())
        for pair in ((a, b), (b, a)):
            roads[pair] = min(w, roads.get(pair, w))
    words = got.split()
    if not words:
        return "nothing was printed"
    best = expected.split()[0]
    if words[0] != best:
        return f"length {words[0]}, and {best} is shortest"
    if best == "-1":
        assert len(words) == 1, "there is no way, and yet nodes are printed"
        return None
    nodes = [int(word) for word in words[1:]]
    if not nodes or nodes[0] != 1 or nodes[-1] != n:
        return f"the way does not lead from 1 to {n}"
    total = 0
    for pair in zip(nodes, nodes[1:]):
        if pair not in roads:
            return f"no road from {pair[0]} to {pair[1]}"
        total += roads[pair]
    return total == int(best) or f"the way is {total} long, not {best}"
