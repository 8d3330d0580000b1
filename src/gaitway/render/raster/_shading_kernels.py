"""Compiled loops that turn what the rasteriser found into colour: light and shadow on bodies and walls."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.render.raster._floor_kernels import EVEN, Triple, in_light, smooth
from gaitway.render.raster._kernels import (
    PATCH,
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

_LEAST_RUN = 4
"""Pixels from which on it pays to look for a run of even light."""


@kernel(inner=True, borrows=True)
def _lit_share(closest: Single, highest: Single, u: float, v: float, closeness: float) -> float:
    """Return the share 0..1 of key light at a place of the light's picture (see `in_light`), averaged over a patch."""
    here = np.float32(closeness)
    height, width = closest.shape
    if not (u >= 2.0 and v >= 2.0 and u < width - 3 and v < height - 3):
        return 1.0
    i, j = np.uint64(v - 1.0), np.uint64(u - 1.0)
    if here >= highest[i, j]:
        return 1.0
    fv, fu = v - 1.0 - i, u - 1.0 - j
    full, none = np.float32(1.0), np.float32(0.0)
    left, right = np.float32(1.0 - fu), np.float32(fu)
    # a box of 3 by 3 texels that slides smoothly: full weight inside, shared weight at its rim
    lit = none
    for di in range(PATCH):
        k = i + np.uint64(di)
        row = left if here >= closest[k, j] else none
        row += full if here >= closest[k, j + np.uint64(1)] else none
        row += full if here >= closest[k, j + np.uint64(2)] else none
        row += right if here >= closest[k, j + np.uint64(3)] else none
        lit += row * (np.float32(1.0 - fv) if di == 0 else (np.float32(fv) if di == 3 else full))
    return float(lit) * (1.0 / 9.0)


@kernel(fastmath=True, inner=True, borrows=True)
def _unit(x: float, y: float, z: float) -> Triple:
    """Return a vector of length one."""
    factor = 1.0 / np.sqrt(max(x * x + y * y + z * z, 1e-20))
    return x * factor, y * factor, z * factor


@kernel(fastmath=True, inner=True, borrows=True)
def _lift(facing: float, scale: float) -> float:
    """Return how far outside a surface its light is looked up [m].

    It is as much as the surface rises within the patch of texels that is looked at.
    """
    out: float = 0.006 + 2.2 * np.sqrt(max(1.0 - facing * facing, 0.0)) / scale
    return out


@kernel(fastmath=True, inner=True, borrows=True)
def _body(
    scene: SceneLight, facing: float, point_z: float, normal: Triple, sight: Triple, color: Triple
) -> tuple[float, float, float, float, float, float]:
    """Return the light that a body sends to the eye in shadow, and what the full key light adds.

    It is made of soft key, sky and ground, a little sheen and rim.
    """
    nx, ny, nz = normal
    light = scene.light
    wrapped = max(0.0, (facing + 0.22) * (1.0 / 1.22))
    diffuse = wrapped * wrapped * (0.35 + 0.65 * wrapped)
    upward = 0.5 + 0.5 * nz
    open_share = 1.0
    if scene.has_ground:  # close to the floor less of the sky is seen
        open_share = 0.55 + 0.45 * smooth(-0.05, 0.45, point_z + 0.25 * nz)
    toward = min(max(-(nx * sight[0] + ny * sight[1] + nz * sight[2]), 0.0), 1.0)
    rim = (1.0 - toward) * (1.0 - toward) * (1.0 - toward) * 0.16 * upward
    half_x, half_y, half_z = light[0] - sight[0], light[1] - sight[1], light[2] - sight[2]
    square = half_x * half_x + half_y * half_y + half_z * half_z + 1e-12
    glance = max(0.0, nx * half_x + ny * half_y + nz * half_z)
    glance = glance * glance / square
    glance = glance * glance * glance
    sheen = glance * glance * glance * glance * 0.05
    key, sky, bounce = scene.key, scene.sky, scene.bounce
    red = (bounce[0] + (sky[0] - bounce[0]) * upward) * open_share
    green = (bounce[1] + (sky[1] - bounce[1]) * upward) * open_share
    blue = (bounce[2] + (sky[2] - bounce[2]) * upward) * open_share
    shadowed, lit = 0.12 * diffuse, 0.88 * diffuse
    return (
        color[0] * (key[0] * shadowed + red) + rim * sky[0],
        color[1] * (key[1] * shadowed + green) + rim * sky[1],
        color[2] * (key[2] * shadowed + blue) + rim * sky[2],
        key[0] * (color[0] * lit + sheen),
        key[1] * (color[1] * lit + sheen),
        key[2] * (color[2] * lit + sheen),
    )


@kernel(fastmath=True, inner=True, borrows=True)
def _seen_from(view: View, px: float, py: float, closeness: float) -> tuple[float, float, float, float, float, float]:
    """Return the world point at a place of the picture [px], and the direction in which the eye sees it."""
    axes, eye, pixel = view.axes, view.eye, 1.0 / view.scale
    right, up = (px - view.centre_x) * pixel, (view.centre_y - py) * pixel
    x, y, z = eye[0], eye[1], eye[2]
    way_x, way_y, way_z = axes[SIGHT, 0], axes[SIGHT, 1], axes[SIGHT, 2]
    aside_x = right * axes[RIGHT, 0] + up * axes[UP, 0]
    aside_y = right * axes[RIGHT, 1] + up * axes[UP, 1]
    aside_z = right * axes[RIGHT, 2] + up * axes[UP, 2]
    if view.perspective:
        depth = 1.0 / closeness
        way_x, way_y, way_z = way_x + aside_x, way_y + aside_y, way_z + aside_z
    else:
        depth = -closeness
        x, y, z = x + aside_x, y + aside_y, z + aside_z
    return x + depth * way_x, y + depth * way_y, z + depth * way_z, way_x, way_y, way_z


@kernel(inner=True, borrows=True)
def _run_end(owner: Index, row: int, begin: int, end: int) -> int:
    """Return the first column, of those before `end`, of which not all samples show the triangle seen at `begin`."""
    t, samples = owner[row, begin, 0], owner.shape[2]
    for col in range(begin, end):
        for s in range(samples):
            if owner[row, col, s] != t:
                return col
    return end


@kernel(fastmath=True, inner=True, borrows=True)
def _flat_run(
    view: View,
    scene: SceneLight,
    shadow: Shadow,
    closest: Single,
    offsets: FloatArray,
    first_row: int,
    run: tuple[int, int, int],
    surface: tuple[Triple, Triple, float, float],
    steps: Flags,
    ends: FloatArray,
    picture: Flags,
) -> bool:
    """Colour a run of pixels that show one flat triangle of one colour; return False, and do nothing, if it is uneven.

    Light on a plane changes evenly along a short run: it is computed at its ends, and in its middle to be sure. Only
    the shadow is looked up in every pixel. `run` is row, first column and end; `surface` is normal, colour, how much
    the normal faces the light, and how far outside the surface its light is looked up [m]. `ends` (3, 10) is room to
    work in.
    """
    (row, begin, end), (normal, color, facing, lift) = run, surface
    last, py, dx = end - begin - 1, row + first_row + offsets[0, 1], offsets[0, 0]
    for k in range(3):
        col = begin if k == 0 else (end - 1 if k == 1 else begin + last // 2)
        near = float(closest[row, col, 0])
        x, y, z, way_x, way_y, way_z = _seen_from(view, col + dx, py, near)
        if scene.has_ground and view.eye[2] > 0.0 and not z > -0.002:
            return False
        red, green, blue, lit_r, lit_g, lit_b = _body(scene, facing, z, normal, _unit(way_x, way_y, way_z), color)
        ends[k, 0], ends[k, 1], ends[k, 2] = red, green, blue
        ends[k, 3], ends[k, 4], ends[k, 5] = lit_r, lit_g, lit_b
        # places in the light's picture, times closeness, are linear along a row of a picture in perspective
        near = near if view.perspective else 1.0
        u, v, closeness = in_light(shadow.light, x + lift * normal[0], y + lift * normal[1], z + lift * normal[2])
        ends[k, 6], ends[k, 7], ends[k, 8], ends[k, 9] = u * near, v * near, closeness * near, near
    share = (last // 2) / last
    for k in range(10):
        ends[1, k] -= ends[0, k]
        if k < 6 and abs(ends[0, k] + ends[1, k] * share - ends[2, k]) > EVEN:
            return False
        ends[1, k] /= last
    # numbers are taken out of their arrays once, as in `stage`
    red, green, blue, lit_r, lit_g, lit_b = ends[0, 0], ends[0, 1], ends[0, 2], ends[0, 3], ends[0, 4], ends[0, 5]
    per_r, per_g, per_b, per_lr, per_lg, per_lb = ends[1, 0], ends[1, 1], ends[1, 2], ends[1, 3], ends[1, 4], ends[1, 5]
    u, v, closeness, near = ends[0, 6], ends[0, 7], ends[0, 8], ends[0, 9]
    per_u, per_v, per_closeness, per_near = ends[1, 6], ends[1, 7], ends[1, 8], ends[1, 9]
    top, lit, looked_up = len(steps) - 1, 1.0, facing > -0.2
    for i in range(end - begin):
        if looked_up:
            far = 1.0 / (near + per_near * i)
            place = (far * (u + per_u * i), far * (v + per_v * i), far * (closeness + per_closeness * i))
            lit = _lit_share(shadow.closest, shadow.highest, *place)
        at = begin + i
        picture[row, at, 0] = steps[np.uint64(min(red + per_r * i + lit * (lit_r + per_lr * i), 1.0) * top)]
        picture[row, at, 1] = steps[np.uint64(min(green + per_g * i + lit * (lit_g + per_lg * i), 1.0) * top)]
        picture[row, at, 2] = steps[np.uint64(min(blue + per_b * i + lit * (lit_b + per_lb * i), 1.0) * top)]
    return True


@kernel(fastmath=True, borrows=True)
def shade(
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
    touched: Flags,
    found: FloatArray,
    surface: Index,
    ends: FloatArray,
    picture: Flags,
) -> None:
    """Colour a band of rows; the pixels (rows, W, 3) of `tiles` that are not 0 and that are `touched` are written.

    Samples of a pixel that show the same smooth surface share one colour, so shading costs little more than one sample.
    `behind` is what `stage` found, and `steps` is 8-bit sRGB by linear light. `found` (S, 3),
    `surface` (S,) and `ends` (3, 10) are room to work in. The band begins with a row of tiles.
    """
    rows, width, samples = closest.shape
    top = len(steps) - 1
    ground_hides = scene.has_ground and view.eye[2] > 0.0
    light_x, light_y, light_z = scene.light[0], scene.light[1], scene.light[2]
    # of the triangle at hand: its corners, shares of them by place, and its surface where that is the same all over
    held, flat, a, b, c = -1, False, 0, 0, 0
    ax, ay, b_dx, b_dy, c_dx, c_dy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    facing, lift, normal, color, opacity = 0.0, 0.0, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.0
    for row in range(rows):
        for column in range(-(-width // TILE)):
            if touched[row // TILE, column] == 0 or tiles[(row + first_row) // TILE, column] == 0:
                continue
            end, done, tried = min((column + 1) * TILE, width), 0, 0
            for col in range(column * TILE, end):
                if col < done:
                    continue
                t = owner[row, col, 0]
                first_group = groups[t] if t >= 0 else -1
                shared = True
                for s in range(1, samples):
                    other = owner[row, col, s]
                    if other != t and (other < 0 or groups[other] != first_group):
                        shared = False
                        break
                if shared and t == held and flat and col >= tried and opacity > 0.0 and not painted[t]:
                    stop, tried = _run_end(owner, row, col, end), end
                    if stop - col >= _LEAST_RUN:
                        run, plain = (row, col, stop), (normal, color, facing, lift)
                        if _flat_run(
                            view, scene, shadow, closest, offsets, first_row, run, plain, steps, ends, picture
                        ):
                            done, tried = stop, stop
                            continue
                if shared and t < 0:
                    left = behind[row, col, 3]
                    for k in range(3):
                        picture[row, col, k] = steps[int(min(behind[row, col, k] * left, 1.0) * top)]
                    continue
                sum_red, sum_green, sum_blue = 0.0, 0.0, 0.0
                for s in range(1 if shared else samples):
                    t = owner[row, col, s]
                    surface[s] = groups[t] if t >= 0 else -1
                    same = 0
                    while surface[same] != surface[s]:
                        same += 1
                    if same < s:
                        sum_red, sum_green, sum_blue = (
                            sum_red + found[same, 0], sum_green + found[same, 1], sum_blue + found[same, 2],
                        )  # fmt: skip
                        continue
                    seen = t >= 0
                    point_x, point_y, point_z, way_x, way_y, way_z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                    if seen:
                        px, py = col + offsets[s, 0], row + first_row + offsets[s, 1]
                        point_x, point_y, point_z, way_x, way_y, way_z = _seen_from(view, px, py, closest[row, col, s])
                        seen = not ground_hides or point_z > -0.002
                    if seen:
                        fresh = t != held
                        if fresh:
                            held, a, b, c = t, triangles[t, 0], triangles[t, 1], triangles[t, 2]
                            ax, ay = screen[a, X], screen[a, Y]
                            bx, by, cx, cy = screen[b, X] - ax, screen[b, Y] - ay, screen[c, X] - ax, screen[c, Y] - ay
                            inverse = 1.0 / (bx * cy - cx * by)
                            b_dx, b_dy, c_dx, c_dy = cy * inverse, -cx * inverse, -by * inverse, bx * inverse
                            flat = True
                            for k in range(4):
                                flat = flat and colors[a, k] == colors[b, k] and colors[a, k] == colors[c, k]
                            for k in range(3):
                                flat = flat and normals[a, k] == normals[b, k] and normals[a, k] == normals[c, k]
                        if fresh or not flat:
                            share_b = (px - ax) * b_dx + (py - ay) * b_dy
                            share_c = (px - ax) * c_dx + (py - ay) * c_dy
                            share_a = 1.0 - share_b - share_c
                            opacity = share_a * colors[a, 3] + share_b * colors[b, 3] + share_c * colors[c, 3]
                            color = (
                                share_a * colors[a, 0] + share_b * colors[b, 0] + share_c * colors[c, 0],
                                share_a * colors[a, 1] + share_b * colors[b, 1] + share_c * colors[c, 1],
                                share_a * colors[a, 2] + share_b * colors[b, 2] + share_c * colors[c, 2],
                            )
                            normal = _unit(
                                share_a * normals[a, 0] + share_b * normals[b, 0] + share_c * normals[c, 0],
                                share_a * normals[a, 1] + share_b * normals[b, 1] + share_c * normals[c, 1],
                                share_a * normals[a, 2] + share_b * normals[b, 2] + share_c * normals[c, 2],
                            )
                            facing = normal[0] * light_x + normal[1] * light_y + normal[2] * light_z
                            lift = _lift(facing, shadow.light.scale)
                    if seen and opacity > 0.0 and not painted[t]:
                        lit = 1.0
                        if facing > -0.2:
                            x, y, z = point_x + lift * normal[0], point_y + lift * normal[1], point_z + lift * normal[2]
                            lit = _lit_share(shadow.closest, shadow.highest, *in_light(shadow.light, x, y, z))
                        sight = _unit(way_x, way_y, way_z)
                        red, green, blue, lit_r, lit_g, lit_b = _body(scene, facing, point_z, normal, sight, color)
                        red, green, blue = red + lit * lit_r, green + lit * lit_g, blue + lit * lit_b
                    else:
                        left, share = behind[row, col, 3], opacity if seen else 0.0
                        base_r, base_g, base_b = behind[row, col, 0], behind[row, col, 1], behind[row, col, 2]
                        red = (base_r + (color[0] - base_r) * share) * left
                        green = (base_g + (color[1] - base_g) * share) * left
                        blue = (base_b + (color[2] - base_b) * share) * left
                    red, green, blue = min(red, 1.0), min(green, 1.0), min(blue, 1.0)
                    found[s, 0], found[s, 1], found[s, 2] = red, green, blue
                    sum_red, sum_green, sum_blue = sum_red + red, sum_green + green, sum_blue + blue
                share = 1.0 if shared else 1.0 / samples
                picture[row, col, 0] = steps[int(sum_red * share * top)]
                picture[row, col, 1] = steps[int(sum_green * share * top)]
                picture[row, col, 2] = steps[int(sum_blue * share * top)]
