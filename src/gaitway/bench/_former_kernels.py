"""Compiled loops of films as they were written before, kept as they were: what `bench render` compares with."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.render.raster._kernels import (
    CLOSENESS,
    HIGH_X,
    HIGH_Y,
    LOW_X,
    LOW_Y,
    RIGHT,
    SIGHT,
    TILE,
    UP,
    Flags,
    Index,
    SceneLight,
    Shadow,
    Single,
    View,
    X,
    Y,
)


@kernel(inner=True)
def _smooth(edge0: float, edge1: float, value: float) -> float:
    t = min(max((value - edge0) / (edge1 - edge0), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel(fastmath=True, inner=True, borrows=True)
def _bilinear(pixels: Single, u: float, v: float) -> float:
    """Return the value between the middles of four pixels; zero outside the picture."""
    u, v = u - 0.5, v - 0.5
    height, width = pixels.shape
    if not (u >= 0.0 and v >= 0.0 and u < width - 1 and v < height - 1):
        return 0.0
    i, j = int(v), int(u)
    fv, fu = v - i, u - j
    top = pixels[i, j] * (1.0 - fu) + pixels[i, j + 1] * fu
    low = pixels[i + 1, j] * (1.0 - fu) + pixels[i + 1, j + 1] * fu
    return float(top * (1.0 - fv) + low * fv)


@kernel(fastmath=True, inner=True)
def _line_cover(x: float, width: float, foot: float) -> float:
    """Return the share of a window of size `foot` about x on lines of a width [m], one a metre: exact, so no moire."""
    low, high = x - 0.5 * foot + 0.5 * width, x + 0.5 * foot + 0.5 * width
    low_whole, high_whole = np.floor(low), np.floor(high)
    if low_whole == high_whole and low - low_whole > width:  # between two lines
        return 0.0
    before = low_whole * width + min(low - low_whole, width)
    return float(high_whole * width + min(high - high_whole, width) - before) / (foot + 1e-9)


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


@kernel
def former_raster(
    screen: FloatArray,
    triangles: Index,
    offsets: FloatArray,
    first_triangle: int,
    first_row: int,
    closest: Single,
    owner: Index,
) -> None:
    """Find the closest triangle at every sample of a band of rows; triangles that face away are skipped.

    Args:
        screen: pixel x, y and closeness; (V, 3).
        triangles: vertex indices, anticlockwise seen from outside; (T, 3).
        offsets: places of the samples inside a pixel, each 0..1; (S, 2).
        first_triangle: the first that is drawn.
        first_row: the picture's row that is row 0 of the band.
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
            span_low, span_high = _row_span(b_dx, b_dy, c_dx, c_dy, row - ay)
            start = int(max(first_col, min(span_low + ax - 1.0, width)))
            stop = int(min(last_col, max(span_high + ax, -1.0)))
            for col in range(start, stop + 1):
                for s in range(samples):
                    dx, dy = col + offsets[s, 0] - ax, row + offsets[s, 1] - ay
                    share_b, share_c = dx * b_dx + dy * b_dy, dx * c_dx + dy * c_dy
                    if share_b < 0.0 or share_c < 0.0 or share_b + share_c > 1.0:
                        continue
                    near = np.float32(az + share_b * (bz - az) + share_c * (cz - az))
                    if near > closest[row, col, s]:
                        closest[row, col, s] = near
                        owner[row, col, s] = t


@kernel
def former_raster_both(screen: FloatArray, triangles: Index, closest: Single, farthest: Single) -> None:
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


@kernel(fastmath=True, borrows=True)
def former_stage(
    view: View, scene: SceneLight, shadow: Shadow, first_row: int, height: int, tiles: Flags, out: Single
) -> None:
    """Write ground and backdrop of a band in the former way: linear RGB, and the share of light left; (rows, W, 4).

    Only the pixels of `tiles` that are not 0 are written; see `TILE`.
    """
    # numbers are taken out of their arrays once: a write to `out` could change any array, as far as a compiler knows
    eye_x, eye_y, eye_z, pixel = view.eye[0], view.eye[1], view.eye[2], 1.0 / view.scale
    right_x, right_y, right_z = view.axes[RIGHT, 0], view.axes[RIGHT, 1], view.axes[RIGHT, 2]
    up_x, up_y, up_z = view.axes[UP, 0], view.axes[UP, 1], view.axes[UP, 2]
    sight_x, sight_y, sight_z = view.axes[SIGHT, 0], view.axes[SIGHT, 1], view.axes[SIGHT, 2]
    per_fade, per_height, grid = 1.0 / scene.fade, 1.0 / height, scene.grid
    low_x, low_y, high_x, high_y = scene.focus[LOW_X], scene.focus[LOW_Y], scene.focus[HIGH_X], scene.focus[HIGH_Y]
    base_r, base_g, base_b = scene.backdrop_low[0], scene.backdrop_low[1], scene.backdrop_low[2]
    rise_r, rise_g, rise_b = (
        scene.backdrop_high[0] - base_r, scene.backdrop_high[1] - base_g, scene.backdrop_high[2] - base_b,
    )  # fmt: skip
    ground_r, ground_g, ground_b = scene.ground[0], scene.ground[1], scene.ground[2]
    line_r, line_g, line_b = scene.line[0] - ground_r, scene.line[1] - ground_g, scene.line[2] - ground_b
    # places of the floor in both shadow pictures are linear in x and y
    light, above = shadow.light, shadow.above
    soft_ux, soft_uy = light.scale * light.axes[RIGHT, 0], light.scale * light.axes[RIGHT, 1]
    soft_vx, soft_vy = -light.scale * light.axes[UP, 0], -light.scale * light.axes[UP, 1]
    soft_u = -soft_ux * light.eye[0] - soft_uy * light.eye[1] - light.scale * light.axes[RIGHT, 2] * light.eye[2]
    soft_v = -soft_vx * light.eye[0] - soft_vy * light.eye[1] + light.scale * light.axes[UP, 2] * light.eye[2]
    near_ux, near_uy = above.scale * above.axes[RIGHT, 0], above.scale * above.axes[RIGHT, 1]
    near_vx, near_vy = -above.scale * above.axes[UP, 0], -above.scale * above.axes[UP, 1]
    near_u = -near_ux * above.eye[0] - near_uy * above.eye[1]
    near_v = -near_vx * above.eye[0] - near_vy * above.eye[1]
    perspective, has_ground, strength = view.perspective, scene.has_ground, scene.shadow
    centre_x, width = view.centre_x, out.shape[1]
    for row in range(out.shape[0]):
        py = row + first_row + 0.5
        rise = 1.0 - py * per_height
        up = (view.centre_y - py) * pixel
        back_r, back_g, back_b = base_r + rise_r * rise, base_g + rise_g * rise, base_b + rise_b * rise
        for col in range(width):
            if tiles[(row + first_row) // TILE, col // TILE] == 0:
                continue
            red, green, blue, left = back_r, back_g, back_b, 1.0
            right = (col + 0.5 - centre_x) * pixel
            aside_x, aside_y = right * right_x + up * up_x, right * right_y + up * up_y
            aside_z = right * right_z + up * up_z
            way_z = sight_z + aside_z if perspective else sight_z
            start_z = eye_z if perspective else eye_z + aside_z
            if has_ground and way_z < -1e-4 and start_z > 0.0:
                per_way = 1.0 / way_z
                far = -start_z * per_way
                if perspective:
                    way_x, way_y = sight_x + aside_x, sight_y + aside_y
                    x, y = eye_x + far * way_x, eye_y + far * way_y
                    # how far the place on the floor moves from one pixel to the next, across and up
                    far_u, far_v = -far * right_z * per_way, -far * up_z * per_way
                    step = far
                else:
                    way_x, way_y = sight_x, sight_y
                    x, y = eye_x + aside_x + far * way_x, eye_y + aside_y + far * way_y
                    far_u, far_v = -right_z * per_way, -up_z * per_way
                    step = 1.0
                away_x, away_y = max(low_x - x, x - high_x, 0.0), max(low_y - y, y - high_y, 0.0)
                near = 1.0
                if away_x > 0.0 or away_y > 0.0:
                    away = min(np.sqrt(away_x * away_x + away_y * away_y) * per_fade, 1.0)
                    near = 1.0 - away * away * (3.0 - 2.0 * away)
                if near > 0.0:
                    line = 0.0
                    if grid > 0.0:
                        foot_x = pixel * (abs(step * right_x + far_u * way_x) + abs(step * up_x + far_v * way_x))
                        foot_y = pixel * (abs(step * right_y + far_u * way_y) + abs(step * up_y + far_v * way_y))
                        line_x, line_y = _line_cover(x, 0.012, foot_x), _line_cover(y, 0.012, foot_y)
                        line = grid * (line_x + line_y - line_x * line_y)
                    red += (ground_r + line_r * line - red) * near
                    green += (ground_g + line_g * line - green) * near
                    blue += (ground_b + line_b * line - blue) * near
                dark = _bilinear(shadow.soft, soft_u + soft_ux * x + soft_uy * y, soft_v + soft_vx * x + soft_vy * y)
                closed = _bilinear(
                    shadow.contact, near_u + near_ux * x + near_uy * y, near_v + near_vx * x + near_vy * y
                )
                left = (1.0 - strength * min(dark, 1.0)) * (1.0 - 0.7 * min(closed, 1.0))
            out[row, col, 0], out[row, col, 1], out[row, col, 2], out[row, col, 3] = red, green, blue, left


@kernel(inline=True)
def _lit_share(closest: Single, light: View, x: float, y: float, z: float) -> float:
    """Return the share 0..1 of key light at a point of a body, averaged over a patch of the light's picture."""
    axes = light.axes
    x, y, z = x - light.eye[0], y - light.eye[1], z - light.eye[2]
    u = light.scale * (axes[RIGHT, 0] * x + axes[RIGHT, 1] * y + axes[RIGHT, 2] * z) - 0.5
    v = -light.scale * (axes[UP, 0] * x + axes[UP, 1] * y + axes[UP, 2] * z) - 0.5
    here = -(axes[SIGHT, 0] * x + axes[SIGHT, 1] * y + axes[SIGHT, 2] * z)
    height, width = closest.shape
    if not (u >= 2.0 and v >= 2.0 and u < width - 3 and v < height - 3):
        return 1.0
    i, j = int(v), int(u)
    fv, fu = v - i, u - j
    lit = 0.0
    for di in range(-1, 3):
        # a box of 3 by 3 texels that slides smoothly: full weight inside, shared weight at its rim
        row = 0.0
        row += 1.0 - fu if here >= closest[i + di, j - 1] else 0.0
        row += 1.0 if here >= closest[i + di, j] else 0.0
        row += 1.0 if here >= closest[i + di, j + 1] else 0.0
        row += fu if here >= closest[i + di, j + 2] else 0.0
        lit += row * (1.0 - fv if di == -1 else (fv if di == 2 else 1.0))
    return lit / 9.0


@kernel(inline=True)
def _body(
    scene: SceneLight,
    shadow: Shadow,
    point: FloatArray,
    normal: FloatArray,
    sight: FloatArray,
    color: FloatArray,
    out: FloatArray,
    s: int,
) -> None:
    """Write the light that a body sends to the eye, into row `s`: soft key, sky and ground, a little sheen and rim."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    light = scene.light
    facing = nx * light[0] + ny * light[1] + nz * light[2]
    lit = 1.0
    if facing > -0.2:
        # start outside the surface, by as much as it rises within the patch of texels that is looked at
        lift = 0.006 + 2.2 * np.sqrt(max(1.0 - facing * facing, 0.0)) / shadow.light.scale
        x, y, z = point[0] + lift * nx, point[1] + lift * ny, point[2] + lift * nz
        lit = _lit_share(shadow.closest, shadow.light, x, y, z)
    wrapped = max(0.0, (facing + 0.22) / 1.22)
    diffuse = wrapped * wrapped * (0.35 + 0.65 * wrapped) * (0.12 + 0.88 * lit)
    upward = 0.5 + 0.5 * nz
    open_share = 1.0
    if scene.has_ground:  # close to the floor less of the sky is seen
        open_share = 0.55 + 0.45 * _smooth(-0.05, 0.45, point[2] + 0.25 * nz)
    toward = -(nx * sight[0] + ny * sight[1] + nz * sight[2])
    rim = (1.0 - min(max(toward, 0.0), 1.0)) ** 3 * 0.16 * upward
    half_x, half_y, half_z = light[0] - sight[0], light[1] - sight[1], light[2] - sight[2]
    length = np.sqrt(half_x * half_x + half_y * half_y + half_z * half_z) + 1e-9
    glance = max(0.0, (nx * half_x + ny * half_y + nz * half_z) / length) ** 2
    glance = glance * glance * glance
    sheen = glance * glance * glance * glance * 0.05 * lit
    for k in range(3):
        ambient = (scene.bounce[k] + (scene.sky[k] - scene.bounce[k]) * upward) * open_share
        out[s, k] = color[k] * (scene.key[k] * diffuse + ambient) + rim * scene.sky[k] + sheen * scene.key[k]


@kernel(inline=True)
def _surface(
    screen: FloatArray,
    triangles: Index,
    t: int,
    normals: FloatArray,
    colors: Single,
    x: float,
    y: float,
    normal: FloatArray,
    color: FloatArray,
) -> None:
    """Write unit normal and colour (RGBA) of a triangle at a point of the picture."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ax, ay = screen[a, X], screen[a, Y]
    bx, by, cx, cy = screen[b, X] - ax, screen[b, Y] - ay, screen[c, X] - ax, screen[c, Y] - ay
    inverse = 1.0 / (bx * cy - cx * by)
    share_b, share_c = ((x - ax) * cy - (y - ay) * cx) * inverse, ((y - ay) * bx - (x - ax) * by) * inverse
    share_a = 1.0 - share_b - share_c
    for k in range(4):
        color[k] = share_a * colors[a, k] + share_b * colors[b, k] + share_c * colors[c, k]
    square = 0.0
    for k in range(3):
        normal[k] = share_a * normals[a, k] + share_b * normals[b, k] + share_c * normals[c, k]
        square += normal[k] * normal[k]
    factor = 1.0 / np.sqrt(max(square, 1e-20))
    for k in range(3):
        normal[k] *= factor


@kernel(inline=True)
def _place(view: View, px: float, py: float, closeness: float, point: FloatArray, sight: FloatArray) -> None:
    """Write the world point seen at a point of the picture, and the unit direction from the eye to it."""
    right, up = (px - view.centre_x) / view.scale, (view.centre_y - py) / view.scale
    depth = 1.0 / closeness if view.perspective else -closeness
    square = 0.0
    for k in range(3):
        aside = right * view.axes[RIGHT, k] + up * view.axes[UP, k]
        way = view.axes[SIGHT, k] + (aside if view.perspective else 0.0)
        point[k] = view.eye[k] + depth * way + (0.0 if view.perspective else aside)
        sight[k] = way
        square += way * way
    factor = 1.0 / np.sqrt(square)
    for k in range(3):
        sight[k] *= factor


@kernel
def former_shade(
    view: View,
    scene: SceneLight,
    shadow: Shadow,
    screen: FloatArray,
    triangles: Index,
    normals: FloatArray,
    colors: Single,
    painted: Flags,
    groups: Index,
    offsets: FloatArray,
    first_row: int,
    closest: Single,
    owner: Index,
    behind: Single,
    steps: Flags,
    tiles: Flags,
    work: FloatArray,
    surface: Index,
    picture: Flags,
) -> None:
    """Colour a band of rows; the pixels (rows, W, 3) of `tiles` that are not 0 are written.

    Samples of a pixel that show the same smooth surface share one colour, so shading costs little more than one sample.
    `behind` is what `stage` found, and `steps` is 8-bit sRGB by linear light. `work` (S + 4, 4) and `surface` (S,) are
    room to work in.
    """
    rows, width, samples = closest.shape
    found, point, sight, normal, color = work, work[samples], work[samples + 1], work[samples + 2], work[samples + 3]
    top = len(steps) - 1
    ground_hides = scene.has_ground and view.eye[2] > 0.0
    for row in range(rows):
        for col in range(width):
            if tiles[(row + first_row) // TILE, col // TILE] == 0:
                continue
            seen = 0
            for s in range(samples):
                seen += owner[row, col, s] >= 0
            left = behind[row, col, 3]
            if seen == 0:
                for k in range(3):
                    picture[row, col, k] = steps[int(min(behind[row, col, k] * left, 1.0) * top)]
                continue
            red, green, blue = 0.0, 0.0, 0.0
            first_group = groups[owner[row, col, 0]] if owner[row, col, 0] >= 0 else -1
            shared = seen == samples
            for s in range(1, samples):
                shared = shared and groups[owner[row, col, s]] == first_group
            for s in range(samples):
                t = owner[row, col, s]
                surface[s] = groups[t] if t >= 0 else -1
                same = 0
                while surface[same] != surface[s]:
                    same += 1
                if same < s:
                    red, green, blue = red + found[same, 0], green + found[same, 1], blue + found[same, 2]
                    continue
                opacity = 0.0
                if t >= 0:
                    px, py = col + offsets[s, 0], row + first_row + offsets[s, 1]
                    _place(view, px, py, closest[row, col, s], point, sight)
                    if not ground_hides or point[2] > -0.002:
                        _surface(screen, triangles, t, normals, colors, px, py, normal, color)
                        opacity = color[3]
                if opacity > 0.0 and not painted[t]:
                    _body(scene, shadow, point, normal, sight, color, found, s)
                else:
                    for k in range(3):
                        base = behind[row, col, k]
                        found[s, k] = (base + (color[k] - base) * opacity) * left if opacity > 0.0 else base * left
                for k in range(3):
                    found[s, k] = min(found[s, k], 1.0)
                red, green, blue = red + found[s, 0], green + found[s, 1], blue + found[s, 2]
                if shared:
                    red, green, blue = red * samples, green * samples, blue * samples
                    break
            picture[row, col, 0] = steps[int(red / samples * top)]
            picture[row, col, 1] = steps[int(green / samples * top)]
            picture[row, col, 2] = steps[int(blue / samples * top)]
