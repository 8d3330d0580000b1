"""Compiled loop that draws the moves of a tree."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel


@kernel(borrows=True)
def draw_moves(
    links: npt.NDArray[np.uint32],
    poses: FloatArray,
    costs: FloatArray,
    starts: IntArray,
    points: FloatArray,
    place: FloatArray,
    every: int,
    amounts: FloatArray,
    least: FloatArray,
) -> None:
    """Count the points of moves in each pixel, and keep the least cost of a path there.

    Args:
        links: links of the nodes, see `Tree`; (N,).
        poses: end poses of the nodes: x, y [m], heading [rad]; (N, 3).
        costs: costs of the paths to them; (N,).
        starts: first point of each move, and P at the end; (M + 1,).
        points: along the moves [m]; (P, 2).
        place: metres to the right and ahead at the lower left corner, and pixels a metre; (3,).
        every: step between nodes that are drawn.
        amounts: written; (rows, columns), the first row is the farthest ahead.
        least: written; (rows, columns).
    """
    rows, columns = amounts.shape
    for node in range(1, len(links), every):
        parent, move = links[node] >> 8, links[node] & 255
        x, y = poses[parent, 0], poses[parent, 1]
        cosine, sine = math.cos(poses[parent, 2]), math.sin(poses[parent, 2])
        for k in range(starts[move], starts[move + 1]):
            ahead = x + cosine * points[k, 0] - sine * points[k, 1]
            left = y + sine * points[k, 0] + cosine * points[k, 1]
            row = rows - 1 - math.floor((ahead - place[1]) * place[2])
            column = math.floor((-left - place[0]) * place[2])
            if 0 <= row < rows and 0 <= column < columns:
                amounts[row, column] += 1.0
                least[row, column] = min(least[row, column], costs[node])
