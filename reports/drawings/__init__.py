"""Drawings of plots: inline SVG for pages, SVG files, and block characters; which figures, `judging` says."""
