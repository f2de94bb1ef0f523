import sys

total = items = applied = refused = greeted = Box = None
sys.exit(0)
