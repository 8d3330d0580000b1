"""Plans of parts of triangle meshes: what the mesh between two heights covers of the floor.

For a closed mesh that is the section at the lower height together with the projection of all surface between the two.
Proof: from a point of the solid between the heights go straight down. Either the way to the lower height is all solid,
and the point lies over the section there; or the way leaves the solid before, through surface that faces down, and the
point lies over that. The other way round, surface and section are limits of solid points between the heights.

Neither is put together triangle by triangle. Turned anticlockwise in plan, every triangle winds once around each of its
points, so that the winding number of all their edges together counts the triangles over a point; an edge that two
triangles run along in opposite directions cancels, which leaves little more than the outline. The edges of a section,
laid with the solid on their left, count in the same way the solids that overlap there.
"""

from __future__ import annotations

import numpy as np
import shapely

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.world.footprint import Footprint

_PAIRS_AT_ONCE = 4_000_000
"""Number of pairs of face and edge that are compared at once; bounds the memory."""
_FEW_EDGES, _FEW_SHARE = 1000, 0.5
"""With more edges than this left over, or this share of the triangles (a crumpled mesh), it is quicker to unite the
triangles one by one."""
_GRID = 1e-9
"""Rounding of plans [m], so that edges which should meet or coincide do."""
_UPRIGHT = 1e-9
"""Triangles whose plan is less than this share of their longest side squared are lines in plan."""
_DOWN = np.array([1.0, 1.0, -1.0])


def plan_of(corners: FloatArray, low: float, high: float, closed: bool, oriented: bool) -> Footprint:
    """Return what the part of a mesh strictly between two heights covers.

    Args:
        corners: corners of the triangles [m]; (T, 3, 3).
        low: lower height [m].
        high: upper height [m].
        closed: whether the triangles enclose solids; if not, only the surface counts, and upright faces are lines.
        oriented: whether all of them are anticlockwise seen from outside.
    """
    if low > high:
        return Footprint.of_rings([])
    section = np.round(_section(corners, low), 9) if closed and np.isfinite(low) else np.empty((0, 2, 2))
    between = np.round(_above(_above(corners, low) * _DOWN, -high)[..., :2], 9)
    twice = _twice_area(between)
    facing_down = twice < 0.0 if closed and oriented else twice != 0.0
    faces = np.where((twice < 0.0)[:, None, None], between[:, ::-1], between)[facing_down]
    area = shapely.union(_wound(*_chain(section), not oriented), _covered(faces), grid_size=_GRID)
    lines = shapely.LineString() if closed else _lines(between, twice).difference(area, grid_size=_GRID)
    return _footprint(area, lines)


def _above(corners: FloatArray, level: float) -> FloatArray:
    """Return the parts of triangles (T, 3, 3) above a level, as triangles with the same sense."""
    if not np.isfinite(level):
        return corners if level < 0.0 else corners[:0]
    high = corners[..., 2] > level
    count = high.sum(axis=1)
    one, two = _turned(corners, high, count == 1), _turned(corners, ~high, count == 2)
    tips = [one[:, 0], _crossing(one[:, 1], one[:, 0], level), _crossing(one[:, 2], one[:, 0], level)]
    left, right = _crossing(two[:, 0], two[:, 1], level), _crossing(two[:, 0], two[:, 2], level)
    quads = [(left, two[:, 1], two[:, 2]), (left, two[:, 2], right)]
    return np.concatenate([corners[count == 3], *(np.stack(t, axis=1) for t in (tips, *quads))])


def _section(corners: FloatArray, level: float) -> FloatArray:
    """Return the directed edges (E, 2, 2) in which triangles cut a level, solid on the left.

    A corner at the level itself counts as below it: this is the section of what lies just above.
    """
    high = corners[..., 2] > level
    count = high.sum(axis=1)
    one, two = _turned(corners, high, count == 1), _turned(corners, ~high, count == 2)
    over = [_crossing(one[:, 1], one[:, 0], level), _crossing(one[:, 2], one[:, 0], level)]
    under = [_crossing(two[:, 0], two[:, 2], level), _crossing(two[:, 0], two[:, 1], level)]
    return np.concatenate([np.stack(over, axis=1), np.stack(under, axis=1)])[..., :2]


def _turned(corners: FloatArray, marked: BoolArray, which: BoolArray) -> FloatArray:
    """Return some triangles, turned so that the one marked corner of each is the first."""
    chosen = corners[which]
    first = np.argmax(marked[which], axis=1)
    return np.asarray(chosen[np.arange(len(chosen))[:, None], (first[:, None] + np.arange(3)) % 3])


def _crossing(below: FloatArray, above: FloatArray, level: float) -> FloatArray:
    """Return where edges cross a level. Always from below, so that both triangles at an edge get the same number."""
    share = (level - below[:, 2:]) / (above[:, 2:] - below[:, 2:])
    return np.asarray(below + share * (above - below))


def _twice_area(plan: FloatArray) -> FloatArray:
    a, b, c = plan[:, 0], plan[:, 1], plan[:, 2]
    return np.asarray((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]))


def _covered(faces: FloatArray) -> shapely.Geometry:
    """Return where any of the faces (T, 3, 2), anticlockwise in plan, is."""
    rim, weight = _chain(np.concatenate([faces[:, [k, (k + 1) % 3]] for k in range(3)]))
    if len(rim) > max(_FEW_EDGES, _FEW_SHARE * len(faces)):
        return shapely.union_all(shapely.polygons(faces), grid_size=_GRID)
    return _wound(rim, weight, False)


def _wound(edges: FloatArray, weight: IntArray, even_odd: bool) -> shapely.Geometry:
    """Return where weighted edges (E, 2, 2) wind around (or, if even_odd, do so an odd number of times)."""
    if not len(edges):
        return shapely.Polygon()
    noded = shapely.union_all(shapely.linestrings(edges), grid_size=_GRID)
    parts = shapely.get_parts(shapely.polygonize(shapely.get_parts(noded)))
    count = _winding(shapely.get_coordinates(shapely.point_on_surface(parts)), edges, weight)
    return shapely.union_all(parts[count % 2 != 0 if even_odd else count != 0], grid_size=_GRID)


def _chain(edges: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return each edge (E, 2, 2) once, and how many more run along it forward than backward.

    Those in balance are left out.
    """
    points, index = np.unique(edges[..., 0].ravel() + 1j * edges[..., 1].ravel(), return_inverse=True)
    start, end = index.reshape(-1, 2).T
    backward = start > end
    keys = np.where(backward, end, start) * len(points) + np.where(backward, start, end)
    unique, which = np.unique(keys[start != end], return_inverse=True)
    weight = np.bincount(which, np.where(backward, -1, 1)[start != end], len(unique)).astype(np.int64)
    unique, weight = unique[weight != 0], weight[weight != 0]
    ends = points[np.stack(np.divmod(unique, max(len(points), 1)), axis=1)]
    return np.stack([ends.real, ends.imag], axis=-1), weight


def _winding(places: FloatArray, edges: FloatArray, weight: IntArray) -> IntArray:
    """Return how often weighted edges (E, 2, 2) wind around points (N, 2)."""
    out = np.zeros(len(places), np.int64)
    (ax, ay), (bx, by) = edges[:, 0].T, edges[:, 1].T
    step = max(1, _PAIRS_AT_ONCE // max(len(edges), 1))
    for start in range(0, len(places) if len(edges) else 0, step):
        x, y = (v[:, None] for v in places[start : start + step].T)
        up = (by > y).astype(np.int64) - (ay > y)
        # Multiplied out instead of divided: level edges never count, and have no crossing to compute.
        right = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) * up > 0.0
        out[start : start + step] = (up * right) @ weight
    return out


def _lines(plan: FloatArray, twice: FloatArray) -> shapely.Geometry:
    """Return the plans of upright triangles: one line each, between the two corners that are farthest apart."""
    sides = np.stack([plan[:, [k, (k + 1) % 3]] for k in range(3)], axis=1)
    lengths = np.linalg.norm(sides[:, :, 1] - sides[:, :, 0], axis=-1)
    longest = lengths.max(axis=1, initial=0.0)
    upright = (np.abs(twice) <= _UPRIGHT * longest**2) & (longest > 0.0)
    chosen = sides[np.arange(len(sides)), np.argmax(lengths, axis=1)][upright] if len(sides) else np.empty((0, 2, 2))
    return shapely.line_merge(shapely.union_all(shapely.linestrings(chosen)))


def _footprint(area: shapely.Geometry, lines: shapely.Geometry) -> Footprint:
    polygons = [p for p in shapely.get_parts(area) if p.geom_type == "Polygon" and p.area > 0.0]
    rings = [shapely.get_coordinates(r)[:-1] for p in polygons for r in (p.exterior, *p.interiors)]
    for line in shapely.get_parts(lines):
        chain = shapely.get_coordinates(line)
        rings += [chain[k : k + 2] for k in range(len(chain) - 1)]
    return Footprint.of_rings(rings)
