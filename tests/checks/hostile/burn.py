"""Resource attack: burn the processor until the limit says stop."""

while True:
    pass
