"""Footprints in, a planted clip out: the body follows the step model, the feet the plan, the eyes go ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gaitway import planar, rotations
from gaitway.arrays import FloatArray, IntArray
from gaitway.library.cast.curves import smooth_step, wobble
from gaitway.library.cast.footwork import SIDES, Footprint, Ground, Step, StepPlan, foot_curve, shifted
from gaitway.library.cast.gait import GaitModel, moving_joints
from gaitway.library.cast.locomotion import FPS, NEUTRAL, Controls, Hub, hub, locomote
from gaitway.library.cast.person import SHANK, THIGH, person_skeleton
from gaitway.library.cast.planting import Motion, Pin, Planted, Stance, plant
from gaitway.library.cast.step_model import JOINTS, BodyCurves, StepModel
from gaitway.library.cast.styles import Style
from gaitway.motion.clip import Clip
from gaitway.motion.ik import two_bone
from gaitway.motion.kinematics import forward_kinematics

GAZE_LEAD_S = 0.28
"""How long before the pelvis the eyes turn [s]."""
CHEST_LEAD_S = 0.12
"""How long before the pelvis the shoulders turn [s]."""
PADDING = 24
"""Frames that are made before and after a clip, so that its own ends are in the middle of things."""
EYES_SHARE = 0.6
"""Head and neck leave a hub's pose in this share of the time that the body takes."""
GAZE_LIMIT = 1.15
"""Farthest turn of the head against the chest [rad]."""


@dataclass(frozen=True, eq=False)
class Lead:
    """Motion that a stepped clip comes from or goes into, in the frame of its hub."""

    root: FloatArray
    """(2 reach + 1, 3) [m]; row `reach` is the hub itself."""
    rotations: FloatArray
    """(2 reach + 1, J, 4)."""
    reach: int
    """Frames on either side of the hub."""
    left: Footprint
    right: Footprint
    """Where the feet stand before `steps`."""
    steps: tuple[Step, ...]
    """Steps around the hub, at times relative to it [s]."""
    feet: FloatArray
    """World targets of both feet in the hub: ankle, yaw, pitch, roll; (2, 6)."""

    def under_way(self) -> list[Step]:
        """The steps that have begun when the hub is reached, in order."""
        return [step for step in self.steps if step.lift < 0.0]

    def arrivals(self, pose: FloatArray, time: float, height: float = 0.0) -> list[Step]:
        """The steps that lead into the hub placed at a planar pose (3,), time [s] and height [m], and those after it.

        The first one is the last that has landed by then.
        """
        landed = [i for i, step in enumerate(self.steps) if step.land <= 0.0]
        return [moved_step(step, pose, time, height) for step in self.steps[landed[-1] if landed else 0 :]]


@dataclass(frozen=True, eq=False)
class Join:
    """One end of a clip: a lead placed in the plan, and how it is faded."""

    lead: Lead
    time: float
    """Of the hub in the plan [s]."""
    pose: FloatArray
    """Planar pose of the hub's frame in the plan; (3,)."""
    fade_s: float
    """How long the lead takes to give way [s]."""
    height: float = 0.0
    """Of the ground that the hub stands on [m]."""


@cache
def lead_of(state: str, style: Style = NEUTRAL) -> Lead:
    """The lead of "stand" or of a gait's state, for a person."""
    at = hub(state, style)
    if state == "stand":
        reach = int(1.5 * FPS)
        count = 2 * reach + 1
        prints = [Footprint(*where) for where in at.footprints if where is not None]
        still = np.broadcast_to(at.rotations, (count, *at.rotations.shape))
        return Lead(np.broadcast_to(at.root, (count, 3)), still, reach, prints[0], prints[1], (), at.pin.feet)
    return _gait_lead(at, style)


def _gait_lead(at: Hub, style: Style) -> Lead:
    """A steady gait around its hub, planted exactly as the hub was."""
    reach, total = 2 * at.frames, 5 * at.frames + 1
    cycle = at.phase + (np.arange(total) - reach) / at.frames
    motion = locomote(Controls(np.full(total, at.speed), np.zeros(total), cycle), style, start_frame=reach)
    planted = plant(motion)
    where: dict[str, Footprint] = {}
    steps: list[tuple[float, Step]] = []
    for stance in sorted(motion.stances, key=lambda s: s.start):
        flat = planted.feet[stance.start : stance.end, SIDES.index(stance.side)]
        x, y, _, yaw, *_ = flat[np.argmin(np.abs(flat[:, 4]))]
        target = Footprint(float(x), float(y), float(yaw))
        previous = [s for s in motion.stances if s.side == stance.side and s.end <= stance.start]
        if previous:
            lift = (max(s.end for s in previous) - 1 - reach) / FPS
            steps.append((lift, Step(stance.side, lift, (stance.start - reach) / FPS, target)))
        else:
            where[stance.side] = target
    kept = tuple(step for _, step in sorted(steps, key=lambda s: s[1].land) if step.land < reach / FPS)
    rows = slice(0, 2 * reach + 1)
    clip = planted.clip
    return Lead(
        clip.root_positions[rows], clip.rotations[rows], reach, where["left"], where["right"], kept, at.pin.feet
    )


def steady_lead(
    cycle: Sequence[Step],
    move: FloatArray,
    period_s: float,
    *,
    style: Style,
    lean: float = 0.0,
    sink: float = 0.0,
    ground: Ground | None = None,
) -> Lead:
    """A lead that repeats the same steps for ever.

    Args:
        cycle: steps of one cycle, in order of landing, at times relative to the hub [s].
        move: x, y and height gained in a cycle [m]; (3,).
        period_s: length of a cycle [s]; rounded to frames.
        style: whose body.
        lean: forward lean of the trunk [rad].
        sink: how much lower the pelvis goes than the step model says [m].
        ground: height of the ground where it is not level.
    """
    frames = round(period_s * FPS)
    period, reach, around = frames / FPS, 2 * frames, 4
    steps = [
        moved_step(step, np.array([k * move[0], k * move[1], 0.0]), k * period, k * move[2])
        for k in range(-around, around + 1)
        for step in cycle
    ]
    before = {step.side: step.target for step in steps[: len(cycle)]}
    kept = steps[len(cycle) :]
    begin = 3 * period
    plan = StepPlan(before["left"], before["right"], tuple(shifted(s, begin) for s in kept), 6.0 * period, ground)
    planted = step_out("steady", plan, (), style=style, lean=lean, sink=sink)
    middle = 3 * frames
    rows = slice(middle - reach, middle + reach + 1)
    clip = planted.clip
    return Lead(
        clip.root_positions[rows],
        clip.rotations[rows],
        reach,
        before["left"],
        before["right"],
        tuple(kept),
        planted.feet[middle],
    )


def moved_step(step: Step, pose: FloatArray, time: float, height: float = 0.0) -> Step:
    """The step carried along by a planar pose (3,), later by `time` [s] and higher by `height` [m]."""
    return replace(step, lift=step.lift + time, land=step.land + time, target=step.target.moved(pose, height))


def style_offsets(style: Style) -> FloatArray:
    """What a person's manner adds to the mean pose of trunk and arms: rotation vectors of JOINTS [rad]; (14, 3)."""
    model = GaitModel.load()
    mean = style.vector(model) @ model.gaits["walk"].style[:, 0, :]
    vectors = mean[3:].reshape(-1, 3)
    names, moving = person_skeleton().names, moving_joints()
    rows = {names[j]: vectors[i] for i, j in enumerate(moving)}
    out = np.stack([rows[name] for name in JOINTS])
    out[0, 2] = 0.0
    return out


def step_out(
    name: str,
    plan: StepPlan,
    joins: Sequence[Join],
    *,
    style: Style = NEUTRAL,
    seed: int | None = None,
    lean: FloatArray | float = 0.0,
    sink: FloatArray | float = 0.0,
) -> Planted:
    """Perform a plan.

    Args:
        name: of the clip.
        plan: footprints and times; the clip's frame 0 is time 0.
        joins: ends that are known.
        style: whose trunk and arms.
        seed: draws small restlessness of trunk and arms; None has none.
        lean: forward lean that is added to the trunk [rad]; (F,) or a number.
        sink: how much lower the pelvis goes than the step model says [m]; (F,) or a number.

    Returns:
        The planted clip from time 0 to the plan's duration, and what the planter found.
    """
    frames = np.arange(-PADDING, round(plan.duration * FPS) + PADDING + 1)
    times = frames / FPS
    body = _gaze(StepModel.load().body(plan.body_steps(), times))
    local = _pose(body, times, style, seed, plan.duration)
    _lean(local, _padded(lean, len(times)))
    root = body.root.copy()
    root[:, 2] -= _padded(sink, len(times))
    _solve_legs(plan, times, root, local, body.heading)
    for join in joins:
        _fade(join, times, plan.duration, root, local)
    motion = Motion(root, rotations.normalize(local), _stances(plan, frames), FPS)
    planted = plant(motion, [_pin(join) for join in joins], name)
    return _cropped(planted, joins)


def _padded(curve: FloatArray | float, frames: int) -> FloatArray:
    """A curve over the clip's frames, or a number, held beyond both ends of the clip; (frames,)."""
    values = np.atleast_1d(np.asarray(curve, dtype=np.float64))
    inside = np.broadcast_to(values, (frames - 2 * PADDING,)) if len(values) == 1 else values
    return np.pad(inside, PADDING, mode="edge")


def _gaze(body: BodyCurves) -> BodyCurves:
    """Eyes, then shoulders, lead the pelvis into a turn."""
    frames = np.arange(len(body.heading))

    def ahead(seconds: float) -> FloatArray:
        return np.interp(frames + seconds * FPS, frames, body.heading) - body.heading

    local = body.rotations.copy()
    chest = gaussian_filter1d(0.4 * ahead(CHEST_LEAD_S), 0.05 * FPS, mode="nearest")
    spine = [JOINTS.index(n) for n in ("Spine", "Spine1", "Spine2")]
    twisted = sum(rotations.to_rotation_vector(local[:, j])[:, 2] for j in spine)
    look = gaussian_filter1d(ahead(GAZE_LEAD_S) - 0.8 * twisted - chest, 0.05 * FPS, mode="nearest")
    look = GAZE_LIMIT * np.tanh(look / GAZE_LIMIT)
    for j in spine:
        local[:, j] = rotations.multiply(rotations.from_yaw(chest / 3.0), local[:, j])
    for name, share in (("Neck", 0.45), ("Head", 0.55)):
        j = JOINTS.index(name)
        vector = rotations.to_rotation_vector(local[:, j])
        vector[:, 2] = share * look
        local[:, j] = rotations.from_rotation_vector(vector)
    return replace(body, rotations=local)


def _pose(body: BodyCurves, times: FloatArray, style: Style, seed: int | None, duration: float) -> FloatArray:
    """Local rotations of the whole skeleton (F, J, 4), legs straight, pelvis in the world."""
    skeleton = person_skeleton()
    vectors = np.broadcast_to(style_offsets(style), (len(times), len(JOINTS), 3)).copy()
    if seed is not None:
        restless = np.array([0.006, *[0.012] * 3, 0.02, 0.02, *[0.01, 0.05, 0.06, 0.05] * 2])
        inside = np.clip(times, 0.0, duration)
        noise = wobble(inside, 3 * len(JOINTS), np.random.default_rng(seed), 0.7)
        vectors += restless[:, None] * noise.reshape(len(times), len(JOINTS), 3)
    moved = rotations.multiply(body.rotations, rotations.from_rotation_vector(vectors))
    local = rotations.identity(len(times), len(skeleton))
    for i, joint in enumerate(JOINTS):
        local[:, skeleton.index(joint)] = moved[:, i]
    local[:, 0] = rotations.multiply(rotations.from_yaw(body.heading), moved[:, 0])
    return local


def _lean(local: FloatArray, lean: FloatArray) -> None:
    """Lean the trunk forward by `lean` [rad] (F,), in place; the gaze stays level and the arms hang."""
    skeleton = person_skeleton()
    shares = {"Hips": 0.35, "Spine": 0.25, "Spine1": 0.2, "Spine2": 0.2, "Neck": -0.3, "Head": -0.5}
    shares |= {"LeftArm": -0.6, "RightArm": -0.6}
    for name, share in shares.items():
        j = skeleton.index(name)
        turn = rotations.from_axis_angle([0.0, 1.0, 0.0], share * lean)
        hips = name == "Hips"
        local[:, j] = rotations.multiply(local[:, j], turn) if hips else rotations.multiply(turn, local[:, j])


def _solve_legs(plan: StepPlan, times: FloatArray, root: FloatArray, local: FloatArray, heading: FloatArray) -> None:
    """Put the feet on their curves; knees point between where the foot and where the pelvis points (in place)."""
    skeleton = person_skeleton()
    positions, world = forward_kinematics(skeleton, root, local)
    for side in SIDES:
        thigh, shank, foot = (skeleton.index(side.title() + part) for part in ("UpLeg", "Leg", "Foot"))
        curve = foot_curve(plan, side, times)
        knees = rotations.from_yaw(heading + 0.65 * planar.wrap_angle(curve[:, 3] - heading))
        hip = positions[:, thigh]
        knee = hip + rotations.rotate(knees, [0.0, 0.0, -THIGH])
        ankle = knee + rotations.rotate(knees, [0.0, 0.0, -SHANK])
        pole = rotations.rotate(knees, [1.0, 0.0, 0.0])
        upper, lower = two_bone(hip, knee, ankle, knees, knees, curve[:, :3], pole)
        sole = rotations.from_euler("zyx", np.stack([curve[:, 3], -curve[:, 4], curve[:, 5]], axis=-1))
        local[:, thigh] = rotations.multiply(rotations.conjugate(world[:, 0]), upper)
        local[:, shank] = rotations.multiply(rotations.conjugate(upper), lower)
        local[:, foot] = rotations.multiply(rotations.conjugate(lower), sole)


def _fade(join: Join, times: FloatArray, duration: float, root: FloatArray, local: FloatArray) -> None:
    """Let the lead hold up to its hub, or from it on, and give way to the steps (in place)."""
    lead = join.lead
    row = np.round((times - join.time) * FPS).astype(np.int64) + lead.reach
    away = np.maximum((times - join.time) * (1.0 if join.time < 0.5 * duration else -1.0), 0.0)
    weight = 1.0 - smooth_step(away, 0.0, join.fade_s)
    here = (weight > 0.0) & (row >= 0) & (row < len(lead.root))
    row, weight = row[here], weight[here]
    eyes = 1.0 - smooth_step(away[here], 0.0, EYES_SHARE * join.fade_s)
    placed = lead.root[row].copy()
    placed[:, :2] = planar.transform_points(join.pose, placed[:, :2])
    placed[:, 2] += join.height
    turned = lead.rotations[row].copy()
    turned[:, 0] = rotations.multiply(rotations.from_yaw(join.pose[2]), turned[:, 0])
    root[here] += weight[:, None] * (placed - root[here])
    shares = np.broadcast_to(weight[:, None], turned.shape[:2]).copy()
    shares[:, person_skeleton().require("neck", "head")] = eyes[:, None]
    local[here] = rotations.slerp(local[here], turned, shares)


def _stances(plan: StepPlan, frames: IntArray) -> tuple[Stance, ...]:
    """The plan's stances as rows of `frames`."""
    out, count = [], len(frames)
    for side in SIDES:
        for start, end, where in plan.stances(side):
            first = 0 if start == -np.inf else max(int(np.ceil(start * FPS - 1e-6)) - int(frames[0]), 0)
            last = count if end == np.inf else min(int(np.floor(end * FPS + 1e-6)) + 1 - int(frames[0]), count)
            if first < last:
                out.append(Stance(side, first, last, (where.x, where.y, where.heading), where.height))
    return tuple(out)


def _pin(join: Join) -> Pin:
    feet = join.lead.feet.copy()
    feet[:, :2] = planar.transform_points(join.pose, feet[:, :2])
    feet[:, 2] += join.height
    feet[:, 3] += join.pose[2]
    return Pin(round(join.time * FPS) + PADDING, feet, 0.0)


def _cropped(planted: Planted, joins: Sequence[Join]) -> Planted:
    """What lies inside the clip, its hub frames set to the hub poses to the last bit."""
    rows = slice(PADDING, len(planted.clip) - PADDING)
    clip = planted.clip
    root, local = clip.root_positions[rows].copy(), clip.rotations[rows].copy()
    for join in joins:
        frame, at = round(join.time * FPS), join.lead
        root[frame, :2] = planar.transform_points(join.pose, at.root[at.reach, :2])
        root[frame, 2] = at.root[at.reach, 2] + join.height
        local[frame] = at.rotations[at.reach]
        local[frame, 0] = rotations.multiply(rotations.from_yaw(join.pose[2]), at.rotations[at.reach, 0])
    contacts = None if clip.contacts is None else clip.contacts[rows]
    inner = replace(clip, root_positions=root, rotations=rotations.continuous(local), contacts=contacts)
    return Planted(inner, planted.feet[rows], planted.pelvis[rows], planted.drop[rows])


class Tempo:
    """Seeded small differences between takes; without a seed there are none."""

    def __init__(self, seed: int | None) -> None:
        self._rng = None if seed is None else np.random.default_rng(seed)

    def around(self, value: float, spread: float = 0.06) -> float:
        """The value, more or less."""
        if self._rng is None:
            return value
        return value * float(1.0 + np.clip(spread * self._rng.normal(), -2.0 * spread, 2.0 * spread))

    def draw(self, size: float, count: int = 1) -> FloatArray:
        """Numbers about zero of typical `size`, at most twice that; (count,)."""
        if self._rng is None:
            return np.zeros(count)
        return size * np.clip(self._rng.normal(size=count), -2.0, 2.0)


def stand_to_stand(
    name: str, plan: StepPlan, end: FloatArray, style: Style = NEUTRAL, seed: int | None = None, settle_s: float = 0.6
) -> Clip:
    """Perform a plan that begins in the stand at the origin and ends in the stand at a planar pose (3,)."""
    lead, landed = lead_of("stand", style), plan.steps[-1].land
    duration = round((landed + settle_s) * FPS) / FPS
    joins = [
        Join(lead, 0.0, np.zeros(3), plan.steps[0].lift + 0.12),
        Join(lead, duration, end, duration - landed + 0.15),
    ]
    return step_out(name, replace(plan, duration=duration), joins, style=style, seed=seed).clip
