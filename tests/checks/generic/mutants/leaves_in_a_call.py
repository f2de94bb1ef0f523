# bug: sys.exit in the call
# fails: purity, right
# says: raised SystemExit
import sys


class Scale:
    def forward(self, x, factor):
        sys.exit("done")
