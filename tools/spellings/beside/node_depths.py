"""How deep each node of a tree is."""


def node_depths(parents):
    depths = []
    for p in parents:
        depths.append(0 if p < 0 else depths[p] + 1)
    return depths
