"""Steps that are bent or blended: changes of gait from two steps, turns from straight steps, straight steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.capture.cutting.cuts import CutMark, TakePiece
from gaitway.capture.cutting.hub_poses import place_on_frame
from gaitway.capture.cutting.hubs import CaptureHub
from gaitway.capture.cutting.snapping import REACH_S, SnappedClip, lead_to_hubs, snap_piece
from gaitway.capture.making.candidates import travel_offsets
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames

_SEEN = np.radians(0.3)
"""Turn of a straight step below which there is nothing to straighten [rad]."""
_SWAY = 0.03
"""Largest distance to the side between the ends of a start or stop [m]; the body sways by as much over one foot."""
_OTHER_FOOT = {"left": "right", "right": "left"}


@dataclass(frozen=True, eq=False)
class _BlendCurves:
    """Clip as smooth functions of its phase from 0 to 1; the root has no heading."""

    clip: Clip
    spline: scipy.interpolate.CubicSpline

    @classmethod
    def of(cls, clip: Clip) -> _BlendCurves:
        path = clip.planar_path()
        joints = np.array(clip.rotations)
        joints[:, 0] = rotations.multiply(rotations.from_yaw(-path[:, 2]), joints[:, 0])
        parts = [path, clip.root_positions[:, 2:], rotations.continuous(joints)]
        channels = np.concatenate([part.reshape(len(clip), -1) for part in parts], axis=1)
        return cls(clip, scipy.interpolate.CubicSpline(np.linspace(0.0, 1.0, len(clip)), channels, axis=0))

    def at(self, phases: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the planar path (F, 3), root height (F,) and local rotations (F, J, 4), the root without heading."""
        values = self.spline(phases)
        return values[:, :3], values[:, 3], rotations.normalize(values[:, 4:].reshape(len(phases), -1, 4))

    def contacts(self, phases: FloatArray) -> BoolArray:
        """Return the contacts of the nearest frames; (F, C)."""
        assert self.clip.contacts is not None
        return self.clip.contacts[np.round(phases * (len(self.clip) - 1)).astype(np.int64)]


def blend_gaits(one: SnappedClip, other: SnappedClip, name: str) -> SnappedClip:
    """Return a clip that begins as one clip and ends as another; both take the same steps, from the same foot."""
    a, b = _BlendCurves.of(one.clip), _BlendCurves.of(other.clip)
    fps, times = one.clip.fps, (one.clip.duration, other.clip.duration)
    # the duration changes from that of the one to that of the other with the weight of the blend
    phases = np.linspace(0.0, 1.0, 201)
    weight = ease(phases)
    passed = np.concatenate([[0.0], np.cumsum(np.diff(phases) * _middles((1 - weight) * times[0] + weight * times[1]))])
    count = max(round(passed[-1] * fps), 4) + 1
    at = np.interp(np.linspace(0.0, passed[-1], count), passed, phases)
    share = ease(at)
    (path_a, height_a, joints_a), (path_b, height_b, joints_b) = a.at(at), b.at(at)
    steps = _steps(path_a) * (1 - _middles(share))[:, None] + _steps(path_b) * _middles(share)[:, None]
    path = _travelled(steps)
    joints = rotations.slerp(joints_a, joints_b, share[:, None])
    contacts = np.where((share < 0.5)[:, None], a.contacts(at), b.contacts(at))
    clip = _clip(one.clip, path, (1 - share) * height_a + share * height_b, joints, contacts, name)
    return replace(
        one,
        clip=lead_to_hubs(clip, one.start, other.end, path[0], path[-1]),
        end=other.end,
        source=f"{one.source}, {other.source}",
        made=f"blend of {one.start.gait} and {other.end.gait}",
        special="",
        raw=None,
    )


def bend_step(straight: SnappedClip, turn: float, name: str) -> SnappedClip:
    """Return a step that turns more to the left than a given step.

    Args:
        straight: Step ahead.
        turn: Additional turn to the left [rad].
        name: Name of the new clip.
    """
    clip = straight.clip
    turned = _turned(clip, turn, name)
    path = turned.planar_path()
    return replace(
        straight,
        clip=lead_to_hubs(turned, straight.start, straight.end, path[0], path[-1]),
        made=f"bent by {np.degrees(turn):.0f} degrees",
        raw=clip,
    )


def snap_straight(piece: TakePiece, turn: float, made: str = "", reach_s: float = REACH_S) -> SnappedClip:
    """Return a piece as a clip from hub to hub that goes straight on, as `snap_piece` does.

    People who walk straight turn by a few degrees with every step, and back with the next. Clips are put together in
    any order, and these turns would add up to ways that wind.

    Args:
        piece: Frames of a take.
        turn: How far the direction of travel turns in it, to the left [rad].
        made: As for `snap_piece`.
        reach_s: As for `snap_piece` [s].
    """
    if abs(turn) < _SEEN and piece.begin.hub.kind == piece.end.hub.kind:
        return snap_piece(piece, made, reach_s)
    first, last = piece.begin.frame, piece.end.frame
    raw = slice_frames(piece.take.clip, first, last + 1)
    hubs = piece.begin.hub, piece.end.hub
    clip, poses = _straightened(raw, hubs, turn)
    marks = [
        CutMark(frame, hub, pose, mark.fit)
        for frame, hub, pose, mark in zip((0, last - first), hubs, poses, (piece.begin, piece.end), strict=True)
    ]
    snapped = snap_piece(TakePiece(replace(piece.take, clip=clip), marks[0], marks[1]), made, reach_s)
    return replace(snapped, frames=(first, last), raw=None if made else raw)


def straight_way(snapped: SnappedClip, turn: float, name: str) -> SnappedClip:
    """Return a clip that goes straight on, made from one that turns to the left by an angle [rad]."""
    clip, (begin, end) = _straightened(snapped.clip, (snapped.start, snapped.end), turn)
    bent = lead_to_hubs(clip, snapped.start, snapped.end, begin, end)
    return replace(
        snapped,
        clip=replace(bent, name=name),
        made=f"made straight, from a turn of {np.degrees(turn):.0f} degrees",
        raw=snapped.clip,
    )


def _straightened(
    clip: Clip, hubs: tuple[CaptureHub, CaptureHub], turn: float
) -> tuple[Clip, tuple[FloatArray, FloatArray]]:
    """Return a clip without its turn to the left [rad], and the planar poses of its hubs at its ends; (3,) each.

    Starts and stops do not drift aside, either: a drift of a hand's breadth turns such a short way by much.
    """
    out, last = _turned(clip, -turn, clip.name), len(clip) - 1
    begin, end = (place_on_frame(hub.pose, out, frame) for hub, frame in zip(hubs, (0, last), strict=True))
    if hubs[0].kind != hubs[1].kind:
        way = begin[2] + travel_offsets(*hubs)[0]
        aside = np.array([-np.sin(way), np.cos(way)])
        drift = float(aside @ (end[:2] - begin[:2]))
        side = 1.0 if "left" in (hubs[1].foot, _OTHER_FOOT.get(hubs[0].foot)) else -1.0  # to which the body sways
        shift = (side * np.clip(side * drift, 0.0, _SWAY) - drift) * aside
        roots = np.array(out.root_positions)
        roots[:, :2] += _progress(_steps(out.planar_path()))[:, None] * shift
        out, end = replace(out, root_positions=roots), np.array([*(end[:2] + shift), end[2]])
    return out, (begin, end)


def _turned(clip: Clip, turn: float, name: str) -> Clip:
    """Return a clip that turns more to the left on its way [rad], least where it begins and ends; from the origin."""
    path, height, joints = _BlendCurves.of(clip).at(np.linspace(0.0, 1.0, len(clip)))
    steps = _steps(path)
    steps[:, 2] += turn * np.diff(_progress(steps))  # nobody turns while standing on both feet
    return _clip(clip, _travelled(steps), height, joints, clip.contacts, name)


def _clip(
    like: Clip, path: FloatArray, height: FloatArray, joints: FloatArray, contacts: BoolArray | None, name: str
) -> Clip:
    local = np.array(joints)
    local[:, 0] = rotations.multiply(rotations.from_yaw(path[:, 2]), local[:, 0])
    roots = np.column_stack([path[:, :2], height])
    return replace(like, root_positions=roots, rotations=local, contacts=contacts, name=name)


def _progress(steps: FloatArray) -> FloatArray:
    """Return how much of the way of moves between frames (F - 1, 3) is done, eased at both ends: 0 to 1; (F,)."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(steps[:, 0], steps[:, 1]))])
    return np.asarray(ease(way / max(float(way[-1]), 1e-6)))


def _middles(values: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (values[1:] + values[:-1]))


def _steps(path: FloatArray) -> FloatArray:
    """Return the moves between frames, relative to the mean heading: ahead, left [m], turned [rad]; (F - 1, 3)."""
    step, middle = np.diff(path, axis=0), _middles(path[:, 2])
    c, s = np.cos(middle), np.sin(middle)
    return np.column_stack([c * step[:, 0] + s * step[:, 1], c * step[:, 1] - s * step[:, 0], step[:, 2]])


def _travelled(steps: FloatArray) -> FloatArray:
    """Return the planar path (F, 3) of the moves between frames that `_steps` gives, from the origin."""
    heading = np.concatenate([[0.0], np.cumsum(steps[:, 2])])
    middle = _middles(heading)
    c, s = np.cos(middle), np.sin(middle)
    moves = np.column_stack([c * steps[:, 0] - s * steps[:, 1], s * steps[:, 0] + c * steps[:, 1]])
    return np.column_stack([np.vstack([np.zeros(2), np.cumsum(moves, axis=0)]), heading])
