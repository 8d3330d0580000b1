"""New variants of a motion (section 5.4), with a gain for how far from the mean they go.

In the conditional mode (chapter 6) some joints of a clip are kept, and the others are generated to go with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, SingleArray
from gaitway.core.errors import VariationError
from gaitway.motion.anatomy import PARTS
from gaitway.motion.clip import Clip
from gaitway.variation.network.model import VariationModel
from gaitway.variation.network.regression import Noise, unroll
from gaitway.variation.network.spread import TIMING, TakeWeights, node_mix
from gaitway.variation.network.texture import smoothed

_LONGEST = 1.5
"""Greatest length of a variant, as a multiple of the longest take; a variant that does not end before is cut there."""
Gain = float | Mapping[str, float]
"""One gain, or one for each of "lower", "trunk", "left_arm", "right_arm" and "timing" (1 where not named).

0 is the mean motion, 1 varies as takes do, more goes farther, up to the natural range.
"""


@dataclass(frozen=True, eq=False)
class KeptJoints:
    """A clip some of whose joints a variant keeps."""

    clip: Clip
    joints: tuple[str, ...] = ("lower",)
    """Names or roles of joints, or parts of the body. The path of the root belongs to the root joint."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Variants as rows of scaled degrees of freedom."""

    values: SingleArray
    """Scaled degrees of freedom of each frame; (B, F, n)."""
    phases: SingleArray
    """Phase of each frame; (B, F)."""


def sample(
    model: VariationModel,
    rng: np.random.Generator,
    frames: int | None = None,
    gain: Gain = 1.0,
    keep: KeptJoints | None = None,
    name: str | None = None,
) -> Clip:
    """Draw one variant; it begins at the origin, heading along +X.

    Args:
        model: Learnt model.
        rng: Random generator; the same state gives the same variant.
        frames: Number of frames; None: until the motion ends, or one cycle.
        gain: How far the variant goes from the mean.
        keep: Joints of a clip that are kept; the others are generated to go with them, frame by frame.
        name: Name of the clip.

    Raises:
        VariationError: if the gain is negative or names no part, or the clip to keep does not fit the model.
    """
    return sample_many(model, rng, 1, frames, gain, keep, name)[0]


def sample_many(
    model: VariationModel,
    rng: np.random.Generator,
    count: int,
    frames: int | None = None,
    gain: Gain = 1.0,
    keep: KeptJoints | None = None,
    name: str | None = None,
) -> list[Clip]:
    """Draw several variants at once, on several cores; as `sample`."""
    if keep is None:
        check_all_generated(model)
    drawn = draw(model, rng, count, frames, gain, keep)
    base = name or f"{model.name}_variant"
    clips = []
    for number in range(count):
        values, phases = drawn.values[number], drawn.phases[number].astype(np.float64)
        end = len(values) if frames is not None or keep is not None else end_frame(model, phases)
        rows = values[:end] * model.scale + model.centre
        start = (0.0, 0.0, 0.0) if keep is None else keep.clip.planar_path()[0]
        contacts = model.contacts_at(phases[:end]) if keep is None else keep.clip.contacts
        label = base if count == 1 else f"{base}.{number}"
        clip = model.dofs.clip(rows, label, start, contacts, ("variant",))
        clips.append(clip if keep is None else _with_kept(model, clip, keep))
    return clips


def _with_kept(model: VariationModel, clip: Clip, keep: KeptJoints) -> Clip:
    """Return the clip with exactly the kept joints, including those that hardly move."""
    joints = np.flatnonzero(model.dofs.chosen_joints((*keep.joints, *model.options.given)))
    local = np.array(clip.rotations)
    local[:, joints] = keep.clip.rotations[:, joints]
    roots = keep.clip.root_positions if 0 in joints else clip.root_positions
    return replace(clip, root_positions=roots, rotations=local)


def draw(
    model: VariationModel,
    rng: np.random.Generator,
    count: int,
    frames: int | None = None,
    gain: Gain = 1.0,
    keep: KeptJoints | None = None,
) -> Drawn:
    """Draw variants as rows; those that end by themselves are padded to the greatest length."""
    literal, n = model.options.literal, len(model.dofs)
    fixed, given, when = _given(model, keep)
    length = len(given) if given is not None else frames or _default_length(model)
    if length < 3:
        raise VariationError(f"{length} frames: a variant has at least 3")
    dial = dials(gain)
    parts = model.dofs.parts
    start = np.empty((count, 2, n))
    mixes = np.zeros((count, length, len(PARTS) + 1, len(model.variation.table)), np.float32)
    noise = np.zeros((count, length, n), np.float32)
    for number in range(count):
        if literal:
            start[number] = model.prior.sample(rng, given=given, fixed=fixed)
            noise[number] = rng.standard_normal((length, n)) * dial[parts]
            continue
        mixes[number] = TakeWeights(rng, model.variation, np.inf).next(length, dial)
    if not literal:
        start = first_frames(model, rng, mixes[:, 1], given, fixed)
    if when is None:
        first = 1.0 / float(model.course.paces[0, 0])
        when = np.array([0.0, 0.0 if model.options.kernel.phase_scale == 0.0 else first])
    got = unroll(
        model.rows, model.transition, start,
        np.repeat(when[None], count, axis=0), length,
        given=None if given is None else np.repeat(given[None], count, axis=0), fixed=fixed, draws=noise,
        course=None if literal else model.course,
        noise=None if literal else Noise(mixes, model.variation.table, model.variation.gains),
        parts=parts, limits=None if literal else np.full(len(PARTS) + 1, model.variation.natural),
    )  # fmt: skip
    if literal:
        return Drawn(got.values, got.phases)
    fine = [
        with_detail(model, smoothed(rows, model.dofs.fps), phases, mix, dial)
        for rows, phases, mix in zip(got.values, got.phases, mixes, strict=True)
    ]
    if frames is None and keep is None:
        fine = [
            rows + model.variation.drift.shift(rows[: end_frame(model, phases)])
            for rows, phases in zip(fine, got.phases, strict=True)
        ]
    whole = np.array(fine, np.float32)
    return Drawn(whole if fixed is None else np.where(fixed, got.values, whole), got.phases)


def with_detail(
    model: VariationModel, rows: FloatArray, phases: FloatArray, mix: SingleArray, dial: FloatArray
) -> FloatArray:
    """Return smooth rows (F, n) with detail, mixed by the weights (F, parts + 1, takes) of the draws."""
    texture, parts = model.variation.texture, model.dofs.parts
    mean, mixed = texture.at(phases * model.alignment.grid, mix, parts)
    # a variant farther from the mean does not tremble more
    return np.asarray(rows + mean + texture.gains * np.minimum(dial, 1.0)[parts] * mixed)


def first_frames(
    model: VariationModel,
    rng: np.random.Generator,
    weights: SingleArray,
    given: FloatArray | None = None,
    fixed: BoolArray | None = None,
) -> FloatArray:
    """Draw the first two frames (B, 2, n) with the weights (B, parts + 1, takes) of later frames."""
    takes = len(model.variation.table)
    mixes = np.array([node_mix(each, model.dofs.parts) for each in weights]) * np.sqrt(max(takes - 1, 1)) / takes
    return model.prior.sample_many(rng, len(weights), mixes, None if given is None else given[:2], fixed)


def check_all_generated(model: VariationModel) -> None:
    """Refuse a model that was learnt to follow given joints, where none are given."""
    if model.options.given:
        given = ", ".join(model.options.given)
        raise VariationError(f"the model never generates {given}; say with keep=Given(clip) of which clip to keep them")


def end_frame(model: VariationModel, phases: FloatArray) -> int:
    """Return the number of frames up to the end of the motion, or of its first cycle; all where it has no phases."""
    if model.options.kernel.phase_scale == 0.0:
        return len(phases)
    last = model.alignment.period - 0.5 / float(model.course.paces[-1, 0])
    over = phases >= last
    over[1:] |= np.diff(phases) < 0.0  # a new cycle
    return int(np.argmax(over)) + 1 if over.any() else len(phases)


def dials(gain: Gain) -> FloatArray:
    """Return one factor for each part of the body, and one for the pace; (parts + 1,).

    Raises:
        VariationError: if a factor is negative or there is no such part.
    """
    names = (*PARTS, TIMING)
    each = (
        dict.fromkeys(names, float(gain)) if isinstance(gain, (int, float)) else {**dict.fromkeys(names, 1.0), **gain}
    )
    for name, value in each.items():
        if name not in names:
            raise VariationError(f"no part '{name}' to dial; there are {', '.join(names)}")
        if not (np.isfinite(value) and value >= 0.0):
            raise VariationError(f"gain {value} of '{name}' must be 0 (the mean motion) or more")
    return np.array([each[name] for name in names])


def _default_length(model: VariationModel) -> int:
    if model.options.kernel.phase_scale == 0.0:
        return int(np.median(model.lengths))
    return int(np.ceil(_LONGEST * max(model.lengths))) + 2


def _given(
    model: VariationModel, keep: KeptJoints | None
) -> tuple[BoolArray | None, FloatArray | None, FloatArray | None]:
    """Return the columns that are kept, their values (F, n) and the phases (F,) that follow from them."""
    if keep is None:
        return None, None, None
    fixed = model.dofs.columns((*keep.joints, *model.options.given))
    if fixed.all() or not fixed.any():
        raise VariationError(
            f"keeping {', '.join(keep.joints)} leaves {'nothing' if fixed.all() else 'all'} to generate"
        )
    rows = model.scaled(keep.clip)
    if len(rows) < 3:
        raise VariationError(f"clip '{keep.clip.name}' has {len(rows)} frames; at least 3 are needed")
    phases = model.phases_of(rows, fixed)
    return fixed, rows, np.mod(phases, model.alignment.period) if model.rows.half_period < 1e20 else phases


def upper_body(
    model: VariationModel,
    clip: Clip,
    rng: np.random.Generator,
    gain: Gain = 1.0,
    joints: Sequence[str] = ("lower",),
    name: str | None = None,
) -> Clip:
    """Return the clip with its root, legs and timing as they are, and new trunk, arms and head.

    `joints` says what is kept.
    """
    return sample(model, rng, gain=gain, keep=KeptJoints(clip, tuple(joints)), name=name or f"{clip.name}_variant")


def upper_bodies(
    model: VariationModel,
    clip: Clip,
    rng: np.random.Generator,
    count: int,
    gain: Gain = 1.0,
    joints: Sequence[str] = ("lower",),
    name: str | None = None,
) -> list[Clip]:
    """Return several such clips; as `upper_body`."""
    return sample_many(
        model, rng, count, gain=gain, keep=KeptJoints(clip, tuple(joints)), name=name or f"{clip.name}_variant"
    )
