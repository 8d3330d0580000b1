"""`gaitway.correct` and `gaitway correct`: arms miss what they hit, all else stays, and what is left is told."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gaitway
from figures import standing, walking
from gaitway.audit import audit_take, find_collisions
from gaitway.audit.exact_things import exact_findings
from gaitway.audit.report import AuditBars
from gaitway.audit.things import depth_findings
from gaitway.cli import app
from gaitway.core import rotations
from gaitway.core.errors import GaitwayError, LimbError
from gaitway.correcting import Corrected, correct, feet_down, limbs_of
from gaitway.limbs.planner import LimbPlan, LimbWindow
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import resample
from gaitway.motion.formats import load_clip
from gaitway.planning import plan_scene
from gaitway.scene import load_scene, scene_from_dict
from gaitway.take import Take, load_take, save_take, take_of
from gaitway.take.things import thing_facts
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World
from shared_data import MOCAP, needs_mocap

BOUNDS = (-30.0, -30.0, 30.0, 30.0)
RUN = CliRunner()
WALK = walking(4.0, 30.0)


def post(clip: Clip, side: str, share: float, aside: float = 0.1, height: float = 1.3) -> Obstacle:
    """A post beside the way of a hand, at a share of the clip."""
    frame = int(share * len(clip))
    x, y, _ = clip.joint_positions()[frame, clip.skeleton.roles[f"{side}_wrist"]]
    heading = clip.headings()[frame] + (0.5 * np.pi if side == "left" else -0.5 * np.pi)
    place = (float(x + aside * np.cos(heading)), float(y + aside * np.sin(heading)))
    return Obstacle(Cylinder(place, 0.1, height), name=f"{side} post")


def corrected(take: Take, world: World) -> Corrected:
    """Correct a take and check what must hold of every correction."""
    result = correct(take, world)
    before, after = audit_take(take, world), audit_take(result.take, world)
    for row in ("continuity", "turn", "limits", "skate", "skate_found", "height", "under_ground"):
        assert len(after[row].violations) == len(before[row].violations), row
    for character in range(len(take)):
        one, other = take.clip(character), result.take.clip(character)
        assert np.array_equal(one.root_positions, other.root_positions)
        arms = [j for r, j in one.skeleton.roles.items() if r.split("_")[-1] in ("shoulder", "elbow", "wrist")]
        rest = np.setdiff1d(np.arange(len(one.skeleton)), arms)
        assert one.rotations[:, rest] == pytest.approx(other.rotations[:, rest], abs=1e-6)
    return result


@pytest.fixture(scope="module")
def two_posts() -> World:
    return World(BOUNDS, (post(WALK, "left", 0.35), post(WALK, "right", 0.6)))


@pytest.fixture(scope="module")
def done(two_posts: World) -> Corrected:
    return corrected(take_of([WALK]), two_posts)


def test_both_arms_miss_their_posts(done: Corrected, two_posts: World) -> None:
    assert {c.limb for c in done.corrections} == {"left_arm", "right_arm"}
    assert {c.obstacle for c in done.corrections} == {"left post", "right post"}
    assert all(c.depth > 0.01 and c.gap > 0.0 for c in done.corrections)
    assert done.ok
    assert find_collisions(take_of([WALK]), two_posts)
    assert not find_collisions(done.take, two_posts)
    assert done.take.facts["corrections"] == len(done.corrections)


def test_speeds_match_where_an_arm_leaves_its_motion(done: Corrected) -> None:
    before, after = take_of([WALK]).clip(0), done.take.clip(0)
    for layer in done.take.layers:
        assert layer.turns[[0, -1], :, 0] == pytest.approx(1.0, abs=1e-5)
        first = round(layer.start * WALK.fps)
        for joint in layer.joints.tolist():
            q = rotations.multiply(rotations.conjugate(before.rotations[:, joint]), after.rotations[:, joint])
            speed = np.linalg.norm(rotations.to_rotation_vector(q[1:]) - rotations.to_rotation_vector(q[:-1]), axis=1)
            assert speed[first] * WALK.fps < 0.15  # rad/s, of an arm that swings with 2 or more
            assert speed[first + len(layer) - 2] * WALK.fps < 0.15


def test_the_same_seed_gives_the_same_take_and_it_is_kept_in_files(done: Corrected, two_posts, tmp_path: Path) -> None:
    again = correct(take_of([WALK]), two_posts)
    save_take(done.take, tmp_path / "a.npz")
    save_take(again.take, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert not find_collisions(load_take(tmp_path / "a.npz"), two_posts)
    other = correct(take_of([WALK]), two_posts, seed=5)
    assert other.ok
    assert other.take.layers[0].turns.tobytes() != done.take.layers[0].turns.tobytes()


def test_a_take_without_collisions_stays_as_it_is() -> None:
    take = take_of([WALK])
    result = correct(take, World(BOUNDS))
    assert result.take is take
    assert result.ok and not result.corrections


def moved(clip: Clip, x: float, y: float, turn: float) -> Clip:
    spin = rotations.from_yaw(turn)
    local = np.array(clip.rotations)
    local[:, 0] = rotations.multiply(spin, local[:, 0])
    return Clip(
        clip.skeleton, rotations.rotate(spin, clip.root_positions) + np.array([x, y, 0.0]), local, clip.fps, "other"
    )


def test_hands_of_two_people_miss_one_another() -> None:
    hand = abs(float(WALK.joint_positions()[0, WALK.skeleton.roles["left_wrist"], 1]))
    take = take_of([WALK, moved(WALK, 4.0, 2.0 * hand + 0.03, np.pi)], ["ada", "bo"])
    world = World(BOUNDS)
    found = find_collisions(take, world)
    assert {name for f in found for name, _, _ in limbs_of(f)} == {"ada", "bo"}
    result = corrected(take, world)
    assert result.ok
    assert {c.obstacle for c in result.corrections} <= {"ada", "bo"}


def test_movers_are_missed_in_time() -> None:
    hand = WALK.joint_positions()[60, WALK.skeleton.roles["left_wrist"]]
    y = float(hand[1]) + 0.12
    cart = Mover.of(
        Box((0.0, 0.0), (0.4, 0.2), 1.1),
        [0.0, 4.0],
        [[float(hand[0]) + 2.0, y, 0.0], [float(hand[0]) - 2.0, y, 0.0]],
        name="cart",
    )
    world = World(BOUNDS, movers=(cart,))
    assert find_collisions(take_of([WALK]), world)
    result = corrected(take_of([WALK]), world)
    assert result.ok
    assert result.corrections[0].obstacle == "cart"


def test_what_no_arm_can_mend_is_told() -> None:
    take = take_of([WALK])
    wall = World(BOUNDS, (Obstacle(Box((2.0, 0.0), (0.2, 4.0), 3.0), name="wall"),))
    result = correct(take, wall)
    assert not result.ok
    assert any("wall" in one.words() for one in result.left)
    inside = World(BOUNDS, (post(WALK, "left", 0.0, 0.1),))
    result = correct(take, inside)
    assert [one.reason for one in result.left] == ["left_arm touches something already where the motion begins"]
    assert "left post, 0.0" in result.left[0].words()
    legs = World(BOUNDS, (Obstacle(Box((2.0, 0.0), (0.1, 2.0), 0.3), name="kerb"),))
    reasons = {one.reason for one in correct(take, legs).left}
    assert reasons
    assert all("_leg has its foot down" in one or "_leg finds no way over it" in one for one in reasons)
    with pytest.raises(LimbError, match="rounds 0 must be between 1 and 100"):
        correct(take, legs, rounds=0)
    assert gaitway.correct is correct


def kerb(frame: int, side: str, height: float) -> World:
    """A low thing under the ankle of a foot that is in the air in a frame of the walk, on that side alone."""
    x, y, _ = WALK.joint_positions()[frame, WALK.skeleton.roles[f"{side}_ankle"]].tolist()
    return World(BOUNDS, (Obstacle(Box((x, y), (0.06, 0.12), height), name="kerb"),))


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_leg_whose_foot_is_in_the_air_is_lifted_and_feet_that_are_down_stay(side: str) -> None:
    down = feet_down(WALK, side)
    starts = np.flatnonzero(down[:-1] & ~down[1:])
    ends = np.flatnonzero(~down[:-1] & down[1:])
    start = int(starts[len(starts) // 2])
    end = int(ends[ends > start][0]) + 1
    take, world = take_of([WALK]), kerb((start + end) // 2, side, 0.14)
    assert {limb for f in find_collisions(take, world) for _, limb, _ in limbs_of(f)} == {f"{side}_leg"}
    result = correct(take, world)
    assert result.ok
    assert {one.limb for one in result.corrections} == {f"{side}_leg"}
    before, after = audit_take(take, world), audit_take(result.take, world)
    for row in ("continuity", "turn", "limits", "skate", "skate_found", "height", "under_ground"):
        assert len(after[row].violations) == len(before[row].violations), row
    one, other = take.clip(0), result.take.clip(0)
    moved = np.linalg.norm(one.joint_positions() - other.joint_positions(), axis=-1)
    assert moved[down].max() < 1e-5  # the other leg never moves, and this one not while its foot is down
    ankle = one.skeleton.roles[f"{side}_ankle"]
    assert 0.02 < moved[:, ankle].max() < 0.35
    legs = [one.skeleton.roles[f"{side}_{joint}"] for joint in ("hip", "knee", "ankle")]
    rest = np.setdiff1d(np.arange(len(one.skeleton)), legs)
    assert one.rotations[:, rest] == pytest.approx(other.rotations[:, rest], abs=1e-6)


def test_a_foot_that_is_down_in_something_stays_and_is_told() -> None:
    down = feet_down(WALK, "left")
    frame = int(np.flatnonzero(down)[len(np.flatnonzero(down)) // 2])
    result = correct(take_of([WALK]), kerb(frame, "left", 0.1))
    assert not result.ok
    assert all("left_leg" in one.reason for one in result.left)


@pytest.mark.parametrize(
    "offset, reason",
    [
        (0.0, "touches it where it begins, which no posture moves"),
        (0.01, "was planned anew several times, and still touches it"),
    ],
)
def test_plans_that_do_not_help_come_to_an_end(offset, reason, two_posts, monkeypatch: pytest.MonkeyPatch) -> None:
    def plan(self: LimbWindow, begin: float, end: float, **_: object) -> LimbPlan:
        bump = offset * np.sin(np.linspace(0.0, np.pi, len(self)))[:, None]
        return LimbPlan(np.tile(bump, (1, 7)), (begin, end), 0.0, 0.0, 0.1, False, 1, 1)

    monkeypatch.setattr(LimbWindow, "plan", plan)
    result = correct(take_of([WALK]), two_posts)
    assert {one.reason for one in result.left} == {f"{side}_arm {reason}" for side in ("left", "right")}


def test_effort_in_vain_is_counted_and_comes_to_an_end(two_posts, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = list[float]()

    def plan(self: LimbWindow, begin: float, end: float, **_: object) -> None:
        tries.append(begin)
        self.checks += 2_000_000

    monkeypatch.setattr(LimbWindow, "plan", plan)
    result = correct(take_of([WALK]), two_posts)
    assert len(tries) == 2 + 1  # of all collisions at first, and with all tries
    assert [one.reason for one in result.left] == [
        "left_arm finds no way around it at once, and the effort for one take is used up",
        "right_arm finds no way around it at once, and the effort for one take is used up",
    ]


def test_arms_are_planned_once_where_two_touch_at_the_same_time() -> None:
    """Lanes of people who come towards one another: what one arm mended is not mended by the other arm, too."""
    walks = [moved(WALK, 4.0 * (k % 2), 0.6 * k, np.pi * (k % 2)) for k in range(4)]
    take, world = take_of(walks, ["ada", "bo", "cy", "di"]), World(BOUNDS)
    found = find_collisions(take, world)
    result = corrected(take, world)
    assert found and result.ok
    assert len(result.corrections) <= len(found)


@needs_mocap
@pytest.mark.parametrize("file", ["bvh/07_03.bvh", "bvh_accad/*alk*.bvh"])
def test_captures_are_corrected(file: str) -> None:
    clip = load_clip(sorted(MOCAP.glob(file))[0])
    clip = detect_contacts(resample(clip, 30.0))
    world = World(BOUNDS, (post(clip, "left", 0.5, 0.13, 1.2),))
    result = corrected(take_of([clip]), world)
    assert result.ok
    assert [c.limb for c in result.corrections] == ["left_arm"]


def scene_file(world: World, folder: Path) -> Path:
    rows = [
        f"  - {{name: {o.name}, cylinder: {{center: {list(o.shape.center)}, radius: 0.1, height: 1.3}}}}"
        for o in world.obstacles
    ]
    path = folder / "posts.yaml"
    path.write_text("gaitway: 1\nbounds: [-20, -20, 20, 20]\nobstacles:\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_command(two_posts: World, tmp_path: Path) -> None:
    scene, take, out = scene_file(two_posts, tmp_path), tmp_path / "walk.npz", tmp_path / "clean.npz"
    save_take(take_of([WALK]), take)
    told = RUN.invoke(app, ["correct", str(take), str(scene), "-o", str(out), "--json"])
    assert told.exit_code == 0, told.output
    facts = json.loads(told.stdout)
    assert facts["ok"] and not facts["left"]
    assert {row["limb"] for row in facts["corrections"]} == {"left_arm", "right_arm"}
    assert not find_collisions(load_take(out), load_scene(str(scene)).world)
    told = RUN.invoke(app, ["correct", str(out), str(scene), "-o", str(tmp_path / "again.npz")])
    assert told.exit_code == 0
    assert "0 corrected, 0 left" in told.stdout


def test_bad_commands_write_nothing(two_posts: World, tmp_path: Path) -> None:
    scene, take = scene_file(two_posts, tmp_path), tmp_path / "walk.npz"
    save_take(take_of([WALK]), take)
    for arguments, words in (
        ([str(take), str(scene), "-o", str(tmp_path / "x.bvh")], "written as .npz"),
        ([str(take), "no_such_scene", "-o", str(tmp_path / "x.npz")], "no_such_scene"),
        ([str(tmp_path / "none.npz"), str(scene), "-o", str(tmp_path / "x.npz")], "none.npz"),
    ):
        told = RUN.invoke(app, ["correct", *arguments])
        assert told.exit_code != 0
        assert words in str(told.exception)
    assert not (tmp_path / "x.npz").exists()


def test_a_collision_that_is_left_is_exit_code_1(tmp_path: Path) -> None:
    scene, take = scene_file(World(BOUNDS, (post(WALK, "left", 0.0, 0.1),)), tmp_path), tmp_path / "walk.npz"
    save_take(take_of([WALK]), take)
    told = RUN.invoke(app, ["correct", str(take), str(scene), "-o", str(tmp_path / "out.npz")])
    assert told.exit_code == 1
    assert "left: walking, left_" in told.stdout
    assert "0 corrected, 1 left" in told.stdout


def carrying(pose: list[float], world: World) -> Take:
    """A walker with a stick in the right hand, upright as the pose in the wrist's frame has it."""
    spans = [[0.0, "walking", "right_wrist", pose]]
    facts = {"things": {"stick": thing_facts("box", (0.05, 0.05, 0.5), None, spans)}}
    take = replace(take_of([WALK]), facts=facts)
    assert max(one.value for one in depth_findings(take, world, AuditBars())[0]) > 0.015
    return take


def outward(length: float) -> list[float]:
    """The pose of a stick that points outward from the right hand half way through the walk."""
    turn = WALK.joint_transforms()[1][len(WALK) // 2, WALK.skeleton.roles["right_wrist"]]
    heading = float(WALK.headings()[len(WALK) // 2])
    out = rotations.multiply(rotations.from_yaw(heading), rotations.from_rotation_vector(np.array([0.5 * np.pi, 0, 0])))
    own = rotations.multiply(rotations.conjugate(turn), out)
    return [*rotations.rotate(own, np.array([0.0, 0.0, length])).tolist(), *own.tolist()]


def test_what_a_hand_carries_misses_a_post_too() -> None:
    world = World(BOUNDS, (post(WALK, "right", 0.5, 0.4),))
    assert not find_collisions(take_of([WALK]), world)
    result = corrected(carrying(outward(0.03), world), world)
    assert [(one.limb, one.obstacle) for one in result.corrections] == [("right_arm", "right post")]
    assert result.ok
    assert max((one.value for one in depth_findings(result.take, world, AuditBars())[0]), default=0.0) <= 0.01


def board(pole: float) -> tuple[Take, World]:
    """A walker with a thin board in the right hand, and a thin pole that it passes."""
    spans = [[0.0, "walking", "right_wrist", outward(0.03)]]
    facts = {"things": {"board": thing_facts("box", (0.4, 0.01, 0.4), None, spans)}}
    frame = len(WALK) // 2
    x, y, _ = WALK.joint_positions()[frame, WALK.skeleton.roles["right_wrist"]]
    out = WALK.headings()[frame] - 0.5 * np.pi
    place = (float(x + pole * np.cos(out)), float(y + pole * np.sin(out)))
    return replace(take_of([WALK]), facts=facts), World(BOUNDS, (Obstacle(Cylinder(place, 0.012, 1.6), name="pole"),))


def test_exact_triangles_see_what_points_leave_out() -> None:
    pytest.importorskip("fcl")
    bars = AuditBars()
    asides = [0.02 * n for n in range(8, 26)]
    seen = [bool(exact_findings(*board(pole), bars)) for pole in asides]
    points = [any(one.value > one.bar for one in depth_findings(*board(pole), bars)[0]) for pole in asides]
    missed = [pole for pole, exact, some in zip(asides, seen, points, strict=True) if exact and not some]
    assert missed and not any(some and not exact for some, exact in zip(points, seen, strict=True))
    take, world = board(missed[-1])
    assert correct(take, world).take is take
    result = correct(take, world, exact=True)
    assert [one.obstacle for one in result.corrections] == ["pole"] * len(result.corrections) != []
    assert result.ok and not exact_findings(result.take, world, bars)


def test_without_python_fcl_exact_triangles_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcl", None)
    with pytest.raises(GaitwayError, match=r"pip install 'gaitway\[collision\]'"):
        correct(*board(0.2), exact=True)


def test_a_hand_is_left_alone_while_it_takes_something() -> None:
    world = World(BOUNDS, (post(WALK, "right", 0.5, 0.4),))
    take = carrying(outward(0.03), world)
    middle = 0.5 * WALK.duration
    reaches = [["walking", "right", "take", "stick", t, [0, 0, 0], [0, 0, 0]] for t in (middle - 0.2, middle + 0.2)]
    result = correct(replace(take, facts={**take.facts, "reaches": reaches}), world)
    assert not result.corrections
    assert "is too short" in result.left[0].words()


def test_only_those_are_changed_who_may_be(two_posts: World) -> None:
    result = correct(take_of([WALK]), two_posts, who=["somebody else"])
    assert not result.corrections
    assert "not to be changed" in result.left[0].words()


def test_people_who_stand_with_their_hands_in_one_another_at_both_ends() -> None:
    still = standing()
    wide = float(np.ptp(still.joint_positions()[0, [still.skeleton.roles[f"{s}_wrist"] for s in ("left", "right")], 1]))
    moved = np.array(still.root_positions) + np.array([0.02, wide - 0.01, 0.0])
    take = take_of([still, replace(still, root_positions=moved)])
    assert find_collisions(take, World(BOUNDS))
    result = correct(take, World(BOUNDS))
    assert result.ok
    assert len(result.corrections) >= 1


@pytest.mark.slow
def test_a_narrow_door_carries_more_people_whose_arms_give_way() -> None:
    walls = [{"box": {"center": [6, 3 + s * 1.825], "size": [0.3, 3], "height": 2.4}} for s in (1, -1)]
    people = [{"name": f"p{k}", "start": [1.5, 1.2 + 1.2 * k, 0], "goal": [10.5, 1.2 + 1.2 * k]} for k in range(4)]
    last = {}
    for tight in (False, True):
        scene = {"gaitway": 1, "bounds": [-2, -1, 14, 7], "obstacles": walls, "characters": people, "seed": 1,
                 "plan": {"correct": tight}}  # fmt: skip
        made = plan_scene(scene_from_dict(scene))
        assert audit_take(made.take, made.scene.world).ok
        assert not made.failed
        last[tight] = sum(plan.end_time for plan in made.crowd.plans.values())
    assert last[True] < last[False]
