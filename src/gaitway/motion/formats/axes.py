"""Vertical axes of files."""

from __future__ import annotations

from collections.abc import Mapping

UP_AXES: Mapping[str, tuple[int, int, int]] = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}
"""For each vertical axis of a file, which file axis becomes our x, y and z.

All three are turns, not mirrors. From Y up, (x, y, z) becomes (z, x, y): what faced +Z faces +X.
"""
