"""Colours, signs and measures of the screen."""
