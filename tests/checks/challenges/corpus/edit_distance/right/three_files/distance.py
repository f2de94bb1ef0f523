def levenshtein(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a):
        current = [i + 1]
        for j, y in enumerate(b):
            current.append(min(previous[j + 1] + 1, current[j] + 1, previous[j] + (x != y)))
        previous = current
    return previous[-1]
