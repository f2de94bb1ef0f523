"""The engine's process, seen from the screen."""
