"""Solids of the world as plain arrays for the audit's kernels; the audit shares no collision code with planners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.audit._solid_kernels import BALL, CONCAVE, CONVEX, MESH, Solids
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.world.footprint import Footprint
from gaitway.world.shapes import Ball, Prism, Solid, TriangleMesh

_LEAF = 4
"""Largest number of triangles in a leaf of the tree over a mesh."""


def gather(solids: Sequence[Solid]) -> Solids:
    """Return all solids in one set of arrays, in their order."""
    kinds, boxes, numbers, spans = [], [], [], []
    edges, nodes, links, corners = [np.empty((0, 5))], [np.empty((0, 6))], [np.empty((0, 2), np.int64)], [_NO_CORNERS]
    edge_count, node_count, corner_count = 0, 0, 0
    for solid in solids:
        if isinstance(solid, Prism):
            sides = _edges(solid.footprint)
            kinds.append(CONVEX if is_convex(solid.footprint) else CONCAVE)
            x0, y0, x1, y1 = solid.footprint.bounds
            boxes.append((x0, y0, solid.bottom, x1, y1, solid.top))
            numbers.append((solid.bottom, solid.top, solid.footprint.radius, 0.0))
            spans.append((edge_count, edge_count + len(sides)))
            edges.append(sides)
            edge_count += len(sides)
        elif isinstance(solid, Ball):
            kinds.append(BALL)
            boxes.append((*(solid.center - solid.radius), *(solid.center + solid.radius)))
            numbers.append((*solid.center, solid.radius))
            spans.append((0, 0))
        else:
            kinds.append(MESH)
            tree, branches, sorted_corners = _tree(solid)
            boxes.append(tuple(tree[0]))
            numbers.append((float(solid.closed), 0.0, 0.0, 0.0))
            spans.append((node_count, 0))
            nodes.append(tree)
            inner = branches[:, 0] >= 0
            shift = np.where(inner[:, None], node_count, np.array([-corner_count, 0]))
            links.append(branches + shift)
            corners.append(sorted_corners)
            node_count, corner_count = node_count + len(tree), corner_count + len(sorted_corners)
    return Solids(
        read_only(np.array(kinds, dtype=np.int64)),
        read_only(np.array(boxes, dtype=np.float64).reshape(-1, 6)),
        read_only(np.array(numbers, dtype=np.float64).reshape(-1, 4)),
        read_only(np.array(spans, dtype=np.int64).reshape(-1, 2)),
        read_only(np.concatenate(edges)),
        read_only(np.concatenate(nodes)),
        read_only(np.concatenate(links)),
        read_only(np.concatenate(corners)),
    )


def stack_of(solids: Solids) -> IntArray | None:
    """Return the `stack` that the kernels need for these solids."""
    return np.empty(64, np.int64) if len(solids.nodes) else None


def chosen(solids: Solids, which: IntArray) -> Solids:
    """Return some of the solids, in the order given."""
    rows = {name: read_only(getattr(solids, name)[which]) for name in ("kinds", "boxes", "numbers", "spans")}
    return solids._replace(**rows)


def is_convex(footprint: Footprint) -> bool:
    """Return whether a footprint is one convex ring, one line or one point, rounded or not."""
    if len(footprint.rings) != 1:
        return False
    ring = footprint.rings[0]
    if len(ring) < 4:
        return True
    step = np.roll(ring, -1, axis=0) - ring
    after = np.roll(step, -1, axis=0)
    bend = step[:, 0] * after[:, 1] - step[:, 1] * after[:, 0]
    turned = np.arctan2(bend, np.sum(step * after, axis=1)).sum()  # a star turns more than once
    return bool(((bend >= -1e-12).all() or (bend <= 1e-12).all()) and abs(abs(turned) - 2.0 * np.pi) < 1e-6)


_NO_CORNERS: FloatArray = np.empty((0, 9))


def _edges(footprint: Footprint) -> FloatArray:
    """Return the ends of all edges, and whether they bound a filled area; (E, 5). A point is an edge of length 0."""
    rows = []
    for ring in footprint.rings:
        filled = len(ring) > 2
        ends = np.roll(ring, -1, axis=0)
        sides = np.column_stack([ring, ends, np.full(len(ring), float(filled))])
        rows.append(sides if filled else sides[:1])
    return np.concatenate([np.empty((0, 5)), *rows])


def _tree(mesh: TriangleMesh) -> tuple[FloatArray, IntArray, FloatArray]:
    """Build a tree over a mesh, halved at the median of the widest axis: boxes (N, 6), links (N, 2) and its corners.

    Corners (T, 9) come in the order of the leaves.
    """
    points = mesh.vertices[mesh.triangles]
    low, high, middle = points.min(axis=1), points.max(axis=1), points.mean(axis=1)
    boxes: list[FloatArray] = []
    links: list[list[int]] = []
    order: list[IntArray] = []
    used = 0
    waiting = [(np.arange(len(points)), -1, 0)]
    while waiting:
        rows, parent, side = waiting.pop()
        me = len(boxes)
        boxes.append(np.concatenate([low[rows].min(axis=0), high[rows].max(axis=0)]))
        if parent >= 0:
            links[parent][side] = me
        if len(rows) <= _LEAF:
            links.append([-1 - used, len(rows)])
            order.append(rows)
            used += len(rows)
            continue
        links.append([0, 0])
        axis = int(np.argmax(np.ptp(middle[rows], axis=0)))
        half = len(rows) // 2
        split = rows[np.argpartition(middle[rows, axis], half)]
        waiting += [(split[half:], me, 1), (split[:half], me, 0)]
    return np.array(boxes), np.array(links, dtype=np.int64), points[np.concatenate(order)].reshape(-1, 9)
