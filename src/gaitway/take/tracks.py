"""Tracks: the clips of one character laid out in space and time; and takes assembled from tracks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import TakeError
from gaitway.motion.blending import height_steps
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton
from gaitway.take.data import Layer, Segments
from gaitway.take.model import Take


@dataclass(frozen=True, eq=False, kw_only=True)
class Track:
    """The segments of one character, as the columns of `Segments`, with the clips themselves."""

    name: str
    clips: tuple[Clip, ...]
    """The clip of each segment, all of one skeleton; (S,)."""
    starts: FloatArray
    """Start times [s]; (S,)."""
    offsets: FloatArray
    """Times in the clips at which they begin [s]; (S,)."""
    speeds: FloatArray
    """Playback speeds; (S,)."""
    poses: FloatArray
    """Planar moves of the clips; (S, 3)."""
    heights: FloatArray
    """Heights by which the clips are raised [m]; (S,)."""
    blends: FloatArray
    """Durations of the fades [s]; (S,)."""
    behaviors: tuple[str | None, ...]
    """Name of each segment's behaviour, or None; (S,)."""
    end: float
    """End time of the last segment [s]."""
    goal: tuple[float, float, float, float] | None = None
    """x, y [m], heading [rad], tolerance [m] that were asked for; NaN for any that was not."""
    radius: float | None = None
    """Radius of the disc that was kept clear [m]."""
    layers: tuple[Layer, ...] = ()
    """Layers of this character; their `character` is set when the take is assembled."""

    def __post_init__(self) -> None:
        count = len(self.clips)
        if count < 1:
            raise TakeError(f"track '{self.name}' has no clips")
        if len(self.behaviors) != count:
            raise TakeError(f"track '{self.name}' has {len(self.behaviors)} behaviours for {count} clips")
        for name, width in (
            ("starts", ()), ("offsets", ()), ("speeds", ()), ("poses", (3,)), ("heights", ()), ("blends", ()),
        ):  # fmt: skip
            column = owned(getattr(self, name), f"track '{self.name}': {name}", (count, *width), error=TakeError)
            object.__setattr__(self, name, column)


@dataclass(eq=False)
class ClipEnds:
    """Cache of what joining needs to know of clips; share one between calls that use the same clips."""

    joins: dict[tuple[Clip, Clip, int], tuple[float, ...]] = field(default_factory=dict)

    def joined(self, clips: Sequence[Clip], fades: Sequence[int]) -> FloatArray:
        """Return how each clip but the first is moved (x, y, heading) and raised to follow the one before; (S - 1, 4).

        Moves are relative to the clip before. Joins that are not known yet are found all at once.

        Args:
            clips: clips of one skeleton, one after another.
            fades: frames that each shares with the next; 0 where they share the last and first frame.
        """
        keys = list(zip(clips[:-1], clips[1:], fades, strict=True))
        if new := list(dict.fromkeys(key for key in keys if key not in self.joins)):
            here = planar_poses((before, len(before) - f + f // 2 if f else -1) for before, _, f in new)
            there = planar_poses((after, f // 2) for _, after, f in new)
            moves = planar.compose(here, planar.inverse(there))
            rises, cuts = np.zeros(len(new)), [k for k, key in enumerate(new) if not key[2]]
            rises[cuts] = height_steps([new[k][0] for k in cuts], [new[k][1] for k in cuts])
            self.joins.update(zip(new, map(tuple, np.column_stack([moves, rises]).tolist()), strict=True))
        return np.array([self.joins[key] for key in keys]).reshape(-1, 4)


def planar_poses(frames: Iterable[tuple[Clip, int]]) -> FloatArray:
    """Return the root's planar pose (x, y, heading) in single frames of clips, the heading within a turn; (N, 3)."""
    chosen = list(frames)
    turns = np.array([clip.rotations[frame, 0] for clip, frame in chosen]).reshape(-1, 4)
    forward = np.array([clip.skeleton.forward for clip, _ in chosen]).reshape(-1, 3)
    ahead = rotations.rotate(turns, forward)
    places = np.array([clip.root_positions[frame, :2] for clip, frame in chosen]).reshape(-1, 2)
    return np.column_stack([places, np.arctan2(ahead[:, 1], ahead[:, 0])])


def lay_track(
    name: str,
    clips: Sequence[Clip],
    start_pose: npt.ArrayLike = (0.0, 0.0, 0.0),
    start_time: float = 0.0,
    blend: float = 0.0,
    behaviors: Sequence[str | None] | None = None,
    goal: Sequence[float] | None = None,
    *,
    radius: float | None = None,
    speed: float = 1.0,
    height: float = 0.0,
    layers: Sequence[Layer] = (),
    ends: ClipEnds | None = None,
) -> Track:
    """Lay clips one after another, each placed where the one before ends, as `motion.concatenate` does.

    Args:
        name: of the character.
        clips: motions of one skeleton.
        start_pose: planar pose (x, y, heading) at which the root stands in the first frame.
        start_time: of the first frame [s].
        blend: 0 for clips that were made to follow one another: the last frame of one *is* the first of the next, and
            a clip that ends on other ground than it began on carries the next one up or down. Above 0, for captures
            that go on beyond the join: the last `blend` seconds of a clip fade into the first of the next, shortened
            where clips are too short for it.
        behaviors: name of the behaviour that each clip is; None for the clips' own names.
        goal: where it was to arrive: x, y and, if asked for, heading and tolerance.
        radius: of the disc that was kept clear about the root [m].
        speed: seconds of the clips that pass in a second.
        height: of the ground on which the first clip begins [m].
        layers: offsets on this character.
        ends: what is known of the clips from earlier calls.

    Raises:
        TakeError: if there are no clips, or they do not fit together.
    """
    _check_clips(name, clips)
    if not (np.isfinite(speed) and speed > 0.0 and np.isfinite(blend) and blend >= 0.0):
        raise TakeError(f"track '{name}': speed {speed} must be above 0 and blend {blend} at least 0")
    known = ends if ends is not None else ClipEnds()
    target = np.asarray(start_pose, dtype=np.float64)
    if target.shape != (3,) or not np.isfinite(target).all():
        raise TakeError(f"track '{name}': start_pose is three finite numbers x, y, heading; got {start_pose!r}")
    first = planar.compose(target, planar.inverse(planar_poses([(clips[0], 0)])[0]))
    fades = _fades(name, clips, blend) if blend > 0.0 else [0] * (len(clips) - 1)
    poses, heights = _chained(first, float(height), known.joined(clips, fades))
    faded, shared = np.array([0, *fades]), np.array([0, *(fade or 1 for fade in fades)])
    steps = 1.0 / (speed * np.array([clip.fps for clip in clips]))  # seconds from frame to frame
    lengths = np.array([len(clip) for clip in clips])
    begins = start_time + np.concatenate([[0.0], np.cumsum((lengths[:-1] - shared[1:]) * steps[:-1])])
    # weights rise from the frame before the window to the frame after it, as motion.concatenate has them
    lead = np.where(faded > 0, steps, 0.0)
    return Track(
        name=name,
        clips=tuple(clips),
        starts=begins - lead,
        offsets=-lead * speed,
        speeds=np.full(len(clips), float(speed)),
        poses=poses,
        heights=heights,
        blends=np.where(faded > 0, (faded + 1) * steps, 0.0),
        behaviors=tuple(clip.name for clip in clips) if behaviors is None else tuple(behaviors),
        end=float(begins[-1] + clips[-1].duration / speed),
        goal=_goal(name, goal),
        radius=radius,
        layers=tuple(layers),
    )


def _chained(first: FloatArray, height: float, joins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return planar moves (S, 3) and heights (S,) of clips; each is placed relative to the one before."""
    headings = first[2] + np.concatenate([[0.0], np.cumsum(joins[:, 2])])
    cosine, sine = np.cos(headings[:-1]), np.sin(headings[:-1])
    x = np.concatenate([[first[0]], cosine * joins[:, 0] - sine * joins[:, 1]])
    y = np.concatenate([[first[1]], sine * joins[:, 0] + cosine * joins[:, 1]])
    heights = height + np.concatenate([[0.0], np.cumsum(joins[:, 3])])
    return np.column_stack([np.cumsum(x), np.cumsum(y), planar.wrap_angle(headings)]), heights


def _fades(name: str, clips: Sequence[Clip], blend: float) -> list[int]:
    """Return the number of frames that each clip shares with the next."""
    fades: list[int] = []
    for before, after in pairwise(clips):
        if before.fps != after.fps:
            raise TakeError(f"track '{name}': '{before.name}' and '{after.name}' differ in rate; resample one")
        fades.append(_fade_frames(name, before, after, blend * before.fps, fades[-1] if fades else 0))
    return fades


def _fade_frames(name: str, before: Clip, after: Clip, wanted: float, earlier: int) -> int:
    """Return the frames of the window that two clips share.

    The window before, `earlier` frames, is over when it begins.
    """
    room = len(before) - earlier - (1 if earlier else 0)
    fade = int(np.clip(round(wanted), 1, max(min(room, len(after)), 1)))
    if room < 1 or len(before) - fade < 1:
        raise TakeError(f"track '{name}': clip '{before.name}' of {len(before)} frames is too short to fade in and out")
    return fade


def _goal(name: str, goal: Sequence[float] | None) -> tuple[float, float, float, float] | None:
    if goal is None:
        return None
    if not 2 <= len(goal) <= 4:
        raise TakeError(f"track '{name}': a goal is x, y and, if asked for, heading and tolerance; got {goal!r}")
    x, y, heading, tolerance = (*map(float, goal), *[np.nan] * (4 - len(goal)))
    return x, y, heading, tolerance


def _check_clips(name: str, clips: Sequence[Clip]) -> None:
    if not clips:
        raise TakeError(f"track '{name}' has no clips")
    for clip in clips[1:]:
        if clip.skeleton is not clips[0].skeleton and not same_skeleton(clip.skeleton, clips[0].skeleton):
            raise TakeError(
                f"track '{name}': clips '{clips[0].name}' and '{clip.name}' are of different skeletons; retarget one"
            )


def same_skeleton(a: Skeleton, b: Skeleton) -> bool:
    """Return whether two skeletons have the same numbers and names."""
    if a is b:
        return True
    words = ("name", "names", "roles", "contact_points", "tips")
    arrays = ("parents", "offsets", "rest_rotations")
    return all(getattr(a, w) == getattr(b, w) for w in words) and all(
        np.array_equal(getattr(a, x), getattr(b, x)) for x in arrays
    )


def assemble(tracks: Sequence[Track], fps: float = 30.0, facts: Mapping[str, Any] | None = None) -> Take:
    """Assemble tracks into a take. Clips that several tracks share are kept once; equal skeletons become one.

    Args:
        tracks: one a character.
        fps: rate at which the take is meant to be looked at [Hz].
        facts: where it comes from, as plain JSON values.
    """
    if not tracks:
        raise TakeError("a take needs at least one track")
    clips = {clip: number for number, clip in enumerate(dict.fromkeys(c for track in tracks for c in track.clips))}
    behaviors = {name: number for number, name in enumerate(dict.fromkeys(b for t in tracks for b in t.behaviors if b))}
    skeletons, body_of = _unified(dict.fromkeys(clip.skeleton for clip in clips))
    nothing = (np.nan,) * 4
    return Take(
        names=tuple(track.name for track in tracks),
        skeletons=skeletons,
        bodies=np.array([body_of[track.clips[0].skeleton] for track in tracks]),
        clips=tuple(_on(clip, skeletons[body_of[clip.skeleton]]) for clip in clips),
        segments=_segments(tracks, clips, behaviors),
        rows=np.concatenate([[0], np.cumsum([len(track.clips) for track in tracks])]),
        ends=np.array([track.end for track in tracks]),
        fps=fps,
        behaviors=tuple(behaviors),
        layers=tuple(replace(layer, character=c) for c, track in enumerate(tracks) for layer in track.layers),
        goals=np.array([nothing if track.goal is None else track.goal for track in tracks]),
        radii=np.array([np.nan if track.radius is None else track.radius for track in tracks]),
        facts={} if facts is None else facts,
    )


def tracks_of(take: Take) -> list[Track]:
    """Return the tracks that a take consists of, one a character, so that several takes can be assembled into one."""
    out = []
    for character, (first, last) in enumerate(pairwise(take.rows.tolist())):
        rows, own = take.segments, slice(first, last)
        x, y, heading, tolerance = take.goals[character].tolist()
        radius = float(take.radii[character])
        track = Track(
            name=take.names[character],
            clips=tuple(take.clips[clip] for clip in rows.clip[own].tolist()),
            starts=rows.start[own],
            offsets=rows.offset[own],
            speeds=rows.speed[own],
            poses=rows.pose[own],
            heights=rows.height[own],
            blends=rows.blend[own],
            behaviors=tuple(take.behaviors[b] if b >= 0 else None for b in rows.behavior[own].tolist()),
            end=float(take.ends[character]),
            goal=None if np.isnan(x) else (x, y, heading, tolerance),
            radius=None if np.isnan(radius) else radius,
            layers=tuple(layer for layer in take.layers if layer.character == character),
        )
        out.append(track)
    return out


def _segments(tracks: Sequence[Track], clips: Mapping[Clip, int], behaviors: Mapping[str, int]) -> Segments:
    numbers = [behaviors[b] if b else -1 for track in tracks for b in track.behaviors]
    return Segments(
        clip=np.array([clips[clip] for track in tracks for clip in track.clips], dtype=np.int32),
        start=np.concatenate([track.starts for track in tracks]),
        offset=np.concatenate([track.offsets for track in tracks]),
        speed=np.concatenate([track.speeds for track in tracks]),
        pose=np.concatenate([track.poses for track in tracks]),
        height=np.concatenate([track.heights for track in tracks]),
        blend=np.concatenate([track.blends for track in tracks]),
        behavior=np.array(numbers, dtype=np.int32),
    )


def _unified(given: Iterable[Skeleton]) -> tuple[tuple[Skeleton, ...], dict[Skeleton, int]]:
    """Return the different skeletons, and the index among them of each given one."""
    different: list[Skeleton] = []
    index: dict[Skeleton, int] = {}
    for skeleton in given:
        equal = next((i for i, other in enumerate(different) if same_skeleton(other, skeleton)), len(different))
        if equal == len(different):
            different.append(skeleton)
        index[skeleton] = equal
    return tuple(different), index


def take_of(
    clips: Sequence[Clip],
    names: Sequence[str] | None = None,
    *,
    fps: float | None = None,
    start_times: Sequence[float] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Take:
    """Make a take of clips as they stand; each clip becomes one character.

    Args:
        clips: the motions, in the world.
        names: of the characters; None for the clips' names, numbered where they repeat.
        fps: rate of the take [Hz]; None for the first clip's.
        start_times: when each begins [s]; None for 0.
        facts: where it comes from, as plain JSON values.
    """
    if not clips:
        raise TakeError("take_of needs at least one clip")
    given = _different([clip.name for clip in clips]) if names is None else list(names)
    times = [0.0] * len(clips) if start_times is None else list(start_times)
    if not len(given) == len(times) == len(clips):
        raise TakeError(f"{len(clips)} clips, {len(given)} names and {len(times)} start times do not fit together")
    tracks = []
    for clip, name, start in zip(clips, given, times, strict=True):
        track = lay_track(name, [clip], clip.planar_path()[0], start)
        tracks.append(replace(track, poses=np.zeros((1, 3))))  # as it stands, without the rounding of a round trip
    return assemble(tracks, clips[0].fps if fps is None else fps, facts)


def _different(names: Sequence[str]) -> list[str]:
    """Return the names, made different by numbers."""
    used: set[str] = set()
    result = []
    for name in names:
        number, candidate = 2, name
        while candidate in used:
            number, candidate = number + 1, f"{name}-{number}"
        used.add(candidate)
        result.append(candidate)
    return result


def _on(clip: Clip, skeleton: Skeleton) -> Clip:
    return clip if clip.skeleton is skeleton else replace(clip, skeleton=skeleton)
