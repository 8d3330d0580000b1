"""Turns, side-walk, stairs, box and block: motion driven by footprints."""
