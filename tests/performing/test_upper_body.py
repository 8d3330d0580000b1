"""Upper bodies over a take: gaze, ways to stand, arms; and that nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import shapely
from scipy.ndimage import gaussian_filter1d

from gaitway.audit import audit_take, natural_report
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.motion.limits import violations
from gaitway.motion.quality import joint_velocity_changes
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.performing.upper_body import LAYER, WAYS, _turn_kernels, upper_body, with_upper_bodies
from gaitway.performing.upper_body.crowd import Onlookers
from gaitway.performing.upper_body.gaze import smoothed
from gaitway.performing.upper_body.idling import NEIGHBORS, TakenPlaces, _waves
from gaitway.performing.upper_body.layers import _beyond_limits, _face_companions, _within_limits
from gaitway.performing.upper_body.surroundings import Surroundings
from gaitway.performing.upper_body.ways import taken
from gaitway.take.model import Take
from gaitway.world import Box, Obstacle, World
from hand_plans import plan_of

EMPTY = World((-30.0, -30.0, 30.0, 30.0))
AHEAD = ["start_walk", *["walk_forward"] * 6, "stop_walk"]
TURNS = ["start_walk", "walk_forward", "walk_left_45", "walk_left_45", "walk_forward", "walk_right_45",
         "walk_right_45", "walk_forward", "stop_walk"]  # fmt: skip


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", behaviors=["stand", "wait", *dict.fromkeys(AHEAD + TURNS)])


@cache
def _body_of(cast: str) -> Library:
    return load_cast(cast)


def walking(person: Library, *ways: tuple[str, list[str], tuple[float, float, float]], hold: float = 0.0) -> Take:
    performers = []
    for name, way, start in ways:
        plan = plan_of(person, way, start)
        performers.append(Performer(name, person, start, plan, goal=plan.end_pose[:2], radius=0.3))
    return plans_to_take(EMPTY, performers, hold_until=hold)


def standing(person: Library, places: list[tuple[float, float]], seconds: float) -> Take:
    some = [Performer(f"who-{k}", person, (x, y, 0.0)) for k, (x, y) in enumerate(places)]
    return plans_to_take(EMPTY, some, hold_until=seconds)


def head_yaw(take: Take, character: int = 0) -> FloatArray:
    """Directions of a head in the world [rad]; (F,)."""
    clip = take.clip(character)
    body = upper_body(clip.skeleton)
    assert body is not None
    row = body.column("head")
    ahead = rotations.rotate(clip.joint_transforms()[1][:, body.joints[row]], body.axes[row, 0])
    return np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))


def head_down(take: Take, character: int = 0) -> FloatArray:
    """Angles of a head downward [rad]; (F,)."""
    clip = take.clip(character)
    head = clip.skeleton.roles["head"]
    return -np.arcsin(rotations.rotate(clip.joint_transforms()[1][:, head], clip.skeleton.forward)[:, 2])


def test_roots_legs_and_contacts_stay(person: Library) -> None:
    take = walking(person, ("ada", TURNS, (0.0, 0.0, 0.0)), hold=20.0)
    changed = with_upper_bodies(take, EMPTY, seed=3).take
    before, after = take.clip(0), changed.clip(0)
    assert before.root_positions.tobytes() == after.root_positions.tobytes()
    moved = np.flatnonzero(rotations.angle_between(before.rotations, after.rotations).max(axis=0) > 1e-6)
    legs = {j for role, j in person.skeleton.roles.items() if role.endswith(("hip", "knee", "ankle", "toe"))}
    assert person.skeleton.roles["head"] in moved
    assert not ({0, *legs} & set(moved.tolist()))
    assert before.contacts is not None and after.contacts is not None
    assert (before.contacts == after.contacts).all()
    assert audit_take(changed, EMPTY).ok


def test_heads_move_as_captured_people_move_them(person: Library) -> None:
    turning = [(name, TURNS, (0.0, 30.0 * k, 0.0)) for k, name in enumerate(("ada", "cleo", "dan"))]
    take = walking(person, *turning, ("bob", AHEAD, (0.0, 9.0, 0.0)))
    report = natural_report(with_upper_bodies(take, EMPTY, seed=3).take, EMPTY)
    for name in ("head_speed", "head_speed_turning", "head_lead"):
        assert report[name].measured, name
        assert report[name].ok, (name, report[name].value)
    assert report["head_lead"].value > 2.0


def test_glances_of_clips_are_taken_out(person: Library) -> None:
    take = walking(person, ("ada", AHEAD, (0.0, 0.0, 0.0)))
    clips = []
    for clip in take.clips:
        turns = np.array(clip.rotations)
        glance = 0.9 * np.sin(np.linspace(0.0, 2.0 * np.pi, len(clip)))
        head = clip.skeleton.roles["head"]
        turns[:, head] = rotations.multiply(turns[:, head], rotations.from_yaw(glance))
        clips.append(replace(clip, rotations=turns))
    glancing = replace(take, clips=tuple(clips))
    calm = with_upper_bodies(glancing, EMPTY, seed=3).take
    before, after = (natural_report(shown)["head_speed"].value for shown in (glancing, calm))
    assert before > 100.0
    assert after < 0.4 * before


def test_who_comes_is_looked_at(person: Library) -> None:
    far = 12.0
    alone = walking(person, ("ada", AHEAD, (0.0, 0.0, 0.0)))
    both = walking(person, ("ada", AHEAD, (0.0, 0.0, 0.0)), ("bob", AHEAD, (far, 1.3, np.pi)))
    turned = []
    for seed in range(6):
        looks = head_yaw(with_upper_bodies(both, EMPTY, seed=seed).take)
        plain = head_yaw(with_upper_bodies(alone, EMPTY, seed=seed).take)
        turned.append(float((looks[: len(plain)] - plain[: len(looks)]).max()))
    assert max(turned) > np.radians(8.0)
    assert min(turned) > -np.radians(5.0)


def test_an_obstacle_is_looked_at_before_it_is_passed(person: Library) -> None:
    take = walking(person, ("ada", AHEAD, (0.0, 0.0, 0.0)))
    beam = Obstacle(Box((5.0, 0.0), (0.2, 3.0), height=0.3), "jump")
    world = World(EMPTY.bounds, (beam,))
    take = replace(take, goals=np.full((1, 4), np.nan))
    looks, plain = (head_down(with_upper_bodies(take, w, seed=1).take) for w in (world, EMPTY))
    there = int(np.argmax(take.clip(0).root_positions[:, 0] > 4.9))
    more = np.degrees(looks - plain)
    assert more[there - 40 : there - 12].max() > 8.0
    assert np.abs(more[: there - 80]).max() < 1.0


def test_a_rig_that_cannot_look_is_told_in_a_line_and_stays() -> None:
    horse = _body_of("horse")
    take = plans_to_take(EMPTY, [Performer("h", horse, (0.0, 0.0, 0.0))], hold_until=3.0)
    done = with_upper_bodies(take, EMPTY)
    assert done.take.layers == take.layers
    assert done.remarks == (
        "skeleton 'horse': no joint known as left_hip, right_hip; its upper body stays as its clips have it",
    )


def test_eyes_turn_where_there_are_any(person: Library) -> None:
    base = person.skeleton
    names = (*base.names, "LeftEye", "RightEye")
    head = base.roles["head"]
    skeleton = replace(
        base, names=names, parents=np.append(base.parents, [head, head]),
        offsets=np.vstack([base.offsets, [[0.08, 0.03, 0.08], [0.08, -0.03, 0.08]]]), rest_rotations=np.empty((0, 4)),
        roles=dict(base.roles),
    )  # fmt: skip
    take = walking(person, ("ada", TURNS, (0.0, 0.0, 0.0)))
    clips = [
        replace(c, skeleton=skeleton, rotations=np.concatenate([c.rotations, rotations.identity(len(c), 2)], axis=1))
        for c in take.clips
    ]
    seeing = replace(take, skeletons=(skeleton,), clips=tuple(clips))
    (layer,) = with_upper_bodies(seeing, EMPTY, seed=3).take.layers
    eyes = layer.turns[:, [layer.joints.tolist().index(names.index(name)) for name in ("LeftEye", "RightEye")]]
    assert 0.05 < np.abs(eyes[..., 1:]).max() < 0.4


def test_the_same_seed_gives_the_same_bytes(person: Library) -> None:
    take = standing(person, [(0.0, 0.0), (1.5, 0.0)], 12.0)
    one, same, other = (with_upper_bodies(take, EMPTY, seed=seed).take for seed in (4, 4, 5))
    for a, b, c in zip(one.layers, same.layers, other.layers, strict=True):
        assert a.turns.tobytes() == b.turns.tobytes() != c.turns.tobytes()
    again = with_upper_bodies(one, EMPTY, seed=4).take
    assert [layer.name for layer in again.layers] == [LAYER, LAYER]
    assert again.layers[0].turns.tobytes() == one.layers[0].turns.tobytes()


def test_who_stands_lives_and_no_two_alike(person: Library) -> None:
    take = standing(person, [(1.6 * k, 0.0) for k in range(4)], 24.0)
    changed = with_upper_bodies(take, EMPTY, seed=2).take
    row = natural_report(changed)["standing_life"]
    assert row.ok and natural_report(take)["standing_life"].value + 1.0 < row.value < 16.0
    assert audit_take(changed, EMPTY).ok
    poses = np.stack([changed.clip(c).rotations for c in range(4)])
    hands = [person.skeleton.roles[f"{side}_elbow"] for side in ("left", "right")]
    for a in range(4):
        for b in range(a):
            apart = rotations.angle_between(poses[a][:, hands], poses[b][:, hands]).max(axis=1)
            assert (apart > np.radians(3.0)).mean() > 0.9


def test_companions_are_faced(person: Library) -> None:
    take = standing(person, [(0.0, 0.0), (0.0, 1.5)], 20.0)
    apart = replace(take, names=("ada", "bob"))
    together, alone = (with_upper_bodies(t, EMPTY, seed=6).take for t in (take, apart))
    chest = person.skeleton.roles["chest"]

    def facing(shown: Take, character: int) -> float:
        ahead = rotations.rotate(shown.clip(character).joint_transforms()[1][:, chest], person.skeleton.forward)
        return float(np.arctan2(ahead[:, 1], ahead[:, 0]).mean())

    assert facing(together, 0) > facing(alone, 0) + np.radians(5.0)
    assert facing(together, 1) < facing(alone, 1) - np.radians(5.0)


def test_ways_to_stand_are_many_and_within_what_joints_do(person: Library) -> None:
    assert len({way.name for way in WAYS}) == len(WAYS) >= 12
    body, clip = upper_body(person.skeleton), person.clips["stand"]
    assert body is not None
    weights = np.linspace(0.0, 1.0, 9)
    roles = person.skeleton.roles
    for way, own in zip(WAYS, taken(body, WAYS, clip.rotations[30]), strict=True):
        turns = np.repeat(clip.rotations[30:31], len(weights), axis=0)
        joints = body.joints[own.rows]
        turns[:, joints] = rotations.multiply(turns[:, joints], own.turns(weights))
        shown = replace(clip, root_positions=np.zeros((9, 3)), rotations=turns, contacts=None)
        assert violations(shown).max() == 0.0, way.name
        hands = shown.joint_positions()[:, [roles["left_wrist"], roles["right_wrist"]]]
        moved = np.linalg.norm(hands[-1] - hands[0], axis=1) > 0.03
        assert moved.tolist() == [way.left is not None, way.right is not None], way.name
        assert np.hypot(*hands[..., :2].reshape(-1, 2).T).max() < own.reach


def test_where_there_is_no_room_arms_hang(person: Library) -> None:
    walls = tuple(Obstacle(Box((0.0, y), (6.0, 0.2), height=2.5)) for y in (-0.52, 0.52))
    world = World(EMPTY.bounds, walls)
    take = standing(person, [(0.0, 0.0)], 20.0)
    narrow, wide = (with_upper_bodies(take, w, seed=2).take for w in (world, EMPTY))
    elbows = [person.skeleton.roles[f"{side}_elbow"] for side in ("left", "right")]

    def bent(shown: Take) -> float:
        apart = rotations.angle_between(shown.clip(0).rotations[:, elbows], take.clip(0).rotations[:, elbows])
        return float(np.degrees(apart.max()))

    assert bent(wide) > 30.0
    assert bent(narrow) < 20.0


def test_arms_swing_by_a_persons_own_measure(person: Library) -> None:
    take = walking(person, ("ada", AHEAD, (0.0, 0.0, 0.0)), ("bob", AHEAD, (0.0, 9.0, 0.0)))
    changed = with_upper_bodies(take, EMPTY, seed=3).take
    assert natural_report(changed)["arm_difference"].value > natural_report(take)["arm_difference"].value + 5.0


def trunk_lean(take: Take, character: int) -> float:
    """Mean lean of the line from hips to neck, forward positive [rad]."""
    clip = take.clip(character)
    places, roles = clip.joint_transforms()[0], clip.skeleton.roles
    up = (places[:, roles["neck"]] - places[:, roles["hips"]])[20:-20]
    ahead = np.column_stack([np.cos(clip.headings()), np.sin(clip.headings())])[20:-20]
    return float(np.arctan2((up[:, :2] * ahead).sum(axis=1), up[:, 2]).mean())


def test_everybody_holds_the_trunk_in_a_way_of_ones_own(person: Library) -> None:
    take = walking(person, *((f"p{k}", AHEAD, (0.0, 3.0 * k, 0.0)) for k in range(10)))
    changed = with_upper_bodies(take, EMPTY, seed=5).take
    before = np.degrees([trunk_lean(take, k) for k in range(10)])
    after = np.degrees([trunk_lean(changed, k) for k in range(10)])
    assert before.std() < 0.1 and after.std() > 1.0 and np.abs(after - before).max() < 9.0
    down = np.degrees([np.mean(head_down(changed, k)[20:-20]) - np.mean(head_down(take, k)[20:-20]) for k in range(10)])
    assert abs(np.polyfit(after - before, down, 1)[0]) < 0.4, "necks make up for trunks, so that all look ahead"


@pytest.mark.parametrize("role", ["head", "left_elbow"])
def test_what_would_go_beyond_a_limit_fades_and_never_stops(person: Library, role: str) -> None:
    """As where a captured head is turned already: held at its limit, it would stop from one frame to the next."""
    clip = person.clips["stand"]
    body = upper_body(clip.skeleton)
    assert body is not None
    row, frames = body.column(role), np.arange(len(clip))
    turns = np.broadcast_to(np.array([1.0, 0.0, 0.0, 0.0]), (len(clip), len(body.joints), 4)).copy()
    bell = 2.2 * np.exp(-0.5 * ((frames - 60) / 12.0) ** 2)
    turns[:, row] = body.turned(row, bell) if role == "head" else body.turned(row, 0.0 * bell, bell)

    def shown(made: FloatArray) -> Clip:
        local = np.array(clip.rotations)
        local[:, body.joints] = rotations.multiply(local[:, body.joints], made)
        return replace(clip, rotations=local)

    def sudden(made: FloatArray) -> float:
        return float(joint_velocity_changes(shown(made))[:, body.joints[row]].max())

    assert violations(shown(turns)).max() > 10.0
    made = _within_limits(clip, body, turns, np.array([np.inf]))
    assert violations(shown(made)).max() < 2.0
    assert sudden(made) < 2.0 * sudden(turns)
    assert np.abs(made[:20] - turns[:20]).max() < 1e-6 and np.abs(made[100:] - turns[100:]).max() < 1e-6
    assert rotations.angle_between(made[60, row], turns[0, row]) > np.radians(15.0), "it still turns"


def test_heads_turn_no_more_suddenly_than_clips_do(person: Library) -> None:
    clip = person.clips["stand"]
    body = upper_body(clip.skeleton)
    assert body is not None
    row = body.column("head")
    turns = np.broadcast_to(np.array([1.0, 0.0, 0.0, 0.0]), (len(clip), len(body.joints), 4)).copy()
    turns[:, row] = body.turned(row, 0.3 * (np.arange(len(clip)) > 60))

    def sudden(made: FloatArray) -> float:
        local = np.array(clip.rotations)
        local[:, body.joints] = rotations.multiply(local[:, body.joints], made)
        return float(joint_velocity_changes(replace(clip, rotations=local))[:, body.joints[row]].max())

    usual = np.array([0.5])
    assert sudden(turns) > 5.0
    made = _within_limits(clip, body, turns, usual)
    assert sudden(made) < 0.75
    assert np.abs(made[:40] - turns[:40]).max() < 1e-6 and np.abs(made[90:] - turns[90:]).max() < 1e-6


def test_who_turns_on_the_spot_beside_a_wall_keeps_its_elbows_out_of_it() -> None:
    """A turn in place moves the root, so that the room around where it is on the mean is not enough."""
    cast = _body_of("person")
    plan = plan_of(cast, [*["wait"] * 5, "turn_left_45", "wait"], (0.0, 0.0, np.pi))
    take = plans_to_take(EMPTY, [Performer("ada", cast, (0.0, 0.0, np.pi), plan)], hold_until=8.0)
    highest = float(take.clip(0).root_positions[:, 1].max())
    assert highest > 0.05
    for reach in (0.33, 0.36, 0.39):
        world = World((-9.0, -9.0, 9.0, 9.0), (Obstacle(Box((0.0, highest + reach + 1.0), (18.0, 2.0), 2.0)),))
        assert audit_take(take, world)["penetration"].ok
        for seed in range(12):
            done = with_upper_bodies(take, world, seed=seed).take
            assert audit_take(done, world)["penetration"].ok, (reach, seed)


def test_limits_are_passed_by_as_much_as_violations_say() -> None:
    library = _body_of("person")
    body, rng = upper_body(library.skeleton), np.random.default_rng(3)
    assert body is not None
    stand = library.clips["stand"]
    local = np.array(stand.rotations[:40])
    turns = rotations.from_rotation_vector(rng.normal(0.0, 0.9, (40, len(body.joints), 3)))
    turns[:4], local[:4] = rotations.identity(), body.skeleton.rest_rotations
    turns[4, :, :] = [0.0, 1.0, 0.0, 0.0]  # half a turn
    local[:, body.joints] = rotations.multiply(local[:, body.joints], turns)
    clip = replace(stand, root_positions=stand.root_positions[:40], rotations=local, contacts=None)
    over = violations(clip, body.limits)[:, body.joints]
    assert np.allclose(_beyond_limits(body, local), over, rtol=0.0, atol=1e-6)
    assert (over > 10.0).any() and (over == 0.0).any()


def people_who_come_and_go(seed: int) -> Onlookers:
    rng = np.random.default_rng(seed)
    times = np.arange(60) / 5.0
    places = np.cumsum(rng.normal(0.0, 0.25, (9, 60, 3)), axis=1) + rng.uniform(-3.0, 3.0, (9, 1, 3))
    for k in range(9):
        first, end = np.sort(rng.choice(61, 2, replace=False))
        places[k, :first], places[k, end:] = np.nan, np.nan
    places[8] = np.nan
    return Onlookers(times, places, tuple("abcabcabc"))


@pytest.mark.parametrize("seed", range(6))
def test_who_comes_and_who_is_near_follows_from_all_places(seed: int) -> None:
    seen = people_who_come_and_go(seed)
    when = np.linspace(-0.5, 12.5, 200)
    for me in range(9):
        apart = seen.places[:, :, :2] - seen.places[me, :, :2]
        away, others = np.hypot(apart[..., 0], apart[..., 1]), np.arange(9) != me
        nearest = np.minimum(np.where(np.isnan(away), np.inf, away)[others].min(axis=0), 100.0)
        assert (seen.apart(me, when) == np.interp(when, seen.times, nearest)).all()
        step, closing = np.gradient(seen.places[me, :, :2], axis=0) * 5.0, -np.gradient(away, axis=1) * 5.0
        speed = np.hypot(*step.T)
        ahead = (apart * step).sum(axis=-1) > np.cos(np.radians(70.0)) * away * speed
        comes = ahead & (speed > 0.4) & (closing > 0.4 + 0.5 * speed) & (away < 6.0) & (away > 1.0)
        comes &= others[:, None]
        found = np.where(comes, away, np.inf)
        assert (seen.comers(me) == np.where(np.isfinite(found.min(axis=0)), found.argmin(axis=0), -1)).all()


def test_neighbours_are_those_within_four_metres_at_the_same_time() -> None:
    rng, places, rows = np.random.default_rng(2), TakenPlaces(), []
    for k in range(200):
        place, begin = rng.uniform(-9.0, 9.0, 2), rng.uniform(0.0, 50.0)
        near = places.near(place, begin, begin + 5.0)
        assert near == {
            name for at, a, b, name in rows if a < begin + 5.0 and begin < b and np.hypot(*(at - place)) < NEIGHBORS
        }
        places.add(place, begin, begin + 5.0, f"way {k}")
        rows.append((place, begin, begin + 5.0, f"way {k}"))


def test_nobody_turns_to_a_companion_who_is_leaving() -> None:
    """A train leaves between two moments: whoever was near at one of them may be gone at the other."""
    library = _body_of("person")
    body, clip = upper_body(library.skeleton), library.clips["stand"]
    assert body is not None
    count = len(clip)
    times = np.arange(20) / 5.0
    places = np.zeros((2, 20, 3))
    places[1] = [1.0, 1.0, 0.0]

    class Leaving(Onlookers):
        def near(self, character: int, begin: float, end: float, within: float) -> tuple[IntArray, BoolArray]:
            return np.array([1]), np.array([True])

    person = SimpleNamespace(clip=clip, character=0, start=0.0, body=body, free=np.ones(count))
    small = np.zeros((count, len(body.joints), 3))
    _face_companions(Leaving(times, places, ("a", "a")), person, (0, count), small)  # type: ignore[arg-type]
    assert np.isfinite(small).all() and np.abs(small).max() > 0.0
    small[:] = 0.0
    places[1] = np.nan
    _face_companions(Leaving(times, places, ("a", "a")), person, (0, count), small)  # type: ignore[arg-type]
    assert (small == 0.0).all()


@pytest.mark.parametrize("shape", [(90,), (90, 3), (7, 2, 2)])
@pytest.mark.parametrize("sigma", [0.0, 1.8, 22.5])
def test_values_are_smoothed_as_by_scipy(shape: tuple[int, ...], sigma: float) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    for cyclic, mode in ((False, "nearest"), (True, "wrap")):
        expected = gaussian_filter1d(values, max(sigma, 1e-3), axis=0, mode=mode)
        assert np.allclose(smoothed(values, sigma, cyclic=cyclic), expected, rtol=0.0, atol=1e-14)


def test_kernels_of_turns_agree_with_whole_arrays() -> None:
    rng = np.random.default_rng(4)
    turns, others = (rotations.normalize(rng.normal(size=(30, 5, 4))) for _ in range(2))
    vectors, weights = rng.normal(0.0, 1.0, (30, 5, 3)), rng.uniform(0.0, 1.0, 30)
    vectors[0], turns[1], others[2] = 0.0, others[1], -turns[2]
    vectors[3] *= 1e-9
    further = np.array(turns)
    _turn_kernels.turn(further, read_only(vectors), read_only(weights))
    moved = rotations.from_rotation_vector(weights[:, None, None] * vectors)
    assert np.allclose(further, rotations.multiply(turns, moved), rtol=0.0, atol=1e-15)
    apart = np.empty((150, 3))
    _turn_kernels.between(read_only(turns.reshape(-1, 4)), read_only(others.reshape(-1, 4)), apart)
    expected = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(turns), others)).reshape(-1, 3)
    assert np.allclose(apart, expected, rtol=0.0, atol=1e-13)
    packed = np.empty(turns.shape, dtype=np.float32)
    _turn_kernels.pack(read_only(turns), 2.0**-10, packed)
    coarse = np.round(turns[..., 1:] / 2.0**-10) * 2.0**-10
    real = np.copysign(np.sqrt(np.maximum(1.0 - (coarse * coarse).sum(axis=-1), 0.0)), turns[..., 0])
    assert (packed == np.concatenate([real[..., None], coarse], axis=-1).astype(np.float32)).all()


def test_no_joint_near_a_limit_counts_as_within_it() -> None:
    """Whoever is surely within limits is not measured; turns that end just beyond them are."""
    library = _body_of("person")
    body, stand = upper_body(library.skeleton), library.clips["stand"]
    assert body is not None
    local = np.repeat(body.skeleton.rest_rotations[None], 400, axis=0)
    vectors = np.zeros((400, len(body.joints), 3))
    angles, rng = np.linspace(0.0, 3.0, 400), np.random.default_rng(6)
    for row in body.limited.tolist():
        vectors[:, row] = angles[:, None] * rotations.rotate(rng.normal(size=4), body.axes[row, rng.integers(3)])
    for row in body.limited.tolist():
        turns = rotations.from_rotation_vector(np.where(np.arange(len(body.joints))[:, None] == row, vectors, 0.0))
        turned = np.array(local)
        turned[:, body.joints] = rotations.multiply(local[:, body.joints], turns)
        clip = replace(stand, root_positions=np.zeros((400, 3)), rotations=turned, contacts=None)
        over = violations(clip, body.limits)[:, body.joints]
        assert np.allclose(_beyond_limits(body, local, turns), over, rtol=0.0, atol=1e-6)
        assert (over[:, row] > 0.0).any() and (over[:, row] == 0.0).any()


def test_sway_is_a_sum_of_sines() -> None:
    rng = np.random.default_rng(5)
    angles, phases, sizes = rng.uniform(1.0, 9.0, (4, 3, 3)), rng.uniform(0.0, 6.0, (4, 3, 3)), rng.uniform(size=4)
    for count in (1, 64, 65, 200):
        times = 40.0 + np.arange(count) / 30.0
        waves = np.sin(times[:, None, None, None] * angles + phases)
        expected = (sizes[:, None, None] * waves).sum(axis=1)
        assert np.allclose(_waves(times, angles, phases, sizes), expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_distances_to_obstacles_are_those_of_all_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = [
        Obstacle(Box(tuple(rng.uniform(-8.0, 8.0, 2)), (1.0, 0.4), 2.0, yaw=rng.uniform(0.0, 6.0))) for _ in range(9)
    ]
    around = Surroundings.of(World((-20.0, -20.0, 20.0, 20.0), tuple(boxes)))
    path = np.cumsum(rng.normal(0.0, 0.15, (300, 2)), axis=0)
    outlines = np.array(around.outlines)
    away = shapely.distance(shapely.points(path)[:, None], outlines[None]) - around.radii
    assert around.room(path) == away.min()
    assert around.room(path[:1]) == away[0].min()
    assert np.allclose(around.clear(path, 0.9), np.clip(away.min(axis=1), 0.0, 0.9), rtol=0.0, atol=1e-12)
