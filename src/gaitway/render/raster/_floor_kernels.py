"""Compiled loops that draw what is behind all bodies: the sky, and the floor with its lines and shadows."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.render.raster._kernels import (
    CELL,
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
)

Triple = tuple[float, float, float]
FADED, LINED, SHADED, NO_FLOOR = 1, 2, 4, 8
"""What the floor of a tile has besides its plain colour; see `_floor_of_tile`."""
PLACE_X, PLACE_Y, NEAR, LINE = 0, 1, 2, 3
"""Rows of a run of pixels; see `_floor_run`."""
SEEN, PLACE, MOVE, RISE, FAR, FOOT = 0, 1, 3, 5, 7, 8
"""Columns of what the pixels of a row share; see `_level_rows`."""
_UPRIGHT = 1e-12
"""How far the right of a camera may be from level, if all pixels of a row are to be as far from the floor."""
EVEN = 5e-4
"""What the floor's share may be off where it is taken as even along a run: far less than a step of 8 bits."""


@kernel(inner=True)
def smooth(edge0: float, edge1: float, value: float) -> float:
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


@kernel(fastmath=True, inner=True, borrows=True)
def _floor_at(view: View, px: float, py: float) -> tuple[float, float, float, float, bool]:
    """Return x and y of the floor at a point of the picture, the size of a pixel there along both, and if it is seen.

    The size of a pixel is how far the place on the floor moves from one pixel to the next, across and up.
    """
    axes, pixel = view.axes, 1.0 / view.scale
    right, up = (px - view.centre_x) * pixel, (view.centre_y - py) * pixel
    way_x, way_y, way_z = axes[SIGHT, 0], axes[SIGHT, 1], axes[SIGHT, 2]
    x, y, z = view.eye[0], view.eye[1], view.eye[2]
    if view.perspective:
        way_x = way_x + right * axes[RIGHT, 0] + up * axes[UP, 0]
        way_y = way_y + right * axes[RIGHT, 1] + up * axes[UP, 1]
        way_z = way_z + right * axes[RIGHT, 2] + up * axes[UP, 2]
    else:
        x = x + right * axes[RIGHT, 0] + up * axes[UP, 0]
        y = y + right * axes[RIGHT, 1] + up * axes[UP, 1]
        z = z + right * axes[RIGHT, 2] + up * axes[UP, 2]
    if not (way_z < -1e-4 and z > 0.0):
        return 0.0, 0.0, 0.0, 0.0, False
    far = -z / way_z
    step = far if view.perspective else 1.0
    far_u, far_v = -step * axes[RIGHT, 2] / way_z, -step * axes[UP, 2] / way_z
    foot_x = pixel * (abs(step * axes[RIGHT, 0] + far_u * way_x) + abs(step * axes[UP, 0] + far_v * way_x))
    foot_y = pixel * (abs(step * axes[RIGHT, 1] + far_u * way_y) + abs(step * axes[UP, 1] + far_v * way_y))
    return x + far * way_x, y + far * way_y, foot_x, foot_y, True


@kernel(fastmath=True, inner=True, borrows=True)
def in_light(light: View, x: float, y: float, z: float) -> Triple:
    """Return column and row of a point in the light's picture, from the middle of the first texel; and closeness."""
    axes = light.axes
    x, y, z = x - light.eye[0], y - light.eye[1], z - light.eye[2]
    u = light.scale * (axes[RIGHT, 0] * x + axes[RIGHT, 1] * y + axes[RIGHT, 2] * z) - 0.5
    v = -light.scale * (axes[UP, 0] * x + axes[UP, 1] * y + axes[UP, 2] * z) - 0.5
    return u, v, -(axes[SIGHT, 0] * x + axes[SIGHT, 1] * y + axes[SIGHT, 2] * z)


@kernel(fastmath=True, inner=True, borrows=True)
def _any_cell(cells: Flags, low_u: float, low_v: float, high_u: float, high_v: float) -> bool:
    """Return whether a box of a shadow picture [texels] holds any shadow."""
    rows, columns = cells.shape
    if not (high_u > -2.0 and high_v > -2.0 and low_u < columns * CELL + 2.0 and low_v < rows * CELL + 2.0):
        return False
    first_row, last_row = int(max(low_v - 2.0, 0.0)) // CELL, int(min(high_v + 2.0, rows * CELL - 1.0)) // CELL
    first_col, last_col = int(max(low_u - 2.0, 0.0)) // CELL, int(min(high_u + 2.0, columns * CELL - 1.0)) // CELL
    for i in range(first_row, last_row + 1):
        for j in range(first_col, last_col + 1):
            if cells[i, j] != 0:
                return True
    return False


@kernel(fastmath=True, inner=True, borrows=True)
def _floor_of_tile(
    view: View, scene: SceneLight, shadow: Shadow, left: float, top: float, right: float, bottom: float
) -> int:
    """Return what a tile needs besides plain floor: `FADED`, `LINED` and `SHADED`, added up; or `NO_FLOOR`.

    What the floor shows between the corners of a tile lies between what it shows at them.
    """
    low_x, low_y, high_x, high_y, foot_x, foot_y, seen = 1e30, 1e30, -1e30, -1e30, 0.0, 0.0, 0
    soft_u, soft_v, soft_up, soft_vp = 1e30, 1e30, -1e30, -1e30
    near_u, near_v, near_up, near_vp = 1e30, 1e30, -1e30, -1e30
    light, above = shadow.light, shadow.above
    for k in range(4):
        x, y, wide, high, hit = _floor_at(view, left if k % 2 == 0 else right, top if k < 2 else bottom)
        if not hit:
            continue
        seen += 1
        low_x, high_x, low_y, high_y = min(low_x, x), max(high_x, x), min(low_y, y), max(high_y, y)
        foot_x, foot_y = max(foot_x, wide), max(foot_y, high)
        u = light.axes[RIGHT, 0] * (x - light.eye[0]) + light.axes[RIGHT, 1] * (y - light.eye[1])
        v = light.axes[UP, 0] * (x - light.eye[0]) + light.axes[UP, 1] * (y - light.eye[1])
        u = light.scale * (u - light.axes[RIGHT, 2] * light.eye[2])
        v = -light.scale * (v - light.axes[UP, 2] * light.eye[2])
        soft_u, soft_up, soft_v, soft_vp = min(soft_u, u), max(soft_up, u), min(soft_v, v), max(soft_vp, v)
        u = above.scale * (above.axes[RIGHT, 0] * (x - above.eye[0]) + above.axes[RIGHT, 1] * (y - above.eye[1]))
        v = -above.scale * (above.axes[UP, 0] * (x - above.eye[0]) + above.axes[UP, 1] * (y - above.eye[1]))
        near_u, near_up, near_v, near_vp = min(near_u, u), max(near_up, u), min(near_v, v), max(near_vp, v)
    if seen == 0:
        return NO_FLOOR
    if seen < 4:
        return FADED + LINED + SHADED
    needs = 0
    if _any_cell(shadow.soft_cells, soft_u, soft_v, soft_up, soft_vp) or _any_cell(
        shadow.contact_cells, near_u, near_v, near_up, near_vp
    ):
        needs = SHADED
    focus = scene.focus
    if low_x < focus[LOW_X] or low_y < focus[LOW_Y] or high_x > focus[HIGH_X] or high_y > focus[HIGH_Y]:
        away_x = max(focus[LOW_X] - high_x, low_x - focus[HIGH_X], 0.0)
        away_y = max(focus[LOW_Y] - high_y, low_y - focus[HIGH_Y], 0.0)
        if away_x * away_x + away_y * away_y >= scene.fade * scene.fade:
            return needs + FADED if needs > 0 else NO_FLOOR  # nothing but backdrop
        needs += FADED
    if scene.grid > 0.0:
        # lines lie about whole metres; the size of a pixel changes little within a tile
        for k in range(2):
            low, high, foot = (low_x, high_x, foot_x) if k == 0 else (low_y, high_y, foot_y)
            if np.floor(low - foot - 0.006) != np.floor(high + foot + 0.006):
                return needs + LINED
    return needs


@kernel(fastmath=True, inner=True, borrows=True)
def _fading(focus: FloatArray, per_fade: float, x: float, y: float) -> float:
    """Return the share 0..1 of the floor in its colour at a place; the rest is backdrop."""
    away_x, away_y = max(focus[LOW_X] - x, x - focus[HIGH_X], 0.0), max(focus[LOW_Y] - y, y - focus[HIGH_Y], 0.0)
    away: float = min(np.sqrt(away_x * away_x + away_y * away_y) * per_fade, 1.0)
    return 1.0 - away * away * (3.0 - 2.0 * away)


@kernel(fastmath=True, inner=True, borrows=True)
def _add_lines(
    run: FloatArray, count: int, start: float, step: float, wide: float, high: float, per_col: float, pixel: float
) -> None:
    """Add the metre lines of one axis to a run of pixels of an upright camera: to its row `LINE`.

    Args:
        run: the pixels; (4, TILE), updated.
        count: their number.
        start: place of the first pixel along the axis [m].
        step: how far the place moves from pixel to pixel [m].
        wide: how far it moves across a pixel, in pixels of one metre's depth.
        high: how far it moves up a pixel at the first one, likewise; the sign counts.
        per_col: change of `high` from pixel to pixel.
        pixel: size of a pixel at one metre's depth [m].
    """
    last = count - 1
    foot = pixel * (wide + max(abs(high), abs(high + per_col * last)))
    reach = 0.5 * foot + 0.006
    low, high_end = min(start, start + step * last) - reach, max(start, start + step * last) + reach
    line = np.ceil(low)
    while line <= high_end:
        first, final = 0, last
        if foot <= 0.4 and abs(step) * last > 2.0 * reach:  # only the pixels about this line
            middle, about = (line - start) / step, reach / abs(step)
            first, final = max(int(np.floor(middle - about)), 0), min(int(np.ceil(middle + about)), last)
        elif first == 0 and final == last:
            line = high_end  # all lines of all pixels at once
        for i in range(first, final + 1):
            cover = _line_cover(start + step * i, 0.012, pixel * (wide + abs(high + per_col * i)))
            run[LINE, i] += cover - run[LINE, i] * cover
        line += 1.0


@kernel(fastmath=True, inner=True, borrows=True)
def _level_rows(view: View, first: int, rows: int, width: int, level: FloatArray) -> None:
    """Write what all pixels of a row share, for rows from `first` on of an upright camera; (rows, 9).

    They are as far from the floor: its place is linear in the column, and so is how far it moves up a pixel.
    """
    axes, pixel = view.axes, 1.0 / view.scale
    for row in range(rows):
        x, y, _, _, hit = _floor_at(view, 0.5, first + row + 0.5)
        up, right = (view.centre_y - first - row - 0.5) * pixel, (0.5 - view.centre_x) * pixel
        way_z = axes[SIGHT, 2] + (up * axes[UP, 2] if view.perspective else 0.0)
        start_z = view.eye[2] + (0.0 if view.perspective else up * axes[UP, 2])
        step = -start_z / way_z if view.perspective else 1.0
        far_v = -step * axes[UP, 2] / way_z
        turn = 1.0 if view.perspective else 0.0
        level[row, SEEN] = 1.0 if hit else 0.0
        for axis in range(2):
            way = axes[SIGHT, axis] + turn * (up * axes[UP, axis] + right * axes[RIGHT, axis])
            level[row, PLACE + axis] = x if axis == 0 else y
            level[row, MOVE + axis] = step * axes[RIGHT, axis] * pixel
            level[row, RISE + axis] = step * axes[UP, axis] + far_v * way
        level[row, FAR] = far_v * turn * pixel
        # the largest size of a pixel in the row: at one of its ends
        level[row, FOOT] = 0.0
        for axis in range(2):
            high = level[row, RISE + axis]
            end = high + level[row, FAR] * axes[RIGHT, axis] * width
            foot = abs(level[row, MOVE + axis]) + pixel * max(abs(high), abs(end))
            level[row, FOOT] = max(level[row, FOOT], 0.5 * foot)


@kernel(fastmath=True, inner=True, borrows=True)
def _even_run(
    scene: SceneLight, needs: int, level: FloatArray, begin: int, count: int
) -> tuple[float, float, bool, bool]:
    """Return the floor's share of the colour of a run's first pixel and its change from pixel to pixel.

    Then return whether it changes evenly, and whether metre lines may cross the run.
    """
    if level[SEEN] == 0.0:
        return 0.0, 0.0, True, False
    x, y, last = level[PLACE] + level[MOVE] * begin, level[PLACE + 1] + level[MOVE + 1] * begin, count - 1
    end_x, end_y = x + level[MOVE] * last, y + level[MOVE + 1] * last
    crossed = False
    if needs & LINED:
        foot = level[FOOT] + 0.006
        crossed = np.floor(min(x, end_x) - foot) != np.floor(max(x, end_x) + foot) or (
            np.floor(min(y, end_y) - foot) != np.floor(max(y, end_y) + foot)
        )
    if needs & FADED == 0:
        return 1.0, 0.0, True, crossed
    focus, per_fade = scene.focus, 1.0 / scene.fade
    first, final = _fading(focus, per_fade, x, y), _fading(focus, per_fade, end_x, end_y)
    middle = _fading(focus, per_fade, 0.5 * (x + end_x), 0.5 * (y + end_y))
    return first, (final - first) / max(last, 1), abs(middle - 0.5 * (first + final)) < EVEN, crossed


@kernel(fastmath=True, inner=True, borrows=True)
def _level_lines(view: View, level: FloatArray, begin: int, count: int, run: FloatArray) -> None:
    """Write the share of metre lines of a run of floor pixels of an upright camera: the row `LINE` of `run`."""
    pixel = 1.0 / view.scale
    for i in range(count):
        run[LINE, i] = 0.0
    for axis in range(2):
        per_col, moves = level[FAR] * view.axes[RIGHT, axis], level[MOVE + axis]
        start, high = level[PLACE + axis] + moves * begin, level[RISE + axis] + per_col * begin
        _add_lines(run, count, start, moves, abs(moves) / pixel, high, per_col, pixel)


@kernel(fastmath=True, inner=True, borrows=True)
def _level_shade(shadow: Shadow, level: FloatArray, begin: int, count: int) -> bool:
    """Return whether any shadow may fall on a run of floor pixels of an upright camera."""
    if level[SEEN] == 0.0:
        return False
    x, y, last = level[PLACE] + level[MOVE] * begin, level[PLACE + 1] + level[MOVE + 1] * begin, count - 1
    end_x, end_y = x + level[MOVE] * last, y + level[MOVE + 1] * last
    u, v, _ = in_light(shadow.light, x, y, 0.0)
    end_u, end_v, _ = in_light(shadow.light, end_x, end_y, 0.0)
    if _any_cell(shadow.soft_cells, min(u, end_u), min(v, end_v), max(u, end_u), max(v, end_v)):
        return True
    u, v, _ = in_light(shadow.above, x, y, 0.0)
    end_u, end_v, _ = in_light(shadow.above, end_x, end_y, 0.0)
    return _any_cell(shadow.contact_cells, min(u, end_u), min(v, end_v), max(u, end_u), max(v, end_v))


@kernel(fastmath=True, inner=True, borrows=True)
def _level_run(
    view: View, scene: SceneLight, needs: int, level: FloatArray, begin: int, count: int, run: FloatArray
) -> None:
    """Write a run of floor pixels of an upright camera, whose row has given (9,); see `_floor_run`."""
    seen, per_x, per_y, per_fade = level[SEEN], level[MOVE], level[MOVE + 1], 1.0 / scene.fade
    x, y = level[PLACE] + per_x * begin, level[PLACE + 1] + per_y * begin
    for i in range(count):
        run[PLACE_X, i], run[PLACE_Y, i], run[NEAR, i], run[LINE, i] = x + per_x * i, y + per_y * i, seen, 0.0
    if seen == 0.0:
        return
    if needs & FADED:
        for i in range(count):
            run[NEAR, i] = _fading(scene.focus, per_fade, run[PLACE_X, i], run[PLACE_Y, i])
    if needs & LINED:
        _level_lines(view, level, begin, count, run)


@kernel(fastmath=True, inner=True, borrows=True)
def _floor_run(
    view: View, scene: SceneLight, needs: int, row: float, level: FloatArray, begin: int, count: int, run: FloatArray
) -> None:
    """Write a run of pixels in a row of the picture, from column `begin` on.

    `run` (4, TILE) gets x and y of the floor, the share of the floor's colour, which is 0 where no floor is seen, and
    the share of metre lines. `level` (9,) is what `_level_rows` found of that row, for a camera that is upright.
    """
    if abs(view.axes[RIGHT, 2]) < _UPRIGHT:
        _level_run(view, scene, needs, level, begin, count, run)
        return
    for i in range(count):
        x, y, foot_x, foot_y, hit = _floor_at(view, begin + i + 0.5, row)
        run[PLACE_X, i], run[PLACE_Y, i], run[LINE, i] = x, y, 0.0
        run[NEAR, i] = _fading(scene.focus, 1.0 / scene.fade, x, y) if hit else 0.0
        if hit and needs & LINED:
            line_x, line_y = _line_cover(x, 0.012, foot_x), _line_cover(y, 0.012, foot_y)
            run[LINE, i] = line_x + line_y - line_x * line_y


@kernel(fastmath=True, borrows=True)
def stage(
    view: View,
    scene: SceneLight,
    shadow: Shadow,
    first_row: int,
    height: int,
    tiles: Flags,
    touched: Flags,
    owner: Index,
    opaque: Flags,
    steps: Flags,
    level: FloatArray,
    run: FloatArray,
    out: Single,
    picture: Flags,
) -> None:
    """Draw ground and backdrop of a band; only the tiles of `tiles` that are not 0 (see `TILE`).

    Tiles that no triangle has `touched` are finished: their pixels (rows, W, 3) are written, with `steps`, which is
    8-bit sRGB by linear light. For the others linear RGB before shadow and the share of light left are written to
    `out` (rows, W, 4); but not for pixels that are hidden by triangles: whose samples in `owner` (rows, W, S) all
    belong to triangles that are `opaque` (T,). The band begins with a row of tiles. `level` (TILE, 9) and
    `run` (4, TILE) are room to work in.
    """
    # numbers are taken out of their arrays once: a write to `out` could change any array, as far as a compiler knows
    per_height, grid = 1.0 / height, scene.grid
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
    has_ground, strength, samples, top = scene.has_ground, scene.shadow, owner.shape[2], len(steps) - 1
    rows, width, _ = picture.shape
    level_view = abs(view.axes[RIGHT, 2]) < _UPRIGHT
    for band_row in range(-(-rows // TILE)):
        first, last = band_row * TILE, min((band_row + 1) * TILE, rows)
        _level_rows(view, first_row + first, last - first, width, level)
        for column in range(-(-width // TILE)):
            if tiles[first_row // TILE + band_row, column] == 0:
                continue
            bare = touched[band_row, column] == 0
            begin, end = column * TILE, min((column + 1) * TILE, width)
            needs = NO_FLOOR
            if has_ground:
                corners = (begin + 0.5, first_row + first + 0.5, end - 0.5, first_row + last - 0.5)
                needs = _floor_of_tile(view, scene, shadow, *corners)
            for row in range(first, last):
                rise = 1.0 - (row + first_row + 0.5) * per_height
                back_r, back_g, back_b = base_r + rise_r * rise, base_g + rise_g * rise, base_b + rise_b * rise
                here = needs
                if level_view and needs & SHADED and not _level_shade(shadow, level[row - first], begin, end - begin):
                    here = needs - SHADED
                if bare and here in (0, NO_FLOOR):  # one colour
                    red, green, blue = (back_r, back_g, back_b) if here else (ground_r, ground_g, ground_b)
                    byte_r, byte_g, byte_b = steps[int(red * top)], steps[int(green * top)], steps[int(blue * top)]
                    for col in range(begin, end):
                        picture[row, col, 0], picture[row, col, 1], picture[row, col, 2] = byte_r, byte_g, byte_b
                    continue
                if level_view and bare and here & SHADED == 0:
                    near, per_col, even, crossed = _even_run(scene, here, level[row - first], begin, end - begin)
                    if even:  # colours change evenly too
                        red, green, blue = ground_r - back_r, ground_g - back_g, ground_b - back_b
                        per_r, per_g, per_b = red * per_col * top, green * per_col * top, blue * per_col * top
                        red, green = (back_r + red * near) * top, (back_g + green * near) * top
                        blue = (back_b + blue * near) * top
                        last_i = end - begin - 1
                        byte_r, byte_g, byte_b = steps[np.uint64(red)], steps[np.uint64(green)], steps[np.uint64(blue)]
                        if (
                            byte_r == steps[np.uint64(red + per_r * last_i)]
                            and byte_g == steps[np.uint64(green + per_g * last_i)]
                            and byte_b == steps[np.uint64(blue + per_b * last_i)]
                        ):  # between two ends of the same colour there is no other one
                            for col in range(begin, end):
                                picture[row, col, 0], picture[row, col, 1], picture[row, col, 2] = (
                                    byte_r,
                                    byte_g,
                                    byte_b,
                                )
                        else:
                            for i in range(end - begin):
                                picture[row, begin + i, 0] = steps[np.uint64(red + per_r * i)]
                                picture[row, begin + i, 1] = steps[np.uint64(green + per_g * i)]
                                picture[row, begin + i, 2] = steps[np.uint64(blue + per_b * i)]
                        if crossed:
                            _level_lines(view, level[row - first], begin, end - begin, run)
                            for i in range(end - begin):
                                line = grid * run[LINE, i] * (near + per_col * i) * top
                                if line > 0.0:
                                    picture[row, begin + i, 0] = steps[np.uint64(red + per_r * i + line_r * line)]
                                    picture[row, begin + i, 1] = steps[np.uint64(green + per_g * i + line_g * line)]
                                    picture[row, begin + i, 2] = steps[np.uint64(blue + per_b * i + line_b * line)]
                        continue
                if here != NO_FLOOR:
                    _floor_run(view, scene, here, row + first_row + 0.5, level[row - first], begin, end - begin, run)
                if bare and here & SHADED == 0:
                    for i in range(end - begin):
                        near, line = run[NEAR, i], grid * run[LINE, i]
                        red = back_r + (ground_r + line_r * line - back_r) * near
                        green = back_g + (ground_g + line_g * line - back_g) * near
                        blue = back_b + (ground_b + line_b * line - back_b) * near
                        picture[row, begin + i, 0] = steps[np.uint64(red * top)]
                        picture[row, begin + i, 1] = steps[np.uint64(green * top)]
                        picture[row, begin + i, 2] = steps[np.uint64(blue * top)]
                    continue
                for col in range(begin, end):
                    if not bare:
                        hides = 0
                        for s in range(samples):
                            t = owner[row, col, s]
                            if t < 0 or opaque[t] == 0:
                                break
                            hides += 1
                        if hides == samples:
                            continue
                    red, green, blue, left, i = back_r, back_g, back_b, 1.0, col - begin
                    if here != NO_FLOOR:
                        near, line = run[NEAR, i], grid * run[LINE, i]
                        red += (ground_r + line_r * line - red) * near
                        green += (ground_g + line_g * line - green) * near
                        blue += (ground_b + line_b * line - blue) * near
                        if here & SHADED:
                            x, y = run[PLACE_X, i], run[PLACE_Y, i]
                            u, v = soft_u + soft_ux * x + soft_uy * y, soft_v + soft_vx * x + soft_vy * y
                            dark = _bilinear(shadow.soft, u, v)
                            u, v = near_u + near_ux * x + near_uy * y, near_v + near_vx * x + near_vy * y
                            closed = _bilinear(shadow.contact, u, v)
                            left = (1.0 - strength * min(dark, 1.0)) * (1.0 - 0.7 * min(closed, 1.0))
                    if bare:
                        picture[row, col, 0] = steps[int(min(red * left, 1.0) * top)]
                        picture[row, col, 1] = steps[int(min(green * left, 1.0) * top)]
                        picture[row, col, 2] = steps[int(min(blue * left, 1.0) * top)]
                    else:
                        out[row, col, 0], out[row, col, 1], out[row, col, 2], out[row, col, 3] = red, green, blue, left
