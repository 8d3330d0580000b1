"""Cameras of takes: automatic ones that keep people in view, and ones that follow, circle, or look down.

Direction and place are chosen apart. The direction is the one from which most of the people can be seen past the
obstacles, from as low as that allows and as they fill the picture. The place is the nearest from which all of them are
in the picture, rather low in it, changed so slowly that the camera seems to be led by a hand. A camera that would move
but a little stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Solid

FIELD = np.radians(30.0)
"""Vertical opening angle of all cameras of takes [rad]."""
EYE_LEVEL = 1.6
"""Least height of an automatic camera above the ground under it [m]."""
ORBIT_RATE = np.radians(9.0)
"""Fastest turn of a camera that circles a place [rad/s]."""
_ELEVATIONS = np.radians([20.0, 30.0, 42.0, 55.0, 68.0])
"""Angles above the horizon that are tried [rad]."""
_BEARINGS = np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0, 150.0, -150.0, 180.0])
"""Turns from the usual bearing that are tried [rad]."""
_STEEP, _TURNED = 0.35, 0.06
"""What a camera from above, and one from the other side, must show more of the people [share]."""
_FILLED, _FULL = 0.35, 0.7
"""What people who fill the height of the picture are worth [share], and the share of the height that is enough."""
_LOW = 0.7
"""How far people are moved from the middle of the picture towards its lower edge, as a share of the room there: what is
before their feet is empty ground, what is behind them is the place."""
_MOMENTS, _PEOPLE = 8, 12
"""Most moments and people for which it is computed who can be seen."""
_MOST_TRIANGLES = 1500
"""Most triangles that are looked at; those of the highest solids, and not of hills."""
_SLOW = 2.0
"""Time over which a camera changes its place [s]."""
_CALM = 1.35
"""How many times farther away a camera may be that stands still, than one that moves along."""


def standing_boxes(places: FloatArray, ground: FloatArray, aside: float, high: float) -> FloatArray:
    """Return the corners of boxes around people that stand at places.

    Args:
        places: x and y [m]; (..., 2).
        ground: height of the ground there [m]; (...).
        aside: half width of a box [m].
        high: height of a box [m].

    Returns:
        The corners [m]; (..., 8, 3).
    """
    corners = np.array([(x, y, z) for x in (-aside, aside) for y in (-aside, aside) for z in (0.0, high)])
    middles = np.concatenate([places, np.asarray(ground)[..., None]], axis=-1)
    boxes: FloatArray = middles[..., None, :] + corners
    return boxes


def led_cameras(
    near: Camera,
    boxes: FloatArray,
    present: BoolArray,
    box_times: FloatArray,
    times: Sequence[float],
    size: tuple[int, int],
    *,
    margin: float = 0.05,
) -> list[Camera]:
    """Return cameras that look in one direction and have everybody in the picture.

    One camera that stands still is returned for all moments if it need not be much farther away.

    Args:
        near: a perspective camera with that direction.
        boxes: corners of a box around each person at each moment [m]; (P, T, 8, 3).
        present: who is to be seen when; (P, T).
        box_times: the moments, evenly spaced [s]; (T,).
        times: moments of the pictures [s].
        size: width and height of a picture [px].
        margin: share of the picture left free on each side.
    """
    axes, room = near.axes, 1.0 - 2.0 * margin
    slope_up = np.tan(0.5 * near.field) * room
    slopes = np.array([slope_up * size[0] / size[1], slope_up])
    seen = boxes @ axes.T
    # a point is inside when |p - e| <= slope * (depth_p - depth_e), for both sides of the picture; see Camera.fit
    sides = np.stack(
        [sign * seen[..., axis] - slopes[axis] * seen[..., 2] for axis in (0, 1) for sign in (1.0, -1.0)], axis=-1
    ).max(axis=2)
    sides = np.where(present[..., None], sides, -np.inf).max(axis=0)
    known = np.isfinite(sides[:, 0])
    if not known.any():
        known[:] = True
        sides = np.zeros_like(sides)
    steps = np.arange(len(box_times))
    sides = np.stack([np.interp(steps, steps[known], sides[known, k]) for k in range(4)], axis=1)
    depth = np.where(present[..., None], seen[..., 2], np.inf).min(axis=(0, 1, 2))
    whole = _eyes(sides.max(axis=0)[None], slopes)
    moving = _eyes(_led(sides, box_times), slopes)
    middle = float(np.where(present[..., None], seen[..., 2], 0.0).sum() / max(8 * present.sum(), 1))
    distances = middle - moving[:, 2]
    if middle - whole[0, 2] <= _CALM * float(np.median(distances)):
        return [_looking(near, whole[0], middle, float(depth))] * len(times)
    eyes = scipy.interpolate.CubicSpline(box_times, moving)(times)
    return [_looking(near, eye, middle, np.inf) for eye in eyes]


def _eyes(sides: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the nearest eyes from which the sides of clouds are in the picture, in camera axes; (T, 3)."""
    out = np.empty((len(sides), 3))
    depths = np.empty((len(sides), 2))
    for axis in (0, 1):
        upper, lower = sides[:, 2 * axis], sides[:, 2 * axis + 1]
        out[:, axis] = 0.5 * (upper - lower)
        depths[:, axis] = -0.5 * (upper + lower) / slopes[axis]
    out[:, 2] = depths.min(axis=1)
    # where the width decides, there is room over and under people
    out[:, 1] += _LOW * slopes[1] * (depths[:, 1] - out[:, 2])
    return out


def _led(sides: FloatArray, times: FloatArray) -> FloatArray:
    """Return sides that change slowly and are never less than the given ones: the greatest nearby, then smoothed."""
    step = float(times[1] - times[0]) if len(times) > 1 else 1.0
    reach = max(1, round(_SLOW / step))
    greatest = scipy.ndimage.maximum_filter1d(sides, 2 * reach + 1, axis=0, mode="nearest")
    smooth: FloatArray = scipy.ndimage.gaussian_filter1d(
        greatest, reach / 2.5, axis=0, mode="nearest", truncate=(reach - 0.5) / (reach / 2.5)
    )
    return smooth


def _looking(near: Camera, eye: FloatArray, middle: float, nearest: float) -> Camera:
    """Return the camera with an eye in its own axes, not nearer than 0.1 m to the nearest point."""
    axes = near.axes
    place = axes.T @ np.array([eye[0], eye[1], min(float(eye[2]), nearest - 0.1)])
    return Camera(place, place + max(middle - eye[2], 0.5) * axes[2], near.up, near.field)


def best_direction(
    boxes: FloatArray,
    present: BoolArray,
    box_times: FloatArray,
    solids: Sequence[Solid],
    size: tuple[int, int],
    azimuth: float,
    ground: Callable[[FloatArray], FloatArray],
    *,
    azimuths: Sequence[float] | None = None,
    elevations: Sequence[float] | None = None,
) -> tuple[float, float]:
    """Return azimuth and elevation of the camera [rad] from which most of the people can be seen past solids.

    A camera is steeper over people who are spread wide, so that they fill the picture.

    Args:
        boxes: corners of a box around each person at each moment [m]; (P, T, 8, 3).
        present: who is to be seen when; (P, T).
        box_times: the moments [s]; (T,).
        solids: what may hide them.
        size: width and height of a picture [px].
        azimuth: the usual bearing, which is taken unless another one shows more [rad].
        ground: gives the height of the ground [m] at places (N, 2); no camera is lower than eye level above it.
        azimuths: bearings to choose from [rad]; None is all around.
        elevations: angles above the horizon to choose from [rad]; None is from 20 to 68 degrees.
    """
    bearings = list(azimuth + _BEARINGS) if azimuths is None else list(azimuths)
    heights = list(_ELEVATIONS) if elevations is None else list(elevations)
    triangles = _hiding(solids)
    if len(triangles) == 0:  # all bearings show as much
        bearings = bearings[:1]
    if len(bearings) * len(heights) == 1 or not present.any():
        return float(bearings[0]), float(heights[0])
    moments = np.unique(np.linspace(0, len(box_times) - 1, _MOMENTS).round().astype(np.int64))
    best, found = -np.inf, (float(bearings[0]), float(heights[0]))
    for elevation in heights:
        for bearing in bearings:
            near = Camera.around(np.zeros(3), azimuth=float(bearing), elevation=float(elevation), field=FIELD)
            cameras = led_cameras(near, boxes, present, box_times, box_times[moments].tolist(), size)
            shares = [
                seen_share(camera, boxes[:, m], present[:, m], triangles)
                for camera, m in zip(cameras, moments, strict=True)
            ]
            low = lowest(cameras, ground)
            turned = abs(np.angle(np.exp(1j * (bearing - azimuth)))) / np.pi
            score = float(np.mean(shares)) - _STEEP * (elevation - heights[0]) / (0.5 * np.pi) - _TURNED * turned
            score -= 10.0 * max(EYE_LEVEL - low, 0.0)
            fills = [filled(c, boxes[:, m], present[:, m], size) for c, m in zip(cameras, moments, strict=True)]
            score += _FILLED * min(float(np.mean(fills)), _FULL)
            if score > best + 1e-9:
                best, found = score, (float(bearing), float(elevation))
    return found


def filled(camera: Camera, boxes: FloatArray, present: BoolArray, size: tuple[int, int]) -> float:
    """Return the share of the height of a picture that people take, from the lowest to the highest; 1 for nobody."""
    if not present.any():
        return 1.0
    rows = camera.project(boxes[present].reshape(-1, 3), size)[:, 1]
    return float(np.ptp(np.clip(rows, 0.0, size[1]))) / size[1]


def lowest(cameras: Sequence[Camera], ground: Callable[[FloatArray], FloatArray]) -> float:
    """Return the least height of cameras above the ground under them [m]."""
    eyes = np.array([camera.eye for camera in cameras])
    return float((eyes[:, 2] - ground(eyes[:, :2])).min())


def lifted(cameras: Sequence[Camera], ground: Callable[[FloatArray], FloatArray]) -> list[Camera]:
    """Return cameras of which none is lower than eye level above the ground: all are raised by what one lacks."""
    more = EYE_LEVEL - lowest(cameras, ground)
    if more <= 0.0:
        return list(cameras)
    up = np.array([0.0, 0.0, more])
    made: dict[int, Camera] = {}
    for camera in cameras:  # one that stands still stays one
        if id(camera) not in made:
            made[id(camera)] = replace(camera, eye=camera.eye + up, target=camera.target + up)
    return [made[id(camera)] for camera in cameras]


def _hiding(solids: Sequence[Solid]) -> FloatArray:
    """Return the triangles of solids that can hide people [m]; (T, 3, 3)."""
    parts = [s.mesh.points[s.mesh.triangles] for s in solids if len(s.mesh.triangles) <= _MOST_TRIANGLES]
    parts.sort(key=lambda part: -float(np.ptp(part[..., 2])))
    return np.concatenate(parts)[:_MOST_TRIANGLES] if parts else np.empty((0, 3, 3))


def seen_share(camera: Camera, boxes: FloatArray, present: BoolArray, triangles: FloatArray) -> float:
    """Return the share of people's heads, hips and feet that no triangle hides; 1 if nobody is there.

    Args:
        camera: the point of view.
        boxes: corners of a box around each person [m]; (P, 8, 3).
        present: who is to be seen; (P,).
        triangles: what may hide them [m]; (T, 3, 3).
    """
    who = np.flatnonzero(present)
    if len(who) == 0:
        return 1.0
    who = who[np.unique(np.linspace(0, len(who) - 1, _PEOPLE).round().astype(np.int64))]
    low, high = boxes[who].min(axis=1), boxes[who].max(axis=1)
    middle = 0.5 * (low + high)
    shares = (0.08, 0.45, 0.75)
    points = np.concatenate([np.column_stack([middle[:, :2], low[:, 2] + s * (high - low)[:, 2]]) for s in shares])
    return float(1.0 - hidden(camera.eye, points, triangles).mean())


def hidden(eye: FloatArray, points: FloatArray, triangles: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which points (N, 3) a triangle (T, 3, 3) hides from an eye (3,)."""
    if len(triangles) == 0:
        return np.zeros(len(points), bool)
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    start = eye - triangles[:, 0]
    normal = np.cross(first, second)
    way = points - eye
    # of every line of sight against every triangle: shares of its corners, and how far along it is
    facing = -way @ normal.T
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / facing
        far = np.einsum("tc,tc->t", normal, start) * inverse
        turned = np.cross(start[None], way[:, None])
        b = np.einsum("tc,ntc->nt", second, turned) * inverse
        c = -np.einsum("tc,ntc->nt", first, turned) * inverse
    out: npt.NDArray[np.bool_] = ((b >= 0.0) & (c >= 0.0) & (b + c <= 1.0) & (far > 1e-6) & (far < 1.0 - 1e-3)).any(
        axis=1
    )
    return out


def orbit_cameras(
    low: FloatArray, high: FloatArray, times: Sequence[float], size: tuple[int, int], azimuth: float, elevation: float
) -> list[Camera]:
    """Return cameras that circle a box once, or as far as they come in the time at a calm rate.

    Args:
        low: lower corner of what is to be seen [m]; (3,).
        high: its upper corner [m]; (3,).
        times: moments of the pictures [s].
        size: width and height of a picture [px].
        azimuth: bearing of the first camera [rad].
        elevation: angle above the horizon [rad].
    """
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    radius = float(np.hypot(half[0], half[1]))
    around = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    rim = np.array([(radius * np.cos(a), radius * np.sin(a), z) for a in around for z in (-half[2], half[2])])
    near = Camera.around(np.zeros(3), azimuth=0.0, elevation=elevation, field=FIELD).fit(rim, size, margin=0.03)
    away, high_up = float(near.eye[0]), float(near.eye[2])
    aim = high_up - away * np.tan(elevation) if elevation < 1.5 else 0.0
    lasts = float(times[-1] - times[0])
    rate = min(ORBIT_RATE, 2.0 * np.pi / lasts) if lasts > 0.0 else 0.0
    out = []
    for time in times:
        turn = azimuth + rate * (time - times[0])
        flat, up = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([0.0, 0.0, 1.0])
        upright = np.cos(elevation) * up - np.sin(elevation) * flat
        out.append(Camera(middle + away * flat + high_up * up, middle + aim * up, upright, FIELD))
    return out


def top_camera(bounds: tuple[float, float, float, float], ground: float, size: tuple[int, int]) -> Camera:
    """Return a camera that looks straight down on a place without perspective, like a map; x runs to the right."""
    x0, y0, x1, y1 = bounds
    middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1), ground])
    near = Camera.around(middle, azimuth=-0.5 * np.pi, elevation=0.5 * np.pi, distance=50.0, span=1.0)
    corners = np.array([(x, y, ground + z) for x in (x0, x1) for y in (y0, y1) for z in (0.0, 3.0)])
    return near.fit(corners, size, margin=0.02)
