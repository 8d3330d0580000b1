"""Blends and joins of two motions: weighted blends, joins with an overlap, and joins at a shared frame.

A join is C1: neither position nor speed jumps. The root is blended linearly and joints by slerp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import ClipError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, slice_frames
from gaitway.motion.kinematics import contact_positions

_SAME_FLOOR = 0.04
"""Greatest height difference of resting points on one floor [m]; captures are no more exact."""


def ease(t: npt.ArrayLike) -> FloatArray:
    """Return the smooth step: 0 up to t = 0, 1 from t = 1 on, with zero slope at both; (...)."""
    t = np.clip(np.asarray(t, dtype=np.float64), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def blend(a: Clip, b: Clip, weights: npt.ArrayLike) -> Clip:
    """Blend two clips of equal length frame by frame.

    Args:
        a: the motion at weight 0; the result has its name and labels.
        b: the motion at weight 1.
        weights: one for all frames, or one a frame (F,).
    """
    _check_alike(a, b)
    if len(a) != len(b):
        raise ClipError(f"clips '{a.name}' and '{b.name}' have {len(a)} and {len(b)} frames; blend needs equal counts")
    weight = np.broadcast_to(np.asarray(weights, dtype=np.float64), (len(a),))
    contacts: BoolArray | None = None
    if a.contacts is not None and b.contacts is not None:
        contacts = np.where(weight[:, None] < 0.5, a.contacts, b.contacts)
    return replace(
        a,
        root_positions=a.root_positions + weight[:, None] * (b.root_positions - a.root_positions),
        rotations=rotations.slerp(a.rotations, b.rotations, weight[:, None]),
        contacts=contacts,
    )


def concatenate(clips: Sequence[Clip], window_s: float = 0.3, *, overlap: bool = True, name: str | None = None) -> Clip:
    """Join clips one after another; each is placed where the one before it ends.

    Args:
        clips: motions of one skeleton at one rate.
        window_s: length of each join [s]; shortened where a clip is too short for it.
        overlap: True blends the last `window_s` of a clip with the first of the next, which suits captures that go
            on beyond the join. False takes the next clip's first frame as the last frame of the one before (clips
            that were made to follow one another) and lets what differs die away over `window_s`. A clip that ends on
            other ground than it began on, such as a stair, carries the next one up or down with it.
        name: name of the result; None joins the clips' names.
    """
    if not clips:
        raise ClipError("concatenate needs at least one clip")
    result = clips[0]
    for following in clips[1:]:
        _check_alike(result, following)
        if overlap:
            result = _overlapped(result, following, window_s)
        else:
            placed = _leveled(result, place(following, result.planar_path()[-1]))
            placed = _shared_frame(result, placed, window_s)
            result = _appended(slice_frames(result, 0, -1), placed) if len(result) > 1 else placed
    labels = tuple(dict.fromkeys(word for clip in clips for word in clip.labels))
    return replace(result, name="+".join(c.name for c in clips) if name is None else name, labels=labels)


def height_step(before: Clip, after: Clip) -> float:
    """Return how far `after` must be raised [m] so that it stands on the same ground as `before`.

    Points that rest in the shared frame then rest at one height in both clips.

    The shared frame is the last one of `before` and the first one of `after`; 0 where no point rests in both, or where
    they rest on one floor.
    """
    return float(height_steps([before], [after])[0])


def height_steps(before: Sequence[Clip], after: Sequence[Clip]) -> FloatArray:
    """Return the `height_step` of each of many pairs of clips of one skeleton [m]; (N,).

    Args:
        before: the clip before, of each pair.
        after: the clip that follows it, of each pair.
    """
    out = np.zeros(len(before))
    told = [k for k in range(len(out)) if before[k].contacts is not None and after[k].contacts is not None]
    resting = {k: before[k].contacts[-1] & after[k].contacts[0] for k in told}  # type: ignore[index]
    pairs = [k for k in told if resting[k].any()]
    if not pairs:
        return out
    ends = [(before[k], -1) for k in pairs] + [(after[k], 0) for k in pairs]
    roots = np.array([clip.root_positions[frame] for clip, frame in ends])
    turns = np.array([clip.rotations[frame] for clip, frame in ends])
    last, first = np.split(contact_positions(before[0].skeleton, roots, turns)[..., 2], 2)
    gaps = last - first
    for k, gap in zip(pairs, gaps, strict=True):
        step = float(gap[resting[k]].mean())
        out[k] = step if abs(step) > _SAME_FLOOR else 0.0
    return out


def _leveled(before: Clip, after: Clip) -> Clip:
    """Return `after` raised or lowered by `height_step`."""
    gap = height_step(before, after)
    return after if gap == 0.0 else replace(after, root_positions=after.root_positions + np.array([0.0, 0.0, gap]))


def _shared_frame(before: Clip, after: Clip, window_s: float) -> Clip:
    """Replace the first pose of `after` by the last of `before`; the difference fades over the window.

    Speeds are left alone: equal poses need no change at all, and none is made, so planted feet stay planted.
    """
    window = min(max(window_s * after.fps, 1.0), float(len(after)))
    rise = 1.0 - ease(np.arange(len(after)) / window)
    roots = after.root_positions + rise[:, None] * (before.root_positions[-1] - after.root_positions[0])
    turn = rotations.multiply(before.rotations[-1], rotations.conjugate(after.rotations[0]))
    offsets = rotations.from_rotation_vector(rise[:, None, None] * rotations.to_rotation_vector(turn))
    turned = rotations.normalize(rotations.multiply(offsets, after.rotations))
    return replace(after, root_positions=roots, rotations=turned)


def _overlapped(a: Clip, b: Clip, window_s: float) -> Clip:
    """Join `a` and `b` with a window in which one fades into the other; they agree in the middle of the window."""
    window = int(np.clip(round(window_s * a.fps), 1, min(len(a), len(b))))
    middle = window // 2
    b = place(b, a.planar_path()[len(a) - window + middle], middle)
    weights = ease((np.arange(window) + 1.0) / (window + 1.0))
    shared = blend(slice_frames(a, len(a) - window), slice_frames(b, 0, window), weights)
    result = shared if len(a) == window else _appended(slice_frames(a, 0, len(a) - window), shared)
    return result if len(b) == window else _appended(result, slice_frames(b, window))


def _appended(a: Clip, b: Clip) -> Clip:
    contacts = None if a.contacts is None or b.contacts is None else np.concatenate([a.contacts, b.contacts])
    return replace(
        a,
        root_positions=np.concatenate([a.root_positions, b.root_positions]),
        rotations=np.concatenate([a.rotations, b.rotations]),
        contacts=contacts,
    )


def _check_alike(a: Clip, b: Clip) -> None:
    """Check that both clips have one skeleton and one rate."""
    same = a.skeleton is b.skeleton or (
        a.skeleton.names == b.skeleton.names and np.allclose(a.skeleton.offsets, b.skeleton.offsets, atol=1e-6)
    )
    if not same:
        raise ClipError(
            f"clips '{a.name}' and '{b.name}' are of different skeletons ('{a.skeleton.name}', '{b.skeleton.name}'); "
            "retarget one first"
        )
    if a.fps != b.fps:
        raise ClipError(f"clips '{a.name}' and '{b.name}' run at {a.fps:g} and {b.fps:g} Hz; resample one first")
