"""What a comparison does, part by part: each owns its state, and is told by arguments whom it works with."""
