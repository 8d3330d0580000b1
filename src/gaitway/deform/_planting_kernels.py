"""Compiled loops that let a body follow a bent path with its feet planted; `performing.arrival.bending` explains it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.deform._tuck_kernels import blur
from gaitway.deform._turn_kernels import back, point_at, rotated, set_turn, times, turn_at, unit
from gaitway.motion._kernels import two_bone

DEEPEST, SOFTNESS, STRAIGHT, STRAIGHTEST, ENDS, WINDOW, FADE, SLOPE_FRAMES, STEEPEST = range(9)
"""Columns of the settings: greatest lowering of the root [m]; shares of a leg's length over which its approach to the
straight leg is softened, below which its knee counts as straight, and to which it is stretched before the root sinks;
and in frames: in which the root comes back to its own height at both ends, over which the change of a knee fades, over
which its speed fades, and over which that speed is measured; greatest change of a knee in a frame [rad]."""


class PlantedFeet(NamedTuple):
    """A clip of a body on two feet, and all that is known before it follows a path; legs are left and right."""

    path: FloatArray
    """Planar poses of the root, as seen from the first one, headings not wrapped; (F, 3)."""
    given: FloatArray
    """Planar poses of the root in the clip; (F, 3)."""
    roots: FloatArray
    """Positions of the root in the clip [m]; (F, 3)."""
    local: FloatArray
    """Local rotations in the clip; (F, J, 4)."""
    ends: FloatArray
    """Ankles on the floor, as seen from the first pose [m]; (F, 2, 2)."""
    at: IntArray
    """Frame whose move each stance takes over; (S,)."""
    stance: IntArray
    """Stances before and after each frame, by their numbers; (F, 2, 2)."""
    weight: FloatArray
    """How much they count there; (F, 2, 2)."""
    planted: BoolArray
    """Frames in which each foot is down; (2, F)."""
    joints: IntArray
    """Hip, knee, ankle and toe, the last one -1 on a rig without toes; (2, 4)."""
    points: FloatArray
    """Positions of hip, knee and ankle in the clip [m]; (2, F, 3, 3)."""
    turns: FloatArray
    """World rotations of hip, knee, ankle and toe in the clip; (2, F, 4, 4)."""
    above: FloatArray
    """World rotations of the joints above hip, knee and ankle in the clip; (2, F, 3, 4)."""
    poles: FloatArray
    """Direction in which each knee bends, in the frame of its hip; (2, 3)."""
    settings: FloatArray
    """See the columns above; (9,)."""
    drop_taps: FloatArray
    """One half of the filter by which the root sinks and rises, from its middle on; (R,)."""
    knee_taps: FloatArray
    """The same for changes of knees; (K,)."""


@kernel(inner=True, borrows=True)
def _bend(reach: float, a: float, b: float) -> float:
    """Return how far two bones are bent when they span a distance [rad]; 0 is straight."""
    return float(np.arccos(min(max((reach * reach - a * a - b * b) / (2.0 * a * b), -1.0), 1.0)))


@kernel(inner=True, shared=True, borrows=True)
def _slope(values: FloatArray, known: BoolArray, edge: int, inward: int, settings: FloatArray) -> float:
    """Return the change in a frame at the edge of a known run, outward, over several frames."""
    depth = 0
    while depth < settings[SLOPE_FRAMES]:
        inner = edge + inward * (depth + 1)
        if not (0 <= inner < len(values) and known[inner]):
            break
        depth += 1
    if depth == 0:
        return 0.0
    slope = (values[edge] - values[edge + inward * depth]) / depth
    return float(min(max(slope, -settings[STEEPEST]), settings[STEEPEST]))


@kernel(inner=True, shared=True, borrows=True)
def _bridge(values: FloatArray, known: BoolArray, settings: FloatArray) -> None:
    """Fill the frames that are not known so that value and slope go on, as `motion.footplants.bridge` does; (F,)."""
    n, start = len(values), 0
    while start < n:
        if known[start]:
            start += 1
            continue
        stop = start
        while stop < n and not known[stop]:
            stop += 1
        gap = stop - start + 1.0
        for i in range(start, stop):
            values[i] = 0.0
        for side in range(2):
            edge, inward = (start - 1, -1) if side == 0 else (stop, 1)
            if edge < 0 or edge >= n:
                continue
            opened = stop == n if side == 0 else start == 0
            reach = settings[WINDOW] if opened else min(settings[WINDOW], gap)
            fade = min(settings[FADE], reach)
            slope = _slope(values, known, edge, inward, settings)
            for i in range(start, stop):
                steps = float(abs(i - edge))
                t = min(steps / reach, 1.0)
                rest = min(max(1.0 - steps / fade, 0.0), 1.0)
                values[i] += values[edge] * (1.0 - t * t * (3.0 - 2.0 * t)) + slope * steps * rest * rest
        start = stop


@kernel(inner=True, shared=True, borrows=True)
def _feet_targets(feet: PlantedFeet, path: FloatArray, carry: FloatArray, target: FloatArray, turn: FloatArray) -> None:
    """Write where ankles go [m] (2, F, 3), and how far feet turn against the body [rad] (2, F)."""
    for leg in range(2):
        for i in range(len(path)):
            x, y, z = feet.points[leg, i, 2, 0], feet.points[leg, i, 2, 1], feet.points[leg, i, 2, 2]
            c, s = np.cos(carry[i, 2]), np.sin(carry[i, 2])
            x, y = carry[i, 0] + c * x - s * y, carry[i, 1] + s * x + c * y
            dx, dy, spin = 0.0, 0.0, 0.0
            for k in range(2):
                share = feet.weight[i, leg, k]
                if share != 0.0:
                    at = feet.at[feet.stance[i, leg, k]]
                    own = path[at, 2] - feet.path[at, 2]
                    c, s = np.cos(own), np.sin(own)
                    ex, ey = feet.ends[i, leg, 0] - feet.path[at, 0], feet.ends[i, leg, 1] - feet.path[at, 1]
                    dx += share * (path[at, 0] + c * ex - s * ey - x)
                    dy += share * (path[at, 1] + s * ex + c * ey - y)
                    spin += share * (own - (path[i, 2] - feet.path[i, 2]))
            target[leg, i, 0], target[leg, i, 1], target[leg, i, 2] = x + dx, y + dy, z
            turn[leg, i] = spin


@kernel(inner=True, shared=True, borrows=True)
def _lengths(feet: PlantedFeet, leg: int, i: int, k: int) -> float:
    """Return the distance between joint k and the one before it; for k = 0, between hip and ankle [m]."""
    a, b = (0, 2) if k == 0 else (k - 1, k)
    x = feet.points[leg, i, b, 0] - feet.points[leg, i, a, 0]
    y = feet.points[leg, i, b, 1] - feet.points[leg, i, a, 1]
    z = feet.points[leg, i, b, 2] - feet.points[leg, i, a, 2]
    return float(np.sqrt(x * x + y * y + z * z))


@kernel(inner=True, shared=True, borrows=True)
def _root_drop(feet: PlantedFeet, hips: FloatArray, target: FloatArray, drop: FloatArray, memory: FloatArray) -> None:
    """Write how far the root sinks so that legs reach planted feet [m]; (F,)."""
    n, settings = len(drop), feet.settings
    for i in range(n):
        memory[i] = 0.0
    for leg in range(2):
        length = _lengths(feet, leg, 0, 1) + _lengths(feet, leg, 0, 2)
        for i in range(n):
            if feet.planted[leg, i]:
                own = _lengths(feet, leg, i, 0)
                longest = max(settings[STRAIGHTEST] * length, own)
                reach = min((1.0 - 1.06 * settings[SOFTNESS]) * length, longest)
                x, y = target[leg, i, 0] - hips[leg, i, 0], target[leg, i, 1] - hips[leg, i, 1]
                level = min(x * x + y * y, reach * reach)
                short = hips[leg, i, 2] - target[leg, i, 2] - np.sqrt(reach * reach - level)
                memory[i] = max(memory[i], short)
    half = len(feet.drop_taps) - 1
    for i in range(n):
        drop[i] = 0.0
        for k in range(max(i - half, 0), min(i + half, n - 1) + 1):
            drop[i] = max(drop[i], min(memory[k], settings[DEEPEST]))
    blur(drop, feet.drop_taps, memory)
    for i in range(n):
        t = min(min(i, n - 1 - i) / settings[ENDS], 1.0)
        drop[i] *= t * t * (3.0 - 2.0 * t)


@kernel(inner=True, shared=True, borrows=True)
def _damp_ankle(
    feet: PlantedFeet, leg: int, hip: FloatArray, target: FloatArray, change: FloatArray, smooth: FloatArray,
    memory: FloatArray,
) -> None:  # fmt: skip
    """Lead targets (F, 3) of a foot in the air so that its knee does not pop, as `motion.footskate` does."""
    n, settings, planted = len(hip), feet.settings, feet.planted[leg]
    a, b = _lengths(feet, leg, 0, 1), _lengths(feet, leg, 0, 2)
    least, most = abs(a - b) + 1e-4, (1.0 - 0.5 * settings[SOFTNESS]) * (a + b)
    for i in range(n):
        x, y, z = target[i, 0] - hip[i, 0], target[i, 1] - hip[i, 1], target[i, 2] - hip[i, 2]
        reach = min(max(np.sqrt(x * x + y * y + z * z), least), most)
        change[i] = _bend(reach, a, b) - _bend(_lengths(feet, leg, i, 0), a, b)
        smooth[i] = change[i]
    blur(smooth, feet.knee_taps, memory)
    for i in range(n):
        change[i] -= smooth[i]
    _bridge(change, planted, settings)
    for i in range(n):
        if not planted[i]:
            x, y, z = target[i, 0] - hip[i, 0], target[i, 1] - hip[i, 1], target[i, 2] - hip[i, 2]
            angle = _bend(_lengths(feet, leg, i, 0), a, b) + smooth[i] + change[i]
            angle = min(max(angle, 0.0), np.pi)
            wanted = np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(angle))
            share = wanted / max(np.sqrt(x * x + y * y + z * z), 1e-9)
            target[i, 0], target[i, 1] = hip[i, 0] + share * x, hip[i, 1] + share * y
            target[i, 2] = hip[i, 2] + share * z


@kernel
def plant_feet(feet: PlantedFeet, path: FloatArray, roots: FloatArray, local: FloatArray) -> None:
    """Write the motion of a body that follows a path with its feet planted.

    Args:
        feet: the body.
        path: planar poses of the root in the world, headings not wrapped; (F, 3).
        roots: positions of the root after [m]; (F, 3).
        local: local rotations after; (F, J, 4).
    """
    n, joints = len(path), feet.local.shape[1]
    carry, target, turn = np.empty((n, 3)), np.empty((2, n, 3)), np.empty((2, n))
    hips, drop, memory = np.empty((2, n, 3)), np.empty(n), np.empty(n)
    for i in range(n):
        angle = path[i, 2] - feet.given[i, 2]
        c, s = np.cos(angle), np.sin(angle)
        carry[i, 0] = path[i, 0] - c * feet.given[i, 0] + s * feet.given[i, 1]
        carry[i, 1] = path[i, 1] - s * feet.given[i, 0] - c * feet.given[i, 1]
        carry[i, 2] = angle
        roots[i, 0], roots[i, 1], roots[i, 2] = path[i, 0], path[i, 1], feet.roots[i, 2]
        for leg in range(2):
            x, y = feet.points[leg, i, 0, 0], feet.points[leg, i, 0, 1]
            hips[leg, i, 0], hips[leg, i, 1] = carry[i, 0] + c * x - s * y, carry[i, 1] + s * x + c * y
            hips[leg, i, 2] = feet.points[leg, i, 0, 2]
        for j in range(joints):
            for k in range(4):
                local[i, j, k] = feet.local[i, j, k]
        half = 0.5 * angle
        set_turn(local[i], 0, times((np.cos(half), 0.0, 0.0, np.sin(half)), turn_at(feet.local[i], 0)))
    _feet_targets(feet, path, carry, target, turn)
    _root_drop(feet, hips, target, drop, memory)
    for i in range(1, n - 1):
        roots[i, 2] -= drop[i]
    points, upper, lower = np.empty((n, 3, 3)), np.empty((n, 4)), np.empty((n, 4))
    pole, new_upper, new_lower = np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 4))
    change, smooth = np.empty(n), np.empty(n)
    for leg in range(2):
        for i in range(n):
            hips[leg, i, 2] -= drop[i]
            c, s = np.cos(carry[i, 2]), np.sin(carry[i, 2])
            spin = (np.cos(0.5 * carry[i, 2]), 0.0, 0.0, np.sin(0.5 * carry[i, 2]))
            for k in range(3):
                x, y = feet.points[leg, i, k, 0], feet.points[leg, i, k, 1]
                points[i, k, 0], points[i, k, 1] = carry[i, 0] + c * x - s * y, carry[i, 1] + s * x + c * y
                points[i, k, 2] = feet.points[leg, i, k, 2] - drop[i]
            set_turn(upper, i, times(spin, turn_at(feet.turns[leg, i], 0)))
            set_turn(lower, i, times(spin, turn_at(feet.turns[leg, i], 1)))
            pole[i, 0], pole[i, 1], pole[i, 2] = rotated(turn_at(upper, i), point_at(feet.poles, leg))
        _damp_ankle(feet, leg, hips[leg], target[leg], change, smooth, memory)
        two_bone(
            points, upper, lower, target[leg], pole, feet.settings[SOFTNESS], feet.settings[STRAIGHT], new_upper,
            new_lower,
        )  # fmt: skip
        hip, knee, ankle, toe = feet.joints[leg, 0], feet.joints[leg, 1], feet.joints[leg, 2], feet.joints[leg, 3]
        for i in range(1, n - 1):  # both ends keep their poses
            spin = (np.cos(0.5 * carry[i, 2]), 0.0, 0.0, np.sin(0.5 * carry[i, 2]))
            both = 0.5 * (carry[i, 2] + turn[leg, i])
            foot_spin = (np.cos(both), 0.0, 0.0, np.sin(both))
            foot = times(foot_spin, turn_at(feet.turns[leg, i], 2))
            above = times(spin, turn_at(feet.above[leg, i], 0))
            set_turn(local[i], hip, unit(times(back(above), turn_at(new_upper, i))))
            # joints between two of a leg's follow the upper one rigidly
            led = times(turn_at(new_upper, i), back(turn_at(upper, i)))
            above = times(led, times(spin, turn_at(feet.above[leg, i], 1)))
            set_turn(local[i], knee, unit(times(back(above), turn_at(new_lower, i))))
            led = times(turn_at(new_lower, i), back(turn_at(lower, i)))
            above = times(led, times(spin, turn_at(feet.above[leg, i], 2)))
            set_turn(local[i], ankle, unit(times(back(above), foot)))
            if toe >= 0:
                toes = times(foot_spin, turn_at(feet.turns[leg, i], 3))
                set_turn(local[i], toe, unit(times(back(foot), toes)))
