def top_k(scores, k):
    values, indices = [], []
    for row in scores.tolist():
        order = sorted(range(len(row)), key=lambda i: -row[i])
        indices.append([order[j] for j in range(k)])
        values.append([row[i] for i in indices[-1]])
    return values, indices
