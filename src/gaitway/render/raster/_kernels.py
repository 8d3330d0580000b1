"""Compiled loops of the rasteriser: plain arrays in, plain arrays out.

No kernel starts threads. All release the interpreter lock, so that the caller can run one call for each band of rows on
several threads. Each band writes its own rows only, so the picture is the same for any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Single = npt.NDArray[np.float32]
Index = npt.NDArray[np.int32]
Flags = npt.NDArray[np.uint8]

X, Y, CLOSENESS = 0, 1, 2
"""Columns of projected points: pixel x, pixel y, and closeness (larger is nearer)."""
RIGHT, UP, SIGHT = 0, 1, 2
"""Rows of the axes of a view."""
LOW_X, LOW_Y, HIGH_X, HIGH_Y = 0, 1, 2, 3
"""Entries of the focus of a scene light."""
TILE = 16
"""Side of the tiles of a picture [px]: each is drawn as a whole, or not at all."""
CELL = 16
"""Side of the cells of a shadow picture [texels], of which it is known whether there is any shadow in them."""
PATCH = 4
"""Side of the patch of the light's picture that the light of a point depends on [texels]."""
_NARROW = 6
"""Columns up to which all of a triangle's box are looked at: to find its span in a row would take longer."""


class View(NamedTuple):
    """A camera as plain numbers."""

    eye: FloatArray
    axes: FloatArray
    """Rows right, up, sight; (3, 3)."""
    scale: float
    """Pixels a metre, at a depth of one metre if perspective."""
    centre_x: float
    centre_y: float
    perspective: bool


class SceneLight(NamedTuple):
    """Light, ground and backdrop as plain numbers; colours are linear RGB."""

    light: FloatArray
    """Unit vector towards the key light."""
    key: FloatArray
    sky: FloatArray
    bounce: FloatArray
    ground: FloatArray
    line: FloatArray
    backdrop_low: FloatArray
    backdrop_high: FloatArray
    focus: FloatArray
    """Lower x and y, upper x and y of the rectangle around everything that stands on the floor [m]; (4,)."""
    fade: float
    """Distance over which the ground turns into the backdrop outside the focus [m]."""
    grid: float
    """Opacity of the metre lines, 0 for none."""
    has_ground: bool
    shadow: float
    """Share of light that the full shadow takes from the ground."""


class Shadow(NamedTuple):
    """Pictures of the scene from the key light and from the sky; see `shadows`."""

    light: View
    closest: Single
    """Closeness of the first surface that the light meets; (H, W)."""
    soft: Single
    """Share of the key light that does not reach the ground, blurred; (H, W)."""
    above: View
    contact: Single
    """Share of the sky that the ground close under a body does not see; (H, W)."""
    soft_cells: Flags
    """0 where a cell of `soft` holds no shadow; (H / CELL, W / CELL), rounded up."""
    contact_cells: Flags
    """The same of `contact`."""
    highest: Single
    """Largest `closest` of the `PATCH` by `PATCH` texels from each one on, rightwards and down; (H, W)."""


@kernel
def skin(
    positions: FloatArray,
    turns: FloatArray,
    rest_positions: FloatArray,
    rest_turns: FloatArray,
    joints: IntArray,
    weights: FloatArray,
    rest_points: FloatArray,
    rest_normals: FloatArray,
    points: FloatArray,
    normals: FloatArray,
) -> None:
    """Move the vertices of N figures of one body: (N, J, 3) and (N, J, 4) to (N, V, 3) points and unit normals."""
    count = positions.shape[1]
    m = np.empty((count, 3, 4))
    b = np.empty((3, 4))
    for n in range(positions.shape[0]):
        for j in range(count):
            # the turn since the rest pose, then what it leaves of the way there
            aw, ax, ay, az = turns[n, j, 0], turns[n, j, 1], turns[n, j, 2], turns[n, j, 3]
            bw, bx, by, bz = rest_turns[j, 0], -rest_turns[j, 1], -rest_turns[j, 2], -rest_turns[j, 3]
            w, x = aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by
            y, z = aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw
            m[j, 0, 0], m[j, 0, 1], m[j, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
            m[j, 1, 0], m[j, 1, 1], m[j, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
            m[j, 2, 0], m[j, 2, 1], m[j, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
            for k in range(3):
                m[j, k, 3] = positions[n, j, k]
                for c in range(3):
                    m[j, k, 3] -= m[j, k, c] * rest_positions[j, c]
        for i in range(joints.shape[0]):
            j, s = joints[i, 0], weights[i, 0]
            for k in range(3):
                for c in range(4):
                    b[k, c] = s * m[j, k, c]
            for e in range(1, joints.shape[1]):
                j, s = joints[i, e], weights[i, e]
                if s == 0.0:  # strongest first: nothing follows
                    break
                for k in range(3):
                    for c in range(4):
                        b[k, c] += s * m[j, k, c]
            square = 0.0
            for k in range(3):
                p, q = b[k, 3], 0.0
                for c in range(3):
                    p += b[k, c] * rest_points[i, c]
                    q += b[k, c] * rest_normals[i, c]
                points[n, i, k], normals[n, i, k] = p, q
                square += q * q
            factor = 1.0 / np.sqrt(max(square, 1e-20))
            for k in range(3):
                normals[n, i, k] *= factor


@kernel
def project(points: FloatArray, view: View, screen: FloatArray) -> None:
    """Write pixel x, y and closeness (larger is nearer, linear across a flat triangle) of points (V, 3)."""
    for i in range(points.shape[0]):
        x, y, z = points[i, 0] - view.eye[0], points[i, 1] - view.eye[1], points[i, 2] - view.eye[2]
        right = view.axes[RIGHT, 0] * x + view.axes[RIGHT, 1] * y + view.axes[RIGHT, 2] * z
        up = view.axes[UP, 0] * x + view.axes[UP, 1] * y + view.axes[UP, 2] * z
        depth = view.axes[SIGHT, 0] * x + view.axes[SIGHT, 1] * y + view.axes[SIGHT, 2] * z
        closeness, factor = -depth, view.scale
        if view.perspective:
            closeness = 1.0 / max(depth, 1e-9)  # nearer triangles are clipped before they come here
            factor = view.scale * closeness
        screen[i, X] = view.centre_x + factor * right
        screen[i, Y] = view.centre_y - factor * up
        screen[i, CLOSENESS] = closeness


@kernel(inline=True)
def _row_span(b_dx: float, b_dy: float, c_dx: float, c_dy: float, y: float) -> tuple[float, float]:
    """Return between which x a triangle can cover the row from y to y + 1; both counted from its first corner.

    Shares of the corners b and c grow by (dx, dy) from place to place. Large slanted triangles fill little of their
    bounding box, so that this saves most of the work.
    """
    low, high = -1e30, 1e30
    for edge in range(3):
        if edge == 0:
            per_x, most = b_dx, max(b_dy * y, b_dy * (y + 1.0))
        elif edge == 1:
            per_x, most = c_dx, max(c_dy * y, c_dy * (y + 1.0))
        else:
            per_x, most = -b_dx - c_dx, 1.0 + max(-(b_dy + c_dy) * y, -(b_dy + c_dy) * (y + 1.0))
        if per_x > 1e-12:
            low = max(low, -most / per_x)
        elif per_x < -1e-12:
            high = min(high, -most / per_x)
    return low - 1e-3, high + 1e-3


@kernel(inner=True, borrows=True)
def _clear_tile(tile_row: int, tile_col: int, closest: Single, owner: Index) -> None:
    """Write that nothing is seen at the samples of a tile."""
    rows, width, samples = closest.shape
    for row in range(tile_row * TILE, min((tile_row + 1) * TILE, rows)):
        for col in range(tile_col * TILE, min((tile_col + 1) * TILE, width)):
            for s in range(samples):
                closest[row, col, s] = -np.inf
                owner[row, col, s] = -1


@kernel
def raster(
    screen: FloatArray,
    triangles: Index,
    offsets: FloatArray,
    first_triangle: int,
    first_row: int,
    touched: Flags,
    closest: Single,
    owner: Index,
) -> None:
    """Find the closest triangle at every sample of a band of rows; triangles that face away are skipped.

    Samples of a tile that no triangle comes near are neither read nor written, and its flag stays 0.

    Args:
        screen: pixel x, y and closeness; (V, 3).
        triangles: vertex indices, anticlockwise seen from outside; (T, 3).
        offsets: places of the samples inside a pixel, each 0..1; (S, 2).
        first_triangle: the first that is drawn.
        first_row: the picture's row that is row 0 of the band.
        touched: 1 for the tiles of the band (see `TILE`) whose samples are valid, 0 for those that show nothing yet;
            updated.
        closest: closeness so far; (rows, W, S), updated.
        owner: index of the triangle seen, or -1; (rows, W, S), updated.
    """
    rows, width, samples = closest.shape
    for t in range(first_triangle, triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ay, by, cy = screen[a, Y] - first_row, screen[b, Y] - first_row, screen[c, Y] - first_row
        low, high = min(ay, by, cy), max(ay, by, cy)
        if not (high >= 0.0 and low < rows):
            continue
        ax, bx, cx = screen[a, X], screen[b, X], screen[c, X]
        left, right = min(ax, bx, cx), max(ax, bx, cx)
        if not (right >= 0.0 and left < width):
            continue
        # rows run downwards, so a triangle that faces the viewer has a negative cross product
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if not area < -1e-12:
            continue
        inverse = 1.0 / area
        az, bz, cz = screen[a, CLOSENESS], screen[b, CLOSENESS], screen[c, CLOSENESS]
        # shares of the corners b and c as linear functions of the place
        b_dx, b_dy = (cy - ay) * inverse, -(cx - ax) * inverse
        c_dx, c_dy = -(by - ay) * inverse, (bx - ax) * inverse
        first_col, last_col = int(max(left, 0.0)), int(min(right, width - 1.0))
        for row in range(int(max(low, 0.0)), int(min(high, rows - 1.0)) + 1):
            start, stop = first_col, last_col
            if last_col - first_col > _NARROW:
                span_low, span_high = _row_span(b_dx, b_dy, c_dx, c_dy, row - ay)
                start = int(max(first_col, min(span_low + ax - 1.0, width)))
                stop = int(min(last_col, max(span_high + ax, -1.0)))
            for tile in range(start // TILE, stop // TILE + 1 if stop >= start else 0):
                if touched[row // TILE, tile] == 0:
                    _clear_tile(row // TILE, tile, closest, owner)
                    touched[row // TILE, tile] = 1
            for s in range(samples):
                # shares and closeness are linear along the row
                dx, dy = offsets[s, 0] - ax, row + offsets[s, 1] - ay
                row_b, row_c = dx * b_dx + dy * b_dy, dx * c_dx + dy * c_dy
                for col in range(start, stop + 1):
                    share_b, share_c = row_b + col * b_dx, row_c + col * c_dx
                    if share_b < 0.0 or share_c < 0.0 or share_b + share_c > 1.0:
                        continue
                    near = np.float32(az + share_b * (bz - az) + share_c * (cz - az))
                    if near > closest[row, col, s]:
                        closest[row, col, s] = near
                        owner[row, col, s] = t


@kernel
def raster_both(screen: FloatArray, triangles: Index, closest: Single, farthest: Single) -> None:
    """Write closeness of the nearest and of the farthest surface at the middle of every pixel; both (H, W), updated."""
    rows, width = closest.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = screen[a, X], screen[a, Y], screen[a, CLOSENESS]
        bx, by, bz = screen[b, X] - ax, screen[b, Y] - ay, screen[b, CLOSENESS] - az
        cx, cy, cz = screen[c, X] - ax, screen[c, Y] - ay, screen[c, CLOSENESS] - az
        area = bx * cy - cx * by
        if not (area > 1e-12 or area < -1e-12):
            continue
        low, high = ay + min(0.0, by, cy), ay + max(0.0, by, cy)
        left, right = ax + min(0.0, bx, cx), ax + max(0.0, bx, cx)
        if not (high >= 0.0 and low < rows and right >= 0.0 and left < width):
            continue
        inverse = 1.0 / area
        first_col, last_col = int(max(left, 0.0)), int(min(right, width - 1.0))
        for row in range(int(max(low, 0.0)), int(min(high, rows - 1.0)) + 1):
            start, stop = first_col, last_col
            if last_col - first_col > _NARROW:
                span_low, span_high = _row_span(cy * inverse, -cx * inverse, -by * inverse, bx * inverse, row - ay)
                start = int(max(first_col, min(span_low + ax - 1.0, width)))
                stop = int(min(last_col, max(span_high + ax, -1.0)))
            for col in range(start, stop + 1):
                dx, dy = col + 0.5 - ax, row + 0.5 - ay
                share_b, share_c = (dx * cy - dy * cx) * inverse, (dy * bx - dx * by) * inverse
                if share_b < 0.0 or share_c < 0.0 or share_b + share_c > 1.0:
                    continue
                near = np.float32(az + share_b * bz + share_c * cz)
                closest[row, col] = max(closest[row, col], near)
                farthest[row, col] = min(farthest[row, col], near)


@kernel
def blur(source: Single, radius: int, target: Single) -> None:
    """Blur a picture (H, W) by a box of 2 * radius + 1 pixels each way; the outside counts as zero."""
    height, width = source.shape
    share = np.float32(1.0 / (2 * radius + 1))
    rows = np.zeros((height, width), np.float32)
    for i in range(height):
        total = np.float64(0.0)
        for j in range(min(radius, width)):
            total += source[i, j]
        for j in range(width):
            if j + radius < width:
                total += source[i, j + radius]
            rows[i, j] = total * share
            if j >= radius:
                total -= source[i, j - radius]
    totals = np.zeros(width, np.float64)
    for i in range(min(radius, height)):
        for j in range(width):
            totals[j] += rows[i, j]
    for i in range(height):
        if i + radius < height:
            for j in range(width):
                totals[j] += rows[i + radius, j]
        for j in range(width):
            target[i, j] = totals[j] * share
        if i >= radius:
            for j in range(width):
                totals[j] -= rows[i - radius, j]


@kernel
def split_shadow(farthest: Single, base: float, per_row: float, per_col: float, crisp: Single, soft: Single) -> None:
    """Split the coverage of the light's picture by how far the lowest surface is from the floor.

    Args:
        farthest: closeness of the lowest surface, infinite where there is none; (H, W).
        base: minus the closeness of the floor at row 0 and column 0 [m].
        per_row: change of that from row to row [m].
        per_col: change of that from column to column [m].
        crisp: share of light kept off by surfaces that touch the floor or nearly so; written.
        soft: share kept off by what is higher; written. Both add up to one where there is a surface.
    """
    for i in range(farthest.shape[0]):
        for j in range(farthest.shape[1]):
            crisp[i, j] = 0.0
            soft[i, j] = 0.0
            if farthest[i, j] < np.inf:
                gap = base + i * per_row + j * per_col + farthest[i, j]
                share = min(max((gap - 0.05) / 0.75, 0.0), 1.0)
                crisp[i, j] = 1.0 - share
                soft[i, j] = share


@kernel
def split_contact(farthest: Single, eye_height: float, close: Single, wide: Single) -> None:
    """Write how much sky the floor misses under a surface (close) and around it (wide), before blurring; (H, W)."""
    for i in range(farthest.shape[0]):
        for j in range(farthest.shape[1]):
            close[i, j] = 0.0
            wide[i, j] = 0.0
            if farthest[i, j] < np.inf:
                height = max(eye_height + farthest[i, j], 0.0)
                close[i, j] = np.exp(-height / 0.035)
                wide[i, j] = np.exp(-height / 0.45)


@kernel
def highest_of_patches(closest: Single, top: int, bottom: int, left: int, right: int, highest: Single) -> None:
    """Write the largest value of the `PATCH` by `PATCH` texels from each one on, in a part of a picture (H, W)."""
    height, width = closest.shape
    count = min(right + PATCH - 1, width) - left
    columns = np.empty(right - left + PATCH - 1, np.float32)
    columns[:] = -np.inf
    for i in range(top, bottom):
        for j in range(count):
            columns[j] = closest[i, left + j]
        for k in range(i + 1, min(i + PATCH, height)):
            for j in range(count):
                columns[j] = max(columns[j], closest[k, left + j])
        for j in range(right - left):
            highest[i, left + j] = max(columns[j], columns[j + 1], columns[j + 2], columns[j + 3])


@kernel
def video_planes(picture: Flags, planes: Flags) -> None:
    """Write a picture (H, W, 3) as brightness and, for each block of four pixels, colour: ITU-R BT.709, limited range.

    Args:
        picture: sRGB; both sides even.
        planes: H * W bytes of brightness, then as many quarters of blue and of red difference; written.
    """
    height, width, _ = picture.shape
    size, half = height * width, width // 2
    pixels = picture.reshape(3 * size)  # plain loops over one axis: many pixels are computed at once
    for i in range(size):
        planes[i] = (11966 * pixels[3 * i] + 40254 * pixels[3 * i + 1] + 4064 * pixels[3 * i + 2] + 1081344) >> 16
    red, green, blue = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int32)
    for row in range(height // 2):
        upper, lower = pixels[6 * row * width : (6 * row + 3) * width], pixels[(6 * row + 3) * width :]
        for col in range(width):
            red[col] = np.int32(upper[3 * col]) + np.int32(lower[3 * col])
            green[col] = np.int32(upper[3 * col + 1]) + np.int32(lower[3 * col + 1])
            blue[col] = np.int32(upper[3 * col + 2]) + np.int32(lower[3 * col + 2])
        blues, reds = planes[size + row * half :], planes[size + size // 4 + row * half :]
        for col in range(half):
            r, g, b = (
                red[2 * col] + red[2 * col + 1],
                green[2 * col] + green[2 * col + 1],
                blue[2 * col] + blue[2 * col + 1],
            )
            # four pixels together, hence two bits more to take off again
            blues[col] = (-6596 * r - 22189 * g + 28785 * b + 33685504) >> 18
            reds[col] = (28785 * r - 26145 * g - 2640 * b + 33685504) >> 18
