"""Compiled loops that turn what the rasteriser found into colour: ground, shadow, light on bodies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import FloatArray
from gaitway.render._kernels import Flags, Index, Look, Shadow, Single, View


@kernel
def _smooth(edge0: float, edge1: float, value: float) -> float:
    t = min(max((value - edge0) / (edge1 - edge0), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel
def _map_value(view: View, pixels: Single, x: float, y: float, z: float) -> float:
    """Bilinear value of a picture taken by an orthographic view, at the place where it shows a world point."""
    x, y, z = x - view.eye[0], y - view.eye[1], z - view.eye[2]
    axes = view.axes
    u = view.centre_x + view.scale * (axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z) - 0.5
    v = view.centre_y - view.scale * (axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z) - 0.5
    height, width = pixels.shape
    if not (u >= 0.0 and v >= 0.0 and u < width - 1 and v < height - 1):
        return 0.0
    i, j = int(v), int(u)
    fv, fu = v - i, u - j
    top = pixels[i, j] * (1.0 - fu) + pixels[i, j + 1] * fu
    low = pixels[i + 1, j] * (1.0 - fu) + pixels[i + 1, j + 1] * fu
    return top * (1.0 - fv) + low * fv


@kernel
def _lit_share(shadow: Shadow, x: float, y: float, z: float) -> float:
    """Share 0..1 of the key light that reaches a point of a body, averaged over a patch of the light's picture."""
    view = shadow.light
    axes = view.axes
    x, y, z = x - view.eye[0], y - view.eye[1], z - view.eye[2]
    u = view.centre_x + view.scale * (axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z) - 0.5
    v = view.centre_y - view.scale * (axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z) - 0.5
    here = -(axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z)
    height, width = shadow.closest.shape
    if not (u >= 2.0 and v >= 2.0 and u < width - 3 and v < height - 3):
        return 1.0
    i, j = int(v), int(u)
    fv, fu = v - i, u - j
    lit = 0.0
    for di in range(-1, 3):
        # a box of 3 by 3 texels that slides smoothly: full weight inside, shared weight at its rim
        wv = 1.0 - fv if di == -1 else (fv if di == 2 else 1.0)
        for dj in range(-1, 3):
            wu = 1.0 - fu if dj == -1 else (fu if dj == 2 else 1.0)
            if here >= shadow.closest[i + di, j + dj]:
                lit += wu * wv
    return lit / 9.0


@kernel
def _line_cover(x: float, width: float, foot: float) -> float:
    """Share of a window of size `foot` about x that lies on lines of a width [m], one a metre: exact, so no moire."""
    low, high = x - 0.5 * foot + 0.5 * width, x + 0.5 * foot + 0.5 * width
    a = np.floor(low) * width + min(low - np.floor(low), width)
    b = np.floor(high) * width + min(high - np.floor(high), width)
    return (b - a) / max(foot, 1e-9)


@kernel
def _ray(view: View, px: float, py: float, origin: FloatArray, direction: FloatArray) -> None:
    """The line of sight through a pixel place; the direction's share along the camera's sight is one."""
    right, up = (px - view.centre_x) / view.scale, (view.centre_y - py) / view.scale
    for k in range(3):
        aside = right * view.axes[0, k] + up * view.axes[1, k]
        if view.perspective:
            origin[k], direction[k] = view.eye[k], view.axes[2, k] + aside
        else:
            origin[k], direction[k] = view.eye[k] + aside, view.axes[2, k]


@kernel
def _stage(
    view: View,
    look: Look,
    shadow: Shadow,
    px: float,
    py: float,
    height: int,
    origin: FloatArray,
    way: FloatArray,
    paint: FloatArray,
    out: FloatArray,
) -> None:
    """Colour of ground and backdrop in a pixel; `paint` is RGBA that lies on the ground there."""
    up_share = min(max(1.0 - py / height, 0.0), 1.0)
    for k in range(3):
        out[k] = look.backdrop_low[k] + (look.backdrop_high[k] - look.backdrop_low[k]) * up_share
    if not look.has_ground:
        return
    _ray(view, px, py, origin, way)
    if way[2] > -1e-4 or origin[2] <= 0.0:
        return
    far = -origin[2] / way[2]
    x, y = origin[0] + far * way[0], origin[1] + far * way[1]
    # how much ground one pixel spans along x and along y
    _ray(view, px + 1.0, py, origin, way)
    beside = -origin[2] / min(way[2], -1e-6)
    foot_x, foot_y = abs(origin[0] + beside * way[0] - x), abs(origin[1] + beside * way[1] - y)
    _ray(view, px, py - 1.0, origin, way)
    behind = -origin[2] / min(way[2], -1e-6)
    foot_x += abs(origin[0] + behind * way[0] - x)
    foot_y += abs(origin[1] + behind * way[1] - y)
    line = 0.0
    if look.grid > 0.0:
        cover_x, cover_y = _line_cover(x, 0.012, foot_x), _line_cover(y, 0.012, foot_y)
        line = look.grid * (cover_x + cover_y - cover_x * cover_y)
    away_x = max(look.focus[0] - x, x - look.focus[2], 0.0)
    away_y = max(look.focus[1] - y, y - look.focus[3], 0.0)
    near = 1.0 - _smooth(0.0, 1.0, np.sqrt(away_x * away_x + away_y * away_y) / look.fade)
    dark = look.shadow * min(_map_value(shadow.light, shadow.soft, x, y, 0.0), 1.0)
    closed = min(_map_value(shadow.above, shadow.contact, x, y, 0.0), 1.0)
    light = (1.0 - dark) * (1.0 - 0.72 * closed)
    for k in range(3):
        ground = look.ground[k] + (look.line[k] - look.ground[k]) * line
        ground += (paint[k] - ground) * paint[3]
        # shadows are a little blue: the sky still lights them
        out[k] = (out[k] + (ground - out[k]) * max(near, paint[3])) * (
            light + (1.0 - light) * (0.02 if k < 2 else 0.05)
        )


@kernel
def _body(
    look: Look,
    shadow: Shadow,
    has_shadow: bool,
    x: float,
    y: float,
    z: float,
    normal: FloatArray,
    sight: FloatArray,
    color: FloatArray,
    out: FloatArray,
) -> None:
    """Light that a body's surface sends to the eye: soft key, sky and ground, a little sheen and rim."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    light = look.light
    facing = nx * light[0] + ny * light[1] + nz * light[2]
    lit = 1.0
    if has_shadow and facing > -0.2:
        # start a little outside the surface, more where the light grazes it
        lift = 0.012 + 0.02 * (1.0 - max(facing, 0.0))
        lit = _lit_share(shadow, x + lift * nx, y + lift * ny, z + lift * nz)
    wrapped = max(0.0, (facing + 0.22) / 1.22)
    diffuse = wrapped * wrapped * (0.35 + 0.65 * wrapped) * (0.12 + 0.88 * lit)
    upward = 0.5 + 0.5 * nz
    open_share = 1.0
    if look.has_ground:  # close to the floor less of the sky is seen
        open_share = 0.55 + 0.45 * _smooth(-0.05, 0.45, z + 0.25 * nz)
    toward = -(nx * sight[0] + ny * sight[1] + nz * sight[2])
    rim = (1.0 - min(max(toward, 0.0), 1.0)) ** 3 * 0.16 * upward
    half_x, half_y, half_z = light[0] - sight[0], light[1] - sight[1], light[2] - sight[2]
    length = np.sqrt(half_x * half_x + half_y * half_y + half_z * half_z) + 1e-9
    sheen = max(0.0, (nx * half_x + ny * half_y + nz * half_z) / length) ** 24 * 0.05 * lit
    for k in range(3):
        ambient = (look.bounce[k] + (look.sky[k] - look.bounce[k]) * upward) * open_share
        out[k] = color[k] * (look.key[k] * diffuse + ambient) + rim * look.sky[k] + sheen * look.key[k]


@kernel
def shade(
    view: View,
    look: Look,
    shadow: Shadow,
    has_shadow: bool,
    screen: FloatArray,
    triangles: Index,
    normals: FloatArray,
    colors: Single,
    painted: Flags,
    offsets: FloatArray,
    first_row: int,
    height: int,
    closest: Single,
    owner: Index,
    steps: Flags,
    picture: npt.NDArray[np.uint8],
) -> None:
    """Colour a band of rows; (rows, W, 3) is written.

    A pixel's samples that show the same triangle share one colour, so shading costs little more than one sample.
    """
    rows, width, samples = closest.shape
    origin, way, normal = np.empty(3), np.empty(3), np.empty(3)
    nothing, stage, paint, tint = np.zeros(4), np.empty(3), np.empty(4), np.empty(4)
    found = np.empty((samples, 3))
    level = (len(steps) - 1) / samples
    for row in range(rows):
        for col in range(width):
            py, px = row + first_row + 0.5, col + 0.5
            has_stage = False
            red, green, blue = 0.0, 0.0, 0.0
            for s in range(samples):
                t = owner[row, col, s]
                same = -1
                for earlier in range(s):
                    if owner[row, col, earlier] == t:
                        same = earlier
                        break
                if same >= 0:
                    for k in range(3):
                        found[s, k] = found[same, k]
                else:
                    on_ground = t < 0
                    if not on_ground:
                        sx, sy = col + offsets[s, 0], row + first_row + offsets[s, 1]
                        _ray(view, sx, sy, origin, way)
                        near = closest[row, col, s]
                        depth = 1.0 / near if view.perspective else -near
                        x, y, z = origin[0] + depth * way[0], origin[1] + depth * way[1], origin[2] + depth * way[2]
                        on_ground = look.has_ground and z < -0.002 and view.eye[2] > 0.0
                    if on_ground:
                        if not has_stage:
                            _stage(view, look, shadow, px, py, height, origin, way, nothing, stage)
                            has_stage = True
                        for k in range(3):
                            found[s, k] = stage[k]
                    else:
                        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                        ax, ay = screen[a, 0], screen[a, 1]
                        bx, by, cx, cy = screen[b, 0] - ax, screen[b, 1] - ay, screen[c, 0] - ax, screen[c, 1] - ay
                        inverse = 1.0 / (bx * cy - cx * by)
                        share_b = ((sx - ax) * cy - (sy - ay) * cx) * inverse
                        share_c = ((sy - ay) * bx - (sx - ax) * by) * inverse
                        for k in range(4):
                            tint[k] = colors[a, k] + share_b * (colors[b, k] - colors[a, k])
                            tint[k] += share_c * (colors[c, k] - colors[a, k])
                        if painted[t]:
                            for k in range(4):
                                paint[k] = tint[k]
                            _stage(view, look, shadow, sx, sy, height, origin, way, paint, found[s])
                        else:
                            square, reach = 0.0, 0.0
                            for k in range(3):
                                n = normals[a, k] + share_b * (normals[b, k] - normals[a, k])
                                n += share_c * (normals[c, k] - normals[a, k])
                                normal[k] = n
                                square += n * n
                                reach += way[k] * way[k]
                            square, reach = 1.0 / np.sqrt(max(square, 1e-20)), 1.0 / np.sqrt(reach)
                            for k in range(3):
                                normal[k] *= square
                                way[k] *= reach
                            _body(look, shadow, has_shadow, x, y, z, normal, way, tint, found[s])
                # clip each sample before averaging, so that a bright edge keeps its smooth steps
                red += min(found[s, 0], 1.0)
                green += min(found[s, 1], 1.0)
                blue += min(found[s, 2], 1.0)
            picture[row, col, 0] = steps[int(red * level)]
            picture[row, col, 1] = steps[int(green * level)]
            picture[row, col, 2] = steps[int(blue * level)]
