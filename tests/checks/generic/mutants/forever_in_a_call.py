# bug: the call never returns
# fails: purity, right
# says: took longer than its budget
# budget: 6

def scale_forward(x, factor):
    while True:
        pass
