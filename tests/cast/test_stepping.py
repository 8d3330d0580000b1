"""Footprint-driven motion: exact ends, exact plants, headings, stairs, the box and the block."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.person.gait.hubs import hub
from gaitway.cast.person.skeleton import ANKLE_HEIGHT, person_skeleton
from gaitway.cast.person.steps.box_jump import BOX_EDGE, BOX_HEIGHT
from gaitway.cast.person.steps.climbing import BLOCK_HEIGHT, DOWN_EDGE, UP_EDGE
from gaitway.cast.person.steps.clips import stepping_clips
from gaitway.cast.person.steps.footwork import FootPlacement, FootStep, StepPlan, foot_curve
from gaitway.cast.person.steps.level_steps import SIDE_STRIDE
from gaitway.cast.person.steps.model import JOINTS, StepModel
from gaitway.cast.person.steps.stairs import RISER, TREAD
from gaitway.cast.person.steps.step_over import CROSSING_WAYS, FENCE_DEPTH, FENCE_HEIGHT, LOW_CROSSING_WAYS, LOW_HEIGHT
from gaitway.cast.person.styles import Style
from gaitway.cast.recipes import CastClip
from gaitway.core import rotations
from gaitway.library.behavior import Behavior
from gaitway.library.reach import clip_reach
from gaitway.motion.clip import Clip

GRAVITY = 9.81
# Height of the ground at the end of a clip over that at its start [m].
CLIMBED = {
    "start_stairs_up": 2 * RISER,
    "stairs_up": 2 * RISER,
    "stop_stairs_up": RISER,
    "start_stairs_down": -2 * RISER,
    "stairs_down": -2 * RISER,
    "stop_stairs_down": -RISER,
    "jump_on_box": BOX_HEIGHT,
    "climb_up": BLOCK_HEIGHT,
    "climb_down": -BLOCK_HEIGHT,
}


@cache
def entries() -> dict[str, CastClip]:
    return {entry.clip.name: entry for entry in stepping_clips(seed=5)}


def clip(name: str) -> Clip:
    return entries()[name].clip


NAMES = tuple(
    f"{move}_{side}"
    for side in ("left", "right")
    for move in ("u_turn", "step_over", "step_over_low", "start_side", "stop_side", "step")
) + tuple(f"turn_{side}_{d}" for side in ("left", "right") for d in (45, 90, 180)) + (
    "side_left_walk", "side_right_walk", "step_front", "shift_feet", *CLIMBED,
    *(f"step_over_{side}.{way}" for side in ("left", "right") for way in CROSSING_WAYS),
    *(f"step_over_low_{side}.{way}" for side in ("left", "right") for way in LOW_CROSSING_WAYS),
)  # fmt: skip


def test_all_moves_are_there() -> None:
    assert set(entries()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_known_states_are_their_hubs(name: str) -> None:
    entry = entries()[name]
    for state, frame in ((entry.start, 0), (entry.end, -1)):
        if state not in ("stand", "walk"):
            continue
        pose = hub(state).rotations
        assert rotations.angle_between(entry.clip.rotations[frame, 1:], pose[1:]).max() < 1e-6
        climbed = CLIMBED.get(name, 0.0) if frame == -1 else 0.0
        assert entry.clip.root_positions[frame, 2] == pytest.approx(hub(state).root[2] + climbed, abs=1e-6)


@pytest.mark.parametrize("state", ["side_left", "side_right", "stairs_up", "stairs_down"])
def test_own_states_join(state: str) -> None:
    ending = [e.clip for e in entries().values() if e.end == state]
    starting = [e.clip for e in entries().values() if e.start == state]
    assert len(ending) == 2
    assert len(starting) == 2
    for before in ending:
        for after in starting:
            assert rotations.angle_between(before.rotations[-1, 1:], after.rotations[0, 1:]).max() < 1e-6
            speeds = [
                np.diff(c.root_positions[rows], axis=0)[0] * 30.0
                for c, rows in ((before, slice(-2, None)), (after, slice(2)))
            ]
            assert np.linalg.norm(speeds[1] - speeds[0]) < 0.5


@pytest.mark.parametrize("name", NAMES)
def test_feet_and_hands_stay_where_they_rest(name: str) -> None:
    made = clip(name)
    assert made.contacts is not None
    points = made.contact_positions()
    assert made.contacts[:, :6].any()
    for k in range(points.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], made.contacts[:, k].astype(int), [0]]))).reshape(-1, 2)
        for a, b in edges:
            assert np.ptp(points[a:b, k], axis=0).max() < 0.002, (k, a, b)


@pytest.mark.parametrize("name", NAMES)
def test_knees_and_hips_move_as_fast_as_people_do(name: str) -> None:
    made = clip(name)
    turn = rotations.multiply(rotations.conjugate(made.rotations[:-1]), made.rotations[1:])
    speed = np.degrees(np.linalg.norm(rotations.to_rotation_vector(turn), axis=-1)) * made.fps
    skeleton = person_skeleton()
    assert speed[:, skeleton.require("left_knee", "right_knee")].max() < 800.0
    assert speed[:, skeleton.require("left_hip", "right_hip")].max() < 600.0


@pytest.mark.parametrize("name", NAMES)
def test_ankles_keep_apart(name: str) -> None:
    ankles = clip(name).joint_positions()[:, person_skeleton().require("left_ankle", "right_ankle")]
    assert np.linalg.norm(ankles[:, 0] - ankles[:, 1], axis=-1).min() > 0.09


@pytest.mark.parametrize("side", ["left", "right"])
def test_headings_change_exactly(side: str) -> None:
    sign = 1.0 if side == "left" else -1.0
    for name, degrees in [(f"turn_{side}_{d}", d) for d in (45, 90, 180)] + [(f"u_turn_{side}", 180)]:
        turned = clip(name).headings()
        assert np.degrees(turned[-1] - turned[0]) == pytest.approx(sign * degrees, abs=1e-6)
    path = clip(f"side_{side}_walk").planar_path()
    assert path[-1] - path[0] == pytest.approx([0.0, sign * SIDE_STRIDE, 0.0], abs=1e-6)


def test_eyes_lead_a_turn() -> None:
    made = clip("turn_left_180")
    _, world = made.joint_transforms()
    skeleton = person_skeleton()

    def halfway(joint: str) -> float:
        ahead = rotations.rotate(world[:, skeleton.index(joint)], [1.0, 0.0, 0.0])
        return float(np.interp(0.5 * np.pi, np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0])), np.arange(len(made))))

    assert halfway("Head") < halfway("Hips") - 2.0


def sole_points(made: Clip) -> np.ndarray:
    """Heels, balls and toe tips of both feet; (F, 6, 3)."""
    return made.contact_positions()[:, :6]


@pytest.mark.parametrize("way", ["up", "down"])
def test_stairs_are_not_stepped_through(way: str) -> None:
    """Every footfall of the cycle is on a tread, and no sole point is ever inside one."""
    made = clip(f"stairs_{way}")
    rise = RISER if way == "up" else -RISER
    points = sole_points(made)
    assert made.contacts is not None
    levels = points[..., 2][made.contacts[:, :6]] / rise
    assert np.abs(levels - np.round(levels)).max() < 0.02
    edge = 0.25 if way == "up" else 0.19
    ground = rise * (np.floor((points[..., 0] - edge) / TREAD) + 1.0)
    assert (points[..., 2] - ground).min() > -0.01


def test_box_jump_falls_freely_and_clears_the_box() -> None:
    made = clip("jump_on_box")
    assert made.contacts is not None
    air = np.flatnonzero(~made.contacts.any(axis=1))
    assert 10 <= len(air) <= 16
    time = air / made.fps
    fall = np.polyfit(time, mass_height(made)[air], 2)
    assert -2.0 * fall[0] == pytest.approx(GRAVITY, abs=0.4)
    points = sole_points(made)
    inside = (points[..., 0] > BOX_EDGE) & (points[..., 2] < BOX_HEIGHT - 0.005)
    assert not inside.any()


def mass_height(made: Clip) -> np.ndarray:
    """Height of the centre of mass from a rough table of segment masses, kept apart from the generator's."""
    positions = made.joint_positions()
    segments = {("Hips", "Spine1"): 0.2, ("Spine1", "Neck"): 0.29, ("Head", "HeadTop_End"): 0.08}
    for side in ("Left", "Right"):
        for near, far, mass in (
            ("Arm", "ForeArm", 0.028), ("ForeArm", "Hand", 0.022), ("UpLeg", "Leg", 0.1),
            ("Leg", "Foot", 0.047), ("Foot", "ToeBase", 0.018),
        ):  # fmt: skip
            segments[side + near, side + far] = mass
    skeleton = made.skeleton
    height = sum(
        mass * 0.5 * (positions[:, skeleton.index(a), 2] + positions[:, skeleton.index(b), 2])
        for (a, b), mass in segments.items()
    )
    return np.asarray(height / sum(segments.values()))


@pytest.mark.parametrize(("name", "edge", "top"), [("climb_up", UP_EDGE, BLOCK_HEIGHT), ("climb_down", DOWN_EDGE, 0.0)])
def test_climbing_hands_rest_on_the_block(name: str, edge: float, top: float) -> None:
    made = clip(name)
    assert made.contacts is not None
    for side in ("left", "right"):
        column = [p.name for p in made.skeleton.contact_points].index(f"{side}_hand")
        held = made.contact_positions()[made.contacts[:, column], column]
        assert len(held) >= 5
        assert np.abs(held[:, 2] - top).max() < 0.002
        assert np.abs(held[:, 0] - edge).max() < 0.3


def test_obstacles_and_pass_times() -> None:
    for name, entry in entries().items():
        kind = {"jump_on_box": "box", "climb_up": "climb", "climb_down": "climb"}.get(name)
        if "stairs" in name:
            kind = "stairs_up" if name.endswith("up") else "stairs_down"
        if name.startswith("step_over"):
            kind = "jump"
        assert entry.obstacle == kind
        assert (entry.pass_time is None) == (kind is None)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("style", [Style(), Style.draw(3)], ids=["neutral", "drawn"])
def test_a_walker_steps_over_a_fence(side: str, style: Style) -> None:
    made = stepping_clips(style, 2, behaviors=[f"step_over_{side}"])[0]
    behavior = Behavior(made.behavior, (made.clip.name,), "walk", "walk", "jump", made.pass_time)
    assert (made.start, made.end) == ("walk", "walk")
    assert clip_reach(made.clip, behavior).greatest_over(FENCE_DEPTH) > FENCE_HEIGHT
    assert made.clip.contacts is not None
    assert made.clip.contacts[:, :6].any(axis=1).all(), "a walker never leaves the ground"
    assert np.ptp(made.clip.root_positions[:, 2]) < 0.1


@pytest.mark.parametrize("name", [f"step_over_{low}{side}" for low in ("", "low_") for side in ("left", "right")])
def test_ways_over_a_fence_take_the_same_steps(name: str) -> None:
    """Planners may play any of them in place of another, over any fence that the behaviour is for."""
    usual, *others = (entry for entry in entries().values() if entry.behavior == name)
    assert len(others) >= 2
    height = LOW_HEIGHT if "low" in name else FENCE_HEIGHT
    behavior = Behavior(name, (name,), "walk", "walk", "jump", usual.pass_time)
    assert clip_reach(usual.clip, behavior).greatest_over(FENCE_DEPTH) > height
    for other in others:
        assert other.clip.name.startswith(f"{name}.")
        assert (len(other.clip), other.pass_time) == (len(usual.clip), usual.pass_time)
        np.testing.assert_array_equal(other.clip.planar_path()[-1], usual.clip.planar_path()[-1])
        assert clip_reach(other.clip, behavior).greatest_over(FENCE_DEPTH) > height
        apart = rotations.angle_between(other.clip.joint_transforms()[1], usual.clip.joint_transforms()[1])
        assert np.degrees(apart).max() > 10.0


def test_feet_are_lifted_less_over_a_low_fence() -> None:
    ankles = person_skeleton().require("left_ankle", "right_ankle")
    low, high = (clip(f"step_over{low}_left").joint_positions()[:, ankles, 2].max(axis=0) for low in ("_low", ""))
    assert (low < high - 0.15).all()


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_named_leg_goes_over_first(side: str) -> None:
    made = entries()[f"step_over_{side}"]
    ankles = made.clip.joint_positions()[:, person_skeleton().require("left_ankle", "right_ankle"), 2]
    first, other = (0, 1) if side == "left" else (1, 0)
    assert np.argmax(ankles[:, first]) < np.argmax(ankles[:, other])
    assert ankles.max(axis=0).min() > FENCE_HEIGHT + ANKLE_HEIGHT


@pytest.mark.parametrize("side", ["left", "right"])
def test_arms_live_in_a_side_walk(side: str) -> None:
    """Upper arms turn by 50 to 91 degrees a second in captured side steps."""
    made = clip(f"side_{side}_walk")
    world = made.joint_transforms()[1][:, person_skeleton().require("left_shoulder", "right_shoulder")]
    speed = np.degrees(rotations.angle_between(world[1:], world[:-1])).mean(axis=0) * made.fps
    assert speed.min() > 45.0


def test_same_seed_same_bytes_and_takes_differ() -> None:
    names = ("turn_left_90", "step_front")
    once, again = (stepping_clips(Style.draw(2), 9, 2, names) for _ in range(2))
    for a, b in zip(once, again, strict=True):
        assert a.clip.rotations.tobytes() == b.clip.rotations.tobytes()
    first, second = once[0].clip, once[1].clip
    assert len(first) != len(second) or np.abs(first.rotations - second.rotations).max() > 0.01


@settings(max_examples=25, deadline=None)
@given(
    st.floats(-0.5, 0.5), st.floats(-0.4, 0.4), st.floats(-1.2, 1.2), st.floats(0.3, 0.8),
    st.sampled_from(["forward", "back", "side", "close", "turn"]),
)  # fmt: skip
def test_a_foot_lands_on_any_footprint(x: float, y: float, heading: float, swing: float, kind: str) -> None:
    target = FootPlacement(x, 0.1 + y, heading)
    plan = StepPlan(
        FootPlacement(0.0, 0.1, 0.0),
        FootPlacement(0.0, -0.1, 0.0),
        (FootStep("left", 0.5, 0.5 + swing, target, kind),),
        3.0,
    )
    times = np.linspace(0.0, 3.0, 301)
    curve = foot_curve(plan, "left", times)
    assert curve[0] == pytest.approx([0.0, 0.1, ANKLE_HEIGHT, 0.0, 0.0, 0.0])
    assert curve[-1, :4] == pytest.approx([x, 0.1 + y, ANKLE_HEIGHT, heading])
    assert np.abs(np.diff(curve[:, :3], axis=0)).max() < 0.12  # it never jumps
    assert curve[:, 2].min() > ANKLE_HEIGHT * np.cos(curve[:, 4]).min() - 0.06


@settings(max_examples=15, deadline=None)
@given(st.floats(-0.4, 0.4), st.floats(-0.2, 0.4), st.floats(-1.0, 1.5))
def test_the_step_model_mirrors(x: float, y: float, heading: float) -> None:
    """A right step is the mirror image of a left one."""
    times = np.linspace(0.0, 1.6, 33)
    bodies = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        feet = {"left": FootPlacement(0.0, 0.1, 0.0), "right": FootPlacement(0.0, -0.1, 0.0)}
        target = FootPlacement(x, sign * (0.1 + y), sign * heading)
        plan = StepPlan(feet["left"], feet["right"], (FootStep(side, 0.5, 1.0, target),), 1.6)
        bodies.append(StepModel.load().body(plan.body_steps(), times))
    left, right = bodies
    assert right.root * [1.0, -1.0, 1.0] == pytest.approx(left.root, abs=1e-9)
    assert right.heading == pytest.approx(-left.heading, abs=1e-9)
    hips = JOINTS.index("Hips")
    assert right.rotations[:, hips] * [1.0, -1.0, 1.0, -1.0] == pytest.approx(left.rotations[:, hips], abs=1e-5)
