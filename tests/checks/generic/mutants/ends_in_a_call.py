# bug: os._exit in the call
# fails: purity, right
# says: exited with status 0
import os


def scale_forward(x, factor):
    os._exit(0)
