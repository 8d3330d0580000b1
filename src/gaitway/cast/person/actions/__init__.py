"""Jumps, ducks, crawling and gestures: fitted curves and whole-body contacts."""
